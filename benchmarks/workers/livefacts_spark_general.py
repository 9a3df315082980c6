"""General rules on Spark: by joins, and handed to the embedded engine in the driver."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from reporting import Stages, run
from watching import processor_seconds

from livefacts.engine.contract import Change
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.engine.spark.read.asked_facts import row_of
from livefacts.plan import compile_rules
from livefacts.spark import Pipeline, session
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.rdf.documents import read_rows
from livefacts.syntax.rule_sets import open_rules

ROADS = {"handed over": "4g", "joins": None}
CHANGES = 20


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    running = session(settings=job.get("settings", {}))
    try:
        _case(running, job["warm_up"], job["folder"])
        return {"cases": [_case(running, case, job["folder"]) for case in job["cases"]]}
    finally:
        running.stop()


def _case(running: Any, case: dict[str, Any], scratch: str) -> dict[str, Any]:
    _embedded(case)
    folder = Path(tempfile.mkdtemp(prefix="spark-", dir=scratch))
    try:
        return _by_all_roads(running, case, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _by_all_roads(running: Any, case: dict[str, Any], folder: Path) -> dict[str, Any]:
    Pipeline(running, folder).ingest(case["input"])
    roads = {"embedded": _timed(lambda: _embedded(case))}
    plans = {}
    for name, memory in ROADS.items():
        pipeline = Pipeline(running, folder, memory=memory)
        plan = pipeline.plan(case["rules"]).splitlines()
        plans[name] = next(line for line in plan if line.startswith("general"))
        roads[name] = _timed(lambda: _materialized(pipeline, case))  # noqa: B023
        roads[name]["facts"] = pipeline.facts().count()
        turns = CHANGES if memory else 1
        roads[name]["changes"] = [_changed(pipeline, each) for each in _some(case, turns)]
    return {"name": case["name"], "roads": roads, "plans": plans}


def _some(case: dict[str, Any], count: int) -> list[str]:
    """A few of the asserted triples that are about things with names, from all over the file."""
    lines = Path(case["input"]).read_text(encoding="utf-8").splitlines()
    named = [line for line in lines if "_:" not in line]
    return [named[number * len(named) // count] for number in range(count)]


def _changed(pipeline: Pipeline, line: str) -> float:
    """How long it takes that a triple goes, or comes back: the longer of the two."""
    seconds = []
    for change in ({"remove": line}, {"add": line}):
        started = time.perf_counter()
        pipeline.update(**change)
        seconds.append(time.perf_counter() - started)
    return max(seconds)


def _timed(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    before, started = processor_seconds(), time.perf_counter()
    found = work()
    used = processor_seconds() - before
    return {**found, "wall": time.perf_counter() - started, "cpu": sum(used.values())}


def _embedded(case: dict[str, Any]) -> dict[str, Any]:
    dictionary = Dictionary()
    batches = read_rows(case["input"], dictionary, format="nt", scope=b"f1")
    rows = np.concatenate([batch.rows for batch in batches])
    program = open_rules(case["rules"])
    facts = {TRIPLES: rows}
    for fact in program.facts:
        shape, row = row_of(fact)
        more = dictionary.encode(row).reshape(1, -1)
        facts[shape] = np.concatenate([facts[shape], more]) if shape in facts else more
    engine = EmbeddedEngine(dictionary, compile_rules(program.rules))
    engine.apply(Change(facts))
    return {"facts": len(engine.facts()[TRIPLES])}


def _materialized(pipeline: Pipeline, case: dict[str, Any]) -> dict[str, Any]:
    report = pipeline.materialize(case["rules"])
    return {"stages": {stage.name: stage.seconds for stage in report.stages}}


if __name__ == "__main__":
    run(main, "livefacts")
