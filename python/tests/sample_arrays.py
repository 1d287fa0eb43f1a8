"""Arrays of every dtype and layout, and objects that pass them on, for the tests of conversions."""

from __future__ import annotations

import weakref

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

DTYPES = [
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
    "float16", "float32", "float64", "complex64", "complex128", "bfloat16",
]  # fmt: skip


def numpy_dtype(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def pointer(a):
    return a.__array_interface__["data"][0]


def same(a, b):
    """The same elements, whatever their bits mean."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@st.composite
def layouts(draw):
    """An array of any dtype, with steps, flips, swapped and repeated axes."""
    dtype = numpy_dtype(draw(st.sampled_from(DTYPES)))
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    sizes = [3 * n + 1 for n in shape]
    bits = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 2, [*sizes, dtype.itemsize], np.uint8)
    whole = bits.view(dtype).reshape(sizes)
    steps = draw(st.lists(st.sampled_from([1, 2, 3, -1, -2, -3]), min_size=len(shape), max_size=len(shape)))
    start = [-1 if step < 0 else 0 for step in steps]
    part = whole[(..., *(slice(a, None, step) for a, step in zip(start, steps, strict=True)))]
    part = part[(..., *(slice(0, n) for n in shape))]
    part = part.transpose(draw(st.permutations(range(part.ndim))))
    if draw(st.booleans()):
        part = np.broadcast_to(part, (draw(st.integers(0, 3)), *part.shape))
    return part


class Capsules:
    """Nothing but DLPack, around something that has it."""

    def __init__(self, inner, legacy=False, device=None):
        self.inner, self.legacy, self.device, self.asked = inner, legacy, device, []

    def __dlpack__(self, **keywords):
        self.asked.append(keywords)
        if self.legacy and keywords:
            raise TypeError("__dlpack__() got an unexpected keyword argument")
        return self.inner.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.device or self.inner.__dlpack_device__()


class Owner(np.ndarray):
    """An array that can be watched."""


def owner(n=4):
    a = np.arange(float(n)).view(Owner)
    return a, weakref.ref(a)


def gone(watch):
    """Freed by its last reference, not by a later search for cycles."""
    return watch() is None
