"""An embedding table over four ranks: rows are looked up by a global index, and the gradient comes back to the table.

As threads of one process, or as processes under MPI:

    python examples/embedding.py --threads 4
    mpirun -n 4 python examples/embedding.py
"""

from __future__ import annotations

import sys

import stridewise as sw

WORDS, WIDTH = 10, 4
SENTENCES = [[1, 7, 7], [0, 9, 2], [3, 3, 3], [8, 1, 0], [5, 5, 4]]


def main() -> None:
    mesh = sw.mesh(sw.world_size())

    # Ten rows over four ranks: parts of 3, 3, 2 and 2 rows.
    rows = sw.arange(WORDS * WIDTH).cast("float32").reshape(WORDS, WIDTH)
    table = mesh.shard(rows, sw.sbp.split(0), requires_grad=True)
    # Each rank has some of the sentences.
    index = mesh.shard(SENTENCES, sw.sbp.split(0))

    # No rank has all rows, so each looks up those it has, and all together add up to the result: a partial sum.
    found = sw.take(table, index, axis=0)
    # Where each rank wants the vectors of its own sentences, they are added up on the way there.
    mine = found.to_sbp(sw.sbp.split(0))
    forward = mesh.moved()

    # The gradient of whatever the vectors go into, here simply ones: 1 for each time that a row was looked up.
    mine.backward(mesh.shard(sw.ones(mine.shape, "float32"), sw.sbp.split(0)))
    backward = mesh.moved()
    gradient = table.grad.to_sbp(table.sbp)

    # What one process finds.
    alone = sw.to_tensor(rows, requires_grad=True)
    wanted = alone.take(SENTENCES, axis=0)
    wanted.backward(sw.ones(wanted.shape, "float32"))
    assert sw.array_equal(mine.detach().gather(), wanted.detach())
    assert sw.array_equal(gradient.gather(), alone.grad)

    if sw.rank() == 0:
        print("table   ", table)
        print("found   ", found)
        print("mine    ", mine)
        print("gradient", table.grad)
        for when, moved in [("forward", forward), ("backward", backward)]:
            for each in moved:
                print(f"{when}: {each}")
        print("the same as on one process")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--threads", ranks]:
            sw.spawn(main, ranks=int(ranks))
        case _:
            main()
