"""Aggregates: what one fact costs in a group of any size, in rules, windows and watches.

A group of many items gets one more, for each aggregate: as a rule, and as a watch, whose first
answers are timed, too.  A window holds many time points of readings in several groups, and one
more time point comes.
"""

from __future__ import annotations

from benchmarks.measuring import run_worker
from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.tables import latency, table

FUNCTIONS = (
    "count", "sum", "avg", "min", "max", "stddev", "percentile", "argmax", "group_concat",
)  # fmt: skip
"""An earlier checkout may not have all of them: what it refuses has no time there."""
SIZES, QUICK_SIZES = (300, 30_000), (300,)
WINDOW, QUICK_WINDOW = (500, 100, 50), (20, 10, 5)
"""Time points, readings at each of them, and groups."""
STAGES = ("rule", "refused", "watch", "first", "tick")


def run(peers: Peers, options: Options) -> str:
    sizes = QUICK_SIZES if options.quick else SIZES
    length, readings, groups = QUICK_WINDOW if options.quick else WINDOW
    rows = []
    for function in FUNCTIONS:
        for size in sizes:
            job = {"function": function, "size": size, "windows": size == sizes[-1]}
            job |= {"length": length, "readings": readings, "groups": groups}
            found = run_worker("livefacts_aggregates", job)
            if "failure" in found:
                raise SystemExit(f"aggregates, {function}: {found['failure']}")
            rows.append([function, f"{size:,}", *(latency(found.get(each)) for each in STAGES)])
    heads = ["aggregate", "group", "one in, by rule", "the same, refused", "one in, watched"]
    heads += ["first answers, a row", f"tick of a window of {length} x {readings}"]
    return "# Aggregates\n\n" + table(heads, rows)
