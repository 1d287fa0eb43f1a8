"""docs/performance.md: the tables between its marks are written anew from the last run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from plot import draw_growth, draw_speeds, draw_views
from report import OWN, SHORT, Result, cells, columns, headline, ratio, unit_of
from work.case import ALONE, BEST, MIB, OURS

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "performance.md"


def write_docs(info: dict[str, Any]) -> None:
    """Writes the tables and the pictures."""
    results = [Result.from_json(told) for told in info["results"]]
    groups = {result.group: [other for other in results if other.group == result.group] for result in results}
    blocks = {"run": run(info), "goals": goals(groups)}
    blocks |= {group: table(members) for group, members in groups.items() if group != "growth"}
    blocks["growth"] = growth(groups.get("growth", []))
    text = PAGE.read_text(encoding="utf-8")
    for name, block in blocks.items():
        mark = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text = re.sub(mark, rf"\1\n{literal(block)}\n\n\2", text, flags=re.DOTALL)
    PAGE.write_text(text, encoding="utf-8")
    pictures = DOCS / "pictures"
    for name, picture in {
        "speed-views.svg": draw_views(groups.get("views", [])),
        "speed.svg": draw_speeds(results),
        "growth.svg": draw_growth(groups.get("growth", [])),
    }.items():
        (pictures / name).write_text(picture, encoding="utf-8")


def literal(text: str) -> str:
    """The text as a replacement that stands for itself."""
    return text.replace("\\", r"\\")


def markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def run(info: dict[str, Any]) -> str:
    rounds = info["rounds"]
    return f"{info['date']}: {headline(info)}; the best of {rounds} rounds, of calls of {info['passes'] * rounds}."


def table(results: list[Result]) -> str:
    """The results of a group; what misses its goal is marked."""
    names, ratios = columns(results)
    unit = unit_of(results)
    head = [
        unit,
        *(SHORT.get(name, name) for name in names),
        *(f"of {SHORT.get(name, name)}" if name != OWN else "machine's own" for name in ratios),
    ]
    rows = []
    for result in results:
        missed = result.missed()
        told = cells(result, unit, names, ratios)
        marked = [
            f"**{cell}**" if other in missed else cell for other, cell in zip(ratios, told[len(names) :], strict=True)
        ]
        rows.append([f"`{result.name}`" if unit == "ns" else result.name, *told[: len(names)], *marked])
    return markdown(head, rows)


def goals(groups: dict[str, list[Result]]) -> str:
    """Each goal, how many cases meet it, and the worst one."""
    rows = []
    for group, results in groups.items():
        wanted = {(other, least) for result in results for other, least in result.goals.items()}
        for other, least in sorted(wanted):
            held = [result for result in results if result.goals.get(other) == least]
            reached = [(found, result.name) for result in held if (found := result.faster_than(other)) is not None]
            if not reached:
                continue
            met = sum(other not in result.missed() for result in held if result.faster_than(other) is not None)
            worst, name = min(reached)
            said = {ALONE: "one thread", BEST: "the best peer"}.get(other, SHORT.get(other, f"the machine's {other}"))
            rows.append([group, f"{least:.3g}× {said}", f"{met} of {len(reached)}", f"{ratio(worst)} ({name})"])
    return markdown(["work", "goal", "met by", "least"], rows)


def growth(results: list[Result]) -> str:
    """Nanoseconds a KiB at each size, and the machine's own."""
    operators = dict.fromkeys(result.name.split(", ")[0] for result in results)
    sizes = sorted({result.moved for result in results})
    rows = []
    for operator in operators:
        there = {result.moved: result for result in results if result.name.startswith(operator + ",")}
        large = [there[size].best[OURS] / size for size in sizes if size >= MIB and size in there]
        own = [
            there[size].best[there[size].limit] / size
            for size in sizes
            if size >= MIB and size in there and there[size].limit in there[size].best
        ]
        ours, machine = (max(times) / min(times) if times else None for times in (large, own))
        beyond = ours / machine if ours and machine else None
        told = [f"{there[size].best[OURS] / size * 1024:.3g}" if size in there else "-" for size in sizes]
        rows.append([operator, *told, *(ratio(part) if part else "-" for part in (ours, machine, beyond))])
    last = ["most / least from 1 MiB", "the machine's own", "beyond it"]
    return markdown(["ns a KiB", *map(size_name, sizes), *last], rows)


def size_name(size: int) -> str:
    for unit, name in ((MIB, "MiB"), (1024, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"
