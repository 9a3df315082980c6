"""Connected parts: patterns with several variables in common, joined.

What is kept are the triples that fit one of the patterns, each once, with a hash index for
every combination of columns that is known when a pattern is reached from another one.
Answers are not kept: they are found again when all of them are read.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Ids
from livefacts.engine.patterns.join_kernels import (
    ACTION,
    BIND,
    DONE,
    FOUND,
    KNOWN,
    LOOKED,
    LOOKUP,
    NEED_OUT,
    PATTERN,
    SAME,
    STATE_FIELDS,
    STEP_FIELDS,
    Joins,
    all_joins,
    follow_joins,
)
from livefacts.engine.patterns.signed_rows import SignedRows, consolidated, no_rows
from livefacts.store.facts.row_store import FEWEST_ROWS, TRIPLES, RowStore
from livefacts.store.machine_code import described

Signs = NDArray[np.int32]
FIRST_OUT = 1 << 10
SHARED_OUT = 1 << 16
"""A longer buffer of answers is given back when the change is done."""


class JoinMatcher:
    """Follows patterns whose variables are tied together.

    In `patterns` an id stands for itself and ~v for the variable number v, of `width`.
    """

    def __init__(self, patterns: Ids, width: int) -> None:
        self.width = width
        self.count = 0
        self._store = RowStore()
        self._patterns = patterns
        self._joins = Joins(
            patterns=patterns,
            steps=self._steps(),
            terms=np.zeros(width, np.int32),
            cursor=np.zeros(len(patterns) + 1, np.int64),
            key=np.zeros(3, np.int32),
            state=np.zeros(STATE_FIELDS, np.int64),
        )
        self._desk = np.array(described([*self._store.rows, *self._joins]), np.int64)
        self._nothing = no_rows(width)
        self._out, self._counts = no_rows(width)
        self._set_out(FIRST_OUT)

    def change(self, triples: Ids, signs: Signs) -> SignedRows:
        """The answers that come and go with triples, in their order."""
        values, state = triples.reshape(-1), self._joins.state
        while status := follow_joins(self._desk, values, signs, self._out, self._counts):
            if status == NEED_OUT:
                self._set_out(2 * len(self._counts))
            else:
                self._store.make_room(TRIPLES, max(FEWEST_ROWS, self.entries // 4))
        assert status == DONE
        found = int(state[FOUND])
        if not found:
            return self._nothing
        state[FOUND] = 0
        change = SignedRows(self._out[:found].copy(), self._counts[:found].copy())
        self.count += int(change.counts.sum())
        self._give_back()
        return change if len(signs) == 1 else consolidated(change)

    def rows(self) -> SignedRows:
        """All answers as they are now."""
        pieces = list(self.pieces())
        if not pieces:
            return self._nothing
        rows = np.concatenate(pieces)
        return SignedRows(rows, np.ones(len(rows), np.int64))

    def pieces(self) -> Iterator[Ids]:
        """All answers as they are now, some at a time."""
        pivot = int((self._patterns >= 0).sum(axis=1).argmax())
        row, triple, state = 1, np.zeros(3, np.int32), self._joins.state
        while row:
            row = all_joins(self._desk, pivot, row, triple, self._out, self._counts)
            found = int(state[FOUND])
            state[FOUND] = 0
            if found:
                yield self._out[:found].copy()
            elif row:
                self._set_out(2 * len(self._counts))
        self._give_back()

    @property
    def entries(self) -> int:
        """How many triples are kept."""
        return self._store.live(TRIPLES)

    @property
    def nbytes(self) -> int:
        """The memory of triples and indices, spare slots included."""
        return self._store.nbytes()

    @property
    def looked(self) -> int:
        """How many triples have been looked at, all changes together."""
        return int(self._joins.state[LOOKED])

    def kept(self) -> Ids:
        """The triples that are kept."""
        return self._store.columns(TRIPLES, self._store.with_flags(TRIPLES))

    def _set_out(self, size: int) -> None:
        out, counts = np.empty((size, self.width), np.int32), np.empty(size, np.int64)
        found = int(self._joins.state[FOUND])
        out[:found], counts[:found] = self._out[:found], self._counts[:found]
        self._out, self._counts = out, counts

    def _give_back(self) -> None:
        if len(self._counts) > SHARED_OUT:
            self._set_out(FIRST_OUT)

    def _steps(self) -> NDArray[np.int64]:
        many = len(self._patterns)
        steps = [line for pivot in range(many) for line in self._steps_from(pivot)]
        return np.array(steps, np.int64).reshape(-1, STEP_FIELDS)

    def _steps_from(self, pivot: int) -> Iterator[NDArray[np.int64]]:
        """The other patterns, in the order in which they are reached."""
        bound = {slot for slot in self._patterns[pivot].tolist() if slot < 0}
        rest = [number for number in range(len(self._patterns)) if number != pivot]
        while rest:
            chosen = max(rest, key=lambda number: self._promise(number, bound))
            rest.remove(chosen)
            yield self._step(chosen, bound)
            bound |= {slot for slot in self._patterns[chosen].tolist() if slot < 0}

    def _promise(self, number: int, bound: set[int]) -> tuple[bool, int, int]:
        """What is known of a pattern: the more, the fewer triples will fit."""
        slots = self._patterns[number].tolist()
        constants = sum(slot >= 0 for slot in slots)
        known = sum(slot in bound for slot in slots)
        return constants + known == len(slots), known, constants

    def _step(self, number: int, bound: set[int]) -> NDArray[np.int64]:
        step = np.zeros(STEP_FIELDS, np.int64)
        slots = self._patterns[number].tolist()
        columns = [c for c, slot in enumerate(slots) if slot >= 0 or slot in bound]
        step[PATTERN], step[LOOKUP] = number, self._store.index(TRIPLES, columns)
        for column, slot in enumerate(slots):
            repeated = SAME if slot in slots[:column] else BIND
            step[ACTION + column] = KNOWN if column in columns else repeated
        return step
