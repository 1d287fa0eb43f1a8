"""Histories of tensors: where none is made, on which thread, how long they may be and when they go."""

from __future__ import annotations

import gc
import inspect
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gradient_cases import FREED, leaf

import stridewise as sw


def test_no_grad_lasts_as_long_as_it_stands():
    x = leaf([1.0])
    with sw.no_grad():
        assert not x.flip(0).requires_grad and not x[0].requires_grad and not x.T.requires_grad
        assert not next(iter(x)).requires_grad and not sw.asarray([x]).requires_grad
        assert not sw.atleast_1d(x).requires_grad, "even where nothing is left to do"
        assert sw.enforce_shape(x, [1])[0] is x and sw.asarray(x) is x
        assert leaf([1.0]).requires_grad, "a leaf is made on demand"
        with sw.no_grad():
            pass
        assert not x.flip(0).requires_grad
    assert x.flip(0).requires_grad
    with pytest.raises(KeyError), sw.no_grad():
        raise KeyError
    assert x.flip(0).requires_grad
    rows = iter(leaf([[1.0], [2.0]]))
    with sw.no_grad():
        assert not next(rows).requires_grad
    assert next(rows).requires_grad


def test_backward_works_under_no_grad():
    x = leaf([1.0, 2.0])
    y = x.sum()
    with sw.no_grad():
        y.backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_no_grad_stands_before_functions():
    x = leaf([1.0])

    @sw.no_grad()
    def turned(x, *, times=1):
        """Turned."""
        return [x.flip(0) for _ in range(times)]

    assert not any(y.requires_grad for y in turned(x, times=2)) and x.flip(0).requires_grad
    assert (turned.__name__, turned.__doc__) == ("turned", "Turned.")
    assert inspect.signature(turned).parameters.keys() == {"x", "times"}

    @sw.no_grad()
    def steps():
        try:
            got = yield x.flip(0).requires_grad
            try:
                yield (got, x.flip(0).requires_grad)
            except KeyError:
                yield x.flip(0).requires_grad
            return x.flip(0).requires_grad
        finally:
            seen.append(x.flip(0).requires_grad)

    seen: list[bool] = []
    gen = steps()
    assert next(gen) is False and x.flip(0).requires_grad
    assert gen.send(5) == (5, False) and x.flip(0).requires_grad
    assert gen.throw(KeyError()) is False and x.flip(0).requires_grad
    with pytest.raises(StopIteration) as end:
        next(gen)
    assert end.value.value is False and seen == [False]
    gen = steps()
    next(gen)
    gen.close()
    assert seen == [False, False] and x.flip(0).requires_grad

    async def later():
        return x

    with pytest.raises(TypeError, match="is asynchronous"):
        sw.no_grad()(later)


def test_no_grad_is_the_thread_s_own():
    x = leaf([1.0])
    inside, outside = threading.Barrier(2), threading.Barrier(2)
    seen = {}

    def other():
        with sw.no_grad():
            inside.wait(30)
            seen["inside"] = x.flip(0).requires_grad
            outside.wait(30)

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(30)
    seen["outside"] = x.flip(0).requires_grad
    outside.wait(30)
    thread.join()
    assert seen == {"inside": False, "outside": True}


@pytest.mark.parametrize("size", [3, 40_000])
def test_backward_from_several_threads_adds_up(size):
    x = leaf(np.zeros(size))
    shared = x.repeat(2)
    threads, times = 8, 25
    start = threading.Barrier(threads)

    def work(_):
        start.wait(30)
        for _ in range(times):
            x.flip(0).unsqueeze(0).sum().backward()
            shared.sum().backward(retain_graph=True)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
    assert (x.grad == 3.0 * threads * times).detach().numpy().all()


def test_a_history_that_goes_while_another_walks_it_is_an_answer_or_an_error():
    for _ in range(20):
        x = leaf(np.zeros(100))
        y = x
        for _ in range(200):
            y = y.flip(0)
        start = threading.Barrier(4)

        def work(_, y=y, start=start):
            start.wait(30)
            try:
                y.sum().backward()
            except sw.GradientError as error:
                assert str(error) == f"backward: {FREED}"
                return 0
            return 1

        with ThreadPoolExecutor(4) as pool:
            done = sum(pool.map(work, range(4)))
        assert done >= 1 and (x.grad == float(done)).numpy().all()


def long_chain(x, length, indices):
    """Operators in a row; every so often one that keeps an index, which is watched."""
    y = x
    for n in range(length):
        if n % 10_000 == 5:
            index = np.array([1, 0])
            index.setflags(write=False)  # one that may be written is copied
            indices.append(weakref.ref(index))
            y = y.take(index)
        else:
            y = y.flip(0)
    return y


def test_a_hundred_thousand_operators_are_differentiated_and_let_go():
    x, indices = leaf([1.0, 2.0]), []
    y = long_chain(x, 100_000, indices)
    assert all(index() is not None for index in indices) and len(indices) == 10
    y.backward([3.0, 5.0], retain_graph=True)
    assert all(index() is not None for index in indices)
    y.backward([3.0, 5.0])
    gc.collect()
    assert all(index() is None for index in indices), "the result lives on, its history does not"
    assert x.grad.tolist() == [6.0, 10.0] and y.requires_grad


def test_a_long_history_goes_with_its_last_tensor():
    x, indices = leaf([1.0, 2.0]), []
    y = long_chain(x, 100_000, indices)
    del y
    gc.collect()
    assert all(index() is None for index in indices)
    y, pullback = sw.vjp(lambda x: long_chain(x, 100_000, indices), [1.0, 2.0])
    assert pullback([3.0, 5.0])[0].tolist() == [3.0, 5.0]
    assert not y.requires_grad and indices[-1]() is not None
    del pullback
    gc.collect()
    assert all(index() is None for index in indices)


def test_a_leaf_that_is_gone_takes_no_gradient():
    x, y = leaf([1.0]), leaf([2.0])
    z = sw.concat([x, y])
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None, "a history does not keep the tensor itself"
    z.sum().backward()
    assert y.grad.tolist() == [1.0]
