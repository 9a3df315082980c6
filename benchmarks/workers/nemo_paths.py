"""Paths as a Nemo program over a file of edges."""

from __future__ import annotations

from typing import Any

from nemo_closure import READ_ONLY, reason
from reporting import Stages, run, write_lines

PATHS = """
@import asserted :- ntriples{{resource="{input}"}} .
t(?s, ?p, ?o) :- asserted(?s, ?p, ?o) .
t(?x, <{path}>, ?y) :- t(?x, <{edge}>, ?y) .
t(?x, <{path}>, ?z) :- t(?x, <{path}>, ?y), t(?y, <{edge}>, ?z) .
@output t .
"""


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    with stages.stage("load"):
        asserted = reason(READ_ONLY.format(path=job["input"]))
    with stages.stage("load and close"):
        engine = reason(PATHS.format(**job))
    rows = list(engine.result("t"))
    write_lines(job.get("output"), (" ".join([*map(str, row), "."]) for row in rows))
    return {"asserted": sum(1 for _ in asserted.result("t")), "true": len(rows)}


if __name__ == "__main__":
    run(main, "nemo-python")
