"""Edges: one edge goes from a graph in which every node reaches every other, and comes back.

This is the case that deletion for a try handles worst: every path may depend on the edge,
and nearly all of them have another way.
"""

from __future__ import annotations

from typing import Any

from benchmarks import datasets
from benchmarks.generic import STEP_BY_STEP, TRANSITIVE
from benchmarks.measuring import run_worker
from benchmarks.peers import Peers
from benchmarks.tables import latency, seconds, table, times
from benchmarks.targets import holds, summary, within

NODES, EDGES = 300, 900
QUANTILES = ("p50", "p99", "most")
WAYS = (
    ("transitive rule", TRANSITIVE, "counting-dred", 900),
    ("edge by edge, counting-dred", STEP_BY_STEP, "counting-dred", 100),
    ("edge by edge, dred", STEP_BY_STEP, "dred", 100),
    ("recompute", TRANSITIVE, "recompute", 20),
)


def run(peers: Peers) -> str:
    path = str(datasets.connected_edges(NODES, EDGES))
    reports = []
    for name, rules, maintenance, turns in WAYS:
        job = {"input": path, "rules": rules, "maintenance": maintenance, "turns": turns}
        report = run_worker("livefacts_edges", job)
        if "failure" in report:
            raise SystemExit(f"edges, {name}: {report['failure']}")
        reports.append((name, report))
    heads = ["", "paths", "close", "out, p50", "p99", "most", "in, p50", "p99", "most"]
    heads += ["closing, against out", "same result"]
    first = reports[0][1]
    rows = [_row(name, report, first) for name, report in reports]
    targets = [
        within(f"one edge out, the slowest of {first['out']['turns']}", first["out"]["most"], 5e-3),
        holds("same result in all ways", all(row[-1] == "yes" for row in rows)),
    ]
    title = f"# One edge of {EDGES}, between {NODES} nodes\n\n"
    return title + table(heads, rows) + "\n" + summary("edges", targets)


def _row(name: str, report: dict[str, Any], first: dict[str, Any]) -> list[str]:
    close = report["stages"]["close"]
    figures = [latency(report[way][p]) for way in ("out", "in") for p in QUANTILES]
    same = report["states"] == first["states"] and report["states"][0] == report["states"][2]
    return [
        name,
        f"{report['true'] - EDGES:,}",
        seconds(close),
        *figures,
        times(close, report["out"]["p50"]),
        "yes" if same else "no",
    ]
