"""After every message, the answers of a continuous query are those of a fresh evaluation."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from pyoxigraph import Quad, QueryBoolean, QueryTriples, Store
from tests.properties.questions import Asking, Telling

from livefacts.engine.embedded.bags import UNBOUND, Bag, add_to
from livefacts.engine.embedded.dataflow import Dataflow
from livefacts.plan.flow import Cut
from livefacts.service.continuous.queryplans import plan_of
from livefacts.store.dictionary import Dictionary

QUERIES, CHUNKS, MESSAGES = 400, 4, 8
NOTHING = np.zeros((0, 3), np.int32)


def follow(text: str, seed: int | str, messages: int = MESSAGES) -> int:
    """Follow a query over random messages; how many of its states had answers."""
    dictionary = Dictionary()
    flow, store, telling = Dataflow(dictionary), Store(), Telling(f"data {seed}")
    plan = plan_of(text, {})
    assert not any(isinstance(step.operator, Cut) for step in plan.steps)
    standing = flow.add(plan, NOTHING)
    summed: Bag = dict(standing.answers)
    answered = 0
    for _ in range(messages):
        added, removed = telling.message()
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
    return Counter(tuple(None if t is None else str(t) for t in row) for row in found)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_the_sum_of_the_changes_is_the_fresh_answer_after_every_message(chunk: int) -> None:
    answered = 0
    for seed in range(chunk, QUERIES, CHUNKS):
        answered += bool(follow(Asking(seed).query(), seed))
    assert answered > 0.4 * QUERIES / CHUNKS
