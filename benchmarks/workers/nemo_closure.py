"""Nemo's closure: the rules as a Nemo program.  It reads the file while it reasons."""

from __future__ import annotations

from typing import Any

import nmo_python
from reporting import Stages, run, write_lines

RULES = """
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@import asserted :- ntriples{{resource="{path}"}} .
t(?s, ?p, ?o) :- asserted(?s, ?p, ?o) .
t(?x, rdf:type, ?c) :- t(?p, rdfs:domain, ?c), t(?x, ?p, ?y) .
t(?y, rdf:type, ?c) :- t(?p, rdfs:range, ?c), t(?x, ?p, ?y) .
t(?x, ?q, ?y) :- t(?p, rdfs:subPropertyOf, ?q), t(?x, ?p, ?y) .
t(?x, rdf:type, ?d) :- t(?c, rdfs:subClassOf, ?d), t(?x, rdf:type, ?c) .
t(?p, rdfs:subPropertyOf, ?r) :- t(?p, rdfs:subPropertyOf, ?q), t(?q, rdfs:subPropertyOf, ?r) .
t(?c, rdfs:subClassOf, ?e) :- t(?c, rdfs:subClassOf, ?d), t(?d, rdfs:subClassOf, ?e) .
@output t .
"""
READ_ONLY = """
@import asserted :- ntriples{{resource="{path}"}} .
t(?s, ?p, ?o) :- asserted(?s, ?p, ?o) .
@output t .
"""


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    path = job["input"]
    with stages.stage("load"):
        asserted = reason(READ_ONLY.format(path=path))
    with stages.stage("load and close"):
        engine = reason(RULES.format(path=path))
    rows = list(engine.result("t"))
    write_lines(job.get("output"), (" ".join([*map(str, row), "."]) for row in rows))
    return {"asserted": sum(1 for _ in asserted.result("t")), "true": len(rows)}


def reason(program: str) -> Any:
    engine = nmo_python.NemoEngine(nmo_python.load_string(program))
    engine.reason()
    return engine


if __name__ == "__main__":
    run(main, "nemo-python")
