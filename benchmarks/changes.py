"""Changes: triples of a closed knowledge base go and come back, a few or many at a time.

Inside the engine, from rows of ids to the delta of ids, and through `Reasoner.add` and
`Reasoner.remove` with terms; beside closing everything anew.  Then one triple in and out
while the closure grows from 0.1 to 10 million facts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks import datasets
from benchmarks.measuring import run_worker
from benchmarks.peers import Peers
from benchmarks.plots import plot
from benchmarks.tables import NOTHING, latency, seconds, table, times
from benchmarks.targets import Target, at_most, holds, summary, within

SIZES = ((1, 2000), (100, 300), (1_000, 100), (100_000, 5))
SIZES_OF_API = ((1, 2000), (100, 200), (1_000, 50), (100_000, 3))
ONE = ((1, 2000),)
RULES = ("rho-df", "rdfs")
UNIVERSITIES = (1, 2, 10, 80)
ENGINE, API = "engine", "api"
DIRECTIONS = ("in", "out")
MOST = {
    1: {"in": 15e-6, "out": 20e-6},
    100: {"in": 1e-3, "out": 2e-3},
    1_000: {"in": 2e-3, "out": 3e-3},
    100_000: {"in": 0.2, "out": 0.3},
}
"""What changes of each size may take inside the engine (p50)."""
MOST_OF_API = 150e-6
"""What one triple may take through the public API (p50)."""
MOST_OF_ROAD = {"text": 60e-6, "triple": 45e-6}
"""What `Reasoner.add` of one triple may take, given as text and as a `Triple`."""
MOST_CALLS, MOST_FILES = 150, 25
"""How many Python functions, in how many files, one triple may pass on its way."""
MOST_GROWTH = 2.0
"""How much more one triple may cost in the largest closure than in the smallest: caches."""


def run(peers: Peers) -> str:
    title, path = _data()
    parts, targets = [f"# Changes\n\n{title}\n"], []
    for rules in RULES:
        engine = _changes(path, rules, ENGINE, SIZES, compare=True)
        api = _changes(path, rules, API, SIZES_OF_API)
        parts += [_title(rules, engine), _table(engine, api)]
        targets += _targets(rules, engine, api)
    road, figures = _road()
    sizes = _sizes()
    targets += [*figures, *_growth(sizes)]
    return "\n".join([*parts, road, _independence(sizes, peers), summary("changes", targets)])


def _road() -> tuple[str, list[Target]]:
    """One triple through the public API, given as text and as an object, and what it passes."""
    now = _walk()
    rows = [
        [given, latency(min(way["seconds"])), str(way["calls"]), str(way["files"])]
        for given in MOST_OF_ROAD
        for way in (now[given],)
    ]
    targets = []
    for given, most in MOST_OF_ROAD.items():
        way = now[given]
        targets += [
            within(f"add({given}) of one triple", min(way["seconds"]), most),
            holds(f"add({given}): at most {MOST_CALLS} calls", way["calls"] <= MOST_CALLS),
            holds(f"add({given}): at most {MOST_FILES} files", way["files"] <= MOST_FILES),
        ]
    heads = ["given as", "p50, best of 5", "Python calls", "files"]
    return "## The road of one triple\n\n" + table(heads, rows), targets


def _walk() -> dict[str, Any]:
    found = run_worker("livefacts_road", {"turns": 2000})
    if "failure" in found:
        raise SystemExit(f"changes, the road of one triple: {found['failure']}")
    return found


def _targets(rules: str, engine: dict[str, Any], api: dict[str, Any]) -> list[Target]:
    inside = [
        within(
            f"{rules}, {change['size']:,} {way}, engine",
            change[way]["p50"],
            MOST[change["size"]][way],
        )
        for change in engine["changes"]
        for way in DIRECTIONS
    ]
    public = [
        within(f"{rules}, 1 {way}, public API", api["changes"][0][way]["p50"], MOST_OF_API)
        for way in DIRECTIONS
    ]
    same = all(change["same"] for change in (*engine["changes"], *api["changes"]))
    return [*inside, *public, holds(f"{rules}, same result as anew", same)]


def _growth(sizes: list[dict[str, Any]]) -> list[Target]:
    """One triple costs the same whatever the size of the closure."""
    first, last = sizes[0][ENGINE], sizes[-1][ENGINE]
    name = f"{first['true']:,} → {last['true']:,} facts"
    return [
        at_most(
            f"1 {way}, engine, {name}",
            last["changes"][0][way]["p50"] / first["changes"][0][way]["p50"],
            MOST_GROWTH,
        )
        for way in DIRECTIONS
    ]


def _data() -> tuple[str, Path]:
    path = datasets.lubm(5)
    return (
        ("LUBM, 5 universities", path) if path else ("Universities (5)", datasets.universities(5))
    )


def _changes(
    path: Path,
    rules: str,
    through: str,
    sizes: tuple[tuple[int, int], ...],
    *,
    compare: bool = False,
) -> dict[str, Any]:
    job = {"input": str(path), "rules": rules, "through": through, "sizes": sizes}
    report = run_worker("livefacts_changes", {**job, "compare": compare})
    if "failure" in report:
        raise SystemExit(f"changes, {rules}, {through}: {report['failure']}")
    return report


def _title(rules: str, report: dict[str, Any]) -> str:
    return (
        f"## {rules}\n\n{report['asserted']:,} triples, {report['true']:,} when closed, "
        f"in {seconds(report['stages']['close'])}\n"
    )


def _table(engine: dict[str, Any], api: dict[str, Any]) -> str:
    rows = []
    for inside, public in zip(engine["changes"], api["changes"], strict=True):
        for way in DIRECTIONS:
            same = inside["same"] and public["same"]
            rows.append(
                [
                    f"{inside['size']:,} {way}",
                    *(latency(side[way][p]) for side in (inside, public) for p in ("p50", "p99")),
                    seconds(inside["anew"]),
                    times(inside["anew"], inside[way]["p50"]) if same else NOTHING,
                    "yes" if same else "no",
                ]
            )
    heads = ["triples", "engine, p50", "p99", "public API, p50", "p99"]
    heads += ["close anew", "against the engine", "same result"]
    return table(heads, rows)


def _sizes() -> list[dict[str, Any]]:
    """One triple in closures of all sizes."""
    return [
        {
            through: _changes(datasets.universities(count), "rho-df", through, ONE)
            for through in (ENGINE, API)
        }
        for count in UNIVERSITIES
    ]


def _independence(reports: list[dict[str, Any]], peers: Peers) -> str:
    rows = [_size_row(report) for report in reports]
    heads = [
        "facts",
        *(f"{t}, {way}, {p}" for t in (ENGINE, API) for way in DIRECTIONS for p in ("p50", "p99")),
    ]
    line = plot(
        "changes", "one triple, closures of all sizes", [_panel(reports)], "CPU seconds, p50", peers
    )
    return (
        f"## One triple, whatever the size of the closure (rho-df)\n\n{table(heads, rows)}\n{line}"
    )


def _size_row(report: dict[str, Any]) -> list[str]:
    figures = [
        latency(report[through]["changes"][0][way][p])
        for through in (ENGINE, API)
        for way in DIRECTIONS
        for p in ("p50", "p99")
    ]
    return [f"{report[ENGINE]['true']:,}", *figures]


def _panel(reports: list[dict[str, Any]]) -> dict[str, Any]:
    lines = {
        f"{name}, {way}": [report[through]["changes"][0][way]["p50"] for report in reports]
        for through, name in ((ENGINE, "engine"), (API, "public API"))
        for way in DIRECTIONS
    }
    closing = [report[ENGINE]["stages"]["close"] for report in reports]
    facts = [report[ENGINE]["true"] for report in reports]
    return {"x": facts, "x_label": "facts", "lines": {"closing anew": closing, **lines}}
