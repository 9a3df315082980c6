"""Projection: some columns of the answers of a part, as a bag or each row once.

A bag needs nothing but the part itself: what leaves out columns adds up counts.  Where every
row is wanted once, it is kept how often each is found; a row comes with the first of them
and goes with the last.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Ids
from livefacts.engine.patterns.signed_rows import SignedRows, consolidated, no_rows

Signs = NDArray[np.int32]


class PartMatcher(Protocol):
    """Follows one part of a pattern."""

    @property
    def count(self) -> int:
        """How many answers there are."""

    @property
    def entries(self) -> int:
        """How many centres, triples or rows are kept."""

    @property
    def nbytes(self) -> int:
        """The memory that they take."""

    def change(self, triples: Ids, signs: Signs) -> SignedRows:
        """The answers that come and go with triples, in their order."""

    def rows(self) -> SignedRows:
        """All answers as they are now."""

    def kept(self) -> Ids:
        """The triples that are known to be there."""


class Projected:
    """The answers of a part without some of its columns; counts say how often."""

    def __init__(self, part: PartMatcher, columns: Sequence[int]) -> None:
        self._part = part
        self._columns = list(columns)

    @property
    def count(self) -> int:
        """How many answers there are, each as often as it is found."""
        return self._part.count

    @property
    def entries(self) -> int:
        """How many centres or triples the part keeps."""
        return self._part.entries

    @property
    def nbytes(self) -> int:
        """The memory of the part."""
        return self._part.nbytes

    def change(self, triples: Ids, signs: Signs) -> SignedRows:
        """The answers that come and go with triples, in their order."""
        change = self._part.change(triples, signs)
        return consolidated(SignedRows(change.rows[:, self._columns], change.counts))

    def rows(self) -> SignedRows:
        """All answers as they are now."""
        rows, counts = self._part.rows()
        return consolidated(SignedRows(rows[:, self._columns], counts))

    def kept(self) -> Ids:
        """The triples that are known to be there."""
        return self._part.kept()


class Distinct:
    """The answers of a part without some of its columns, each once."""

    def __init__(self, part: PartMatcher, columns: Sequence[int]) -> None:
        self._part = Projected(part, columns)
        self._width = len(columns)
        self._found: dict[bytes, int] = {}

    @property
    def count(self) -> int:
        """How many different answers there are."""
        return len(self._found)

    @property
    def entries(self) -> int:
        """How many centres or triples the part keeps, and how many different answers."""
        return self._part.entries + len(self._found)

    @property
    def nbytes(self) -> int:
        """The memory of the part, and of the answers and how often each is found."""
        each = sys.getsizeof(bytes(4 * self._width)) + sys.getsizeof(1 << 20)
        return self._part.nbytes + sys.getsizeof(self._found) + each * len(self._found)

    def change(self, triples: Ids, signs: Signs) -> SignedRows:
        """The answers that come and go with triples, in their order."""
        rows, counts = self._part.change(triples, signs)
        if not len(counts):
            return no_rows(self._width)
        signed = np.zeros(len(counts), np.int64)
        for number, (row, count) in enumerate(zip(rows, counts.tolist(), strict=True)):
            signed[number] = self._assert(row.tobytes(), count)
        changed = signed != 0
        return SignedRows(rows[changed], signed[changed])

    def _assert(self, row: bytes, count: int) -> int:
        """Count a row; 1 if it comes, -1 if it goes, else 0."""
        before = self._found.get(row, 0)
        if before + count:
            self._found[row] = before + count
        else:
            del self._found[row]
        return (before + count > 0) - (before > 0)

    def rows(self) -> SignedRows:
        """All answers as they are now, each once."""
        text = b"".join(self._found)
        rows = np.frombuffer(bytearray(text), np.int32).reshape(len(self._found), self._width)
        return SignedRows(rows, np.ones(len(self._found), np.int64))

    def kept(self) -> Ids:
        """The triples that are known to be there."""
        return self._part.kept()
