"""Writes random small models with what ONNX Runtime gives for them: python write_random_models.py DIRECTORY SEED COUNT.

They are laid out like ONNX's own node tests, so that the same test runs them. Each is a chain of a few nodes of the
operators that are read here; sizes, axes and places come as initializers, as Constant nodes, as inputs, or computed
from shapes. A model that ONNX Runtime refuses has a file `refused` with its reason in place of outputs.

Left out is what ONNX Runtime does otherwise than ONNX says: ReduceSum of no elements, a Slice backwards to INT_MAX,
and a Slice of a tensor without axes.
"""

from __future__ import annotations

import pathlib
import random
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

DTYPES = [np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_]


class Chain:
    """A model while it grows, with the value of every tensor so far."""

    def __init__(self, rng: random.Random, seed: int) -> None:
        self.rng = rng
        self.numpy = np.random.default_rng(seed)
        self.opset = rng.choice([13, 14, 15, 17, 18, 19, 21])
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: dict[str, np.ndarray] = {}
        self.initializers: list[onnx.TensorProto] = []
        self.count = 0
        self.current = self.input(self.array())

    def name(self) -> str:
        self.count += 1
        return f"t{self.count}"

    def array(self, shape: list[int] | None = None) -> np.ndarray:
        if shape is None:
            sizes = [0, 1, 1, 2, 3, 4] if self.rng.random() < 0.1 else [1, 1, 2, 3, 4]
            shape = [self.rng.choice(sizes) for _ in range(self.rng.randint(0, 4))]
        dtype = self.rng.choice(DTYPES)
        return self.numpy.integers(0, 50, shape).astype(dtype)

    def input(self, value: np.ndarray) -> str:
        name = self.name()
        self.inputs[name] = value
        return name

    def numbers(self, numbers: list[int], dtype: type = np.int64) -> str:
        value = np.array(numbers, dtype)
        how = self.rng.randrange(4)
        if how == 0:
            return self.input(value)
        name = self.name()
        if how == 1:
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value)))
        elif how == 2 and dtype is np.int64:
            self.nodes.append(helper.make_node("Constant", [], [name], value_ints=numbers or None))
            if not numbers:
                self.nodes.pop()
                self.initializers.append(numpy_helper.from_array(value, name))
        else:
            self.initializers.append(numpy_helper.from_array(value, name))
        return name

    def node(self, operator: str, inputs: list[str], **attributes: object) -> str:
        name = self.name()
        self.nodes.append(helper.make_node(operator, inputs, [name], name, **attributes))
        return name

    def model(self) -> onnx.ModelProto:
        def info(name: str, value: np.ndarray) -> onnx.ValueInfoProto:
            sizes = [self.rng.choice([None, size]) for size in value.shape]
            return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), sizes)

        inputs = [info(name, value) for name, value in self.inputs.items()]
        output = onnx.ValueInfoProto(name=self.current)
        graph = helper.make_graph(self.nodes, "chain", inputs, [output], self.initializers)
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def value(self) -> np.ndarray:
        """The value of the current tensor; an exception where the runtime refuses the model."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        model = self.model()
        if not self.nodes:
            return self.inputs[self.current]
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, self.inputs)[0]

    def grow(self, x: np.ndarray) -> None:
        rng, rank, at = self.rng, x.ndim, self.current
        axis = rng.randint(-rank, rank - 1) if rank else 0

        def factors(n: int) -> list[int]:
            shape = []
            while n > 1 and len(shape) < 3:
                divisor = rng.choice([d for d in range(1, n + 1) if n % d == 0])
                shape.append(divisor)
                n //= divisor
            return [*shape, n] if rng.random() < 0.9 else [*shape, n + 1]

        def reshape() -> str:
            shape = factors(x.size)
            if shape and rng.random() < 0.4:
                shape[rng.randrange(len(shape))] = -1
            if rank and rng.random() < 0.3:
                place = rng.randrange(min(rank, len(shape) or 1))
                if shape and shape[place] == x.shape[place]:
                    shape[place] = 0
            known = self.opset >= 14 and rng.random() < 0.3
            attributes = {"allowzero": rng.randint(0, 1)} if known else {}
            return self.node("Reshape", [at, self.numbers(shape)], **attributes)

        def reshape_by_shape() -> str:
            shape = self.node("Shape", [at])
            k = rng.randint(0, rank)
            ends = [self.numbers([0]), self.numbers([k])]
            front = self.node("Slice", [shape, *ends])
            whole = self.node("Concat", [front, self.numbers([-1])], axis=0)
            return self.node("Reshape", [at, whole])

        def expand() -> str:
            shape = [s if s != 1 else rng.choice([1, 2, 3]) for s in x.shape]
            shape = [1 if rng.random() < 0.3 else s for s in shape]
            if rng.random() < 0.3:
                shape = shape[rng.randint(0, rank) :]
            elif rng.random() < 0.4:
                shape = [rng.choice([0, 1, 2]), *shape]
            return self.node("Expand", [at, self.numbers(shape)])

        def tile() -> str:
            return self.node("Tile", [at, self.numbers([rng.randint(0, 3) for _ in range(rank)])])

        def indices(shape: list[int], bound: int) -> str:
            low, high = (-bound, bound) if rng.random() < 0.95 else (-bound - 1, bound + 1)
            value = self.numpy.integers(low, max(high, low + 1), shape)
            return self.input(value.astype(rng.choice([np.int32, np.int64])))

        def gather() -> str:
            shape = [rng.randint(0, 3) for _ in range(rng.randint(0, 2))]
            size = x.shape[axis] if rank else 1
            attributes = {} if axis == 0 else {"axis": axis}
            return self.node("Gather", [at, indices(shape, size)], **attributes)

        def gather_elements() -> str:
            shape = [rng.randint(0, size) if rng.random() < 0.3 else size for size in x.shape]
            if rank:
                shape[axis] = rng.randint(0, 4)
            size = x.shape[axis] if rank else 1
            return self.node("GatherElements", [at, indices(shape, size)], axis=axis)

        def flatten() -> str:
            return self.node("Flatten", [at], axis=rng.randint(-rank, rank))

        def squeeze() -> str:
            ones = [a - rng.choice([0, rank]) for a, size in enumerate(x.shape) if size == 1]
            if rng.random() < 0.4:
                return self.node("Squeeze", [at])
            some = rng.sample(ones, rng.randint(0, len(ones)))
            return self.node("Squeeze", [at, self.numbers(some or [axis])])

        def unsqueeze() -> str:
            added = rng.randint(1, 2)
            axes = rng.sample(range(rank + added), added)
            axes = [a - rng.choice([0, rank + added]) for a in axes]
            return self.node("Unsqueeze", [at, self.numbers(axes)])

        def transpose() -> str:
            if rank == 0 or rng.random() < 0.3:
                return self.node("Transpose", [at])
            return self.node("Transpose", [at], perm=rng.sample(range(rank), rank))

        def concat() -> str:
            return self.node("Concat", [at] * rng.randint(1, 3), axis=axis)

        def cut() -> str:
            if rank == 0:
                return identity()
            axes = rng.sample(range(rank), rng.randint(0, rank))
            steps = [rng.choice([1, 1, 2, 3, -1, -2, -(2**62)]) for _ in axes]
            far = [-(2**63), -9, *range(-5, 6), 9, 2**63 - 1]
            starts = [rng.choice(far) for _ in axes]
            ends = [rng.choice(far if step > 0 else far[:-1]) for step in steps]
            axes = [a - rng.choice([0, rank]) for a in axes]
            given = [self.numbers(numbers) for numbers in [starts, ends, axes, steps]]
            if rng.random() < 0.2 and 2**63 - 1 not in ends:
                given = given[: rng.choice([2, 3])]
            elif rng.random() < 0.2:
                given[2] = ""
            return self.node("Slice", [at, *given])

        def shape() -> str:
            if self.opset < 15:
                return self.node("Shape", [at])
            return self.node("Shape", [at], start=rng.randint(-6, 6), end=rng.randint(-6, 6))

        def cast() -> str:
            to = helper.np_dtype_to_tensor_dtype(np.dtype(rng.choice(DTYPES)))
            return self.node("Cast", [at], to=to)

        def reduce_sum() -> str:
            if x.size == 0:
                return identity()
            inputs = [at]
            if rng.random() < 0.7:
                axes = rng.sample(range(rank), rng.randint(0, rank))
                inputs.append(self.numbers([a - rng.choice([0, rank]) for a in axes]))
            attributes = {}
            for name in "keepdims", "noop_with_empty_axes":
                if rng.random() < 0.6:
                    attributes[name] = rng.randint(0, 1)
            return self.node("ReduceSum", inputs, **attributes)

        def identity() -> str:
            return self.node("Identity", [at])

        choices = [
            reshape,
            reshape_by_shape,
            expand,
            tile,
            gather,
            gather_elements,
            flatten,
            squeeze,
            unsqueeze,
            transpose,
            concat,
            cut,
            cut,
            shape,
            cast,
            reduce_sum,
            identity,
        ]
        self.current = rng.choice(choices)()

    def write(self, root: pathlib.Path) -> None:
        place = root / "test_data_set_0"
        place.mkdir(parents=True, exist_ok=True)
        (root / "model.onnx").write_bytes(self.model().SerializeToString())
        for at, value in enumerate(self.inputs.values()):
            tensor = numpy_helper.from_array(value).SerializeToString()
            (place / f"input_{at}.pb").write_bytes(tensor)
        try:
            tensor = numpy_helper.from_array(self.value()).SerializeToString()
            (place / "output_0.pb").write_bytes(tensor)
        except Exception as error:
            (root / "refused").write_text(str(error))


def main(directory: str, seed: int, count: int) -> None:
    print(f"seed {seed}")
    for number in range(count):
        chain = Chain(random.Random(f"{seed} {number}"), seed * 1_000_003 + number)
        for _ in range(chain.rng.randint(1, 4)):
            try:
                value = chain.value()
            except Exception:
                break
            if value.size > 10_000:
                break
            chain.grow(value)
        chain.write(pathlib.Path(directory) / f"random_{seed}_{number}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
