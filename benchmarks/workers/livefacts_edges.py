"""Our edges: each edge of a graph goes and comes back while all paths are kept."""

from __future__ import annotations

from typing import Any

from changing import engine_for, fingerprint, into, out_of, read, summary, timed
from reporting import Stages, first_lines, run

from livefacts.store.terms.dictionary import Dictionary

WARM_UP = 10


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    _edges(first_lines(job["input"], WARM_UP), job, Stages())
    return _edges(job["input"], job, stages)


def _edges(source: str | bytes, job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    dictionary = Dictionary()
    rows = read(source, dictionary)
    engine = engine_for(job["rules"], dictionary, job["maintenance"])
    with stages.stage("close"):
        engine.apply(into(rows))
    before = fingerprint(engine)
    engine.apply(out_of(rows[:1]))
    without = fingerprint(engine)
    engine.apply(into(rows[:1]))
    out, back = [], []
    for number in range(0, len(rows), max(1, len(rows) // job["turns"])):
        edge = rows[number : number + 1]
        out.append(timed(lambda edge=edge: engine.apply(out_of(edge))))  # type: ignore[misc]
        back.append(timed(lambda edge=edge: engine.apply(into(edge))))  # type: ignore[misc]
    return {
        "true": before[0],
        "out": summary(out),
        "in": summary(back),
        "states": [before, without, fingerprint(engine)],
    }


if __name__ == "__main__":
    run(main, "livefacts")
