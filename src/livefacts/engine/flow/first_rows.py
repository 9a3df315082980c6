"""First rows: what a step is filled with, as columns, until somebody asks for it.

A query begins over the facts that are there, often a million, and later changes touch a few.
So the rows that a step keeps at first stay in columns, sorted by what they are looked up by, and
become Python objects when their key is first asked for.  From then on the objects count; what
is left in the columns is as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Ids
from livefacts.engine.flow.bags import Bag, Key, Row, add_to
from livefacts.engine.patterns.signed_rows import SignedRows, no_rows

PACKED = 2
"""So many columns make one number; the others of a key are compared one by one."""
MANY = 16
"""A lookup in columns takes so many times as long as making an object of a row."""
HALF = 32
MASK = (1 << HALF) - 1
SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


Places = NDArray[np.intp]


def bag_of(found: SignedRows) -> Bag:
    """Signed rows as a bag."""
    if not found:
        return {}
    return dict(zip(_tuples(found.rows), found.counts.tolist(), strict=True))


def rows_of(bag: Bag, width: int) -> SignedRows:
    """A bag as signed rows."""
    rows = np.array(list(bag), np.int32).reshape(len(bag), width)
    return SignedRows(rows, np.fromiter(bag.values(), np.int64, len(bag)))


def _tuples(rows: Ids) -> Iterable[Row]:
    if not rows.shape[1]:
        return ((),) * len(rows)
    return zip(*(rows[:, at].tolist() for at in range(rows.shape[1])), strict=True)


def told_apart(rows: Ids, columns: Sequence[int]) -> tuple[list[Row], Places]:
    """One row for each combination of values in some columns, and which of them stands for each.

    >>> told_apart(np.array([[7, 1], [8, 2], [7, 3]], np.int32), [0])[0]
    [(7, 1), (8, 2)]
    """
    if not len(rows):
        return [], np.zeros(0, np.intp)
    known = _packed(rows, columns) if len(columns) <= PACKED else rows[:, list(columns)]
    _, firsts, places = np.unique(known, axis=0, return_index=True, return_inverse=True)
    return list(_tuples(rows[firsts])), places.reshape(-1)


class FirstRows:
    """Rows in columns, sorted by the columns of a key."""

    def __init__(self, found: SignedRows, columns: Sequence[int]) -> None:
        self._columns = columns
        keys = _packed(found.rows, columns)
        by = np.argsort(keys, kind="stable")
        self._keys, self._rows, self._counts = keys[by], found.rows[by], found.counts[by]
        self._taken = np.zeros(len(by), np.bool_)
        self.size = len(by)
        """How many rows have not been taken."""

    def pairs(self, others: Ids, columns: Sequence[int]) -> tuple[Places, SignedRows]:
        """For each row and those of `others` with the same key: which of these, and the row."""
        keys = _packed(others, columns)
        firsts, lasts = self._keys.searchsorted(keys), self._keys.searchsorted(keys, "right")
        counts = lasts - firsts
        theirs = np.repeat(np.arange(len(others)), counts)
        ours = np.arange(len(theirs)) + np.repeat(lasts - np.cumsum(counts), counts)
        for mine, other in zip(self._columns[PACKED:], columns[PACKED:], strict=True):
            same = self._rows[ours, mine] == others[theirs, other]
            ours, theirs = ours[same], theirs[same]
        return theirs, SignedRows(self._rows[ours], self._counts[ours])

    def take(self, key: Key) -> Bag:
        """The rows of a key, which are here no longer."""
        values: Row = key if isinstance(key, tuple) else (key,)
        number = _number(values)
        first, last = (int(self._keys.searchsorted(number, side)) for side in SIDES)
        if first == last:
            return {}
        chosen = ~self._taken[first:last]
        for column, value in zip(self._columns[PACKED:], values[PACKED:], strict=True):
            chosen &= self._rows[first:last, column] == value
        self._taken[first:last] |= chosen
        found = SignedRows(self._rows[first:last][chosen], self._counts[first:last][chosen])
        self.size -= len(found.counts)
        return bag_of(found)

    def left(self) -> SignedRows:
        """The rows that have not been taken."""
        here = ~self._taken
        return SignedRows(self._rows[here], self._counts[here])


def _packed(rows: Ids, columns: Sequence[int]) -> NDArray[np.int64]:
    """The first columns of a key as one number."""
    keys = np.zeros(len(rows), np.int64)
    for column in columns[:PACKED]:
        keys = (keys << HALF) | (rows[:, column].astype(np.int64) & MASK)
    return keys


def _number(values: Row) -> int:
    """The same for the values of one key."""
    number = 0
    for value in values[:PACKED]:
        number = (number << HALF) | (value & MASK)
    # An unbound first column has the highest bit set.
    return number - (1 << 64) if number >> 63 else number


NO_FIRST_ROWS = FirstRows(no_rows(0), ())


class RowTable(dict[Key, Bag]):
    """Bags of rows by their keys: `table[key]`, which is empty where there are none."""

    def __init__(self, key: Callable[[Row], Key]) -> None:
        self.first = NO_FIRST_ROWS
        self._key = key
        self._size = 0

    def __missing__(self, key: Key) -> Bag:
        bag = self.first.take(key) if self.first.size else {}
        if bag:
            self[key] = bag
            self._size += len(bag)
        return bag

    def expect(self, lookups: int) -> None:
        """So many keys will be asked for: where they are many, all rows become objects at once."""
        if lookups * MANY > self.first.size > 0:
            self.first, left = NO_FIRST_ROWS, self.first.left()
            self._size += len(left.counts)
            for row, count in bag_of(left).items():
                self.setdefault(self._key(row), {})[row] = count

    def change(self, key: Key, row: Row, count: int) -> None:
        """Keep a row so many times more, or less."""
        bag = self[key]
        before = len(bag)
        add_to(bag, row, count)
        self._size += len(bag) - before
        if not bag:
            del self[key]
        elif not before:
            self[key] = bag

    @property
    def size(self) -> int:
        """How many rows there are."""
        return self._size + self.first.size

    def rows(self) -> Iterator[Row]:
        """All rows."""
        return chain(chain.from_iterable(self.values()), _tuples(self.first.left().rows))


class CountTable(dict[Row, int]):
    """How often rows are there: `table[row]`, which is 0 where there are none."""

    def __init__(self) -> None:
        self.first = NO_FIRST_ROWS

    def __missing__(self, row: Row) -> int:
        found = self.first.take(row) if self.first.size else None
        self.update(found or {})
        return found[row] if found else 0

    def expect(self, lookups: int) -> None:
        """So many rows will be asked for: where they are many, all become objects at once."""
        if lookups * MANY > self.first.size > 0:
            self.first, left = NO_FIRST_ROWS, self.first.left()
            self.update(bag_of(left))

    def change(self, row: Row, count: int) -> bool:
        """Count a row so many times more, or less; whether it comes first or goes last."""
        before = self[row]
        if before + count:
            self[row] = before + count
        else:
            self.pop(row, None)
        return not before or not before + count

    @property
    def size(self) -> int:
        """How many different rows there are."""
        return len(self) + self.first.size

    def rows(self) -> Iterator[Row]:
        """All rows, each once."""
        return chain(self, _tuples(self.first.left().rows))
