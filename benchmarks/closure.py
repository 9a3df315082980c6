"""Closure: rho-df over universities, beside maplib, duckdb, Nemo, reasonable, owlrl, pyoxigraph.

A ratio is given only where the other side ended with the same triples, by number and by
hash.  reasonable and owlrl close under more rules than ours: their times are shown, and
whether their result contains ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks import datasets
from benchmarks.measuring import SCRATCH, Contestant, Found, compare, missing_from, run_worker
from benchmarks.peers import Peers
from benchmarks.tables import NOTHING, rate, seconds, table, times

OURS = Contestant("livefacts", "livefacts_closure", options={"rules": "rho-df"})
SAME_RULES = (
    Contestant("maplib", "maplib_closure", "maplib"),
    Contestant("duckdb, semi-naive SQL", "duckdb_closure", "duckdb"),
    Contestant("Nemo", "nemo_closure", "nemo-python"),
)
MORE_RULES = (
    Contestant("reasonable (OWL 2 RL)", "reasonable_closure", "reasonable"),
    Contestant("owlrl (RDFS)", "owlrl_closure", "owlrl"),
)
TURNS = 5
READERS = (Contestant("pyoxigraph", "pyoxigraph_load", "pyoxigraph"),)


def run(peers: Peers) -> str:
    parts = ["# Closure under rho-df\n"]
    for title, path in _large():
        found = compare((OURS, *SAME_RULES, *READERS), {"input": str(path)}, peers, runs=TURNS)
        parts += [f"## {title}\n", _loading(found), _closing(found), _public(path)]
    title, path = _small()
    found = compare((OURS, *MORE_RULES), {"input": str(path), "asserted": 0}, peers, runs=1)
    parts += [f"## {title}, beside reasoners with more rules\n", _containing(found)]
    return "\n".join(parts)


def _large() -> list[tuple[str, Path]]:
    found = [("Generated universities (5)", datasets.undeclared_universities(5))]
    third_party = datasets.lubm(5)
    if third_party is None:
        print("  LIVEFACTS_TEST_DATA is not set: LUBM itself is left out")
        return found
    return [("LUBM, 5 universities", third_party), *found]


def _small() -> tuple[str, Path]:
    third_party = datasets.lubm(1)
    if third_party is None:
        return "Generated universities (1)", datasets.universities(1)
    return "LUBM, 1 university", third_party


def _loading(found: Sequence[Found]) -> str:
    ours = found[0]
    rows = []
    for one in found:
        for stage in ("load", "terms in a dict"):
            if stage in one.stages:
                time = one.stages[stage]
                name = one.contestant.name + ("" if stage == "load" else f", {stage}")
                ratio = times(time, ours.stages.get("load"))
                rows.append([name, seconds(time), rate(one.report["asserted"], time), ratio])
    return table(["parse + encode", "CPU", "triples", "against livefacts"], rows)


def _closing(found: Sequence[Found]) -> str:
    ours = found[0]
    rows = []
    for one in found:
        if one.contestant in READERS:
            continue
        if one.failure:
            rows.append([one.contestant.name, one.failure, "", "", "", ""])
            continue
        agrees = one.fingerprint == ours.fingerprint
        close, asserted = one.stages.get("close"), one.report["asserted"]
        rows.append(
            [
                f"{one.contestant.name} {one.report['version']}",
                seconds(close),
                rate(asserted, close),
                f"{asserted:,} → {one.report['true']:,}",
                "yes" if agrees else "no",
                times(close, ours.stages.get("close")) if agrees else NOTHING,
            ]
        )
    heads = ["close", "CPU", "input triples", "triples", "same result", "against livefacts"]
    return table(heads, rows)


def _public(path: Path) -> str:
    """What a user pays: from the file to the delta, and to having read every fact in it."""
    job = {"input": str(path), "rules": "rho-df", "read": True, "warm": True}
    report = run_worker("livefacts_load", job)
    if "failure" in report:
        return f"Public API: {report['failure']}\n"
    load, read = report["stages"]["load and close"], report["stages"]["read the delta"]
    row = [seconds(load), seconds(read), rate(report["true"], load + read)]
    return table(["`Reasoner.load(path)`", "reading `d.added`", "facts, both together"], [row])


def _containing(found: Sequence[Found]) -> str:
    rows = []
    for one in found:
        if one.failure:
            rows.append([one.contestant.name, one.failure, "", "", ""])
            continue
        worker = one.contestant.worker
        missing = missing_from(SCRATCH / f"{worker}.nt", SCRATCH / f"{OURS.worker}.nt")
        rows.append(
            [
                f"{one.contestant.name} {one.report['version']}",
                seconds(one.stages.get("load")),
                seconds(one.stages.get("close")),
                f"{one.report['true']:,}",
                f"all but {missing}" if missing else "yes",
            ]
        )
    return table(["system", "load", "close", "triples", "contains ours"], rows)
