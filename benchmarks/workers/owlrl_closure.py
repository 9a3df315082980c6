"""owlrl's closure under RDFS or OWL 2 RL, without axiomatic triples; it contains ours."""

from __future__ import annotations

from typing import Any

import owlrl
import rdflib
from reporting import Stages, run, write_lines


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    rdflib.NORMALIZE_LITERALS = False
    semantics = owlrl.OWLRL_Semantics if job.get("owl") else owlrl.RDFS_Semantics
    graph = rdflib.Graph()
    with stages.stage("load"):
        graph.parse(job["input"], format="nt")
    asserted = len(graph)
    with stages.stage("close"):
        owlrl.DeductiveClosure(semantics, axiomatic_triples=False).expand(graph)
    lines = (" ".join([*(t.n3() for t in triple), "."]) for triple in graph)
    write_lines(job.get("output"), lines)
    return {"asserted": asserted, "true": len(graph)}


if __name__ == "__main__":
    run(main, "owlrl")
