"""Jena's tests of its RDFS and transitive reasoners: queries with their exact answers.

A test closes a T-box and data under `rdfs-axioms` (for the transitive reasoner under the
two rules of transitivity) and asks for the triples that match some patterns.  Jena's
axioms are those of 2004, and its list of datatypes is another one.  So, of what is said
about terms of RDF, RDF Schema and XML Schema themselves, ours may have more, and may lack
only datatypes; about everything else both must agree.  The files use entities, which the
reader of livefacts refuses: they are read by pyoxigraph and added as objects.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, RdfFormat, Triple
from pyoxigraph import parse as parse_rdf
from tests.conformance.entailment import Terms, closure_of, terms_of

from livefacts.language.program import Program
from livefacts.model.facts import Term
from livefacts.syntax.rule_sets import open_rules

SUITE = "jena-rdfs"
TESTER = "http://www.hpl.hp.com/semweb/2003/query_tester#"
W3C = "http://www.w3.org/"
XML_LITERAL = "http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral"
XML_SCHEMA = "http://www.w3.org/2001/XMLSchema#"
TRANSITIVE_REASONER = """
    [?p, rdfs:subPropertyOf, ?r] :- [?p, rdfs:subPropertyOf, ?q], [?q, rdfs:subPropertyOf, ?r] .
    [?c, rdfs:subClassOf, ?e] :- [?c, rdfs:subClassOf, ?d], [?d, rdfs:subClassOf, ?e] .
    [?s, ?q, ?o] :- [?p, rdfs:subPropertyOf, ?q], [?s, ?p, ?o] .
    [?p, rdfs:subPropertyOf, ?p] :- [?p, rdfs:subPropertyOf, ?q] .
    [?q, rdfs:subPropertyOf, ?q] :- [?p, rdfs:subPropertyOf, ?q] .
    [?c, rdfs:subClassOf, ?c] :- [?c, rdfs:subClassOf, ?d] .
    [?d, rdfs:subClassOf, ?d] :- [?c, rdfs:subClassOf, ?d] .
    """
MANIFESTS = {
    "rdfs/manifest-standard.rdf": "rdfs-axioms",
    "rdfs/manifest-nodirect.rdf": "rdfs-axioms",
    "rdfs/manifest-nodirect-noresource.rdf": "rdfs-axioms",
    "rdfs/manifest-rdfs12.rdf": "rdfs-axioms",
    "rdfs/manifest-simple.rdf": "rho-df",
    "transitive/manifest.rdf": TRANSITIVE_REASONER,
}
NO_PROPERTIES = "this configuration of Jena does not conclude that predicates are properties"
KNOWN_FAILURES = {
    "rdfs/manifest-standard#test11": NO_PROPERTIES,
    "rdfs/manifest-standard#test12": NO_PROPERTIES,
    "rdfs/manifest-standard#test13": NO_PROPERTIES,
    "rdfs/manifest-nodirect-noresource#test11": NO_PROPERTIES,
    "rdfs/manifest-nodirect-noresource#test12": NO_PROPERTIES,
    "rdfs/manifest-nodirect-noresource#test13": NO_PROPERTIES,
    "rdfs/manifest-rdfs12#test1": "a rule that was proposed and did not become part of RDF Schema",
}


@dataclass(frozen=True, slots=True)
class Question:
    """One entry of a manifest."""

    rules: str
    asserted: tuple[Path, ...]
    patterns: Path
    answer: Path


def questions() -> dict[str, Question]:
    """The tests by name; none where there is no third-party data."""
    folder = Path(os.environ.get("LIVEFACTS_TEST_DATA", "")) / SUITE
    return {
        name: question
        for manifest, rules in MANIFESTS.items()
        if (folder / manifest).is_file()
        for name, question in _entries(folder, manifest, rules)
    }


def _entries(folder: Path, manifest: str, rules: str) -> Iterator[tuple[str, Question]]:
    said: dict[str, dict[str, list[str]]] = {}
    for triple in read(folder / manifest):
        if isinstance(triple.object, Literal):
            key = triple.predicate.value.removeprefix(TESTER)
            said.setdefault(str(triple.subject), {}).setdefault(key, []).append(triple.object.value)
    for subject, parts in said.items():
        name = f"{manifest.removesuffix('.rdf')}#{subject.strip('<>').rpartition('/')[2]}"
        asserted = tuple(folder / file for key in ("tbox", "data") for file in parts.get(key, ()))
        yield (
            name,
            Question(rules, asserted, folder / parts["query"][0], folder / parts["result"][0]),
        )


def read(path: Path) -> list[Triple]:
    """The triples of a file; pyoxigraph wants entities in double quotes."""
    text = re.sub(r"(<!ENTITY\s+\w+\s+)'([^']*)'", r'\1"\2"', path.read_text())
    format = RdfFormat.from_extension(path.suffix[1:])
    quads = parse_rdf(text, format=format, base_iri="http://example.org/tests/")
    return [quad.triple for quad in quads]


TESTS = questions()


def answers(question: Question) -> set[Terms]:
    """What the closure has for the patterns; each is asked alone, as Jena does."""
    program: Program = open_rules(question.rules)
    closure = closure_of(program, [t for file in question.asserted for t in read(file)])
    visible = [t for t in closure.triples if not isinstance(t[0], Literal)]
    patterns = terms_of(read(question.patterns))
    return {t for t in visible if any(_matches(pattern, t) for pattern in patterns)}


def _matches(pattern: Terms, triple: Terms) -> bool:
    pairs = zip(pattern, triple, strict=True)
    return all(wanted == found or str(wanted).startswith("<var:") for wanted, found in pairs)


def agree(found: set[Terms], expected: set[Terms]) -> bool:
    lacking = {t for t in expected - found if not _is_datatype(t[0])}
    extra = {t for t in found - expected if not str(t[0]).startswith("<" + W3C)}
    return not lacking and not extra


def _is_datatype(term: Term) -> bool:
    if not isinstance(term, NamedNode):
        return False
    return term.value.startswith(XML_SCHEMA) or term.value == XML_LITERAL


@pytest.mark.parametrize("name", TESTS or ["no data"])
def test_jena_concludes_the_same(name: str, third_party_data: Path) -> None:
    question = TESTS[name]
    expected = set(terms_of(read(question.answer)))
    found = answers(question)
    if name in KNOWN_FAILURES:
        assert not agree(found, expected), f"{name} passes now: take it off the list"
        pytest.xfail(KNOWN_FAILURES[name])
    assert agree(found, expected), f"{found ^ expected}"


def test_the_suite_is_whole(third_party_data: Path) -> None:
    assert len(TESTS) == 68
    assert KNOWN_FAILURES.keys() <= TESTS.keys()
