"""Playing: events from files and live sources to a reasoner, at the pace they should have.

Files are read as the reasoner asks for their lines, merged by time.  A live source is read
by a thread of its own into a queue of bounded size: when the reasoner is slow, the source
waits, and memory stays flat.
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
Rejected = Callable[[Event, InputError], None]


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast events are played: `speed` times as fast as they happened; None: at once."""

    speed: float | None = None
    tick: Duration | None = None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic


def play(
    events: Iterable[Event], target: EventTime, pace: Pace, rejected: Rejected
) -> Iterator[Event]:
    """Give events to a reasoner; each is yielded when the reasoner has taken it in."""
    started: tuple[int, float] | None = None
    for event in events:
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


def stamped(events: Iterable[Event], tick: Duration | None) -> Iterator[Event]:
    """Events at the time at which they arrive, whatever they say themselves."""
    length = (tick or SECOND).amount
    for event in events:
        yield replace(event, time=time.time_ns() // length)


def read_ahead(source: Iterable[T], most: int = MOST_WAITING) -> Iterator[T]:
    """What a source gives, read by a thread that is never further ahead than so many."""
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
        while not isinstance(item := waiting.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        gone.set()


@dataclass(frozen=True, slots=True)
class _End:
    """The source has ended, or failed."""

    error: BaseException | None
