"""What users write, with the types they get: checked by mypy --strict, and run as a test."""

from __future__ import annotations

from array import array
from typing import Any, assert_type

import numpy as np

import stridewise as sw
from stridewise.typing import ArrayLike, DTypeLike, Pattern, SizesLike


def tensors() -> None:
    """Operators as functions and methods, on anything that is like an array."""
    x = sw.asarray([[1, 2, 3], [4, 5, 6]], dtype="int32")
    assert_type(x, sw.Tensor)
    assert_type(x.shape, tuple[int, ...])
    assert_type(x.dtype, sw.dtype)
    assert_type(x.T, sw.Tensor)
    assert_type(x[0, ..., None, ::-1], sw.Tensor)
    assert_type(x[[1, 0]], sw.Tensor)
    assert_type([row for row in x], list[sw.Tensor])  # noqa: C416
    assert_type(int(x[0, 0]), int)
    assert_type(sw.expand(x, 4, -1, -1), sw.Tensor)
    assert_type(sw.expand(x, sizes=(4, -1, -1)), sw.Tensor)
    assert_type(x.expand([4, -1, -1], name="wide"), sw.Tensor)
    assert_type(x.expand(sw.asarray([4, 2, 3])), sw.Tensor)
    assert_type(x.reshape(sw.asarray(3), 2), sw.Tensor)
    assert_type(x.unflatten(1, [3, 1]), sw.Tensor)
    assert_type(x.sum(axis=(0, 1), keepdims=True, dtype=float), sw.Tensor)
    assert_type(x.flip(axis=None), sw.Tensor)
    assert_type(sw.sum([1, 2, 3]), sw.Tensor)
    assert_type(sw.unstack(x), list[sw.Tensor])
    assert_type(sw.concat([x, x], axis=1), sw.Tensor)
    assert_type(sw.zeros([2], dtype=np.float32), sw.Tensor)
    assert_type(sw.zeros([2], dtype=np.dtype("int8")), sw.Tensor)
    assert_type(sw.full(2, 1.5, sw.float32), sw.Tensor)


def one_or_several() -> None:
    """One input gives one tensor, otherwise there is a list."""
    assert_type(sw.atleast_1d(3), sw.Tensor)
    assert_type(sw.atleast_1d(), list[sw.Tensor])
    assert_type(sw.atleast_2d(3, [1, 2], np.zeros(3)), list[sw.Tensor])
    assert_type(sw.asarray(3).atleast_3d(), sw.Tensor)


def gathering() -> None:
    """Modes are words that a checker knows."""
    x = sw.arange(10)
    assert_type(x.take([0, 3], mode="wrap"), sw.Tensor)
    assert_type(sw.take(x, 12, 0, "fill", fill_value=-1), sw.Tensor)
    try:
        x.take([0], mode="warp")  # type: ignore[call-overload]
    except ValueError as error:
        assert_type(error, ValueError)


def foreign_arrays() -> None:
    """Arrays of other libraries go in as they are, and `enforce_shape` hands the same object back."""
    a = np.zeros((2, 3))
    b, dims = sw.enforce_shape(a, ["n", 3])
    assert b is a
    assert_type(dims, list[Any])
    t, _ = sw.enforce_shape([[1, 2]], [..., "n", sw.Symbol("m")])
    assert_type(t, sw.Tensor)
    assert_type(sw.expand(a, 2, 2, 3), sw.Tensor)
    assert_type(sw.asarray(memoryview(b"abc")), sw.Tensor)
    assert_type(sw.asarray(array("i", [1, 2])), sw.Tensor)


def errors() -> None:
    """Exceptions have their fields."""
    try:
        sw.zeros([2, 3]).expand(2, 5)
    except sw.ShapeError as error:
        assert_type(error.operator, str | None)
        assert_type(error.axis, int | None)
        assert_type(error.expected, str | None)


def layers() -> None:
    """Layers are callables."""
    layer = sw.nn.Sequential(sw.nn.Unflatten(0, [2, -1]))
    assert_type(layer(sw.zeros([6])), Any)


@sw.no_grad()
def turned(x: sw.Tensor, times: int = 1) -> sw.Tensor:
    """A function keeps its type."""
    return x.flip(0) if times % 2 else x


def gradients() -> None:
    """Gradients are tensors, one for each input; what a function gives keeps its type."""
    x = sw.to_tensor([1.0, 2.0], requires_grad=True)
    x.repeat(2).backward([1.0, 2.0, 3.0, 4.0], retain_graph=True)
    assert_type(x.grad, sw.Tensor | None)
    x.grad = None
    assert_type(x.requires_grad, bool)
    assert_type(x.detach(), sw.Tensor)
    assert_type(turned(x, times=3), sw.Tensor)
    with sw.no_grad():
        assert_type(x.T, sw.Tensor)
    y, pullback = sw.vjp(lambda x: sw.repeat(x, 2), x)
    assert_type(y, sw.Tensor)
    assert_type(pullback([1.0, 2.0, 3.0, 4.0]), tuple[sw.Tensor, ...])
    parts, _ = sw.vjp(sw.unstack, x)
    assert_type(parts, list[sw.Tensor])
    sw.grad(lambda x, y: sw.sum(sw.concat([x, y])), argnums=(0, 1))([1.0], [2.0])


def flipped(x: sw.GlobalTensor) -> sw.GlobalTensor:
    """A function of a global tensor."""
    return sw.flip(x, 0)


def spread_out() -> None:
    """A global tensor goes in, and a global tensor comes out, beside numbers and other global tensors."""
    mesh = sw.mesh((1, 1))
    assert_type(mesh, sw.Mesh)
    x = mesh.shard([[1.0, 2.0], [3.0, 4.0]], "S(0),B", requires_grad=True)
    assert_type(x, sw.GlobalTensor)
    assert_type(sw.asarray([1.0]).to_global(mesh, (sw.sbp.split(0), sw.sbp.broadcast)), sw.GlobalTensor)
    assert_type(x.sbp, tuple[sw.Sbp, ...])
    assert_type(x.to_sbp([sw.sbp.broadcast, "B"]), sw.GlobalTensor)
    assert_type(x.detach().gather(), sw.Tensor)
    assert_type(x.expand(2, -1, -1), sw.GlobalTensor)
    assert_type(sw.expand(x, sizes=(2, -1, -1)), sw.GlobalTensor)
    assert_type(x.reshape(sw.shape_of(x)), sw.GlobalTensor)
    assert_type(sw.take(x, [0, 1], axis=0), sw.GlobalTensor)
    assert_type(x.take(mesh.shard([0], "B,B")), sw.GlobalTensor)
    assert_type(sw.concat([x, x]), sw.GlobalTensor)
    assert_type(sw.atleast_1d(x, x), list[sw.GlobalTensor])
    assert_type(sw.unstack(x), list[sw.GlobalTensor])
    assert_type(x[0, [1, 0]], sw.GlobalTensor)
    y, pullback = sw.vjp(flipped, x.detach())
    assert_type(y, sw.GlobalTensor)
    assert_type(pullback(y), tuple[sw.GlobalTensor, ...])
    sw.sum(x).backward()
    assert_type(x.grad, sw.GlobalTensor | None)
    assert_type([str(moved) for moved in mesh.moved()], list[str])
    assert_type(sw.spawn(sw.rank, ranks=2), list[int])
    try:
        x.take(sw.asarray([0]))  # type: ignore[arg-type]
    except sw.StridewiseError as error:
        assert_type(error.help, str | None)


def turned_there(x: sw.GpuTensor) -> sw.GpuTensor:
    return x.flip(0)


def on_a_gpu() -> None:
    """Tensors on a GPU, where there is one."""
    assert_type(sw.gpu.is_available(), bool)
    assert_type(sw.zeros([2]).to("cpu"), sw.Tensor)
    assert_type(sw.zeros([2]).device, str)
    if not sw.gpu.is_available():
        return
    assert_type(sw.gpu.info().name, str)
    x = sw.to_tensor([[1.0, 2.0]]).to("gpu", requires_grad=True)
    assert_type(x, sw.GpuTensor)
    assert_type(x.detach().to("cpu"), sw.Tensor)
    assert_type(x.take([0, 1]), sw.GpuTensor)
    assert_type(sw.repeat(x, 2, 1), sw.GpuTensor)
    assert_type(sw.concat([x, x]), sw.GpuTensor)
    assert_type(sw.atleast_1d(x, x), list[sw.GpuTensor])
    assert_type(x[0, [1, 0]], sw.GpuTensor)
    y, pullback = sw.vjp(turned_there, x.detach())
    assert_type(y, sw.GpuTensor)
    assert_type(pullback(y), tuple[sw.GpuTensor, ...])
    sw.sum(x).backward()
    assert_type(x.grad, sw.GpuTensor | None)
    assert_type((sw.gpu.counts() - sw.gpu.counts()).launches, int)
    try:
        x.take(sw.asarray([0]))  # type: ignore[arg-type]
    except sw.DeviceError as error:
        assert_type(error.help, str | None)


def padded(x: ArrayLike, sizes: SizesLike, pattern: Pattern, dtype: DTypeLike) -> sw.Tensor:
    """Annotations of a user's own."""
    checked, _ = sw.asarray(x).enforce_shape(pattern)
    return checked.cast(dtype).expand(sizes)


if __name__ == "__main__":
    tensors()
    one_or_several()
    gathering()
    foreign_arrays()
    errors()
    layers()
    gradients()
    spread_out()
    on_a_gpu()
    assert padded([1.0], [3], ["n"], "float32").shape == (3,)
