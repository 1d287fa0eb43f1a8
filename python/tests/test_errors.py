"""Exceptions: the built-in class people catch, the fields, and the text of the Rust suite, word for word."""

from __future__ import annotations

import copy
import errno
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stridewise as sw

SNAPSHOTS = Path(__file__).resolve().parents[2] / "crates" / "suite" / "src" / "mistakes" / "snapshots"
HUGE = sw.zeros([1]).expand(1 << 45)
FIELDS = ("operator", "argument", "item", "axis", "expected", "actual", "help")

# What the suite calls a family, as a class and as the built-in classes that people catch.
CLASSES: dict[str, tuple[type[Exception], ...]] = {
    "Shape": (sw.ShapeError, ValueError),
    "Axis": (sw.AxisError, ValueError, IndexError),
    "Index": (sw.IndexOutOfRange, IndexError),
    "DType": (sw.DTypeError, TypeError),
    "Type": (sw.ArgumentTypeError, TypeError),
    "Argument": (sw.ArgumentError, ValueError),
    "Overflow": (sw.TooLarge, ValueError, OverflowError),
}


class Mistake:
    """One mistake of the suite: the call as it is written there, and what came of it."""

    def __init__(self, block: str) -> None:
        lines = block.strip().split("\n")
        self.what, self.call = lines[0].removeprefix("# "), lines[1].removeprefix("> ")
        self.family, *fields = lines[2].strip("[]").split(", ", 1)
        self.fields = self.read(fields[0]) if fields else {}
        self.text = "\n".join(lines[3:])
        self.operator = self.call.partition("(")[0]

    @staticmethod
    def read(text: str) -> dict[str, str]:
        """The fields of `argument sizes, axis 1, expected 3, actual 2`."""
        parts = re.split(r", (?=(?:axis|expected|actual) )", text)
        return dict(part.split(" ", 1) for part in parts)  # type: ignore[misc]


def mistakes() -> list[Mistake]:
    """Every mistake that the suite has a text for."""
    found = []
    for path in sorted(SNAPSHOTS.glob("*.snap")):
        text = path.read_text("utf-8").split("---\n", 2)[2]
        found += [Mistake(block) for block in text.split("\n\n") if block.strip()]
    return found


TENSOR = re.compile(r"<(\w+)\(([\d, ]*)\)(?: strides \(([-\d, ]*)\) offset (\d+))?(?: \[([-\d, ]*)\])?>")


def tensor(dtype: str, shape: str, strides: str | None, offset: str | None, values: str | None) -> sw.Tensor:
    """The tensor that the suite writes as `<int64(2,) [0, 12]>`."""
    sizes = [int(n) for n in shape.replace(" ", "").split(",") if n]
    count = int(np.prod(sizes))
    if strides is not None:
        steps = [int(n) for n in strides.replace(" ", "").split(",") if n]
        base = np.arange(64, dtype=dtype)[int(offset or 0) :]
        packed = [step * base.itemsize for step in steps]
        return sw.asarray(np.lib.stride_tricks.as_strided(base, sizes, packed, writeable=False))
    numbers = [int(n) for n in values.split(", ")] if values else range(count)
    return sw.asarray(np.array(list(numbers)[:count]).astype(dtype).reshape(-1)).reshape(sizes)


def run(call: str) -> Any:
    """Runs a call as the suite writes it."""
    tensors: dict[str, sw.Tensor] = {}

    def keep(found: re.Match[str]) -> str:
        name = f"_{len(tensors)}"
        tensors[name] = tensor(*found.groups())  # type: ignore[arg-type]
        return name

    code = TENSOR.sub(keep, call).replace("[::0]", "[slice(None, None, 0)]")
    code = re.sub(r"\(([\d.]+)\+([\d.]+)j\)", r"complex(\1, \2)", code)
    dtypes = {name: getattr(sw, name) for name in ("int32", "uint8", "float32")}
    names = {"inf": float("inf"), "NaN": float("nan"), "width": sw.symbol("width"), **dtypes, **tensors}
    return eval(f"sw.{code}", {"sw": sw, "slice": slice, "complex": complex}, names)


# In Python one more argument than the operator has is the call's name.
ONE_MORE_IS_A_NAME = [("flatten", "too many arguments"), ("contiguous", "one argument too many")]


@pytest.mark.parametrize("mistake", mistakes(), ids=lambda mistake: f"{mistake.operator}: {mistake.what}")
def test_a_mistake_has_the_class_the_fields_and_the_text_of_the_suite(mistake: Mistake) -> None:
    if (mistake.operator, mistake.what) in ONE_MORE_IS_A_NAME:
        with pytest.raises(sw.ArgumentTypeError, match="name is an object of type `int`"):
            run(mistake.call)
        return
    classes = CLASSES[mistake.family]
    if mistake.operator == "slice" and mistake.family in ("Shape", "Argument") and "step" not in mistake.text:
        classes = (sw.IndexShapeError, sw.ShapeError, ValueError, IndexError)
    with pytest.raises(classes[1]) as caught:
        run(mistake.call)
    error = caught.value
    assert type(error) is classes[0]
    assert all(isinstance(error, family) for family in classes)
    assert str(error) == mistake.text
    found = {name: getattr(error, name) for name in ("argument", "axis", "expected", "actual")}
    assert {name: str(value) for name, value in found.items() if value is not None} == mistake.fields
    assert error.operator == mistake.operator
    lines = [line.removeprefix("  help: ") for line in mistake.text.split("\n") if line.startswith("  help: ")]
    assert error.help == (lines[0] if lines else None)


def test_the_suite_has_a_mistake_for_nearly_every_operator() -> None:
    found = {mistake.operator for mistake in mistakes()}
    assert len(mistakes()) > 200
    assert {name for name, *_ in sw._stridewise._table()} <= found


def test_every_class_has_the_common_base_and_a_built_in_one() -> None:
    for name in sw.__all__:
        value = getattr(sw, name)
        if isinstance(value, type) and issubclass(value, Exception):
            assert issubclass(value, sw.StridewiseError)
            if value is not sw.StridewiseError:
                assert len(value.__bases__) > 1, f"{name} is no class that people catch"
    for family in CLASSES.values():
        assert all(issubclass(family[0], base) for base in family[1:])
    assert issubclass(sw.OutOfMemory, MemoryError) and issubclass(sw.FileError, OSError)
    assert not issubclass(sw.IndexOutOfRange, ValueError) and not issubclass(sw.ShapeError, IndexError)


def test_an_error_tells_where_it_was_and_what_was_there() -> None:
    with pytest.raises(sw.ShapeError) as caught:
        sw.zeros([2, 3]).expand(2, 5)
    error = caught.value
    assert (error.operator, error.argument, error.item, error.axis) == ("expand", "sizes", 1, 1)
    assert (error.expected, error.actual) == ("3", "5")
    assert error.help == "use -1 or 3 to keep the axis, or `repeat` to copy it"
    assert isinstance(error.axis, int) and isinstance(error.item, int)
    assert str(error) == error.args[0]
    with pytest.raises(sw.AxisError) as caught_axis:
        sw.zeros([2, 3]).unflatten(2, [1])
    assert caught_axis.value.argument == "axis" and caught_axis.value.actual == "2"


def test_a_function_and_a_method_raise_the_same() -> None:
    x = sw.zeros([2, 3])
    with pytest.raises(sw.ShapeError) as function:
        sw.expand(x, 2, 5)
    with pytest.raises(sw.ShapeError) as method:
        x.expand(2, 5)
    with pytest.raises(sw.ShapeError) as foreign:
        sw.expand(np.zeros((2, 3)), 2, 5)
    assert str(function.value) == str(method.value) == str(foreign.value)


def test_errors_pickle_and_copy_with_their_fields() -> None:
    with pytest.raises(sw.IndexOutOfRange) as caught:
        sw.take([1, 2, 3], [0, 7], name="pick")
    for again in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
        assert type(again) is sw.IndexOutOfRange and str(again) == str(caught.value)
        assert [getattr(again, name) for name in FIELDS] == [getattr(caught.value, name) for name in FIELDS]


@pytest.mark.parametrize("bad", [object(), {1: 2}, {1, 2}, type, NotImplemented], ids=lambda bad: type(bad).__name__)
@pytest.mark.parametrize(
    "call",
    [
        lambda bad: sw.expand([1], bad),
        lambda bad: sw.expand([1], [bad]),
        lambda bad: sw.unflatten([1], bad, [1]),
        lambda bad: sw.flip(bad),
        lambda bad: sw.take([1], bad),
        lambda bad: sw.take([1], [0], mode=bad),
        lambda bad: sw.enforce_shape(sw.zeros([1]), [bad]),
        lambda bad: sw.enforce_shape(np.zeros(1), [bad]),
        lambda bad: sw.cast([1], bad),
        lambda bad: sw.concat([bad]),
    ],
    ids=["sizes", "size", "axis", "tensor", "index", "mode", "pattern", "foreign_pattern", "dtype", "tensors"],
)
def test_an_object_of_another_kind_is_a_type_error_with_fields(call: Callable[[Any], Any], bad: Any) -> None:
    with pytest.raises(TypeError) as caught:
        call(bad)
    assert isinstance(caught.value, sw.StridewiseError), f"no fields: {caught.value!r}"
    assert str(caught.value).startswith(caught.value.operator)


def test_an_exception_of_the_argument_itself_comes_through() -> None:
    class Odd:
        def __index__(self) -> int:
            raise KeyError("mine")

    class Array:
        def __array__(self, *_: Any, **__: Any) -> Any:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        sw.expand([1], Odd())
    with pytest.raises(KeyError, match="mine"):
        sw.flip(Array())


def test_what_memory_does_not_hold_is_a_memory_error_and_what_no_machine_holds_a_value_error() -> None:
    with pytest.raises(MemoryError) as caught:
        sw.zeros([1 << 45], dtype="uint8")
    assert isinstance(caught.value, sw.OutOfMemory) and caught.value.operator == "zeros"
    with pytest.raises(ValueError) as too_large:
        sw.zeros([3, 7, 29, 36760123, 823996703])
    assert isinstance(too_large.value, (sw.TooLarge, OverflowError))


@pytest.mark.parametrize("huge", [2**63, 2**64 - 1, 2**64, 2**70, 10**30, -(2**63) - 1, -(10**30)])
def test_a_number_past_counting_is_printed_as_it_was_given(huge: int) -> None:
    with pytest.raises(ValueError, match=re.escape(str(huge))):
        sw.expand([1], huge)
    with pytest.raises((sw.DTypeError, sw.IndexOutOfRange, sw.TooLarge), match=re.escape(str(huge))):
        sw.take([1, 2], huge)
    with pytest.raises((sw.AxisError, sw.TooLarge), match=re.escape(str(huge))):
        sw.unstack([1], huge)


def test_deeply_nested_lists_are_an_error_and_not_a_crash() -> None:
    nested: Any = 1
    for _ in range(100_000):
        nested = [nested]
    for call in (sw.asarray, sw.flip, sw.zeros, lambda x: sw.take([1], x), lambda x: sw.enforce_shape([1], x)):
        with pytest.raises(TypeError):
            call(nested)
    while isinstance(nested, list):
        nested = nested.pop()


def test_a_list_that_holds_itself_is_an_error() -> None:
    loop: list[Any] = []
    loop.append(loop)
    for call in (sw.asarray, sw.flip, sw.zeros, lambda x: sw.enforce_shape([1], x)):
        with pytest.raises((TypeError, ValueError)):
            call(loop)


@pytest.mark.parametrize(
    ("call", "operator", "argument", "family"),
    [
        (lambda: sw.asarray(1, dtype="floot"), "asarray", "dtype", sw.DTypeError),
        (lambda: sw.asarray(1, dtype=3), "asarray", "dtype", sw.ArgumentTypeError),
        (lambda: sw.Tensor(1, dtype="floot"), "asarray", "dtype", sw.DTypeError),
        (lambda: sw.dtype("floot"), "dtype", "dtype", sw.DTypeError),
        (lambda: sw.dtype(3), "dtype", "dtype", sw.ArgumentTypeError),
        (lambda: sw.zeros([2, 3]).item(), "item", "x", sw.ShapeError),
        (lambda: sw.zeros([3]).mT, "mT", None, sw.ShapeError),
        (lambda: sw.allclose([1, 2], [1, 2, 3]), "allclose", None, sw.ShapeError),
        (lambda: sw.array_equal([1], object()), "array_equal", "b", sw.ArgumentTypeError),
        (lambda: sw.allclose(object(), [1.0]), "allclose", "a", sw.ArgumentTypeError),
        (lambda: sw.save("x.npy", object()), "save", "x", sw.ArgumentTypeError),
        (lambda: sw.shapes().enforce([1], [1], name=3), "enforce_shape", "name", sw.ArgumentTypeError),
        (lambda: format(sw.zeros([1]), "d"), "format", "spec", sw.ArgumentTypeError),
        (lambda: bytes(HUGE), "bytes", None, sw.OutOfMemory),
        (lambda: copy.deepcopy(HUGE), "deepcopy", None, sw.OutOfMemory),
        (lambda: HUGE.tolist(), "tolist", None, sw.OutOfMemory),
        (lambda: pickle.dumps(HUGE), "pickle", None, sw.OutOfMemory),
        (lambda: sw.load(3), "load", "path", sw.ArgumentTypeError),
        (lambda: sw.load("no such file.npy"), "load", None, sw.FileError),
        (lambda: sw.load("no such file.safetensors"), "load", None, sw.FileError),
        (lambda: sw.load("x.txt"), "load", None, sw.FileError),
        (lambda: sw.save(3, [1]), "save", "path", sw.ArgumentTypeError),
        (lambda: sw.save("x.txt", [1]), "save", None, sw.FileError),
        (lambda: sw.save("x.npy", {"a": [1], "b": [2]}), "save", None, sw.FileError),
        (lambda: sw.save("x.safetensors", {3: [1]}), "save", "x", sw.ArgumentTypeError),
    ],
)
def test_an_error_names_the_call_also_where_that_is_no_operator(
    call: Callable[[], Any], operator: str, argument: str | None, family: type[sw.StridewiseError]
) -> None:
    with pytest.raises(family) as caught:
        call()
    error = caught.value
    assert type(error) is family and (error.operator, error.argument) == (operator, argument)
    assert str(error).startswith(f"{operator}: ")


def test_an_error_without_an_operator_says_none() -> None:
    with pytest.raises(sw.DTypeError) as caught:
        sw.flip(np.array(["a"]))
    assert caught.value.operator != ""


def test_a_missing_file_is_an_error_of_the_system_with_its_number_and_name(tmp_path: Path) -> None:
    path = tmp_path / "none.npy"
    with pytest.raises(OSError, match=r"^load: the file cannot be read") as caught:
        sw.load(path)
    error = caught.value
    assert (error.errno, error.strerror, error.filename) == (errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    again = pickle.loads(pickle.dumps(error))
    assert (again.errno, again.filename, str(again)) == (error.errno, error.filename, str(error))
    assert [getattr(again, name) for name in FIELDS] == [getattr(error, name) for name in FIELDS]
