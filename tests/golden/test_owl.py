"""Golden cases of OWL 2 RL: one file per rule of the standard, named after it.

A case is Turtle: the premises, then `# concludes` and what follows, or `# contradicts`.  After
`# but not from` come premises that are nearly those, and from which nothing of it follows;
where there are none, after `# nor`, what does not follow.  One reasoner takes all cases in turn,
so each also shows that the one before left nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple
from pyoxigraph import parse as parse_rdf
from tests.oracle.owl import (
    OWL,
    RDF,
    RDFS,
    XSD,
    Terms,
    Violation,
    contradictions,
    owl_closure,
)

import livefacts as lf
from livefacts.syntax.rule_sets import open_rules

HERE = Path(__file__).parent / "owl"
ALL_CASES = sorted(path.stem for path in HERE.glob("*.ttl"))
OF_LITERALS = ["dt-type2", "dt-eq", "dt-diff", "dt-not-type"]
CASES = [name for name in ALL_CASES if name not in ("eq-ref", *OF_LITERALS)]
COVERAGE = Path(__file__).parents[2] / "docs" / "owl-coverage.md"
NAMES = {"": "http://example.org/", "rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD}
PREFIXES = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in NAMES.items())
PLUMBING = {"l", "i", "j", "n"}
"""Variables of constraints that are about lists and numbers, not about what is wrong."""


def triples_of(turtle: str) -> list[Triple]:
    """Triples with IRIs for blank nodes, so that each can be added and removed alone."""
    quads = parse_rdf(PREFIXES + turtle, format=RdfFormat.TURTLE)
    return [Triple(_named(q.subject), q.predicate, _named(q.object)) for q in quads]


def _named(term: object) -> object:
    return NamedNode(f"http://cells.example/{term.value}") if isinstance(term, BlankNode) else term


def parts_of(name: str) -> dict[str, list[Triple]]:
    """The parts of a case by their titles; "" is that of the premises."""
    text = (HERE / f"{name}.ttl").read_text(encoding="utf-8")
    first, *others = re.split(r"^# (.+)\n", text, flags=re.MULTILINE)
    return {"": triples_of(first)} | {
        title: triples_of(part) for title, part in zip(others[::2], others[1::2], strict=True)
    }


def case_of(name: str) -> tuple[list[Triple], list[Triple] | None]:
    """The premises of a case, and its conclusions; None for a contradiction."""
    parts = parts_of(name)
    assert ("contradicts" in parts) != ("concludes" in parts)
    return parts[""], parts.get("concludes")


def terms(triple: Triple) -> Terms:
    return triple.subject, triple.predicate, triple.object


def expected(asserted: list[Triple]) -> tuple[set[Triple], set[Violation]]:
    """What the oracle sees: the triples that can be shown, and the contradictions."""
    closure = owl_closure(map(terms, asserted))
    return {
        Triple(*triple)
        for triple in closure
        if not isinstance(triple[0], Literal) and isinstance(triple[1], NamedNode)
    }, contradictions(closure)


def violated(reasoner: lf.Reasoner) -> set[Violation]:
    return {
        (v.constraint, tuple(sorted((n, t) for n, t in v.bindings.items() if n not in hidden(v))))
        for v in reasoner.violations()
    }


def hidden(violation: lf.Violation) -> set[str]:
    return PLUMBING - {"n"} if violation.constraint.startswith("prp-npa") else PLUMBING


@pytest.fixture(scope="module")
def reasoner() -> lf.Reasoner:
    return lf.Reasoner(rules="owl-rl")


@pytest.mark.parametrize("case", CASES)
def test_a_rule_concludes_from_its_premises_and_from_no_fewer(
    case: str, reasoner: lf.Reasoner
) -> None:
    premises, conclusions = case_of(case)
    nothing = set(reasoner)
    reasoner.add(premises)
    assert (set(reasoner), violated(reasoner)) == expected(premises)
    assert follows(reasoner, case, conclusions)
    for premise in premises:
        rest = [triple for triple in premises if triple != premise]
        reasoner.remove([premise])
        assert (set(reasoner), violated(reasoner)) == expected(rest)
        assert not follows(reasoner, case, conclusions)
        reasoner.add([premise])
        assert follows(reasoner, case, conclusions)
    reasoner.remove(premises)
    assert set(reasoner) == nothing
    assert not reasoner.violations()


@pytest.mark.parametrize("case", CASES + OF_LITERALS)
def test_a_rule_does_not_conclude_from_what_is_nearly_its_premises(
    case: str, reasoner: lf.Reasoner, literate: lf.Reasoner
) -> None:
    parts = parts_of(case)
    asked = literate if case in OF_LITERALS else reasoner
    asserted = parts[""] if "nor" in parts else parts["but not from"]
    asked.add(asserted)
    for triple in parts["nor"] if "nor" in parts else parts.get("concludes", []):
        assert triple not in asked
    assert asked.violations() == []
    asked.remove(asserted)


TWO_CELLS = """
    :l rdf:first :A ; rdf:rest :m .
    :m rdf:first :B ; rdf:rest rdf:nil .
    :m owl:sameAs :k .
"""
TWO_ENDS = """
    :l rdf:first :A ; rdf:rest :m , :k .
    :m rdf:first :B ; rdf:rest rdf:nil .
    :k rdf:first :C ; rdf:rest rdf:nil .
"""
CLASSES = ":z a owl:AllDisjointClasses ; owl:members :l . "
PROPERTIES = ":z a owl:AllDisjointProperties ; owl:members :l . "
THINGS = ":z a owl:AllDifferent ; owl:distinctMembers :l . "


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asserted", "wrong"),
    [
        (CLASSES + TWO_CELLS + ":x a :B .", ""),
        (CLASSES + TWO_CELLS + ":x a :A , :B .", "cax-adc"),
        (CLASSES + TWO_ENDS + ":x a :B , :C .", ""),
        (CLASSES + TWO_ENDS + ":x a :C , :A .", "cax-adc"),
        (CLASSES + ":l rdf:first :A ; rdf:rest :l , rdf:nil . :x a :A .", "cax-adc"),
        (CLASSES + ":l rdf:first :A ; rdf:rest :m , rdf:nil . :x a :A .", ""),
        (PROPERTIES + TWO_CELLS + ":x :B :y .", ""),
        (PROPERTIES + TWO_CELLS + ":x :B :y ; :A :y .", "prp-adp"),
        (PROPERTIES + TWO_ENDS + ":x :B :y ; :C :y .", ""),
        (THINGS + TWO_ENDS + ":B owl:sameAs :C .", ""),
        (THINGS + TWO_ENDS + ":A owl:sameAs :C .", "eq-diff3"),
        (THINGS.replace("distinctM", "m") + TWO_CELLS + ":A owl:sameAs :B .", "eq-diff2"),
    ],
)
@pytest.mark.parametrize("same_as", ["rules", "merge"])
def test_two_members_of_a_list_are_in_one_list_though_it_branches(
    asserted: str, wrong: str, same_as: str
) -> None:
    branching = lf.Reasoner(rules="owl-rl", same_as=same_as)
    branching.add(triples_of(asserted))
    assert (set(branching), violated(branching)) == expected(triples_of(asserted))
    assert {each.constraint for each in branching.violations()} == ({wrong} - {""})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('"u"^^:dt', '"v"^^:dt'),
        ('"u"^^xsd:token', '"v"^^xsd:token'),
        ("1", '"01"^^xsd:integer'),
        ("true", '"1"^^xsd:boolean'),
        ('"u"', '"v"'),
    ],
)
@pytest.mark.parametrize(
    "limit",
    [
        ":p a owl:FunctionalProperty .",
        ":R owl:maxCardinality 1 ; owl:onProperty :p . :x a :R .",
        ":R owl:maxQualifiedCardinality 1 ; owl:onProperty :p ; owl:onClass owl:Thing . :x a :R .",
        """:R owl:maxQualifiedCardinality 1 ; owl:onProperty :p ; owl:onClass :C . :x a :R .
            :p rdfs:range :C .""",
    ],
)
def test_two_terms_where_there_may_be_one_are_the_same_whatever_their_values(
    limit: str, one: str, other: str, reasoner: lf.Reasoner
) -> None:
    asserted = triples_of(f"{limit} :x :p {one}, {other} . :a :q {one} .")
    reasoner.add(asserted)
    assert (set(reasoner), violated(reasoner)) == expected(asserted)
    (conclusion,) = triples_of(f":a :q {other} .")
    assert conclusion in reasoner
    reasoner.remove(asserted)
    assert conclusion not in reasoner


def follows(reasoner: lf.Reasoner, case: str, conclusions: list[Triple] | None) -> bool:
    if conclusions is None:
        return case in {v.constraint.partition(".")[0] for v in reasoner.violations()}
    return all(triple in reasoner for triple in conclusions)


@pytest.fixture(scope="module")
def literate() -> lf.Reasoner:
    return lf.Reasoner(rules=["owl-rl", "owl-datatypes"])


@pytest.mark.parametrize("case", OF_LITERALS)
def test_a_rule_about_literals_concludes_from_its_premises_and_from_no_fewer(
    case: str, literate: lf.Reasoner
) -> None:
    premises, conclusions = case_of(case)
    nothing = set(literate)
    literate.add(premises)
    assert follows(literate, case, conclusions)
    assert literate.verify()
    for premise in premises:
        literate.remove([premise])
        assert not follows(literate, case, conclusions)
        literate.add([premise])
        assert follows(literate, case, conclusions)
    literate.remove(premises)
    assert set(literate) == nothing
    assert not literate.violations()


@pytest.mark.parametrize(
    ("literal", "wrong"),
    [
        ('"abc"^^xsd:integer', "dt-not-type"),
        ('"2026-02-30T00:00:00"^^xsd:dateTime', "dt-not-type"),
        ('"-1"^^xsd:integer', "dt-not-type.least"),
        ('"yes"', "dt-not-type.sort"),
        ('"7"^^xsd:byte', ""),
    ],
)
def test_a_literal_that_does_not_belong_where_it_is_contradicts(
    literal: str, wrong: str, literate: lf.Reasoner
) -> None:
    asserted = triples_of(f":p rdfs:range xsd:nonNegativeInteger . :x :p {literal} .")
    literate.add(asserted)
    found = {violation.constraint for violation in literate.violations()}
    literate.remove(asserted)
    assert found >= {wrong} if wrong else not found


OF_TWO_SORTS = {"dt-diff", "dt-not-type.sort"}


@pytest.mark.parametrize(
    ("literals", "wrong"),
    [
        ('"2026-01-01T00:00:00Z"^^xsd:dateTimeStamp', set()),
        ('"2026-01-01T00:00:00"^^xsd:dateTimeStamp', {"dt-not-type"}),
        ('"NaN"^^xsd:double', set()),
        ('"NaN"^^xsd:float', set()),
        ('"INF"^^xsd:double', set()),
        ('"nan"^^xsd:double', {"dt-not-type"}),
        ('"NaN"^^xsd:double, "1"^^xsd:double', {"dt-diff"}),
        ('"NaN"^^xsd:double, "NaN"^^xsd:float', OF_TWO_SORTS),
        ('1, "1"^^xsd:double', OF_TWO_SORTS),
        ('"1"^^xsd:float, "1"^^xsd:double', OF_TWO_SORTS),
        ('"1"^^xsd:float, "1.0E0"^^xsd:float', set()),
        ('"0"^^xsd:double, "-0"^^xsd:double', {"dt-diff"}),
        ('0.0, "-0"^^xsd:integer', set()),
        ('"a@en"^^rdf:PlainLiteral, "a"@EN', set()),
        ('"a@"^^rdf:PlainLiteral, "a", "a"^^xsd:token', set()),
        ('"a"@en, "a"', OF_TWO_SORTS),
        ('"a"@en, "a"@de', {"dt-diff"}),
        (
            '"2026-01-01T00:00:00Z"^^xsd:dateTime, "2026-01-01T01:00:00+01:00"^^xsd:dateTime',
            {"dt-diff"},
        ),
        (
            '"2025-12-31T24:00:00Z"^^xsd:dateTime, "2026-01-01T00:00:00.0Z"^^xsd:dateTimeStamp',
            set(),
        ),
        ('"0a"^^xsd:hexBinary, "0A"^^xsd:hexBinary', set()),
        ('"0a"^^xsd:hexBinary, "Cg=="^^xsd:base64Binary', OF_TWO_SORTS),
        ('"u"^^:dt, "v"^^:dt', set()),
    ],
)
def test_two_values_are_wrong_where_there_may_be_one(
    literals: str, wrong: set[str], literate: lf.Reasoner
) -> None:
    asserted = triples_of(f":p a owl:FunctionalProperty . :x :p {literals} .")
    literate.add(asserted)
    found = {violation.constraint for violation in literate.violations()}
    literate.remove(asserted)
    assert found == wrong


STRINGS = "xsd:string xsd:normalizedString rdf:PlainLiteral"
TOKENS = f"{STRINGS} xsd:token"
NAMES_OF_THINGS = f"{TOKENS} xsd:NMTOKEN xsd:Name xsd:NCName"
SMALL = "xsd:decimal xsd:integer xsd:long xsd:int xsd:short xsd:byte"
NATURAL = f"""{SMALL} xsd:nonNegativeInteger xsd:positiveInteger
    xsd:unsignedLong xsd:unsignedInt xsd:unsignedShort xsd:unsignedByte"""
MEMBERSHIPS = {
    "1": NATURAL,
    "1.0": NATURAL,
    "0": NATURAL.replace("positive", "nonPositive"),
    "-1": f"{SMALL} xsd:nonPositiveInteger xsd:negativeInteger",
    "1.5": "xsd:decimal",
    '"1"^^xsd:float': "xsd:float",
    '"-INF"^^xsd:double': "xsd:double",
    "true": "xsd:boolean",
    '"five"@en': "rdf:langString rdf:PlainLiteral",
    '"a@de"^^rdf:PlainLiteral': "rdf:langString rdf:PlainLiteral",
    '"two\\tcolumns"': "xsd:string rdf:PlainLiteral",
    '" two words"': STRINGS,
    '"two words"^^xsd:string': TOKENS,
    '"en-GB"^^xsd:token': f"{NAMES_OF_THINGS} xsd:language",
    '"no_tag"': NAMES_OF_THINGS,
    '"ex:Name"': NAMES_OF_THINGS.replace("xsd:NCName", ""),
    '"12-b"': f"{TOKENS} xsd:NMTOKEN",
    '"2026-01-01T00:00:00"^^xsd:dateTime': "xsd:dateTime",
    '"2026-01-01T00:00:00Z"^^xsd:dateTime': "xsd:dateTime xsd:dateTimeStamp",
    '"2026-01-01T00:00:00+01:00"^^xsd:dateTimeStamp': "xsd:dateTime xsd:dateTimeStamp",
    '"0a"^^xsd:hexBinary': "xsd:hexBinary",
    '"Cg=="^^xsd:base64Binary': "xsd:base64Binary",
    '"http://example.org/"^^xsd:anyURI': "xsd:anyURI",
}
"""Literals, and the datatypes whose values they are."""


def test_a_literal_is_in_every_datatype_that_has_its_value_and_contradicts_the_others(
    literate: lf.Reasoner,
) -> None:
    datatypes = sorted({each for listed in MEMBERSHIPS.values() for each in listed.split()})
    asserted = triples_of(
        "".join(
            f":D{number} owl:someValuesFrom {datatype} ; owl:onProperty :p . "
            for number, datatype in enumerate(datatypes)
        )
        + "".join(f":x{number} :p {literal} . " for number, literal in enumerate(MEMBERSHIPS))
    )
    literate.add(asserted)
    for number, listed in enumerate(MEMBERSHIPS.values()):
        for other, datatype in enumerate(datatypes):
            (member,) = triples_of(f":x{number} a :D{other} .")
            assert (member in literate) == (datatype in listed.split()), (number, datatype)
    assert not literate.violations()
    ranged = triples_of("".join(f":p rdfs:range {datatype} ." for datatype in datatypes))
    literate.add(ranged)
    found = {(v.bindings["l"], v.bindings["e"]) for v in literate.violations()}
    literate.remove(ranged + asserted)
    assert found == {
        (literal_of(literal), triples_of(f":x a {datatype} .")[0].object)
        for literal, listed in MEMBERSHIPS.items()
        for datatype in datatypes
        if datatype not in listed.split()
    }


def literal_of(text: str) -> object:
    return triples_of(f":x :p {text} .")[0].object


@pytest.mark.parametrize(
    "literal",
    [
        '"two  spaces"^^xsd:token',
        '"a:b"^^xsd:NCName',
        '"no tag"^^xsd:language',
        '"no at"^^rdf:PlainLiteral',
        '"0"^^xsd:hexBinary',
        '"a"^^xsd:base64Binary',
        '"300"^^xsd:byte',
    ],
)
def test_what_a_datatype_does_not_write_contradicts(literal: str, literate: lf.Reasoner) -> None:
    asserted = triples_of(f":x :p {literal} .")
    literate.add(asserted)
    found = {violation.constraint for violation in literate.violations()}
    literate.remove(asserted)
    assert found == {"dt-not-type"}


def test_literals_of_one_value_are_the_same(literate: lf.Reasoner) -> None:
    asserted = triples_of("""
        :u :at "2020-01-01T00:00:00.0Z"^^xsd:dateTime . :v :q "2019-12-31T24:00:00Z"^^xsd:dateTime .
        :u :zero "0"^^xsd:double . :v :q "-0"^^xsd:double .
    """)
    literate.add(asserted)
    at, zero = triples_of("""
        :u :at "2019-12-31T24:00:00Z"^^xsd:dateTime . :u :zero "-0"^^xsd:double .
    """)
    assert at in literate
    assert zero not in literate
    literate.remove(asserted)


def test_everything_is_the_same_as_itself_when_asked() -> None:
    premises, conclusions = case_of("eq-ref")
    asked, plain = lf.Reasoner(rules=["owl-rl", "owl-eq-ref"]), lf.Reasoner(rules="owl-rl")
    for reasoner in (asked, plain):
        reasoner.add(premises)
    assert follows(asked, "eq-ref", conclusions)
    assert not any(triple in plain for triple in conclusions or [])
    assert not any(triple in asked for triple in parts_of("eq-ref")["nor"])


def test_the_coverage_page_names_every_case_and_every_constraint() -> None:
    page = COVERAGE.read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| ([a-z]+-[a-z0-9-]+) \| (.+?) \|", page, re.MULTILINE))
    assert len(listed) == 78
    assert set(listed) == set(ALL_CASES)
    rules = open_rules(["owl-rl", "owl-datatypes"])
    constraints = {rule.id.partition(".")[0] for rule in rules if rule.is_constraint}
    assert {name for name, state in listed.items() if "a constraint" in state} == constraints


def test_every_rule_of_the_set_has_a_case() -> None:
    names = {rule.id.partition(".")[0] for rule in open_rules("owl-rl")}
    assert names - {"list"} == set(CASES)
