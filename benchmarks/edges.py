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

NODES, EDGES = 300, 900
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
    heads = ["", "paths", "close", "out, p50", "p99", "in, p50", "p99"]
    heads += ["closing, against out", "same result"]
    first = reports[0][1]
    rows = [_row(name, report, first) for name, report in reports]
    return f"# One edge of {EDGES}, between {NODES} nodes\n\n" + table(heads, rows)


def _row(name: str, report: dict[str, Any], first: dict[str, Any]) -> list[str]:
    close = report["stages"]["close"]
    figures = [latency(report[way][p]) for way in ("out", "in") for p in ("p50", "p99")]
    same = report["states"] == first["states"] and report["states"][0] == report["states"][2]
    return [
        name,
        f"{report['true'] - EDGES:,}",
        seconds(close),
        *figures,
        times(close, report["out"]["p50"]),
        "yes" if same else "no",
    ]
