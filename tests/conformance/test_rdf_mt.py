"""The W3C tests of RDF 1.1 Semantics (rdf-mt): entailment and consistency.

A graph is closed under the ready rules `rdfs-axioms` (for the RDF regime under those of
its rules and axioms that are RDF's, for simple entailment under none), with the datatypes
recognized that the test names; then the conclusion must be simply entailed, or not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, QuerySolutions, RdfFormat, Store, Triple
from pyoxigraph import parse as parse_rdf
from tests.conformance.entailment import closure_of, simply_entails, terms_of

from livefacts.language.program import Program
from livefacts.model.facts import Fact
from livefacts.syntax.rule_sets import open_rules

SUITE = "w3c-rdf-tests/rdf/rdf11/rdf-mt"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
ALWAYS_RECOGNIZED = (NamedNode(RDF + "langString"), NamedNode(XSD + "string"))
RDF_RULES = ("rdfD1", "rdfD1-literals", "rdfD2")
DATATYPE_RULES = Path(__file__).parent / "datatypes.rules"

KNOWN_FAILURES = {
    "rdfs-entailment-test001": "rdf:XMLLiteral is optional in RDF 1.1, and not recognized here",
}


@dataclass(frozen=True, slots=True)
class Entailment:
    """One entry of the manifest; `result` is None where the graph must be inconsistent."""

    name: str
    is_positive: bool
    regime: str
    recognized: tuple[NamedNode, ...]
    action: Path
    result: Path | None


ENTRIES = """
    PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
    PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
    SELECT ?entry ?name ?kind ?regime ?action ?result {
      ?manifest mf:entries/rdf:rest*/rdf:first ?entry .
      ?entry mf:name ?name ; a ?kind ; mf:entailmentRegime ?regime ;
             mf:action ?action ; mf:result ?result }
    """
RECOGNIZED = """
    PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
    PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
    SELECT ?type { ENTRY mf:recognizedDatatypes/rdf:rest*/rdf:first ?type }
    """


def entailments() -> dict[str, Entailment]:
    """The tests of the suite by name; none where there is no third-party data."""
    folder = Path(os.environ.get("LIVEFACTS_TEST_DATA", "")) / SUITE
    manifest = folder / "manifest.ttl"
    if not manifest.is_file():
        return {}
    store = Store()
    store.load(path=manifest, format=RdfFormat.TURTLE, base_iri=folder.as_uri() + "/")
    return {entry.name: entry for entry in sorted(_entries(store), key=lambda e: e.name)}


def _entries(store: Store) -> Iterator[Entailment]:
    for row in _asked(store, ENTRIES):
        types = _asked(store, RECOGNIZED.replace("ENTRY", str(row["entry"])))
        result = row["result"]
        yield Entailment(
            row["name"].value,
            row["kind"].value.endswith("PositiveEntailmentTest"),
            row["regime"].value,
            tuple(found["type"] for found in types),
            _path(row["action"]),
            None if isinstance(result, Literal) else _path(result),
        )


def _asked(store: Store, query: str) -> QuerySolutions:
    found = store.query(query)
    assert isinstance(found, QuerySolutions)
    return found


def _path(iri: NamedNode) -> Path:
    return Path(iri.value.removeprefix("file://"))


TESTS = entailments()


def program_of(test: Entailment) -> Program:
    """The ready rules of the regime, with the datatypes that the test recognizes."""
    if test.regime == "simple":
        return Program()
    ready = open_rules(["rdfs-axioms", DATATYPE_RULES])
    if test.regime == "RDF":
        ready = _only_rdf(ready)
    recognized = {Fact("_recognized", (t,)) for t in (*ALWAYS_RECOGNIZED, *test.recognized)}
    others = (f for f in ready.facts if not (isinstance(f, Fact) and f.name == "_recognized"))
    return replace(ready, facts=(*others, *recognized))


def _only_rdf(program: Program) -> Program:
    """Without what is RDF Schema's: its rules, and every axiom that speaks of it."""
    schema = "http://www.w3.org/2000/01/rdf-schema#"
    rules = (r for r in program if r.id in RDF_RULES or not r.id.startswith("rdfs"))
    facts = (f for f in program.facts if schema not in str(f))
    return replace(program, rules=tuple(rules), facts=tuple(facts))


def read(path: Path) -> list[Triple]:
    base = "http://www.w3.org/2013/rdf-mt-tests/"
    return [quad.triple for quad in parse_rdf(path=path, base_iri=base)]


def holds(test: Entailment) -> bool:
    """Whether the conclusion follows, or, where there is none, the graph is inconsistent."""
    conclusion = [] if test.result is None else terms_of(read(test.result))
    asked = [Fact("_asked", (o,)) for _, _, o in conclusion if isinstance(o, Literal)]
    closure = closure_of(program_of(test), [*read(test.action), *asked])
    if test.result is None or not closure.is_consistent:
        return not closure.is_consistent
    return simply_entails(closure.triples, conclusion)


@pytest.mark.parametrize("name", TESTS or ["no data"])
def test_rdf_semantics(name: str, third_party_data: Path) -> None:
    test = TESTS[name]
    agrees = holds(test) == test.is_positive
    if name in KNOWN_FAILURES:
        assert not agrees, f"{name} passes now: take it off the list"
        pytest.xfail(KNOWN_FAILURES[name])
    assert agrees, f"{test.regime}: {'must' if test.is_positive else 'must not'} hold"


def test_the_suite_is_whole(third_party_data: Path) -> None:
    assert len(TESTS) == 48
    assert KNOWN_FAILURES.keys() <= TESTS.keys()
