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
from livefacts.syntax.rulefile import open_rules

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


def expected(told: list[Triple]) -> tuple[set[Triple], set[Violation]]:
    """What the oracle sees: the triples that can be shown, and the contradictions."""
    closure = owl_closure(map(terms, told))
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
    told = parts[""] if "nor" in parts else parts["but not from"]
    asked.add(told)
    for triple in parts["nor"] if "nor" in parts else parts.get("concludes", []):
        assert triple not in asked
    assert asked.violations() == []
    asked.remove(told)


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
    told = triples_of(f":p rdfs:range xsd:nonNegativeInteger . :x :p {literal} .")
    literate.add(told)
    found = {violation.constraint for violation in literate.violations()}
    literate.remove(told)
    assert found >= {wrong} if wrong else not found


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
    ],
)
def test_moments_with_a_zone_and_what_is_no_number_are_values(
    literals: str, wrong: set[str], literate: lf.Reasoner
) -> None:
    told = triples_of(f":p a owl:FunctionalProperty . :x :p {literals} .")
    literate.add(told)
    found = {violation.constraint for violation in literate.violations()}
    literate.remove(told)
    assert found == wrong


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
