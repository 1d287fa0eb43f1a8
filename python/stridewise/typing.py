"""Types for annotations: what functions take where they take an array, a dtype, sizes or a shape pattern."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Protocol, SupportsIndex, TypeAlias, Union

from stridewise._stridewise import Dim, Symbol, Tensor, dtype

__all__ = ["ArrayLike", "AxesLike", "DTypeLike", "Pattern", "SizesLike"]


class _SupportsBuffer(Protocol):
    def __buffer__(self, flags: int, /) -> memoryview: ...


class _SupportsDLPack(Protocol):
    def __dlpack__(self, *, stream: Any = None) -> Any: ...


class _SupportsArray(Protocol):
    def __array__(self) -> Any: ...


class _SupportsDType(Protocol):
    @property
    def itemsize(self) -> int: ...


ArrayLike: TypeAlias = Union[Tensor, complex, _SupportsBuffer, _SupportsDLPack, _SupportsArray, Sequence["ArrayLike"]]
"""A tensor, a number, an array of another library, or nested sequences of these."""

DTypeLike: TypeAlias = Union[dtype, str, type, _SupportsDType]
"""A dtype of this or another library, its name, or a type such as ``float``."""

SizesLike: TypeAlias = Union[SupportsIndex, Symbol, Sequence[Union[SupportsIndex, Symbol]], Tensor]
"""One size, several, or all of them as a 1-D integer tensor."""

AxesLike: TypeAlias = Union[SupportsIndex, Sequence[SupportsIndex]]
"""One axis or several."""

Pattern: TypeAlias = Sequence[Union[SupportsIndex, str, Symbol, Dim, EllipsisType, None]]
"""What ``enforce_shape`` holds a shape to."""
