"""The kind table: where the kernel finds what follows from a triple.

A kind is a predicate, or a predicate and an object.  Its line says which consequences it
has, and how many triples of it are followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.schema.chase import Symbolic
from livefacts.store.machine_code import kernel

Kind = tuple[int, int | None]
"""A predicate, or a predicate and an object."""

FEWEST = 16
"""The smallest table has room for so many lines."""


@kernel
def has_schema(keys: Any, triples: Any) -> Any:
    """Whether some of these triples belong to the schema."""
    for i in range(triples.shape[0]):
        first = np.int64(triples[i, 1]) + 1
        for second in (np.int64(0), np.int64(triples[i, 2]) + 1):
            at = code.lookup_entry(keys, first, second)
            if at >= 0 and keys[at, code.KEY_MODE] == code.KEY_SCHEMA:
                return True
    return False


class KindTable:
    """The kernel's table of kinds, their consequences, and how many triples they have."""

    def __init__(self) -> None:
        self._keys = np.zeros((FEWEST, code.KEY_FIELDS), np.int64)
        self._heads = np.zeros((FEWEST, 3), np.int32)
        self._used = 0
        self._kinds = 0
        self.arrays = code.Consequences(self._keys, self._heads)

    def copied(self) -> KindTable:
        """A table that keeps what this one holds; consequences are only ever appended."""
        twin = copy(self)
        twin._keys = self._keys.copy()
        twin.arrays = code.Consequences(twin._keys, twin._heads)
        return twin

    def undo(self, epoch: int) -> None:
        """Forget which triples a change has followed."""
        touched = self._keys[:, code.KEY_EPOCH] == epoch
        self._keys[touched, code.KEY_TRIPLES] = self._keys[touched, code.KEY_BEFORE]

    def put(self, kind: Kind, heads: Sequence[Symbolic], mode: int) -> None:
        if 2 * self._kinds >= len(self._keys):
            self._rebuild()
        first, second = _key(kind)
        at = code.place_entry(self._keys, first, second)
        self._kinds += int(self._keys[at, code.KEY_PREDICATE] == 0)
        place = self._put_heads(heads)
        self._keys[at, : code.KEY_TRIPLES] = first, second, place, len(heads), mode
        self.arrays = code.Consequences(self._keys, self._heads)

    def has(self, kind: Kind) -> bool:
        at = self._find(kind)
        return at >= 0 and bool(self._keys[at, code.KEY_MODE] != code.KEY_REMOVED)

    def remove(self, kind: Kind) -> None:
        self._keys[self._find(kind), code.KEY_MODE] = code.KEY_REMOVED

    def triples(self, kind: Kind) -> int:
        at = self._find(kind)
        return int(self._keys[at, code.KEY_TRIPLES]) if at >= 0 else 0

    def set_triples(self, kind: Kind, count: int) -> None:
        at = self._find(kind)
        if at >= 0:
            self._keys[at, code.KEY_TRIPLES] = count

    def emptied(self, epoch: int) -> list[Kind]:
        """The kinds whose triples a change has followed, and of which none is left."""
        keys = self._keys
        empty = (keys[:, code.KEY_TRIPLES] == 0) & (keys[:, code.KEY_EPOCH] == epoch)
        found = keys[empty & (keys[:, code.KEY_MODE] == 0)][:, :2]
        return [(first - 1, second - 1 if second else None) for first, second in found.tolist()]

    def _find(self, kind: Kind) -> int:
        return int(code.find_entry(self._keys, *_key(kind)))

    def _put_heads(self, heads: Sequence[Symbolic]) -> int:
        if self._used + len(heads) > len(self._heads):
            self._compact(len(heads))
        at = self._used
        if heads:
            self._heads[at : at + len(heads)] = heads
        self._used += len(heads)
        return at

    def _compact(self, more: int) -> None:
        """New room for consequences, without those of which no kind is left."""
        counts = self._keys[:, code.KEY_COUNT]
        heads = np.zeros((2 * (int(counts.sum()) + more), 3), np.int32)
        self._used = 0
        for line in self._keys[counts > 0]:
            at = code.place_entry(self._keys, line[code.KEY_PREDICATE], line[code.KEY_OBJECT])
            first, count = int(line[code.KEY_FIRST]), int(line[code.KEY_COUNT])
            heads[self._used : self._used + count] = self._heads[first : first + count]
            self._keys[at, code.KEY_FIRST] = self._used
            self._used += count
        self._heads = heads

    def shrink(self) -> None:
        """Keep nothing of the kinds that were removed."""
        self._rebuild()
        self._compact(FEWEST)
        self.arrays = code.Consequences(self._keys, self._heads)

    def _rebuild(self) -> None:
        """Room for twice as many kinds as there are, without those that were removed."""
        old = self._keys
        kept = old[(old[:, code.KEY_PREDICATE] != 0) & (old[:, code.KEY_MODE] != code.KEY_REMOVED)]
        size = max(FEWEST, 1 << (4 * len(kept)).bit_length())
        self._keys = np.zeros((size, code.KEY_FIELDS), np.int64)
        self._kinds = len(kept)
        for line in kept:
            at = code.place_entry(self._keys, line[code.KEY_PREDICATE], line[code.KEY_OBJECT])
            self._keys[at] = line


def _key(kind: Kind) -> tuple[int, int]:
    predicate, obj = kind
    return predicate + 1, 0 if obj is None else obj + 1
