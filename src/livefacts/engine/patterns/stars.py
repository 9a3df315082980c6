"""Stars: parts of a pattern with one variable or none, followed by bits alone.

For each centre that a triple has named, a bit says which of the patterns hold; the centre is
an answer while all of them do.  A centre of which nothing holds any more is forgotten.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Ids
from livefacts.engine.patterns.signed_rows import SignedRows, consolidated, no_rows
from livefacts.engine.patterns.star_kernels import (
    CENTRES_OF_A_TRIPLE,
    EMPTY,
    NO_ROOM,
    STATE_FIELDS,
    USED,
    VARIABLE,
    WHOLE,
    Star,
    follow_star,
    move_star,
    whole_centres,
)
from livefacts.store.machine_code import described

Signs = NDArray[np.int32]
SMALLEST_TABLE = 16
SMALLEST_GROUND = 8


class StarMatcher:
    """Follows patterns that have one variable, or none, in common.

    In `patterns` an id stands for itself and -1 for the variable.  With `listed`, the
    answers are kept beside the bits: they can be read without a look at every centre.
    """

    def __init__(self, patterns: Ids, listed: bool = False) -> None:
        words = (len(patterns) + 7) // 8
        full = np.full((1, words), 255, np.uint8)
        full[0, -1] = (1 << ((len(patterns) - 1) % 8 + 1)) - 1
        self.width = int((patterns < 0).any())
        self._listed: dict[int, None] | None = {} if listed and self.width else None
        self._room_for(2)
        empty = np.zeros((0, words), np.uint8)
        state = np.zeros(STATE_FIELDS, np.int64)
        self._set(Star(patterns, full, np.empty(0, np.int32), empty, state))
        self._resize(SMALLEST_TABLE if self.width else SMALLEST_GROUND)

    def change(self, triples: Ids, signs: Signs) -> SignedRows:
        """The answers that come and go with triples, in their order."""
        if CENTRES_OF_A_TRIPLE * len(signs) > len(self._counts):
            self._room_for(len(signs))
        found = follow_star(self._desk, triples, signs, self._flat, self._counts)
        while found == NO_ROOM:
            self._resize(2 * len(self._star.centres))
            found = follow_star(self._desk, triples, signs, self._flat, self._counts)
        if not found:
            return self._nothing
        change = SignedRows(self._rows[:found, : self.width].copy(), self._counts[:found].copy())
        change = change if len(signs) == 1 else consolidated(change)
        self._list(change)
        return change

    def _list(self, change: SignedRows) -> None:
        if self._listed is None:
            return
        for centre, count in zip(change.rows[:, 0].tolist(), change.counts.tolist(), strict=True):
            if count > 0:
                self._listed[centre] = None
            else:
                del self._listed[centre]

    def rows(self) -> SignedRows:
        """The centres of which all patterns hold."""
        if self._listed is not None:
            listed = np.fromiter(self._listed, np.int32, len(self._listed))
            return SignedRows(listed[:, None], np.ones(len(listed), np.int64))
        found = np.empty((self.count, 1), np.int32)
        whole_centres(self._desk, found.reshape(-1))
        return SignedRows(found[:, : self.width], np.ones(len(found), np.int64))

    @property
    def count(self) -> int:
        """How many answers there are."""
        return int(self._star.state[WHOLE])

    @property
    def entries(self) -> int:
        """How many centres are kept."""
        return int(self._star.state[USED])

    @property
    def nbytes(self) -> int:
        """The memory of centres and bits, spare room included."""
        listed = 0
        if self._listed is not None:
            listed = sys.getsizeof(self._listed) + sys.getsizeof(1 << 20) * len(self._listed)
        return self._star.centres.nbytes + self._star.bits.nbytes + listed

    def kept(self) -> Ids:
        """The triples that are known to be there: what the bits say."""
        star = self._star
        places = np.flatnonzero(star.centres != EMPTY)
        bits = np.unpackbits(star.bits[places], axis=1, bitorder="little")
        at, pattern = np.nonzero(bits[:, : len(star.patterns)])
        triples = star.patterns[pattern]
        centres = star.centres[places][at][:, None]
        return np.where(triples == VARIABLE, centres, triples).astype(np.int32)

    def _room_for(self, triples: int) -> None:
        most = CENTRES_OF_A_TRIPLE * triples
        self._rows = np.empty((most, 1), np.int32)
        self._flat = self._rows.reshape(-1)
        self._counts = np.empty(most, np.int64)
        self._nothing = no_rows(self.width)

    def _resize(self, size: int) -> None:
        desk, old = self._desk, self._star
        bits = np.zeros((size, old.full.shape[1]), np.uint8)
        self._set(old._replace(centres=np.full(size, EMPTY, np.int32), bits=bits))
        move_star(desk, self._desk)

    def _set(self, star: Star) -> None:
        self._star = star
        self._desk = np.array(described(star), np.int64)
