"""Scopes of shape checks, plans of repeat, and layers."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import stridewise as sw
from stridewise import nn


def test_a_symbol_bound_by_one_check_holds_in_the_next():
    x, y = sw.zeros([4, 3]), np.zeros((4, 5))
    with sw.shapes() as s:
        got, dims = s.enforce(x, ["B", "C"])
        assert got is x and dims == [4, 3]
        got, dims = s.enforce(y, [sw.symbol("B"), None])
        assert got is y and dims == [4, 5]
        assert s.sizes == {"B": 4, "C": 3}
        with pytest.raises(sw.ShapeError) as caught:
            s.enforce(np.zeros((7, 3)), ["B", "D"])
    text = str(caught.value)
    assert "axis 0 has size 7, but B stands for 4" in text
    assert "B = 4 at axis 0 of shape (4, 3)" in text
    assert (caught.value.axis, caught.value.expected, caught.value.actual) == (0, "4", "7")
    assert s.sizes == {"B": 4, "C": 3}, "a check that fails binds nothing"
    assert repr(s) == "shapes(B=4, C=3)"


def test_scopes_know_nothing_of_each_other():
    with sw.shapes() as a, sw.shapes() as b:
        a.enforce(sw.zeros([2]), ["n"])
        b.enforce(sw.zeros([3]), ["n"])
    assert a.sizes == {"n": 2} and b.sizes == {"n": 3}
    assert sw.shapes().sizes == {}


def test_a_scope_takes_what_enforce_shape_takes():
    s = sw.shapes()
    assert s.enforce(sw.zeros([2, 3, 4]), ["a", ..., 4])[1] == [2, ((3,), 3), 4]
    assert s.enforce(sw.zeros([2]), [sw.asarray(2)])[1] == [2]
    assert s.enforce([[1, 2]], [None, "a"])[0].tolist() == [[1, 2]]
    for bad in [[True], [2.0], 5]:
        with pytest.raises(TypeError):
            s.enforce(sw.zeros([2]), bad)
    with pytest.raises(ValueError):
        s.enforce(sw.zeros([2]), [..., ...])
    with pytest.raises(sw.ShapeError, match="enforce_shape `input`: "):
        s.enforce(sw.zeros([2]), [3], name="input")
    with pytest.raises(TypeError):
        s.enforce(sw.zeros([2]), [2], name=3)
    with pytest.raises(RuntimeError, match="mine"), sw.shapes():
        raise RuntimeError("mine")


def test_foreign_arrays_are_checked_by_their_shape():
    torch = pytest.importorskip("torch")
    s = sw.shapes()
    x = torch.zeros(2, 3)
    assert s.enforce(x, ["a", "b"])[0] is x and s.sizes == {"a": 2, "b": 3}


def test_symbols_are_equal_by_name_and_pickle():
    assert sw.symbol("B") == sw.symbol("B") != sw.symbol("C")
    assert hash(sw.symbol("B")) == hash(sw.symbol("B"))
    assert pickle.loads(pickle.dumps(sw.symbol("B"))) == sw.symbol("B")
    assert str(sw.symbol("B")) == "B" and sw.symbol("B").name == "B"
    with pytest.raises(TypeError):
        sw.symbol(3)


def test_the_plan_of_repeat_is_three_shapes_that_make_it():
    for shape, sizes in [((2, 3), (4, 2)), ((1, 3), (2, 5, 1)), ((), (3,)), ((2, 0), (1, 3)), ((3,), (0,))]:
        plan = sw.repeat_plan(shape, sizes)
        assert all(isinstance(part, tuple) for part in plan) and len(plan) == 3
        x = sw.asarray(np.arange(int(np.prod(shape))).reshape(shape))
        first, second, third = plan
        got = x.reshape(first).expand(second).reshape(third)
        assert sw.array_equal(got, x.repeat(sizes))
    assert sw.repeat_plan([2, 3], sw.asarray([4, 2])) == sw.repeat_plan((2, 3), [4, 2])
    with pytest.raises(ValueError):
        sw.repeat_plan([2, 3], [4])
    with pytest.raises(TypeError):
        sw.repeat_plan([2], [1.5])


def test_an_unflatten_is_checked_when_it_is_made():
    assert repr(nn.Unflatten(1, (2, 3))) == "Unflatten(axis=1, shape=[2, 3])"
    assert repr(nn.Unflatten(-1, [2, -1], name="heads")) == "Unflatten(axis=-1, shape=[2, -1], name='heads')"
    assert nn.Unflatten(0, sw.asarray([2, 3])).shape == [2, 3]
    assert nn.Unflatten(np.int64(0), [np.int32(2), sw.asarray(3)])(sw.zeros([6])).shape == (2, 3)
    for axis, shape, name in [
        (0, [2.0], None),
        (0, [True], None),
        (0, "23", None),
        (0, ["2"], None),
        (0, 6, None),
        (0, None, None),
        (0, np.array([1.5]), None),
        (1.0, [2], None),
        (True, [2], None),
        ("0", [2], None),
        (0, [2], 3),
    ]:
        with pytest.raises(TypeError):
            nn.Unflatten(axis, shape, name)
    for shape in [[], [-1, -1], [-2, 3], [0, -1]]:
        with pytest.raises(ValueError):
            nn.Unflatten(0, shape)
    nn.Unflatten(0, [1 << 40, 2])
    with pytest.raises(sw.ShapeError, match="unflatten `heads`"):
        nn.Unflatten(1, [2, 2], name="heads")(sw.zeros([4, 6]))


def test_layers_nest_index_and_pickle():
    inner = nn.Sequential(nn.Unflatten(0, [2, -1]), sw.contiguous)
    outer = nn.Sequential(nn.Unflatten(1, [2, 3]), inner)
    assert outer(sw.zeros([4, 6])).shape == (2, 2, 2, 3)
    assert len(outer) == 2 and outer[-1] is inner and list(outer) == [outer[0], inner]
    assert isinstance(outer[:1], nn.Sequential) and len(outer[:1]) == 1
    assert repr(nn.Sequential(nn.Sequential(nn.Unflatten(1, [2, 3])), nn.Sequential())) == (
        "Sequential(\n  (0): Sequential(\n    (0): Unflatten(axis=1, shape=[2, 3])\n  )\n  (1): Sequential()\n)"
    )
    layer = pickle.loads(pickle.dumps(nn.Sequential(nn.Unflatten(1, [2, 3], name="n"))))
    assert repr(layer[0]) == "Unflatten(axis=1, shape=[2, 3], name='n')"
    assert repr(copy.deepcopy(layer)) == repr(layer)
    with pytest.raises(IndexError):
        outer[2]
    with pytest.raises(TypeError):
        nn.Sequential(3)
