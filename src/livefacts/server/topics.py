"""Topics: what is followed live, encoded once for all who follow it.

A topic keeps its last events.  A subscription is a place among them: whoever is slow stays
behind, and holds up nobody.  Who is so far behind that the events are gone is told so by a
`lagged` event, and catches up as the topic can: out of the journal, or with all answers anew.
Whoever has several events to get gets them together, at most ten times a second.

Telling many takes time that queries need, too.  So the first event goes out at once, and what
follows it closely goes together, the later the more there are who listen.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import time
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

PACE = 0.1
"""Seconds between two batches of events for one who could not take them one by one."""
REST = 0.000_2
"""So many seconds pass between two tellings for each who listens on this server, up to `PACE`."""
SMALL = 200
"""So many rows are made events of at once; more of them in a thread."""
LOG = logging.getLogger("livefacts.server")
Heard = TypeVar("Heard")


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


class Topic(ABC, Generic[Heard]):
    """Something that goes on; made and used in the event loop."""

    def __init__(self, seq: int, room: int, pool: Executor) -> None:
        self.seq = seq
        """The number of the last event."""
        self.floor = seq
        """All events after this number are kept."""
        self._room = room
        self._pool = pool
        self._heard: deque[Heard] = deque()
        """What happened and was not made events of yet; whoever changes something adds to it."""
        self._seqs: list[int] = []
        self._events: list[LiveEvent] = []
        self._told = seq
        """The number of the last event before those that were told last."""
        self._last: tuple[int, int, EventBatch] | None = None
        self._waiting: list[asyncio.Future[None]] = []
        self._news = asyncio.Event()
        self._acknowledged = seq
        self._is_making = False
        """Whether a thread makes events of what was heard."""
        self._task: asyncio.Task[None] | None = None
        self.subscribers = 0
        self.left_at = -math.inf
        """When somebody has left last."""
        self.when_left: Callable[[], None] = lambda: None
        """Called when the last one has left."""
        self.ended = ""
        """Why there will be no more events."""
        self.listeners: Callable[[], int] = lambda: self.subscribers
        """How many listen on the whole server."""

    # what is told

    def begin(self) -> None:
        """Follow from now on."""
        self._task = asyncio.get_running_loop().create_task(self._follow())

    def acknowledge(self, seq: int) -> None:
        """Changes up to this one are on the disk: they may be told."""
        self._acknowledged = max(seq, self._acknowledged)
        if self._heard:
            self._news.set()

    async def _follow(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                upto = self._acknowledged
                if sum(map(self._size, [*self._heard])) <= SMALL:
                    self._publish(self._new_events(upto))
                else:
                    made = loop.run_in_executor(self._pool, self._new_events, upto)
                    self._is_making = True
                    self._publish(await made)
                    self._is_making = False
                await asyncio.sleep(min(PACE, REST * self.listeners()))
        except Exception:
            LOG.exception("a live answer cannot be followed any longer")
            self.end("the server made a mistake")

    @abstractmethod
    def _size(self, heard: Heard) -> int:
        """About how many rows there are in what was heard."""

    @abstractmethod
    def _new_events(self, upto: int) -> list[LiveEvent]:
        """The events of changes up to this number that were not given yet; many of them in a thread."""

    def _publish(self, events: Sequence[LiveEvent]) -> None:
        if not events:
            return
        self._told = self.seq
        self._events += events
        self._seqs += [event.seq for event in events]
        self.seq = self._seqs[-1]
        if len(self._events) > 2 * self._room:
            gone = len(self._events) - self._room
            self.floor = self._seqs[gone - 1]
            del self._events[:gone], self._seqs[:gone]
        self._wake()

    def forget(self, seq: int) -> None:
        """Keep no event up to this number."""
        self.seq = self.floor = self._told = max(seq, self.seq)
        self._events.clear()
        self._seqs.clear()

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

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Somebody listens, as long as the `with` block."""
        self.subscribers += 1
        try:
            yield
        finally:
            self.subscribers -= 1
            self.left_at = time.monotonic()
            if not self.subscribers:
                self.when_left()

    def is_behind(self, seq: int) -> bool:
        """Whether events after this number are gone."""
        return seq < self.floor

    def is_slow(self, seq: int) -> bool:
        """Whether one who has seen this number has missed a telling."""
        return seq < self._told

    def after(self, seq: int) -> EventBatch | None:
        """The events after this number; those who ask for the same get the same bytes."""
        start = bisect_right(self._seqs, seq)
        if start == len(self._seqs):
            return None
        key = self._seqs[start], self.seq
        if self._last is None or self._last[:2] != key:
            self._last = (*key, EventBatch(self._events[start:]))
        return self._last[2]

    def together(self, batch: EventBatch) -> EventBatch:
        """Several events for one who was too slow to have them one by one."""
        return batch

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


async def follow(topic: Topic[Any], seq: int | None) -> AsyncGenerator[EventBatch, None]:
    """A subscription: the events of a topic after this number, as they come, until it ends."""
    with topic.heard():
        async for batch in _followed(topic, seq):
            yield batch


async def _followed(topic: Topic[Any], seq: int | None) -> AsyncIterator[EventBatch]:
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
            was_slow, seq = topic.is_slow(seq), found.seq
            yield topic.together(found) if was_slow and len(found.events) > 1 else found
            if was_slow and not topic.ended:
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
