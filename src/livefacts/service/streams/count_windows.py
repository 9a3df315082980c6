"""Count windows: the last facts that arrived, kept up to date, and what they may still need.

In time, facts enter such a window at one end and leave it at the other.  A late fact, or one
that is retracted, may change it anywhere, so that it is looked at anew.  Where a fact is
retracted the next older one comes into the window; of those, so many are kept as there are facts
in the window, and a thousand at least.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import NamedTuple

import numpy as np

from livefacts.engine.contract import Flags, Ids
from livefacts.language.windows import FactWindow
from livefacts.plan import time_lowering as names
from livefacts.plan.time_lowering import Family, WindowSpan
from livefacts.service.streams.arrivals import ArrivalChunk, Arrivals, row_bytes, row_ids
from livefacts.service.streams.feeds import Choice, Naming, Notes

FEWEST_SPARE = 1000
"""Older facts that are kept at least, for a window that loses some."""
FEWEST_SWEPT = 4096
"""With fewer arrivals, nothing is worth forgetting."""


class Entry(NamedTuple):
    """A fact in a window."""

    time: int
    shape: int
    row: bytes


class RecentFeed:
    """The facts in a window by count, the last of all that arrived."""

    def __init__(
        self, span: WindowSpan, families: Iterable[Family], arrivals: Arrivals, naming: Naming
    ) -> None:
        assert isinstance(span.window, FactWindow)
        self._name = f"{names.RECENT}{span.key}:"
        self._count = span.window.count
        self._arrivals = arrivals
        self._naming = naming
        self._families = [Choice(family, naming.dictionary) for family in families]
        of, stream = span.window.of, span.window.stream
        self._of = None if of is None else Choice(of, naming.dictionary)
        self._stream = None if stream is None else int(naming.dictionary.encode_one(stream))
        self._window: deque[Entry] = deque()
        self._now: int | None = None

    @property
    def oldest(self) -> int | None:
        """The time of the oldest fact in the window, or None while it is not full."""
        return self._window[0].time if len(self._window) == self._count else None

    def move(self, first: int, now: int, notes: Notes) -> None:
        """Time goes on: what has arrived since enters, and as much leaves."""
        since = first if self._now is None else self._now + 1
        entering = self._last(since, now)
        leaving = max(0, len(self._window) + len(entering) - self._count)
        self._note([self._window.popleft() for _ in range(leaving)], entering, notes)
        self._window.extend(entering)
        self._now = now

    def look_again(self, first: int, now: int, notes: Notes) -> None:
        """Something has come late or was taken back."""
        before, after = dict.fromkeys(self._window), dict.fromkeys(self._last(first, now))
        entering = [entry for entry in after if entry not in before]
        self._note([entry for entry in before if entry not in after], entering, notes)
        self._window, self._now = deque(after), now

    def _last(self, first: int, now: int) -> list[Entry]:
        """The last facts of a time, the oldest first, no more than the window holds."""
        found: list[Entry] = []
        for time in reversed(self._arrivals.between(first, now)):
            found += islice(reversed(self._at(time)), self._count - len(found))
            if len(found) == self._count:
                break
        found.reverse()
        return found

    def _at(self, time: int) -> dict[Entry, None]:
        """The facts of a time point in order; on several streams, a fact is where it came first."""
        chunks = ((chunk, self.chosen(chunk)) for chunk in self._arrivals.at(time))
        return dict.fromkeys(
            Entry(time, chunk.shape, row)
            for chunk, flags in chunks
            if flags.any()
            for row in row_bytes(chunk.ids[flags])
        )

    def chosen(self, chunk: ArrivalChunk) -> Flags:
        """Which facts of a chunk the window counts."""
        if self._stream not in (None, chunk.stream):
            return np.zeros(len(chunk.ids), np.bool_)
        if self._of is None:
            return np.ones(len(chunk.ids), np.bool_)
        return self._of(chunk.shape, chunk.ids)

    def wanted(self) -> int:
        """How many of the last facts may matter, now or when some are taken back."""
        return self._count + max(self._count, FEWEST_SPARE)

    def _note(self, leaving: list[Entry], entering: list[Entry], notes: Notes) -> None:
        for shape, rows in self._rows_of(leaving):
            notes.retract(shape, rows)
        for shape, rows in self._rows_of(entering):
            notes.tell(shape, rows)

    def _rows_of(self, entries: list[Entry]) -> Iterator[tuple[int, Ids]]:
        """What the engine is given of facts in the window, of those that rules look for."""
        for (time, shape), group in groupby(entries, lambda entry: entry[:2]):
            ids = row_ids([entry.row for entry in group])
            looked_for = np.zeros(len(ids), np.bool_)
            for is_of in self._families:
                looked_for |= is_of(shape, ids)
            if looked_for.any():
                point = self._naming.time(time)
                yield self._naming.companions(self._name, shape, ids[looked_for], point)


class Forgetting:
    """Forgets arrivals that no window can need, where some windows count facts."""

    def __init__(self) -> None:
        self._most = 0
        """With more arrivals than this, a sweep may be worth its work."""

    def sweep(self, arrivals: Arrivals, feeds: Iterable[RecentFeed], kept: int, now: int) -> None:
        """Before the time point `kept`, keep what these windows may still count."""
        if len(arrivals) <= max(self._most, FEWEST_SWEPT):
            return
        left = {feed: feed.wanted() for feed in feeds}
        for time in reversed(arrivals.between(arrivals.times[0], now)):
            chunks = arrivals.at(time)
            if time < kept:
                needed = [chunk.kept(self._needed(chunk, left)) for chunk in chunks]
                arrivals.keep(time, [chunk for chunk in needed if len(chunk.ids)])
            for feed in left:
                # The same fact on several streams is one: more may be kept, never less.
                left[feed] -= max(int(feed.chosen(chunk).sum()) for chunk in chunks)
        self._most = 2 * len(arrivals)

    @staticmethod
    def _needed(chunk: ArrivalChunk, left: dict[RecentFeed, int]) -> Flags:
        flags = np.zeros(len(chunk.ids), np.bool_)
        for feed, count in left.items():
            if count > 0:
                flags |= feed.chosen(chunk)
        return flags
