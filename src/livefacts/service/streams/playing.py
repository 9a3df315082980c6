"""Playing: events from files and live sources to a reasoner, at the pace they should have.

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

from livefacts.errors import InputError
from livefacts.model.durations import SECOND, Duration
from livefacts.model.timepoints import time_point
from livefacts.service.streams.eventtime import EventTime
from livefacts.syntax.streamfiles import Event

T = TypeVar("T")
MOST_WAITING = 1_000
"""Events that a live source may be ahead of the reasoner."""
SHORTEST_PATIENCE, LONGEST_PATIENCE = 0.05, 0.25
Rejected = Callable[[Event, InputError], None]


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing has come until a time."""

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
        if event.retracts:
            target.retract(event.facts, at, event.stream)
        else:
            target.push(event.facts, at, event.stream)
        yield event


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


def stamped(
    events: Iterable[Event | None],
    tick: Duration | None,
    clock: Callable[[], int] = time.time_ns,
) -> Iterator[Event | Silence]:
    """Events at the time at which they arrive, whatever they say themselves; None is silence."""
    length = (tick or SECOND).amount
    for event in events:
        now = clock() // length
        yield Silence(now) if event is None else replace(event, time=now)


def patience_for(tick: Duration | None) -> float:
    """After how many seconds without an event it is worth while to look at the clock."""
    seconds = (tick or SECOND).amount / SECOND.amount
    return min(max(seconds, SHORTEST_PATIENCE), LONGEST_PATIENCE)


def awaited(source: Iterable[T], patience: float, most: int = MOST_WAITING) -> Iterator[T | None]:
    """The same as `read_ahead`, with None whenever nothing has come for so many seconds."""
    return _ahead(source, most, patience)


def read_ahead(source: Iterable[T], most: int = MOST_WAITING) -> Iterator[T]:
    """What a source gives, read by a thread that is never further ahead than so many."""
    for item in _ahead(source, most, None):
        assert item is not None, "without patience nobody says that nothing has come"
        yield item


def _ahead(source: Iterable[T], most: int, patience: float | None) -> Iterator[T | None]:
    waiting: queue.Queue[T | _End] = queue.Queue(most)
    gone = threading.Event()

    def put(item: T | _End) -> None:
        while not gone.is_set():
            try:
                waiting.put(item, timeout=0.1)
                return
            except queue.Full:
                continue

    def read() -> None:
        try:
            for item in source:
                put(item)
                if gone.is_set():
                    return
            put(_End(None))
        except BaseException as error:
            put(_End(error))

    threading.Thread(target=read, daemon=True, name="livefacts source").start()
    try:
        while not isinstance(item := _next(waiting, patience), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        gone.set()


def _next(waiting: queue.Queue[T], patience: float | None) -> T | None:
    try:
        return waiting.get(timeout=patience)
    except queue.Empty:
        return None


@dataclass(frozen=True, slots=True)
class _End:
    """The source has ended, or failed."""

    error: BaseException | None
