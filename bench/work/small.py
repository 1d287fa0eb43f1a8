"""Calls that copy a few elements: the time is that of the call."""

from __future__ import annotations

from work.case import BEST, Case

DATA = """
flat = np.arange(48, dtype='float32').reshape(8, 6)
row = np.arange(5, dtype='float32')
index = np.array([0, 2, 1])
narrow = np.array([0, 2, 1], 'int32')
listed = [0, 2, 1]
source = np.ones(3, 'float32')
"""
FASTER = {BEST: 1.0}


def small(
    name: str, ours: str, numpy: str | tuple[str, ...], torch: str | tuple[str, ...], paddle: str, jax: str
) -> Case:
    return Case(
        "small",
        name,
        DATA,
        {"stridewise": ours, "numpy": numpy, "torch": torch, "paddle": paddle, "jax": jax},
        goals=FASTER,
    )


SMALL = [
    small(
        "sw.take(x, index) of 3",
        "sw.take(row, index)",
        ("row.take(index)", "row[index]"),
        ("torch.take(row, index)", "row[index]", "row.index_select(0, index)"),
        "paddle.take(row, index)",
        "jnp.take(row, index)",
    ),
    small(
        "x.take(index) of 3",
        "row.take(index)",
        ("row.take(index)", "row[index]"),
        ("row.take(index)", "row.index_select(0, index)"),
        "row.take(index)",
        "row.take(index)",
    ),
    small(
        "x[index] of 3",
        "row[index]",
        ("row[index]", "row.take(index)"),
        ("row[index]", "row.index_select(0, index)"),
        "row[index]",
        "row[index]",
    ),
    small(
        "sw.take(x, [0, 2, 1])",
        "sw.take(row, listed)",
        "row.take(listed)",
        "torch.take(row, torch.tensor(listed))",
        "paddle.take(row, paddle.to_tensor(listed))",
        "jnp.take(row, jnp.array(listed))",
    ),
    small(
        "x.take(index, axis=1) of (8, 6)",
        "flat.take(index, 1)",
        ("flat.take(index, 1)", "flat[:, index]"),
        ("flat.index_select(1, index)", "flat[:, index]"),
        "paddle.index_select(flat, index, 1)",
        "jnp.take(flat, index, 1)",
    ),
    small(
        "sw.repeat(x, 2, 2) of (8, 6)",
        "sw.repeat(flat, 2, 2)",
        "np.tile(flat, (2, 2))",
        ("torch.tile(flat, (2, 2))", "flat.repeat(2, 2)"),
        "paddle.tile(flat, [2, 2])",
        "jnp.tile(flat, (2, 2))",
    ),
    small(
        "x.repeat(2) of (5)",
        "row.repeat(2)",
        "np.tile(row, 2)",
        "row.repeat(2)",
        "row.tile([2])",
        "jnp.tile(row, 2)",
    ),
    small(
        "sw.concat([x, x]) of (5)",
        "sw.concat([row, row])",
        "np.concatenate([row, row])",
        "torch.cat([row, row])",
        "paddle.concat([row, row])",
        "jnp.concatenate([row, row])",
    ),
    small(
        "sw.stack([x, x]) of (5)",
        "sw.stack([row, row])",
        "np.stack([row, row])",
        "torch.stack([row, row])",
        "paddle.stack([row, row])",
        "jnp.stack([row, row])",
    ),
    small(
        "x.T.contiguous() of (8, 6)",
        "flat.T.contiguous()",
        ("flat.T.copy()", "np.ascontiguousarray(flat.T)"),
        "flat.T.contiguous()",
        "flat.T.contiguous()",
        "flat.T",
    ),
    small(
        "x.sum(0) of (8, 6)",
        "flat.sum(0)",
        ("flat.sum(0)", "np.add.reduce(flat, 0)"),
        "flat.sum(0)",
        "flat.sum(0)",
        "flat.sum(0)",
    ),
    small(
        "x.index_add(0, index, y) of 3",
        "row.index_add(0, index, source)",
        "added(row, index, source)",
        "row.index_add(0, index, source)",
        "paddle.index_add(row, index, 0, source)",
        "row.at[index].add(source)",
    ),
]
