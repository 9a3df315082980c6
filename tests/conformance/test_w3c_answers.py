"""The W3C tests of SPARQL queries, asked of one version of the facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyoxigraph import NamedNode, Quad
from tests.conformance.test_w3c_queries import expected, quads_of, queries, shown

from livefacts.errors import QueryError
from livefacts.service.queries.fact_versions import FactVersion
from livefacts.service.queries.question import QueryOptions, ask
from livefacts.service.queries.results import Answer, QueryResult
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.versions.snapshots import GraphSnapshots, of_rows

KNOWN_FAILURES = {
    "sparql10/open-world/date-2": "dates with and without a zone are told apart",
}
"""The folder and name of a test -> why it fails; a test that is listed and passes fails."""


def version_of(quads: Iterable[Quad]) -> FactVersion:
    """A version in which these quads are all there is."""
    dictionary, graphs = Dictionary(), {}
    for quad in quads:
        name = quad.graph_name if isinstance(quad.graph_name, NamedNode) else None
        graphs.setdefault(name, []).append(quad.triple)
    found = {name: of_rows(dictionary.encode_triples(triples)) for name, triples in graphs.items()}
    everything = found.pop(None, of_rows(np.zeros((0, 3), np.int32)))
    named = {dictionary.encode_one(name): snapshot for name, snapshot in found.items()}
    return FactVersion(GraphSnapshots(everything, named), dictionary.reader())


def answers(result: QueryResult) -> tuple[tuple[str, ...], Counter[Any]]:
    """The variables of a result, and its rows as a bag."""
    if isinstance(result, Answer):
        return (), Counter([()] if result else [])
    return result.variables, Counter(tuple(map(shown, row)) for row in result)


@pytest.mark.parametrize("name", sorted(queries()) or ["no data"])
def test_a_query_answers_as_the_w3c_says(name: str, third_party_data: Path) -> None:
    test = queries()[name]
    text = test.query.read_text(encoding="utf-8")
    version = version_of(quads_of(test))
    try:
        variables, found = answers(ask(text, {}, version, QueryOptions(base=test.base)))
        is_right = found == expected(test, variables)
    except QueryError:
        is_right = False
    if name in KNOWN_FAILURES:
        assert not is_right
        pytest.xfail(KNOWN_FAILURES[name])
    assert is_right
