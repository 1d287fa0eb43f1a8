"""One piece of work, and what is expected of it."""

from __future__ import annotations

from dataclasses import dataclass, field

OURS = "stridewise"
ALONE = "alone"  # Stridewise on one thread
PEERS = ("numpy", "torch", "paddle", "jax")
BEST = "best peer"

MIB = 1 << 20
BIG = 64 * MIB  # what a large result takes, twice the last-level cache of the machines this was made on


@dataclass(frozen=True)
class Case:
    """One piece of work: the statements that do it in each library."""

    group: str
    name: str
    data: str  # Python that makes NumPy arrays; each library gets its own arrays of them
    run: dict[str, str | tuple[str, ...]]  # an expression for each library; of several spellings the fastest counts
    make: dict[str, str] = field(default_factory=dict)  # what a library does beforehand, untimed
    expect: str = ""  # the result in NumPy's terms; by default NumPy's first spelling
    moved: int = 0  # bytes of the result, or of what is read where that is more; 0 where it is a matter of calls
    limit: str = ""  # the machine's own `fill` or `copy`, of as many bytes, or `lines`; or what `beside` is called
    looks: int = 0  # how many lines are read at random, where the limit is `lines`,
    within: int = 0  # and of how many bytes
    beside: str = ""  # an expression of ours that takes the place of the machine's own work
    goals: dict[str, float] = field(default_factory=dict)  # how many times as fast as a peer, the best or the limit
    exact: bool = True  # whether results are equal to the bit

    def spellings(self, library: str) -> tuple[str, ...]:
        """The ways in which a library can be asked for it."""
        said = self.run.get(OURS if library == ALONE else library, ())
        return (said,) if isinstance(said, str) else said
