"""Ordered values: the different values of a group in their order, which come and go.

They stand in chunks of bounded size, so that one that comes or goes is compared with some twenty
of a million, and moves those of its chunk alone.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from itertools import chain
from typing import Any

MOST = 512
"""The values of a chunk; one that would have more is split."""


class OrderedValues:
    """Values that can be compared, each there once.

    >>> values = OrderedValues()
    >>> for each in (5, 2, 7):
    ...     values.add(each)
    >>> values.remove(7)
    >>> values.first, values.last, list(values)
    (2, 5, [2, 5])
    """

    __slots__ = ("_chunks", "_lasts")

    def __init__(self) -> None:
        self._chunks: list[list[Any]] = []
        self._lasts: list[Any] = []

    def __bool__(self) -> bool:
        return bool(self._chunks)

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self._chunks)

    @property
    def first(self) -> Any:
        """The least value."""
        return self._chunks[0][0]

    @property
    def last(self) -> Any:
        """The greatest value."""
        return self._lasts[-1]

    def add(self, value: Any) -> None:
        """A value comes, which is not there."""
        if not self._chunks:
            self._chunks.append([])
            self._lasts.append(value)
        at = min(bisect_left(self._lasts, value), len(self._lasts) - 1)
        chunk = self._chunks[at]
        insort(chunk, value)
        self._lasts[at] = chunk[-1]
        if len(chunk) > MOST:
            half = len(chunk) // 2
            self._chunks[at : at + 1] = chunk[:half], chunk[half:]
            self._lasts.insert(at, chunk[half - 1])

    def remove(self, value: Any) -> None:
        """A value goes, which is there."""
        at = bisect_left(self._lasts, value)
        chunk = self._chunks[at]
        del chunk[bisect_left(chunk, value)]
        if chunk:
            self._lasts[at] = chunk[-1]
        else:
            del self._chunks[at], self._lasts[at]
