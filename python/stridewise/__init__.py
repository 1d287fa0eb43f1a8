"""Shape work on tensors, once and properly.

>>> import stridewise as sw
>>> x = sw.asarray([[1, 2, 3], [4, 5, 6]])
>>> sw.expand(sw.unflatten(x, 1, [3, 1]), -1, -1, 4).strides
(3, 1, 0)
"""

from __future__ import annotations

from stridewise import _stridewise, nn
from stridewise._errors import (
    ArgumentError,
    ArgumentTypeError,
    AxisError,
    DTypeError,
    FileError,
    IndexOutOfRange,
    OutOfMemory,
    ShapeError,
    StridewiseError,
    TooEarly,
    TooLarge,
)
from stridewise._stridewise import *  # noqa: F403
from stridewise._stridewise import Symbol, asarray

to_tensor = asarray
symbol = Symbol

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "AxisError",
    "DTypeError",
    "FileError",
    "IndexOutOfRange",
    "OutOfMemory",
    "ShapeError",
    "StridewiseError",
    "TooEarly",
    "TooLarge",
    "nn",
    "symbol",
    "to_tensor",
    *(name for name in dir(_stridewise) if not name.startswith("_")),
]
