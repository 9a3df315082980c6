"""The timeline: what the engine is given when facts arrive and time moves.

Rules over time see ordinary facts (see `livefacts.plan.time_lowering`), which the feeds keep up to
date.  All of them are a function of the arrivals, the rules and the time, so a movement
that fails is undone by making the feeds anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyoxigraph import NamedNode

from livefacts.engine.contract import Facts, Flags, Ids
from livefacts.language.formula import Family
from livefacts.language.windows import Extent, TimeExtent
from livefacts.model.facts import Symbol, Term
from livefacts.plan.time_lowering import NOW, Timing
from livefacts.service.streams.arrival_log import GONE, ArrivalChunk, ArrivalView
from livefacts.service.streams.fact_rows import Key
from livefacts.service.streams.feeds import (
    ArrivalFeed,
    ClockFeed,
    HoldingFeed,
    Naming,
    Notes,
    RecentFeed,
)
from livefacts.service.streams.window_contents import (
    FAR,
    Contents,
    LatestContents,
    TimeContents,
    contents_of,
)
from livefacts.store.terms.dictionary import Dictionary

NO_STREAM = Symbol("_stream:")
"""Where facts arrive that name no stream."""


def name_of_stream(term: Term) -> str:
    """The name of a stream, as people write it; empty for facts that name none.

    >>> name_of_stream(NO_STREAM), name_of_stream(NamedNode("stream:sensors"))
    ('', 'stream:sensors')
    """
    if isinstance(term, NamedNode):
        return term.value
    assert isinstance(term, Symbol), "a stream has a name"
    return term.name.removeprefix(NO_STREAM.name)


class Timeline:
    """The clock, and what follows from it and from the log for the engine."""

    def __init__(self, dictionary: Dictionary, view: ArrivalView) -> None:
        self.naming = Naming(dictionary)
        self.view = view
        self.timing = Timing()
        self.now: int | None = None
        self.is_dense = False
        """Whether windows list all their time points, and not only those with arrivals."""
        self._feeds = _Feeds(self.timing, view, self.naming, self.is_dense)

    def copied(self) -> Timeline:
        """The same moment, from which time may go on elsewhere."""
        copy = Timeline(self.naming.dictionary, self.view)
        copy.timing, copy.is_dense = self.timing, self.is_dense
        copy.restore(self.now)
        return copy

    @property
    def first(self) -> int | None:
        """The first time point of all, once it is known."""
        return self.view.log.first

    @property
    def reach(self) -> int:
        """After so many time points without arrivals, no window changes any more."""
        windows = [*self.timing.spans, *(each for _, each in self.timing.held)]
        times = self.view.between(-FAR, FAR)
        arriving = max([0, *times[-1:]]) - (self.now or 0)
        return max(0, arriving) + max([0, *(each.silence for each in windows)]) + 2

    # arrivals

    def come(self, chunks: Iterable[ArrivalChunk]) -> Notes:
        """Facts have arrived at or before now, or were taken back."""
        assert self.now is not None
        notes = Notes()
        for chunk in chunks:
            self._feeds.come(chunk, self.now, notes)
        if self._feeds.has_latest:
            self._feeds.look_again(self._beginning(), self.now, notes)
        return notes

    # time

    def next_point(self, last: int) -> int:
        """The next time point, up to the last, at which something may change."""
        if self.now is None:
            return self._begin(last)
        if self.is_dense or self.timing.is_generating or self.view.has(self.now):
            return self.now + 1
        return min(self._change_points(self.now), default=last)

    def _begin(self, last: int) -> int:
        """The first time point of all."""
        log = self.view.log
        if log.first is None:
            log.first = min([last, *log.times[:1]])
        return min(log.first, last)

    def _beginning(self) -> int:
        first = self.view.log.first
        assert first is not None
        return first

    def _change_points(self, now: int) -> Iterator[int]:
        """Time points after now at which a window lets something go, or something arrives."""
        arriving = self.view.next_after(now)
        if arriving is not None:
            yield arriving
        for contents in self._feeds.contents():
            yield from contents.changes(now)
            if isinstance(contents, TimeContents):
                # A time point behind an arrival enters: `always` may end there.
                yield from contents.passing(now, contents.extent.newer + 1)
                opens = contents.extent.opens(self._beginning())
                yield from (opens,) if opens > now else ()

    def move(self, point: int) -> Notes:
        """Time goes on to this point."""
        notes = Notes()
        if self.timing.is_about_time:
            if self.now is not None:
                notes.retract(*self._now_fact(self.now))
            notes.tell(*self._now_fact(point))
            self._feeds.arrive(self._after_now(), point, notes)
        self._feeds.move(self._beginning(), point, notes)
        self.now = point
        return notes

    def _after_now(self) -> int:
        return self._beginning() if self.now is None else self.now + 1

    def _now_fact(self, point: int) -> tuple[int, Ids]:
        return self.naming.fact(NOW, self.naming.time(point))

    def restore(self, now: int | None) -> None:
        """The engine has not made the movement: all is as it was at this time."""
        self.now = now
        self._feeds = self._fresh(self.timing, self.is_dense)[0]

    def resume(self, now: int | None, is_dense: bool) -> Notes:
        """A new timeline goes on from this moment of its log; all that it asserts."""
        self.now, self.is_dense = now, is_dense
        self._feeds, notes = self._fresh(self.timing, is_dense)
        return notes

    # what may still be needed

    def needed(self, lane: int, now: int) -> int:
        """The time from which on arrivals of a lane can matter."""
        if not self.view.sees(lane):
            return FAR
        timing, found = self.timing, list[int]()
        since = now - timing.retention
        if timing.is_about_time or timing.holds_undeclared:
            found.append(since)
        if self.now is not None and self.timing.is_about_time:
            since = min(since, self.now - self.timing.retention)
            oldest = self.view.next_after(since - 1)
            found += [since] if oldest is not None and oldest <= self.now else []
        held = self._feeds.holding.contents
        found += [each.needed(now) for each in held if each.view.sees(lane)]
        return min(found, default=FAR)

    def windows(self) -> list[Contents]:
        """The windows in which facts of streams hold."""
        return self._feeds.holding.contents

    def latest(self) -> list[LatestContents]:
        """The windows whose facts are kept by their number."""
        return [each for each in self._feeds.contents() if isinstance(each, LatestContents)]

    # rules

    def under(self, timing: Timing, is_dense: bool) -> Notes:
        """Rules with other needs come in force; what that changes for the engine."""
        if timing == self.timing and is_dense == self.is_dense:
            return Notes()
        before = self._fresh(self.timing, self.is_dense)[1]
        self._feeds, notes = self._fresh(timing, is_dense)
        self.timing, self.is_dense = timing, is_dense
        return notes.since(before)

    def _fresh(self, timing: Timing, is_dense: bool) -> tuple[_Feeds, Notes]:
        """Feeds for these needs at the present time, and all that they assert."""
        feeds, notes = _Feeds(timing, self.view, self.naming, is_dense), Notes()
        if self.now is not None:
            if timing.is_about_time:
                notes.tell(*self._now_fact(self.now))
                feeds.arrive(self._beginning(), self.now, notes)
            feeds.move(self._beginning(), self.now, notes)
        return feeds, notes

    # what holds

    def held_ids(self) -> Iterator[Ids]:
        """The ids of facts that hold now, and of what is said of them."""
        yield from self.held().values()
        yield self.naming.predicates()

    def held(self) -> Facts:
        """The facts of streams that hold now."""
        return self._feeds.holding.facts()

    def held_keys(self) -> set[Key]:
        """The same, one by one."""
        return self._feeds.holding.keys()

    def holds(self, shape: int, ids: Ids) -> Flags:
        """Which of these facts a stream makes true now."""
        return self._feeds.holding.holds(shape, ids)


class _Feeds:
    """The feeds that one set of needs asks for."""

    def __init__(self, timing: Timing, view: ArrivalView, naming: Naming, dense: bool) -> None:
        self._view = view
        kept = ((timing.arrivals, False), (timing.arrivals_on, True))
        self._arrived = [ArrivalFeed(each, view, naming, on) for each, on in kept if each]
        self.holding = HoldingFeed(timing.held, view, naming, timing.holds_undeclared)
        families: dict[Extent, list[Family]] = {}
        for extent, family in timing.recent:
            families.setdefault(extent, []).append(family)
        self._recent = {
            extent: RecentFeed(extent, found, view, naming)
            for extent, found in families.items()
            if not isinstance(extent, TimeExtent)
        }
        is_dense, chained = dense or timing.is_generating, timing.chained
        self._clocks = {
            extent: ClockFeed(extent, view, naming, is_dense, extent.points_key in chained)
            for extent in timing.spans
        }
        self._contents: dict[Extent, Contents] = {
            extent: self._recent[extent].contents
            if extent in self._recent
            else contents_of(extent, view, naming.dictionary)
            for extent in timing.spans
        }
        latest = [each for each in self.holding.contents if isinstance(each, LatestContents)]
        self.has_latest = bool(self._recent or latest)
        """Whether some windows move with what arrives."""

    def contents(self) -> Iterator[Contents]:
        """What the windows have inside."""
        yield from self._contents.values()
        yield from self.holding.contents

    def arrive(self, first: int, now: int, notes: Notes) -> None:
        """Chunks arrive, in time."""
        for chunk in self._view.chunks(first, now) if self._arrived else ():
            for arrived in self._arrived:
                arrived.follow(chunk, now, notes)

    def come(self, chunk: ArrivalChunk, now: int, notes: Notes) -> None:
        """A chunk arrives late, or is taken back."""
        for arrived in self._arrived:
            arrived.follow(chunk, now, notes)
        self.holding.follow(chunk, notes)
        for clock in self._clocks.values():
            if chunk.number != GONE:
                clock.come(chunk.time, notes)
            elif not self._view.has(chunk.time):
                clock.go(chunk.time, notes)

    def look_again(self, first: int, now: int, notes: Notes) -> None:
        """See to the windows that move with what arrives."""
        self.holding.look_again(now, notes)
        for extent, recent in self._recent.items():
            recent.look_again(now, notes)
            self._clocks[extent].move(recent.contents.interval(now, first), now, notes)

    def move(self, first: int, now: int, notes: Notes) -> None:
        for arrived in self._arrived:
            arrived.move(now, notes)
        self.holding.move(now, notes)
        for recent in self._recent.values():
            recent.move(now, notes)
        for extent, clock in self._clocks.items():
            clock.move(self._contents[extent].interval(now, first), now, notes)
