"""Operators as layers: objects that are made once and applied to many tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

from stridewise import _stridewise

__all__ = ["Sequential", "Unflatten"]


def _size(size: Any) -> int:
    if isinstance(size, bool):
        raise TypeError(f"a size in shape is the bool {size}, but an int is needed")
    try:
        return operator.index(size)
    except TypeError:
        kind = type(size).__name__
        raise TypeError(f"a size in shape is {size!r}, a {kind}, but an int is needed") from None


class Unflatten:
    """Splits an axis into several.

    What can be wrong with ``shape`` by itself is an error at once; whether it fits the axis shows when the
    layer is applied.

    Parameters
    ----------
    axis : int
        The axis, counted from the end where negative.
    shape : sequence of int, or 1-D integer tensor
        The sizes it is split into; one may be -1.
    name : str, optional
        Appears in error messages.

    Examples
    --------
    >>> from stridewise import nn, zeros
    >>> layer = nn.Unflatten(1, [2, 3])
    >>> layer
    Unflatten(axis=1, shape=[2, 3])
    >>> layer(zeros([4, 6])).shape
    (4, 2, 3)
    """

    axis: int
    shape: list[int]
    name: str | None

    def __init__(self, axis: int, shape: Sequence[Any] | Any, name: str | None = None) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError("name is a string or None")
        if isinstance(axis, bool):
            raise TypeError("axis is a bool, but an int is needed")
        if isinstance(shape, (str, bytes, dict)):
            raise TypeError(f"shape is a {type(shape).__name__}, but a list of ints is needed")
        if not isinstance(shape, (list, tuple)):
            sizes = _stridewise.asarray(shape)
            if sizes.ndim != 1 or sizes.dtype.kind not in "iu":
                raise TypeError("shape is a list of ints, or a 1-D tensor of them")
            shape = sizes.tolist()
        self.axis = operator.index(axis)
        self.shape = [_size(size) for size in shape]
        self.name = name
        # Splitting an axis of just the right length finds what no length would mend.
        length = 1
        for size in self.shape:
            length *= size if size >= 0 else 1
        self._split(_stridewise.expand(_stridewise.zeros([1], dtype="bool"), length), 0)

    def _split(self, x: Any, axis: int) -> Any:
        return _stridewise.unflatten(x, axis, self.shape, name=self.name)

    def __call__(self, x: Any) -> Any:
        """Applies the layer."""
        return self._split(x, self.axis)

    def __repr__(self) -> str:
        name = "" if self.name is None else f", name={self.name!r}"
        return f"Unflatten(axis={self.axis}, shape={self.shape}{name})"


class Sequential:
    """Layers applied one after another. Any function of one tensor is a layer.

    Examples
    --------
    >>> from stridewise import nn, zeros
    >>> layers = nn.Sequential(nn.Unflatten(1, [2, 3]), nn.Unflatten(0, [2, -1]))
    >>> layers
    Sequential(
      (0): Unflatten(axis=1, shape=[2, 3])
      (1): Unflatten(axis=0, shape=[2, -1])
    )
    >>> layers(zeros([4, 6])).shape
    (2, 2, 2, 3)
    >>> len(layers), layers[0]
    (2, Unflatten(axis=1, shape=[2, 3]))
    """

    layers: tuple[Callable[[Any], Any], ...]

    def __init__(self, *layers: Callable[[Any], Any]) -> None:
        for at, layer in enumerate(layers):
            if not callable(layer):
                raise TypeError(f"layer {at} is a {type(layer).__name__}, which cannot be applied to a tensor")
        self.layers = layers

    def __call__(self, x: Any) -> Any:
        """Applies the layers."""
        for layer in self.layers:
            x = layer(x)
        return x

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Callable[[Any], Any]]:
        return iter(self.layers)

    @overload
    def __getitem__(self, at: int) -> Callable[[Any], Any]: ...

    @overload
    def __getitem__(self, at: slice) -> Sequential: ...

    def __getitem__(self, at: int | slice) -> Callable[[Any], Any] | Sequential:
        if isinstance(at, slice):
            return Sequential(*self.layers[at])
        return self.layers[at]

    def __repr__(self) -> str:
        if not self.layers:
            return "Sequential()"
        lines = (f"({at}): {layer!r}".replace("\n", "\n  ") for at, layer in enumerate(self.layers))
        return "Sequential(\n  " + "\n  ".join(lines) + "\n)"
