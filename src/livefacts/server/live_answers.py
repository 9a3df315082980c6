"""Live answers: a topic over HTTP, in one of four forms.

Server-Sent Events, lines of JSON, and WebSocket messages are the same events; who asks for plain
JSON gets those that there are, or waits for the next ones as long as `Prefer: wait=…` says.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple

from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from livefacts.errors import LivefactsError
from livefacts.server.admission.tokens import AccessScope
from livefacts.server.admission.visitors import whole_number
from livefacts.server.problems import without_path
from livefacts.server.standards.negotiation import LIVE, MediaType, chosen
from livefacts.server.standards.sparql_protocol import protocol_request
from livefacts.server.topics import EventBatch, Topic, follow

if TYPE_CHECKING:
    from livefacts.server.admission.served_reasoner import ServedReasoner
    from livefacts.server.live_queries import LiveTopics

PING = 15
"""Seconds after which a silent connection gets a sign of life."""
FAREWELL = 3.0
"""Seconds in which those who follow are told that the server ends."""
RETRY = b"retry: 1000\n\n"
LONGEST_WAIT = 60.0
WAIT = re.compile(r"\bwait\s*=\s*(\d{1,4})")
REFUSED = 1008
"""How a WebSocket says that a policy does not allow it."""


async def changes(request: Request) -> Response:
    """Every change after a number, and those that come."""
    return await _answer(request, _live(request).changes, LiveForm.of(request))


async def violations(request: Request) -> Response:
    """The violations of constraints, and those that come and go."""
    return await _answer(request, _live(request).violations, LiveForm.of(request))


async def watch(request: Request) -> Response:
    """The answers of a query, and what comes and goes."""
    served: ServedReasoner = request.app.state.served
    asked = await protocol_request(request, served)
    if asked.query is None:
        raise HTTPException(400, "an update cannot be watched")
    asker = served.reader(request).name
    form = LiveForm.of(request, asked.one("format"))  # before anything is followed for it
    return await _answer(request, await _live(request).watched(asked.query, asker), form)


async def register(request: Request) -> Response:
    """The reports of a registered query; POST registers it, GET names it or lists all."""
    served: ServedReasoner = request.app.state.served
    live = _live(request)
    if request.method == "POST":
        served.admit(request, AccessScope.update)
        asked = await protocol_request(request, served, takes_text=True)
        if asked.query is None:
            raise HTTPException(400, "an update cannot be registered")
        form = LiveForm.of(request, asked.one("format"))
        return await _answer(request, await live.registered(asked.query), form)
    name = request.query_params.get("name")
    if request.method == "DELETE":
        served.admit(request, AccessScope.update)
        await live.unregister(name or "")
        return Response(status_code=204)
    if name is None:
        served.reader(request)
        return JSONResponse({"queries": live.queries()})
    return await _answer(request, live.reports(name), LiveForm.of(request))


def _live(request: HTTPConnection) -> LiveTopics:
    live: LiveTopics = request.app.state.live
    return live


def _seen(request: HTTPConnection) -> int | None:
    """The number of the last event that a client has seen."""
    given = request.headers.get("last-event-id", "").strip()
    if given.isascii() and given.isdecimal() and len(given) <= 18:
        return int(given)
    return whole_number(request, "since")


# forms


class LiveForm(NamedTuple):
    """How a live answer is asked for: after which number, in which form, and for how long."""

    seen: int | None
    kind: MediaType
    wait: float | None

    @classmethod
    def of(cls, request: Request, form: str | None = None) -> LiveForm:
        """As a request says it, or a refusal."""
        given = form or request.query_params.get("format")
        wait = WAIT.search(request.headers.get("prefer", ""))
        if wait is not None and given is None:
            given = "json"
        kind = chosen(request.headers.get("accept", ""), given, LIVE)
        return cls(_seen(request), kind, min(LONGEST_WAIT, float(wait[1])) if wait else None)


async def _answer(request: Request, topic: Topic[Any], form: LiveForm) -> Response:
    served: ServedReasoner = request.app.state.served
    served.reader(request)
    seen, kind, wait = form
    await topic.check(seen)
    if kind.form == "json":
        return await _poll(topic, seen, wait)
    is_sse = kind.form == "sse"
    return EventSourceResponse(
        _sse(topic, seen) if is_sse else _lines(topic, seen),
        media_type=kind.name,
        ping=PING,
        ping_message_factory=None if is_sse else _Blank,
        # Who does not take what is sent is cut off by the connection's own deadline, which costs nothing.
        send_timeout=None,
        sep="\n",
        shutdown_grace_period=FAREWELL,
    )


class _Blank(ServerSentEvent):
    """The sign of life among lines of JSON: an empty one."""

    def encode(self) -> bytes:
        return b"\n"


async def _sse(topic: Topic[Any], seen: int | None) -> AsyncIterator[bytes]:
    yield RETRY
    async with aclosing(follow(topic, seen)) as batches:
        async for batch in batches:
            yield batch.sse


async def _lines(topic: Topic[Any], seen: int | None) -> AsyncIterator[bytes]:
    async with aclosing(follow(topic, seen)) as batches:
        async for batch in batches:
            yield batch.lines


async def _poll(topic: Topic[Any], seen: int | None, wait: float | None) -> Response:
    """The events that there are, or the next ones; then the connection is free again."""
    batch = await _first(topic, seen, wait or 0.0)
    events = ",\n".join(event.data for event in batch.events) if batch else ""
    last = batch.seq if batch else topic.seq if seen is None else seen
    applied = {"Preference-Applied": f"wait={wait:g}"} if wait else {}
    text = f'{{"seq": {last}, "events": [\n{events}\n]}}\n'
    return Response(text, headers=applied, media_type="application/json")


async def _first(topic: Topic[Any], seen: int | None, wait: float) -> EventBatch | None:
    with topic.heard():
        # What has happened is read however long that takes; only what may come is waited for.
        if seen is None or topic.is_behind(seen):
            async for batch in topic.catch_up(seen):
                return batch
            seen = max(topic.seq if seen is None else seen, topic.floor)
        async with aclosing(follow(topic, seen)) as batches:
            try:
                async with asyncio.timeout(max(wait, 0.01)):
                    return await anext(batches, None)
            except TimeoutError:
                return None


# WebSocket


async def socket(websocket: WebSocket) -> None:
    """The same events, a message each; what is followed is named by the path."""
    served: ServedReasoner = websocket.app.state.served
    origin = websocket.headers.get("origin", "")
    allowed = served.settings.origins
    try:
        if "*" not in allowed and origin and origin not in allowed:
            raise HTTPException(403, f"pages of {origin} may not ask")
        if len(served.sockets) >= served.settings.connections:
            raise HTTPException(503, "there are too many WebSockets")
        asker = served.reader(websocket).name
        seen = _seen(websocket)  # before anything is followed for it
        topic = await _topic_of(websocket, asker)
        await topic.check(seen)
    except (HTTPException, LivefactsError) as error:
        await websocket.close(
            REFUSED, without_path(websocket, str(getattr(error, "detail", error)))[:100]
        )
        return
    served.sockets.add(websocket)
    try:
        await _talk(websocket, topic, seen)
    finally:
        served.sockets.discard(websocket)


async def _talk(websocket: WebSocket, topic: Topic[Any], seen: int | None) -> None:
    """Send events until one of the two leaves."""
    await websocket.accept()
    seconds = websocket.app.state.served.settings.client_seconds
    sending = asyncio.ensure_future(_messages(websocket, topic, seen, seconds))
    leaving = asyncio.ensure_future(_until_left(websocket))
    await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
    for each in (sending, leaving):
        each.cancel()
    await asyncio.gather(sending, leaving, return_exceptions=True)


async def _topic_of(websocket: WebSocket, asker: str) -> Topic[Any]:
    live, path = _live(websocket), websocket.url.path
    if path in ("/changes", "/violations"):
        return live.changes if path == "/changes" else live.violations
    if path == "/register":
        return live.reports(websocket.query_params.get("name", ""))
    query = websocket.query_params.get("query")
    if query is None:
        raise HTTPException(400, "there is no query")
    return await live.watched(query, asker)


async def _messages(
    websocket: WebSocket, topic: Topic[Any], seen: int | None, seconds: float
) -> None:
    async with aclosing(follow(topic, seen)) as batches:
        async for batch in batches:
            for event in batch.events:
                async with asyncio.timeout(seconds):
                    await websocket.send_text(event.data)
    await websocket.close()


async def _until_left(websocket: WebSocket) -> None:
    """What a client says is passed over; that it leaves is noted."""
    try:
        while True:
            await websocket.receive_text()
    except (WebSocketDisconnect, KeyError):
        return
