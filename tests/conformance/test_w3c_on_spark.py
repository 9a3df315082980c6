"""The W3C tests of SPARQL queries, asked of tables on Spark.

The data of many tests are in one knowledge base, as graphs of their own: a query sees those
of its test, as if it had named them by FROM.  Addresses have the number of their test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import DefaultGraph, NamedNode, Quad, RdfFormat, parse
from tests.conformance.test_w3c_queries import QueryTest, expected, quads_of, queries, shown
from tests.properties.compare.spark_frames import tiny
from tests.properties.generate.seeds import chunks

import livefacts as lf
from livefacts.engine.spark.joins.term_frames import term_of
from livefacts.engine.spark.sparql.query_frame import answer_frame
from livefacts.errors import QueryError
from livefacts.language.algebra import Dataset, Query
from livefacts.spark import Pipeline
from livefacts.syntax.sparql.query_shapes import shape_of

CHUNKS = 70
SITE = "http://w3c.test/"
REPEATED = "its value would differ where Spark repeats a task"
GRAPH = "what GRAPH ?g contains is asked of each graph by itself"
KNOWN_FAILURES = {
    "sparql10/graph/graph-optional": GRAPH,
    "sparql10/graph/graph-variable-scope": GRAPH,
    "sparql10/open-world/date-2": "dates with and without a zone are told apart",
    "sparql11/functions/bnode01": REPEATED,
    "sparql11/functions/bnode02": REPEATED,
    "sparql11/functions/rand01": REPEATED,
    "sparql11/functions/struuid01": REPEATED,
    "sparql11/functions/uuid01": REPEATED,
    "sparql11/functions/uuid02": REPEATED,
}
"""The folder and name of a test -> why it fails; a test that is listed and passes fails."""


def site_of(number: int) -> str:
    return f"{SITE}{number}/"


def placed(number: int, test: QueryTest) -> list[Quad]:
    """The data of a test, all of them in named graphs."""
    text = "".join(f"{quad} .\n" for quad in quads_of(test)).replace(
        f"<{SITE}", f"<{site_of(number)}"
    )
    default = default_of(number)
    return [
        Quad(*quad.triple, default) if isinstance(quad.graph_name, DefaultGraph) else quad
        for quad in parse(text.encode(), format=RdfFormat.N_QUADS)
    ]


def default_of(number: int) -> NamedNode:
    return NamedNode(f"{site_of(number)}default graph".replace(" ", "-"))


def query_of(number: int, test: QueryTest, quads: Sequence[Quad]) -> Query:
    """The query, which sees the data of its test alone."""
    text = test.query.read_text(encoding="utf-8")
    query = shape_of(text, {}, f"{site_of(number)}{test.query.name}").bound
    if query.dataset is not None:
        return query
    graphs = dict.fromkeys(quad.graph_name for quad in quads)
    default = default_of(number)
    named = tuple(graph for graph in graphs if graph != default)
    return replace(query, dataset=Dataset((default,) if default in graphs else (), named))


def answers(frame: Any, number: int, form: str) -> Counter[Any]:
    """The rows of a DataFrame as the W3C writes them."""
    rows = frame.collect()
    if form == "ASK":
        return Counter([()] if rows[0].answer else [])
    return Counter(tuple(term(text, number) for text in row) for row in rows)


def columns_of(frame: Any, query: Query) -> tuple[str, ...]:
    """What the W3C calls the columns of an answer."""
    triple = ("subject", "predicate", "object")
    return {"SELECT": tuple(frame.columns), "CONSTRUCT": triple}.get(query.form, ())


def term(text: str | None, number: int) -> Any:
    return shown(None if text is None else term_of(text.replace(site_of(number), SITE)))


def failures(spark: Any, folder: Path, names: Sequence[str]) -> Iterator[str]:
    """The tests that do not give what the W3C says, with the reason."""
    tests = {name: (number, queries()[name]) for number, name in enumerate(names)}
    data = {name: placed(*test) for name, test in tests.items()}
    reasoner = lf.Reasoner()
    reasoner.add(quad for quads in data.values() for quad in quads)
    reasoner.checkpoint(folder / "kb")
    pipeline = Pipeline(spark, folder / "kb")
    for name, (number, test) in tests.items():
        try:
            query = query_of(number, test, data[name])
            frame = answer_frame(spark, pipeline.base, pipeline.base.last(), query)
            if answers(frame, number, query.form) != expected(test, columns_of(frame, query)):
                yield f"{name}: other answers"
        except QueryError as error:
            yield f"{name}: {error.message}"


@pytest.mark.slow
@pytest.mark.parametrize("chunk", chunks(CHUNKS, 1))
def test_a_query_answers_on_spark_as_the_w3c_says(
    spark: Any, tmp_path: Path, third_party_data: Path, chunk: int
) -> None:
    names = sorted(queries())[chunk::CHUNKS]
    with tiny(spark) as session:
        found = dict(line.split(": ", 1) for line in failures(session, tmp_path, names))
    assert {name: why for name, why in found.items() if name not in KNOWN_FAILURES} == {}
    assert [name for name in names if name in KNOWN_FAILURES and name not in found] == []
