"""Window contents: the window operator, from the log and an extent to what enters and leaves.

A window by time knows from its bounds what is inside.  What a window by count or by session has
inside depends on what has arrived: in time, facts enter it at one end and leave it at the other;
a late fact, or one that is retracted, may change it anywhere, so that it is looked at anew.  Of
the facts behind such a window, which come back when others come or go, so many are kept as it has
inside, and a thousand at least.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import NamedTuple, TypeAlias

import numpy as np

from livefacts.engine.contract import TRIPLES, Flags, Ids
from livefacts.language.windows import (
    NOWHERE,
    CountExtent,
    Extent,
    Interval,
    SessionExtent,
    TimeExtent,
    grid_point,
)
from livefacts.model.facts import Symbol
from livefacts.plan.time_lowering import Family
from livefacts.service.streams.arrival_log import ArrivalChunk, ArrivalView
from livefacts.service.streams.fact_rows import different, predicate_of, row_bytes, row_ids
from livefacts.store.terms.dictionary import Dictionary

FEWEST_SPARE = 1000
"""Older facts that are kept at least, for a window that loses some."""
FAR = 1 << 62
Moved: TypeAlias = tuple[Sequence[ArrivalChunk], Sequence[ArrivalChunk]]
"""What has entered a window, and what has left it."""


class Choice:
    """Which facts are of some families, and how long the facts of each are looked at.

    A family is a predicate, the triples with a predicate, or any triples.
    """

    def __init__(self, families: Iterable[tuple[Family, int]], dictionary: Dictionary) -> None:
        self._triples: dict[int, int] = {}
        self._names: dict[int, int] = {}
        self._any = -1
        """How long triples of all other predicates are looked at; -1 if they are not."""
        for family, length in families:
            if family is None:
                self._any = max(length, self._any)
                continue
            term = Symbol(family) if isinstance(family, str) else family
            lengths = self._names if isinstance(family, str) else self._triples
            name = int(dictionary.encode_one(term))
            lengths[name] = max(length, lengths.get(name, -1))

    def __call__(self, shape: int, ids: Ids) -> Flags:
        """Which facts are of one of them."""
        if shape == TRIPLES and self._any >= 0:
            return np.ones(len(ids), np.bool_)
        wanted = self._triples if shape == TRIPLES else self._names
        return np.isin(predicate_of(shape, ids), list(wanted))

    def by_length(self, shape: int, ids: Ids) -> list[tuple[int, Ids]]:
        """The facts that are of one of them, by how long they are looked at."""
        column, other = (ids[:, 1], self._any) if shape == TRIPLES else (ids[:, 0], -1)
        lengths = self._triples if shape == TRIPLES else self._names
        found: dict[int, list[int]] = {}
        for name in different(column):
            found.setdefault(max(other, lengths.get(name, -1)), []).append(name)
        if len(found) == 1:
            [length] = found
            return [(length, ids)] if length >= 0 else []
        return [(n, ids[np.isin(column, names)]) for n, names in found.items() if n >= 0]


class TimeContents:
    """What a window by time has inside, at the time to which it was last moved."""

    def __init__(self, extent: TimeExtent, view: ArrivalView) -> None:
        self.extent = extent
        self.view = view
        self._since, self._until = FAR, -FAR

    def move(self, now: int) -> Moved:
        """The time is `now`: what enters, and what leaves."""
        since, until = self.extent.bounds(now)
        entering = list(self.view.chunks(max(since, self._until + 1), until))
        leaving = list(self.view.chunks(self._since, min(self._until, since - 1)))
        self._since, self._until = since, until
        return entering, leaving

    def settle(self, now: int) -> None:
        """The time is `now`, and nobody asks what that changes."""
        self._since, self._until = self.extent.bounds(now)

    def inside(self, now: int) -> Iterator[ArrivalChunk]:
        """What is inside at a time, wherever the window was moved to."""
        return self.view.chunks(*self.extent.bounds(now))

    def sees(self, chunk: ArrivalChunk) -> bool:
        """Whether a chunk that comes or goes is inside, with nothing moved."""
        return self._since <= chunk.time <= self._until and self.view.sees(chunk.lane)

    def interval(self, now: int, first: int) -> Interval:
        """The time points of the window."""
        return self.extent.interval(now, first)

    def changes(self, now: int) -> Iterator[int]:
        """The next times at which something enters or leaves."""
        yield from self.passing(now, self.extent.newer)
        yield from self.passing(now, self.extent.older + 1)

    def passing(self, now: int, back: int) -> Iterator[int]:
        """The next time at which so far back lies an arrival, behind the last point of the grid."""
        step = self.extent.step
        time = self.view.next_after(now // step * step - back)
        if time is not None:
            yield grid_point(time + back, step)

    def needed(self, now: int) -> int:
        """The time from which on arrivals can matter."""
        since = self.extent.bounds(now)[0]
        oldest = self.view.next_after(self._since - 1)
        is_inside = oldest is not None and oldest <= self._until
        return min(self._since, since) if is_inside else since


class Entry(NamedTuple):
    """A fact in a window."""

    time: int
    shape: int
    row: bytes


class LatestContents:
    """What a window by count or by session has inside."""

    def __init__(
        self, extent: CountExtent | SessionExtent, view: ArrivalView, dictionary: Dictionary
    ) -> None:
        self.extent = extent
        self.view = view
        self._of = None if extent.of is None else Choice([(extent.of, 0)], dictionary)
        self._inside: deque[Entry] = deque()
        self._now: int | None = None

    def move(self, now: int) -> Moved:
        """The time is `now`: what enters, and what leaves."""
        if self._now is None or (isinstance(self.extent, CountExtent) and self.extent.step > 1):
            return self.look_again(now)
        entering, kept = self._followed(self.extent, self._now + 1, now)
        leaving = [self._inside.popleft() for _ in range(len(self._inside) - kept)]
        self._inside.extend(entering)
        self._now = now
        return list(_chunks(entering)), list(_chunks(leaving))

    def _followed(
        self, extent: CountExtent | SessionExtent, since: int, now: int
    ) -> tuple[list[Entry], int]:
        """What enters in some time, and how many of those that were inside stay."""
        if isinstance(extent, CountExtent):
            entering = self._last(extent.count, since, now)
            return entering, min(len(self._inside), extent.count - len(entering))
        last = self._inside[-1].time if self._inside else None
        entering, kept = [], len(self._inside)
        for time in self.view.between(since, now):
            found = self._at(time)
            if found:
                if last is not None and time - last >= extent.gap:
                    entering, kept = [], 0
                entering += found
                last = time
        is_over = last is None or now - last >= extent.gap
        return ([], 0) if is_over else (entering, kept)

    def inside(self, now: int) -> Iterator[ArrivalChunk]:
        """What is inside at a time, wherever the window was moved to."""
        return _chunks(self._found(now))

    def sees(self, chunk: ArrivalChunk) -> bool:
        """What comes late is seen by looking again."""
        return False

    def look_again(self, now: int) -> Moved:
        """Something has come late or was taken back; or the window is looked at anew."""
        before, after = dict.fromkeys(self._inside), dict.fromkeys(self._found(now))
        entering = [entry for entry in after if entry not in before]
        leaving = [entry for entry in before if entry not in after]
        self._inside, self._now = deque(after), now
        return list(_chunks(entering)), list(_chunks(leaving))

    def _found(self, now: int) -> list[Entry]:
        """What is inside, by the definition."""
        if isinstance(self.extent, CountExtent):
            skipped = self.view.count_until(now) % self.extent.step if self.extent.step > 1 else 0
            latest = self._last(self.extent.count + skipped, -FAR, now)
            return latest[: len(latest) - skipped][-self.extent.count :]
        run: list[list[Entry]] = []
        begin = now
        for time in reversed(self.view.between(-FAR, now)):
            if begin - time >= self.extent.gap:
                break
            found = self._at(time)
            if found:
                run.append(found)
                begin = time
        return [entry for found in reversed(run) for entry in found]

    def _last(self, count: int, first: int, now: int) -> list[Entry]:
        """The last facts of a time, the oldest first, no more than so many."""
        found: list[Entry] = []
        for time in reversed(self.view.between(first, now)):
            found += islice(reversed(self._at(time)), count - len(found))
            if len(found) == count:
                break
        found.reverse()
        return found

    def _at(self, time: int) -> list[Entry]:
        """The facts of a time point in order; on several streams, a fact is where it came first."""
        chunks = ((chunk, self.chosen(chunk)) for chunk in self.view.at(time))
        return list(
            dict.fromkeys(
                Entry(time, chunk.shape, row)
                for chunk, flags in chunks
                if flags.any()
                for row in row_bytes(chunk.ids[flags])
            )
        )

    def interval(self, now: int, first: int) -> Interval:
        """The time points of the window: from its oldest fact, or the first of all, until now."""
        if isinstance(self.extent, CountExtent):
            is_full = len(self._inside) == self.extent.count
            return (self._inside[0].time if is_full else first), now
        return (self._inside[0].time, now) if self._inside else NOWHERE

    def changes(self, now: int) -> Iterator[int]:
        """The next times at which something enters or leaves."""
        time = self.view.next_after(now)
        if time is not None:
            yield time
        if isinstance(self.extent, SessionExtent) and self._inside:
            yield max(now + 1, self._inside[-1].time + self.extent.gap)

    def needed(self, now: int) -> int:
        """What the window may need is kept by its number, not by its time."""
        return FAR

    def chosen(self, chunk: ArrivalChunk) -> Flags:
        """Which facts of a chunk the window counts."""
        if not self.view.sees(chunk.lane):
            return np.zeros(len(chunk.ids), np.bool_)
        if self._of is None:
            return np.ones(len(chunk.ids), np.bool_)
        return self._of(chunk.shape, chunk.ids)

    def wanted(self) -> int:
        """How many of the last facts may matter, now or when some are taken back."""
        count = len(self._inside)
        if isinstance(self.extent, CountExtent):
            count = self.extent.count + self.extent.step - 1
        return count + max(count, FEWEST_SPARE)


def _chunks(entries: Iterable[Entry]) -> Iterator[ArrivalChunk]:
    """Facts one by one, in pieces of one time point and shape."""
    for (time, shape), group in groupby(entries, lambda entry: entry[:2]):
        yield ArrivalChunk(time, 0, shape, row_ids([entry.row for entry in group]), 0)


Contents: TypeAlias = TimeContents | LatestContents


def contents_of(extent: Extent, view: ArrivalView, dictionary: Dictionary) -> Contents:
    """The contents of a window that has not been moved yet."""
    if isinstance(extent, TimeExtent):
        return TimeContents(extent, view)
    return LatestContents(extent, view, dictionary)
