"""Exporters that are wrong about their memory: each lie that can be noticed is an error, and frees what it should."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import stridewise as sw

PYTHON = ctypes.pythonapi
PYTHON.PyCapsule_New.restype = ctypes.py_object
PYTHON.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
PYTHON.PyCapsule_GetName.restype = ctypes.c_char_p
PYTHON.PyCapsule_GetName.argtypes = [ctypes.py_object]

# Capsules own nothing here, so exporters are kept until the end.
EXPORTERS = []
NUMBERS = (ctypes.c_double * 6)(*range(6))
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class View(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("view", View),
    ]


class Legacy(ctypes.Structure):
    _fields_ = [("view", View), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Exporter:
    """A DLPack tensor of 2 by 3 doubles, with whatever is asked changed."""

    def __init__(
        self, legacy=False, name=None, deleter=True, major=1, flags=0, shape=(2, 3), strides=(3, 1), **changes
    ):
        self.deleted = []
        self.deleter = DELETER(self.deleted.append)
        self.shape = None if shape is None else (ctypes.c_int64 * len(shape))(*shape)
        self.strides = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
        values = {"data": ctypes.addressof(NUMBERS), "device": 1, "ndim": 2, "code": 2, "bits": 64, "lanes": 1}
        self.view = View(shape=self.shape, strides=self.strides, **{**values, **changes})
        call = ctypes.cast(self.deleter, ctypes.c_void_p).value if deleter else None
        if legacy:
            self.managed = Legacy(self.view, None, call)
        else:
            self.managed = Versioned(major, 7, None, call, flags, self.view)
        self.name = name or (b"dltensor" if legacy else b"dltensor_versioned")
        self.capsule = PYTHON.PyCapsule_New(ctypes.addressof(self.managed), self.name, None)
        EXPORTERS.append(self)

    def __dlpack__(self, **keywords):
        return self.capsule


@pytest.mark.parametrize("legacy", [False, True])
def test_the_deleter_is_called_once_when_the_last_view_goes(legacy):
    exporter = Exporter(legacy)
    t = sw.asarray(exporter)
    assert t.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert PYTHON.PyCapsule_GetName(exporter.capsule) == b"used_" + exporter.name
    view = np.asarray(t[1:])
    del t
    assert not exporter.deleted
    del view
    assert exporter.deleted == [ctypes.addressof(exporter.managed)]
    with pytest.raises(ValueError, match="consumed already"):
        sw.asarray(exporter)
    assert len(exporter.deleted) == 1


def test_missing_strides_mean_packed_and_offsets_count():
    assert sw.asarray(Exporter(strides=None)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert sw.asarray(Exporter(shape=(1, 2), byte_offset=16)).tolist() == [[2, 3]]
    assert sw.asarray(Exporter(shape=(2, 3), strides=(-3, -1), byte_offset=40)).tolist() == [[5, 4, 3], [2, 1, 0]]
    assert sw.asarray(Exporter(shape=(2, 3), strides=(0, 1))).tolist() == [[0, 1, 2], [0, 1, 2]]
    assert sw.asarray(Exporter(ndim=0, shape=None, strides=None)).item() == 0
    assert sw.asarray(Exporter(shape=(2, 0), data=None)).shape == (2, 0)
    assert sw.asarray(Exporter(deleter=False)).shape == (2, 3)
    # Misaligned: copied, and the owner let go.
    exporter = Exporter(shape=(1, 1), byte_offset=4)
    t = sw.asarray(exporter)
    assert t.shape == (1, 1) and len(exporter.deleted) == 1
    with pytest.raises(ValueError, match="not aligned"):
        sw.asarray(Exporter(shape=(1, 1), byte_offset=4), copy=False)


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize(
    "changes",
    [
        {"ndim": -1},
        {"ndim": 2**31 - 1},
        {"shape": None},
        {"shape": (-1, 3)},
        {"shape": (2**62, 2**62)},
        {"shape": (2**62, 3), "strides": (0, 0)},
        {"strides": (2**62, 1)},
        {"strides": (-(2**63), 1)},
        {"strides": (2**60, 2**60)},
        {"strides": (-(2**59), 1)},
        {"data": None},
        {"byte_offset": 2**64 - 8},
        {"lanes": 4},
        {"lanes": 0},
        {"bits": 65},
        {"bits": 0},
        {"code": 200},
        {"code": 3},
        {"code": 6, "bits": 1},
        {"device": 2},
        {"device": -5},
    ],
)
def test_impossible_tensors_are_refused_and_given_back(changes, legacy):
    exporter = Exporter(legacy, **changes)
    with pytest.raises((BufferError, ValueError, TypeError)):
        sw.asarray(exporter)
    assert len(exporter.deleted) == 1


def test_versions_to_come_are_refused_and_given_back():
    exporter = Exporter(major=2)
    with pytest.raises(BufferError, match=r"version 2\.7"):
        sw.asarray(exporter)
    assert len(exporter.deleted) == 1


def test_odd_capsules_are_left_alone():
    for name in [b"tensor", b"dltensor_", b"arrow_array"]:
        exporter = Exporter(name=name)
        with pytest.raises(ValueError, match="not a DLPack tensor"):
            sw.asarray(exporter)
        assert not exporter.deleted

    class NoCapsule:
        def __dlpack__(self, **keywords):
            return 7

    with pytest.raises(TypeError, match="not a capsule"):
        sw.asarray(NoCapsule())

    class OddDevice:
        def __dlpack__(self, **keywords):
            raise AssertionError

        def __dlpack_device__(self):
            return "cpu"

    with pytest.raises(TypeError):
        sw.asarray(OddDevice())


class Buffer(ctypes.Structure):
    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
        ("internal", ctypes.c_void_p),
    ]


def lying_view(shape=(2, 3), strides=(24, 8), suboffsets=None, **changes):
    """A memoryview that believes what it is told."""
    pairs = [(ctypes.c_ssize_t * len(p))(*p) if p else None for p in (shape, strides, suboffsets)]
    values = {"buf": ctypes.addressof(NUMBERS), "len": 48, "itemsize": 8, "readonly": 0, "ndim": 2, "format": b"d"}
    buffer = Buffer(shape=pairs[0], strides=pairs[1], suboffsets=pairs[2], **{**values, **changes})
    PYTHON.PyMemoryView_FromBuffer.restype = ctypes.py_object
    view = PYTHON.PyMemoryView_FromBuffer(ctypes.byref(buffer))
    return view, (pairs, buffer)


def test_an_honest_view_of_that_kind_is_shared():
    view, keep = lying_view()
    assert sw.asarray(view, copy=False).tolist() == [[0, 1, 2], [3, 4, 5]]
    view, keep = lying_view(format=None)
    with pytest.raises(TypeError):
        sw.asarray(view)
    view, keep = lying_view(format=b">d")
    assert sw.asarray(view)[0, 0].item() == 0.0
    del keep


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": (-1, 3)},
        {"shape": (2**62, 2**62)},
        {"shape": (2**60, 3), "strides": (0, 0)},
        {"shape": (3, 3)},
        {"len": 8},
        {"len": -48},
        {"itemsize": 0},
        {"itemsize": -8},
        {"itemsize": 4},
        {"strides": (-(2**63), 8)},
        {"format": b"dd"},
        {"format": b""},
        {"format": b"\xff"},
        {"format": b">"},
        {"suboffsets": (0, -1)},
    ],
)
def test_impossible_buffers_are_refused(changes):
    view, keep = lying_view(**changes)
    with pytest.raises((BufferError, ValueError, TypeError)):
        sw.asarray(view)
    del keep
