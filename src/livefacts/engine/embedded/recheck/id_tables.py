"""Id tables: set-at-a-time operators over ids, with sorted indices and joins of whole columns.

A table keeps its facts in the order in which they came, so "what came since" is a range
of row numbers.  An index is a few sorted runs, each several times as long as the next:
rows that come late are sorted among themselves, and merged when they have become many.

Rows are compared by one number each.  For one or two columns that number is the columns;
for more it is a mix that different rows may share, and every operator looks at the
columns themselves before it takes two rows for equal.

Nothing here is compiled, and nothing is shared with the kernels: `verify` checks them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Flags, Ids

Keys = NDArray[np.uint64]
Numbers = NDArray[np.int64]
Columns = Sequence[Ids]
Joined = tuple[Numbers, Numbers]
"""Positions on the left, and the row numbers that they are joined with."""

MOST_AT_ONCE = 1 << 20
"""A join of more pairs than this is handed out in pieces."""
FACTORS = np.random.default_rng(20).integers(1, 2**63, 64, np.uint64) * np.uint64(2) + np.uint64(1)
FOREVER = 2**62
FEW = 1 << 12


def keys_of(columns: Columns, count: int) -> Keys:
    """One number for each row; rows of at most two columns have the same only if they are equal."""
    if not columns:
        return np.zeros(count, np.uint64)
    parts = [column.astype(np.uint32).astype(np.uint64) for column in columns]
    if len(parts) <= 2:
        high = parts[0] << np.uint64(32) if len(parts) == 2 else np.uint64(0)
        return high | parts[-1]
    mixed = np.zeros(count, np.uint64)
    for part, factor in zip(parts, FACTORS, strict=False):
        mixed += part * factor
    return mixed ^ (mixed >> np.uint64(31))


def distinct(columns: Columns) -> list[Ids]:
    """Each row once, in any order."""
    if not len(columns[0]):
        return list(columns)
    keys = keys_of(columns, len(columns[0]))
    order = np.argsort(keys, kind="stable")
    keys, sorted_columns = keys[order], [column[order] for column in columns]
    repeats = keys[1:] == keys[:-1]
    if len(columns) > 2:
        alike = repeats & _equal_neighbours(sorted_columns)
        if (alike != repeats).any():
            return list(np.unique(np.stack(columns, axis=1), axis=0).T)
    kept = np.concatenate([[True], ~repeats])
    return [column[kept] for column in sorted_columns]


def _equal_neighbours(columns: Columns) -> Flags:
    equal: Flags = np.logical_and.reduce([column[1:] == column[:-1] for column in columns])
    return equal


class _Run:
    """Some rows of a table, sorted by key and then by number."""

    def __init__(self, keys: Keys, rows: Numbers) -> None:
        order = np.argsort(keys, kind="stable")
        keys, self.rows = keys[order], rows[order]
        self.last = int(rows.max())
        self._begins = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1], [True]]))
        self._different = keys[self._begins[:-1]]

    def __len__(self) -> int:
        return len(self.rows)

    def merged(self, later: _Run) -> _Run:
        keys = np.concatenate([self._keys(), later._keys()])
        return _Run(keys, np.concatenate([self.rows, later.rows]))

    def _keys(self) -> Keys:
        return np.repeat(self._different, np.diff(self._begins))

    def ranges(self, keys: Keys) -> Joined:
        """Where the rows with each of these keys begin, and how many there are."""
        places = _search(self._different, keys)
        at = np.minimum(places, len(self._different) - 1)
        first = self._begins[at]
        return first, np.where(self._different[at] == keys, self._begins[at + 1] - first, 0)


def _search(keys: Keys, wanted: Keys) -> Numbers:
    """Where wanted keys would be among sorted ones; in their order, memory is read in order."""
    if min(len(keys), len(wanted)) < FEW or (wanted[1:] >= wanted[:-1]).all():
        return np.searchsorted(keys, wanted)
    order = np.argsort(wanted)
    places = np.empty(len(wanted), np.int64)
    places[order] = np.searchsorted(keys, wanted[order])
    return places


class _Index:
    """The rows of a table by some of its columns."""

    def __init__(self, columns: tuple[int, ...]) -> None:
        self.columns = columns
        self.runs: list[_Run] = []
        self.covered = 0

    def cover(self, table: IdTable) -> None:
        """Take in the rows that have come since."""
        if self.covered == table.count:
            return
        new = [table.column(number)[self.covered :] for number in self.columns]
        rows = np.arange(self.covered, table.count)
        self.runs.append(_Run(keys_of(new, len(rows)), rows))
        self.covered = table.count
        while len(self.runs) > 1 and len(self.runs[-2]) < 4 * len(self.runs[-1]):
            later = self.runs.pop()
            self.runs.append(self.runs.pop().merged(later))


class IdTable:
    """Facts of one shape, each once, in the order in which they came.

    >>> table = IdTable(2)
    >>> table.append([np.array([7, 7], np.int32), np.array([1, 2], np.int32)])
    >>> table.find([np.array([7, 8], np.int32), np.array([2, 2], np.int32)])
    array([ 1, -1])
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.count = 0
        self._cells = np.zeros((width, 64), np.int32)
        self._indices: dict[tuple[int, ...], _Index] = {}

    def column(self, number: int) -> Ids:
        """All values of one column."""
        return self._cells[number, : self.count]

    def append(self, columns: Columns) -> None:
        """Add rows that are not there."""
        end = self.count + len(columns[0])
        if end > self._cells.shape[1]:
            grown = np.zeros((self.width, max(end, 2 * self._cells.shape[1])), np.int32)
            grown[:, : self.count] = self._cells[:, : self.count]
            self._cells = grown
        for number, column in enumerate(columns):
            self._cells[number, self.count : end] = column
        self.count = end

    def _index(self, columns: tuple[int, ...]) -> _Index:
        index = self._indices.setdefault(columns, _Index(columns))
        index.cover(self)
        return index

    def how_many(self, columns: tuple[int, ...], values: Sequence[int], since: int = 0) -> int:
        """At most how many rows from number `since` on have these values."""
        if not columns:
            return self.count - since
        keys = keys_of([np.array([value], np.int32) for value in values], 1)
        later = (run for run in self._index(columns).runs if run.last >= since)
        return sum(int(run.ranges(keys)[1][0]) for run in later)

    def joined(
        self,
        columns: tuple[int, ...],
        values: Columns,
        count: int,
        since: int = 0,
        until: int = FOREVER,
    ) -> Iterator[Joined]:
        """Each of `count` rows of values with the rows of this table that have them, in pieces.

        Only rows from number `since` on and before `until` are joined with.
        """
        keys = keys_of(values, count)
        for run in (run for run in self._index(columns).runs if run.last >= since):
            first, many = run.ranges(keys)
            for left, at in _expanded(first, many) if many.any() else ():
                rows = run.rows[at]
                fits = (rows >= since) & (rows < until)
                if len(columns) > 2:
                    for number, column in zip(columns, values, strict=True):
                        fits &= self._cells[number, rows] == column[left]
                yield (left, rows) if fits.all() else (left[fits], rows[fits])

    def find(self, facts: Columns) -> Numbers:
        """The row of each fact, -1 where it is not there."""
        found = np.full(len(facts[0]), -1, np.int64)
        for left, rows in self.joined(tuple(range(self.width)), facts, len(found)):
            found[left] = rows
        return found


def _expanded(first: Numbers, many: Numbers) -> Iterator[Joined]:
    """Every position with each number from its range, at most some at once."""
    ends = np.cumsum(many)
    for begin, end in pairwise(_cuts(ends)):
        lengths = many[begin:end]
        left = np.repeat(np.arange(begin, end), lengths)
        before = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        yield left, np.arange(len(left)) - np.repeat(before - first[begin:end], lengths)


def _cuts(ends: Numbers) -> list[int]:
    """Where to cut so that no piece passes the limit, unless one position alone does."""
    cuts = [0]
    while cuts[-1] < len(ends):
        done = int(ends[cuts[-1] - 1]) if cuts[-1] else 0
        cut = int(np.searchsorted(ends, done + MOST_AT_ONCE, "right"))
        cuts.append(max(cut, cuts[-1] + 1))
    return cuts
