"""The listener: a socket, an event loop, and the signals that end them.

On SIGTERM or Ctrl-C no new connection is taken, those who follow live answers are told, requests
under way get their answers, and the folder is closed.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn

from livefacts.errors import LivefactsError
from livefacts.server.application import application

if TYPE_CHECKING:
    from livefacts.server.served_reasoner import ServedReasoner

PATIENCE = 10
"""Seconds that requests under way have when the server is told to end."""
IDLE = 15
"""Seconds that a connection may be silent between two requests."""
BACKLOG = 1024


class _Server(uvicorn.Server):
    """Tells those who follow live answers that it ends, before it waits for them."""

    def __init__(self, config: uvicorn.Config, when_ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._when_ending = when_ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._when_ending()
        super().handle_exit(sig, frame)


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket that listens to this address; port 0 is any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except (OSError, OverflowError) as error:
        found.close()
        raise LivefactsError(
            f"{host}:{port} cannot be listened to: {error}", hint="choose another one by --port"
        ) from error
    found.listen(BACKLOG)
    return found


def address_of(listening: socket.socket) -> str:
    """How browsers write the address of a socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(served: ServedReasoner, listening: socket.socket) -> None:
    """Answer requests until a signal ends it; then close the folder."""
    # The server gives signals back when it has ended: by then all is done.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    config = uvicorn.Config(
        application(served),
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=served.settings.connections,
        timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=PATIENCE,
        backlog=BACKLOG,
    )
    try:
        asyncio.run(_Server(config, served.stop).serve([listening]))
    finally:
        served.close()
