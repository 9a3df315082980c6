"""Sorted orders: rows as columns that are searched by their first place, then by the next ones.

An order keeps each distinct first value once (`keys`), where its rows start (`starts`), and
of every row the other values: eight to nine bytes a triple.  Four orders answer every pattern of
triples: by predicate from either side, by subject, and by object.  Rows of any other width have
one order, that of their columns.

A row may have a sign: -1 takes back a row that an older run has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.store.machine_code import kernel
from livefacts.store.terms.text_table import INLINE_FIRST

Ids = NDArray[np.int32]
Signs = NDArray[np.int8]

PSO, POS, SPO, OSP = range(4)
PLACES = ((1, 0, 2), (1, 2, 0), (0, 1, 2), (2, 0, 1))
"""Which place of a triple is first, second and third in each order."""
WIDTH = 3
"""How many columns triples have."""
NO_SIGNS = np.zeros(0, np.int8)
"""The signs of rows that have all come."""
BITS = 63
"""How many bits rows may have, at most, to be sorted as single numbers."""
FEW = 256
"""Fewer rows are sorted as they are."""
SPARSE = 64
"""With so many times as many terms as rows, a table of all terms costs more than a sort."""
DIGIT = 11
"""How many of these bits are sorted at once."""


class SortedOrder(NamedTuple):
    """The rows of a run in one order."""

    keys: Ids
    starts: Ids
    rest: tuple[Ids, ...]
    """The columns but the first."""
    signs: Signs

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.starts[-1])

    @property
    def second(self) -> Ids:
        return self.rest[0]

    @property
    def third(self) -> Ids:
        return self.rest[1]

    def columns(self) -> tuple[Ids, ...]:
        """The values of every row, column by column."""
        return np.repeat(self.keys, np.diff(self.starts)), *self.rest

    def range_of(self, key: int) -> tuple[int, int]:
        """Where the rows with a first value begin and end."""
        at = int(self.keys.searchsorted(np.int32(key)))
        if at == len(self.keys) or self.keys[at] != key:
            return 0, 0
        return int(self.starts[at]), int(self.starts[at + 1])

    def range_with(self, values: Sequence[int]) -> tuple[int, int]:
        """Where the rows that have these values in their first columns begin and end."""
        first, last = self.range_of(values[0])
        for column, value in zip(self.rest, values[1:], strict=False):
            part, wanted = column[first:last], np.int32(value)
            last = first + int(part.searchsorted(wanted, "right"))
            first += int(part.searchsorted(wanted))
        return first, last

    def part_with(self, values: Sequence[int]) -> SortedOrder:
        """The rows that have these values in their first columns."""
        part = slice(*self.range_with(values))
        rest = tuple(column[part] for column in self.rest)
        return _keyed([np.full(len(rest[0]), values[0], np.int32), *rest], self.signs[part])

    def sign_of(self, row: Sequence[int]) -> int:
        """1 if a row has come, -1 if it takes one back, 0 if it is not here."""
        first, last = self.range_with(row)
        if first == last:
            return 0
        return int(self.signs[first]) if len(self.signs) else 1

    @property
    def nbytes(self) -> int:
        return self.signs.nbytes + sum(ids.nbytes for ids in (self.keys, self.starts, *self.rest))


def places_of(width: int) -> Sequence[tuple[int, ...]]:
    """The orders that rows of a width have: which column is first in each, and which come next."""
    return PLACES if width == WIDTH else (tuple(range(width)),)


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
    orders = places_of(len(order.rest) + 1)
    places = dict(zip(orders[kind], order.columns(), strict=True))
    return order_of([places[place] for place in orders[wanted]], order.signs)


def _sorted(columns: Sequence[Ids]) -> Sequence[Ids]:
    """Columns of rows, sorted: as single numbers, where that is possible."""
    dense = [] if len(columns[0]) < FEW else [_without_gap(column) for column in columns]
    if sum(each.bits for each in dense) > BITS:
        dense = [_ranked(each) for each in dense]
    if not dense or sum(each.bits for each in dense) > BITS:
        by = np.lexsort(tuple(columns[::-1]))
        return [column[by] for column in columns]
    packed = dense[0].numbers.astype(np.int64)
    for each in dense[1:]:
        packed <<= each.bits
        packed |= each.numbers
    packed = _sorted_numbers(packed, sum(each.bits for each in dense))
    unpacked: list[Ids] = []
    for each in reversed(dense):
        unpacked.append(each.values((packed & ((1 << each.bits) - 1)).astype(np.int32)))
        packed >>= each.bits
    return unpacked[::-1]


def _sorted_numbers(numbers: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """Numbers of so many bits, sorted digit by digit, the last digit first (radix sort)."""
    if len(numbers) < 1 << DIGIT:
        numbers.sort()
        return numbers
    spare, starts = np.empty_like(numbers), np.empty((1 << DIGIT) + 1, np.int64)
    for shift in range(0, bits, DIGIT):
        sort_by_digit(numbers, spare, starts, shift)
        numbers, spare = spare, numbers
    return numbers


@kernel
def sort_by_digit(
    numbers: NDArray[np.int64],
    found: NDArray[np.int64],
    starts: NDArray[np.int64],
    shift: int,
) -> None:
    """Sort numbers by one digit; those with the same one stay in their order."""
    mask = np.int64((1 << DIGIT) - 1)
    starts[:] = 0
    for number in numbers:
        starts[((number >> shift) & mask) + 1] += 1
    for digit in range(1 << DIGIT):
        starts[digit + 1] += starts[digit]
    for number in numbers:
        digit = (number >> shift) & mask
        found[starts[digit]] = number
        starts[digit] += 1


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
    most = int(dense.numbers.max()) + 1
    if most > SPARSE * len(dense.numbers):
        known, places = np.unique(dense.numbers, return_inverse=True)
        ranks = places.astype(np.int32)
    else:
        occurs = np.zeros(most, np.bool_)
        occurs[dense.numbers] = True
        known = np.flatnonzero(occurs).astype(np.int32)
        ranks = (np.cumsum(occurs, dtype=np.int32) - 1)[dense.numbers]
    bits = int(len(known) - 1).bit_length()
    return _Dense(ranks, bits, lambda numbers: dense.values(known[numbers]))


def _keyed(columns: Sequence[Ids], signs: Signs) -> SortedOrder:
    first, *rest = columns
    if not len(first):
        return SortedOrder(first, np.zeros(1, np.int32), tuple(rest), signs)
    changes = np.flatnonzero(first[1:] != first[:-1])
    starts = np.empty(len(changes) + 2, np.int32)
    starts[0], starts[1:-1], starts[-1] = 0, changes + 1, len(first)
    return SortedOrder(first[starts[:-1]], starts, tuple(rest), signs)


def merged(older: SortedOrder, newer: SortedOrder) -> SortedOrder:
    """The rows of two runs; what the newer one takes back of the older is in neither."""
    first, second = np.stack(older.columns()), np.stack(newer.columns())
    out = np.empty((len(first), older.size + newer.size), np.int32)
    signs = np.empty(older.size + newer.size, np.int8)
    count = merge_rows(first, _all_signs(older), second, _all_signs(newer), out, signs)
    found = [np.ascontiguousarray(column[:count]) for column in out]
    return _keyed(found, NO_SIGNS if (signs[:count] > 0).all() else signs[:count].copy())


def _all_signs(order: SortedOrder) -> Signs:
    return order.signs if len(order.signs) else np.ones(order.size, np.int8)


@kernel
def merge_rows(
    a: NDArray[np.int32],
    a_signs: Signs,
    b: NDArray[np.int32],
    b_signs: Signs,
    out: NDArray[np.int32],
    signs: Signs,
) -> int:
    """Merge columns of sorted rows; rows that both have are gone, or kept once; how many there are."""
    i, j, count = 0, 0, 0
    while i < a.shape[1] or j < b.shape[1]:
        side = -1 if j == b.shape[1] else 1 if i == a.shape[1] else 0
        column = 0
        while side == 0 and column < a.shape[0]:
            if a[column, i] != b[column, j]:
                side = -1 if a[column, i] < b[column, j] else 1
            column += 1
        for column in range(a.shape[0]):
            out[column, count] = a[column, i] if side <= 0 else b[column, j]
        signs[count] = 0
        if side <= 0:
            signs[count] += a_signs[i]
            i += 1
        if side >= 0:
            signs[count] += b_signs[j]
            j += 1
        if signs[count]:
            count += 1
    return count
