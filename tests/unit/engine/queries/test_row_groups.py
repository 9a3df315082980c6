"""Groups: totals of nothing, and strings that would get too long."""

from __future__ import annotations

import numpy as np
import pytest
from pyoxigraph import Literal, NamedNode

from livefacts.engine.queries.column_expressions import Expressions
from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.engine.queries.row_groups import grouped
from livefacts.engine.queries.solutions import NO_ROWS, Solutions
from livefacts.errors import LimitError
from livefacts.language.algebra import QueryAggregate
from livefacts.language.formula import Variable
from livefacts.model.facts import Term
from livefacts.model.namespaces import XSD
from livefacts.store.terms.dictionary import Dictionary

X = Variable("x")


def total(function: str, *column: Term, counts: list[int] | None = None, most: int = 100):
    terms = QueryTerms(Dictionary().reader())
    times = None if counts is None else np.array(counts)
    rows = Solutions(len(column), {"x": terms.encode(column)}, times)
    expressions = Expressions(terms, None, most_string_bytes=most)
    found = grouped(rows, [], [("t", QueryAggregate(function, X))], expressions)
    return terms.decode_one(int(found.column("t")[0]))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        *((function, Literal(0)) for function in ("COUNT", "SUM", "AVG")),
        *((function, None) for function in ("MIN", "MAX", "SAMPLE")),
        ("GROUP_CONCAT", Literal("")),
    ],
)
def test_nothing_has_a_total(function: str, expected: Term | None) -> None:
    assert total(function) == expected


def test_with_keys_there_is_no_group_of_nothing() -> None:
    count = ("t", QueryAggregate("COUNT"))
    expressions = Expressions(QueryTerms(Dictionary().reader()), None)
    assert grouped(NO_ROWS, ["k"], [count], expressions).count == 0
    assert grouped(NO_ROWS, [], [count], expressions).count == 1


def test_sums_are_exact_and_rounded_once() -> None:
    assert total("SUM", Literal(1e100), Literal(1.0), Literal(-1e100)) == Literal(1.0)
    assert total("AVG", Literal(0.1), counts=[10]) == Literal(0.1)
    assert total("SUM", Literal(5e-324), Literal(2.5), counts=[3, 2]) == Literal(5.0)
    assert total("SUM", Literal(2**62), counts=[4]) == Literal(2**64)
    assert total("SUM", Literal(3), Literal(0.5)) == Literal(3.5)


def test_an_average_of_integers_is_a_decimal() -> None:
    decimal = NamedNode(XSD + "decimal")
    assert total("AVG", Literal(1), Literal(2)) == Literal("1.5", datatype=decimal)
    assert total("AVG", Literal(1), counts=[7]) == Literal("1", datatype=decimal)


def test_a_sample_is_a_value_that_is_there() -> None:
    assert total("SAMPLE", Literal("a"), Literal(1)) in (Literal("a"), Literal(1))


def test_a_list_of_strings_that_gets_too_long_is_refused_before_it_is_made() -> None:
    assert total("GROUP_CONCAT", Literal("ab"), counts=[3]) == Literal("ab ab ab")
    with pytest.raises(LimitError, match="limit for one string is 100"):
        total("GROUP_CONCAT", Literal("ab"), counts=[10**12])
