"""schema.org: one release becomes the next by the difference of the two, under rdfs."""

from __future__ import annotations

from benchmarks import datasets
from benchmarks.measuring import run_worker
from benchmarks.peers import Peers
from benchmarks.tables import latency, table, times
from benchmarks.targets import at_most, holds, summary

TURNS = 10


def run(peers: Peers) -> str:
    title = "# schema.org 28.0 to 28.1, rdfs\n\n"
    releases = datasets.schema_org()
    if releases is None:
        return title + "LIVEFACTS_TEST_DATA is not set: left out.\n"
    old, new = map(str, releases)
    job = {"old": old, "new": new, "rules": "rdfs", "turns": TURNS}
    report = run_worker("livefacts_releases", job)
    if "failure" in report:
        raise SystemExit(f"schemaorg: {report['failure']}")
    facts = f"{report['before'][0]:,} → {report['after'][0]:,}"
    rows = [
        [name, facts, latency(report[key]), times(report["anew"], report[key])]
        for name, key in (("as one change", "forward"), ("and back", "back"), ("anew", "anew"))
    ]
    said = f"{report['come']} triples in, {report['gone']} out; "
    said += f"same result: {'yes' if report['same'] else 'no'}\n\n"
    targets = [
        at_most("as one change, against anew", report["forward"] / report["anew"], 1),
        at_most("and back, against anew", report["back"] / report["anew"], 1),
        holds("same result as anew", report["same"]),
    ]
    shown = table(["", "facts", "CPU", "anew, against it"], rows)
    return title + said + shown + "\n" + summary("schemaorg", targets)
