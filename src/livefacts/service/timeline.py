"""The timeline: what the engine is told when facts arrive and time moves.

Rules over time see ordinary facts (see `livefacts.plan.timing`): arrivals with their time
points, the time points of windows, and the facts of streams that hold now.  All of them
are a function of the arrivals, the rules and the time; here that function is computed,
and each movement gives what is to be told and untold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from pyoxigraph import Literal, NamedNode

from livefacts.engine.contract import Flags, Ids
from livefacts.model.facts import XSD, Symbol
from livefacts.plan import timing as names
from livefacts.plan.timing import Family, Span, Timing
from livefacts.rules.windows import FactWindow, SteppedWindow
from livefacts.service.arrivals import Arrival, Arrivals, Facts, predicate_of, row_bytes, row_ids
from livefacts.store.dictionary import Dictionary
from livefacts.store.rows import TRIPLES

INTEGER = NamedNode(XSD + "integer")
NO_STREAM = Symbol("_stream:")
"""Where facts arrive that name no stream."""
MOST_RETRACTED = 10_000
"""So many facts behind a window by count are remembered, to come back when later ones go."""
Rows = dict[int, set[bytes]]
"""Facts by shape, each row as bytes."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the engine is to know: facts about time, and facts of streams that hold now."""

    facts: Rows = field(default_factory=dict)
    held: Rows = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Movement:
    """What the engine is told and untold when time moves, or facts arrive."""

    told: Facts
    untold: Facts
    held: Facts
    released: Facts
    after: Told
    is_dense: bool = False


class Timeline:
    """Arrivals, the clock, and what follows from them for the engine."""

    def __init__(self, dictionary: Dictionary, start: int | None = None) -> None:
        self._dictionary = dictionary
        self.timing = Timing()
        self.arrivals = Arrivals()
        self.first = start
        self.now: int | None = None
        self.set_aside = 0
        """How many facts came for a time before the first one."""
        self.is_dense = False
        """Whether windows list all their time points, and not only those with arrivals."""
        self._told = Told()
        self._time_ids: dict[int, int] = {}

    # moving

    def begin(self, time: int) -> int:
        """The first time point, given that time is to move to `time`."""
        if self.first is None:
            self.first = min([time, *self.arrivals.times[:1]])
        return self.first

    def next_point(self, last: int) -> int:
        """The next time point, up to the last, at which something may change."""
        if self.now is None:
            return min(self.begin(last), last)
        return min(last, self._change_point(self.now))

    def _change_point(self, now: int) -> int:
        if self.is_dense or self.timing.is_generating or self.arrivals.has(now):
            return now + 1
        return min(self._change_points(now), default=1 << 62)

    def _change_points(self, now: int) -> Iterator[int]:
        """Time points after now at which a window lets something go, or something arrives."""
        for time in self.arrivals.times:
            if time > now:
                yield time
                return
            for span in self._all_spans():
                yield from (point for point in _ends(time, span) if point > now)

    def _all_spans(self) -> Iterator[Span]:
        yield from self.timing.spans
        for _, span in self.timing.held:
            yield span

    def moved(self, now: int | None, timing: Timing, is_dense: bool) -> Movement:
        """What changes for the engine at this time, under rules with these needs."""
        after = Told() if now is None else self._wanted(now, timing, is_dense)
        before = self._told
        return Movement(
            _arrays(_minus(after.facts, before.facts)),
            _arrays(_minus(before.facts, after.facts)),
            _arrays(_minus(after.held, before.held)),
            _arrays(_minus(before.held, after.held)),
            after,
            is_dense,
        )

    def settle(self, now: int | None, timing: Timing, movement: Movement) -> None:
        """The engine has made the movement."""
        self.now, self.timing, self._told = now, timing, movement.after
        self.is_dense = movement.is_dense
        if now is not None:
            self.arrivals.forget_before(now - self._retention(timing))
            self._time_ids = {t: id for t, id in self._time_ids.items() if t >= now - 1}

    def held(self) -> Facts:
        """The facts of streams that hold now."""
        return _arrays(self._told.held)

    def holds(self, shape: int, ids: Ids) -> Flags:
        """Which of these facts a stream makes true now."""
        held = self._told.held.get(shape, set())
        return np.array([row in held for row in row_bytes(ids)], np.bool_)

    def _retention(self, timing: Timing) -> int:
        lengths = [length for _, length in timing.arrivals]
        lengths += [span.retention for _, span in timing.held]
        if timing.recent:
            lengths.append(1 << 40)
        return max(lengths, default=0)

    # what the engine is to know

    def _wanted(self, now: int, timing: Timing, is_dense: bool) -> Told:
        told = _Builder(self, timing, is_dense or timing.is_generating)
        told.add(self._named(names.NOW), [self._time(now)])
        recent = {span: self._recent(span, now) for span, _ in timing.recent}
        for span in timing.spans:
            told.points(span, *self._interval(span, now, recent), now)
        for time in self.arrivals.between(self._beginning(now), now):
            for stream, shape, ids in self.arrivals.at(time):
                told.arrived(time, stream, shape, ids, now)
                told.held(time, stream, shape, ids, now)
        for span, family in timing.recent:
            told.recent(span, family, recent[span])
        return Told(told.facts, told.holding)

    def _interval(self, span: Span, now: int, recent: dict[Span, list[Arrival]]) -> tuple[int, int]:
        """The first and last time point of a window."""
        first = self._beginning(now)
        if isinstance(span.window, FactWindow):
            last = recent.get(span) or self._recent(span, now)
            return (last[0].time if len(last) == span.window.count else first), now
        if isinstance(span.window, SteppedWindow):
            point = now // span.step * span.step
            return max(first, point - span.range + (not span.window.closed)), point
        return max(first, now - span.range), now

    def _beginning(self, now: int) -> int:
        return now if self.first is None else self.first

    def _recent(self, span: Span, now: int) -> list[Arrival]:
        """The last arrivals that a window by count looks at, the oldest first."""
        assert isinstance(span.window, FactWindow)
        stream = span.window.stream
        wanted = None if stream is None else self._dictionary.encode_one(stream)
        found: list[Arrival] = []
        seen: set[tuple[int, int, bytes]] = set()
        for time in reversed(self.arrivals.between(self._beginning(now), now)):
            for arrival in reversed(list(self.arrivals.listed(time, time))):
                key = (arrival.time, arrival.shape, arrival.row)
                if (wanted in (None, arrival.stream)) and self._is_of(span.window.of, arrival):
                    if key in seen:
                        continue
                    seen.add(key)
                    found.append(arrival)
                    if len(found) == span.window.count:
                        return found[::-1]
        return found[::-1]

    def _is_of(self, family: Family, arrival: Arrival) -> bool:
        return family is None or self._families(family)(arrival.shape, row_ids([arrival.row]))[0]

    def _families(self, family: Family) -> Choice:
        return Choice(family, self._dictionary)

    def _named(self, name: str) -> int:
        return int(self._dictionary.encode_one(Symbol(name)))

    def _time(self, time: int) -> int:
        known = self._time_ids.get(time)
        if known is None:
            known = int(self._dictionary.encode_one(Literal(str(time), datatype=INTEGER)))
            self._time_ids[time] = known
        return known


class Choice:
    """Which facts are of a family: of one predicate, of triples with one, or any triples."""

    def __init__(self, family: Family, dictionary: Dictionary) -> None:
        self._is_triple = not isinstance(family, str)
        term = Symbol(family) if isinstance(family, str) else family
        self._wanted = None if term is None else int(dictionary.encode_one(term))

    def __call__(self, shape: int, ids: Ids) -> Flags:
        if (shape == TRIPLES) != self._is_triple:
            return np.zeros(len(ids), np.bool_)
        if self._wanted is None:
            return np.ones(len(ids), np.bool_)
        found: Flags = predicate_of(shape, ids) == self._wanted
        return found


class _Builder:
    """Collects what the engine is to know at one time point."""

    def __init__(self, timeline: Timeline, timing: Timing, is_dense: bool) -> None:
        self._timeline = timeline
        self._encode = timeline._dictionary.encode_one
        self._kept = [(timeline._families(family), length) for family, length in timing.arrivals]
        self._declared = {int(self._encode(iri)): span for iri, span in timing.held}
        self._chained = timing.chained
        self._dense = is_dense
        self.facts: Rows = {}
        self.holding: Rows = {}

    def add(self, name: int, arguments: list[int]) -> None:
        row = np.array([[name, *arguments]], np.int32)
        self.facts.setdefault(row.shape[1], set()).update(row_bytes(row))

    def points(self, span: Span, first: int, last: int, now: int) -> None:
        """The time points of a window, their number, and how they follow each other."""
        if first > last:
            return
        key, time, named = span.points_key, self._timeline._time, self._timeline._named
        arrivals = self._timeline.arrivals
        chosen = (
            list(range(first, last + 1))
            if self._dense
            else sorted({*arrivals.between(first, last), *([now] if first <= now <= last else [])})
        )
        for point in chosen:
            self.add(named(names.POINTS + key), [time(point)])
        self.add(named(names.OPEN + key), [])
        self.add(named(names.SIZE + key), [time(last - first + 1)])
        if key in self._chained:
            self.add(named(names.FIRST + key), [time(first)])
            self.add(named(names.LAST_POINT + key), [time(last)])
            for point, after in pairwise(chosen):
                if after == point + 1:
                    self.add(named(names.NEXT + key), [time(point), time(after)])

    def arrived(self, time: int, stream: int, shape: int, ids: Ids, now: int) -> None:
        """Arrivals as facts with their time and stream, as long as a window may look at them."""
        kept = np.zeros(len(ids), np.bool_)
        for is_of, length in self._kept:
            if time + length >= now:
                kept |= is_of(shape, ids)
        if kept.any():
            more = [self._timeline._time(time), stream]
            self._companion(names.ARRIVED, shape, ids[kept], more)

    def held(self, time: int, stream: int, shape: int, ids: Ids, now: int) -> None:
        """Facts hold at their time point, or while they are in the window of their stream."""
        span = self._declared.get(stream)
        if time == now if span is None else _is_visible(time, span, now):
            self.holding.setdefault(shape, set()).update(row_bytes(ids))

    def recent(self, span: Span, family: Family, arrivals: list[Arrival]) -> None:
        """The facts in a window by count."""
        is_of = self._timeline._families(family)
        for arrival in arrivals:
            ids = row_ids([arrival.row])
            if is_of(arrival.shape, ids)[0]:
                name = f"{names.RECENT}{span.key}:"
                self._companion(name, arrival.shape, ids, [self._timeline._time(arrival.time)])

    def _companion(self, name: str, shape: int, ids: Ids, more: list[int]) -> None:
        wide, rows = companion(name, shape, ids, more, self._timeline._dictionary)
        self.facts.setdefault(wide, set()).update(row_bytes(rows))


def companion(
    name: str, shape: int, ids: Ids, more: list[int], dictionary: Dictionary
) -> tuple[int, Ids]:
    """Facts under the companion of their predicate, with more arguments."""
    count = len(ids)
    extra = np.tile(np.array(more, np.int32), (count, 1))
    if shape == TRIPLES:
        first = np.full((count, 1), dictionary.encode_one(Symbol(name)), np.int32)
        rows = np.hstack([first, ids, extra])
    else:
        rows = np.hstack([ids, extra])
        for old in np.unique(ids[:, 0]).tolist():
            new = dictionary.encode_one(Symbol(name + str(dictionary.decode_one(old))))
            rows[ids[:, 0] == old, 0] = new
    return rows.shape[1], np.ascontiguousarray(rows, np.int32)


def _is_visible(time: int, span: Span, now: int) -> bool:
    """Whether an arrival is in a stepped window now."""
    assert isinstance(span.window, SteppedWindow)
    point = now // span.step * span.step
    return point - span.range - span.window.closed < time <= point


def _ends(time: int, span: Span) -> Iterator[int]:
    """When an arrival enters and leaves a window."""
    if isinstance(span.window, SteppedWindow):
        yield _up(time, span.step)
        yield _up(time + span.range + span.window.closed, span.step)
    elif not isinstance(span.window, FactWindow):
        yield time + span.range + 1


def _up(time: int, step: int) -> int:
    """The first point of the grid that is not before a time."""
    return -(-time // step) * step


def _minus(first: Rows, second: Rows) -> Rows:
    return {shape: rows - second.get(shape, set()) for shape, rows in first.items()}


def _arrays(rows: Rows) -> Facts:
    return {shape: row_ids(list(found)) for shape, found in rows.items() if found}


__all__ = ["NO_STREAM", "Choice", "Movement", "Timeline", "companion"]
