"""Slow readers are told, and hold up nobody."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

from livefacts.server.topics import EventBatch, LiveEvent, Topic, follow, live_event


class Counting(Topic[int]):
    """An event for each number; those that are gone can be had in one."""

    def acknowledge(self, seq: int) -> None:
        self._heard.extend(range(self._acknowledged + 1, seq + 1))
        super().acknowledge(seq)

    def _size(self, heard: int) -> int:
        return 1

    def _new_events(self, upto: int) -> list[LiveEvent]:
        heard = [number for number in self._heard if number <= upto]
        for _ in heard:
            self._heard.popleft()
        return [live_event(number, {"seq": number}) for number in heard]

    async def catch_up(self, seq: int | None) -> AsyncIterator[EventBatch]:
        yield EventBatch([live_event(self.seq, {"seq": self.seq, "since": seq}, "all")])


def names(batch: EventBatch) -> list[str]:
    return [event.name or str(json.loads(event.data)["seq"]) for event in batch.events]


async def until(topic: Topic, seq: int) -> None:
    topic.acknowledge(seq)
    while topic.seq < seq:
        await topic.news()


def test_a_slow_reader_lags_and_others_do_not_wait() -> None:
    async def listen() -> tuple[list[str], list[str]]:
        with ThreadPoolExecutor(1) as pool:
            topic = Counting(0, 2, pool)
            topic.begin()
            slow, quick = follow(topic, 0), follow(topic, 0)
            await until(topic, 1)
            got_slowly, got_quickly = names(await anext(slow)), names(await anext(quick))
            for number in range(2, 12):
                await until(topic, number)
                got_quickly += names(await anext(quick))
            got_slowly += [name for _ in range(2) for name in names(await anext(slow))]
            assert topic.subscribers == 2
            topic.end("done")
            got_slowly += names(await anext(slow))
            return got_slowly, got_quickly

    slowly, quickly = asyncio.run(listen())
    assert slowly == ["1", "lagged", "all", "end"]
    assert quickly == [str(number) for number in range(1, 12)]


def test_those_who_are_behind_alike_get_the_same_bytes() -> None:
    async def listen() -> bool:
        with ThreadPoolExecutor(1) as pool:
            topic = Counting(0, 10, pool)
            topic.begin()
            await until(topic, 5)
            first, second = await anext(follow(topic, 2)), await anext(follow(topic, 2))
            topic.end("done")
            assert names(first) == ["3", "4", "5"]
            return first.sse is second.sse

    assert asyncio.run(listen())


class Joining(Counting):
    """The same, with one event for several."""

    def together(self, batch: EventBatch) -> EventBatch:
        return EventBatch([live_event(batch.seq, {"seq": batch.seq}, "all of them")])


def test_who_misses_a_telling_gets_one_event_for_all_since_the_last() -> None:
    async def listen() -> tuple[list[str], list[str]]:
        with ThreadPoolExecutor(1) as pool:
            topic = Joining(0, 10, pool)
            topic.begin()
            slow, quick = follow(topic, 0), follow(topic, 0)
            await until(topic, 1)
            slowly, quickly = names(await anext(slow)), names(await anext(quick))
            for last in (2, 5):
                await until(topic, last)
                quickly += names(await anext(quick))
            slowly += names(await anext(slow))
            topic.end("done")
            return slowly, quickly

    slowly, quickly = asyncio.run(listen())
    assert slowly == ["1", "all of them"]
    assert quickly == ["1", "2", "3", "4", "5"]
