"""What a run of a graph costs beside the same calls made at once, in one run.

    python bench/graphs.py
    python bench/graphs.py --only views --rounds 20

The two take turns, round by round, so that a busy machine slows both; the best round counts. Timings never make the
exit status anything but 0.
"""

from __future__ import annotations

import argparse
import gc
import platform
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from report import ratio

import stridewise as sw

B, C = sw.symbol("B"), sw.symbol("C")


def twenty_views(x: Any) -> Any:
    """Twenty calls, none of which moves data."""
    for _ in range(4):
        x = x.unsqueeze(0).permute(1, 2, 0).squeeze(2).flip(0).swapaxes(0, 1)
    return x


def small_chain(x: Any) -> Any:
    """Views around two copies of little data."""
    return x.reshape(-1, 2).repeat(1, 2).flip(1).take([0, 1], axis=1).unsqueeze(0)


def written_out(x: Any) -> Any:
    """`repeat(4, 4)` as reshape, expand and reshape."""
    b, c = x.shape
    return x.reshape(1, b, 1, c).expand(4, b, 4, c).reshape(4 * b, 4 * c)


@dataclass(frozen=True)
class Row:
    """One line of the table: a function, and the shape it is called with."""

    name: str
    form: str
    function: Callable[[Any], Any]
    shape: tuple[int, int]
    beside: Callable[[Any], Any] | None = None  # what it is held to, where that is not the function itself


ROWS = [
    Row("views", "20 views of (64, 32)", twenty_views, (64, 32)),
    Row("chain", "4 views, 2 copies of (8, 4)", small_chain, (8, 4)),
    Row("repeat", "reshape-expand-reshape of (512, 512)", written_out, (512, 512), lambda x: x.repeat(4, 4)),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", metavar="NAME", help="only rows whose name contains this")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="rounds, of which the best counts (15)")
    options = parser.parse_args()
    print(f"stridewise {sw.__version__}; Python {platform.python_version()}")
    if sw._stridewise._debug:
        print("This package is a debug build: its times mean nothing. Build it with `maturin develop --release`.")
    print("Microseconds of a run, the best of interleaved rounds, and how many times faster the graph is.")
    print()
    head = f"{'graph of':<10} {'form':<40}{'graph':>10}{'at once':>10}{'faster':>9}  steps"
    print(head)
    print("-" * len(head))
    for row in ROWS:
        if options.only and options.only not in row.name:
            continue
        x = sw.asarray(np.random.default_rng(1).random(row.shape))
        graph = sw.trace(row.function, sw.spec("float64", [B, C]))
        beside = row.beside or row.function
        if not sw.array_equal(graph(x), beside(x)):
            raise SystemExit(f"{row.name}: the results differ")
        runs = {"graph": lambda g=graph, x=x: g(x), "at once": lambda f=beside, x=x: f(x)}
        number = {name: max(1, int(0.02 / max(timeit.timeit(run, number=3) / 3, 1e-7))) for name, run in runs.items()}
        best: dict[str, float] = {}
        gc.collect()
        gc.disable()
        for _ in range(max(options.rounds, 1)):
            for name, run in runs.items():
                one = timeit.timeit(run, number=number[name]) / number[name] * 1e6
                best[name] = min(best.get(name, float("inf")), one)
        gc.enable()
        faster = best["at once"] / best["graph"]
        line = f"{row.name:<10} {row.form:<40}{best['graph']:>10.2f}{best['at once']:>10.2f}{ratio(faster):>9}"
        print(f"{line}  {len(graph.steps(x))}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
