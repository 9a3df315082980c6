"""The W3C tests of the syntax of SPARQL 1.0 and 1.1, queries and updates.

Updates of evaluation tests are right, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from pyoxigraph import Store

from livefacts.errors import QueryError
from livefacts.syntax.sparql.query_reader import parse_query, parse_update
from livefacts.syntax.sparql.query_text import without_code_point_escapes

SPARQL = "w3c-rdf-tests/sparql"
TESTS = 353
KNOWN_DIFFERENCES = {
    "sparql10/syntax-sparql3/syn-bad-26.rq": "?x<?a&&?b>?y compares: no IRI can stand there",
}
"""The file of a test -> why it is read otherwise; a test that is listed and passes fails."""
ENTRIES = """
    PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
    PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
    PREFIX ut: <http://www.w3.org/2009/sparql/tests/test-update#>
    SELECT DISTINCT ?kind ?action {
      ?manifest mf:entries/rdf:rest*/rdf:first ?entry . ?entry a ?kind ; mf:action ?given .
      OPTIONAL { ?given ut:request ?request }
      BIND(COALESCE(?request, ?given) AS ?action)
      FILTER(REGEX(STR(?kind), "SyntaxTest|UpdateEvaluationTest")) }
    """


class SyntaxExample(NamedTuple):
    """A text, and whether it is right."""

    text: Path
    is_right: bool


@cache
def examples() -> dict[str, SyntaxExample]:
    """All tests of syntax; none where the third-party data is not there."""
    root = Path(os.environ.get("LIVEFACTS_TEST_DATA", "")) / SPARQL
    found = (each for path in sorted(root.glob("sparql1?/*/manifest.ttl")) for each in _read(path))
    return {str(each.text.relative_to(root)): each for each in found}


def _read(manifest: Path) -> Iterator[SyntaxExample]:
    store = Store()
    store.load(path=str(manifest), base_iri="http://w3c.test/manifest.ttl")
    for kind, action in store.query(ENTRIES):  # type: ignore[union-attr, misc]
        text = manifest.parent / action.value.removeprefix("http://w3c.test/")
        yield SyntaxExample(text, "#Negative" not in kind.value)


def is_read(test: SyntaxExample) -> bool:
    try:
        text = test.text.read_text(encoding="utf-8")
        if test.text.suffix == ".ru":
            parse_update(text, {})
        else:
            parse_query(without_code_point_escapes(text), {}, "http://w3c.test/")
    except QueryError:
        return False
    return True


@pytest.mark.parametrize("name", sorted(examples()) or ["no data"])
def test_what_is_right_is_read_and_nothing_else(name: str, third_party_data: Path) -> None:
    test = examples()[name]
    differs = is_read(test) != test.is_right
    assert differs == (name in KNOWN_DIFFERENCES)


def test_all_tests_are_there(third_party_data: Path) -> None:
    assert len(examples()) == TESTS
    assert examples().keys() >= KNOWN_DIFFERENCES.keys()
