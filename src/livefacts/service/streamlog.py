"""Stream logs: what has arrived on each stream, by time point, as long as a window may need it.

The same fact twice at a time point of a stream is one arrival.  A fact is a row of ids,
kept by its bytes; arrivals are ordered by time, then as they came.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, KeysView, Mapping
from itertools import count, islice
from typing import NamedTuple, TypeAlias

import numpy as np

from livefacts.engine.contract import Ids

Facts: TypeAlias = Mapping[int, Ids]
"""Facts by shape."""
Key: TypeAlias = tuple[int, bytes]
"""A fact: its shape and its row."""


class Arrival(NamedTuple):
    """One fact of a stream at a time point."""

    time: int
    number: int
    fact: Key


class StreamLog:
    """The arrivals of one stream."""

    def __init__(self) -> None:
        self._by_time: dict[int, dict[Key, int]] = {}
        self.times: list[int] = []
        """The time points that have arrivals, in order."""
        self.forgotten = 0
        """How many arrivals came and are no longer kept."""
        self._numbers = count()

    def __len__(self) -> int:
        return sum(map(len, self._by_time.values()))

    def add(self, time: int, facts: Facts) -> list[Key]:
        """Take arrivals in; those that are new, each once."""
        at = self._by_time.get(time)
        if at is None:
            at = self._by_time[time] = {}
            bisect.insort(self.times, time)
        new = [fact for fact in keys_of(facts) if fact not in at]
        for fact in new:
            at[fact] = next(self._numbers)
        if not at:
            self._drop(time)
        return list(dict.fromkeys(new))

    def remove(self, time: int, facts: Facts) -> list[Key]:
        """Take arrivals back; those that were there."""
        at = self._by_time.get(time, {})
        gone = [fact for fact in dict.fromkeys(keys_of(facts)) if fact in at]
        for fact in gone:
            del at[fact]
        if time in self._by_time and not at:
            self._drop(time)
        return gone

    def between(self, after: int, until: int) -> Iterator[KeysView[Key]]:
        """The facts of each time point after one and until another."""
        first, last = bisect.bisect_right(self.times, after), bisect.bisect_right(self.times, until)
        return (self._by_time[time].keys() for time in self.times[first:last])

    def latest(self, wanted: int, skipped: int, until: int) -> list[Arrival]:
        """The last arrivals until a time, newest first, without the very last ones."""
        return list(islice(self._backward(until), skipped, skipped + wanted))

    def _backward(self, until: int) -> Iterator[Arrival]:
        for at in range(bisect.bisect_right(self.times, until) - 1, -1, -1):
            time = self.times[at]
            facts = sorted(self._by_time[time].items(), key=lambda item: -item[1])
            yield from (Arrival(time, number, fact) for fact, number in facts)

    def count_until(self, time: int) -> int:
        """How many arrivals there have been until a time, forgotten ones included."""
        last = bisect.bisect_right(self.times, time)
        return self.forgotten + sum(len(self._by_time[t]) for t in self.times[:last])

    def next_after(self, time: int) -> int | None:
        """The next time point that has arrivals."""
        at = bisect.bisect_right(self.times, time)
        return self.times[at] if at < len(self.times) else None

    def forget(self, until: int, fewest: int = 0) -> None:
        """Drop the arrivals until a time, as far as this leaves enough others."""
        kept = len(self) if fewest else 0
        while self.times and self.times[0] <= until:
            leaving = len(self._by_time[self.times[0]])
            if fewest and kept - leaving < fewest:
                return
            kept -= leaving
            self.forgotten += leaving
            self._drop(self.times[0])

    def _drop(self, time: int) -> None:
        del self._by_time[time]
        del self.times[bisect.bisect_left(self.times, time)]


def keys_of(facts: Facts) -> Iterator[Key]:
    """The facts of an array, one by one."""
    for shape, ids in facts.items():
        ids = np.ascontiguousarray(ids, np.int32)
        data, width = ids.tobytes(), ids.shape[1] * ids.itemsize
        yield from ((shape, data[at : at + width]) for at in range(0, len(data), width))


def facts_of(keys: Iterable[Key]) -> dict[int, Ids]:
    """Facts one by one, as arrays by shape."""
    rows: dict[int, list[bytes]] = {}
    for shape, row in keys:
        rows.setdefault(shape, []).append(row)
    return {
        shape: np.frombuffer(b"".join(found), np.int32).reshape(len(found), -1)
        for shape, found in rows.items()
    }
