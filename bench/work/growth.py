"""How cost grows with size, and how it falls with threads."""

from __future__ import annotations

from work.case import ALONE, BIG, MIB, Case

SIZES = [4, 256, 4096, 65536, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB]


def grown(operator: str, size: int) -> Case:
    count = size // 4  # of float32
    side = 1 << ((count.bit_length() - 1) // 2)
    goals: dict[str, float] = {}
    limit = "copy"
    if operator == "repeat":
        many = min(64, count)
        data, limit = f"x = numbers(({max(count // many // 256, 1)}, 1, {min(256, count // many)}))", "fill"
        run: dict[str, str | tuple[str, ...]] = {
            "stridewise": f"x.repeat(1, {many}, 1)",
            "numpy": f"np.tile(x, (1, {many}, 1))",
            "torch": f"x.repeat(1, {many}, 1)",
            "paddle": f"paddle.tile(x, [1, {many}, 1])",
            "jax": f"jnp.tile(x, (1, {many}, 1))",
        }
    elif operator == "transpose":
        data = f"x = numbers(({side}, {count // side}))"
        run = {
            "stridewise": "x.T.contiguous()",
            "numpy": "x.T.copy()",
            "torch": "x.T.contiguous()",
            "paddle": "x.T.contiguous()",
            "jax": "x.T",
        }
    elif operator == "concat":
        data = f"parts = [numbers(({max(count // 2, 1)},), seed=i) for i in range(2 if {count} > 1 else 1)]"
        run = {
            "stridewise": "sw.concat(parts)",
            "numpy": "np.concatenate(parts)",
            "torch": "torch.cat(parts)",
            "paddle": "paddle.concat(parts)",
            "jax": "jnp.concatenate(parts)",
        }
    elif operator == "take rows":
        width = min(256, count)
        data = f"x = numbers(({count // width}, {width}))\ni = indices({count // width}, {count // width})"
        run = {
            "stridewise": "x.take(i, 0)",
            "numpy": "x.take(i, 0)",
            "torch": "x.index_select(0, i)",
            "paddle": "paddle.index_select(x, i, 0)",
            "jax": "jnp.take(x, i, 0, mode='clip')",
        }
    else:
        data, limit = f"x = numbers(({max(count // 256, 1)}, {min(256, count)}))", "read"
        run = dict.fromkeys(("stridewise", "numpy", "torch", "paddle", "jax"), "x.sum(0)")
    return Case(
        "growth", f"{operator}, {size} bytes", data, run, moved=size, limit=limit, goals=goals, exact=operator != "sum"
    )


GROWTH = [grown(operator, size) for operator in ("repeat", "transpose", "concat", "take rows", "sum") for size in SIZES]

# On two threads at least so many times as fast as on one, where the machine's own work is.
TWO_THREADS = {ALONE: 1.6}


def threaded(name: str, data: str, run: str, limit: str, moved: int = BIG) -> Case:
    return Case("threads", name, data, {"stridewise": run}, expect="", moved=moved, limit=limit, goals=TWO_THREADS)


THREADS = [
    threaded("repeat (1024, 1, 256) × (1, 64, 1)", "x = numbers((1024, 1, 256))", "x.repeat(1, 64, 1)", "fill"),
    threaded("repeat (4096, 3) × (37, 37)", "x = numbers((4096, 3))", "x.repeat(37, 37)", "fill"),
    threaded("(4096, 4096) transposed", "x = numbers((4096, 4096))", "x.T.contiguous()", "copy"),
    threaded("concat of 2", "parts = [numbers((8388608,), seed=i) for i in range(2)]", "sw.concat(parts)", "copy"),
    threaded(
        "take 4 Mi of 16 Mi, random",
        f"x = numbers((16777216,))\ni = indices(16777216, {4 * MIB})",
        "x.take(i)",
        "copy",
        16 * MIB,
    ),
    threaded(
        "take 64 Ki rows of 1 KiB", "x = numbers((65536, 256))\ni = indices(65536, 65536)", "x.take(i, 0)", "copy"
    ),
    threaded("sum (4096, 4096), axis 0", "x = numbers((4096, 4096))", "x.sum(0)", "read"),
    threaded("sum (4096, 4096), axis 1", "x = numbers((4096, 4096))", "x.sum(1)", "read"),
    threaded(
        "index_add 4 Mi into 16 Mi, random",
        f"x = numbers((16777216,))\ni = indices(16777216, {4 * MIB})\ns = numbers(({4 * MIB},), seed=2)",
        "x.index_add(0, i, s)",
        "copy",
    ),
]
