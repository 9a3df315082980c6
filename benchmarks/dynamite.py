"""DynamiTE: the six updates of the paper, on universities, inside the engine.

Two counters with deletion for a try (counting-dred), deletion for a try alone (dred), and
all conclusions drawn anew.  Paper: Urbani et al., section 6, Table 2.
"""

from __future__ import annotations

from typing import Any

from benchmarks import datasets
from benchmarks.measuring import run_worker
from benchmarks.peers import Peers
from benchmarks.tables import NOTHING, latency, seconds, table, times
from benchmarks.targets import Target, at_most, holds, summary

UNIVERSITIES = 10
WAYS = (("counting-dred", 9), ("dred", 5), ("recompute", 1))
KINDS = {
    "1": "one triple, no reasoning",
    "2": "16,000 triples, no reasoning",
    "3": "8,000 e-mail addresses",
    "4": "headOf below a new property, below another",
    "4, asserted before": "headOf below worksFor",
    "5": "one university",
    "6": "two universities",
}


def run(peers: Peers) -> str:
    reports = {name: _report(name, turns) for name, turns in WAYS}
    first = reports["counting-dred"]
    said = (
        f"# The updates of DynamiTE\n\n{UNIVERSITIES} universities, rho-df: {first['asserted']:,} "
        f"triples, {first['true']:,} when closed, in {seconds(first['stages']['close'])}\n\n"
    )
    updates = list(zip(*(reports[name]["updates"] for name, _ in WAYS), strict=True))
    heads = ["update", "triples", "facts", "addition", "removal", "removal / addition"]
    heads += ["removal, dred", "addition, anew", "removal, anew", "anew / removal", "same result"]
    rows = [_row(*update) for update in updates]
    targets = [
        *(_target(counting) for counting, _, _ in updates),
        holds("same result in all ways", all(row[-1] == "yes" for row in rows)),
    ]
    return said + table(heads, rows) + "\n" + summary("dynamite", targets)


def _target(update: dict[str, Any]) -> Target:
    ratio = update["removal"]["p50"] / update["addition"]["p50"]
    return at_most(f"removal, against addition: update {update['name']}", ratio, 2)


def _report(maintenance: str, turns: int) -> dict[str, Any]:
    job = {
        "input": str(datasets.universities(UNIVERSITIES)),
        "rules": "rho-df",
        "maintenance": maintenance,
        "turns": turns,
        "more": UNIVERSITIES,
    }
    report = run_worker("livefacts_updates", job)
    if "failure" in report:
        raise SystemExit(f"dynamite, {maintenance}: {report['failure']}")
    return report


def _row(counting: dict[str, Any], dred: dict[str, Any], anew: dict[str, Any]) -> list[str]:
    same = counting["states"] == dred["states"] == anew["states"]
    added, removed = counting["addition"]["p50"], counting["removal"]["p50"]
    return [
        f"{counting['name']}: {KINDS[counting['name']]}",
        f"{counting['triples']:,}",
        f"{counting['facts']:,}",
        latency(added),
        latency(removed),
        times(removed, added),
        latency(dred["removal"]["p50"]),
        latency(anew["addition"]["p50"]),
        latency(anew["removal"]["p50"]),
        times(anew["removal"]["p50"], removed) if same else NOTHING,
        "yes" if same else "no",
    ]
