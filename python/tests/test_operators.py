"""Every operator of the table against NumPy: values, dtypes, layouts, errors, and which results are views.

Each operator has an oracle below: a function that draws a call, and says what NumPy makes of it. A test for
each line of the table runs the call as a function on foreign arrays, as a function on tensors, and as a method.
"""

from __future__ import annotations

import builtins
import contextlib
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    COMPLEXES,
    DTYPES,
    FLOATS,
    INTEGERS,
    Draw,
    address,
    arrays,
    axes_of,
    families,
    filled,
    numpy_dtype,
    same,
    shapes,
    spelled,
    steps,
)

import stridewise as sw

KINDS: dict[str, str] = {name: kind for name, _, kind, _ in sw._stridewise._table()}
NAMES = list(KINDS)
NO_RECEIVER = {"concat", "stack", "zeros", "ones", "full", "arange"}

AxisError = np.exceptions.AxisError


@dataclass
class Call:
    """A call, and NumPy's answer to it."""

    args: tuple[Any, ...]
    answer: Callable[[], Any]
    named: dict[str, Any] = field(default_factory=dict)


Oracle = Callable[[Draw], Call]
ORACLES: dict[str, Oracle] = {}


def oracle(function: Oracle) -> Oracle:
    """Adds the oracle of the operator that has the function's name."""
    ORACLES[function.__name__.removesuffix("_")] = function
    return function


def axis_within(axis: int, rank: int) -> int:
    """The axis counted from the front. NumPy lets 0 and -1 through for rank 0; the contract does not."""
    if not -rank <= axis < rank:
        raise AxisError(axis, rank)
    return axis % rank


def axes_within(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    found = tuple(axis_within(axis, rank) for axis in axes)
    if len(set(found)) < len(found):
        raise AxisError("an axis twice")
    return found


def never_negative(sizes: Sequence[int]) -> None:
    if any(n < 0 for n in sizes):
        raise ValueError("a negative size")


def as_tensors(value: Any) -> Any:
    """The same arguments with a tensor in place of each array."""
    if isinstance(value, np.ndarray):
        return sw.asarray(value)
    if isinstance(value, (list, tuple)):
        return type(value)(as_tensors(item) for item in value)
    return value


def tensors_in(value: Any) -> list[sw.Tensor]:
    if isinstance(value, sw.Tensor):
        return [value]
    return [x for item in value for x in tensors_in(item)] if isinstance(value, (list, tuple)) else []


def hold_to(call: Call, expected: Any, run: Callable[[], Any]) -> Any:
    """Runs one spelling of the call and compares it with the answer; the result, or None for an error."""
    if isinstance(expected, Exception):
        wanted = families(expected)
        assert wanted, f"NumPy raised {expected!r}, which is in no family"
        with pytest.raises(wanted) as caught:
            run()
        assert isinstance(caught.value, sw.StridewiseError), f"{caught.value!r} has no fields"
        return None
    ours = run()
    same(ours, expected)
    return ours


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_operator_agrees_with_numpy(name: str, data: st.DataObject) -> None:
    call = ORACLES[name](data.draw)
    try:
        expected = call.answer()
    except (ValueError, IndexError, TypeError) as error:
        expected = error
    hold_to(call, expected, lambda: getattr(sw, name)(*call.args, **call.named))
    tensors = as_tensors(call.args)
    ours = hold_to(call, expected, lambda: getattr(sw, name)(*tensors, **call.named))
    storage(name, tensors, ours, expected)
    if name not in NO_RECEIVER and tensors and isinstance(tensors[0], sw.Tensor):
        ours = hold_to(call, expected, lambda: getattr(tensors[0], name)(*tensors[1:], **call.named))
        storage(name, tensors, ours, expected)


def storage(name: str, given: tuple[Any, ...], ours: Any, expected: Any) -> None:
    """Asserts that views look at the input's memory, where NumPy's do, and that copies do not."""
    if ours is None or name in NO_RECEIVER:
        return
    results = tensors_in(ours)
    if KINDS[name] == "View":
        origins = given if name.startswith("atleast_") and name != "atleast_nd" else given[:1] * len(results)
        theirs = list(expected if isinstance(expected, (list, tuple)) else [expected])
        for origin, result, their in zip(origins, results, theirs, strict=False):
            if not isinstance(origin, sw.Tensor):
                continue
            assert result.is_view_of(origin), f"{name} has moved data"
            if result.size and isinstance(their, np.ndarray) and np.shares_memory(their, origin.numpy()):
                assert result.data_ptr() == address(their)
                assert [s for s, n in zip(result.strides, result.shape, strict=True) if n > 1] == steps(their)
    elif KINDS[name] == "Copy":
        for result in results:
            assert not any(result.is_view_of(origin) for origin in tensors_in(given)), f"{name} gave a view"


def test_every_operator_has_an_oracle_and_every_oracle_an_operator() -> None:
    assert sorted(ORACLES) == sorted(NAMES)
    assert len(NAMES) > 30


# At least so many axes.


def several(draw: Draw, answer: Callable[[Any], Any]) -> Call:
    inputs = tuple(draw(st.lists(arrays(), max_size=3)))

    def answers() -> Any:
        results = [answer(x) for x in inputs]
        return results[0] if len(results) == 1 else results

    return Call(inputs, answers)


@oracle
def atleast_1d(draw: Draw) -> Call:
    return several(draw, np.atleast_1d)


@oracle
def atleast_2d(draw: Draw) -> Call:
    return several(draw, np.atleast_2d)


@oracle
def atleast_3d(draw: Draw) -> Call:
    return several(draw, np.atleast_3d)


@oracle
def atleast_nd(draw: Draw) -> Call:
    x, n = draw(arrays()), draw(st.integers(-1, 9))
    place = draw(st.sampled_from(["front", "back", "numpy", None, "left"]))

    def answer() -> Any:
        never_negative([n])
        if place == "left":
            raise ValueError("no such place")
        new = max(n - x.ndim, 0)
        if place in (None, "numpy") and n <= 3 and new:
            return [None, np.atleast_1d, np.atleast_2d, np.atleast_3d][n](x)  # type: ignore[misc]
        behind = {"front": 0, "back": new}.get(str(place), min(new, 1 if x.ndim else 0))
        return x.reshape((1,) * (new - behind) + x.shape + (1,) * behind) if new else x

    return Call((x, n), answer, {"place": place} if place else {})


# Expanding and repeating.


def stretch(draw: Draw, x: np.ndarray[Any, Any], keep: bool) -> list[int]:
    """Sizes that x expands to; now and then one that it does not."""
    sizes = [draw(st.integers(0, 4)) if n == 1 else n for n in x.shape]
    if keep:
        sizes = [-1 if draw(st.integers(0, 2)) == 0 and n == m else n for n, m in zip(sizes, x.shape, strict=True)]
    sizes = draw(st.lists(st.integers(0, 3), max_size=2)) + sizes
    wrong = draw(st.sampled_from(["", "", "", "size", "fewer", "front", "negative"]))
    if wrong == "size" and sizes:
        sizes[draw(st.integers(0, len(sizes) - 1))] = draw(st.integers(-1, 7))
    if wrong == "fewer":
        sizes = sizes[1:]
    if wrong == "front":
        sizes = [-1, *sizes]
    if wrong == "negative" and sizes:
        sizes[draw(st.integers(0, len(sizes) - 1))] = draw(st.sampled_from([-2, -3, -(2**40)]))
    return sizes


@oracle
def expand(draw: Draw) -> Call:
    x = draw(arrays(max_rank=5))
    sizes = stretch(draw, x, keep=True)

    def answer() -> Any:
        new = len(sizes) - x.ndim
        if new < 0:
            raise ValueError("fewer sizes than axes")
        kept = [x.shape[at - new] if n == -1 and at >= new else n for at, n in enumerate(sizes)]
        never_negative(kept)
        return np.broadcast_to(x, kept)

    return Call((x, *draw(spelled(sizes))), answer)


@oracle
def expand_as(draw: Draw) -> Call:
    x = draw(arrays(max_rank=5))
    sizes = [max(n, 0) for n in stretch(draw, x, keep=False)]
    other = np.broadcast_to(np.zeros(1, "uint8"), sizes or (1,)).reshape(sizes)
    return Call((x, other), lambda: np.broadcast_to(x, other.shape))


@oracle
def broadcast_to(draw: Draw) -> Call:
    x = draw(arrays(max_rank=5))
    sizes = stretch(draw, x, keep=False)
    return Call((x, *draw(spelled(sizes))), lambda: np.broadcast_to(x, sizes))


def counts(draw: Draw, at_least: int, at_most: int) -> list[int]:
    return draw(st.lists(st.sampled_from([1, 2, 1, 3, 0, 1, 2, 1, 1, -1]), min_size=at_least, max_size=at_most))


@oracle
def repeat(draw: Draw) -> Call:
    x = draw(arrays(max_count=60))
    sizes = counts(draw, max(x.ndim - 1, 0), x.ndim + 2)

    def answer() -> Any:
        never_negative(sizes)
        if len(sizes) < x.ndim:
            raise ValueError("fewer sizes than axes")
        return np.tile(x, sizes)

    return Call((x, *draw(spelled(sizes))), answer)


@oracle
def tile(draw: Draw) -> Call:
    x = draw(arrays(max_count=60))
    reps = counts(draw, 0, x.ndim + 1)

    def answer() -> Any:
        never_negative(reps)  # NumPy lets them pass for an empty array
        return np.tile(x, reps)

    return Call((x, *draw(spelled(reps))), answer)


@oracle
def repeat_interleave(draw: Draw) -> Call:
    x = draw(arrays(max_count=120))
    axis = draw(st.one_of(st.none(), axes_of(x.ndim)))
    within = axis is not None and -x.ndim <= axis < x.ndim
    length = x.shape[axis] if within else x.size  # type: ignore[index]
    one = draw(st.booleans())
    length = length + draw(st.sampled_from([0, 0, 0, 1]))
    count = st.sampled_from([1, 2, 0, 3, 1, 2, 1, -1])
    repeats = draw(count) if one else [draw(count) for _ in range(length)]

    def answer() -> Any:
        if axis is not None:
            axis_within(axis, x.ndim)
        never_negative([repeats] if isinstance(repeats, int) else repeats)
        return np.repeat(x, np.array(repeats, "int64"), axis)

    given = draw(st.sampled_from([repeats, np.array(repeats, "int64"), sw.asarray(np.array(repeats, "int32"))]))
    return Call((x, given, axis), answer)


# Other shapes for the same elements.


def split(draw: Draw, size: int) -> list[int]:
    """Sizes whose product is this, in some order."""
    parts = []
    for factor in (2, 3, 5, 7):
        while size and size % factor == 0 and draw(st.booleans()):
            parts.append(factor)
            size //= factor
    parts += [size] + [1] * draw(st.integers(0, 2))
    return list(draw(st.permutations(parts)))


def with_unknown(draw: Draw, sizes: list[int]) -> list[int]:
    """Now and then one size is -1, or something is wrong."""
    change = draw(st.sampled_from(["", "", "unknown", "unknown", "two", "other", "negative", "none"]))
    at = draw(st.integers(0, len(sizes) - 1)) if sizes else 0
    if change == "unknown" and sizes:
        sizes[at] = -1
    if change == "two":
        sizes = [-1, *sizes, -1]
    if change == "other":
        sizes = [*sizes, draw(st.integers(0, 3))]
    if change == "negative" and sizes:
        sizes[at] = -2
    if change == "none" and draw(st.booleans()):
        sizes = []
    return sizes


def resolve(sizes: Sequence[int], count: int) -> list[int]:
    """The sizes with -1 worked out for so many elements."""
    if any(n < -1 for n in sizes) or list(sizes).count(-1) > 1:
        raise ValueError("a negative size")
    known = math.prod(n for n in sizes if n != -1)
    if -1 in sizes and (known == 0 or count % known):
        raise ValueError("no size for -1")
    found = [count // known if n == -1 else n for n in sizes]
    if math.prod(found) != count:
        raise ValueError("another number of elements")
    return found


@oracle
def unflatten(draw: Draw) -> Call:
    x = draw(arrays(max_rank=5))
    axis = draw(axes_of(x.ndim))
    size = x.shape[axis] if -x.ndim <= axis < x.ndim else 4
    shape = with_unknown(draw, split(draw, size))

    def answer() -> Any:
        at = axis_within(axis, x.ndim)
        if not shape:
            raise ValueError("no sizes")
        sizes = resolve(shape, x.shape[at])
        return x.reshape(x.shape[:at] + tuple(sizes) + x.shape[at + 1 :])

    return Call((x, axis, *draw(spelled(shape, single=False))), answer)


@oracle
def flatten(draw: Draw) -> Call:
    x = draw(arrays())
    start, stop = draw(axes_of(x.ndim)), draw(axes_of(x.ndim))
    given: list[int] = draw(st.sampled_from([[], [start], [start, stop], [start, stop]]))

    def answer() -> Any:
        first, last = [*given, *[0, -1][len(given) :]]
        first, last = axis_within(first, max(x.ndim, 1)), axis_within(last, max(x.ndim, 1))
        if first > last:
            raise AxisError("start behind stop")
        return x.reshape(x.shape[:first] + (math.prod(x.shape[first : last + 1]),) + x.shape[last + 1 :])

    return Call((x, *given), answer)


@oracle
def reshape(draw: Draw) -> Call:
    x = draw(arrays())
    shape = with_unknown(draw, split(draw, x.size))
    return Call((x, *draw(spelled(shape))), lambda: x.reshape(resolve(shape, x.size)))


@oracle
def view(draw: Draw) -> Call:
    x = draw(arrays())
    shape = draw(st.one_of(st.just(list(x.shape)), st.just(split(draw, x.size))))
    shape = with_unknown(draw, list(shape))

    def answer() -> Any:
        sizes = resolve(shape, x.size)
        return np.reshape(x, sizes, copy=False) if x.size else x.reshape(sizes)

    return Call((x, *draw(spelled(shape))), answer)


# Axes.


@oracle
def squeeze(draw: Draw) -> Call:
    x = draw(arrays())
    ones = [at for at, n in enumerate(x.shape) if n == 1]
    some = draw(st.lists(st.sampled_from(ones), unique=True, max_size=3)) if ones else []
    axes = draw(st.sampled_from([None, some, some, draw(st.lists(axes_of(x.ndim), max_size=2))]))
    if axes is None:
        return Call((x,), lambda: x.squeeze())
    return Call((x, axes), lambda: x.squeeze(axes_within(axes, x.ndim)))


@oracle
def unsqueeze(draw: Draw) -> Call:
    x = draw(arrays())
    count = draw(st.integers(1, 3))
    axes = draw(st.lists(axes_of(x.ndim + count), min_size=count, max_size=count))
    given = draw(st.sampled_from([(axes,), (tuple(axes),), tuple(axes)]))
    return Call((x, *given), lambda: np.expand_dims(x, tuple(axes)))


def order(draw: Draw, rank: int) -> list[int]:
    axes = [axis - draw(st.sampled_from([0, rank])) for axis in draw(st.permutations(range(rank)))]
    wrong = draw(st.sampled_from(["", "", "", "twice", "fewer", "outside"]))
    if wrong == "twice" and axes:
        axes[0] = axes[-1]
    if wrong == "fewer":
        axes = axes[1:]
    if wrong == "outside":
        axes = [*axes[1:], rank]
    return axes


@oracle
def permute(draw: Draw) -> Call:
    x = draw(arrays())
    axes = order(draw, x.ndim)
    given = draw(st.sampled_from([(axes,), (tuple(axes),), tuple(axes) or ([],)]))
    return Call((x, *given), lambda: x.transpose(axes))


@oracle
def transpose(draw: Draw) -> Call:
    x = draw(arrays())
    axes = order(draw, x.ndim)
    given = draw(st.sampled_from([(), (None,), (axes,), (tuple(axes),)]))
    return Call((x, *given), lambda: x.transpose(*given))


@oracle
def swapaxes(draw: Draw) -> Call:
    x = draw(arrays())
    a, b = draw(axes_of(x.ndim)), draw(axes_of(x.ndim))
    return Call((x, a, b), lambda: x.swapaxes(axis_within(a, x.ndim), axis_within(b, x.ndim)))


@oracle
def moveaxis(draw: Draw) -> Call:
    x = draw(arrays())
    count = draw(st.integers(0, 3))
    source = draw(st.lists(axes_of(x.ndim), min_size=count, max_size=count))
    destination = draw(st.lists(axes_of(x.ndim), min_size=count, max_size=draw(st.sampled_from([count, count, 4]))))
    single = count == 1 and len(destination) == 1 and draw(st.booleans())

    def answer() -> Any:
        axes_within(source, x.ndim)
        axes_within(destination, x.ndim)
        return np.moveaxis(x, source, destination)

    return Call((x, source[0], destination[0]) if single else (x, source, destination), answer)


@oracle
def flip(draw: Draw) -> Call:
    x = draw(arrays())
    axes = draw(st.one_of(st.none(), st.lists(axes_of(x.ndim), max_size=3)))
    if axes is None:
        return Call((x,), lambda: np.flip(x))
    return Call((x, axes), lambda: np.flip(x, axes_within(axes, x.ndim)))


@st.composite
def items_of(draw: Draw, shape: tuple[int, ...]) -> list[Any]:
    """What stands between the brackets: whole numbers, slices, None, and at most two dots."""
    end = st.one_of(st.none(), st.integers(-7, 7), st.sampled_from([2**70, -(2**70), 2**63 - 1, -(2**63)]))
    step = st.sampled_from([None, 1, 2, -1, -2, 3, -5, 2**70, -(2**63), 0, 1])
    items: list[Any] = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        number = st.integers(-size, size - 1) if size else st.just(0)
        choice = draw(st.integers(0, 5))
        if choice == 0:
            items.append(draw(st.one_of(number, number, st.integers(-6, 6))))
        elif choice == 1:
            items.append(slice(None))
        else:
            items.append(slice(draw(end), draw(end), draw(step)))
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        items.insert(draw(st.integers(0, len(items))), None)
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 1, 2]))):
        items.insert(draw(st.integers(0, len(items))), ...)
    if draw(st.integers(0, 15)) == 0:
        items += [0] * (len(shape) + 1)
    return items


@oracle
def slice_(draw: Draw) -> Call:
    x = draw(arrays())
    items = draw(items_of(x.shape))

    def answer() -> Any:
        return x[(*items, ...)] if items.count(...) == 0 else x[tuple(items)]

    return Call((x, *items), answer)


@given(data=st.data())
def test_brackets_agree_with_numpy_and_share_memory(data: st.DataObject) -> None:
    x = data.draw(arrays())
    items = tuple(data.draw(items_of(x.shape)))
    t = sw.asarray(x)
    index = items[0] if len(items) == 1 and data.draw(st.booleans()) else items
    try:
        expected = x[(*items, ...)] if items.count(...) == 0 else x[items]
    except (ValueError, IndexError, TypeError) as error:
        with pytest.raises(families(error)):
            t[index]
    else:
        same(t[index], expected)
        storage("slice", (t,), t[index], expected)


# Reading and adding by index.


def bounded(index: np.ndarray[Any, Any], size: int) -> np.ndarray[Any, Any]:
    """The index, if all of it is within; NumPy does not look where the result is empty."""
    found = index.astype("int64")
    if ((found < -size) | (found >= size)).any():
        raise IndexError("an index outside")
    return found


@st.composite
def indices(draw: Draw, size: int, shape: Sequence[int] | None = None) -> np.ndarray[Any, Any]:
    """An index of any integer dtype and shape; now and then with a number outside."""
    dtype = draw(st.sampled_from(INTEGERS))
    shape = draw(shapes(max_rank=2, max_count=12)) if shape is None else tuple(shape)
    low = -size if dtype.startswith("int") else 0
    within = st.integers(low, size - 1) if size else st.just(0)
    count = math.prod(shape)
    if not size and count and draw(st.booleans()):
        shape, count = tuple(0 for _ in shape), 0 if shape else 1
    values = draw(st.lists(within, min_size=count, max_size=count))
    if values and draw(st.integers(0, 3)) == 0:
        outside = [size, size + 3, 100] + ([-size - 1, -100] if low else [])
        values[draw(st.integers(0, count - 1))] = draw(st.sampled_from(outside))
    found = np.array(values, "int64").reshape(shape)
    return found.astype(dtype) if (found.astype(dtype) == found).all() else found


def as_index(draw: Draw, index: np.ndarray[Any, Any]) -> Any:
    """The index as an array, a tensor or nested lists."""
    listed = index.tolist() if index.size else index
    return draw(st.sampled_from([index, sw.asarray(index), listed]))


@oracle
def take(draw: Draw) -> Call:
    x = draw(arrays())
    axis = draw(st.one_of(st.none(), axes_of(x.ndim)))
    size = x.size if axis is None else x.shape[axis] if -x.ndim <= axis < x.ndim else 3
    index = draw(indices(size))
    mode = draw(st.sampled_from(["raise", "raise", "wrap", "clip", "fill", "warp"]))

    def answer() -> Any:
        at = None if axis is None else axis_within(axis, x.ndim)
        if mode == "warp":
            raise ValueError("no such mode")
        if not size and index.size and mode != "fill":
            raise IndexError("an empty source")  # NumPy does not return from some of these
        found = index.astype("int64")
        if mode != "fill":
            return np.take(x, bounded(found, size) if mode == "raise" else found, at, mode=mode)
        source = x.reshape(-1) if at is None else x
        outside = (found < -size) | (found >= size)
        where = (slice(None),) * (at or 0)
        shape = source.shape[: at or 0] + index.shape + source.shape[(at or 0) + 1 :]
        picked = np.zeros(shape, x.dtype)
        if size:
            picked = np.array(np.take(source, np.where(outside, 0, found), at or 0), order="C")
        picked[(*where, outside)] = 0
        return picked

    given = as_index(draw, index)
    position = draw(st.sampled_from([(given, axis, mode), (given, axis), (given,)]))
    named = {"axis": axis, "mode": mode}
    return Call((x, *position), answer, {key: named[key] for key in ["axis", "mode"][len(position) - 1 :]})


@oracle
def index_select(draw: Draw) -> Call:
    x = draw(arrays())
    axis = draw(axes_of(x.ndim))
    size = x.shape[axis] if -x.ndim <= axis < x.ndim else 3
    index = draw(indices(size, None if draw(st.integers(0, 9)) == 0 else (draw(st.integers(0, 4)),)))

    def answer() -> Any:
        at = axis_within(axis, x.ndim)
        if index.ndim > 1:
            raise ValueError("an index of rank 2")
        return np.take(x, bounded(index, size).reshape(-1), at)

    return Call((x, axis, as_index(draw, index)), answer)


@oracle
def take_along_axis(draw: Draw) -> Call:
    x = draw(arrays(min_rank=1))
    axis = draw(axes_of(x.ndim))
    within = -x.ndim <= axis < x.ndim
    shape = [draw(st.sampled_from([n, n, n, 1])) for n in x.shape]
    shape[axis if within else 0] = draw(st.integers(0, 4))
    index = draw(indices(x.shape[axis] if within else 1, shape))

    def answer() -> Any:
        at = axis_within(axis, x.ndim)
        pairs = [pair for i, pair in enumerate(zip(index.shape, x.shape, strict=True)) if i != at]
        if any(n not in (m, 1) and m != 1 for n, m in pairs):
            raise ValueError("sizes that do not broadcast")
        off_axis = [max(n, m) if n and m else 0 for n, m in zip(index.shape, x.shape, strict=True)]
        off_axis[at] = 1
        read = index.size and math.prod(off_axis)  # what is read nowhere is not looked at
        return np.take_along_axis(x, bounded(index, x.shape[at]) if read else index.astype("int64"), at)

    return Call((x, index, axis), answer)


@oracle
def index_add(draw: Draw) -> Call:
    x = draw(arrays(dtypes=[*INTEGERS, "float32", "float64", *COMPLEXES], values="small", max_rank=4))
    axis = draw(axes_of(x.ndim))
    within = -x.ndim <= axis < x.ndim
    count = draw(st.integers(0, 4))
    size = x.shape[axis] if within else 3
    index = draw(indices(size, (count,)))
    shape = list(x.shape)
    if within:
        shape[axis] = index.size + draw(st.sampled_from([0, 0, 0, 0, 1]))
    source = draw(arrays(dtypes=[x.dtype.name], values="small", shape=tuple(shape)))

    def answer() -> Any:
        at = axis_within(axis, x.ndim)
        if source.shape[at] != index.size:
            raise ValueError("another number of slices")
        result = x.copy()
        where: Any = (slice(None),) * at + (bounded(index, size),)
        np.add.at(result, where, source)
        return result

    return Call((x, axis, index, source), answer)


# Patterns.


@oracle
def enforce_shape(draw: Draw) -> Call:
    x = draw(arrays())
    pattern: list[Any] = []
    for size in x.shape:
        name = "abc"[min(size, 2)]
        pattern.append(draw(st.sampled_from([size, None, name, sw.symbol(name), size, None, size + 1, -1])))
    first = draw(st.integers(0, len(pattern)))
    last = draw(st.integers(first, len(pattern)))
    if draw(st.booleans()):
        pattern[first:last] = [...]
    if draw(st.integers(0, 5)) == 0:
        pattern.insert(draw(st.integers(0, len(pattern))), draw(st.sampled_from([None, ...])))

    def answer() -> Any:
        if any(isinstance(item, int) and item < 0 for item in pattern) or pattern.count(...) > 1:
            raise ValueError("no pattern")
        rest = x.ndim - (len(pattern) - pattern.count(...))
        if rest < 0 or (rest and ... not in pattern):
            raise ValueError("another rank")
        sizes, dims = list(x.shape), list[Any]()
        bound: dict[str, int] = {}
        for item in pattern:
            if item is ...:
                axes = tuple(sizes[:rest])
                del sizes[:rest]
                dims.append((axes, math.prod(axes)))
                continue
            size = sizes.pop(0)
            wanted = item if isinstance(item, int) else size if item is None else bound.setdefault(str(item), size)
            if size != wanted:
                raise ValueError("another size")
            dims.append(size)
        return (x, dims)

    return Call((sw.asarray(x) if draw(st.booleans()) else x, pattern), answer)


# Several tensors, and one made several.


@oracle
def unstack(draw: Draw) -> Call:
    x = draw(arrays())
    axis = draw(axes_of(x.ndim))

    def answer() -> Any:
        at = axis_within(axis, x.ndim)
        return [x[(slice(None),) * at + (n, ...)] for n in range(x.shape[at])]

    return Call((x, axis) if draw(st.booleans()) or axis != 0 else (x,), answer)


def joined(draw: Draw, new: int) -> tuple[list[Any], int]:
    """Tensors that fit together, most of the time, and an axis."""
    x = draw(arrays(max_rank=4, max_count=60))
    axis = draw(axes_of(x.ndim + new))
    inputs = [x]
    for _ in range(draw(st.integers(0, 2))):
        shape = list(x.shape)
        wrong = draw(st.sampled_from(["", "", "", "", "size", "rank"]))
        if not new and -x.ndim <= axis < x.ndim:
            shape[axis] = draw(st.integers(0, 3))
        if wrong == "size" and shape:
            shape[0] += 1
        if wrong == "rank":
            shape.append(2)
        dtype = draw(st.sampled_from([x.dtype.name] * 9 + ["int16"]))
        inputs.append(draw(arrays(dtypes=[dtype], shape=tuple(shape))))
    if draw(st.integers(0, 19)) == 0:
        inputs = []
    return inputs, axis


def one_dtype(inputs: list[Any]) -> None:
    if len({x.dtype for x in inputs}) > 1:
        raise TypeError("nothing is cast silently")


def join(draw: Draw, numpy: Callable[..., Any], new: int) -> Call:
    inputs, axis = joined(draw, new)

    def answer() -> Any:
        # Which of several mistakes is told is up to the operator.
        mistakes: list[tuple[type[Exception], ...]] = []
        for check in (lambda: one_dtype(inputs), lambda: numpy([np.zeros(x.shape, "u1") for x in inputs], axis)):
            try:
                check()
            except (ValueError, IndexError, TypeError) as error:
                mistakes.append(families(error))
        if mistakes:
            raise type("Mistake", tuple(dict.fromkeys(family for found in mistakes for family in found)), {})
        return numpy(inputs, axis)

    return Call((inputs, axis), answer)


@oracle
def concat(draw: Draw) -> Call:
    return join(draw, np.concatenate, 0)


@oracle
def stack(draw: Draw) -> Call:
    return join(draw, np.stack, 1)


# Elements.


@oracle
def contiguous(draw: Draw) -> Call:
    x = draw(arrays())
    return Call((x,), lambda: x)


def spelled_dtype(name: str) -> st.SearchStrategy[Any]:
    return st.sampled_from([name, getattr(sw, name), numpy_dtype(name), numpy_dtype(name).type])


@oracle
def cast(draw: Draw) -> Call:
    x = draw(arrays(values="small"))
    name = draw(st.sampled_from(DTYPES))
    into = numpy_dtype(name)
    real = x.real if x.dtype.kind == "c" and into.kind != "c" else x
    return Call((x, draw(spelled_dtype(name))), lambda: real.astype(into))


@oracle
def sum_(draw: Draw) -> Call:
    x = draw(arrays(values="small", max_count=120))
    axes = draw(st.one_of(st.none(), axes_of(x.ndim), st.lists(axes_of(x.ndim), max_size=3)))
    named: dict[str, Any] = {}
    if draw(st.booleans()):
        named["keepdims"] = draw(st.booleans())
    wider = {"b": INTEGERS, "i": INTEGERS, "u": INTEGERS, "f": FLOATS, "c": COMPLEXES}.get(x.dtype.kind)
    into = numpy_dtype(draw(st.sampled_from(wider))) if wider and draw(st.booleans()) else None
    if into is not None:
        named["dtype"] = draw(spelled_dtype(into.name))

    def answer() -> Any:
        given = None if axes is None else axes_within([axes] if isinstance(axes, int) else axes, x.ndim)
        if x.dtype.name != "bfloat16":
            return np.sum(x, given, dtype=into, keepdims=named.get("keepdims", False))
        wide = np.sum(x.astype("float32"), given, keepdims=named.get("keepdims", False))
        return np.asarray(wide).astype(x.dtype)

    return Call((x, axes), answer, named)


@oracle
def shape_of(draw: Draw) -> Call:
    x = draw(arrays())
    return Call((x,), lambda: np.array(x.shape, "int64"))


# Tensors from nothing.


def made(draw: Draw, numpy: Callable[..., Any]) -> Call:
    sizes = list(draw(shapes())) + draw(st.sampled_from([[], [], [], [-1]]))
    shape = draw(spelled(sizes, single=False))
    name = draw(st.sampled_from([None, *DTYPES]))
    if name is None:
        return Call(shape, lambda: numpy(sizes, "float64"))
    return Call(shape, lambda: numpy(sizes, numpy_dtype(name)), {"dtype": draw(spelled_dtype(name))})


@oracle
def zeros(draw: Draw) -> Call:
    return made(draw, np.zeros)


@oracle
def ones(draw: Draw) -> Call:
    return made(draw, np.ones)


@oracle
def full(draw: Draw) -> Call:
    sizes = list(draw(shapes()))
    value = draw(st.sampled_from([True, False, 0, 1, 7, 100, -3, 2**40, 0.5, -1.25, 1e300, 2.5 - 1j]))
    name = draw(st.sampled_from([None, *DTYPES]))
    into = np.asarray(value).dtype if name is None else numpy_dtype(name)

    def answer() -> Any:
        rank = ["b", "iu", "f", "c"]
        kind = {"V": "f"}.get(into.kind, into.kind)
        step = next(at for at, kinds in enumerate(rank) if np.asarray(value).dtype.kind in kinds)
        goal = next(at for at, kinds in enumerate(rank) if kind in kinds)
        if step > goal and not (kind == "b" and value in (0, 1) and isinstance(value, int)):
            raise TypeError("nothing is cast silently")
        if kind in "iu" and step == 1 and not np.iinfo(into).min <= value <= np.iinfo(into).max:
            raise TypeError("the dtype does not hold the value")
        with np.errstate(over="ignore"):
            return np.full(sizes, np.asarray(value).astype(into), into)

    named = {} if name is None else {"dtype": draw(spelled_dtype(name))}
    return Call((*draw(spelled(sizes, single=False)), value), answer, named)


@oracle
def arange(draw: Draw) -> Call:
    number: st.SearchStrategy[Any] = st.integers(-9, 9)
    if draw(st.booleans()):
        number = number.map(lambda n: n / 4)
    bounds = draw(st.lists(number, min_size=1, max_size=3))
    whole = all(isinstance(n, int) for n in bounds)
    name = draw(st.sampled_from([None, None, "float32", "float64", "int64" if whole else None]))

    def answer() -> Any:
        if len(bounds) == 3 and bounds[2] == 0:
            raise ValueError("a step of 0")
        return np.arange(*bounds).astype(name) if name else np.arange(*bounds)

    return Call(tuple(bounds), answer, {"dtype": name} if name else {})


# What is true of all of them.


@given(data=st.data())
def test_numbers_and_nested_lists_count_as_arrays(data: st.DataObject) -> None:
    x = data.draw(arrays(dtypes=["bool", "int64", "float64", "complex128"], values="small", max_rank=4, max_count=60))
    if not x.size:
        x = np.zeros((0,))
    same(sw.asarray(x.tolist()), x)
    same(sw.atleast_2d(x.tolist()), np.atleast_2d(x))
    same(sw.flip(x.tolist()), np.flip(x))
    same(sw.concat([np.atleast_1d(x).tolist(), sw.asarray(np.atleast_1d(x))]), np.concatenate([np.atleast_1d(x)] * 2))


@given(data=st.data())
def test_the_input_is_never_changed(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NAMES))
    call = ORACLES[name](data.draw)
    arrays_given = [x for x in call.args if isinstance(x, np.ndarray)]
    before = [x.tobytes() for x in arrays_given]
    with contextlib.suppress(sw.StridewiseError):
        getattr(sw, name)(*call.args, **call.named)
    assert [x.tobytes() for x in arrays_given] == before


@given(arrays())
def test_arrays_are_shared_both_ways(x: np.ndarray[Any, Any]) -> None:
    t = sw.asarray(x)
    same(t, x)
    if x.size:
        assert t.data_ptr() == address(x)
        back = t.numpy()
        assert address(back) == t.data_ptr()
        assert not back.flags.writeable
        assert steps(back) == steps(x)


@given(arrays(min_rank=1), st.integers(0, 3), st.data())
def test_a_long_run_of_views_is_one_view(x: np.ndarray[Any, Any], length: int, data: st.DataObject) -> None:
    t = sw.asarray(x)
    view = x
    for _ in range(length):
        name = data.draw(st.sampled_from(["flip", "transpose", "unsqueeze", "swapaxes", "expand"]))
        if name == "flip":
            t, view = t.flip(), np.flip(view)
        elif name == "transpose":
            t, view = t.T, view.T
        elif name == "unsqueeze":
            t, view = t.unsqueeze(0), view[None]
        elif name == "swapaxes":
            t, view = t.swapaxes(0, -1), view.swapaxes(0, -1)
        else:
            t, view = t.expand(2, *view.shape), np.broadcast_to(view, (2, *view.shape))
    same(t, view)
    assert not view.size or t.data_ptr() == address(view)


def test_the_operators_of_the_table_are_functions_with_their_signature() -> None:
    for name, signature, kind, summary in sw._stridewise._table():
        function = getattr(sw, name)
        ours = str(inspect.signature(function))
        assert signature.startswith(f"{name}(") and "name" in inspect.signature(function).parameters, ours
        assert summary in (function.__doc__ or ""), name
        assert name in sw.__all__ or name in dir(builtins)
        assert kind in ("View", "ViewOrCopy", "Copy", "Make")
        assert hasattr(sw.Tensor, name) == (name not in NO_RECEIVER), name


# PyTorch as a second oracle, where it is installed.

torch: Any
try:
    import torch
except ImportError:
    torch = None

TORCH_DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", *FLOATS, *COMPLEXES]


def torch_call(name: str, draw: Draw) -> tuple[tuple[Any, ...], Callable[[Any], Any]]:
    """Arguments that PyTorch takes, and what it does with them."""
    x = draw(arrays(dtypes=TORCH_DTYPES, max_rank=4, max_count=60, values="small"))
    x = filled(x.shape, x.dtype.name, draw(st.integers(0, 99)), "small")  # PyTorch has no negative strides
    if name == "expand":
        sizes = stretch(draw, x, keep=True)
        return (x, sizes), lambda t: t.expand(sizes)
    if name == "repeat":
        sizes = [abs(n) for n in counts(draw, max(x.ndim - 1, 0), x.ndim + 2)]  # PyTorch lets some negatives pass
        return (x, sizes), lambda t: t.repeat(sizes)
    if name == "flatten":
        start, stop = draw(axes_of(x.ndim)), draw(axes_of(x.ndim))
        return (x, start, stop), lambda t: t.flatten(start, stop)
    if name == "unflatten":
        axis = draw(axes_of(x.ndim))
        size = x.shape[axis] if -x.ndim <= axis < x.ndim else 4
        shape = with_unknown(draw, split(draw, size))
        return (x, axis, shape), lambda t: t.unflatten(axis, shape)
    if name == "take":
        index = draw(indices(x.size)).astype("int64")
        return (x, index), lambda t: torch.take(t, torch.from_numpy(index))
    x = filled((4, *x.shape[1:]), x.dtype.name, 1, "small")
    index = draw(indices(4, (draw(st.integers(0, 4)),))).astype("int64") % 4
    source = filled((index.size, *x.shape[1:]), x.dtype.name, 2, "small")
    return (x, 0, index, source), lambda t: t.index_add(0, torch.from_numpy(index), torch.from_numpy(source))


if torch is not None:

    @pytest.mark.parametrize("name", ["expand", "repeat", "flatten", "unflatten", "take", "index_add"])
    @given(data=st.data())
    def test_operator_agrees_with_pytorch(name: str, data: st.DataObject) -> None:
        args, theirs = torch_call(name, data.draw)
        try:
            expected = theirs(torch.from_numpy(args[0])).numpy()
        except (RuntimeError, ValueError, IndexError, TypeError):
            with pytest.raises((ValueError, IndexError, TypeError)):
                getattr(sw, name)(*args)
        else:
            same(getattr(sw, name)(*args), expected)
