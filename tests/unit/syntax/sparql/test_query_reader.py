"""The query reader: texts to the algebra of the recommendation, and mistakes in words."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from livefacts.errors import QueryError
from livefacts.language.algebra import (
    Alternative,
    Basic,
    Both,
    Chosen,
    Dataset,
    DistinctRows,
    Either,
    Grouped,
    InGraph,
    InversePath,
    Listed,
    NoneOf,
    Optionally,
    Ordered,
    OrderKey,
    PathAtom,
    Pattern,
    PredicatePath,
    Query,
    QueryAggregate,
    ReducedRows,
    Repeated,
    Sequence,
    Slice,
    TripleTerm,
    Where,
    With,
    Without,
)
from livefacts.language.expressions import Call, Constant, Exists
from livefacts.language.formula import TripleAtom, Variable
from livefacts.model.namespaces import RDF, RDF_TYPE
from livefacts.syntax.sparql.query_reader import parse_query

EX = "http://example.org/"
S, X, Y, N = map(Variable, "sxyn")
ONE, TWO = Constant(Literal(1)), Constant(Literal(2))


def ex(name: str) -> NamedNode:
    return NamedNode(EX + name)


def read(text: str) -> Query:
    return parse_query(text, {"": EX})


def pattern(group: str) -> Pattern:
    """The pattern of a group, from inside of its projection."""
    found = read(f"SELECT * {{ {group} }}").pattern
    assert isinstance(found, Chosen)
    return found.of


def triple(name: str, subject: Variable = X, value: Variable = Y) -> TripleAtom:
    return TripleAtom(subject, ex(name), value)


def basic(*names: str) -> Basic:
    return Basic(tuple(map(triple, names)))


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("?x :p ?y . ?x :q ?y", basic("p", "q")),
        ("?x :p ?y ; :q ?y ; .", basic("p", "q")),
        ("?x :p ?y FILTER(?x = 1) ?x :q ?y", Where(basic("p", "q"), Call("=", (X, ONE)))),
        ("{ ?x :p ?y } { ?x :q ?y }", Both(basic("p"), basic("q"))),
        ("{ ?x :p ?y } UNION { ?x :q ?y }", Either(basic("p"), basic("q"))),
        ("?x :p ?y MINUS { ?x :q ?y }", Without(basic("p"), basic("q"))),
        ("?x :p ?y OPTIONAL { ?x :q ?y }", Optionally(basic("p"), basic("q"))),
        (
            "?x :p ?y OPTIONAL { ?x :q ?y FILTER(?x = 1) }",
            Optionally(basic("p"), basic("q"), Call("=", (X, ONE))),
        ),
        (
            "?x :p ?y OPTIONAL { { ?x :q ?y FILTER(?x = 1) } }",
            Optionally(basic("p"), Where(basic("q"), Call("=", (X, ONE)))),
        ),
        ("?x :p ?y BIND(?y + 1 AS ?n)", With(basic("p"), N, Call("+", (Y, ONE)))),
        ("GRAPH ?n { ?x :p ?y }", InGraph(N, basic("p"))),
        (
            "?x :p ?y FILTER NOT EXISTS { ?x :q ?y }",
            Where(basic("p"), Exists(basic("q"), negated=True)),
        ),
        (
            "VALUES (?x ?y) { (1 UNDEF) }",
            Listed((X, Y), ((Literal(1), None),)),
        ),
        ("VALUES ?x { :a }", Listed((X,), ((ex("a"),),))),
        ("VALUES () { () }", Listed((), ((),))),
        ("", Basic()),
    ],
)
def test_groups_are_translated_as_the_recommendation_says(group: str, expected: Pattern) -> None:
    assert pattern(group) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (":p/:q", Sequence((PredicatePath(ex("p")), PredicatePath(ex("q"))))),
        ("a|:q", Alternative((PredicatePath(RDF_TYPE), PredicatePath(ex("q"))))),
        ("^:p*", InversePath(Repeated(PredicatePath(ex("p")), "*"))),
        ("(^:p)+", Repeated(InversePath(PredicatePath(ex("p"))), "+")),
        ("!(:p|:q)", NoneOf((ex("p"), ex("q")))),
        ("!:p", NoneOf((ex("p"),))),
        ("!^:p", InversePath(NoneOf((ex("p"),)))),
        ("!(:p|^:q)", Alternative((NoneOf((ex("p"),)), InversePath(NoneOf((ex("q"),)))))),
    ],
)
def test_paths_are_read(path: str, expected: object) -> None:
    assert pattern(f"?x {path} ?y") == Basic((PathAtom(X, expected, Y),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?x + 1 - 2", Call("-", (Call("+", (X, ONE)), TWO))),
        ("?x -1", Call("-", (X, ONE))),
        ("?x * -1", Call("*", (X, Constant(Literal(-1))))),
        ("1 + ?x * 2", Call("+", (ONE, Call("*", (X, TWO))))),
        ("?x<?y&&?y>1", Call("&&", (Call("<", (X, Y)), Call(">", (Y, ONE))))),
        ("?x || ?y || !?n", Call("||", (X, Y, Call("!", (N,))))),
        ("?x IN (1, 2)", Call("IN", (X, ONE, TWO))),
        ("?x NOT IN ()", Call("NOT IN", (X,))),
        ("isuri(?x)", Call("isURI", (X,))),
        ("Substr(?x, 1, 2)", Call("SUBSTR", (X, ONE, TWO))),
        ("sha256(?x)", Call("SHA256", (X,))),
        ("RAND()", Call("RAND")),
        (":f(?x)", Call(f"<{EX}f>", (X,))),
        ("'a\\t\\u0062'@EN", Constant(Literal("a\tb", language="en"))),
        ('"""a"b"""^^:t', Constant(Literal('a"b', datatype=ex("t")))),
        ("TRUE", Constant(Literal(True))),
        ("<<( ?x :p 1 )>>", Call("TRIPLE", (X, Constant(ex("p")), ONE))),
    ],
)
def test_expressions_are_read(text: str, expected: object) -> None:
    text = text.replace("\\u0062", "b")
    assert pattern(f"BIND({text} AS ?z)") == With(Basic(), Variable("z"), expected)  # type: ignore[arg-type]


def test_modifiers_stand_around_each_other_in_the_order_of_the_recommendation() -> None:
    query = read(
        "SELECT DISTINCT ?x (?y + 1 AS ?n) { ?x :p ?y } "
        "ORDER BY DESC(?y) ?n LIMIT 3 OFFSET 2 VALUES ?x { 1 }"
    )
    values = Both(basic("p"), Listed((X,), ((Literal(1),),)))
    extended = With(values, N, Call("+", (Y, ONE)))
    ordered = Ordered(extended, (OrderKey(Y, descending=True), OrderKey(N)))
    assert query.pattern == Slice(DistinctRows(Chosen(ordered, (X, N))), 2, 3)
    assert query.selected == ("x", "n")


def test_reduced_rows_are_told_from_distinct_ones() -> None:
    assert read("SELECT REDUCED ?x { ?x :p ?y }").pattern == ReducedRows(Chosen(basic("p"), (X,)))


def test_groups_have_keys_and_aggregates_and_having_is_about_both() -> None:
    query = read(
        "SELECT ?x (COUNT(DISTINCT ?y) AS ?n) { ?x :p ?y } GROUP BY ?x HAVING (SUM(?y) > 1)"
    )
    chosen = query.pattern
    assert isinstance(chosen, Chosen)
    extended = chosen.of
    assert isinstance(extended, With)
    where = extended.of
    assert isinstance(where, Where)
    grouped = where.of
    assert isinstance(grouped, Grouped)
    assert (grouped.of, grouped.keys) == (basic("p"), (X,))
    totals = dict(grouped.aggregates)
    assert totals[extended.value] == QueryAggregate("COUNT", Y, distinct=True)  # type: ignore[index]
    assert isinstance(where.condition, Call)
    assert totals[where.condition.arguments[0]] == QueryAggregate("SUM", Y)  # type: ignore[index]


def test_a_variable_of_having_that_is_no_key_stands_for_one_of_its_values() -> None:
    query = read("SELECT ?x { ?x :p ?y } GROUP BY ?x HAVING (?y > 1) ORDER BY ?y")
    assert "SAMPLE" in repr(query.pattern)


def test_a_key_can_be_computed() -> None:
    query = read("SELECT ?n { ?x :p ?y } GROUP BY (?y + 1 AS ?n) STR(?x)")
    assert isinstance(query.pattern, Chosen)
    grouped = query.pattern.of
    assert isinstance(grouped, Grouped)
    assert len(grouped.keys) == 2
    assert isinstance(grouped.of, With)
    assert grouped.of.of == With(basic("p"), N, Call("+", (Y, ONE)))


def test_a_construct_has_new_nodes_in_its_template() -> None:
    query = read("CONSTRUCT { ?x :p _:b } WHERE { ?x :p _:b }")
    (made,) = query.template
    assert isinstance(query.pattern, Basic)
    assert made.object not in query.pattern.atoms[0].slots
    short = read("CONSTRUCT WHERE { ?x :p ?y }")
    assert (short.pattern, short.template) == (basic("p"), (triple("p"),))


def test_a_describe_names_its_targets() -> None:
    assert read("DESCRIBE :a ?x { ?x :p ?y }").targets == (ex("a"), X)
    assert read("DESCRIBE * { ?x :p ?y }").targets == (X, Y)
    assert read("DESCRIBE :a").pattern == Basic()


def test_from_names_graphs() -> None:
    query = read("ASK FROM :a FROM NAMED :b FROM :a { }")
    assert query.dataset == Dataset((ex("a"),), (ex("b"),))


def test_lists_and_brackets_are_triples_about_nodes_of_their_own() -> None:
    found = pattern("?x :p (1 [ :q ?y ]) , [] , ()")
    assert isinstance(found, Basic)
    predicates = [atom.predicate for atom in found.atoms if isinstance(atom, TripleAtom)]
    first, rest = NamedNode(RDF + "first"), NamedNode(RDF + "rest")
    assert predicates == [ex("p"), first, rest, first, rest, ex("q"), ex("p"), ex("p")]
    blank = [v for atom in found.atoms for v in atom.slots if isinstance(v, Variable)]
    assert len({v for v in blank if v.name.startswith("_:")}) == 4
    assert read("SELECT * { ?x :p [ :q _:b ] }").selected == ("x",)


def test_triple_terms_are_terms_or_patterns_of_them() -> None:
    found = pattern("?x :p <<( :a :b 1 )>> , <<( ?s :b :c )>>")
    assert isinstance(found, Basic)
    whole, open_ = (atom.slots[2] for atom in found.atoms)
    assert whole == Triple(ex("a"), ex("b"), Literal(1))
    assert open_ == TripleTerm(S, ex("b"), ex("c"))
    assert read("SELECT * { ?x :p <<( ?s :b ?o )>> }").selected == ("x", "s", "o")


@pytest.mark.parametrize(
    "text", ["?x :p ?y {| :q 1 |}", "?x :p ?y ~ _:r {| :q 1 |}", "<< ?x :p ?y >> :q 1 . ?x :p ?y"]
)
def test_reified_triples_are_triples_about_a_node_that_reifies(text: str) -> None:
    found = pattern(text)
    assert isinstance(found, Basic)
    said = {(atom.slots[1], atom.slots[2]) for atom in found.atoms}
    reifies = (NamedNode(RDF + "reifies"), TripleTerm(X, ex("p"), Y))
    assert said == {(ex("p"), Y), reifies, (ex("q"), Literal(1))}


def test_prefixes_and_base_are_taken_in() -> None:
    query = read("BASE <http://a/b/> PREFIX q: <c#> ASK { <d> q:e\\.f <> }")
    assert query.pattern == Basic(
        (TripleAtom(*map(NamedNode, ("http://a/b/d", "http://a/b/c#e.f", "http://a/b/"))),)
    )
    assert query.base == "http://a/b/"


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("ASK { ?x :p ?z BIND(1 AS ?z) }", "BIND of ?z", 26),
        ("ASK { VALUES (?x ?y) { (1 2) (1) } }", "a row of 1 for 2 variables", 30),
        ("ASK { VALUES (?x ?x) { } }", "?x twice in VALUES", 18),
        ("SELECT ?x ?x { ?x ?p ?y }", "SELECT has ?x twice", 11),
        ("SELECT (1 AS ?x) { ?x ?p ?y }", "a variable that the pattern has", 1),
        ("SELECT * { ?x ?p ?y } GROUP BY ?x", "does not go with GROUP BY", 1),
        ("SELECT ?y { ?x ?p ?y } GROUP BY ?x", "neither grouped nor counted", 1),
        ("SELECT ?x (COUNT(*) AS ?n) { ?x ?p ?y }", "neither grouped nor counted", 1),
        ("ASK { FILTER(COUNT(?x) > 1) }", "COUNT inside of FILTER", 14),
        ("SELECT (SUM(COUNT(?x)) AS ?n) { }", "COUNT inside of SUM", 13),
        ("SELECT (SUM(*) AS ?n) { }", "SUM of *", 9),
        ("ASK { _:b :p 1 OPTIONAL { _:b :p 2 } }", "_:b in two groups", 27),
        ("ASK { FILTER(SUBSTR(?x) = 1) }", "SUBSTR with 1 arguments", 14),
        ("ASK { FILTER(BOUND(1)) }", "BOUND of what is no variable", 14),
        ("CONSTRUCT { ?x :p/:q ?y } WHERE { }", "a path in a template", 11),
        ("ASK { ?x :p 'a\\q' }", "\\q is no character", 13),
        ("ASK { } LIMIT 1.5", "1.5 is no number of rows", 15),
        ("PREFIX a:b <x:y> ASK { }", "PREFIX declares nothing here", 1),
        ("ASK { <a> :p 1 }", "<a> is a relative IRI", 7),
        ("ASK { no:p :p 1 }", "the prefix no: is not declared", 7),
        ("ASK { SERVICE <x:y> { } }", "SERVICE is refused", 7),
        ("ASK { ?x :p \x01 }", "a character that means nothing", 13),
    ],
)
def test_a_mistake_is_told_where_it_stands(text: str, message: str, column: int) -> None:
    with pytest.raises(QueryError) as caught:
        read(text)
    assert message in caught.value.message
    assert caught.value.place is not None
    assert caught.value.place.column == column


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("?z :p ?y . ?y :q ?a", "z y a"),
        ("OPTIONAL { ?z :p ?y } ?c :q ?b BIND(1 AS ?a) VALUES ?d { 1 }", "z y c b a d"),
        ("{ ?z :p ?y } UNION { ?a :p ?y } MINUS { ?k :j ?y }", "z y a"),
        ("?x :p [ :q ?c ; :r ?b ] ; :s ?a . (?l ?k) :o ?j", "x c b a l k j"),
        ("GRAPH ?g { ?z :p/:q ?y } { SELECT * { ?v :p ?u } }", "g z y v u"),
        ("FILTER(?y = 1) ?z :p ?y", "z y"),
    ],
)
def test_everything_is_selected_in_the_order_in_which_it_is_first_bound(
    group: str, names: str
) -> None:
    assert read(f"SELECT * {{ {group} }}").selected == tuple(names.split())
