"""Holds a model of the example `every_node` to ONNX's checker and runs it: python check_every_node.py FILE."""

from __future__ import annotations

import sys

import numpy as np
import onnx
import onnxruntime


def main(file: str) -> None:
    onnx.checker.check_model(onnx.load(file), full_check=True)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    for n in 1, 2, 5:
        x = np.arange(3 * n, dtype=np.float32).reshape(n, 3)
        values = session.run(None, {"x": x, "scalar": np.array(4, np.float32)})
        outputs = dict(zip(names, values, strict=True))
        wanted = {
            "up": np.arange(n),
            "running": np.arange(n).cumsum(),
            "twice_the_sums": 2 * x.sum(1),
            "thrice_turned": np.tile(x.T, (1, 3))[::-1],
            "same": np.array(True),
            "still": np.array(4, np.float32),
            "same_x": x,
        }
        assert outputs.keys() == wanted.keys()
        for name, value in wanted.items():
            np.testing.assert_array_equal(outputs[name], value, name)
    print(f"{file} is valid, and gives what it should")


if __name__ == "__main__":
    main(sys.argv[1])
