"""Topics: what is followed live, encoded once for all who follow it.

A topic keeps its last events.  A subscription is a place among them: whoever is slow stays
behind, and holds up nobody.  Who is so far behind that the events are gone is told so by a
`lagged` event, and catches up as the topic can: out of the journal, or with all answers anew.
Whoever has several events to get gets them together, at most ten times a second.
"""

from __future__ import annotations

import asyncio
import json
import logging
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from concurrent.futures import Executor
from functools import cached_property
from typing import Any, NamedTuple

PACE = 0.1
"""Seconds between two batches of events for one who could not take them one by one."""
LOG = logging.getLogger("livefacts.server")


class LiveEvent(NamedTuple):
    """One event: the number to resume from, its JSON on one line, and a name if it is special."""

    seq: int
    data: str
    name: str = ""
    is_resumable: bool = True

    @property
    def sse(self) -> str:
        """As Server-Sent Events have it."""
        number = f"id: {self.seq}\n" if self.is_resumable else ""
        kind = f"event: {self.name}\n" if self.name else ""
        return f"{number}{kind}data: {self.data}\n\n"


def live_event(
    seq: int, said: dict[str, Any], name: str = "", *, resumes: bool = True
) -> LiveEvent:
    """An event of plain data; outside of Server-Sent Events its name is part of the data."""
    named = {"event": name, **said} if name else said
    return LiveEvent(seq, json.dumps(named, ensure_ascii=False), name, resumes)


class EventBatch:
    """Some events one after the other, whose bytes are made once for each form."""

    def __init__(self, events: Sequence[LiveEvent]) -> None:
        self.events = events

    @property
    def seq(self) -> int:
        """The number of the last one."""
        return self.events[-1].seq

    @cached_property
    def sse(self) -> bytes:
        """As Server-Sent Events."""
        return "".join(event.sse for event in self.events).encode()

    @cached_property
    def lines(self) -> bytes:
        """As lines of JSON."""
        return "".join(f"{event.data}\n" for event in self.events).encode()


class Topic(ABC):
    """Something that goes on; made and used in the event loop."""

    def __init__(self, seq: int, room: int, pool: Executor) -> None:
        self.seq = seq
        """The number of the last event."""
        self.floor = seq
        """All events after this number are kept."""
        self._room = room
        self._pool = pool
        self._seqs: list[int] = []
        self._events: list[LiveEvent] = []
        self._last: tuple[int, int, EventBatch] | None = None
        self._waiting: list[asyncio.Future[None]] = []
        self._news = asyncio.Event()
        self._acknowledged = seq
        self._task: asyncio.Task[None] | None = None
        self.subscribers = 0
        self.when_left: Callable[[], None] = lambda: None
        """Called when the last one has left."""
        self.ended = ""
        """Why there will be no more events."""

    # what is told

    def begin(self) -> None:
        """Follow from now on."""
        self._task = asyncio.get_running_loop().create_task(self._follow())

    def acknowledge(self, seq: int) -> None:
        """Changes up to this one are on the disk: they may be told."""
        self._acknowledged = max(seq, self._acknowledged)
        self._news.set()

    async def _follow(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                upto = self._acknowledged
                self._publish(await loop.run_in_executor(self._pool, self._new_events, upto))
        except Exception:
            LOG.exception("a live answer cannot be followed any longer")
            self.end("the server made a mistake")

    @abstractmethod
    def _new_events(self, upto: int) -> list[LiveEvent]:
        """The events of changes up to this number that were not given yet; called in a thread."""

    def _publish(self, events: Sequence[LiveEvent]) -> None:
        if not events:
            return
        self._events += events
        self._seqs += [event.seq for event in events]
        self.seq = self._seqs[-1]
        if len(self._events) > 2 * self._room:
            gone = len(self._events) - self._room
            self.floor = self._seqs[gone - 1]
            del self._events[:gone], self._seqs[:gone]
        self._wake()

    def end(self, reason: str) -> None:
        """There will be no more events."""
        self.ended = self.ended or reason
        if self._task is not None and not self._task.done():
            self._task.cancel()
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if not each.done():
                each.set_result(None)

    # who listens

    def is_behind(self, seq: int) -> bool:
        """Whether events after this number are gone."""
        return seq < self.floor

    def after(self, seq: int) -> EventBatch | None:
        """The events after this number; those who ask for the same get the same bytes."""
        start = bisect_right(self._seqs, seq)
        if start == len(self._seqs):
            return None
        key = self._seqs[start], self.seq
        if self._last is None or self._last[:2] != key:
            self._last = (*key, EventBatch(self._events[start:]))
        return self._last[2]

    async def news(self) -> None:
        """Wait until there may be another event."""
        mine = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        await mine

    async def check(self, seq: int | None) -> None:
        """Refuse a number from which nobody can go on, before anything is sent."""
        return

    @abstractmethod
    def catch_up(self, seq: int | None) -> AsyncIterator[EventBatch]:
        """What someone needs who has seen this number, or nothing; until the events that are kept."""


async def follow(topic: Topic, seq: int | None) -> AsyncGenerator[EventBatch, None]:
    """A subscription: the events of a topic after this number, as they come, until it ends."""
    topic.subscribers += 1
    try:
        async for batch in _followed(topic, seq):
            yield batch
    finally:
        topic.subscribers -= 1
        if not topic.subscribers:
            topic.when_left()


async def _followed(topic: Topic, seq: int | None) -> AsyncIterator[EventBatch]:
    is_first = True
    while True:
        if seq is None or topic.is_behind(seq):
            if not is_first and seq is not None:
                said = {"seq": seq, "until": topic.seq}
                yield EventBatch([live_event(seq, said, "lagged", resumes=False)])
            start = topic.seq if seq is None else seq
            async for batch in topic.catch_up(seq):
                start = batch.seq
                yield batch
            seq = max(start, topic.floor)
        is_first = False
        found = topic.after(seq)
        if found is not None:
            seq = found.seq
            yield found
            if len(found.events) > 1 and not topic.ended:
                await _next_beat()
        elif topic.ended:
            last = {"seq": seq, "reason": topic.ended}
            yield EventBatch([live_event(seq, last, "end", resumes=False)])
            return
        else:
            await topic.news()


async def _next_beat() -> None:
    """All who are behind go on at the same moments, so that they get the same bytes."""
    now = asyncio.get_running_loop().time()
    await asyncio.sleep(PACE - now % PACE)
