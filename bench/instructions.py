"""Small calls to be counted, not timed: `cargo xtask bench --check` runs this under Valgrind and compares the
instructions of each call with `bench/instructions.toml`.

Each statement runs N times and then 2N times, and what the second part has more is the price of N of them: neither
what comes before nor the loop's own beginning counts. The parts are told apart by a call of `getppid`, at which
Valgrind is told to write down its count. The statements go to the standard output, in order; N is the argument.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from itertools import repeat
from typing import Any

import stridewise as sw

WARM = 100  # enough for the interpreter to have specialised the loop and for allocators to settle

# What the statements are about. Results stay within 512 bytes: larger ones are aligned, and what that costs depends on
# what else is on the heap.
SPACE: dict[str, Any] = {
    "sw": sw,
    "repeat": repeat,
    "four": sw.ones([4, 3, 1, 2], "float32"),
    "flat": sw.ones([8, 6], "float32"),
    "cube": sw.ones([2, 3, 4], "float32"),
    "row": sw.ones([5], "float32"),
    "index": sw.asarray([0, 2, 1]),
    "listed": [0, 2, 1],
    "pattern": ["b", None, 4],
}

STATEMENTS = [
    "sw.expand(four, 4, 3, 5, 2)",
    "four.expand(4, 3, 5, 2)",
    "sw.unflatten(flat, 1, (2, 3))",
    "flat.unflatten(1, (2, 3))",
    "sw.unsqueeze(cube, 1)",
    "cube.unsqueeze(1)",
    "sw.squeeze(four, 2)",
    "four.squeeze(2)",
    "sw.atleast_3d(row)",
    "sw.enforce_shape(cube, pattern)",
    "sw.permute(cube, 2, 0, 1)",
    "cube.permute(2, 0, 1)",
    "sw.reshape(cube, 6, 4)",
    "cube.reshape(6, 4)",
    "cube[1]",
    "cube[1:, ::2]",
    "cube.shape",
    "sw.take(row, index)",
    "row.take(index)",
    "sw.take(row, listed)",
    "sw.repeat(cube, 2, 1, 2)",
    "cube.repeat(2, 1, 2)",
    "sw.concat([flat, flat])",
    "sw.sum(flat)",
    "flat.sum(0)",
]

LOOP = """
def calls(times):
    for _ in repeat(None, times):
        {}
"""


def loop(statement: str) -> Callable[[int], None]:
    """A function that runs the statement as often as it is told."""
    space = dict(SPACE)
    exec(LOOP.format(statement), space)
    made: Callable[[int], None] = space["calls"]
    return made


def main(count: int) -> None:
    gc.disable()
    for statement in STATEMENTS:
        print(statement)
        calls = loop(statement)
        calls(WARM)
        os.getppid()
        calls(count)
        os.getppid()
        calls(2 * count)
        os.getppid()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
