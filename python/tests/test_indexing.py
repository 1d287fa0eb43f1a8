"""``x[...]`` against NumPy: views, integer arrays, and the errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import stridewise as sw


def same(ours, theirs):
    theirs = np.asarray(theirs)
    assert ours.shape == theirs.shape
    assert str(ours.dtype) == theirs.dtype.name
    assert np.array_equal(np.asarray(ours), theirs)


@st.composite
def indexed(draw):
    """An array of any layout and an index that may fit it, with the index once more for the tensor."""
    shape = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    x = np.arange(int(np.prod(shape)), dtype="int32").reshape(shape)
    x = x[tuple(slice(None, None, draw(st.sampled_from([1, -1, 2]))) for _ in shape)]
    x = np.asarray(x).transpose(draw(st.permutations(range(x.ndim))))
    common = draw(st.lists(st.integers(0, 3), max_size=2))
    items, axis, rest = [], 0, False
    while axis < x.ndim:
        n = max(x.shape[axis], 1)
        kinds = ["int", "slice", "array", "none", "stop", "numpy int"] + ([] if rest else ["rest"])
        kind = draw(st.sampled_from(kinds))
        axis += kind not in ("none", "rest")
        if kind == "stop":
            break
        if kind == "int":
            items.append(draw(st.integers(-n, n - 1)))
        elif kind == "numpy int":
            items.append(np.int16(draw(st.integers(-n, n - 1))))
        elif kind == "slice":
            part = st.none() | st.integers(-5, 5)
            items.append(slice(draw(part), draw(part), draw(st.none() | st.sampled_from([1, 2, -1, -2]))))
        elif kind == "none":
            items.append(None)
        elif kind == "rest":
            items.append(...)
            axis = max(axis, draw(st.integers(axis, x.ndim)))
            rest = True
        else:
            sizes = [draw(st.sampled_from([size, 1])) for size in common]
            sizes = sizes[draw(st.integers(0, len(sizes))) :]
            wrong = 1 if draw(st.integers(0, 9)) == 0 else 0
            index = st.integers(-n - wrong, n - 1 + wrong)
            count = int(np.prod(sizes))
            values = draw(st.lists(index, min_size=count, max_size=count))
            dtype = draw(st.sampled_from(["int64", "int32", "int8"]))
            items.append(np.array(values, dtype).reshape(sizes))
    if len(items) == 1 and draw(st.booleans()):
        return x, items[0]
    return x, tuple(items)


def ours(index):
    """The index as tensors and lists instead of arrays."""
    if isinstance(index, tuple):
        return tuple(map(ours, index))
    if isinstance(index, np.ndarray):
        return sw.asarray(index) if index.size % 2 else (index.tolist() if index.size else index)
    return index


@given(indexed())
@example((np.zeros((4, 2, 3)), (slice(None), [0, 1], ..., [1, 1])))
@example((np.zeros((4, 2, 3)), (slice(None), [0, 1], None, [1, 1])))
@example((np.zeros((4, 2, 3)), (0, slice(None), [1, 1])))
@settings(deadline=None, max_examples=2000)
def test_indexing_is_numpys(case):
    x, index = case
    t = sw.asarray(x)
    try:
        expected = x[index]
    except IndexError:
        with pytest.raises(IndexError):
            t[index]
        return
    except ValueError:
        with pytest.raises(ValueError):
            t[index]
        return
    got = t[index]
    same(got, expected)
    same(t[ours(index)], expected)
    items = index if isinstance(index, tuple) else (index,)
    if not any(isinstance(item, (np.ndarray, list)) and np.ndim(item) for item in items) and got.size:
        assert got.is_view_of(t), "without arrays nothing is copied"


def test_a_list_is_an_array_and_a_tuple_is_items():
    x = np.arange(12).reshape(4, 3)
    t = sw.asarray(x)
    same(t[[0, 2]], x[[0, 2]])
    same(t[0, 2], x[0, 2])
    same(t[[[0, 2], [1, 1]]], x[[[0, 2], [1, 1]]])
    same(t[[0, 2], [1, 1]], x[[0, 2], [1, 1]])
    same(t[(0, 1), :], x[(0, 1), :])
    same(t[[]], x[[]])
    same(t[()], x[()])
    same(t[sw.asarray([3, 0])], x[[3, 0]])
    same(t[sw.asarray(2)], x[2])
    same(t[np.uint8(2)], x[2])
    same(t[np.array(2)], x[2])


def test_arrays_of_other_libraries_are_indices():
    torch = pytest.importorskip("torch")
    x = np.arange(12).reshape(4, 3)
    same(sw.asarray(x)[torch.tensor([3, 1])], x[[3, 1]])
    same(sw.asarray(x)[torch.tensor([3])], x[[3]])
    same(sw.asarray(x)[torch.tensor(3)], x[3])


def test_masks_are_refused_with_the_way_out():
    x = np.arange(6).reshape(2, 3)
    t = sw.asarray(x)
    for mask in [x > 2, [True, False], sw.asarray([True, False]), True, np.bool_(True)]:
        with pytest.raises(sw.DTypeError, match="mask"):
            t[mask]
    same(t[np.nonzero(x > 2)], x[x > 2])


@pytest.mark.parametrize(
    "index", [1.0, [1.0], np.array([0.5]), 1j, "a", b"a", object(), {}, [None], (0, "b"), slice(0.5)]
)
def test_what_is_no_index_is_a_type_error(index):
    with pytest.raises(TypeError):
        sw.zeros([2, 3])[index]


def test_an_index_outside_names_index_axis_and_bound():
    t = sw.zeros([2, 3])
    for index, axis, value, size in [
        (2, 0, 2, 2),
        ((0, -4), 1, -4, 3),
        ((slice(None), [0, 5]), 1, 5, 3),
        (([0, 0], [0, -7]), 1, -7, 3),
        (([0, 9], [0, 0]), 0, 9, 2),
        (np.array([[0], [2]]), 0, 2, 2),
    ]:
        with pytest.raises(sw.IndexOutOfRange, match=f"index {value}.* axis {axis}, which has size {size}") as caught:
            t[index]
        assert (caught.value.axis, caught.value.actual) == (axis, str(value))
        assert caught.value.operator == "index"
    for far in [2**70, -(2**70), np.uint64(2**64 - 1)]:
        with pytest.raises(IndexError):
            t[far]


def test_too_many_indices_and_arrays_that_do_not_broadcast_are_index_errors():
    t = sw.zeros([2, 3])
    for index in [(0, 0, 0), (..., ...), ([0, 1], [0, 1, 2]), (0, [0], [0])]:
        with pytest.raises(IndexError):
            t[index]
        with pytest.raises(ValueError):
            t[index]
    with pytest.raises(ValueError):
        t[::0]


def test_a_long_axis_is_indexed_without_touching_it():
    t = sw.expand(sw.zeros([1, 2]), 1 << 50, 2)
    assert t[[0, -1, 1 << 49], [0, 1, -1]].tolist() == [0, 0, 0]
    with pytest.raises(sw.IndexOutOfRange, match="axis 0"):
        t[[1 << 50, 0], [0, 1]]


def test_iteration_is_lazy_and_gives_views():
    t = sw.expand(sw.asarray([[1, 2]]), 1 << 40, 2)
    rows = iter(t)
    assert next(rows).tolist() == [1, 2] and next(rows).is_view_of(t)
    assert rows.__length_hint__() == (1 << 40) - 2 and iter(rows) is rows
    x = sw.asarray([[1, 2], [3, 4]])
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    assert [row.tolist() for row in reversed(x)] == [[3, 4], [1, 2]]
    a, b = x
    assert a.tolist() == [1, 2] and b.tolist() == [3, 4]
    assert list(sw.zeros([0, 2])) == []
    with pytest.raises(TypeError):
        iter(sw.asarray(1))
