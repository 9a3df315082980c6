"""The stream log: what has arrived on each stream, by time point, as long as a window may need it.

The same fact twice at a time point of a stream is one arrival.  Facts stay in the arrays in
which they came; arrivals are ordered by time, then as they came.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple, TypeAlias

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.service.streams.arrivals import distinct_rows, row_bytes, row_ids

Facts: TypeAlias = Mapping[int, Ids]
"""Facts by shape."""
Key: TypeAlias = tuple[int, bytes]
"""A fact: its shape and its row."""
Runs: TypeAlias = list[tuple[int, Ids]]
"""Facts in the order in which they came: runs of a shape."""


class Arrival(NamedTuple):
    """One fact of a stream at a time point."""

    time: int
    fact: Key


class StreamLog:
    """The arrivals of one stream."""

    def __init__(self) -> None:
        self._by_time: dict[int, Runs] = {}
        self._known: dict[int, dict[int, set[bytes]]] = {}
        """The rows of a time point by shape, where somebody has asked for them."""
        self.times: list[int] = []
        """The time points that have arrivals, in order."""
        self.forgotten = 0
        """How many arrivals came and are no longer kept."""
        self.is_made = False
        """Whether a query makes this stream."""

    def __len__(self) -> int:
        return sum(map(self._count, self.times))

    def _count(self, time: int) -> int:
        return sum(len(ids) for _, ids in self._by_time[time])

    def add(self, time: int, facts: Facts) -> dict[int, Ids]:
        """Take arrivals in; those that are new, each once."""
        new = {}
        for shape, ids in facts.items():
            ids = self._new(time, shape, distinct_rows(np.ascontiguousarray(ids, np.int32)))
            if len(ids):
                new[shape] = ids
        if new:
            if time not in self._by_time:
                bisect.insort(self.times, time)
            self._by_time.setdefault(time, []).extend(new.items())
        return new

    def _new(self, time: int, shape: int, ids: Ids) -> Ids:
        known = self._rows(time, shape)
        if known is None:
            return ids
        rows = row_bytes(ids)
        is_new = [row not in known for row in rows]
        known.update(rows)
        return ids[is_new]

    def _rows(self, time: int, shape: int) -> set[bytes] | None:
        """The rows of a shape that have arrived at a time point; None if there are none."""
        known = self._known.get(time, {})
        if shape not in known:
            runs = [ids for other, ids in self._by_time.get(time, ()) if other == shape]
            if not runs:
                return None
            known = self._known.setdefault(time, known)
            known[shape] = {row for ids in runs for row in row_bytes(ids)}
        return known[shape]

    def remove(self, time: int, facts: Facts) -> dict[int, Ids]:
        """Take arrivals back; those that were there."""
        gone = {}
        for shape, ids in facts.items():
            ids = distinct_rows(np.ascontiguousarray(ids, np.int32))
            known = self._rows(time, shape) or set()
            ids = ids[[row in known for row in row_bytes(ids)]]
            if len(ids):
                gone[shape] = ids
                known.difference_update(row_bytes(ids))
        if gone:
            self._keep(time, set(keys_of(gone)))
        return gone

    def _keep(self, time: int, gone: set[Key]) -> None:
        """Keep the arrivals of a time point without some."""
        runs = []
        for shape, ids in self._by_time[time]:
            kept = ids[[(shape, row) not in gone for row in row_bytes(ids)]]
            if len(kept):
                runs.append((shape, kept))
        self._by_time[time] = runs
        if not runs:
            self._drop(time)

    def between(self, after: int, until: int) -> Iterator[tuple[int, Runs]]:
        """The time points after one and until another that have arrivals, and these."""
        first, last = bisect.bisect_right(self.times, after), bisect.bisect_right(self.times, until)
        return ((time, self._by_time[time]) for time in self.times[first:last])

    def facts_between(self, after: int, until: int) -> Iterator[Key]:
        """The facts that arrived after one time point and until another, as often as they did."""
        for _, runs in self.between(after, until):
            for shape, ids in runs:
                yield from keys_of({shape: ids})

    def last_time(self, fact: Key, until: int) -> int | None:
        """When a fact arrived for the last time, until a time point."""
        shape, row = fact
        for at in range(bisect.bisect_right(self.times, until) - 1, -1, -1):
            if row in (self._rows(self.times[at], shape) or ()):
                return self.times[at]
        return None

    def latest(self, wanted: int, skipped: int, until: int) -> list[Arrival]:
        """The last arrivals until a time, newest first, without the very last ones."""
        return list(islice(self._backward(until), skipped, skipped + wanted))

    def _backward(self, until: int) -> Iterator[Arrival]:
        for at in range(bisect.bisect_right(self.times, until) - 1, -1, -1):
            time = self.times[at]
            for shape, ids in reversed(self._by_time[time]):
                yield from (Arrival(time, (shape, row)) for row in reversed(row_bytes(ids)))

    def count_until(self, time: int) -> int:
        """How many arrivals there have been until a time, forgotten ones included."""
        last = bisect.bisect_right(self.times, time)
        return self.forgotten + sum(map(self._count, self.times[:last]))

    def next_after(self, time: int) -> int | None:
        """The next time point that has arrivals."""
        at = bisect.bisect_right(self.times, time)
        return self.times[at] if at < len(self.times) else None

    def forget(self, until: int, fewest: int = 0) -> None:
        """Drop the arrivals until a time, as far as this leaves enough others."""
        kept = len(self) if fewest else 0
        while self.times and self.times[0] <= until:
            leaving = self._count(self.times[0])
            if fewest and kept - leaving < fewest:
                return
            kept -= leaving
            self.forgotten += leaving
            self._drop(self.times[0])

    def held_ids(self, shape: int | None = None) -> Iterator[Ids]:
        """The ids of all arrivals, or of those of a shape."""
        runs = (run for runs in self._by_time.values() for run in runs)
        return (ids for other, ids in runs if shape is None or other == shape)

    def _drop(self, time: int) -> None:
        del self._by_time[time]
        self._known.pop(time, None)
        del self.times[bisect.bisect_left(self.times, time)]


def keys_of(facts: Facts) -> Iterator[Key]:
    """The facts of an array, one by one."""
    for shape, ids in facts.items():
        yield from ((shape, row) for row in row_bytes(np.ascontiguousarray(ids, np.int32)))


def facts_of(keys: Iterable[Key]) -> dict[int, Ids]:
    """Facts one by one, as arrays by shape."""
    rows: dict[int, list[bytes]] = {}
    for shape, row in keys:
        rows.setdefault(shape, []).append(row)
    return {shape: row_ids(found) for shape, found in rows.items()}
