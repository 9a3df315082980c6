"""Texts that could keep a reader busy: each is refused, or read at once."""

from __future__ import annotations

import pytest

from livefacts.errors import QueryError
from livefacts.language.algebra import variables_in
from livefacts.syntax.sparql.query_reader import parse_query, parse_update
from livefacts.syntax.sparql.query_shapes import shape_of


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ASK " + "{" * 10_000 + "}" * 10_000, "open brackets"),
        ("ASK { FILTER(" + "!" * 20_000 + "?x) }", "operators"),
        ("ASK { FILTER(" + "- " * 20_000 + "?x) }", "operators"),
        ("ASK { {} " + "UNION {} " * 200_000 + "}", "characters"),
        ("ASK { {} " + "UNION {} " * 100_000 + "}", "triple patterns"),
        ("ASK { {} " + "UNION {} " * 7_000 + "}", "triple patterns"),
        ("ASK { " + "BIND(1 AS ?x) " * 4_000 + "}", "triple patterns"),
        ("ASK { FILTER(1" + "+1" * 900 + " > 2) }", "operators"),
        ("ASK { " + "FILTER EXISTS { " * 120 + "}" * 120 + "}", "nested too deeply"),
        ("ASK { " + "a.a" * 20_000 + " }", "triple patterns"),
        ("ASK { ?s ?p " + '"' * 60_000 + " }", "cannot stand here"),
        ("ASK { FILTER(" + "?x<" * 15_000 + ") }", "operators"),
    ],
)
def test_what_is_too_much_is_refused(text: str, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        shape_of(text, {})
    assert said in caught.value.message


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "ASK { ?s " + "(" * 120 + "<x:p>" + ")*" * 120 + " ?o }",
        "ASK { " + "OPTIONAL { " * 120 + "?s ?p ?o " + "}" * 120 + "}",
        "ASK { ?s ?p " + "(" * 100 + "1" + ")" * 100 + " }",
        "ASK { ?s ?p " + "1" * 60_000 + " }",
        "ASK { FILTER(?x " + "|| ?x" * 900 + ") }",
        "ASK { VALUES ?x { " + "1 " * 10_000 + "} }",
        "ASK { VALUES ?x { " + "<http://example.org/a> " * 10_000 + "} }",
    ],
)
def test_what_is_large_and_plain_is_read(text: str) -> None:
    query = shape_of(text, {}).bound
    assert query == parse_query(text, {})
    assert len(list(variables_in(query.pattern))) < 1_000


def test_much_data_is_no_pattern_of_an_update() -> None:
    data = " . ".join(f"<x:{number}> <x:p> {number}" for number in range(3_000))
    (operation,) = parse_update(f"INSERT DATA {{ {data} }}", {})
    assert len(operation.inserts) == 3_000


def test_patterns_are_counted_in_each_operation_of_an_update() -> None:
    operation = "INSERT { ?s <x:p> 1 } WHERE { ?s ?p ?o . ?o ?p ?s }"
    assert len(parse_update(" ; ".join([operation] * 100), {})) == 100


def test_a_long_text_is_read_once_with_its_constants_in_place() -> None:
    long = "ASK { VALUES ?x { " + "1 " * 10_000 + "} }"
    assert shape_of("ASK { VALUES ?x { 1 } }", {}).constants
    assert shape_of(long, {}).constants == ()
