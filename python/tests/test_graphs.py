"""Graphs from Python: what is recorded, what is checked when, and that runs give what the functions give at once."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import stridewise as sw

B, C = sw.symbol("B"), sw.symbol("C")


def equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))


DECLARED = {
    "known": ["float64", [2, 3, 4]],
    "some": ["float64", [B, 3, None]],
    "unknown": ["float64", [None, None, None]],
    "rank unknown": ["float64", None],
    "ends known": ["float64", [B, ..., 4]],
}


@pytest.fixture(params=DECLARED, ids=str)
def spec(request: pytest.FixtureRequest) -> sw.Spec:
    dtype, shape = DECLARED[request.param]
    return sw.spec(dtype, shape)


X = np.arange(24.0).reshape(2, 3, 4)

FUNCTIONS = {
    "views": lambda x: x.permute(2, 0, 1).unsqueeze(1)[:, 0].flip(0),
    "slices": lambda x: x[1:, ::2, None, -1],
    "rows": lambda x: x[0],
    "reshape": lambda x: x.reshape(-1, 2),
    "repeat": lambda x: x.repeat(2, 1, 3),
    "expand": lambda x: sw.expand(x, 5, -1, -1, 4),
    "take": lambda x: x.take([[0, -1], [1, 1]], axis=2),
    "sum": lambda x: x.sum((0, -1), keepdims=True),
    "concat": lambda x: sw.concat([x, x], axis=1),
    "several": lambda x: (x.T, x.cast("float32")),
    "a list": lambda x: [x.flatten(), x],
    "a constant": lambda x: sw.concat([x, sw.ones([2, 1, 4])], axis=1),
    "an array": lambda x: sw.index_add(x, 0, [0, 1], np.ones((2, 3, 4))),
    "picked": lambda x: x[:, [0, 2]],
    "layers": sw.nn.Sequential(sw.nn.Unflatten(2, [2, -1])),
    "shape": lambda x: sw.shape_of(x),
    "its own shape": lambda x: sw.reshape(x.flatten(), sw.shape_of(x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_graph_gives_what_the_function_gives(name: str, spec: sw.Spec) -> None:
    f = FUNCTIONS[name]

    def traced(x: Any) -> Any:
        return f(x)

    needs_rank = {"picked", "slices", "rows"}
    g = None
    try:
        g = sw.trace(traced, x=spec)
    except sw.TooEarly:
        assert name in needs_rank
        return
    wanted, got = f(sw.asarray(X)), g(X)
    assert type(wanted) is type(got)
    for a, b in zip(*((y,) if isinstance(y, sw.Tensor) else y for y in (wanted, got)), strict=True):
        assert a.dtype == b.dtype and equal(a, b)


def test_sizes_of_a_graph_count_and_print() -> None:
    seen = {}

    @sw.graph(x=sw.spec("float32", [B, None, 4]), y=sw.spec("int64", [B * 2]))
    def f(x: Any, y: Any) -> Any:
        seen.update(shape=x.shape, dtype=x.dtype, ndim=x.ndim, size=x.size, repr=repr(x), y=y.shape[0])
        b, n, four = x.shape
        assert four == 4 and b == B and hash(b) == hash(x.shape[0])
        assert (b + 1) != b and str(2 * b * n + 1).count("*") == 2 and (b * 4) // 4 == b
        with pytest.raises(sw.TooEarly, match="whether B equals 3 is not known"):
            bool(b == 3)
        with pytest.raises(TypeError, match="not known before the graph runs"):
            range(b)
        return x.reshape(b * n, four)

    assert [str(size) for size in seen["shape"]] == ["B", "_0", "4"]
    assert seen["dtype"] == sw.float32 and seen["ndim"] == 3 and str(seen["y"]) == "B*2"
    assert seen["repr"] == "SymbolicTensor(float32[B, _0, 4])"
    x = np.ones((2, 3, 4), np.float32)
    assert f(x, np.zeros(4, np.int64)).shape == (6, 4)
    with pytest.raises(sw.ShapeError, match=r"axis 0 of input `y` has size 5, but B\*2 stands for 4"):
        f(x, np.zeros(5, np.int64))


def test_inputs_are_held_to_their_specs() -> None:
    g = sw.trace(lambda x, y: sw.concat([x, y]), sw.spec("float64", [B, 3]), sw.spec("float64", [C, 3]))
    assert g.inputs == ("x", "y")
    x, y = np.zeros((2, 3)), np.zeros((4, 3))
    assert g(x, y).shape == g(x, y=y).shape == g(y=y, x=x).shape == (6, 3)
    assert [[str(n) for n in shape] for shape in g.output_shapes] == [["B + C", "3"]]
    with pytest.raises(sw.ShapeError, match="axis 1 of input `x` has size 2, but 3 was declared"):
        g(np.zeros((2, 2)), y)
    with pytest.raises(sw.DTypeError, match="input `x` is float32, but float64 was declared"):
        g(x.astype(np.float32), y)
    with pytest.raises(sw.ShapeError, match="input `y` has rank 1, but 2 was declared"):
        g(x, y[0])
    for call in (lambda: g(x), lambda: g(x, y, y), lambda: g(x, z=y)):
        with pytest.raises(TypeError):
            call()


def test_a_symbol_may_stand_in_an_expression_alone() -> None:
    g = sw.trace(lambda x, y: (x, sw.zeros((C, B))), sw.spec("int8", [C * 2 + 1]), sw.spec("int8", [B * C]))
    assert g(np.zeros(7, np.int8), np.zeros(12, np.int8))[1].shape == (3, 4)
    with pytest.raises(sw.ShapeError, match=r"axis 0 of input `x` has size 8, which is not C\*2 \+ 1 for any C"):
        g(np.zeros(8, np.int8), np.zeros(12, np.int8))
    with pytest.raises(sw.ShapeError, match=r"axis 0 of input `y` has size 13, which is not B\*C for any B"):
        g(np.zeros(7, np.int8), np.zeros(13, np.int8))


def test_specs_say_what_is_wrong_with_them() -> None:
    assert repr(sw.spec("float32", [B, None, ..., 4])) == "spec('float32', [B, None, ..., 4])"
    assert sw.spec("int8").dtype == sw.int8
    for shape in ([..., ...], [1.5], [True], [-1]):
        with pytest.raises((TypeError, ValueError)):
            sw.spec("float32", shape)
    with pytest.raises(TypeError, match="a spec is needed"):
        sw.trace(lambda x: x, np.zeros(3))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="do not fit the function"):
        sw.trace(lambda x: x, sw.spec("int8"), sw.spec("int8"))
    with pytest.raises(sw.ArgumentTypeError, match="returned an object of type `int`"):
        sw.trace(lambda x: 3, sw.spec("int8"))


def test_what_cannot_be_proved_is_checked_at_its_operator_before_anything_runs() -> None:
    @sw.graph(x=sw.spec("float64", [B, None]))
    def f(x: Any) -> Any:
        sw.unflatten(x, 1, [2, -1], name="halves")  # nobody uses it
        sw.enforce_shape(x, [4, None])
        return x

    assert len(f.guards) == 2
    assert f(np.zeros((4, 6))).shape == (4, 6)
    with pytest.raises(sw.ShapeError, match="enforce_shape: axis 0 has size 3, but the pattern wants 4") as raised:
        f(np.zeros((3, 6)))
    assert "test_graphs.py" in str(raised.value)
    with pytest.raises(sw.ShapeError, match="unflatten `halves`: axis 1 of the input has size 5"):
        f(np.zeros((4, 5)))


def test_what_is_provably_wrong_fails_when_it_is_traced() -> None:
    with pytest.raises(sw.ShapeError, match=r"holds B\*3 elements, but the input has B\*4"):
        sw.trace(lambda x: sw.reshape(x, [B, 3]), sw.spec("float64", [sw.Dim.__add__(B * 1 + 1, 0), 4]))
    with pytest.raises(sw.AxisError):
        sw.trace(lambda x: x.sum(2), sw.spec("float64", [B, C]))


def test_an_index_nobody_reads_at_is_still_checked() -> None:
    @sw.graph(x=sw.spec("float64", [B]), i=sw.spec("int64", [None]))
    def f(x: Any, i: Any) -> Any:
        sw.take(x, i)
        return x.flip(0)

    assert f([1.0, 2.0], [0, -2]).tolist() == [2.0, 1.0]
    with pytest.raises(sw.IndexOutOfRange, match="take: index 2 at position"):
        f([1.0, 2.0], [0, 2])


def test_the_recipe_for_colours_runs_whatever_is_known(spec: sw.Spec) -> None:
    def recipe(x: Any) -> Any:
        x, [(axes, count), last] = sw.enforce_shape(x, [..., None])
        flat = sw.reshape(x, (count, last)).flip(1)
        return sw.reshape(flat, (*axes, last))

    g = sw.trace(recipe, x=spec)
    assert equal(g(X), X[..., ::-1])


def test_scopes_share_symbols_between_checks_in_graphs() -> None:
    @sw.graph(x=sw.spec("float64", [None, None]), y=sw.spec("float64"))
    def f(x: Any, y: Any) -> Any:
        with sw.shapes() as s:
            x, _ = s.enforce(x, ["M", "K"])
            y, _ = s.enforce(y, [..., "K"], name="second")
        assert [str(size) for size in s.sizes.values()] == ["_0", "_1"]
        return y

    assert f(np.zeros((2, 3)), np.zeros((4, 1, 3))).shape == (4, 1, 3)
    with pytest.raises(sw.ShapeError, match="enforce_shape `second`: axis 1 has size 4, but the pattern wants 3"):
        f(np.zeros((2, 3)), np.zeros((5, 4)))


def test_sizes_may_come_from_tensors() -> None:
    @sw.graph(x=sw.spec("float64", [None, None]), shape=sw.spec("int64", [2]))
    def f(x: Any, shape: Any) -> Any:
        return sw.unflatten(x, 1, shape), sw.reshape(x, [shape[0], -1])

    for shape in ([2, 3], [3, -1], [1, 6]):
        a, b = f(X.reshape(4, 6), shape)
        assert equal(a, sw.unflatten(X.reshape(4, 6), 1, shape))
        assert equal(b, X.reshape(shape[0], -1))
    with pytest.raises(sw.ShapeError, match="unflatten: shape"):
        f(X.reshape(4, 6), [2, 2])


def test_a_tensor_of_a_graph_has_no_elements() -> None:
    def ask(question: Any) -> None:
        with pytest.raises(sw.TooEarly, match="no elements before the graph runs"):
            sw.trace(lambda x: question(x), sw.spec("float64", []))

    for question in (bool, float, int, np.asarray, lambda x: x == 1, lambda x: x != 1):
        ask(question)
    with pytest.raises(sw.TooEarly, match="the length is B"):
        sw.trace(len, sw.spec("float64", [B]))  # type: ignore[arg-type]


def test_gradients_of_a_graph() -> None:
    g = sw.trace(lambda x, i: sw.take(x, i).repeat(2), sw.spec("float64", [B]), sw.spec("int64", [None]))
    dg = g.grad()
    assert dg.inputs == ("x", "i", "grad")
    (dx,) = dg([1.0, 2.0, 3.0], [0, 0, 2], np.arange(6.0))
    assert dx.tolist() == [0 + 1 + 3 + 4, 0, 2 + 5]
    (only,) = g.grad("x")([1.0, 2.0, 3.0], [0, 0, 2], np.arange(6.0))
    assert equal(only, dx)
    with pytest.raises(sw.DTypeError, match="a gradient by input `i`, which is int64"):
        g.grad(["i"])
    with pytest.raises(sw.ArgumentError, match="no input `z`"):
        g.grad("z")
    # And through the graph, as through any function.
    x = sw.to_tensor([1.0, 2.0, 3.0], requires_grad=True)
    g(x, [0, 0, 2]).backward(np.arange(6.0))
    assert x.grad is not None and equal(x.grad, dx)


def test_sizes_that_grow_past_writing_down_are_told_by_the_run() -> None:
    def turned(x: Any) -> Any:
        for _ in range(16):
            x = sw.concat([x[1:], x[:1]])
        return x

    g = sw.trace(turned, sw.spec("float64", [B]))
    for n in (0, 1, 5, 40):
        assert equal(g(np.arange(float(n))), np.roll(np.arange(float(n)), -16))


def test_a_graph_inside_another_says_what_to_do() -> None:
    inner = sw.trace(lambda x: x.flip(0), sw.spec("float64", [B]))
    with pytest.raises(sw.TooEarly, match="call the function it was traced from"):
        sw.trace(lambda x: inner(x), sw.spec("float64", [B]))


def test_sizes_are_taken_away_from_each_other() -> None:
    g = sw.trace(lambda x: sw.zeros((x.shape[0] - 1, 5 - B)), sw.spec("float64", [B]))
    assert g([1.0, 2.0, 3.0]).shape == (2, 2)
    assert (B + 3) - B == 3
    with pytest.raises(sw.ShapeError, match="is no size in this run"):
        g(np.zeros(0))


def test_graphs_run_in_many_threads_and_may_be_traced_inside_each_other() -> None:
    inner = sw.trace(lambda x: x.flip(0), sw.spec("float64", [B]))

    def outer(x: Any) -> Any:
        again = sw.trace(lambda y: y.repeat(2), sw.spec("float64", [B]))
        assert equal(again([1.0]), [1.0, 1.0])
        return x.repeat(3)

    g = sw.trace(outer, sw.spec("float64", [B]))
    wrong: list[Any] = []

    def work(n: int) -> None:
        for size in range(1, 30):
            x = np.arange(float(size)) + n
            if not (equal(g(x), np.tile(x, 3)) and equal(inner(x), x[::-1])):
                wrong.append((n, size))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_plans_hold_no_more_steps_than_needed() -> None:
    tiled = sw.trace(lambda x: x.repeat(2, 3), sw.spec("float64", [B, C]))

    def written_out(x: Any) -> Any:
        b, c = x.shape
        return x.reshape(1, b, 1, c).expand(2, b, 3, c).reshape(2 * b, 3 * c)

    plan = sw.repeat_plan((4, 5), (2, 3))
    assert plan is not None
    x = np.zeros((4, 5))
    assert len(tiled.steps(x)) == 1
    assert tiled.steps(x) == sw.trace(written_out, sw.spec("float64", [B, C])).steps(x)
    assert sw.trace(lambda x: x.T.flip(0)[None], sw.spec("float64", [B, C])).steps(x) == []


def test_gradients_of_a_graph_can_be_differentiated_by_their_seed() -> None:
    dg = sw.trace(lambda x: (x.repeat(2), x[0]), sw.spec("float64", [B])).grad()
    x, seeds = np.array([1.0, 2.0]), [np.arange(4.0), np.array(7.0)]
    (wanted,) = dg(x, *seeds)
    tracked = [sw.to_tensor(seed, requires_grad=True) for seed in seeds]
    (dx,) = dg(sw.to_tensor(x, requires_grad=True), *tracked)
    assert equal(dx.detach(), wanted) and wanted.tolist() == [0 + 2 + 7, 1 + 3]
    dx.backward([1.0, 10.0])
    assert [t.grad.tolist() for t in tracked if t.grad is not None] == [[1.0, 10.0, 1.0, 10.0], 1.0]


def test_gradients_of_a_graph_have_inputs_of_their_own_and_keep_their_form() -> None:
    dg = sw.trace(lambda grad: grad.repeat(2), sw.spec("float64", [B])).grad()
    assert dg.inputs == ("grad", "grad_")
    (dx,) = dg(grad=[1.0], grad_=[2.0, 3.0])
    (again,) = sw.Graph.parse(str(dg))([1.0], [2.0, 3.0])
    assert dx.tolist() == again.tolist() == [5.0]


def test_sizes_are_read_anew_in_every_run() -> None:
    g = sw.trace(lambda x, shape: (x.reshape(shape), shape.flip(0)), sw.spec("float64"), sw.spec("int64", [2]))
    shape = np.array([4, 6])
    assert g(X, shape)[0].shape == (4, 6)
    shape[:] = [3, 8]  # the array's owner may write it: a plan for what was there does not serve
    y, turned = g(X, shape)
    assert y.shape == (3, 8) and turned.tolist() == [8, 3]


def test_constants_are_what_they_were_when_the_function_was_traced() -> None:
    c, at = np.arange(3.0), np.array([0, 2])

    @sw.graph(x=sw.spec("float64", [B]))
    def f(x: Any) -> Any:
        return sw.concat([x, c]), x[at], x.take(at), sw.repeat(c, 2 * x.shape[0]), sw.asarray(c)

    x = np.array([7.0, 8.0, 9.0])
    before = [y.tolist() for y in f(x)]
    c[:], at[:] = 5.0, 1
    assert [y.tolist() for y in f(x)] == before
    assert f(x[::-1])[0].tolist() == [9.0, 8.0, 7.0, 0.0, 1.0, 2.0]


def test_no_gradient_is_lost_in_a_constant() -> None:
    w = sw.to_tensor([1.0, 2.0], requires_grad=True)
    for f in (lambda x: sw.concat([x, w]), lambda x: sw.concat([x, w.flip(0)]), lambda x: (x, w)):
        with pytest.raises(sw.GradientError, match="make it an input of the graph"):
            sw.trace(f, sw.spec("float64", [B]))
    assert sw.trace(lambda x: sw.concat([x, w.detach()]), sw.spec("float64", [B]))([3.0]).tolist() == [3.0, 1.0, 2.0]


def test_a_place_in_a_shape_of_unknown_rank_is_no_axis() -> None:
    seen = []

    def f(x: Any, y: Any) -> Any:
        for question in (lambda: x.shape[-1], lambda: x.shape[0], lambda: x.shape[:-1], lambda: y.shape[1], len):
            with pytest.raises(sw.TooEarly, match="not known before the graph runs") as raised:
                question(x.shape) if question is len else question()
            assert "enforce_shape" in raised.value.help and raised.value.axis is None
        for question in (lambda: y.shape[2], lambda: y.shape[-3], lambda: y.shape[::-1], lambda: y.shape[2:]):
            with pytest.raises(sw.TooEarly):
                question()
        assert y.shape[0] == B and y.shape[-1] == 4 and y.shape[:1] == (B,) and y.shape[-1:] == (4,)
        assert list(x.shape) == [*x.shape] and y.shape
        with pytest.raises(sw.TooEarly):
            (x.shape + (2,))[0]
        seen.append(str((1,) + y.shape[1:-1] + (2,)))
        _, [(axes, _), _] = sw.enforce_shape(x, [..., None])
        with pytest.raises(sw.TooEarly):
            axes[0]
        return x.reshape(x.shape + (1,)), y.reshape((1, *y.shape))

    g = sw.trace(f, sw.spec("float64"), sw.spec("float64", [B, ..., 4]))
    assert [y.shape for y in g(X, X)] == [(2, 3, 4, 1), (1, 2, 3, 4)] and seen == ["(1, *_1, 2)"]


def test_an_input_may_have_any_name() -> None:
    assert sw.trace(lambda f, self: f, f=sw.spec("int8", [B]), self=sw.spec("int8", [B])).inputs == ("f", "self")


def test_a_list_of_tensors_brings_their_histories() -> None:
    a, b = (sw.to_tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    g = sw.trace(lambda x: x.flip(0), sw.spec("float64", [B, 2]))
    g([a, b])[0].sum().backward()
    assert a.grad is not None and a.grad.tolist() == [0.0, 0.0]
    assert b.grad is not None and b.grad.tolist() == [1.0, 1.0]


def test_sizes_of_specs_are_checked_where_they_are_given() -> None:
    assert repr(sw.spec("int8", [np.int64(3), np.uint8(2)])) == "spec('int8', [3, 2])"
    with pytest.raises(ValueError, match="-1 is no size; use None"):
        sw.spec("int8", [-1])
    for size in (2**63, 2**64, 2**200):
        with pytest.raises(sw.TooLarge):
            sw.spec("int8", [size])
    with pytest.raises(sw.TooLarge):
        sw.spec("int8", [str(2**63)])
    for name in ("_0", "", "a b", "*r", "%1"):
        with pytest.raises(sw.ArgumentError, match="no name for a size"):
            sw.spec("int8", [sw.symbol(name), None])
    assert sw.trace(lambda x: x.flip(0), sw.spec("int8", [2**63 - 1])).inputs == ("x",)


def test_a_size_is_found_where_its_symbol_was_put() -> None:
    def f(x: Any) -> Any:
        assert {B: "batch"}[x.shape[0]] == "batch" and {x.shape[0]: "batch"}[B] == "batch"
        return x

    sw.trace(f, sw.spec("int8", [B]))
