"""Axioms that come and go: the rules in which two ontologies differ change, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import livefacts as lf
from livefacts.errors import InputError, RuleError

START = """
@prefix ex: <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
CATS = START + "ex:Cat rdfs:subClassOf ex:Animal . ex:tom a ex:Cat ."


@pytest.fixture
def cats(tmp_path: Path) -> lf.Reasoner:
    (tmp_path / "cats.ttl").write_text(CATS)
    return lf.Reasoner(rules=f"dlp:{tmp_path / 'cats.ttl'}")


def ids(reasoner: lf.Reasoner) -> list[str]:
    return [rule.id for rule in reasoner.rules]


def test_an_added_axiom_adds_its_rules_and_what_follows(cats: lf.Reasoner) -> None:
    delta = cats.change_ontology(add=START + "ex:Animal rdfs:subClassOf ex:Thing .")
    assert ids(cats) == ["subclass-Cat-Animal", "subclass-Animal-Thing"]
    assert [str(fact.object) for fact in delta.derived] == ["<http://example.org/Thing>"]  # type: ignore[union-attr]


def test_a_removed_axiom_takes_its_rules_with_it(cats: lf.Reasoner) -> None:
    delta = cats.change_ontology(remove=START + "ex:Cat rdfs:subClassOf ex:Animal .")
    assert ids(cats) == []
    assert len(delta.removed) == 1
    assert len(cats.ontology().axioms) == 1


def test_a_rule_that_another_axiom_also_says_stays(cats: lf.Reasoner) -> None:
    cats.change_ontology(add=START + "ex:Cat owl:equivalentClass ex:Animal .")
    delta = cats.change_ontology(remove=START + "ex:Cat rdfs:subClassOf ex:Animal .")
    assert len(delta.removed) == 0
    assert len(cats.rules) == 2


def test_assertions_are_axioms_too(cats: lf.Reasoner) -> None:
    delta = cats.change_ontology(
        add=START + "ex:kit a ex:Cat .", remove=START + "ex:tom a ex:Cat ."
    )
    assert (len(delta.added), len(delta.removed)) == (2, 2)


def test_a_property_that_is_known_needs_no_declaration(cats: lf.Reasoner) -> None:
    cats.change_ontology(add=START + "ex:likes rdfs:domain ex:Animal .")
    delta = cats.change_ontology(add=START + "ex:kit ex:likes ex:tom .")
    assert len(delta.added) == 2


def test_an_annotation_is_a_fact_while_an_axiom_speaks_of_its_property() -> None:
    reasoner = lf.Reasoner(lf.rules_from_owl(START + "ex:A rdfs:subClassOf ex:C .").program)
    assert not reasoner.change_ontology(add=START + "ex:tom ex:near ex:meg .")
    delta = reasoner.change_ontology(add=START + "ex:near rdfs:range ex:B .")
    assert len(delta.added) == 2
    assert len(reasoner.ontology().axioms) == 3
    reasoner.change_ontology(remove=START + "ex:near rdfs:range ex:B .")
    assert not list(reasoner)
    assert not reasoner.change_ontology(remove=START + "ex:tom ex:near ex:meg .")
    assert not reasoner.change_ontology(add=START + "ex:near rdfs:range ex:B .").added


def test_what_is_said_of_an_annotation_property_means_something_once_it_is_no_longer_one() -> None:
    text = START + "ex:note a owl:AnnotationProperty ; rdfs:domain ex:A . ex:tom ex:note ex:meg ."
    reasoner = lf.Reasoner(lf.rules_from_owl(text).program)
    assert not len(reasoner.rules)
    delta = reasoner.change_ontology(add=START + "ex:note a owl:ObjectProperty .")
    assert len(delta.added) == 2
    assert (
        len(reasoner.change_ontology(remove=START + "ex:note a owl:ObjectProperty .").removed) == 2
    )


def test_a_declaration_changes_what_axioms_mean(cats: lf.Reasoner) -> None:
    cats.change_ontology(add=START + "ex:age a owl:FunctionalProperty .")
    cats.add(START + "ex:tom ex:age 3, 4 .")
    assert cats.violations() == []
    delta = cats.change_ontology(add=START + "ex:age a owl:DatatypeProperty .")
    assert len(delta.violations) == 1
    assert cats.change_ontology(remove=START + "ex:age a owl:DatatypeProperty .").resolved


def test_what_is_no_number_is_one_value_of_a_functional_property(cats: lf.Reasoner) -> None:
    functional = "ex:age a owl:DatatypeProperty, owl:FunctionalProperty ."
    cats.change_ontology(add=START + functional)
    nan = '"NaN"^^<http://www.w3.org/2001/XMLSchema#double>'
    assert not cats.add(START + f"ex:tom ex:age {nan} .").violations
    (violation,) = cats.add(START + "ex:tom ex:age 4.0 .").violations
    assert violation.constraint == "functional-age"
    assert cats.remove(START + f"ex:tom ex:age {nan} .").resolved == (violation,)


def test_a_changed_file_is_read_again_and_only_its_differences_change(
    cats: lf.Reasoner, tmp_path: Path
) -> None:
    kept = cats.rules[0]
    (tmp_path / "cats.ttl").write_text(
        CATS + "ex:tom a ex:Animal . ex:Cat rdfs:subClassOf ex:Pet ."
    )
    delta = cats.change_ontology(to=tmp_path / "cats.ttl")
    assert [str(fact.object) for fact in delta.added] == ["<http://example.org/Pet>"]  # type: ignore[union-attr]
    assert cats.rules[0] is kept
    assert not cats.change_ontology(to=tmp_path / "cats.ttl")


def test_rules_of_axioms_with_the_same_words_get_names_of_their_own(cats: lf.Reasoner) -> None:
    other = START.replace("http://example.org/", "http://other.example/")
    cats.change_ontology(add=other + "ex:Cat rdfs:subClassOf ex:Animal .")
    cats.change_ontology(remove=START + "ex:Cat rdfs:subClassOf ex:Animal .")
    cats.change_ontology(add=CATS)
    assert sorted(ids(cats)) == ["subclass-Cat-Animal", "subclass-Cat-Animal-2"]


def test_an_axiom_that_is_not_there_cannot_be_removed(cats: lf.Reasoner) -> None:
    with pytest.raises(RuleError, match="no such axiom to remove: ex:Dog SubClassOf ex:Animal"):
        cats.change_ontology(remove=START + "ex:Dog rdfs:subClassOf ex:Animal .")


def test_a_change_that_fails_leaves_the_axioms_as_they_were(cats: lf.Reasoner) -> None:
    refusing = lf.Reasoner(cats.ontology().program, on_violation="refuse")
    with pytest.raises(lf.ViolationError):
        refusing.change_ontology(add=START + "ex:Cat owl:disjointWith ex:Animal .")
    assert refusing.ontology().axioms == cats.ontology().axioms
    assert ids(refusing) == ids(cats)


def test_axioms_to_change_and_a_whole_ontology_are_not_given_together(cats: lf.Reasoner) -> None:
    with pytest.raises(InputError, match="hint: give add and remove, or `to` alone"):
        cats.change_ontology(add=CATS, to=CATS)


@pytest.mark.parametrize("change", [{"add": 5}, {"remove": 5}, {"to": 5}])
def test_what_is_no_ontology_is_refused_with_a_hint(
    cats: lf.Reasoner, change: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match="hint: give the path of an RDF file"):
        cats.change_ontology(**change)


def test_an_axiom_whose_rule_was_removed_is_not_reported_and_can_be_stated_again(
    cats: lf.Reasoner,
) -> None:
    axioms = cats.ontology().axioms
    cats.remove_rules("subclass-Cat-Animal")
    assert len(cats.ontology().axioms) == 1
    assert cats.ontology().program.rules == ()
    cats.change_ontology(add=START + "ex:Dog rdfs:subClassOf ex:Animal .")
    assert ids(cats) == ["subclass-Dog-Animal"]
    delta = cats.change_ontology(add=START + "ex:Cat rdfs:subClassOf ex:Animal .")
    assert len(delta.added) == 1
    assert set(axioms) < set(cats.ontology().axioms)


def test_a_whole_ontology_brings_back_what_was_removed(cats: lf.Reasoner) -> None:
    cats.apply(remove=START + "ex:tom a ex:Cat .", remove_rules="subclass-Cat-Animal")
    assert len(cats) == 0
    assert len(cats.change_ontology(to=CATS).added) == 2
    assert ids(cats) == ["subclass-Cat-Animal"]


def test_an_assertion_that_was_removed_as_a_fact_can_be_stated_again(cats: lf.Reasoner) -> None:
    cats.remove(START + "ex:tom a ex:Cat .")
    assert len(cats.change_ontology(add=START + "ex:tom a ex:Cat .").added) == 2


def test_an_axiom_that_lost_one_of_two_rules_keeps_the_other_until_it_is_removed(
    cats: lf.Reasoner,
) -> None:
    same = START + "ex:Dog owl:equivalentClass ex:Hound ."
    cats.change_ontology(add=same)
    cats.remove_rules("equivalent-Dog-Hound")
    cats.change_ontology(add=START + "ex:Hound rdfs:subClassOf ex:Animal .")
    assert ids(cats)[1:] == ["equivalent-Dog-Hound-2", "subclass-Hound-Animal"]
    cats.change_ontology(add=same)
    assert len(ids(cats)) == 4
    cats.remove_rules("equivalent-Dog-Hound-2")
    cats.change_ontology(remove=same)
    assert ids(cats) == ["subclass-Cat-Animal", "subclass-Hound-Animal"]


def test_a_refused_axiom_is_told_without_a_place_that_is_none() -> None:
    reasoner = lf.Reasoner(on_violation="refuse")
    reasoner.add(START + "ex:x a ex:A , ex:B .")
    with pytest.raises(lf.ViolationError, match="disjoint-A-B") as refused:
        reasoner.change_ontology(add=START + "ex:A owl:disjointWith ex:B .")
    assert ":0:0" not in str(refused.value)
