"""Laser: the evaluation of Bazoobandi, Beck and Urbani on windows over timed streams.

One rule with `sometime`, one with `always`, a join, several joins, and the cooling system, for
windows of 1 to 80 time points and 200 to 800 atoms at each.  Figures are CPU microseconds for
one atom that arrives.  "Full answers" writes all that is concluded into an array at every time
point, as Laser does; "changes" has what begins and ends.  Turning ids into terms is counted apart.
Paper: section 4, Figs. 2, 3 and 5.
"""

from __future__ import annotations

from typing import Any

from benchmarks.measuring import run_worker
from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.plots import plot
from benchmarks.tables import table
from benchmarks.targets import Target, at_most, summary, within

WINDOWS, RATES = (1, 5, 10, 20, 40, 80), (200, 400, 600, 800)
RULES, RULES_RATE = (1, 2, 4, 8, 16), 200
TICKS = 25
MOST = {"diamond": 6e-6, "box": 4e-6, "join": 15e-6, "cooling": 8e-6}
"""How long one atom may take with full answers, at the highest rate."""
TITLES = {
    "diamond": "sometime (Fig. 2a)",
    "box": "always (Fig. 2b)",
    "join": "a join (Fig. 3a)",
    "cooling": "the cooling system (Fig. 5)",
}
GROWTH = 1.5
"""How much more a change may cost in the largest window than in one of ten: caches are small."""
Cell = dict[str, Any]


def run(peers: Peers, options: Options) -> str:
    windows = (1, 4) if options.quick else WINDOWS
    rates = (20,) if options.quick else RATES
    grids = {
        kind: {rate: _cells(kind, rate, windows, options) for rate in rates} for kind in TITLES
    }
    several = _cells("join", rates[0], windows, options, RULES[:2] if options.quick else RULES)
    parts = ["# Windows over timed streams, as Laser was measured\n"]
    parts += [_grid(kind, grid) for kind, grid in grids.items()]
    parts += [_several(several), _plot(grids, peers)]
    if not options.quick:
        parts.append(summary("laser", list(_targets(grids))))
    return "\n".join(parts)


def _cells(
    kind: str, rate: int, windows: tuple[int, ...], options: Options, rules: tuple[int, ...] = (1,)
) -> list[Cell]:
    job = {"kind": kind, "rate": rate, "windows": windows, "rules": rules}
    report = run_worker("livefacts_laser", {**job, "ticks": 3 if options.quick else TICKS})
    if "failure" in report:
        raise SystemExit(f"laser, {kind} at {rate}: {report['failure']}")
    cells: list[Cell] = report["cells"]
    return cells


def changes(cell: Cell) -> float:
    """Seconds for one atom, with what begins and ends at every time point."""
    return float(cell["push"] + cell["advance"])


def full(cell: Cell) -> float:
    """Seconds for one atom, with all answers at every time point."""
    return changes(cell) + float(cell["answers"])


def _grid(kind: str, grid: dict[int, list[Cell]]) -> str:
    heads = ["window", *(f"{rate} a point" for rate in grid)]
    rows = []
    for cells in zip(*grid.values(), strict=True):
        shown = [f"{_micro(full(cell))} / {_micro(changes(cell))}" for cell in cells]
        rows.append([str(cells[0]["window"]), *shown])
    largest = list(grid.values())[-1][-1]
    parts = ", ".join(f"{part} {_micro(largest[part])}" for part in ("push", "advance", "answers"))
    decoding = ", ".join(
        f"{part} {_micro(largest[part])}" for part in ("decode answers", "decode changes")
    )
    return (
        f"## {TITLES[kind]}: µs for one atom, full answers / changes\n\n{table(heads, rows)}\n"
        f"Last cell, {largest['rows']:,} answers: {parts}; apart from that, {decoding}.\n"
    )


def _several(cells: list[Cell]) -> str:
    windows = list(dict.fromkeys(cell["window"] for cell in cells))
    rows = []
    for rules in dict.fromkeys(cell["rules"] for cell in cells):
        line = [cell for cell in cells if cell["rules"] == rules]
        rows.append([str(rules), *(f"{_micro(full(c))} / {_micro(changes(c))}" for c in line)])
    heads = ["rules", *(f"window {window}" for window in windows)]
    return "## Several joins (Fig. 3b): µs for one atom, full answers / changes\n\n" + table(
        heads, rows
    )


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:.1f}"


def _plot(grids: dict[str, dict[int, list[Cell]]], peers: Peers) -> str:
    panels = []
    for kind, grid in grids.items():
        lines = {
            f"{rate}, full answers": [full(c) * 1e6 for c in cells] for rate, cells in grid.items()
        }
        last = list(grid)[-1]
        lines[f"{last}, changes"] = [changes(cell) * 1e6 for cell in grid[last]]
        points = [cell["window"] for cell in grid[last]]
        panels.append({"title": TITLES[kind], "x": points, "x_label": "window", "lines": lines})
    return plot("laser", "windows over timed streams", panels, "µs for one atom", peers)


def _targets(grids: dict[str, dict[int, list[Cell]]]) -> list[Target]:
    found = []
    for kind, grid in grids.items():
        cells = grid[RATES[-1]]
        slowest = max(full(cell) for cell in cells)
        found.append(within(f"{kind}, full answers, one atom", slowest, MOST[kind]))
        ten = next(cell for cell in cells if cell["window"] == 10)
        ratio = changes(cells[-1]) / changes(ten)
        found.append(at_most(f"{kind}, changes, window 80 against 10", ratio, GROWTH))
    return found
