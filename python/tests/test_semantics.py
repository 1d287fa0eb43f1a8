"""The contract, sentence by sentence, where it can be seen from Python without a graph."""

from __future__ import annotations

import array
import copy
import ctypes
import gc
import itertools
import math
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, INTEGERS, address, arrays, filled, in_bytes, numpy_dtype, same

import stridewise as sw

# One good call of every operator, and one that fails; the table decides whether the list is complete.
Calls = dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]]
X = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
CALLS: Calls = {
    "atleast_1d": ((X,), ("x",)),
    "atleast_2d": ((X,), ("x",)),
    "atleast_3d": ((X,), ("x",)),
    "atleast_nd": ((X, 3), (X, -1)),
    "expand": ((X, 2, -1, -1), (X, 2, 5)),
    "expand_as": ((X, X), (X, [1.0])),
    "broadcast_to": ((X, 2, 3), (X, 2, 5)),
    "repeat": ((X, 2, 2), (X, 2)),
    "tile": ((X, 2), (X, -2)),
    "repeat_interleave": ((X, 2), (X, -2)),
    "unflatten": ((X, 1, [3, 1]), (X, 2, [3, 1])),
    "flatten": ((X,), (X, 2)),
    "reshape": ((X, 3, 2), (X, 4, 2)),
    "view": ((X, 3, 2), (X, 4, 2)),
    "squeeze": ((X,), (X, 0)),
    "unsqueeze": ((X, 0), (X, 5)),
    "permute": ((X, 1, 0), (X, 1, 1)),
    "transpose": ((X,), (X, 0)),
    "swapaxes": ((X, 0, 1), (X, 0, 2)),
    "moveaxis": ((X, 0, 1), (X, 0, 2)),
    "flip": ((X,), (X, 2)),
    "slice": ((X, 0), (X, 2)),
    "take": ((X, [0]), (X, [6])),
    "index_select": ((X, 0, [1]), (X, 0, [2])),
    "take_along_axis": ((X, [[0], [1]]), (X, [[0], [3]])),
    "index_add": ((X, 0, [0], [[1.0, 1.0, 1.0]]), (X, 0, [2], [[1.0, 1.0, 1.0]])),
    "enforce_shape": ((X, [2, 3]), (X, [2, 4])),
    "unstack": ((X,), (X, 2)),
    "contiguous": ((X,), (X, 1, 2)),
    "cast": ((X, "float32"), (X, "float31")),
    "sum": ((X,), (X, 2)),
    "shape_of": ((X,), (X, 1, 2)),
    "concat": (([X, X],), ([],)),
    "stack": (([X, X],), ([],)),
    "zeros": (([2, 3],), ([-2],)),
    "ones": (([2, 3],), ([-2],)),
    "full": (([2, 3], 7), ([-2], 7)),
    "arange": ((6,), (0, 6, 0)),
}
NAMES = [name for name, *_ in sw._stridewise._table()]
METHODS = [name for name in NAMES if hasattr(sw.Tensor, name)]


def test_every_operator_has_a_call_here() -> None:
    assert sorted(CALLS) == sorted(NAMES)
    assert len(METHODS) > 25


# name=


@pytest.mark.parametrize("name", NAMES)
def test_every_operator_takes_a_name_and_shows_it_in_errors(name: str) -> None:
    good, bad = CALLS[name]
    function = getattr(sw, name)
    function(*good, name="my node")
    function(*good, name=None)
    with pytest.raises(sw.StridewiseError) as plain:
        function(*bad)
    with pytest.raises(type(plain.value)) as named:
        function(*bad, name="my node")
    assert str(named.value) == str(plain.value).replace(f"{name}:", f"{name} `my node`:", 1)
    assert str(plain.value).startswith(f"{name}: ")
    for wrong in (1, b"node", ["node"], True, object()):
        with pytest.raises(TypeError, match="name"):
            function(*good, name=wrong)
    if name in METHODS:
        t = sw.asarray(good[0])
        getattr(t, name)(*good[1:], name="my node")
        with pytest.raises(TypeError, match="name"):
            getattr(t, name)(*good[1:], name=3)
        with pytest.raises(sw.StridewiseError):
            getattr(t, name)(*good[1:], nam="my node")


def test_every_layer_takes_a_name() -> None:
    layer = sw.nn.Unflatten(0, [2, 2], name="my node")
    with pytest.raises(sw.ShapeError, match="unflatten `my node`: "):
        layer(sw.zeros([3]))
    with pytest.raises(TypeError, match="name"):
        sw.nn.Unflatten(0, [2, 2], name=3)  # type: ignore[arg-type]


# Arguments.


@pytest.mark.parametrize("name", NAMES)
def test_an_argument_that_does_not_exist_is_a_type_error(name: str) -> None:
    good, _ = CALLS[name]
    with pytest.raises(TypeError, match="no argument `colour`"):
        getattr(sw, name)(*good, colour=1)


SIZED: dict[str, Callable[[Any], Any]] = {
    "expand": lambda n: sw.expand(sw.zeros([1]), n),
    "broadcast_to": lambda n: sw.broadcast_to(sw.zeros([1]), n),
    "repeat": lambda n: sw.repeat(sw.zeros([1]), n),
    "tile": lambda n: sw.tile(sw.zeros([1]), n),
    "reshape": lambda n: sw.reshape(sw.zeros([2]), n),
    "view": lambda n: sw.view(sw.zeros([2]), n),
    "unflatten": lambda n: sw.unflatten(sw.zeros([2]), 0, n),
    "zeros": lambda n: sw.zeros(n),
    "ones": lambda n: sw.ones(n),
    "full": lambda n: sw.full(n, 0.0),
}


@pytest.mark.parametrize("name", SIZED)
def test_sizes_are_numbers_0d_tensors_among_numbers_or_one_1d_tensor(name: str) -> None:
    call = SIZED[name]
    forms: list[Any] = [[2], (2,), np.array([2]), np.array([2], "int32"), sw.asarray([2])]
    forms += [[sw.asarray(2)], [np.array(2)], [np.int32(2)], (np.array(2, "int32"),), [np.uint8(2)]]
    if name != "unflatten":
        forms += [2, np.int64(2), sw.asarray(2), np.array(2)]
    for form in forms:
        assert call(form).shape == (2,), form


@pytest.mark.parametrize("name", SIZED)
@pytest.mark.parametrize("bad", [True, 2.0, 2 + 0j, "2", None, np.float32(2), np.bool_(True), np.array(2.0)], ids=repr)
def test_a_size_that_is_no_whole_number_is_a_type_error(name: str, bad: Any) -> None:
    call = SIZED[name]
    forms = [[bad], (1, bad)] if name == "unflatten" else [bad, [bad], (bad,)]
    for form in forms:
        with pytest.raises(TypeError):
            call(form)


@pytest.mark.parametrize("name", SIZED)
@pytest.mark.parametrize("dtype", ["bool", "float16", "float32", "float64", "complex64", "complex128"])
def test_sizes_as_a_tensor_of_another_kind_are_a_type_error(name: str, dtype: str) -> None:
    for form in (np.ones(1, dtype), sw.ones([1], dtype=dtype), [sw.ones([], dtype=dtype)]):
        with pytest.raises(TypeError):
            SIZED[name](form)


@pytest.mark.parametrize("name", SIZED)
def test_sizes_as_a_matrix_are_an_error(name: str) -> None:
    for form in (np.array([[2]]), sw.asarray([[2]]), [np.array([2]), 1]):
        with pytest.raises((TypeError, ValueError)):
            SIZED[name](form)


AXED: dict[str, Callable[[Any], Any]] = {
    "unflatten": lambda axis: sw.unflatten(X, axis, [-1]),
    "flatten": lambda axis: sw.flatten(X, axis),
    "squeeze": lambda axis: sw.squeeze(np.zeros((1, 1)), axis),
    "unsqueeze": lambda axis: sw.unsqueeze([1.0], axis),
    "swapaxes": lambda axis: sw.swapaxes(X, axis, 0),
    "moveaxis": lambda axis: sw.moveaxis(X, axis, 0),
    "flip": lambda axis: sw.flip(X, axis),
    "take": lambda axis: sw.take(X, [0], axis),
    "index_select": lambda axis: sw.index_select(X, axis, [0]),
    "take_along_axis": lambda axis: sw.take_along_axis(X, [[0]], axis),
    "repeat_interleave": lambda axis: sw.repeat_interleave(X, 1, axis),
    "unstack": lambda axis: sw.unstack(X, axis),
    "sum": lambda axis: sw.sum(X, axis),
    "concat": lambda axis: sw.concat([X, X], axis),
    "stack": lambda axis: sw.stack([[1.0], [2.0]], axis),
}


@pytest.mark.parametrize("name", AXED)
def test_axes_run_from_minus_rank_to_rank_minus_1(name: str) -> None:
    for axis in (-2, -1, 0, 1):
        AXED[name](axis)
        AXED[name](np.int8(axis))
    for axis in (-3, 2, 10**6, -(10**6), 2**62):
        with pytest.raises(sw.AxisError) as caught:
            AXED[name](axis)
        assert isinstance(caught.value, ValueError) and isinstance(caught.value, IndexError)
    for axis in (2**63, 2**64, 10**30, -(10**30)):
        with pytest.raises((sw.AxisError, sw.TooLarge)):
            AXED[name](axis)
    for wrong in (0.0, True, "0", 1j, np.float64(0), np.bool_(False)):
        with pytest.raises(TypeError):
            AXED[name](wrong)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_the_function_with_the_tensor_in_front(name: str) -> None:
    good, _ = CALLS[name]
    ours, theirs = getattr(sw.asarray(good[0]), name)(*good[1:]), getattr(sw, name)(*good)
    for our, their in zip(flat(ours), flat(theirs), strict=True):
        assert (our.tolist(), our.dtype) == (their.tolist(), their.dtype)


def flat(value: Any) -> list[sw.Tensor]:
    if isinstance(value, sw.Tensor):
        return [value]
    return [t for item in value for t in flat(item)] if isinstance(value, (list, tuple)) else []


# Dtypes, ranks, sizes of 0, too large.


@pytest.mark.parametrize("dtype", DTYPES)
def test_moving_data_works_for_every_dtype(dtype: str) -> None:
    x = filled((2, 3), dtype, 5)
    t = sw.asarray(x)
    assert str(t.dtype) == dtype and t.itemsize == numpy_dtype(dtype).itemsize and t.nbytes == x.nbytes
    same(t.repeat(2, 1), np.tile(x, (2, 1)))
    same(t.take([5, 0]), x.take([5, 0]))
    same(t.T.contiguous(), x.T)
    same(sw.concat([t, x]), np.concatenate([x, x]))
    same(t.take_along_axis([[2], [0]]), np.take_along_axis(x, np.array([[2], [0]]), 1))
    same(t.repeat_interleave(2, 1), x.repeat(2, 1))


def test_there_are_fifteen_dtypes_with_numpys_names() -> None:
    assert len(DTYPES) >= 14
    for dtype in DTYPES:
        named = getattr(sw, dtype)
        assert str(named) == named.name == dtype and named.itemsize == numpy_dtype(dtype).itemsize
        assert named == getattr(sw, dtype) and hash(named) == hash(getattr(sw, dtype))
        assert sw.zeros([1], dtype=named).dtype == sw.zeros([1], dtype=dtype).dtype == named


def test_a_dtype_pickles_and_copies() -> None:
    for dtype in DTYPES:
        named = getattr(sw, dtype)
        assert pickle.loads(pickle.dumps(named)) == named and copy.deepcopy(named) == named


def test_a_dtype_compares_equal_to_numpys_and_to_its_name() -> None:
    for dtype in DTYPES:
        named = getattr(sw, dtype)
        assert named == dtype and named == numpy_dtype(dtype), dtype
        assert named != "no dtype" and named != 3


def test_a_dtype_may_be_given_in_every_way() -> None:
    for dtype in DTYPES:
        for form in (dtype, getattr(sw, dtype), numpy_dtype(dtype), numpy_dtype(dtype).type):
            assert str(sw.zeros([1], dtype=form).dtype) == dtype
            assert str(sw.asarray([0, 1], dtype=form).dtype) == dtype
    for form, dtype in ((bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128")):
        assert str(sw.zeros([1], dtype=form).dtype) == dtype
    for form in ("float31", "object", 3, 2.5, None.__class__, object()):
        with pytest.raises(TypeError):
            sw.zeros([1], dtype=form)
        with pytest.raises(TypeError):
            sw.asarray([1], dtype=form)


@pytest.mark.parametrize("rank", [0, 1, 8, 9, 12, 33, 64, 65, 100])
def test_there_is_no_cap_on_the_rank(rank: int) -> None:
    x = sw.asarray(7).reshape([1] * rank)
    assert x.ndim == rank and x.shape == (1,) * rank
    assert x.expand(*[2 if at < 3 else -1 for at in range(rank)]).sum().item() == 7 * 2 ** min(rank, 3)
    assert x.unsqueeze(0).ndim == rank + 1 and x.flip().transpose().ndim == rank
    assert sw.atleast_nd(x, rank + 2).ndim == rank + 2
    checked, dims = sw.enforce_shape(x, [1] * rank)
    assert checked is x and dims == [1] * rank


def test_every_operator_works_on_empty_tensors() -> None:
    x = sw.zeros([2, 0, 3])
    assert x.expand(4, 2, 0, 3).shape == (4, 2, 0, 3)
    assert x.repeat(2, 5, 0).shape == (4, 0, 0)
    assert x.unflatten(1, [0, 4]).shape == (2, 0, 4, 3)
    assert x.flatten().shape == (0,) and x.sum().item() == 0 and x.sum(1).tolist() == [[0] * 3] * 2
    assert x.take(np.zeros((0, 2), "int64")).shape == (0, 2)
    assert [t.shape for t in x.unstack(1)] == [] and len(x.unstack(0)) == 2
    assert sw.concat([x, x], 1).shape == (2, 0, 3) and sw.stack([x, x]).shape == (2, 2, 0, 3)
    assert x.index_add(0, [0], sw.zeros([1, 0, 3])).shape == (2, 0, 3)
    assert x.tolist() == [[], []] and x.numpy().shape == (2, 0, 3)
    assert sw.enforce_shape(x, ["a", ...])[1] == [2, ((0, 3), 0)]


def test_a_shape_past_what_a_machine_can_address_is_an_error_also_beside_0() -> None:
    most = sys.maxsize
    for shape in ([3, 7, 29, 36760123, 823996703], [0, most, 2], [most, most], [most], [2**62, 4]):
        for make in (lambda s: sw.zeros(s), lambda s: sw.expand(sw.zeros([]), *s), lambda s: sw.repeat(1.0, *s)):
            with pytest.raises(sw.TooLarge) as caught:
                make(shape)
            assert isinstance(caught.value, ValueError)
    with pytest.raises(ValueError):
        sw.reshape(sw.zeros([5]), 3, 7, 29, 36760123, 823996703)
    with pytest.raises(ValueError):
        sw.tile(sw.zeros([5]), most)


@pytest.mark.parametrize(
    "one, two", list(itertools.combinations(["int64", "float64", "bool", "float32", "complex64"], 2))
)
def test_tensors_of_two_dtypes_are_not_cast_silently(one: str, two: str) -> None:
    a, b = sw.ones([2], dtype=one), sw.ones([2], dtype=two)
    for call in (
        lambda: sw.concat([a, b]),
        lambda: sw.stack([a, b]),
        lambda: sw.index_add(a, 0, [0, 1], b),
        lambda: sw.asarray([a, b]),
    ):
        with pytest.raises(sw.DTypeError):
            call()


def test_a_number_that_does_not_fit_is_not_cast_silently() -> None:
    with pytest.raises(TypeError):
        sw.full([1], 0.5, dtype="int64")
    with pytest.raises(TypeError):
        sw.take([1, 2], [5], mode="fill", fill_value=0.5)


def test_python_numbers_become_numpys_dtypes_and_foreign_arrays_keep_theirs() -> None:
    for value, dtype in ((1.5, "float64"), (1, "int64"), (1j, "complex128"), (True, "bool")):
        assert str(sw.asarray(value).dtype) == str(sw.asarray([value]).dtype) == str(sw.full([1], value).dtype) == dtype
    for dtype in DTYPES:
        for shape in ((), (1,), (2, 2), (0,)):
            assert str(sw.asarray(np.zeros(shape, numpy_dtype(dtype))).dtype) == dtype, shape
            assert sw.asarray(np.zeros(shape, numpy_dtype(dtype))).shape == shape
        if dtype != "bfloat16":
            assert str(sw.asarray(np.zeros(1, dtype)[0]).dtype) == dtype, "a NumPy scalar"


def test_a_0d_array_of_integers_is_an_array_and_shares_its_memory() -> None:
    for dtype in INTEGERS:
        x = np.array(7, dtype)
        t = sw.asarray(x)
        assert str(t.dtype) == dtype and t.data_ptr() == address(x)
        assert sw.concat([x.reshape(1), sw.asarray(x).reshape(1)]).tolist() == [7, 7]


# Views and immutability.

VIEWS: dict[str, Callable[[sw.Tensor], Any]] = {
    "atleast_1d": lambda x: x.atleast_1d(),
    "atleast_2d": lambda x: x.atleast_2d(),
    "atleast_3d": lambda x: x.atleast_3d(),
    "atleast_nd": lambda x: x.atleast_nd(7),
    "expand": lambda x: x.expand(2, *x.shape),
    "expand_as": lambda x: x.expand_as(sw.zeros([2, *x.shape])),
    "broadcast_to": lambda x: x.broadcast_to(2, *x.shape),
    "unflatten": lambda x: x.unflatten(0, [1, -1] if x.shape[0] else [1, 0]),
    "view": lambda x: x.view(*x.shape, 1),
    "squeeze": lambda x: x.squeeze(),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "permute": lambda x: x.permute(*reversed(range(x.ndim))),
    "transpose": lambda x: x.transpose(),
    "swapaxes": lambda x: x.swapaxes(0, -1),
    "moveaxis": lambda x: x.moveaxis(0, -1),
    "flip": lambda x: x.flip(),
    "slice": lambda x: x.slice(...),
    "enforce_shape": lambda x: x.enforce_shape([...])[0],
    "unstack": lambda x: (x.unstack() or [x])[0],
}


@pytest.mark.parametrize("name", VIEWS)
@given(x=arrays(min_rank=1))
def test_a_view_moves_no_data_whatever_the_strides(name: str, x: np.ndarray[Any, Any]) -> None:
    t = sw.asarray(x)
    result = VIEWS[name](t)
    assert result.is_view_of(t)
    if x.size:
        offset = (result.data_ptr() - t.data_ptr()) // x.itemsize
        reach = sum((n - 1) * s for n, s in zip(t.shape, t.strides, strict=True)) if name == "flip" else 0
        assert offset == reach


def test_the_views_here_are_those_of_the_table() -> None:
    assert sorted(VIEWS) == sorted(name for name, _, kind, _ in sw._stridewise._table() if kind == "View")


def test_unflatten_and_expand_keep_negative_and_zero_strides() -> None:
    x = sw.asarray(np.arange(24).reshape(4, 6)[::-1, ::-2])
    assert x.strides == (-6, -2) and x.unflatten(0, [2, 2]).strides == (-12, -6, -2)
    assert x.unsqueeze(1).expand(-1, 5, -1).unflatten(1, [5, 1]).strides[1:3] in ((0, 0), (0, 1))


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_numpy_never_makes_an_object_of_a_tensor(dtype: str) -> None:
    """What cannot be an array of NumPy is refused, with its dtype or rank, not wrapped."""
    x = sw.ones([2], dtype=dtype)
    assert str(np.asarray(x).dtype) == dtype and np.asarray(x).shape == (2,)
    for make in (np.asarray, lambda t: t.numpy()):
        with pytest.raises((ValueError, TypeError, BufferError)):
            make(x.reshape([2] + [1] * 64))


def test_a_tensor_of_many_axes_becomes_lists_or_an_error_but_no_crash() -> None:
    """In a process of its own, since a stack that overflows ends it."""
    code = "import stridewise as sw\ntry: sw.zeros([1] * 50_000).tolist()\nexcept Exception: pass\nprint('alive')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "alive\n", f"the process ended with {done.returncode}"


def test_a_tensor_cannot_be_written() -> None:
    t = sw.zeros([2, 2])
    with pytest.raises(TypeError):
        t[0] = 1  # type: ignore[index]
    with pytest.raises(ValueError):
        t.numpy()[0, 0] = 1
    assert memoryview(t).readonly
    with pytest.raises((AttributeError, TypeError)):
        t.shape = (4,)  # type: ignore[misc]
    wide = sw.zeros([1]).expand(3).numpy()
    assert not wide.flags.writeable


# atleast and the same object.


def test_as_is_is_the_same_object() -> None:
    x = sw.zeros([2, 3, 4])
    assert sw.atleast_1d(x) is x and sw.atleast_2d(x) is x and sw.atleast_3d(x) is x and x.atleast_3d() is x
    assert sw.atleast_nd(x, 3) is x and sw.contiguous(x) is x and sw.asarray(x) is x and sw.to_tensor(x) is x
    one, two, three = sw.atleast_2d(x, 1.0, x)
    assert one is x and three is x and two.shape == (1, 1)
    assert sw.enforce_shape(x, [...])[0] is x and x.enforce_shape([2, 3, 4])[0] is x
    assert copy.copy(x) is x


class Shaped:
    """Anything with a shape."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape


def test_enforce_shape_hands_back_the_very_object_of_any_library() -> None:
    things: list[Any] = [np.zeros((2, 5, 3)), Shaped((2, 5, 3)), Shaped([2, 5, 3]), Shaped((np.int64(2), 5, 3))]
    things.append(np.ma.zeros((2, 5, 3)))
    for module, make in (("torch", "zeros"), ("jax.numpy", "zeros"), ("paddle", "zeros")):
        if module in sys.modules:
            things.append(getattr(sys.modules[module], make)((2, 5, 3)))
    for thing in things:
        same_thing, dims = sw.enforce_shape(thing, ["n", None, 3])
        assert same_thing is thing and dims == [2, 5, 3] and all(type(n) is int for n in dims)
        with pytest.raises(sw.ShapeError):
            sw.enforce_shape(thing, ["n", "n", 3])
        assert sw.enforce_shape(x=thing, pattern=[...])[0] is thing
    with pytest.raises(TypeError):
        sw.enforce_shape(object(), [...])


@pytest.mark.parametrize("shape", ["23", 5, None, (2.5,), ("a",), (-1,), (None,), (2**70,)], ids=repr)
def test_a_shape_that_is_no_shape_is_an_error(shape: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        sw.enforce_shape(Shaped(shape), [...])


def test_symbols_bind_at_their_first_match_and_must_agree() -> None:
    n = sw.symbol("n")
    assert sw.enforce_shape(sw.zeros([3, 3]), [n, n])[1] == [3, 3]
    for pattern in (["n", "n"], [n, n], ["n", n]):
        with pytest.raises(sw.ShapeError) as caught:
            sw.enforce_shape(sw.zeros([3, 4]), pattern)
        assert "3" in str(caught.value) and "4" in str(caught.value) and "n" in str(caught.value)
        assert caught.value.axis == 1
    for again in (3, 5):  # without a scope a symbol is free in every call
        assert sw.enforce_shape(sw.zeros([again]), [n])[1] == [again]


def test_a_scope_keeps_what_its_symbols_are_bound_to() -> None:
    with sw.shapes() as s:
        x = sw.zeros([4, 3])
        assert s.enforce(x, ["batch", "width"]) == (x, [4, 3])
        assert s.enforce(np.zeros((3, 7)), ["width", None])[1] == [3, 7]
        with pytest.raises(sw.ShapeError) as caught:
            s.enforce(sw.zeros([5, 3]), ["batch", "width"])
        assert "4" in str(caught.value) and "5" in str(caught.value) and "batch" in str(caught.value)
        with pytest.raises(sw.ShapeError):
            s.enforce(sw.zeros([9, 5]), ["new", "width"])
        assert s.enforce(sw.zeros([8]), ["new"])[1] == [8], "a check that fails binds nothing"


@pytest.mark.parametrize(
    "shape, pattern, error",
    [
        ((4, 3), [None], sw.ShapeError),
        ((4, 3), [None, None, None], sw.ShapeError),
        ((4, 3), [4, 4], sw.ShapeError),
        ((4, 3), [..., 3, ...], ValueError),
        ((4, 3), [4, -1], ValueError),
        ((1, 3), [True, 3], TypeError),
        ((4, 3), [4.0, 3], TypeError),
        ((4, 3), "ab", TypeError),
        ((4, 3), 4, TypeError),
        ((4, 3), None, TypeError),
    ],
)
def test_a_pattern_that_fails_prints_pattern_and_shape(shape: Any, pattern: Any, error: type[Exception]) -> None:
    for x in (sw.zeros(shape), np.zeros(shape), Shaped(shape)):
        with pytest.raises(error) as caught:
            sw.enforce_shape(x, pattern)
        assert isinstance(caught.value, sw.StridewiseError) and caught.value.operator == "enforce_shape"
        if error is sw.ShapeError:
            assert str(shape) in str(caught.value) or str(shape)[1:-1] in str(caught.value)


# take and out=


def test_fill_reads_the_value_outside() -> None:
    x = [4, 3, 5]
    assert sw.take(x, [-4, -3, 2, 3], mode="fill").tolist() == [0, 4, 5, 0]
    assert sw.take(x, [-4, -3, 2, 3], mode="fill", fill_value=-1).tolist() == [-1, 4, 5, -1]
    assert math.isnan(sw.take([1.0], [9], mode="fill", fill_value=math.nan).item())
    assert sw.take(sw.zeros([0]), [0, 5], mode="fill", fill_value=7).tolist() == [7, 7]
    with pytest.raises(ValueError):
        sw.take(x, [0], fill_value=1)


def test_raise_names_the_first_bad_index_its_position_and_the_bound() -> None:
    with pytest.raises(sw.IndexOutOfRange, match=r"index -5 at position \(1, 1\).*size 4") as caught:
        sw.take(np.zeros((4, 3)), [[0, 1, 2], [3, -5, 9]], 0)
    assert caught.value.actual == "-5" and caught.value.axis == 0 and caught.value.argument == "index"


def test_every_integer_dtype_is_an_index() -> None:
    x = np.arange(5)
    for dtype in INTEGERS:
        assert sw.take(x, np.array([1, 4], dtype)).tolist() == [1, 4]
        assert sw.take(x, np.array(3, dtype)).item() == 3
    largest = np.array([2**64 - 1], "uint64")
    with pytest.raises(IndexError):
        sw.take(x, largest)
    assert sw.take(x, largest, mode="wrap").tolist() == [(2**64 - 1) % 5]
    assert sw.take(x, largest, mode="clip").tolist() == [4]
    assert sw.take(x, np.array([-(2**63)]), mode="wrap").tolist() == [-(2**63) % 5]


@given(data=st.data())
def test_out_gets_what_take_would_return_and_is_returned(data: st.DataObject) -> None:
    x = data.draw(arrays(min_rank=1, max_rank=3))
    axis = data.draw(st.one_of(st.none(), st.integers(-x.ndim, x.ndim - 1)))
    size = x.size if axis is None else x.shape[axis]
    count = data.draw(st.integers(0, 3)) if size else 0
    index = np.array(data.draw(st.lists(st.integers(-size, max(size - 1, 0)), min_size=count, max_size=count)), "int64")
    expected = sw.take(x, index, axis).numpy()
    layout = data.draw(st.sampled_from(["packed", "stepped", "reversed", "fortran"]))
    base = np.zeros([2 * n for n in expected.shape], x.dtype)
    out = {
        "packed": np.zeros(expected.shape, x.dtype),
        "stepped": base[tuple(slice(0, 2 * n, 2) for n in expected.shape)],
        "reversed": base[tuple(slice(2 * n, n, -1) for n in expected.shape)],
        "fortran": np.zeros(expected.shape, x.dtype, order="F"),
    }[layout]
    if out.shape != expected.shape:
        out = np.zeros(expected.shape, x.dtype)
    result = sw.take(x, index, axis, out=out)
    assert result is out
    assert in_bytes(out) == in_bytes(expected)
    assert sw.asarray(x).take(index, axis=axis, mode="wrap" if size else "raise", out=out) is out


def test_out_none_is_as_if_not_given() -> None:
    assert isinstance(sw.take([1, 2], [0], out=None), sw.Tensor)


BAD_OUT: dict[str, tuple[Callable[[], tuple[Any, Any, Any]], tuple[type[Exception], ...]]] = {
    "another shape": (lambda: (np.arange(6.0), [0, 1], np.full(3, 9.0)), (ValueError,)),
    "another rank": (lambda: (np.arange(6.0), [0, 1], np.full((2, 1), 9.0)), (ValueError,)),
    "another dtype": (lambda: (np.arange(6.0), [0, 1], np.full(2, 9.0, "float32")), (TypeError,)),
    "read-only": (lambda: (np.arange(6.0), [0, 1], np.broadcast_to(9.0, (2,))), (ValueError, TypeError)),
    "an index outside": (lambda: (np.arange(6.0), [0, 6], np.full(2, 9.0)), (IndexError,)),
    "a float index": (lambda: (np.arange(6.0), [0.5, 1], np.full(2, 9.0)), (TypeError,)),
    "a list": (lambda: (np.arange(6.0), [0, 1], [9.0, 9.0]), (TypeError,)),
    "a number": (lambda: (np.arange(6.0), 0, 9.0), (TypeError,)),
    "a tensor, which is immutable": (lambda: (np.arange(6.0), [0, 1], sw.zeros([2])), (TypeError, ValueError)),
}


@pytest.mark.parametrize("what", BAD_OUT)
def test_an_out_that_does_not_fit_is_an_error_and_stays_untouched(what: str) -> None:
    make, errors = BAD_OUT[what]
    x, index, out = make()
    before = copy.deepcopy(out.tolist() if hasattr(out, "tolist") else out)
    with pytest.raises(errors) as caught:
        sw.take(x, index, out=out)
    assert "there is no argument `out`" not in str(caught.value)
    assert isinstance(caught.value, sw.StridewiseError) and caught.value.operator == "take"
    assert (out.tolist() if hasattr(out, "tolist") else out) == before


def overlapping(shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.lib.stride_tricks.as_strided(np.full(8, 9.0), shape, [8 * n for n in strides], writeable=True)


def test_an_out_that_overlaps_anything_is_an_error_and_stays_untouched() -> None:
    memory = np.arange(12.0)
    numbers = np.arange(12)
    cases = [
        (memory, np.array([3, 2]), memory[:2]),
        (memory[:6], np.array([3, 2]), memory[5:7]),
        (memory[::2], np.array([3, 2]), memory[2:4]),
        (sw.asarray(memory), np.array([3, 2]), memory[:2]),
        (numbers.copy(), numbers[:2], numbers[:2]),
        (numbers.copy(), numbers[:2], numbers[1:3]),
        (np.arange(4.0), np.array([3, 2]), overlapping((2,), (0,))),
        (np.arange(4.0), np.array([[3, 2], [1, 0]]), overlapping((2, 2), (1, 1))),
    ]
    for x, index, out in cases:
        before = out.tolist()
        with pytest.raises(ValueError) as caught:
            sw.take(x, index, out=out)
        assert isinstance(caught.value, sw.StridewiseError) and caught.value.argument == "out"
        assert out.tolist() == before
    apart = np.arange(12.0)
    assert sw.take(apart[6:], [1, 0], out=apart[:2]).tolist() == [7, 6], "memory side by side is no overlap"
    woven = np.arange(12.0)
    assert sw.take(woven[::2], [1, 0], out=woven[1:5:2]).tolist() == [2, 0], "nor is memory in between"


# expand, repeat, tile.


def test_broadcast_to_has_no_minus_1_and_repeat_is_always_a_tensor_of_its_own() -> None:
    with pytest.raises(ValueError, match="expand"):
        sw.broadcast_to(sw.zeros([2]), -1)
    x = sw.zeros([2, 3])
    own = x.repeat(1, 1)
    assert own is not x and not own.shares_memory(x) and own.shape == (2, 3)
    assert x.repeat(0, 1).shape == (0, 3)
    assert x.tile(2).shape == (2, 6) and x.tile([]).shape == (2, 3)


@pytest.mark.parametrize("shape", [(4, 0, 16), (4, 3, 16)])
def test_unflatten_resolves_its_unknown_on_the_axis_alone(shape: tuple[int, ...]) -> None:
    x = sw.zeros(shape)
    assert x.unflatten(0, (-1,)).shape == shape
    assert x.unflatten(0, (2, -1)).shape == (2, 2, *shape[1:])
    with pytest.raises(sw.ShapeError):
        x.unflatten(1, (0, -1))
    with pytest.raises(sw.AxisError):
        sw.unflatten(sw.zeros([]), 0, [1])


def test_flatten_is_a_view_where_strides_allow_and_a_copy_where_not() -> None:
    x = sw.arange(24).reshape(2, 3, 4)
    assert x.flatten().shares_memory(x) and x.flatten(1, 2).shape == (2, 12)
    assert not x.permute(2, 1, 0).flatten().shares_memory(x)
    with pytest.raises(sw.ShapeError):
        x.permute(2, 1, 0).view(24)
    assert x[:, :, ::2].flatten(0, 1).shares_memory(x)


@pytest.mark.parametrize(
    "shape", [[2, 3], (2, 3), np.array([2, 3]), sw.asarray([2, 3]), [sw.asarray(2), 3], [np.int64(2), 3]], ids=repr
)
def test_a_layer_takes_any_form_of_shape_and_prints_it_as_numbers(shape: Any) -> None:
    layer = sw.nn.Unflatten(1, shape)
    assert layer(np.zeros((4, 6))).shape == (4, 2, 3)
    assert repr(layer) == "Unflatten(axis=1, shape=[2, 3])"


def test_layers_run_one_after_another() -> None:
    both = sw.nn.Sequential(sw.nn.Unflatten(1, [2, 3]), sw.nn.Unflatten(0, [2, -1]))
    assert both(sw.zeros([4, 6])).shape == (2, 2, 2, 3) and "Unflatten(axis=0, shape=[2, -1])" in repr(both)
    assert sw.nn.Sequential()(X) is X


def test_a_layer_keeps_the_shape_it_was_made_with() -> None:
    sizes = [2, 3]
    layer = sw.nn.Unflatten(1, sizes)
    sizes.append(4)
    assert layer(sw.zeros([4, 6])).shape == (4, 2, 3)


# What Python people expect.


def test_tensors_behave_like_arrays() -> None:
    x = sw.asarray(np.arange(6, dtype="int16").reshape(2, 3))[:, ::-1]
    assert (x.ndim, x.size, x.nbytes, x.itemsize, x.T.shape, x.mT.shape) == (2, 6, 12, 2, (3, 2), (3, 2))
    again = pickle.loads(pickle.dumps(x))
    assert again.tolist() == x.tolist() and again.dtype == x.dtype
    deep = copy.deepcopy(x)
    assert deep.tolist() == x.tolist() and not deep.shares_memory(x)
    assert int(sw.asarray(3)) == 3 and float(sw.asarray(2.5)) == 2.5 and complex(sw.asarray(1j)) == 1j
    assert [10, 20][sw.asarray(1)] == 20 and bool(sw.asarray([[True]])) is True
    assert len(x) == 2 and [row.tolist() for row in x] == x.tolist() == [[2, 1, 0], [5, 4, 3]]
    assert repr(sw.asarray([1.5, 2])) == "tensor([1.5, 2. ])"
    assert sw.asarray([[7]]).item() == 7
    with pytest.raises(ValueError):
        bool(x)
    with pytest.raises(ValueError):
        x.item()
    for refused in (len, iter):
        with pytest.raises(TypeError):
            refused(sw.asarray(1))
    for number in (sw.asarray(1.5), sw.asarray([1, 2]), sw.asarray(True)):
        with pytest.raises(TypeError):
            [1, 2, 3][number]
    with pytest.raises(TypeError):
        int(sw.asarray([1, 2]))


def test_equality_is_elementwise_and_array_equal_is_not() -> None:
    x = sw.asarray([[1, 2], [3, 4]])
    assert (x == sw.asarray([[1, 0], [3, 4]])).tolist() == [[True, False], [True, True]]
    assert (x != 2).tolist() == [[True, False], [True, True]]
    assert 2 in sw.asarray([1, 2]) and 3 not in sw.asarray([1, 2])
    assert sw.array_equal(x, [[1, 2], [3, 4]]) is True and sw.array_equal(x, [1, 2]) is False
    assert sw.allclose(sw.asarray([1.0]), [1.0 + 1e-12]) is True and sw.allclose([1.0], [1.1]) is False


def test_the_shape_of_a_tensor_is_a_tuple_and_an_operator() -> None:
    assert sw.asarray(X).shape == (2, 3) and sw.shape_of(X).tolist() == [2, 3]


def test_asarray_shares_copies_or_refuses_as_told() -> None:
    x = np.arange(6.0).reshape(2, 3)
    assert sw.asarray(x).data_ptr() == address(x) and sw.asarray(x, copy=False).data_ptr() == address(x)
    assert sw.asarray(x, copy=True).data_ptr() != address(x)
    assert str(sw.asarray(x, dtype="float32").dtype) == "float32"
    with pytest.raises(ValueError):
        sw.asarray(x, dtype="float32", copy=False)
    with pytest.raises(ValueError):
        sw.asarray([1.0], copy=False)
    t = sw.asarray(x)
    assert not sw.asarray(t, copy=True).shares_memory(t)
    assert sw.asarray((t, t)).shape == (2, 2, 3) and sw.asarray([t, x]).shape == (2, 2, 3)
    with pytest.raises((ValueError, TypeError)):
        sw.asarray([[1, 2], [3]])


def test_what_cannot_be_shared_is_refused_or_copied() -> None:
    assert sw.asarray(np.arange(3, dtype=">i4")).tolist() == [0, 1, 2]
    for odd in (np.array([object()]), np.array(["text"]), np.zeros(2, "M8[s]"), np.zeros(2, [("a", "u1")])):
        with pytest.raises(TypeError):
            sw.asarray(odd)
    packed = np.zeros(4, [("a", "u1"), ("b", "<f4")])
    packed["b"] = [1, 2, 3, 4]
    assert sw.asarray(packed["b"]).tolist() == [1, 2, 3, 4]
    assert sw.asarray(bytearray(b"ab")).tolist() == [97, 98]
    with pytest.raises(BufferError):
        memoryview(sw.zeros([2]).cast("bfloat16"))


@pytest.mark.parametrize("value", [np.float32(2), np.int16(2), np.array(2.0), sw.asarray(2)], ids=repr)
def test_a_0d_array_is_a_number_where_one_is_needed(value: Any) -> None:
    assert sw.full([2], value).tolist() == [2, 2]
    assert sw.take([5.0], [7], mode="fill", fill_value=sw.asarray(2.0)).tolist() == [2]
    assert sw.sum([[1, 2]], 1, keepdims=np.True_).shape == (1, 1)


def test_an_index_of_lists_picks_rows_as_in_numpy() -> None:
    x = np.arange(12).reshape(3, 4)
    same(sw.asarray(x)[[0, 1]], x[[0, 1]])
    same(sw.asarray(x)[[2]], x[[2]])


def test_the_package_has_a_version() -> None:
    assert sw.__version__.count(".") == 2


def test_every_exporter_of_buffers_is_an_array() -> None:
    assert sw.asarray((ctypes.c_int * 3)(1, 2, 3)).tolist() == [1, 2, 3], "no strides means packed"
    assert sw.asarray(array.array("d", [1, 2])).tolist() == [1, 2]
    assert sw.asarray(memoryview(b"abcdef").cast("B", [2, 3])).shape == (2, 3)
    assert sw.asarray(memoryview(b"abcdef")[::-2]).tolist() == [102, 100, 98]


class Buffer(ctypes.Structure):
    """What the buffer protocol fills; the pointers are not looked at."""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("rest", ctypes.c_ssize_t * 9)]


@pytest.mark.parametrize(
    "flags, packed, turned, stepped",
    [
        (0x00, True, False, False),  # PyBUF_SIMPLE
        (0x08, True, False, False),  # PyBUF_ND
        (0x38, True, False, False),  # PyBUF_C_CONTIGUOUS
        (0x58, False, True, False),  # PyBUF_F_CONTIGUOUS
        (0x98, True, True, False),  # PyBUF_ANY_CONTIGUOUS
        (0x18, True, True, True),  # PyBUF_STRIDES
        (0x1C, True, True, True),  # PyBUF_RECORDS_RO
        (0x19, False, False, False),  # PyBUF_STRIDED, which is to be written
    ],
)
def test_a_borrower_gets_memory_that_lies_as_it_asks_or_nothing(
    flags: int, packed: bool, turned: bool, stepped: bool
) -> None:
    borrow = ctypes.pythonapi.PyObject_GetBuffer
    borrow.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
    give_back = ctypes.pythonapi.PyBuffer_Release
    give_back.argtypes, give_back.restype = [ctypes.c_void_p], None
    x = sw.zeros([3, 4])
    for tensor, granted in ((x, packed), (x.T, turned), (x[:, ::2], stepped)):
        buffer = Buffer()
        try:
            borrow(tensor, ctypes.byref(buffer), flags)
        except BufferError:
            assert not granted, f"{tensor.strides} was refused"
        else:
            give_back(ctypes.byref(buffer))
            assert granted, f"{tensor.strides} was lent"


def test_symbols_pickle_and_copy() -> None:
    n = sw.symbol("n")
    assert pickle.loads(pickle.dumps(n)) == copy.deepcopy(n) == n and str(n) == "n"


def test_the_owner_lives_as_long_as_any_view() -> None:
    class Array(np.ndarray[Any, Any]):
        pass

    owner = np.arange(6.0).view(Array)
    alive = weakref.ref(owner)
    view = sw.asarray(owner)[1:].flip().unsqueeze(0)
    del owner
    gc.collect()
    assert alive() is not None and view.tolist() == [[5, 4, 3, 2, 1]]
    back = view.numpy()
    del view
    gc.collect()
    assert alive() is not None and back[0, 0] == 5
    del back
    gc.collect()
    assert alive() is None


def test_an_array_whose_rank_is_1_and_size_1_is_no_number() -> None:
    """PyTorch lets `__index__` through for one element of any rank."""

    class OneElement:
        def __init__(self, array: np.ndarray[Any, Any]) -> None:
            self.array = array
            self.shape, self.dtype = array.shape, array.dtype

        def __index__(self) -> int:
            return int(self.array.reshape(()))

        def __array__(self, *_: Any, **__: Any) -> np.ndarray[Any, Any]:
            return self.array

    one = OneElement(np.array([3]))
    assert sw.asarray(one).shape == (1,)
    assert sw.atleast_2d(one).shape == (1, 1) and sw.take([5, 6, 7, 8], one).shape == (1,)
    if "torch" in sys.modules:
        torch: Any = sys.modules["torch"]
        assert sw.asarray(torch.tensor([3])).shape == (1,)
        assert sw.flip(torch.tensor([[3]])).shape == (1, 1)
        assert str(sw.asarray(torch.tensor(3, dtype=torch.int32)).dtype) == "int32"
