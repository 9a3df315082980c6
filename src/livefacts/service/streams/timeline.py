"""The timeline: what the engine is given when facts arrive and time moves.

Rules over time see ordinary facts (see `livefacts.plan.time_lowering`), which the feeds keep up to
date.  All of them are a function of the arrivals, the rules and the time, so a movement
that fails is undone by making the feeds anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from livefacts.engine.contract import Flags, Ids
from livefacts.language.windows import FactWindow, SteppedWindow
from livefacts.model.facts import Symbol
from livefacts.plan.time_lowering import NOW, Family, Timing, WindowSpan
from livefacts.service.streams.arrivals import ArrivalChunk, Arrivals, Facts
from livefacts.service.streams.count_windows import Forgetting, RecentFeed
from livefacts.service.streams.feeds import (
    ArrivalFeed,
    ClockFeed,
    HoldingFeed,
    Interval,
    Naming,
    Notes,
    visible_times,
)
from livefacts.store.terms.dictionary import Dictionary

NO_STREAM = Symbol("_stream:")
"""Where facts arrive that name no stream."""
ALL_TIME = 1 << 62


class Timeline:
    """Arrivals, the clock, and what follows from them for the engine."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.naming = Naming(dictionary)
        self.timing = Timing()
        self.arrivals = Arrivals()
        self.first: int | None = None
        self.now: int | None = None
        self.set_aside = 0
        """How many facts came for a time before the first one."""
        self.is_dense = False
        """Whether windows list all their time points, and not only those with arrivals."""
        self._feeds = _Feeds(self.timing, self.arrivals, self.naming, self.is_dense)
        self._forgetting = Forgetting()

    def copied(self) -> Timeline:
        """The same moment, from which time may go on elsewhere."""
        copy = Timeline(self.naming.dictionary)
        copy.timing, copy.is_dense = self.timing, self.is_dense
        copy.arrivals, copy.first = self.arrivals.copied(), self.first
        copy.restore(self.now)
        return copy

    @property
    def reach(self) -> int:
        """After so many time points without arrivals, no window changes any more."""
        spans = [*self.timing.spans, *(span for _, span in self.timing.held)]
        arriving = max([0, *self.arrivals.times[-1:]]) - (self.now or 0)
        return max(0, arriving) + max([0, *(span.retention for span in spans)]) + 2

    # arrivals

    def come(self, chunks: Iterable[ArrivalChunk]) -> Notes:
        """Facts have arrived at or before now."""
        assert self.now is not None
        notes = Notes()
        for chunk in chunks:
            self._feeds.come(chunk, self.now, notes)
        self._feeds.look_again(self._beginning(), self.now, notes)
        return notes

    def go(self, chunks: Iterable[ArrivalChunk]) -> Notes:
        """Facts that had arrived at or before now were taken back."""
        assert self.now is not None
        notes = Notes()
        for chunk in chunks:
            self._feeds.go(chunk, self.now, notes)
        self._feeds.look_again(self._beginning(), self.now, notes)
        return notes

    # time

    def next_point(self, last: int) -> int:
        """The next time point, up to the last, at which something may change."""
        if self.now is None:
            return self._begin(last)
        if self.is_dense or self.timing.is_generating or self.arrivals.has(self.now):
            return self.now + 1
        return min(self._change_points(self.now), default=last)

    def _begin(self, last: int) -> int:
        """The first time point of all."""
        if self.first is None:
            self.first = min([last, *self.arrivals.times[:1]])
        return min(self.first, last)

    def _beginning(self) -> int:
        assert self.first is not None
        return self.first

    def _change_points(self, now: int) -> Iterator[int]:
        """Time points after now at which a window lets something go, or something arrives."""
        for span in self.timing.spans:
            if isinstance(span.window, SteppedWindow) and self._is_growing(span, now):
                yield _up(now + 1, span.step)
        spans = [*self.timing.spans, *(span for _, span in self.timing.held)]
        for time in self.arrivals.times:
            if time > now:
                yield time
                return
            for span in spans:
                yield from (point for point in _movements(time, span) if point > now)

    def _is_growing(self, span: WindowSpan, now: int) -> bool:
        """Whether a window that moves in steps still begins with the first time point of all."""
        return visible_times(span, now)[0] < self._beginning()

    def move(self, point: int) -> Notes:
        """Time goes on to this point."""
        notes = Notes()
        if self.now is not None:
            notes.retract(*self._now_fact(self.now))
        notes.tell(*self._now_fact(point))
        for time in self.arrivals.between(self._after_now(), point):
            for chunk in self.arrivals.at(time):
                self._feeds.arrive(chunk, point, notes)
        self._feeds.move(self._beginning(), point, notes)
        self.now = point
        return notes

    def _after_now(self) -> int:
        return self._beginning() if self.now is None else self.now + 1

    def _now_fact(self, point: int) -> tuple[int, Ids]:
        return self.naming.fact(NOW, self.naming.time(point))

    def settle(self) -> None:
        """The engine has followed the clock: what cannot matter any more is forgotten."""
        if self.now is None:
            return
        kept = self.now - self.timing.retention_by_time
        if self.timing.recent:
            self._forgetting.sweep(self.arrivals, self._feeds.recent, kept, self.now)
        else:
            self.arrivals.forget_before(kept)

    def restore(self, now: int | None) -> None:
        """The engine has not made the movement: all is as it was at this time."""
        self.now = now
        self._feeds = self._fresh(self.timing, self.is_dense)[0]

    # rules

    def under(self, timing: Timing, is_dense: bool) -> Notes:
        """Rules with other needs come in force; what that changes for the engine."""
        before = self._fresh(self.timing, self.is_dense)[1]
        self._feeds, notes = self._fresh(timing, is_dense)
        self.timing, self.is_dense = timing, is_dense
        return notes.since(before)

    def _fresh(self, timing: Timing, is_dense: bool) -> tuple[_Feeds, Notes]:
        """Feeds for these needs at the present time, and all that they assert."""
        feeds, notes = _Feeds(timing, self.arrivals, self.naming, is_dense), Notes()
        if self.now is not None:
            for time in self.arrivals.between(self._beginning(), self.now):
                for chunk in self.arrivals.at(time):
                    feeds.arrive(chunk, self.now, notes)
            feeds.move(self._beginning(), self.now, notes)
        return feeds, notes

    # what holds

    def held_ids(self) -> Iterator[Ids]:
        """The ids of arrivals that can still matter, and of facts that hold now."""
        yield from (chunk.ids for time in self.arrivals.times for chunk in self.arrivals.at(time))
        yield from self.held().values()
        yield self.naming.predicates()

    def held(self) -> Facts:
        """The facts of streams that hold now."""
        return self._feeds.holding.facts()

    def holds(self, shape: int, ids: Ids) -> Flags:
        """Which of these facts a stream makes true now."""
        return self._feeds.holding.holds(shape, ids)


class _Feeds:
    """The feeds that one set of needs asks for."""

    def __init__(self, timing: Timing, arrivals: Arrivals, naming: Naming, dense: bool) -> None:
        self._arrivals = arrivals
        self._arrived = [
            ArrivalFeed(timing.arrivals, arrivals, naming, with_streams=False),
            ArrivalFeed(timing.arrivals_on, arrivals, naming, with_streams=True),
        ]
        self.holding = HoldingFeed(timing.held, arrivals, naming, timing.holds_undeclared)
        families: dict[WindowSpan, list[Family]] = {}
        for span, family in timing.recent:
            families.setdefault(span, []).append(family)
        self._recent = {
            span: RecentFeed(span, found, arrivals, naming) for span, found in families.items()
        }
        self._clocks = {
            span: ClockFeed(
                span,
                arrivals,
                naming,
                dense or timing.is_generating,
                span.points_key in timing.chained,
            )
            for span in timing.spans
        }

    @property
    def recent(self) -> list[RecentFeed]:
        """The windows by count."""
        return list(self._recent.values())

    def arrive(self, chunk: ArrivalChunk, now: int, notes: Notes) -> None:
        """A chunk arrives, in time."""
        for arrived in self._arrived:
            arrived.come(chunk, now, notes)

    def come(self, chunk: ArrivalChunk, now: int, notes: Notes) -> None:
        """A chunk arrives late."""
        for arrived in self._arrived:
            arrived.come(chunk, now, notes)
        self.holding.come(chunk, now, notes)
        for clock in self._clocks.values():
            clock.come(chunk.time, notes)

    def go(self, chunk: ArrivalChunk, now: int, notes: Notes) -> None:
        """A chunk is taken back."""
        for arrived in self._arrived:
            arrived.go(chunk, now, notes)
        self.holding.go(chunk, now, notes)
        if not self._arrivals.has(chunk.time):
            for clock in self._clocks.values():
                clock.go(chunk.time, notes)

    def look_again(self, first: int, now: int, notes: Notes) -> None:
        """See to the windows by count, which move with what arrives."""
        for span, recent in self._recent.items():
            recent.look_again(first, now, notes)
            self._clocks[span].move(self._interval(span, first, now), now, notes)

    def move(self, first: int, now: int, notes: Notes) -> None:
        for arrived in self._arrived:
            arrived.move(now, notes)
        self.holding.move(now, notes)
        for recent in self._recent.values():
            recent.move(first, now, notes)
        for span, clock in self._clocks.items():
            clock.move(self._interval(span, first, now), now, notes)

    def _interval(self, span: WindowSpan, first: int, now: int) -> Interval:
        """The first and last time point of a window."""
        if isinstance(span.window, FactWindow):
            oldest = self._recent[span].oldest
            return (first if oldest is None else oldest), now
        if isinstance(span.window, SteppedWindow):
            point = now // span.step * span.step
            return max(first, point - span.range + (not span.window.closed)), point
        return max(first, now - span.range), now


def _movements(time: int, span: WindowSpan) -> Iterator[int]:
    """When an arrival enters and leaves a window."""
    if isinstance(span.window, SteppedWindow):
        yield _up(time, span.step)
        yield _up(time + span.range + span.window.closed, span.step)
    elif not isinstance(span.window, FactWindow):
        yield time + span.range + 1


def _up(time: int, step: int) -> int:
    """The first point of the grid that is not before a time."""
    return -(-time // step) * step
