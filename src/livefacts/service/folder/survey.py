"""The survey: how facts stand at one moment, looked at piece by piece while changes go on.

To look at millions of facts takes longer than a writer should wait.  So a piece of them is looked at
while nobody changes anything, and changes go on before the next one.  What is changed meanwhile is
noted and looked at again, until what came last is little: that is looked at in the moment itself.
What all looks come to is found out afterwards, beside every change.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np

from livefacts.engine.contract import TRIPLES, Ids
from livefacts.kb.unsaved_changes import (
    NO_QUADS,
    QUADS,
    Look,
    Noted,
    StoredFacts,
    TouchedFacts,
    UnsavedChanges,
)
from livefacts.service.knowledge.state import State

PIECE = 1 << 15
"""So many facts are looked at together."""
PIECE_OF_GRAPHS = 1 << 9
FEW = 1 << 12
"""So many may be left for the moment that is captured."""
MOST_ROUNDS = 8
SHORTEST_REST, LONGEST_REST = 0.0005, 0.01
"""Seconds between two pieces in which others have their turn."""
Found = TypeVar("Found")


class FactSurvey:
    """Looks at the facts of a state for its next version."""

    def __init__(self, state: State, unsaved: UnsavedChanges) -> None:
        self._state = state
        self._unsaved = unsaved
        self._looks: list[Look] = []
        self._next: Noted | None = None
        """What is being looked at: changes go on, and it is not noted any more."""
        # What has changed may be gone, and its terms must be there to be written.
        self._loan = state.dictionary.lend_later(self._touched_ids)
        self._pieces: dict[int, list[tuple[Ids, Ids]]] = {}
        self._quads: list[Ids] = []
        self._stored = state.engine.pieces()
        self.is_whole = False
        self._can_be_whole = False

    def _touched_ids(self) -> Iterator[Ids]:
        for look in self._looks:
            for touched in look.touched.values():
                yield touched.facts
        if self._next is not None:
            yield from self._next.ids()

    @property
    def has_time(self) -> bool:
        """Whether there is time, from which some facts follow."""
        streams = self._state.streams
        return streams.has_begun or streams.events is not None

    def _can_look_at_all(self) -> bool:
        """Whether the rows of the engine are the facts, and the same rows as at the beginning."""
        state = self._state
        return not self.has_time and state.merged is None and state.engine.pieces() == self._stored

    def look_around(self, must_be_whole: Callable[[], bool]) -> None:
        """Look at everything that the next version needs; changes go on meanwhile."""
        self._aside(lambda: self._begin(must_be_whole()))
        if self._can_be_whole:
            self._look_at_stored()
        if self._next is not None:
            self._look_at_next()
        for _ in range(MOST_ROUNDS):
            if self._unsaved.size <= FEW:
                break
            self._aside(self._turn_over)
            self._look_at_next()

    def _begin(self, is_whole: bool) -> None:
        self.is_whole = is_whole or self._unsaved.is_whole
        self._can_be_whole = self.is_whole and self._can_look_at_all()
        self._turn_over()
        if self.is_whole:
            self._next = None

    def _turn_over(self) -> None:
        self._next = self._unsaved.turn_over(surveyed=True)

    def _aside(self, look: Callable[[], Found]) -> Found:
        """Look at a piece while nobody changes anything; then it is the turn of others."""
        with self._state.changing:
            # How long others waited is how long they have: a clock that nothing is derived from.
            begun = time.perf_counter()
            found = look()
            passed = time.perf_counter() - begun
        time.sleep(min(max(passed, SHORTEST_REST), LONGEST_REST))
        return found

    # all that is stored

    def _look_at_stored(self) -> None:
        for shape in self._aside(self._stored.shapes):
            self._walk(partial(self._take, shape, self._pieces.setdefault(shape, [])))
        self._walk(self._take_quads)

    def _walk(self, take: Callable[[int], bool]) -> None:
        """Take one piece after the other, until there is no more."""
        first = 0
        while self._aside(partial(self._can_take, take, first)):
            first += PIECE

    def _can_take(self, take: Callable[[int], bool], first: int) -> bool:
        return self._can_look_at_all() and take(first)

    def _take(self, shape: int, pieces: list[tuple[Ids, Ids]], first: int) -> bool:
        found = self._stored.piece(shape, first, first + PIECE)
        if found is not None:
            pieces.append(found)
        return found is not None

    def _take_quads(self, first: int) -> bool:
        found = self._state.graphs.piece(first, first + PIECE)
        if found is not None:
            self._quads.append(found)
        return found is not None

    # what has changed

    def _look_at_next(self) -> None:
        """Look at facts that have changed, piece by piece."""
        assert self._next is not None, "what has changed was turned over"
        touched = self._next.touched()
        flags = {s: self._standing(s, each.facts) for s, each in touched.items() if s != QUADS}
        facts = touched[TRIPLES].facts if TRIPLES in touched else NO_QUADS[:, :3]
        named = [NO_QUADS]
        for first in range(0, len(facts), PIECE_OF_GRAPHS):
            if not len(self._state.graphs):
                break
            piece = facts[first : first + PIECE_OF_GRAPHS]
            named.append(self._aside(partial(self._named, piece)))
        self._looks.append(Look(touched, flags, np.unique(np.concatenate(named), axis=0)))
        self._next = None

    def _standing(self, shape: int, facts: Ids) -> Ids:
        standing, flags = self._state.truth.standing, [np.zeros(0, np.int32)]
        for first in range(0, len(facts), PIECE):
            piece = facts[first : first + PIECE]
            flags.append(self._aside(partial(standing, shape, piece)))
        return np.concatenate(flags)

    def _named(self, triples: Ids) -> Ids:
        return self._state.graphs.of(np.unique(triples, axis=0))

    # the moment itself

    def end(self) -> TouchedFacts | StoredFacts | None:
        """How everything stands now, while nobody changes anything; None: that is not known."""
        state = self._state
        touched = self._unsaved.turn_over(surveyed=False).touched()
        if self.is_whole and not (self._can_be_whole and self._can_look_at_all()):
            return None
        flags = {s: state.truth.standing(s, t.facts) for s, t in touched.items() if s != QUADS}
        triples = touched[TRIPLES].facts if TRIPLES in touched else NO_QUADS[:, :3]
        named = self._named(triples) if len(state.graphs) else NO_QUADS
        looks = [*self._looks, Look(touched, flags, named)]
        found = TouchedFacts(looks, derived=not self.has_time)
        if not self.is_whole:
            return found
        return StoredFacts(self._pieces, self._quads, found, self._stored.counts())
