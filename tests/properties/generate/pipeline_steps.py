"""Random steps of a pipeline: triples of many small worlds that share no name.

Each world is a history of its own: its triples come and go with every change, under the
same rules.  What is true of one world never depends on another, so that one pipeline follows
all of them, and the oracle each.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Triple

from livefacts.language.program import Program
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
    asserted: list[set[Triple]] = [set() for _ in range(worlds)]
    for number in range(steps):
        add, remove = [], []
        for world, known in enumerate(asserted):
            coming = [draw_triple(pick, world) for _ in range(pick.randrange(1, 5))]
            going = pick.sample(sorted(known, key=str), min(len(known), pick.randrange(3)))
            asserted[world] = (known - set(going)) | set(coming)
            add, remove = add + coming, remove + going
        gone = pick.choice(whole.rules) if number == 2 else None
        yield Step(add, remove, whole.minus([gone]) if gone else whole)
