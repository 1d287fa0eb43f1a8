"""Tiling: 64 MiB are written, little is read. The limit is the machine's fill."""

from __future__ import annotations

from math import prod

from work.case import BEST, BIG, Case

GOALS = {"fill": 0.75, BEST: 1.0, "torch": 3.0}
WIDTHS = {1: "uint8", 2: "float16", 4: "float32", 8: "float64", 16: "complex128"}


def repeat(name: str, shape: tuple[int, ...], counts: tuple[int, ...], width: int = 4) -> Case:
    fresh = len(counts) - len(shape)
    # The same by expanding and copying, which is faster than NumPy's and PyTorch's own `tile` where the axis is free.
    by_expanding: tuple[str, ...] = ()
    padded = (1,) * fresh + shape
    if all(1 in pair for pair in zip(padded, counts, strict=True)):
        sizes = tuple(size * count for size, count in zip(padded, counts, strict=True))
        by_expanding = (f"{sizes}",)
    return Case(
        "repeat",
        name,
        f"x = numbers({shape}, '{WIDTHS[width]}')",
        {
            "stridewise": f"x.repeat({counts})",
            "numpy": (f"np.tile(x, {counts})", *(f"np.broadcast_to(x, {to}).copy()" for to in by_expanding)),
            "torch": (f"x.repeat({counts})", *(f"x.expand({to}).contiguous()" for to in by_expanding)),
            "paddle": f"paddle.tile(x, {list(counts)})",
            "jax": f"jnp.tile(x, {counts})",
        },
        moved=prod(shape) * prod(counts) * width,
        limit="fill",
        goals=GOALS,
    )


REPEATS = [
    repeat("(1024, 1, 256) × (1, 64, 1)", (1024, 1, 256), (1, 64, 1)),
    repeat("(1024, 256) × (64, 1)", (1024, 256), (64, 1)),
    repeat("(65536, 1) × (1, 256)", (65536, 1), (1, 256)),
    repeat("(4096, 64, 1) × (1, 1, 64)", (4096, 64, 1), (1, 1, 64)),
    repeat("(1024, 128) × (1, 128)", (1024, 128), (1, 128)),
    repeat("(4096, 3) × (37, 37)", (4096, 3), (37, 37)),
    repeat("(65536, 2) × (1, 128)", (65536, 2), (1, 128)),
    repeat("(256) × (65536, 1), a new axis", (256,), (65536, 1)),
    repeat("(64, 64) × (64, 64, 1, 1), new axes", (64, 64), (64, 64, 1, 1)),
    *(repeat(f"middle axis, {dtype}", (1024, 1, 1024 // width), (1, 64, 1), width) for width, dtype in WIDTHS.items()),
    *(repeat(f"last axis, {dtype}", (16384, 1), (1, BIG // 16384 // width), width) for width, dtype in WIDTHS.items()),
    *(repeat(f"(4096, 3) × (37, 37), {dtype}", (4096, 3), (37, 37), width) for width, dtype in WIDTHS.items()),
]
