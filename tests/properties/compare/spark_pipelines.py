"""A pipeline on Spark that follows many worlds, compared with the oracle of each after every step."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode, Triple
from tests.oracle import Row, model
from tests.properties.generate.pipeline_steps import Step
from tests.unit.engine.spark.beside import delta_of, facts_of

from livefacts.language.program import Program
from livefacts.spark import Pipeline


def differences(pipeline: Pipeline, folder: Path, steps: list[Step]) -> Iterator[str]:
    """Where a pipeline differs from the oracle after a step, in words."""
    told = set(steps[0].add)
    (folder / "told.nt").write_text("".join(f"{t} .\n" for t in told), encoding="utf-8")
    pipeline.ingest(folder / "told.nt")
    pipeline.materialize(steps[0].program)
    truth = _truth(steps[0].program, told)
    if facts_of(pipeline) != truth:
        yield "the first facts differ"
    for number, (before, step) in enumerate(pairwise(steps), 1):
        told = (told - set(step.remove)) | set(step.add)
        for seq, program in _made(pipeline, before.program, step):
            was, truth = truth, _truth(program, told)
            if delta_of(pipeline, seq) != (truth - was, was - truth):
                yield f"step {number}: the delta of change {seq} is wrong"
        if facts_of(pipeline) != truth:
            yield f"step {number}: the facts differ"


def _made(pipeline: Pipeline, before: Program, step: Step) -> Iterator[tuple[int, Program]]:
    """The changes of a step, each when it is made, and the rules then."""
    yield pipeline.update(add=step.add, remove=step.remove).seq, before
    if step.program.rules != before.rules:
        gone = [rule for rule in before.rules if rule not in step.program.rules]
        came = [rule for rule in step.program.rules if rule not in before.rules]
        yield pipeline.change_rules(came, gone).seq, step.program


def _truth(program: Program, told: set[Triple]) -> set[str]:
    """What the oracle concludes, world by world."""
    worlds: dict[str, set[Triple]] = {}
    for triple in told:
        worlds.setdefault(triple.subject.value.split("/")[3], set()).add(triple)
    return {text for mine in worlds.values() for row in model(program, mine) for text in _text(row)}


def _text(row: Row) -> list[str]:
    subject, predicate, obj = row[1]
    shown = isinstance(subject, NamedNode) and isinstance(predicate, NamedNode)
    return [f"{subject} {predicate} {obj}"] if shown else []


def parts_of_plan(pipeline: Pipeline) -> dict[str, Any]:
    """The plan's parts, by what they begin with."""
    lines = pipeline.plan().splitlines()
    return {line.partition(":")[0]: line for line in lines if not line.startswith("  ")}
