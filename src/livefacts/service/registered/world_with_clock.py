"""The world with a clock: for queries whose rules look at time themselves.

The windows of a query say which facts of streams hold as plain atoms, as if they were
declared (`@stream … in [range r step s] .`).  The windows of rules (`sometime`, `always`, `at`)
look at the streams themselves: at everything that was pushed, and at made streams that the query
reads.  So such a world has a clock and arrivals of its own, and moves as a reasoner does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from pyoxigraph import NamedNode

from livefacts.engine.contract import HOLDS, IN_DEFAULT, Change, Flags, IdDelta, Ids
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.language.program import Program, Rule
from livefacts.language.windows import SteppedWindow
from livefacts.model.durations import Duration
from livefacts.plan import compile_rules
from livefacts.plan.time_lowering import FOREVER, Timing, lower_time
from livefacts.service.change.assertions import NO_QUAD_CHANGE, AskedChange, Assertions
from livefacts.service.change.delta import Delta
from livefacts.service.change.fact_reader import FactReader
from livefacts.service.registered.background import Background
from livefacts.service.registered.limits import allowing, beginning, conclusions_in, leave_out
from livefacts.service.registered.moving_window import Extent, MovingTimeWindow, TimeSpan
from livefacts.service.registered.world_listeners import FollowedWorld
from livefacts.service.streams.stream_log import Facts, Key, StreamLog
from livefacts.service.streams.streams import Streams
from livefacts.service.streams.timeline import NO_STREAM
from livefacts.store.facts.named_graphs import NamedGraphs
from livefacts.store.terms.dictionary import Dictionary

FAR = 1 << 62
NOTHING = IdDelta({}, {}, {})


class TimedWorld(FollowedWorld[IdDelta]):
    """A world with an engine and a clock of its own."""

    is_timed: ClassVar[bool] = True
    _engine: EmbeddedEngine

    def __init__(
        self,
        dictionary: Dictionary,
        background: Background,
        extents: Sequence[Extent],
        logs: Mapping[str, StreamLog],
        program: Program,
        tick: Duration | None,
        first: Callable[[], int | None],
        limit: int | None = None,
        replaced: int | None = None,
    ) -> None:
        super().__init__()
        self._replaced = replaced
        """How many conclusions the world had in whose place this is, if there was one."""
        self._dictionary = dictionary
        self._background = background
        self._logs = logs
        self._windows = [MovingTimeWindow(extent, logs[extent.stream]) for extent in extents]
        streams = tuple((NamedNode(each.stream), _declared(each)) for each in extents)
        self._base = Program(tick=program.tick, retained=program.retained, streams=streams)
        self._tick = tick
        self._first = first
        self._reader = FactReader(dictionary)
        self._engine = EmbeddedEngine(dictionary, compile_rules(()))
        self._engine.limit = limit
        self._streams = Streams(self._engine, NamedGraphs(), self._made)
        self.recent: list[Key] = []

    @property
    def now(self) -> int | None:
        """The time to which it was last moved."""
        return self._streams.now

    # what it is about

    def require(self, own: Sequence[Rule], answers: Sequence[Rule]) -> None:
        """From now on these rules hold, and those that find answers, and no others."""
        low = lower_time(replace(self._base, rules=(*own, *answers)), self._tick)
        leave_out(self._engine, answers)
        plan = compile_rules(low.rules, before=self._engine.plan)
        with allowing(self._engine, more=self._background.conclusions):
            self._change(Change(plan=plan), replace(low.timing, holds_undeclared=False))

    # changes

    def fill(self) -> None:
        """Take in the background and what streams have brought; done once, before rules."""
        self._change(Change(dict(self._background.facts())))
        for stream, log in self._logs.items():
            for time, runs in log.between(-FAR, FAR):
                for shape, ids in runs:
                    self.arrived(stream, time, {shape: ids})

    def arrived(self, stream: str, time: int, facts: Facts) -> None:
        """Facts have come to a stream; if they are late, they count at once."""
        if self._looks_at(stream):
            self._streams.push([dict(facts)], time, self._id(stream))

    def retracted(self, stream: str, time: int, facts: Facts) -> None:
        """Facts have been taken back."""
        if self._looks_at(stream):
            self._streams.retract([dict(facts)], time, self._id(stream))

    def _looks_at(self, stream: str) -> bool:
        is_read = any(window.extent.stream == stream for window in self._windows)
        return is_read or not self._logs[stream].is_made

    def _id(self, stream: str) -> int:
        return self._dictionary.encode_one(NamedNode(stream) if stream else NO_STREAM)

    def background_changed(self, touched: Facts) -> None:
        """The background may have changed for these facts, and for no others."""
        asserted: dict[int, Ids] = {}
        retracted: dict[int, Ids] = {}
        for shape, ids in touched.items():
            ids = np.unique(ids, axis=0)
            holds, was = self._background.holds(shape, ids), self._was_asserted(shape, ids)
            asserted[shape], retracted[shape] = ids[holds & ~was], ids[was & ~holds]
        self._change(Change(_some(asserted), retracted=_some(retracted)))

    def _was_asserted(self, shape: int, ids: Ids) -> Flags:
        asserted: Flags = self._engine.standing(shape, ids) & IN_DEFAULT != 0
        return asserted

    def move(self, now: int) -> None:
        """The time is `now`: windows slide, and everything follows."""
        timeline = self._streams.timeline
        if timeline.now is None:
            timeline.first = self._first()
            with beginning(self._engine, self._read(), now, self._replaced, self.conclusions):
                self._made(self._streams.change(timeline.move(now)))
            timeline.settle()
        elif timeline.now < now:
            for _ in self._streams.ticks(now):
                pass

    def _read(self) -> list[StreamLog]:
        return [self._logs[window.extent.stream] for window in self._windows]

    def _change(self, change: Change, timing: Timing | None = None) -> None:
        timing = timing or self._streams.timeline.timing
        with self._streams.under(change, timing, keep=True) as whole:
            ids = self._engine.apply(whole)
        self._announce(ids)

    def _made(self, change: Change) -> Delta:
        ids = NOTHING if change == Change() else self._engine.apply(change)
        self._announce(ids)
        nothing = Assertions(AskedChange({}, {}, {}, {}), ids, NO_QUAD_CHANGE)
        return Delta(0, ids, self._reader, nothing)

    # reading

    def facts(self) -> Facts:
        """Everything that is true in this world."""
        return self._engine.facts()

    def holds(self, shape: int, ids: Ids) -> Flags:
        """Which of these facts are true in this world."""
        found: Flags = self._engine.standing(shape, ids) & HOLDS != 0
        return found

    @property
    def is_new(self) -> bool:
        """Whether it is as it was made; arrivals of its own make it differ at once."""
        return False

    def conclusions(self) -> int:
        """How many facts are derived."""
        return conclusions_in(self._engine, self._engine.derived())

    def next_change(self, now: int) -> int | None:
        """The next time at which something may change, if nothing arrives."""
        point = self._streams.timeline.next_point(now + FAR)
        return None if point >= now + FAR else point

    def spans(self, now: int, first: int) -> dict[Extent, TimeSpan]:
        """The time points of the windows."""
        return {window.extent: window.span(now, first) for window in self._windows}

    def forgettable(self, stream: str, now: int) -> list[int]:
        """Until when the arrivals of a stream can no longer matter to a report made anew."""
        retention = self._streams.timeline.timing.retention
        return [now - 1 - retention] if retention < FOREVER else []

    def held_ids(self) -> Iterator[Ids]:
        """The ids of all facts, and of arrivals."""
        yield from self._engine.held_ids()
        yield from self._streams.timeline.held_ids()

    def sizes(self) -> dict[str, int]:
        """How many facts are true, and how many streams hold."""
        held = sum(len(ids) for ids in self.facts().values())
        inside = sum(len(ids) for ids in self._streams.timeline.held().values())
        return {"facts": held, "in_windows": inside}


def _declared(extent: Extent) -> SteppedWindow:
    range, step = Duration(extent.range), Duration(extent.step)
    return SteppedWindow(range, step, closed=extent.closed)


def _some(facts: Mapping[int, Ids]) -> dict[int, Ids]:
    return {shape: ids for shape, ids in facts.items() if len(ids)}
