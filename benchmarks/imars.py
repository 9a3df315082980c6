"""IMaRS: the evaluation of Barbieri et al. on trees of isIn, and what a tick costs.

A part of the triples is background, the others stream through a window that is half as large.
At each step so many per cent of the background enter the window, and as many leave it.
Paper: section 5, Fig. 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks import datasets
from benchmarks.measuring import run_worker
from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.plots import plot
from benchmarks.tables import NOTHING, latency, table, times

SIZES = ((4_600, 9), (46_000, 5), (460_000, 3))
"""Triples of the background, and how many steps are timed at each percentage."""
PERCENTS = (0.1, 0.5, 1, 2.5, 5, 13, 25, 50)
WAYS = {"stream": "incremental-stream", "volz": "incremental-volz", "naive": "naive"}
POINTS = (20, 80, 320)
RATE, NODES = 800, (64_000, 16_000)


def run(peers: Peers, options: Options) -> str:
    sizes, percents = (SIZES[:1], PERCENTS[1::3]) if options.quick else (SIZES, PERCENTS)
    reports = [_report(size, turns, percents, peers) for size, turns in sizes]
    return "\n".join(
        [
            "# Trees of isIn, as Barbieri et al. measured them\n",
            *(_steps(report) for report in reports),
            _crossings(reports),
            _plot(reports, peers),
            _windows(POINTS[:1] if options.quick else POINTS),
        ]
    )


def _report(size: int, turns: int, percents: Sequence[float], peers: Peers) -> dict[str, Any]:
    path = str(datasets.places(3 * size))
    job = {"input": path, "background": size, "percents": percents, "turns": turns}
    report = _found("livefacts_imars", job)
    outside = None
    if "duckdb" not in peers.missing:
        job = {"input": path, "triples": size + size // 2}
        outside = run_worker("duckdb_places", job, str(peers.python)).get("recompute")
    return {"background": size, "duckdb": outside, **report}


def _found(worker: str, job: dict[str, Any]) -> dict[str, Any]:
    report = run_worker(worker, job)
    if "failure" in report:
        raise SystemExit(f"imars, {worker}: {report['failure']}")
    return report


def _steps(report: dict[str, Any]) -> str:
    heads = ["entering", *WAYS.values(), "duckdb, recomputing", "of stream, ending"]
    heads += ["naive, against stream", "same result"]
    rows = [
        [
            f"{step['percent']} % ({step['entering']:,})",
            *(latency(step[way]) for way in WAYS),
            latency(report["duckdb"]) if report["duckdb"] else NOTHING,
            latency(step["ending"]),
            times(step["naive"], step["stream"]),
            "yes" if step["same"] else "no",
        ]
        for step in report["steps"]
    ]
    size, true = report["background"], report["steps"][0]["true"]
    return f"## Background of {size:,} triples, {true:,} true\n\n" + table(heads, rows)


def _crossings(reports: Sequence[dict[str, Any]]) -> str:
    rows = [
        ["the paper", "2.5 %", "13 %"],
        *(
            [f"{report['background']:,}", _crossing(report, "volz"), _crossing(report, "stream")]
            for report in reports
        ),
    ]
    heads = ["from which share on naive is faster than", "incremental-volz", "incremental-stream"]
    return table(heads, rows)


def _crossing(report: dict[str, Any], way: str) -> str:
    slower = [step["percent"] for step in report["steps"] if step[way] > step["naive"]]
    last = report["steps"][-1]["percent"]
    return f"{min(slower)} %" if slower else f"none up to {last} %"


def _plot(reports: Sequence[dict[str, Any]], peers: Peers) -> str:
    panels = [
        {
            "title": f"background of {report['background']:,}",
            "x": [step["percent"] for step in report["steps"]],
            "x_label": "% of the background that enters and leaves",
            "lines": {name: [step[way] for step in report["steps"]] for way, name in WAYS.items()}
            | ({"duckdb": [report["duckdb"]] * len(report["steps"])} if report["duckdb"] else {}),
        }
        for report in reports
    ]
    return plot("imars", "a step of the window", panels, "CPU seconds", peers)


def _windows(lengths: Sequence[int]) -> str:
    """A self join over windows: a tick with all its answers, and the ending of facts alone."""
    rows = []
    for points in lengths:
        for nodes in NODES if points == 80 else NODES[:1]:
            report = _found("livefacts_window", {"points": points, "rate": RATE, "nodes": nodes})
            tick = report["ending"] + report["entering"] + report["answers"]
            per = report["ending"] / max(1, report["ended"])
            figures = [report[key] for key in ("ending", "entering", "answers")]
            rows.append(
                [
                    f"{points} x {RATE}, {nodes:,} nodes",
                    f"{report['rows']:,}",
                    *map(latency, (*figures, tick)),
                    f"{per * 1e9:.0f} ns",
                ]
            )
    heads = ["window", "answers", "ending", "entering", "writing all answers", "tick", "per ended"]
    return "## A tick of a window with a self join\n\n" + table(heads, rows)
