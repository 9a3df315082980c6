"""Updates on Spark: the six of the DynamiTE paper, and thousands of one triple each.

Every update comes and goes, in the driver and as tasks, beside drawing all conclusions anew.
Then one triple at a time with the pipeline open: what the first hundreds of changes cost, and
what the last do.  Paper: Urbani et al., section 6, Table 2.
"""

from __future__ import annotations

from typing import Any

from benchmarks import datasets
from benchmarks.measuring import SCRATCH, run_worker
from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.tables import latency, seconds, table, times

UNIVERSITIES, COMMITS = 20, 5000
QUICK_UNIVERSITIES, QUICK_COMMITS = 1, 250
PART, TWICE, ONE_TRIPLE = 10, 2, 0.030
SMALL = ("1", "2", "3", "4", "4, asserted before")


def run(peers: Peers, options: Options) -> str:
    count = QUICK_UNIVERSITIES if options.quick else (options.universities or (UNIVERSITIES,))[0]
    commits = QUICK_COMMITS if options.quick else COMMITS
    SCRATCH.mkdir(parents=True, exist_ok=True)
    job = {
        "input": str(datasets.universities(count)),
        "more": count,
        "commits": commits,
        "folder": str(SCRATCH),
    }
    report = run_worker("livefacts_spark_updates", job, pinned=False)
    if "failure" in report:
        raise SystemExit(f"spark updates: {report['failure']}")
    return "\n".join(["# Updates on Spark\n", _updates(count, report), _one_by_one(report)])


def _updates(count: int, report: dict[str, Any]) -> str:
    full = report["full"]["wall"]
    said = (
        f"{count} universities, rho-df: {report['asserted']:,} triples, {report['facts']:,} facts; "
        f"all conclusions anew in {seconds(full)}\n\n"
    )
    heads = ["update", "road", "triples", "facts", "addition", "removal", "removal / addition"]
    heads += ["anew / addition", "anew / removal", "folding", "target"]
    return said + table(heads, [_row(full, each) for each in report["updates"]])


def _row(full: float, one: dict[str, Any]) -> list[str]:
    added, removed = one["addition"]["wall"], one["removal"]["wall"]
    met = max(added, removed) * PART <= full and removed <= TWICE * added
    return [
        one["name"],
        one["road"],
        f"{one['triples']:,}",
        f"{one['changed']:,}",
        latency(added),
        latency(removed),
        times(removed, added),
        times(full, added),
        times(full, removed),
        latency(one["folding"]) if one["folding"] else "",
        ("met" if met else "missed") if one["name"] in SMALL and one["road"] == "driver" else "",
    ]


def _one_by_one(report: dict[str, Any]) -> str:
    rows = []
    for kind, figures in report["single"].items():
        parts = {"all": figures, "first 200": figures[:200], "last 200": figures[-200:]}
        rows += [
            [f"{kind}, {name}", latency(_at(part, 0.5)), latency(_at(part, 0.99)), _met(kind, part)]
            for name, part in parts.items()
        ]
    commits = len(report["single"]["wall"])
    title = f"## One triple, {commits:,} changes one after the other\n\n"
    return title + table(["time", "p50", "p99", "at most 30 ms"], rows)


def _at(figures: list[float], share: float) -> float:
    return sorted(figures)[min(len(figures) - 1, int(len(figures) * share))]


def _met(kind: str, figures: list[float]) -> str:
    if kind != "wall":
        return ""
    return "met" if _at(figures, 0.99) <= ONE_TRIPLE else "missed"
