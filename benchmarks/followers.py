"""Followers: many who listen to live answers, in a process of their own, by one loop over raw sockets.

They share the machine with the server that is measured, so that each piece of an answer costs one
call of the system and a search for numbers, and whoever asks meanwhile does not wait for them.
"""

from __future__ import annotations

import multiprocessing
import re
import selectors
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection as Pipe
from typing import NamedTuple
from urllib.parse import urlsplit

from benchmarks.http_load import Call

ID = re.compile(rb"^id: (\d+)$", re.MULTILINE)
PIECE = 1 << 18
PATIENCE = 60


class Heard(NamedTuple):
    """What all of them have heard by now."""

    events: int
    last: list[int]
    """The number of the last event of each."""
    errors: list[str]
    moments: list[tuple[float, list[int]]]
    """When which events came, one entry for each piece that was read, if that is noted."""
    seconds: float
    """The time of a processor that listening took."""


class Followers:
    """Followers that listen from the beginning of a `with` block to its end."""

    def __init__(self, url: str, calls: Sequence[Call], *, notes_moments: bool = False) -> None:
        self._given = url, calls, notes_moments

    def __enter__(self) -> Followers:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_listen, args=(*self._given, theirs), daemon=True)
        self._process.start()
        theirs.close()
        refused = self._pipe.recv()
        if refused:
            raise OSError(refused)
        return self

    def heard(self) -> Heard:
        """What they have heard by now; moments are given once."""
        self._pipe.send("heard")
        found: Heard = self._pipe.recv()
        return found

    def __exit__(self, *error: object) -> None:
        self._pipe.close()
        self._process.join(PATIENCE)


@dataclass(slots=True)
class _Follower:
    """One of them: its socket, and what it has of an event that is not whole yet."""

    socket: socket.socket
    number: int
    rest: bytes = field(default=b"")

    def read(self) -> tuple[bytes, str]:
        """Whole events, and why there will be no more."""
        try:
            piece = self.socket.recv(PIECE)
        except OSError as error:
            return b"", repr(error)
        whole, end, self.rest = (self.rest + piece).rpartition(b"\n\n")
        if not end:
            self.rest = whole + self.rest
            return b"", "" if piece else "the connection was closed"
        return whole + end, "" if piece else "the connection was closed"


def _opened(url: str, call: Call, number: int) -> _Follower:
    place = urlsplit(url)
    made = socket.create_connection((place.hostname or "", place.port or 80), PATIENCE)
    made.sendall(call.text(place.netloc))
    head = b""
    while b"\r\n\r\n" not in head:
        piece = made.recv(PIECE)
        if not piece:
            break
        head += piece
    head, _, rest = head.partition(b"\r\n\r\n")
    if b" 200 " not in head:
        raise OSError(head.decode(errors="replace") or "the connection was closed")
    made.setblocking(False)
    return _Follower(made, number, b"\n" + rest)


def _listen(url: str, calls: Sequence[Call], notes_moments: bool, pipe: Pipe) -> None:
    try:
        followers = [_opened(url, call, number) for number, call in enumerate(calls)]
    except OSError as error:
        pipe.send(repr(error))
        return
    pipe.send("")
    events, last, errors = 0, [0] * len(calls), list[str]()
    moments: list[tuple[float, list[int]]] = []
    with selectors.DefaultSelector() as ready:
        ready.register(pipe, selectors.EVENT_READ)
        for each in followers:
            ready.register(each.socket, selectors.EVENT_READ, each)
        while True:
            for key, _ in ready.select():
                if key.data is None:
                    try:
                        pipe.recv()
                    except EOFError:
                        return
                    pipe.send(Heard(events, last, errors, moments, time.process_time()))
                    moments.clear()
                    continue
                follower: _Follower = key.data
                found, error = follower.read()
                numbers = ID.findall(found)
                if numbers:
                    events += len(numbers)
                    last[follower.number] = int(numbers[-1])
                    if notes_moments:
                        moments.append((time.perf_counter(), [*map(int, numbers)]))
                if error:
                    errors.append(error)
                    ready.unregister(follower.socket)
