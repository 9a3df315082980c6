"""A pipeline answers SPARQL as the embedded engine does over the same tables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import livefacts as lf
from livefacts.errors import QueryError
from livefacts.service.queries.results import Answer, Rows
from livefacts.spark import Pipeline
from livefacts.store.terms.id_reader import text_of

PREFIX = "PREFIX e: <http://e/> "
FACTS = """
@prefix e: <http://e/> .  @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
e:a e:knows e:b . e:b e:knows e:c . e:c e:knows e:a . e:c e:knows e:d .
e:a e:age 7 . e:b e:age 9 . e:c e:age 7.5 .
e:d e:name "Dan"@en . e:a e:name "Ann" . e:A e:name "caps" .
e:b e:likes "x", 10, true .
e:Writer rdfs:subClassOf e:Person . e:a a e:Writer .
GRAPH e:g1 { e:a e:in e:x . e:b e:in e:y . } GRAPH e:g2 { e:a e:in e:z . }
"""

QUERIES = [
    "SELECT * { ?x e:knows ?y . ?y e:knows ?z }",
    "SELECT ?x ?X { ?x e:knows ?X }",
    "SELECT ?x ?n { ?x e:knows ?y OPTIONAL { ?y e:name ?n } }",
    "SELECT ?x ?n { ?x e:knows ?y OPTIONAL { ?x e:age ?n FILTER(?n > 8) } }",
    "SELECT ?x ?z { ?x e:age ?v OPTIONAL { ?x e:zip ?z } OPTIONAL { ?y e:name ?z } }",
    "SELECT ?x (?v + 1 AS ?w) { ?x e:age ?v FILTER(?v > 6 && ?v != 7.5) }",
    "SELECT ?x ?w { ?x e:age ?v BIND(?v + 2 AS ?w) ?y e:age ?w }",
    "SELECT ?x { ?x e:age ?v } ORDER BY DESC(?v) ?x LIMIT 2",
    "SELECT ?v { { ?x e:age ?v } UNION { ?x e:name ?v } UNION { ?x e:likes ?v } } ORDER BY ?v",
    "SELECT DISTINCT ?k { ?x e:age ?v BIND(?v > 7 AS ?k) } ORDER BY ?v",
    "SELECT ?c (COUNT(*) AS ?n) { ?x a ?c } GROUP BY ?c ORDER BY ?n ?c",
    "SELECT (SUM(?v) AS ?s) (AVG(?v) AS ?a) (MAX(?v) AS ?m) (COUNT(DISTINCT ?v) AS ?n) { ?x e:age ?v }",
    "SELECT (SUM(?v) AS ?s) (COUNT(*) AS ?n) { ?x e:nothing ?v }",
    "SELECT ?x (GROUP_CONCAT(?l; SEPARATOR=',') AS ?t) { ?x e:likes ?v BIND(STR(?v) AS ?l) } GROUP BY ?x",
    "SELECT ?k (SUM(?v) AS ?n) { ?x e:age ?v } GROUP BY (?v * 2 AS ?k) HAVING (SUM(?v) > 7) ORDER BY ?k",
    "SELECT ?k (SUM(?k) AS ?n) (MIN(?x) AS ?m) { ?x e:age ?v BIND(?v > 8 AS ?w) BIND(1 AS ?k) } GROUP BY ?k ?w",
    "SELECT ?none (COUNT(*) AS ?n) { ?x e:nothing ?v } GROUP BY ?none",
    "SELECT ?none (COUNT(*) AS ?n) (SUM(?v) AS ?s) { ?x e:age ?v } GROUP BY ?none",
    "SELECT ?x { ?x e:age ?v { SELECT (MAX(?q) AS ?v) { ?z e:age ?q } } }",
    "ASK { e:a e:knows e:b }",
    "ASK { e:a e:knows e:zzz }",
    "CONSTRUCT { ?y e:knownBy ?x . ?x ?v ?y } { ?x e:knows ?y OPTIONAL { ?x e:age ?v } }",
    "SELECT ?y { e:a e:knows+ ?y }",
    "SELECT ?x { ?x e:knows+ e:d }",
    "SELECT ?x ?y { ?x e:knows* ?y }",
    "SELECT ?x { e:zzz e:knows* ?x }",
    "SELECT ?x { ?x e:knows? 'never said' }",
    "SELECT ?x ?y { GRAPH e:nowhere { } ?x e:knows ?y }",
    "SELECT ?x { GRAPH e:nowhere { VALUES ?x { 1 } } }",
    "SELECT ?x { GRAPH e:nowhere { e:a e:in* ?x } }",
    "SELECT ?x { GRAPH e:g1 { VALUES ?x { 1 } } }",
    "SELECT ?x ?y { ?x (e:knows|e:likes)/e:knows? ?y }",
    "SELECT ?x ?y { ?x !(e:knows|a) ?y . ?y ^e:knows ?z }",
    "SELECT ?x { ?x e:knows ?y MINUS { ?y e:name ?n } MINUS { ?q e:name 'Ann' } }",
    "SELECT ?x { ?x e:age ?a FILTER NOT EXISTS { ?x e:name ?n } }",
    "SELECT ?x ?y { ?x e:age ?a . ?y e:age ?b FILTER EXISTS { ?y e:age ?c FILTER(?c > ?a) } }",
    "SELECT ?x (IF(EXISTS { ?x e:name ?n }, 1, 2) AS ?z) { ?x e:age ?v }",
    "SELECT ?g ?x { GRAPH ?g { ?x e:in ?y FILTER(?y != e:z) } }",
    "SELECT ?x ?y { GRAPH ?x { ?x (e:in|e:of)* ?y } }",
    "SELECT ?x ?y { GRAPH e:g1 { ?x e:in ?y } }",
    "SELECT ?x ?y FROM e:g2 { ?x e:in ?y }",
    "SELECT ?x ?z { VALUES (?x ?z) { (e:a 1) (UNDEF 2) (e:q 3) } ?x e:age ?v }",
    "SELECT ?x (1 AS ?one) {}",
]
REFUSED = {
    "SELECT (RAND() AS ?r) {}": "RAND",
    "DESCRIBE e:a": "DESCRIBE",
    "SELECT ?x FROM e:nowhere { ?x ?y ?z }": "nowhere",
    "SELECT ?x { GRAPH ?g { { SELECT ?x { ?x e:in ?y } LIMIT 1 } } }": "GRAPH",
}


@pytest.fixture(scope="module")
def pair(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Pipeline, lf.Reasoner]:
    """One knowledge base, and both engines on it."""
    folder = tmp_path_factory.mktemp("answers")
    (folder / "facts.trig").write_text(FACTS, "utf-8")
    pipeline = Pipeline(spark, folder / "kb", buckets=2)
    pipeline.ingest(folder / "facts.trig")
    pipeline.materialize("rdfs")
    return pipeline, lf.Reasoner.open(Path(folder / "kb"), read_only=True)


def rows_of(result: Any) -> list[tuple[str | bool | None, ...]]:
    """The rows of the embedded engine, as Spark has them."""
    if isinstance(result, Answer):
        return [(result.value,)]
    if isinstance(result, Rows):
        return [tuple(None if t is None else text_of(t) for t in row) for row in result]
    return [tuple(map(text_of, (t.subject, t.predicate, t.object))) for t in result]


@pytest.mark.parametrize("text", QUERIES)
def test_a_query_has_the_answers_of_the_embedded_engine(
    pair: tuple[Pipeline, lf.Reasoner], text: str
) -> None:
    pipeline, reasoner = pair
    found = [tuple(row) for row in pipeline.query(PREFIX + text).collect()]
    expected = rows_of(reasoner.query(PREFIX + text))
    if "ORDER BY" in text:
        assert found == expected
    else:
        assert Counter(found) == Counter(expected)


def test_columns_are_the_variables_in_their_order(pair: tuple[Pipeline, lf.Reasoner]) -> None:
    frame = pair[0].query("SELECT ?why ?X ?x { ?x <http://e/age> ?why }")
    assert frame.columns == ["why", "X", "x"]


def test_blank_nodes_of_construct_are_new_for_each_row(pair: tuple[Pipeline, lf.Reasoner]) -> None:
    text = PREFIX + "CONSTRUCT { _:b e:x ?x . _:b e:y ?y } { ?x e:knows ?y }"
    found = pair[0].query(text).collect()
    assert len(found) == 8
    assert len({row.s for row in found}) == 4


@pytest.mark.parametrize("text", REFUSED)
def test_what_spark_does_not_answer_is_refused_with_the_reason(
    pair: tuple[Pipeline, lf.Reasoner], text: str
) -> None:
    with pytest.raises(QueryError, match=REFUSED[text]):
        pair[0].query(PREFIX + text)
