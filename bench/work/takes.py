"""Gathering: at random, in order, and from what the cache holds; elements and rows; every mode."""

from __future__ import annotations

from work.case import BEST, MIB, Case

AT_LEAST_AS_FAST = {BEST: 1.0}
TWICE = {BEST: 2.0}
LIKE_RAISE = {"raise": 1 / 1.2}

COUNT = 4 * MIB
SOURCE = "x = numbers((16777216,))"
RANDOM = f"i = indices(16777216, {COUNT})"


def flat(
    name: str, data: str, goals: dict[str, float], index: str = "i", torch_too: bool = True, within: int = 0
) -> Case:
    """Single elements by a 1-D index; `torch.take` knows int64 alone. At random they are within so many bytes."""
    torch = [f"x.index_select(0, {index})", f"x[{index}]"] + ([f"torch.take(x, {index})"] if torch_too else [])
    return Case(
        "take",
        name,
        data,
        {
            "stridewise": f"x.take({index})",
            "numpy": (f"x.take({index})", f"x[{index}]"),
            "torch": tuple(torch),
            "paddle": (f"paddle.take(x, {index})", f"paddle.index_select(x, {index})"),
            "jax": f"jnp.take(x, {index}, mode='clip')",
        },
        moved=COUNT * 4,
        limit="lines" if within else "",
        looks=COUNT if within else 0,
        within=within,
        goals=goals,
    )


def rows(name: str, data: str, goals: dict[str, float], moved: int, axis: int = 0, looks: int = 0) -> Case:
    return Case(
        "take",
        name,
        data,
        {
            "stridewise": f"x.take(i, {axis})",
            "numpy": (f"x.take(i, {axis})", "x[i]" if axis == 0 else "x[:, i]"),
            "torch": (f"x.index_select({axis}, i)", "x[i]" if axis == 0 else "x[:, i]"),
            "paddle": f"paddle.index_select(x, i, {axis})",
            "jax": f"jnp.take(x, i, {axis}, mode='clip')",
        },
        moved=moved,
        limit="lines" if looks else "",
        looks=looks,
        within=moved if looks else 0,
        goals=goals,
    )


def mode(name: str, data: str, goals: dict[str, float]) -> list[Case]:
    """The same under each mode; a mode is held to the time of `raise` as well."""
    peers: dict[str, dict[str, str]] = {
        "raise": {"numpy": "x.take(i)", "torch": "torch.take(x, i)", "paddle": "paddle.take(x, i)"},
        "wrap": {
            "numpy": "x.take(i, mode='wrap')",
            "paddle": "paddle.take(x, i, mode='wrap')",
            "jax": "jnp.take(x, i, mode='wrap')",
        },
        "clip": {
            "numpy": "x.take(i, mode='clip')",
            "paddle": "paddle.take(x, i, mode='clip')",
            "jax": "jnp.take(x, i, mode='clip')",
        },
        "fill": {"jax": "jnp.take(x, i, mode='fill')"},
    }
    return [
        Case(
            "modes",
            f"{name}, {mode}",
            data,
            {"stridewise": f"x.take(i, mode='{mode}')", **spelled},
            expect="x.take(i)",
            moved=COUNT * 4,
            limit="" if mode == "raise" else "raise",
            beside="" if mode == "raise" else "x.take(i)",
            goals=goals if mode == "raise" else {**goals, **LIKE_RAISE},
        )
        for mode, spelled in peers.items()
    ]


TAKES = [
    flat("4 Mi of 16 Mi elements, random", f"{SOURCE}\n{RANDOM}", TWICE, within=64 * MIB),
    flat(
        "4 Mi of 16 Mi elements, random, int32",
        f"{SOURCE}\n{RANDOM}.astype('int32')",
        TWICE,
        torch_too=False,
        within=64 * MIB,
    ),
    flat(
        "4 Mi of 16 Mi elements, random, float64",
        f"{SOURCE}.astype('float64')\n{RANDOM}",
        TWICE,
        within=128 * MIB,
    ),
    flat("4 Mi of 16 Mi elements, random, uint8", f"{SOURCE}.astype('uint8')\n{RANDOM}", TWICE, within=16 * MIB),
    flat("4 Mi of 16 Mi elements, sorted", f"{SOURCE}\n{RANDOM}\ni.sort()", AT_LEAST_AS_FAST),
    flat("4 Mi of 64 Ki elements, cached", f"x = numbers((65536,))\ni = indices(65536, {COUNT})", AT_LEAST_AS_FAST),
    flat(
        "4 Mi of 64 Ki elements, cached, int32",
        f"x = numbers((65536,))\ni = indices(65536, {COUNT}).astype('int32')",
        AT_LEAST_AS_FAST,
        torch_too=False,
    ),
    flat(
        "4 Mi of 256 elements, cached",
        f"x = numbers((256,))\ni = indices(256, {COUNT})",
        AT_LEAST_AS_FAST,
    ),
    rows(
        "64 Ki of 64 Ki rows of 1 KiB, random", "x = numbers((65536, 256))\ni = indices(65536, 65536)", TWICE, 64 * MIB
    ),
    rows(
        "64 Ki of 64 Ki rows of 1 KiB, random, int32",
        "x = numbers((65536, 256))\ni = indices(65536, 65536).astype('int32')",
        TWICE,
        64 * MIB,
    ),
    rows(
        "64 Ki of 64 Ki rows of 1 KiB, sorted",
        "x = numbers((65536, 256))\ni = indices(65536, 65536)\ni.sort()",
        AT_LEAST_AS_FAST,
        64 * MIB,
    ),
    rows(
        "1 Mi of 1 Mi rows of 64 bytes, random",
        "x = numbers((1048576, 16))\ni = indices(1048576, 1048576)",
        TWICE,
        64 * MIB,
        looks=MIB,
    ),
    rows(
        "1 Mi of 1 Mi rows of 12 bytes, random",
        "x = numbers((1048576, 3))\ni = indices(1048576, 1048576)",
        TWICE,
        12 * MIB,
        looks=MIB,
    ),
    rows(
        "1 Mi of 1 Ki rows of 64 bytes, cached",
        "x = numbers((1024, 16))\ni = indices(1024, 1048576)",
        AT_LEAST_AS_FAST,
        64 * MIB,
    ),
    rows(
        "4096 of 4096 columns, random",
        "x = numbers((4096, 4096))\ni = indices(4096, 4096)",
        TWICE,
        64 * MIB,
        axis=1,
    ),
    Case(
        "take",
        "4 Mi of a transposed (4096, 4096), random",
        f"x = numbers((4096, 4096))\n{RANDOM}",
        {
            "stridewise": "y.take(i)",
            "numpy": "y.take(i)",
            "torch": "torch.take(y, i)",
            "paddle": "paddle.take(y, i)",
            "jax": "jnp.take(x.T, i, mode='clip')",
        },
        {"stridewise": "y = x.T", "numpy": "y = x.T", "torch": "y = x.T", "paddle": "y = x.T"},
        moved=COUNT * 4,
        goals=TWICE,
    ),
    Case(
        "take",
        "64 Ki rows of every second column, random",
        "x = numbers((65536, 512))\ni = indices(65536, 65536)",
        {
            "stridewise": "y.take(i, 0)",
            "numpy": ("y.take(i, 0)", "y[i]"),
            "torch": ("y.index_select(0, i)", "y[i]"),
            "paddle": "paddle.index_select(y, i, 0)",
            "jax": "jnp.take(x[:, ::2], i, 0, mode='clip')",
        },
        dict.fromkeys(("stridewise", "numpy", "torch", "paddle"), "y = x[:, ::2]"),
        moved=64 * MIB,
        goals=TWICE,
    ),
    *mode("4 Mi of 16 Mi elements, random", f"{SOURCE}\n{RANDOM}", AT_LEAST_AS_FAST),
    *mode("4 Mi of 64 Ki elements, cached", f"x = numbers((65536,))\ni = indices(65536, {COUNT})", AT_LEAST_AS_FAST),
]
