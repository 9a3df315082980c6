"""Arrivals: what streams have brought and will bring, by time point.

An arrival is a fact at a time point on a stream; the same one twice is one.  Facts stay in
the arrays in which they came.  Where a stream brings facts to a time point more than once, it
is noted which chunk has them, so that what comes and goes costs what it is, however much is
there.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import TRIPLES, Flags, Ids

Facts = dict[int, Ids]
GONE = -1
FACTORS = np.random.default_rng(1).integers(1, 1 << 62, 64) | 1
"""Odd numbers, one for each column of a row: different rows have different sums, almost always."""


@dataclass(frozen=True, slots=True, eq=False)
class ArrivalChunk:
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

    def without(self, rows: set[bytes]) -> ArrivalChunk:
        return self.kept(np.array([row not in rows for row in row_bytes(self.ids)], np.bool_))

    def kept(self, flags: Flags) -> ArrivalChunk:
        """The facts that are flagged, as they came."""
        if flags.all():
            return self
        return ArrivalChunk(self.time, self.stream, self.shape, self.ids[flags], self.number)


class _Lane:
    """What a stream brings to a time point, of one shape."""

    __slots__ = ("_places", "chunks")

    def __init__(self) -> None:
        self.chunks: dict[int, ArrivalChunk] = {}
        """By their numbers."""
        self._places: dict[bytes, int] | None = None
        """In which chunk each row is, where somebody has asked for it."""

    def copied(self) -> _Lane:
        copy = _Lane()
        copy.chunks = dict(self.chunks)
        return copy

    def places(self) -> dict[bytes, int]:
        if self._places is None:
            found = self.chunks.items()
            self._places = {row: number for number, c in found for row in row_bytes(c.ids)}
        return self._places

    def put(self, chunk: ArrivalChunk) -> None:
        self.chunks[chunk.number] = chunk
        if self._places is not None:
            self._places.update(dict.fromkeys(row_bytes(chunk.ids), chunk.number))

    def take(self, rows: Iterable[bytes]) -> list[ArrivalChunk]:
        """Take rows out, all of which are there; the chunks that they were in, as they were."""
        places = self.places()
        leaving: dict[int, set[bytes]] = {}
        for row in rows:
            leaving.setdefault(places.pop(row), set()).add(row)
        before = [self.chunks[number] for number in leaving]
        for chunk in before:
            kept = chunk.without(leaving[chunk.number])
            if len(kept.ids):
                self.chunks[chunk.number] = kept
            else:
                del self.chunks[chunk.number]
        return before


class Arrivals:
    """All arrivals that can still matter."""

    def __init__(self) -> None:
        self._lanes: dict[int, dict[tuple[int, int], _Lane]] = {}
        """By time point, and by stream and shape."""
        self.times: list[int] = []
        """The time points that have arrivals, in order."""
        self._numbers = count()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def copied(self) -> Arrivals:
        """The same arrivals, for somebody else."""
        copy = Arrivals()
        copy._lanes = {
            time: {key: lane.copied() for key, lane in lanes.items()}
            for time, lanes in self._lanes.items()
        }
        copy.times, copy._size = list(self.times), self._size
        copy._numbers = count(next(self._numbers))
        return copy

    def add(self, time: int, stream: int, facts: Facts) -> list[ArrivalChunk]:
        """Take arrivals in; those that are new."""
        new = []
        for shape, ids in facts.items():
            ids = distinct_rows(ids)
            lane = self._lanes.get(time, {}).get((stream, shape))
            if lane is not None:
                known = lane.places()
                ids = ids[[row not in known for row in row_bytes(ids)]]
            if len(ids):
                new.append(ArrivalChunk(time, stream, shape, ids, next(self._numbers)))
        self.put(new)
        return new

    def put(self, chunks: Iterable[ArrivalChunk]) -> None:
        """Take in chunks whose facts are not there, new ones or those that were taken out."""
        for chunk in chunks:
            lanes = self._lanes.get(chunk.time)
            if lanes is None:
                bisect.insort(self.times, chunk.time)
                lanes = self._lanes[chunk.time] = {}
            lane = lanes.setdefault((chunk.stream, chunk.shape), _Lane())
            before = lane.chunks.get(chunk.number)
            self._size += len(chunk.ids) - (0 if before is None else len(before.ids))
            lane.put(chunk)

    def remove(
        self, time: int, stream: int, facts: Facts
    ) -> tuple[list[ArrivalChunk], list[ArrivalChunk]]:
        """Take arrivals back: those that were there, and the chunks they were in, as they were."""
        gone: list[ArrivalChunk] = []
        before: list[ArrivalChunk] = []
        for shape, ids in facts.items():
            lane = self._lanes.get(time, {}).get((stream, shape))
            known = {} if lane is None else lane.places()
            rows = dict.fromkeys(row for row in row_bytes(ids) if row in known)
            if rows:
                gone.append(ArrivalChunk(time, stream, shape, row_ids(list(rows)), GONE))
                before += self._take(gone[-1])
        return gone, before

    def drop(self, chunks: Iterable[ArrivalChunk]) -> None:
        """Take back the facts of chunks, all of which are there."""
        for chunk in chunks:
            self._take(chunk)

    def _take(self, gone: ArrivalChunk) -> list[ArrivalChunk]:
        lanes, key = self._lanes[gone.time], (gone.stream, gone.shape)
        before = lanes[key].take(row_bytes(gone.ids))
        self._size -= len(gone.ids)
        if not lanes[key].chunks:
            del lanes[key]
        if not lanes:
            self._forget(gone.time)
        return before

    def restore(self, chunks: Iterable[ArrivalChunk]) -> None:
        """These chunks are again as they were before some of their facts were taken back."""
        self.put(chunks)

    def keep(self, time: int, chunks: Iterable[ArrivalChunk]) -> None:
        """Of the arrivals of a time point, only these can still matter."""
        self._forget(time)
        self.put(chunks)

    def at(self, time: int) -> list[ArrivalChunk]:
        """The arrivals of a time point, in order."""
        lanes = self._lanes.get(time, {}).values()
        found = {number: chunk for lane in lanes for number, chunk in lane.chunks.items()}
        return [found[number] for number in sorted(found)]

    def alone(self, chunk: ArrivalChunk) -> Ids:
        """Those facts of a chunk that no other stream asserts for the same time point.

        Of chunks that come, the earlier ones count; one that goes is not there any more.
        """
        others = [
            lane.places()
            for (stream, shape), lane in self._lanes.get(chunk.time, {}).items()
            if shape == chunk.shape and stream != chunk.stream
        ]
        if not others:
            return chunk.ids
        limit = next(self._numbers) if chunk.is_gone else chunk.number
        is_alone = [
            all(places.get(row, limit) >= limit for places in others)
            for row in row_bytes(chunk.ids)
        ]
        ids: Ids = chunk.ids[is_alone]
        return ids

    def between(self, first: int, last: int) -> list[int]:
        """The time points from `first` to `last` that have arrivals."""
        times = self.times
        return times[bisect.bisect_left(times, first) : bisect.bisect_right(times, last)]

    def next_after(self, time: int) -> int | None:
        """The next time point that has arrivals."""
        at = bisect.bisect_right(self.times, time)
        return self.times[at] if at < len(self.times) else None

    def has(self, time: int) -> bool:
        return time in self._lanes

    def forget_before(self, time: int) -> None:
        """Arrivals before this time point can no longer matter."""
        while self.times and self.times[0] < time:
            self._forget(self.times[0])

    def _forget(self, time: int) -> None:
        lanes = self._lanes.pop(time).values()
        self._size -= sum(len(chunk.ids) for lane in lanes for chunk in lane.chunks.values())
        del self.times[bisect.bisect_left(self.times, time)]


def row_bytes(ids: Ids) -> list[bytes]:
    """The rows of an array, each as bytes."""
    ids = np.ascontiguousarray(ids)
    whole = np.dtype((np.void, ids.shape[1] * ids.itemsize))
    return ids.view(whole).reshape(-1).tolist()  # type: ignore[return-value]


def row_ids(rows: list[bytes]) -> Ids:
    """The array of rows that are bytes, of which there is at least one."""
    # Of bytes that can be written to: kernels would be compiled again for any other array.
    return np.frombuffer(bytearray().join(rows), np.int32).reshape(len(rows), -1)


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
