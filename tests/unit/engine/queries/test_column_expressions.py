"""Expressions over columns: fresh values, EXISTS, long strings, and terms as they are written."""

from __future__ import annotations

import numpy as np
import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from livefacts.engine.queries.column_expressions import Expressions
from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.engine.queries.solutions import EMPTY_ROW, Flags, Solutions
from livefacts.errors import LimitError, QueryError
from livefacts.language.algebra import Basic
from livefacts.language.expressions import Call, Constant, Exists, QueryExpression
from livefacts.language.formula import Variable
from livefacts.model.facts import Term
from livefacts.model.namespaces import XSD
from livefacts.store.terms.dictionary import Dictionary

X = Variable("x")
ONE = Constant(Literal(1))


class Asker:
    """Expressions over one column."""

    def __init__(self, *column: Term | None, **options) -> None:
        self.terms = QueryTerms(Dictionary().reader())
        self.rows = Solutions(len(column), {"x": self.terms.encode(column)})
        self.expressions = Expressions(self.terms, self.exists, **options)
        self.pauses = 0

    def exists(self, asked: Exists, rows: Solutions) -> Flags:
        """True where x is 1."""
        return (rows.column("x") == self.terms.encode_one(Literal(1))) != asked.negated

    def values(self, name: str, *arguments: QueryExpression) -> list[Term | None]:
        return self.terms.decode(self.expressions.values(Call(name, arguments), self.rows))

    def bind(self, variable: str, expression: QueryExpression) -> list[Term | None]:
        column = self.expressions.values(expression, self.rows)
        self.rows = self.rows.with_column(variable, column)
        return self.terms.decode(column)


def double(asker: Asker, times: int) -> None:
    for _ in range(times):
        asker.bind("x", Call("CONCAT", (X, X)))


def typed(text: str, datatype: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + datatype))


def text(content: str) -> Constant:
    return Constant(Literal(content))


def test_literals_stay_as_they_are_written() -> None:
    asker = Asker(typed("01", "integer"), typed("3", "byte"), typed("2.50", "decimal"))
    assert asker.values("STR", X) == [Literal("01"), Literal("3"), Literal("2.50")]
    assert asker.values("COALESCE", X) == asker.terms.decode(asker.rows.column("x"))
    assert asker.values("sameTerm", X, ONE) == [Literal(False)] * 3
    assert asker.values("+", X, ONE) == [Literal(2), Literal(4), typed("3.5", "decimal")]


def test_rows_of_a_filter_with_and_are_asked_only_until_one_side_is_false() -> None:
    asker = Asker(Literal(1), Literal(2), Literal(3))
    seen = []
    asker.expressions = Expressions(
        asker.terms, lambda asked, rows: seen.append(rows.count) or np.ones(rows.count, bool)
    )
    two = Constant(Literal(2))
    condition = Call("&&", (Call(">", (X, two)), Exists(Basic())))
    assert asker.expressions.truths(condition, asker.rows).tolist() == [False, False, True]
    assert seen == [1]


def test_exists_is_a_value_inside_of_any_function() -> None:
    asker = Asker(Literal(1), Literal(2))
    there = Call("STR", (Exists(Basic(), negated=True),))
    assert asker.values("CONCAT", there, text("!")) == [Literal("false!"), Literal("true!")]


def test_now_is_one_moment() -> None:
    now = typed("2026-11-18T12:00:00Z", "dateTime")
    asker = Asker(Literal(1), Literal(2), now=now)
    assert asker.values("NOW") == [now, now]
    assert asker.values("YEAR", Call("NOW")) == [Literal(2026)] * 2


@pytest.mark.parametrize("function", ["RAND", "UUID", "STRUUID", "BNODE"])
def test_equal_rows_have_fresh_values_of_their_own(function: str) -> None:
    asker = Asker(Literal(1), Literal(1))
    first, second = asker.values(function)
    assert first != second
    assert asker.values("COALESCE", Call(function)) != [first, second]


def test_a_named_blank_node_is_the_same_within_a_row() -> None:
    asker = Asker(Literal("a"), Literal("a"), Literal("b"), Literal(1))
    first = asker.bind("first", Call("BNODE", (X,)))
    second = asker.bind("second", Call("IF", (Call("=", (X, X)), Call("BNODE", (X,)), ONE)))
    assert first == second
    assert len(set(first)) == 4
    assert isinstance(first[0], BlankNode)
    assert first[3] is None
    assert set(Asker(Literal("a")).bind("first", Call("BNODE", (X,)))).isdisjoint(first)


def test_an_iri_is_made_with_the_base_of_the_query() -> None:
    asker = Asker(Literal("kitchen"), base="http://example.org/")
    assert asker.values("IRI", X) == [NamedNode("http://example.org/kitchen")]


def test_a_string_that_doubles_again_and_again_is_refused_in_time() -> None:
    asker = Asker(Literal("x"), most_string_bytes=1000)
    said = r"1,024 bytes; the limit for one string is 1,000\nhint: this limit is fixed"
    with pytest.raises(LimitError, match=said):
        double(asker, 40)
    assert asker.terms.computed_bytes < 3000


def test_a_replacement_is_measured_by_what_it_replaces() -> None:
    asker = Asker(Literal("." * 500 + "x" * 3), most_string_bytes=1000)
    once = Call("REPLACE", (X, text("x"), text("y" * 100)))
    assert asker.values("STRLEN", once) == [Literal(800)]
    with pytest.raises(LimitError, match="50,503 bytes"):
        asker.values("REPLACE", X, text("[.]"), text("y" * 100))
    with pytest.raises(LimitError):
        asker.values("REPLACE", X, text("(.+)"), text("$1$1"))


def test_nested_strings_are_measured_step_by_step() -> None:
    asker = Asker(Literal("x" * 300), most_string_bytes=1000)
    short = Call("SUBSTR", (X, ONE, ONE))
    many = Call("CONCAT", (X, short, short, X, short))
    assert asker.values("STRLEN", Call("CONCAT", (many, X))) == [Literal(903)]
    with pytest.raises(LimitError):
        asker.values("STRLEN", Call("CONCAT", (many, many)))


def test_an_unknown_function_is_refused_even_without_rows() -> None:
    with pytest.raises(QueryError):
        Asker().values("<http://example.org/f>", X)


def test_types_are_cast() -> None:
    asker = Asker(Literal("12"), Literal("x"))
    assert asker.values(f"<{XSD}integer>", X) == [Literal(12), None]


def test_many_values_are_asked_in_batches_with_pauses() -> None:
    asker = Asker()
    pauses = []
    expressions = Expressions(asker.terms, asker.exists, pause=lambda: pauses.append(1))
    ids = asker.terms.encode(Literal(number) for number in range(9000))
    found = expressions.values(Call("ABS", (X,)), Solutions(9000, {"x": ids}))
    assert found.tolist() == ids.tolist()
    assert len(pauses) >= 3


def test_an_expression_without_variables_has_one_value() -> None:
    asker = Asker()
    found = asker.expressions.values(Call("CONCAT", (text("a"), text("b"))), EMPTY_ROW)
    assert asker.terms.decode(found) == [Literal("ab")]
