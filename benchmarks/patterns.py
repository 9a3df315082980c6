"""Continuous patterns: messages a second and memory, by class of query, on streams of updates.

Queries of every class that Gergatsoulis and Damigos name follow a stream of messages, 70 %
of them insertions, over universities and over a graph of flows between hosts.  Beside them
stands asking pyoxigraph again after every message, and keeping the whole graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks import datasets
from benchmarks.measuring import run_worker
from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.tables import latency, table, times
from benchmarks.targets import Target, at_most, summary, within

UB = "http://livefacts.example/university#"
STANDING = 100
PATTERNS_LOOKED_AT = 400_000
"""Lines from which the constants of queries are chosen."""


def run(peers: Peers, options: Options) -> str:
    count, universities = (20_000, 1) if options.quick else (1_000_000, 7)
    single = 2_000 if options.quick else 30_000
    campus = datasets.universities(universities)
    flows = datasets.flows(15_000 if options.quick else 750_000)
    steps = [count // 100, count // 10, count]
    reports = {
        "universities": _report(campus, count, single, _campus_queries(campus), steps),
        "flows between hosts": _report(flows, count, single, _flow_queries(flows), None),
    }
    return "\n".join(
        [
            "# Continuous patterns\n",
            *(_table(name, report) for name, report in reports.items()),
            _sizes(reports["universities"]),
            summary("patterns", list(_targets(reports["universities"]))),
        ]
    )


def _report(
    path: Path, count: int, single: int, queries: dict[str, str], steps: list[int] | None
) -> dict[str, Any]:
    job: dict[str, Any] = {"input": str(path), "messages": count, "single": single}
    job["queries"] = queries
    if steps:
        standing = [_star(pairs) for pairs in islice(_rare(path, 3), STANDING)]
        job |= {"star": queries["star, 3 arms"], "steps": steps, "standing": standing}
    report = run_worker("livefacts_patterns", job)
    if "failure" in report:
        raise SystemExit(f"patterns: {report['failure']}")
    return report


# queries

Pair = tuple[str, str]


def _lines(path: Path) -> list[tuple[str, str, str]]:
    with path.open(encoding="utf-8") as lines:
        rows = (line.rstrip(" .\n").split(" ", 2) for line in islice(lines, PATTERNS_LOOKED_AT))
        return [(s, p, o) for s, p, o in rows]


def _by_subject(path: Path) -> dict[str, list[Pair]]:
    found: dict[str, list[Pair]] = {}
    for s, p, o in _lines(path):
        found.setdefault(s, []).append((p, o))
    return found


def _rare(path: Path, arms: int) -> list[list[Pair]]:
    """What single subjects have: stars with few centres."""
    subjects = [pairs for pairs in _by_subject(path).values() if len(pairs) >= arms]
    return [pairs[:arms] for pairs in subjects[10 : 10 + 2 * STANDING]]


def _usual(path: Path, arms: int) -> list[Pair]:
    """What many subjects have in common: a star with many centres."""
    subjects = _by_subject(path)
    counts = Counter(pair for pairs in subjects.values() for pair in pairs)
    fitting = (pairs for pairs in subjects.values() if len(pairs) >= arms)
    best = max(fitting, key=lambda pairs: sorted(counts[pair] for pair in pairs)[-arms])
    return sorted(best, key=lambda pair: -counts[pair])[:arms]


def _arms(pairs: Sequence[Pair], centre: str = "?x") -> str:
    return " . ".join(f"{centre} {p} {o}" for p, o in pairs)


def _star(pairs: Sequence[Pair]) -> str:
    return f"SELECT ?x {{ {_arms(pairs)} }}"


def _shared_queries(path: Path) -> dict[str, str]:
    lines = _lines(path)
    ground = " . ".join(" ".join(lines[at]) for at in (50, 5_000, 10_000))
    usual, rare = _usual(path, 3), _rare(path, 6)[0]
    return {
        "ground, 3 triples": f"ASK {{ {ground} }}",
        "star, 3 arms": _star(usual),
        "star, 6 arms": _star(_usual(path, 6)),
        "star, 3 arms, selective": _star(rare[:3]),
        "loosely connected": f"SELECT ?x ?y {{ {_arms(rare[:2])} . {_arms(usual, '?y')} }}",
    }


def _campus_queries(path: Path) -> dict[str, str]:
    advised, teaches = f"?s <{UB}advisor> ?p", f"?p <{UB}teacherOf> ?c"
    department = next(o for _, p, o in _lines(path) if p == f"<{UB}worksFor>" and "depart" in o)
    return {
        **_shared_queries(path),
        "path": f"SELECT ?s ?p ?c {{ {advised} . {teaches} }}",
        "path, selective": f"SELECT ?s ?p {{ {advised} . ?p <{UB}worksFor> {department} }}",
        "cycle": f"SELECT ?s ?p ?c {{ {advised} . {teaches} . ?s <{UB}takesCourse> ?c }}",
    }


def _flow_queries(path: Path) -> dict[str, str]:
    first, second, third = (f"<urn:flow:{number}>" for number in range(3))
    return {
        **_shared_queries(path),
        "path": f"SELECT ?x ?y ?z {{ ?x {first} ?y . ?y {second} ?z }}",
        "path, selective": f"SELECT ?y ?z {{ <urn:host:1> {first} ?y . ?y {second} ?z }}",
        "cycle": f"SELECT ?x ?y ?z {{ ?x {first} ?y . ?y {second} ?z . ?z {third} ?x }}",
    }


# tables


def _table(name: str, report: dict[str, Any]) -> str:
    count = report["messages"]
    heads = ["query", "in batches of 1,000", "one by one", "changes", "kept", "bytes kept"]
    heads += ["of the whole graph", "asking again", "against one by one", "same answers"]
    rows = [
        [
            each["name"],
            f"{count / each['seconds']:,.0f}/s",
            f"{1 / each['single']:,.0f}/s",
            f"{each['changes']:,}",
            f"{each['entries']:,}",
            f"{each['bytes']:,}",
            f"{each['bytes'] / report['graph']:.2%}",
            latency(each["recomputed"]),
            times(each["recomputed"], each["single"]),
            "yes" if each["same"] else "**no**",
        ]
        for each in report["queries"]
    ]
    return f"## {count:,} messages about {name}\n\n" + table(heads, rows)


def _sizes(report: dict[str, Any]) -> str:
    rows = [[f"{size['before']:,}", latency(size["seconds"])] for size in report["sizes"]]
    many = report["many"]
    ratio = times(many["all"], many["one"])
    said = f"{many['queries']} standing stars take {ratio} what one takes on the same messages.\n"
    title = "## A message, after so many others\n\n"
    return title + table(["before", "CPU a message of a star"], rows) + "\n" + said


def _targets(report: dict[str, Any]) -> Sequence[Target]:
    stars = [each for each in report["queries"] if each["name"].startswith("star")]
    slowest = max(each["seconds"] for each in stars) / report["messages"]
    first, *_, last = report["sizes"]
    many = report["many"]
    return [
        within("a message of a star, in batches of 1,000", slowest, 1 / 200_000),
        within("a message of a star, alone", max(e["single"] for e in stars), 1 / 30_000),
        at_most("that message, after 100 times as many", last["seconds"] / first["seconds"], 1.5),
        at_most("100 standing queries, against one", many["all"] / many["one"], 20),
    ]
