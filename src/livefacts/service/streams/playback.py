"""Playback: events from files and live sources to a reasoner, at the pace they should have.

Files are read as the reasoner asks for their lines, merged by time.  A live source is read
by a thread of its own into a queue of bounded size: when the reasoner is slow, the source
waits, and memory stays flat.  Where facts happen when they arrive, time also moves while
nothing does.
"""

from __future__ import annotations

import heapq
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from livefacts.errors import ArityError, InputError, LivefactsError
from livefacts.model.durations import SECOND, Duration
from livefacts.model.time_points import time_point
from livefacts.service.streams.event_time import EventTime
from livefacts.syntax.input.rejects import Reject, Rejects
from livefacts.syntax.stream_files import Event

T = TypeVar("T")
MOST_WAITING = 1_000
"""Events that a live source may be ahead of the reasoner."""
MOST_JOINED = 1_000
"""Events that become one, at most."""
SHORTEST_PATIENCE, LONGEST_PATIENCE = 0.05, 0.25
Rejected = Callable[[Event, LivefactsError], None]


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing comes for times before this one."""

    time: int


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast events are played: `speed` times as fast as they happened; None: at once."""

    speed: float | None = None
    tick: Duration | None = None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic


def play(
    events: Iterable[Event | Silence], target: EventTime, pace: Pace, rejected: Rejected
) -> Iterator[Event | Silence]:
    """Give events to a reasoner; each is yielded when the reasoner has taken it in."""
    started: tuple[int, float] | None = None
    for event in events:
        if isinstance(event, Silence):
            target.elapse(event.time)
            yield event
            continue
        try:
            at = time_point(event.time, pace.tick)
        except InputError as error:
            rejected(event, error)
            continue
        if pace.speed is not None:
            started = started or (at, pace.clock())
            _wait(at, started, pace)
        _give(event, at, target, rejected)
        yield event


def rejecting(rejects: Rejects) -> Rejected:
    """What to do with an event that has no time, or does not fit the rules."""

    def reject(event: Event, error: LivefactsError) -> None:
        facts = " ".join(map(str, event.facts))
        rejects.add(Reject(event.stream or "", 0, 0, error.message, facts))

    return reject


def _give(event: Event, at: int, target: EventTime, rejected: Rejected) -> None:
    """Give an event to a reasoner; of facts that do not fit its rules, only those are rejected."""
    give = target.retract if event.retracts else target.push
    try:
        give(event.facts, at, event.stream)
    except ArityError as error:
        if len(event.facts) == 1:
            rejected(event, error)
            return
        for fact in event.facts:
            _give(replace(event, facts=(fact,)), at, target, rejected)


def _wait(at: int, started: tuple[int, float], pace: Pace) -> None:
    """Sleep until an event is due."""
    assert pace.speed is not None, "only a pace with a speed waits"
    seconds = (at - started[0]) * (pace.tick or SECOND).amount / SECOND.amount
    left = started[1] + seconds / pace.speed - pace.clock()
    if left > 0:
        pace.sleep(left)


def merged(sources: Iterable[Iterable[Event]], tick: Duration | None) -> Iterator[Event]:
    """The events of several files, the one that comes first in time first."""

    def when(event: Event) -> int:
        try:
            return time_point(event.time, tick)
        except InputError:
            return 0

    return heapq.merge(*sources, key=when)


def joined(events: Iterable[Event | Silence]) -> Iterator[Event | Silence]:
    """Neighbours of one time and stream as one event, of at most so many facts."""
    held: list[Event] = []
    for event in events:
        if held and not (isinstance(event, Event) and _goes_with(held, event)):
            yield _as_one(held)
            held = []
        if isinstance(event, Event):
            held.append(event)
        else:
            yield event
    if held:
        yield _as_one(held)


def _goes_with(held: list[Event], event: Event) -> bool:
    last = held[-1]
    is_alike = (last.time, last.stream, last.retracts) == (event.time, event.stream, event.retracts)
    return is_alike and len(held) < MOST_JOINED


def _as_one(events: list[Event]) -> Event:
    first, *others = events
    if not others:
        return first
    return replace(first, facts=tuple(fact for event in events for fact in event.facts))


def live(
    events: Iterable[Event], tick: Duration | None, *, arrival_time: bool = False
) -> Iterator[Event | Silence]:
    """The events of a source as they come; those that wait are joined.

    By `arrival_time` they happen when they are read, and time moves while there are none.
    """
    patience = patience_for(tick) if arrival_time else None
    for come in read_ahead(events, patience=patience):
        yield from joined(stamped(come or [None], tick) if arrival_time else come)


def stamped(
    events: Iterable[Event | None],
    tick: Duration | None,
    clock: Callable[[], int] = time.time_ns,
) -> Iterator[Event | Silence]:
    """Events at the time at which they arrive, whatever they say themselves; None if nothing comes.

    Every new time is told first: a stream that is silent while others are not is no reason to wait.
    """
    length = (tick or SECOND).amount
    told: int | None = None
    for event in events:
        now = clock() // length
        if now != told:
            yield Silence(now)
        told = now
        if event is not None:
            yield replace(event, time=now)


def patience_for(tick: Duration | None) -> float:
    """After how many seconds without an event it is worth while to look at the clock."""
    seconds = (tick or SECOND).amount / SECOND.amount
    return min(max(seconds, SHORTEST_PATIENCE), LONGEST_PATIENCE)


def read_ahead(
    source: Iterable[T], most: int = MOST_WAITING, patience: float | None = None
) -> Iterator[list[T]]:
    """What a source gives, read by a thread that is never further ahead than so many.

    Each list has what has come since the last; it is empty if that is nothing for so many seconds
    of `patience`.
    """
    waiting: queue.Queue[T | _End] = queue.Queue(most)
    gone = threading.Event()
    reader = threading.Thread(
        target=_read, args=(source, waiting, gone), daemon=True, name="livefacts source"
    )
    reader.start()
    end: _End | None = None
    try:
        while end is None:
            come, end = _taken(waiting, patience)
            if come or end is None:
                yield come
        if end.error is not None:
            raise end.error
    finally:
        gone.set()


def _read(source: Iterable[T], waiting: queue.Queue[T | _End], gone: threading.Event) -> None:
    """Put what a source gives into a queue, until nobody wants it."""

    def put(item: T | _End) -> None:
        while not gone.is_set():
            try:
                waiting.put(item, timeout=0.1)
                return
            except queue.Full:
                continue

    try:
        for item in source:
            put(item)
            if gone.is_set():
                return
        put(_End(None))
    except BaseException as error:
        put(_End(error))


def _taken(waiting: queue.Queue[T | _End], patience: float | None) -> tuple[list[T], _End | None]:
    """Wait for something, and take it with all that is there by then; and the end, if it is."""
    come: list[T] = []
    try:
        item = waiting.get(timeout=patience)
        while not isinstance(item, _End):
            come.append(item)
            if len(come) == waiting.maxsize:
                return come, None
            item = waiting.get_nowait()
    except queue.Empty:
        return come, None
    return come, item


@dataclass(frozen=True, slots=True)
class _End:
    """The source has ended, or failed."""

    error: BaseException | None
