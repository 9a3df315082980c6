"""Window contents: the window operator, from the log and an extent to what enters and leaves.

A window by time knows from its bounds what is inside.  All others hold the last facts, and how
many depends on what has arrived: in time, facts enter at one end and leave at the other; a late
fact, or one that is retracted, may change them anywhere, so that they are looked at anew.  Of the
facts behind such a window, which come back when others come or go, so many are kept as it has
inside, and a thousand at least.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import NamedTuple, TypeAlias

import numpy as np

from livefacts.engine.contract import TRIPLES, Flags, Ids
from livefacts.language.formula import Family
from livefacts.language.windows import (
    Extent,
    Interval,
    LatestExtent,
    TimeExtent,
    grid_point,
)
from livefacts.model.facts import Symbol
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
    """What a window has inside that holds the last facts, as many as its extent says."""

    def __init__(self, extent: LatestExtent, view: ArrivalView, dictionary: Dictionary) -> None:
        self.extent = extent
        self.view = view
        self._of = None if extent.of is None else Choice([(extent.of, 0)], dictionary)
        self._inside: deque[Entry] = deque()
        self._now: int | None = None

    def move(self, now: int) -> Moved:
        """The time is `now`: what enters, and what leaves."""
        if self._now is None or self.extent.step > 1:
            return self.look_again(now)
        came = list(self._groups(self.view.between(self._now + 1, now)))
        newest = [(found[0].time, len(found)) for found in reversed(came)]
        if self._inside:
            newest.append((self._inside[-1].time, len(self._inside)))
        count, new = self.extent.inside(newest, now), [entry for found in came for entry in found]
        entering = new[max(0, len(new) - count) :]
        kept = min(len(self._inside), max(0, count - len(new)))
        leaving = [self._inside.popleft() for _ in range(len(self._inside) - kept)]
        self._inside.extend(entering)
        self._now = now
        return list(_chunks(entering)), list(_chunks(leaving))

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
        groups, step = self._groups(reversed(self.view.between(-FAR, now))), self.extent.step
        count = self.extent.inside(((found[0].time, len(found)) for found in groups), now)
        skipped = self.view.count_until(now) % step if step > 1 else 0
        latest = self._last(count + skipped, now)
        return latest[: len(latest) - skipped][-count:]

    def _last(self, count: int, now: int) -> list[Entry]:
        """The last facts until a time, the oldest first, no more than so many."""
        found: list[Entry] = []
        for group in self._groups(reversed(self.view.between(-FAR, now))):
            found += islice(reversed(group), count - len(found))
            if len(found) == count:
                break
        found.reverse()
        return found

    def _groups(self, times: Iterable[int]) -> Iterator[list[Entry]]:
        """The facts of time points in order; on several streams, a fact is where it came first."""
        for time in times:
            chunks = ((chunk, self.chosen(chunk)) for chunk in self.view.at(time))
            found = dict.fromkeys(
                Entry(time, chunk.shape, row)
                for chunk, flags in chunks
                if flags.any()
                for row in row_bytes(chunk.ids[flags])
            )
            if found:
                yield list(found)

    def interval(self, now: int, first: int) -> Interval:
        """The time points of the window; none is before the first of all."""
        oldest = self._inside[0].time if self._inside else None
        return self.extent.interval(oldest, len(self._inside), now, first)

    def changes(self, now: int) -> Iterator[int]:
        """The next times at which something enters or leaves."""
        time = self.view.next_after(now)
        if time is not None:
            yield time
        over = self.extent.over(self._inside[-1].time) if self._inside else None
        if over is not None:
            yield max(now + 1, over)

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
        count = self.extent.wanted(len(self._inside))
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
