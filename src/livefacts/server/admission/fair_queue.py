"""The fair queue: work for a few threads, taken from the clients in turn.

The event loop never works itself: it hands calls to threads.  When all of them are busy, each
client has a line of its own, and the next call is that of the client whose turn it is, however
many others one of them has sent.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from starlette.exceptions import HTTPException

T = TypeVar("T")


class FairQueue:
    """So many threads, and the clients who wait for one."""

    def __init__(self, name: str, threads: int, most_waiting: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._free = threads
        self._most = most_waiting
        self._lines: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many calls wait for a thread."""
        return sum(map(len, self._lines.values()))

    async def run(self, client: str, call: Callable[[], T]) -> T:
        """Make a call in a thread, when it is the turn of this client."""
        await self._turn(client)
        loop = asyncio.get_running_loop()
        made = loop.run_in_executor(self._pool, copy_context().run, call)
        # A client may leave; its thread is free when the call has ended, and not before.
        made.add_done_callback(self._ended)
        return await asyncio.shield(made)

    def _ended(self, made: asyncio.Future[T]) -> None:
        made.cancelled() or made.exception()  # who has left does not ask for it any more
        self._release()

    async def _turn(self, client: str) -> None:
        if self._free and not self._lines:
            self._free -= 1
            return
        line = self._lines.setdefault(client, deque())
        if len(line) >= self._most:
            raise HTTPException(
                429, f"{len(line)} requests of yours wait already", {"Retry-After": "1"}
            )
        turn = asyncio.get_running_loop().create_future()
        line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release()
            raise

    def _release(self) -> None:
        """Give a thread to the client whose turn it is; who has left is passed over."""
        while self._lines:
            client, line = self._lines.popitem(last=False)
            turn = line.popleft()
            if line:
                self._lines[client] = line
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def close(self) -> None:
        """Wait until the calls under way have ended."""
        self._pool.shutdown(wait=True, cancel_futures=True)
