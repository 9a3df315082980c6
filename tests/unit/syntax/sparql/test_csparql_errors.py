"""Mistakes in registered queries are shown in the text that was written."""

from __future__ import annotations

import pytest

from livefacts.errors import QueryError
from livefacts.service.reasoner.facade import Reasoner

QUERY = "REGISTER QUERY q{} AS SELECT ?x\nFROM STREAM <http://e/s> [RANGE 3{}] {{ {} }}"


@pytest.mark.parametrize(
    ("every", "window", "body", "shown"),
    [
        ("", "", "?x zz:p ?y", "zz:p"),
        ("", "", "?x ?p ?y FILTER(<http://e/f>(?y))", "<http://e/f>"),
        (" COMPUTE EVERY 1.5s", "", "?x ?p ?y", "1.5s"),
        ("", " BOUNDS OPEN", "?x ?p ?y", "OPEN"),
    ],
)
def test_a_mistake_is_shown_where_it_stands(every: str, window: str, body: str, shown: str) -> None:
    text = QUERY.format(every, window, body)
    with pytest.raises(QueryError) as caught:
        Reasoner().register(text)
    place = caught.value.place
    assert place is not None
    assert place.text == text.split("\n")[place.line - 1]
    assert place.text[place.column - 1 :].startswith(shown)


def test_bounds_that_do_not_exist_are_answered_with_those_that_do() -> None:
    with pytest.raises(QueryError) as caught:
        Reasoner().register(QUERY.format("", " BOUNDS OPEN", "?x ?p ?y"))
    assert "CLOSED follows" in caught.value.hint


def test_a_mistake_without_a_place_stands_at_the_query() -> None:
    text = "PREFIX f: <http://e/>\n" + QUERY.format("", "", "?x ?p ?y FILTER(f:f(?y))")
    with pytest.raises(QueryError, match="custom function") as caught:
        Reasoner().register(text)
    assert str(caught.value.place) == "query:2:1"
