"""After every change of axioms and facts, the reasoner knows what the oracle of OWL computes anew."""

from __future__ import annotations

import pytest
from pyoxigraph import Triple
from tests.golden.test_owl import expected, violated
from tests.properties.generate.ontologies import Step, draw_life
from tests.properties.generate.seeds import chunks

import livefacts as lf
from livefacts.syntax.rule_sets import open_rules

CHUNKS = 4
RULES = open_rules("owl-rl")


def assert_right(seed: int) -> None:
    """Lead a reasoner through a life, and back to nothing."""
    reasoner = lf.Reasoner(rules=RULES)
    nothing = set(reasoner)
    asserted: set[Triple] = set()
    life = draw_life(seed)
    for number, step in enumerate([*life, Step([], sorted(_everything(life), key=str))]):
        before = set(reasoner)
        delta = reasoner.apply(add=step.added, remove=step.removed)
        asserted = (asserted - set(step.removed)) | set(step.added)
        said = f"seed {seed}, step {number}\n" + "\n\n".join(map(str, life[: number + 1]))
        facts, contradictions = expected(list(asserted))
        assert set(reasoner) == facts, said
        assert violated(reasoner) == contradictions, said
        assert (before - set(delta.removed)) | set(delta.added) == facts, said
        if number == 3:
            assert reasoner.verify(), said
    assert set(reasoner) == nothing


def _everything(life: list[Step]) -> set[Triple]:
    return {triple for step in life for triple in step.added}


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 2))
def test_axioms_and_facts_come_and_go(chunk: int) -> None:
    for seed in range(chunk, 40, CHUNKS):
        assert_right(seed)


def test_an_axiom_that_equality_repeats_is_not_its_own_reason() -> None:
    """What is the same as itself, a property: scm-op, scm-eqp2 and eq-rep-s in a circle."""
    assert_right(1522)


@pytest.mark.thorough
@pytest.mark.parametrize("chunk", range(40))
def test_many_axioms_and_facts_come_and_go(chunk: int) -> None:
    for seed in range(1000 + chunk, 2000, 40):
        assert_right(seed)
