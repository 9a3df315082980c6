"""Event time: watermarks, between a source whose facts carry their own times and the clock.

Facts arrive with the times at which they happened, not always in order.  Each stream has a
watermark, the largest time it has shown less the lateness it is allowed; the least of them
is how far time is complete.  A stream that waits is reported up to there; one that corrects
is reported at once, and reports that a late fact touches are sent again.  Without lateness,
a late fact counts from now on.

A fact that is older than the watermark, or too far ahead of everything seen so far, is set
aside with the reason, and counted: one wrong clock must not close every window.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from livefacts.errors import InputError
from livefacts.model.durations import SECOND, Duration, read_duration
from livefacts.model.time_points import time_point

WAIT, CORRECT = "wait", "correct"
TOO_OLD, TOO_FAR_AHEAD = "older than the watermark", "too far ahead"
MOST_KEPT = 1_000
Length = int | str | Duration
"""So many time points, or a duration such as "5 s"."""


class HasNow(Protocol):
    """What knows the time."""

    @property
    def now(self) -> int | None: ...


class Clocked(HasNow, Protocol):
    """A reasoner, as far as time goes."""

    def push(self, facts: Any, at: Any, stream: Any = None) -> Any: ...

    def retract(self, facts: Any, at: Any, stream: Any = None) -> Any: ...

    def advance(self, to: Any) -> Any: ...

    def correct(self, stream: str, lateness: int) -> None: ...


Note = Callable[[str, Mapping[str, Any]], None]
"""Notes in a journal what makes no change of facts: its kind, and plain data."""


def _keep_nothing(kind: str, given: Mapping[str, Any]) -> None:
    """There is no journal."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """Facts that did not reach the reasoner, and why."""

    reason: str
    time: int
    stream: str | None
    facts: Any


@dataclass(slots=True)
class _Stream:
    """What is known of the time of one stream."""

    lateness: int
    is_expected: bool = False
    latest: int | None = None

    def watermark(self) -> int | None:
        return None if self.latest is None else self.latest - self.lateness


def points_of(length: Length, tick: Duration | None, *, rounded: bool = False) -> int:
    """A length in time points; `rounded`, to the next one that is not shorter."""
    known = read_duration(length) if isinstance(length, str) else length
    if isinstance(known, Duration):
        ticks = -(-known.amount // (tick or SECOND).amount)
        return ticks if rounded and known.is_by_clock else known.points(tick)
    if isinstance(known, bool) or not isinstance(known, int) or known < 0:
        raise InputError(
            f"{length!r} is no length of time",
            hint='give a number of time points that is not negative, or a text such as "5 s"',
        )
    return known


class EventTime:
    """Takes facts with their own times, and moves a reasoner's clock.

    `lateness` is how late facts may come, for all streams or by stream; `late` is "wait" or
    "correct".  `streams` are waited for from the beginning.  A stream that is more than `idle`
    behind the others is not waited for.  `max_ahead` is how far a fact may lie ahead of
    everything seen so far; None allows everything.  `finished` is called at the end.
    Several threads may bring facts.
    """

    is_pushing = False
    """Whether facts are being pushed that have come here."""
    is_restored = False
    """Whether it stands for one of before a restart, until that is made again."""

    def __init__(
        self,
        reasoner: Clocked,
        lateness: Length | Mapping[str, Length] = 0,
        late: str = WAIT,
        streams: Iterable[str] = (),
        idle: Length | None = None,
        max_ahead: Length | None = "1 h",
        tick: Duration | None = None,
        finished: Callable[[], None] | None = None,
        note: Note = _keep_nothing,
    ) -> None:
        self._reasoner = reasoner
        self.tick = tick
        self._finished = finished
        self._note_down = note
        self.settings = _settings(lateness, late, streams, idle, max_ahead)
        """How it was made, as plain data."""
        self._waits = late == WAIT
        by_stream = lateness if isinstance(lateness, Mapping) else {}
        self._others = 0 if isinstance(lateness, Mapping) else points_of(lateness, tick)
        self._lateness = {name: points_of(length, tick) for name, length in by_stream.items()}
        self._idle = None if idle is None else points_of(idle, tick)
        self._max_ahead = None if max_ahead is None else points_of(max_ahead, tick, rounded=True)
        self._streams: dict[str | None, _Stream] = {}
        self._clock = _Stream(self._others)
        """What is known of time before any stream has brought something."""
        for name in self.settings["streams"]:
            self._stream(name).is_expected = True
        self._first: int | None = None
        self._latest: int | None = None
        self._turn = threading.RLock()
        self.late = 0
        """How many times facts came for a time that had been reported."""
        self.set_aside: Counter[str] = Counter()
        """How many times facts were set aside, by reason."""
        self._earlier_aside: Counter[str] = Counter()
        self.kept: list[SetAside] = []
        """The first facts that were set aside."""

    def _stream(self, name: str | None) -> _Stream:
        if name not in self._streams:
            lateness = self._others if name is None else self._lateness.get(name, self._others)
            self._streams[name] = _Stream(lateness)
            if lateness and not self._waits:
                self._reasoner.correct(name or "", lateness)
        return self._streams[name]

    # facts

    def push(self, facts: Any, at: Any, stream: str | None = None) -> bool:
        """Take facts in, and move time as far as it is complete; whether they were taken."""
        with self._turn:
            return self._taken_in(facts, time_point(at, self.tick), stream)

    def _taken_in(self, facts: Any, time: int, stream: str | None) -> bool:
        known = self._stream(stream)
        reason = self._refusal(time, known)
        if reason is not None:
            self._put_aside(SetAside(reason, time, stream, facts))
            return False
        self.is_pushing = True
        try:
            is_late = self._is_reported(time)
            self._reasoner.push(facts, at=time, stream=stream)
        finally:
            self.is_pushing = False
        self._note(time, known)
        self.late += is_late
        self.move()
        return True

    def take_again(self, time: int, stream: str | None, is_late: bool) -> None:
        """Facts were pushed before a restart."""
        self._note(time, self._stream(stream))
        self.late += is_late

    def put_aside_again(self, reason: str, stream: str | None) -> None:
        """Facts were set aside before a restart."""
        self._stream(stream)
        self.set_aside[reason] += 1

    def retract(self, facts: Any, at: Any, stream: str | None = None) -> None:
        """Take facts back, as if they had never arrived."""
        with self._turn:
            self._reasoner.retract(facts, at=time_point(at, self.tick), stream=stream)

    def elapse(self, at: Any) -> None:
        """Nothing more comes for earlier times, on any stream, and time moves all the same.

        For sources whose facts happen when they arrive: time begins with the first call, and
        reports are due by the clock, however long a source is silent.
        """
        time = time_point(at, self.tick)
        with self._turn:
            streams = (self._clock, *self._streams.values())
            if any(stream.latest is None or stream.latest < time for stream in streams):
                self._note_down("elapse", {"at": time})
            for stream in streams:
                self._note(time, stream)
            self.move()

    def finish(self) -> None:
        """Nothing more will come: everything that has been seen is reported.

        Each registered query goes on to its first report that sees the last fact of its
        windows; the clock of the reasoner stands at the last fact.
        """
        with self._turn:
            if self._latest is not None and not self._is_reported(self._latest):
                self._reasoner.advance(self._latest)
            if self._finished is not None:
                self._finished()

    def _refusal(self, time: int, stream: _Stream) -> str | None:
        watermark = self.watermark
        if stream.lateness and watermark is not None and time < watermark:
            return TOO_OLD
        if self._max_ahead is None or self._latest is None:
            return None
        return TOO_FAR_AHEAD if time > self._latest + self._max_ahead else None

    def _put_aside(self, facts: SetAside) -> None:
        self._note_down("aside", {"reason": facts.reason, "stream": facts.stream})
        self.set_aside[facts.reason] += 1
        if len(self.kept) < MOST_KEPT:
            self.kept.append(facts)

    def _note(self, time: int, stream: _Stream) -> None:
        stream.latest = time if stream.latest is None else max(stream.latest, time)
        self._latest = time if self._latest is None else max(self._latest, time)
        self._first = time if self._first is None else min(self._first, time)

    # time

    @property
    def watermark(self) -> int | None:
        """No fact that is older than this is waited for; None before all streams have begun."""
        marks = [stream.watermark() for stream in self._awaited()]
        known = [mark for mark in marks if mark is not None]
        return min(known) if known and len(known) == len(marks) else None

    def watermarks(self) -> dict[str, int | None]:
        """The watermark of each stream by itself."""
        return {name or "": known.watermark() for name, known in list(self._streams.items())}

    def _awaited(self) -> list[_Stream]:
        """The streams that are not idle."""
        streams = [s for s in self._streams.values() if s.is_expected or s.latest is not None]
        if not streams:
            return [self._clock]
        if self._idle is None or self._latest is None or self._first is None:
            return streams
        oldest, begun = self._latest - self._idle, self._first
        return [s for s in streams if (begun if s.latest is None else s.latest) >= oldest]

    @property
    def latest(self) -> int | None:
        """The latest time that any stream has shown."""
        return self._latest

    def _complete(self) -> int | None:
        """The time before which everything may be reported."""
        if self._waits:
            return self.watermark
        latest = [stream.latest for stream in self._awaited()]
        known = [time for time in latest if time is not None]
        return min(known) if known and len(known) == len(latest) else None

    def move(self) -> None:
        """Move time as far as it is complete."""
        complete = self._complete()
        if complete is None or self._first is None or complete - 1 < self._first:
            return
        if self._reasoner.now is None and self._clock.latest is not None:
            # No fact says when time began, perhaps; the clock does.
            self._reasoner.advance(self._first)
        if not self._is_reported(complete - 1):
            self._reasoner.advance(complete - 1)

    def _is_reported(self, time: int) -> bool:
        now = self._reasoner.now
        return now is not None and time <= now

    # written down

    def state(self) -> dict[str, Any]:
        """What is known of time, as plain data."""
        clock, streams = self._clock, self._streams.items()
        return {
            "settings": self.settings,
            "tick": None if self.tick is None else str(self.tick),
            "clock": [clock.lateness, clock.is_expected, clock.latest],
            "streams": [[name, s.lateness, s.is_expected, s.latest] for name, s in streams],
            "first": self._first,
            "latest": self._latest,
            "late": self.late,
            "set_aside": dict(self.set_aside),
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from what was known."""
        self._clock = _Stream(*state["clock"])
        self._streams = {name: _Stream(*known) for name, *known in state["streams"]}
        self._first, self._latest = state["first"], state["latest"]
        self.late, self.set_aside = state["late"], Counter(state["set_aside"])
        self._earlier_aside = Counter(state["set_aside"])

    @property
    def newly_aside(self) -> Counter[str]:
        """How many times facts were set aside since the last restart, by reason."""
        return self.set_aside - self._earlier_aside

    def stats(self) -> dict[str, object]:
        """The watermark, and what came late or was set aside."""
        return {
            "watermark": self.watermark,
            "late": self.late,
            "set_aside": dict(self.set_aside),
        }


def _settings(
    lateness: Length | Mapping[str, Length],
    late: str,
    streams: Iterable[str],
    idle: Length | None,
    max_ahead: Length | None,
) -> dict[str, Any]:
    """How event time was asked for, as plain data."""
    if late not in (WAIT, CORRECT):
        raise InputError(f'late is "{WAIT}" or "{CORRECT}", not {late!r}')
    if isinstance(streams, str):
        raise InputError("streams is a list of IRIs", hint=f"write streams=[{streams!r}]")

    def plain(length: Length | None) -> int | str | None:
        return str(length) if isinstance(length, Duration) else length

    return {
        "lateness": {name: plain(length) for name, length in lateness.items()}
        if isinstance(lateness, Mapping)
        else plain(lateness),
        "late": late,
        "streams": list(streams),
        "idle": plain(idle),
        "max_ahead": plain(max_ahead),
    }


class _Repeated:
    """A reasoner whose changes are made again from its journal: they are not made twice."""

    def __init__(self, clock: HasNow) -> None:
        self._clock = clock

    @property
    def now(self) -> int | None:
        return self._clock.now

    def push(self, facts: Any, at: Any, stream: Any = None) -> None:
        """The journal has this as a row of its own."""

    def retract(self, facts: Any, at: Any, stream: Any = None) -> None:
        """The journal has this as a row of its own."""

    def advance(self, to: Any) -> None:
        """The journal has this as rows of its own."""

    def correct(self, stream: str, lateness: int) -> None:
        """The journal has this as a row of its own."""


def repeated_events(settings: Mapping[str, Any], tick: Duration | None, clock: HasNow) -> EventTime:
    """Event time as it was asked for before a restart; it moves no clock."""
    found = EventTime(_Repeated(clock), **settings, tick=tick)
    found.is_restored = True
    return found


def restored_events(state: Mapping[str, Any], clock: HasNow) -> EventTime:
    """Event time as it was written down."""
    tick = None if state["tick"] is None else read_duration(state["tick"])
    found = repeated_events(state["settings"], tick, clock)
    found.resume(state)
    return found
