"""How owl:sameAs is treated, and what a contradiction tells."""

from __future__ import annotations

import pytest

import livefacts as lf

PREFIXES = """
    @prefix ex: <http://example.org/> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> .
"""
SPREADS = f"{PREFIXES} ex:born a owl:FunctionalProperty . ex:ann ex:born ex:rome , ex:roma . ex:roma ex:in ex:italy ."
CONFLICT = f"{PREFIXES} ex:Cat owl:disjointWith ex:Dog . ex:tom a ex:Cat , ex:Dog ."


def triples(reasoner: lf.Reasoner) -> set[str]:
    return {str(fact).replace("http://example.org/", "") for fact in reasoner.facts(derived=True)}


def test_what_is_said_of_one_is_said_of_all_that_are_the_same() -> None:
    reasoner = lf.Reasoner(rules="owl-rl")
    reasoner.add(SPREADS)
    assert "<rome> <in> <italy>" in triples(reasoner)


def test_equality_that_is_off_is_concluded_and_does_not_spread() -> None:
    reasoner = lf.Reasoner(rules="owl-rl", same_as="off")
    reasoner.add(SPREADS)
    assert "<rome> <http://www.w3.org/2002/07/owl#sameAs> <roma>" in triples(reasoner)
    assert "<rome> <in> <italy>" not in triples(reasoner)


def test_rules_that_are_added_later_treat_equality_alike() -> None:
    reasoner = lf.Reasoner(same_as="off")
    reasoner.add_rules("owl-rl")
    assert not [rule.id for rule in reasoner.rules if rule.id.startswith("eq-rep")]


def test_a_way_to_treat_equality_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="same_as is one of rules, merge, off, not 'maybe'"):
        lf.Reasoner(same_as="maybe")


def test_a_contradiction_names_the_rule_and_the_facts_and_ends_with_its_cause() -> None:
    reasoner = lf.Reasoner(rules="owl-rl")
    (violation,) = reasoner.add(CONFLICT).violations
    assert violation.constraint == "cax-dw"
    assert {str(fact) for fact in violation.facts} == {
        "<http://example.org/Cat> <http://www.w3.org/2002/07/owl#disjointWith> <http://example.org/Dog>",
        "<http://example.org/tom> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Cat>",
        "<http://example.org/tom> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Dog>",
    }
    gone = reasoner.remove(f"{PREFIXES} ex:tom a ex:Dog .")
    assert list(gone.resolved) == [violation]
    assert reasoner.violations() == []


def test_the_facts_in_conflict_are_those_that_users_see() -> None:
    reasoner = lf.Reasoner(rules="false :- p(?x), _hidden(?x) . _hidden(?x) :- p(?x) .")
    (violation,) = reasoner.add("p(a) .").violations
    assert [str(fact) for fact in violation.facts] == ["p(a)"]


def test_what_is_counted_beside_the_rules_of_an_ontology_counts_once() -> None:
    reasoner = lf.Reasoner(rules="owl-rl")
    reasoner.add(f"{PREFIXES} ex:tom a ex:Cat . ex:kit a ex:Cat .")
    reasoner.add_rules(f"{PREFIXES} cats(?n) :- ?n = count {{ ?x : [?x, a, ex:Cat] }} .")
    assert [str(fact) for fact in reasoner if isinstance(fact, lf.Fact)] == ["cats(2)"]
    reasoner.add(f"{PREFIXES} ex:tim a ex:Cat .")
    assert [str(fact) for fact in reasoner if isinstance(fact, lf.Fact)] == ["cats(3)"]
    assert reasoner.verify()
