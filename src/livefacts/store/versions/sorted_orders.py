"""Sorted orders: triples as columns that are searched by their first, second and third place.

An order keeps each distinct first value once (`keys`), where its rows start (`starts`), and
of every row the second and the third value: eight to nine bytes a triple.  Four orders answer
every pattern: by predicate from either side, by subject, and by object.

A row may have a sign: -1 takes back a row that an older run has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.store.compiled import kernel
from livefacts.store.terms.term_table import INLINE_FIRST

Ids = NDArray[np.int32]
Signs = NDArray[np.int8]

PSO, POS, SPO, OSP = range(4)
PLACES = ((1, 0, 2), (1, 2, 0), (0, 1, 2), (2, 0, 1))
"""Which place of a triple is first, second and third in each order."""
NO_SIGNS = np.zeros(0, np.int8)
"""The signs of rows that have all come."""
BITS = 63
"""How many bits rows may have, at most, to be sorted as single numbers."""


class SortedOrder(NamedTuple):
    """The rows of a run in one order."""

    keys: Ids
    starts: Ids
    second: Ids
    third: Ids
    signs: Signs

    def columns(self) -> tuple[Ids, Ids, Ids]:
        """The first, second and third value of every row."""
        return np.repeat(self.keys, np.diff(self.starts)), self.second, self.third

    def range_of(self, key: int) -> tuple[int, int]:
        """Where the rows with a first value begin and end."""
        at = int(self.keys.searchsorted(np.int32(key)))
        if at == len(self.keys) or self.keys[at] != key:
            return 0, 0
        return int(self.starts[at]), int(self.starts[at + 1])

    def count_rows(self, values: Sequence[int]) -> int:
        """How many rows begin with these values."""
        first, last = self.range_of(values[0])
        for column, value in zip((self.second, self.third), values[1:], strict=False):
            part = column[first:last]
            low, high = part.searchsorted(np.array([value, value + 1], np.int32))
            first, last = first + int(low), first + int(high)
        return last - first

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self)


def order_of(columns: Sequence[Ids], signs: Signs = NO_SIGNS) -> SortedOrder:
    """Rows, each of them once, sorted by their columns.

    >>> order = order_of([np.array(column, np.int32) for column in ([7, 5, 7], [1, 2, 0], [4, 4, 4])])
    >>> order.keys.tolist(), order.starts.tolist(), order.second.tolist()
    ([5, 7], [0, 1, 3], [2, 0, 1])
    """
    if len(signs):
        by = np.lexsort(tuple(columns[::-1]))
        return _keyed([column[by] for column in columns], signs[by])
    return _keyed(_sorted(columns), NO_SIGNS)


def reordered(order: SortedOrder, kind: int, wanted: int) -> SortedOrder:
    """The rows of an order of one kind in another one."""
    places = dict(zip(PLACES[kind], order.columns(), strict=True))
    return order_of([places[place] for place in PLACES[wanted]], order.signs)


def _sorted(columns: Sequence[Ids]) -> Sequence[Ids]:
    """Columns of rows, sorted: as single numbers, where that is possible."""
    if not len(columns[0]):
        return columns
    dense = [_without_gap(column) for column in columns]
    if sum(each.bits for each in dense) > BITS:
        dense = [_ranked(each) for each in dense]
    if sum(each.bits for each in dense) > BITS:
        by = np.lexsort(tuple(columns[::-1]))
        return [column[by] for column in columns]
    packed = dense[0].numbers.astype(np.int64)
    for each in dense[1:]:
        packed <<= each.bits
        packed |= each.numbers
    packed.sort()
    unpacked: list[Ids] = []
    for each in reversed(dense):
        unpacked.append(each.values((packed & ((1 << each.bits) - 1)).astype(np.int32)))
        packed >>= each.bits
    return unpacked[::-1]


class _Dense(NamedTuple):
    """A column as smaller numbers in the same order, and how to get its values back."""

    numbers: Ids
    bits: int
    values: Callable[[Ids], Ids]


def _without_gap(column: Ids) -> _Dense:
    """The numbers of terms, and inline integers right behind them."""
    stored = column < INLINE_FIRST
    if stored.all():
        return _Dense(column, int(column.max()).bit_length(), lambda numbers: numbers)
    first = int(column.max(where=stored, initial=-1)) + 1
    gap = int(column.min(where=~stored, initial=np.iinfo(np.int32).max)) - first
    closed = np.where(stored, column, column - gap)
    return _Dense(
        closed,
        int(closed.max()).bit_length(),
        lambda numbers: np.where(numbers < first, numbers, numbers + gap),
    )


def _ranked(dense: _Dense) -> _Dense:
    """The ranks of the numbers that occur."""
    occurs = np.zeros(int(dense.numbers.max()) + 1, np.bool_)
    occurs[dense.numbers] = True
    known = np.flatnonzero(occurs).astype(np.int32)
    ranks = (np.cumsum(occurs, dtype=np.int32) - 1)[dense.numbers]
    bits = int(len(known) - 1).bit_length()
    return _Dense(ranks, bits, lambda numbers: dense.values(known[numbers]))


def _keyed(columns: Sequence[Ids], signs: Signs) -> SortedOrder:
    first, second, third = columns
    if not len(first):
        return SortedOrder(first, np.zeros(1, np.int32), second, third, signs)
    changes = np.flatnonzero(first[1:] != first[:-1])
    starts = np.empty(len(changes) + 2, np.int32)
    starts[0], starts[1:-1], starts[-1] = 0, changes + 1, len(first)
    return SortedOrder(first[starts[:-1]], starts, second, third, signs)


def merged(older: SortedOrder, newer: SortedOrder) -> SortedOrder:
    """The rows of two runs; what the newer one takes back of the older is in neither."""
    columns = [older.columns(), newer.columns()]
    size = len(older.second) + len(newer.second)
    out = np.empty((3, size), np.int32)
    signs = np.empty(size, np.int8)
    count = merge_rows(*columns[0], _all_signs(older), *columns[1], _all_signs(newer), out, signs)
    found = [np.ascontiguousarray(column[:count]) for column in out]
    return _keyed(found, NO_SIGNS if (signs[:count] > 0).all() else signs[:count].copy())


def _all_signs(order: SortedOrder) -> Signs:
    return order.signs if len(order.signs) else np.ones(len(order.second), np.int8)


@kernel
def merge_rows(
    a1: Ids,
    a2: Ids,
    a3: Ids,
    a_signs: Signs,
    b1: Ids,
    b2: Ids,
    b3: Ids,
    b_signs: Signs,
    out: NDArray[np.int32],
    signs: Signs,
) -> int:
    """Merge sorted rows; rows that both have are gone, or kept once; how many there are."""
    i, j, count = 0, 0, 0
    while i < a1.shape[0] or j < b1.shape[0]:
        if j == b1.shape[0]:
            side = -1
        elif i == a1.shape[0]:
            side = 1
        elif a1[i] != b1[j]:
            side = -1 if a1[i] < b1[j] else 1
        elif a2[i] != b2[j]:
            side = -1 if a2[i] < b2[j] else 1
        elif a3[i] != b3[j]:
            side = -1 if a3[i] < b3[j] else 1
        else:
            side = 0
        if side <= 0:
            out[0, count], out[1, count], out[2, count] = a1[i], a2[i], a3[i]
            signs[count] = a_signs[i]
        else:
            out[0, count], out[1, count], out[2, count] = b1[j], b2[j], b3[j]
            signs[count] = b_signs[j]
        if side == 0:
            signs[count] += b_signs[j]
        if side <= 0:
            i += 1
        if side >= 0:
            j += 1
        if signs[count]:
            count += 1
    return count
