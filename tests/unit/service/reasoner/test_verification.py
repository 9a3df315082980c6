"""Verify: a sound reasoner passes, and whatever is broken behind its back is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pyoxigraph import Literal, NamedNode, Quad, Triple

import livefacts as lf
from livefacts.model.facts import Fact, Symbol
from livefacts.store.facts.bits import ASSERTED, CLOSED, EDGE, FRESH, IN_DEFAULT, ROOT, VISIBLE
from livefacts.store.facts.layout import (
    COLUMN,
    FLAGS,
    INDEX,
    LINK,
    LIVE_ROWS,
    PLAIN,
    RECURSIVE,
    SINGLE,
)
from livefacts.store.facts.row_store import TRIPLES, RowStore

RULES = """
@id near   route(?x, ?y) :- road(?x, ?y) .
@id far    route(?x, ?z) :- road(?x, ?y), route(?y, ?z) .
@id within within(?x, ?z) :- within(?x, ?y), within(?y, ?z) .
@id ways   ways(?x, ?n) :- ?n = count { ?y : route(?x, ?y) } .
@id lonely lonely(?x) :- town(?x), not ways(?x, 2) .
@id double twice(?x, ?m) :- ways(?x, ?n), ?m = ?n * 2, ?m > 2 .
@id island false :- lonely(?x), town(?x) .
"""
ROADS = "road(a, b) . road(b, c) . road(c, a) . town(a) . town(b) . town(d) ."
PLACES = "within(a, b) . within(b, c) . within(c, d) ."
A_TO_C = Fact("route", (Symbol("a"), Symbol("c")))


def reasoner_of_roads() -> lf.Reasoner:
    reasoner = lf.Reasoner(rules=RULES)
    reasoner.add(ROADS)
    reasoner.add(PLACES)
    return reasoner


def row_of(reasoner: lf.Reasoner, fact: Fact | Triple) -> tuple[RowStore, int, int]:
    """The store, and the relation and row of a fact in it."""
    if isinstance(fact, Triple):
        shape, terms = TRIPLES, [fact.subject, fact.predicate, fact.object]
    else:
        terms = [Symbol(fact.name), *fact.arguments]
        shape = len(terms)
    store = reasoner._state.engine.store
    ids = np.array([[reasoner._state.dictionary.encode_one(term) for term in terms]], np.int32)  # type: ignore[arg-type]
    relation = store.relation(shape)
    return store, relation, int(store.find(relation, ids)[0])


def cells_of(reasoner: lf.Reasoner, fact: Fact | Triple) -> Any:
    store, relation, row = row_of(reasoner, fact)
    assert row, f"{fact} is not stored"
    return store.cells(relation)[row]


def named(*arguments: str) -> Fact:
    return Fact(arguments[0], tuple(map(Symbol, arguments[1:])))


def test_a_reasoner_that_nobody_meddled_with_is_as_it_should_be() -> None:
    report = reasoner_of_roads().verify()
    assert report
    assert report.ok
    assert report.differences == ()
    assert "everything is as it should be" in str(report)


def test_an_empty_reasoner_is_as_it_should_be() -> None:
    assert lf.Reasoner().verify()
    assert lf.Reasoner(rules="rdfs").verify()


def test_the_report_says_how_much_was_looked_at() -> None:
    reasoner = lf.Reasoner(rules="p(?x) :- q(?x) .")
    reasoner.add("q(a) . q(b) .")
    report = reasoner.verify()
    assert report.instances == 2
    assert report.facts == 5  # with the hidden fact that is always true
    assert report.seconds > 0


def test_a_fact_removed_behind_the_engines_back_is_missing() -> None:
    reasoner = reasoner_of_roads()
    store, relation, row = row_of(reasoner, A_TO_C)
    store.remove(relation, row)
    report = reasoner.verify()
    assert not report
    assert report.counts == {"missing": 1}
    assert report.differences[0].fact == A_TO_C
    assert "route(a, c) follows, but is missing" in str(report)


def test_a_fact_added_behind_the_engines_back_is_unfounded() -> None:
    reasoner = reasoner_of_roads()
    extra = named("route", "a", "z")
    terms = [Symbol("route"), *extra.arguments]
    ids = np.array([[reasoner._state.dictionary.encode_one(term) for term in terms]], np.int32)
    reasoner._state.engine.store.insert(reasoner._state.engine.store.relation(3), ids)
    report = reasoner.verify()
    assert report.counts == {"unfounded": 1}
    assert report.differences[0].fact == extra
    assert "route(a, z) is there, but nothing asserts or derives it" in str(report)


def test_a_fact_that_is_no_longer_marked_as_told_is_named() -> None:
    reasoner = reasoner_of_roads()
    cells_of(reasoner, named("road", "a", "b"))[FLAGS] &= ~ASSERTED
    report = reasoner.verify()
    assert report.counts == {"asserted": 1}
    assert report.differences[0].fact == named("road", "a", "b")
    assert str(report.differences[0]) == "road(a, b): asserted is 0, should be 1"


@pytest.mark.parametrize(
    ("flag", "fact", "kind"),
    [
        (ASSERTED, A_TO_C, "asserted"),
        (CLOSED, named("within", "a", "d"), "closed by a transitive rule"),
        (CLOSED, named("within", "a", "b"), "closed by a transitive rule"),
        (EDGE, named("within", "a", "d"), "edge"),
        (ROOT, A_TO_C, "root"),
        (VISIBLE, A_TO_C, "visible"),
        (FRESH, A_TO_C, "flags of a change"),
    ],
)
def test_a_flag_that_is_turned_is_named(flag: int, fact: Fact, kind: str) -> None:
    reasoner = reasoner_of_roads()
    cells_of(reasoner, fact)[FLAGS] ^= flag
    report = reasoner.verify()
    assert fact in [each.fact for each in report.differences if each.kind == kind]


@pytest.mark.parametrize("number", [PLAIN, RECURSIVE, SINGLE])
@pytest.mark.parametrize("by", [-1, 1])
def test_a_counter_that_is_off_by_one_is_named(number: int, by: int) -> None:
    kind = {PLAIN: "plain count", RECURSIVE: "recursive count", SINGLE: "single count"}[number]
    reasoner = reasoner_of_roads()
    cells_of(reasoner, A_TO_C)[number] += by
    report = reasoner.verify()
    assert report.counts == {kind: 1}
    (difference,) = report.differences
    assert difference.fact == A_TO_C
    assert difference.found == difference.expected + by


@pytest.mark.parametrize("by", [-1, 1])
def test_the_count_of_a_consequence_of_single_triples_is_checked(by: int) -> None:
    reasoner = lf.Reasoner(rules="rdfs")
    reasoner.add(
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
        "<x:A> rdfs:subClassOf <x:B> . <x:p> rdfs:domain <x:B> . <x:a> a <x:A> ; <x:p> <x:c> ."
    )
    assert reasoner.stats()["path"] == "single triples"
    assert reasoner.verify()
    type_of = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    fact = Triple(NamedNode("x:a"), type_of, NamedNode("x:B"))
    cells_of(reasoner, fact)[SINGLE] += by
    report = reasoner.verify()
    assert report.counts == {"single count": 1}
    (difference,) = report.differences
    assert (difference.fact, difference.expected, difference.found) == (fact, 2, 2 + by)


def test_a_triple_in_the_wrong_graph_is_named() -> None:
    reasoner = lf.Reasoner()
    s, p, o, g = (NamedNode(f"x:{name}") for name in "spog")
    reasoner.add([Quad(s, p, o, g), Quad(s, p, g)])
    assert reasoner.verify()
    cells_of(reasoner, Triple(s, p, o))[FLAGS] |= IN_DEFAULT
    assert reasoner.verify()  # asserted in both graphs: nothing contradicts that
    cells_of(reasoner, Triple(s, p, o))[FLAGS] &= ~(IN_DEFAULT | ASSERTED)
    assert reasoner.verify().counts == {"asserted": 1}


def test_a_lost_assertion_of_a_named_graph_is_named() -> None:
    reasoner = lf.Reasoner()
    s, p, o, g = (NamedNode(f"x:{name}") for name in "spog")
    reasoner.add([Quad(s, p, o, g)])
    reasoner._state.graphs.remove(reasoner._state.graphs.quads())
    assert "unfounded" in reasoner.verify().counts


def test_a_broken_index_of_named_graphs_is_named() -> None:
    reasoner = lf.Reasoner()
    s, p, o, g = (NamedNode(f"x:{name}") for name in "spog")
    reasoner.add([Quad(s, p, o, g)])
    reasoner._state.graphs._store.slots(0)[:] = 0
    reasoner._state.graphs._store.slots(1)[:] = 0
    assert "graphs" in reasoner.verify().counts


def test_a_generalized_triple_that_is_missing_is_named_too() -> None:
    reasoner = lf.Reasoner(rules="[?y, <x:of>, ?x] :- [?x, <x:p>, ?y] .")
    reasoner.add('<x:a> <x:p> "words" .')
    store = reasoner._state.engine.store
    rows = store.with_flags(TRIPLES)
    (derived,) = rows[store.flags(TRIPLES)[rows] & ASSERTED == 0]
    store.remove(TRIPLES, int(derived))
    (difference,) = reasoner.verify().differences
    assert difference.fact == (Literal("words"), NamedNode("x:of"), NamedNode("x:a"))
    assert '"words" <x:of> <x:a> follows, but is missing' in str(difference)


def test_a_rule_that_the_engine_forgot_is_named() -> None:
    reasoner = lf.Reasoner(rules="p(?x) :- q(?x) .")
    reasoner._state.program = reasoner._state.program.minus(reasoner.rules)
    report = reasoner.verify()
    assert report.counts == {"rules": 1}
    assert "rule r1 is followed and was removed" in str(report)


def test_a_chain_that_bites_its_tail_is_named() -> None:
    reasoner = reasoner_of_roads()
    store = reasoner._state.engine.store
    relation = store.relation(3)
    line = store.rows.relations[relation]
    index = int(line[INDEX + 1])
    link = int(store.rows.indices[index, LINK])
    cells = store.cells(relation)
    row = next(row for row in store.with_flags(relation).tolist() if cells[row, link])
    cells[row, link] = row
    report = reasoner.verify()
    assert report.counts.keys() == {"index"}
    assert "has a wrong next row in the index on columns" in str(report)


def test_rows_that_are_miscounted_are_named() -> None:
    reasoner = reasoner_of_roads()
    store = reasoner._state.engine.store
    store.rows.relations[store.relation(3), LIVE_ROWS] += 1
    assert reasoner.verify().counts == {"books": 1}


def test_a_row_whose_fact_was_overwritten_is_both_unfounded_and_missing() -> None:
    reasoner = reasoner_of_roads()
    zoo = reasoner._state.dictionary.encode_one(Symbol("zoo"))
    cells_of(reasoner, A_TO_C)[COLUMN + 2] = zoo
    counts = reasoner.verify().counts
    assert counts["missing"] == counts["unfounded"] == 1
    assert "index" in counts


def test_a_long_report_lists_some_and_counts_the_rest() -> None:
    reasoner = lf.Reasoner(rules="p(?x) :- q(?x) .")
    reasoner.add([("q", number) for number in range(300)])
    store = reasoner._state.engine.store
    relation = store.relation(2)
    store.cells(relation)[store.with_flags(relation), PLAIN] += 1
    report = reasoner.verify()
    assert report.counts == {"plain count": 600}
    assert len(report.differences) == 100
    assert "600 differences" in str(report)
    assert "and 590 more" in str(report)
    assert len(str(report).splitlines()) == 12


def test_a_removal_counts_when_the_same_change_brings_a_new_kind_of_fact() -> None:
    reasoner = lf.Reasoner(rules="hot(?x) :- near(?x, ?y), near(?x, bob) .")
    reasoner.add("near(bob, bob) . near(bob, cat) .")
    reasoner.apply(remove="near(bob, cat) .", add="score(cat, 1, cat) .")
    assert reasoner.verify()
