"""Axioms become rules on the sides where rules can say them; what is left is reported."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode

import livefacts as lf
from livefacts.errors import InputError
from livefacts.language.axioms import And, EquivalentClasses, Some
from livefacts.language.checks.safety import check
from livefacts.language.rule_text import write_fact, write_rule
from livefacts.model.facts import Fact
from livefacts.model.namespaces import DECLARED
from livefacts.syntax.owl.class_expressions import (
    ABSENCE_UNKNOWN,
    ALL_VALUES_UNKNOWN,
    CHOOSES,
    COUNTS,
    EVERYTHING,
    INVENTS,
    NAMELESS,
)
from livefacts.syntax.owl.ontology_files import rules_of
from livefacts.syntax.rule_sets import open_rules
from livefacts.syntax.rulelang.rule_parser import parse

EX = "http://example.org/"
START = """
@prefix ex: <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
SUPPORT = ("_family", "_within", "different-1", "different-2", "all-different")


def restriction(property: str, what: str) -> str:
    return f"[ a owl:Restriction ; owl:onProperty {property} ; {what} ]"


def translated(axioms: str) -> tuple[list[str], list[str]]:
    """The rules and facts of axioms in Turtle, and the reasons for what is missing."""
    report = rules_of(START + axioms)
    prefixes = DECLARED | {"ex": EX}
    rules = [rule for rule in report.program if rule.id not in SUPPORT]
    lines = [write_rule(rule, prefixes).partition(" ")[2].partition(" ")[2] for rule in rules]
    facts = [write_fact(fact, prefixes) for fact in report.program.facts]
    facts = [fact for fact in facts if not fact.startswith(SUPPORT)]
    return lines + facts, [gap.reason for gap in report.inexpressible]


SIDES = [
    ("ex:A rdfs:subClassOf ex:B .", "[?x, a, ex:B] :- [?x, a, ex:A] ."),
    (
        "ex:A owl:equivalentClass ex:B .",
        "[?x, a, ex:B] :- [?x, a, ex:A] .\n[?x, a, ex:A] :- [?x, a, ex:B] .",
    ),
    (
        "ex:A rdfs:subClassOf [ owl:intersectionOf (ex:C ex:B) ] .",
        "[?x, a, ex:B] :- [?x, a, ex:A] .\n[?x, a, ex:C] :- [?x, a, ex:A] .",
    ),
    (
        "[ owl:intersectionOf (ex:A ex:B) ] rdfs:subClassOf ex:C .",
        "[?x, a, ex:C] :- [?x, a, ex:A], [?x, a, ex:B] .",
    ),
    (
        "[ owl:unionOf (ex:A ex:B) ] rdfs:subClassOf ex:C .",
        "[?x, a, ex:C] :- [?x, a, ex:A] .\n[?x, a, ex:C] :- [?x, a, ex:B] .",
    ),
    (
        "[ owl:intersectionOf (ex:A [ owl:unionOf (ex:B ex:C) ]) ] rdfs:subClassOf ex:D .",
        "[?x, a, ex:D] :- [?x, a, ex:A], [?x, a, ex:B] .\n"
        "[?x, a, ex:D] :- [?x, a, ex:A], [?x, a, ex:C] .",
    ),
    (
        restriction("ex:p", "owl:someValuesFrom ex:B") + " rdfs:subClassOf ex:A .",
        "[?x, a, ex:A] :- [?x, ex:p, ?y], [?y, a, ex:B] .",
    ),
    (
        restriction("[ owl:inverseOf ex:p ]", "owl:someValuesFrom owl:Thing")
        + " rdfs:subClassOf ex:A .",
        "[?x, a, ex:A] :- [?y, ex:p, ?x] .",
    ),
    (
        "ex:A rdfs:subClassOf " + restriction("ex:p", "owl:allValuesFrom ex:B") + " .",
        "[?y, a, ex:B] :- [?x, a, ex:A], [?x, ex:p, ?y] .",
    ),
    (
        "ex:A rdfs:subClassOf " + restriction("ex:p", "owl:hasValue ex:i") + " .",
        "[?x, ex:p, ex:i] :- [?x, a, ex:A] .",
    ),
    (
        restriction("ex:p", "owl:hasValue ex:i") + " rdfs:subClassOf ex:A .",
        "[?x, a, ex:A] :- [?x, ex:p, ex:i] .",
    ),
    (
        "ex:A rdfs:subClassOf " + restriction("ex:p", "owl:hasSelf true") + " .",
        "[?x, ex:p, ?x] :- [?x, a, ex:A] .",
    ),
    (
        restriction("ex:p", "owl:hasSelf true") + " rdfs:subClassOf ex:A .",
        "[?x, a, ex:A] :- [?x, ex:p, ?x] .",
    ),
    (
        "[ owl:oneOf (ex:i ex:j) ] rdfs:subClassOf ex:A .",
        "[?x, a, ex:A] :- ?x = ex:i .\n[?x, a, ex:A] :- ?x = ex:j .",
    ),
    (
        restriction("ex:p", "owl:someValuesFrom [ owl:oneOf (ex:i ex:j) ]")
        + " rdfs:subClassOf ex:A .",
        "[?x, a, ex:A] :- [?x, ex:p, ex:i] .\n[?x, a, ex:A] :- [?x, ex:p, ex:j] .",
    ),
    (
        "ex:A rdfs:subClassOf [ owl:oneOf (ex:i) ] .",
        "[?x, owl:sameAs, ex:i] :- [?x, a, ex:A] .",
    ),
    (
        "ex:A rdfs:subClassOf [ owl:complementOf ex:B ] .",
        "false :- [?x, a, ex:A], [?x, a, ex:B] .",
    ),
    (
        "ex:A rdfs:subClassOf [ owl:unionOf (ex:B [ owl:complementOf ex:C ]) ] .",
        "[?x, a, ex:B] :- [?x, a, ex:A], [?x, a, ex:C] .",
    ),
    ("ex:A rdfs:subClassOf owl:Nothing .", "false :- [?x, a, ex:A] ."),
    ("ex:A rdfs:subClassOf owl:Thing .", ""),
    ("owl:Nothing rdfs:subClassOf ex:A .", ""),
    ("ex:A rdfs:subClassOf ex:A .", ""),
    ("ex:A owl:disjointWith ex:B .", "false :- [?x, a, ex:A], [?x, a, ex:B] ."),
    ("ex:A owl:disjointWith ex:A .", "false :- [?x, a, ex:A] ."),
    (
        "[] a owl:AllDisjointClasses ; owl:members (ex:A ex:B ex:C) .",
        "false :- [?x, a, ex:A], [?x, a, ex:B] .\n"
        "false :- [?x, a, ex:A], [?x, a, ex:C] .\n"
        "false :- [?x, a, ex:B], [?x, a, ex:C] .",
    ),
    (
        "ex:A rdfs:subClassOf " + restriction("ex:p", "owl:maxCardinality 0") + " .",
        "false :- [?x, a, ex:A], [?x, ex:p, ?y] .",
    ),
    (
        "ex:A rdfs:subClassOf "
        + restriction("ex:p", "owl:maxQualifiedCardinality 1 ; owl:onClass ex:B")
        + " .",
        "[?y, owl:sameAs, ?z] :- [?x, a, ex:A], [?x, ex:p, ?y], [?x, ex:p, ?z], "
        "[?y, a, ex:B], [?z, a, ex:B], ?y != ?z .",
    ),
    (
        restriction("ex:p", "owl:minCardinality 1") + " rdfs:subClassOf ex:A .",
        "[?x, a, ex:A] :- [?x, ex:p, ?y] .",
    ),
    ("ex:p rdfs:subPropertyOf ex:q .", "[?x, ex:q, ?y] :- [?x, ex:p, ?y] ."),
    (
        "ex:p owl:equivalentProperty ex:q .",
        "[?x, ex:q, ?y] :- [?x, ex:p, ?y] .\n[?x, ex:p, ?y] :- [?x, ex:q, ?y] .",
    ),
    (
        "ex:p owl:inverseOf ex:q .",
        "[?y, ex:q, ?x] :- [?x, ex:p, ?y] .\n[?y, ex:p, ?x] :- [?x, ex:q, ?y] .",
    ),
    (
        "ex:q owl:propertyChainAxiom (ex:p [ owl:inverseOf ex:r ] ex:p) .",
        "[?x, ex:q, ?u] :- [?x, ex:p, ?y], [?z, ex:r, ?y], [?z, ex:p, ?u] .",
    ),
    ("ex:p rdfs:domain ex:A .", "[?x, a, ex:A] :- [?x, ex:p, ?y] ."),
    ("ex:p rdfs:range ex:A .", "[?y, a, ex:A] :- [?x, ex:p, ?y] ."),
    (
        "ex:p a owl:FunctionalProperty .",
        "[?y, owl:sameAs, ?z] :- [?x, ex:p, ?y], [?x, ex:p, ?z], ?y != ?z .",
    ),
    (
        "ex:p a owl:FunctionalProperty, owl:DatatypeProperty .",
        "false :- [?x, ex:p, ?y], [?x, ex:p, ?z], value(?y) is not value(?z) .",
    ),
    (
        "ex:p a owl:InverseFunctionalProperty .",
        "[?y, owl:sameAs, ?z] :- [?y, ex:p, ?x], [?z, ex:p, ?x], ?y != ?z .",
    ),
    ("ex:p a owl:SymmetricProperty .", "[?y, ex:p, ?x] :- [?x, ex:p, ?y] ."),
    ("ex:p a owl:TransitiveProperty .", "[?x, ex:p, ?z] :- [?x, ex:p, ?y], [?y, ex:p, ?z] ."),
    ("ex:p a owl:AsymmetricProperty .", "false :- [?x, ex:p, ?y], [?y, ex:p, ?x] ."),
    ("ex:p a owl:IrreflexiveProperty .", "false :- [?x, ex:p, ?x] ."),
    ("ex:p owl:propertyDisjointWith ex:q .", "false :- [?x, ex:p, ?y], [?x, ex:q, ?y] ."),
    (
        "ex:A owl:hasKey (ex:p ex:q) .",
        "[?x, owl:sameAs, ?y] :- [?x, a, ex:A], [?y, a, ex:A], "
        "[?x, ex:p, ?z], [?y, ex:p, ?z], [?x, ex:q, ?u], [?y, ex:q, ?u], ?x != ?y .",
    ),
    (
        "ex:p a owl:DatatypeProperty . ex:A owl:hasKey (ex:p) .",
        "[?x, owl:sameAs, ?y] :- [?x, a, ex:A], [?y, a, ex:A], "
        "[?x, ex:p, ?z], [?y, ex:p, ?z], ?x != ?y .\n"
        "[?x, owl:sameAs, ?y] :- [?x, a, ex:A], [?y, a, ex:A], "
        "_key_value(?x, ex:p, ?z), _key_value(?y, ex:p, ?z), ?x != ?y .\n"
        "_key_value(?x, ex:p, ?value) :- [?x, ex:p, ?y], ?value = value(?y) .",
    ),
    (
        "ex:p a owl:DatatypeProperty ; owl:propertyDisjointWith ex:q . ex:q a owl:DatatypeProperty .",
        "false :- [?x, ex:p, ?y], [?x, ex:q, ?y] .\n"
        "false :- [?x, ex:p, ?y], [?x, ex:q, ?z], value(?y) is value(?z), ?y is not ?z .",
    ),
    ("ex:i a ex:A .", "[ex:i, a, ex:A] ."),
    ("ex:i a owl:Nothing .", "false :- ?x = ex:i ."),
    (
        "ex:p a owl:ObjectProperty . ex:i ex:p ex:j .",
        "[ex:i, ex:p, ex:j] .",
    ),
    (
        "ex:i a " + restriction("ex:p", "owl:allValuesFrom ex:A") + " .",
        "[?x, a, ex:A] :- [ex:i, ex:p, ?x] .",
    ),
    (
        "ex:i a " + restriction("ex:p", "owl:hasValue ex:j") + " .",
        "[?x, ex:p, ex:j] :- ?x = ex:i .",
    ),
    (
        "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual ex:i ; "
        "owl:assertionProperty ex:p ; owl:targetIndividual ex:j .",
        "false :- [ex:i, ex:p, ex:j] .",
    ),
    ("ex:i owl:sameAs ex:j .", "[ex:i, owl:sameAs, ex:j] ."),
    ("ex:i owl:differentFrom ex:j .", "[ex:i, owl:differentFrom, ex:j] ."),
    (
        "ex:age rdfs:range xsd:nonNegativeInteger .",
        "false :- [?x, ex:age, ?y], ?y_kind = kind(?y), _family(?y_kind, ?y_family), "
        "?y_family != numbers .\n"
        "false :- [?x, ex:age, ?y], kind(?y) is xsd:decimal .\n"
        "false :- [?x, ex:age, ?y], ?y < 0 .",
    ),
    (
        restriction("ex:p", "owl:hasValue 1") + " rdfs:subClassOf ex:A .",
        "[?x, a, ex:A] :- [?x, ex:p, ?y], value(?y) is 1 .",
    ),
    (
        restriction("ex:p", 'owl:hasValue "one"') + " rdfs:subClassOf ex:A .",
        '[?x, a, ex:A] :- [?x, ex:p, "one"] .',
    ),
    (
        "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual ex:i ; "
        "owl:assertionProperty ex:p ; owl:targetValue true .",
        "false :- [ex:i, ex:p, ?x], value(?x) is true .",
    ),
    (
        restriction(
            "ex:age",
            "owl:someValuesFrom [ a rdfs:Datatype ; owl:onDatatype xsd:integer ; "
            "owl:withRestrictions ([ xsd:minInclusive 18 ]) ]",
        )
        + " rdfs:subClassOf ex:Adult .",
        "[?x, a, ex:Adult] :- [?x, ex:age, ?y], ?y_kind = kind(?y), "
        "_within(?y_kind, xsd:integer), ?y >= 18 .",
    ),
]


@pytest.mark.parametrize(("axioms", "rules"), SIDES, ids=range(len(SIDES)))
def test_an_axiom_becomes_the_rules_that_say_the_same(axioms: str, rules: str) -> None:
    assert translated(axioms) == (rules.split("\n") if rules else [], [])


GAPS = [
    ("ex:A rdfs:subClassOf " + restriction("ex:p", "owl:someValuesFrom ex:B") + " .", INVENTS),
    ("ex:A rdfs:subClassOf " + restriction("ex:p", "owl:minCardinality 1") + " .", INVENTS),
    ("ex:A rdfs:subClassOf " + restriction("ex:p", "owl:maxCardinality 2") + " .", COUNTS),
    ("ex:A rdfs:subClassOf [ owl:unionOf (ex:B ex:C) ] .", CHOOSES),
    ("ex:A rdfs:subClassOf [ owl:oneOf (ex:i ex:j) ] .", CHOOSES),
    (restriction("ex:p", "owl:allValuesFrom ex:B") + " rdfs:subClassOf ex:A .", ALL_VALUES_UNKNOWN),
    (restriction("ex:p", "owl:maxCardinality 1") + " rdfs:subClassOf ex:A .", ALL_VALUES_UNKNOWN),
    (restriction("ex:p", "owl:minCardinality 2") + " rdfs:subClassOf ex:A .", COUNTS),
    ("[ owl:complementOf ex:B ] rdfs:subClassOf ex:A .", ABSENCE_UNKNOWN),
    ("owl:Thing rdfs:subClassOf ex:A .", EVERYTHING),
    ("ex:p a owl:ReflexiveProperty .", EVERYTHING),
    ("[] a ex:A .", NAMELESS),
    ("ex:A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty ex:p ] .", "what the values have"),
    ("ex:A rdfs:subClassOf [ owl:intersectionOf [] ] .", "a list is not complete"),
    ("ex:A rdfs:subClassOf [ a owl:Class ] .", "no definition that is known"),
    ("ex:A rdfs:subClassOf 5 .", "where a class should"),
    ("[] owl:members (ex:A ex:B) .", "is not said"),
    ("ex:i owl:differentFrom ex:i .", "nothing is different from itself"),
    ("ex:p a owl:DatatypeProperty ; rdfs:range ex:Metre . ex:Metre a rdfs:Datatype .", "not known"),
    *(
        (f"ex:A rdfs:subClassOf {cls} .", reason)
        for cls, reason in [
            (restriction("ex:p", "owl:allValuesFrom ex:B , ex:C"), "2 of owl:allValuesFrom"),
            (restriction("ex:p , ex:q", "owl:allValuesFrom ex:B"), "2 of owl:onProperty"),
            (
                restriction("ex:p", "owl:allValuesFrom ex:B ; owl:hasValue ex:i"),
                "owl:allValuesFrom and owl:hasValue, which exclude",
            ),
            (
                restriction("[ owl:inverseOf ex:p , ex:q ]", "owl:allValuesFrom ex:B"),
                "2 of owl:inverseOf",
            ),
            (
                "[ owl:intersectionOf (ex:B) ; owl:complementOf ex:C ]",
                "owl:intersectionOf and owl:complementOf",
            ),
            ("[ owl:intersectionOf (ex:B) , (ex:C) ]", "2 of owl:intersectionOf"),
            (
                "[ owl:intersectionOf [ rdf:first ex:B ; rdf:rest (ex:C) , (ex:D) ] ]",
                "2 of rdf:rest",
            ),
            ("[ owl:unionOf [ rdf:first ex:B , ex:C ; rdf:rest () ] ]", "2 of rdf:first"),
            (restriction("ex:p", "owl:maxCardinality 1 ; owl:onClass ex:B"), "qualified"),
            (restriction("ex:p", "owl:maxQualifiedCardinality 1"), "qualified"),
            (restriction("ex:p", "owl:hasSelf false"), "owl:hasSelf is true"),
            ("owl:Thng", "did you mean owl:Thing"),
            (restriction("owl:topObjctProperty", "owl:allValuesFrom ex:B"), "topObjectProperty?"),
        ]
    ),
    (
        "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual ex:i , ex:j ;"
        " owl:assertionProperty ex:p ; owl:targetIndividual ex:k .",
        "2 of owl:sourceIndividual",
    ),
    *(
        (
            "ex:p rdfs:range [ a rdfs:Datatype ; owl:onDatatype xsd:integer ;"
            f" owl:withRestrictions ([ xsd:minInclusive 1 ] [ {bound} ]) ] .",
            reason,
        )
        for bound, reason in [
            ("xsd:maxInclusive ex:i", "a bound that is not known"),
            ("xsd:totalDigits 3", "the facet xsd:totalDigits"),
            ('rdf:langRange "en"', "the facet rdf:langRange"),
        ]
    ),
    ("ex:A owl:hasKey () .", "a key has one property at least"),
    ("ex:p owl:propertyChainAxiom () .", "a chain has one property at least"),
    (
        "[] owl:sourceIndividual ex:i ; owl:assertionProperty ex:p ; owl:targetIndividual ex:j .",
        "is not said: owl:NegativePropertyAssertion",
    ),
    ("[] a owl:AllDifferent .", "it has no owl:members"),
    ("[] a owl:AllDisjointClasses .", "it has no owl:members"),
    ("[] a owl:AllDisjointProperties .", "it has no owl:members"),
    ("ex:A a owl:Restriction ; owl:someValuesFrom ex:B .", "without owl:onProperty"),
    ("ex:A owl:disjontWith ex:B .", "did you mean owl:disjointWith?"),
    ("ex:A rdfs:subclassOf ex:B .", "did you mean rdfs:subClassOf?"),
    ("ex:p a owl:FunkyProperty .", "owl:FunkyProperty is no word of OWL"),
    ("ex:i owl:bottomObjectProperty ex:j .", EVERYTHING),
]


@pytest.mark.parametrize(("axioms", "reason"), GAPS, ids=range(len(GAPS)))
def test_what_rules_cannot_say_is_reported_with_the_reason(axioms: str, reason: str) -> None:
    rules, reasons = translated(axioms)
    assert rules == []
    assert len(reasons) == 1
    assert reason in reasons[0]


def test_what_is_no_axiom_is_reported_as_it_stands_and_with_the_reason_once() -> None:
    report = rules_of(START + "ex:p owl:inverseOf 5 . [] a owl:AllDifferent .")
    assert list(report.reasons()) == [
        "ex:p owl:inverseOf 5: a property is an IRI, or the inverse of one",
        "[] rdf:type owl:AllDifferent: whom it speaks of is not said: it has no owl:members",
    ]


def test_one_half_of_an_axiom_is_kept_and_the_other_reported() -> None:
    report = rules_of(
        START
        + "ex:Chair owl:equivalentClass [ owl:intersectionOf (ex:Person "
        + restriction("ex:headOf", "owl:someValuesFrom ex:Department")
        + ") ] ."
    )
    assert "[?x, a, ex:Chair] :- [?x, a, ex:Person], [?x, ex:headOf, ?y]" in report.rules
    assert [f"{report.words(gap.part)}: {gap.reason}" for gap in report.inexpressible] == [
        f"ex:Chair SubClassOf ex:headOf some ex:Department: {INVENTS}"
    ]
    assert "# ex:Chair EquivalentTo ex:Person and (ex:headOf some ex:Department)" in report.rules
    assert next(report.reasons()).endswith("ex:headOf some ex:Department))")


def test_a_named_class_may_be_made_of_others_directly() -> None:
    rules = "ex:A owl:intersectionOf (ex:B ex:C) ."
    assert rules_of(START + rules).axioms == (
        EquivalentClasses((NamedNode(EX + "A"), And((NamedNode(EX + "B"), NamedNode(EX + "C"))))),
    )


def test_the_order_of_members_makes_no_other_axiom() -> None:
    first, second = (
        rules_of(START + f"ex:A owl:equivalentClass [ owl:intersectionOf ({members}) ] .").axioms
        for members in (
            "ex:B " + restriction("ex:p", "owl:someValuesFrom ex:C"),
            restriction("ex:p", "owl:someValuesFrom ex:C") + " ex:B",
        )
    )
    assert first == second
    assert isinstance(first[0], EquivalentClasses)
    assert (
        And((NamedNode(EX + "B"), Some(NamedNode(EX + "p"), NamedNode(EX + "C"))))
        in first[0].members
    )


def test_classes_in_a_ring_are_reported_and_do_not_hang() -> None:
    _, reasons = translated(
        "ex:A rdfs:subClassOf _:b . _:b owl:onProperty ex:p ; owl:allValuesFrom _:b ."
    )
    assert ["in a ring" in reason for reason in reasons] == [True]


def test_annotations_are_counted_and_imports_are_named() -> None:
    report = rules_of(
        START + "<http://example.org/> a owl:Ontology ; owl:imports ex:other ."
        'ex:A rdfs:label "a" ; rdfs:comment "b" ; ex:editor "c" ; rdfs:subClassOf ex:B .'
    )
    assert sum(dict(report.ontology.annotations).values()) == 3
    assert report.imports == (EX + "other",)
    assert "left aside as annotations: 3 triples" in str(report)
    assert "imported, and not read: http://example.org/other" in str(report)


def test_what_is_said_of_annotation_properties_has_no_rules() -> None:
    report = rules_of(
        START + "ex:note a owl:AnnotationProperty ; rdfs:subPropertyOf rdfs:comment ;"
        " rdfs:domain ex:A ; rdfs:range xsd:string . rdfs:label rdfs:domain ex:A ."
    )
    assert not len(report.program)
    assert not report.inexpressible
    assert "left aside as annotations: 4 triples" in str(report)


def test_an_annotation_property_that_is_an_object_property_too_has_rules() -> None:
    report = rules_of(
        START + "ex:p a owl:AnnotationProperty , owl:ObjectProperty ; rdfs:domain ex:A ."
    )
    assert len(report.program) == 1


def test_bounds_of_a_datatype_are_no_annotations() -> None:
    report = rules_of(
        START + "ex:p rdfs:range [ a rdfs:Datatype ; owl:onDatatype xsd:integer ;"
        " owl:withRestrictions ([ xsd:minInclusive 18 ]) ] ."
    )
    assert report.ontology.annotations == ()
    assert not report.inexpressible


def test_a_datatype_with_two_definitions_is_bound_by_both() -> None:
    rules, reasons = translated(
        "ex:D a rdfs:Datatype ; owl:equivalentClass xsd:integer , xsd:byte . ex:p rdfs:range ex:D ."
    )
    assert reasons == []
    assert any("?y > 127" in rule for rule in rules)
    assert any("_family" in rule for rule in rules)


def test_the_same_triple_twice_says_no_more_than_once() -> None:
    said = "_:r owl:onProperty ex:p ; owl:allValuesFrom ex:B . "
    rules, reasons = translated(f"ex:A rdfs:subClassOf _:r . {said}{said}")
    assert (len(rules), reasons) == (1, [])


def test_one_list_may_be_of_things_that_are_disjoint_and_different() -> None:
    report = rules_of(
        START + "[] a owl:AllDifferent , owl:AllDisjointClasses ; owl:members (ex:A ex:B) ."
    )
    assert len(report.axioms) == 2


def test_an_import_that_is_given_is_not_missing(tmp_path: Path) -> None:
    head = START + "ex:onto a owl:Ontology ; owl:imports ex:other , ex:v2 , ex:third . "
    parts = {
        "a.ttl": head + "ex:third a owl:Ontology .",
        "b.ttl": START + "ex:other a owl:Ontology . ex:B rdfs:subClassOf ex:C .",
        "c.ttl": START + "ex:named a owl:Ontology ; owl:versionIRI ex:v2 .",
    }
    for name, text in parts.items():
        (tmp_path / name).write_text(text)
    assert rules_of(tmp_path / "a.ttl").imports == (EX + "other", EX + "v2", EX + "third")
    assert rules_of([tmp_path / name for name in parts]).imports == (EX + "third",)


@pytest.mark.parametrize("source", [7, None, b"", [START, 7]])
def test_what_is_no_ontology_is_refused_with_a_hint(source: object) -> None:
    with pytest.raises(InputError, match="hint: give the path of an RDF file"):
        rules_of(source)  # type: ignore[arg-type]


def test_individuals_that_all_differ_take_one_fact_each() -> None:
    report = rules_of(START + "[] a owl:AllDifferent ; owl:distinctMembers (ex:a ex:b ex:c) .")
    reasoner = lf.Reasoner(report.program)
    assert [fact.name for fact in report.program.facts] == ["_apart"] * 3  # type: ignore[union-attr]
    reasoner.add(
        "@prefix ex: <http://example.org/> . ex:a <http://www.w3.org/2002/07/owl#sameAs> ex:c ."
    )
    assert {violation.constraint for violation in reasoner.violations()} == {"all-different"}


def test_text_and_program_are_the_same() -> None:
    report = rules_of(START + "\n".join(axioms for axioms, _ in [*SIDES, *GAPS]))
    assert parse(report.rules) == report.program


@pytest.mark.parametrize("ready", [["rdfs"], ["owl-rl", "owl-datatypes"], ["owl-same-as"]])
def test_an_ontology_goes_with_the_ready_rules(ready: list[str]) -> None:
    several = "[] a owl:AllDifferent ; owl:members (ex:a ex:b ex:c) . "
    report = rules_of(START + several + "\n".join(axioms for axioms, _ in SIDES))
    names = {fact.name for fact in report.program.facts if isinstance(fact, Fact)}
    assert names == {"_apart", "_family", "_within"}
    check(open_rules([report.program, *ready]))


def test_several_files_are_read_as_one(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(START + "ex:age a owl:DatatypeProperty . _:x a ex:A .")
    (tmp_path / "b.owl").write_text(START + "ex:age a owl:FunctionalProperty .")
    report = rules_of([str(tmp_path / "a.ttl"), tmp_path / "b.owl"])
    assert all(rule.is_constraint for rule in report.program)
    assert len(report.program)


@pytest.mark.parametrize(
    ("text", "notation"),
    [
        ("Prefix(:=<http://example.org/>)\nOntology(<http://example.org/>)", "functional"),
        ("Prefix: : <http://example.org/>\nOntology: <http://example.org/>", "Manchester"),
        ('<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>', "OWL/XML"),
    ],
)
def test_notations_that_are_no_rdf_are_named(tmp_path: Path, text: str, notation: str) -> None:
    (tmp_path / "o.owl").write_text(text)
    with pytest.raises(InputError, match=notation):
        rules_of(tmp_path / "o.owl")


def test_equality_comes_along_when_asked() -> None:
    axioms = START + "ex:mother a owl:FunctionalProperty ."
    facts = (
        "@prefix ex: <http://example.org/> . ex:ann ex:mother ex:eve, ex:eva . ex:eve ex:age 60 ."
    )
    plain, equal = (
        lf.Reasoner(lf.rules_from_owl(axioms, same_as=mode).program) for mode in ("off", "rules")
    )
    for reasoner in (plain, equal):
        reasoner.add(facts)
    age = (NamedNode(EX + "eva"), NamedNode(EX + "age"), Literal(60))
    assert age not in plain
    assert age in equal
    with pytest.raises(ValueError, match="same_as"):
        lf.rules_from_owl(axioms, same_as="merged")


def test_rules_may_be_the_path_of_an_ontology(tmp_path: Path) -> None:
    path = tmp_path / "animals.owl"
    path.write_text(START + "ex:Cat rdfs:subClassOf ex:Animal . ex:tom a ex:Cat .")
    reasoner = lf.Reasoner(rules=f"dlp:{path}")
    assert [rule.id for rule in reasoner.rules] == ["subclass-Cat-Animal"]
    assert len(reasoner) == 2
    assert len(reasoner.facts(derived=True)) == 1


def test_a_missing_ontology_is_an_error_that_names_it() -> None:
    with pytest.raises(InputError, match=r"there is no file nowhere\.owl"):
        lf.Reasoner(rules="dlp:nowhere.owl")


def test_the_rules_of_equality_are_those_of_owl_rl() -> None:
    known = {rule.id: rule for rule in open_rules("owl-rl")}
    assert all(known[rule.id] == rule for rule in open_rules("owl-same-as"))


def test_the_page_prints_the_rules_that_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[4] / "docs" / "owl-rules.md").read_text(encoding="utf-8")
    world: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, world)
    printed = capsys.readouterr().out
    shown = re.findall(r"```rules\n(.*?)```", text, re.DOTALL)
    assert [block for block in shown if block not in printed] == []
    assert "not, or not fully, in rules: 1 axiom" in printed
