"""General rules on Spark: the closure of a tree and of a chain, joins over universities, OWL 2 RL.

Each is closed by rounds of joins, by the embedded engine in the driver (handed over, with
what is asserted read from the tables and written back), and by the embedded engine alone.  Then
single triples go and come back.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from benchmarks import datasets
from benchmarks.measuring import SCRATCH, run_worker
from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.tables import NOTHING, latency, seconds, table, times
from livefacts.generate import NAMESPACE, graphs

DEPTH, QUICK_DEPTH = 12, 5
LINKS, QUICK_LINKS = 200, 20
UNIVERSITIES, QUICK_UNIVERSITIES = 10, 1
UNDER_OWL, QUICK_UNDER_OWL = 5, 1
PATHS = f"""
@prefix g: <{graphs.NAMESPACE}> .
[?x, g:path, ?y] :- [?x, g:edge, ?y] .
[?x, g:path, ?z] :- [?x, g:edge, ?y], [?y, g:path, ?z] .
"""
JOINS = f"""
@prefix u: <{NAMESPACE}> .
[?teacher, u:teaches, ?student] :- [?teacher, u:teacherOf, ?course], [?student, u:takesCourse, ?course] .
[?x, u:colleagueOf, ?y]         :- [?x, u:worksFor, ?d], [?y, u:worksFor, ?d] .
[?student, u:knows, ?x]         :- [?student, u:advisor, ?teacher], [?teacher, u:colleagueOf, ?x] .
"""


def run(peers: Peers, options: Options) -> str:
    report = run_worker("livefacts_spark_general", _job(options), pinned=False)
    if "failure" in report:
        raise SystemExit(f"spark general: {report['failure']}")
    heads = ["", "facts", "way", "wall", "CPU", "joins / this", "same result"]
    heads += ["the first triple that goes or comes", "others, p50"]
    rows = [row for case in report["cases"] for row in _rows(case)]
    said = [
        f"- {case['name']}: {plan}" for case in report["cases"] for plan in case["plans"].values()
    ]
    return "\n".join(
        ["# General rules on Spark\n", table(heads, rows), "The plans say:\n", *said, ""]
    )


def _job(options: Options) -> dict[str, Any]:
    SCRATCH.mkdir(parents=True, exist_ok=True)
    depth = QUICK_DEPTH if options.quick else DEPTH
    (count,) = options.universities[:1] or (QUICK_UNIVERSITIES if options.quick else UNIVERSITIES,)
    links = QUICK_LINKS if options.quick else LINKS
    under_owl = QUICK_UNDER_OWL if options.quick else UNDER_OWL
    cases = [
        {
            "name": f"paths in a tree of depth {depth}",
            "input": str(datasets.binary_tree(depth)),
            "rules": PATHS,
        },
        {
            "name": f"joins over {count} universities",
            "input": str(datasets.universities(count)),
            "rules": JOINS,
        },
        {
            "name": f"paths in a chain of {links} links",
            "input": str(datasets.long_chain(links)),
            "rules": PATHS,
        },
        {
            "name": f"{under_owl} universities under owl-rl",
            "input": str(datasets.universities(under_owl)),
            "rules": "owl-rl",
        },
    ]
    warm_up = {**cases[0], "input": str(datasets.binary_tree(QUICK_DEPTH))}
    return {"cases": cases, "warm_up": warm_up, "folder": str(SCRATCH)}


def _rows(case: dict[str, Any]) -> list[list[str]]:
    roads = case["roads"]
    joins, expected = roads["joins"], roads["embedded"]["facts"]
    return [
        [
            case["name"],
            f"{road['facts']:,}",
            name,
            seconds(road["wall"]),
            seconds(road["cpu"]),
            times(joins["wall"], road["wall"]) if road["facts"] == joins["facts"] else NOTHING,
            "yes" if road["facts"] == expected else "no",
            *_changes(road.get("changes", [])),
        ]
        for name, road in roads.items()
    ]


def _changes(seconds_each: list[float]) -> list[str]:
    first, *others = seconds_each or [0.0]
    return [latency(first) if first else NOTHING, latency(median(others)) if others else NOTHING]
