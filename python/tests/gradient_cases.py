"""Random calls of every operator that takes a tensor, each beside PyTorch's way to do the same; and what all tests of
gradients need."""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import stridewise as sw

try:
    import torch
except ImportError:
    torch = None

DTYPES = ["float32", "float64", "complex64", "complex128"]

FREED = (
    "the history has been let go, as it is once gradients were taken through it"
    "\n  help: keep it for another time with `backward(retain_graph=True)`"
)


def leaf(numbers: Any, **options: Any) -> sw.Tensor:
    """A tensor to differentiate by."""
    return sw.to_tensor(numbers, requires_grad=True, **options)


@contextlib.contextmanager
def raises(kind: type[Exception], text: str) -> Any:
    """That very class, and that very text."""
    with pytest.raises(kind) as caught:
        yield caught
    assert type(caught.value) is kind
    assert str(caught.value) == text


@dataclass
class Case:
    """Shapes of the tensors to differentiate by, and the call, here and in PyTorch."""

    shapes: list[tuple[int, ...]]
    ours: Callable[..., Any]
    theirs: Callable[..., Any]


def shape(dice: random.Random, least: int = 0, most: int = 4) -> tuple[int, ...]:
    return tuple(dice.choice([0, 1, 1, 2, 3]) for _ in range(dice.randint(least, most)))


def beside(x: Any, argument: Any) -> Any:
    """An argument as a tensor needs it beside itself: arrays go onto the mesh of a global one, or to the GPU."""
    if not isinstance(argument, (np.ndarray, sw.Tensor)):
        return argument
    if isinstance(x, sw.GpuTensor):
        return sw.to_tensor(argument).to("gpu")
    if not isinstance(x, sw.GlobalTensor):
        return argument
    # Any layout will do, as long as all ranks take the same.
    split = argument.ndim > 0 and argument.size % 2 == 1
    return x.mesh.shard(argument, ["S(0)" if split and axis == 0 else "B" for axis in range(x.mesh.ndim)])


def called(dice: random.Random, name: str, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """The operator as a function or as a method."""
    if dice.random() < 0.5:
        return lambda x, *more: getattr(sw, name)(x, *more, *(beside(x, arg) for arg in args), **kwargs)
    return lambda x, *more: getattr(x, name)(*more, *(beside(x, arg) for arg in args), **kwargs)


def long(numbers: Any) -> Any:
    return torch.as_tensor(numbers, dtype=torch.int64)


CASES: dict[str, Callable[[random.Random], Case]] = {}


def case(name: str) -> Callable[..., Any]:
    """Adds what makes cases of an operator: the shapes, PyTorch's call, and ours or the arguments of it."""

    def add(make: Callable[..., Any]) -> Any:
        def made(dice: random.Random) -> Case:
            shapes, theirs, call = make(dice)
            return Case(shapes, call if callable(call) else called(dice, name, *call), theirs)

        CASES[name] = made
        return made

    return add


@case("atleast_1d")
def _(dice):
    s = shape(dice)
    return [s], lambda t: t if s else t[None], ()


@case("atleast_2d")
def _(dice):
    return [shape(dice)], lambda t: torch.atleast_2d(t), ()


@case("atleast_3d")
def _(dice):
    return [shape(dice)], lambda t: torch.atleast_3d(t), ()


@case("atleast_nd")
def _(dice):
    s, n, place = shape(dice), dice.randint(0, 5), dice.choice(["front", "back"])
    ones = (1,) * max(0, n - len(s))
    return [s], lambda t: t.reshape(ones + s if place == "front" else s + ones), (n, place)


def wider(dice, s):
    """A shape that the other expands to."""
    return shape(dice, most=2) + tuple(dice.choice([0, 2, 3]) if n == 1 and dice.random() < 0.6 else n for n in s)


@case("expand")
def _(dice):
    s = shape(dice, most=3)
    to = wider(dice, s)
    given = to[: len(to) - len(s)] + tuple(
        -1 if n == m and dice.random() < 0.5 else n for n, m in zip(to[len(to) - len(s) :], s, strict=True)
    )
    return [s], lambda t: t.expand(to), given


@case("expand_as")
def _(dice):
    s = shape(dice, most=3)
    to = wider(dice, s)
    return [s], lambda t: t.expand(to), (sw.zeros(to),)


@case("broadcast_to")
def _(dice):
    s = shape(dice, most=3)
    to = wider(dice, s)
    return [s], lambda t: t.expand(to), (to,)


@case("repeat")
def _(dice):
    s = shape(dice, most=3)
    sizes = shape(dice, len(s), len(s) + 2)
    return [s], lambda t: t.repeat(sizes), (sizes,)


@case("tile")
def _(dice):
    s, sizes = shape(dice, most=3), shape(dice, most=4)
    return [s], lambda t: t.tile(sizes), (sizes,)


@case("repeat_interleave")
def _(dice):
    s = shape(dice, least=1, most=3)
    axis = dice.choice([None, *range(-len(s), len(s))])
    n = math.prod(s) if axis is None else s[axis]
    if dice.random() < 0.5:
        repeats = dice.randint(0, 3)
        return [s], lambda t: t.repeat_interleave(repeats, dim=axis), (repeats, axis)
    each = [dice.randint(0, 3) for _ in range(n)]
    return [s], lambda t: t.repeat_interleave(long(each), dim=axis), (each, axis)


@case("unflatten")
def _(dice):
    before, within, after = shape(dice, most=2), shape(dice, 1, 3), shape(dice, most=2)
    s = (*before, math.prod(within), *after)
    axis = len(before) - dice.choice([0, len(s)])
    return [s], lambda t: t.reshape(before + within + after), (axis, within)


@case("flatten")
def _(dice):
    s = shape(dice, least=1)
    start = dice.randrange(len(s))
    stop = dice.randrange(start, len(s))
    return [s], lambda t: t.flatten(start, stop), (start, stop - dice.choice([0, len(s)]))


def other_shape(dice, s):
    """Another shape of as many elements."""
    left, sizes = math.prod(s), []
    if left == 0:
        return [*shape(dice, most=2), 0]
    while left > 1:
        n = dice.choice([n for n in range(1, left + 1) if left % n == 0])
        sizes.append(n)
        left //= n
    return sizes


@case("reshape")
def _(dice):
    s = shape(dice)
    to = other_shape(dice, s)
    return [s], lambda t: t.reshape(to), (to,)


@case("view")
def _(dice):
    s = shape(dice)
    to = other_shape(dice, s)
    return [s], lambda t: t.reshape(to), lambda x: x.contiguous().view(to)


@case("squeeze")
def _(dice):
    s = shape(dice)
    axes = [axis for axis, n in enumerate(s) if n == 1 and dice.random() < 0.7]
    if not axes:
        return [s], lambda t: t.squeeze(), ()
    return [s], lambda t: t.squeeze(axes), (axes,)


@case("unsqueeze")
def _(dice):
    s, axis = shape(dice, most=3), dice.choice([0, -1])
    return [s], lambda t: t.unsqueeze(axis), (axis,)


def order(dice, rank):
    return dice.sample(range(rank), rank)


@case("permute")
def _(dice):
    s = shape(dice)
    axes = order(dice, len(s))
    return [s], lambda t: t.permute(axes), (axes,)


@case("transpose")
def _(dice):
    s = shape(dice)
    axes = order(dice, len(s))
    if dice.random() < 0.3:
        return [s], lambda t: t.permute(list(range(len(s)))[::-1]), ()
    return [s], lambda t: t.permute(axes), (axes,)


@case("swapaxes")
def _(dice):
    s = shape(dice, least=1)
    a, b = dice.randrange(-len(s), len(s)), dice.randrange(-len(s), len(s))
    return [s], lambda t: t.swapaxes(a, b), (a, b)


@case("moveaxis")
def _(dice):
    s = shape(dice, least=1)
    k = dice.randint(1, len(s))
    a, b = order(dice, len(s))[:k], order(dice, len(s))[:k]
    return [s], lambda t: t.moveaxis(a, b), (a, b)


@case("flip")
def _(dice):
    s = shape(dice)
    axes = [axis for axis in range(len(s)) if dice.random() < 0.5]
    return [s], lambda t: t.flip(axes or list(range(len(s)))), (axes,) if axes else ()


def items(dice, s):
    for n in s:
        yield dice.choice(
            [
                slice(None),
                slice(dice.randint(-n, n) if n else None, None, dice.randint(1, 3)),
                slice(None, dice.randint(0, 3)),
                dice.randrange(-n, n) if n else slice(None),
            ]
        )


@case("slice")
def _(dice):
    s = shape(dice)
    cut = tuple(items(dice, s))[: dice.randint(0, len(s))]
    if dice.random() < 0.3:
        cut = (*cut, ..., None)
    ours = dice.choice([lambda x: x[cut], lambda x: x.slice(*cut), lambda x: sw.slice(x, *cut)])
    return [s], lambda t: t[cut], ours


@case("take")
def _(dice):
    s, index = shape(dice, most=3), shape(dice, most=2)
    axis = dice.choice([None, *range(-len(s), len(s))])
    n = math.prod(s) if axis is None else s[axis]
    mode = dice.choice(["raise", "wrap", "clip", "fill"])
    if n == 0:
        index = (0, *index)
    far = n if mode == "raise" else 3 * n
    at = np.array([dice.randrange(-far, far) for _ in range(math.prod(index))] if n else [], np.int64).reshape(index)

    def theirs(t):
        read = {"wrap": at % max(n, 1), "clip": at.clip(0, max(n - 1, 0))}.get(mode, np.where(at < 0, at + n, at))
        inside = (read >= 0) & (read < n)
        safe = long(np.where(inside, read, 0))
        if axis is None:
            return t.flatten()[safe] * torch.as_tensor(inside)
        where = axis % len(s)
        picked = t.index_select(where, safe.flatten()).reshape(s[:where] + index + s[where + 1 :])
        return picked * torch.as_tensor(inside.reshape(index + (1,) * (len(s) - 1 - where)))

    return [s], theirs, (at, axis, mode)


@case("index_select")
def _(dice):
    s = shape(dice, least=1, most=3)
    axis = dice.randrange(-len(s), len(s))
    at = [dice.randrange(s[axis]) for _ in range(dice.randint(0, 4))] if s[axis] else []
    return [s], lambda t: t.index_select(axis, long(at)), (axis, at)


@case("take_along_axis")
def _(dice):
    s = shape(dice, least=1, most=3)
    axis = dice.randrange(len(s))
    to = tuple(dice.randint(0, 3) if i == axis and n else n for i, n in enumerate(s))
    at = np.array([dice.randrange(s[axis]) for _ in range(math.prod(to))] if s[axis] else [], np.int64).reshape(to)
    return [s], lambda t: t.take_along_dim(long(at), axis), (at, axis)


@case("index_add")
def _(dice):
    s = shape(dice, least=1, most=3)
    axis = dice.randrange(len(s))
    at = [dice.randrange(s[axis]) for _ in range(dice.randint(0, 3))] if s[axis] else []
    source = (*s[:axis], len(at), *s[axis + 1 :])
    return [s, source], lambda t, u: t.index_add(axis, long(at), u), lambda x, y: sw.index_add(x, axis, at, y)


@case("enforce_shape")
def _(dice):
    s = shape(dice)
    return [s], lambda t: t, lambda x: sw.enforce_shape(x, [None, ...] if s else [...])[0]


@case("unstack")
def _(dice):
    s = shape(dice, least=1, most=3)
    axis = dice.randrange(-len(s), len(s))
    return [s], lambda t: list(t.unbind(axis)), (axis,)


@case("contiguous")
def _(dice):
    return [shape(dice)], lambda t: t.clone(), ()


@case("cast")
def _(dice):
    to = dice.choice(DTYPES)
    return [shape(dice)], lambda t: t.to(getattr(torch, to)), (to,)


@case("sum")
def _(dice):
    s = shape(dice)
    axes = [axis for axis in range(len(s)) if dice.random() < 0.5]
    keep = dice.random() < 0.5
    axes = axes or list(range(len(s)))
    to = dice.choice([None, "complex128"])
    return [s], lambda t: (t.to(getattr(torch, to)) if to else t).sum(axes, keepdim=keep), (axes, keep, to)


@case("concat")
def _(dice):
    s = shape(dice, least=1, most=3)
    axis = dice.randrange(-len(s), len(s))
    sizes = [dice.randint(0, 3) for _ in range(dice.randint(1, 3))]
    shapes = [tuple(n if i == axis % len(s) else m for i, m in enumerate(s)) for n in sizes]
    return shapes, lambda *ts: torch.concat(ts, axis), lambda *xs: sw.concat(xs, axis)


@case("stack")
def _(dice):
    s = shape(dice, most=3)
    axis = dice.randrange(-len(s) - 1, len(s) + 1)
    return [s] * dice.randint(1, 3), lambda *ts: torch.stack(ts, axis), lambda *xs: sw.stack(list(xs), axis)
