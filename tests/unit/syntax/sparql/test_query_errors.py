"""Mistakes in queries: what is wrong, where, and what to do."""

from __future__ import annotations

import pytest

from livefacts.errors import QueryError
from livefacts.service.reasoner.facade import Reasoner

BOOKS = "SELECT * { ?a ?p ?b } AGGREGATE "
MISTAKES = [
    (BOOKS + "{ (?b, COUNT, {?a}) }", "AGGREGATE computes ?b, which", 36, "another name"),
    (BOOKS + "{ (?n, SUM, {?a}) }", "SUM of nothing", 40, "SUM(?x)"),
    (BOOKS + "{ (?n, COUNT, {?c}) }", "no pattern has ?c", 48, "the WHERE clause"),
    (BOOKS + "{ ?n, COUNT, {?a} }", "( is missing here", 35, ""),
    (BOOKS + "{ (?n, COUNT, {}) }", "} cannot stand here", 48, ""),
    ("SELECT * { ?a ?p ?b }" + " AGGREGATE { (?n, COUNT, ?a) }" * 7, "more than 6", 203, "GROUP"),
    ("SELECT ?x {", "this { is never closed", 11, ""),
    ("SELECT (COUNT(?x AS ?n) { ?x ?p ?y }", "this ( is never closed", 8, ""),
    ("SELECT ?x { ?x ?p ?y } }", "this } closes nothing", 24, ""),
    ("SELECT ?x { ?x ?p ?y ) }", ") where something else must be closed", 22, "is {"),
    ("SELECT ?y { ?x ?p ?y } GROUP BY ?x", "neither grouped nor counted", 1, "SAMPLE"),
    ("SELECT * { ?x ?p ?y } GROUP BY ?x", "does not go with GROUP BY", 1, "aggregates"),
    ("SELECT (1 AS ?x) { ?x ?p ?y }", "a variable that the pattern has", 1, "another name"),
    ("SELECT ?x { ?x ?p ?z BIND(1 AS ?z) }", "BIND of ?z", 32, "another name"),
    ("SELECT ?x { { ?x ?p ?z } BIND(1 AS ?z) }", "BIND of ?z", 36, "another name"),
    ("SELECT ?x { VALUES (?x ?y) { (1 2) (-1) } }", "a row of 1 for 2 variables", 36, "UNDEF"),
    ('SELECT ?x { ?x ?p "P1D"xsd:duration }', "without ^^", 24, '"P1D"^^xsd:duration'),
    ("SELECT ?x { ?x <x:p> ?y OPTIONL { ?x ?y ?z } }", "OPTIONL", 25, "OPTIONAL?"),
    ("SELECT ?x { ?x <x:p> }", "} cannot stand here, in what begins with ?x", 22, ""),
    ("SELECT ?x, ?y { ?x ?p ?y }", ", cannot stand here", 10, ""),
    ("SELECT ?x { ?x ?p ?y FILTER(?y > ) }", "what begins with FILTER", 34, ""),
]


@pytest.mark.parametrize(("text", "message", "column", "hint"), MISTAKES)
def test_a_mistake_is_named_where_it_stands(
    text: str, message: str, column: int, hint: str
) -> None:
    with pytest.raises(QueryError) as caught:
        Reasoner().query(text)
    error = caught.value
    assert message in error.message
    assert error.place is not None
    assert (error.place.line, error.place.column) == (1, column)
    assert hint in (error.hint or "")
    assert "\\u{" not in error.message


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?x { ?x ?p ?z OPTIONAL { BIND(1 AS ?z) } FILTER( }",
        "SELECT ?x { { ?x ?p ?z } UNION { BIND(1 AS ?z) } ?x ?p }",
        "SELECT ?x { VALUES (?x ?y) { ('a'@en 'b'^^xsd:byte) (UNDEF +1) } ?x ?p }",
    ],
)
def test_what_is_right_is_not_called_a_mistake(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        Reasoner().query(text)
    assert "BIND" not in caught.value.message
    assert "row" not in caught.value.message


def test_an_update_has_its_place_too() -> None:
    with pytest.raises(QueryError, match="} cannot stand here") as caught:
        Reasoner().update("INSERT DATA { <x:a> <x:b> }")
    assert caught.value.place is not None
    assert caught.value.place.column == 27
