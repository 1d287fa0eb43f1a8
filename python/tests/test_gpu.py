"""Tensors on a GPU: in a build with the feature, all of `on_gpu`, which fails where no GPU is found; in one without,
what is said of that."""

from __future__ import annotations

import os

import pytest

import stridewise as sw
from stridewise import _stridewise

pytest.register_assert_rewrite("on_gpu")


def test_the_build_is_the_one_that_is_meant():
    assert _stridewise._has_gpu or os.environ.get("STRIDEWISE_BUILT_WITH") != "gpu"


def test_a_tensor_in_main_memory_says_so_and_stays_there():
    x = sw.arange(3.0)
    assert x.device == "cpu"
    assert x.to("cpu") is x
    leaf = x.to("cpu", requires_grad=True)
    assert leaf.requires_grad and leaf is not x and leaf.to("cpu") is leaf
    assert not isinstance(x, sw.GpuTensor)
    assert issubclass(sw.DeviceError, (sw.StridewiseError, RuntimeError))


@pytest.mark.parametrize(
    ("device", "error", "text"),
    [
        ("tpu", sw.ArgumentError, 'to: there is no device "tpu"\n  help: there are "cpu" and "gpu"'),
        ("GPU", sw.ArgumentError, 'to: there is no device "GPU"\n  help: there are "cpu" and "gpu"'),
        (1, sw.ArgumentTypeError, "to: device is an object of type `int`, but a string is needed"),
        (None, sw.ArgumentTypeError, "to: device is an object of type `NoneType`, but a string is needed"),
    ],
)
def test_a_device_that_is_none_is_refused(device, error, text):
    with pytest.raises(error) as raised:
        sw.arange(3).to(device)
    assert str(raised.value) == text
    assert raised.value.argument == "device"


if _stridewise._has_gpu:
    from on_gpu import *  # noqa: F403
else:

    @pytest.mark.parametrize(
        ("call", "name"),
        [(lambda: sw.arange(3).to("gpu"), "to"), (sw.gpu.info, "gpu.info"), (sw.gpu.counts, "gpu.counts")],
    )
    def test_a_build_without_gpus_says_how_to_get_one(call, name):
        with pytest.raises(sw.DeviceError) as raised:
            call()
        assert str(raised.value).startswith(
            f"{name}: this build of stridewise has no GPU engine\n  help: build it with "
        )
        assert "--features gpu" in raised.value.help
        assert raised.value.operator == name

    def test_a_build_without_gpus_has_none_available():
        assert sw.gpu.is_available() is False
        with pytest.raises(TypeError):
            sw.GpuTensor()
