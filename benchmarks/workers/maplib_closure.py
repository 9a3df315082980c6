"""maplib's closure: `Model.read`, then `Model.infer_rdfs`."""

from __future__ import annotations

from typing import Any

import maplib
from reporting import Stages, first_lines, run, write_lines


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    _warm_up(job["input"])
    model = maplib.Model()
    with stages.stage("load"):
        model.read(job["input"], format="ntriples")
    asserted = model.size()
    with stages.stage("close"):
        derived = model.infer_rdfs()
    if job.get("output"):
        (frame,) = model.query("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }")
        rows = frame.select("subject", "predicate", "object").iter_rows()
        write_lines(job["output"], (f"{s} {p} {o} ." for s, p, o in rows))
    return {"asserted": asserted, "true": asserted + derived}


def _warm_up(path: str) -> None:
    model = maplib.Model()
    model.reads(first_lines(path).decode(), format="ntriples")
    model.infer_rdfs()


if __name__ == "__main__":
    run(main, "maplib")
