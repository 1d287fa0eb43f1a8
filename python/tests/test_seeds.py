"""The examples and tables of the five documents the project came from, in their own spelling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import stridewise as sw

# paddle.atleast_1d, atleast_2d, atleast_3d

ATLEAST: dict[tuple[int, ...], dict[str, tuple[int, ...]]] = {
    (): {"atleast_1d": (1,), "atleast_2d": (1, 1), "atleast_3d": (1, 1, 1)},
    (5,): {"atleast_1d": (5,), "atleast_2d": (1, 5), "atleast_3d": (1, 5, 1)},
    (4, 5): {"atleast_1d": (4, 5), "atleast_2d": (4, 5), "atleast_3d": (4, 5, 1)},
    (3, 4, 5): {"atleast_1d": (3, 4, 5), "atleast_2d": (3, 4, 5), "atleast_3d": (3, 4, 5)},
    (2, 3, 4, 5): {"atleast_1d": (2, 3, 4, 5), "atleast_2d": (2, 3, 4, 5), "atleast_3d": (2, 3, 4, 5)},
}


@pytest.mark.parametrize("name", ["atleast_1d", "atleast_2d", "atleast_3d"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_atleast_has_the_shapes_of_the_table_from_rank_0_upward(name: str, dtype: str) -> None:
    for shape, results in ATLEAST.items():
        x = np.arange(math.prod(shape), dtype=dtype).reshape(shape)
        t = sw.asarray(x)
        result = getattr(sw, name)(t)
        assert result.shape == results[name] == getattr(np, name)(x).shape == getattr(t, name)().shape
        assert np.array_equal(result.numpy(), getattr(np, name)(x))
        assert result.dtype is not None and str(result.dtype) == dtype
        assert result.shares_memory(t)
        if results[name] == shape:
            assert result is t, "as is"


@pytest.mark.parametrize("name, shape", [("atleast_1d", (1,)), ("atleast_2d", (1, 1)), ("atleast_3d", (1, 1, 1))])
def test_each_input_of_atleast_is_one_array_as_in_numpy(name: str, shape: tuple[int, ...]) -> None:
    atleast = getattr(sw, name)
    x, y = sw.asarray(0.3), sw.asarray(1.0)
    separate = atleast(x, y)
    assert isinstance(separate, list) and [t.shape for t in separate] == [shape, shape]
    assert [t.numpy().ravel().tolist() for t in separate] == [[0.3], [1.0]]
    for together in (atleast((x, y)), atleast([x, y]), atleast((np.array(0.3), np.array(1.0)))):
        assert isinstance(together, sw.Tensor)
        assert np.array_equal(together.numpy(), getattr(np, name)((np.array(0.3), np.array(1.0))))
    mixed = atleast(1.5, x, [1, 2], sw.zeros([2, 3, 4, 5]), (x, y), np.ones((2, 2)))
    expected = [getattr(np, name)(v) for v in (1.5, 0.3, [1, 2], np.zeros((2, 3, 4, 5)), [0.3, 1.0], np.ones((2, 2)))]
    assert [t.shape for t in mixed] == [v.shape for v in expected]
    assert atleast() == []


# oneflow.expand and oneflow.repeat

EXPAND_1 = [
    [4, 3, 5, 2],
    [-1, 3, 5, 2],
    [-1, -1, 5, 2],
    [-1, -1, 5, -1],
    [4, -1, 5, 2],
    [4, -1, 5, -1],
    [4, 3, 5, -1],
]
EXPAND_2 = [
    [2, 1, 2, 4, 3, 5],
    [2, 1, 2, -1, 3, 5],
    [2, 1, 2, -1, -1, 5],
    [2, 1, 2, -1, -1, -1],
    [2, 1, 2, 4, -1, 5],
    [2, 1, 2, 4, -1, -1],
    [2, 1, 2, 4, 3, -1],
]


@pytest.mark.parametrize("sizes", EXPAND_1)
def test_all_sizes_of_the_first_example_of_expand_give_one_result(sizes: list[int]) -> None:
    x = np.arange(24).reshape(4, 3, 1, 2)
    result = sw.expand(sw.asarray(x), *sizes)
    assert result.shape == (4, 3, 5, 2)
    assert np.array_equal(result.numpy(), np.broadcast_to(x, (4, 3, 5, 2)))


@pytest.mark.parametrize("sizes", EXPAND_2)
def test_all_sizes_of_the_second_example_of_expand_give_one_result(sizes: list[int]) -> None:
    x = np.arange(60).reshape(1, 4, 3, 5)
    result = sw.expand(x, *sizes)
    assert result.shape == (2, 1, 2, 4, 3, 5)
    assert np.array_equal(result.numpy(), np.broadcast_to(x, (2, 1, 2, 4, 3, 5)))


def test_packed_strides_are_the_products_of_the_sizes_behind() -> None:
    shape = [6, 3, 4, 5]
    strides = [1]
    for at in range(len(shape) - 2, -1, -1):
        strides.insert(0, strides[0] * shape[at + 1])
    assert strides == [60, 20, 5, 1]
    x = sw.arange(360).reshape(shape)
    assert x.strides == tuple(strides)
    flat = sw.flatten(x)
    for index in [(0, 0, 0, 0), (5, 2, 3, 4), (3, 1, 0, 2)]:
        at = sum(i * s for i, s in zip(index, strides, strict=True))
        assert x[index].item() == flat[at].item() == at


def seed_expand_strides(shape: list[int], strides: list[int], sizes: list[int]) -> list[int]:
    """The seed's own code for the strides of the result."""
    result: list[int] = []
    new = len(sizes) - len(shape)
    for i in range(len(sizes) - 1, -1, -1):
        if i >= new:
            if sizes[i] == -1 or sizes[i] == shape[i - new]:
                result.insert(0, strides[i - new])
            else:
                assert sizes[i] >= 1 and shape[i - new] == 1
                result.insert(0, 0)
        else:
            assert sizes[i] >= 1
            result.insert(0, 0)
    return result


def test_expand_has_the_strides_of_the_seed() -> None:
    x = sw.arange(60).reshape(4, 1, 3, 5)
    assert x.strides == (15, 15, 5, 1)
    wide = x.expand(2, 1, 4, 4, 3, 5)
    assert wide.strides == (0, 0, 15, 0, 5, 1)
    for index in np.ndindex(2, 1, 4, 4, 3, 5):
        assert wide[index].item() == index[2] * 15 + index[4] * 5 + index[5]
    for shape, lists in (([4, 3, 1, 2], EXPAND_1), ([1, 4, 3, 5], EXPAND_2)):
        t = sw.zeros(shape)
        for sizes in lists:
            assert list(t.expand(sizes).strides) == seed_expand_strides(shape, list(t.strides), sizes)


def test_expand_of_a_split_tensor_has_the_strides_of_the_seed() -> None:
    whole = sw.zeros([4, 3, 1, 2])
    assert whole.strides == (6, 2, 2, 1) and whole.expand(2, 4, 3, 4, 2).strides == (0, 6, 2, 0, 1)
    part = sw.zeros([4, 3, 1, 1])
    assert part.strides == (3, 1, 1, 1) and part.expand(2, 4, 3, 4, 1).strides == (0, 3, 1, 0, 1)


@pytest.mark.parametrize(
    "shape, sizes",
    [
        ([4, 3, 1, 2], [3, 1, 2]),  # fewer sizes than axes
        ([4, 3, 1, 2], [4, 2, 5, 2]),  # an axis that is not 1
        ([4, 3, 1, 2], [-1, 4, 3, 5, 2]),  # -1 for a new axis
        ([4, 3, 1, 2], [4, 3, -2, 2]),
    ],
)
def test_expand_refuses_what_the_seed_refuses(shape: list[int], sizes: list[int]) -> None:
    with pytest.raises(ValueError):
        sw.expand(sw.zeros(shape), *sizes)


def seed_repeat(x: Any, sizes: list[int]) -> tuple[list[int], list[int], list[int]]:
    """The seed's own code: the shapes of reshape, expand and reshape."""
    shape = list(x.shape)
    before: list[int] = []
    after: list[int] = []
    expanded: list[int] = []
    new = len(sizes) - len(shape)
    for i in range(len(sizes) - 1, -1, -1):
        if i < new:
            expanded.insert(0, sizes[i])
            after.insert(0, sizes[i])
        elif sizes[i] > 1 and shape[i - new] > 1:
            before[:0] = [1, shape[i - new]]
            expanded[:0] = [sizes[i], shape[i - new]]
            after.insert(0, shape[i - new] * sizes[i])
        else:
            before.insert(0, shape[i - new])
            expanded.insert(0, max(sizes[i], shape[i - new]))
            after.insert(0, max(sizes[i], shape[i - new]))
    return before, expanded, after


REPEATS = [
    ([4, 1, 3, 5], [2, 1, 2, 4, 1, 1], [2, 1, 8, 4, 3, 5]),
    ([5], [3], [15]),
    ([3, 1, 5], [5, 3, 1], [15, 3, 5]),
    ([3, 1, 5], [2, 5, 3, 1], [2, 15, 3, 5]),
]
PLANS = [
    ([5], [3], ([1, 5], [3, 5], [15])),
    ([3, 1, 5], [5, 3, 1], ([1, 3, 1, 5], [5, 3, 3, 5], [15, 3, 5])),
    ([3, 1, 5], [2, 5, 3, 1], ([1, 3, 1, 5], [2, 5, 3, 3, 5], [2, 15, 3, 5])),
]


@pytest.mark.parametrize("shape, sizes, result", REPEATS)
def test_repeat_is_reshape_expand_reshape(shape: list[int], sizes: list[int], result: list[int]) -> None:
    x = sw.arange(math.prod(shape)).reshape(shape)
    repeated = sw.repeat(x, *sizes)
    assert list(repeated.shape) == result
    before, expanded, after = seed_repeat(x, sizes)
    assert after == result
    assert repeated.tolist() == x.reshape(before).expand(*expanded).reshape(after).tolist()
    assert not repeated.shares_memory(x)


@pytest.mark.parametrize("shape, sizes, plan", PLANS)
def test_repeat_plan_gives_the_three_shapes_of_the_seed(
    shape: list[int], sizes: list[int], plan: tuple[list[int], ...]
) -> None:
    assert seed_repeat(sw.zeros(shape), sizes) == plan
    assert tuple(list(part) for part in sw.repeat_plan(shape, sizes)) == plan


# The array API's request for comments: enforce_shape


@pytest.fixture(params=["tensor", "numpy"])
def make(request: pytest.FixtureRequest) -> Any:
    return sw.zeros if request.param == "tensor" else np.zeros


def test_the_first_example_enforces_three_axes(make: Any) -> None:
    x = make((2, 3, 4))
    result, [d1, d2, d3] = sw.enforce_shape(x, [None, None, None])
    assert result is x and (d1, d2, d3) == (2, 3, 4)
    for other in (make((2, 3)), make((2, 3, 4, 5)), make(())):
        with pytest.raises(sw.ShapeError):
            sw.enforce_shape(other, [None, None, None])


def test_the_second_example_has_a_symbol_any_size_and_a_number(make: Any) -> None:
    d1_input = sw.symbol("d1_input")
    x = make((2, 3, 4))
    result, [d1, d2, d3] = sw.enforce_shape(x, [d1_input, None, 4])
    assert result is x and (d1, d2, d3) == (2, 3, 4)
    with pytest.raises(sw.ShapeError):
        sw.enforce_shape(make((2, 3, 5)), [d1_input, None, 4])


def test_the_third_example_has_axes_between(make: Any) -> None:
    x = make((1, 2, 4, 5, 3))
    result, [d1, d2, (axes, n_elements), d3] = sw.enforce_shape(x, [1, None, ..., 3])
    assert result is x and (d1, d2, axes, n_elements, d3) == (1, 2, (4, 5), 20, 3)
    assert isinstance(axes, tuple) and type(n_elements) is int and type(d1) is int
    _, [_, _, (axes, n_elements), _] = sw.enforce_shape(make((1, 2, 3)), [1, None, ..., 3])
    assert (axes, n_elements) == ((), 1)
    for shape in [(1, 3), (2, 2, 3), (1, 2, 4), (3,)]:
        with pytest.raises(sw.ShapeError):
            sw.enforce_shape(make(shape), [1, None, ..., 3])


def to_hsv(rgb: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """RGB to HSV, for rows of three."""
    assert rgb.ndim == 2
    value, least = rgb.max(1, initial=0), rgb.min(1, initial=1)
    spread = value - least
    safe = np.where(spread == 0, 1, spread)
    red, green, blue = rgb.T
    hue = np.where(value == red, (green - blue) / safe % 6, (blue - red) / safe + 2)
    hue = np.where((value == blue) & (value != red), (red - green) / safe + 4, hue)
    return np.stack([hue / 6, spread / np.where(value == 0, 1, value), value], 1)


@pytest.mark.parametrize("shape", [(3,), (4, 3), (2, 2, 3), (0, 5, 3), (2, 1, 2, 1, 3)])
def test_the_recipe_for_pixels_of_any_rank(shape: tuple[int, ...]) -> None:
    pixels = np.random.default_rng(0).random(shape)
    x_rgb, [(axes, n_elements), last_axis] = sw.enforce_shape(sw.asarray(pixels), [..., None])
    x_rgb_2d = sw.reshape(x_rgb, (n_elements, last_axis))
    x_hsv_2d = to_hsv(x_rgb_2d.numpy())
    result = sw.reshape(x_hsv_2d, axes + (last_axis,))
    assert result.shape == shape
    rows = [to_hsv(row.reshape(1, 3)) for row in pixels.reshape(-1, 3)]
    assert np.allclose(result.numpy().reshape(-1, 3), np.array(rows).reshape(-1, 3))


# paddle.unflatten, Tensor.unflatten, nn.Unflatten

SEED_DTYPES = [
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "complex64",
    "complex128",
    "bool",
]


@pytest.mark.parametrize("dtype", SEED_DTYPES)
def test_unflatten_takes_every_dtype_of_the_document(dtype: str) -> None:
    x = sw.ones([2, 6], dtype=dtype)
    for result in (sw.unflatten(x, 1, [2, 3]), x.unflatten(1, (2, -1)), sw.nn.Unflatten(1, [-1, 3])(x)):
        assert result.shape == (2, 2, 3) and str(result.dtype) == dtype and result.shares_memory(x)


def test_unflatten_takes_a_shape_as_list_tuple_or_tensor() -> None:
    x = sw.arange(12).reshape(2, 6)
    forms: list[Any] = [[2, 3], (2, 3), [2, -1], sw.asarray([2, 3]), np.array([2, 3], "int32"), np.array([2, 3])]
    forms += [[sw.asarray(2), 3], [np.array(2), np.int32(3)], (2, sw.asarray(np.int32(-1)))]
    for shape in forms:
        assert sw.unflatten(x, 1, shape).tolist() == x.numpy().reshape(2, 2, 3).tolist()
        assert sw.unflatten(x, axis=1, shape=shape, name="split").shape == (2, 2, 3)
        assert sw.nn.Unflatten(1, shape)(x).shape == (2, 2, 3)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "complex64", "complex128", "bool"])
def test_a_shape_tensor_of_another_dtype_is_a_type_error(dtype: str) -> None:
    with pytest.raises(TypeError):
        sw.unflatten(sw.zeros([6]), 0, sw.ones([2], dtype=dtype))
    with pytest.raises(TypeError):
        sw.unflatten(sw.zeros([1]), 0, [sw.ones([], dtype=dtype)])


def test_unflatten_checks_the_types_of_the_document() -> None:
    x = sw.zeros([2, 6])
    for axis in (1.0, "1", None, [1], True):
        with pytest.raises(TypeError):
            sw.unflatten(x, axis, [2, 3])
    for shape in (2.5, "23", None, [2.0, 3], ["2", 3], [True, 6], [None, 6]):
        with pytest.raises(TypeError):
            sw.unflatten(x, 1, shape)
    for name in (1, b"x", ["x"]):
        with pytest.raises(TypeError):
            sw.unflatten(x, 1, [2, 3], name=name)


def test_unflatten_has_at_most_one_unknown_size() -> None:
    x = sw.zeros([2, 8])
    with pytest.raises(sw.ShapeError):
        x.unflatten(1, [-1, -1, 2])
    assert x.unflatten(1, [-1, 2, 2]).shape == (2, 2, 2, 2)
    assert x.unflatten(1, [2, 2, 2]).shape == (2, 2, 2, 2)


def test_the_axis_of_unflatten_is_within_the_rank() -> None:
    x = sw.zeros([2, 4, 5])
    for axis in (3, -4):
        with pytest.raises(sw.AxisError):
            sw.unflatten(x, axis, [2, 2])
    for axis in (-2, 1):
        assert sw.unflatten(x, axis, [2, 2]).shape == (2, 2, 2, 5)


def test_unflatten_at_the_edges_of_the_document() -> None:
    assert sw.unflatten(sw.zeros([0]), 0, [2, 0, 3]).shape == (2, 0, 3)
    assert sw.unflatten(sw.zeros([0]), 0, (2, -1)).shape == (2, 0)
    refused: list[Any] = [(), [], (2, 0, 3), (-2, 4), (-2, -4)]
    for shape in refused:
        with pytest.raises(sw.ShapeError):
            sw.unflatten(sw.zeros([8]), 0, shape)


def test_unflatten_is_the_reshape_of_the_document() -> None:
    for axis in range(-3, 3):
        x = np.random.default_rng(1).random((4, 6, 16))
        shape = [2, -1]
        at = axis % 3
        expected = x.reshape(list(x.shape[:at]) + [2, x.shape[at] // 2] + list(x.shape[at + 1 :]))
        assert np.array_equal(sw.unflatten(x, axis, shape).numpy(), expected)


def test_the_layer_is_made_once_and_used_in_a_row() -> None:
    layer = sw.nn.Unflatten(1, [2, 3], name="split")
    assert repr(sw.nn.Unflatten(axis=1, shape=[2, 3])) == "Unflatten(axis=1, shape=[2, 3])"
    assert layer(sw.zeros([4, 6])).shape == (4, 2, 3)
    assert sw.nn.Sequential(layer, sw.nn.Unflatten(0, (2, -1)))(sw.zeros([4, 6])).shape == (2, 2, 2, 3)
    with pytest.raises(sw.ShapeError, match="split"):
        layer(sw.zeros([4, 7]))


# paddle.take

A = [4, 3, 5, 7, 6, 8]


def test_take_of_the_documents_examples() -> None:
    assert sw.take(A, [0, 1, 4]).tolist() == [4, 3, 6]
    assert sw.take(np.array(A), [[0, 1], [2, 3]]).tolist() == [[4, 3], [5, 7]]
    assert sw.asarray(A)[np.array([0, 1, 4])].tolist() == [4, 3, 6]
    assert sw.asarray(A)[[0, 1, 4]].tolist() == [4, 3, 6]


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("index_dtype", ["int32", "int64"])
def test_take_has_the_shape_of_the_index(dtype: str, index_dtype: str) -> None:
    x = np.arange(24, dtype=dtype).reshape(2, 3, 4)
    for numbers in (np.array(5), np.array([5, -1]), np.array([[0, -24], [23, 3]]), np.zeros((2, 0, 3))):
        index: Any = numbers.astype(index_dtype)
        for result in (sw.take(x, index), sw.asarray(x).take(sw.asarray(index)), sw.take(input=x, index=index)):
            assert result.shape == index.shape and str(result.dtype) == dtype
            assert np.array_equal(result.numpy(), np.take(x, index))
        flat = sw.reshape(sw.index_select(sw.flatten(x), 0, sw.flatten(index)), index.shape)
        assert np.array_equal(flat.numpy(), np.take(x, index)), "the decomposition of the document"


def test_take_is_numpys_definition_by_loops() -> None:
    a, index, axis = np.arange(60).reshape(3, 4, 5), np.array([[3, 0], [-1, 2]]), 1
    before, after = a.shape[:axis], a.shape[axis + 1 :]
    out = np.zeros(before + index.shape + after, a.dtype)
    for ii in np.ndindex(before):
        for jj in np.ndindex(index.shape):
            for kk in np.ndindex(after):
                out[ii + jj + kk] = a[ii + (index[jj],) + kk]
    assert np.array_equal(sw.take(a, index, axis).numpy(), out)
    assert np.array_equal(sw.asarray(a)[:, index].numpy(), out)


@pytest.mark.parametrize("bad", [[6], [-7], [0, 100], [[0, 1], [2, -99]]])
def test_an_index_outside_is_an_error_at_once(bad: Any) -> None:
    with pytest.raises(IndexError):
        sw.take(A, bad)


@pytest.mark.parametrize("bad", [[0.0], [True], [1j], 0.5, np.zeros(2, "float32"), np.ones(2, bool), ["0"], None])
def test_an_index_of_another_type_is_a_type_error(bad: Any) -> None:
    with pytest.raises(TypeError):
        sw.take(A, bad)


def test_the_modes_of_the_document() -> None:
    assert sw.take(A, [-7, 6, 13], mode="wrap").tolist() == [8, 4, 3]
    assert sw.take(A, [-7, -1, 6, 13], mode="clip").tolist() == [4, 4, 8, 8]
    with pytest.raises(ValueError):
        sw.take(A, [0], mode="warp")


def test_take_from_an_empty_tensor_is_an_index_error() -> None:
    for mode in ("raise", "wrap", "clip"):
        with pytest.raises(IndexError):
            sw.take(sw.zeros([0]), [0], mode=mode)
        assert sw.take(sw.zeros([0]), np.zeros((2, 0), "int64"), mode=mode).shape == (2, 0)
