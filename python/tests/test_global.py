"""Global tensors: every operator and every gradient beside those of one process, on four ranks that are threads; the
classes around them; and what is said when tensors do not go together."""

from __future__ import annotations

import copy
import itertools
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gradient_cases import CASES

import stridewise as sw
from stridewise import _stridewise

RANKS = 4
MESHES: list[tuple[int, ...]] = [(4,), (2, 2), (1, 4), (4, 1)]
# A test of many calls waits this long for a rank, on a machine that is busy with others.
PATIENCE = 60.0


def on_ranks(f: Callable[..., Any], *args: Any, ranks: int = RANKS) -> list[Any]:
    return sw.spawn(f, ranks=ranks, args=args, timeout=PATIENCE)


def layouts(dice: random.Random, mesh: tuple[int, ...], rank: int, partial: bool = True) -> list[str]:
    """How each mesh axis holds a tensor of that rank."""
    ways = ["B", *(f"S({axis})" for axis in range(rank)), *(["P"] if partial else [])]
    return [dice.choice(ways) for _ in mesh]


def numbers(dice: random.Random, shape: tuple[int, ...], dtype: str = "float64") -> np.ndarray:
    """Whole numbers, so that sums are the same in any order."""
    source = np.random.default_rng(dice.randrange(1 << 30))
    return source.integers(0, 2 if dtype == "bool" else 50, shape).astype(dtype)


def listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (list, tuple)) else [result]


def same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and sw.array_equal(a, b, equal_nan=True)


def test_every_operator_on_tensors_is_tried():
    table = {name for name, *_ in _stridewise._table()}
    assert table - set(CASES) == {"zeros", "ones", "full", "arange", "shape_of"}
    missing = [name for name in table if hasattr(sw.Tensor, name) and not hasattr(sw.GlobalTensor, name)]
    assert missing == []


@pytest.mark.parametrize("name", CASES)
def test_every_operator_and_its_gradient_are_those_of_one_process(name):
    pytest.importorskip("torch")  # the cases hold its calls
    seeds = range(24)

    def calls() -> list[str]:
        wrong = []
        for seed in seeds:
            dice = random.Random(f"{name} {seed}")
            case = CASES[name](dice)
            mesh = dice.choice(MESHES)
            arrays = [numbers(dice, shape) for shape in case.shapes]
            held = [layouts(dice, mesh, array.ndim) for array in arrays]
            label = f"{name} seed {seed}: {[a.shape for a in arrays]} as {held} on {mesh}"
            plain = [sw.to_tensor(array, requires_grad=True) for array in arrays]
            grid = sw.mesh(mesh)
            spread = [grid.shard(array, sbp, requires_grad=True) for array, sbp in zip(arrays, held, strict=True)]
            wanted, found = listed(case.ours(*plain)), listed(case.ours(*spread))
            for y, z in zip(wanted, found, strict=True):
                if not isinstance(z, sw.GlobalTensor) or not same(y.detach(), z.detach().gather()):
                    wrong.append(f"{label}: {z} is not {y}")
            for y, z in zip(wanted, found, strict=True):
                back = numbers(dice, y.shape, str(np.asarray(y.detach()).dtype))
                y.backward(back, retain_graph=True)
                z.backward(grid.shard(back, layouts(dice, mesh, back.ndim)), retain_graph=True)
            for x, g in zip(plain, spread, strict=True):
                none = (x.grad is None, g.grad is None)
                if none[0] != none[1] or (not none[0] and not same(x.grad, g.grad.gather())):
                    wrong.append(f"{label}: the gradient {g.grad} is not {x.grad}")
        return wrong

    for wrong in on_ranks(calls):
        assert wrong == []


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float16", "float32", "bfloat16", "complex128"])
def test_every_dtype_travels(dtype):
    def calls() -> list[str]:
        wrong = []
        for seed in range(16):
            dice = random.Random(f"{dtype} {seed}")
            mesh = dice.choice(MESHES)
            shape = tuple(dice.choice([0, 1, 2, 3, 5, 7]) for _ in range(dice.randint(1, 3)))
            whole = sw.cast(sw.asarray(numbers(dice, shape)), dtype)
            first, then = (layouts(dice, mesh, whole.ndim, dtype != "bool") for _ in range(2))
            there = sw.mesh(mesh).shard(whole, first)
            moved = there.to_sbp(then)
            turned = moved.flip(0).reshape(-1)
            if not (same(whole, moved.gather()) and same(whole.flip(0).reshape(-1), turned.gather())):
                wrong.append(f"seed {seed}: {shape} {first} -> {then} on {mesh}")
        return wrong

    for wrong in on_ranks(calls):
        assert wrong == []


def test_parts_are_put_together_and_come_back():
    def parts() -> Any:
        mesh = sw.mesh(4)
        own = sw.full([2 if sw.rank() < 2 else 1, 3], sw.rank())
        x = own.to_global(mesh, sw.sbp.split(0))
        y = sw.full([2], 1 << sw.rank()).to_global(mesh, sw.sbp.partial_sum)
        top = sw.asarray([sw.rank(), -sw.rank()]).to_global(mesh, sw.sbp.partial_max)
        low = sw.asarray([sw.rank(), -sw.rank()]).to_global(mesh, "P(min)")
        assert x.to_local().shares_memory(own)
        return x.shape, x.sbp, x.gather().tolist(), y.gather().tolist(), top.gather().tolist(), low.gather().tolist()

    for shape, sbp, x, y, top, low in on_ranks(parts):
        assert shape == (6, 3)
        assert sbp == (sw.sbp.split(0),) == ("S(0)",)
        assert x == [[0] * 3, [0] * 3, [1] * 3, [1] * 3, [2] * 3, [3] * 3]
        assert (y, top, low) == ([15, 15], [3, 0], [0, -3])


def test_a_mesh_of_two_axes_cuts_twice():
    def parts() -> Any:
        mesh = sw.mesh((2, 2))
        x = mesh.shard(sw.arange(12).reshape(4, 3), (sw.sbp.split(0), "S(1)"))
        again = x.to_local().to_global(mesh, "S(0),S(1)")
        return mesh.coordinate, x.to_local().tolist(), again.gather().tolist(), repr(x), repr(mesh)

    assert [row[:2] for row in on_ranks(parts)] == [
        ((0, 0), [[0, 1], [3, 4]]),
        ((0, 1), [[2], [5]]),
        ((1, 0), [[6, 7], [9, 10]]),
        ((1, 1), [[8], [11]]),
    ]
    _, _, again, x, mesh = on_ranks(parts)[3]
    assert again == sw.arange(12).reshape(4, 3).tolist()
    assert x == "GlobalTensor(int64(4, 3), sbp=S(0), S(1), mesh=(2, 2), rank=3)"
    assert mesh == "<Mesh (2, 2), rank 3 of 4>"


def test_what_is_traffic_free_and_what_is_not_can_be_read():
    def traffic() -> Any:
        mesh = sw.mesh(4)
        x = mesh.shard(sw.zeros([8, 1], "float32"), "S(0)")
        x.expand(-1, 5).permute(1, 0).unsqueeze(0)
        free = mesh.moved()
        x.reshape(8).to_sbp("B")
        x.sum().to_sbp("B")
        moved = mesh.moved()
        assert mesh.moved() == []
        return free, [str(each) for each in moved], moved[0]

    free, texts, first = on_ranks(traffic)[1]
    assert free == []
    assert texts == [
        "to_sbp: (8,) float32, mesh axis 0, S(0) -> B, all_gather, 24 bytes",
        "to_sbp: () float32, mesh axis 0, P -> B, all_reduce, 4 bytes",
    ]
    assert (first.operator, first.what, first.change, first.shape) == ("to_sbp", "all_gather", ("S(0)", "B"), (8,))
    assert (first.dtype, first.mesh_axis, first.bytes) == (sw.float32, 0, 24)
    assert repr(first) == f"<{texts[0]}>"


def test_an_operator_names_itself_in_what_it_moved():
    def traffic() -> list[str]:
        mesh = sw.mesh(4)
        x = mesh.shard(sw.arange(6).reshape(6, 1), "S(0)")
        x.reshape(2, 3)
        sw.take(x, mesh.shard([0, 5, 3, 1], "S(0)"), 0)
        x[1::3]
        return sorted({each.operator for each in mesh.moved()})

    assert on_ranks(traffic)[0] == ["index", "reshape", "take"]


INDICES: list[Any] = [
    2,
    -1,
    slice(1, 5, 2),
    slice(None, None, -1),
    None,
    ...,
    (slice(None), 1),
    ([0, 2, 5],),
    (slice(2, None), [2, 0]),
    ([[0], [3]], [1, 2]),
    (..., None, 0),
    (np.int64(3), range(2)),
]


@pytest.mark.parametrize("sbp", ["S(0)", "S(1)", "B", "P"])
def test_indices_are_those_of_one_process(sbp):
    whole = sw.arange(18).reshape(6, 3)

    def picked() -> Any:
        mesh = sw.mesh(4)
        x = mesh.shard(whole, sbp)
        wrong = [index for index in INDICES if not same(x[index].gather(), whole[index])]
        index = mesh.shard([5, 0, 0], "S(0)")
        assert same(x[index].gather(), whole[[5, 0, 0]])
        assert same(x[index, 1:].gather(), whole[[5, 0, 0], 1:])
        rows = [row.gather().tolist() for row in x]
        return wrong, rows, len(x), x.T.gather().tolist(), x.mT.gather().tolist()

    for wrong, rows, length, t, mt in on_ranks(picked):
        assert wrong == []
        assert rows == whole.tolist()
        assert (length, t, mt) == (6, whole.T.tolist(), whole.T.tolist())


def test_the_very_object_comes_back_where_nothing_is_to_do():
    def calls() -> None:
        x = sw.mesh(4).shard([[1.0, 2.0]], "S(1)")
        assert sw.atleast_1d(x) is x
        assert x.atleast_2d() is x
        assert x.to_sbp("S(1)") is x
        assert x.detach() is x
        again, dims = sw.enforce_shape(x, ["a", 2])
        assert again is x
        assert dims == [1, 2]
        assert sw.shape_of(x).gather().tolist() == [1, 2]
        assert x.reshape(sw.shape_of(x).flip(0)).shape == (2, 1)

    on_ranks(calls)


def test_a_part_that_stays_the_same_does_not_make_the_whole_the_same():
    def calls() -> Any:
        # All ranks but the first have nothing but zeros, which are the same backwards.
        x = sw.mesh(4).shard([1.0, 2.0, 3.0], "P", requires_grad=True)
        y = x.flip(0)
        assert y is not x
        y.backward([1.0, 2.0, 4.0])
        return x.grad.gather().tolist()

    assert on_ranks(calls) == [[4, 2, 1]] * 4


def test_numbers_and_lists_are_the_same_on_all_ranks():
    def calls() -> Any:
        x = sw.mesh(4).shard(sw.arange(6).cast("float64"), "S(0)")
        return (
            sw.take(x, 3).gather().tolist(),
            sw.take(x, [[0], [5]]).gather().tolist(),
            sw.take(x, np.int64(2)).gather().tolist(),
            sw.take(x, [np.int32(1), np.int32(4)]).gather().tolist(),
            sw.concat([x, [7.0]]).gather().tolist(),
            sw.stack([x[0], 3.5]).gather().tolist(),
            x.expand(sw.asarray(2), -1).shape,
        )

    for found in on_ranks(calls):
        assert found == (3, [[0], [5]], 2, [1, 4], [0, 1, 2, 3, 4, 5, 7], [0, 3.5], (2, 6))


MIXED = (
    "take: a global tensor, int64 of shape (4,) over 4 ranks as S(0), and a local one, int64 of shape (2,), are in "
    "one call\n  help: make the local one global: `x.to_global(mesh, sbp)` where each rank has its part of it, or "
    "`mesh.shard(x, sbp)` where every rank has all of it"
)


def error_of(f: Callable[[], Any]) -> str:
    try:
        f()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def test_a_local_tensor_beside_a_global_one_is_refused_by_name():
    def calls() -> Any:
        x = sw.mesh(4).shard(sw.arange(4), "S(0)")
        local = sw.asarray([0, 1])
        return (
            error_of(lambda: sw.take(x, local)),
            error_of(lambda: x.take(np.array([0, 1]))),
            error_of(lambda: sw.take(local, x)),
            error_of(lambda: sw.concat([x, local])),
            error_of(lambda: x[local]),
            error_of(lambda: x.take([0], out=np.zeros(1, np.int64))),
        )

    first, array, other, joined, index, out = on_ranks(calls)[2]
    assert first == array == f"ArgumentTypeError: {MIXED}"
    assert other == first
    assert joined == first.replace("take:", "concat:")
    assert index == first.replace("take:", "index:")
    assert out == (
        "ArgumentTypeError: take: a global tensor is not written into memory of one rank\n"
        "  help: leave out away; `to_local()` of the result is this rank's part of it"
    )


def test_elements_are_not_asked_of_a_global_tensor():
    def calls() -> Any:
        x = sw.mesh(4).shard(sw.zeros([4]), "S(0)")
        asked = [bool, int, float, np.asarray, sw.asarray, lambda x: x == x, lambda x: x != 1, pickle.dumps]
        return [error_of(lambda ask=ask: ask(x)) for ask in asked], hash(x) == hash(x)

    errors, hashed = on_ranks(calls)[0]
    assert hashed
    for error in errors:
        assert error.startswith("TypeError"), error
        assert "`gather()` gives all of them to each" in error


def test_copies_have_parts_of_their_own_and_keep_what_belongs_to_them():
    def calls() -> Any:
        mesh = sw.mesh(4)
        x = mesh.shard(sw.ones([8]), "S(0)", requires_grad=True)
        x.expand(2, -1).backward(mesh.shard(sw.ones([2, 8]), "B"))
        assert copy.copy(x) is x
        assert copy.copy(mesh) is mesh and copy.deepcopy(mesh) is mesh
        deep = copy.deepcopy({"x": x, "y": x})
        y = deep["x"]
        assert y is deep["y"] and y is not x and y.grad is not x.grad
        assert (y.requires_grad, y.sbp, y.mesh) == (True, x.sbp, mesh)
        assert not sw.shares_memory(y.detach().to_local(), x.detach().to_local())
        with pytest.raises(RuntimeError, match="has a history"):
            copy.deepcopy(x.permute(0))
        return y.grad.gather().tolist()

    assert on_ranks(calls) == [[2.0] * 8] * 4


def test_tensors_of_another_world_or_mesh_are_refused_wherever_they_come_in():
    def inside(outer: sw.GlobalTensor) -> list[str]:
        x = sw.mesh(2).shard(sw.arange(4.0), "S(0)", requires_grad=True)
        turned = sw.mesh((2, 1)).shard(sw.arange(4.0), "S(0),B")
        return [
            error_of(lambda: sw.take(x, outer.cast("int64"))),
            error_of(lambda: x[outer.cast("int64")]),
            error_of(lambda: x.backward(outer)),
            error_of(lambda: setattr(x, "grad", outer)),
            error_of(lambda: x.backward(turned)),
            error_of(lambda: setattr(x, "grad", turned)),
            error_of(lambda: sw.concat([x, turned])),
        ]

    def outside() -> list[list[str]]:
        return sw.spawn(inside, ranks=2, args=(sw.mesh(2).shard(sw.arange(4.0), "S(0)"),), timeout=PATIENCE)

    for texts in itertools.chain(*on_ranks(outside, ranks=2)):
        for text in texts[:4]:
            assert "of another world or thread" in text
        for text in texts[4:]:
            assert "another on one of" in text


def test_ranks_that_name_other_layouts_of_their_parts_are_told():
    def differ() -> str:
        sbp = "S(0)" if sw.rank() == 1 else "B"
        return error_of(lambda: sw.zeros([2]).to_global(sw.mesh(2), sbp))

    for text in on_ranks(differ, ranks=2):
        assert text.startswith("WorldError: to_global: rank 1 says S(0) on a mesh of (2,), but rank 0 B on a mesh of")


def test_meshes_are_made_from_whatever_is_an_int():
    def calls() -> Any:
        meshes = [sw.mesh(size) for size in (np.int64(2), [np.int32(2)], np.array([1, 2]), range(1, 3))]
        odd = [2.0, None, "2", True, (True, 2), (2.0,), 10**30]
        return [mesh.shape for mesh in meshes], [error_of(lambda size=size: sw.mesh(size)) for size in odd]

    shapes, texts = on_ranks(calls, ranks=2)[0]
    assert shapes == [(2,), (2,), (1, 2), (1, 2)]
    for text in texts:
        assert ": mesh: " in text and "Error: " in text


def test_errors_say_what_does_not_fit():
    def calls() -> list[str]:
        mesh = sw.mesh(4)
        x = mesh.shard(sw.zeros([4, 2]), "S(0)")
        return [
            error_of(lambda: sw.mesh(3)),
            error_of(lambda: sw.mesh((2, -2))),
            error_of(lambda: mesh.shard([1, 2], "S(1)")),
            error_of(lambda: mesh.shard([1, 2], "S(0),B")),
            error_of(lambda: mesh.shard([1, 2], "Q")),
            error_of(lambda: mesh.shard([1, 2], 3)),
            error_of(lambda: mesh.shard(x, "B")),
            error_of(lambda: x.to_sbp("P(max)")),
            error_of(lambda: sw.sbp.split(-1)),
            error_of(lambda: x.expand(5, 5, 5)),
        ]

    texts = [text.split("\n")[0] for text in on_ranks(calls)[1]]
    assert texts[:-1] == [
        "WorldError: mesh: a mesh of 3 has 3 ranks, but the world has 4",
        "ArgumentError: mesh: a mesh has no negative number of ranks",
        "AxisError: shard: S(1) splits an axis that a tensor of rank 1 does not have",
        "ArgumentError: shard: 2 layouts for 1 mesh axis",
        "ArgumentError: shard: `Q` is no way to lie on a mesh axis",
        "ArgumentTypeError: shard: sbp is an object of type `int`, but one of split(axis), broadcast and partial_sum "
        "for each mesh axis is needed",
        "ArgumentTypeError: shard: x is a global tensor already, float64 of shape (4, 2) over 4 ranks as S(0)",
        "WorldError: to_sbp: a tensor held as S(0) cannot be held as P(max)",
        "AxisError: split: axis -1 of a tensor that is not there yet counts from no end",
    ]
    assert texts[-1].startswith("ShapeError: expand: ")


def test_layouts_are_values():
    assert [str(each) for each in (sw.sbp.split(2), sw.sbp.broadcast, sw.sbp.partial_sum)] == ["S(2)", "B", "P"]
    assert (str(sw.sbp.partial_max), str(sw.sbp.partial_min)) == ("P(max)", "P(min)")
    everything = [sw.sbp.split(0), sw.sbp.split(1), sw.sbp.broadcast, sw.sbp.partial_sum, sw.sbp.partial_max]
    for a, b in itertools.product(everything, everything):
        assert (a == b) == (a is b)
        assert (a == str(b)) == (a is b)
    for each in everything:
        assert pickle.loads(pickle.dumps(each)) == each
        assert sw.Sbp(str(each)) == each
        assert hash(sw.Sbp(str(each))) == hash(each)
        assert [each.is_split, each.is_broadcast, each.is_partial].count(True) == 1
    assert sw.sbp.split(3).axis == 3
    assert sw.sbp.broadcast.axis is None


def test_gradients_come_back_to_global_tensors():
    def calls() -> Any:
        mesh = sw.mesh(4)
        x = mesh.shard([[1.0], [2.0], [3.0]], "B", requires_grad=True)
        y = x.expand(-1, 4).to_sbp("S(1)")
        assert repr(y).endswith(", requires_grad=True)")
        y.backward(mesh.shard(sw.ones([3, 4]), "S(1)"))
        grad = x.grad
        y = x.flip(0)
        y.backward([[1.0], [2.0], [3.0]])
        twice = x.grad.gather().tolist()
        x.grad = None
        (x.sum()).backward()
        with sw.no_grad():
            assert not x.flip(0).requires_grad
            assert not x.to_sbp("S(0)").requires_grad
        assert not x.detach().requires_grad
        return grad.sbp, grad.gather().tolist(), twice, x.grad.gather().tolist()

    for sbp, grad, twice, anew in on_ranks(calls):
        assert sbp == ("P",)
        assert (grad, twice, anew) == ([[4], [4], [4]], [[7], [6], [5]], [[1], [1], [1]])


def test_functions_of_global_tensors_have_gradients():
    def calls() -> Any:
        mesh = sw.mesh((2, 2))
        x = mesh.shard([1.0, 2.0, 3.0], "S(0),B")
        value, pullback = sw.vjp(lambda a, b: sw.concat([a, b, a]), x, [4.0])
        gradients = pullback([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
        whole = sw.grad(lambda a: a.take([0, 0, 2]).sum())(x)
        second = sw.grad(lambda a: sw.grad(lambda b: sw.concat([b, a]).sum())(a).sum())(x)
        several, back = sw.vjp(lambda a: (a.flip(0), a.sum()), x)
        both = back(([1.0, 2.0, 3.0], 10.0))
        tensors = [value, *gradients, whole, second, *several, *both]
        assert all(isinstance(each, sw.GlobalTensor) for each in tensors)
        return [each.gather().tolist() for each in tensors]

    for found in on_ranks(calls):
        assert found == [
            [1, 2, 3, 4, 1, 2, 3],
            [6, 8, 10],
            [4],
            [2, 0, 1],
            [0, 0, 0],
            [3, 2, 1],
            6,
            [13, 12, 11],
        ]


def test_no_history_is_lost_between_one_rank_and_all():
    def calls() -> list[str]:
        mesh = sw.mesh(4)
        own = sw.to_tensor([1.0, 2.0], requires_grad=True)
        x = mesh.shard([1.0, 2.0], "S(0)", requires_grad=True)
        return [
            error_of(lambda: own.to_global(mesh, "B")),
            error_of(lambda: mesh.shard(own, "B")),
            error_of(x.to_local),
            error_of(x.flip(0).gather),
            error_of(lambda: mesh.shard([1, 2], "S(0)", requires_grad=True)),
            error_of(lambda: x.backward(sw.ones([2]))),
            error_of(lambda: x.backward([1.0])),
        ]

    texts = [text.split("\n")[0] for text in on_ranks(calls)[3]]
    lost = "the tensor requires a gradient, but no gradient comes back"
    assert texts == [
        f"GradientError: to_global: {lost} to a tensor of one rank",
        f"GradientError: shard: {lost} to a tensor of one rank",
        f"GradientError: to_local: {lost} through a tensor of one rank",
        f"GradientError: gather: {lost} through a tensor of one rank",
        "DTypeError: shard: a gradient by a tensor of int64 has no meaning",
        "ArgumentTypeError: backward: a global tensor, float64 of shape (2,) over 4 ranks as S(0), and a local one, "
        "float64 of shape (2,), are in one call",
        "ShapeError: backward: the seed is float64 of shape (1,), which is not the tensor's shape",
    ]


def test_a_world_of_one_rank_needs_no_spawn():
    assert (sw.rank(), sw.world_size()) == (0, 1)
    mesh = sw.mesh(1)
    x = mesh.shard(sw.arange(6).reshape(2, 3), "S(0)")
    assert x.sum(0).gather().tolist() == [3, 5, 7]
    assert mesh.moved() == []
    assert mesh == mesh
    assert mesh != sw.mesh((1, 1))
    assert hash(mesh) == hash(sw.mesh(1))
    sw.barrier()
    assert error_of(lambda: sw.mesh(2)).startswith("WorldError: mesh: a mesh of 2 has 2 ranks, but the world has 1")


def test_parts_of_several_ranks_do_not_mix():
    shared: dict[int, sw.GlobalTensor] = {}

    def calls() -> str:
        shared[sw.rank()] = sw.mesh(2).shard([1, 2], "S(0)")
        sw.barrier()
        return error_of(lambda: sw.concat([shared[0], shared[1]]))

    for text in on_ranks(calls, ranks=2):
        assert text.startswith(
            "WorldError: concat: one tensor is the part of rank 0 of 2, another that of rank 1 of 2 of another world"
        )


def test_layers_take_global_tensors():
    def calls() -> Any:
        return sw.nn.Unflatten(0, [2, 2])(sw.mesh(4).shard([1, 2, 3, 4], "S(0)")).gather().tolist()

    assert on_ranks(calls) == [[[1, 2], [3, 4]]] * 4
