"""The tests of tensors on a GPU, for `test_gpu` in a build that has them. Without a GPU they fail."""

from __future__ import annotations

import copy
import doctest
import gc
import pickle
import random
import re
import threading
import weakref
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from gradient_cases import CASES
from sample_arrays import DTYPES, numpy_dtype

import stridewise as sw
from stridewise import _stridewise

SEEDS = range(6)


def uneven(dice: random.Random, shape: tuple[int, ...], dtype: str = "float64") -> np.ndarray:
    """Numbers that do not add up exactly, so that another order gives other bits."""
    source = np.random.default_rng(dice.randrange(1 << 30))
    if dtype in ("complex64", "complex128"):
        return (source.normal(size=shape) * 100 + 1j * source.normal(size=shape)).astype(dtype)
    if dtype == "bool":
        return source.integers(0, 2, shape).astype(bool)
    return (source.normal(size=shape) * 100).astype(numpy_dtype(dtype))


def listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (list, tuple)) else [result]


def same(on_gpu: Any, on_cpu: Any) -> bool:
    """Of one dtype and shape, and bit for bit."""
    a, b = on_gpu.detach().numpy(), on_cpu.detach().numpy()
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def moved(what: Any) -> sw.gpu.Counts:
    """What the GPU did meanwhile."""
    before = sw.gpu.counts()
    what()
    return sw.gpu.counts() - before


def test_there_is_a_gpu_and_it_says_which():
    info = sw.gpu.info()
    assert sw.gpu.is_available()
    assert info.name in str(info) and info.backend in str(info) and info.kind in str(info)
    assert info.kind in ("discrete", "integrated", "virtual", "software", "other")
    assert info.max_tensor_bytes >= 1 << 27


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_survive_the_way_there_and_back(dtype):
    for shape in [(), (0,), (1,), (3, 5), (2, 0, 3), (4, 1, 7)]:
        bits = np.random.default_rng(1).integers(0, 2, (*shape, numpy_dtype(dtype).itemsize), np.uint8)
        array = bits.view(numpy_dtype(dtype))[..., 0]
        x = sw.to_tensor(array)
        for y in [x, x.T, x[..., None].expand(*x.shape, 2), *([x[::-1]] if shape else [])]:
            z = y.to("gpu")
            assert isinstance(z, sw.GpuTensor) and z.device == "gpu"
            assert (z.shape, z.dtype, z.ndim, z.size) == (y.shape, y.dtype, y.ndim, y.size)
            assert (z.nbytes, z.itemsize) == (y.nbytes, y.itemsize)
            back = z.to("cpu")
            assert isinstance(back, sw.Tensor)
            assert back.numpy().tobytes() == np.ascontiguousarray(y.numpy()).tobytes()
            assert z.tolist() == y.tolist() or np.isnan(y.cast("complex128").numpy()).any()
            assert z.to("gpu") is z


def test_every_operator_on_tensors_is_there():
    table = {name for name, *_ in _stridewise._table()}
    assert table - set(CASES) == {"zeros", "ones", "full", "arange", "shape_of"}
    assert [name for name in table if hasattr(sw.Tensor, name) and not hasattr(sw.GpuTensor, name)] == []


@pytest.mark.parametrize("name", CASES)
def test_every_operator_and_its_gradient_have_the_bits_of_the_cpu(name):
    for seed in SEEDS:
        dice = random.Random(f"{name} {seed}")
        case = CASES[name](dice)
        dtype = dice.choice(["float32", "float64", "complex64", "complex128", "float16", "bfloat16"])
        arrays = [uneven(dice, shape, dtype) for shape in case.shapes]
        label = f"{name} seed {seed}: {dtype} {[a.shape for a in arrays]}"
        here = [sw.to_tensor(array, requires_grad=True) for array in arrays]
        there = [sw.to_tensor(array).to("gpu", requires_grad=True) for array in arrays]
        wanted, found = listed(case.ours(*here)), listed(case.ours(*there))
        assert len(wanted) == len(found), label
        for y, z in zip(wanted, found, strict=True):
            assert isinstance(z, sw.GpuTensor), label
            assert same(z, y), f"{label}: {z} is not {y}"
        for y, z in zip(wanted, found, strict=True):
            back = sw.to_tensor(uneven(dice, y.shape, str(y.dtype)))
            y.backward(back, retain_graph=True)
            z.backward(back.to("gpu"), retain_graph=True)
        for x, w in zip(here, there, strict=True):
            assert (x.grad is None) == (w.grad is None), label
            assert x.grad is None or same(w.grad, x.grad), f"{label}: the gradient {w.grad} is not {x.grad}"


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_is_moved_added_cast_and_taken(dtype):
    dice = random.Random(dtype)
    table = sw.to_tensor(
        uneven(dice, (5, 6), dtype) if dtype not in ("uint8", "int8") else np.arange(30, dtype=dtype).reshape(5, 6)
    )
    at = [[0, -1], [3, 3]]
    calls = [
        lambda x: x.repeat(2, 3),
        lambda x: x.take(at, 1),
        lambda x: x.T.contiguous(),
        lambda x: sw.concat([x, x.flip(0)], 1),
        lambda x: x[::2, [1, 0, 5]],
    ]
    if dtype != "bool":
        calls += [lambda x: x.sum(0), lambda x: sw.index_add(x, 0, [1, 1, 4, 1, 1], x)]
    for to in DTYPES:
        calls.append(lambda x, to=to: x.cast(to))
    for number, call in enumerate(calls):
        try:
            wanted = call(table)
        except sw.StridewiseError as error:
            with pytest.raises(type(error)):
                call(table.to("gpu")).to("cpu")
            continue
        assert same(call(table.to("gpu")), wanted), f"{dtype} call {number}"


def test_views_launch_nothing_and_move_nothing():
    x = sw.arange(24.0).reshape(4, 6).to("gpu")

    def views() -> None:
        y = x.unflatten(1, [2, 3]).expand(5, -1, -1, -1).permute(3, 0, 1, 2)[1:, ..., None].squeeze(-1)
        assert y.shares_memory(x)
        assert sw.atleast_2d(x) is x
        assert x.T.strides == (1, 6) and x.mT.shape == (6, 4)
        assert len(list(iter(x))) == 4

    done = moved(views)
    assert (done.launches, done.copies, done.submissions, done.bytes_up, done.bytes_down) == (0, 0, 0, 0, 0)


def test_nothing_is_read_before_it_is_asked_for():
    x = sw.arange(1000.0).to("gpu")
    results = []
    done = moved(lambda: results.append(x.repeat(3).take([1, 2, 3]).sum()))
    assert done.submissions == 0 and done.bytes_down == 0
    done = moved(lambda: results.append(results[0].item()))
    assert done.submissions == 1 and done.bytes_down == 8
    assert results[1] == 6.0


def test_indexing_is_that_of_the_cpu():
    x = sw.arange(60).reshape(3, 4, 5)
    y = x.to("gpu")
    at = sw.to_tensor([2, 0])
    for index in [
        0,
        -1,
        slice(None, None, -1),
        (..., 1),
        (None, 0),
        ([0, 2], slice(1, 3)),
        (slice(None), [[0], [1]], [1, 2]),
    ]:
        assert same(y[index], x[index]), index
    assert same(y[at.to("gpu")], x[at])
    assert same(y[sw.to_tensor(1)], x[1])
    assert same(y[np.int64(2)], x[2])
    for index in [9, (0, 0, 0, 0), "x"]:
        with pytest.raises(Exception) as wanted:
            x[index]
        with pytest.raises(type(wanted.value)) as raised:
            y[index]
        assert str(raised.value) == str(wanted.value)
    with pytest.raises(TypeError):
        iter(y.sum())


def test_numbers_come_out():
    x = sw.to_tensor([[1.5, 2.5]]).to("gpu")
    assert x.item(1) == 2.5 and x.item(0, 0) == 1.5
    one = x[0, 1]
    assert (float(one), int(one), complex(one), bool(one), f"{one:.3f}") == (2.5, 2, 2.5 + 0j, True, "2.500")
    assert [10, 20, 30][sw.to_tensor(1).to("gpu")] == 20
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)
    with pytest.raises(TypeError):
        float(x)
    with pytest.raises(sw.ShapeError):
        x.item()


def test_it_is_printed_with_its_device():
    x = sw.to_tensor([1.0, 2.0]).to("gpu")
    assert repr(x) == "tensor([1., 2.], device='gpu')"
    assert str(x) == str(sw.to_tensor([1.0, 2.0]))
    leaf = x.to("gpu", requires_grad=True)
    assert repr(leaf) == "tensor([1., 2.], device='gpu', requires_grad=True)"


MIXED = r"are in one call\n  help: bring both to one device: `x.to\(\"gpu\"\)` or `x.to\(\"cpu\"\)`$"


def test_mixing_devices_is_refused_and_names_both():
    x = sw.arange(4.0).to("gpu")
    for other in [sw.arange(3), np.arange(3)]:
        calls = [lambda o=other: x.take(o), lambda o=other: sw.take(o, x.cast("int64")), lambda o=other: x[o]]
        calls += [lambda o=other: sw.concat([x, o]), lambda o=other: sw.expand_as(x, o)]
        for call in calls:
            with pytest.raises(sw.DeviceError, match=MIXED) as raised:
                call()
            text = str(raised.value)
            assert "GPU" in text and sw.gpu.info().name in text and "one on the CPU, " in text
            assert isinstance(raised.value, RuntimeError)
    # Numbers and lists are of no device.
    assert x.take([0, 1]).tolist() == [0.0, 1.0]
    assert x.take(sw.to_tensor(3)).item() == 3.0
    assert sw.stack([x[0], x[1]]).tolist() == [0.0, 1.0]
    with pytest.raises(sw.DeviceError, match="not written into memory of the CPU"):
        sw.take(x, [0], out=np.zeros(1))


def test_nothing_leaves_the_gpu_unasked():
    x = sw.arange(4.0).to("gpu")
    for call in [lambda: np.asarray(x), lambda: sw.asarray(x), lambda: sw.array_equal(x, x), lambda: sw.arange(4)[x]]:
        with pytest.raises(sw.DeviceError, match="used as one on the CPU"):
            call()
    for call in [lambda: x == x, lambda: x != 1, lambda: pickle.dumps(x)]:
        with pytest.raises(TypeError, match="on the GPU"):
            call()
    with pytest.raises(TypeError):
        np.arange(4) + x
    assert sw.enforce_shape(x, ["n"])[0] is x
    assert sw.enforce_shape(x, ["n"])[1] == [4]


def test_sizes_may_lie_on_the_gpu():
    x = sw.arange(6).to("gpu")
    assert x.reshape(sw.to_tensor([2, 3]).to("gpu")).shape == (2, 3)
    assert x.reshape(sw.to_tensor(3).to("gpu"), -1).shape == (3, 2)
    assert x.shape_of().tolist() == [6]


def test_a_bad_index_is_raised_where_it_is_read_and_the_gpu_goes_on():
    x = sw.arange(4.0).to("gpu")
    bad = x.take([0, 7, 9])
    after = bad.repeat(2)
    fine = x.take([0, -1]).repeat(2)
    with pytest.raises(sw.IndexOutOfRange) as wanted:
        sw.arange(4.0).take([0, 7, 9])
    for tensor in [bad, after]:
        with pytest.raises(sw.IndexOutOfRange) as raised:
            tensor.to("cpu")
        assert str(raised.value) == str(wanted.value)
        assert "which cannot be read: take: " in repr(tensor)
    assert fine.tolist() == [0.0, 3.0, 0.0, 3.0]
    assert x.take([0, 7], mode="clip").tolist() == [0.0, 3.0]
    assert x.take([0, 7], mode="wrap").tolist() == [0.0, 3.0]
    assert x.take([0, 7], mode="fill", fill_value=-1).tolist() == [0.0, -1.0]


def test_what_does_not_fit_is_an_error_and_the_gpu_goes_on():
    x = sw.zeros([1], dtype="float32").to("gpu").expand(1 << 40)
    with pytest.raises((sw.OutOfMemory, sw.TooLarge, sw.DeviceError)):
        x.contiguous().to("cpu")
    with pytest.raises(sw.TooLarge):
        x.repeat(1 << 40)
    with pytest.raises(sw.ShapeError):
        x.reshape(3)
    assert sw.arange(3).to("gpu").repeat(2).tolist() == [0, 1, 2, 0, 1, 2]


def test_gradients_stay_on_the_gpu():
    x = sw.to_tensor([1.0, 2.0, 3.0]).to("gpu", requires_grad=True)
    y = x.take([0, 2, 2]).sum()
    y.backward()
    assert isinstance(x.grad, sw.GpuTensor) and x.grad.tolist() == [1.0, 0.0, 2.0]
    x.expand(2, 3).backward([[1, 2, 3], [4, 5, 6]])
    assert x.grad.tolist() == [6.0, 7.0, 11.0]
    x.grad = None
    assert x.grad is None
    x.grad = [1.0, 1.0, 1.0]
    assert isinstance(x.grad, sw.GpuTensor)
    with pytest.raises(sw.DeviceError):
        x.grad = sw.ones([3])
    with sw.no_grad():
        assert not x.flip(0).requires_grad
    assert not x.detach().requires_grad and x.detach().shares_memory(x)


def test_histories_do_not_cross_devices_silently():
    here = sw.to_tensor([1.0], requires_grad=True)
    there = sw.to_tensor([1.0]).to("gpu", requires_grad=True)
    for call in [lambda: here.to("gpu"), lambda: there.to("cpu"), lambda: there.numpy()]:
        with pytest.raises(sw.GradientError, match=r"call `detach\(\)` first"):
            call()
    assert here.detach().to("gpu").to("cpu", requires_grad=True).requires_grad
    assert there.item() == 1.0
    with pytest.raises(sw.DTypeError):
        sw.arange(3).to("gpu", requires_grad=True)


def test_gradients_of_functions_run_there():
    x = sw.to_tensor([1.0, 2.0, 3.0]).to("gpu")
    y, pullback = sw.vjp(lambda x: x.repeat(2), x)
    assert isinstance(y, sw.GpuTensor)
    (dx,) = pullback([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert isinstance(dx, sw.GpuTensor) and dx.tolist() == [5.0, 7.0, 9.0]
    assert sw.grad(lambda x: x.take([0, 2, 2]).sum())(x).tolist() == [1.0, 0.0, 2.0]
    twice = sw.grad(lambda x: sw.vjp(lambda x: x.repeat(2), x)[1](x.repeat(2))[0].sum())(x)
    assert twice.tolist() == [2.0, 2.0, 2.0]


def heads(x: Any, at: Any) -> Any:
    y = x.unflatten(1, [2, -1]).permute(1, 0, 2)
    z = y.take(at, 2).repeat(1, 2, 1)
    return sw.concat([z, z.flip(0)], 1), z.sum(0)


def test_a_graph_runs_there_whole_and_in_one_submission():
    B, N = sw.symbol("B"), sw.symbol("N")
    constant = sw.arange(3.0)
    traced = sw.trace(
        lambda x, at: (*heads(x, at), sw.concat([constant, constant])),
        x=sw.spec("float64", [B, 6]),
        at=sw.spec("int64", [N]),
    )
    x, at = sw.to_tensor(np.random.default_rng(2).normal(size=(4, 6))), sw.to_tensor([0, 2, 1])
    wanted = traced(x, at)
    there = x.to("gpu"), at.to("gpu")
    found: list[Any] = []
    done = moved(lambda: found.extend(traced(*there)))
    assert done.submissions == 0 and done.bytes_down == 0
    again = moved(lambda: traced(*there))
    assert again.bytes_up == 0, "the constants are there already"
    done = moved(lambda: found[0].to("cpu"))
    assert done.submissions == 1 and done.bytes_down == wanted[0].nbytes
    assert all(same(z, y) for z, y in zip(found, wanted, strict=True))
    leaf = x.to("gpu", requires_grad=True)
    traced(leaf, [0, 2, 1])[1].sum().backward()
    here = sw.to_tensor(x, requires_grad=True)
    traced(here, [0, 2, 1])[1].sum().backward()
    assert same(leaf.grad, here.grad)
    back = traced.grad("x")
    seeds = [sw.ones(y.shape) for y in wanted]
    assert same(back(*there, *(s.to("gpu") for s in seeds))[0], back(x, at, *seeds)[0])
    with pytest.raises(sw.DeviceError):
        traced(x.to("gpu"), at)


def test_layers_work_there():
    layer = sw.nn.Sequential(sw.nn.Unflatten(1, [2, 3]))
    assert layer(sw.zeros([4, 6]).to("gpu")).shape == (4, 2, 3)


def test_copies_and_references():
    x = sw.to_tensor([1.0, 2.0]).to("gpu", requires_grad=True)
    x.grad = [3.0, 4.0]
    twin = copy.deepcopy(x)
    assert copy.copy(x) is x
    assert not twin.shares_memory(x) and twin.requires_grad and twin.grad.tolist() == [3.0, 4.0]
    assert {x: 1}[x] == 1
    y = sw.arange(3).to("gpu")
    gone = weakref.ref(y)
    del y
    gc.collect()
    assert gone() is None


def test_threads_share_the_gpu():
    wrong: list[Any] = []

    def work(seed: int) -> None:
        x = sw.to_tensor(np.random.default_rng(seed).normal(size=(50, 7)))
        y = x.to("gpu")
        for _ in range(10):
            if not same(y.repeat(2, 3).T.contiguous().sum(0), x.repeat(2, 3).T.contiguous().sum(0)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_global_tensor_and_one_on_the_gpu_do_not_mix():
    x = sw.mesh(1).shard([1.0, 2.0], "S(0)")
    with pytest.raises((TypeError, sw.DeviceError)):
        sw.concat([x, sw.zeros([2]).to("gpu")])


@pytest.mark.parametrize("page", ["gpu.md"])
def test_the_guides_examples_run(page):
    guide = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    # One after another, as they are read.
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {"sw": sw}, page, None, None)
    assert len(examples.examples) > 20
    log: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=log.append)
    assert not failed, "".join(log)


def test_bfloat16_comes_as_that_of_ml_dtypes():
    x = sw.to_tensor([1.5], dtype="bfloat16").to("gpu").numpy()
    assert x.dtype == ml_dtypes.bfloat16 and x[0] == 1.5


def test_memory_that_is_not_there_is_an_error_and_everything_goes_on():
    x = sw.arange(1000, dtype="float32").to("gpu")
    sw.gpu.limit_memory(1 << 20)
    try:
        with pytest.raises(MemoryError, match=r"repeat: 4000000 bytes are needed, but .* has no memory left"):
            x.repeat(1000)
        assert x.repeat(2).sum().item() == 999000.0
    finally:
        sw.gpu.limit_memory(None)
    assert x.repeat(1000).sum().item() == 499500000.0
    with pytest.raises(MemoryError, match="has at most"):
        x.repeat(sw.gpu.info().max_tensor_bytes // 1000)
    assert x.sum().item() == 499500.0


def test_a_lost_gpu_is_an_error_and_the_next_one_is_opened():
    x = sw.arange(3).to("gpu")
    y = x.repeat(2)
    _stridewise._gpu_lose()
    for call in [y.tolist, lambda: x.repeat(2).tolist(), lambda: sw.concat([x, y]).tolist()]:
        with pytest.raises(sw.DeviceError, match="lost"):
            call()
    again = sw.arange(3).to("gpu")
    assert again.repeat(2).tolist() == [0, 1, 2, 0, 1, 2]
    with pytest.raises(sw.DeviceError):
        sw.concat([x, again])
