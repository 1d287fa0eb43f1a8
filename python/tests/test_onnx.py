"""Graphs as ONNX models: written, checked and run by ONNX's own tools, and read back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stridewise as sw

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

B, C, N = sw.symbol("B"), sw.symbol("C"), sw.symbol("N")
MATRIX, ROW = sw.spec("float32", [B, C]), sw.spec("float32", [N])
INDEX = sw.spec("int64", [N])

# A function for each operator, and what it is given. Symbols become each of several sizes.
CASES: dict[str, list[tuple[Callable[..., Any], list[sw.Spec]]]] = {
    "atleast_1d": [(lambda x: sw.atleast_1d(x), [sw.spec("float32", [])]), (lambda x: sw.atleast_1d(x), [ROW])],
    "atleast_2d": [(lambda x: sw.atleast_2d(x), [ROW])],
    "atleast_3d": [(lambda x: sw.atleast_3d(x), [ROW]), (lambda x: sw.atleast_3d(x), [MATRIX])],
    "atleast_nd": [(lambda x: x.atleast_nd(4, place="back"), [MATRIX])],
    "expand": [
        (lambda x: x.expand(3, -1, -1), [MATRIX]),
        (lambda x: x.expand(2, 1, B, 4), [sw.spec("float32", [1, B, 1])]),
        (lambda x, y: x.expand(y.shape[0]), [sw.spec("float32", [1]), ROW]),
    ],
    "expand_as": [(lambda x, y: sw.expand_as(x.unsqueeze(1), y), [sw.spec("float32", [B]), MATRIX])],
    "broadcast_to": [(lambda x: x.broadcast_to(2, B, C), [MATRIX])],
    "repeat": [(lambda x: x.repeat(2, 1, 3), [MATRIX]), (lambda x: x.repeat(0, 2), [MATRIX])],
    "tile": [(lambda x: x.tile(2), [MATRIX])],
    "repeat_interleave": [
        (lambda x: x.repeat_interleave(3, axis=1), [MATRIX]),
        (lambda x: x.repeat_interleave([2, 0, 1], axis=1), [sw.spec("float32", [B, 3])]),
    ],
    "unflatten": [
        (lambda x: x.unflatten(1, [2, -1]), [sw.spec("float32", [B, C * 2])]),
        (lambda x: x.unflatten(0, [B, 3]), [sw.spec("float32", [B * 3])]),
    ],
    "flatten": [(lambda x: x.flatten(), [MATRIX]), (lambda x: x.unsqueeze(1).flatten(1, 2), [MATRIX])],
    "reshape": [
        (lambda x: x.reshape(-1), [MATRIX]),
        (lambda x: x.reshape(C, B), [MATRIX]),
        (lambda x: x.reshape(C, 1, -1), [MATRIX]),
        (lambda x: x.T.reshape(B * C), [MATRIX]),
    ],
    "view": [(lambda x: x.view(B * C, 1), [MATRIX])],
    "squeeze": [(lambda x: x.squeeze(1), [sw.spec("float32", [B, 1, C])])],
    "unsqueeze": [(lambda x: x.unsqueeze(0, -1), [MATRIX])],
    "permute": [(lambda x: x.unsqueeze(0).permute(2, 0, 1), [MATRIX])],
    "transpose": [(lambda x: x.transpose(), [MATRIX])],
    "swapaxes": [(lambda x: x.swapaxes(0, 1), [MATRIX])],
    "moveaxis": [(lambda x: x.unsqueeze(2).moveaxis(0, -1), [MATRIX])],
    "flip": [(lambda x: x.flip(), [MATRIX]), (lambda x: x.flip(1), [MATRIX])],
    "slice": [
        (lambda x: x[1:, ::-1], [MATRIX]),
        (lambda x: x[-2:, None, ..., :1], [MATRIX]),
        (lambda x: x[::2, -1], [MATRIX]),
        (lambda x: x[0, 1:3], [sw.spec("float32", [4, 5])]),
        (lambda x: sw.unsqueeze(x[:, 1:], 0).expand(x.shape[0], -1, -1), [MATRIX]),
    ],
    "take": [
        (lambda x, i: sw.take(x, i), [MATRIX, sw.spec("int64", [N])]),
        (lambda x, i: sw.take(x, i, axis=1, mode="wrap"), [MATRIX, INDEX]),
        (lambda x, i: sw.take(x, i, axis=0, mode="clip"), [MATRIX, INDEX]),
        (lambda x, i: sw.take(x, i, axis=0, mode="fill", fill_value=7.0), [MATRIX, INDEX]),
        (lambda x: sw.take(x, [[0, -1], [0, 0]], axis=1), [MATRIX]),
    ],
    "index_select": [(lambda x: sw.index_select(x, 1, [0, 0]), [MATRIX])],
    "take_along_axis": [
        (lambda x: sw.take_along_axis(x, sw.zeros([1, 2], "int64"), axis=1), [sw.spec("float32", [1, C])])
    ],
    "index_add": [
        (lambda x, y: sw.index_add(x, 0, [0, 0], y), [sw.spec("float32", [B, 3]), sw.spec("float32", [2, 3])])
    ],
    "enforce_shape": [(lambda x: sw.enforce_shape(x, ["B", None])[0], [MATRIX])],
    "unstack": [(lambda x: tuple(sw.unstack(x, 1)), [sw.spec("float32", [B, 3])])],
    "contiguous": [(lambda x: x.T.contiguous(), [MATRIX])],
    "cast": [(lambda x: x.cast("int32"), [MATRIX]), (lambda x: x.cast("bool"), [MATRIX])],
    "sum": [
        (lambda x: x.sum(), [MATRIX]),
        (lambda x: x.sum(1, keepdims=True), [MATRIX]),
        (lambda x: x.cast("int8").sum(0), [MATRIX]),
    ],
    "shape_of": [(lambda x: sw.shape_of(x), [MATRIX]), (lambda x: x.T.reshape(sw.shape_of(x)), [MATRIX])],
    "concat": [(lambda x, y: sw.concat([x, y, x], 1), [MATRIX, sw.spec("float32", [B, N])])],
    "stack": [(lambda x: sw.stack([x, x], -1), [MATRIX])],
    "zeros": [(lambda x: sw.zeros((B, 2), "int64"), [MATRIX])],
    "ones": [(lambda x: sw.ones((C + 1, B * 2), "float32"), [MATRIX])],
    "full": [(lambda x: sw.full((B,), 2.5), [MATRIX])],
    "arange": [(lambda x: sw.concat([x.flatten(), sw.arange(0, 4, 0.5, "float32")]), [MATRIX])],
}


def test_every_operator_has_a_case() -> None:
    assert set(CASES) == {name for name, *_ in sw._stridewise._table()}  # type: ignore[attr-defined]


def array(spec: sw.Spec, sizes: dict[str, int], random: np.random.Generator) -> Any:
    """An array that a spec allows, with each symbol of that size."""
    inside = repr(spec).split("[", 1)[1].rsplit("]", 1)[0]
    shape = [int(eval(size, {}, sizes)) for size in inside.split(",") if size.strip()]
    if spec.dtype == sw.int64:
        return random.integers(-1, 1, shape)
    return random.integers(-9, 9, shape).astype(str(spec.dtype.name))


def listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, (list, tuple)) else [results]


@pytest.mark.parametrize("name", CASES)
def test_models_give_what_graphs_give_on_several_sizes(name: str, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    for at, (function, specs) in enumerate(CASES[name]):
        graph = sw.trace(function, *specs)
        path = tmp_path / f"{at}.onnx"
        graph.to_onnx(path)
        model = onnx.load(path)
        onnx.checker.check_model(model, full_check=True)
        assert model.opset_import[0].version >= 18
        session = runtime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
        given = {i.name for i in session.get_inputs()}
        for b, c, n in ((2, 3, 4), (1, 1, 1), (5, 2, 3), (3, 4, 0)):
            arrays = [array(spec, {"B": b, "C": c, "N": n}, random) for spec in specs]
            wanted = listed(graph(*arrays))
            inputs = {key: value for key, value in zip(graph.inputs, arrays, strict=True) if key in given}
            found = session.run(None, inputs)
            for a, b_ in zip(wanted, found, strict=True):
                assert np.asarray(a).dtype == b_.dtype
                np.testing.assert_array_equal(np.asarray(a), b_, err_msg=f"{name} {at}")


def test_dynamic_axes_have_the_names_of_symbols(tmp_path: Path) -> None:
    graph = sw.trace(lambda x: x.T, sw.spec("float32", [B, 4, None]))
    graph.to_onnx(tmp_path / "t.onnx")
    model = onnx.load(tmp_path / "t.onnx")

    def axes(value: Any) -> list[Any]:
        return [d.dim_param or d.dim_value or None for d in value.type.tensor_type.shape.dim]

    assert axes(model.graph.input[0]) == ["B", 4, None]
    assert axes(model.graph.output[0]) == [None, 4, "B"]
    assert model.producer_name == "stridewise"


def test_graphs_of_unknown_rank_are_written_where_onnx_can_say_them(tmp_path: Path) -> None:
    def recipe(x: Any) -> Any:
        x, [(axes, count), last] = sw.enforce_shape(x, [..., None])
        return sw.reshape(sw.reshape(x, (count, last)).flip(1), (*axes, last))

    path = tmp_path / "t.onnx"
    sw.trace(recipe, sw.spec("float32")).to_onnx(path)
    session = runtime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    for shape in ((3,), (2, 3), (4, 1, 2, 3)):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        (y,) = session.run(None, {"x": x})
        np.testing.assert_array_equal(y, x[..., ::-1])
    with pytest.raises(sw.TooEarly, match="permute: too little is known of its tensors to write it to ONNX"):
        sw.trace(lambda x: x.permute(1, 0), sw.spec("float32")).to_onnx(path)


def test_models_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "t.onnx"
    graph = sw.trace(lambda x: (x.repeat(2, 1).unflatten(1, [3, -1]), x[1:]), sw.spec("float64", [B, C * 3]))
    graph.to_onnx(path)
    again = sw.Graph.from_onnx(path)
    assert again.inputs == ("x",)
    for shape in ((2, 6), (1, 3), (4, 0)):
        x = np.arange(float(np.prod(shape))).reshape(shape)
        for a, b in zip(graph(x), again(x), strict=True):
            np.testing.assert_array_equal(a, b)
    assert sw.Graph.from_onnx(path.read_bytes()).inputs == ("x",)


def test_an_operator_that_is_not_supported_is_named() -> None:
    helper = onnx.helper
    node = helper.make_node("Relu", ["x"], ["y"], name="first")
    x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in "xy")
    model = helper.make_model(helper.make_graph([node], "g", [x], [y]))
    with pytest.raises(sw.StridewiseError, match="Relu") as raised:
        sw.Graph.from_onnx(model.SerializeToString())
    assert "first" in str(raised.value) and "Reshape" in str(raised.value)
    with pytest.raises(sw.FileError):
        sw.Graph.from_onnx(b"\x00garbage")


@pytest.mark.parametrize("dtype", ["bfloat16", "complex64", "complex128"])
def test_models_hold_to_the_dtypes_that_nodes_have(dtype: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    x = sw.spec(dtype, [B])
    sw.trace(lambda x: sw.concat([x, sw.full([B * 2], 3, dtype=dtype)]), x).to_onnx(path)
    onnx.checker.check_model(path, full_check=True)
    for f, word in ((lambda x: x.sum(), "sum"), (lambda x: x.cast("float32"), "cast")):
        g = sw.trace(f, x)
        if dtype == "bfloat16":
            g.to_onnx(path)
            onnx.checker.check_model(path, full_check=True)
        else:
            with pytest.raises(sw.DTypeError, match=f"ONNX has no {word} of {dtype}"):
                g.to_onnx(path)
