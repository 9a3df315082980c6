"""An ontology that others wrote: read and closed, then axioms one by one out and in again."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from changing import timed
from reporting import Stages, run

import livefacts as lf

SUBCLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
AXIOMS = 15


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    with stages.stage("warm"):
        closed(job)
    with stages.stage("close"):
        reasoner, missing = closed(job)
    state = len(reasoner), len(reasoner.violations())
    out, back = changes(job, reasoner)
    return {
        "asserted": len(reasoner.facts(derived=False)),
        "true": state[0],
        "violations": state[1],
        "missing": missing,
        "out": median(out),
        "in": median(back),
        "same": (len(reasoner), len(reasoner.violations())) == state,
    }


def closed(job: dict[str, Any]) -> tuple[lf.Reasoner, int]:
    """A reasoner that knows the ontology, and how many of its axioms are not in rules."""
    if job["mode"] == "dlp":
        report = lf.rules_from_owl([Path(file) for file in job["files"]])
        return lf.Reasoner(rules=report.program), len({gap.axiom for gap in report.inexpressible})
    reasoner = lf.Reasoner(rules="owl-rl")
    for file in job["files"]:
        reasoner.load(file)
    return reasoner, 0


def changes(job: dict[str, Any], reasoner: lf.Reasoner) -> tuple[list[float], list[float]]:
    """Processor seconds of some subclass axioms, each out and in again."""
    asserted = lf.Reasoner()
    for file in job["files"]:
        asserted.load(file)
    lines = sorted(str(t) for t in asserted if t.predicate.value == SUBCLASS and "_:" not in str(t))
    chosen = [f"{line} ." for line in lines[:: max(1, len(lines) // AXIOMS)][:AXIOMS]]
    out, back = [], []
    for axiom in chosen:
        if job["mode"] == "dlp":
            out.append(timed(lambda a=axiom: reasoner.change_ontology(remove=a)))  # type: ignore[misc]
            back.append(timed(lambda a=axiom: reasoner.change_ontology(add=a)))  # type: ignore[misc]
        else:
            out.append(timed(lambda a=axiom: reasoner.remove(a)))  # type: ignore[misc]
            back.append(timed(lambda a=axiom: reasoner.add(a)))  # type: ignore[misc]
    return out, back


if __name__ == "__main__":
    run(main, "livefacts")
