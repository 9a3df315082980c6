"""Assertions: what a change asserted and retracted, beside what it made true and ended.

The two differ: asserting a conclusion makes nothing true, and what is retracted may
still follow.  Before a change it is noted how the facts stood that the change speaks of,
which costs as much as looking them up; what came of it is worked out when someone asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from livefacts.engine.contract import ASSERTED, IN_DEFAULT, TRIPLES, IdDelta, Ids

Standing = dict[int, Ids]
"""The flags of facts before a change, by shape; 0 for a fact that was not there."""
FindFlags = Callable[[int, Ids], Ids]
"""The flags of facts of a shape."""
NO_QUADS = np.zeros((0, 4), np.int32)
FEW = 200
"""Up to so many facts are sorted without arrays."""


@dataclass(frozen=True, slots=True)
class AskedChange:
    """What a change asks for, in the default graph, and how that stood before it."""

    asserted: dict[int, Ids]
    retracted: dict[int, Ids]
    asserted_before: Standing
    retracted_before: Standing
    strange: int = 0
    """Facts to remove that speak of something nobody has ever spoken of."""


@dataclass(frozen=True, slots=True)
class QuadChange:
    """What a change does to named graphs, in quads.

    `quads` are asserted by the change, `came` those of them that were not there, `gone` those
    that are no longer there, `absent` says how many were to go that had not been there.
    """

    quads: Ids
    came: Ids
    gone: Ids
    absent: int = 0


NO_QUAD_CHANGE = QuadChange(NO_QUADS, NO_QUADS, NO_QUADS)


def note(
    find: FindFlags, asserted: dict[int, Ids], retracted: dict[int, Ids], strange: int
) -> AskedChange:
    """How the facts stand that a change is about to assert and retract."""
    return AskedChange(
        asserted, retracted, _standing(find, asserted), _standing(find, retracted), strange
    )


def _standing(find: FindFlags, facts: dict[int, Ids]) -> Standing:
    return {shape: find(shape, ids) for shape, ids in facts.items()} if facts else {}


class Assertions:
    """The net change of what is asserted, by shape, and of what named graphs assert."""

    def __init__(self, asked: AskedChange, ids: IdDelta, named: QuadChange) -> None:
        self._asked = asked
        self._ids = ids
        self._named = named

    @classmethod
    def recorded(
        cls,
        ids: IdDelta,
        asserted: dict[int, Ids],
        retracted: dict[int, Ids],
        came: Ids,
        went: Ids,
    ) -> Assertions:
        """The net change of a change that was made long ago."""
        found = cls(AskedChange({}, {}, {}, {}), ids, NO_QUAD_CHANGE)
        found.asserted, found.retracted, found.came, found.went = asserted, retracted, came, went
        return found

    @cached_property
    def asserted(self) -> dict[int, Ids]:
        """Facts that the default graph asserts now and did not."""
        return {shape: self._asserted(shape) for shape in self._asked.asserted}

    def _asserted(self, shape: int) -> Ids:
        facts, before = self._asked.asserted[shape], self._asked.asserted_before[shape]
        if shape != TRIPLES or len(self._named.came):
            return distinct(facts[before & IN_DEFAULT == 0])
        # All triples that are new and asserted were asserted here: they are known without sorting.
        new = (
            self._ids.added[shape][~self._ids.derived[shape]]
            if shape in self._ids.added
            else facts[:0]
        )
        return np.concatenate([new, distinct(facts[(before != 0) & (before & IN_DEFAULT == 0)])])

    @cached_property
    def retracted(self) -> dict[int, Ids]:
        """Facts that the default graph asserted and does not assert any more."""
        found = {}
        for shape, before in self._asked.retracted_before.items():
            facts = self._asked.retracted[shape]
            asserted = self._asked.asserted.get(shape, facts[:0])
            found[shape] = without(distinct(facts[before & IN_DEFAULT != 0]), asserted)
        return found

    @cached_property
    def came(self) -> Ids:
        """Quads that named graphs assert now and did not."""
        return without(self._named.came, self._named.gone)

    @cached_property
    def went(self) -> Ids:
        """Quads that named graphs asserted and do not assert any more."""
        return without(self._named.gone, self._named.came)

    def were_asserted(self, shape: int, facts: Ids) -> int:
        """How many of these facts, which are no longer true, had been asserted."""
        parts = [self.retracted.get(shape, facts[:0])]
        if shape == TRIPLES:
            parts.append(self.went[:, :3])
        ended = set(map(tuple, np.concatenate(parts).tolist()))
        return len(ended.intersection(map(tuple, facts.tolist()))) if ended else 0

    def hints(self) -> Iterator[str]:
        """What had no effect, and why."""
        stayed = graphed = 0
        absent = self._named.absent + self._asked.strange
        for before in self._asked.retracted_before.values():
            idle = before[before & IN_DEFAULT == 0]
            absent += int(np.count_nonzero(idle == 0))
            graphed += int(np.count_nonzero(idle & ASSERTED))
            stayed += int(np.count_nonzero((idle != 0) & (idle & ASSERTED == 0)))
        known = sum(
            int(np.count_nonzero(b & IN_DEFAULT)) for b in self._asked.asserted_before.values()
        )
        yield from _remarks(known, absent, stayed, graphed)


NO_ASSERTIONS = Assertions(AskedChange({}, {}, {}, {}), IdDelta({}, {}, {}), NO_QUAD_CHANGE)


def _remarks(known: int, absent: int, stayed: int, graphed: int) -> Iterator[str]:
    if known:
        yield f"to add: {known:,} asserted already"
    if absent:
        yield f"to remove: {absent:,} never asserted"
    if stayed:
        yield f"to remove: {stayed:,} not asserted but derived, and still true; remove the reasons"
    if graphed:
        yield f"to remove: {graphed:,} asserted in a named graph only; name the graph"


def distinct(facts: Ids) -> Ids:
    """These facts, each once."""
    if len(facts) <= 1:
        return facts
    if len(facts) > FEW:
        return np.unique(facts, axis=0)
    found = sorted(set(map(tuple, facts.tolist())))
    return np.array(found, np.int32).reshape(-1, facts.shape[1])


def without(facts: Ids, others: Ids) -> Ids:
    """Those of these facts that are not among the others."""
    if not len(facts) or not len(others):
        return facts
    known = set(map(tuple, others.tolist()))
    return facts[[tuple(fact) not in known for fact in facts.tolist()]]
