"""The movement of time: facts arrive, time moves, and conclusions follow.

A movement of time is a change like any other.  Time goes from one point at which
something may change to the next, so that time without events costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pyoxigraph import NamedNode

from livefacts.engine.contract import ASSERTED, NO_CHANGE, Engine, Facts, IdDelta, Ids
from livefacts.errors import InputError
from livefacts.language.program import Program
from livefacts.service.change.delta import Delta
from livefacts.service.streams.arrival_log import (
    ArrivalChunk,
    ArrivalLog,
    ArrivalView,
    LatestNeed,
)
from livefacts.service.streams.clocked_engine import ClockedEngine
from livefacts.service.streams.fact_rows import netted, united
from livefacts.service.streams.feeds import Notes
from livefacts.service.streams.lifetimes import Beginnings
from livefacts.service.streams.reclamation import Reclaimer
from livefacts.service.streams.timeline import Timeline, name_of_stream
from livefacts.service.streams.window_contents import FAR
from livefacts.store.facts.named_graphs import NamedGraphs

if TYPE_CHECKING:
    from livefacts.service.streams.event_time import EventTime

BEFORE_THE_FIRST = "before the first time point"
Make = Callable[..., Delta]
"""Makes a change of facts about time, with hints on it, and gives what it changed."""


class Listener:
    """Hears of everything that happens to the streams and the background; this one does nothing."""

    is_heard = False
    """Whether anybody listens."""

    def arrived(self, chunks: Sequence[ArrivalChunk]) -> None:
        """Facts have arrived at a time point of a stream, or have been taken back."""

    def needed(self, lane: int) -> int:
        """The time from which on arrivals of a lane of the log can matter."""
        return FAR

    def latest(self) -> Sequence[LatestNeed]:
        """Windows whose facts are kept by their number."""
        return ()

    def changed(
        self, program: Program, asserted: Facts, retracted: Facts, came: Ids, gone: Ids
    ) -> None:
        """Background or rules have changed."""

    def advanced(self, now: int) -> None:
        """Every time point up to now is complete."""

    def finished(self) -> None:
        """Nothing more will come."""

    def stats(self) -> dict[str, Any]:
        """What the listener keeps."""
        return {}

    def by_name(self) -> dict[str, Any]:
        """Those that listen and have names."""
        return {}

    def repeated(self, *, forget: bool) -> None:
        """All that has happened before a restart was made again."""

    def state(self) -> dict[str, Any] | None:
        """What the listener is to go on from, as plain data."""
        return None

    def held_ids(self) -> Iterable[Ids]:
        """The ids that the listener keeps."""
        return ()


class Streams(ClockedEngine):
    """The facts that arrive at one reasoner, and its clock."""

    def __init__(self, engine: Engine, graphs: NamedGraphs, make: Make) -> None:
        self.log = ArrivalLog()
        self.lanes: dict[str | NamedNode | None, int] = {}
        """Where the log has the streams that were named, and those facts that name none."""
        view = ArrivalView(self.log)
        super().__init__(engine, graphs, Timeline(engine.dictionary, view))
        self._make = make
        self.listener = Listener()
        self.terms = Reclaimer(engine.dictionary, [engine, graphs, self])
        self.events: EventTime | None = None
        self.beginnings = Beginnings()
        self.unreported: list[Delta] = []
        """Changes that time has brought, before an error kept them from being reported."""

    def held_ids(self) -> Iterator[Ids]:
        """The ids that streams and those who listen to them keep."""
        yield from self.log.held_ids()
        yield from self.timeline.held_ids()
        yield from self.listener.held_ids()

    @property
    def now(self) -> int | None:
        """The time point that was evaluated last."""
        return self.timeline.now

    @property
    def has_begun(self) -> bool:
        """Whether time points have a meaning: facts have come, or queries wait for them."""
        return len(self.log) > 0 or self.timeline.now is not None or self.listener.is_heard

    def stats(self) -> dict[str, Any]:
        """What time has to do with a reasoner's memory, and what did not get there."""
        stats = self.listener.stats() | ({} if self.events is None else self.events.stats())
        aside = {} if self.events is None else dict(self.events.set_aside)
        if self.log.set_aside:
            aside[BEFORE_THE_FIRST] = self.log.set_aside
        kept = {"arrivals": len(self.log), "terms_reclaimed": self.terms.reclaimed}
        return {**stats, "set_aside": aside, **kept, "streams": self._by_stream()}

    def _by_stream(self) -> dict[str, dict[str, Any]]:
        """What came on each stream, until when, and how far it is behind the one ahead of all."""
        marks = {} if self.events is None else self.events.watermarks()
        lanes = {
            name_of_stream(self.engine.dictionary.decode_one(number)): lane
            for number, lane in self.log.lanes.items()
            if number >= 0
        }
        latest = [lane.latest for lane in lanes.values() if lane.latest is not None]
        return {
            name: {
                "arrivals": lane.forgotten + len(lane),
                "latest": lane.latest,
                "watermark": marks.get(name, lane.latest),
                "lag": None if lane.latest is None else max(latest) - lane.latest,
                "late": lane.late,
            }
            for name, lane in lanes.items()
        }

    # arrivals

    def push(self, runs: list[Facts], time: int, stream: int) -> Delta:
        """Facts arrive, in this order; at or before now, they count at once."""
        log = self.log
        if log.first is not None and time < log.first:
            aside = sum(len(ids) for run in runs for ids in run.values())
            log.set_aside += aside
            return self._make(NO_CHANGE, f"to push: {aside:,} set aside, {BEFORE_THE_FIRST}")
        new = log.add(time, stream, runs)
        done = self._followed(new, partial(log.drop, new))
        if new and self.now is not None and time <= self.now:
            log.lanes[stream].late += sum(len(chunk.ids) for chunk in new)
        return done

    def retract(self, runs: list[Facts], time: int, stream: int) -> Delta:
        """Arrivals are taken back, as if they had never been."""
        gone, before = self.log.remove(time, stream, united(runs))
        if not gone:
            return self._make(NO_CHANGE, "to retract: nothing of this arrived then on this stream")
        return self._followed(gone, partial(self.log.restore, before))

    def _followed(self, chunks: list[ArrivalChunk], undo: Callable[[], None]) -> Delta:
        """What the engine makes of arrivals that have come or gone; then others hear of them."""
        now = self.timeline.now
        if not chunks or now is None or chunks[0].time > now:
            delta = self._make(NO_CHANGE)
        else:
            delta = self._moved(partial(self.timeline.come, chunks), undo)
        if chunks and self.listener.is_heard:
            self.listener.arrived(chunks)
        return delta

    def _moved(self, move: Callable[[], Notes], undo: Callable[[], None] = lambda: None) -> Delta:
        """What the engine makes of a movement; if that fails, the timeline is put back."""
        now = self.timeline.now
        try:
            return self._make(self.change(move()))
        except BaseException:
            undo()
            self.timeline.restore(now)
            raise

    # time

    def ticks(self, last: int, written: Callable[[int], str] = str) -> Iterator[tuple[int, Delta]]:
        """Go to a time point; the changes on the way, each with its time.

        `written` is how messages have time points.
        """
        now = self.timeline.now
        if now is not None and last < now:
            raise InputError(
                f"it is {written(now)} already, and time does not go back to {written(last)}",
                hint="a late fact is pushed with its own time",
            )
        while self.timeline.now is None or self.timeline.now < last:
            point = min(last, self.timeline.next_point(last))
            delta = self._moved(partial(self.timeline.move, point))
            try:
                self.listener.advanced(point)
            except BaseException:
                self.unreported.append(delta)
                raise
            self._forget(point)
            yield point, delta

    def _forget(self, now: int) -> None:
        """Everybody has followed the clock: what cannot matter any more is forgotten."""
        timeline, listener = self.timeline, self.listener
        self.log.forget(
            lambda lane: min(timeline.needed(lane, now), listener.needed(lane)),
            [*timeline.latest(), *listener.latest()],
        )

    def net(self, deltas: list[IdDelta]) -> IdDelta:
        """The net of several changes; derived in it is what is not asserted in the end."""
        added, removed = deltas[0][:2] if len(deltas) == 1 else netted(each[:2] for each in deltas)
        standing = self.engine.standing
        derived = {s: standing(s, ids) & ASSERTED == 0 for s, ids in added.items()}
        return IdDelta(added, removed, derived)
