"""Streams: facts arrive, time moves, and conclusions follow.

A movement of time is a change like any other.  Time goes from one point at which
something may change to the next, so that time without events costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from livefacts.engine.contract import (
    ASSERTED,
    IN_DEFAULT,
    TRIPLES,
    Change,
    Engine,
    Facts,
    IdDelta,
    Ids,
)
from livefacts.errors import InputError
from livefacts.language.program import Program
from livefacts.plan.time_lowering import BACKGROUND, Family, Timing
from livefacts.service.change.assertions import without
from livefacts.service.change.delta import Delta
from livefacts.service.streams.arrivals import row_bytes, row_ids
from livefacts.service.streams.feeds import Choice, Notes
from livefacts.service.streams.lifetimes import Beginnings
from livefacts.service.streams.reclamation import Reclaimer
from livefacts.service.streams.timeline import Timeline
from livefacts.store.facts.named_graphs import NamedGraphs

if TYPE_CHECKING:
    from livefacts.service.streams.event_time import EventTime

BEFORE_THE_FIRST = "before the first time point"
Make = Callable[[Change], Delta]
"""Makes a change of facts about time, and gives what it changed."""


class Listener:
    """Hears of everything that happens to the streams and the background; this one does nothing."""

    is_heard = False
    """Whether anybody listens."""

    def arrived(self, facts: Facts, time: int, stream: int) -> None:
        """Facts have arrived."""

    def retracted(self, facts: Facts, time: int, stream: int) -> None:
        """Facts have been taken back."""

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

    def held_ids(self) -> Iterable[Ids]:
        """The ids that the listener keeps."""
        return ()


class Streams:
    """The facts that arrive at one reasoner, and its clock."""

    def __init__(self, engine: Engine, graphs: NamedGraphs, make: Make) -> None:
        self.engine = engine
        self.graphs = graphs
        self._make = make
        self.timeline = Timeline(engine.dictionary)
        self.listener = Listener()
        self.terms = Reclaimer(engine.dictionary, [engine, self])
        self.events: EventTime | None = None
        self.beginnings = Beginnings()
        self.unreported: list[Delta] = []
        """Changes that time has brought, before an error kept them from being reported."""

    def beside(self, engine: Engine, timeline: Timeline) -> Streams:
        """The same streams, of another engine and with a clock of their own; nobody hears of them."""
        streams = Streams(engine, self.graphs, self._make)
        streams.timeline = timeline
        return streams

    def held_ids(self) -> Iterator[Ids]:
        """The ids that streams and those who listen to them keep."""
        yield from self.timeline.held_ids()
        yield from self.listener.held_ids()

    @property
    def now(self) -> int | None:
        """The time point that was evaluated last."""
        return self.timeline.now

    @property
    def has_begun(self) -> bool:
        """Whether time points have a meaning: facts have come, or queries wait for them."""
        timeline = self.timeline
        return bool(timeline.arrivals.times) or timeline.now is not None or self.listener.is_heard

    def stats(self) -> dict[str, Any]:
        """What time has to do with a reasoner's memory, and what did not get there."""
        stats = self.listener.stats() | ({} if self.events is None else self.events.stats())
        aside = {} if self.events is None else dict(self.events.set_aside)
        if self.timeline.set_aside:
            aside[BEFORE_THE_FIRST] = self.timeline.set_aside
        kept = {"arrivals": len(self.timeline.arrivals), "terms_reclaimed": self.terms.reclaimed}
        return {**stats, "set_aside": aside, **kept}

    # arrivals

    def push(self, runs: list[Facts], time: int, stream: int) -> Delta:
        """Facts arrive, in this order; at or before now, they count at once."""
        delta = self._push(runs, time, stream)
        for run in runs:
            self.listener.arrived(run, time, stream)
        return delta

    def _push(self, runs: list[Facts], time: int, stream: int) -> Delta:
        first = self.timeline.first
        if first is not None and time < first:
            self.timeline.set_aside += sum(len(ids) for run in runs for ids in run.values())
            return self._make(Change())
        arrivals = self.timeline.arrivals
        new = [chunk for run in runs for chunk in arrivals.add(time, stream, run)]
        if not new or not self._is_past(time):
            return self._make(Change())
        with self._undone(lambda: arrivals.drop(new)):
            return self._make(self.change(self.timeline.come(new)))

    def retract(self, runs: list[Facts], time: int, stream: int) -> Delta:
        """Arrivals are taken back, as if they had never been."""
        delta = self._retract(runs, time, stream)
        for run in runs:
            self.listener.retracted(run, time, stream)
        return delta

    def _retract(self, runs: list[Facts], time: int, stream: int) -> Delta:
        arrivals = self.timeline.arrivals
        gone, before = arrivals.remove(time, stream, _united(runs))
        if not gone or not self._is_past(time):
            return self._make(Change())
        with self._undone(lambda: arrivals.restore(before)):
            return self._make(self.change(self.timeline.go(gone)))

    def _is_past(self, time: int) -> bool:
        return self.timeline.now is not None and time <= self.timeline.now

    @contextmanager
    def _undone(self, undo: Callable[[], None] = lambda: None) -> Iterator[None]:
        """If the body of the `with` fails, the timeline is put back."""
        now = self.timeline.now
        try:
            yield
        except BaseException:
            undo()
            self.timeline.restore(now)
            raise

    # time

    def ticks(self, last: int) -> Iterator[tuple[int, Delta]]:
        """Go to a time point; the changes on the way, each with its time."""
        now = self.timeline.now
        if now is not None and last < now:
            raise InputError(
                f"it is {now} already, and time does not go back to {last}",
                hint="a late fact is pushed with its own time",
            )
        while self.timeline.now is None or self.timeline.now < last:
            point = min(last, self.timeline.next_point(last))
            with self._undone():
                delta = self._make(self.change(self.timeline.move(point)))
            self.timeline.settle()
            try:
                self.listener.advanced(point)
            except BaseException:
                self.unreported.append(delta)
                raise
            yield point, delta

    def net(self, deltas: list[IdDelta]) -> IdDelta:
        """The net of several changes; derived in it is what is not asserted in the end."""
        added, removed = deltas[0][:2] if len(deltas) == 1 else _merged(deltas)
        standing = self.engine.standing
        derived = {s: standing(s, ids) & ASSERTED == 0 for s, ids in added.items()}
        return IdDelta(added, removed, derived)

    # changes for the engine

    def change(self, notes: Notes) -> Change:
        """What a movement means for the engine."""
        unnamed = self._ended(notes.released)
        return Change(notes.asserted, notes.held, notes.retracted, unnamed=unnamed)

    def _ended(self, released: Facts) -> Facts:
        """Of facts that streams hold no longer, those that nothing else asserts."""
        ended = {}
        for shape, ids in released.items():
            stays = self.engine.standing(shape, ids) & IN_DEFAULT != 0
            if shape == TRIPLES and len(self.graphs):
                stays |= self.graphs.others(ids, ids[:0])
            ended[shape] = ids[~stays]
        return ended

    @contextmanager
    def under(self, change: Change, timing: Timing, keep: bool) -> Iterator[Change]:
        """A change of background and rules, with what it means for time."""
        timeline = self.timeline
        before = timeline.timing, timeline.is_dense
        mirrored, unmirrored = self._mirrored(change, timing)
        change = self._holding(change)
        is_dense = timeline.is_dense or (timing.binds_times and bool(mirrored))
        if timing.binds_times and not timeline.timing.binds_times:
            is_dense |= any(self._companions([self._background()], timing.background))
        moved = self.change(timeline.under(timing, is_dense))
        try:
            yield replace(
                change,
                facts=_united([change.facts, moved.facts, mirrored]),
                others=_united([change.others, moved.others]),
                retracted=_united([change.retracted, moved.retracted, unmirrored]),
                unnamed=_united([change.unnamed, moved.unnamed]),
            )
        except BaseException:
            timeline.under(*before)
            raise
        if not keep:
            timeline.under(*before)

    def _mirrored(self, change: Change, timing: Timing) -> tuple[Facts, Facts]:
        """What becomes and ceases to be background of the predicates that windows look at."""
        before = self.timeline.timing.background
        asserted = [change.facts, change.others]
        retracted = [change.retracted, self._unmarked(change.unnamed)]
        new, old = timing.background - before, before - timing.background
        present = [self._background()] if new or old else []
        came = [
            *self._companions(asserted, timing.background),
            *self._companions(present, new),
        ]
        went = [
            *self._companions([*retracted, *present], old),
            *self._companions(retracted, timing.background),
        ]
        return _united(came), _united(went)

    def _companions(self, facts: list[Facts], families: Iterable[Family]) -> Iterator[Facts]:
        dictionary = self.engine.dictionary
        choices = [Choice(family, dictionary) for family in families]
        for part in facts if choices else ():
            for shape, ids in part.items():
                chosen = np.zeros(len(ids), np.bool_)
                for is_of in choices:
                    chosen |= is_of(shape, ids)
                if chosen.any():
                    wide, rows = self.timeline.naming.companions(BACKGROUND, shape, ids[chosen])
                    yield {wide: rows}

    def _background(self) -> Facts:
        """What is asserted for all time."""
        held = self.timeline.held()
        facts = self.engine.asserted()
        for shape, ids in held.items():
            only_held = self._ended({shape: ids})[shape]
            facts[shape] = without(facts[shape], only_held)
        return facts

    def _unmarked(self, unnamed: Facts) -> Facts:
        """Those of the facts that no named graph tells any more which the default graph does not."""
        standing = self.engine.standing
        return {s: ids[standing(s, ids) & IN_DEFAULT == 0] for s, ids in unnamed.items()}

    def _holding(self, change: Change) -> Change:
        """A change of background that leaves what streams hold as it is."""
        retracted, unmarked = dict(change.retracted), dict(change.unmarked)
        for shape, ids in change.retracted.items():
            held = self.timeline.holds(shape, ids)
            if held.any():
                retracted[shape] = ids[~held]
                unmarked[shape] = np.concatenate([unmarked.get(shape, ids[:0]), ids[held]])
        unnamed = {s: ids[~self.timeline.holds(s, ids)] for s, ids in change.unnamed.items()}
        return replace(change, retracted=retracted, unmarked=unmarked, unnamed=unnamed)


def _united(parts: Iterable[Facts]) -> Facts:
    found: dict[int, list[Ids]] = {}
    for part in parts:
        for shape, ids in part.items():
            if len(ids):
                found.setdefault(shape, []).append(ids)
    return {s: ids[0] if len(ids) == 1 else np.concatenate(ids) for s, ids in found.items()}


def _merged(deltas: list[IdDelta]) -> tuple[Facts, Facts]:
    """What several changes, one after the other, added and removed in the end."""
    net: dict[tuple[int, bytes], int] = {}
    for delta in deltas:
        for sign, facts in ((-1, delta.removed), (1, delta.added)):
            for shape, ids in facts.items():
                for row in row_bytes(ids):
                    net[shape, row] = net.get((shape, row), 0) + sign
    return _chosen(net, 1), _chosen(net, -1)


def _chosen(net: dict[tuple[int, bytes], int], sign: int) -> dict[int, Ids]:
    found: dict[int, list[bytes]] = {}
    for (shape, row), count in net.items():
        if count == sign:
            found.setdefault(shape, []).append(row)
    return {shape: row_ids(rows) for shape, rows in found.items()}
