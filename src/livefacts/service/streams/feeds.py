"""Feeds: the facts about time that the engine is given, each kind kept up to date by itself.

Arrivals with their time points, the time points of windows, the last facts of a window by
count, and the facts of streams that hold now: what `livefacts.plan.time_lowering` makes rules of.
A feed hears of chunks that come and go, and of time that moves, and notes what is to be
asserted and retracted.  Its work grows with what changes.
"""

from __future__ import annotations

import bisect
import heapq
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from pyoxigraph import Literal, NamedNode

from livefacts.engine.contract import TRIPLES, Facts, Flags, Ids
from livefacts.language.formula import Family
from livefacts.language.windows import (
    NOWHERE,
    CountExtent,
    Extent,
    Interval,
    LatestExtent,
    TimeExtent,
)
from livefacts.model.facts import Symbol
from livefacts.model.namespaces import XSD
from livefacts.plan import time_lowering as names
from livefacts.service.streams.arrival_log import GONE, ArrivalChunk, ArrivalView
from livefacts.service.streams.fact_rows import Key, different, row_bytes, row_ids
from livefacts.service.streams.window_contents import (
    Choice,
    Contents,
    LatestContents,
    contents_of,
)
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.text_table import INLINE_REACH, INLINE_ZERO

INTEGER = NamedNode(XSD + "integer")


class Notes:
    """What is to be asserted and retracted in the engine."""

    def __init__(self) -> None:
        self._asserted: dict[int, list[Ids]] = {}
        self._retracted: dict[int, list[Ids]] = {}
        self._held: dict[int, set[bytes]] = {}
        self._released: dict[int, set[bytes]] = {}

    def hold(self, shape: int, rows: set[bytes]) -> None:
        """Rows begin to hold; those that ceased to in the same change have not changed."""
        if self._released:
            _move(rows, self._released.get(shape), self._held.setdefault(shape, set()))
        else:
            self._held.setdefault(shape, set()).update(rows)

    def release(self, shape: int, rows: set[bytes]) -> None:
        """Rows cease to hold; those that began before have not changed."""
        _move(rows, self._held.get(shape), self._released.setdefault(shape, set()))

    def tell(self, shape: int, ids: Ids) -> None:
        self._asserted.setdefault(shape, []).append(ids)

    def retract(self, shape: int, ids: Ids) -> None:
        self._retracted.setdefault(shape, []).append(ids)

    def since(self, before: Notes) -> Notes:
        """What these notes assert beyond earlier ones, and no longer assert; none retracts anything."""
        notes = Notes()
        _note_difference(_rows(before.facts()[0]), _rows(self.facts()[0]), notes)
        notes._held = {s: rows - before._held.get(s, set()) for s, rows in self._held.items()}
        notes._released = {s: rows - self._held.get(s, set()) for s, rows in before._held.items()}
        return notes

    def facts(self) -> tuple[Facts, Facts, Facts, Facts]:
        """What is asserted, begins to hold, is retracted and ceases to hold, by shape."""
        asserted, held, retracted, released = Facts(), Facts(), Facts(), Facts()
        for noted, found in ((self._asserted, asserted), (self._retracted, retracted)):
            for shape, parts in noted.items():
                found[shape] = parts[0] if len(parts) == 1 else np.concatenate(parts)
        for moved, found in ((self._held, held), (self._released, released)):
            for shape, rows in moved.items():
                if rows:
                    found[shape] = row_ids(list(rows))
        return asserted, held, retracted, released


class Naming:
    """The ids of time points and of the predicates that speak of time."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._names: dict[str, int] = {}
        self._companions: dict[tuple[str, int], int] = {}

    def time(self, point: int) -> int:
        if -INLINE_REACH <= point < INLINE_REACH:
            return INLINE_ZERO + point
        with self.dictionary.passing:
            return self.dictionary.encode_one(Literal(str(point), datatype=INTEGER))

    def name(self, name: str) -> int:
        if name not in self._names:
            self._names[name] = int(self.dictionary.encode_one(Symbol(name)))
        return self._names[name]

    def fact(self, name: str, *arguments: int) -> tuple[int, Ids]:
        """One fact of a predicate: its shape and row."""
        row = np.array([[self.name(name), *arguments]], np.int32)
        return row.shape[1], row

    def companions(self, name: str, shape: int, ids: Ids, *more: int) -> tuple[int, Ids]:
        """Facts under the companions of their predicates, with more arguments."""
        count, width = ids.shape
        before = 1 if shape == TRIPLES else 0
        rows = np.empty((count, before + width + len(more)), np.int32)
        rows[:, before : before + width] = ids
        rows[:, before + width :] = more
        if shape == TRIPLES:
            rows[:, 0] = self._names[name] if name in self._names else self.name(name)
        else:
            for old in different(ids[:, 0]):
                rows[ids[:, 0] == old, 0] = self._companion(name, old)
        return rows.shape[1], rows

    def predicates(self) -> Ids:
        """The predicates that have companions."""
        return np.array([predicate for _, predicate in self._companions], np.int32)

    def _companion(self, name: str, predicate: int) -> int:
        key = name, predicate
        if key not in self._companions:
            self._companions[key] = self.name(name + str(self.dictionary.decode_one(predicate)))
        return self._companions[key]


class ArrivalFeed:
    """Arrivals as facts with their time, as long as a window may look at them.

    With their streams, they are facts of their own; without, the same fact on several
    streams is one.
    """

    def __init__(
        self,
        kept: Iterable[tuple[Family, int]],
        view: ArrivalView,
        naming: Naming,
        with_streams: bool,
    ) -> None:
        self._view = view
        self._naming = naming
        self._with_streams = with_streams
        self._kept = Choice(kept, naming.dictionary)
        self._due: dict[int, list[tuple[int, Ids]]] = {}
        self._ends: list[int] = []

    def follow(self, chunk: ArrivalChunk, now: int, notes: Notes) -> None:
        """A chunk has come, or was taken back: so are its facts that may still be looked at."""
        ids = chunk.ids if self._with_streams else self._view.alone(chunk)
        for length, chosen in self._kept.by_length(chunk.shape, ids):
            last = chunk.time + length
            if last < now:
                continue
            name = names.ARRIVED_ON if self._with_streams else names.ARRIVED
            more = [chunk.stream] if self._with_streams else []
            time = self._naming.time(chunk.time)
            shape, rows = self._naming.companions(name, chunk.shape, chosen, time, *more)
            if chunk.number == GONE:
                notes.retract(shape, rows)
                continue
            notes.tell(shape, rows)
            if last not in self._due:
                self._due[last] = []
                heapq.heappush(self._ends, last)
            self._due[last].append((shape, rows))

    def move(self, now: int, notes: Notes) -> None:
        while self._ends and self._ends[0] < now:
            for shape, rows in self._due.pop(heapq.heappop(self._ends)):
                notes.retract(shape, rows)


class ClockFeed:
    """The time points of a window, their number, and how they follow each other.

    Only points with arrivals, and now, are listed, unless all of them matter; of a window by
    count none are, since nobody asks for them.
    """

    def __init__(
        self, extent: Extent, view: ArrivalView, naming: Naming, dense: bool, chained: bool
    ) -> None:
        self._key = extent.points_key
        self._view = view
        self._naming = naming
        self._is_dense = dense
        self._is_listed = dense or not isinstance(extent, CountExtent)
        self._is_chained = chained
        self._points: deque[int] = deque()
        self._interval = NOWHERE
        self._now: int | None = None
        self._facts: dict[int, set[bytes]] = {}

    def move(self, interval: Interval, now: int, notes: Notes) -> None:
        first, last = interval if interval[0] <= interval[1] else NOWHERE
        if self._is_listed:
            self._leave(first, last, now, notes)
            self._enter(first, last, now, notes)
        self._interval, self._now = (first, last), now
        facts = self._described(first, last)
        _note_difference(self._facts, facts, notes)
        self._facts = facts

    def come(self, time: int, notes: Notes) -> None:
        """Something has arrived at a time point of the past."""
        first, last = self._interval
        if first <= time <= last and self._is_listed and not self._is_dense:
            at = bisect.bisect_left(self._points, time)
            if at == len(self._points) or self._points[at] != time:
                self._points.insert(at, time)
                notes.tell(*self._point(time))
                self._describe_again(notes)

    def go(self, time: int, notes: Notes) -> None:
        """Nothing is left of what has arrived at a time point."""
        if time in self._points and time != self._now and not self._is_dense:
            self._points.remove(time)
            notes.retract(*self._point(time))
            self._describe_again(notes)

    def _describe_again(self, notes: Notes) -> None:
        facts = self._described(*self._interval)
        _note_difference(self._facts, facts, notes)
        self._facts = facts

    def _leave(self, first: int, last: int, now: int, notes: Notes) -> None:
        points = self._points
        while points and points[-1] > last:
            notes.retract(*self._point(points.pop()))
        if points and points[-1] == self._now != now and not self._stays(points[-1]):
            notes.retract(*self._point(points.pop()))
        while points and points[0] < first:
            notes.retract(*self._point(points.popleft()))

    def _stays(self, point: int) -> bool:
        return self._is_dense or self._view.has(point)

    def _enter(self, first: int, last: int, now: int, notes: Notes) -> None:
        before = self._earlier(first, notes)
        known = self._points[-1] if self._points else before
        start = max(first, known + 1)
        new = range(start, last + 1) if self._is_dense else self._view.between(start, last)
        for point in new:
            self._points.append(point)
            notes.tell(*self._point(point))
        if first <= now <= last and (not self._points or self._points[-1] != now):
            self._points.append(now)
            notes.tell(*self._point(now))

    def _earlier(self, first: int, notes: Notes) -> int:
        """Points that a window has come back to, as one by count does when facts are taken back."""
        if self._points and first < self._interval[0]:
            end = self._points[0] - 1
            again = range(first, end + 1) if self._is_dense else self._view.between(first, end)
            for point in reversed(again):
                self._points.appendleft(point)
                notes.tell(*self._point(point))
        return first - 1

    def _point(self, point: int) -> tuple[int, Ids]:
        return self._naming.fact(names.POINTS + self._key, self._naming.time(point))

    def _described(self, first: int, last: int) -> dict[int, set[bytes]]:
        """What is asserted of the window as a whole."""
        if first > last:
            return {}
        time, key = self._naming.time, self._key
        facts = [
            self._naming.fact(names.OPEN + key),
            self._naming.fact(names.SIZE + key, time(last - first + 1)),
        ]
        if self._is_chained:
            facts += [
                self._naming.fact(names.FIRST + key, time(first)),
                self._naming.fact(names.LAST_POINT + key, time(last)),
            ]
            facts += [
                self._naming.fact(names.NEXT + key, time(point), time(after))
                for point, after in pairwise(self._points)
                if after == point + 1
            ]
        found: dict[int, set[bytes]] = {}
        for shape, rows in facts:
            found.setdefault(shape, set()).update(row_bytes(rows))
        return found


class RecentFeed:
    """The last facts that are in a window, as facts with their time."""

    def __init__(
        self,
        extent: LatestExtent,
        families: Iterable[Family],
        view: ArrivalView,
        naming: Naming,
    ) -> None:
        self._name = f"{names.RECENT}{extent.key}:"
        self._naming = naming
        self._families = Choice(((family, 0) for family in families), naming.dictionary)
        narrowed = _narrowed(view, extent.stream, naming.dictionary)
        self.contents = LatestContents(extent, narrowed, naming.dictionary)

    def move(self, now: int, notes: Notes) -> None:
        """Time goes on: what has arrived since enters, and as much leaves."""
        self._note(*self.contents.move(now), notes)

    def look_again(self, now: int, notes: Notes) -> None:
        """Something has come late or was taken back."""
        self._note(*self.contents.look_again(now), notes)

    def _note(
        self, entering: Iterable[ArrivalChunk], leaving: Iterable[ArrivalChunk], notes: Notes
    ) -> None:
        for shape, rows in self._facts(leaving):
            notes.retract(shape, rows)
        for shape, rows in self._facts(entering):
            notes.tell(shape, rows)

    def _facts(self, chunks: Iterable[ArrivalChunk]) -> Iterator[tuple[int, Ids]]:
        """What the engine is given of facts in the window, of those that rules look for."""
        for chunk in chunks:
            looked_for = self._families(chunk.shape, chunk.ids)
            if looked_for.any():
                ids, point = chunk.ids[looked_for], self._naming.time(chunk.time)
                yield self._naming.companions(self._name, chunk.shape, ids, point)


class HoldingFeed:
    """Facts that hold now: at their time point, or in the windows of their stream."""

    def __init__(
        self,
        declared: Iterable[tuple[NamedNode, Extent]],
        view: ArrivalView,
        naming: Naming,
        holds_undeclared: bool,
    ) -> None:
        dictionary = naming.dictionary
        windows = [(int(dictionary.encode_one(iri)), extent) for iri, extent in declared]
        self.contents: list[Contents] = [
            contents_of(extent, view.narrowed(stream), dictionary) for stream, extent in windows
        ]
        if holds_undeclared:
            others = view.without(stream for stream, _ in windows)
            self.contents.append(contents_of(TimeExtent(0), others, dictionary))
        self._rows: dict[int, _Counted] = {}
        """The facts that arrivals make hold, by shape."""

    def move(self, now: int, notes: Notes) -> None:
        for contents in self.contents:
            self._shift(*contents.move(now), notes)

    def follow(self, chunk: ArrivalChunk, notes: Notes) -> None:
        """A chunk has come late, or was taken back: windows by time know whether it was inside."""
        for contents in self.contents:
            if not contents.sees(chunk):
                continue
            if chunk.number == GONE:
                self._shift([], [chunk], notes)
            else:
                self._shift([chunk], [], notes)

    def look_again(self, now: int, notes: Notes) -> None:
        """The same for the other windows, when all chunks are there."""
        for contents in self.contents:
            if isinstance(contents, LatestContents):
                self._shift(*contents.look_again(now), notes)

    def facts(self) -> Facts:
        return {shape: row_ids(rows) for shape, held in self._rows.items() if (rows := held.rows())}

    def keys(self) -> set[Key]:
        """The facts one by one."""
        return {(shape, row) for shape, held in self._rows.items() for row in held.rows()}

    def holds(self, shape: int, ids: Ids) -> Flags:
        held = self._rows.get(shape) or _Counted()
        return np.array([row in held for row in row_bytes(ids)], np.bool_)

    def _shift(
        self, entering: Sequence[ArrivalChunk], leaving: Sequence[ArrivalChunk], notes: Notes
    ) -> None:
        if len(entering) == len(leaving) and all(map(_have_the_same, entering, leaving)):
            return
        for chunk in leaving:
            notes.release(chunk.shape, self._rows[chunk.shape].take(row_bytes(chunk.ids)))
        for chunk in entering:
            if chunk.shape not in self._rows:
                self._rows[chunk.shape] = _Counted()
            notes.hold(chunk.shape, self._rows[chunk.shape].give(row_bytes(chunk.ids)))


class _Counted:
    """Rows, and how many arrivals make them hold: mostly one, so only others are counted."""

    def __init__(self) -> None:
        self._once: set[bytes] = set()
        self._more: dict[bytes, int] = {}

    def __contains__(self, row: bytes) -> bool:
        return row in self._once or row in self._more

    def rows(self) -> list[bytes]:
        return [*self._once, *self._more]

    def give(self, rows: list[bytes]) -> set[bytes]:
        """Different rows have one arrival more; those that had none."""
        new = set(rows)
        for row in (self._once & new) | (self._more.keys() & new):
            self._more[row] = self._more.get(row, 1) + 1
            self._once.discard(row)
            new.remove(row)
        self._once |= new
        return new

    def take(self, rows: list[bytes]) -> set[bytes]:
        """Different rows have one arrival less; those that have none any more."""
        gone = self._once.intersection(rows)
        self._once -= gone
        for row in () if len(gone) == len(rows) else set(rows) - gone:
            self._more[row] -= 1
            if self._more[row] == 1:
                del self._more[row]
                self._once.add(row)
        return gone


def _have_the_same(one: ArrivalChunk, other: ArrivalChunk) -> bool:
    """Whether two chunks have the same facts in the same order."""
    return one.shape == other.shape and np.array_equal(one.ids, other.ids)


def _narrowed(view: ArrivalView, stream: NamedNode | None, dictionary: Dictionary) -> ArrivalView:
    return view if stream is None else view.narrowed(int(dictionary.encode_one(stream)))


def _rows(facts: Facts) -> dict[int, set[bytes]]:
    return {shape: set(row_bytes(ids)) for shape, ids in facts.items()}


def _differing(rows: dict[int, set[bytes]], others: dict[int, set[bytes]]) -> Facts:
    found = {shape: rows[shape] - others.get(shape, set()) for shape in rows}
    return {shape: row_ids(list(left)) for shape, left in found.items() if left}


def _note_difference(
    before: dict[int, set[bytes]], after: dict[int, set[bytes]], notes: Notes
) -> None:
    for shape, ids in _differing(after, before).items():
        notes.tell(shape, ids)
    for shape, ids in _differing(before, after).items():
        notes.retract(shape, ids)


def _move(rows: set[bytes], back: set[bytes] | None, on: set[bytes]) -> None:
    """Rows that go back to where they were before, or on to somewhere else."""
    if back:
        returning = back & rows
        back -= returning
        rows = rows - returning
    on |= rows
