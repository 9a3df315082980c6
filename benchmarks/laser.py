"""Laser: the evaluation of Bazoobandi, Beck and Urbani on windows over timed streams.

One rule with `sometime`, one with `always`, a join, several joins, and the cooling system, for
windows of 1 to 80 time points and 200 to 800 atoms at each.  Figures are CPU microseconds for
one atom that arrives.  "Full answers" writes all that is concluded into an array at every time
point, as Laser does; "changes" has what begins and ends.  Turning ids into terms is counted apart.
A larger window has more joins, and so more that changes; how the cost of a change grows with the
window is seen where nodes are as many as edges, so that every window has the same changes.
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
COMPARED = (10, 80)
Cell = dict[str, Any]


def run(peers: Peers, options: Options) -> str:
    windows = (1, 4) if options.quick else WINDOWS
    rates = (20,) if options.quick else RATES
    grids = {
        kind: {rate: _cells(kind, rate, windows, options) for rate in rates} for kind in TITLES
    }
    several = _cells(
        "join", rates[0], windows, options, rules=RULES[:2] if options.quick else RULES
    )
    steady = _cells("join", rates[-1], windows if options.quick else COMPARED, options, steady=True)
    parts = ["# Windows over timed streams, as Laser was measured\n"]
    parts += [_grid(kind, grid) for kind, grid in grids.items()]
    parts += [_several(several), _steady(steady), _files(options), _plot(grids, several, peers)]
    if not options.quick:
        parts.append(summary("laser", _targets(grids, steady)))
    return "\n".join(parts)


def _cells(
    kind: str,
    rate: int,
    windows: tuple[int, ...],
    options: Options,
    *,
    rules: tuple[int, ...] = (1,),
    steady: bool = False,
) -> list[Cell]:
    job = {"kind": kind, "rate": rate, "windows": windows, "rules": rules, "steady": steady}
    report = _report("livefacts_laser", {**job, "ticks": 3 if options.quick else TICKS})
    cells: list[Cell] = report["cells"]
    return cells


def _report(worker: str, job: dict[str, Any]) -> dict[str, Any]:
    report = run_worker(worker, job)
    if "failure" in report:
        raise SystemExit(f"laser, {job['kind']} at {job['rate']}: {report['failure']}")
    return report


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
        f"Last cell, {largest['rows']:,} answers, {largest['begun']:.2f} of which begin with an "
        f"atom: {parts}; apart from that, {decoding}.\n"
    )


def _several(cells: list[Cell]) -> str:
    windows = list(dict.fromkeys(cell["window"] for cell in cells))
    rows = []
    for rules, line in _by_rules(cells).items():
        rows.append([str(rules), *(f"{_micro(full(c))} / {_micro(changes(c))}" for c in line)])
    heads = ["rules", *(f"window {window}" for window in windows)]
    return "## Several joins (Fig. 3b): µs for one atom, full answers / changes\n\n" + table(
        heads, rows
    )


def _by_rules(cells: list[Cell]) -> dict[int, list[Cell]]:
    found: dict[int, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell["rules"], []).append(cell)
    return found


def _steady(cells: list[Cell]) -> str:
    heads = ["window", "answers", "begin with an atom", "changes"]
    rows = [
        [str(c["window"]), f"{c['rows']:,}", f"{c['begun']:.2f}", _micro(changes(c))] for c in cells
    ]
    title = "## A join with as many changes in every window: µs for one atom\n\n"
    return title + table(heads, rows)


def _files(options: Options) -> str:
    """Facts a second from files of JSON lines."""
    rows = []
    for kind in ("diamond", "cooling"):
        job = {"kind": kind, "points": 5 if options.quick else 60, "rate": RATES[-1]}
        found = _report("livefacts_timed_file", job)
        rows.append([kind, *(f"{1 / found[part]:,.0f}" for part in ("read", "grammar", "run"))])
    heads = ["file", "read, facts/s", "by the grammar alone", "read and followed, window 10"]
    return "## Timed facts from a file of JSON lines\n\n" + table(heads, rows)


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:.1f}"


def _plot(grids: dict[str, dict[int, list[Cell]]], several: list[Cell], peers: Peers) -> str:
    panels = []
    for kind, grid in grids.items():
        lines = {
            f"{rate}, full answers": [full(c) * 1e6 for c in cells] for rate, cells in grid.items()
        }
        last = list(grid)[-1]
        lines[f"{last}, changes"] = [changes(cell) * 1e6 for cell in grid[last]]
        points = [cell["window"] for cell in grid[last]]
        panels.append({"title": TITLES[kind], "x": points, "x_label": "window", "lines": lines})
    lines = {
        f"{rules} rules": [full(c) * 1e6 for c in cells]
        for rules, cells in _by_rules(several).items()
    }
    points = list(dict.fromkeys(cell["window"] for cell in several))
    panels[-1]["legend"] = True
    title = "several joins (Fig. 3b)"
    panels.append({"title": title, "x": points, "x_label": "window", "lines": lines})
    return plot("laser", "windows over timed streams", panels, "µs for one atom", peers)


def _targets(grids: dict[str, dict[int, list[Cell]]], steady: list[Cell]) -> list[Target]:
    found = []
    for kind, grid in grids.items():
        cells = grid[RATES[-1]]
        slowest = max(full(cell) for cell in cells)
        found.append(within(f"{kind}, full answers, one atom", slowest, MOST[kind]))
        few, many = (
            changes(cell)
            for cell in (steady if kind == "join" else cells)
            if cell["window"] in COMPARED
        )
        same = ", as many changes" if kind == "join" else ""
        found.append(at_most(f"{kind}{same}, window 80 against 10", many / few, GROWTH))
    return found
