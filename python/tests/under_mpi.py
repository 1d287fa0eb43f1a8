"""Programs under `mpirun`, for a package that was built with MPI: run by the step `python features`, not by pytest."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
# More ranks than cores, and the root user of a container, are fine here.
ALLOWED = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "STRIDEWISE_TIMEOUT": "30",
}


def ran(ranks: int, *program: str | Path) -> subprocess.CompletedProcess[str]:
    """A program on several ranks."""
    command = ["mpirun", "-n", str(ranks), sys.executable, *map(str, program)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **ALLOWED})


def of(code: str, ranks: int = 4) -> subprocess.CompletedProcess[str]:
    """A program that is given as text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_text("import stridewise as sw\n" + code)
        return ran(ranks, path)


def require(condition: bool, done: subprocess.CompletedProcess[str]) -> None:
    if not condition:
        sys.exit(f"status {done.returncode}\n{done.stdout}\n{done.stderr}")


def the_example_gives_what_one_process_gives() -> None:
    for ranks in [1, 2, 4]:
        done = ran(ranks, EXAMPLES / "embedding.py")
        require(done.returncode == 0 and "the same as on one process" in done.stdout, done)


def printed(done: subprocess.CompletedProcess[str]) -> str:
    """What the ranks printed, without line ends: they are written by themselves, and two ranks may mix theirs."""
    return done.stdout.replace("\n", "")


def ranks_are_processes() -> None:
    done = of("x = sw.full([2], sw.rank()).to_global(sw.mesh((2, 2)), 'S(0),S(0)')\nprint(x.gather().tolist())")
    require(done.returncode == 0 and printed(done) == "[0, 0, 1, 1, 2, 2, 3, 3]" * 4, done)


def threads_go_on_inside_a_process() -> None:
    done = of("print(sw.spawn(lambda: sw.mesh(3).shard([1, 2, 3], 'S(0)').sum().gather().item(), ranks=3))", ranks=2)
    require(done.returncode == 0 and printed(done) == "[6, 6, 6]" * 2, done)


def an_exception_on_one_rank_ends_the_job_and_is_named() -> None:
    done = of("if sw.rank() == 2:\n    raise KeyError('the third')\nsw.barrier()")
    require(done.returncode != 0 and "KeyError: 'the third'" in done.stderr and "rank 2" in done.stderr, done)
    require("WorldError: barrier" in done.stderr, done)


def a_rank_that_ends_early_is_named() -> None:
    done = of("mesh = sw.mesh(4)\nif sw.rank() == 1:\n    raise SystemExit\nsw.barrier()")
    require(done.returncode != 0 and "rank 1" in done.stderr, done)


if __name__ == "__main__":
    for test in [
        the_example_gives_what_one_process_gives,
        ranks_are_processes,
        threads_go_on_inside_a_process,
        an_exception_on_one_rank_ends_the_job_and_is_named,
        a_rank_that_ends_early_is_named,
    ]:
        test()
        print(f"{test.__name__.replace('_', ' ')}: yes")
