"""The engine over tables: the embedded engine in the driver, over a state that was handed over.

It is read from the tables once, when a change first asks for it; from then on every change
costs what it changes.  Beside the schema, this is where the Spark engine runs the embedded one:
what was handed over fits into one process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import ASSERTED, TRIPLES, Change, IdDelta, Ids
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.engine.spark.local.handover import Memory, TooLargeError
from livefacts.engine.spark.read.asked_facts import SettledChange
from livefacts.errors import LimitError
from livefacts.kb.change_rows import CountChanges
from livefacts.kb.predicate_rows import CountedRows
from livefacts.language.program import Program, Rule
from livefacts.plan import compile_rules
from livefacts.store.terms.hash_ids import HashIds

HIDDEN = "_"
Facts = dict[int, set[tuple[int, ...]]]
"""Facts in numbers, by shape."""


class LiveChange(NamedTuple):
    """What a change does, by shape; terms that are new; and figures by name."""

    signed: dict[int, CountChanges]
    terms: dict[int, str]
    figures: dict[str, int]


class LiveProgram:
    """What is asserted, what follows from it, and the rules by which it does."""

    def __init__(self, memory: Memory, rules: Sequence[Rule], most: int) -> None:
        """`most` is how many conclusions there is room for."""
        self.terms = memory.terms
        self._engine = EmbeddedEngine(memory.dictionary, compile_rules(rules))
        self.conclusions = 0
        told = sum(map(len, memory.told.values()))
        self.conclusions = _net(self._applied(Change(dict(memory.told)), most, None)) - told

    def change(self, asked: SettledChange, program: Program, is_new: bool, most: int) -> LiveChange:
        """Follow a change; `is_new` if the program is another one than before."""
        self.terms.learn(asked.terms, asked.encoding)
        coming, going = (self._in_numbers(facts) for facts in (asked.added, asked.removed))
        came = {shape: self._which(shape, facts, False) for shape, facts in coming.items()}
        gone = {
            shape: self._which(shape, facts - coming.get(shape, set()), True)
            for shape, facts in going.items()
        }
        plan = compile_rules(program.rules, None, self._engine.plan) if is_new else None
        change = Change(_arrays(came), retracted=_arrays(gone), plan=plan)
        delta = self._applied(change, most, program.limit)
        told, untold = (sum(map(len, facts.values())) for facts in (came, gone))
        self.conclusions += _net(delta) - told + untold
        used = [rows.ravel() for part in (delta.added, delta.removed) for rows in part.values()]
        new = self.terms.settle(np.concatenate([np.zeros(0, np.int32), *used]))
        added, removed = (self._shown(part) for part in (delta.added, delta.removed))
        return LiveChange(
            {shape: self._signed(rows) for shape, rows in _changes(delta, came, gone)},
            {**asked.terms, **new},
            {"asserted": told, "retracted": untold, "added": added, "removed": removed},
        )

    def _shown(self, facts: Mapping[int, Ids]) -> int:
        """How many of some facts are not of hidden predicates."""
        count = 0
        for shape, rows in facts.items():
            if shape == TRIPLES:
                count += len(rows)
                continue
            names, counts = np.unique(rows[:, 0], return_counts=True)
            terms = self.terms.dictionary.decode(names)
            shown = [not str(term).startswith(HIDDEN) for term in terms]
            count += int(counts[np.array(shown, np.bool_)].sum())
        return count

    def is_told(self, triples: HashIds) -> NDArray[np.bool_]:
        """Which triples, in ids, are asserted."""
        numbers: Ids = self.terms.numbers_of(triples.ravel()).reshape(-1, 3)
        rows: list[tuple[int, ...]] = [(s, p, o) for s, p, o in numbers.tolist()]
        told = self._which(TRIPLES, set(rows), True)
        return np.array([row in told for row in rows], np.bool_)

    def _in_numbers(self, facts: Mapping[int, HashIds]) -> Facts:
        return {
            shape: set(map(tuple, self.terms.rows(ids).tolist())) for shape, ids in facts.items()
        }

    def _which(
        self, shape: int, facts: set[tuple[int, ...]], is_told: bool
    ) -> set[tuple[int, ...]]:
        """Those of some facts that are asserted, or that are not."""
        if not facts:
            return set()
        listed = sorted(facts)
        told = self._engine.standing(shape, np.array(listed, np.int32)) & ASSERTED != 0
        return {fact for fact, each in zip(listed, told.tolist(), strict=True) if each == is_told}

    def _applied(self, change: Change, most: int, limit: int | None) -> IdDelta:
        room = most - self.conclusions
        self._engine.limit = room if limit is None else min(limit, room)
        try:
            return self._engine.apply(change)
        except LimitError:
            if limit is not None and limit <= room:
                raise
            raise TooLargeError from None

    def _signed(self, rows: dict[tuple[int, ...], tuple[int, int, int]]) -> CountChanges:
        facts = np.array(list(rows), np.int32)
        support, told, signs = np.array(list(rows.values()), np.int64).T
        ids = self.terms.ids_of(facts.ravel()).reshape(facts.shape)
        return CountChanges(CountedRows(ids, support.copy(), told.astype(np.int32)), signs)


def _net(delta: IdDelta) -> int:
    """How many more facts are true."""
    added, removed = (sum(map(len, part.values())) for part in (delta.added, delta.removed))
    return added - removed


def _arrays(facts: Facts) -> dict[int, Ids]:
    return {shape: np.array(sorted(rows), np.int32) for shape, rows in facts.items() if rows}


def _changes(
    delta: IdDelta, came: Facts, gone: Facts
) -> Iterator[tuple[int, dict[tuple[int, ...], tuple[int, int, int]]]]:
    """By shape, how support, assertion and truth of each fact change.

    A fact that is asserted is not noted as a conclusion too: it has no support in the tables.
    """
    for shape in {*delta.added, *delta.removed, *came, *gone}:
        told, untold = came.get(shape, set()), gone.get(shape, set())
        added, removed = (
            set(map(tuple, part[shape].tolist())) if shape in part else set()
            for part in (delta.added, delta.removed)
        )
        rows = {fact: (0, 1, 1) if fact in told else (1, 0, 1) for fact in added}
        rows |= {fact: (0, -1, -1) if fact in untold else (-1, 0, -1) for fact in removed}
        rows |= dict.fromkeys(told - added, (-1, 1, 0))
        rows |= dict.fromkeys(untold - removed, (1, -1, 0))
        if rows:
            yield shape, rows
