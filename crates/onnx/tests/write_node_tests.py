"""Writes the node tests of the installed `onnx` package as files: python write_node_tests.py DIRECTORY.

Each test becomes a directory with `model.onnx` and `test_data_set_N/{input,output}_N.pb`, as releases of ONNX up to
1.18 shipped them; those that it does ship, of a few nodes each, are copied beside them. Tests of things that are
not tensors are left out.
"""

from __future__ import annotations

import pathlib
import shutil
import sys
import warnings

from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests


def main(directory: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = load_model_tests(kind="node")
    for case in cases:
        graph = case.model.graph
        infos = [*graph.input, *graph.output]
        if not all(info.type.HasField("tensor_type") for info in infos):
            continue
        root = pathlib.Path(directory) / case.name
        for number, (inputs, outputs) in enumerate(case.data_sets):
            place = root / f"test_data_set_{number}"
            place.mkdir(parents=True, exist_ok=True)
            for kind, tensors in ("input", inputs), ("output", outputs):
                for at, tensor in enumerate(tensors):
                    if not isinstance(tensor, TensorProto):
                        tensor = numpy_helper.from_array(tensor)
                    (place / f"{kind}_{at}.pb").write_bytes(tensor.SerializeToString())
        (root / "model.onnx").write_bytes(case.model.SerializeToString())
    shipped = load_model_tests(kind="simple")
    for case in shipped:
        shutil.copytree(case.model_dir, pathlib.Path(directory) / case.name, dirs_exist_ok=True)
    print(f"{len(cases) + len(shipped)} tests of ONNX in {directory}")


if __name__ == "__main__":
    main(sys.argv[1])
