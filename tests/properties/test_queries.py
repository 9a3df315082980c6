"""Queries of every form, asked after every change, answer as pyoxigraph does of the same facts.

Each of them has a plan that can be shown.  Where engines do not agree, queries and watches answer
as the oracle does, which reads the recommendation literally.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from pyoxigraph import NamedNode, Quad, QueryBoolean, QueryTriples, Store, Triple
from tests.oracle.solutions import Answers
from tests.properties.generate.queries import LiteralQueryMaker, MessageMaker, QueryMaker
from tests.properties.generate.seeds import chunks

import livefacts as lf
from livefacts.service.continuous.watch import Watch
from livefacts.service.queries.plan_tree import PlanTree
from livefacts.service.queries.results import Answer, Triples
from livefacts.store.versions import snapshots
from livefacts.syntax.sparql.query_reader import parse_query

REASONERS, CHANGES, QUERIES = 8, 5, 12
FOLLOWED, LITERAL = 5, 6
"""Watches of a reasoner, and queries after each of its changes, that the oracle answers."""
GRAPHS = [NamedNode("x:g"), NamedNode("x:h")]
RULES = [
    "",
    "[?x, <x:r>, ?y] :- [?x, <x:p>, ?y] .",
    "[?x, <x:p>, ?z] :- [?x, <x:p>, ?y], [?y, <x:p>, ?z] .",
]


def bag(result: Any, names: Sequence[str] = ()) -> Counter[Any]:
    """The rows of a result of either engine; triples count once.

    Columns are in the order of their names, or as `names` has them.
    """
    if isinstance(result, Answer | QueryBoolean):
        return Counter([()] if result else [])
    if isinstance(result, Triples | QueryTriples):
        return Counter({tuple(map(str, triple)): 1 for triple in result})
    names = names or sorted(getattr(name, "value", name) for name in result.variables)
    rows = ([row[name] for name in names] for row in result)
    return Counter(tuple("" if t is None else str(t) for t in row) for row in rows)


def is_odd(text: str) -> bool:
    """Whether pyoxigraph answers in a way of its own: it groups the rows of all graphs together,
    and counts different ways of a path as different rows."""
    groups_graphs = "GRAPH ?" in text and "GROUP BY" in text
    return groups_graphs or ("COUNT(DISTINCT *)" in text and ")/" in text)


def check_plan(plan: PlanTree, future: PlanTree, rows: int) -> None:
    """The plan of any query can be shown, and has the operators that were foreseen."""
    assert plan.rows == rows
    assert len(str(plan).splitlines()) > plan.to_dot().count(" -> ")
    assert json.loads(json.dumps(plan.to_dict())) == plan.to_dict()
    assert operators(plan) == operators(future)


def operators(plan: PlanTree) -> tuple[Any, ...]:
    """A plan without the steps of its joins, which depend on what is bound."""
    is_join = plan.operator.split(",")[0].endswith(("triple pattern", "triple patterns"))
    return plan.operator, () if is_join else tuple(map(operators, plan.below))


def check_columns(result: Any) -> None:
    """The columns of Arrow have the same rows, as terms; as values they have as many."""
    if isinstance(result, Answer):
        return
    terms = [tuple(row.values()) for row in result.to_arrow(terms=True).to_pylist()]
    assert terms == [tuple(t if t is None else str(t) for t in row) for row in result]
    assert len(result.to_arrow()) == len(result)


class Comparison:
    """A reasoner that changes, and a store of pyoxigraph with all that is true in it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"queries {seed}")
        self._messages = MessageMaker(f"facts {seed}")
        self._has_graphs = self._random.random() < 0.5
        self.reasoner = lf.Reasoner(rules=self._random.choice(RULES))
        self.quads: set[Quad] = set()
        self.answered = 0

    def change(self) -> None:
        """Facts come and go, in the default graph and in others."""
        added, removed = self._messages.message()
        come: list[Any] = list(added)
        go: list[Any] = list(removed)
        if self._has_graphs:
            new = {Quad(*triple, self._random.choice(GRAPHS)) for triple in added[:8]}
            old = {quad for quad in self.quads if self._random.random() < 0.3}
            come += sorted(new - self.quads, key=str)
            go += sorted(old - new, key=str)
            self.quads = (self.quads - old) | new
        self.reasoner.apply(add=come, remove=go)

    def store(self) -> Store:
        store = Store()
        store.extend(Quad(*fact) for fact in self.reasoner.facts() if isinstance(fact, Triple))
        store.extend(self.quads)
        return store

    def check(self, number: int) -> None:
        """Some queries have the same answers in both."""
        store = self.store()
        for each in range(QUERIES):
            graphs = GRAPHS if self.quads else ()
            text = QueryMaker(f"{number} {each} {self._random.random()}", graphs).query()
            if is_odd(text):
                continue
            expected = bag(store.query(text))
            result = self.reasoner.query(text)
            assert bag(result) == expected, text
            check_columns(result)
            future = self.reasoner.query(text, explain_only=True)
            rows = bool(result) if isinstance(result, Answer) else len(result)
            check_plan(result.plan, future, rows)
            self.answered += bool(expected)


@pytest.mark.parametrize("chunk", chunks(12, 2))
def test_a_query_answers_as_pyoxigraph_does_after_every_change(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Graphs that lack a constant are left out also where there are few.
    monkeypatch.setattr(snapshots, "FEW_GRAPHS", 2 * (chunk % 2))
    answered = 0
    for seed in range(chunk * REASONERS, (chunk + 1) * REASONERS):
        compared = Comparison(seed)
        for number in range(CHANGES):
            compared.change()
            compared.check(number)
        answered += compared.answered
    assert answered > 0.25 * REASONERS * CHANGES * QUERIES


class LiteralComparison(Comparison):
    """The same, with the oracle's answers to queries, and to those that are followed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._watches: list[Watch] = []

    def check_literally(self, number: int) -> None:
        """Some queries, and all that are watched, have the answers of the oracle."""
        oracle = self._oracle()
        for watch in self._watches:
            self._compare(watch.answers(), watch.text, oracle)
        for each in range(LITERAL):
            maker = LiteralQueryMaker(f"{number} {each} {self._random.random()}", self._graphs())
            text = maker.query()
            self.answered += bool(self._compare(self.reasoner.query(text), text, oracle))
            watch = self.reasoner.watch(text)
            self._compare(watch.answers(), text, oracle)
            if len(self._watches) < FOLLOWED:
                self._watches.append(watch)
            else:
                watch.close()

    def _graphs(self) -> list[NamedNode]:
        return [name for name in GRAPHS if any(quad.graph_name == name for quad in self.quads)]

    def _oracle(self) -> Answers:
        named = {
            name: [quad.triple for quad in self.quads if quad.graph_name == name]
            for name in self._graphs()
        }
        return Answers((f for f in self.reasoner.facts() if isinstance(f, Triple)), named)

    def _compare(self, result: Any, text: str, oracle: Answers) -> Counter[Any]:
        query = parse_query(text, {})
        expected = oracle.of(query)
        assert bag(result, query.selected) == expected, text
        return expected


@pytest.mark.parametrize("chunk", chunks(12, 2))
def test_queries_and_watches_answer_as_the_recommendation_is_written(chunk: int) -> None:
    answered = 0
    for seed in range(chunk * REASONERS, (chunk + 1) * REASONERS):
        compared = LiteralComparison(seed)
        for number in range(CHANGES):
            compared.change()
            compared.check_literally(number)
        answered += compared.answered
    assert answered > 0.25 * REASONERS * CHANGES * LITERAL
