"""Operators as layers: objects that are made once and applied to many tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stridewise import _stridewise

__all__ = ["Sequential", "Unflatten"]


class Unflatten:
    """Splits an axis into several.

    >>> from stridewise import nn, zeros
    >>> layer = nn.Unflatten(1, [2, 3])
    >>> layer
    Unflatten(axis=1, shape=[2, 3])
    >>> layer(zeros([4, 6])).shape
    (4, 2, 3)
    """

    def __init__(self, axis: int, shape: Sequence[Any], name: str | None = None) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError("name is a string or None")
        self.axis = axis
        self.shape = shape
        self.name = name

    def __call__(self, x: Any) -> Any:
        return _stridewise.unflatten(x, self.axis, self.shape, name=self.name)

    def __repr__(self) -> str:
        sizes = self.shape if isinstance(self.shape, (list, tuple)) else _stridewise.asarray(self.shape).tolist()
        return f"Unflatten(axis={self.axis}, shape={list(sizes)})"


class Sequential:
    """Layers applied one after another."""

    def __init__(self, *layers: Callable[[Any], Any]) -> None:
        self.layers = layers

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x

    def __repr__(self) -> str:
        return f"Sequential({', '.join(map(repr, self.layers))})"
