"""Random ontologies and facts that come and go, beside what the axioms say."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import chain

import pytest
from tests.oracle.ontologies import Axiom, Fact, World, closure, meant
from tests.properties.generate.axioms import (
    DECLARED,
    EVERYBODY,
    EX,
    OWL,
    PREFIXES,
    PROPERTIES,
    RDF_TYPE,
    loose_axiom,
    random_axiom,
    random_fact,
    triples,
    turtle,
)

import livefacts as lf
from livefacts.service.knowledge.axiom_index import AxiomIndex
from livefacts.service.knowledge.ontology import axiom_change

STEPS = 5
WORDS = {RDF_TYPE: "type", OWL + "sameAs": "same", OWL + "differentFrom": "different"}


def facts_of(facts: object) -> set[Fact]:
    """The triples of a reasoner or delta, in the oracle's words."""
    found = set()
    for triple in facts:  # type: ignore[attr-defined]
        name = triple.predicate.value
        s, o = (term.value.removeprefix(EX) for term in (triple.subject, triple.object))
        found.add((s, WORDS.get(name, name.removeprefix(EX)), o))
    return {fact for fact in found if fact[1] != "different"}


class Life:
    """One reasoner with an ontology that changes, and what it should hold."""

    def __init__(self, seed: int, equality: bool, loose: bool = False) -> None:
        self.rng = random.Random(seed)
        self.equality = equality
        self.draw = loose_axiom if loose else random_axiom
        self.properties = () if loose else PROPERTIES
        self.declared = PREFIXES if loose else DECLARED
        self.axioms = list(dict.fromkeys(self.draw(self.rng) for _ in range(6)))
        self.asserted = list(dict.fromkeys(random_fact(self.rng) for _ in range(10)))
        self.derived = self.ended = self.contradicted = 0
        report = lf.rules_from_owl(
            self.declared + turtle(self.axioms), same_as="rules" if equality else "off"
        )
        self.reasoner = lf.Reasoner(report.program)
        self.reasoner.add(triples(self.asserted))
        self.shown = self.check()

    def expected(self) -> World:
        axioms = meant(self.axioms, self.properties)
        return closure(EVERYBODY, axioms, self.asserted, self.equality)

    def check(self) -> set[Fact]:
        world = self.expected()
        shown = facts_of(self.reasoner)
        text = turtle(self.axioms) + triples(self.asserted)
        assert shown == world.facts, text
        assert bool(self.reasoner.violations()) == bool(world.contradictions), text
        self.derived += bool(shown - set(self.asserted))
        self.contradicted += bool(world.contradictions)
        return shown

    def step(self) -> None:
        delta = self._axioms() if self.rng.random() < 0.6 else self._facts()
        shown = self.check()
        assert facts_of(delta.added) == shown - self.shown
        assert facts_of(delta.removed) == self.shown - shown
        self.ended += bool(self.shown - shown)
        self.shown = shown

    def _axioms(self) -> lf.Delta:
        gone = self.rng.sample(self.axioms, min(len(self.axioms), self.rng.randrange(3)))
        come = [self.draw(self.rng) for _ in range(self.rng.randrange(3))]
        kept = [axiom for axiom in self.axioms if axiom not in gone]
        self.axioms = list(dict.fromkeys((*kept, *come)))
        if self.rng.random() < 0.3:
            return self.reasoner.change_ontology(to=self.declared + turtle(self.axioms))
        return self.reasoner.change_ontology(add=turtle(come), remove=turtle(gone))

    def _facts(self) -> lf.Delta:
        gone = self.rng.sample(self.asserted, min(len(self.asserted), self.rng.randrange(4)))
        come = [random_fact(self.rng) for _ in range(self.rng.randrange(4))]
        kept = [fact for fact in self.asserted if fact not in gone]
        self.asserted = list(dict.fromkeys((*kept, *come)))
        return self.reasoner.apply(add=triples(come), remove=triples(gone))


def lives(first: int, count: int, *, loose: bool = False) -> list[Life]:
    made = [Life(seed, seed % 3 == 0, loose) for seed in range(first, first + count)]
    for life in made:
        for _ in range(STEPS):
            life.step()
        assert life.reasoner.verify()
    return made


def test_axioms_and_facts_come_and_go_as_the_ontology_says() -> None:
    made = lives(0, 40)
    steps = len(made) * (STEPS + 1)
    assert sum(life.derived for life in made) > 0.7 * steps
    assert sum(life.ended for life in made) > 0.3 * steps
    assert sum(life.contradicted for life in made) > 0.1 * steps


def test_annotations_become_facts_and_facts_annotations_as_axioms_come_and_go() -> None:
    made = lives(0, 20, loose=True)
    assert sum(len(meant(life.axioms, ())) < len(life.axioms) for life in made) > 5


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(10))
def test_axioms_and_facts_come_and_go_as_the_ontology_says_at_length(part: int) -> None:
    lives(1000 + 100 * part, 100)
    lives(1000 + 30 * part, 30, loose=True)


def test_what_is_read_back_from_the_text_of_the_rules_says_the_same() -> None:
    for seed in range(20):
        rng = random.Random(seed)
        axioms: list[Axiom] = [random_axiom(rng) for _ in range(8)]
        report = lf.rules_from_owl(DECLARED + turtle(axioms))
        facts = triples(random_fact(rng) for _ in range(10))
        both = [lf.Reasoner(rules) for rules in (report.program, report.rules)]
        for reasoner in both:
            reasoner.add(facts)
        assert set(both[0]) == set(both[1])
        assert [r.id for r in both[0].rules] == [r.id for r in both[1].rules]


def test_random_ontologies_have_rules_and_gaps() -> None:
    axioms = [random_axiom(random.Random(seed)) for seed in range(300)]
    reports = [lf.rules_from_owl(DECLARED + turtle([axiom])) for axiom in axioms]
    assert sum(bool(len(report.program)) for report in reports) > 200
    assert sum(bool(report.inexpressible) for report in reports) > 40
    reasons = {gap.reason for gap in chain(*(report.inexpressible for report in reports))}
    assert len(reasons) >= 5


def test_a_change_of_axioms_in_mind_is_the_change_of_all_of_them_read_again() -> None:
    made = [changes_in_mind(seed) for seed in range(40)]
    assert sum(in_mind for in_mind, _ in made) > 150
    assert sum(anew for _, anew in made) > 5


@pytest.mark.thorough
def test_many_changes_of_axioms_in_mind_are_those_of_all_of_them_read_again() -> None:
    for seed in range(1000, 2000):
        changes_in_mind(seed)


def changes_in_mind(seed: int) -> tuple[int, int]:
    """Compare two ways to change axioms; how often each was taken."""
    rng = random.Random(f"in mind {seed}")
    draw, declared = (loose_axiom, PREFIXES) if seed % 3 == 0 else (random_axiom, DECLARED)
    axioms = list(dict.fromkeys(draw(rng) for _ in range(6)))
    program = lf.rules_from_owl(declared + turtle(axioms)).program
    index, in_mind, anew = AxiomIndex(program), 0, 0
    for _ in range(6):
        gone = rng.sample(axioms, min(len(axioms), rng.randrange(3)))
        come = [draw(rng) for _ in range(rng.randrange(3))]
        more = "ex:age a owl:DatatypeProperty ." if rng.random() < 0.1 else ""
        add, remove = turtle(come) + more, turtle(gone)
        quick = axiom_change(program, add, remove, None, index)
        slow = axiom_change(program, add, remove, None)
        assert quick.axioms == slow.axioms
        for part in ("dropped", "retracted"):
            assert set(getattr(quick, part)) == set(getattr(slow, part))
        assert {rule.key() for rule in quick.added} == {rule.key() for rule in slow.added}
        assert set(quick.added.facts) == set(slow.added.facts)
        program = replace(program.minus(quick.dropped).joined(quick.added), axioms=quick.axioms)
        axioms = [*dict.fromkeys((*(each for each in axioms if each not in gone), *come))]
        if quick.counted is None:
            index, anew = AxiomIndex(program), anew + 1
        else:
            index.settle(quick, program)
            in_mind += 1
        assert index.is_of(program)
        assert index.is_complete
    return in_mind, anew


def in_profile(axiom: Axiom) -> bool:
    """Whether rules say all of an axiom, and OWL 2 RL says no less."""
    beyond = [
        "self",
        "not",
        "min",
        "exactly",
        "oneof",
        "key",
        "is",
        "fact",
        "same",
        "Nothing",
        "inv",
    ]
    if any(f"'{word}'" in repr(axiom) for word in beyond):
        return False
    return not lf.rules_from_owl(DECLARED + turtle([axiom])).inexpressible


def test_owlrl_draws_the_same_conclusions_about_individuals() -> None:
    import owlrl
    import rdflib

    derived = 0
    for seed in range(6):
        rng = random.Random(seed)
        axioms = [axiom for axiom in (random_axiom(rng) for _ in range(25)) if in_profile(axiom)]
        asserted = {random_fact(rng) for _ in range(8)}
        graph = rdflib.Graph()
        graph.parse(data=DECLARED + turtle(axioms) + triples(asserted), format="turtle")
        owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
        ours = lf.Reasoner(lf.rules_from_owl(DECLARED + turtle(axioms), same_as="rules").program)
        ours.add(triples(asserted))
        theirs = {
            (_word(str(s)), WORDS.get(str(p), _word(str(p))), _word(str(o))) for s, p, o in graph
        }
        known = {
            (s, p, o)
            for s, p, o in theirs
            if s in EVERYBODY and p in (*"pqr", "type", "same") and o in (*EVERYBODY, *"ABCDE")
        }
        # That everything is the same as itself is not concluded here.
        assert facts_of(ours) == {fact for fact in known if fact != (fact[0], "same", fact[0])}
        derived += len(known - asserted)
    assert derived > 20


def _word(iri: str) -> str:
    return iri.removeprefix(EX)
