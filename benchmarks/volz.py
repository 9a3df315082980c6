"""Volz: the evaluation of Volz, Staab and Motik on generated ontologies, measures (a) to (g).

Three kinds of ontology, one rule for every axiom, through the public API.  Where the paper
ran out of memory (dl, depth 5) there are figures too.  Paper: section 5 and appendix.
"""

from __future__ import annotations

from typing import Any

from benchmarks import datasets
from benchmarks.measuring import run_worker
from benchmarks.peers import Peers
from benchmarks.plots import plot
from benchmarks.tables import latency, table, times
from benchmarks.targets import Target, at_most, holds, summary

KINDS = ("taxonomy", "db", "dl")
DEPTHS = (3, 4, 5)
PERCENTS = (10, 15)
SMALL = 0.1
"""The part of all facts that a small change of rules changes, at most."""
LETTERS = {
    "a": "(a) query, nothing kept",
    "b": "(b) set up",
    "c": "(c) a rule in",
    "d": "(d) a rule out",
    "e": "(e) facts in",
    "f": "(f) facts out",
    "g": "(g) query, kept",
}


def run(peers: Peers) -> str:
    reports = {kind: [_report(kind, depth) for depth in DEPTHS] for kind in KINDS}
    every = [report for kind in KINDS for report in reports[kind]]
    return "\n".join(
        [
            "# The ontologies of Volz, Staab and Motik\n",
            _sizes(every),
            _measures(every),
            _rule_changes(every),
            _plot(reports, peers),
            summary("volz", _targets(every)),
        ]
    )


def _report(kind: str, depth: int) -> dict[str, Any]:
    job = {
        **_files(kind, depth),
        "kind": kind,
        "depth": depth,
        "turns": 5 if depth < DEPTHS[-1] else 3,
        "rule_turns": 20,
        "percents": PERCENTS,
        "warm_up": _files(kind, DEPTHS[0]),
    }
    report = run_worker("livefacts_ontology", job)
    if "failure" in report:
        raise SystemExit(f"volz, {kind} {depth}: {report['failure']}")
    return {"name": f"{kind}, D = {depth}", **report}


def _files(kind: str, depth: int) -> dict[str, str]:
    facts, rules = datasets.ontology(kind, depth)
    return {"input": str(facts), "rules": str(rules)}


def _sizes(reports: list[dict[str, Any]]) -> str:
    rows = [
        [
            report["name"],
            *(f"{report[key]:,}" for key in ("rules", "needed", "asserted", "true", "answers")),
            "yes" if report["same"] else "no",
        ]
        for report in reports
    ]
    heads = [
        "",
        "rules",
        "needed by the query",
        "asserted",
        "true",
        "answers",
        "same result as anew",
    ]
    return table(heads, rows)


def _measures(reports: list[dict[str, Any]]) -> str:
    rows = []
    for report in reports:
        for change in report["changes"]:
            figures = {**report, **change}
            name = f"{report['name']}, {change['percent']} %"
            rows.append([name, *(latency(figures[letter]) for letter in LETTERS)])
    return table(["", *LETTERS.values()], rows)


def _rule_changes(reports: list[dict[str, Any]]) -> str:
    rows = [
        [
            report["name"],
            f"{report['affected']:.2%}",
            times(report["b"], report["first"]),
            *(times(report["b"], report[letter]) for letter in ("c", "d")),
            *(times(report["b"], report["changes"][0][letter]) for letter in ("e", "f")),
        ]
        for report in reports
    ]
    heads = ["setting up, against", "most facts a rule changed"]
    heads += [
        "the first rule out",
        "a rule in",
        "a rule out",
        "10 % of facts in",
        "10 % of facts out",
    ]
    return table(heads, rows)


def _targets(reports: list[dict[str, Any]]) -> list[Target]:
    """A change of one rule is a tenth of setting up, where it changes a tenth of the facts."""
    small = [report for report in reports if report["affected"] <= SMALL]
    changes = [
        at_most(
            f"{LETTERS[letter]}, against set up: {report['name']}",
            report[letter] / report["b"],
            0.1,
        )
        for report in small
        for letter in ("c", "d")
    ]
    return [
        *changes,
        holds("dl, D = 5 is done", any(report["name"] == "dl, D = 5" for report in reports)),
        holds("same result as anew", all(report["same"] for report in reports)),
    ]


def _plot(reports: dict[str, list[dict[str, Any]]], peers: Peers) -> str:
    panels = [
        {
            "title": kind,
            "x": [report["asserted"] for report in found],
            "x_label": "asserted facts (D = 3, 4, 5)",
            "lines": {
                name: [{**report, **report["changes"][0]}[letter] for report in found]
                for letter, name in LETTERS.items()
            },
        }
        for kind, found in reports.items()
    ]
    return plot("volz", "measures (a) to (g)", panels, "CPU seconds", peers)
