"""Ranks as threads: `spawn`. And what a process under MPI does when it fails."""

from __future__ import annotations

import inspect
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, TypeVar

from stridewise import _stridewise
from stridewise._errors import WorldError

__all__ = ["spawn"]

_T = TypeVar("_T")

# So long the others have to end by themselves once a rank has failed.
_GRACE = 5.0


def spawn(fn: Callable[..., _T], ranks: int = 4, args: Sequence[Any] = (), timeout: float | None = None) -> list[_T]:
    """Runs a function on several ranks, each a thread of this process, and gives what they return.

    Inside of it `rank` and `world_size` tell which of how many this is, and `mesh` makes a mesh of them. While ranks
    wait for each other, the others have the interpreter.

    Parameters
    ----------
    fn : callable
        What each rank runs.
    ranks : int, default 4
        How many.
    args : sequence, default ()
        What each calls it with.
    timeout : float, optional
        How many seconds ranks wait for each other in a call; by default the environment's ``STRIDEWISE_TIMEOUT``, or
        a minute.

    Returns
    -------
    list
        What each rank returned, in order.

    Raises
    ------
    WorldError
        A rank returned early, called something else or was late.
    Exception
        Whatever a rank raised first; a note says which rank it was. The other ranks get a `WorldError` that names it,
        at their next call.

    Examples
    --------
    >>> import stridewise as sw
    >>> def total():
    ...     x = sw.mesh(4).shard(sw.arange(10), "S(0)")
    ...     return x.to_local().tolist(), x.sum().gather().item()
    >>> sw.spawn(total, ranks=4)
    [([0, 1, 2], 45), ([3, 4, 5], 45), ([6, 7], 45), ([8, 9], 45)]
    """
    # Such a call does nothing yet, and what it gives would run in no rank.
    kinds: dict[str, Callable[[Any], bool]] = {
        "a generator": inspect.isgeneratorfunction,
        "a coroutine": inspect.iscoroutinefunction,
        "an asynchronous generator": inspect.isasyncgenfunction,
    }
    for kind, is_such in kinds.items():
        if is_such(fn):
            raise TypeError(f"spawn: fn is {kind} function, which runs nothing when it is called")
    run = _Run(fn, args, _stridewise._threads(ranks, timeout))
    run.start()
    try:
        run.wait()
    except BaseException as error:
        # Such as a KeyboardInterrupt: whoever waits for others learns of it, and whoever works goes on.
        run.fail(f"the program that started the ranks ended them: {_text(error)}")
        run.wait_for_rest(1.0)
        raise
    return run.results()


class _Run:
    """The ranks of one call of `spawn`."""

    def __init__(self, fn: Callable[..., Any], args: Sequence[Any], ends: Sequence[_stridewise._Rank]) -> None:
        self._fn = fn
        self._args = tuple(args)
        self._ends = ends
        self._changed = threading.Condition()
        self._returned: dict[int, Any] = {}
        # In the order in which they came, so that the first is the cause of the others.
        self._raised: dict[int, BaseException] = {}

    def start(self) -> None:
        for rank in range(len(self._ends)):
            thread = threading.Thread(target=self._rank, args=(rank,), name=f"rank {rank}", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                self._note(rank, error)

    def _rank(self, rank: int) -> None:
        end = self._ends[rank]
        end.enter()
        try:
            returned = self._fn(*self._args)
        except BaseException as error:
            self._note(rank, error)
        else:
            with self._changed:
                self._returned[rank] = returned
                self._changed.notify_all()
        finally:
            end.leave()

    def _note(self, rank: int, error: BaseException) -> None:
        with self._changed:
            self._raised[rank] = error
            self._changed.notify_all()
        self._ends[rank].fail(_text(error))

    def fail(self, text: str) -> None:
        for end in self._ends:
            end.fail(text)

    def _missing(self) -> list[int]:
        return [rank for rank in range(len(self._ends)) if rank not in self._returned and rank not in self._raised]

    def wait(self) -> None:
        """Until all ranks are done, or one has failed and the others have had time to learn of it."""
        with self._changed:
            self._changed.wait_for(lambda: self._raised or not self._missing())
        self.wait_for_rest(_GRACE)

    def wait_for_rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        with self._changed:
            while self._missing() and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)

    def results(self) -> list[Any]:
        with self._changed:
            missing = self._missing()
            if self._raised:
                raise self._first(missing)
            return [self._returned[rank] for rank in range(len(self._ends))]

    def _first(self, missing: list[int]) -> BaseException:
        rank, error = next(iter(self._raised.items()))
        # A rank that was told of another's failure may have come first with it; the other one's is the cause.
        if isinstance(error, WorldError):
            own = ((at, other) for at, other in self._raised.items() if not isinstance(other, WorldError))
            rank, error = next(own, (rank, error))
        alike = [at for at, other in self._raised.items() if _text(other) == _text(error)]
        if len(alike) == len(self._ends):
            where = "all ranks" if len(self._ends) > 1 else "rank 0"
        else:
            where = f"rank {rank} of {len(self._ends)}"
        error.add_note(f"stridewise: raised on {where}")
        if missing:
            others = ", ".join(map(str, missing))
            error.add_note(f"stridewise: still running, and left behind: rank {others}")
        return error


def _text(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)).strip()


def _tell_of_failures() -> None:
    """A process that ends by an exception tells the other processes why, before they wait for it."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
        before(kind, error, where)
        _stridewise._fail(_text(error))

    sys.excepthook = hook


if _stridewise._under_mpi():
    _tell_of_failures()
