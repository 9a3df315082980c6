"""Generic rules: the same closure without the single-premise path, and paths in graphs.

Nothing here is special to RDFS: every rule is matched by the plan interpreter.  A
derivation is one instance of a rule, whether its conclusion is new or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks import closure, datasets
from benchmarks.measuring import Contestant, Found, compare
from benchmarks.peers import Peers
from benchmarks.tables import NOTHING, rate, seconds, table, times
from livefacts.generate import graphs

EDGE, PATH = f"{graphs.NAMESPACE}edge", f"{graphs.NAMESPACE}path"
STEP_BY_STEP = f"""
[?x, <{PATH}>, ?y] :- [?x, <{EDGE}>, ?y] .
[?x, <{PATH}>, ?z] :- [?x, <{PATH}>, ?y], [?y, <{EDGE}>, ?z] .
"""
TRANSITIVE = f"""
[?x, <{PATH}>, ?y] :- [?x, <{EDGE}>, ?y] .
[?x, <{PATH}>, ?z] :- [?x, <{PATH}>, ?y], [?y, <{PATH}>, ?z] .
"""
GENERIC = Contestant(
    "livefacts, generic rules",
    "livefacts_closure",
    options={"rules": "rho-df", "single_path": False},
)
WALKERS = (
    Contestant("livefacts, edge by edge", "livefacts_closure", options={"rules": STEP_BY_STEP}),
    Contestant("livefacts, transitive rule", "livefacts_closure", options={"rules": TRANSITIVE}),
    Contestant("duckdb, recursive query", "duckdb_paths", "duckdb"),
    Contestant("Nemo", "nemo_paths", "nemo-python"),
)


def run(peers: Peers) -> str:
    parts = ["# Generic rules\n", *_closures(peers)]
    for title, path in _graphs():
        job = {"input": str(path), "edge": EDGE, "path": PATH}
        parts += [f"## Paths: {title}\n", _walking(compare(WALKERS, job, peers))]
    return "\n".join(parts)


def _closures(peers: Peers) -> list[str]:
    path = datasets.lubm(5)
    title = "LUBM, 5 universities" if path else "Generated universities (5)"
    job = {"input": str(path or datasets.universities(5))}
    found = compare((GENERIC, closure.OURS, *closure.SAME_RULES[1:]), job, peers)
    return [f"## rho-df, {title}\n", _table(found, "asserted")]


def _graphs() -> list[tuple[str, Path]]:
    return [
        ("a binary tree of depth 16", datasets.binary_tree(16)),
        ("a random graph of 1,400 nodes and 2,800 edges", datasets.random_edges(1400, 2800)),
    ]


def _walking(found: Sequence[Found]) -> str:
    return _table(found, "derivations")


def _table(found: Sequence[Found], counted: str) -> str:
    first = found[0]
    rows = []
    for one in found:
        if one.failure:
            rows.append([one.contestant.name, one.failure, "", "", "", ""])
            continue
        close, agrees = one.stages.get("close"), one.fingerprint == first.fingerprint
        rows.append(
            [
                f"{one.contestant.name} {one.report['version']}",
                seconds(close),
                rate(one.report.get(counted, 0), close) if counted in one.report else NOTHING,
                f"{one.report['asserted']:,} → {one.report['true']:,}",
                "yes" if agrees else "no",
                times(close, first.stages.get("close")) if agrees else NOTHING,
            ]
        )
    unit = "input triples" if counted == "asserted" else counted
    heads = ["close", "CPU", unit, "triples", "same result", "against the first"]
    return table(heads, rows)
