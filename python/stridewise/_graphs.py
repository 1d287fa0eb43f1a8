"""What makes graphs of functions: `graph` and `trace`. The work is done in the native part."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable
from typing import Any, Self

from stridewise import _errors, _stridewise

__all__ = ["graph", "trace"]


class OpenShape(tuple):  # type: ignore[type-arg]
    """The sizes of a tensor whose rank is not known: one of them stands for any number of axes.

    It is handed on whole, or unpacked, as in ``(*x.shape, 1)``. A place in it is an axis only where it can be counted
    from an end without passing the size that stands for many.
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any]) -> Self:
        return super().__new__(cls, sizes)

    def __len__(self) -> int:
        raise _too_early(_NoLength, f"how many sizes {self!r} has is not known before the graph runs")

    def __bool__(self) -> bool:
        return self._front() + self._back() > 0 or len(self) > 0

    def __add__(self, other: Any) -> Any:
        return OpenShape((*self, *other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return OpenShape((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def _front(self) -> int:
        return next(at for at, size in enumerate(self) if repr(size).startswith("*"))

    def _back(self) -> int:
        return tuple.__len__(self) - 1 - self._front()

    def _is_known(self, end: int | None) -> bool:
        return end is None or (end <= self._front() if end >= 0 else -end <= self._back())

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            known = key.step in (None, 1) and self._is_known(key.start) and self._is_known(key.stop)
            if known:
                part = tuple.__getitem__(self, key)
                return OpenShape(part) if any(repr(size).startswith("*") for size in part) else part
        else:
            at = operator.index(key)
            if at < self._front() if at >= 0 else -at <= self._back():
                return tuple.__getitem__(self, at)
        message = f"which sizes stand at [{_shown(key)}] of {self!r} is not known before the graph runs"
        raise _too_early(_errors.TooEarly, message)


class _NoLength(_errors.TooEarly, TypeError):
    """A `TypeError` too, which is how `list` and others that ask for a length as a hint go on without one."""


def _too_early(kind: type[_errors.TooEarly], message: str) -> _errors.TooEarly:
    help = "`enforce_shape` says what stands at the ends: `x, (rest, last) = sw.enforce_shape(x, [..., None])`"
    error = kind(f"{message}\n  help: {help}")
    for field in _errors.StridewiseError.__annotations__:
        setattr(error, field, None)
    error.help = help
    return error


def _shown(key: Any) -> str:
    if not isinstance(key, slice):
        return str(key)
    parts = [key.start, key.stop] if key.step is None else [key.start, key.stop, key.step]
    return ":".join("" if part is None else str(part) for part in parts)


def trace(f: Callable[..., Any], /, *specs: _stridewise.Spec, **named: _stridewise.Spec) -> _stridewise.Graph:
    """A graph of a function: it is called once, with tensors that have no elements yet, and what it calls is recorded.

    Inside, the same functions and methods as ever; sizes may be symbols, and whatever about them cannot be proved is
    checked in every run. Python itself runs once: a loop is unrolled, and a branch is taken or not.

    Parameters
    ----------
    f : callable
        A function of tensors, which returns a tensor, or a list or tuple of tensors.
    *specs, **named : Spec
        What the arguments of ``f`` are, as `spec` makes it. Arguments without a spec keep their defaults.

    Returns
    -------
    Graph
        It is called with arrays. Printed, it shows its operators with their shapes, and its guards.

    Examples
    --------
    >>> import stridewise as sw
    >>> B = sw.symbol("B")
    >>> heads = sw.trace(lambda x: sw.unflatten(x, 1, [2, -1]), x=sw.spec("float64", [B, 6]))
    >>> heads(sw.zeros([4, 6])).shape
    (4, 2, 3)
    """
    try:
        bound = inspect.signature(f).bind(*specs, **named)
    except TypeError as error:
        raise TypeError(f"trace: the specs do not fit the function: {error}") from None
    names: list[str] = []
    given: list[_stridewise.Spec] = []

    def declared(name: str, value: object) -> str:
        if not isinstance(value, _stridewise.Spec):
            raise TypeError(f"trace: `{name}` is an object of type `{type(value).__name__}`, but a spec is needed")
        names.append(name)
        given.append(value)
        return name

    # Each argument becomes the name of its input, or several of them as they stood.
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            bound.arguments[name] = tuple(declared(f"{name}{at}", item) for at, item in enumerate(value))
        elif kind is inspect.Parameter.VAR_KEYWORD:
            bound.arguments[name] = {key: declared(key, item) for key, item in value.items()}
        else:
            bound.arguments[name] = declared(name, value)

    def called(**tensors: _stridewise.SymbolicTensor) -> Any:
        args = [tensors[name] for name in bound.args]
        return f(*args, **{key: tensors[name] for key, name in bound.kwargs.items()})

    return _stridewise._trace(called, names, given)


def graph(*specs: _stridewise.Spec, **named: _stridewise.Spec) -> Callable[[Callable[..., Any]], _stridewise.Graph]:
    """Before a function: makes a graph of it, as `trace` does.

    Examples
    --------
    >>> import stridewise as sw
    >>> B = sw.symbol("B")
    >>> @sw.graph(x=sw.spec("float64", [B, None]))
    ... def twice(x):
    ...     return x.repeat(2, 1)
    >>> twice([[1.0, 2.0]])
    tensor([[1., 2.],
            [1., 2.]])
    """

    def traced(f: Callable[..., Any]) -> _stridewise.Graph:
        return trace(f, *specs, **named)

    return traced
