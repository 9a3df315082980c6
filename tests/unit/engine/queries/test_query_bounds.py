"""The bounds of a query: time, memory, rows, strings, and texts that are too much."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from pyoxigraph import NamedNode

import livefacts as lf
from livefacts.errors import InputError, LimitError, QueryError

EVERYTHING_THRICE = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i"


@pytest.fixture(scope="module")
def reasoner() -> lf.Reasoner:
    made = lf.Reasoner()
    made.add("\n".join(f"<x:s{n}> <x:p> <x:o{n}> ." for n in range(1_000)))
    return made


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
    whole = reasoner.query("SELECT * { <x:s1> ?p ?o }", limit_rows=7)
    assert (len(whole), whole.complete) == (1, True)


def test_what_nobody_asks_for_is_counted_and_not_listed(reasoner: lf.Reasoner) -> None:
    counted = reasoner.query(f"SELECT (COUNT(*) AS ?n) {{ {EVERYTHING_THRICE} }}", timeout=5)
    assert counted[0]["n"].value == str(1_000**3)
    assert len(reasoner.query(f"SELECT * {{ {EVERYTHING_THRICE} }} LIMIT 5", timeout=5)) == 5


def test_ctrl_c_ends_a_query(reasoner: lf.Reasoner) -> None:
    # Who runs in the background inherits that Ctrl-C is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            reasoner.query(f"SELECT * {{ {EVERYTHING_THRICE} FILTER(?a = ?i) }}", timeout=20)
    finally:
        signal.signal(signal.SIGINT, before)
    assert reasoner.query("ASK { <x:s1> <x:p> <x:o1> }")


def test_strings_that_double_again_and_again_end_with_a_limit() -> None:
    doubled = " ".join(f"BIND(CONCAT(?x{n}, ?x{n}) AS ?x{n + 1})" for n in range(40))
    with pytest.raises(LimitError, match="string"):
        lf.Reasoner().query(f"SELECT ?x40 {{ BIND('ab' AS ?x0) {doubled} }}")


@pytest.mark.parametrize(
    "text",
    [
        "ASK " + "{" * 10_000 + "}" * 10_000,
        "ASK { FILTER(" + "!" * 20_000 + "true) }",
        "ASK { " + " UNION ".join(["{ ?s ?p ?o }"] * 100_000) + " }",
    ],
)
def test_a_text_that_is_too_much_is_refused(reasoner: lf.Reasoner, text: str) -> None:
    with pytest.raises(QueryError):
        reasoner.query(text, timeout=5)


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
    with pytest.raises(InputError, match="may be an IRI or a string"):
        reasoner.query("ASK { ?s <x:p> ?o }", bindings={"s": "x:s7"})
