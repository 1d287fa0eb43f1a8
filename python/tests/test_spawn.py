"""Ranks as threads: what they return, and what happens when one of them fails, returns early, is late or calls
something else. Every test has a watchdog: nothing may hang."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stridewise as sw

EXAMPLES = Path(__file__).parents[2] / "examples"


def watched(f: Callable[[], Any], seconds: float = 120.0) -> Any:
    """What a call returns or raises, within some time."""
    outcome: dict[str, Any] = {}

    def run() -> None:
        try:
            outcome["returned"] = f()
        except BaseException as error:
            outcome["raised"] = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "it hangs"
    if "raised" in outcome:
        raise outcome["raised"]
    return outcome["returned"]


def spawned(f: Callable[..., Any], ranks: int = 4, timeout: float = 60.0, args: tuple[Any, ...] = ()) -> Any:
    return watched(lambda: sw.spawn(f, ranks=ranks, timeout=timeout, args=args))


def test_results_come_in_the_order_of_ranks():
    assert spawned(lambda factor: (sw.rank() * factor, sw.world_size()), args=(10,)) == [
        (0, 4),
        (10, 4),
        (20, 4),
        (30, 4),
    ]
    assert spawned(sw.rank, ranks=1) == [0]
    assert (sw.rank(), sw.world_size()) == (0, 1)


def test_worlds_can_be_one_within_another():
    assert spawned(lambda: (sw.spawn(sw.rank, ranks=3), sw.rank()), ranks=2) == [([0, 1, 2], 0), ([0, 1, 2], 1)]


def test_ranks_need_each_other_more_often_than_they_have_the_interpreter():
    def sums() -> int:
        mesh, total = sw.mesh(8), 0
        for step in range(50):
            total += mesh.shard(sw.arange(16), "S(0)").sum().gather().item() + step
        return total

    assert spawned(sums, ranks=8) == [50 * 120 + sum(range(50))] * 8


def test_an_exception_on_one_rank_ends_the_others_with_an_error_that_names_it():
    told: dict[int, str] = {}

    def fails() -> None:
        x = sw.mesh(4).shard(sw.arange(8), "S(0)")
        if sw.rank() == 2:
            raise KeyError("the third")
        try:
            x.gather()
        except sw.WorldError as error:
            told[sw.rank()] = str(error)
            raise

    with pytest.raises(KeyError, match="the third") as caught:
        spawned(fails)
    assert caught.value.__notes__ == ["stridewise: raised on rank 2 of 4"]
    assert sorted(told) == [0, 1, 3]
    for text in told.values():
        assert "rank 2" in text
        assert "gather" in text
        assert "KeyError: 'the third'" in text


def test_what_all_ranks_raise_is_told_once():
    def fails() -> None:
        sw.mesh(4).shard(sw.arange(8), "S(0)").reshape(3)

    with pytest.raises(sw.ShapeError, match="reshape") as caught:
        spawned(fails)
    assert caught.value.__notes__ == ["stridewise: raised on all ranks"]


def test_a_rank_that_returns_early_is_named():
    def early() -> None:
        x = sw.mesh(4).shard(sw.arange(8), "S(0)")
        if sw.rank() != 1:
            x.gather()

    with pytest.raises(sw.WorldError, match="rank 1") as caught:
        spawned(early)
    assert "gather" in str(caught.value)


def test_a_rank_that_calls_something_else_is_named():
    def differs() -> None:
        x = sw.mesh(4).shard(sw.arange(8), "S(0)")
        if sw.rank() == 3:
            sw.barrier()
        else:
            x.gather()

    with pytest.raises(sw.WorldError, match="rank 3"):
        spawned(differs)


def test_a_part_of_the_wrong_shape_is_named():
    def wrong() -> None:
        sw.zeros([3 if sw.rank() == 2 else 2]).to_global(sw.mesh(4), "S(0)")

    with pytest.raises(sw.WorldError, match="rank 0 has a part of shape") as caught:
        spawned(wrong)
    assert str(caught.value).split("\n")[0] == (
        "to_global: rank 0 has a part of shape (2,), but its part of (9,) is (3,)"
    )
    assert "parts: (2,), (2,), (3,), (2,)" in str(caught.value)

    def mixed() -> None:
        sw.zeros([2], "float32" if sw.rank() else "float64").to_global(sw.mesh(4), "S(0)")

    with pytest.raises(sw.WorldError, match="rank 1 has a part of float32, but rank 0 one of float64"):
        spawned(mixed)


def test_a_wrong_index_on_one_rank_ends_all():
    def wrong() -> None:
        mesh = sw.mesh(4)
        index = sw.asarray([9 if sw.rank() == 2 else 0]).to_global(mesh, "S(0)")
        mesh.shard(sw.arange(4), "B").take(index).gather()

    with pytest.raises(sw.IndexOutOfRange, match="9") as caught:
        spawned(wrong)
    assert caught.value.__notes__ == ["stridewise: raised on rank 2 of 4"]


def test_a_rank_that_is_late_is_named_and_left_behind():
    go_on = threading.Event()

    def late() -> None:
        if sw.rank() == 1:
            go_on.wait()
        sw.barrier()

    try:
        with pytest.raises(sw.WorldError, match="rank 1") as caught:
            spawned(late, timeout=0.2)
        assert "stridewise: still running, and left behind: rank 1" in caught.value.__notes__
    finally:
        go_on.set()


def test_odd_arguments_are_refused():
    with pytest.raises(ValueError, match="at least one rank"):
        sw.spawn(sw.rank, ranks=0)
    with pytest.raises(ValueError, match="timeout is -1"):
        sw.spawn(sw.rank, ranks=1, timeout=-1)
    with pytest.raises(TypeError):
        sw.spawn(3, ranks=2)
    with pytest.raises(ValueError, match="at least one rank"):
        sw.spawn(sw.rank, ranks=-1)
    for many in (10**6, 10**12, 10**30):
        with pytest.raises(ValueError, match="spawn: a process has no threads for"):
            sw.spawn(sw.rank, ranks=many)
    for odd in (True, 2.0, "2", None):
        with pytest.raises(TypeError, match="spawn: ranks is an object of type"):
            sw.spawn(sw.rank, ranks=odd)
    for seconds in (0, float("nan"), float("inf"), 1e300):
        with pytest.raises(ValueError, match="no number of seconds above 0"):
            sw.spawn(sw.rank, ranks=1, timeout=seconds)
    with pytest.raises(TypeError, match="spawn: fn is a generator function"):
        sw.spawn(lambda: (yield), ranks=2)


def test_a_result_outlives_its_world():
    parts = spawned(lambda: sw.mesh(2).shard([1, 2, 3], "S(0)"), ranks=2)
    assert [part.to_local().tolist() for part in parts] == [[1, 2], [3]]
    assert [part.shape for part in parts] == [(3,), (3,)]
    with pytest.raises(sw.WorldError, match="rank 1"):
        parts[0].gather()


@pytest.mark.skipif(os.name != "posix", reason="a signal to oneself")
def test_an_interrupt_reaches_the_program_while_ranks_wait():
    code = """
import os, signal, threading, stridewise as sw
signal.signal(signal.SIGINT, signal.default_int_handler)    # a process in the background is started without
def waits():
    if sw.rank() == 1:
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait()
    sw.barrier()
try:
    sw.spawn(waits, ranks=2)
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.returncode) == ("interrupted\n", 0), done.stderr


def test_more_ranks_than_mpi_is_built_for_are_refused_by_name():
    code = "import stridewise as sw\nsw.mesh(2)"
    environment = {**os.environ, "OMPI_COMM_WORLD_SIZE": "2"}
    has_mpi = "import stridewise._stridewise as s; raise SystemExit(not s._has_mpi)"
    if subprocess.run([sys.executable, "-c", has_mpi]).returncode == 0:
        pytest.skip("this build has MPI")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=environment)
    assert "WorldError: mesh: 2 processes were started together by MPI, but this build" in done.stderr


@pytest.mark.parametrize("example", ["embedding.py"])
def test_examples_run_on_threads(example):
    done = subprocess.run(
        [sys.executable, EXAMPLES / example, "--threads", "4"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "the same as on one process" in done.stdout
