"""What makes graphs of functions: `graph` and `trace`. The work is done in the native part."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from stridewise import _stridewise

__all__ = ["graph", "trace"]


def trace(f: Callable[..., Any], *specs: _stridewise.Spec, **named: _stridewise.Spec) -> _stridewise.Graph:
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
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            pairs = list(value.items())
        elif kind is inspect.Parameter.VAR_POSITIONAL or kind is inspect.Parameter.POSITIONAL_ONLY:
            raise TypeError(f"trace: `{name}` of the function cannot be given by name")
        else:
            pairs = [(name, value)]
        for key, item in pairs:
            if not isinstance(item, _stridewise.Spec):
                raise TypeError(f"trace: `{key}` is an object of type `{type(item).__name__}`, but a spec is needed")
            names.append(key)
            given.append(item)
    return _stridewise._trace(f, names, given)


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
