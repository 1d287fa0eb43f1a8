"""Gradients, as users of PyTorch and JAX know them."""

from __future__ import annotations

import copy
import gc
import pickle
import random
import weakref

import numpy as np
import pytest
from gradient_cases import CASES, DTYPES, FREED, leaf, raises, torch

import stridewise as sw
from stridewise import _stridewise

SEEDS = range(40)


def numbers(tensor):
    return None if tensor is None else tensor.detach().numpy()


# Every operator, beside PyTorch and by what an adjoint is.


def whole(rng, shape, dtype):
    """Small whole numbers, whose sums are exact, under any strides."""
    steps = [int(rng.choice([1, 2, -1, -2])) for _ in shape]
    sizes = [2 * n + 1 for n in shape]
    order = rng.permutation(len(shape))
    base = rng.integers(-4, 5, [sizes[axis] for axis in order]).astype(dtype)
    if np.iscomplexobj(base):
        base = base + 1j * rng.integers(-4, 5, base.shape).astype(dtype)
    base = base.astype(dtype).transpose(np.argsort(order)) if shape else base.astype(dtype)
    return base[tuple(slice(None, None, step) for step in steps)][tuple(slice(0, n) for n in shape)]


def seed_like(rng, result):
    """A gradient of a result: any strides, or one number everywhere with strides 0."""
    if rng.random() < 0.3:
        one = sw.asarray(np.array(rng.integers(1, 5)).astype(result.dtype.name))
        return one.expand(result.shape)
    return sw.asarray(whole(rng, result.shape, result.dtype.name))


def listed(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


def drawn(name, seed):
    dice = random.Random(f"{name} {seed}")
    rng = np.random.default_rng(dice.randrange(1 << 30))
    case = CASES[name](dice)
    dtype = dice.choice(DTYPES)
    return case, [whole(rng, shape, dtype) for shape in case.shapes], rng


def test_every_operator_with_a_tensor_has_cases():
    made = {"zeros", "ones", "full", "arange"}
    without = {"shape_of"}
    assert set(CASES) == {name for name, *_ in _stridewise._table()} - made - without


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_pytorch(name):
    for seed in SEEDS:
        case, arrays, rng = drawn(name, seed)
        xs = [leaf(array) for array in arrays]
        ts = [torch.tensor(array.copy(), requires_grad=True) for array in arrays]
        ys, us = listed(case.ours(*xs)), listed(case.theirs(*ts))
        assert [y.shape for y in ys] == [tuple(u.shape) for u in us], f"{name}, seed {seed}"
        for y, u in zip(ys, us, strict=True):
            g = seed_like(rng, y)
            y.backward(g, retain_graph=True)
            u.backward(torch.tensor(g.numpy().copy()), retain_graph=True)
        for x, t in zip(xs, ts, strict=True):
            assert (x.grad is None) == (t.grad is None), f"{name}, seed {seed}"
            if t.grad is not None:
                ours, theirs = numbers(x.grad), t.grad.numpy()
                assert ours.dtype == theirs.dtype
                np.testing.assert_array_equal(ours, theirs, f"{name}, seed {seed}")


def product(a, b):
    return sum(np.vdot(x, y).real for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_a_pullback_is_the_adjoint_and_its_own_derivative_is_the_operator(name):
    for seed in SEEDS:
        note = f"{name}, seed {seed}"
        case, arrays, rng = drawn(name, seed)
        ys, pullback = sw.vjp(lambda *xs, case=case: tuple(listed(case.ours(*xs))), *arrays)
        assert not any(y.requires_grad for y in ys)
        seeds = tuple(seed_like(rng, y) for y in ys)
        gradients = pullback(seeds)
        assert [g.shape for g in gradients] == case.shapes, note
        assert product(map(numbers, seeds), map(numbers, ys)) == product(map(numbers, gradients), arrays), note
        if not seeds:
            continue
        # An operator is linear, and so is its pullback, whose pullback is the operator again.
        again, back = sw.vjp(lambda *seeds, pullback=pullback: pullback(seeds), *seeds)
        assert all(sw.array_equal(a, b) for a, b in zip(again, gradients, strict=True)), note
        for ours, theirs in zip(back(tuple(map(sw.asarray, arrays))), ys, strict=True):
            assert ours.dtype == theirs.dtype and sw.array_equal(ours, theirs), note


def test_sizes_have_no_history():
    x = leaf(np.ones((2, 3)))
    assert not sw.shape_of(x).requires_grad
    assert not x.cast("int64").requires_grad
    assert not (x == x).requires_grad


# requires_grad, grad and backward.


def test_a_leaf_is_made_on_demand_and_shares_memory():
    a = np.arange(3.0)
    assert not sw.asarray(a).requires_grad
    x = sw.asarray(a, requires_grad=True)
    assert x.requires_grad and x.grad is None and x.shares_memory(a)
    plain = sw.asarray(a)
    assert sw.to_tensor(plain, requires_grad=True) is not plain
    assert not plain.requires_grad, "a tensor is immutable: the one that was given stays as it was"
    assert sw.asarray(x) is x and sw.asarray(x, requires_grad=True) is x
    assert not sw.asarray(x, requires_grad=False).requires_grad
    assert sw.Tensor(a, requires_grad=True).requires_grad
    with pytest.raises(AttributeError):
        x.requires_grad = False


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_gradients_have_the_tensor_s_dtype(dtype):
    x = leaf([1, 2], dtype=dtype)
    x.repeat(3).backward(sw.ones([6], dtype=dtype))
    assert x.grad.dtype == x.dtype and x.grad.tolist() == [3, 3]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64"])
def test_whole_numbers_have_no_gradient(dtype):
    text = f": a gradient by a tensor of {dtype} has no meaning\n  help: cast it to float32 or float64 first"
    with raises(sw.DTypeError, "asarray" + text):
        leaf([1, 0], dtype=dtype)
    with raises(sw.DTypeError, "asarray" + text):
        sw.Tensor([1, 0], dtype, requires_grad=True)
    with raises(sw.DTypeError, "vjp" + text) as error:
        sw.vjp(lambda x, y: x, [1.0], sw.zeros([2], dtype=dtype))
    assert (error.value.argument, error.value.item) == ("inputs", 1)
    with raises(sw.DTypeError, "grad" + text):
        sw.grad(sw.sum)(sw.zeros([2], dtype=dtype))


def test_gradients_add_up_until_they_are_taken_away():
    x = leaf([1.0, 2.0])
    for times in range(1, 4):
        x.repeat(2).sum().backward()
        assert x.grad.tolist() == [2.0 * times] * 2
        assert x.grad is x.grad and not x.grad.requires_grad
    x.grad = None
    assert x.grad is None
    mine = sw.asarray([10.0, 20.0])
    x.grad = mine
    assert x.grad is mine
    x.sum().backward()
    assert x.grad.tolist() == [11.0, 21.0] and mine.tolist() == [10.0, 20.0]
    x.grad = np.array([1.0, 2.0])
    assert isinstance(x.grad, sw.Tensor) and x.grad.tolist() == [1.0, 2.0]


def test_a_gradient_must_fit_its_tensor():
    x = leaf([1.0, 2.0])
    note = "\n  the tensor is: float64 of shape (2,)"
    with raises(sw.ShapeError, f"grad: the gradient is float64 of shape (3,), which is not the tensor's shape{note}"):
        x.grad = sw.zeros([3])
    with raises(sw.DTypeError, f"grad: the gradient is float32 of shape (2,), which is not the tensor's dtype{note}"):
        x.grad = sw.zeros([2], dtype="float32")
    with raises(sw.ArgumentError, "grad: a tensor cannot be its own gradient"):
        x.grad = x
    assert x.grad is None
    for other in (x.flip(0), sw.zeros([2])):
        other.grad = None
        assert other.grad is None
        with raises(sw.GradientError, "grad: only a tensor made with `requires_grad=True` keeps a gradient"):
            other.grad = sw.zeros([2])


def test_a_tensor_that_is_used_twice_gets_the_sum_and_others_get_nothing():
    x, y, z = leaf([1.0, 2.0]), leaf([3.0]), leaf([4.0])
    sw.concat([x, y, x.flip(0), sw.ones([1])]).backward([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert x.grad.tolist() == [6.0, 6.0] and y.grad.tolist() == [3.0] and z.grad is None


def test_a_leaf_is_its_own_result():
    x = leaf(3.0)
    x.backward()
    x.backward()
    assert x.grad.item() == 2.0


def test_a_seed_is_any_array():
    for seed in (
        [[1, 2, 3]],
        [[1.0, 2.0, 3.0]],
        np.array([[1.0, 2, 3]], np.float32),
        sw.asarray([[1, 2, 3]], "float32"),
    ):
        x = leaf([1.0, 2.0, 3.0], dtype="float32")
        x.unsqueeze(0).backward(seed)
        assert x.grad.tolist() == [1.0, 2.0, 3.0] and x.grad.dtype == "float32"
    if torch is not None:
        x = leaf([1.0, 2.0])
        x.flip(0).backward(torch.tensor([1.0, 2.0], dtype=torch.float64))
        assert x.grad.tolist() == [2.0, 1.0]


def test_what_becomes_of_the_array_a_seed_came_from_changes_no_gradient():
    x, seed = leaf([1.0, 2.0]), np.ones(2)
    x.flip(0).backward(seed)
    _, pullback = sw.vjp(lambda x: x.flip(0), [1.0, 2.0])
    (g,) = pullback(seed)
    seed[:] = 7.0
    assert x.grad.tolist() == [1.0, 1.0] == g.tolist()


def test_a_seed_must_fit():
    x = leaf(np.zeros((2, 3), np.float32))
    note = "\n  the tensor is: float32 of shape (2, 3)"
    y = x.T.T
    with raises(
        sw.ArgumentError,
        f"backward: a gradient without a seed is for a single number{note}"
        "\n  help: give a seed of the tensor's shape and dtype, or sum the tensor first",
    ):
        y.backward()
    with raises(sw.ShapeError, f"backward: the seed is float32 of shape (3, 2), which is not the tensor's shape{note}"):
        y.backward(sw.zeros([3, 2], dtype="float32"))
    with raises(sw.DTypeError, f"backward: the seed is float64, but the tensor is float32{note}"):
        y.backward(np.zeros((2, 3)))
    with raises(sw.DTypeError, f"backward: the seed is complex128, but the tensor is float32{note}"):
        y.backward([[1j] * 3] * 2)
    with pytest.raises(sw.ArgumentError) as error:
        y.backward()
    assert (error.value.operator, error.value.argument) == ("backward", "grad")
    with raises(sw.ArgumentTypeError, 'backward: grad is the string "x", which is not a number, a list or a tensor'):
        y.backward("x")
    y.backward(sw.ones([2, 3], dtype="float32"))
    assert x.grad.tolist() == [[1.0] * 3] * 2, "after all these mistakes the history is still there"


NONE = (
    "backward: the tensor has no history to go back through"
    "\n  help: make a tensor it depends on with `requires_grad=True`, and outside of `no_grad`"
)


def test_a_history_serves_once_unless_it_is_kept():
    x = leaf([1.0, 2.0])
    y = x.repeat(2).take([0, 0, 3])
    z = y.sum()
    z.backward(retain_graph=True)
    z.backward()
    assert x.grad.tolist() == [4.0, 2.0]
    for late in (z, y.sum(), y.flip(0).sum()):
        with raises(sw.GradientError, f"backward: {FREED}"):
            late.backward()
    assert x.grad.tolist() == [4.0, 2.0]
    assert isinstance(sw.GradientError(""), RuntimeError)
    x.sum().backward()
    assert x.grad.tolist() == [5.0, 3.0], "the leaf itself is as good as ever"


def test_without_a_history_there_is_no_way_back():
    x = leaf([1.0])
    with sw.no_grad():
        made = x.unsqueeze(0)
    for y in (sw.ones([1]), made, x.detach(), x.cast("int64")):
        with raises(sw.GradientError, NONE):
            y.backward()


def test_a_graph_can_be_created_for_the_seed():
    x, s = leaf([1.0, 2.0]), leaf([1.0, 2.0, 3.0, 4.0])
    x.repeat(2).backward(s, create_graph=True)
    assert x.grad.requires_grad and x.grad.tolist() == [4.0, 6.0]
    x.grad.backward([10.0, 20.0])
    assert s.grad.tolist() == [10.0, 20.0, 10.0, 20.0]
    x.repeat(2).backward(s)
    assert not x.grad.requires_grad and x.grad.tolist() == [8.0, 12.0]


def test_a_leaf_whose_gradient_leads_back_to_it_goes_when_it_is_let_go():
    index = np.array([0, 1])
    index.setflags(write=False)  # one that may be written is copied
    gone = weakref.ref(index)
    x = leaf([1.0, 2.0])
    x.take(index).backward(x.take(index), create_graph=True)
    assert x.grad.requires_grad
    del index
    assert gone() is not None
    del x
    gc.collect()
    assert gone() is None


def test_gradients_go_where_elements_came_from_whatever_becomes_of_the_index():
    x, index = leaf([1.0, 2.0, 3.0]), np.array([0, 1])
    shared = sw.asarray(index)
    results = [x.take(index), x.take(shared), x[index], sw.index_add(sw.zeros([3]), 0, index, x[:2])]
    index[:] = 2
    for result in results:
        x.grad = None
        result.sum().backward()
        assert x.grad.tolist() == [1.0, 1.0, 0.0]


def test_detaching_keeps_the_memory_and_leaves_the_history():
    x = leaf([1.0, 2.0])
    y = x.flip(0)
    assert y.detach().shares_memory(x) and not y.detach().requires_grad
    plain = sw.ones([2])
    assert plain.detach() is plain
    sw.stack([y, y.detach()]).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


# What tracks, and what must not lose a history in silence.


def test_everything_that_yields_tensors_tracks():
    x = leaf(np.arange(6.0).reshape(2, 3))
    made = {
        "T": x.T,
        "mT": x.mT,
        "item": x[0],
        "slice": x[:, ::-2],
        "arrays": x[[1, 0], np.array([2, 2])],
        "0-d array": x[np.array(1)],
        "iteration": next(iter(x)),
        "reversed": next(reversed(x)),
        "unstack": x.unstack(1)[0],
        "layer": sw.nn.Unflatten(1, [3, 1])(x),
        "layers": sw.nn.Sequential(sw.nn.Unflatten(1, [3, 1]), sw.flatten)(x),
        "stacked list": sw.asarray([x, x]),
        "nested list": sw.asarray([[x], [sw.zeros([2, 3])]]),
        "list as input": sw.flip([x, x], 0),
        "tuple as input": sw.atleast_1d((x[0], x[1])),
        "several": sw.atleast_3d(1.0, x)[1],
        "by name": sw.expand(input=x, sizes=[2, 3]).expand(1, 2, 3),
        "second": sw.index_add(np.zeros((2, 3)), 0, [0], x[:1]),
        "cast": sw.asarray(x, dtype="float32"),
        "copy": sw.asarray(x, copy=True),
        "class": sw.Tensor(x),
        "enforced list": sw.enforce_shape([x], [1, 2, 3])[0],
        "scope": sw.shapes().enforce([x], [1, 2, 3])[0],
    }
    assert [name for name, y in made.items() if not y.requires_grad] == []
    for name, y in made.items():
        x.grad = None
        y.sum().backward()
        assert x.grad is not None and x.grad.shape == x.shape, name


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (0, [[1, 1, 1], [0, 0, 0]]),
        ((..., -1), [[0, 0, 1], [0, 0, 1]]),
        ((slice(None), [0, 0, 1]), [[2, 1, 0], [2, 1, 0]]),
        (([1, 1], [2, 2]), [[0, 0, 0], [0, 0, 2]]),
        ((None, slice(0, 0)), [[0, 0, 0], [0, 0, 0]]),
        ((np.array([[1]]), slice(None, None, -2)), [[0, 0, 0], [1, 0, 1]]),
    ],
)
def test_indexing_gives_back_what_it_read(index, expected):
    x = leaf(np.zeros((2, 3)))
    x[index].sum().backward()
    assert x.grad.tolist() == expected


def test_iteration_gives_back_row_by_row():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    a, b = x
    a.backward([1.0, 2.0])
    assert x.grad.tolist() == [[1.0, 2.0], [0.0, 0.0]]
    last, _ = reversed(x)
    last.backward([5.0, 5.0])
    assert x.grad.tolist() == [[1.0, 2.0], [5.0, 5.0]]
    assert b.requires_grad


def test_what_is_as_it_should_be_is_the_very_object():
    x = leaf([[1.0]])
    y = x.T
    for t in (x, y):
        assert sw.atleast_1d(t) is t and sw.atleast_2d(t) is t and sw.contiguous(t) is t
        assert sw.enforce_shape(t, [1, 1])[0] is t
        with sw.shapes() as s:
            assert s.enforce(t, ["a", "a"])[0] is t
    one, two = sw.atleast_1d(x, y)
    assert one is x and two is y


LOST = (
    ": the tensor requires a gradient, but no gradient comes back through an array of another library"
    "\n  help: call `detach()` first"
)


def test_no_history_is_lost_on_the_way_out():
    x = leaf([[1.0, 2.0]])
    for t in (x, x.T):
        with raises(sw.GradientError, "numpy" + LOST):
            t.numpy()
        with raises(sw.GradientError, "__array__" + LOST):
            np.asarray(t)
        with raises(sw.GradientError, "memoryview" + LOST):
            memoryview(t)
        with raises(sw.GradientError, "__dlpack__" + LOST):
            np.from_dlpack(t)
        with raises(sw.GradientError, "numpy" + LOST):
            np.sqrt(t)
        with pytest.raises(sw.GradientError), sw.no_grad():
            np.asarray(t)
        assert np.asarray(t.detach()).shape == t.shape
    if torch is not None:
        with raises(sw.GradientError, "__dlpack__" + LOST):
            torch.from_dlpack(x)


def test_what_only_looks_works_with_a_history():
    x = leaf([[1.0, 2.0]])
    for t in (x, x.contiguous(), x.T.T):
        assert t.tolist() == [[1.0, 2.0]] and t.item(0, 1) == 2.0 and t[0, 0].item() == 1.0
        assert (t == [[1.0, 2.0]]).tolist() == [[True, True]] and (t != t).tolist() == [[False, False]]
        assert (np.array([[1.0, 0.0]]) == t).tolist() == [[True, False]]
        assert sw.array_equal(t, t) and sw.allclose(t, [[1.0, 2.0]]) and 2.0 in t and sw.shares_memory(t, x)
        assert float(t[0, 1]) == 2.0 and bytes(t) == np.array([1.0, 2.0]).tobytes() and len(t) == 1
        assert repr(t) == "tensor([[1., 2.]], requires_grad=True)"
        assert str(t) == "[[1., 2.]]" and "<b>Tensor</b>" in t._repr_html_()
    assert repr(leaf(np.zeros((0, 2), "f4"))).endswith("dtype=float32, requires_grad=True)")
    assert repr(x.detach()) == "tensor([[1., 2.]])"


def test_files_keep_the_elements(tmp_path):
    x = leaf([1.0, 2.0])
    sw.save(tmp_path / "x.npy", x.flip(0))
    assert sw.load(tmp_path / "x.npy").tolist() == [2.0, 1.0]


def test_out_has_no_history():
    x, out = leaf([1.0, 2.0]), np.zeros(1)
    text = (
        "take: a tensor requires a gradient, but none comes back through out"
        "\n  help: leave out away, or call `detach()` first"
    )
    for call in (lambda: sw.take(x, [1], out=out), lambda: x.take([1], out=out), lambda: sw.take([x], [1], out=out)):
        with raises(sw.GradientError, text):
            call()
    assert out.tolist() == [0.0]
    with sw.no_grad():
        assert sw.take(x, [1], out=out) is out
    assert out.tolist() == [2.0]
    x.take([0], out=None).backward()
    assert x.grad.tolist() == [1.0, 0.0]


def test_copies_of_a_leaf_are_leaves():
    x = leaf([1.0, 2.0])
    x.sum().backward()
    y = copy.deepcopy(x)
    assert y.requires_grad and y.grad.tolist() == [1.0, 1.0] and not y.shares_memory(x)
    assert copy.copy(x) is x
    y.sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([1.0, 1.0], [2.0, 2.0])
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        z = pickle.loads(pickle.dumps(x, protocol))
        assert z.requires_grad and z.grad is None and z.tolist() == [1.0, 2.0]
        assert not pickle.loads(pickle.dumps(x.detach(), protocol)).requires_grad
    z.flip(0).backward([1.0, 2.0])
    assert z.grad.tolist() == [2.0, 1.0]
    text = (
        ": the tensor has a history, which cannot be copied: it leads to tensors that stay"
        "\n  help: call `detach()` first"
    )
    with raises(sw.GradientError, "deepcopy" + text):
        copy.deepcopy(x.flip(0))
    with raises(sw.GradientError, "pickle" + text):
        pickle.dumps(x.flip(0))


class Parameter(sw.Tensor):
    """A subclass, as people have them."""


def test_subclasses_can_be_leaves():
    x = Parameter([1.0, 2.0], requires_grad=True)
    x.note = "mine"
    x.repeat(2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0] and type(x.grad) is sw.Tensor
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(y) is Parameter and y.requires_grad and y.note == "mine"
    assert copy.deepcopy(x).grad.tolist() == [2.0, 2.0]
    y = Parameter(x)
    assert y.requires_grad and y.grad is None
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and y.grad is None, "made from a leaf, not one itself"
