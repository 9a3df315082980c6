"""The bounds of a query: time, memory, rows, strings, and texts that are too much."""

from __future__ import annotations

import os
import signal
import threading
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Triple, Variable

import livefacts as lf
from livefacts.engine.queries.bounds import Bounds
from livefacts.errors import InputError, LimitError, QueryError

EVERYTHING_THRICE = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i"


@pytest.fixture(scope="module")
def reasoner() -> lf.Reasoner:
    made = lf.Reasoner()
    made.add("\n".join(f"<x:s{n}> <x:p> <x:o{n}> ." for n in range(1_000)))
    made.add("\n".join(f"<x:s{n}> <x:v> {n} ." for n in range(1_000)))
    made.add("\n".join(f"<x:n{n}> <x:next> <x:n{(n + 1) % 500}> ." for n in range(500)))
    return made


@pytest.fixture(scope="module")
def few() -> lf.Reasoner:
    made = lf.Reasoner()
    made.add("<x:s1> <x:p> <x:o1> . <x:o1> <x:p> <x:s1> .")
    return made


def typed(text: str, name: str) -> Literal:
    return Literal(text, datatype=NamedNode(f"http://www.w3.org/2001/XMLSchema#{name}"))


@pytest.mark.parametrize(
    "asked",
    [
        f"{EVERYTHING_THRICE} FILTER(?a = ?i)",
        "?a ?b ?c . ?d ?e ?f FILTER(REGEX(CONCAT(STR(?a), STR(?d)), '(a+)+$'))",
        "?a ?b ?c . ?d ?e ?f BIND(SHA512(CONCAT(STR(?a), STR(?d))) AS ?x)",
    ],
)
def test_a_query_that_takes_too_long_is_given_up(reasoner: lf.Reasoner, asked: str) -> None:
    with pytest.raises(LimitError, match=r"longer than 0\.2 s"):
        reasoner.query(f"SELECT * {{ {asked} }}", timeout=0.2)
    assert reasoner.query("ASK { <x:s1> <x:p> <x:o1> }")


def test_a_query_that_takes_too_much_memory_is_given_up(reasoner: lf.Reasoner) -> None:
    with pytest.raises(LimitError, match="more than 10,000,000 bytes"):
        reasoner.query(f"SELECT * {{ {EVERYTHING_THRICE} }}", memory=10_000_000)


def test_rows_beyond_a_limit_are_cut_and_the_result_says_so(reasoner: lf.Reasoner) -> None:
    cut = reasoner.query(f"SELECT * {{ {EVERYTHING_THRICE} }}", limit_rows=7)
    assert (len(cut), cut.complete) == (7, False)
    whole = reasoner.query("SELECT * { <x:s1> ?p ?o }", limit_rows=2)
    assert (len(whole), whole.complete) == (2, True)


def test_what_nobody_asks_for_is_counted_and_not_listed(reasoner: lf.Reasoner) -> None:
    counted = reasoner.query(f"SELECT (COUNT(*) AS ?n) {{ {EVERYTHING_THRICE} }}", timeout=5)
    assert counted[0]["n"].value == str(2_500**3)
    assert len(reasoner.query(f"SELECT * {{ {EVERYTHING_THRICE} }} LIMIT 5", timeout=5)) == 5


def test_ctrl_c_ends_a_query(reasoner: lf.Reasoner) -> None:
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        reasoner.query(f"SELECT * {{ {EVERYTHING_THRICE} FILTER(?a = ?i) }}", timeout=20)
    assert reasoner.query("ASK { <x:s1> <x:p> <x:o1> }")


@pytest.mark.slow
def test_strings_that_double_again_and_again_end_with_a_limit() -> None:
    doubled = " ".join(f"BIND(CONCAT(?x{n}, ?x{n}) AS ?x{n + 1})" for n in range(40))
    with pytest.raises(LimitError, match="string"):
        lf.Reasoner().query(f"SELECT ?x40 {{ BIND('ab' AS ?x0) {doubled} }}")


TOO_MUCH = {
    "braces": "{" * 10_000 + "}" * 10_000,
    "braces that stay open": "{" * 10_000,
    "not": "{ FILTER(" + "!" * 20_000 + "true) }",
    "not, less often": "{ FILTER(" + "!" * 990 + "true) }",
    "minus": "{ ?s ?p ?o FILTER(" + "- " * 990 + "1 > ?o) }",
    "sums": "{ ?s ?p ?o FILTER(" + "+".join(["1"] * 990) + ") }",
    "products": "{ ?s ?p ?o FILTER(?o = " + "*".join(["?o"] * 990) + ") }",
    "arms": "{ " + " UNION ".join(["{ ?s ?p ?o }"] * 100_000) + " }",
    "groups": "{ " + "{} " * 20_000 + "}",
    "parentheses": "{ ?s ?p ?o FILTER(" + "(" * 10_000 + "1" + ")" * 10_000 + ") }",
    "nested paths": "{ ?s " + "(" * 10_000 + "<x:p>" + ")*" * 10_000 + " ?o }",
    "steps of a path": "{ ?s " + "/".join(["<x:p>"] * 5_000) + " ?o }",
    "arms of a path": "{ ?s " + "|".join(["<x:p>"] * 5_000) + " ?o }",
    "inner queries": "{ " + "{ SELECT * { " * 1_000 + "?s ?p ?o" + " } }" * 1_000 + " }",
    "triple terms": "{ ?s ?p " + "<<( ?s ?p " * 5_000 + "?o" + " )>>" * 5_000 + " }",
    "bindings": "{ " + " ".join(f"BIND(1 AS ?b{n})" for n in range(3_000)) + " }",
    "a list": "{ ?s ?p ( " + "1 " * 20_000 + ") }",
    "a string that stays open": "{ ?s ?p '" + "x" * 60_000 + " }",
    "rows of VALUES that are none": "{ VALUES (?x) {(<x:a>)= (UNDEF)} }",
    "half of VALUES": "{ VALUES (?x",
    "text": "{ ?s ?p ?o } #" + "x" * (1 << 20),
}
ENOUGH = {
    "a path that is repeated again": "{ ?s " + "(" * 120 + "<x:p>" + ")*" * 120 + " ?o }",
    "a long path": "{ ?s " + "/".join(["<x:p>"] * 120) + " ?o }",
    "a long list": "{ ?s <x:p> ( " + "1 " * 60 + ") }",
    "nodes in nodes": "{ ?s <x:p> " + "[ <x:p> " * 60 + "?o" + "]" * 60 + " }",
    "inner queries": "{ " + "{ SELECT * { " * 50 + "?s <x:p> ?o" + " } }" * 50 + " }",
    "arms": "{ " + " UNION ".join(["{ ?s <x:p> ?o }"] * 60) + " }",
    "sums": "{ ?s <x:p> ?o FILTER(" + "+".join(["1"] * 150) + ") }",
    "conditions": "{ ?s <x:p> ?o FILTER(" + "||".join(["?s=?o"] * 400) + ") }",
    "values": "{ VALUES ?x { " + " ".join(map(str, range(5_000))) + " } }",
}


def by(road: str, reasoner: lf.Reasoner, body: str) -> None:
    """Ask for a group of patterns by one of the roads that a text can take."""
    if road == "query":
        list(reasoner.query(f"SELECT * {body}", limit_rows=3))
    elif road == "update":
        reasoner.update(f"DELETE {{ <x:q> <x:q> <x:q> }} WHERE {body}")
    elif road == "watch":
        reasoner.watch(f"SELECT * {body}").close()
    else:
        window = "REGISTER QUERY q AS SELECT * FROM STREAM <x:st> [RANGE 10s STEP 1s]"
        reasoner.register(f"{window} WHERE {body}").close()


ROADS = pytest.mark.parametrize("road", ["query", "update", "watch", "register"])


@ROADS
@pytest.mark.parametrize("body", TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_text_that_is_too_much_is_refused(few: lf.Reasoner, road: str, body: str) -> None:
    if road == "update" and body == TOO_MUCH["text"]:
        body += body
    with pytest.raises(QueryError):
        by(road, few, body)


@pytest.mark.slow
@ROADS
@pytest.mark.parametrize("body", ENOUGH.values(), ids=ENOUGH)
def test_a_text_that_is_large_and_plain_is_answered(few: lf.Reasoner, road: str, body: str) -> None:
    by(road, few, body)


STAGES = {
    "join": ("SELECT * { ?a <x:p> ?b . ?c <x:p> ?d FILTER(?a = ?d) }", 2),
    "path": ("SELECT * { ?a <x:next>+ ?b }", 2),
    "path of paths": ("SELECT * { ?a (<x:next>/<x:next>)* ?b }", 2),
    "sort": ("SELECT * { ?a <x:p> ?b } ORDER BY DESC(STR(?a)) ?b", 3),
    "groups": ("SELECT ?k (SUM(?v) AS ?n) { ?a <x:v> ?v } GROUP BY (?v + 1 AS ?k)", 3),
    "strings": ("SELECT (GROUP_CONCAT(STR(?a)) AS ?n) { ?a <x:v> ?v } GROUP BY ?v", 1_000),
    "distinct": ("SELECT DISTINCT ?b { ?a <x:p> ?b }", 2),
    "optional": ("SELECT * { ?a <x:p> ?b OPTIONAL { ?a <x:v> ?c FILTER(?c > 5) } }", 3),
    "minus": ("SELECT * { ?a <x:p> ?b MINUS { ?a <x:v> ?c FILTER(?c > 5) } }", 3),
    "exists": ("SELECT * { ?a <x:p> ?b FILTER EXISTS { ?a <x:v> ?c FILTER(?c > 5) } }", 3),
    "computed": ("SELECT (CONCAT(STR(?a), STR(?c)) AS ?x) { ?a <x:v> ?b . ?c <x:v> 1 }", 2),
    "drawn": ("SELECT (RAND() AS ?x) { ?a <x:v> ?b . ?c <x:v> ?d FILTER(?d < 9) }", 3),
    "listed": ("SELECT * { ?a <x:v> ?b FILTER(?b IN (1.5, 2.5, 3.5, 4.5, 5.5)) }", 5),
    "triples": ("CONSTRUCT { ?a <x:q> _:b } WHERE { ?a <x:v> ?b . ?c <x:v> ?d FILTER(?d < 9) }", 3),
    "things": ("DESCRIBE ?a { ?a <x:v> ?b }", 2),
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "least"), STAGES.values(), ids=STAGES)
@pytest.mark.parametrize("ends_with", [LimitError, KeyboardInterrupt])
def test_a_query_can_end_at_every_look_at_the_clock(
    reasoner: lf.Reasoner,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    least: int,
    ends_with: type[BaseException],
) -> None:
    looks = 0

    def look(bounds: Bounds) -> None:
        nonlocal looks
        looks += 1
        if looks == ends_at:
            raise ends_with("now")

    monkeypatch.setattr(Bounds, "pause", look)
    ends_at = 0
    expected = len(reasoner.query(text))
    assert looks >= least
    for last in {1, 2, looks // 2, looks - 1, looks} - {0}:
        looks, ends_at = 0, last
        with pytest.raises(ends_with):
            reasoner.query(text)
    ends_at = 0
    assert len(reasoner.query(text)) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "SELECT (RAND() AS ?x) { ?a <x:p> ?b . ?c <x:p> ?d }",
        "SELECT (UUID() AS ?x) { ?a <x:p> ?b . ?c <x:p> ?d }",
        "CONSTRUCT { ?a <x:q> ?d } WHERE { ?a <x:p> ?b . ?c <x:p> ?d }",
        "CONSTRUCT { ?a <x:q> _:b } WHERE { ?a <x:p> ?b . ?c <x:p> ?d }",
        "SELECT * { ?a <x:next>+ ?b }",
        "SELECT ?a ?d { ?a <x:p> ?b . ?c <x:p> ?d } ORDER BY ?d",
        "SELECT ?a ?d (COUNT(*) AS ?n) { ?a <x:p> ?b . ?c <x:p> ?d } GROUP BY ?a ?d",
        "SELECT * { VALUES ?x { 1 2 3 } { SELECT * { ?a <x:p> ?b . ?c <x:p> ?d } } }",
    ],
)
def test_no_stage_takes_more_memory_than_allowed(reasoner: lf.Reasoner, text: str) -> None:
    with pytest.raises(LimitError, match="more than 1,000,000 bytes"):
        reasoner.query(text, memory=1_000_000)


@pytest.mark.parametrize("option", ["timeout", "memory", "limit_rows"])
@pytest.mark.parametrize("value", [-1, float("nan"), "many"])
def test_a_bound_is_a_number_that_is_not_below_0(
    reasoner: lf.Reasoner, option: str, value: object
) -> None:
    with pytest.raises(InputError, match=option):
        reasoner.query("ASK {}", **{option: value})  # type: ignore[call-overload]


def test_marks_of_a_path_that_is_repeated_again_are_one(reasoner: lf.Reasoner) -> None:
    for inner, outer, single in (
        ("*", "*", "*"),
        ("+", "+", "+"),
        ("+", "?", "*"),
        ("?", "+", "*"),
    ):
        nested = reasoner.query(f"SELECT ?y {{ <x:s1> (((<x:p>){inner}){outer}) ?y }}")
        assert set(nested) == set(reasoner.query(f"SELECT ?y {{ <x:s1> <x:p>{single} ?y }}"))
    deep = "(" * 120 + "<x:p>" + ")*" * 120
    assert reasoner.query(f"ASK {{ <x:s1> {deep} <x:o1> }}", timeout=5)


def test_bindings_are_values_of_variables(reasoner: lf.Reasoner) -> None:
    given = {"s": NamedNode("x:s7")}
    assert [row["o"] for row in reasoner.query("SELECT ?o { ?s <x:p> ?o }", bindings=given)] == [
        NamedNode("x:o7")
    ]
    groups = "SELECT ?s (COUNT(?o) AS ?n) { ?s <x:p> ?o } GROUP BY ?s HAVING(COUNT(?o) > 0)"
    assert [row["s"] for row in reasoner.query(groups, bindings=given)] == [NamedNode("x:s7")]
    assert not reasoner.query("ASK { ?s <x:q> ?o }", bindings=given)


@pytest.mark.parametrize(
    ("value", "term"),
    [
        (7, typed("7", "integer")),
        (2**70, typed(str(2**70), "integer")),
        (True, typed("true", "boolean")),
        (0.5, typed("0.5", "double")),
        (float("inf"), typed("INF", "double")),
        (Decimal("1.50"), typed("1.50", "decimal")),
        (datetime(2020, 1, 2, tzinfo=UTC), typed("2020-01-02T00:00:00+00:00", "dateTime")),
        (BlankNode("b"), BlankNode("b")),
        (Literal("a", language="en"), Literal("a", language="en")),
        (Triple(NamedNode("x:a"), NamedNode("x:b"), Literal("c")), None),
    ],
)
def test_a_value_of_python_is_the_term_of_a_variable(
    reasoner: lf.Reasoner, value: object, term: object
) -> None:
    for name in ("x", "?x", "$x"):
        assert [row[0] for row in reasoner.query("SELECT ?x {}", bindings={name: value})] == [
            term or value
        ]


@pytest.mark.parametrize(
    "value", ["x:s7", b"x", None, [], (1, 2), object(), 1j, date(2020, 1, 2), Variable("x")]
)
def test_what_is_no_term_is_refused_as_a_value(reasoner: lf.Reasoner, value: object) -> None:
    with pytest.raises(InputError, match=r"is no term|may be an IRI or a string"):
        reasoner.query("ASK { ?s <x:p> ?o }", bindings={"s": value})


@pytest.mark.parametrize("name", ["subject", "", "?", "??s", "s p", "#row", ".s"])
def test_a_value_for_a_variable_that_is_not_there_is_refused(
    reasoner: lf.Reasoner, name: str
) -> None:
    with pytest.raises(QueryError, match="no variable"):
        reasoner.query("SELECT * { ?s <x:p> ?o }", bindings={name: 1})


@pytest.mark.parametrize("bindings", [{1: 1}, {None: 1}, {"s": 1, "?s": 2}, [("s", 1)], "s", 5])
def test_bindings_map_each_name_once(reasoner: lf.Reasoner, bindings: Any) -> None:
    with pytest.raises(InputError, match="bindings="):
        reasoner.query("SELECT * { ?s <x:p> ?o }", bindings=bindings)
