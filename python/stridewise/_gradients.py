"""What wraps functions for gradients: `grad` and `no_grad`. The work is done in the native part."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator, Sequence
from typing import Any, ParamSpec, TypeVar

from stridewise import _stridewise

__all__ = ["grad", "no_grad"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


def grad(
    f: Callable[..., _stridewise.Tensor | _stridewise.GlobalTensor | _stridewise.GpuTensor],
    argnums: int | Sequence[int] = 0,
) -> Callable[..., Any]:
    """A function that gives the gradient of another, which must return a single number.

    The calls can stand within each other, and within `vjp`. Nothing is noted for `Tensor.backward` by them.

    Parameters
    ----------
    f : callable
        A function that returns a tensor of one element.
    argnums : int or sequence of int, default 0
        Which arguments, by position, to differentiate by. They may be tensors, arrays of other libraries, numbers or
        nested lists, and reach ``f`` as tensors; all other arguments reach it as they are.

    Returns
    -------
    callable
        It takes what ``f`` takes, and returns a tensor, or a tuple of tensors where ``argnums`` is a sequence.

    Raises
    ------
    ArgumentError
        The result has more than one element, or ``argnums`` names no argument.
    ArgumentTypeError
        The result is no tensor.
    DTypeError
        An argument to differentiate by holds neither floating-point nor complex numbers.

    Examples
    --------
    >>> import stridewise as sw
    >>> sw.grad(lambda x: sw.sum(sw.take(x, [0, 2, 2])))([1.0, 2.0, 3.0])
    tensor([1., 0., 2.])
    """

    @functools.wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        return _stridewise._gradient(f, argnums, args, kwargs)

    return gradient


class no_grad:
    """Makes tensors without a history, on this thread, for as long as it lasts.

    It stands in a ``with`` statement, or before a function.

    Examples
    --------
    >>> import stridewise as sw
    >>> x = sw.to_tensor([1.0, 2.0], requires_grad=True)
    >>> with sw.no_grad():
    ...     y = x.flip(0)
    >>> y.requires_grad
    False
    >>> @sw.no_grad()
    ... def turned(x):
    ...     return x.flip(0)
    >>> turned(x).requires_grad
    False
    """

    def __enter__(self) -> None:
        _stridewise._enter_no_grad()

    def __exit__(self, *exception: object) -> None:
        _stridewise._leave_no_grad()

    def __call__(self, f: Callable[_P, _T]) -> Callable[_P, _T]:
        """The function, without a history for whatever it makes."""
        if inspect.iscoroutinefunction(f) or inspect.isasyncgenfunction(f):
            name = getattr(f, "__qualname__", "f")
            raise TypeError(f"no_grad: {name} is asynchronous, and others run while it waits; use `with` inside of it")
        if inspect.isgeneratorfunction(f):
            return self._generator(f)

        @functools.wraps(f)
        def without_history(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            with self:
                return f(*args, **kwargs)

        return without_history

    def _generator(self, f: Callable[_P, Any]) -> Callable[_P, Any]:
        """A generator runs step by step, and whoever takes a step may want a history for things of their own."""

        @functools.wraps(f)
        def without_history(*args: _P.args, **kwargs: _P.kwargs) -> Generator[Any, Any, Any]:
            steps = f(*args, **kwargs)
            try:
                with self:
                    item = next(steps)
                while True:
                    try:
                        received = yield item
                    except GeneratorExit:
                        with self:
                            steps.close()
                        raise
                    except BaseException as error:
                        with self:
                            item = steps.throw(error)
                    else:
                        with self:
                            item = steps.send(received)
            except StopIteration as end:
                return end.value

        return without_history
