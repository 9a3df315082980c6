"""The stream state: one set of facts and conclusions for windows of every length over a stream.

A fact carries the time at which it arrived for the last time, a conclusion that of its
oldest premise, taken at the best of its derivations.  A window of length r at time g holds
what has a time after g - r, so windows of all lengths read the same state.  That is exact
at time points at which a window moves, before anything newer has come: queries are
answered in the order of time, and a state goes no further than the query at hand.

Several streams with windows of different lengths have one state, too: the times of a
stream whose windows are longer by so much are later by so much.

Rules are positive: nothing begins because something ends.

Paper: Barbieri et al., section 6 (shared windows are its open problem).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import NamedNode

from livefacts.engine.contract import TRIPLES, IdDelta, Ids
from livefacts.engine.embedded.expiry.schema_rules import NO_TRIPLES, SchemaRules
from livefacts.engine.embedded.expiry.timed_engine import (
    FOREVER,
    NEVER,
    ExpiringEngine,
    ExpiryDelta,
)
from livefacts.errors import LimitError
from livefacts.language.checks.relevance import needed_rules
from livefacts.language.formula import Atom
from livefacts.language.program import Rule
from livefacts.language.windows import Extent, TimeExtent
from livefacts.service.registered.background import Background, BackgroundPart
from livefacts.service.registered.limits import allowing, beginning, conclusions_in, leave_out
from livefacts.service.registered.reports import TimeSpan, spans_of
from livefacts.service.registered.world import FollowedWorld
from livefacts.service.streams.arrival_log import ArrivalChunk, ArrivalView
from livefacts.service.streams.fact_rows import Key, Rows, facts_of, keys_of
from livefacts.service.streams.reclamation import ids_of
from livefacts.service.streams.window_contents import FAR, LatestContents, TimeContents
from livefacts.store.terms.dictionary import Dictionary

Offsets = tuple[tuple[NamedNode, int], ...]
"""Streams, each with how much later its facts count than they arrived."""
Longs = NDArray[np.int64]
Dated = tuple[int | Longs, int, Ids]
"""The time of all facts or of each, their shape, and the facts."""
BEGINNING = -FAR


def offsets_of(extents: Sequence[TimeExtent]) -> tuple[Offsets, int]:
    """The streams of some windows, with what the longer ones have more; and the shortest length."""
    lengths: dict[NamedNode, int] = {}
    for extent in extents:
        stream = stream_of(extent)
        lengths[stream] = max(extent.older + 1, lengths.get(stream, 0))
    shortest = min(lengths.values())
    streams = sorted(lengths, key=lambda stream: stream.value)
    return tuple([(stream, lengths[stream] - shortest) for stream in streams]), shortest


@dataclass(frozen=True, slots=True)
class WantedWindows:
    """What the queries of a state ask of it."""

    rules: tuple[Rule, ...] = ()
    answers: tuple[Rule, ...] = ()
    asked: tuple[Atom, ...] | None = None


class StreamState(FollowedWorld[ExpiryDelta]):
    """The background, what has arrived on some streams, and everything that follows."""

    _engine: ExpiringEngine

    def __init__(
        self,
        dictionary: Dictionary,
        background: Background,
        streams: Sequence[tuple[int, ArrivalView]],
        limit: int | None = None,
        replaced: int | None = None,
    ) -> None:
        super().__init__()
        self.now = self._kept_after = BEGINNING
        self._reach = 0
        self._replaced = replaced
        """How many conclusions the state had in whose place this is, if there was one."""
        self._background = BackgroundPart(background)
        self._streams = streams
        """Streams, and by how much later their facts count."""
        self._engine = ExpiringEngine(dictionary)
        self._engine.limit = limit
        self._wanted = WantedWindows()
        self._schema: SchemaRules | None = None
        """The rules for the schema at hand, as long as they are right."""
        self._brings_schema = False
        """Whether streams have brought something that they are not right for."""
        self._rules: tuple[Rule, ...] = ()
        self._touched: dict[Key, None] = {}
        """Rows that came late or were taken back, for the next move."""

    # what it is about

    def require(
        self,
        rules: Sequence[Rule],
        answers: Sequence[Rule],
        asked: Sequence[Atom] | None,
        is_whole: bool,
    ) -> None:
        """From now on these rules hold and those that find answers, and no others.

        Of the rules only those run that can matter to what is asked; all, if that is None.
        `is_whole` says that the reasoner has no others that can.
        """
        wanted = WantedWindows(
            tuple(rules), tuple(answers), None if asked is None else tuple(asked)
        )
        is_full = wanted.asked is None
        if wanted.rules != self._wanted.rules or is_full != (self._wanted.asked is None):
            can_narrow = wanted.rules and not is_full and not self._brings_schema
            self._schema = self._schema_rules(wanted.rules) if can_narrow else None
        self._wanted = wanted
        leave_out(self._engine, answers)
        self._adopt(is_whole and not is_full)

    def _schema_rules(self, rules: Sequence[Rule]) -> SchemaRules | None:
        """The rules for the schema of the background, if what has arrived leaves it as it is."""
        asserted = self._background.whole.facts().get(TRIPLES, NO_TRIPLES)
        schema = SchemaRules(rules, asserted, self._engine.dictionary)
        for _, view in self._streams:
            for ids in view.held_ids(TRIPLES):
                schema.admits(ids)
        return schema if schema.is_exact else None

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that run, as they were written."""
        running = {rule.id for rule in self._rules}
        return tuple(rule for rule in self._wanted.rules if rule.id in running)

    @property
    def is_narrowed(self) -> bool:
        """Whether rules that read the schema were made into rules about it."""
        return self._schema is not None

    def _adopt(self, is_whole: bool = False) -> None:
        """Let the rules run that are wanted."""
        wanted, rules = self._wanted, self._wanted.rules
        if self._schema is not None and wanted.asked is not None:
            rules = needed_rules(self._schema.rules, wanted.asked)
        self._run((*rules, *wanted.answers), is_whole)

    def _run(self, rules: tuple[Rule, ...], is_whole: bool) -> None:
        concluding = tuple(rule for rule in rules if rule not in self._wanted.answers)
        if is_whole and concluding and not self._rules and self._background.is_known:
            self._found(concluding)
        before, wanted = set(self._rules), set(rules)
        added = [rule for rule in rules if rule not in before]
        removed = [rule for rule in self._rules if rule not in wanted]
        if added or removed:
            with allowing(self._engine, more=self._background.whole.conclusions):
                delta = self._engine.change_rules(added, removed)
            self._announce(delta)
            self._rules = rules
        self._fill()

    def _found(self, rules: tuple[Rule, ...]) -> None:
        """Begin with what the reasoner has concluded from the background already."""
        background, facts = self._background.widened(rules, self._wanted.asked)
        self._engine.found(rules, facts, background.concluded())
        self._rules, self._background = rules, background

    def _fill(self) -> None:
        """Take the background in, behind the rules: each fact finds those that it fits."""
        background, facts = self._background.widened(self._rules, self._wanted.asked)
        if facts:
            with allowing(self._engine, more=background.whole.conclusions):
                delta = self._engine.give(facts, FOREVER)
            self._announce(delta)
        self._background = background

    def _admit(self, facts: Rows) -> None:
        """Rows are about to come: see to it that the rules are right for them."""
        triples = facts.get(TRIPLES)
        if self._schema is None or triples is None or self._schema.admits(triples):
            return
        self._adopt_for(None)
        self._brings_schema = True

    def _adopt_for(self, schema: SchemaRules | None) -> None:
        """Let the rules run that are right for another schema."""
        before, self._schema = self._schema, schema
        try:
            self._adopt()
        except BaseException:
            self._schema = before
            raise

    # changes

    def reach_back(self, reach: int) -> None:
        """A window looks back so far, maybe further than all others: take in what is kept for it."""
        self._reach = max(self._reach, reach)
        after = self.now - reach
        if self.is_new or after >= self._kept_after:
            return
        self._engine.reach_back(after)
        until, self._kept_after = self._kept_after, after
        again: list[Dated] = [
            (chunk.time + offset, chunk.shape, chunk.ids)
            for offset, view in self._streams
            for chunk in view.chunks(after - offset + 1, min(self.now, until - offset))
        ]
        if again:
            facts, times = _dated(again)
            self._admit(facts)
            with self._allowing_all(self.now):
                delta = self._engine.give(facts, times)
            self._announce(delta)

    def _allowing_all(self, now: int) -> AbstractContextManager[None]:
        views = [view for _, view in self._streams]
        return beginning(self._engine, views, now, self._replaced, self.conclusions)

    def arrived(self, chunks: Sequence[ArrivalChunk]) -> None:
        """Rows have come or gone; if they are late, they count at the next move."""
        for chunk in chunks:
            is_read = any(view.sees(chunk.lane) for _, view in self._streams)
            if is_read and chunk.time <= self.now:
                self._touched.update(dict.fromkeys(keys_of({chunk.shape: chunk.ids})))

    def background_changed(self, touched: Rows) -> None:
        """The background may have changed for these facts, and for no others.

        If that derives too much, it counts at the next move, if it still does.
        """
        keys = dict.fromkeys(keys_of(touched))
        try:
            self._change_background(keys, touched)
        except BaseException as error:
            self._touched.update(keys)
            if not isinstance(error, LimitError):
                raise

    def _change_background(self, keys: Mapping[Key, None], touched: Rows) -> None:
        triples = touched.get(TRIPLES)
        schema = self._schema
        is_other = schema is not None and triples is not None and not schema.admits(triples)
        self._change(keys, [])
        if is_other:
            self._adopt_for(self._schema_rules(self._wanted.rules))

    def move(self, now: int) -> None:
        """The time is `now`: take in what has arrived until then."""
        assert now >= self.now, "queries are answered in the order of time"
        if self.is_new:
            self.forget(now - self._reach)
        coming: list[Dated] = [
            (chunk.time + offset, chunk.shape, chunk.ids)
            for offset, view in self._streams
            for chunk in view.chunks(self.now + 1, now)
        ]
        if coming or self._touched:
            self._admit(_dated(coming)[0])
            self._admit(facts_of(self._touched))
            with self._allowing_all(now) if self.is_new else nullcontext():
                self._change(self._touched, coming)
        self._touched = {}
        self.now = now

    def _change(self, touched: Mapping[Key, None], coming: list[Dated]) -> None:
        """Put the times of some facts right, and take others in."""
        right = self._right(touched)
        lowered = _dated(right) if right else None
        facts, until = _dated(right + coming)
        self._announce(self._engine.change(lower=lowered, give=(facts, until)))

    def _right(self, touched: Mapping[Key, None]) -> list[Dated]:
        """Rows, each with the time that it has by the background and by its last arrival."""
        right: list[Dated] = []
        for shape, ids in facts_of(touched).items():
            times = [self._last_time(fact) for fact in keys_of({shape: ids})]
            until = np.array(times, np.int64)
            until[self._background.holds(shape, ids)] = FOREVER
            right.append((until, shape, ids))
        return right

    def _last_time(self, fact: Key) -> int:
        found = [NEVER]
        for offset, view in self._streams:
            time = view.last_time(fact, self.now)
            if time is not None:
                found.append(time + offset)
        return max(found)

    def forget(self, after: int) -> None:
        """No window looks at what has this time or an earlier one."""
        if after > self._kept_after:
            self._engine.expire(after)
            self._kept_after = after

    # reading

    def facts(self, after: int) -> Rows:
        """Everything that has a time after this one."""
        return self._engine.facts(after)

    @property
    def is_new(self) -> bool:
        """Whether it has not been moved yet: nothing of the streams is in it."""
        return self.now == BEGINNING

    def conclusions(self) -> int:
        """How many facts are derived, and not asserted."""
        engine = self._engine
        facts = engine.facts().items()
        return conclusions_in(
            engine, {s: ids[engine.asserted(s, ids) == NEVER] for s, ids in facts}
        )

    def until(self, shape: int, ids: Ids) -> Longs:
        """The times of facts."""
        return self._engine.until(shape, ids)

    def ending(self, after: int, until: int) -> dict[int, Ids]:
        """The facts that have a time after one and until another."""
        return self._engine.facts(after, until)

    def held_ids(self) -> Iterator[Ids]:
        """The ids of all facts, and of those that will change."""
        yield from self._engine.held_ids()
        yield from ids_of(self._touched)
        if self._schema is not None:
            yield from self._schema.held_ids()

    def sizes(self) -> dict[str, int]:
        """How many facts are kept, for the longest window."""
        return {"facts": sum(len(ids) for ids in self._engine.facts().values())}


def _dated(coming: Iterable[Dated]) -> tuple[Rows, dict[int, Longs]]:
    """Rows with their times, by shape."""
    facts: dict[int, list[Ids]] = {}
    until: dict[int, list[Longs]] = {}
    for times, shape, ids in coming:
        facts.setdefault(shape, []).append(ids)
        until.setdefault(shape, []).append(np.broadcast_to(np.int64(times), len(ids)))
    return (
        {shape: np.concatenate(parts) for shape, parts in facts.items()},
        {shape: np.concatenate(parts) for shape, parts in until.items()},
    )


class WindowView:
    """What the windows of a query hold of a state."""

    is_timed: ClassVar[bool] = False

    def __init__(
        self, state: StreamState, windows: Sequence[TimeContents], offsets: Offsets, reach: int
    ) -> None:
        self.offsets, self.reach = offsets, reach
        self._state = state
        self._windows = windows
        self._followers: list[Callable[[IdDelta], None]] = []
        self._before: dict[Key, int] = {}
        """Rows that have changed since the last move, and the times they had then."""
        self.after = BEGINNING
        """What has a later time is seen."""

    def follow(self, follower: Callable[[IdDelta], None]) -> None:
        """Call with every change from now on, when the windows have moved."""
        if not self._followers:
            self._state.follow(self._note)
        self._followers.append(follower)

    def unfollow(self, follower: Callable[[IdDelta], None]) -> None:
        """Call no more."""
        self._followers.remove(follower)
        if not self._followers:
            self._state.unfollow(self._note)

    def _note(self, delta: ExpiryDelta) -> None:
        for shape, changed in delta.shapes.items():
            keys = keys_of({shape: changed.facts})
            for key, before in zip(keys, changed.before.tolist(), strict=True):
                self._before.setdefault(key, before)

    def move(self, now: int) -> None:
        """The time is `now`: the windows slide."""
        self._state.move(now)
        after = now - self.reach
        if self._followers:
            delta = self._delta(after)
            for follower in self._followers:
                follower(delta)
        self.after = after
        for window in self._windows:
            window.settle(now)

    def _delta(self, after: int) -> IdDelta:
        """What has come into the windows and what has gone, since the last move."""
        added: dict[int, Ids] = {}
        gone = keys_of(self._state.ending(self.after, after))
        removed = {key: None for key in gone if key not in self._before}
        for shape, ids in facts_of(self._before).items():
            lasts = self._state.until(shape, ids) > after
            keys = list(keys_of({shape: ids}))
            was = np.array([self._before[key] > self.after for key in keys], np.bool_)
            added[shape] = ids[lasts & ~was]
            removed.update(dict.fromkeys(keys_of({shape: ids[was & ~lasts]})))
        self._before = {}
        return IdDelta(added, facts_of(removed), {})

    # reading

    def facts(self) -> Rows:
        """Everything that is true in these windows."""
        return self._state.facts(self.after)

    def next_change(self, now: int) -> int | None:
        """The next time at which a window changes, if nothing arrives."""
        points = [point for window in self._windows for point in window.changes(now)]
        return min(points, default=None)

    def spans(self, now: int, first: int) -> dict[Extent, TimeSpan]:
        """The time points of the windows."""
        return spans_of(self._windows, now, first)

    def looks_back_to(self, now: int) -> int:
        """Rules do not look at time themselves."""
        return now

    def needed(self, lane: int, now: int) -> int:
        """The time from which on arrivals of a lane can matter."""
        found = [window.needed(now) for window in self._windows if window.view.sees(lane)]
        return min(found, default=FAR)

    def latest(self) -> list[LatestContents]:
        """No window here counts facts."""
        return []

    def unneeded(self, now: int) -> int:
        """What has this time or an earlier one can no longer matter."""
        offsets = dict(self.offsets)
        return min(w.needed(now) - 1 + offsets[stream_of(w.extent)] for w in self._windows)

    def held_ids(self) -> Iterable[Ids]:
        """The ids of facts that may have gone, and are still to be reported."""
        return ids_of(self._before)


def stream_of(extent: TimeExtent) -> NamedNode:
    """The stream of a window of a query."""
    assert extent.stream is not None, "a query names its streams"
    return extent.stream
