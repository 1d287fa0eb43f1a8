"""The exceptions. Each is also the built-in class that NumPy and PyTorch users catch."""

from __future__ import annotations

from typing import Any


class StridewiseError(Exception):
    """What all errors of the package have in common: the fields of the report."""

    operator: str | None
    argument: str | None
    item: int | None
    axis: int | None
    expected: str | None
    actual: str | None
    help: str | None


class ShapeError(StridewiseError, ValueError):
    """Sizes do not fit: a wrong size, count of sizes, or pattern."""


class AxisError(StridewiseError, ValueError, IndexError):
    """An axis is outside ``-rank`` to ``rank - 1``, or named twice."""


class IndexOutOfRange(StridewiseError, IndexError):
    """An index points outside the tensor."""


class IndexShapeError(ShapeError, IndexError):
    """An index that does not fit the shape: too many items, or arrays that do not broadcast."""


class DTypeError(StridewiseError, TypeError):
    """An element type that the operator does not take."""


class ArgumentTypeError(StridewiseError, TypeError):
    """An argument of the wrong type, one too many or one missing."""


class ArgumentError(StridewiseError, ValueError):
    """An argument of the right type with a value that has no meaning."""


class TooLarge(StridewiseError, ValueError, OverflowError):
    """The shape is too large for any machine."""


class OutOfMemory(StridewiseError, MemoryError):
    """The machine has not that much memory."""


class FileError(StridewiseError, OSError):
    """A file is malformed, truncated or cannot be read or written."""

    def __str__(self) -> str:
        # OSError would make up a text of its own from `errno` and `filename`.
        return Exception.__str__(self) if len(self.args) != 1 else str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        # OSError keeps these two only where they are arguments.
        system = {"errno": self.errno, "strerror": self.strerror, "filename": self.filename}
        return type(self), self.args, {**self.__dict__, **system}


class TooEarly(StridewiseError, RuntimeError):
    """The answer depends on something that is only known when a graph runs."""


class GradientError(StridewiseError, RuntimeError):
    """There is no history to differentiate by, it has been let go, or it would be lost."""


class DeviceError(StridewiseError, RuntimeError):
    """A GPU is not there or was lost, or tensors of several devices are in one call."""


class WorldError(StridewiseError, RuntimeError):
    """Ranks cannot go on together: one is gone, late or calls something else, or parts do not fit together."""
