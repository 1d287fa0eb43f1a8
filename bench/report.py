"""Results as people read them: tables in a terminal, and docs/performance.md with its pictures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from work.case import ALONE, BEST, OURS, PEERS

DOCS = Path(__file__).parent.parent / "docs"
SHORT = {OURS: "ours", ALONE: "1 thread", "numpy": "NumPy", "torch": "PyTorch", "paddle": "Paddle", "jax": "JAX"}
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

    def as_json(self) -> dict[str, Any]:
        told = {name: round(found, 1) for name, found in self.best.items()}
        return {
            "group": self.group,
            "name": self.name,
            "ns": told,
            "goals": self.goals,
            "bytes": self.moved,
            "limit": self.limit,
        }

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Result:
        return cls(told["group"], told["name"], told["ns"], told["goals"], told["bytes"], told["limit"])

    def faster_than(self, other: str) -> float | None:
        """How many times as fast as a peer, the best of the peers, or the machine's limit."""
        ours = self.best.get(OURS)
        if other == BEST:
            theirs = min((self.best[peer] for peer in PEERS if peer in self.best), default=None)
        else:
            theirs = self.best.get(other)
        return theirs / ours if ours and theirs else None

    def missed(self) -> list[str]:
        """The goals that were not met; one that could not be measured is not met either."""
        told = []
        for other, least in self.goals.items():
            ratio = self.faster_than(other)
            if ratio is None and other != BEST:
                continue
            if ratio is not None and ratio < least:
                told.append(f"{other} {least:g}×")
        return told

    @property
    def is_large(self) -> bool:
        return self.moved > 0


def number(value: float | None, is_large: bool) -> str:
    if value is None:
        return "-"
    if is_large:
        return f"{value / 1e6:.2f}" if value < 1e8 else f"{value / 1e6:.0f}"
    return f"{value:.0f}"


def ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}×" if value < 10 else f"{value:.0f}×"


def headline(info: dict[str, Any]) -> str:
    versions = ", ".join(f"{SHORT.get(name, name)} {version}" for name, version in info["versions"].items())
    return f"{versions.replace('ours', 'Stridewise')}; Python {info['python']}, {info['processor']}, {info['cores']} cores"


def columns(results: list[Result]) -> tuple[list[str], list[str]]:
    """Who was timed, and what ratios are shown."""
    names = [name for name in (OURS, ALONE, *PEERS) if any(name in result.best for result in results)]
    limits = [limit for limit in ("fill", "copy", "read") if any(limit in result.best for result in results)]
    others = [name for name in (ALONE, "numpy", "torch") if name in names]
    return names + limits, [*others, *([BEST] if any(peer in names for peer in PEERS) else []), *limits]


def cells(result: Result, names: list[str], ratios: list[str]) -> list[str]:
    large = result.is_large
    told = [number(result.best.get(name), large) for name in names]
    return told + [ratio(result.faster_than(other)) for other in ratios]


def table(group: str, results: list[Result]) -> str:
    """The results of a group for a terminal."""
    names, ratios = columns(results)
    unit = "ms" if results[0].is_large else "ns"
    head = f"{group + ', ' + unit:<{NAME_WIDTH}}" + "".join(f"{SHORT.get(name, name):>9}" for name in names)
    head += " │" + "".join(f"{'/' + SHORT.get(name, name).split()[0]:>9}" for name in ratios)
    lines = ["", head, "─" * len(head)]
    for result in results:
        told = cells(result, names, ratios)
        line = f"{result.name[: NAME_WIDTH - 1]:<{NAME_WIDTH}}" + "".join(f"{cell:>9}" for cell in told[: len(names)])
        line += " │" + "".join(f"{cell:>9}" for cell in told[len(names) :])
        missed = result.missed()
        lines.append(line + (f"  missed: {', '.join(missed)}" if missed else ""))
    held = [result for result in results if result.goals]
    if held:
        met = sum(not result.missed() for result in held)
        lines.append(f"{met} of {len(held)} meet their goals")
    return "\n".join(lines)


def write_docs(info: dict[str, Any]) -> None:
    """Tables and pictures of docs/performance.md."""
    from plot import draw_growth, draw_speeds

    results = [Result.from_json(told) for told in info["results"]]
    pictures = DOCS / "pictures"
    (pictures / "speed.svg").write_text(draw_speeds(results), encoding="utf-8")
    (pictures / "growth.svg").write_text(draw_growth(results), encoding="utf-8")
