"""Pictures of a run: what calls cost, how fast data moves beside the machine's limit, and how cost grows."""

from __future__ import annotations

from math import floor, log10

from report import SHORT, Result
from work.case import MIB, OURS, PEERS

COLOURS = {OURS: "#d9480f", "numpy": "#1971c2", "torch": "#e8a33d", "paddle": "#5c940d", "jax": "#9c36b5"}
GREY = "#868e96"
WIDTH = 1060
LEFT = 430
FONT = 'font-family="sans-serif" font-size="12"'


def text(x: float, y: float, said: str, anchor: str = "start", colour: str = GREY) -> str:
    said = said.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" {FONT}>{said}</text>'


def line(points: list[tuple[float, float]], colour: str, dashed: bool = False, width: float = 2) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dash}/>'


def dot(x: float, y: float, name: str) -> str:
    size = 5 if name == OURS else 4
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{COLOURS[name]}"/>'


def svg(height: float, parts: list[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )


def legend(y: float, names: list[str], limit: str = "") -> list[str]:
    parts, x = [], float(LEFT)
    for name in names:
        parts += [dot(x, y - 4, name), text(x + 9, y, {OURS: "Stridewise"}.get(name, SHORT[name]))]
        x += 90
    if limit:
        parts += [line([(x, y - 10), (x, y + 2)], "black", width=2), text(x + 9, y, limit)]
    return parts


def rows(results: list[Result], title: str, unit: str, value: str, limit: str = "") -> str:
    """One line of dots for each result, on a logarithmic scale: `ns` to the left is better, `GB/s` to the right."""

    def shown(result: Result, name: str) -> float | None:
        found = result.best.get(name)
        return None if not found else found if value == "ns" else result.moved / found

    everyone = [OURS, *PEERS]
    found = [shown(result, name) for result in results for name in [*everyone, result.limit]]
    there = [one for one in found if one]
    low, high = 10 ** (floor(10 * log10(min(there))) / 10), max(there) * 1.15

    def at(one: float) -> float:
        return LEFT + (WIDTH - LEFT - 30) * log10(one / low) / log10(high / low)

    parts = [text(20, 26, title, colour="black"), *legend(46, everyone, limit)]
    bottom = 84 + 18 * len(results)
    step = 10 ** floor(log10(low))
    for power in range(8):
        for factor in (1, 2, 5):
            tick = step * 10**power * factor
            if low <= tick <= high:
                parts.append(line([(at(tick), 64), (at(tick), bottom - 12)], "#dee2e6", width=1))
                parts.append(text(at(tick), bottom + 4, f"{tick:g}", "middle"))
    parts.append(text(WIDTH - 30, bottom + 22, unit, "end"))
    for number, result in enumerate(results):
        y = 80 + 18 * number
        parts.append(text(LEFT - 12, y + 4, result.name, "end", "black"))
        told = {name: one for name in everyone if (one := shown(result, name))}
        if told:
            parts.append(line([(at(min(told.values())), y), (at(max(told.values())), y)], "#dee2e6", width=1))
        parts += [dot(at(one), y, name) for name, one in reversed(told.items())]
        most = shown(result, result.limit) if result.limit else None
        if most:
            parts.append(line([(at(most), y - 7), (at(most), y + 7)], "black"))
    return svg(bottom + 34, parts)


def draw_views(results: list[Result]) -> str:
    return rows(results, "A call of a view operator from Python, nanoseconds: less is better", "ns", "ns")


def titled(group: str, name: str) -> str:
    """The name of a case with that of its group, unless it begins with it."""
    return name if name.startswith(group) else f"{group}: {name}"


def draw_speeds(results: list[Result]) -> str:
    """Of each kind of work a few cases."""
    shown = []
    for group, most in (("repeat", 8), ("contiguous", 10), ("concat", 6), ("take", 8), ("sum", 6), ("scatter_add", 4)):
        members = [result for result in results if result.group == group]
        every = max(1, len(members) // most)
        shown += [
            Result(group, titled(group, one.name), one.best, {}, one.moved, one.limit, one.part)
            for one in members[::every][:most]
        ]
    return rows(shown, "Bytes of the result in a second: more is better", "GB/s", "GB/s", "the machine's own")


def draw_growth(results: list[Result]) -> str:
    """Time by size for each operator, both logarithmic, a panel each."""
    operators = list(dict.fromkeys(result.name.split(", ")[0] for result in results))
    sizes = sorted({result.moved for result in results})
    parts = [text(20, 26, "Time by size of the result, both on logarithmic scales: less is better", colour="black")]
    parts += legend(46, [OURS, *PEERS], "the machine's own")
    panel_width, panel_height, per_line = 290, 220, 3
    times = [one for result in results for one in result.best.values()]
    low, high = log10(min(times)), log10(max(times))
    first, last = log10(sizes[0]), log10(sizes[-1])
    for number, operator in enumerate(operators):
        left = 40 + (number % per_line) * (panel_width + 50)
        top = 84 + (number // per_line) * (panel_height + 50)

        def place(size: int, took: float, left: float = left, top: float = top) -> tuple[float, float]:
            x = left + panel_width * (log10(size) - first) / (last - first)
            return x, top + panel_height * (1 - (log10(took) - low) / (high - low))

        parts.append(text(left, top - 6, operator, colour="black"))
        for size, name in ((4, "4 B"), (4096, "4 KiB"), (MIB, "1 MiB"), (256 * MIB, "256 MiB")):
            if sizes[0] <= size <= sizes[-1]:
                x = place(size, 10**low)[0]
                parts.append(line([(x, top), (x, top + panel_height)], "#e9ecef", width=1))
                parts.append(text(x, top + panel_height + 16, name, "middle"))
        for power, name in ((3, "1 µs"), (6, "1 ms"), (8, "100 ms")):
            if low <= power <= high:
                y = place(sizes[0], 10.0**power)[1]
                parts.append(line([(left, y), (left + panel_width, y)], "#e9ecef", width=1))
                parts.append(text(left + 4, y - 3, name))
        members = sorted((one for one in results if one.name.startswith(operator + ",")), key=lambda one: one.moved)
        limit = members[0].limit
        for name, colour in [(limit, "black"), *((name, COLOURS[name]) for name in (*reversed(PEERS), OURS))]:
            points = [place(one.moved, one.best[name]) for one in members if name in one.best]
            parts.append(line(points, colour, dashed=name == limit, width=2.5 if name == OURS else 1.5))
    lines = (len(operators) + per_line - 1) // per_line
    return svg(84 + lines * (panel_height + 50) + 10, parts)
