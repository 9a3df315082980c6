"""Plain queries: which ones can be followed change by change."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode

from livefacts.language.formula import Comparison, TripleAtom, Variable
from livefacts.language.graph_pattern import basic_query_of
from livefacts.syntax.sparql.query_shapes import shape_of

EX = "http://example.org/"
X, Y = Variable("x"), Variable("y")
IN = NamedNode(EX + "in")
TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
FIVE = Literal(5)


def test_patterns_and_comparisons_are_read() -> None:
    text = "SELECT DISTINCT ?y ?x WHERE { ?x :in ?y ; a :Room . FILTER(?y >= 5 && (?x != ?y)) }"
    query = basic_query_of(shape_of(text, {"": EX}).bound)
    assert query is not None
    assert query.patterns == (TripleAtom(X, IN, Y), TripleAtom(X, TYPE, NamedNode(EX + "Room")))
    assert query.comparisons == (Comparison(Y, ">=", FIVE), Comparison(X, "!=", Y))
    assert (query.selected, query.distinct) == ((Y, X), True)


def test_all_variables_are_selected_by_a_star_but_no_blank_nodes() -> None:
    query = basic_query_of(shape_of("SELECT * { _:b :in ?x . ?x :in _:b }", {"": EX}).bound)
    assert query is not None
    assert query.selected == (X,)
    assert len(query.variables) == 2


def test_ask_and_construct_are_read() -> None:
    asked = basic_query_of(shape_of("ASK { ?x :in ?y }", {"": EX}).bound)
    made = basic_query_of(shape_of("CONSTRUCT { ?y :in ?x } WHERE { ?x :in ?y }", {"": EX}).bound)
    assert asked is not None
    assert made is not None
    assert made.template == (TripleAtom(Y, IN, X),)


def test_less_than_is_no_iri() -> None:
    query = basic_query_of(
        shape_of("SELECT ?x { ?x :in ?y FILTER(?x <?y && ?y> 3) }", {"": EX}).bound
    )
    assert query is not None
    assert [part.operator for part in query.comparisons] == ["<", ">"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?x { ?x :in ?y } LIMIT 1",
        "SELECT ?x { ?x :in ?y OPTIONAL { ?y :in ?z } }",
        "SELECT ?x { ?x :in/:in ?y }",
        "SELECT ?x { ?x :in ?y FILTER(?y > 3 || ?y < 2) }",
        "SELECT ?x { ?x :in ?y FILTER(?z > 3) }",
        "SELECT ?z { ?x :in ?y }",
        "SELECT (COUNT(*) AS ?n) { ?x :in ?y }",
        "SELECT ?x { GRAPH <http://g> { ?x :in ?y } }",
        "SELECT REDUCED ?x { ?x :in ?y }",
        "CONSTRUCT { _:b :in ?x } WHERE { ?x :in ?y }",
        "SELECT * { }",
        "SELECT ?x FROM <http://g> { ?x :in ?y }",
        "SELECT ?x { ?x :in ?y FILTER(?x + 1 = ?y) }",
        "SELECT ?x { ?x :in <<( :a :b :c )>> }",
        "DESCRIBE ?x { ?x :in ?y }",
        "CONSTRUCT { ?z :in ?x } WHERE { ?x :in ?y }",
    ],
)
def test_every_other_query_is_left_to_others(text: str) -> None:
    assert basic_query_of(shape_of(text, {"": EX}).bound) is None
