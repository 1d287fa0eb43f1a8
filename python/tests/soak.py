"""Random good and bad calls of every operator from several threads; memory and references flat at the end.

python python/tests/soak.py --calls 1000000 --threads 4 --seed 7
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import re
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import stridewise as sw

DTYPES = [
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
SIGNATURES: dict[str, str] = {name: signature for name, signature, *_ in sw._stridewise._table()}
NAMES = list(SIGNATURES)

# What a call may raise; anything else, and any class outside, ends the run.
ALLOWED = (ValueError, IndexError, TypeError, MemoryError, BufferError)


class Raises(Exception):
    """What the odd objects below raise: it may come through a call unchanged."""


class Raising:
    """Every question is answered with an exception."""

    def __index__(self) -> int:
        raise Raises("__index__")

    def __len__(self) -> int:
        raise Raises("__len__")

    def __iter__(self) -> Any:
        raise Raises("__iter__")

    def __getitem__(self, _: Any) -> Any:
        raise Raises("__getitem__")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Raises("__array__")

    def __dlpack__(self, **_: Any) -> Any:
        raise Raises("__dlpack__")

    def __dlpack_device__(self) -> Any:
        raise Raises("__dlpack_device__")

    @property
    def shape(self) -> Any:
        raise Raises("shape")

    @property
    def dtype(self) -> Any:
        raise Raises("dtype")


class Lying:
    """Every question is answered with something of another kind."""

    shape: Any = "shape"
    dtype: Any = "bfloat16"

    def __index__(self) -> Any:
        return "one"

    def __len__(self) -> int:
        return 1 << 40

    def __iter__(self) -> Any:
        return 5

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self

    def __dlpack__(self, **_: Any) -> Any:
        return "capsule"

    def __dlpack_device__(self) -> Any:
        return "device"

    def view(self, _: Any) -> Any:
        return self


class Shaped:
    """A shape, and nothing behind it."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape


class Endless:
    """A shape that never ends, and an index that is a bool."""

    @property
    def shape(self) -> Any:
        return Shaped((2, 3))

    def __index__(self) -> Any:
        return True


class Int(int):
    """A subclass of int whose comparison lies."""

    def __lt__(self, _: Any) -> bool:
        raise Raises("__lt__")


class Name(str):
    """A subclass of str."""

    __slots__ = ()


class Items(list):  # type: ignore[type-arg]
    """A list whose length lies."""

    def __len__(self) -> int:
        return 7


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def loop() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


SHARED: dict[str, Any] = {
    "matrix": np.arange(12.0).reshape(3, 4),
    "tensor": sw.asarray(np.arange(24, dtype="int32").reshape(2, 3, 4)[:, ::-1]),
    "read-only": np.broadcast_to(np.arange(3, dtype="uint8"), (2, 3)),
    "index": np.array([0, 1, 0]),
    "raising": Raising(),
    "lying": Lying(),
    "endless": Endless(),
    "shaped": Shaped((3, 4)),
    "shapeless": Shaped((None, "a")),
    "symbol": sw.symbol("n"),
    "deep": nested(200),
    "loop": loop(),
    "object": object(),
    "structured": np.zeros(2, [("a", "u1"), ("b", "<f4")])["b"],
    "swapped": np.arange(3, dtype=">i4"),
    "objects": np.array([object(), None]),
    "bytes": b"abc",
    "text": "text",
}
SINGLETONS = (None, Ellipsis, True, False, 0, 1, 2, -1, (), "")


@dataclass
class Draw:
    """Arguments at random, by what they are: good ones, and now and then anything at all."""

    random: random.Random
    badness: float = 0.08

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def int(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def array(self) -> Any:
        shape = [self.pick(1, 2, 3, 1, 2, 0, 4) for _ in range(self.pick(0, 1, 2, 2, 3, 3, 4))]
        x = np.ones(shape, self.pick(*DTYPES))
        if shape and self.int(0, 2) == 0:
            x = x[tuple(slice(None, None, self.pick(1, -1, 2)) for _ in shape)].transpose()
        return x

    def tensor(self) -> Any:
        choice = self.int(0, 9)
        if choice < 4:
            return sw.asarray(self.array())
        if choice < 7:
            return self.array()
        return self.pick(SHARED["tensor"], SHARED["matrix"], SHARED["read-only"], [[1, 2], [3, 4]], 1.5, [], (True,))

    def bad(self) -> Any:
        choice = self.int(0, 13)
        if choice == 0:
            return self.pick(2**45, -(2**45), 2**62, 2**63 - 1, 2**63, 2**64, 10**40, -(2**63), -(10**40))
        if choice == 1:
            return [self.bad() for _ in range(self.int(0, 3))]
        if choice == 2:
            return self.pick(float("nan"), float("inf"), 1e300, 0.5, 1j, -0.0)
        if choice == 3:
            return self.pick(
                Int(3), Int(2**70), Name("raise"), Items([1, 2]), np.float32(2), np.int8(1), np.bool_(True)
            )
        if choice == 4:
            return slice(self.pick(None, 1, "a", SHARED["raising"], 2**70), self.pick(None, -1), self.pick(None, 0, -1))
        if choice == 5:
            return tuple(self.pick(None, ..., 1, "n", [1], True, 2.5) for _ in range(self.int(0, 4)))
        if choice == 6:
            return self.tensor()
        if choice == 7:
            return self.pick(None, ..., True, "", "axis", b"", NotImplemented, int, np.float32, sw.float16, type)
        return SHARED[self.pick(*SHARED)]

    def sizes(self) -> Any:
        sizes = [self.pick(1, 2, 3, 0, 1, 2, -1) for _ in range(self.int(0, 4))]
        array = np.array(sizes, self.pick("int64", "int32"))
        return self.pick(sizes, tuple(sizes), array, sw.asarray(array))

    def axis(self) -> Any:
        return self.pick(0, -1, 1, 0, -1, 2, -2, np.int64(0), sw.asarray(0), 5)

    def axes(self) -> Any:
        return self.pick(None, self.axis(), [0, 1], (1, 0), (-1,), [], [2, 0, 1])

    def index(self) -> Any:
        values = [self.pick(0, 1, -1, 0, 1, 2, 9) for _ in range(self.int(0, 4))]
        array = np.array(values, "int64").astype(self.pick("int64", "int32", "uint8", "int8"))
        return self.pick(values, array, 0, SHARED["index"], [[0, 1]])

    def pattern(self) -> Any:
        return [self.pick(None, 1, 2, 3, "n", "m", ..., SHARED["symbol"]) for _ in range(self.int(0, 4))]

    def item(self) -> Any:
        return self.pick(0, -1, None, ..., slice(None), slice(1, None), slice(None, None, -1), slice(0, 9, 2))

    def tensors(self) -> Any:
        x = self.tensor()
        return [x] * self.int(0, 3) if self.int(0, 3) else [self.tensor(), self.tensor()]

    def number(self) -> Any:
        return self.pick(0, 1, 3, -2, 0.5, 2.0, True)


MAKERS: dict[str, Callable[[Draw], Any]] = {
    "input": Draw.tensor,
    "x": Draw.tensor,
    "other": Draw.tensor,
    "inputs": Draw.tensors,
    "sizes": Draw.sizes,
    "shape": Draw.sizes,
    "reps": Draw.sizes,
    "repeats": lambda draw: draw.pick(1, 2, 0, [1, 2], draw.sizes()),
    "axis": Draw.axis,
    "axes": Draw.axes,
    "a": Draw.axis,
    "b": Draw.axis,
    "source": lambda draw: draw.pick(draw.axes(), draw.tensor()),
    "destination": Draw.axes,
    "start": Draw.number,
    "stop": Draw.number,
    "step": Draw.number,
    "n": lambda draw: draw.int(0, 6),
    "place": lambda draw: draw.pick("front", "back", "numpy"),
    "items": Draw.item,
    "index": Draw.index,
    "mode": lambda draw: draw.pick("raise", "wrap", "clip", "fill"),
    "fill_value": lambda draw: draw.pick(None, 0, 1, 0.5),
    "pattern": Draw.pattern,
    "dtype": lambda draw: draw.pick(*DTYPES, "bfloat16", np.float32, np.dtype("int8"), sw.float64, None),
    "keepdims": lambda draw: draw.pick(True, False),
    "value": Draw.number,
    "out": lambda draw: draw.pick(None, np.ones(3), np.ones((2, 2), "int64"), np.ones(0)),
}


def parameters(signature: str) -> list[tuple[str, bool, bool]]:
    """Each parameter of a signature: its name, whether it takes the rest, whether it may be left out."""
    inside = signature[signature.index("(") + 1 : signature.rindex(")")]
    found = []
    for part in re.findall(r"\*?\w+(?:=(?:\"[^\"]*\"|[^,]*))?", inside):
        name, _, default = part.partition("=")
        found.append((name.lstrip("*"), name.startswith("*"), bool(default)))
    return found


PARAMETERS = {name: parameters(signature) for name, signature in SIGNATURES.items()}


def arguments(draw: Draw, name: str) -> tuple[list[Any], dict[str, Any]]:
    """Arguments for an operator: by place or by name, good or bad, sometimes one too many or too few."""
    args: list[Any] = []
    named: dict[str, Any] = {}
    for parameter, rest, optional in PARAMETERS[name]:
        if optional and draw.int(0, 1):
            continue
        value = draw.bad() if draw.random.random() < draw.badness else MAKERS[parameter](draw)
        if rest and isinstance(value, (list, tuple)) and draw.int(0, 1) and not named:
            args.extend(value)
        elif rest and parameter == "items" and not named:
            args.extend(draw.item() for _ in range(draw.int(0, 3)))
        elif optional or named or draw.int(0, 15) == 0:
            named[parameter] = value
        else:
            args.append(value)
    if draw.random.random() < draw.badness / 2:
        named[draw.pick("name", "out", "nonsense", "axis", "")] = draw.bad()
    if draw.int(0, 9) == 0:
        named["name"] = "node"
    if draw.random.random() < draw.badness / 2:
        args.append(draw.bad())
    if args and draw.random.random() < draw.badness / 4:
        args.pop(0)
    return args, named


def use(draw: Draw, result: Any) -> None:
    """Looks at a result in one of the ways that people do."""
    if isinstance(result, (list, tuple)):
        for item in result[:3]:
            use(draw, item)
        return
    if not isinstance(result, sw.Tensor) or result.size > 10_000 or max(result.shape, default=0) > 10_000:
        return
    draw.pick(
        lambda: result.tolist(),
        lambda: repr(result),
        lambda: result.numpy() if str(result.dtype) != "bfloat16" else result.cast("float32").numpy(),
        lambda: (result.shape, result.strides, result.dtype, result.nbytes, result.data_ptr()),
        lambda: result[draw.pick(draw.item(), draw.bad(), (draw.item(), draw.item()))],
        lambda: list(result) if result.ndim else result.item(),
        lambda: sw.asarray(draw.bad(), dtype=draw.pick(None, "float32", draw.bad()), copy=draw.pick(None, True, False)),
        lambda: bytes(memoryview(result)) if str(result.dtype) != "bfloat16" else b"",
    )()


@dataclass
class Run:
    """A number of calls, spread over threads, and what came of them."""

    seed: int
    errors: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    failures: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def worker(self, number: int, calls: int) -> None:
        draw = Draw(random.Random(f"{self.seed}/{number}/{self.calls}"))
        errors: Counter[str] = Counter()
        for turn in range(calls):
            name = draw.pick(*NAMES)
            args: list[Any] = []
            named: dict[str, Any] = {}
            try:
                args, named = arguments(draw, name)
                if args and isinstance(args[0], sw.Tensor) and hasattr(args[0], name) and draw.int(0, 1):
                    result = getattr(args[0], name)(*args[1:], **named)
                else:
                    result = getattr(sw, name)(*args, **named)
                use(draw, result)
                errors["none"] += 1
            except Raises:
                errors["Raises"] += 1
            except ALLOWED as error:
                errors[type(error).__name__] += 1
                if "internal error" in str(error):
                    self.fail(number, turn, name, args, named)
            except BaseException:
                self.fail(number, turn, name, args, named)
            if self.failures:
                break
        with self.lock:
            self.errors += errors

    def fail(self, number: int, turn: int, name: str, args: list[Any], named: dict[str, Any]) -> None:
        with self.lock:
            what = f"{name}(*{args!r}, **{named!r})"[:2000]
            self.failures.append(f"seed {self.seed}, thread {number}, call {turn}: {what}\n{traceback.format_exc()}")

    def go(self, calls: int, threads: int) -> None:
        """Makes so many calls; the order within each thread depends on the seed alone."""
        workers = [threading.Thread(target=self.worker, args=(at, calls // threads)) for at in range(threads)]
        for thread in workers:
            thread.start()
        for thread in workers:
            thread.join()
        self.calls += calls // threads * threads


def resident() -> int:
    """Bytes of memory that the process holds, as the system counts them."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def references() -> dict[str, int]:
    """How often the shared objects and the singletons are referred to."""
    gc.collect()
    # A call by the long way: what a short one could not let go by itself is let go here.
    sw.zeros([0], name="last")
    counts = {f"shared {name}": sys.getrefcount(value) for name, value in SHARED.items()}
    counts |= {f"singleton {value!r}": sys.getrefcount(value) for value in SINGLETONS}
    return counts


def grown(before: dict[str, int], after: dict[str, int], calls: int) -> dict[str, int]:
    """The counts that have changed by more than chance: a leak adds one for every so many calls."""
    slack = {name: 0 if name.startswith("shared") else max(1000, calls // 100) for name in before}
    return {name: after[name] - before[name] for name in before if abs(after[name] - before[name]) > slack[name]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.setswitchinterval(1e-4)
    run = Run(options.seed)
    warm = max(options.calls // 10, 10_000)
    run.go(warm, options.threads)
    start, before = resident(), references()
    began, shown = time.perf_counter(), 0.0
    left = options.calls
    while left > 0 and not run.failures:
        part = min(left, 10_000)
        run.go(part, options.threads)
        left -= part
        seconds = time.perf_counter() - began
        if sys.stderr.isatty() or seconds - shown > 10 or left <= 0:
            shown = seconds
            done = options.calls - left
            line = f"{done:>9} calls  {done / seconds:>8.0f}/s  {resident() / 2**20:>7.1f} MiB"
            print(line, end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - began
    end, changed = resident(), grown(before, references(), options.calls)
    speed = options.calls / seconds
    print(f"{run.calls} calls from {options.threads} threads, seed {options.seed}: {speed:.0f} a second")
    for name, count in run.errors.most_common():
        print(f"  {name:<20} {count:>9}")
    print(f"memory {start / 2**20:.1f} MiB after {warm} calls, {end / 2**20:.1f} MiB at the end")
    print(f"references that changed: {changed or 'none'}")
    for failure in run.failures:
        print(failure)
    flat = end - start < 8 * 2**20
    if not flat:
        print("memory has grown")
    return 0 if flat and not changed and not run.failures else 1


if __name__ == "__main__":
    sys.exit(main())
