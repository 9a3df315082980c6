"""Keyed groups: a program that is followed for each key by itself, in so many reasoners.

One place looks at the times of all facts: it decides what is late, and how far time is complete, as
a single reasoner would.  Each fact goes on to the group of its key, together with the time point at
which the clock stood; every group hears how far time has gone, also those that nothing came for.  So
a group sees of its keys just what a single reasoner sees of them.

What a group knows is a value: the clock, and the facts that can still matter.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from zlib import crc32

from pyoxigraph import Triple

from livefacts.errors import InputError
from livefacts.language.checks.key_partitions import Partitioning
from livefacts.language.formula import Family
from livefacts.language.program import Program
from livefacts.model.facts import Fact
from livefacts.service.folder.saved_state import go_on_at
from livefacts.service.micro_batches.answer_rows import CAME, WENT, Conclusions, TimedChange
from livefacts.service.reasoner.clocked_program import Follower, TickChange
from livefacts.service.reasoner.facade import Reasoner
from livefacts.service.streams.event_time import EventTime
from livefacts.service.streams.saved_time import moment_of, unpacked
from livefacts.syntax.stream_files import Event

Statement = Triple | Fact


class KeyStep(NamedTuple):
    """Facts that arrive when the clock stands at `now`; without facts, the clock goes on to there."""

    now: int | None
    first: int | None
    time: int = 0
    stream: str | None = None
    facts: tuple[Statement, ...] = ()
    retracts: bool = False


@dataclass(frozen=True)
class KeyedProgram:
    """A program that was proven to be followed by key, what is true for all keys, and how many groups."""

    program: Program
    partitioning: Partitioning
    groups: int
    background: tuple[Statement, ...] = ()
    tick: str | None = None
    asked: frozenset[Family] | None = None
    """The predicates that are answers; those of all conclusions, if none are said."""

    @cached_property
    def conclusions(self) -> Conclusions:
        """Which facts are answers."""
        return Conclusions.of(self.program) if self.asked is None else Conclusions(self.asked)

    def group_of(self, fact: Statement) -> int:
        """Who has the key of a fact; the first group speaks for what has none."""
        family, slots = (
            (fact.name, fact.arguments)
            if isinstance(fact, Fact)
            else (fact.predicate, (fact.subject, fact.object))
        )
        position = self.partitioning.positions.get(family)
        if position is None:
            if family in self.partitioning.shared:
                return 0
            return crc32(str(fact).encode()) % self.groups
        return crc32(repr(slots[position]).encode()) % self.groups

    def check(self, fact: Statement) -> None:
        """Refuse a fact of a stream that would have to be known to all groups."""
        family = fact.name if isinstance(fact, Fact) else fact.predicate
        if family in self.partitioning.shared:
            raise InputError(
                f"{fact} is one of those that come from the background alone, since the program is "
                "followed by key",
                hint="follow it by one reasoner, without keys=True",
            )


class GlobalClock:
    """The clock of all groups: takes facts with their times, and says what each group is to do."""

    def __init__(self, keyed: KeyedProgram, **event_time: Any) -> None:
        self._keyed = keyed
        self._clock = _Clock()
        self._events = EventTime(self._clock, **event_time)

    def take(self, events: Iterable[Event]) -> dict[int, list[KeyStep]]:
        """What each group is to do, in order; each hears where the clock stands at the end."""
        steps: dict[int, list[KeyStep]] = {group: [] for group in range(self._keyed.groups)}
        for event in events:
            give = self._events.retract if event.retracts else self._events.push
            give(event.facts, event.time, event.stream)
            for now, facts, at, stream in self._clock.taken():
                self._split(steps, KeyStep(now, None, at, stream, facts, event.retracts))
        self._events.move()
        end = KeyStep(self._clock.now, self._clock.first)
        return {
            group: [each._replace(first=self._clock.first) for each in made] + [end]
            for group, made in steps.items()
        }

    def elapse(self, time: int) -> None:
        """Nothing comes for earlier times."""
        self._events.elapse(time)

    @property
    def latest(self) -> int | None:
        """The latest time that was seen."""
        return self._events.latest

    def _split(self, steps: dict[int, list[KeyStep]], step: KeyStep) -> None:
        by_group: dict[int, list[Statement]] = {}
        for fact in step.facts:
            by_group.setdefault(self._keyed.group_of(fact), []).append(fact)
        for group, facts in by_group.items():
            steps[group].append(step._replace(facts=tuple(facts)))

    def saved(self) -> bytes:
        """All that is known of time."""
        clock = self._clock
        return pickle.dumps((clock.now, clock.first, clock.earliest, self._events.state()))

    @classmethod
    def restored(cls, keyed: KeyedProgram, saved: bytes, **event_time: Any) -> GlobalClock:
        """The clock that was saved."""
        found = cls(keyed, **event_time)
        now, first, earliest, events = pickle.loads(saved)
        found._clock = _Clock(now, first, earliest)
        found._events = EventTime(found._clock, **event_time)
        found._events.resume(events)
        return found


class _Clock:
    """A reasoner that has a clock alone, and notes what it is given."""

    def __init__(
        self, now: int | None = None, first: int | None = None, earliest: int | None = None
    ) -> None:
        self.now, self.first, self.earliest = now, first, earliest
        self._taken: list[tuple[int | None, tuple[Statement, ...], int, str | None]] = []

    def push(self, facts: Any, at: Any, stream: Any = None) -> None:
        self.earliest = at if self.earliest is None else min(self.earliest, at)
        self._taken.append((self.now, tuple(facts), at, stream))

    def retract(self, facts: Any, at: Any, stream: Any = None) -> None:
        self._taken.append((self.now, tuple(facts), at, stream))

    def advance(self, to: Any) -> None:
        if self.now is None:
            self.first = to if self.earliest is None else min(self.earliest, to)
        self.now = to

    def correct(self, stream: str, lateness: int) -> None:
        """Late facts count from now on."""

    def taken(self) -> list[tuple[int | None, tuple[Statement, ...], int, str | None]]:
        found, self._taken = self._taken, []
        return found


class ValueReasoner(Reasoner):
    """A reasoner whose time is a value, for one that has the same rules and the same background."""

    def saved_time(self) -> str:
        """The clock, and what streams have brought that can still matter, as JSON."""
        state = self._state
        return json.dumps(moment_of(state.streams).packed(state.dictionary.reader()))

    def resume_time(self, saved: str) -> None:
        """Go on at a moment that `saved_time` gave."""
        go_on_at(self._state, unpacked(json.loads(saved), self._state.dictionary))


class KeyedGroup:
    """The reasoner of one group of keys."""

    def __init__(self, keyed: KeyedProgram, group: int, saved: bytes | None = None) -> None:
        self._keyed, self._group = keyed, group
        self._reasoner: ValueReasoner | None = None
        self._waiting: list[KeyStep] = []
        self._found: list[TimedChange] = []
        if saved is not None:
            first, time, self._waiting = pickle.loads(saved)
            if first is not None:
                self._make(first, time)

    def _make(self, first: int, time: str | None = None) -> None:
        keyed = self._keyed
        reasoner = ValueReasoner(rules=keyed.program, start=first, tick=keyed.tick)
        reasoner.add([*keyed.background])
        if time is not None:
            reasoner.resume_time(time)
        self._reasoner, self._first = reasoner, first
        self._follower = Follower(reasoner, self._see, everything=True)

    def take(self, steps: Iterable[KeyStep]) -> list[TimedChange]:
        """Do what is to be done; what came and went of the keys of this group."""
        self._found = []
        for step in steps:
            if step.first is None:
                # Time has not begun; what comes now begins with it.
                self._waiting += [step] if step.facts else []
                continue
            if self._reasoner is None:
                self._make(step.first)
            waiting, self._waiting = self._waiting, []
            for each in (*waiting, step):
                self._do(each)
        return self._found

    def _do(self, step: KeyStep) -> None:
        follower = self._follower
        if step.now is not None and (follower.now is None or follower.now < step.now):
            follower.advance(step.now)
        if step.facts:
            give = follower.retract if step.retracts else follower.push
            give(list(step.facts), step.time, step.stream)

    def _see(self, moment: TickChange) -> None:
        for op, facts in ((WENT, moment.removed), (CAME, moment.added)):
            mine = (fact for fact in facts if self._has(fact))
            self._found += [TimedChange(moment.time, op, f) for f in sorted(mine, key=str)]

    def _has(self, fact: Statement) -> bool:
        return self._keyed.conclusions.has(fact) and self._keyed.group_of(fact) == self._group

    def saved(self) -> bytes:
        """All that is known, as a value."""
        if self._reasoner is None:
            return pickle.dumps((None, None, self._waiting))
        return pickle.dumps((self._first, self._reasoner.saved_time(), self._waiting))


def netted(changes: Sequence[TimedChange]) -> Iterator[TimedChange]:
    """What changes of one time point come to."""
    sums: dict[tuple[int, Statement], int] = {}
    for change in changes:
        key = (change.time, change.fact)
        sums[key] = sums.get(key, 0) + (1 if change.op == CAME else -1)
    for (time, fact), total in sums.items():
        if total:
            yield TimedChange(time, CAME if total > 0 else WENT, fact)
