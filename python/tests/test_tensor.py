"""What Python people expect of an array: numbers, printing, pickling, copies, memory, dtypes, files."""

from __future__ import annotations

import copy
import html.parser
import operator
import pickle
from typing import Self

import numpy as np
import pytest

import stridewise as sw

DTYPES = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
DTYPES += ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


class Mine(sw.Tensor):
    """A subclass with an attribute of its own."""


def test_one_element_is_a_number():
    assert int(sw.asarray(3)) == 3 and int(sw.asarray([[2.9]])) == 2
    assert float(sw.asarray([2])) == 2.0 and complex(sw.asarray(1j)) == 1j
    assert complex(sw.asarray(2.5)) == 2.5
    assert isinstance(float(sw.asarray(1)), float) and isinstance(int(sw.asarray(1.0)), int)
    assert bool(sw.asarray(0.0)) is False and bool(sw.asarray([[5]])) is True
    assert operator.index(sw.asarray(np.uint64(2**64 - 1))) == 2**64 - 1
    assert [10, 20][sw.asarray(1)] == 20 and list(range(sw.asarray(2))) == [0, 1]
    with pytest.raises(TypeError):
        float(sw.asarray(1j))
    for not_an_index in [sw.asarray([1]), sw.asarray(1.0), sw.asarray(True)]:
        with pytest.raises(TypeError):
            operator.index(not_an_index)
    for many in [sw.zeros([2]), sw.zeros([0])]:
        for convert in [int, float, complex]:
            with pytest.raises(TypeError):
                convert(many)
        with pytest.raises(ValueError):
            bool(many)


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_become_pythons_numbers(dtype):
    x = sw.asarray([[0, 1, 1], [1, 0, 1]]).cast(dtype)
    kind = {"b": bool, "u": int, "i": int, "f": float, "c": complex}[x.dtype.kind]
    assert x.tolist() == [[0, 1, 1], [1, 0, 1]]
    assert type(x.tolist()[0][0]) is kind and type(x.item(0)) is kind
    assert x.T.tolist() == [[0, 1], [1, 0], [1, 1]]


def test_item_reads_one_element_anywhere():
    x = np.arange(6).reshape(2, 3)
    t = sw.asarray(x)
    assert t.item(1, 2) == x.item(1, 2) and t.item((1, 0)) == x.item((1, 0))
    assert t.item(4) == x.item(4) and t.item(-1) == x.item(-1)
    assert t.T.item(1) == x.T.item(1) and sw.asarray(7).item() == 7 and sw.asarray(7).item(()) == 7
    for bad in [(2, 0), (6,), (-7,)]:
        with pytest.raises(IndexError):
            t.item(*bad)
    for bad in [(), (0, 0, 0)]:
        with pytest.raises(ValueError):
            t.item(*bad)
    for bad in [("a",), (slice(None), 0), (1.0,)]:
        with pytest.raises(TypeError):
            t.item(*bad)


def test_empty_and_deep_lists():
    assert sw.zeros([2, 0, 3]).tolist() == [[], []] and sw.zeros([0]).tolist() == []
    assert sw.zeros([1] * 30).tolist() == np.zeros([1] * 30).tolist()


def test_transposes():
    x = sw.zeros([2, 3, 4])
    assert x.T.shape == (4, 3, 2) and x.mT.shape == (2, 4, 3)
    assert sw.asarray(1).T.shape == ()
    for flat in [sw.asarray(1), sw.zeros([3])]:
        with pytest.raises(ValueError, match=f"rank {flat.ndim}"):
            flat.mT  # noqa: B018


@pytest.mark.parametrize(
    "x", [np.arange(3), np.array(2.5), np.zeros((0, 2)), np.eye(2), np.arange(2000), np.array([True])]
)
def test_printing_is_numpys(x):
    t = sw.asarray(x)
    assert str(t) == np.array2string(x, separator=", ") == format(t) == f"{t}"
    body = repr(x).removeprefix("array").replace("\n     ", "\n      ")
    assert repr(t).replace(" ", "") == ("tensor" + body).replace(" ", "")
    if x.ndim:
        with pytest.raises(TypeError):
            format(t, ".3f")


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_pickle(protocol, dtype):
    whole = sw.arange(1000).cast(dtype).reshape(10, 100)
    for x in [whole[::-3, 1:3], whole[0, 0], whole[:0], whole.expand(2, 10, 100)[:, :1, :2]]:
        kept = pickle.dumps(x, protocol)
        again = pickle.loads(kept)
        assert sw.array_equal(again, x) and again.dtype is x.dtype and type(again) is sw.Tensor
        assert len(kept) < 400, "a view keeps its own elements only"


def test_buffers_out_of_band_are_not_copied():
    x = sw.arange(10_000)
    buffers = []
    kept = pickle.dumps(x, 5, buffer_callback=buffers.append)
    assert len(kept) < 400 and len(buffers) == 1
    again = pickle.loads(kept, buffers=buffers)
    assert sw.array_equal(again, x) and again.data_ptr() == x.data_ptr()
    del x, buffers
    assert again[-1].item() == 9999


def test_a_subclass_pickles_as_itself():
    x = Mine([1.0, 2.0])
    x.note = "kept"
    for protocol in range(2, 6):
        again = pickle.loads(pickle.dumps(x, protocol))
        assert type(again) is Mine and again.note == "kept" and again.tolist() == [1, 2]
    assert Mine([1, 2], dtype="float32").dtype == "float32"


def test_copies():
    x = sw.arange(6).reshape(2, 3)
    assert copy.copy(x) is x
    deep = copy.deepcopy(x.T)
    assert sw.array_equal(deep, x.T) and not deep.shares_memory(x) and deep.strides == (2, 1)


def test_memory_is_shared_where_the_bytes_meet():
    x = np.arange(10.0)
    t = sw.asarray(x)
    for a, b, shared in [
        (t, t, True),
        (t, t[3:5], True),
        (t[:5], t[5:], False),
        (t[::2], t[1::2], True),
        (t[:0], t, False),
        (t, t.repeat(1), False),
        (t[2:4], x[3:], True),
        (t[2:4], x[4:], False),
        (t[::-1], x[:1], True),
    ]:
        assert sw.shares_memory(a, b) is sw.shares_memory(b, a) is a.shares_memory(b) is shared
        assert np.may_share_memory(np.asarray(a), np.asarray(b)) is shared
    with pytest.raises(TypeError):
        sw.shares_memory(t, [1, 2])


def test_a_view_is_of_what_has_its_memory():
    x = np.arange(10.0)
    t = sw.asarray(x)
    assert t[2:4].is_view_of(t) and t.is_view_of(t[2:4]) and t[:2].is_view_of(t[5:])
    assert t.is_view_of(t) and t[:0].is_view_of(t), "memory is what counts, not how much of it is seen"
    assert t.is_view_of(x) and t[2:4].is_view_of(x[1:5]) and not t.is_view_of(x[1:5])
    assert t.is_view_of(sw.asarray(x)) and not t.is_view_of(t.repeat(1))


def test_dtypes_are_equal_to_their_names_elsewhere():
    t = sw.zeros([1], dtype="float32")
    assert t.dtype == "float32" and t.dtype == np.float32 and t.dtype == np.dtype("float32")
    assert t.dtype == "float32" and np.dtype("float32") == t.dtype
    assert t.dtype is sw.float32 is sw.dtype("float32") is sw.dtype(np.float32) is sw.dtype(sw.float32)
    assert t.dtype != "float64" and t.dtype != np.float64 and t.dtype != sw.float64
    assert t.dtype != np.dtype(">f4") and t.dtype != None and t.dtype != 3  # noqa: E711
    assert sw.dtype(float) is sw.float64 and sw.dtype(int) is sw.int64 and sw.dtype(bool) == bool  # noqa: E721
    assert {sw.float32: 1}["float32"] == 1 and len({sw.float32, t.dtype, "float32"}) == 1
    for name in DTYPES:
        dtype = sw.dtype(name)
        assert dtype is getattr(sw, name) and dtype.name == str(dtype) == name
        assert pickle.loads(pickle.dumps(dtype)) is dtype is copy.deepcopy(dtype)
        if name != "bfloat16":
            assert (dtype.itemsize, dtype.kind) == (np.dtype(name).itemsize, np.dtype(name).kind)
            assert dtype == np.dtype(name) == np.dtype(name).type
    with pytest.raises(TypeError):
        sw.dtype("float33")
    for no_dtype in [None, 3, object(), str]:
        with pytest.raises(TypeError):
            sw.dtype(no_dtype)
    with pytest.raises(TypeError):
        sw.float32 < sw.float64  # noqa: B015


def test_dtypes_of_torch_and_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert sw.bfloat16 == ml_dtypes.bfloat16 and sw.bfloat16 == np.dtype(ml_dtypes.bfloat16)
    torch = pytest.importorskip("torch")
    for name in ["bool", "uint8", "int64", "float16", "bfloat16", "float32", "complex64"]:
        assert sw.dtype(name) == getattr(torch, name) and sw.dtype(getattr(torch, name)) is sw.dtype(name)
    assert sw.float32 != torch.float64


class Checked(html.parser.HTMLParser):
    """Every tag that is opened is closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.text, self.rects = [], "", 0
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.rects += tag == "rect"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize(
    "x",
    [
        sw.asarray(2.5),
        sw.arange(12).reshape(3, 4),
        sw.zeros([0, 3]),
        sw.arange(24).reshape(2, 3, 4).permute(2, 0, 1),
        sw.arange(5)[::-2],
        sw.expand(sw.asarray([[1], [2]]), 2, 1 << 40),
        sw.expand(sw.asarray(1), 1 << 20, 1 << 20, 3, 3),
        sw.zeros([3, 2, 2, 2, 2, 2]),
        sw.asarray([float("nan")]),
        sw.zeros([1000, 1000]),
    ],
    ids=lambda x: str(x.shape),
)
def test_notebooks_get_a_small_page(x):
    page = x._repr_html_()
    checked = Checked(page)
    assert str(x.dtype) in checked.text and str(x.shape) in checked.text and str(x.strides) in checked.text
    assert ("<svg" in page) == (x.size > 0)
    assert len(page) < 100_000


def test_the_picture_shows_the_cell_each_element_reads():
    page = Checked(sw.arange(4).reshape(2, 2).T._repr_html_())
    assert page.text.count("memory0123[:, :]0213") == 1 and page.rects == 8
    assert "not contiguous" in page.text and "32 bytes" in page.text
    assert "view into 32 bytes" in Checked(sw.arange(4)[1:]._repr_html_()).text


def test_tensors_go_to_files_and_back(tmp_path):
    x = sw.arange(6).reshape(2, 3).T
    sw.save(tmp_path / "x.npy", x)
    assert sw.array_equal(sw.load(tmp_path / "x.npy"), x)
    assert np.array_equal(np.load(tmp_path / "x.npy"), np.asarray(x))
    np.save(tmp_path / "y.npy", np.eye(3))
    assert sw.array_equal(sw.load(str(tmp_path / "y.npy")), np.eye(3))
    named = {"a": x, "b": np.array([1.5], "float32")}
    sw.save(tmp_path / "z.safetensors", named)
    again = sw.load(tmp_path / "z.safetensors")
    assert sorted(again) == ["a", "b"] and all(sw.array_equal(again[name], named[name]) for name in named)
    with pytest.raises(OSError):
        sw.load(tmp_path / "none.npy")
    with pytest.raises(OSError):
        sw.save(tmp_path / "x.txt", x)
    with pytest.raises(TypeError):
        sw.save(tmp_path / "x.npy", object())


class Named(sw.Tensor):
    """A tensor that is made in a way of its own, and has attributes."""

    __slots__ = ("__dict__", "unit")

    def __new__(cls, *, first: int) -> Self:
        return super().__new__(cls, [first, 2])


@pytest.mark.parametrize(
    "again", [copy.deepcopy, *(lambda x, p=p: pickle.loads(pickle.dumps(x, p)) for p in (2, 4, 5))]
)
def test_a_subclass_keeps_its_class_and_attributes_in_copies(again):
    x = Named(first=7)
    x.tags, x.unit, x.itself = ["a"], {"m"}, x
    y = again(x)
    assert type(y) is Named and y.tolist() == [7, 2] and not sw.shares_memory(x, y)
    assert y.tags == ["a"] and y.tags is not x.tags and y.unit == {"m"} and y.itself is y


def test_a_copy_of_two_things_that_share_a_tensor_shares_its_copy():
    x = Named(first=1)
    y, z = copy.deepcopy([x, x])
    assert y is z and y is not x


def test_the_class_refuses_what_asarray_refuses():
    with pytest.raises(sw.TooLarge, match="300, which does not fit uint8"):
        sw.Tensor([300], dtype="uint8")
    assert sw.Tensor([np.float32(1), np.float64(2)]).dtype == "float64"


@pytest.mark.parametrize("value", [1.5, 7, True, 2 - 3j])
def test_a_tensor_without_axes_is_formatted_as_its_number(value):
    for spec in ["", "10", ".3e", ",.2f"] if not isinstance(value, bool) else ["", "d"]:
        expected = str(sw.asarray(value)) if not spec else format(value, spec)
        assert format(sw.asarray(value), spec) == expected
    assert f"{sw.asarray(1.5):.2f}" == "1.50"
    with pytest.raises(TypeError, match=r"^format: `\.2f` is for one number"):
        format(sw.asarray([value]), ".2f")


def test_more_empty_lists_than_make_sense_are_an_error():
    with pytest.raises(sw.OutOfMemory, match=r"^tolist: ") as caught:
        sw.zeros([1 << 24, 2, 0]).tolist()
    assert caught.value.operator == "tolist"


def test_numpy_takes_a_dtype():
    for name in sw.__all__:
        dtype = getattr(sw, name)
        if isinstance(dtype, sw.dtype):
            assert np.dtype(dtype).name == name and np.zeros(2, dtype=dtype).dtype == dtype
            assert np.asarray(sw.zeros([2], dtype=dtype)).dtype == np.dtype(dtype) == dtype.dtype
    assert np.zeros(2, dtype=sw.zeros([1]).dtype).dtype == np.float64


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="older ones do not ask for it")
def test_numpy_finds_the_dtype_of_a_tensor():
    for name in DTYPES:
        assert np.result_type(sw.zeros([2], dtype=name)).name == name
