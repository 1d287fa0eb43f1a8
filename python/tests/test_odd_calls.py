"""What NumPy's functions, other libraries and careless callers hand in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stridewise as sw


def test_numpys_functions_work_on_tensors() -> None:
    x = sw.asarray(np.arange(6.0).reshape(2, 3))
    assert np.sum(x).item() == 15 and np.sum(x, axis=0).tolist() == [3, 5, 7]
    assert np.sum(x, axis=0, keepdims=True).shape == (1, 3)
    with pytest.raises(TypeError, match="no argument `out`"):
        x.sum(out=np.zeros(()))  # type: ignore[call-arg]


def test_out_and_name_stand_behind_the_other_arguments_once() -> None:
    out = np.zeros(2)
    x = sw.asarray([1.0, 2.0])
    assert sw.take(x, [1, 0], None, "raise", out, name="n") is out and out.tolist() == [2, 1]
    assert sw.take(x, [0, 1], None, "raise", out, "n") is out and out.tolist() == [1, 2]
    for call in (
        lambda: sw.take(x, [0, 1], None, "raise", out, out=out),
        lambda: sw.take(x, [0, 1], None, "raise", out, "n", name="n"),
        lambda: sw.flip(x, x=x),
        lambda: sw.unflatten(x, 0, [2], "n", name="n"),
    ):
        with pytest.raises(sw.ArgumentTypeError, match="given twice"):
            call()


def test_lists_of_numpy_scalars_are_arrays_everywhere() -> None:
    assert sw.flip([np.int8(1), 2]).tolist() == [2, 1]
    assert sw.take([5, 6, 7], (np.int32(1), 2)).tolist() == [6, 7]
    assert sw.arange(5)[[np.int32(1), 2]].tolist() == [1, 2]
    assert sw.asarray([np.float32(1), 2.5]).tolist() == [1, 2.5]
    assert sw.asarray([[np.float32(1)], [np.float32(2)]]).dtype == sw.float32


def test_ranges_of_any_length_are_lists_of_numbers() -> None:
    assert sw.asarray(range(70_000)).shape == (70_000,)
    assert sw.arange(4)[range(1, 3)].tolist() == [1, 2]


def test_an_array_that_cannot_be_read_is_blamed_on_the_call() -> None:
    with pytest.raises(sw.DTypeError) as caught:
        sw.flip(np.array(["a"]))
    assert caught.value.operator == "flip" and str(caught.value).startswith("flip: ")
    with pytest.raises(sw.DTypeError, match="flip `f`: "):
        sw.flip(np.array(["a"]), name="f")
    with pytest.raises(sw.ArgumentTypeError, match="concat: inputs is an object of type `generator`"):
        sw.concat(x for x in [1])  # type: ignore[arg-type]


def test_a_bool_of_another_library_is_no_size() -> None:
    torch = pytest.importorskip("torch")
    for call in (
        lambda: sw.expand(sw.zeros([1]), torch.tensor(True)),
        lambda: sw.enforce_shape(sw.zeros([1]), [torch.tensor(True)]),
        lambda: sw.flip([1], torch.tensor(True)),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(sw.ShapeError):
        sw.expand(sw.zeros([1]), 2, torch.tensor([3]))


def test_a_list_that_grows_into_itself_while_it_is_read_is_an_error() -> None:
    grown: list[Any] = []

    class Odd:
        asked = 0

        @property
        def __dlpack__(self) -> Any:
            Odd.asked += 1
            if Odd.asked == 2:
                grown.append(grown)
            raise AttributeError

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.zeros(2)

    grown[:] = [np.zeros(2), Odd()]
    with pytest.raises((TypeError, ValueError)):
        sw.asarray(grown)


def test_what_an_index_raises_comes_through() -> None:
    class Odd:
        def __init__(self, error: BaseException) -> None:
            self.error = error

        def __index__(self) -> int:
            raise self.error

    x = sw.arange(3)
    for error in (ValueError("boo"), KeyError("boo"), KeyboardInterrupt("boo")):
        with pytest.raises(type(error), match="boo"):
            x[Odd(error)]
        with pytest.raises(type(error), match="boo"):
            x[Odd(error) :]
    with pytest.raises(ValueError, match="step"):
        x[::0]
