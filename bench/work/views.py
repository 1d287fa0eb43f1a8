"""Every view operator, as function and as method: what a call costs."""

from __future__ import annotations

from work.case import Case

GOALS = {"numpy": 1.0, "torch": 5.0}

DATA = """
four = np.ones((4, 3, 1, 2), 'float32')
flat = np.ones((8, 6), 'float32')
cube = np.ones((2, 3, 4), 'float32')
ones = np.ones((2, 1, 4), 'float32')
row = np.ones(5, 'float32')
zero = np.array(1.5, 'float32')
pattern = ['b', None, 4]
"""


def view(name: str, ours: str, numpy: str | tuple[str, ...], torch: str, paddle: str, jax: str = "") -> Case:
    run: dict[str, str | tuple[str, ...]] = {"stridewise": ours, "numpy": numpy, "torch": torch, "paddle": paddle}
    if jax:
        run["jax"] = jax
    return Case("views", name, DATA, run, goals=GOALS)


VIEWS = [
    view(
        "sw.expand(x, 4, 3, 5, 2)",
        "sw.expand(four, 4, 3, 5, 2)",
        "np.broadcast_to(four, (4, 3, 5, 2))",
        "four.expand(4, 3, 5, 2)",
        "paddle.expand(four, [4, 3, 5, 2])",
        "jnp.broadcast_to(four, (4, 3, 5, 2))",
    ),
    view(
        "x.expand(4, 3, 5, 2)",
        "four.expand(4, 3, 5, 2)",
        "np.broadcast_to(four, (4, 3, 5, 2))",
        "four.expand(4, 3, 5, 2)",
        "four.expand([4, 3, 5, 2])",
    ),
    view(
        "x.broadcast_to(4, 3, 5, 2)",
        "four.broadcast_to(4, 3, 5, 2)",
        "np.broadcast_to(four, (4, 3, 5, 2))",
        "four.broadcast_to((4, 3, 5, 2))",
        "four.broadcast_to([4, 3, 5, 2])",
    ),
    view(
        "x.expand_as(y)",
        "ones.expand_as(cube)",
        "np.broadcast_to(ones, cube.shape)",
        "ones.expand_as(cube)",
        "ones.expand_as(cube)",
    ),
    # NumPy has no unflatten: its sizes are either known beforehand or come from the array, as ours do.
    view(
        "sw.unflatten(x, 1, (2, 3))",
        "sw.unflatten(flat, 1, (2, 3))",
        "flat.reshape(8, 2, 3)",
        "torch.unflatten(flat, 1, (2, 3))",
        "paddle.unflatten(flat, 1, [2, 3])",
        "flat.reshape(8, 2, 3)",
    ),
    view(
        "x.unflatten(1, (2, 3))",
        "flat.unflatten(1, (2, 3))",
        "flat.reshape(8, 2, 3)",
        "flat.unflatten(1, (2, 3))",
        "flat.unflatten(1, [2, 3])",
    ),
    view(
        "x.unflatten(1, (2, 3)), any shape",
        "flat.unflatten(1, (2, 3))",
        "flat.reshape(flat.shape[:1] + (2, 3) + flat.shape[2:])",
        "flat.unflatten(1, (2, 3))",
        "flat.unflatten(1, [2, 3])",
    ),
    view("x.flatten()", "cube.flatten()", ("cube.ravel()", "cube.reshape(-1)"), "cube.flatten()", "cube.flatten()"),
    view(
        "x.flatten(1)",
        "cube.flatten(1)",
        "cube.reshape(2, -1)",
        "cube.flatten(1)",
        "cube.flatten(1)",
    ),
    *[
        view(
            f"sw.atleast_{n}d(x), rank {rank}",
            f"sw.atleast_{n}d({x})",
            f"np.atleast_{n}d({x})",
            f"torch.atleast_{n}d({x})",
            f"paddle.atleast_{n}d({x})",
            f"jnp.atleast_{n}d({x})",
        )
        for n in (1, 2, 3)
        for x, rank in (("zero", 0), ("row", 1), ("cube", 3))
    ],
    view(
        "sw.reshape(x, 6, 4)",
        "sw.reshape(cube, 6, 4)",
        ("cube.reshape(6, 4)", "np.reshape(cube, (6, 4))"),
        "torch.reshape(cube, (6, 4))",
        "paddle.reshape(cube, [6, 4])",
        "jnp.reshape(cube, (6, 4))",
    ),
    view(
        "x.reshape(6, 4)",
        "cube.reshape(6, 4)",
        "cube.reshape(6, 4)",
        "cube.view(6, 4)",
        "cube.reshape([6, 4])",
        "cube.reshape(6, 4)",
    ),
    view("x.reshape(-1)", "cube.reshape(-1)", "cube.reshape(-1)", "cube.view(-1)", "cube.reshape([-1])"),
    view("x.view(6, 4)", "cube.view(6, 4)", "cube.reshape(6, 4)", "cube.view(6, 4)", "cube.view([6, 4])"),
    view("x.squeeze()", "ones.squeeze()", "ones.squeeze()", "ones.squeeze()", "ones.squeeze()"),
    view("x.squeeze(1)", "ones.squeeze(1)", "ones.squeeze(1)", "ones.squeeze(1)", "ones.squeeze(1)"),
    view(
        "sw.unsqueeze(x, 1)",
        "sw.unsqueeze(cube, 1)",
        ("cube[:, None]", "np.expand_dims(cube, 1)"),
        "torch.unsqueeze(cube, 1)",
        "paddle.unsqueeze(cube, 1)",
        "jnp.expand_dims(cube, 1)",
    ),
    view("x.unsqueeze(1)", "cube.unsqueeze(1)", "cube[:, None]", "cube.unsqueeze(1)", "cube.unsqueeze(1)"),
    view("x[:, None]", "cube[:, None]", "cube[:, None]", "cube[:, None]", "cube[:, None]"),
    view(
        "sw.permute(x, 2, 0, 1)",
        "sw.permute(cube, 2, 0, 1)",
        ("cube.transpose(2, 0, 1)", "np.transpose(cube, (2, 0, 1))"),
        "torch.permute(cube, (2, 0, 1))",
        "paddle.transpose(cube, [2, 0, 1])",
        "jnp.permute_dims(cube, (2, 0, 1))",
    ),
    view(
        "x.permute(2, 0, 1)",
        "cube.permute(2, 0, 1)",
        "cube.transpose(2, 0, 1)",
        "cube.permute(2, 0, 1)",
        "cube.transpose([2, 0, 1])",
    ),
    view("x.transpose()", "flat.transpose()", "flat.transpose()", "flat.t()", "flat.t()"),
    view("x.T", "flat.T", "flat.T", "flat.T", "flat.T"),
    view("x.mT", "cube.mT", "cube.mT", "cube.mT", "cube.mT"),
    view(
        "x.swapaxes(0, 2)",
        "cube.swapaxes(0, 2)",
        "cube.swapaxes(0, 2)",
        "cube.swapaxes(0, 2)",
        "paddle.swapaxes(cube, 0, 2)",
    ),
    view(
        "x.moveaxis(0, 2)",
        "cube.moveaxis(0, 2)",
        ("np.moveaxis(cube, 0, 2)", "cube.transpose(1, 2, 0)"),
        "cube.moveaxis(0, 2)",
        "paddle.moveaxis(cube, 0, 2)",
    ),
    # PyTorch and Paddle copy here.
    view(
        "x.flip(0)",
        "cube.flip(0)",
        ("cube[::-1]", "np.flip(cube, 0)"),
        "cube.flip(0)",
        "cube.flip(0)",
        "jnp.flip(cube, 0)",
    ),
    view("x[1]", *["cube[1]"] * 5),
    view("x[1, 2]", *["cube[1, 2]"] * 5),
    view("x[1:]", *["cube[1:]"] * 5),
    view("x[1:, ::2]", *["cube[1:, ::2]"] * 5),
    view("x[..., 0]", *["cube[..., 0]"] * 5),
    view("sw.unstack(x)", "sw.unstack(cube)", "list(cube)", "cube.unbind()", "cube.unbind()"),
    # Of what is packed already, nothing is copied.
    view("x.contiguous()", "cube.contiguous()", "np.ascontiguousarray(cube)", "cube.contiguous()", "cube.contiguous()"),
    Case(
        "views",
        "sw.enforce_shape(x, ['b', None, 4])",
        DATA,
        {
            "stridewise": "sw.enforce_shape(cube, pattern)[1]",
            **dict.fromkeys(("numpy", "torch", "paddle", "jax"), "einops.parse_shape(cube, 'b _ c')"),
        },
        goals=GOALS,
        expect="[2, 3, 4]",
        exact=False,
    ),
]
