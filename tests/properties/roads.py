"""Worlds abreast in one pipeline: random triples of many small worlds that share no name.

Each world is a history of its own: its triples come and go with every change, under the
same rules.  What is true of one world never depends on another, so that one pipeline follows
all of them, and the oracle each.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from pyoxigraph import Literal, NamedNode, Triple
from tests.oracle import Row, model
from tests.unit.engine.spark.beside import delta_of, facts_of

from livefacts.language.program import Program
from livefacts.spark import Pipeline
from livefacts.syntax import rule_sets

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
SCHEMA = [RDFS + name for name in ("subClassOf", "subPropertyOf", "domain", "range")]
NAMES = "abcdef"


def draw_triple(pick: random.Random, world: int) -> Triple:
    """A triple of one world; classes, properties and things are the same few names."""
    names = [f"http://example.org/{world}/{name}" for name in NAMES]
    predicate = pick.choice([*SCHEMA, RDF + "type", RDF + "type", *names[:3]])
    subject, obj = pick.choice(names), pick.choice(names)
    if predicate in names and pick.random() < 0.2:
        return Triple(NamedNode(subject), NamedNode(predicate), Literal("x"))
    return Triple(NamedNode(subject), NamedNode(predicate), NamedNode(obj))


@dataclass(frozen=True)
class Step:
    """What a change adds and removes, over all worlds, and the rules afterwards."""

    add: list[Triple]
    remove: list[Triple]
    program: Program


def draw_steps(pick: random.Random, worlds: int, steps: int, rules: str) -> Iterator[Step]:
    """Random changes; the second of them takes a rule away, and the next puts it back."""
    whole = rule_sets.open_rules(rules)
    told: list[set[Triple]] = [set() for _ in range(worlds)]
    for number in range(steps):
        add, remove = [], []
        for world, known in enumerate(told):
            coming = [draw_triple(pick, world) for _ in range(pick.randrange(1, 5))]
            going = pick.sample(sorted(known, key=str), min(len(known), pick.randrange(3)))
            told[world] = (known - set(going)) | set(coming)
            add, remove = add + coming, remove + going
        gone = pick.choice(whole.rules) if number == 2 else None
        yield Step(add, remove, whole.minus([gone]) if gone else whole)


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
