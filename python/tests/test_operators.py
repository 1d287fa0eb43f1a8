"""Operators against NumPy, through functions and methods."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stridewise as sw

DTYPES = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]


@st.composite
def arrays(draw, min_rank=0, max_rank=4):
    """An array of any dtype and layout: packed, stepped, reversed, permuted or with stride 0."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(st.lists(st.integers(0, 4), min_size=min_rank, max_size=max_rank))
    x = np.arange(int(np.prod(shape)) * 1, dtype="int64").reshape(shape) % 7
    x = x.astype(dtype)
    steps = tuple(slice(None, None, draw(st.sampled_from([1, -1, 2]))) for _ in shape)
    x = x[steps] if shape else x
    order = draw(st.permutations(range(x.ndim)))
    x = x.transpose(order)
    if x.ndim and draw(st.booleans()):
        x = np.broadcast_to(x[:1], (3 if x.shape[0] else 0, *x.shape[1:]))
    return x


def same(ours, theirs):
    theirs = np.asarray(theirs)
    assert ours.shape == theirs.shape
    assert str(ours.dtype) == theirs.dtype.name
    assert np.array_equal(np.asarray(ours), theirs)


@given(arrays())
@settings(deadline=None)
def test_arrays_are_shared_both_ways(x):
    t = sw.asarray(x)
    same(t, x)
    if x.size:
        assert t.data_ptr() == x.__array_interface__["data"][0]
        back = np.asarray(t)
        assert back.__array_interface__["data"][0] == t.data_ptr()
        assert not back.flags.writeable
        assert tuple(s * x.itemsize for s in t.strides) == back.strides


@given(arrays(), st.data())
@settings(deadline=None)
def test_views_agree_with_numpy(x, data):
    t = sw.asarray(x)
    same(t.transpose(), x.transpose())
    same(t.flip(), np.flip(x))
    same(t.reshape(-1) if x.size else t.reshape(0), x.reshape(-1))
    same(t.squeeze(), x.squeeze())
    same(sw.atleast_1d(x), np.atleast_1d(x))
    same(sw.atleast_2d(x), np.atleast_2d(x))
    same(sw.atleast_3d(x), np.atleast_3d(x))
    axis = data.draw(st.integers(-x.ndim - 1, x.ndim))
    same(t.unsqueeze(axis), np.expand_dims(x, axis))
    if x.ndim:
        axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
        same(t.sum(axis), x.sum(axis)) if x.dtype != bool else None
        same(t.moveaxis(axis, 0), np.moveaxis(x, axis, 0))
        size = x.shape[axis]
        same(t.unflatten(axis, [1, size]), x.reshape(t.unflatten(axis, [1, size]).shape))


@given(arrays(min_rank=1), st.data())
@settings(deadline=None)
def test_copies_agree_with_numpy(x, data):
    t = sw.asarray(x)
    reps = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    same(t.tile(reps), np.tile(x, reps))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    same(t.repeat_interleave(2, axis), np.repeat(x, 2, axis))
    same(sw.concat([x, t], axis), np.concatenate([x, x], axis))
    same(sw.stack([t, t]), np.stack([x, x]))
    index = data.draw(st.lists(st.integers(-9, 9), max_size=4))
    for mode in ["raise", "wrap", "clip"]:
        try:
            expected = np.take(x, np.array(index, "int64"), axis, mode=mode)
        except IndexError:
            with pytest.raises(IndexError):
                t.take(index, axis, mode=mode)
        else:
            same(t.take(index, axis, mode=mode), expected)


@pytest.mark.parametrize(
    "index",
    [0, -1, slice(1, 3), slice(None, None, -1), None, ..., (0, 1), (..., 0), (slice(None), None, 2), (slice(0, 2), 1)],
)
def test_indexing_is_pythons(index):
    x = np.arange(24).reshape(4, 3, 2)
    same(sw.asarray(x)[index], x[index]) if not isinstance(index, tuple) or len(index) < 4 else None


def test_an_array_picks_slices():
    x = np.arange(12).reshape(4, 3)
    same(sw.asarray(x)[np.array([3, 0])], x[[3, 0]])


def test_the_same_object_comes_back_where_nothing_changes():
    x = sw.zeros([2, 3])
    assert sw.atleast_2d(x) is x
    assert x.contiguous() is x
    checked, dims = sw.enforce_shape(x, ["n", 3])
    assert checked is x and dims == [2, 3]
    assert sw.asarray(x) is x


def test_several_inputs_give_a_list_and_none_an_empty_one():
    assert sw.atleast_1d() == []
    one, two = sw.atleast_1d(1.5, [1, 2])
    assert one.tolist() == [1.5] and two.tolist() == [1, 2]
    assert sw.atleast_1d((sw.asarray(0.3), sw.asarray(1.0))).tolist() == [0.3, 1.0]


def test_a_foreign_array_is_checked_as_it_is():
    x = np.zeros((1, 5, 2, 7, 3))
    same_x, dims = sw.enforce_shape(x, [1, None, ..., 3])
    assert same_x is x
    assert dims == [1, 5, ((2, 7), 14), 3]


def test_sizes_are_numbers_or_integer_tensors():
    x = sw.zeros([6])
    assert x.unflatten(0, sw.asarray([2, 3])).shape == (2, 3)
    assert x.unflatten(0, [sw.asarray(2), -1]).shape == (2, 3)
    assert x.unflatten(0, np.array([2, -1], "int32")).shape == (2, 3)
    assert x.reshape((3, 2)).shape == x.reshape(3, 2).shape == (3, 2)
    for bad in [2.0, True, 2j, "2"]:
        with pytest.raises(TypeError):
            x.expand(bad)


def test_every_operator_of_the_table_is_a_function_with_its_signature():
    table = sw._stridewise._table()
    assert len(table) > 30
    for name, signature, _, summary in table:
        function = getattr(sw, name)
        assert function.__doc__.startswith(signature)
        assert summary in function.__doc__
        assert name in sw.__all__


def test_bfloat16_goes_through_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.array([1.5, -2.0], ml_dtypes.bfloat16)
    t = sw.asarray(x)
    assert str(t.dtype) == "bfloat16" and t.tolist() == [1.5, -2.0]
    assert t.numpy().dtype == ml_dtypes.bfloat16


def test_layers_print_and_apply():
    layer = sw.nn.Unflatten(1, [2, 3])
    assert repr(layer) == "Unflatten(axis=1, shape=[2, 3])"
    assert sw.nn.Sequential(layer, sw.nn.Unflatten(0, [2, -1]))(sw.zeros([4, 6])).shape == (2, 2, 2, 3)
