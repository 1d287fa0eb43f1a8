"""Packing what is not packed, joining, reshapes that must copy: 64 MiB are read and written. The limit is a copy."""

from __future__ import annotations

from itertools import combinations

from work.case import BEST, BIG, Case

GOALS = {"copy": 0.75, BEST: 1.0}
# 64 MiB of float32 each.
SHAPES = [(4096, 4096), (256, 256, 256), (64, 64, 64, 64), (32, 32, 32, 32, 16)]
WIDTHS = {1: "uint8", 2: "float16", 8: "float64", 16: "complex128"}


def packed(name: str, data: str, ours: str, numpy: str, torch: str, paddle: str, jax: str) -> Case:
    """Packing `y`, a view that each library makes of `x` beforehand; JAX has none, so that making it is the copy."""
    make = {"stridewise": ours, "numpy": numpy, "torch": torch, "paddle": paddle}
    run: dict[str, str | tuple[str, ...]] = {
        "stridewise": "y.contiguous()",
        "numpy": ("np.ascontiguousarray(y)", "y.copy()"),
        "torch": "y.contiguous()",
        # Paddle packs the tensor itself: the next time there would be nothing to do.
        "paddle": f"({paddle}).contiguous()",
        "jax": jax,
    }
    return Case(
        "contiguous",
        name,
        data,
        {library: said for library, said in run.items() if library == "jax" or make[library]},
        {library: f"y = {said}" for library, said in make.items() if said},
        moved=BIG,
        limit="copy",
        goals=GOALS,
    )


def swapped(shape: tuple[int, ...], pair: tuple[int, int], dtype: str = "float32") -> Case:
    a, b = pair
    axes = list(range(len(shape)))
    axes[a], axes[b] = b, a
    return packed(
        f"{shape}, axes {a} and {b} swapped" + (f", {dtype}" if dtype != "float32" else ""),
        f"x = numbers({shape}, '{dtype}')",
        f"x.swapaxes({a}, {b})",
        f"x.swapaxes({a}, {b})",
        f"x.swapaxes({a}, {b})",
        f"x.transpose({axes})",
        f"jnp.swapaxes(x, {a}, {b})",
    )


def reversed_along(axes: tuple[int, ...]) -> Case:
    items = ", ".join("::-1" if axis in axes else ":" for axis in range(3))
    return packed(
        f"(256, 256, 256), reversed along {', '.join(map(str, axes))}",
        "x = numbers((256, 256, 256))",
        f"x[{items}]",
        f"x[{items}]",
        # PyTorch has no negative strides: turning round is the copy.
        "x",
        "",
        f"jnp.flip(x, {axes})",
    )


def with_torch_flip(case: Case, axes: tuple[int, ...]) -> Case:
    case.run["torch"] = f"y.flip({axes})"
    return case


def permuted(shape: tuple[int, ...], order: tuple[int, ...]) -> Case:
    return packed(
        f"{shape}, axes in the order {order}",
        f"x = numbers({shape})",
        f"x.permute({order})",
        f"x.transpose({order})",
        f"x.permute({order})",
        f"x.transpose({list(order)})",
        f"jnp.transpose(x, {order})",
    )


def expanded(name: str, shape: tuple[int, ...], to: tuple[int, ...]) -> Case:
    return packed(
        f"{shape} expanded to {to}{name}",
        f"x = numbers({shape})",
        f"x.expand({to})",
        f"np.broadcast_to(x, {to})",
        f"x.expand({to})",
        # Paddle copies when it expands.
        "",
        f"jnp.broadcast_to(x, {to})",
    )


def joined(name: str, data: str, ours: str, numpy: str, torch: str, paddle: str, jax: str) -> Case:
    run: dict[str, str | tuple[str, ...]] = {
        "stridewise": ours,
        "numpy": numpy,
        "torch": torch,
        "paddle": paddle,
        "jax": jax,
    }
    return Case("concat", name, data, run, moved=BIG, limit="copy", goals=GOALS)


def concat(name: str, shapes: str, axis: int) -> Case:
    return joined(
        f"concat of {name}, axis {axis}",
        f"parts = {shapes}",
        f"sw.concat(parts, {axis})",
        f"np.concatenate(parts, {axis})",
        f"torch.cat(parts, {axis})",
        f"paddle.concat(parts, {axis})",
        f"jnp.concatenate(parts, {axis})",
    )


def stack(count: int, shape: tuple[int, ...], axis: int) -> Case:
    return joined(
        f"stack of {count} of {shape}, axis {axis}",
        f"parts = [numbers({shape}, seed=i) for i in range({count})]",
        f"sw.stack(parts, {axis})",
        f"np.stack(parts, {axis})",
        f"torch.stack(parts, {axis})",
        f"paddle.stack(parts, {axis})",
        f"jnp.stack(parts, {axis})",
    )


def reshaped(name: str, shape: tuple[int, ...], order: tuple[int, ...], to: tuple[int, ...]) -> Case:
    return Case(
        "reshape",
        f"{shape}, axes in the order {order}, to {to}{name}",
        f"x = numbers({shape})",
        {
            "stridewise": f"y.reshape({to})",
            "numpy": f"y.reshape({to})",
            "torch": f"y.reshape({to})",
            "paddle": f"y.reshape({list(to)})",
            "jax": f"jnp.transpose(x, {order}).reshape({to})",
        },
        {
            "stridewise": f"y = x.permute({order})",
            "numpy": f"y = x.transpose({order})",
            "torch": f"y = x.permute({order})",
            "paddle": f"y = x.transpose({list(order)})",
        },
        moved=BIG,
        limit="copy",
        goals=GOALS,
    )


COPIES = [
    *(swapped(shape, pair) for shape in SHAPES for pair in combinations(range(len(shape)), 2)),
    *(swapped((8192, 8192 // width), (0, 1), dtype) for width, dtype in WIDTHS.items()),
    *(swapped((256, 256, 1024 // width), (0, 1), dtype) for width, dtype in WIDTHS.items()),
    *(swapped((256, 256, 1024 // width), (1, 2), dtype) for width, dtype in WIDTHS.items()),
    permuted((256, 256, 256), (2, 0, 1)),
    permuted((256, 256, 256), (1, 2, 0)),
    permuted((16, 512, 2048), (0, 2, 1)),
    permuted((5592405, 3), (1, 0)),
    permuted((3, 5592405), (1, 0)),
    permuted((8, 224, 224, 42), (0, 3, 1, 2)),
    *(with_torch_flip(reversed_along(axes), axes) for axes in ((0,), (2,), (0, 1, 2))),
    expanded("", (1024, 1, 256), (1024, 64, 256)),
    expanded("", (4096, 64, 1), (4096, 64, 64)),
    expanded("", (256,), (65536, 256)),
    concat("2 of (4096, 2048)", "[numbers((4096, 2048), seed=i) for i in range(2)]", 0),
    concat("2 of (4096, 2048)", "[numbers((4096, 2048), seed=i) for i in range(2)]", 1),
    concat("16 of (256, 4096)", "[numbers((256, 4096), seed=i) for i in range(16)]", 0),
    concat("16 of (4096, 256)", "[numbers((4096, 256), seed=i) for i in range(16)]", 1),
    concat("4 of (256, 64, 256)", "[numbers((256, 64, 256), seed=i) for i in range(4)]", 1),
    concat("3 of (2097152, 1), (…, 3) and (…, 4)", "[numbers((2097152, n)) for n in (1, 3, 4)]", 1),
    stack(4, (2048, 2048), 0),
    stack(4, (2048, 2048), 1),
    stack(4, (2048, 2048), 2),
    stack(2, (8388608,), 1),
    reshaped("", (4096, 4096), (1, 0), (16777216,)),
    reshaped("", (256, 256, 256), (1, 0, 2), (65536, 256)),
    reshaped("", (64, 64, 64, 64), (0, 2, 1, 3), (4096, 4096)),
]
