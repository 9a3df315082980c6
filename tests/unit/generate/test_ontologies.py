"""Generated ontologies: the numbers of the paper, and rules that mean what they say."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest
from pyoxigraph import NamedNode, RdfFormat, Triple, parse

from livefacts import Reasoner
from livefacts.errors import InputError
from livefacts.generate import GeneratedOntology
from livefacts.generate.ontologies import KINDS, NAMESPACE, TYPE
from livefacts.syntax.rule_sets import open_rules


def facts(ontology: GeneratedOntology) -> list[Triple]:
    text = b"".join(ontology.facts())
    return [quad.triple for quad in parse(text, format=RdfFormat.N_TRIPLES)]


def rules(ontology: GeneratedOntology) -> str:
    return b"".join(ontology.rules()).decode()


def members(reasoner: Reasoner, name: str) -> set[str]:
    wanted = NamedNode(NAMESPACE + name)
    return {
        fact.subject.value.removeprefix(NAMESPACE)
        for fact in reasoner
        if isinstance(fact, Triple)
        and fact.object == wanted
        and isinstance(fact.subject, NamedNode)
    }


def reasoner_of(ontology: GeneratedOntology) -> Reasoner:
    reasoner = Reasoner(rules=rules(ontology))
    reasoner.add(facts(ontology))
    return reasoner


@pytest.mark.parametrize(("depth", "classes"), [(3, 155), (4, 780), (5, 3905)])
def test_the_trees_of_the_paper_have_so_many_classes(depth: int, classes: int) -> None:
    assert GeneratedOntology("dl", depth).classes == classes


def test_every_class_has_its_instances_and_every_third_individual_its_values() -> None:
    by_predicate = Counter(fact.predicate.value for fact in facts(GeneratedOntology("db", 3)))
    individuals = by_predicate.pop(TYPE)
    assert individuals == 155 * 5
    assert sum(by_predicate.values()) == -(-individuals // 3) * 5


def test_a_taxonomy_has_no_properties() -> None:
    assert {fact.predicate.value for fact in facts(GeneratedOntology("taxonomy", 2))} == {TYPE}


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_rules_is_known_before_they_are_written(kind: str) -> None:
    ontology = GeneratedOntology(kind, 3, subclasses=3, properties=2)
    assert len(open_rules(rules(ontology))) == ontology.rule_count


def test_members_of_a_class_are_members_of_those_above() -> None:
    reasoner = reasoner_of(GeneratedOntology("taxonomy", 3, subclasses=2, instances=1))
    assert members(reasoner, "c1") == {"i1_0", "i3_0", "i4_0", "i7_0", "i8_0", "i9_0", "i10_0"}


@pytest.mark.slow
def test_definitions_put_individuals_of_other_branches_into_classes() -> None:
    ontology = GeneratedOntology("dl", 3)
    plain, defined = reasoner_of(GeneratedOntology("taxonomy", 3)), reasoner_of(ontology)
    more = [members(defined, f"c{n}") - members(plain, f"c{n}") for n in range(1, 6)]
    assert sum(map(len, more)) > 20


def test_a_definition_asks_for_the_sibling_before_and_the_first_for_the_last() -> None:
    lines = rules(GeneratedOntology("dl", 2, subclasses=3)).splitlines()
    asked = {line.split()[1]: line.rpartition(" o:")[2] for line in lines if "some-" in line}
    assert asked["some-c4"] == "c6] ."
    assert asked["some-c5"] == "c4] ."


def test_the_same_seed_gives_the_same_bytes_on_every_machine() -> None:
    ontology = GeneratedOntology("dl", 3, seed=1)
    digest = hashlib.sha256(b"".join([*ontology.facts(), *ontology.rules()])).hexdigest()
    assert digest == "7e51fe2416aae82a8705df2001d876017f6d06540a99e122eb09ca06f387f96a"


def test_another_seed_gives_other_values() -> None:
    assert facts(GeneratedOntology("db", 2, seed=1)) != facts(GeneratedOntology("db", 2, seed=2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "owl", "depth": 2}, "no kind owl"),
        ({"kind": "db", "depth": 0}, "0 levels"),
        ({"kind": "db", "depth": 2, "subclasses": 0}, "0 subclasses"),
        ({"kind": "db", "depth": 2, "instances": -1}, "fewer than no instances"),
        ({"kind": "dl", "depth": 2, "properties": 0}, "defined by properties"),
        ({"kind": "dl", "depth": 99}, "too many"),
    ],
)
def test_what_cannot_be_generated_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        GeneratedOntology(**arguments)  # type: ignore[arg-type]
