"""Streams on Spark: what a micro-batch costs, and how many rows a second are followed.

A knowledge base under rho-df follows a stream of facts that come and go, with deltas written:
micro-batches of 200 rows for the latency, and of 50,000 for the rate.  Beside it the embedded engine
on the same files, and the floor: Spark alone, which moves the rows and drops them.
"""

from __future__ import annotations

from typing import Any

from benchmarks.measuring import SCRATCH, run_worker
from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.tables import latency, table

LATENCY, SATURATION = {"files": 60, "rows": 200}, {"files": 12, "rows": 50_000}
QUICK_LATENCY, QUICK_SATURATION = {"files": 9, "rows": 200}, {"files": 6, "rows": 20_000}
GOAL = 50_000


def run(peers: Peers, options: Options) -> str:
    SCRATCH.mkdir(parents=True, exist_ok=True)
    job = {
        "folder": str(SCRATCH),
        "latency": QUICK_LATENCY if options.quick else LATENCY,
        "saturation": QUICK_SATURATION if options.quick else SATURATION,
    }
    report = run_worker("livefacts_spark_streaming", job, pinned=False)
    if "failure" in report:
        raise SystemExit(f"spark streaming: {report['failure']}")
    rate = report["saturation"]["spark"]["rate"]
    met = f"\nat least {GOAL:,} rows/s: {'yes' if rate >= GOAL else 'no'}\n"
    return "\n".join(["# Streams on Spark\n", _table(report), met])


def _table(report: dict[str, Any]) -> str:
    heads = ["rows in a batch", "who", "a batch, median", "rows/s", "beside the floor"]
    heads += ["reading", "changing", "writing"]
    rows = []
    for name in ("latency", "saturation"):
        found = report[name]
        for who in ("spark", "floor", "embedded"):
            one = found[who]
            parts = [
                latency(one[p]) if p in one else "" for p in ("reading", "changing", "writing")
            ]
            rows.append(
                [
                    f"{found['rows']:,}",
                    who,
                    latency(one["batch"]),
                    f"{one['rate']:,.0f}",
                    f"{one['batch'] / found['floor']['batch']:.2f}",
                    *parts,
                ]
            )
    return table(heads, rows)
