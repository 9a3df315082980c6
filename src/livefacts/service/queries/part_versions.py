"""FactPart versions: what is asserted, what is derived and what violates, of every shape.

What a change makes true and ends does not say what is asserted: a fact that is asserted anew may
have been derived before.  So it is noted how the facts stand that a change speaks of, before it
and after it; what is true and not asserted is derived.  Changes wait as they are, and whoever
asks next has them sorted out: signed rows add up, whatever came in between.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import NamedTuple

import numpy as np

from livefacts.engine.contract import ASSERTED, IN_DEFAULT, TRIPLES, Engine, Facts, Flags, Ids
from livefacts.plan.rules.normal_form import VIOLATION
from livefacts.service.change.assertions import distinct
from livefacts.service.change.delta import Delta
from livefacts.service.change.fact_reader import FactReader
from livefacts.store.facts.named_graphs import NamedGraphs
from livefacts.store.facts.selection import KnownNames
from livefacts.store.versions.snapshots import NO_TRIPLES, SHORT, Snapshot, Versions


class FactPart(Enum):
    """A set of facts of which a whole version has a snapshot for each shape."""

    ASSERTED = auto()
    DERIVED = auto()
    """What is true and not asserted."""
    ELSEWHERE = auto()
    """Triples that a named graph or a stream asserts, and not the default graph."""
    VIOLATED = auto()
    """The hidden facts of constraints."""


PartKey = tuple[FactPart, int]
"""A part, and a shape."""


class Turn(NamedTuple):
    """How the facts stand that a change speaks of, before it and after it, by shape."""

    facts: Facts
    before: Mapping[int, Ids]
    after: Mapping[int, Ids]


NO_TURN = Turn({}, {}, {})


class WaitingChange(NamedTuple):
    """A change that no version has yet: what is shown of it, and the violations."""

    added: Mapping[int, Ids]
    removed: Mapping[int, Ids]
    violated: Mapping[int, Ids]
    resolved: Mapping[int, Ids]
    turn: Turn

    @property
    def size(self) -> int:
        """The number of rows."""
        parts = self.added, self.removed, self.violated, self.resolved, self.turn.facts
        return sum(len(rows) for part in parts for rows in part.values())


class PartVersions:
    """The versions of the parts, from when somebody first asks for them."""

    def __init__(self, engine: Engine, reader: FactReader, graphs: NamedGraphs) -> None:
        self._engine = engine
        self._reader = reader
        self._graphs = graphs
        self._violations = KnownNames(engine.dictionary, lambda name: name.startswith(VIOLATION))
        self._versions: dict[PartKey, Versions] = {}
        self._waiting: list[WaitingChange] = []
        self._waiting_rows = 0
        self.are_followed = False
        """Whether changes must be noted, because there are versions."""

    def begin(self, now: int | None) -> Ids:
        """Write out the columns, while nobody changes anything; the triples that are true."""
        engine, found = self._engine, dict[PartKey, Ids]()
        for part, derived in ((FactPart.ASSERTED, False), (FactPart.DERIVED, True)):
            for shape, rows in self._reader.stored(engine, derived).items():
                found[part, shape] = rows
        asserted = found.get((FactPart.ASSERTED, TRIPLES), NO_TRIPLES)
        if len(self._graphs) or now is not None:
            is_default = engine.standing(TRIPLES, asserted) & IN_DEFAULT
            found[FactPart.ELSEWHERE, TRIPLES] = asserted[is_default == 0]
        for shape in set(engine.shapes()) - {TRIPLES}:
            found[FactPart.VIOLATED, shape] = engine.rows(shape, names=self._violations)
        self._versions = {key: Versions.beginning(rows) for key, rows in found.items()}
        self._waiting, self._waiting_rows, self.are_followed = [], 0, True
        return np.concatenate([asserted, found.get((FactPart.DERIVED, TRIPLES), NO_TRIPLES)])

    def note(self, delta: Delta, turn: Turn, count: int) -> None:
        """A change is made, after which so many facts are true; the next snapshots have it."""
        ids = delta.ids
        violated, resolved = self._violating(ids.added), self._violating(ids.removed)
        change = WaitingChange(delta.shown_added, delta.shown_removed, violated, resolved, turn)
        self._waiting.append(change)
        self._waiting_rows += change.size
        if self._waiting_rows > SHORT + count // 2:
            self.forget()

    def forget(self) -> None:
        """Starting anew is cheaper by now than to sort out what has changed."""
        self._versions, self._waiting, self._waiting_rows = {}, [], 0
        self.are_followed = False

    def _violating(self, facts: Mapping[int, Ids]) -> dict[int, Ids]:
        found = {}
        for shape, rows in facts.items():
            if shape != TRIPLES and len(rows):
                marks = np.empty(len(rows), np.bool_)
                self._violations.mark(rows, marks)
                found[shape] = rows[marks]
        return found

    def snapshots(self) -> dict[PartKey, Snapshot]:
        """The parts as they are now."""
        for change in self._waiting:
            self._note(FactPart.DERIVED, change.added, change.removed)
            self._note(FactPart.VIOLATED, change.violated, change.resolved)
            for shape in change.turn.facts:
                self._turn(shape, change.turn)
        self._waiting, self._waiting_rows = [], 0
        return {key: versions.snapshot() for key, versions in self._versions.items()}

    def _turn(self, shape: int, turn: Turn) -> None:
        facts, before, after = turn.facts[shape], turn.before[shape], turn.after[shape]
        came, gone = _turned(facts, before & ASSERTED != 0, after & ASSERTED != 0)
        self._note(FactPart.ASSERTED, {shape: came}, {shape: gone})
        # What is true has been noted as derived; what of it is asserted is not.
        self._note(FactPart.DERIVED, {shape: gone}, {shape: came})
        if shape == TRIPLES:
            mask = ASSERTED | IN_DEFAULT
            came, gone = _turned(facts, before & mask == ASSERTED, after & mask == ASSERTED)
            self._note(FactPart.ELSEWHERE, {shape: came}, {shape: gone})

    def _note(self, part: FactPart, added: Mapping[int, Ids], removed: Mapping[int, Ids]) -> None:
        for facts, sign in ((removed, -1), (added, 1)):
            for shape, rows in facts.items():
                if len(rows):
                    if (part, shape) not in self._versions:
                        self._versions[part, shape] = Versions.beginning(rows[:0])
                    none = rows[:0]
                    pair = (rows, none) if sign > 0 else (none, rows)
                    self._versions[part, shape].note(*pair)


def _turned(facts: Ids, was: Flags, now: Flags) -> tuple[Ids, Ids]:
    """The facts for which something has come to be so, and those for which it is so no more."""
    return distinct(facts[now & ~was]), distinct(facts[was & ~now])
