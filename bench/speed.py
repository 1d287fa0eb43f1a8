"""Stridewise beside NumPy, PyTorch, Paddle and JAX on the same work in one run, and beside the machine's own limit.

    python bench/speed.py                          # tables
    python bench/speed.py repeat take              # only what begins so, or contains it
    python bench/speed.py --write                  # bench/results.json, docs/performance.md and its pictures too

Each library runs in a process of its own, on its own arrays, in its fastest spelling, and its result is compared with
NumPy's before it is timed. They take turns, round by round, so that a busy machine slows all of them; the best round
counts. Right after each of our turns the machine itself fills, copies or reads as many bytes: that is the limit, and
the part of it that we reach is the median over the rounds. Timings never make the exit status anything but 0.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import signal
import sys
import time
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

from crew import Library, Machine
from pages import write_docs
from report import Result, headline, table
from work import CASES, Case
from work.case import ALONE, OURS, PEERS

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
PASSES = 3  # over calls that move no data: what slows one down lasts for seconds, longer than all its rounds


def measure(case: Case, libraries: list[Library], machine: Machine, rounds: int) -> Result:
    """Nanoseconds of a case in each library and of the machine's own work: the best of interleaved rounds."""
    # On one thread only where that is the question.
    asked = [library for library in libraries if case.spellings(library.name)]
    asked = [library for library in asked if (library.name == ALONE) <= (ALONE in case.goals)]
    best: dict[str, float] = {}

    def note(name: str, found: float | None) -> None:
        if found is not None:
            best[name] = min(best.get(name, found), found)

    for library in asked:
        library.begin(case)
    for library in asked:
        library.ready(case)
    parts: list[float] = []
    for _ in range(rounds):
        for library in asked:
            found = library.time()
            note(library.name, found)
            # Right after ours: how fast memory is changes from second to second where it is shared.
            if library.name == OURS and case.limit:
                limit = library.time(beside=True) if case.beside else machine.time(case)
                note(case.limit, limit)
                if found and limit:
                    parts.append(limit / found)
                if ALONE in case.goals:
                    note(f"{case.limit} {ALONE}", machine.time(case, 1))
    part = median(parts) if parts else None
    return Result(case.group, case.name, best, case.goals, case.moved, case.limit, part)


def passes(cases: list[Case]) -> list[Case]:
    """The cases of a group in the order in which they are measured: calls several times, one after the other."""
    calls = [case for case in cases if not case.moved]
    return cases + (PASSES - 1) * calls


def chosen(words: list[str]) -> list[Case]:
    return [case for case in CASES if not words or any(case.group == word or word in case.name for word in words)]


def progress(done: int, total: int, name: str) -> None:
    if sys.stderr.isatty():
        filled = 24 * done // total
        print(f"\r\x1b[K[{'█' * filled}{'·' * (24 - filled)}] {done}/{total} {name}"[:110], end="", file=sys.stderr)


def processor() -> str:
    """The processor, and the widest vectors it has: kernels are chosen by them, and a name may stand for several."""
    told: dict[str, str] = {}
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            name, _, value = line.partition(":")
            told.setdefault(name.strip(), value.strip())
    name = told.get("model name") or platform.processor() or platform.machine()
    widths = {"avx512_vbmi": "AVX-512 VBMI", "avx512bw": "AVX-512", "avx2": "AVX2"}
    widest = [said for flag, said in widths.items() if flag in told.get("flags", "").split()]
    return f"{name} ({widest[0]})" if widest else name


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("only", nargs="*", metavar="WORD", help="groups, or parts of the names of cases")
    parser.add_argument(
        "--rounds",
        type=int,
        default=7,
        metavar="N",
        help=f"rounds, of which the best counts (7); calls have {PASSES} times as many",
    )
    parser.add_argument("--peers", default=",".join(PEERS), metavar="A,B", help=f"of {', '.join(PEERS)}")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there")
    parser.add_argument(
        "--write", action="store_true", help="write bench/results.json, docs/performance.md and its pictures"
    )
    parser.add_argument("--again", action="store_true", help="time nothing: write the documents of the last run anew")
    options = parser.parse_args()
    # So that a run that is ended ends its processes, which may be held still.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if options.again:
        write_docs(json.loads(RESULTS.read_text(encoding="utf-8")))
        return 0
    peers = [name for name in options.peers.split(",") if name]
    if unknown := [name for name in peers if name not in PEERS]:
        parser.error(f"no such peer: {', '.join(unknown)}")
    cases = chosen(options.only)
    if not cases:
        groups = ", ".join(dict.fromkeys(case.group for case in CASES))
        print(f"nothing is called {' or '.join(options.only)}; groups are {groups}")
        return 0

    libraries = [Library(name) for name in (OURS, ALONE, *peers)]
    for library in libraries:
        if not library.is_there:
            print(f"without {library.name}: it cannot be imported", file=sys.stderr)
    libraries = [library for library in libraries if library.is_there]
    machine = Machine()
    if machine.process is None:
        print("without the machine's limits: `cargo build --release --package stridewise-machine`", file=sys.stderr)
    info: dict[str, Any] = {
        "versions": {library.name: library.version for library in libraries if library.name != ALONE},
        "python": platform.python_version(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "date": time.strftime("%Y-%m-%d"),
        "rounds": options.rounds,
        "passes": PASSES,
        "debug": any(library.debug for library in libraries),
    }
    print(headline(info))
    if info["debug"]:
        print("This package is a debug build: its times mean nothing. Build it with `maturin develop --release`.")
    results: list[Result] = []
    for group, members in groupby(cases, lambda case: case.group):
        found: dict[str, Result] = {}
        for case in passes(list(members)):
            done = len(results) + len(found)
            progress(done, len(cases), f"{group}: {case.name}")
            result = measure(case, libraries, machine, max(options.rounds, 1))
            found[case.name] = found[case.name].best_of(result) if case.name in found else result
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr)
        results += found.values()
        print(table(group, list(found.values())), flush=True)
    for library in libraries:
        for name, said in library.refused.items():
            for spelling, why in said.items():
                print(f"{library.name} cannot do {name} as `{spelling}`: {why}", file=sys.stderr)
    info["results"] = [result.as_json() for result in results]
    for path in [options.json] if options.json else []:
        Path(path).write_text(json.dumps(info, indent=1) + "\n", encoding="utf-8")
    if options.write:
        RESULTS.write_text(json.dumps(info, indent=1) + "\n", encoding="utf-8")
        write_docs(info)
    return 0


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
    sys.stderr.close()
