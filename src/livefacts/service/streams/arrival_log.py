"""The arrival log: everything that streams have brought and will bring, as long as it can matter.

An arrival is a fact at a time point of a stream, with its place in the order of pushing; the
same fact twice at a time point of a stream is one.  Facts stay in the arrays in which they came.
Where a stream brings facts to a time point more than once, it is noted which chunk has them, so
that what comes and goes costs what it is, however much is there.

A reasoner has one log.  Streams that queries make are lanes of their own in it, which only those
see who read them.  The log can be written down and read back (`state`, `resume`).
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol

import numpy as np

from livefacts.engine.contract import Flags, Ids
from livefacts.service.streams.fact_rows import Key, distinct_rows, row_bytes, row_ids

GONE = -1
FEWEST_SWEPT = 4096
"""With fewer arrivals, nothing that a window by count may need is worth forgetting."""
NOTHING: Collection[int] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ArrivalChunk:
    """Facts of one shape that came at a time point on a stream, each once, in their order."""

    time: int
    lane: int
    shape: int
    ids: Ids
    number: int
    """What comes later at the same time point has a larger one; `GONE` if it was taken back."""

    @property
    def stream(self) -> int:
        """The stream that they came on."""
        return self.lane if self.lane >= 0 else ~self.lane

    def without(self, rows: set[bytes]) -> ArrivalChunk:
        return self.kept(np.array([row not in rows for row in row_bytes(self.ids)], np.bool_))

    def kept(self, flags: Flags) -> ArrivalChunk:
        """The facts that are flagged, as they came."""
        if flags.all():
            return self
        return ArrivalChunk(self.time, self.lane, self.shape, self.ids[flags], self.number)


class _Moment:
    """What a lane has at a time point."""

    __slots__ = ("_places", "chunks", "shapes")

    def __init__(self) -> None:
        self.chunks: dict[int, ArrivalChunk] = {}
        """By their numbers."""
        self.shapes: set[int] = set()
        """Those that something has come of."""
        self._places: dict[int, dict[bytes, int]] = {}
        """In which chunk each row of a shape is, where somebody has asked for it."""

    def __len__(self) -> int:
        return sum(len(chunk.ids) for chunk in self.chunks.values())

    def places(self, shape: int) -> dict[bytes, int]:
        known = self._places.get(shape)
        if known is None:
            mine = [chunk for chunk in self.chunks.values() if chunk.shape == shape]
            known = {row: chunk.number for chunk in mine for row in row_bytes(chunk.ids)}
            self._places[shape] = known
        return known

    def put(self, chunk: ArrivalChunk, rows: list[bytes] | None = None) -> None:
        """Take a chunk in; `rows` are its facts, if they are known."""
        self.chunks[chunk.number] = chunk
        self.shapes.add(chunk.shape)
        if chunk.shape in self._places:
            places = dict.fromkeys(rows or row_bytes(chunk.ids), chunk.number)
            self._places[chunk.shape].update(places)

    def take(self, shape: int, rows: Iterable[bytes]) -> list[ArrivalChunk]:
        """Take rows out, all of which are there; the chunks that they were in, as they were."""
        places = self.places(shape)
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


class Lane:
    """The arrivals of one stream, or those that a query makes for it."""

    def __init__(self) -> None:
        self.moments: dict[int, _Moment] = {}
        self.times: list[int] = []
        """The time points that have arrivals, in order."""
        self.forgotten = 0
        """How many arrivals came and are no longer kept."""
        self.latest: int | None = None
        """The last time point that something came to, unless it was forgotten before a restart."""
        self.late = 0
        """How many arrivals came for a time that was over, since the start."""

    def __len__(self) -> int:
        return sum(map(len, self.moments.values()))

    def moment(self, time: int) -> _Moment:
        """A time point, that something is about to come to."""
        if time not in self.moments:
            bisect.insort(self.times, time)
            self.moments[time] = _Moment()
            self.latest = time if self.latest is None else max(self.latest, time)
        return self.moments[time]

    def drop(self, time: int) -> None:
        """Nothing is left of a time point."""
        del self.moments[time]
        del self.times[bisect.bisect_left(self.times, time)]

    def count_until(self, time: int) -> int:
        """How many arrivals there have been until a time, forgotten ones included."""
        last = bisect.bisect_right(self.times, time)
        return self.forgotten + sum(len(self.moments[each]) for each in self.times[:last])


@dataclass(frozen=True, slots=True)
class LogState:
    """A log at one moment; streams are named by lanes."""

    first: int | None
    set_aside: int
    lateness: Mapping[int, int]
    forgotten: Mapping[int, int]
    chunks: Sequence[ArrivalChunk]


class LatestNeed(Protocol):
    """A window that counts facts: what it may need, however old."""

    def wanted(self) -> int:
        """How many of the last facts may matter, now or when some are taken back."""
        ...

    def chosen(self, chunk: ArrivalChunk) -> Flags:
        """Which facts of a chunk the window counts."""
        ...


class ArrivalLog:
    """All arrivals that can still matter."""

    def __init__(self) -> None:
        self.lanes: dict[int, Lane] = {}
        """By the streams' ids; those that queries make, by `~` of them."""
        self.first: int | None = None
        """The first time point that there is."""
        self.set_aside = 0
        """How many facts came for a time before it."""
        self.lateness: dict[int, int] = {}
        """How late facts of a stream may come for reports to be sent again."""
        self.numbers = count()
        """The numbers of chunks that come, in their order."""
        self._size = 0
        self._most = 0
        """With more arrivals than this, a sweep may be worth its work."""

    def __len__(self) -> int:
        return self._size

    @property
    def times(self) -> list[int]:
        """The time points that have arrivals, in order."""
        if len(self.lanes) == 1:
            return next(iter(self.lanes.values())).times
        return sorted({time for lane in self.lanes.values() for time in lane.times})

    # what comes and goes

    def add(self, time: int, lane: int, runs: Iterable[Mapping[int, Ids]]) -> list[ArrivalChunk]:
        """Take arrivals in, in this order; those that are new."""
        new = []
        for run in runs:
            for shape, ids in run.items():
                if not len(ids):
                    continue
                moment = self._moment(time, lane)
                ids, rows = distinct_rows(ids) if len(ids) > 1 else ids, None
                if shape in moment.shapes:
                    known, rows = moment.places(shape), row_bytes(ids)
                    if not known.keys().isdisjoint(rows):
                        ids, rows = ids[[row not in known for row in rows]], None
                if len(ids):
                    new.append(ArrivalChunk(time, lane, shape, ids, next(self.numbers)))
                    moment.put(new[-1], rows)
                    self._size += len(ids)
        return new

    def _moment(self, time: int, lane: int) -> _Moment:
        """A time point of a lane, that something is about to come to."""
        if lane not in self.lanes:
            self.lanes[lane] = Lane()
        moments = self.lanes[lane].moments
        return moments[time] if time in moments else self.lanes[lane].moment(time)

    def _put(self, chunk: ArrivalChunk) -> None:
        moment = self._moment(chunk.time, chunk.lane)
        before = moment.chunks.get(chunk.number)
        self._size += len(chunk.ids) - (0 if before is None else len(before.ids))
        moment.put(chunk)

    def remove(
        self, time: int, lane: int, facts: Mapping[int, Ids]
    ) -> tuple[list[ArrivalChunk], list[ArrivalChunk]]:
        """Take arrivals back: those that were there, and the chunks they were in, as they were."""
        gone: list[ArrivalChunk] = []
        before: list[ArrivalChunk] = []
        for shape, ids in facts.items():
            moments = self.lanes[lane].moments if lane in self.lanes else {}
            known = moments[time].places(shape) if time in moments else {}
            rows = dict.fromkeys(row for row in row_bytes(ids) if row in known)
            if rows:
                gone.append(ArrivalChunk(time, lane, shape, row_ids(list(rows)), GONE))
                before += self._take(gone[-1])
        return gone, before

    def drop(self, chunks: Iterable[ArrivalChunk]) -> None:
        """Take back the facts of chunks, all of which are there."""
        for chunk in chunks:
            self._take(chunk)

    def _take(self, gone: ArrivalChunk) -> list[ArrivalChunk]:
        lane = self.lanes[gone.lane]
        moment = lane.moments[gone.time]
        before = moment.take(gone.shape, row_bytes(gone.ids))
        self._size -= len(gone.ids)
        if not moment.chunks:
            lane.drop(gone.time)
        return before

    def restore(self, chunks: Iterable[ArrivalChunk]) -> None:
        """These chunks are again as they were before some of their facts were taken back."""
        for chunk in chunks:
            self._put(chunk)

    # what is forgotten

    def forget(self, kept: Callable[[int], int], latest: Sequence[LatestNeed] = ()) -> None:
        """Drop arrivals of each lane before a time, but for those that windows by count may need."""
        if not latest:
            for number, lane in self.lanes.items():
                until = kept(number)
                while lane.times and lane.times[0] < until:
                    self._forget(lane, lane.times[0], ())
        elif self._size > max(self._most, FEWEST_SWEPT):
            self._sweep({number: kept(number) for number in self.lanes}, latest)
            self._most = 2 * self._size

    def _forget(self, lane: Lane, time: int, kept: Sequence[ArrivalChunk]) -> None:
        """Of the arrivals of a time point, only some can still matter."""
        leaving = len(lane.moments[time]) - sum(len(chunk.ids) for chunk in kept)
        if not leaving:
            return
        lane.drop(time)
        for chunk in kept:
            lane.moment(time).put(chunk)
        lane.forgotten += leaving
        self._size -= leaving

    def _sweep(self, kept: Mapping[int, int], latest: Sequence[LatestNeed]) -> None:
        left = {need: need.wanted() for need in latest}
        for time in reversed(self.times):
            counted = dict.fromkeys(left, 0)
            for number, lane in self.lanes.items():
                moment = lane.moments.get(time)
                if moment is None:
                    continue
                chunks = list(moment.chunks.values())
                if time < kept[number]:
                    chunks = [chunk.kept(_needed(chunk, left)) for chunk in chunks]
                    chunks = [chunk for chunk in chunks if len(chunk.ids)]
                    self._forget(lane, time, chunks)
                for need in left:
                    found = sum(int(need.chosen(chunk).sum()) for chunk in chunks)
                    # The same fact on several streams is one: more may be kept, never less.
                    counted[need] = max(counted[need], found)
            for need, found in counted.items():
                left[need] -= found

    # written down

    def state(self) -> LogState:
        """The log as it is now; it stays so, whatever comes."""
        forgotten = {number: lane.forgotten for number, lane in self.lanes.items()}
        chunks = tuple(self._chunks())
        return LogState(self.first, self.set_aside, dict(self.lateness), forgotten, chunks)

    def resume(self, state: LogState) -> None:
        """A new log goes on from what was written down."""
        self.first, self.set_aside = state.first, state.set_aside
        self.lateness = dict(state.lateness)
        for number, forgotten in state.forgotten.items():
            self.lanes[number] = Lane()
            self.lanes[number].forgotten = forgotten
        for chunk in state.chunks:
            self._put(chunk)
        self.numbers = count(max((chunk.number for chunk in state.chunks), default=GONE) + 1)

    def _chunks(self) -> Iterator[ArrivalChunk]:
        for lane in self.lanes.values():
            for moment in lane.moments.values():
                yield from moment.chunks.values()

    def held_ids(self) -> Iterator[Ids]:
        """The ids of all arrivals."""
        return (chunk.ids for chunk in self._chunks())


def _needed(chunk: ArrivalChunk, left: Mapping[LatestNeed, int]) -> Flags:
    flags = np.zeros(len(chunk.ids), np.bool_)
    for need, wanted in left.items():
        if wanted > 0:
            flags |= need.chosen(chunk)
    return flags


class ArrivalView:
    """What one reader sees of the log.

    That is all that is pushed, or what is pushed on one stream; and of the streams that queries
    make, those that the reader names.
    """

    def __init__(
        self,
        log: ArrivalLog,
        stream: int | None = None,
        made: Collection[int] = NOTHING,
        but: Collection[int] = NOTHING,
    ) -> None:
        self.log = log
        self.stream = stream
        self._made = made
        self._but = but

    def narrowed(self, stream: int) -> ArrivalView:
        """What it sees of one stream."""
        return ArrivalView(self.log, stream, self._made)

    def without(self, streams: Iterable[int]) -> ArrivalView:
        """What it sees of other streams than these."""
        return ArrivalView(self.log, None, self._made, frozenset(streams))

    def sees(self, lane: int) -> bool:
        """Whether what comes to a lane can be seen."""
        stream = lane if lane >= 0 else ~lane
        if self.stream not in (None, stream) or stream in self._but:
            return False
        return lane >= 0 or stream in self._made

    def _lanes(self) -> list[Lane]:
        return [lane for number, lane in self.log.lanes.items() if self.sees(number)]

    def at(self, time: int) -> list[ArrivalChunk]:
        """The arrivals of a time point, in order."""
        moments = [lane.moments[time] for lane in self._lanes() if time in lane.moments]
        found = {number: chunk for each in moments for number, chunk in each.chunks.items()}
        return list(found.values()) if len(found) < 2 else [found[n] for n in sorted(found)]

    def alone(self, chunk: ArrivalChunk) -> Ids:
        """Those facts of a chunk that no other stream asserts for the same time point.

        Of chunks that come, the earlier ones count; one that goes is not there any more.
        """
        if len(self.log.lanes) == 1:
            return chunk.ids
        others = [
            lane.moments[chunk.time].places(chunk.shape)
            for number, lane in self.log.lanes.items()
            if number != chunk.lane and self.sees(number) and chunk.time in lane.moments
        ]
        if not any(others):
            return chunk.ids
        limit = next(self.log.numbers) if chunk.number == GONE else chunk.number
        is_alone = [
            all(places.get(row, limit) >= limit for places in others)
            for row in row_bytes(chunk.ids)
        ]
        ids: Ids = chunk.ids[is_alone]
        return ids

    def between(self, first: int, last: int) -> list[int]:
        """The time points from `first` to `last` that have arrivals."""
        found = [
            times[bisect.bisect_left(times, first) : bisect.bisect_right(times, last)]
            for times in (lane.times for lane in self._lanes())
        ]
        some = [times for times in found if times]
        return some[0] if len(some) == 1 else sorted(set().union(*some))

    def chunks(self, first: int, last: int) -> Iterator[ArrivalChunk]:
        """The arrivals from one time point to another, in order."""
        for time in self.between(first, last):
            yield from self.at(time)

    def next_after(self, time: int) -> int | None:
        """The next time point that has arrivals."""
        found = []
        for times in (lane.times for lane in self._lanes()):
            at = bisect.bisect_right(times, time)
            if at < len(times):
                found.append(times[at])
        return min(found, default=None)

    def has(self, time: int) -> bool:
        """Whether something has arrived at a time point."""
        return any(time in lane.moments for lane in self._lanes())

    def last_time(self, fact: Key, until: int) -> int | None:
        """When a fact arrived for the last time, until a time point."""
        shape, row = fact
        found = []
        for lane in self._lanes():
            for at in range(bisect.bisect_right(lane.times, until) - 1, -1, -1):
                if row in lane.moments[lane.times[at]].places(shape):
                    found.append(lane.times[at])
                    break
        return max(found, default=None)

    def count_until(self, time: int) -> int:
        """How many arrivals there have been until a time, forgotten ones included."""
        return sum(lane.count_until(time) for lane in self._lanes())

    def held_ids(self, shape: int) -> Iterator[Ids]:
        """The ids of arrivals of a shape."""
        for lane in self._lanes():
            for moment in lane.moments.values():
                yield from (chunk.ids for chunk in moment.chunks.values() if chunk.shape == shape)
