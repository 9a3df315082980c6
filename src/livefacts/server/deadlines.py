"""Deadlines: a connection whose client dawdles is closed, so that it holds no place.

Whoever connects, or begins to send a request, has some time until its headers are there; whoever
is sent an answer has as long to take what fills the buffers.  The time for a body is kept where
it is read.  A client that is gone without a word is found out by the system's keep-alive.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any, cast

from uvicorn.protocols.http.auto import AutoHTTPProtocol

SILENCE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4, "TCP_USER_TIMEOUT": 120_000}
"""After so many seconds a silent peer is asked whether it lives; where the system knows how."""


class Deadline:
    """What is done some time after it was begun, unless it was ended before."""

    def __init__(self, seconds: float, call: Callable[[], None]) -> None:
        self._seconds = seconds
        self._call = call
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._call)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class PunctualConnection(asyncio.Protocol):
    """A connection of uvicorn, with deadlines around it."""

    def __init__(self, seconds: float, most: int, open_ones: set[object], **given: Any) -> None:
        """`open_ones` are all connections, of which uvicorn refuses to answer more than `most`.

        With as many again that have asked nothing yet, the next one is not even listened to.
        `given` is what uvicorn gives to each.
        """
        self._inner: Any = AutoHTTPProtocol(**given)
        self._most = 2 * most
        self._open_ones = open_ones
        self._transport: asyncio.Transport | None = None
        self._headers = Deadline(seconds, self._close)
        self._taking = Deadline(seconds, self._abort)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # It is read and written, and that of another event loop is no heir of asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        if len(self._open_ones) >= self._most:
            self._transport.abort()
        self._open_ones.add(self)
        self._headers.begin()
        self._inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        before = self._inner.cycle
        self._inner.data_received(data)
        assert self._transport is not None, "data come after the connection"
        if self._transport.get_protocol() is not self:
            self._forget()  # it has become a WebSocket, and nothing of it comes here any more
            return
        request = self._inner.cycle
        if request is not before:
            self._headers.end()
        elif request is not None and request.response_complete:
            self._headers.begin()

    def eof_received(self) -> bool | None:
        answer: bool | None = self._inner.eof_received()
        return answer

    def pause_writing(self) -> None:
        self._taking.begin()
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._taking.end()
        self._inner.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        self._forget()
        self._inner.connection_lost(error)

    def _forget(self) -> None:
        self._open_ones.discard(self)
        self._headers.end()
        self._taking.end()

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


def notice_silence(listening: socket.socket) -> None:
    """Connections of this socket end when their peer is gone; accepted sockets inherit it."""
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in SILENCE.items():
        if hasattr(socket, name):
            listening.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
