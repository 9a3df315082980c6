"""Expressions over random columns are what pyoxigraph says to each row by itself."""

from __future__ import annotations

from random import Random

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Store
from tests.properties.generate.expressions import NAMES, draw_expression, draw_rows
from tests.properties.generate.seeds import chunks

from livefacts.engine.flow.evaluator import adding_durations
from livefacts.engine.flow.large_integers import folded
from livefacts.engine.queries.column_expressions import Expressions
from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.engine.queries.solutions import Solutions
from livefacts.language.expressions import Call, Constant, Exists, QueryExpression, written
from livefacts.language.formula import Variable
from livefacts.model.facts import Term
from livefacts.store.terms.dictionary import Dictionary

CHUNK = 150
BASE = "http://example.org/base/"
ROWS = 12


@pytest.mark.parametrize("chunk", chunks(40, 2))
def test_a_column_has_the_values_that_each_row_has_by_itself(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        pick = Random(seed)
        expression = draw_expression(pick)
        rows = draw_rows(pick, ROWS)
        terms = QueryTerms(known_terms(pick, rows).reader())
        columns = {
            name: terms.encode(column)
            for name, column in zip(NAMES, zip(*rows, strict=True), strict=True)
        }
        expressions = Expressions(terms, never, base=BASE)
        found = terms.decode(expressions.values(expression, Solutions(ROWS, columns)))
        expected = [value_by_itself(exact(expression, row), row) for row in rows]
        assert found == expected, f"seed {seed}: {written(expression)} over {rows}"
        truths = expressions.truths(expression, Solutions(ROWS, columns)).tolist()
        condition = Call("IF", (expression, Constant(Literal(True)), Constant(Literal(False))))
        expected = [value_by_itself(exact(condition, row), row) == Literal(True) for row in rows]
        assert truths == expected, f"seed {seed}: {written(expression)} over {rows}"


def known_terms(pick: Random, rows: list[tuple[Term | None, ...]]) -> Dictionary:
    """A dictionary that knows some of the terms."""
    dictionary = Dictionary()
    for row in rows:
        for term in row:
            if term is not None and pick.random() < 0.7:
                dictionary.encode_one(term)
    return dictionary


def never(exists: Exists, rows: Solutions) -> None:
    raise AssertionError("no expression here has an EXISTS")


def exact(expression: QueryExpression, row: tuple[Term | None, ...]) -> QueryExpression:
    """The expression with what large integers give, which pyoxigraph has not."""
    values = {Variable(n): t for n, t in zip(NAMES, row, strict=True) if t is not None}
    return folded(expression, values, lambda part: value_by_itself(part, row))


def value_by_itself(expression: QueryExpression, row: tuple[Term | None, ...]) -> Term | None:
    store = Store()
    store.add(Quad(BlankNode("row"), HERE, HERE))
    for name, term in zip(NAMES, row, strict=True):
        if term is not None:
            store.add(Quad(BlankNode("row"), NamedNode(f"x:{name}"), term))
    parts = " ".join(f"OPTIONAL {{ ?row <x:{name}> ?{name} }}" for name in NAMES)
    value = written(adding_durations(expression))
    text = f"SELECT ({value} AS ?value) {{ ?row {HERE} {HERE} {parts} }}"
    ((found,),) = store.query(text, base_iri=BASE)
    return found


HERE = NamedNode("x:here")
