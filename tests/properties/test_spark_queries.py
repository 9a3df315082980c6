"""Random queries of every form over the tables on Spark: answers are those of the embedded engine."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import NamedNode, Quad
from tests.properties.generate.queries import MessageMaker, QueryMaker
from tests.properties.generate.seeds import chunks

import livefacts as lf
from livefacts.errors import QueryError
from livefacts.service.queries.results import Answer, Rows
from livefacts.spark import Pipeline
from livefacts.store.terms.id_reader import text_of

QUERIES = 4
GRAPHS = [NamedNode("x:g"), NamedNode("x:h")]
RULE = "[?x, <x:r>, ?y] :- [?x, <x:p>, ?y] ."


def facts_of(seed: int) -> list[Quad]:
    """Random triples, some of them in named graphs."""
    messages, choice = MessageMaker(f"spark facts {seed}"), random.Random(f"spark facts {seed}")
    triples = [triple for _ in range(6) for triple in messages.message()[0]]
    quads = [Quad(*triple) for triple in triples]
    return quads + [Quad(*triple, choice.choice(GRAPHS)) for triple in triples[:10]]


def bag(rows: list[tuple[str | bool | None, ...]]) -> Counter[Any]:
    return Counter(rows)


def expected(result: Any) -> Counter[Any]:
    """The answers of the embedded engine, as Spark has them."""
    if isinstance(result, Answer):
        return bag([(result.value,)])
    if isinstance(result, Rows):
        return bag([tuple(None if t is None else text_of(t) for t in row) for row in result])
    return bag([tuple(map(text_of, (t.subject, t.predicate, t.object))) for t in result])


@pytest.mark.slow
@pytest.mark.parametrize("chunk", chunks(12, 1))
def test_random_queries_have_the_answers_of_the_embedded_engine(
    spark: Any, tmp_path: Path, chunk: int
) -> None:
    facts = tmp_path / "facts.nq"
    facts.write_text("".join(f"{quad} .\n" for quad in facts_of(chunk)), "utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest(facts, bnodes="by-name")
    pipeline.materialize(RULE)
    reasoner = lf.Reasoner.open(tmp_path / "kb", read_only=True)
    compared = answered = 0
    for number in range(20 * QUERIES):
        text = QueryMaker(f"{chunk} {number}", GRAPHS).query()
        if "DESCRIBE" in text:
            continue
        wanted = expected(reasoner.query(text))
        if not wanted and number % 4:
            continue
        try:
            frame = pipeline.query(text)
        except QueryError:
            continue
        found = bag([tuple(row) for row in frame.collect()])
        assert found == wanted, text
        compared += 1
        answered += bool(wanted)
        if compared == QUERIES:
            break
    assert compared == QUERIES
    assert answered > 0
