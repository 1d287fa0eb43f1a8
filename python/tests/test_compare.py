"""``==``, ``!=``, ``array_equal`` and ``allclose`` against NumPy."""

from __future__ import annotations

import threading
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stridewise as sw

DTYPES = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]


@st.composite
def arrays(draw, shape):
    """An array whose elements are often equal to another's, odd values of its dtype among them."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    odd = [0, 1, 2, 3]
    if dtype.kind in "iu":
        odd += [int(np.iinfo(dtype).max), int(np.iinfo(dtype).min)]
    if dtype.kind in "fc":
        odd += [0.1, -0.0, float("nan"), float("inf"), float("-inf"), 1.00001, 1.0001]
    if dtype.kind == "c":
        odd += [1j, complex(float("nan"), 1)]
    sizes = [draw(st.sampled_from([n, n, 1])) for n in shape][draw(st.integers(0, len(shape))) :]
    values = [draw(st.sampled_from(odd)) for _ in range(int(np.prod(sizes)))]
    x = np.array(values, dtype=dtype).reshape(sizes)
    if x.ndim and draw(st.booleans()):
        x = x[::-1]
    return x.T if x.ndim and len(set(sizes)) == 1 and draw(st.booleans()) else x


SHAPES = st.lists(st.integers(0, 4), max_size=3)


@given(SHAPES.flatmap(lambda shape: st.tuples(arrays(shape), arrays(shape))))
@settings(deadline=None, max_examples=1000)
def test_equality_is_numpys(pair):
    a, b = pair
    with np.errstate(all="ignore"):
        equal, differ = a == b, a != b
    for x, y in [(sw.asarray(a), sw.asarray(b)), (sw.asarray(a), b), (a, sw.asarray(b))]:
        for got, expected in [(x == y, equal), (x != y, differ)]:
            assert isinstance(got, sw.Tensor) and got.dtype == "bool"
            assert got.shape == expected.shape and np.array_equal(np.asarray(got), expected)
    assert sw.array_equal(a, b) == np.array_equal(a, b)


@given(SHAPES.flatmap(lambda shape: st.tuples(arrays(shape), arrays(shape))), st.booleans())
@settings(deadline=None, max_examples=1000)
def test_closeness_is_numpys(pair, equal_nan):
    a, b = pair
    with np.errstate(all="ignore"):
        for rtol, atol in [(1e-5, 1e-8), (1e-3, 0.0), (0.0, 0.01), (0.5, 1.0)]:
            expected = np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
            assert sw.allclose(sw.asarray(a), b, rtol, atol, equal_nan) == expected
        assert sw.array_equal(a, a, equal_nan) == np.array_equal(a, a, equal_nan)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [0, 1, -1, 3, 0.1, 3.5, 1.0, True, 1j, 300, 2**63, 2**64, -(2**70), float("nan")])
def test_numbers_of_python_are_weak(dtype, number):
    x = np.array([0, 1, 3], dtype=dtype)
    if np.dtype(dtype).kind in "fc":
        x[0] = 0.1
    t = sw.asarray(x)
    with np.errstate(all="ignore"):
        try:
            expected = x == number
        except OverflowError:  # NumPy has no answer for a bool beside a large int.
            expected = np.zeros(3, bool)
    assert np.array_equal(np.asarray(t == number), expected)
    assert np.array_equal(np.asarray(number == t), expected)
    assert np.array_equal(np.asarray(t != number), ~expected)


def test_numbers_of_numpy_are_not_weak():
    t = sw.asarray(np.array([0.1], "float32"))
    assert (t == 0.1).tolist() == [True]
    assert (t == np.float64(0.1)).tolist() == [False]
    assert (t == np.float32(0.1)).tolist() == [True]
    assert (t == 10**400).tolist() == [False] and (t != 10**400).tolist() == [True]


def test_what_is_no_array_is_different():
    t = sw.asarray([1, 2])
    for other in [None, "a", b"ab", object(), {}, ["a"], [None, "b"], {1, 2}, int]:
        assert not isinstance(t == other, sw.Tensor)
        assert (t == other) is False and (t != other) is True
    assert (t == [1, 3]).tolist() == [True, False] and (t == (1, 3)).tolist() == [True, False]
    with pytest.raises(TypeError):
        hash(t)
    with pytest.raises(TypeError):
        t < t  # noqa: B015


def test_shapes_that_do_not_broadcast_are_an_error():
    with pytest.raises(sw.ShapeError, match="axis 0 has size 2 in the first tensor and 3 in the second"):
        sw.zeros([2]) == sw.zeros([3])  # noqa: B015
    with pytest.raises(ValueError):
        sw.allclose([1, 2], [1, 2, 3])
    assert not sw.array_equal([1, 2], [1, 2, 3])


def test_in_asks_for_an_equal_element():
    t = sw.asarray([[1, 2], [3, 4]])
    assert 3 in t and 2.0 in t and 5 not in t and None not in t and [1, 2] in t


def test_bfloat16_is_compared_by_value():
    x = sw.asarray([1.5, 0.1, 3.0]).cast("bfloat16")
    assert (x == 1.5).tolist() == [True, False, False]
    assert (x == 0.1).tolist() == [False, True, False]
    assert (x == x.cast("float64")).tolist() == [True, True, True]
    assert sw.allclose(x, [1.5, 0.1, 3.0], rtol=1e-2) and not sw.allclose(x, [1.5, 0.2, 3.0])


def test_numpys_functions_see_an_array():
    t = sw.asarray([1.0, 4.0])
    assert np.array_equal(np.sqrt(t), [1, 2]) and isinstance(np.sqrt(t), np.ndarray)
    assert isinstance(np.array([1.0, 5.0]) == t, sw.Tensor)
    assert np.array_equal(np.array([1.0, 5.0]) + t, [2, 9])
    assert np.add.reduce(t) == 5
    with pytest.raises(TypeError):
        np.add(t, 1, out=t)


def test_the_lock_is_free_while_large_tensors_are_compared():
    a = sw.zeros([1 << 24], dtype="uint8")
    b = sw.zeros([1 << 24], dtype="int64")
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(sw.array_equal(a, b))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 4


class Real(float):
    """A float by another name."""


class Plane(complex):
    """A complex number by another name."""


@pytest.mark.parametrize(
    "other",
    [
        [np.float32(1), np.float64(2), np.int8(7)],
        (np.float32(1), 5, np.float64(3)),
        range(1, 4),
        range(0),
        [Fraction(1), 5, Decimal(3)],
        [None, 2, "a"],
        [2**70, 2, 3],
        [[1], [2]],
        Real(2),
        Plane(2),
        Fraction(2),
        Decimal(2),
        np.array([1, None, 3]),
        np.array([Fraction(1), 2, "a"], dtype=object),
        np.array(["a", "b", "c"]),
        np.array([1, 2, 3], "M8[D]"),
        np.str_("a"),
    ],
    ids=repr,
)
def test_numbers_of_any_kind_are_compared_as_numpy_compares_them(other: Any) -> None:
    x = np.array([1.0, 2.0, 3.0])
    if isinstance(other, range) and not other:
        x = x[:0]
    t = sw.asarray(x)
    for got, expected in [(t == other, x == other), (t != other, x != other), (other == t, x == other)]:
        assert isinstance(got, sw.Tensor) and got.tolist() == expected.tolist()


def test_a_long_range_is_compared_too() -> None:
    assert all((sw.arange(100_000) == range(100_000)).tolist())


def test_a_subclass_of_float_is_as_weak_as_float_and_numpys_is_not() -> None:
    t = sw.asarray(np.array([0.1], "float32"))
    assert (t == Real(0.1)).tolist() == [True] and (t == np.float64(0.1)).tolist() == [False]


def test_a_list_that_holds_itself_is_different_from_every_tensor() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert (sw.asarray([1, 2]) == loop) is False


def test_an_array_that_cannot_be_read_is_an_error_and_not_different() -> None:
    class Broken:
        def __array__(self, *_: Any, **__: Any) -> Any:
            raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        sw.asarray([1, 2]) == Broken()  # noqa: B015


def test_numpys_equal_answers_what_it_answers_for_arrays() -> None:
    t = sw.asarray([1, 2])
    assert np.equal(t, None).tolist() == [False, False] and np.not_equal(t, None).tolist() == [True, True]
    with pytest.raises(TypeError):
        np.equal(t, "a")


def test_options_of_numpys_functions_may_be_tensors() -> None:
    x = np.arange(6.0).reshape(2, 3)
    where = sw.asarray([True, False, True])
    out = np.zeros((2, 3))
    assert np.add(x, 1, out=out, where=where).tolist() == [[1, 0, 3], [4, 0, 6]]
    assert np.add.reduce(x, axis=1, where=where, initial=sw.asarray(10.0)).tolist() == [12, 18]
