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
