"""Texts are ordered by code point, and equal values by the next key."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from pyoxigraph import Literal, NamedNode

from livefacts.engine.queries.column_expressions import Expressions
from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.engine.queries.row_order import row_order
from livefacts.engine.queries.solutions import Solutions
from livefacts.language.algebra import OrderKey
from livefacts.language.formula import Variable
from livefacts.model.facts import Term
from livefacts.store.terms.dictionary import Dictionary

X, Y = OrderKey(Variable("x")), OrderKey(Variable("y"))


def ordered(terms: list[Term], keys: list[OrderKey], **columns: list[Term]) -> list[int]:
    dictionary = Dictionary()
    dictionary.encode(terms)
    query_terms = QueryTerms(dictionary.reader())
    rows = Solutions(
        len(columns["x"]), {name: query_terms.encode(column) for name, column in columns.items()}
    )
    return row_order(rows, keys, Expressions(query_terms, None)).tolist()


@pytest.mark.parametrize("kind", [Literal, lambda text: NamedNode(f"x:{text}")])
@pytest.mark.parametrize("letters", ["ab", "a>/-\x7fé😀", 'a"\\'])
@pytest.mark.parametrize("are_known", [True, False])
def test_texts_are_ordered_by_code_point(kind, letters: str, are_known: bool) -> None:
    pick = Random(letters)
    if kind is not Literal:
        letters = letters.translate(dict.fromkeys(map(ord, '">\\\x7f')))
    texts = ["".join(pick.choices(letters, k=pick.randrange(6))) for _ in range(40)]
    terms = [kind(text) for text in texts]
    found = ordered(terms if are_known else [], [X], x=terms)
    assert [texts[row] for row in found] == sorted(texts)


def test_equal_numbers_leave_the_order_to_the_next_key() -> None:
    x = [Literal(2), Literal(1), Literal(1.0), Literal(1)]
    y = [Literal("a"), Literal("c"), Literal("b"), Literal("a")]
    assert ordered([], [X, Y], x=x, y=y) == [3, 2, 1, 0]
    descending = OrderKey(Variable("y"), descending=True)
    assert ordered([], [X, descending], x=x, y=y) == [1, 2, 3, 0]


def test_large_integers_are_told_apart() -> None:
    x = [Literal(2**53 + 1), Literal(2**53), Literal(10**30), Literal(2**53 + 2)]
    assert ordered([], [X], x=x) == [1, 0, 3, 2]


def test_unbound_comes_first() -> None:
    terms = QueryTerms(Dictionary().reader())
    rows = Solutions(2, {"x": np.array([terms.encode_one(Literal(1)), -1], np.int32)})
    assert row_order(rows, [X], Expressions(terms, None)).tolist() == [1, 0]
