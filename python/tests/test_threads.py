"""Many Python threads at once: right answers, and the interpreter's lock let go while data moves."""

from __future__ import annotations

import _thread
import copy
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import stridewise as sw

WORKERS = 8
SOURCE = np.arange(5 * 7 * 4, dtype="int32").reshape(5, 7, 4)
SHARED = sw.asarray(SOURCE)

# What each thread does, as pairs of the call and NumPy's answer.
WORK: list[tuple[Callable[[], sw.Tensor], np.ndarray[Any, Any]]] = [
    (lambda: sw.expand(SHARED, 3, 5, 7, 4), np.broadcast_to(SOURCE, (3, 5, 7, 4))),
    (lambda: SHARED.repeat(2, 1, 3), np.tile(SOURCE, (2, 1, 3))),
    (lambda: SHARED.unflatten(2, [2, -1]).flip(), np.flip(SOURCE.reshape(5, 7, 2, 2))),
    (lambda: SHARED.take([[0, -1], [3, 99]], 1, mode="clip"), SOURCE.take([[0, -1], [3, 99]], 1, mode="clip")),
    (lambda: SHARED.take(np.array([139, 0, -1])), SOURCE.take([139, 0, -1])),
    (lambda: SHARED.sum(1), SOURCE.sum(1)),
    (lambda: sw.concat([SHARED, SOURCE[::-1]], -1), np.concatenate([SOURCE, SOURCE[::-1]], -1)),
    (lambda: SHARED.permute(2, 0, 1).contiguous(), SOURCE.transpose(2, 0, 1)),
    (lambda: sw.stack(SHARED.unstack(1), 1), SOURCE),
    (lambda: SHARED.cast("float64").reshape(-1), SOURCE.reshape(-1).astype("float64")),
    (lambda: SHARED[1:, ::-2, None, 0], SOURCE[1:, ::-2, None, 0]),
    (lambda: sw.atleast_3d(SOURCE[0, 0]), np.atleast_3d(SOURCE[0, 0])),
    (lambda: sw.enforce_shape(SHARED, ["n", ..., 4])[0], SOURCE),
]


@pytest.fixture
def busy_switching() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("busy_switching")
def test_many_threads_calling_at_once_get_right_answers() -> None:
    start = threading.Barrier(WORKERS)

    def work(worker: int) -> int:
        start.wait()
        done = 0
        for turn in range(150):
            call, expected = WORK[(turn + worker) % len(WORK)]
            result = call()
            assert result.shape == expected.shape
            assert np.array_equal(result.numpy(), expected)
            done += 1
        return done

    with ThreadPoolExecutor(WORKERS) as pool:
        assert sum(pool.map(work, range(WORKERS))) == WORKERS * 150


@pytest.mark.usefixtures("busy_switching")
def test_errors_of_one_thread_do_not_reach_another() -> None:
    start = threading.Barrier(WORKERS)

    def work(worker: int) -> None:
        start.wait()
        for turn in range(100):
            with pytest.raises(sw.ShapeError) as caught:
                SHARED.expand(5, 7, 1000 * worker + turn + 100, name=f"worker {worker}")
            assert caught.value.actual == str(1000 * worker + turn + 100)
            assert str(caught.value).startswith(f"expand `worker {worker}`: ")

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(work, range(WORKERS)))


@pytest.mark.usefixtures("busy_switching")
def test_views_made_and_dropped_by_many_threads_leave_the_owner_as_it_was() -> None:
    owner = np.arange(1000.0)
    before = sys.getrefcount(owner)

    def work(root: sw.Tensor) -> None:
        for _ in range(200):
            views = [sw.asarray(owner)[at:] for at in range(4)] + [root.flip(), root.expand(2, -1)]
            assert views[2].numpy()[0] == 2
            del views

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(work, [sw.asarray(owner)] * WORKERS))
    gc.collect()
    assert sys.getrefcount(owner) == before


@pytest.mark.usefixtures("busy_switching")
def test_the_last_reference_may_be_dropped_by_another_thread() -> None:
    def work(worker: int) -> float:
        handed: list[sw.Tensor] = [sw.asarray(np.full(50, float(worker))) for _ in range(50)]
        with ThreadPoolExecutor(1) as other:
            return sum(other.submit(lambda: handed.pop().flip().sum().item()).result() for _ in range(50))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [worker * 2500.0 for worker in range(4)]


def ran_during(call: Callable[[], Any]) -> bool:
    """Whether another thread runs Python code before the call comes back.

    With an endless switch interval nobody takes the lock from a thread that does not let it go, so that the other
    thread, which is waiting, runs before `finished` is set only if the call itself lets go. No clock is read.
    """
    finished: list[bool] = []
    seen: list[bool] = []
    ready, gate, done = _thread.allocate_lock(), _thread.allocate_lock(), _thread.allocate_lock()
    for lock in (ready, gate, done):
        lock.acquire()

    def other() -> None:
        ready.release()
        with gate:
            seen.append(not finished)
        done.release()

    before = sys.getswitchinterval()
    try:
        _thread.start_new_thread(other, ())
        ready.acquire()
        sys.setswitchinterval(3600)
        gate.release()
        call()
        finished.append(True)
    finally:
        sys.setswitchinterval(before)
    done.acquire()
    return seen == [True]


BIG = sw.asarray(np.arange(1 << 21, dtype="float32"))
INDEX = sw.arange(1 << 21)
REBUILD, KEPT = BIG.__reduce_ex__(4)[:2]
MOVES: dict[str, Callable[[], Any]] = {
    "repeat": lambda: BIG.repeat(8),
    "tile": lambda: BIG.tile(8),
    "repeat_interleave": lambda: BIG.repeat_interleave(4),
    "take": lambda: BIG.take(INDEX.flip()),
    "index_select": lambda: BIG.index_select(0, INDEX),
    "take_along_axis": lambda: BIG.take_along_axis(INDEX),
    "index_add": lambda: BIG.index_add(0, INDEX, BIG),
    "sum": lambda: BIG.expand(8, -1).sum(),
    "concat": lambda: sw.concat([BIG] * 8),
    "stack": lambda: sw.stack([BIG] * 8),
    "contiguous": lambda: BIG.expand(8, -1).contiguous(),
    "cast": lambda: BIG.expand(8, -1).cast("float64"),
    "reshape": lambda: BIG.reshape(2048, 1024).T.expand(8, -1, -1).reshape(-1),
    "flatten": lambda: BIG.reshape(2048, 1024).T.expand(8, -1, -1).flatten(),
    "ones": lambda: sw.ones([1 << 23]),
    "full": lambda: sw.full([1 << 23], 1.5),
    "arange": lambda: sw.arange(1 << 23),
    "asarray(copy=True)": lambda: sw.asarray(BIG.expand(8, -1), copy=True),
    "asarray(dtype=)": lambda: sw.asarray(BIG.expand(8, -1), dtype="float64"),
    "Tensor(dtype=)": lambda: sw.Tensor(BIG.expand(8, -1), dtype="float64"),
    "deepcopy": lambda: copy.deepcopy(BIG.expand(8, -1)),
    "bytes": lambda: bytes(BIG),
    "pickle.dumps": lambda: BIG.__reduce_ex__(4),
    "pickle.loads": lambda: REBUILD(*KEPT),
}


def test_every_operator_that_moves_data_is_tried_for_the_lock() -> None:
    moving = {name for name, _, kind, _ in sw._stridewise._table() if kind in ("Copy", "ViewOrCopy", "Make")}
    assert moving - {"shape_of", "zeros"} <= set(MOVES)


@pytest.mark.parametrize("name", MOVES)
def test_the_interpreter_is_free_while_data_moves(name: str) -> None:
    # One time is proof; several are tried, since the system need not wake the other thread in time.
    assert any(ran_during(MOVES[name]) for _ in range(25))


def test_a_call_that_keeps_the_lock_is_seen_to_keep_it() -> None:
    numbers = list(range(1 << 16))
    assert not any(ran_during(lambda: sorted(numbers * 8)) for _ in range(5))
