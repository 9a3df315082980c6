"""Scale: cost from 0.1 to 10 million triples, as a table and a plot."""

from __future__ import annotations

from typing import Any

from benchmarks import datasets
from benchmarks.measuring import run_worker
from benchmarks.peers import Peers
from benchmarks.plots import plot
from benchmarks.tables import seconds, table

UNIVERSITIES = (1, 2, 5, 10, 20, 50, 100)
RUNS = 2
MIB = 1 << 20


def run(peers: Peers) -> str:
    reports = [_best(count) for count in UNIVERSITIES]
    rows = [_row(report) for report in reports]
    heads = ["triples", "facts", "load", "close", "both, per million triples", "peak memory"]
    return "\n".join(["# Scale\n", table(heads, rows), _line(reports), _plot(reports, peers)])


def _best(count: int) -> dict[str, Any]:
    job = {"input": str(datasets.universities(count)), "rules": "rho-df"}
    reports = [run_worker("livefacts_closure", job) for _ in range(RUNS)]
    for report in reports:
        if "failure" in report:
            raise SystemExit(f"scale, {count} universities: {report['failure']}")
    return min(reports, key=_cost)


def _cost(report: dict[str, Any]) -> float:
    return float(report["stages"]["load"] + report["stages"]["close"])


def _row(report: dict[str, Any]) -> list[str]:
    return [
        f"{report['asserted']:,}",
        f"{report['true']:,}",
        seconds(report["stages"]["load"]),
        seconds(report["stages"]["close"]),
        seconds(_cost(report) / report["asserted"] * 1e6),
        f"{report['peak'] / MIB:,.0f} MB",
    ]


def _line(reports: list[dict[str, Any]]) -> str:
    first, last = reports[0], reports[-1]
    growth = (_cost(last) / last["asserted"]) / (_cost(first) / first["asserted"])
    return (
        f"From {first['asserted']:,} to {last['asserted']:,} triples the cost of one triple "
        f"changes by a factor of {growth:.2f}.\n"
    )


def _plot(reports: list[dict[str, Any]], peers: Peers) -> str:
    stages = {name: [r["stages"][name] for r in reports] for name in ("load", "close")}
    panel = {
        "x": [report["asserted"] for report in reports],
        "lines": {"load and close": [_cost(report) for report in reports], **stages},
        "linear": "load and close",
        "x_label": "triples",
    }
    return plot("scale", "the line", [panel], "CPU seconds", peers)
