"""Queries of named graphs: after every change they answer as a fresh evaluation does."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from pyoxigraph import NamedNode, Quad, Store, Triple
from tests.properties.generate.queries import MessageMaker, QueryMaker
from tests.properties.generate.seeds import chunks
from tests.properties.test_continuous import decoded, encoded, fresh, rows_of, shown

import livefacts as lf
from livefacts.engine.flow.bags import Bag, add_to
from livefacts.engine.flow.dataflow import NO_QUADS, Dataflow
from livefacts.errors import NotIncrementalError
from livefacts.service.continuous.query_plans import plan_of
from livefacts.store.terms.dictionary import Dictionary

QUERIES, CHUNKS, MESSAGES = 200, 4, 6
ALONE = 60
"""Queries that are fed with quads, without a reasoner."""
GRAPHS = [NamedNode(f"x:{name}") for name in ("a", "b", "g")]
"""Names of graphs are nodes, too: some patterns speak of both."""


class Graphs:
    """Triples in named graphs and in none, as they come and go; all of them are the default."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._assertion = MessageMaker(seed)
        self._homes: dict[Triple, set[NamedNode]] = {}

    def message(self) -> tuple[list[Triple], list[Triple], list[Quad], list[Quad]]:
        """Triples of the default graph that come and go, and quads of named graphs."""
        added, removed = self._assertion.message()
        came, gone = [], []
        for triple in removed:
            gone += [_in(triple, graph) for graph in sorted(self._homes.pop(triple), key=str)]
        for triple in added:
            many = self._random.choice((0, 1, 1, 2))
            homes = self._homes[triple] = set(self._random.sample(GRAPHS, many))
            came += [_in(triple, graph) for graph in sorted(homes, key=str)]
        return added, removed, came, gone


def _in(triple: Triple, graph: NamedNode) -> Quad:
    return Quad(triple.subject, triple.predicate, triple.object, graph)


def quads_of(dictionary: Dictionary, quads: list[Quad]) -> Any:
    terms = [t for q in quads for t in (q.subject, q.predicate, q.object, q.graph_name)]
    return dictionary.encode(terms).reshape(-1, 4) if quads else NO_QUADS  # type: ignore[arg-type]


def follow(text: str, seed: int) -> bool:
    """Follow a query over random graphs; whether it ever had answers."""
    dictionary, store, graphs = Dictionary(), Store(), Graphs(f"graphs {seed}")
    flow = Dataflow(dictionary)
    standing = flow.add(plan_of(text, {}))
    summed: Bag = dict(standing.answers)
    answered = False
    for _ in range(MESSAGES):
        added, removed, came, gone = graphs.message()
        changes = flow.apply(
            encoded(dictionary, added),
            encoded(dictionary, removed),
            quads_of(dictionary, came),
            quads_of(dictionary, gone),
        )
        for _, change in changes:
            for row, count in change.items():
                add_to(summed, row, count)
        store.extend([*(Quad(*triple) for triple in added), *came])
        for quad in [*(Quad(*triple) for triple in removed), *gone]:
            store.remove(quad)
        assert decoded(dictionary, summed) == fresh(store, text), (text, seed)
        answered = answered or bool(summed)
    return answered


def feed(text: str, seed: int) -> bool:
    """Feed a query with random quads, beside one that makes graphs matter; whether it answered."""
    store, graphs = Store(), Graphs(f"fed {seed}")
    many = lf.ContinuousQueries({"asked": text, "graphs": "ASK { GRAPH ?g { ?x ?y ?z } }"})
    summed = rows_of(many.answers("asked"))
    answered = False
    for _ in range(MESSAGES):
        added, removed, came, gone = graphs.message()
        # A triple that no graph has is told on its own; one of a graph is there with its quad.
        homes = {quad.triple for quad in (*came, *gone)}
        new, old = ([t for t in part if t not in homes] for part in (added, removed))
        for change in many.feed(add=[*came, *new], remove=[*gone, *old]).get("asked", ()):
            sign = 1 if change.op == "+" else -1
            summed[tuple(map(shown, change.row))] += sign * change.count
        store.extend([*(Quad(*triple) for triple in added), *came])
        for quad in [*(Quad(*triple) for triple in removed), *gone]:
            store.remove(quad)
        summed = Counter({row: count for row, count in summed.items() if count})
        assert summed == fresh(store, text) == rows_of(many.answers("asked")), (text, seed)
        answered = answered or bool(summed)
    return answered


def test_a_query_that_is_fed_with_quads_answers_as_a_fresh_evaluation_does() -> None:
    answered = sum(feed(QueryMaker(f"fed {seed}", GRAPHS).query(), seed) for seed in range(ALONE))
    assert answered > 0.3 * ALONE


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 2))
def test_the_sum_of_the_changes_is_the_fresh_answer_in_named_graphs(chunk: int) -> None:
    answered = in_graphs = 0
    for seed in range(chunk, QUERIES, CHUNKS):
        text = QueryMaker(f"graph {seed}", GRAPHS).query()
        in_graphs += "GRAPH" in text
        try:
            answered += follow(text, seed)
        except NotIncrementalError as error:
            pytest.fail(f"{text}: {error}")
    assert in_graphs > 0.5 * QUERIES / CHUNKS
    assert answered > 0.3 * QUERIES / CHUNKS
