"""Spark: all stages of the pipeline, from files to every conclusion in tables.

The stages of one run, as the DynamiTE paper shows them (section 6, Fig. 5), and the line
from one million triples to thirty.  Wall time needs an idle machine; processor time does
not, and what free cores would do is computed from it.
"""

from __future__ import annotations

from typing import Any

from benchmarks import datasets
from benchmarks.measuring import SCRATCH, run_worker
from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.plots import plot
from benchmarks.tables import seconds, table

STAGES = 42
LINE = (8, 16, 42, 80, 240)
QUICK = (1, 2)
RULES = "rho-df"
MIB = 1 << 20
ROLES = ("driver", "java", "workers")


def run(peers: Peers, options: Options) -> str:
    counts = options.universities or (QUICK if options.quick else (*LINE,))
    runs = dict(zip(counts, measured(counts), strict=True))
    chosen = runs[STAGES if STAGES in runs else max(runs)]
    parts = [
        "# Spark\n",
        _stages(chosen),
        _totals(chosen),
        "## The line\n",
        _line(list(runs.values())),
    ]
    if not options.quick:
        parts.append(_plot(list(runs.values()), peers))
    return "\n".join(parts)


def measured(counts: tuple[int, ...]) -> list[dict[str, Any]]:
    """What the pipeline did with so many universities each, in one session."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    job = {
        "inputs": [str(datasets.universities(count)) for count in counts],
        "warm_up": str(datasets.universities(QUICK[0])),
        "rules": RULES,
        "folder": str(SCRATCH),
    }
    report = run_worker("livefacts_spark", job, pinned=False)
    if "failure" in report:
        raise SystemExit(f"spark: {report['failure']}")
    found: list[dict[str, Any]] = report["runs"]
    return found


def _stages(one: dict[str, Any]) -> str:
    heads = ["stage", "wall", *(f"CPU, {role}" for role in ROLES), "rows", "written"]
    rows = [
        [
            stage["name"],
            seconds(stage["wall"]),
            *(seconds(stage["cpu"].get(role, 0.0)) for role in ROLES),
            f"{stage['rows']:,}",
            f"{stage['bytes'] / MIB:,.1f} MB",
        ]
        for stage in one["stages"]
    ]
    return table(heads, rows)


def _totals(one: dict[str, Any]) -> str:
    cpu = sum(one["cpu"].values())
    closing = sum(sum(stage["cpu"].values()) for stage in one["stages"][_closing_from(one) :])
    cores = one["cores"]
    return (
        f"{one['asserted']:,} triples asserted, {one['derived']:,} derived, {RULES}, {cores} cores: "
        f"{one['asserted'] / one['wall']:,.0f} triples/s from files to tables, "
        f"{one['asserted'] / one['closing']:,.0f} triples/s for the closure alone; "
        f"{cpu:.1f} CPU seconds, which is {one['asserted'] * cores / cpu:,.0f} triples/s on {cores} "
        f"cores that do nothing else ({one['asserted'] * cores / closing:,.0f} for the closure).\n"
    )


def _closing_from(one: dict[str, Any]) -> int:
    """Where the stages of the second step begin: after the commit of the first."""
    return [stage["name"] for stage in one["stages"]].index("commit") + 1


def _line(runs: list[dict[str, Any]]) -> str:
    heads = ["triples", "facts", "wall", "triples/s", "closure alone", "CPU", "CPU per million"]
    heads += [f"memory, {role}" for role in ROLES] + ["tables"]
    rows = [
        [
            f"{one['asserted']:,}",
            f"{one['asserted'] + one['derived']:,}",
            seconds(one["wall"]),
            f"{one['asserted'] / one['wall']:,.0f}",
            f"{one['asserted'] / one['closing']:,.0f}",
            seconds(sum(one["cpu"].values())),
            seconds(sum(one["cpu"].values()) / one["asserted"] * 1e6),
            *(f"{one['peaks'][role] / MIB:,.0f} MB" for role in ROLES),
            f"{one['kept'] / MIB:,.0f} MB",
        ]
        for one in runs
    ]
    first, last = runs[0], runs[-1]
    growth = (sum(last["cpu"].values()) / last["asserted"]) / (
        sum(first["cpu"].values()) / first["asserted"]
    )
    said = (
        f"\nFrom {first['asserted']:,} to {last['asserted']:,} triples the processor time of one triple "
        f"changes by a factor of {growth:.2f}. Memory is the most that one process had of its own; "
        "there is one worker for each core.\n"
    )
    return table(heads, rows) + said


def _plot(runs: list[dict[str, Any]], peers: Peers) -> str:
    panel = {
        "x": [one["asserted"] for one in runs],
        "lines": {
            "wall": [one["wall"] for one in runs],
            "CPU": [sum(one["cpu"].values()) for one in runs],
        },
        "linear": "wall",
        "x_label": "triples",
    }
    return plot("spark", "the line", [panel], "seconds", peers)
