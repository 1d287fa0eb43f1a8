"""Gradients of functions: `vjp` and `grad`, alone, within each other, and beside `backward`."""

from __future__ import annotations

import numpy as np
import pytest
from gradient_cases import FREED, leaf, raises

import stridewise as sw


def test_vjp_gives_the_value_and_the_way_back():
    y, pullback = sw.vjp(lambda a, b: sw.concat([a, b, a]), np.array([1.0, 2.0]), [3.0])
    assert y.tolist() == [1.0, 2.0, 3.0, 1.0, 2.0] and not y.requires_grad
    for _ in range(2):
        a, b = pullback(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
        assert a.tolist() == [5.0, 7.0] and b.tolist() == [3.0] and not a.requires_grad
    assert repr(pullback) == "<pullback of 1 result to 2 inputs>"


@pytest.mark.parametrize("kind", [list, tuple])
def test_vjp_of_several_results_takes_as_many_seeds(kind):
    y, pullback = sw.vjp(lambda x: kind([x.flip(0), x.sum(), sw.zeros([2])]), [1.0, 2.0])
    assert type(y) is kind and [t.tolist() for t in y] == [[2.0, 1.0], 3.0, [0.0, 0.0]]
    assert pullback([[1.0, 2.0], 10, np.zeros(2)])[0].tolist() == [12.0, 11.0]
    assert pullback(([1.0, 2.0], np.float64(10), [0, 0]))[0].tolist() == [12.0, 11.0]
    with raises(sw.ArgumentTypeError, "vjp: the seed has 2 items, but the function gave 3 results"):
        pullback([[1.0, 2.0], 10.0])
    with raises(
        sw.ArgumentTypeError,
        "vjp: the seed is an object of type `float`, but the function gave 3 results, so that a list or tuple of as "
        "many is needed",
    ):
        pullback(1.0)
    none, pullback = sw.vjp(lambda x: kind([]), [1.0, 2.0])
    assert none == kind([]) and pullback(())[0].tolist() == [0.0, 0.0]


def test_vjp_says_what_does_not_fit():
    note = "\n  the tensor is: float64 of shape (2,)"
    _, pullback = sw.vjp(lambda x: x.flip(0), [1.0, 2.0])
    with raises(sw.ShapeError, f"vjp: the seed is float64 of shape (3,), which is not the tensor's shape{note}"):
        pullback([1.0, 2.0, 3.0])
    with raises(sw.DTypeError, f"vjp: the seed is float32, but the tensor is float64{note}"):
        pullback(np.zeros(2, np.float32))
    with raises(sw.ArgumentError, "vjp: no tensors were given"):
        sw.vjp(lambda: sw.zeros([]))
    with raises(sw.ArgumentTypeError, "vjp: f is an object of type `int`, which cannot be called"):
        sw.vjp(3, [1.0])
    with raises(
        sw.ArgumentTypeError,
        "vjp: the function gave an object of type `ndarray`, but a tensor, or a list or tuple of tensors, is needed",
    ):
        sw.vjp(lambda x: np.zeros(2), [1.0])
    with raises(
        sw.ArgumentTypeError,
        "vjp: the function gave an object of type `int`, but in a list or tuple a tensor is needed",
    ):
        sw.vjp(lambda x: [x, 1], [1.0])
    with pytest.raises(ZeroDivisionError):
        sw.vjp(lambda x: 1 / 0, [1.0])
    assert leaf([1.0]).flip(0).requires_grad


def test_grad_is_of_a_single_number():
    f = sw.grad(lambda x: x.take([0, 0, 1]).sum())
    assert f([1.0, 2.0]).tolist() == [2.0, 1.0] and f(np.zeros(2, np.float32)).dtype == "float32"
    assert sw.grad(lambda x: x)([[3.0]]).tolist() == [[1.0]]
    with raises(
        sw.ArgumentError,
        "grad: a gradient without a seed is for a single number\n  the tensor is: float64 of shape (2,)"
        "\n  help: give a seed of the tensor's shape and dtype, or sum the tensor first",
    ):
        sw.grad(lambda x: x)([1.0, 2.0])
    with raises(sw.ArgumentTypeError, "grad: the function gave an object of type `float`, but a tensor is needed"):
        sw.grad(lambda x: 1.0)([1.0])
    with raises(sw.ArgumentTypeError, "grad: f is an object of type `int`, which cannot be called"):
        sw.grad(3)([1.0])


def test_grad_by_the_arguments_that_are_named():
    def f(a, b, *, times):
        """Both."""
        assert times == 3 and isinstance(a, sw.Tensor)
        return sw.concat([a.repeat(times), sw.asarray(b)]).sum()

    assert sw.grad(f)([1.0], [2.0], times=3).tolist() == [3.0]
    assert [g.tolist() for g in sw.grad(f, argnums=(1, 0))([1.0], [2.0], times=3)] == [[1.0], [3.0]]
    assert (sw.grad(f).__name__, sw.grad(f).__doc__) == ("f", "Both.")
    assert sw.grad(lambda a, b: b.repeat(a).sum(), argnums=-1)(2, [1.0, 2.0]).tolist() == [2.0, 2.0]
    both = sw.grad(lambda a, b: sw.concat([a, b, b]).sum(), argnums=(1, 0))
    assert [g.tolist() for g in both([1.0], [2.0])] == [[2.0], [1.0]]
    assert len(sw.grad(lambda a: a.sum(), argnums=[0])([1.0])) == 1
    with raises(sw.ArgumentError, "grad: argnums names the argument at 2, but the call has 2 arguments by position"):
        sw.grad(f, argnums=2)([1.0], [2.0], times=3)
    with raises(sw.ArgumentError, "grad: argnums names an argument twice"):
        sw.grad(f, argnums=(0, -2))([1.0], [2.0], times=3)
    with raises(
        sw.ArgumentTypeError,
        "grad: argnums is an object of type `str`, but an int or a tuple of ints is needed",
    ):
        sw.grad(f, argnums="a")([1.0], [2.0], times=3)


def test_what_a_result_does_not_depend_on_has_zeros():
    _, pullback = sw.vjp(lambda a, b: a.flip(0), [1.0], [[2.0, 3.0]])
    assert [g.tolist() for g in pullback([5.0])] == [[5.0], [[0.0, 0.0]]]
    assert sw.grad(lambda x: sw.ones([]))([1.0, 2.0]).tolist() == [0.0, 0.0]
    assert sw.grad(lambda x: sw.sum(x.detach()))([1.0]).tolist() == [0.0]

    def hidden(x):
        with sw.no_grad():
            return x.sum()

    assert sw.grad(hidden)([1.0]).tolist() == [0.0]


def test_second_derivatives_by_the_input_are_zeros_and_by_the_seed_are_not():
    f = lambda x: x.take([0, 1, 1, 2]).reshape(2, 2).T.sum()  # noqa: E731
    assert sw.grad(f)([1.0, 2.0, 3.0]).tolist() == [1.0, 2.0, 1.0]
    assert sw.grad(lambda x: sw.grad(f)(x).sum())([1.0, 2.0, 3.0]).tolist() == [0.0, 0.0, 0.0]

    def by_seed(s):
        _, pullback = sw.vjp(lambda x: x.take([0, 1, 1, 2]), [1.0, 2.0, 3.0])
        return pullback(s)[0].take([0, 1, 1, 1]).sum()

    assert sw.grad(by_seed)([0.0] * 4).tolist() == [1.0, 3.0, 3.0, 0.0]

    def within(x):
        """The input is its own seed: the derivative of x -> J^T x is J."""
        _, pullback = sw.vjp(lambda x: x.take([0, 0, 1]), x)
        return pullback(x)[0]

    y, pullback = sw.vjp(within, [1.0, 2.0, 3.0])
    assert y.tolist() == [3.0, 3.0, 0.0]
    assert pullback([1.0, 2.0, 4.0])[0].tolist() == [1.0, 1.0, 2.0]


def test_calls_stand_within_each_other_and_within_backward():
    x = leaf([1.0, 2.0])
    y, pullback = sw.vjp(lambda x: x.repeat(2), x)
    assert y.requires_grad
    assert not pullback([1.0, 2.0, 3.0, 4.0])[0].requires_grad
    y.backward([1.0, 2.0, 3.0, 4.0])
    assert x.grad.tolist() == [4.0, 6.0]
    with raises(sw.GradientError, f"vjp: {FREED}"):
        pullback([1.0, 2.0, 3.0, 4.0])

    s = leaf([1.0, 2.0, 3.0, 4.0])
    _, pullback = sw.vjp(lambda x: x.repeat(2), x)
    (g,) = pullback(s)
    g.backward([10.0, 20.0])
    assert s.grad.tolist() == [10.0, 20.0, 10.0, 20.0] and x.grad.tolist() == [4.0, 6.0]

    z = leaf([5.0])
    value, pullback = sw.vjp(lambda x: sw.concat([x, z]), [1.0])
    assert value.requires_grad, "a tensor from outside of the function has a history of its own"
    value.sum().backward(retain_graph=True)
    assert z.grad.tolist() == [1.0] and pullback([3.0, 4.0])[0].tolist() == [3.0]
    assert z.grad.tolist() == [1.0], "a pullback is of its inputs alone"


def test_functions_are_differentiated_under_no_grad_and_leave_no_history_there():
    x = leaf([1.0, 2.0])
    with sw.no_grad():
        y, pullback = sw.vjp(lambda x: x.flip(0), x)
        assert not y.requires_grad and not x.flip(0).requires_grad
        assert pullback([1.0, 2.0])[0].tolist() == [2.0, 1.0]
        assert not pullback(leaf([1.0, 2.0]))[0].requires_grad
        assert sw.grad(lambda x: x.sum())(x).tolist() == [1.0, 1.0]
        with pytest.raises(ZeroDivisionError):
            sw.grad(lambda x: 1 / 0)(x)
        assert not x.flip(0).requires_grad


def test_backward_within_a_differentiated_function_reaches_other_leaves():
    z = leaf([5.0])

    def f(x):
        z.repeat(3).sum().backward()
        return x.sum()

    assert sw.grad(f)([1.0, 2.0]).tolist() == [1.0, 1.0] and z.grad.tolist() == [3.0]
