"""Sums, the gradient of expand, and scatter_add, the gradient of take: alone, and as `backward` runs them."""

from __future__ import annotations

from work.case import BEST, MIB, Case

GOALS = {BEST: 1.0}
COUNT = 4 * MIB


def total(shape: tuple[int, ...], axis: int | tuple[int, ...] | None, dtype: str = "float32") -> Case:
    said = "all axes" if axis is None else f"axis {axis}" if isinstance(axis, int) else f"axes {axis}"
    arguments = "" if axis is None else f"{axis}"
    paddle = list(axis) if isinstance(axis, tuple) else axis
    return Case(
        "sum",
        f"{shape}, {said}" + (f", {dtype}" if dtype != "float32" else ""),
        f"x = numbers({shape}, '{dtype}')",
        {
            "stridewise": f"x.sum({arguments})",
            "numpy": f"x.sum({arguments})",
            "torch": f"x.sum({arguments})",
            "paddle": f"x.sum({paddle})",
            "jax": f"x.sum({arguments})",
        },
        moved=64 * MIB,
        limit="read",
        goals=GOALS,
        exact=False,
    )


def added(name: str, data: str) -> Case:
    return Case(
        "scatter_add",
        name,
        data,
        {
            "stridewise": "x.index_add(0, i, s)",
            "numpy": "added(x, i, s)",
            "torch": "x.index_add(0, i, s)",
            "paddle": "paddle.index_add(x, i, 0, s)",
            "jax": "x.at[i].add(s)",
        },
        moved=64 * MIB,
        goals=GOALS,
        exact=False,
    )


def backward(name: str, data: str, ours: str, torch: str, expect: str, goals: dict[str, float]) -> Case:
    """Only the way back is timed, with a gradient that is there already."""
    back = """
def back():
    z.grad = None
    y.backward(seed, retain_graph=True)
    return z.grad
"""
    return Case(
        "gradients",
        name,
        data,
        {"stridewise": "back()", "torch": "back()"},
        {
            "stridewise": f"z = sw.to_tensor(x, requires_grad=True)\ny = {ours}{back}",
            "torch": f"z = x.clone().requires_grad_()\ny = {torch}{back}",
        },
        expect=expect,
        moved=64 * MIB,
        goals=goals,
        exact=False,
    )


def expand(shape: tuple[int, ...], to: tuple[int, ...], axis: int) -> Case:
    return backward(
        f"expand {shape} to {to}",
        f"x = numbers({shape})\nseed = numbers({to}, seed=2)",
        f"z.expand({to})",
        f"z.expand({to})",
        f"seed.sum({axis}, keepdims=True)",
        {"torch": 1.0},
    )


def take(name: str, torch: str) -> Case:
    return backward(
        f"take 4 Mi of 16 Mi{name}",
        f"x = numbers((16777216,))\ni = indices(16777216, {COUNT})\nseed = numbers(({COUNT},), seed=2)",
        "z.take(i)",
        torch,
        "np.bincount(i, seed, 16777216).astype('float32')",
        {"torch": 1.5},
    )


SUMS = [
    total((64, 262144), 0),
    total((4096, 4096), 0),
    total((262144, 64), 0),
    total((5592405, 3), 0),
    total((1024, 64, 256), 1),
    total((64, 4096, 64), 1),
    total((4096, 64, 64), 2),
    total((4096, 4096), 1),
    total((64, 262144), 1),
    total((5592405, 3), 1),
    total((256, 256, 256), (0, 2)),
    total((16777216,), None),
    total((4096, 2048), 0, "float64"),
    total((4096, 2048), 1, "float64"),
    total((4096, 8192), 0, "float16"),
    total((4096, 8192), 1, "float16"),
    total((4096, 4096), 0, "int32"),
    total((4096, 4096), 1, "int32"),
    total((4096, 2048), 0, "int64"),
    total((4096, 2048), 1, "int64"),
    total((2048, 2048), 0, "complex128"),
    total((2048, 2048), 1, "complex128"),
    added(
        "4 Mi into 16 Mi, random",
        f"x = numbers((16777216,))\ni = indices(16777216, {COUNT})\ns = numbers(({COUNT},), seed=2)",
    ),
    added(
        "4 Mi into 16 Mi, random, int32",
        f"x = numbers((16777216,))\ni = indices(16777216, {COUNT}).astype('int32')\ns = numbers(({COUNT},), seed=2)",
    ),
    added(
        "4 Mi into 16 Mi, sorted",
        f"x = numbers((16777216,))\ni = indices(16777216, {COUNT})\ni.sort()\ns = numbers(({COUNT},), seed=2)",
    ),
    added(
        "4 Mi into 64 Ki, cached",
        f"x = numbers((65536,))\ni = indices(65536, {COUNT})\ns = numbers(({COUNT},), seed=2)",
    ),
    added(
        "4 Mi into 16, all duplicates",
        f"x = numbers((16,))\ni = indices(16, {COUNT})\ns = numbers(({COUNT},), seed=2)",
    ),
    added(
        "64 Ki into 64 Ki rows of 1 KiB, random",
        "x = numbers((65536, 256))\ni = indices(65536, 65536)\ns = numbers((65536, 256), seed=2)",
    ),
    added(
        "1 Mi into 1 Mi rows of 64 bytes, random",
        "x = numbers((1048576, 16))\ni = indices(1048576, 1048576)\ns = numbers((1048576, 16), seed=2)",
    ),
    expand((1024, 1, 256), (1024, 64, 256), 1),
    expand((4096, 64, 1), (4096, 64, 64), 2),
    expand((1, 256), (65536, 256), 0),
    backward(
        "repeat (1024, 1, 256) by (1, 64, 1)",
        "x = numbers((1024, 1, 256))\nseed = numbers((1024, 64, 256), seed=2)",
        "z.repeat(1, 64, 1)",
        "z.repeat(1, 64, 1)",
        "seed.sum(1, keepdims=True)",
        {"torch": 1.0},
    ),
    take("", "torch.take(z, i)"),
    # PyTorch's own faster way to the same, for one axis.
    take(", beside index_select", "z.index_select(0, i)"),
]
