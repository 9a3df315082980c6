"""Arrivals: what streams have brought and will bring, by time point.

An arrival is a fact at a time point on a stream; the same one twice is one.  Facts stay in
the arrays in which they came.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Ids
from livefacts.store.rows import TRIPLES

Facts = dict[int, Ids]
GONE = -1
FACTORS = np.random.default_rng(1).integers(1, 1 << 62, 64) | 1
"""Odd numbers, one for each column of a row: different rows have different sums, almost always."""


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Facts of one shape that came at a time point on a stream, each once, in their order."""

    time: int
    stream: int
    shape: int
    ids: Ids
    number: int
    """What comes later at the same time point has a larger one."""

    @property
    def is_gone(self) -> bool:
        """Whether these facts were taken back."""
        return self.number == GONE

    def without(self, rows: set[bytes]) -> Chunk:
        kept = [row not in rows for row in row_bytes(self.ids)]
        return Chunk(self.time, self.stream, self.shape, self.ids[kept], self.number)


class Arrivals:
    """All arrivals that can still matter."""

    def __init__(self) -> None:
        self._by_time: dict[int, list[Chunk]] = {}
        self.times: list[int] = []
        """The time points that have arrivals, in order."""
        self._numbers = count()

    def copied(self) -> Arrivals:
        """The same arrivals, for somebody else."""
        copy = Arrivals()
        copy._by_time = {time: list(chunks) for time, chunks in self._by_time.items()}
        copy.times = list(self.times)
        copy._numbers = count(next(self._numbers))
        return copy

    def add(self, time: int, stream: int, facts: Facts) -> list[Chunk]:
        """Take arrivals in; those that are new."""
        new = []
        for shape, ids in facts.items():
            ids = distinct_rows(ids)
            known = self._known(time, stream, shape)
            if known:
                ids = ids[[row not in known for row in row_bytes(ids)]]
            if len(ids):
                new.append(Chunk(time, stream, shape, ids, next(self._numbers)))
        self.put(new)
        return new

    def _known(self, time: int, stream: int, shape: int) -> set[bytes]:
        chunks = self._by_time.get(time, ())
        same = [c for c in chunks if c.stream == stream and c.shape == shape]
        return {row for chunk in same for row in row_bytes(chunk.ids)}

    def put(self, chunks: Iterable[Chunk]) -> None:
        """Take in chunks, all of which are new."""
        for chunk in chunks:
            if chunk.time not in self._by_time:
                bisect.insort(self.times, chunk.time)
                self._by_time[chunk.time] = []
            self._by_time[chunk.time].append(chunk)

    def remove(self, time: int, stream: int, facts: Facts) -> list[Chunk]:
        """Take arrivals back; those that were there."""
        gone = []
        for shape, ids in facts.items():
            known = self._known(time, stream, shape)
            rows = {row for row in row_bytes(ids) if row in known}
            if rows:
                gone.append(Chunk(time, stream, shape, row_ids(list(rows)), GONE))
        self.drop(gone)
        return gone

    def drop(self, chunks: Iterable[Chunk]) -> None:
        """Take back the facts of chunks, all of which are there."""
        for gone in chunks:
            rows = set(row_bytes(gone.ids))
            kept = [
                c.without(rows) if (c.stream, c.shape) == (gone.stream, gone.shape) else c
                for c in self._by_time[gone.time]
            ]
            self._by_time[gone.time] = [chunk for chunk in kept if len(chunk.ids)]
            if not self._by_time[gone.time]:
                self._forget(gone.time)

    def restore(self, time: int, chunks: list[Chunk]) -> None:
        """The arrivals of a time point are these again."""
        if time in self._by_time:
            self._forget(time)
        self.put(chunks)

    def at(self, time: int) -> list[Chunk]:
        """The arrivals of a time point, in order."""
        return self._by_time.get(time, [])

    def between(self, first: int, last: int) -> list[int]:
        """The time points from `first` to `last` that have arrivals."""
        times = self.times
        return times[bisect.bisect_left(times, first) : bisect.bisect_right(times, last)]

    def next_after(self, time: int) -> int | None:
        """The next time point that has arrivals."""
        at = bisect.bisect_right(self.times, time)
        return self.times[at] if at < len(self.times) else None

    def has(self, time: int) -> bool:
        return time in self._by_time

    def forget_before(self, time: int) -> None:
        """Arrivals before this time point can no longer matter."""
        while self.times and self.times[0] < time:
            self._forget(self.times[0])

    def _forget(self, time: int) -> None:
        del self._by_time[time]
        del self.times[bisect.bisect_left(self.times, time)]


def row_bytes(ids: Ids) -> list[bytes]:
    """The rows of an array, each as bytes."""
    ids = np.ascontiguousarray(ids)
    whole = np.dtype((np.void, ids.shape[1] * ids.itemsize))
    return ids.view(whole).reshape(-1).tolist()  # type: ignore[return-value]


def row_ids(rows: list[bytes]) -> Ids:
    """The array of rows that are bytes, of which there is at least one."""
    return np.frombuffer(b"".join(rows), np.int32).reshape(len(rows), -1)


def distinct_rows(ids: Ids) -> Ids:
    """Each row once, in the order in which they come first."""
    if len(ids) < 2 or _are_distinct(ids):
        return ids
    rows = dict.fromkeys(row_bytes(ids))
    return ids if len(rows) == len(ids) else row_ids(list(rows))


def _are_distinct(ids: Ids) -> bool:
    """Whether no row comes twice, seen from sums; if two rows have the same, they may still differ."""
    sums = ids @ FACTORS[: ids.shape[1]]
    sums.sort()
    return bool((sums[1:] != sums[:-1]).all())


def different(column: NDArray[np.integer[Any]]) -> set[int]:
    """The values of a column that has mostly long runs of each."""
    begins = np.empty(len(column), np.bool_)
    begins[:1] = True
    np.not_equal(column[1:], column[:-1], out=begins[1:])
    return set(column[begins].tolist())


def predicate_of(shape: int, ids: Ids) -> Ids:
    """The column that says what facts are about: the predicate of triples, or the name."""
    column: Ids = ids[:, 1] if shape == TRIPLES else ids[:, 0]
    return column
