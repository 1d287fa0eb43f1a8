"""What a call costs: Stridewise beside NumPy, PyTorch and Paddle, each on its own arrays, in one run.

    python bench/calls.py                      # a table
    python bench/calls.py --only take --rounds 20 --json calls.json
    python bench/calls.py --peers numpy,jax    # JAX only when asked for

Every statement is the fastest spelling that the library has. The libraries take turns, round by round, so that a
busy machine slows all of them; the best round counts. Timings never make the exit status anything but 0.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import json
import os
import platform
import sys
import timeit
from dataclasses import dataclass
from importlib import metadata
from typing import Any

OURS = "stridewise"
DEFAULT_PEERS = "numpy,torch,paddle"
ENOUGH = 1.5e-3  # seconds in one measurement
WIDTH = 110

# Goals, as a ratio to each peer: how many times faster than it.
VIEW = {"numpy": 1.0, "torch": 4.0}
COPY = {"numpy": 1.0, "torch": 1.0}
NONE: dict[str, float] = {}


@dataclass(frozen=True)
class Row:
    """One line of the table: a statement for each library, over the names of `SETUP`."""

    name: str
    form: str
    goal: dict[str, float]
    stridewise: str
    numpy: str
    torch: str
    paddle: str
    jax: str = ""


# What the statements are about; `lib` is the library, `array` makes an array of it from a NumPy one.
SETUP = """
four = array(np.ones((4, 3, 1, 2), 'float32'))
flat = array(np.ones((8, 6), 'float32'))
cube = array(np.ones((2, 3, 4), 'float32'))
row = array(np.ones(5, 'float32'))
zero = array(np.array(1.5, 'float32'))
index = array(np.array([0, 2, 1]))
listed = [0, 2, 1]
pattern = ['b', None, 4]
def check(x):
    b, n, c = x.shape
    if c != 4:
        raise ValueError(x.shape)
    return x, [b, n, c]
"""

EINOPS = "einops.parse_shape(cube, 'b _ c')"

ROWS = [
    Row(
        "expand",
        "function",
        VIEW,
        "sw.expand(four, 4, 3, 5, 2)",
        "np.broadcast_to(four, (4, 3, 5, 2))",
        "four.expand(4, 3, 5, 2)",
        "paddle.expand(four, [4, 3, 5, 2])",
        "jnp.broadcast_to(four, (4, 3, 5, 2))",
    ),
    Row(
        "expand",
        "method",
        VIEW,
        "four.expand(4, 3, 5, 2)",
        "np.broadcast_to(four, (4, 3, 5, 2))",
        "four.expand(4, 3, 5, 2)",
        "four.expand([4, 3, 5, 2])",
    ),
    Row(
        "unflatten",
        "function",
        VIEW,
        "sw.unflatten(flat, 1, (2, 3))",
        "flat.reshape(8, 2, 3)",
        "torch.unflatten(flat, 1, (2, 3))",
        "paddle.unflatten(flat, 1, [2, 3])",
        "flat.reshape(8, 2, 3)",
    ),
    Row(
        "unflatten",
        "method",
        VIEW,
        "flat.unflatten(1, (2, 3))",
        "flat.reshape(8, 2, 3)",
        "flat.unflatten(1, (2, 3))",
        "flat.unflatten(1, [2, 3])",
    ),
    # NumPy has no unflatten. Above, its sizes are known beforehand; here they come from the array, as ours do.
    Row(
        "unflatten",
        "of any shape",
        VIEW,
        "flat.unflatten(1, (2, 3))",
        "flat.reshape(flat.shape[:1] + (2, 3) + flat.shape[2:])",
        "flat.unflatten(1, (2, 3))",
        "flat.unflatten(1, [2, 3])",
    ),
    Row(
        "atleast_1d",
        "of rank 0",
        VIEW,
        "sw.atleast_1d(zero)",
        "np.atleast_1d(zero)",
        "torch.atleast_1d(zero)",
        "paddle.atleast_1d(zero)",
        "jnp.atleast_1d(zero)",
    ),
    Row(
        "atleast_1d",
        "as is",
        VIEW,
        "sw.atleast_1d(row)",
        "np.atleast_1d(row)",
        "torch.atleast_1d(row)",
        "paddle.atleast_1d(row)",
        "jnp.atleast_1d(row)",
    ),
    Row(
        "atleast_3d",
        "of rank 1",
        VIEW,
        "sw.atleast_3d(row)",
        "np.atleast_3d(row)",
        "torch.atleast_3d(row)",
        "paddle.atleast_3d(row)",
        "jnp.atleast_3d(row)",
    ),
    Row(
        "enforce_shape",
        "to einops",
        VIEW,
        "sw.enforce_shape(cube, pattern)",
        EINOPS,
        EINOPS,
        EINOPS,
        EINOPS,
    ),
    Row(
        "enforce_shape",
        "to a check",
        NONE,
        "sw.enforce_shape(cube, pattern)",
        "check(cube)",
        "check(cube)",
        "check(cube)",
        "check(cube)",
    ),
    Row(
        "enforce_shape",
        "of NumPy's",
        NONE,
        "sw.enforce_shape(np_cube, pattern)",
        EINOPS,
        EINOPS,
        EINOPS,
        EINOPS,
    ),
    Row(
        "reshape",
        "function",
        VIEW,
        "sw.reshape(cube, 6, 4)",
        "np.reshape(cube, (6, 4))",
        "torch.reshape(cube, (6, 4))",
        "paddle.reshape(cube, [6, 4])",
        "jnp.reshape(cube, (6, 4))",
    ),
    Row(
        "reshape",
        "method",
        VIEW,
        "cube.reshape(6, 4)",
        "cube.reshape(6, 4)",
        "cube.view(6, 4)",
        "cube.reshape([6, 4])",
        "cube.reshape(6, 4)",
    ),
    Row(
        "permute",
        "function",
        VIEW,
        "sw.permute(cube, 2, 0, 1)",
        "np.transpose(cube, (2, 0, 1))",
        "torch.permute(cube, (2, 0, 1))",
        "paddle.transpose(cube, [2, 0, 1])",
        "jnp.permute_dims(cube, (2, 0, 1))",
    ),
    Row(
        "permute",
        "method",
        VIEW,
        "cube.permute(2, 0, 1)",
        "cube.transpose(2, 0, 1)",
        "cube.permute(2, 0, 1)",
        "cube.transpose([2, 0, 1])",
        "cube.transpose(2, 0, 1)",
    ),
    Row("slice", "x[1:, ::2]", VIEW, *["cube[1:, ::2]"] * 5),
    Row("slice", "x[1]", VIEW, *["cube[1]"] * 5),
    Row(
        "unsqueeze",
        "function",
        VIEW,
        "sw.unsqueeze(cube, 1)",
        "np.expand_dims(cube, 1)",
        "torch.unsqueeze(cube, 1)",
        "paddle.unsqueeze(cube, 1)",
        "jnp.expand_dims(cube, 1)",
    ),
    Row(
        "unsqueeze",
        "method",
        VIEW,
        "cube.unsqueeze(1)",
        "cube[:, None]",
        "cube.unsqueeze(1)",
        "cube.unsqueeze(1)",
        "cube[:, None]",
    ),
    Row(
        "take of 3",
        "by an array",
        COPY,
        "sw.take(row, index)",
        "row.take(index)",
        "torch.take(row, index)",
        "paddle.take(row, index)",
        "jnp.take(row, index)",
    ),
    Row("take of 3", "method", COPY, "row.take(index)", "row.take(index)", "row.take(index)", "row.take(index)"),
    Row(
        "take of 3",
        "by a list",
        COPY,
        "sw.take(row, listed)",
        "row.take(listed)",
        "torch.take(row, torch.tensor(listed))",
        "paddle.take(row, paddle.to_tensor(listed))",
        "jnp.take(row, jnp.array(listed))",
    ),
    Row(
        "repeat",
        "function",
        COPY,
        "sw.repeat(flat, 2, 2)",
        "np.tile(flat, (2, 2))",
        "torch.tile(flat, (2, 2))",
        "paddle.tile(flat, [2, 2])",
        "jnp.tile(flat, (2, 2))",
    ),
    Row(
        "repeat",
        "method",
        COPY,
        "flat.repeat(2, 2)",
        "np.tile(flat, (2, 2))",
        "flat.repeat(2, 2)",
        "flat.tile([2, 2])",
    ),
]


class Library:
    """A library with its own arrays, ready to run statements."""

    def __init__(self, name: str) -> None:
        import numpy as np

        self.name = name
        module = importlib.import_module({"jax": "jax.numpy"}.get(name, name))
        self.version = str(getattr(importlib.import_module(name), "__version__", None) or metadata.version(name))
        self.space: dict[str, Any] = {"np": np, "np_cube": np.ones((2, 3, 4), "float32")}
        with contextlib.suppress(ImportError):
            self.space["einops"] = importlib.import_module("einops")
        makers = {
            "stridewise": lambda x: module.asarray(x, copy=True),
            "numpy": lambda x: x,
            "torch": lambda x: module.from_numpy(x.copy()),
            "paddle": lambda x: module.to_tensor(x),
            "jax": lambda x: module.asarray(x),
        }
        self.space["array"] = makers[name]
        self.space[{"stridewise": "sw", "jax": "jnp"}.get(name, name)] = module
        if name == "torch":
            module.set_num_threads(1)
            module.set_grad_enabled(False)
        if name == "paddle":
            module.set_device("cpu")
            self.space["guard"] = module.no_grad()
            self.space["guard"].__enter__()
        exec(SETUP, self.space)

    def timer(self, statement: str) -> timeit.Timer | None:
        """A timer for the statement, if the library can run it."""
        timer = timeit.Timer(statement, globals=self.space)
        try:
            timer.timeit(3)
        except Exception as error:
            print(f"{self.name} cannot run `{statement}`: {error!r}"[:200], file=sys.stderr)
            return None
        return timer


def loops(timer: timeit.Timer) -> int:
    """How many times in a row make a measurement of its own."""
    count = 1
    while True:
        seconds = timer.timeit(count)
        if seconds >= ENOUGH / 2:
            return max(1, int(count * ENOUGH / seconds))
        count = max(count * 2, min(count * 20, int(count * ENOUGH / max(seconds, 1e-9))))


def measure(row: Row, libraries: list[Library], rounds: int) -> dict[str, float]:
    """Nanoseconds of one call in each library: the best of interleaved rounds."""
    timers: dict[str, tuple[timeit.Timer, int]] = {}
    for library in libraries:
        statement = getattr(row, library.name)
        timer = library.timer(statement) if statement else None
        if timer:
            timers[library.name] = (timer, loops(timer))
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, (timer, count) in timers.items():
            best[name] = min(best.get(name, float("inf")), timer.timeit(count) / count * 1e9)
    return best


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x" if value < 10 else f"{value:.0f}x"


def short(goal: dict[str, float]) -> str:
    """A goal such as `1x N, 4x T`."""
    return ", ".join(f"{least:.0f}x {peer[0].upper()}" for peer, least in goal.items()) or "-"


def verdict(goal: dict[str, float], ratios: dict[str, float]) -> str:
    """Whether the goal is met, as far as the peers are there to tell."""
    told = [ratios[peer] >= least if peer in ratios else None for peer, least in goal.items()]
    if False in told:
        return "missed"
    return "met" if told and None not in told else "-"


def available(names: list[str]) -> list[Library]:
    """The libraries that can be imported."""
    found = []
    for name in names:
        try:
            found.append(Library(name))
        except ImportError as error:
            if name == OURS:
                raise
            print(f"without {name}: {error}", file=sys.stderr)
    return found


def is_debug() -> bool | None:
    """Whether the package was built without optimisation; None where it does not tell."""
    import stridewise

    told = getattr(stridewise._stridewise, "_debug", None)
    return bool(told() if callable(told) else told) if told is not None else None


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", metavar="NAME", help="only rows whose name contains this")
    parser.add_argument("--rounds", type=int, default=9, metavar="N", help="rounds, of which the best counts (9)")
    parser.add_argument("--peers", default=DEFAULT_PEERS, metavar="A,B,C", help=f"at most three ({DEFAULT_PEERS})")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there as well")
    options = parser.parse_args()
    peers = [name for name in options.peers.split(",") if name][:3]
    unknown = [name for name in peers if name not in ("numpy", "torch", "paddle", "jax")]
    if unknown:
        parser.error(f"no such peer: {', '.join(unknown)}")
    rows = [row for row in ROWS if not options.only or options.only in row.name]
    if not rows:
        names = ", ".join(dict.fromkeys(row.name for row in ROWS))
        print(f"no row is called {options.only}; there are {names}")
        return 0
    libraries = available([OURS, *peers])
    peers = [library.name for library in libraries[1:]]

    versions = ", ".join(f"{library.name} {library.version}" for library in libraries)
    print(f"{versions}; Python {platform.python_version()}, {os.cpu_count()} cores")
    debug = is_debug()
    if debug:
        print("This package is a debug build: its times mean nothing. Build it with `maturin develop --release`.")
    elif debug is None:
        print("The package does not tell whether it is a release build: only one of `--release` is worth timing.")
    print(f"Nanoseconds for one call, the best of {options.rounds} rounds; then how many times faster than each peer.")
    print()
    columns = ["ns", *(name[:6] for name in peers), *(f"/{name}"[:7] for name in peers)]
    head = f"{'operator':<14} {'form':<11}" + "".join(f"{column:>8}" for column in columns) + f"  {'goal':<11} {'':<6}"
    print(head.rstrip())
    print("-" * min(len(head), WIDTH))
    report = []
    gc.collect()
    gc.disable()
    for row in rows:
        best = measure(row, libraries, max(options.rounds, 1))
        ours = best.get(OURS)
        ratios = {peer: best[peer] / ours for peer in peers if ours and peer in best}
        cells = [
            number(ours),
            *(number(best.get(peer)) for peer in peers),
            *(ratio(ratios.get(peer)) for peer in peers),
        ]
        told = verdict(row.goal, ratios)
        line = f"{row.name:<14} {row.form:<11}" + "".join(f"{cell:>8}" for cell in cells)
        print(f"{line}  {short(row.goal):<11} {told:<6}".rstrip(), flush=True)
        entry = {"operator": row.name, "form": row.form, "ns": best, "ratios": ratios, "goal": row.goal, "met": told}
        entry["statements"] = {library.name: getattr(row, library.name) for library in libraries}
        report.append(entry)
    gc.enable()
    met, missed = (sum(entry["met"] == word for entry in report) for word in ("met", "missed"))
    print()
    print(f"{met} goals met, {missed} missed. N is NumPy, T is PyTorch: `4x T` is four times faster than PyTorch.")
    if options.json:
        info = {"versions": {library.name: library.version for library in libraries}, "debug": debug, "rows": report}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(info, file, indent=1)
    return 0


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
    sys.stderr.close()
