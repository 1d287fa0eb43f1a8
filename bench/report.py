"""Results, and how they look in a terminal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from work.case import ALONE, BEST, OURS, PEERS

SHORT = {
    OURS: "ours",
    ALONE: "1 thread",
    "raise": "raise",
    "numpy": "NumPy",
    "torch": "PyTorch",
    "paddle": "Paddle",
    "jax": "JAX",
}
OWN = "own gain"  # of the machine by its threads
NAME_WIDTH = 46


@dataclass(frozen=True)
class Result:
    """What was measured of one case, in nanoseconds."""

    group: str
    name: str
    best: dict[str, float]
    goals: dict[str, float]
    moved: int
    limit: str
    part: float | None  # of the limit's speed, the median of rounds

    def as_json(self) -> dict[str, Any]:
        told = {name: round(found, 1) for name, found in self.best.items()}
        return {
            "group": self.group,
            "name": self.name,
            "ns": told,
            "goals": self.goals,
            "bytes": self.moved,
            "limit": self.limit,
            "part": self.part,
        }

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Result:
        return cls(told["group"], told["name"], told["ns"], told["goals"], told["bytes"], told["limit"], told["part"])

    def faster_than(self, other: str) -> float | None:
        """How many times as fast as a peer, the best of the peers, or the machine's limit."""
        ours = self.best.get(OURS)
        if other == OWN:
            return self.own_gain()
        if other == self.limit:
            return self.part
        if other == BEST:
            theirs = min((self.best[peer] for peer in PEERS if peer in self.best), default=None)
        else:
            theirs = self.best.get(other)
        return theirs / ours if ours and theirs else None

    def best_of(self, other: Result) -> Result:
        """The same case measured once more: the better time of everybody."""
        names = {**self.best, **other.best}
        best = {name: min(one.best[name] for one in (self, other) if name in one.best) for name in names}
        return replace(self, best=best)

    def own_gain(self) -> float | None:
        """How many times as fast the machine's own work is on all threads as on one."""
        one, all_of_them = self.best.get(f"{self.limit} {ALONE}"), self.best.get(self.limit)
        return one / all_of_them if one and all_of_them else None

    def goal(self, other: str) -> float:
        """How many times as fast as another it is to be; threads gain no more than the machine's own work does."""
        least = self.goals[other]
        own = self.own_gain() if other == ALONE else None
        return min(least, own) if own else least

    def missed(self) -> list[str]:
        """Whom it was to be faster than, and is not; whoever is not there is not missed."""
        reached = {other: self.faster_than(other) for other in self.goals}
        return [other for other, found in reached.items() if found is not None and found < self.goal(other)]

    @property
    def is_large(self) -> bool:
        return self.moved > 0


UNITS = {"ns": 1.0, "µs": 1e3, "ms": 1e6}


def unit_of(results: list[Result]) -> str:
    """What a table is told in: calls in nanoseconds, large work in milliseconds, and both together in between."""
    if not results[0].is_large:
        return "ns"
    return "ms" if min(result.best.get(OURS, 1e6) for result in results) > 2e4 else "µs"


def number(nanoseconds: float | None, unit: str) -> str:
    if nanoseconds is None:
        return "-"
    value = nanoseconds / UNITS[unit]
    return f"{value:.2f}" if unit != "ns" and value < 100 else f"{value:.0f}"


def ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}×" if value < 10 else f"{value:.0f}×"


def headline(info: dict[str, Any]) -> str:
    versions = ", ".join(f"{SHORT.get(name, name)} {version}" for name, version in info["versions"].items())
    return (
        f"{versions.replace('ours', 'Stridewise')}; Python {info['python']}, {info['processor']}, {info['cores']} cores"
    )


def columns(results: list[Result]) -> tuple[list[str], list[str]]:
    """Who was timed, and what ratios are shown."""
    names = [name for name in (OURS, ALONE, *PEERS) if any(name in result.best for result in results)]
    limits = [
        limit for limit in ("fill", "copy", "read", "lines", "raise") if any(limit in result.best for result in results)
    ]
    others = [name for name in (ALONE, "numpy", "torch") if name in names]
    best = [BEST] if any(peer in names for peer in PEERS) else []
    own = [OWN] if ALONE in names else []
    return names + limits, [*others, *best, *limits, *own]


def cells(result: Result, unit: str, names: list[str], ratios: list[str]) -> list[str]:
    told = [number(result.best.get(name), unit) for name in names]
    return told + [ratio(result.faster_than(other)) for other in ratios]


def table(group: str, results: list[Result]) -> str:
    """The results of a group for a terminal."""
    names, ratios = columns(results)
    unit = unit_of(results)
    head = f"{group + ', ' + unit:<{NAME_WIDTH}}" + "".join(f"{SHORT.get(name, name):>9}" for name in names)
    head += " │" + "".join(f"{'/' + SHORT.get(name, name).split()[0]:>9}" for name in ratios)
    lines = ["", head, "─" * len(head)]
    for result in results:
        told = cells(result, unit, names, ratios)
        line = f"{result.name[: NAME_WIDTH - 1]:<{NAME_WIDTH}}" + "".join(f"{cell:>9}" for cell in told[: len(names)])
        line += " │" + "".join(f"{cell:>9}" for cell in told[len(names) :])
        missed = result.missed()
        lines.append(
            line
            + (f"  missed: {', '.join(f'{other} {result.goal(other):.3g}×' for other in missed)}" if missed else "")
        )
    held = [result for result in results if result.goals]
    if held:
        met = sum(not result.missed() for result in held)
        lines.append(f"{met} of {len(held)} meet their goals")
    return "\n".join(lines)
