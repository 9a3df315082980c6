"""Integrity of a row store: whether every index finds every row, and the counts agree.

Chains are followed by doubling: after k steps every row has jumped 2**k links towards the
head of its chain, so a circle shows after as many steps as the number of rows has digits,
however long the chains are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_kernels import FACTOR, HALF, SEED, SHIFT
from livefacts.store.facts.row_store import RowStore

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Broken:
    """Something that does not fit together in a store; `row` is 0 where it is no row's fault."""

    shape: int
    row: int
    problem: str


def broken(store: RowStore) -> Iterator[Broken]:
    """What does not fit together, the first row of each kind."""
    for shape, relation in store.relations.items():
        yield from (Broken(shape, 0, problem) for problem in _books(store, relation))
        line = store.rows.relations[relation]
        for place in range(int(line[layout.INDEX_COUNT])):
            view = _IndexView(store, relation, int(line[layout.INDEX + place]))
            for row, problem in view.problems():
                yield Broken(shape, row, f"{problem} the index on {view.named}")


def _books(store: RowStore, relation: int) -> Iterator[str]:
    """Whether the live rows and the free list are all the rows there are."""
    cells, line = store.cells(relation), store.rows.relations[relation]
    live = cells[:, layout.FLAGS] & bits.LIVE != 0
    live[0] = False
    if int(live.sum()) != line[layout.LIVE_ROWS]:
        yield f"{int(live.sum())} rows are live, {int(line[layout.LIVE_ROWS])} are counted"
    free, row = np.zeros(len(cells), np.bool_), int(line[layout.FREE])
    while 0 < row < len(cells) and not free[row]:
        free[row] = True
        row = int(cells[row, layout.COLUMN])
    dead = ~live
    dead[0] = False
    if row or (free != dead).any():
        yield f"the free list has {int(free.sum())} of {int(dead.sum())} free rows"


class _IndexView:
    """One index beside the rows that it should hold."""

    def __init__(self, store: RowStore, relation: int, index: int) -> None:
        line = store.rows.indices[index]
        self._cells = store.cells(relation)
        self._high = int(store.rows.relations[relation, layout.HIGH])
        self._slots = store.slots(index)
        self._used, self._mask = int(line[layout.USED]), int(line[layout.MASK])
        self._link, self._wanted = int(line[layout.LINK]), int(line[layout.WANTED])
        self._columns = [
            int(column) for column in line[layout.KEY : layout.KEY + int(line[layout.KEYS])]
        ]
        self.named = "columns " + ", ".join(map(str, self._columns))
        if self._wanted:
            self.named += f" of rows with flags {self._wanted}"

    def problems(self) -> Iterator[tuple[int, str]]:
        """Rows and what is wrong with them; slots first, because the rest builds on them."""
        flags = self._cells[:, layout.FLAGS]
        wanted = (flags & bits.LIVE != 0) & (flags & self._wanted == self._wanted)
        wanted[0] = False
        heads = self._heads()
        found = [*self._wrong_slots(heads, wanted)]
        if not found:
            found = [*self._wrong_links(heads, wanted)]
        yield from found

    def _heads(self) -> Numbers:
        taken = np.flatnonzero(self._slots)
        heads: Numbers = self._slots[taken] & 0xFFFFFFFF
        return heads

    def _wrong_slots(self, heads: Numbers, wanted: Flags) -> Iterator[tuple[int, str]]:
        if len(heads) != self._used:
            yield 0, f"{len(heads)} slots are taken, {self._used} are counted in"
        if (heads >= self._high).any() or (~wanted[heads % self._high]).any():
            yield 0, "a slot leads to no row of"
            return
        taken = np.flatnonzero(self._slots)
        tags = (self._slots[taken] >> 32) & 0xFFFFFFFF
        yield from _first(heads[tags != self._tags(heads)], "has a wrong tag in")
        yield from _first(heads[self._is_cut_off(taken, tags)], "cannot be reached in")
        yield from _first(
            heads[self._is_repeated(heads, tags)], "is in one of two chains of a key in"
        )

    def _is_repeated(self, heads: Numbers, tags: Numbers) -> Flags:
        """Which heads have the key of another; only equal tags can belong to equal keys."""
        _, places, counts = np.unique(tags, return_inverse=True, return_counts=True)
        repeated = counts[places] > 1
        if repeated.any():
            keys = self._cells[heads[repeated]][
                :, [layout.COLUMN + column for column in self._columns]
            ]
            _, places, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
            repeated[repeated] = counts[places.reshape(-1)] > 1
        return repeated

    def _tags(self, rows: Numbers) -> Numbers:
        """The tags that rows should have, by the same mix as the kernels use."""
        state = np.full(len(rows), SEED)
        for column in self._columns:
            value = self._cells[rows, layout.COLUMN + column].astype(np.uint32).astype(np.uint64)
            state = (state ^ value) * FACTOR
            state ^= state >> SHIFT
        return (state >> HALF).astype(np.int64)

    def _is_cut_off(self, taken: Numbers, tags: Numbers) -> Flags:
        """Which taken slots have an empty one between them and where a search begins."""
        twice = np.concatenate([self._slots, self._slots]) == 0
        empty_before = np.concatenate([[0], np.cumsum(twice)])
        home = tags & self._mask
        at = np.where(taken < home, taken + self._mask + 1, taken)
        cut: Flags = empty_before[at] > empty_before[home]
        return cut

    def _wrong_links(self, heads: Numbers, wanted: Flags) -> Iterator[tuple[int, str]]:
        rows = np.flatnonzero(wanted)
        is_head = np.zeros(self._high, np.bool_)
        is_head[heads] = True
        if not self._link:
            yield from _first(rows[~is_head[rows]], "is missing from")
            return
        following, previous = (self._cells[:, self._link + n].astype(np.int64) for n in (0, 1))
        stray = (following[rows] >= self._high) | (previous[rows] >= self._high)
        stray |= (following[rows] < 0) | (previous[rows] < 0)
        if stray.any():
            yield from _first(rows[stray], "links to no row in")
            return
        yield from self._wrong_neighbours(rows, is_head, following, previous)

    def _wrong_neighbours(
        self, rows: Numbers, is_head: Flags, following: Numbers, previous: Numbers
    ) -> Iterator[tuple[int, str]]:
        yield from _first(rows[(previous[rows] == 0) & ~is_head[rows]], "is missing from")
        yield from _first(rows[(previous[rows] != 0) & is_head[rows]], "is in the middle of")
        ahead, behind = rows[following[rows] != 0], rows[previous[rows] != 0]
        yield from _first(ahead[previous[following[ahead]] != ahead], "has a wrong next row in")
        yield from _first(
            behind[following[previous[behind]] != behind], "has a wrong row before in"
        )
        keys = self._cells[:, [layout.COLUMN + column for column in self._columns]]
        mixed = (keys[behind] != keys[previous[behind]]).any(axis=1)
        yield from _first(behind[mixed], "is in another row's chain in")
        yield from _first(rows[_in_circles(rows, previous)], "is in a circle of")


def _in_circles(rows: Numbers, previous: Numbers) -> Flags:
    """Which rows never come to the head of a chain."""
    jump = np.zeros(len(previous), np.int64)
    jump[rows] = previous[rows]
    for _ in range(len(rows).bit_length()):
        jump = jump[jump]
    circling: Flags = jump[rows] != 0
    return circling


def _first(rows: Numbers, problem: str) -> Iterator[tuple[int, str]]:
    if len(rows):
        yield int(rows[0]), problem
