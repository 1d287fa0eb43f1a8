"""A sample of the soak test, and references counted call by call. The long run is `soak.py`, a script."""

from __future__ import annotations

import contextlib
import gc
import sys
from typing import Any

import numpy as np
import pytest
import soak
from test_semantics import CALLS

import stridewise as sw


def test_every_parameter_of_the_table_has_a_maker() -> None:
    found = {name for parameters in soak.PARAMETERS.values() for name, _, _ in parameters}
    assert found and found <= set(soak.MAKERS)
    assert [len(soak.PARAMETERS[name]) for name in ("expand", "shape_of", "sum")] == [2, 1, 4]


@pytest.mark.parametrize("seed", [1, 2])
def test_random_calls_from_four_threads_raise_only_what_is_documented_and_leave_memory_flat(seed: int) -> None:
    run = soak.Run(seed)
    run.go(6_000, 4)
    start, before = soak.resident(), soak.references()
    run.go(10_000, 4)
    assert not run.failures, run.failures[0]
    assert run.calls == sum(run.errors.values()) == 16_000
    assert run.errors["none"] > 4_000 and run.errors["ShapeError"] > 100 and run.errors["Raises"] > 10
    assert soak.resident() - start < 8 * 2**20
    assert soak.grown(before, soak.references(), 10_000) == {}


@pytest.mark.parametrize("good", [True, False], ids=["good", "bad"])
@pytest.mark.parametrize("name", CALLS)
def test_a_call_leaves_no_references_behind(name: str, good: bool) -> None:
    args = tuple(np.array(arg) if arg is CALLS["take"][0][0] else arg for arg in CALLS[name][0 if good else 1])
    function = getattr(sw, name)
    watched: list[Any] = [*soak.SINGLETONS, *args, function, sw.Tensor, sw.ShapeError, sw.float64]

    def calls(count: int) -> None:
        for _ in range(count):
            with contextlib.suppress(sw.StridewiseError):
                function(*args, name="node")

    def counts() -> list[int]:
        gc.collect()
        return [sys.getrefcount(value) for value in watched]

    calls(50)
    before = counts()
    calls(400)
    after = counts()
    moved = {repr(value)[:40]: b - a for value, a, b in zip(watched, before, after, strict=True) if abs(b - a) > 40}
    assert moved == {}


def test_results_and_errors_free_their_memory() -> None:
    big = sw.ones([1 << 18])

    def work(count: int) -> None:
        for _ in range(count):
            big.repeat(4).flip().unsqueeze(0).numpy()
            try:
                big.expand(3, name="x" * 100_000)
            except sw.ShapeError as error:
                str(error)

    work(20)
    start = soak.resident()
    work(200)  # 1.6 GB in all
    assert soak.resident() - start < 32 * 2**20


@pytest.mark.parametrize("odd", soak.SHARED)
def test_an_odd_argument_is_let_go_when_the_call_ends(odd: str) -> None:
    value = soak.SHARED[odd]
    tensor = sw.zeros([2, 3])
    leaking = []
    for name in CALLS:
        function = getattr(sw, name)
        for args in ((value,), (tensor, value), (tensor, 0, value), (tensor, [value])):
            before = sys.getrefcount(value)
            with contextlib.suppress(ValueError, IndexError, TypeError, soak.Raises):
                function(*args)
            with contextlib.suppress(ValueError, IndexError, TypeError, soak.Raises):
                function(*args, name=value)
            if sys.getrefcount(value) != before:
                leaking.append(f"{name} with {len(args)} arguments: {sys.getrefcount(value) - before}")
    assert leaking == []
