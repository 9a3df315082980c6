"""A layered picture of boxes and who imports whom, as SVG: importers above what they import.

The usual four steps of such drawings (Sugiyama): layers by longest paths, a slot for a line in
every layer that it crosses, an order in each layer that avoids crossings, and places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from textwrap import wrap

Edge = tuple[str, str]
Counts = Mapping[Edge, int]

FEW = 5
"""Fewer imports than this make a dashed line."""
WIDTH = 1180
MARGIN = 24
GAP = 60
"""Between two layers, where the lines run."""
SPACE = 26
"""Between two boxes of a layer."""
SLOT = 16
"""The room that a line needs between boxes."""
TEXT, CHIP = 15, 22
"""The heights of a line of text, and of a row of small boxes."""
LETTER = 6.6
"""About how wide a letter is."""
SWEEPS = 8


@dataclass(frozen=True)
class Box:
    """A room: its name, a line about it, the rooms inside it, and how many modules it has."""

    name: str
    says: str
    inside: tuple[str, ...] = ()
    modules: int = 1


@dataclass
class Placed:
    """A box, or a slot for a line, with its place."""

    name: str
    width: float
    height: float = 0
    x: float = 0
    y: float = 0

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


# which lines are drawn


def lines(counts: Counts) -> dict[Edge, bool]:
    """The lines to draw, and whether each is dashed: no line where another way leads there."""
    often = {edge: count for edge, count in counts.items() if count >= FEW}
    solid = _reduced(often)
    dashed = {edge for edge in _reduced(counts) if edge not in often}
    return {edge: edge in dashed for edge in sorted(solid | dashed)}


def _reduced(edges: Iterable[Edge]) -> set[Edge]:
    """The edges that no longer path replaces (transitive reduction)."""
    below: dict[str, set[str]] = {}
    for user, used in edges:
        below.setdefault(user, set()).add(used)
    reached = {name: _reach(name, below) for name in below}
    return {
        (user, used)
        for user, direct in below.items()
        for used in direct
        if not any(used in reached.get(other, set()) for other in direct - {used})
    }


def _reach(start: str, below: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for name in below.get(waiting.pop(), set()) - found:
            found.add(name)
            waiting.append(name)
    return found


# layers


def layers(boxes: Iterable[Box], counts: Counts) -> list[list[str]]:
    """Names by layer, the lowest first: each above all that it imports, as near as can be."""
    names = sorted(box.name for box in boxes)
    lowest = _lowest(names, counts)
    drawn = lines(counts)
    level: dict[str, int] = {}
    for name in sorted(names, key=lambda name: -lowest[name]):
        users = [level[user] for user, used in drawn if used == name]
        level[name] = min(users) - 1 if users else lowest[name]
    found: list[list[str]] = [[] for _ in range(max(level.values()) + 1)]
    for name in names:
        found[level[name]].append(name)
    return [layer for layer in found if layer]


def _lowest(names: list[str], counts: Counts) -> dict[str, int]:
    level = dict.fromkeys(names, 0)
    for _ in names:
        for user, used in counts:
            level[user] = max(level[user], level[used] + 1)
    return level


# the order in each layer


def _with_slots(rows: list[list[str]], drawn: Iterable[Edge]) -> tuple[list[list[str]], list[Edge]]:
    """The layers with slots for the lines that cross them, and the lines from layer to layer."""
    rows = [list(row) for row in rows]
    at = {name: number for number, row in enumerate(rows) for name in row}
    short = []
    for user, used in drawn:
        above = user
        for number in range(at[user] - 1, at[used], -1):
            slot = f"{user}>{used}>{number}"
            rows[number].append(slot)
            short.append((above, slot))
            above = slot
        short.append((above, used))
    return rows, short


def _ordered(rows: list[list[str]], short: list[Edge]) -> list[list[str]]:
    """Each layer in the order of the middles of its neighbours, from below and from above in turn."""
    best, fewest = rows, _crossings(rows, short)
    for sweep in range(SWEEPS):
        numbers = range(1, len(rows)) if sweep % 2 == 0 else range(len(rows) - 2, -1, -1)
        for number in numbers:
            beside = rows[number - 1] if sweep % 2 == 0 else rows[number + 1]
            rows = [*rows[:number], _by_middle(rows[number], beside, short), *rows[number + 1 :]]
        if _crossings(rows, short) < fewest:
            best, fewest = rows, _crossings(rows, short)
    return best


def _by_middle(row: list[str], beside: list[str], short: list[Edge]) -> list[str]:
    at = {name: number / max(1, len(beside) - 1) for number, name in enumerate(beside)}
    own = {name: number / max(1, len(row) - 1) for number, name in enumerate(row)}

    def middle(name: str) -> float:
        near = [at[b if a == name else a] for a, b in short if name in (a, b) and {a, b} & {*at}]
        return sum(near) / len(near) if near else own[name]

    return sorted(row, key=lambda name: (middle(name), name))


def _crossings(rows: list[list[str]], short: list[Edge]) -> int:
    at = {name: number for row in rows for number, name in enumerate(row)}
    level = {name: number for number, row in enumerate(rows) for name in row}
    return sum(
        (at[a] - at[c]) * (at[b] - at[d]) < 0
        for number, (a, b) in enumerate(short)
        for c, d in short[number + 1 :]
        if level[a] == level[c]
    )


# places


def _sized(box: Box, share: float) -> Placed:
    """A box as wide as its share of the picture, and as high as its text needs."""
    width = min(
        share, max(300, 40 + LETTER * max(len(box.says) / 2, sum(map(_chip, box.inside)) / 6))
    )
    height = 34 + TEXT * len(_wrapped(box, width)) + CHIP * len(_chip_rows(box, width)) + 6
    return Placed(box.name, width, height)


def _chip(name: str) -> float:
    return LETTER * len(name) + 16


def _wrapped(box: Box, width: float) -> list[str]:
    return wrap(box.says, int((width - 24) / LETTER))


def _chip_rows(box: Box, width: float) -> list[list[str]]:
    rows: list[list[str]] = []
    for name in box.inside:
        if rows and sum(_chip(n) + 6 for n in [*rows[-1], name]) <= width - 24:
            rows[-1].append(name)
        else:
            rows.append([name])
    return rows


def _place(rows: list[list[str]], by_name: Mapping[str, Box]) -> tuple[dict[str, Placed], float]:
    """Where everything is, from the top layer down; and how high the picture is."""
    placed: dict[str, Placed] = {}
    y = float(MARGIN)
    for row in reversed(rows):
        slots = sum(name not in by_name for name in row)
        free = WIDTH - 2 * MARGIN - slots * SLOT - SPACE * (len(row) - 1)
        share = free / max(1, len(row) - slots)
        things = [
            _sized(by_name[name], share) if name in by_name else Placed(name, SLOT) for name in row
        ]
        height = max(thing.height for thing in things)
        x = (WIDTH - sum(thing.width + SPACE for thing in things) + SPACE) / 2
        for thing in things:
            thing.x, thing.y = x, y
            thing.height = height
            x += thing.width + SPACE
            placed[thing.name] = thing
        y += height + GAP
    return placed, y - GAP + MARGIN


# drawing

STYLE = """
  text { font-family: Helvetica, Arial, sans-serif; fill: #1b2733; }
  .name { font-size: 15px; font-weight: bold; }
  .count { font-size: 11px; fill: #5d6b78; }
  .says { font-size: 12px; }
  .chip { font-size: 11.5px; }
  .room { fill: #f4f7fa; stroke: #40566b; stroke-width: 1.3; }
  .engine { fill: #eef5ec; stroke: #3f6b45; stroke-width: 1.3; }
  .inside { fill: #ffffff; stroke: #a9b7c4; stroke-width: 1; }
  .line { fill: none; stroke: #6b7d8f; stroke-width: 1.4; }
  .dashed { stroke-dasharray: 5 4; }
"""


def picture(boxes: list[Box], counts: Counts) -> str:
    """The picture as SVG."""
    drawn = lines(counts)
    rows, short = _with_slots(layers(boxes, counts), drawn)
    by_name = {box.name: box for box in boxes}
    placed, height = _place(_ordered(rows, short), by_name)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#6b7d8f"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="#ffffff"/>',
        *(_line(edge, is_dashed, short, placed) for edge, is_dashed in drawn.items()),
        *(part for name, box in by_name.items() for part in _drawn(box, placed[name])),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _line(edge: Edge, is_dashed: bool, short: list[Edge], placed: Mapping[str, Placed]) -> str:
    """A line from the importer down through its slots, with a tip at what is imported."""
    user, used = edge
    stops = [user, *(b for _, b in short if b.startswith(f"{user}>{used}>")), used]
    x = _port(user, stops[1], [b for a, b in short if a == user], placed)
    y = placed[user].y + placed[user].height
    path = [f"M{x:.0f} {y:.0f}"]
    for stop in stops[1:]:
        thing = placed[stop]
        end = thing.middle
        if stop == used:
            end = _port(used, stops[-2], [a for a, b in short if b == used], placed)
        middle = (y + thing.y) / 2
        path.append(f"C{x:.0f} {middle:.0f} {end:.0f} {middle:.0f} {end:.0f} {thing.y:.0f}")
        x, y = end, thing.y
        if stop != used:
            y += thing.height
            path.append(f"L{x:.0f} {y:.0f}")
    kind = "line dashed" if is_dashed else "line"
    return f'<path class="{kind}" d="{" ".join(path)}" marker-end="url(#tip)"/>'


def _port(name: str, other: str, others: list[str], placed: Mapping[str, Placed]) -> float:
    """Where on a box's edge the line to another one begins: in the order in which they stand."""
    order = sorted(set(others), key=lambda each: (placed[each].middle, each))
    thing = placed[name]
    return thing.x + thing.width * (order.index(other) + 1) / (len(order) + 1)


def _drawn(box: Box, at: Placed) -> Iterator[str]:
    kind = "engine" if box.name.startswith("engine") else "room"
    yield (
        f'<rect class="{kind}" x="{at.x:.0f}" y="{at.y:.0f}" width="{at.width:.0f}" '
        f'height="{at.height:.0f}" rx="7"/>'
    )
    yield _text("name", at.x + 12, at.y + 22, box.name)
    count = f"{box.modules} module{'s' * (box.modules != 1)}"
    yield _text("count", at.x + at.width - 14 - 5.6 * len(count), at.y + 21, count)
    y = at.y + 26
    for line in _wrapped(box, at.width):
        y += TEXT
        yield _text("says", at.x + 12, y, line)
    for row in _chip_rows(box, at.width):
        y += CHIP
        yield from _chips(row, at.x + 12, y)


def _chips(names: list[str], x: float, y: float) -> Iterator[str]:
    for name in names:
        yield (
            f'<rect class="inside" x="{x:.0f}" y="{y - 13:.0f}" width="{_chip(name):.0f}" '
            'height="18" rx="4"/>'
        )
        yield _text("chip", x + 8, y, name)
        x += _chip(name) + 6


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}">{escape(text)}</text>'
