"""The listener: a socket, an event loop, and the signals that end them.

On SIGTERM or Ctrl-C no new connection is taken, those who follow live answers are told, requests
under way get their answers, and the folder is closed.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import ssl
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import uvicorn

from livefacts.errors import LivefactsError
from livefacts.server.application import application
from livefacts.server.deadlines import PunctualConnection, notice_silence

if TYPE_CHECKING:
    from livefacts.server.admission.served_reasoner import ServedReasoner
    from livefacts.server.followed_sources import FollowedSources

PATIENCE = 10
"""Seconds that requests under way have when the server is told to end."""
IDLE = 15
"""Seconds that a connection may be silent between two requests."""
BACKLOG = 1024
LONGEST_MESSAGE = 1 << 12
"""Bytes of a message on a WebSocket; whatever its client says is passed over."""
OTHER_FILES = 256
"""So many files may be open beside connections."""
TURN = 0.0005
"""Seconds after which a busy thread gives way to the event loop."""


class KeyPair(NamedTuple):
    """The files by which the server proves who it is: a certificate, and its key."""

    certificate: str
    key: str

    def check(self) -> None:
        """Refuse files that do not belong together, before anything is begun."""
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(*self)
        except (OSError, ssl.SSLError) as error:
            raise LivefactsError(
                f"{self.certificate} and {self.key} make no certificate: {error}",
                hint="--certificate and --key are two files in PEM format, the key without a password",
            ) from error


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
    # With its protocol named: else asyncio leaves Nagle's algorithm on, and each answer waits 40 ms.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    notice_silence(found)
    try:
        found.bind((host, port))
    except (OSError, OverflowError) as error:
        found.close()
        raise LivefactsError(
            f"{host}:{port} cannot be listened to: {error}", hint="choose another one by --port"
        ) from error
    found.listen(BACKLOG)
    return found


def address_of(listening: socket.socket, keys: KeyPair | None) -> str:
    """How browsers write the address of a socket."""
    host, port = listening.getsockname()[:2]
    scheme = "http" if keys is None else "https"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _allow_files(count: int) -> None:
    """Let so many be open, as far as the system allows it: each connection is one."""
    try:
        import resource
    except ImportError:
        return  # there is no such limit here
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _config(
    served: ServedReasoner, sources: FollowedSources, keys: KeyPair | None
) -> uvicorn.Config:
    """How connections are taken, and what closes them."""
    settings = served.settings
    connection = partial(
        PunctualConnection, settings.client_seconds, settings.connections, served.connections
    )
    return uvicorn.Config(
        application(served, sources),
        http=cast(Any, connection),
        ws_max_size=LONGEST_MESSAGE,
        ssl_certfile=keys and keys.certificate,
        ssl_keyfile=keys and keys.key,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=settings.connections,
        timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=PATIENCE,
        backlog=BACKLOG,
    )


def run(
    served: ServedReasoner,
    sources: FollowedSources,
    listening: socket.socket,
    keys: KeyPair | None,
) -> None:
    """Answer requests until a signal ends it; then close the folder."""
    _allow_files(2 * served.settings.connections + OTHER_FILES)
    # The event loop gives the interpreter away at each write to a socket, and waits to have it back.
    sys.setswitchinterval(TURN)
    # The server gives signals back when it has ended: by then all is done.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    config = _config(served, sources, keys)
    try:
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(_Server(config, served.stop).serve([listening]))
    finally:
        served.close()
