"""The world of some windows: the background, what the windows hold, and everything that follows.

Queries over the same windows share a world.  It is an engine with a clock, as a reasoner is one:
the windows of its queries say which facts of streams hold as plain atoms, as if they were declared
(`@stream … in [range r step s] .`), and the windows of rules (`sometime`, `always`, `at`) look at
the streams themselves, at everything that was pushed, and at made streams that the queries read.
Where no rule does so, time goes from one report to the next in one step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import ClassVar, Generic, TypeVar

import numpy as np

from livefacts.engine.contract import (
    HOLDS,
    IN_DEFAULT,
    NO_CHANGE,
    Change,
    Flags,
    IdDelta,
    Ids,
    LimitedEngine,
)
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.language.formula import Atom
from livefacts.language.program import Program, Rule
from livefacts.language.windows import Extent
from livefacts.model.durations import Duration
from livefacts.plan import compile_rules
from livefacts.plan.time_lowering import Timing, lower_time
from livefacts.service.registered.background import Background, BackgroundPart
from livefacts.service.registered.limits import allowing, beginning
from livefacts.service.registered.reports import TimeSpan, spans_of
from livefacts.service.streams.arrival_log import ArrivalChunk, ArrivalView
from livefacts.service.streams.clocked_engine import ClockedEngine
from livefacts.service.streams.fact_rows import Key, Rows, keys_of
from livefacts.service.streams.feeds import Notes
from livefacts.service.streams.timeline import Timeline
from livefacts.service.streams.window_contents import FAR, LatestContents
from livefacts.store.facts.named_graphs import NamedGraphs
from livefacts.store.terms.dictionary import Dictionary

Delta = TypeVar("Delta")
Follower = Callable[[IdDelta], None]


class FollowedWorld(Generic[Delta]):
    """A world with an engine, and those who follow it: they are called with its changes."""

    _engine: LimitedEngine

    def __init__(self) -> None:
        self._followers: list[Callable[[Delta], None]] = []

    @property
    def limit(self) -> int | None:
        """The largest number of facts that a change may derive."""
        return self._engine.limit

    @limit.setter
    def limit(self, limit: int | None) -> None:
        self._engine.limit = limit

    def follow(self, follower: Callable[[Delta], None]) -> None:
        """Call with every change from now on."""
        self._followers.append(follower)

    def unfollow(self, follower: Callable[[Delta], None]) -> None:
        """Call no more."""
        self._followers.remove(follower)

    def _announce(self, delta: Delta) -> None:
        for follower in self._followers:
            follower(delta)


class World(FollowedWorld[IdDelta]):
    """An engine and a clock, for queries over the same windows."""

    _engine: EmbeddedEngine
    is_narrowed: ClassVar[bool] = False

    def __init__(
        self,
        dictionary: Dictionary,
        background: Background,
        windows: Sequence[Extent],
        view: ArrivalView,
        program: Program,
        tick: Duration | None,
        limit: int | None = None,
        replaced: int | None = None,
    ) -> None:
        super().__init__()
        self._replaced = replaced
        """How many conclusions the world had in whose place this is, if there was one."""
        self._background = BackgroundPart(background)
        self._windows = windows
        self._base = Program(tick=program.tick, retained=program.retained)
        self._tick = tick
        self._engine = EmbeddedEngine(dictionary, compile_rules(()))
        self._engine.limit = limit
        self._timeline = Timeline(dictionary, view)
        self._clocked = ClockedEngine(self._engine, NamedGraphs(), self._timeline)
        self.rules: tuple[Rule, ...] = ()
        self.recent: list[Key] = []
        """The facts that windows brought in or took out in the change that is being published."""

    @property
    def now(self) -> int | None:
        """The time to which it was last moved."""
        return self._timeline.now

    # what it is about

    def require(self, rules: tuple[Rule, ...], asked: Sequence[Atom] | None) -> None:
        """From now on these rules hold, and no others; what is asked, or all of it, is true here."""
        program = replace(self._base, rules=rules)
        held = tuple((each.stream, each) for each in self._windows if each.stream is not None)
        low = lower_time(program, self._tick, held=held)
        plan = compile_rules(low.rules, before=self._engine.plan)
        timing = replace(low.timing, holds_undeclared=False)
        background, facts = self._background.widened(rules, asked)
        with allowing(self._engine, more=background.whole.conclusions):
            self._change(Change(facts, plan=plan), timing)
        self.rules, self._background = rules, background

    # changes

    def arrived(self, chunks: Sequence[ArrivalChunk]) -> None:
        """Facts have come or gone; if they are late, they count at once."""
        now = self._timeline.now
        if now is not None and chunks[0].time <= now and self._timeline.view.sees(chunks[0].lane):
            self._make(self._timeline.come(chunks))

    def background_changed(self, touched: Rows) -> None:
        """The background may have changed for these facts, and for no others."""
        asserted: dict[int, Ids] = {}
        retracted: dict[int, Ids] = {}
        for shape, ids in touched.items():
            ids = np.unique(ids, axis=0)
            holds, was = self._background.holds(shape, ids), self._was_asserted(shape, ids)
            asserted[shape], retracted[shape] = ids[holds & ~was], ids[was & ~holds]
        change = Change(_some(asserted), retracted=_some(retracted))
        if change != Change():
            self._change(change, self._timeline.timing)

    def _was_asserted(self, shape: int, ids: Ids) -> Flags:
        asserted: Flags = self._engine.standing(shape, ids) & IN_DEFAULT != 0
        return asserted

    def move(self, now: int) -> None:
        """The time is `now`: windows slide, and everything follows."""
        timeline = self._timeline
        if timeline.now is None:
            with self._beginning(now):
                self._move(now)
        while timeline.now is not None and timeline.now < now:
            self._move(min(now, timeline.next_point(now)) if self.is_timed else now)

    def _move(self, point: int) -> None:
        before = self._timeline.now
        try:
            self._make(self._timeline.move(point))
        except BaseException:
            self._timeline.restore(before)
            raise

    def _beginning(self, now: int) -> AbstractContextManager[None]:
        views = [each.view for each in self._timeline.windows()]
        return beginning(self._engine, views, now, self._replaced, self.conclusions)

    def _change(self, change: Change, timing: Timing) -> None:
        with self._clocked.under(change, timing, keep=True) as whole:
            ids = self._engine.apply(whole)
        self._announce(ids)

    def _make(self, notes: Notes) -> None:
        change = self._clocked.change(notes)
        if change is not NO_CHANGE:
            _, held, _, released = notes.facts()
            self.recent = [*keys_of(held), *keys_of(released)]
            try:
                self._announce(self._engine.apply(change))
            finally:
                self.recent = []

    # reading

    def facts(self) -> Rows:
        """Everything that is true in this world."""
        return self._engine.facts()

    def holds(self, shape: int, ids: Ids) -> Flags:
        """Which of these facts are true in this world."""
        found: Flags = self._engine.standing(shape, ids) & HOLDS != 0
        return found

    @property
    def is_new(self) -> bool:
        """Whether it has not been moved yet: its windows are empty."""
        return self.now is None

    def conclusions(self) -> int:
        """How many facts are derived."""
        return sum(map(len, self._engine.derived().values()))

    def inside(self) -> set[Key]:
        """The facts that the windows hold, as they came."""
        return self._timeline.held_keys()

    @property
    def is_timed(self) -> bool:
        """Whether its rules look at time themselves."""
        return self._timeline.timing.is_about_time

    def next_change(self, now: int) -> int | None:
        """The next time at which something may change, if nothing arrives."""
        if not self.is_timed:
            points = [point for each in self._timeline.windows() for point in each.changes(now)]
            return min(points, default=None)
        point = self._timeline.next_point(now + FAR)
        return None if point >= now + FAR else point

    def spans(self, now: int, first: int) -> dict[Extent, TimeSpan]:
        """The time points of the windows."""
        return spans_of(self._timeline.windows(), now, first)

    def looks_back_to(self, now: int) -> int:
        """The first time point at which its rules look, whatever its windows are."""
        return now - self._timeline.timing.retention if self.is_timed else now

    def needed(self, lane: int, now: int) -> int:
        """The time from which on arrivals of a lane can matter."""
        return self._timeline.needed(lane, now)

    def latest(self) -> list[LatestContents]:
        """The windows whose facts are kept by their number."""
        return self._timeline.latest()

    def held_ids(self) -> Iterator[Ids]:
        """The ids of all facts, and of those that windows hold."""
        yield from self._engine.held_ids()
        yield from self._timeline.held_ids()

    def sizes(self) -> dict[str, int]:
        """How many facts are true, and how many the windows hold."""
        held = sum(len(ids) for ids in self.facts().values())
        return {"facts": held, "in_windows": len(self.inside())}


def _some(facts: Mapping[int, Ids]) -> dict[int, Ids]:
    return {shape: ids for shape, ids in facts.items() if len(ids)}
