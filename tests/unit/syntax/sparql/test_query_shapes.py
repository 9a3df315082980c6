"""Query shapes: what texts have in common, and what makes them different."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode

from livefacts.errors import QueryError
from livefacts.language.algebra import Basic, Parameter
from livefacts.language.formula import TripleAtom, Variable
from livefacts.syntax.sparql.query_reader import parse_query
from livefacts.syntax.sparql.query_shapes import QueryShape, shape_of

EX = "http://example.org/"
PREFIXES = {"": EX, "ex": EX, "xsd": "http://www.w3.org/2001/XMLSchema#"}


def shape(text: str) -> QueryShape:
    return shape_of(text, PREFIXES)


def test_constants_are_lifted_and_filled_in() -> None:
    found = shape("ASK { <x:a> :p ?o . ?o :q 'a\\tb'@en , 5 }")
    first = TripleAtom(Parameter(0), Parameter(1), Variable("o"))  # type: ignore[arg-type]
    assert isinstance(found.query.pattern, Basic)
    assert found.query.pattern.atoms[0] == first
    tab, five = Literal("a\tb", language="en"), Literal(5)
    assert found.constants == (
        *(NamedNode("x:a"), NamedNode(EX + "p"), NamedNode(EX + "q")),
        *(tab, five),
    )
    assert found.query.parameters == 5
    assert isinstance(found.bound.pattern, Basic)
    assert found.bound.pattern.atoms[1].object == tab
    assert found.bound.parameters == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ASK { <x:a> <x:p> ?o }", "ASK { :a ex:p ?o }"),
        ("ASK { ?s :p 1 }", "ASK { ?s :p 2.5e0 }"),
        ("ASK { ?s :p 'a' }", 'ASK { ?s :q """b"""^^xsd:byte }'),
        ("ASK { FILTER(?x > 1) }", "ASK { FILTER(?x > 'a'@en) }"),
        ("ASK { VALUES ?x { :a 1 } }", "ASK { VALUES ?x { <x:b> 'c' } }"),
        ("ASK { :a :b|^:c ?x }", "ASK { :d :e|^:f ?x }"),
        ("SELECT * FROM :a { }", "SELECT * FROM :b { }"),
    ],
)
def test_texts_that_differ_in_constants_have_one_shape(one: str, other: str) -> None:
    first, second = shape(one), shape(other)
    assert first.key == second.key
    assert first.query is second.query
    assert first.bound != second.bound


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT * { :a ?p ?o } LIMIT 1", "SELECT * { :a ?p ?o } LIMIT 2"),
        ("SELECT * { :a ?p ?o } OFFSET 1", "SELECT * { :a ?p ?o } OFFSET 2"),
        ("ASK { :a ?p ?o FILTER :f(?o) }", "ASK { :a ?p ?o FILTER :g(?o) }"),
        ("ASK { :a ?p ?o FILTER(<x:f> (?o)) }", "ASK { :a ?p ?o FILTER(<x:g> (?o)) }"),
        ("ASK { :a ?p 1 }", "ASK { :a ?p ?1 }"),
        ("ASK { :a ?p _:a }", "ASK { :a ?p :a }"),
        ("BASE <x:a> ASK { :a ?p ?o }", "BASE <x:b> ASK { :a ?p ?o }"),
        (
            "SELECT (GROUP_CONCAT(?x; SEPARATOR='a') AS ?y) { :a ?p ?x }",
            "SELECT (GROUP_CONCAT(?x; SEPARATOR='b') AS ?y) { :a ?p ?x }",
        ),
    ],
)
def test_what_changes_the_parse_changes_the_shape(one: str, other: str) -> None:
    assert shape(one).key != shape(other).key
    assert shape(one).query != shape(other).query


def test_a_function_has_the_meaning_of_its_prefix() -> None:
    text = "ASK { ?s :p ?o FILTER ex:f(?o) }"
    one, other = shape_of(text, PREFIXES), shape_of(text, {**PREFIXES, "ex": "http://other/"})
    assert one.key != other.key
    assert "http://other/f" in repr(other.query)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?x :p ?y FILTER(?x<?y&&?y>3) }",
        "SELECT * { ?x <x:a,b> <x:c&d=5> FILTER(?x <-1) }",
        "SELECT * { ?x :p ?y # :q 5 'a\n FILTER(?y -1 = 2.5) }",
        "SELECT * { ?x :p '# <x:a> 5' , \"LIMIT 5\" ; ?p5 _:b5 } LIMIT 5",
        "PREFIX p: <x:y#> PREFIX q: # <x:no>\n <x:z> SELECT * { p:a q:b p: }",
        "SELECT * { ?x a 'a' # ^^\n ^^xsd:byte ; :p 'b'\n@en }",
        "SELECT (:f # no\n (?x) AS ?y) { ?x :p \\u003cx:a> }",
        "BASE <http://b/c> SELECT * { <d> <#e> <?f=5> }",
        "SELECT * { ?x :p <<( :a :b 'c' )>> , <<( ?y :b 1 )>> VALUES ?z { <<( :a :b 2 )>> } }",
        "ASK { ?x :a.b:c ?y.?y :d 5 .?z :e 5.5.:f :g .5}",
        "SELECT * { ?x ^:p/(:q|!:r)* -5 , +5 }",
    ],
)
def test_a_shape_with_its_constants_is_the_query_of_the_text(text: str) -> None:
    assert shape(text).bound == parse_query(text.replace("\\u003c", "<"), PREFIXES)


def test_a_mark_in_a_text_is_no_constant() -> None:
    shape("ASK { :a ?p :b }")
    with pytest.raises(QueryError, match="a character that means nothing"):
        shape("ASK { :a ?p \x01 }")
    with pytest.raises(QueryError, match="a character that means nothing"):
        shape("ASK { \x01 ?p \x01 }")


def test_a_mistake_is_shown_in_the_text_that_was_written() -> None:
    text = "ASK { <x:long-name> :p ?y BIND(1 AS ?y) }"
    with pytest.raises(QueryError) as caught:
        shape(text)
    assert caught.value.place is not None
    assert caught.value.place.text == text
    assert caught.value.place.column == 1 + text.index("?y)")
