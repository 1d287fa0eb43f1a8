"""What the way back costs: gradients of large tensors beside PyTorch, on all cores, in one run.

    python bench/gradients.py                     # a table
    python bench/gradients.py --only take --rounds 20 --json gradients.json

Only `backward` is timed, with a gradient that is there already; what it needs of the way forward is kept. The two
take turns, round by round, so that a busy machine slows both; the best round counts. A copy of 64 MiB by NumPy in the
same rounds tells what the machine could do. Timings never make the exit status anything but 0.
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
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from calls import is_debug, ratio, verdict

OURS, PEER = "stridewise", "torch"
MIB = 1 << 20
COPY = "copy"


@dataclass(frozen=True)
class Row:
    """One line of the table: the way forward from `x` in each library, with `index` where there is one."""

    name: str
    form: str
    goal: float  # how many times faster than the peer
    shape: tuple[int, ...]
    stridewise: str
    torch: str
    index: int = 0  # how many of them


ROWS = [
    Row(
        "expand",
        "(1024, 1, 256) to 64 rows",
        1.0,
        (1024, 1, 256),
        "x.expand(1024, 64, 256)",
        "x.expand(1024, 64, 256)",
    ),
    Row(
        "expand",
        "(4096, 64, 1) to 64 columns",
        1.0,
        (4096, 64, 1),
        "x.expand(4096, 64, 64)",
        "x.expand(4096, 64, 64)",
    ),
    Row(
        "repeat",
        "(1024, 1, 256) to 64 rows",
        1.0,
        (1024, 1, 256),
        "x.repeat(1, 64, 1)",
        "x.repeat(1, 64, 1)",
    ),
    Row(
        "take",
        "4 Mi of 16 Mi",
        1.5,
        (16 * MIB,),
        "x.take(index)",
        "torch.take(x, index)",
        index=4 * MIB,
    ),
    # PyTorch's own faster way to the same, for one axis.
    Row(
        "take",
        "to index_select",
        1.5,
        (16 * MIB,),
        "x.take(index)",
        "x.index_select(0, index)",
        index=4 * MIB,
    ),
]


def prepared(library: str, row: Row, arrays: dict[str, Any]) -> tuple[Callable[[], None], Callable[[], Any]]:
    """A function that goes the way back, and one that gives the gradient as an array of NumPy's."""
    module = importlib.import_module(library)
    space = {library: module}
    if library == OURS:
        array, x = module.to_tensor, module.to_tensor(arrays["x"], requires_grad=True)
    else:
        array, x = module.from_numpy, module.from_numpy(arrays["x"]).clone().requires_grad_()
    if row.index:
        space["index"] = array(arrays["index"])
    y = eval(getattr(row, library), {**space, "x": x})
    seed = array(arrays["seed"](tuple(y.shape)))

    def back() -> None:
        x.grad = None
        y.backward(seed, retain_graph=True)

    return back, lambda: np.asarray(x.grad)


def timed(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1e3


def measure(row: Row, libraries: list[str], rounds: int) -> tuple[dict[str, float], int]:
    """Milliseconds of each way back, the best of interleaved rounds, and the bytes that have to be read and written."""
    random = np.random.default_rng(1)
    drawn: dict[tuple[int, ...], Any] = {}

    def seed(shape: tuple[int, ...]) -> Any:
        return drawn.setdefault(shape, random.random(shape, dtype="float32"))

    arrays = {"x": random.random(row.shape, dtype="float32"), "seed": seed}
    arrays["index"] = random.integers(0, row.shape[0], row.index)
    ways = {library: prepared(library, row, arrays) for library in libraries}
    runs = {library: back for library, (back, _) in ways.items()}
    source = np.ones(16 * MIB, "float32")
    target = np.ones_like(source)
    runs[COPY] = lambda: np.copyto(target, source)
    gradients = []
    for back, gradient in ways.values():
        back()
        gradients.append(gradient())
    for other in gradients[1:]:
        np.testing.assert_allclose(gradients[0], other, rtol=1e-4)
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, run in runs.items():
            best[name] = min(best.get(name, float("inf")), timed(run))
    parts = [arrays["x"], arrays["index"], *drawn.values()]
    return best, sum(part.nbytes for part in parts)


def speed(size: int, milliseconds: float) -> float:
    """Gigabytes in a second."""
    return size / milliseconds / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", metavar="NAME", help="only rows whose name contains this")
    parser.add_argument("--rounds", type=int, default=11, metavar="N", help="rounds, of which the best counts (11)")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there as well")
    options = parser.parse_args()
    rows = [row for row in ROWS if not options.only or options.only in row.name]
    if not rows:
        print(f"no row is called {options.only}; there are {', '.join(dict.fromkeys(row.name for row in ROWS))}")
        return 0
    import stridewise

    libraries, versions = [OURS], [f"{OURS} {stridewise.__version__}"]
    try:
        import torch
    except ImportError as error:
        print(f"without {PEER}: {error}", file=sys.stderr)
    else:
        libraries.append(PEER)
        versions.append(f"{PEER} {torch.__version__} on {torch.get_num_threads()} threads")
    print(f"{', '.join(versions)}; Python {platform.python_version()}, {os.cpu_count()} cores")
    if is_debug():
        print("This package is a debug build: its times mean nothing. Build it with `maturin develop --release`.")
    print(
        f"Milliseconds of `backward`, float32, the best of {max(options.rounds, 1)} rounds; then how many times faster"
    )
    print(
        "than PyTorch, and the bytes of gradients and indices in a second, beside those that a copy reads and writes."
    )
    print()
    head = f"{'gradient of':<12} {'form':<28}{'ms':>8}{'torch':>9}{'/torch':>9}{'GB/s':>8}{'copy':>8}  goal"
    print(head)
    print("-" * (len(head) + 9))
    report = []
    for row in rows:
        gc.collect()
        gc.disable()
        best, size = measure(row, libraries, max(options.rounds, 1))
        gc.enable()
        faster = best[PEER] / best[OURS] if PEER in best else None
        told = verdict({PEER: row.goal}, {} if faster is None else {PEER: faster})
        theirs = f"{best[PEER]:.2f}" if PEER in best else "-"
        rates = speed(size, best[OURS]), speed(128 * MIB, best[COPY])
        line = f"{row.name:<12} {row.form:<28}{best[OURS]:>8.2f}{theirs:>9}{ratio(faster):>9}"
        print(f"{line}{rates[0]:>8.1f}{rates[1]:>8.1f}  {row.goal:g}x {told}".rstrip(), flush=True)
        entry = {"operator": row.name, "form": row.form, "ms": best, "ratio": faster, "goal": row.goal, "met": told}
        entry["statements"] = {library: getattr(row, library) for library in libraries}
        report.append(entry)
    met, missed = (sum(entry["met"] == word for entry in report) for word in ("met", "missed"))
    print()
    print(f"{met} goals met, {missed} missed.")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"versions": versions, "debug": is_debug(), "rows": report}, file, indent=1)
    return 0


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
    sys.stderr.close()
