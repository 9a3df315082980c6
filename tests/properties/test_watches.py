"""Watches on reasoners with rules: after every change they answer as a query would."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from tests.properties.generate.queries import OWN_TOTALS, TOTALS, MessageMaker, QueryMaker

import livefacts as lf
from livefacts.service.continuous.watch import Watch
from livefacts.service.queries.results import Answer, Triples

REASONERS, CHUNKS, CHANGES, WATCHES = 24, 2, 6, 6
RULES = [
    "[?x, <x:r>, ?y] :- [?x, <x:p>, ?y] .",
    "[?x, <x:p>, ?z] :- [?x, <x:p>, ?y], [?y, <x:p>, ?z] .",
    "[?y, <x:q>, ?x] :- [?x, <x:q>, ?y], [?x, <x:r>, ?y] .",
    "[?x, <x:q>, <x:a>] :- [?x, <x:r>, ?y], not [?y, <x:p>, ?x] .",
    "[?x, <x:r>, ?n] :- ?n = count { ?y : [?x, <x:p>, ?y] } .",
    "[?x, <x:q>, ?x] :- sometime [?x, <x:seen>, ?y] in [3] .",
]


class AnyQueryMaker(QueryMaker):
    """Draws queries with aggregates of all sorts."""

    drawn_totals = TOTALS + OWN_TOTALS


def bag(result: Any) -> Counter[Any]:
    if isinstance(result, Answer):
        return Counter([()] if result else [])
    rows = result.as_rows() if isinstance(result, Triples) else result
    return Counter(tuple(map(str, row)) for row in rows)


class Story:
    """A reasoner, its watches, and what happens to it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"story {seed}")
        self._assertion = MessageMaker(f"told {seed}")
        self.reasoner = lf.Reasoner(rules=self._rules())
        self._now = 0
        self._asking = [AnyQueryMaker(f"{seed} {number}") for number in range(WATCHES)]
        self.watches: list[Watch] = []
        self.summed: list[Counter[Any]] = []
        self.begin(WATCHES // 2)
        self.asserted = 0

    def _rules(self) -> str:
        return "\n".join(self._random.sample(RULES, self._random.randrange(4)))

    def begin(self, number: int = 1) -> None:
        """So many watches begin, over what is there by now."""
        for asking in self._asking[len(self.watches) :][:number]:
            watch = self.reasoner.watch(asking.query())
            self.watches.append(watch)
            self.summed.append(bag(watch.answers()))

    def change(self) -> None:
        """Facts, rules or time change."""
        kind = self._random.randrange(8)
        if kind == 0:
            rule = self._random.choice(RULES)
            self.reasoner.apply(add_rules=rule, remove_rules=[r.id for r in self.reasoner.rules])
        elif kind == 1:
            self._now += 2
            self.reasoner.push("<x:b> <x:seen> <x:c> .", at=self._now)
            self.reasoner.advance(self._now)
        else:
            added, removed = self._assertion.message()
            self.reasoner.apply(add=added, remove=removed)

    def check(self) -> None:
        """The changes lead from the answers before to the answers now, which are those of a query."""
        for watch, before in zip(self.watches, self.summed, strict=True):
            for change in watch.changes():
                sign = 1 if change.op == "+" else -1
                before[tuple(map(str, change.row))] += sign * change.count
                self.asserted += 1
            now = bag(watch.answers())
            assert Counter({row: n for row, n in before.items() if n}) == now, watch.text
            assert now == bag(self.reasoner.query(watch.text)), watch.text


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_watch_answers_as_a_query_does_after_every_change(chunk: int) -> None:
    asserted = 0
    for seed in range(chunk, REASONERS, CHUNKS):
        story = Story(seed)
        for _ in range(CHANGES):
            story.change()
            story.begin()
            story.check()
        asserted += story.asserted > 0
    assert asserted > 0.8 * REASONERS / CHUNKS
