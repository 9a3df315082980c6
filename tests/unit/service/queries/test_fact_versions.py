"""Versions of facts: readers of any thread see all of a change or nothing of it."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

from pyoxigraph import NamedNode, Quad

import livefacts as lf

CLOSED = "[?x, <x:p>, ?z] :- [?x, <x:p>, ?y], [?y, <x:p>, ?z] ."
TORN = "SELECT * { ?x <x:with> ?y FILTER NOT EXISTS { ?y <x:with> ?x } }"
OPEN = "SELECT * { ?x <x:p> ?y . ?y <x:p> ?z FILTER NOT EXISTS { ?x <x:p> ?z } }"


def run_together(*works: Callable[[], None]) -> None:
    """Run in threads; the first error of any is raised here."""
    failures: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_readers_beside_two_writers_see_whole_changes() -> None:
    r = lf.Reasoner(rules=CLOSED)
    writing = [True, True]

    def write(number: int) -> None:
        pick = random.Random(number)
        for _ in range(60):
            a, b = pick.randrange(12), pick.randrange(12)
            pair = f"<x:m{a}> <x:with> <x:n{b}> . <x:n{b}> <x:with> <x:m{a}> ."
            change = r.add if pick.random() < 0.6 else r.remove
            change(f"<x:m{a}> <x:p> <x:m{b}> . {pair}")
        writing[number] = False

    def read() -> None:
        while any(writing):
            assert not r.query(TORN).rows
            assert not r.query(OPEN).rows

    run_together(lambda: write(0), lambda: write(1), read, read)
    assert r.verify()


def test_a_result_stays_as_it_was_while_facts_and_terms_go() -> None:
    r = lf.Reasoner()
    r.add("\n".join(f"<x:s{n}> <x:p> <x:o{n}> ." for n in range(100)))
    before = r.query("SELECT ?s ?o { ?s <x:p> ?o }")
    r.remove("\n".join(f"<x:s{n}> <x:p> <x:o{n}> ." for n in range(100)))
    r.add("<x:new> <x:p> <x:other> .")
    assert {row["s"].value for row in before} == {f"x:s{n}" for n in range(100)}
    assert [row["s"].value for row in r.query("SELECT ?s { ?s <x:p> ?o }")] == ["x:new"]


def test_a_graph_is_known_after_its_last_triple_has_gone() -> None:
    r = lf.Reasoner()
    quad = Quad(*map(NamedNode, ("x:a", "x:b", "x:c", "x:g")))
    r.add([quad])
    assert r.query("ASK FROM <x:g> { <x:a> ?p ?o }")
    r.remove([quad])
    assert not r.query("ASK FROM <x:g> { <x:a> ?p ?o }")


def test_more_changes_than_there_are_facts_are_taken_in_anew() -> None:
    r = lf.Reasoner()
    r.add("<x:a> <x:p> <x:b> .")
    assert len(r.query("SELECT * { ?s ?p ?o }")) == 1
    r.add("\n".join(f"<x:s{n}> <x:p> <x:o{n}> ." for n in range(1_000)))
    assert len(r.query("SELECT * { ?s ?p ?o }")) == 1_001
    r.remove("<x:a> <x:p> <x:b> .")
    assert len(r.query("SELECT * { ?s ?p ?o }")) == 1_000
