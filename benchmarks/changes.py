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

SIZES = ((1, 2000), (100, 300), (1_000, 100), (100_000, 5))
SIZES_OF_API = ((1, 2000), (100, 200), (1_000, 50), (100_000, 3))
ONE = ((1, 2000),)
RULES = ("rho-df", "rdfs")
UNIVERSITIES = (1, 2, 10, 80)
ENGINE, API = "engine", "api"
DIRECTIONS = ("in", "out")


def run(peers: Peers) -> str:
    title, path = _data()
    parts = [f"# Changes\n\n{title}\n"]
    for rules in RULES:
        engine = _changes(path, rules, ENGINE, SIZES, compare=True)
        api = _changes(path, rules, API, SIZES_OF_API)
        parts += [_title(rules, engine), _table(engine, api)]
    return "\n".join([*parts, _independence(peers)])


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
        f"## {rules}\n\n{report['told']:,} triples, {report['true']:,} when closed, "
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


def _independence(peers: Peers) -> str:
    reports = [
        {
            through: _changes(datasets.universities(count), "rho-df", through, ONE)
            for through in (ENGINE, API)
        }
        for count in UNIVERSITIES
    ]
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
