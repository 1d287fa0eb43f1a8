"""Calls by the shortest way, and objects that are used again: neither may be seen from outside. Run by
`test_short_calls.py` in a process of its own, since calls are no longer that short once there has been a gradient.
"""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stridewise as sw

AXIS = st.integers(-4, 4)
SIZE = st.integers(-2, 7)
ODD = st.sampled_from([True, 1.5, None, "a", 2**70, -(2**70), [1, [2]], (), np.int64(1), np.zeros(2)])
ARGUMENT = st.one_of(AXIS, SIZE, st.lists(SIZE, max_size=4), st.tuples(AXIS, AXIS), ODD)

# Each is a view, or a copy of a few elements.
NAMES = [
    "atleast_1d atleast_2d atleast_3d atleast_nd expand broadcast_to repeat tile unflatten flatten reshape view",
    "squeeze unsqueeze permute transpose swapaxes moveaxis flip slice take index_select unstack contiguous sum",
]


class Other(sw.Tensor):
    """A tensor that no call takes the shortest way for."""


def outcome(call: Any, *args: Any, **named: Any) -> Any:
    """What comes of a call: shape, strides and elements, or class and text of the error."""
    try:
        result = call(*args, **named)
    except Exception as error:
        return type(error), str(error)
    results = result if isinstance(result, list) else [result]
    return [(x.shape, x.strides, x.tolist(), result is args[0]) for x in results]


@pytest.mark.parametrize("name", " ".join(NAMES).split())
@given(st.lists(st.integers(0, 3), max_size=4), st.lists(ARGUMENT, max_size=3))
def test_a_short_call_and_a_long_one_give_the_same(name: str, shape: list[int], args: list[Any]) -> None:
    x = sw.asarray(np.arange(np.prod(shape, dtype=int), dtype="int32").reshape(shape), copy=True)
    function = getattr(sw, name)
    long = outcome(function, Other(x), *args)
    assert outcome(function, x, *args) == long
    method = getattr(x, name)
    assert outcome(lambda _, *args: method(*args), x, *args) == long


def test_objects_of_many_views_are_used_again_without_mixing_them_up() -> None:
    x = sw.arange(1000).reshape(10, 100)
    for _ in range(3):
        rows = [x[at] for at in range(10)] * 20
        columns = [x.T[at] for at in range(100)]
        assert [row[1].item() for row in rows[:10]] == list(range(1, 1000, 100))
        assert [column[2].item() for column in columns] == list(range(200, 300))
        del rows, columns


def test_a_view_that_goes_lets_its_memory_go() -> None:
    class Owner(np.ndarray):
        pass

    array = np.arange(6).view(Owner)
    owner = weakref.ref(array)
    x = sw.asarray(array)
    views = [x.T, x[1:], x.reshape(2, 3), x.unsqueeze(0)]
    del array, x
    assert owner() is not None
    views.clear()
    gc.collect()
    assert owner() is None


def test_a_view_that_its_tensor_leads_to_can_be_collected() -> None:
    x: Any = Other(np.arange(6).reshape(2, 3))
    x.view_of_mine = x.T
    x.another = x.mT[1:]
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None


def test_memory_of_small_results_is_used_again_only_once_nobody_has_it() -> None:
    x = sw.arange(10)
    first = x.take([1, 2])
    place = first.data_ptr()
    shown = np.asarray(first)
    view = x.take([3, 4])[1:]
    copies = [x.take([5, at]) for at in range(5)]
    del first
    others = [x.take([at, 9, at]).repeat(2) for at in range(10)]
    assert shown.tolist() == [1, 2] and view.tolist() == [4]
    assert [copy.tolist() for copy in copies] == [[5, at] for at in range(5)]
    assert [other.tolist() for other in others] == [[at, 9, at] * 2 for at in range(10)]
    assert place not in [other.data_ptr() for other in others]
    del others
    index = sw.asarray([7, 8, 9])
    # There is room for one that goes.
    held = [x.take(index) for _ in range(3)]
    last = held.pop().data_ptr()
    again = x.take(index[1:])
    assert again.data_ptr() == last
    assert again.shape == (2,) and again.tolist() == [8, 9]


def test_weak_references_end_with_their_object_not_with_its_memory() -> None:
    x = sw.arange(6)
    gone: list[int] = []
    for at in range(200):
        view = x[1:]
        ref = weakref.ref(view, lambda _, at=at: gone.append(at))
        assert ref() is view
        del view
        assert ref() is None
        assert x[2:] is not None and ref() is None
    assert gone == list(range(200))


def test_objects_of_subclasses_are_not_used_again() -> None:
    class Named(sw.Tensor):
        pass

    class Slim(sw.Tensor):
        __slots__ = ()

    alive = sys.getrefcount(Named)
    for _ in range(200):
        named = Named([1, 2])
        named.label = "a"
        slim = Slim([3])
        del named, slim
        assert type(sw.arange(3)[1:]) is sw.Tensor
    gc.collect()
    assert sys.getrefcount(Named) == alive


def test_the_class_keeps_its_count_of_references() -> None:
    x = sw.arange(6)
    views = [x[1:] for _ in range(500)]
    del views
    before = sys.getrefcount(sw.Tensor)
    for _ in range(50):
        views = [x[1:] for _ in range(500)]
        del views
    # A few of the interpreter's own come and go; a reference for each view would be thousands.
    assert abs(sys.getrefcount(sw.Tensor) - before) < 10


def test_threads_make_views_of_their_own() -> None:
    wrong: list[Any] = []

    def work(start: int) -> None:
        x = sw.arange(start, start + 24).reshape(2, 3, 4)
        for _ in range(3000):
            views = [x.T, x[1], x.reshape(6, 4), x.unsqueeze(0), x.take([0, 5])]
            first = [int(view.flatten()[0].item()) for view in views]
            if first != [start, start + 12, start, start, start]:
                wrong.append((start, first))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(at * 100,)) for at in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


def test_transposed_attributes_are_documented_and_refuse_to_be_set() -> None:
    x = sw.arange(6).reshape(2, 3)
    assert x.T.shape == (3, 2) and x.T.T.tolist() == x.tolist()
    assert sw.Tensor.T.__doc__ == "The axes reversed."
    assert sw.Tensor.mT.__doc__ == "The last two axes swapped."
    with pytest.raises(AttributeError):
        x.T = x  # type: ignore[misc]
    with pytest.raises(ValueError, match="the last two axes are swapped, but the tensor has rank 1"):
        sw.arange(3).mT  # noqa: B018
