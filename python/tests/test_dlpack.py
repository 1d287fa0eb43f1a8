"""DLPack in both directions, with NumPy, with ourselves, and with PyTorch, JAX and Paddle where they are installed."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_arrays import DTYPES, Capsules, gone, layouts, numpy_dtype, owner, pointer, same

import stridewise as sw


@given(layouts())
@settings(max_examples=100, deadline=None)
def test_dlpack_to_numpy_shares_every_layout(a):
    t = sw.asarray(a)
    if a.dtype == ml_dtypes.bfloat16:
        return
    back = np.from_dlpack(t)
    assert same(back, a)
    if a.size:
        # Only NumPy reads negative strides, so those are shared only on demand.
        backwards = any(n > 1 and s < 0 for n, s in zip(a.shape, a.strides, strict=True))
        assert (pointer(back) == pointer(a)) is not backwards
        assert back.flags.writeable is backwards
        insisted = np.from_dlpack(t, copy=False)
        assert same(insisted, a) and pointer(insisted) == pointer(a) and not insisted.flags.writeable
    copy = np.from_dlpack(t, copy=True)
    assert same(copy, a) and copy.flags.writeable
    if a.size:
        assert pointer(copy) != pointer(a)


@given(layouts(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_dlpack_tensors_are_shared_whichever_version_they_speak(a, legacy):
    if a.dtype == ml_dtypes.bfloat16 or (legacy and not a.flags.writeable):
        return
    source = Capsules(a, legacy)
    t = sw.asarray(source, copy=False)
    assert same(np.asarray(t), a)
    assert source.asked == [{"max_version": (1, 1)}] + [{}] * legacy
    if a.size:
        assert t.data_ptr() == pointer(a)


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_goes_through_our_own_dlpack(name, legacy):
    t = sw.asarray(np.arange(6).reshape(2, 3).astype(numpy_dtype(name)))[:, ::2]
    back = sw.asarray(Capsules(t, legacy))
    assert (back.dtype, back.shape, back.tolist()) == (t.dtype, t.shape, t.tolist())
    assert (back.data_ptr() == t.data_ptr()) is not legacy


def test_the_owner_of_a_dlpack_tensor_lives_as_long_as_its_views():
    a, watch = owner()
    t = sw.asarray(Capsules(a))
    view = np.asarray(t[1:])
    del a, t
    assert not gone(watch) and view.tolist() == [1, 2, 3]
    del view
    assert gone(watch)
    a, watch = owner()
    capsule = sw.asarray(a).__dlpack__(max_version=(1, 0))
    del a
    assert not gone(watch)
    del capsule
    assert gone(watch)


def test_what_a_consumer_of_dlpack_asks_for():
    t = sw.asarray(np.arange(3.0))
    assert t.__dlpack_device__() == (1, 0)
    assert '"dltensor_versioned"' in repr(t.__dlpack__(max_version=(1, 0)))
    assert '"dltensor_versioned"' in repr(t.__dlpack__(max_version=(2, 0), dl_device=(1, 0), stream=None, copy=False))
    assert '"dltensor"' in repr(t.__dlpack__())
    assert '"dltensor"' in repr(t.__dlpack__(max_version=(0, 8), copy=True, stream=-1))
    for keywords in [{"copy": False}, {"copy": False, "max_version": (0, 8)}, {"dl_device": (2, 0)}, {"stream": 1}]:
        with pytest.raises(BufferError):
            t.__dlpack__(**keywords)
    with pytest.raises(TypeError):
        t.__dlpack__(max_version=3)
    with pytest.raises(TypeError):
        t.__dlpack__(dl_device=3)
    with pytest.raises(TypeError):
        t.__dlpack__(None)


def test_devices_other_than_main_memory_are_refused_by_name():
    a = np.arange(3.0)
    for kind, name in [(2, "CUDA"), (8, "Metal"), (10, "ROCm"), (99, "unknown")]:
        source = Capsules(a, device=(kind, 0))
        with pytest.raises(BufferError, match=f"(?s){name}.*CPU first"):
            sw.asarray(source)
        assert not source.asked
    for kind in (1, 3, 11):
        assert sw.asarray(Capsules(a, device=(kind, None))).tolist() == [0, 1, 2]


def test_errors_of_the_exporter_come_through():
    class Refuses:
        def __dlpack__(self, **keywords):
            raise BufferError("not in this state")

        def __dlpack_device__(self):
            return (1, 0)

    with pytest.raises(BufferError, match="not in this state"):
        sw.asarray(Refuses())


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def test_torch_shares_memory_in_both_directions(torch):
    t = sw.asarray(np.arange(12, dtype="float32").reshape(3, 4))[:, ::2]
    for back in (torch.from_dlpack(t), torch.utils.dlpack.from_dlpack(t)):
        assert back.data_ptr() == t.data_ptr() and back.stride() == t.strides
        assert back.tolist() == t.tolist()
    assert torch.from_dlpack(t, copy=True).data_ptr() != t.data_ptr()
    x = torch.arange(12, dtype=torch.float32).reshape(3, 4)[:, ::2]
    t = sw.asarray(x, copy=False)
    assert t.data_ptr() == x.data_ptr() and t.strides == x.stride()
    x[0, 0] = 7
    assert t.tolist() == x.tolist()


def test_what_steps_backwards_is_copied_for_torch(torch):
    t = sw.asarray(np.arange(6.0).reshape(2, 3))
    for view in (t[::-1], t[:, ::-2], t[:1, ::-1], t[:1][::-1], t[:0, ::-1]):
        assert torch.from_dlpack(view).tolist() == view.tolist()
        assert torch.as_tensor(view).tolist() == view.tolist()
    assert torch.from_dlpack(t[:1][::-1]).data_ptr() == t.data_ptr()


def test_torch_dtypes_ranks_and_sizes(torch):
    names = ["bool", "uint8", "int8", "int16", "int32", "int64"]
    names += ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
    for name in names:
        for shape in [(), (0, 3), (2, 3)]:
            x = torch.ones(shape, dtype=getattr(torch, name))
            t = sw.asarray(x)
            assert (str(t.dtype), t.shape) == (name, shape)
            assert t.tolist() == x.tolist()
            back = torch.from_dlpack(t)
            assert back.dtype == x.dtype and back.shape == x.shape and torch.equal(back, x)
            if x.numel():
                assert back.data_ptr() == x.data_ptr() == t.data_ptr()
        assert sw.asarray([1], dtype=getattr(torch, name)).dtype == getattr(sw, name)


def test_what_torch_cannot_export_says_why(torch):
    with pytest.raises(BufferError, match="require gradient"):
        sw.asarray(torch.zeros(2, requires_grad=True))
    with pytest.raises(BufferError, match="conjugate"):
        sw.asarray(torch.zeros(2, dtype=torch.complex64).conj())
    with pytest.raises(sw.DTypeError, match="float8_e4m3fn"):
        sw.asarray(torch.zeros(2).to(torch.float8_e4m3fn))
    with pytest.raises((BufferError, ValueError)):
        sw.asarray(torch.zeros(2, device="meta"))
    with pytest.raises(TypeError):
        sw.asarray(torch.Tensor)


def test_the_owner_of_a_torch_tensor_lives_and_goes(torch):
    a, watch = owner()
    x = torch.from_numpy(a)
    t = sw.asarray(x)
    del a, x
    assert not gone(watch) and t.tolist() == [0, 1, 2, 3]
    y = torch.from_dlpack(t[1:])
    del t
    assert not gone(watch) and y.tolist() == [1, 2, 3]
    del y
    assert gone(watch)


def test_jax_shares_what_it_exports():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    x = jnp.arange(6, dtype="float32").reshape(2, 3)
    t = sw.asarray(x, copy=False)
    assert t.tolist() == [[0, 1, 2], [3, 4, 5]] and t.data_ptr() == x.unsafe_buffer_pointer()
    b = sw.asarray(x.astype("bfloat16"))
    assert b.dtype == sw.bfloat16 and b.tolist() == t.tolist()
    back = jax.dlpack.from_dlpack(t[:, 1:])
    assert back.tolist() == [[1, 2], [4, 5]]
    assert jnp.asarray(t).tolist() == t.tolist()
    assert sw.asarray([1], dtype=jnp.float32).dtype == sw.float32


def test_paddle_shares_memory_in_both_directions():
    paddle = pytest.importorskip("paddle")
    x = paddle.arange(6, dtype="float32").reshape([2, 3])
    t = sw.asarray(x, copy=False)
    assert t.tolist() == x.tolist() and t.data_ptr() == x.data_ptr()
    back = paddle.from_dlpack(t)
    assert back.data_ptr() == t.data_ptr() and back.tolist() == t.tolist()
    assert paddle.from_dlpack(t[::-1, ::-2]).tolist() == t[::-1, ::-2].tolist()
    assert sw.asarray([1], dtype=paddle.float32).dtype == sw.float32


def test_what_torch_keeps_negated_is_read_with_its_sign(torch):
    base = torch.tensor([1 + 2j, 3 - 4j])
    z = base.conj().imag
    assert z.is_neg()
    for t in (sw.asarray(z), sw.asarray(z, copy=True), sw.flip(sw.flip(z)), sw.stack([z])[0]):
        assert t.tolist() == [-2.0, 4.0]
    assert sw.asarray(base.imag).tolist() == [2.0, -4.0]
    with pytest.raises(ValueError, match="copy=False, but a copy is needed: its elements are the negatives"):
        sw.asarray(z, copy=False)
    with pytest.raises(ValueError, match="out cannot be written in place: its elements are the negatives"):
        sw.take(sw.zeros([2], dtype="float32"), [0, 1], out=z)
    assert z.tolist() == [-2.0, 4.0]
    assert sw.shares_memory(z, base) and not sw.shares_memory(sw.asarray(z), base)


def test_a_method_called_is_neg_that_means_something_else_is_left_alone():
    class Odd(Capsules):
        def is_neg(self, axis):
            raise AssertionError(axis)

    assert sw.asarray(Odd(np.arange(3))).tolist() == [0, 1, 2]
