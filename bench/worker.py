"""One library in a process of its own: prepares a case when told to, and times it when told to.

Requests come as lines of JSON on standard input, answers go out as lines of JSON. A process of its own keeps the
threads and the memory of one library out of the way of another.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import sys
import time
import timeit
from collections.abc import Callable
from importlib import metadata
from typing import Any

import numpy as np
from work import CASES, Case
from work.case import ALONE, OURS

ENOUGH = 1.5e-3  # seconds in one measurement of a small call
LARGE = 1e-3  # seconds from which one run is a measurement
SLOW = 0.1  # seconds from which nothing is gained by a run that is not counted
BURST = 40e-3  # seconds of large runs in one go, of which the best counts


def numbers(shape: tuple[int, ...], dtype: str = "float32", seed: int = 1) -> Any:
    """An array with something in it, the same in every process."""
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "ui":
        return random.integers(0, 100, shape, dtype)
    drawn = random.random(shape) if dtype == "float64" else random.random(shape, "float32")
    return drawn.astype(dtype, copy=False)


def indices(below: int, count: int) -> Any:
    return np.random.default_rng(3).integers(0, below, count)


def added(x: Any, index: Any, source: Any) -> Any:
    """What `index_add` is with NumPy, which adds in place only."""
    result = x.copy()
    np.add.at(result, index, source)
    return result


class Library:
    """A library with its own arrays, ready to run statements."""

    def __init__(self, name: str) -> None:
        module_name = OURS if name == ALONE else name
        self.name = name
        module = importlib.import_module({"jax": "jax.numpy"}.get(module_name, module_name))
        home = importlib.import_module(module_name)
        self.version = str(getattr(home, "__version__", None) or metadata.version(module_name))
        self.space: dict[str, Any] = {"np": np, {OURS: "sw", "jax": "jnp"}.get(module_name, module_name): module}
        with contextlib.suppress(ImportError):
            self.space["einops"] = importlib.import_module("einops")
        self.ready: Callable[[Any], Any] | None = None
        self.debug = False
        if module_name == OURS:
            self.array = lambda x: module.asarray(x, copy=True)
            self.debug = bool(module._stridewise._debug)
        elif name == "numpy":
            self.array = lambda x: x
            self.space["added"] = added
        elif name == "torch":
            self.array = module.tensor
        elif name == "paddle":
            module.set_device("cpu")
            self.array = module.to_tensor
            self.space["without"] = module.no_grad()
            self.space["without"].__enter__()
        elif name == "jax":
            home.config.update("jax_enable_x64", True)
            self.array = module.asarray
            self.ready = home.block_until_ready
            self.space["jax"] = home

    def own(self, value: Any) -> Any:
        """An array of NumPy's as one of this library's; lists of arrays too."""
        if isinstance(value, np.ndarray):
            return self.array(value)
        if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
            return [self.array(part) for part in value]
        return value

    def prepare(self, case: Case) -> dict[str, Any]:
        """Gets the arrays ready and sees that each spelling gives what it should. Says why one cannot be timed."""
        self.timers: dict[str, tuple[timeit.Timer, int]] = {}
        self.last: dict[str, float] = {}
        spellings = case.spellings(self.name)
        if not spellings:
            return {}
        arrays: dict[str, Any] = {}
        exec(case.data, {"np": np, "numbers": numbers, "indices": indices}, arrays)
        space = {**self.space, **{name: self.own(value) for name, value in arrays.items()}}
        expected = expectation(case, arrays)
        refused: dict[str, str] = {}
        for spelling in spellings:
            try:
                exec(case.make.get(OURS if self.name == ALONE else self.name, ""), space)
                result = eval(spelling, space)
                compare(result, expected, case.exact)
                del result
            except Exception as error:
                refused[spelling] = f"{type(error).__name__}: {error}".splitlines()[0][:160]
                continue
            statement = spelling
            if self.ready:
                space["ready"] = self.ready
                statement = f"ready({spelling})"
            timer = timeit.Timer(statement, globals=space)
            self.timers[spelling] = (timer, loops(timer))
        self.beside: dict[str, tuple[timeit.Timer, int]] = {}
        if case.beside and self.name == OURS:
            timer = timeit.Timer(case.beside, globals=space)
            self.beside[case.beside] = (timer, loops(timer))
        return refused

    def time(self, timers: dict[str, tuple[timeit.Timer, int]]) -> dict[str, float]:
        """Nanoseconds of each spelling, the best of a few runs, mostly after one that is not counted."""
        best: dict[str, float] = {}
        gc.disable()
        for spelling, (timer, count) in timers.items():
            if self.last.get(spelling, 0.0) < SLOW:
                timer.timeit(count)
            begun = time.perf_counter()
            found = timer.timeit(count) / count
            while count == 1 and time.perf_counter() - begun < BURST:
                found = min(found, timer.timeit(1))
            self.last[spelling] = found
            best[spelling] = found * 1e9
        gc.enable()
        # A spelling that is far behind another one will not catch up.
        ahead = min(best.values(), default=0.0)
        for spelling, found in best.items():
            if found > 2 * ahead:
                del timers[spelling]
        return best


def expectation(case: Case, arrays: dict[str, Any]) -> Any:
    """What the result should be, worked out by NumPy; None where there is nothing to compare with."""
    space = {"np": np, "added": added, **arrays}
    spelled = case.expect or next(iter(case.spellings("numpy")), "")
    if not spelled or "einops" in spelled:
        return None
    if not case.expect:
        exec(case.make.get("numpy", ""), space)
    return eval(spelled, space)


def compare(result: Any, expected: Any, exact: bool) -> None:
    """Fails where the result is not the expected one."""
    if expected is None or isinstance(result, dict):
        return
    if isinstance(expected, list) and expected and isinstance(expected[0], np.ndarray):
        for part, wanted in zip(result, expected, strict=True):
            compare(part, wanted, exact)
        return
    found = np.asarray(result.detach() if hasattr(result, "detach") else result)
    if exact:
        np.testing.assert_array_equal(found, expected)
    else:
        loose = np.asarray(expected).dtype == np.float16
        np.testing.assert_allclose(found, expected, rtol=0.05 if loose else 1e-3)


def loops(timer: timeit.Timer) -> int:
    """How many times in a row make a measurement of its own."""
    count = 1
    while True:
        seconds = timer.timeit(count)
        if count == 1 and seconds >= LARGE:
            return 1
        if seconds >= ENOUGH / 2:
            return max(1, int(count * ENOUGH / seconds))
        count = max(count * 2, min(count * 20, int(count * ENOUGH / max(seconds, 1e-9))))


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints goes to standard error
    library = Library(sys.argv[1])
    print(json.dumps({"version": library.version, "debug": library.debug}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "prepare" in request:
            gc.collect()
            answer: dict[str, Any] = library.prepare(CASES[request["prepare"]])
        else:
            answer = library.time(library.beside if request["time"] == "beside" else library.timers)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
