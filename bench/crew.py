"""The processes that are timed: one for each library, and one for the machine itself. All but one are held still."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from work import CASES, Case
from work.case import ALONE

HERE = Path(__file__).parent
MACHINE = HERE.parent / "target" / "release" / "stridewise-machine"


class Process:
    """A process that answers one line with another, and is stopped while it has nothing to do.

    Libraries with OpenMP keep their threads spinning for a while after the work is done; that would be taken from
    whoever comes next.
    """

    def __init__(self, command: list[str], env: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(env or {})},
            text=True,
        )
        self.rests = False
        # One that is held still would never see that nobody asks any more.
        atexit.register(self.end)

    def say(self, line: str) -> None:
        if self.rests:
            self.process.send_signal(signal.SIGCONT)
            self.rests = False
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self) -> str:
        """The next answer; empty if the process has ended."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if line:
            self.process.send_signal(signal.SIGSTOP)
            self.rests = True
        return line

    def ask(self, line: str) -> str:
        try:
            self.say(line)
        except BrokenPipeError:
            return ""
        return self.hear()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


class Library:
    """A library in its process; None of its answers stop the run."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.refused: dict[str, dict[str, str]] = {}
        self.start()

    def start(self) -> None:
        env = {"RAYON_NUM_THREADS": "1"} if self.name == ALONE else {}
        self.process = Process([sys.executable, str(HERE / "worker.py"), self.name], env)
        line = self.process.hear()
        told: dict[str, Any] = json.loads(line) if line else {}
        self.version: str = told.get("version", "")
        self.debug: bool = told.get("debug", False)

    @property
    def is_there(self) -> bool:
        return bool(self.version)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any] | None:
        return self._answer(self.process.ask(json.dumps(request)))

    def _answer(self, line: str) -> dict[str, Any] | None:
        """What the line says; None if the process has died, and then there is a new one."""
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        self.process.end()
        self.start()
        return None

    def begin(self, case: Case) -> None:
        """Has the case prepared, while others prepare it too; `ready` waits for that."""
        self.process.say(json.dumps({"prepare": CASES.index(case)}))

    def ready(self, case: Case) -> None:
        refused = self._answer(self.process.hear())
        if refused is None:
            refused = {"": "the process died"}
        if refused:
            self.refused[case.name] = refused

    def time(self, beside: bool = False) -> float | None:
        """Nanoseconds by the fastest spelling, or of what is timed beside it."""
        found = self._ask({"time": "beside" if beside else "spellings"})
        return min(found.values()) if found else None


class Machine:
    """The machine's own fill, copy and read, and lines at random."""

    def __init__(self) -> None:
        self.process = Process([str(MACHINE)]) if MACHINE.exists() else None

    def time(self, case: Case, threads: int | None = None) -> float | None:
        """Nanoseconds of a case's limit, on all cores if not said otherwise."""
        if self.process is None:
            return None
        size, looks = (case.within, [case.looks]) if case.looks else (case.moved, [])
        words = [case.limit, size, threads or os.cpu_count() or 1, *looks]
        line = self.process.ask(" ".join(map(str, words)))
        return float(line) if line.strip().isdigit() else None
