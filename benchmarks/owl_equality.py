"""Groups of equal things: one reason for them goes and comes back, merged and by the rules.

A group is a chain of owl:sameAs, which an equality that goes cuts in two, or a star, which loses one
member; or they are values of a functional property, from which it follows that they are the same.
By the rules a group of *n* has *n²* equalities with *n* reasons each, so they are measured on small
groups alone.
"""

from __future__ import annotations

from typing import Any

from benchmarks.measuring import run_worker
from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.tables import latency, seconds, table
from benchmarks.targets import Target, holds, summary, within

SHAPES = ("chain", "star", "values")
FACTS = 2
SMALL, LARGE = 50, 1000


def run(peers: Peers, options: Options) -> str:
    """Both shapes, small groups in both ways, large ones merged."""
    small, large = (10, 100) if options.quick else (SMALL, LARGE)
    rows, targets = [], []
    for shape in SHAPES:
        merged, ruled = (_report(shape, small, way) for way in ("merge", "rules"))
        many = _report(shape, large, "merge")
        rows += [_row(shape, small, "merged", merged), _row(shape, small, "by the rules", ruled)]
        rows.append(_row(shape, large, "merged", many))
        targets += _targets(shape, large, merged, ruled, many)
    heads = ["group", "members", "", "facts", "load", "out, p50", "most", "in, p50", "most"]
    heads.append("facts lost at most")
    title = f"# Groups of equal things, {FACTS} facts asserted of each\n\n"
    return title + table(heads, rows) + "\n" + summary("owl equality", targets)


def _report(shape: str, members: int, same_as: str) -> dict[str, Any]:
    job = {"shape": shape, "members": members, "facts": FACTS, "same_as": same_as, "turns": 5}
    report = run_worker("livefacts_equality", job)
    if "failure" in report:
        raise SystemExit(f"owl equality, {shape}, {same_as}: {report['failure']}")
    return report


def _row(shape: str, members: int, way: str, report: dict[str, Any]) -> list[str]:
    figures = [latency(report[part][p]) for part in ("out", "in") for p in ("p50", "most")]
    load = seconds(report["stages"]["load"])
    lost = f"{report['removed']:,}"
    return [shape, f"{members:,}", way, f"{report['true']:,}", load, *figures, lost]


def _targets(
    shape: str, members: int, merged: dict[str, Any], ruled: dict[str, Any], many: dict[str, Any]
) -> list[Target]:
    title = f"{shape} of {members:,}"
    return [
        within(f"{title}: one reason out, the slowest", many["out"]["most"], 1),
        within(f"{title}: one reason in, the slowest", many["in"]["most"], 1),
        holds(f"{shape}: merged and by the rules the same", merged["state"] == ruled["state"]),
        holds(f"{title}: changes come back to the same", merged["same"] and many["same"]),
    ]
