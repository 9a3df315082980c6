"""Memory: bytes per fact and per term, ten million facts in 4 GB, and what a query adds."""

from __future__ import annotations

from typing import Any

from benchmarks import datasets
from benchmarks.measuring import run_worker
from benchmarks.peers import Peers
from benchmarks.tables import seconds, table

GIB = 1 << 30
UNIVERSITIES_OF_TEN_MILLION_FACTS = 80


def run(peers: Peers) -> str:
    return "\n".join(["# Memory\n", _per_fact(), _ten_million(), _with_a_query()])


def _per_fact() -> str:
    rows = []
    for count in (5, 20):
        path = datasets.universities(count)
        for rules, single in (("rho-df", True), ("rho-df", False), ("rdfs", True)):
            job = {"input": str(path), "rules": rules, "single_path": single}
            rows.append(_fact_row(count, rules, single, run_worker("livefacts_closure", job)))
    heads = ["universities, rules", "facts", "bytes a fact", "terms", "bytes a term"]
    return "## Per fact, with indices, and per term\n\n" + table(heads, rows)


def _fact_row(count: int, rules: str, single: bool, report: dict[str, Any]) -> list[str]:
    name = f"{count}, {rules}{'' if single else ', generic'}"
    if "failure" in report:
        return [name, report["failure"], "", "", ""]
    return [
        name,
        f"{report['true']:,}",
        f"{report['store_bytes'] / report['true']:.0f}",
        f"{report['terms']:,}",
        f"{report['dictionary_bytes'] / report['terms']:.0f}",
    ]


def _ten_million() -> str:
    path = datasets.universities(UNIVERSITIES_OF_TEN_MILLION_FACTS)
    job = {"input": str(path), "rules": "rho-df", "memory_limit": 4 * GIB}
    report = run_worker("livefacts_load", job)
    title = "## Ten million facts in a process that may use 4 GB\n\n"
    if "failure" in report:
        return title + f"failed: {report['failure']}\n"
    row = [
        f"{report['true']:,}",
        seconds(report["stages"]["load and close"]),
        f"{report['peak'] / GIB:.2f} GB",
        f"{report['resident'] / GIB:.2f} GB",
    ]
    return title + table(["facts", "load and close, CPU", "peak", "afterwards"], [row])


def _with_a_query() -> str:
    path = datasets.universities(5)
    job = {"input": str(path), "rules": "rho-df", "query": True}
    report = run_worker("livefacts_load", job)
    title = "## What the first query adds\n\n"
    if "failure" in report:
        return title + f"failed: {report['failure']}\n"
    added = report["with_query"] - report["resident"]
    row = [
        f"{report['true']:,}",
        seconds(report["stages"]["first query"]),
        f"{added / GIB:.2f} GB",
        f"{added / report['true']:.0f}",
    ]
    return title + table(["facts", "first query, CPU", "memory added", "bytes a fact"], [row])
