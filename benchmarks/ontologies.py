"""Ontologies that others wrote, as data of `owl-rl` and as rules: closing them, and one axiom."""

from __future__ import annotations

from typing import Any

from benchmarks import datasets
from benchmarks.measuring import run_worker
from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.tables import NOTHING, latency, seconds, table, times
from benchmarks.targets import Target, at_most, holds, summary

FILES = {
    "wine": ("wine.owl",),
    "food, with wine": ("wine.owl", "food.owl"),
    "schema.org 28.1": ("schemaorg-28.1.nt",),
    "DBpedia 2018": ("dbpedia-ontology-2018.12.28.ttl",),
}
MODES = ("owl-rl", "dlp")


def run(peers: Peers, options: Options) -> str:
    title = "# Ontologies\n\n"
    releases = datasets.schema_org()
    if releases is None:
        return title + "LIVEFACTS_TEST_DATA is not set: left out.\n"
    folder, rows, targets = releases[0].parent, [], []
    for name in list(FILES)[: 1 if options.quick else None]:
        for mode in MODES:
            job = {"files": [str(folder / file) for file in FILES[name]], "mode": mode}
            report = run_worker("livefacts_ontologies", job)
            if "failure" in report:
                raise SystemExit(f"ontologies: {name} as {mode}: {report['failure']}")
            rows.append(_row(name, mode, report))
            targets += _targets(f"{name}, {mode}: ", report)
    heads = ["", "as", "asserted", "close", "true", "contradictions", "not in rules"]
    heads += ["an axiom out", "in", "closing, against out"]
    return title + table(heads, rows) + "\n" + summary("ontologies", targets)


def _row(name: str, mode: str, report: dict[str, Any]) -> list[str]:
    return [
        name,
        mode,
        f"{report['asserted']:,}",
        seconds(report["stages"]["close"]),
        f"{report['true']:,}",
        f"{report['violations']:,}",
        f"{report['missing']:,}" if mode == "dlp" else NOTHING,
        latency(report["out"]),
        latency(report["in"]),
        times(report["stages"]["close"], report["out"]),
    ]


def _targets(title: str, report: dict[str, Any]) -> list[Target]:
    anew = report["stages"]["close"]
    return [
        at_most(f"{title}an axiom out, against closing", report["out"] / anew, 1),
        at_most(f"{title}an axiom in, against closing", report["in"] / anew, 1),
        holds(f"{title}axioms come back to the same", report["same"]),
    ]
