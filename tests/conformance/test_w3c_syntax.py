"""The W3C tests of RDF 1.1 N-Triples and Turtle, through the road that files take.

A positive test must be read without a reject, a negative one must have one.  The result
of an evaluation test must be the expected graph, up to the labels of blank nodes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyoxigraph import CanonicalizationAlgorithm, Dataset, NamedNode, Quad, RdfFormat, Store
from pyoxigraph import parse as parse_rdf

from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.input.rejects import Rejects
from livefacts.syntax.rdf.documents import read_rows

SUITES = {
    "rdf-n-triples": "w3c-rdf-tests/rdf/rdf11/rdf-n-triples",
    "rdf-turtle": "w3c-rdf-tests/rdf/rdf11/rdf-turtle",
}
SIZES = {"rdf-n-triples": 70, "rdf-turtle": 313}

KNOWN_FAILURES: dict[str, str] = {}
"""Suite and name of a test -> why it fails; a test that is listed and passes fails."""


@dataclass(frozen=True, slots=True)
class SyntaxTest:
    """One entry of a manifest."""

    name: str
    kind: str
    action: Path
    result: Path | None
    base: str


ENTRIES = """
    PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
    PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
    SELECT ?name ?kind ?action ?result ?base {
      ?manifest mf:entries/rdf:rest*/rdf:first ?entry .
      ?entry mf:name ?name ; a ?kind ; mf:action ?action .
      OPTIONAL { ?manifest mf:assumedTestBase ?base }
      OPTIONAL { ?entry mf:result ?result } }
    """


def entries(suite: str) -> Iterator[SyntaxTest]:
    """The tests of a suite; none where the third-party data is not there."""
    folder = Path(os.environ.get("LIVEFACTS_TEST_DATA", "")) / SUITES[suite]
    if not (folder / "manifest.ttl").exists():
        return
    store = Store()
    store.load(path=str(folder / "manifest.ttl"), base_iri="test:/manifest.ttl")
    for row in store.query(ENTRIES):  # type: ignore[union-attr]
        name, kind, action, result, base = row  # type: ignore[misc]
        file = action.value.removeprefix("test:/")
        yield SyntaxTest(
            name=name.value,
            kind=kind.value.partition("#")[2],
            action=folder / file,
            result=folder / result.value.removeprefix("test:/") if result else None,
            base=(base.value if base else "test:/") + file,
        )


def triples_of(test: SyntaxTest) -> tuple[Dataset, Rejects]:
    dictionary, rejects, found = Dictionary(), Rejects(), Dataset()
    for batch in read_rows(test.action, dictionary, base=test.base, scope=b"f1", rejects=rejects):
        for row in batch.rows:
            found.add(Quad(*dictionary.decode(row)))  # type: ignore[arg-type]
    return canonical(found), rejects


def canonical(dataset: Dataset) -> Dataset:
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return dataset


def passes(test: SyntaxTest) -> bool:
    """Whether the test comes out as the W3C says."""
    found, rejects = triples_of(test)
    if test.kind.endswith("NegativeSyntax"):
        return rejects.count > 0
    if test.result is None:
        return rejects.count == 0
    expected = parse_rdf(path=str(test.result), format=RdfFormat.N_TRIPLES)
    return rejects.count == 0 and found == canonical(Dataset(expected))


@pytest.mark.parametrize("suite", SUITES)
def test_the_whole_suite_is_there(suite: str, third_party_data: Path) -> None:
    assert (third_party_data / SUITES[suite]).is_dir()
    assert len(list(entries(suite))) == SIZES[suite]


TESTS = {f"{suite}-{test.name}": test for suite in SUITES for test in entries(suite)}


@pytest.mark.parametrize("name", sorted(TESTS) or ["no data"])
def test_a_document_is_read_as_the_w3c_says(name: str, third_party_data: Path) -> None:
    agrees = passes(TESTS[name])
    if name in KNOWN_FAILURES:
        assert not agrees, f"{name} passes now: take it off the list"
        pytest.xfail(KNOWN_FAILURES[name])
    assert agrees


def test_every_known_failure_is_the_name_of_a_test(third_party_data: Path) -> None:
    assert TESTS.keys() >= KNOWN_FAILURES.keys()


def test_graphs_that_differ_are_told_apart() -> None:
    p = NamedNode("a:p")
    one = Dataset([Quad(NamedNode("a:a"), p, NamedNode("a:b"))])
    other = Dataset([Quad(NamedNode("a:a"), p, NamedNode("a:c"))])
    assert canonical(one) != canonical(other)
