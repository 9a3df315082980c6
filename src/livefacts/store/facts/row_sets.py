"""Row sets: rows of ids, each once, and which of them are among others.

Sorted columns and codes take the place of tuples: no other thread waits for the interpreter
meanwhile, as it does for `np.unique(axis=0)`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]
FEW = 1_000


class EqualRows(NamedTuple):
    """Rows in order, each once."""

    rows: Ids
    order: Places
    """Where the rows stood that are equal, one group after the other, and in a group as before."""
    first: Places
    """Where each group begins in `order`."""

    def last(self) -> Places:
        """Where each of the rows stood last."""
        ends = np.append(self.first, len(self.order))[1:]
        found: Places = self.order[ends - 1]
        return found

    def sums(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sum of the numbers of equal rows."""
        ends = np.append(self.first, len(self.order))
        before = np.append(0, np.cumsum(numbers[self.order]))[ends]
        found: NDArray[np.int64] = np.diff(before)
        return found


def distinct_rows(rows: Ids) -> EqualRows:
    """Rows, each once.

    >>> found = distinct_rows(np.array([[2, 1], [1, 5], [2, 1]], np.int32))
    >>> found.rows.tolist(), found.last().tolist(), found.sums(np.array([4, 2, 1])).tolist()
    ([[1, 5], [2, 1]], [1, 2], [2, 5])
    """
    order = np.lexsort(rows.T[::-1]) if len(rows) else np.zeros(0, np.intp)
    ordered = rows[order]
    begins = np.ones(len(rows), np.bool_)
    if len(rows):
        begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    first = np.flatnonzero(begins)
    return EqualRows(ordered[first], order, first)


def rows_without(rows: Ids, others: Ids) -> Ids:
    """Those of these rows that are not among the others."""
    return rows[~rows_among(rows, others)]


def rows_among(rows: Ids, others: Ids) -> Flags:
    """Which of these rows are among the others.

    >>> rows_among(np.array([[1, 2], [3, 4]], np.int32), np.array([[3, 4]], np.int32)).tolist()
    [False, True]
    """
    if not len(rows) or not len(others):
        return np.zeros(len(rows), np.bool_)
    if len(rows) + len(others) <= FEW:
        known = set(map(tuple, others.tolist()))
        return np.array([tuple(row) in known for row in rows.tolist()], np.bool_)
    found = np.ones(len(rows), np.bool_)
    # Hardly a row has all the columns of a few others.
    for column in range(rows.shape[1]) if 8 * len(others) < len(rows) else ():
        found[found] = np.isin(rows[found, column], others[:, column])
    codes = _codes(np.concatenate([rows[found], others]))
    found[found] = np.isin(codes[: -len(others)], codes[-len(others) :])
    return found


def _codes(rows: Ids) -> NDArray[np.int64]:
    """A number for each row, equal for equal rows."""
    codes = rows[:, 0].astype(np.int64)
    for column in range(1, rows.shape[1]):
        both = (codes << 31) | rows[:, column]
        codes = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return codes
