"""Literals have one value or two, as OWL says, whatever the order that comparisons know."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest

import livefacts as lf

PREFIXES = """
@prefix ex: <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
VALUES = {
    "1": "number 1",
    '"01"^^xsd:integer': "number 1",
    '"1"^^xsd:byte': "number 1",
    "1.0": "number 1",
    '"1.50"^^xsd:decimal': "number 1.5",
    "1.5": "number 1.5",
    "0": "number 0",
    '"-0"^^xsd:integer': "number 0",
    '"1"^^xsd:double': "double 1",
    "1.0e0": "double 1",
    '"1"^^xsd:float': "float 1",
    '"0"^^xsd:double': "double 0",
    '"0.0"^^xsd:double': "double 0",
    '"-0"^^xsd:double': "double -0",
    '"-0.0"^^xsd:double': "double -0",
    '"0"^^xsd:float': "float 0",
    '"-0"^^xsd:float': "float -0",
    '"NaN"^^xsd:double': "double NaN",
    '"NaN"^^xsd:float': "float NaN",
    '"INF"^^xsd:double': "double INF",
    "true": "boolean true",
    '"1"^^xsd:boolean': "boolean true",
    "false": "boolean false",
    '"one"': "string one",
    '"1"': "string 1",
    '"one"@en': "one in English",
    '"2020-01-01T00:00:00Z"^^xsd:dateTime': "moment 2020",
    '"2020-01-01T00:00:00.0Z"^^xsd:dateTimeStamp': "moment 2020",
    '"2020-01-01T01:00:00+01:00"^^xsd:dateTime': "moment 2020 in another zone",
    '"2020-01-01"^^xsd:date': "date 2020",
    '"00ff"^^xsd:hexBinary': "binary 00FF",
    '"00FF"^^xsd:hexBinary': "binary 00FF",
}
"""Literals, and a name of the value that each stands for."""
FACTS = "".join(f"ex:x{n} ex:p {text} . " for n, text in enumerate(VALUES))
DATATYPE = "[ a rdfs:Datatype ; owl:oneOf ({}) ]"
RESTRICTION = "[ a owl:Restriction ; owl:onProperty ex:p ; {} ]"


def loaded(axioms: str, facts: str = FACTS) -> lf.Reasoner:
    reasoner = lf.Reasoner(rules=lf.rules_from_owl(PREFIXES + axioms).program)
    reasoner.add(PREFIXES + facts)
    return reasoner


def literals_of(numbers: set[int]) -> set[str]:
    return {text for number, text in enumerate(VALUES) if number in numbers}


def members(reasoner: lf.Reasoner, cls: str) -> set[str]:
    found = [f.subject.value for f in reasoner.facts() if f.object.value.endswith(f"/{cls}")]  # type: ignore[union-attr]
    return literals_of({int(name.rpartition("x")[2]) for name in found})


def violated(reasoner: lf.Reasoner) -> set[str]:
    found = [violation.bindings["x"] for violation in reasoner.violations()]
    return literals_of({int(str(name).rpartition("x")[2].rstrip(">")) for name in found})


@pytest.mark.parametrize("text", VALUES)
def test_a_class_of_one_value_has_whoever_has_that_value(text: str) -> None:
    enumerated = RESTRICTION.format(f"owl:someValuesFrom {DATATYPE.format(text)}")
    reasoner = loaded(
        f"{RESTRICTION.format(f'owl:hasValue {text}')} rdfs:subClassOf ex:Has . "
        f"{enumerated} rdfs:subClassOf ex:Some ."
    )
    same = {other for other, value in VALUES.items() if value == VALUES[text]}
    assert members(reasoner, "Has") == same
    assert members(reasoner, "Some") == same


@pytest.mark.parametrize("text", VALUES)
def test_a_range_of_one_value_is_violated_by_all_others(text: str) -> None:
    reasoner = loaded(f"ex:p rdfs:range {DATATYPE.format(text)} .")
    assert violated(reasoner) == {t for t, value in VALUES.items() if value != VALUES[text]}


def test_a_range_of_several_values_is_violated_by_what_is_none_of_them() -> None:
    among = ["1", '"0"^^xsd:double', '"-0"^^xsd:float', '"NaN"^^xsd:double', '"one"', "true"]
    reasoner = loaded(f"ex:p rdfs:range {DATATYPE.format(' '.join(among))} .")
    values = {VALUES[text] for text in among}
    assert violated(reasoner) == {text for text, value in VALUES.items() if value not in values}


@pytest.mark.parametrize("text", ["1", "1.0e0", '"-0"^^xsd:float', '"NaN"^^xsd:double', '"one"'])
def test_what_is_denied_is_denied_of_the_value(text: str) -> None:
    reasoner = loaded(
        "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual ex:x ; "
        f"owl:assertionProperty ex:p ; owl:targetValue {text} . "
    )
    for other, value in VALUES.items():
        fact = f"{PREFIXES} ex:x ex:p {other} ."
        reasoner.add(fact)
        assert bool(reasoner.violations()) == (value == VALUES[text]), other
        reasoner.remove(fact)


def test_keys_and_the_rules_of_equality_go_together() -> None:
    axioms = "ex:p a owl:DatatypeProperty . ex:K owl:hasKey (ex:p) ."
    program = lf.rules_from_owl(PREFIXES + axioms, same_as="rules").program
    reasoner = lf.Reasoner(rules=program)
    reasoner.add(f"{PREFIXES} ex:x0 a ex:K ; ex:p 01 . ex:x1 a ex:K , ex:A ; ex:p 1.0 .")
    assert len(members(reasoner, "A")) == 2


def test_a_key_is_a_value_however_it_is_written() -> None:
    facts = FACTS + "".join(f"ex:x{n} a ex:K . " for n in range(len(VALUES)))
    reasoner = loaded("ex:p a owl:DatatypeProperty . ex:K owl:hasKey (ex:p) .", facts)
    same = {(f.subject, f.object) for f in reasoner.facts() if f.predicate.value.endswith("sameAs")}  # type: ignore[union-attr]
    found = {tuple(int(str(end).rpartition("x")[2].rstrip(">")) for end in pair) for pair in same}
    values = list(VALUES.values())
    pairs = permutations(range(len(values)), 2)
    assert found == {(a, b) for a, b in pairs if values[a] == values[b]}


def test_a_functional_property_has_one_value_however_it_is_written() -> None:
    pairs = list(combinations(VALUES, 2))
    facts = "".join(f"ex:x{n} ex:p {a} , {b} . " for n, (a, b) in enumerate(pairs))
    reasoner = loaded("ex:p a owl:FunctionalProperty , owl:DatatypeProperty .", facts)
    found = {str(violation.bindings["x"]) for violation in reasoner.violations()}
    for number, (first, second) in enumerate(pairs):
        contradicted = f"<http://example.org/x{number}>" in found
        assert contradicted == (VALUES[first] != VALUES[second]), (first, second)


def test_two_values_of_a_functional_property_are_one_contradiction_each_way() -> None:
    facts = "".join(
        f"ex:x{n} ex:p {a} , {b} . " for n, (a, b) in enumerate(combinations(VALUES, 2))
    )
    reasoner = loaded("ex:p a owl:FunctionalProperty , owl:DatatypeProperty .", facts)
    found = [tuple(map(str, violation.bindings.values())) for violation in reasoner.violations()]
    assert len(found) == len(set(found))


@pytest.mark.parametrize("datatype", ["xsd:double", "xsd:float"])
def test_at_most_one_number_of_a_sort_counts_zeros_with_their_sign(datatype: str) -> None:
    axiom = RESTRICTION.format(f"owl:maxQualifiedCardinality 1 ; owl:onDataRange {datatype}")
    reasoner = loaded(
        f"ex:p a owl:DatatypeProperty . ex:A rdfs:subClassOf {axiom} .",
        f'ex:x0 a ex:A ; ex:p "0"^^{datatype} , "-0"^^{datatype} . '
        f'ex:x1 a ex:A ; ex:p "NaN"^^{datatype} , 5 . ex:x2 a ex:A ; ex:p "0"^^{datatype} , 0 .',
    )
    assert {str(v.bindings["x"])[-3:-1] for v in reasoner.violations()} == {"x0"}


ILL_TYPED = [
    ('"abc"^^xsd:integer', "xsd:integer"),
    ('"300"^^xsd:byte', "xsd:byte"),
    ('"1.5"^^xsd:integer', "xsd:decimal"),
    ('"maybe"^^xsd:boolean', "xsd:boolean"),
    ('"tomorrow"^^xsd:date', "xsd:date"),
]


@pytest.mark.parametrize(("text", "datatype"), ILL_TYPED)
def test_what_its_datatype_does_not_allow_is_no_member_of_it(text: str, datatype: str) -> None:
    some = RESTRICTION.format(f"owl:someValuesFrom {datatype}")
    reasoner = loaded(f"{some} rdfs:subClassOf ex:A .", f"ex:x0 ex:p {text} .")
    assert not members(reasoner, "A")


@pytest.mark.parametrize(
    ("datatype", "inside"),
    [
        ("owl:rational", {"number"}),
        ("owl:real", {"number"}),
        ("xsd:decimal", {"number"}),
        ("xsd:double", {"double"}),
        ("xsd:float", {"float"}),
        ("rdf:PlainLiteral", {"string", "one"}),
        ("xsd:dateTime", {"moment"}),
        ("xsd:boolean", {"boolean"}),
        ("rdfs:Literal", {value.split()[0] for value in VALUES.values()}),
    ],
)
def test_a_datatype_has_the_values_of_its_sort_also_nan(datatype: str, inside: set[str]) -> None:
    some = RESTRICTION.format(f"owl:someValuesFrom {datatype}")
    reasoner = loaded(f"{some} rdfs:subClassOf ex:A . ex:p rdfs:range {datatype} .")
    wanted = {text for text, value in VALUES.items() if value.split()[0] in inside}
    assert members(reasoner, "A") == wanted
    assert violated(reasoner) == set(VALUES) - wanted


@pytest.mark.parametrize(
    ("datatype", "inside", "outside"),
    [
        ("xsd:integer", "1.0", "1.5"),
        ("xsd:byte", '"127"^^xsd:long', "128"),
        (
            "xsd:dateTimeStamp",
            '"2020-01-01T00:00:00Z"^^xsd:dateTime',
            '"2020-01-01T00:00:00"^^xsd:dateTime',
        ),
        ("xsd:NCName", '"a"', '"a b"'),
        ("xsd:token", '"a"^^xsd:NCName', '" a"'),
        ("rdf:langString", '"a"@en', '"a"'),
    ],
)
def test_a_value_is_in_the_datatypes_that_have_it(datatype: str, inside: str, outside: str) -> None:
    some = RESTRICTION.format(f"owl:someValuesFrom {datatype}")
    reasoner = loaded(
        f"{some} rdfs:subClassOf ex:A . ex:p rdfs:range {datatype} .",
        f"ex:x0 ex:p {inside} . ex:x1 ex:p {outside} .",
    )
    assert members(reasoner, "A") == literals_of({0})
    assert violated(reasoner) == literals_of({1})


def test_disjoint_properties_of_literals_have_no_value_in_common() -> None:
    facts = "".join(
        f"ex:x{n} ex:p {a} ; ex:q {b} . " for n, (a, b) in enumerate(combinations(VALUES, 2))
    )
    reasoner = loaded(
        "ex:p a owl:DatatypeProperty . ex:q a owl:DatatypeProperty ; owl:propertyDisjointWith ex:p .",
        facts,
    )
    found = {str(violation.bindings["x"]) for violation in reasoner.violations()}
    for number, (first, second) in enumerate(combinations(VALUES, 2)):
        shared = VALUES[first] == VALUES[second]
        assert (f"<http://example.org/x{number}>" in found) == shared, (first, second)


def test_nan_is_beyond_every_bound() -> None:
    reasoner = loaded(
        "ex:p rdfs:range [ a rdfs:Datatype ; owl:onDatatype xsd:double ; "
        "owl:withRestrictions ([ xsd:minInclusive 1.0e0 ]) ] .",
        'ex:x0 ex:p "NaN"^^xsd:double . ex:x1 ex:p "INF"^^xsd:double .',
    )
    assert len(violated(reasoner)) == 1


def test_an_individual_among_literals_is_reported() -> None:
    report = lf.rules_from_owl(f"{PREFIXES} ex:p rdfs:range {DATATYPE.format('1 ex:i')} .")
    assert ["stands among literals" in gap.reason for gap in report.inexpressible] == [True]


def test_the_ready_rules_about_literals_go_with_an_ontology() -> None:
    axioms = "ex:p a owl:DatatypeProperty ; rdfs:range xsd:integer . ex:K owl:hasKey (ex:p) ."
    program = lf.rules_from_owl(PREFIXES + axioms).program
    reasoner = lf.Reasoner(rules=[program, "owl-datatypes"])
    reasoner.add(f'{PREFIXES} ex:x ex:p "abc"^^xsd:integer .')
    assert {violation.constraint for violation in reasoner.violations()} == {"dt-not-type"}
