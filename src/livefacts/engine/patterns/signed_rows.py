"""Signed rows: answers that come and go, as rows of ids with counts.

A positive count says how often a row comes, a negative one how often it goes.  Consolidated
rows are all different, and none has the count zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Ids

Counts = NDArray[np.int64]


class SignedRows(NamedTuple):
    """Rows of ids, one column a variable, and the count of each."""

    rows: Ids
    counts: Counts

    def __bool__(self) -> bool:
        return len(self.counts) > 0


def no_rows(width: int) -> SignedRows:
    """No row, of so many columns."""
    return SignedRows(np.empty((0, width), np.int32), np.empty(0, np.int64))


def consolidated(found: SignedRows) -> SignedRows:
    """Every row once, with the sum of its counts, unless that is zero; in the order of the ids.

    >>> rows = SignedRows(np.array([[7], [3], [7]], np.int32), np.array([1, 1, -1]))
    >>> consolidated(rows).rows.tolist()
    [[3]]
    """
    rows, counts = found
    if len(counts) < 2:
        return found if counts.all() else no_rows(rows.shape[1])
    order = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(len(rows))
    rows, counts = rows[order], counts[order]
    begins = np.ones(len(rows), bool)
    begins[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    starts = np.flatnonzero(begins)
    sums = np.add.reduceat(counts, starts)
    kept = sums != 0
    return SignedRows(rows[starts[kept]], sums[kept])


def added_up(several: Iterable[SignedRows], width: int) -> SignedRows:
    """The sum of bags of rows, consolidated."""
    bags = [bag for bag in several if bag]
    if not bags:
        return no_rows(width)
    rows = np.concatenate([bag.rows for bag in bags])
    return consolidated(SignedRows(rows, np.concatenate([bag.counts for bag in bags])))


def product(left: SignedRows, right: SignedRows) -> SignedRows:
    """Every row of one beside every row of the other; counts are multiplied."""
    first = np.repeat(np.arange(len(left.counts)), len(right.counts))
    second = np.tile(np.arange(len(right.counts)), len(left.counts))
    rows = np.concatenate([left.rows[first], right.rows[second]], axis=1)
    return SignedRows(rows, left.counts[first] * right.counts[second])


@dataclass(frozen=True, slots=True)
class Factored:
    """A sum of products of rows, multiplied out when it is read.

    A term has one bag of rows for each part of a pattern; `order` are the columns of their
    product, as they are wanted.
    """

    terms: tuple[Sequence[SignedRows], ...]
    order: tuple[int, ...]

    def __bool__(self) -> bool:
        return bool(self.terms)

    def total(self) -> int:
        """The sum of all counts, without multiplying out."""
        sums = (prod(int(bag.counts.sum()) for bag in term) for term in self.terms)
        return sum(sums)

    def expanded(self) -> SignedRows:
        """All rows, consolidated."""
        if len(self.terms) == 1 and len(self.terms[0]) == 1:
            rows, counts = self.terms[0][0]
            return SignedRows(rows[:, self.order], counts)
        return added_up((self._multiplied(term) for term in self.terms), len(self.order))

    def _multiplied(self, bags: Sequence[SignedRows]) -> SignedRows:
        whole = SignedRows(np.empty((1, 0), np.int32), np.ones(1, np.int64))
        for bag in bags:
            whole = product(whole, bag)
        return SignedRows(whole.rows[:, self.order], whole.counts)
