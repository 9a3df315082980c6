"""Our updates on Spark: those of the DynamiTE paper, and thousands of one triple each."""

from __future__ import annotations

import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import dropwhile, islice
from pathlib import Path
from typing import Any

from reporting import Stages, run
from university_updates import Lines, updates

from livefacts.spark import Pipeline, session

ONE = "<http://new.example/one{number}> <http://new.example/seen> <http://new.example/here> .\n"
WARM_UP = [ONE.format(number=f"-{number}").encode() for number in range(1000)]
"""Triples whose ids lie in every bucket, so that each is read before it counts."""


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    running = session(settings={"spark.driver.memory": "2g"})
    folder = Path(tempfile.mkdtemp(prefix="spark-", dir=job["folder"]))
    try:
        return _measured(running, folder, job)
    finally:
        running.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _measured(running: Any, folder: Path, job: dict[str, Any]) -> dict[str, Any]:
    pipeline = Pipeline(running, folder / "kb")
    asserted = pipeline.ingest(job["input"]).figures["read"]
    pipeline.materialize("rho-df")
    full = _timed(lambda: pipeline.materialize("rho-df"))
    found = []
    for road in ("driver", "tasks"):
        chosen = Pipeline(running, folder / "kb", road=road)
        _came_and_went(chosen, Lines("warm-up", WARM_UP))
        found += [{"road": road, **_came_and_went(chosen, each)} for each in updates(job["more"])]
    facts = pipeline.facts().count()
    return {
        "asserted": asserted,
        "facts": facts,
        "full": full,
        "updates": found,
        "single": _one_by_one(pipeline, job["commits"]),
    }


def _timed(work: Callable[[], Any]) -> dict[str, float]:
    """Wall time, and processor time of this process; that of tasks is not in it.

    Now and then a change is followed by folding all changes into the facts: that is apart.
    """
    wall, processor = time.perf_counter(), _processor()
    report = work()
    wall, processor = time.perf_counter() - wall, _processor() - processor
    folding = sum(stage.seconds for stage in _after_the_commit(report.stages))
    return {"wall": wall - folding, "cpu": processor, "folding": folding}


def _after_the_commit(stages: Sequence[Any]) -> Iterator[Any]:
    return islice(dropwhile(lambda stage: stage.name != "commit", stages), 1, None)


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _came_and_went(pipeline: Pipeline, lines: Lines) -> dict[str, Any]:
    text, figures = lines.text.decode(), dict[str, int]()

    def change(**change: str) -> Any:
        report = pipeline.update(**change)
        figures.update(report.figures)
        return report

    come, go = partial(change, add=text), partial(change, remove=text)
    first, second = map(_timed, (go, come) if lines.is_asserted else (come, go))
    return {
        "name": lines.name,
        "triples": len(set(lines.text.splitlines())),
        "changed": figures["added"] + figures["removed"],
        "addition": second if lines.is_asserted else first,
        "removal": first if lines.is_asserted else second,
        "folding": first["folding"] + second["folding"],
    }


def _one_by_one(pipeline: Pipeline, commits: int) -> dict[str, list[float]]:
    """One triple in each change, thousands of them; each as wall and as processor time."""
    pipeline.update(add=ONE.format(number=0))
    times = [
        _timed(lambda number=number: pipeline.update(add=ONE.format(number=number)))  # type: ignore[misc]
        for number in range(1, commits + 1)
    ]
    return {kind: [each[kind] for each in times] for kind in ("wall", "cpu")}


if __name__ == "__main__":
    run(main, "livefacts")
