"""Arrays of every dtype and layout, the spellings of arguments, and what it means to agree with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

import stridewise as sw

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None  # type: ignore[assignment]

INTEGERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEXES = ["complex64", "complex128"]
DTYPES = ["bool", *INTEGERS, *FLOATS, *COMPLEXES, *(["bfloat16"] if ml_dtypes else [])]

# The built-in classes that people catch; an exception belongs to each that it is an instance of.
FAMILIES: tuple[type[Exception], ...] = (ValueError, IndexError, TypeError)

Draw = Callable[[st.SearchStrategy[Any]], Any]


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The dtype of NumPy, or of ml_dtypes, that has this name."""
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def filled(shape: Sequence[int], dtype: str, seed: int, values: str = "bits") -> np.ndarray[Any, Any]:
    """A packed array: of random bits (NaNs and infinities too), or of small whole numbers."""
    random = np.random.default_rng(seed)
    into = numpy_dtype(dtype)
    count = int(np.prod(shape, dtype=object))
    if values == "small" or dtype == "bool":
        return random.integers(0, 2 if dtype in ("bool", "bfloat16") else 7, count).astype(into).reshape(shape)
    return np.frombuffer(random.bytes(count * into.itemsize), into).copy().reshape(shape)


@st.composite
def shapes(draw: Draw, min_rank: int = 0, max_rank: int = 6, max_count: int = 600) -> tuple[int, ...]:
    """A shape: mostly of low rank, sometimes of rank 9 and more, with sizes of 0 and 1 among it."""
    if max_rank >= 6 and draw(st.integers(0, 24)) == 0:
        rank, sizes = draw(st.integers(9, 12)), [1, 1, 2, 2, 1, 0, 3]
    else:
        rank, sizes = draw(st.integers(min_rank, max_rank)), [2, 3, 1, 4, 5, 0]
    shape: list[int] = []
    count = 1
    for _ in range(rank):
        size = draw(st.sampled_from(sizes))
        size = size if count * size <= max_count else 1
        count *= max(size, 1)
        shape.append(size)
    return tuple(shape)


@st.composite
def arrays(
    draw: Draw,
    min_rank: int = 0,
    max_rank: int = 6,
    dtypes: Sequence[str] = DTYPES,
    values: str = "bits",
    shape: tuple[int, ...] | None = None,
    max_count: int = 600,
) -> np.ndarray[Any, Any]:
    """An array of any dtype and layout: packed, stepped, reversed, permuted, or with strides of 0."""
    shape = draw(shapes(min_rank, max_rank, max_count)) if shape is None else shape
    dtype, seed = draw(st.sampled_from(list(dtypes))), draw(st.integers(0, 2**32 - 1))
    layout = draw(st.sampled_from(["packed", "stepped", "permuted", "zero", "mixed"]))
    if layout == "packed" or not shape:
        return filled(shape, dtype, seed, values)
    rank = len(shape)
    order = draw(st.permutations(range(rank))) if layout in ("permuted", "mixed") else list(range(rank))
    still = [layout in ("zero", "mixed") and draw(st.integers(0, 2)) == 0 for _ in shape]
    steps = [draw(st.sampled_from([1, -1, 2, -2, 3])) if layout in ("stepped", "mixed") else 1 for _ in shape]
    base = [1 if rest else size * abs(step) for size, rest, step in zip(shape, still, steps, strict=True)]
    stored = [0] * rank
    for place, axis in enumerate(order):
        stored[place] = base[axis]
    if int(np.prod(stored, dtype=object)) > 20_000:  # large memory behind a small view is not the point
        steps = [1] * rank
        stored = [1 if still[axis] else shape[axis] for axis in order]
    x = filled(stored, dtype, seed, values).transpose(np.argsort(order))
    x = x[tuple(slice(None, None, 1 if rest else step) for rest, step in zip(still, steps, strict=True))]
    x = np.broadcast_to(x, shape)
    assert x.shape == shape
    return x


def spelled(sizes: Sequence[int], single: bool = True) -> st.SearchStrategy[tuple[Any, ...]]:
    """The ways to give a list of sizes: one by one, as a list or tuple, with 0-d tensors among it, as one tensor."""
    ways: list[tuple[Any, ...]] = [(list(sizes),), (tuple(sizes),)]
    if single:
        ways.append(tuple(sizes))
    if all(abs(n) < 2**31 for n in sizes):
        ways.append((np.array(sizes, "int32"),))
    if all(abs(n) < 2**63 for n in sizes):
        ways.append((np.array(sizes, "int64"),))
        ways.append((sw.asarray(np.array(sizes, "int64")),))
        ways.append(([sw.asarray(n) if at % 2 else np.int64(n) for at, n in enumerate(sizes)],))
    return st.sampled_from(ways)


def axes_of(rank: int, slack: int = 1) -> st.SearchStrategy[int]:
    """An axis: mostly within the rank, now and then just outside."""
    within = st.integers(-rank, rank - 1) if rank else st.integers(-1, 0)
    outside = st.integers(-rank - slack, rank - 1 + slack)
    return st.one_of(within, within, within, outside)


def families(error: BaseException) -> tuple[type[Exception], ...]:
    """The families that an exception belongs to."""
    return tuple(family for family in FAMILIES if isinstance(error, family))


def in_bytes(x: np.ndarray[Any, Any]) -> bytes:
    """The elements in row-major order, bit for bit."""
    return np.ascontiguousarray(x).tobytes()


def same(ours: Any, theirs: Any) -> None:
    """Asserts the same shape, dtype and bits; of lists and tuples, item by item."""
    if ours is theirs:
        return
    if isinstance(theirs, (list, tuple)):
        assert type(ours) is type(theirs), (ours, theirs)
        assert len(ours) == len(theirs)
        for our, their in zip(ours, theirs, strict=True):
            same(our, their)
    elif isinstance(theirs, (int, str)):
        assert ours == theirs and type(ours) is type(theirs)
    else:
        theirs = np.asarray(theirs)
        assert isinstance(ours, sw.Tensor), type(ours)
        assert ours.shape == theirs.shape
        assert str(ours.dtype) == theirs.dtype.name
        assert ours.ndim == theirs.ndim and ours.size == theirs.size and ours.nbytes == theirs.nbytes
        assert in_bytes(ours.numpy()) == in_bytes(theirs)


def address(x: np.ndarray[Any, Any]) -> int:
    """Where the element at index zero lies."""
    return int(x.__array_interface__["data"][0])


def steps(x: np.ndarray[Any, Any]) -> list[int]:
    """The strides in elements, of the axes along which there is somewhere to go."""
    return [step // x.itemsize for step, size in zip(x.strides, x.shape, strict=True) if size > 1]
