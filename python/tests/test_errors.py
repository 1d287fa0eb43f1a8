"""Exceptions: the built-in class people catch, the fields, and the same text as everywhere."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import stridewise as sw


def test_each_error_is_the_class_people_catch_and_has_its_fields():
    x = sw.zeros([2, 3])
    with pytest.raises(sw.ShapeError) as caught:
        x.expand(2, 5)
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.operator, error.argument, error.item, error.axis) == ("expand", "sizes", 1, 1)
    assert (error.expected, error.actual) == ("3", "5")
    assert str(error).startswith("expand: sizes[1] is 5, but axis 1 of the input has size 3")
    with pytest.raises(sw.AxisError) as caught:
        x.unflatten(2, [1])
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, IndexError)
    with pytest.raises(sw.IndexOutOfRange):
        x.take([6])
    with pytest.raises(sw.DTypeError):
        x.take([0.5])
    with pytest.raises(TypeError):
        x.take([True])
    with pytest.raises(ValueError, match='there is no mode "warp"'):
        x.take([0], mode="warp")
    with pytest.raises(ValueError):
        sw.zeros([3, 7, 29, 36760123, 823996703])
    with pytest.raises(MemoryError):
        sw.zeros([1 << 45], dtype="uint8")


def test_a_name_appears_in_the_error_and_must_be_a_string():
    with pytest.raises(ValueError, match="expand `wide`: "):
        sw.expand([1, 2], 3, name="wide")
    with pytest.raises(TypeError):
        sw.expand([1], 3, name=7)


def test_what_cannot_be_shared_is_refused_or_copied():
    assert sw.asarray(np.arange(3, dtype=">i4")).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="other order"):
        sw.asarray(np.arange(3, dtype=">i4"), copy=False)
    with pytest.raises(TypeError):
        sw.asarray(np.array([object()]))
    packed = np.zeros(4, [("a", "u1"), ("b", "<f4")])
    packed["b"] = [1, 2, 3, 4]
    misaligned = packed["b"]
    t = sw.asarray(misaligned)
    assert t.tolist() == [1, 2, 3, 4]
    with pytest.raises(BufferError):
        memoryview(sw.zeros([2]).cast("bfloat16"))


def test_the_owner_lives_as_long_as_any_view():
    class Array(np.ndarray):
        pass

    array = np.arange(6.0).view(Array)
    alive = weakref.ref(array)
    view = sw.asarray(array)[1:]
    del array
    gc.collect()
    assert alive() is not None
    assert view.tolist() == [1, 2, 3, 4, 5]
    back = np.asarray(view)
    del view
    gc.collect()
    assert alive() is not None and back[0] == 1
    del back
    gc.collect()
    assert alive() is None


def test_tensors_pickle_copy_and_convert():
    x = sw.asarray(np.arange(6, dtype="int16").reshape(2, 3))[:, ::-1]
    again = pickle.loads(pickle.dumps(x))
    assert again.tolist() == x.tolist() and again.dtype == x.dtype
    assert copy.copy(x) is x and not copy.deepcopy(x).shares_memory(x)
    assert int(sw.asarray(3)) == 3 and float(sw.asarray(2.5)) == 2.5 and complex(sw.asarray(1j)) == 1j
    assert [10, 20][sw.asarray(1)] == 20
    assert len(x) == 2 and [row.tolist() for row in x] == x.tolist()
    assert repr(sw.asarray([1.5, 2])) == "tensor([1.5, 2. ])"
    with pytest.raises(ValueError):
        bool(x)
    with pytest.raises(TypeError):
        len(sw.asarray(1))
    assert (x.ndim, x.size, x.nbytes, x.T.shape, x.is_view_of(x[0])) == (2, 6, 12, (3, 2), True)


def test_deeply_nested_lists_are_an_error():
    nested: object = 1
    for _ in range(10_000):
        nested = [nested]
    with pytest.raises(TypeError):
        sw.asarray(nested)
