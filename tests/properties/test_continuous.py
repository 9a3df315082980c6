"""After every message, the answers of a continuous query are those of a fresh evaluation."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from pyoxigraph import Quad, QueryBoolean, QueryTriples, Store
from tests.properties.generate.queries import MessageMaker, QueryMaker
from tests.properties.generate.seeds import chunks

import livefacts as lf
from livefacts.engine.flow.bags import UNBOUND, Bag, add_to
from livefacts.engine.flow.dataflow import Dataflow
from livefacts.engine.flow.nodes import Member
from livefacts.plan.continuous.flow import Cut
from livefacts.service.continuous.query_plans import plan_of
from livefacts.service.queries.results import Answer, Triples
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.versions.snapshots import graphs_of

QUERIES, CHUNKS, MESSAGES = 400, 4, 8
NOTHING = np.zeros((0, 3), np.int32)


def follow(text: str, seed: int | str, messages: int = MESSAGES) -> int:
    """Follow a query over random messages; how many of its states had answers."""
    dictionary = Dictionary()
    flow, store, assertion = Dataflow(dictionary), Store(), MessageMaker(f"data {seed}")
    plan = plan_of(text, {})
    assert not any(isinstance(step.operator, Cut) for step in plan.steps)
    standing = flow.add(plan)
    summed: Bag = dict(standing.answers)
    answered = 0
    for _ in range(messages):
        added, removed = assertion.message()
        for _, change in flow.apply(encoded(dictionary, added), encoded(dictionary, removed)):
            for row, count in change.items():
                add_to(summed, row, count)
        store.extend(map(as_quad, added))
        for triple in removed:
            store.remove(as_quad(triple))
        assert summed == standing.answers
        assert decoded(dictionary, summed) == fresh(store, text), (text, seed)
        answered += bool(summed)
    return answered


def encoded(dictionary: Dictionary, triples: list[Any]) -> Any:
    terms = [term for t in triples for term in (t.subject, t.predicate, t.object)]
    return dictionary.encode(terms).reshape(-1, 3)


def as_quad(triple: Any) -> Quad:
    return Quad(triple.subject, triple.predicate, triple.object)


def decoded(dictionary: Dictionary, bag: Bag) -> Counter[Any]:
    def term(number: int) -> str | None:
        return None if number == UNBOUND else str(dictionary.decode_one(number))

    return Counter({tuple(map(term, row)): count for row, count in bag.items()})


def fresh(store: Store, text: str) -> Counter[Any]:
    found = store.query(text)
    if isinstance(found, QueryBoolean):
        return Counter([()] if found else [])
    if isinstance(found, QueryTriples):
        return Counter({(str(t.subject), str(t.predicate), str(t.object)) for t in found})
    # `*` says nothing of the order of columns.
    rows = ([row[name] for name in plan_of(text, {}).variables] for row in found)
    return Counter(tuple(None if t is None else str(t) for t in row) for row in rows)


def sibling(text: str, turn: int) -> str:
    """The same query about other nodes."""
    return re.sub("(?<=<x:)[abcd](?=>)", lambda m: "abcd"[("abcd".index(m[0]) + turn) % 4], text)


JOINS = [
    "SELECT ?x ?y { ?x <x:p> ?y . ?y <x:q> <x:a> }",
    "SELECT ?x ?y ?z { ?x <x:p> ?y . <x:a> <x:q> ?x OPTIONAL { ?y <x:r> ?z } }",
    "SELECT ?y { ?x <x:p> ?y . ?x <x:p> <x:a> . ?x <x:q> ?x }",
    "SELECT ?x { ?x <x:p> ?x . ?x <x:q> <x:a> }",
    "SELECT ?x ?y ?z { ?x <x:p> ?y . ?x <x:r> <x:a> . ?y <x:q> ?z }",
    "ASK { ?x <x:p> ?y . ?y <x:q> <x:a> . ?x <x:r> <x:b> }",
]


def follow_siblings(text: str, seed: int) -> tuple[int, int]:
    """Queries that differ in constants stand together; some go, and come back.

    How many answered, and how many were members of a family, all messages together.
    """
    dictionary = Dictionary()
    flow, store, assertion = Dataflow(dictionary), Store(), MessageMaker(f"siblings {seed}")
    rng = random.Random(seed)
    standing: dict[str, tuple[Any, Bag]] = {}
    answered = members = 0
    for _ in range(2 * MESSAGES):
        asked = sibling(text, rng.randrange(4))
        if asked in standing:
            flow.drop(standing.pop(asked)[0])
        else:
            there = graphs_of(encoded(dictionary, sorted(assertion.present, key=str)))
            added = flow.add(plan_of(asked, {}), there)
            standing[asked] = added, dict(added.answers)
        come, go = assertion.message()
        sums = {id(each): summed for each, summed in standing.values()}
        for each, change in flow.apply(encoded(dictionary, come), encoded(dictionary, go)):
            for row, count in change.items():
                add_to(sums[id(each)], row, count)
        store.extend(map(as_quad, come))
        for triple in go:
            store.remove(as_quad(triple))
        for asked, (each, summed) in standing.items():
            assert summed == each.answers
            assert decoded(dictionary, summed) == fresh(store, asked), (asked, seed)
            answered += bool(summed)
            members += any(isinstance(node.worker, Member) for node in each.nodes)
    for each, _ in standing.values():
        flow.drop(each)
    assert len(flow) == 0
    assert [ids.tolist() for ids in flow.held_ids()] == [[]]
    return answered, members


def test_queries_that_differ_in_constants_share_joins_and_answer_on_their_own() -> None:
    found = [follow_siblings(JOINS[seed % len(JOINS)], seed) for seed in range(18)]
    assert sum(answered > 0 for answered, _ in found) > 11
    assert sum(members > 0 for _, members in found) > 8
    for seed in range(12):
        follow_siblings(QueryMaker(f"siblings {seed}").query(), seed)


def feed_together(texts: list[str], seed: int) -> None:
    """Queries of patterns and others stand on one stream, whose messages come twice."""
    store, assertion = Store(), MessageMaker(f"together {seed}")
    many = lf.ContinuousQueries({str(number): text for number, text in enumerate(texts)})
    sums = {name: rows_of(many.answers(name)) for name in many.names}
    for _ in range(MESSAGES):
        added, removed = assertion.message()
        for changes in (many.feed(add=added, remove=removed), many.feed(add=added[:1])):
            for name, asserted in changes.items():
                for change in asserted:
                    count = change.count if change.op == "+" else -change.count
                    sums[name][tuple(map(shown, change.row))] += count
        store.extend(map(as_quad, added))
        for triple in removed:
            store.remove(as_quad(triple))
        for name, text in enumerate(texts):
            summed = {row: count for row, count in sums[str(name)].items() if count}
            assert summed == fresh(store, text) == rows_of(many.answers(str(name))), (text, seed)


def rows_of(found: Any) -> Counter[Any]:
    if isinstance(found, Answer):
        return Counter([()] if found else [])
    rows = found.as_rows() if isinstance(found, Triples) else found
    return Counter(tuple(map(shown, row)) for row in rows)


def shown(term: Any) -> str | None:
    return None if term is None else str(term)


def test_queries_of_all_forms_stand_together_on_one_stream() -> None:
    for seed in range(4):
        asked = [QueryMaker(f"together {seed} {number}").query() for number in range(6)]
        plain = [f"SELECT ?x {{ ?x <x:p> {node} . ?x <x:q> <x:a> }}" for node in ("<x:a>", "?y")]
        feed_together([*asked, *plain, sibling(JOINS[seed], 1), JOINS[seed]], seed)


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 2))
def test_the_sum_of_the_changes_is_the_fresh_answer_after_every_message(chunk: int) -> None:
    answered = 0
    for seed in range(chunk, QUERIES, CHUNKS):
        answered += bool(follow(QueryMaker(seed).query(), seed))
    assert answered > 0.4 * QUERIES / CHUNKS
