"""Clients take turns, whoever sends most."""

from __future__ import annotations

import asyncio
import threading

import pytest
from starlette.exceptions import HTTPException

from livefacts.server.admission.fair_queue import FairQueue


def test_one_client_does_not_starve_another() -> None:
    order: list[str] = []

    async def ask() -> None:
        queue, gate = FairQueue("test", 1, 10), threading.Event()
        first = asyncio.ensure_future(queue.run("greedy", gate.wait))
        await asyncio.sleep(0)
        greedy = [queue.run("greedy", lambda: order.append("greedy")) for _ in range(5)]
        modest = [queue.run("modest", lambda: order.append("modest")) for _ in range(2)]
        waiting = asyncio.gather(*greedy, *modest)
        await asyncio.sleep(0)
        assert queue.waiting == 7
        gate.set()
        await waiting
        await first
        queue.close()

    asyncio.run(ask())
    assert order == ["greedy", "modest", "greedy", "modest", "greedy", "greedy", "greedy"]


def test_who_leaves_gives_back_the_place_and_the_thread() -> None:
    async def ask() -> int:
        queue, gate = FairQueue("test", 1, 10), threading.Event()
        running = asyncio.ensure_future(queue.run("a", gate.wait))
        await asyncio.sleep(0)
        waiting = asyncio.ensure_future(queue.run("b", lambda: 1))
        await asyncio.sleep(0)
        for each in (running, waiting):
            each.cancel()
        await asyncio.gather(running, waiting, return_exceptions=True)
        last = asyncio.ensure_future(queue.run("c", lambda: 2))
        await asyncio.sleep(0)
        assert queue.waiting == 2, "the thread is busy as long as its call is"
        gate.set()
        return await last

    assert asyncio.run(ask()) == 2


def test_a_line_has_an_end() -> None:
    async def ask() -> None:
        queue, gate = FairQueue("test", 1, 1), threading.Event()
        running = [asyncio.ensure_future(queue.run("a", gate.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(HTTPException, match="429"):
            await queue.run("a", lambda: None)
        gate.set()
        await asyncio.gather(*running)

    asyncio.run(ask())
