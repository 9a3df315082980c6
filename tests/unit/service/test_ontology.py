"""Axioms that come and go: the rules in which two ontologies differ change, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

import livefacts as lf
from livefacts.errors import RuleError

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


def test_a_declaration_changes_what_axioms_mean(cats: lf.Reasoner) -> None:
    cats.change_ontology(add=START + "ex:age a owl:FunctionalProperty .")
    cats.add(START + "ex:tom ex:age 3, 4 .")
    assert cats.violations() == []
    delta = cats.change_ontology(add=START + "ex:age a owl:DatatypeProperty .")
    assert len(delta.violations) == 2
    assert cats.change_ontology(remove=START + "ex:age a owl:DatatypeProperty .").resolved


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
    with pytest.raises(ValueError, match="or the ontology to change to"):
        cats.change_ontology(add=CATS, to=CATS)
