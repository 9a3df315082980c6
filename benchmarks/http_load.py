"""HTTP load: connections that ask without pause, by asyncio, without a client library.

A client library would cost the machine as much as the server that is measured.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import quantiles
from urllib.parse import urlencode, urlsplit

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ROWS = {"Accept": "application/sparql-results+json"}


@dataclass(slots=True)
class Call:
    """A request: where it goes, what it brings."""

    path: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    def text(self, host: str) -> bytes:
        """As it is sent."""
        method = "POST" if self.body else "GET"
        headers = {"Host": host, **self.headers}
        if self.body:
            headers["Content-Length"] = str(len(self.body))
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"{method} {self.path} HTTP/1.1\r\n{lines}\r\n".encode() + self.body


def form_call(path: str, headers: Mapping[str, str] | None = None, **values: str) -> Call:
    """A POST of a form."""
    return Call(path, urlencode(values).encode(), {**FORM, **(headers or {})})


class Connection:
    """One connection that is kept; requests on it go one after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self._writer = reader, writer
        self._host = "{}:{}".format(*writer.get_extra_info("peername")[:2])

    @classmethod
    async def open(cls, url: str) -> Connection:
        """A connection to the server at an address."""
        place = urlsplit(url)
        return cls(*await asyncio.open_connection(place.hostname, place.port, limit=1 << 22))

    async def ask(self, call: Call) -> bytes:
        """Send a request, and read its answer; another status than 2xx is an error."""
        head = await self.begin(call)
        length = re.search(rb"content-length: (\d+)", head)
        if length is not None:
            body = await self.reader.readexactly(int(length[1]))
        else:
            body = b"".join([piece async for piece in self.pieces()]) if b"chunked" in head else b""
        status = head.split(b" ", 2)[1]
        if not status.startswith(b"2"):
            raise OSError(f"{call.path}: {status.decode()} {body[:300].decode()}")
        return body

    async def begin(self, call: Call) -> bytes:
        """Send a request, and read the head of its answer, in small letters."""
        self._writer.write(call.text(self._host))
        return (await self.reader.readuntil(b"\r\n\r\n")).lower()

    async def pieces(self):  # type: ignore[no-untyped-def]
        """The pieces of an answer that has no length."""
        while size := int(await self.reader.readline(), 16):
            yield (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readline()

    async def close(self) -> None:
        """End it."""
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()


@dataclass(slots=True)
class Load:
    """What some connections did: how long each request took, and how long all of it."""

    taken: list[float]
    seconds: float

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.taken) / self.seconds

    def part(self, percent: int) -> float:
        """The time that so many percent of the requests did not pass."""
        return percentile(self.taken, percent)


def percentile(taken: Sequence[float], percent: int) -> float:
    """The value that so many percent do not pass; 0 of nothing."""
    if not taken:
        return 0.0
    return quantiles(taken, n=100)[percent - 1] if len(taken) > 1 else taken[0]


async def ask_again(
    url: str, calls: Callable[[int], Call], *, connections: int, seconds: float, most: int = 10**9
) -> Load:
    """Ask without pause, on so many connections, for so long or so often; `calls` has them by number."""
    taken: list[float] = []
    numbers = iter(range(most))
    opened = [await Connection.open(url) for _ in range(connections)]
    begun = time.perf_counter()

    async def one(connection: Connection) -> None:
        while (started := time.perf_counter()) - begun < seconds:
            number = next(numbers, None)
            if number is None:
                return
            await connection.ask(calls(number))
            taken.append(time.perf_counter() - started)

    await asyncio.gather(*map(one, opened))
    passed = time.perf_counter() - begun
    for connection in opened:
        await connection.close()
    return Load(taken, passed)
