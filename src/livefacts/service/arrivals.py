"""Arrivals: what streams have brought and will bring, by time point.

An arrival is a fact at a time point on a stream; the same one twice is one.  Facts are
rows of ids, kept by their bytes.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.store.rows import TRIPLES

Facts = dict[int, Ids]


class Arrival(NamedTuple):
    """One fact of a stream; arrivals are ordered by time, then as they came."""

    time: int
    number: int
    stream: int
    shape: int
    row: bytes


class Arrivals:
    """All arrivals that can still matter."""

    def __init__(self) -> None:
        self._by_time: dict[int, dict[tuple[int, int], dict[bytes, int]]] = {}
        self.times: list[int] = []
        """The time points that have arrivals, in order."""
        self._numbers = count()

    def add(self, time: int, stream: int, facts: Facts) -> Facts:
        """Take arrivals in; those that are new, each once."""
        if time not in self._by_time:
            self._by_time[time] = {}
            bisect.insort(self.times, time)
        at = self._by_time[time]
        new = {}
        for shape, ids in facts.items():
            known = at.setdefault((stream, shape), {})
            rows = [row for row in dict.fromkeys(row_bytes(ids)) if row not in known]
            known.update((row, next(self._numbers)) for row in rows)
            if rows:
                new[shape] = row_ids(rows)
        return new

    def remove(self, time: int, stream: int, facts: Facts) -> Facts:
        """Take arrivals back; those that were there."""
        at = self._by_time.get(time, {})
        gone = {}
        for shape, ids in facts.items():
            known = at.get((stream, shape), {})
            rows = [row for row in dict.fromkeys(row_bytes(ids)) if row in known]
            for row in rows:
                del known[row]
            if rows:
                gone[shape] = row_ids(rows)
        if time in self._by_time and not any(at.values()):
            self._forget(time)
        return gone

    def at(self, time: int) -> Iterator[tuple[int, int, Ids]]:
        """The arrivals of a time point: stream, shape and facts."""
        for (stream, shape), rows in self._by_time.get(time, {}).items():
            if rows:
                yield stream, shape, row_ids(list(rows))

    def listed(self, first: int, last: int) -> Iterator[Arrival]:
        """The arrivals from one time point to another, in order."""
        for time in self.between(first, last):
            found = [
                Arrival(time, number, stream, shape, row)
                for (stream, shape), rows in self._by_time[time].items()
                for row, number in rows.items()
            ]
            yield from sorted(found)

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

    def times_of(self, stream: int, shape: int, row: bytes) -> list[int]:
        """When a fact arrived on a stream."""
        return [t for t in self.times if row in self._by_time[t].get((stream, shape), ())]

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
    width = ids.shape[1] * ids.itemsize
    return [bytes(row) for row in ids.view(np.dtype((np.void, width))).ravel().tolist()]


def row_ids(rows: list[bytes]) -> Ids:
    """The array of rows that are bytes, of which there is at least one."""
    return np.frombuffer(b"".join(rows), np.int32).reshape(len(rows), -1)


def predicate_of(shape: int, ids: Ids) -> Ids:
    """The column that says what facts are about: the predicate of triples, or the name."""
    column: Ids = ids[:, 1] if shape == TRIPLES else ids[:, 0]
    return column
