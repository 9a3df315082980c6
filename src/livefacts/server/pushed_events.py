"""Pushed events: what clients send to a stream, in one request or for as long as they have something.

A request that has an end is taken as a whole, or refused as a whole.  One that goes on (`?live`)
is taken line by line, as it comes: after each piece the answer has a line that says how many lines
are on the disk by now, so that a client whose connection breaks knows where to go on.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from livefacts.errors import InputError, LivefactsError
from livefacts.model.durations import SECOND
from livefacts.model.time_points import time_point
from livefacts.server.admission.tokens import AccessScope
from livefacts.server.admission.visitors import Visitor, body_of
from livefacts.server.problems import without_path
from livefacts.server.standards.negotiation import PATCH
from livefacts.service.streams.event_time import TOO_FAR_AHEAD
from livefacts.service.streams.playback import joined
from livefacts.syntax.input.rejects import Reject, Rejects
from livefacts.syntax.json_map.mapping_text import parse_map
from livefacts.syntax.stream_files import JSON_LINES, Event, read_events
from livefacts.syntax.stream_files import PATCH as PATCHES

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from livefacts.model.durations import Duration
    from livefacts.server.admission.served_reasoner import Once, ServedReasoner
    from livefacts.service.change.delta import Delta
    from livefacts.syntax.json_map.fact_lines import JsonMap

JSON, LINES = "application/json", "application/x-ndjson"
FORMATS = {
    LINES: JSON_LINES,
    "application/ndjson": JSON_LINES,
    "application/n-quads": "quads",
    JSON: JSON_LINES,
    "application/n-triples": "quads",
    PATCH.name: PATCHES,
}
MOST_SHOWN = 100
"""So many events that were set aside are named in an answer."""
GO_FAR = "if time is to move so far: POST /advance?to=TIME&far, then send them again"
EXAMPLE = '{"at": 17, "facts": "<s> <p> <o> ."}'


@dataclass(frozen=True, slots=True)
class PushForm:
    """How what is sent to a stream is read: its format, the map of its messages, and the stream."""

    kind: str
    json_map: JsonMap | None
    stream: str
    stamps: bool
    """Whether what has no time happens when it arrives."""
    waits: bool
    """Whether time stays where it is."""

    @classmethod
    def of(cls, request: Request) -> PushForm:
        """As a request says it, or a refusal."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in FORMATS:
            raise HTTPException(
                415, f"{kind or 'nothing'} cannot be read here; send one of {', '.join(FORMATS)}"
            )
        given = request.query_params
        text = given.get("map")
        if text is not None and FORMATS[kind] != JSON_LINES:
            raise HTTPException(400, f"a map reads JSON, and this is {kind}")
        name = request.path_params["name"]
        stream = name if ":" in name else f"stream:{name}"
        # A text is the map itself: no file of the server is read.
        json_map = None if text is None else parse_map(text)
        stamps, waits = "arrival-time" in given, given.get("advance") == "false"
        return cls(kind, json_map, stream, stamps, waits)

    def events(
        self, body: bytes, rejects: Rejects, tick: Duration | None, together: int | None = None
    ) -> Iterator[Event]:
        """The events of some lines."""
        now = time.time_ns() // (tick or SECOND).amount if self.stamps else None
        form = FORMATS[self.kind]
        return read_events(body, rejects, form, together, now, self.json_map)

    def whole(self, body: bytes, tick: Duration | None) -> list[Event]:
        """The events of a body, all of which can be read."""
        lines = _as_lines(body) if self.kind == JSON else body
        with Rejects(None) as rejects:
            events = list(self.events(lines, rejects, tick))
        for reject in rejects.kept[:1]:
            raise reject.as_error()
        if not events:
            raise InputError("there are no events", hint=EXAMPLE)
        return [each for each in joined(events) if isinstance(each, Event)]


def _as_lines(body: bytes) -> bytes:
    """A JSON document, a list of such, or already lines of them: as lines, each as it was written.

    >>> _as_lines(b'[{"id": "s1",  "v": 2.50}, {}]').splitlines()
    [b'{"id": "s1",  "v": 2.50}', b'{}']
    """
    text, found = body.decode(errors="surrogateescape").strip(), []
    try:
        whole = json.loads(text)
        if not isinstance(whole, list):
            return body.replace(b"\r", b" ").replace(b"\n", b" ")
        at, decoder = text.index("[") + 1, json.JSONDecoder()
        for _ in whole:
            at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n,"))
            begun = at
            _, at = decoder.raw_decode(text, at)
            found.append(" ".join(text[begun:at].splitlines()))
    except (ValueError, RecursionError):
        return body  # lines, or a mistake that the reader of lines will name
    return "\n".join(found).encode(errors="surrogateescape")


async def streams(request: Request) -> Response:
    """Events of a stream, with their times; time moves on to the last of them."""
    served: ServedReasoner = request.app.state.served
    visitor = served.admit(request, AccessScope.update)
    form = PushForm.of(request)
    if "live" in request.query_params:
        if FORMATS[form.kind] == PATCHES:
            raise HTTPException(400, "a patch is one change\nhint: send lines of JSON, or N-Quads")
        return _LiveAnswer(LivePush(request, served, visitor, form).answers(), media_type=LINES)
    body = await body_of(request, served.settings)

    pushed: list[PushedChange] = []

    def read() -> Callable[[Once], Delta]:
        pushed.append(PushedChange(served, form, form.whole(body, served.reasoner.tick)))
        return pushed[0].make

    done = await served.change_in_steps(request, visitor, f"push to {form.stream}", read)
    done |= pushed[0].aside()
    return JSONResponse(done, headers={"Livefacts-Seq": str(done["seq"])})


class PushedChange:
    """The change of some events: each of them once, and then time moves on to the last.

    An event that lies too far ahead of those before it does not count: it is set aside.
    """

    def __init__(self, served: ServedReasoner, form: PushForm, events: Sequence[Event]) -> None:
        self._served = served
        self._reasoner = served.reasoner
        self._form = form
        self._events = events
        self._latest: int | None = None
        self._made: list[Delta] = []
        self._aside: list[tuple[int, int]] = []
        """The times that are too far ahead, and how many facts they have."""

    def make(self, once: Once) -> Delta:
        """All of it, in one turn; time moves on once, too."""
        done = self.pushed(once)
        return done if self._form.waits else once(self._move_on, len(self._events))

    def make_more(self, begun: int, once: Once) -> Delta:
        """The same for events that others went before, so many."""
        done = self.pushed(once, begun)
        return once(self._move_on, None) if self._is_ahead and not self._form.waits else done

    def pushed(self, once: Once, begun: int = 0) -> Delta:
        """The events alone, numbered from here on."""
        self._latest = self._reasoner.now
        for number, event in enumerate(self._events, begun):
            if self._counts(event):
                self._made.append(once(partial(self._push, event), number))
        return self._made[-1] if self._made else self._reasoner.advance(self._reasoner.now)

    def _counts(self, event: Event) -> bool:
        """Whether an event is not too far ahead; what is so, is set aside."""
        time = time_point(event.time, self._reasoner.tick)
        if self._served.is_too_far(time, self._latest):
            self._aside.append((time, len(event.facts)))
            self._served.set_aside[TOO_FAR_AHEAD] += len(event.facts)
            return False
        self._latest = time if self._latest is None else max(time, self._latest)
        return True

    def aside(self) -> dict[str, Any]:
        """What was set aside, as an answer says it; nothing if all counts."""
        if not self._aside:
            return {}
        shown = [
            {"at": time, "facts": facts, "reason": TOO_FAR_AHEAD}
            for time, facts in self._aside[:MOST_SHOWN]
        ]
        return {"set_aside": {"events": len(self._aside), "first": shown, "hint": GO_FAR}}

    def _push(self, event: Event) -> Delta:
        call = self._reasoner.retract if event.retracts else self._reasoner.push
        stream = event.stream or self._form.stream
        return call(event.facts, at=event.time, stream=stream)

    @property
    def _is_ahead(self) -> bool:
        now = self._reasoner.now
        return self._latest is not None and (now is None or self._latest > now)

    def _move_on(self) -> Delta:
        """Time only moves forward: what late events did is said of the last of them."""
        if self._is_ahead:
            return self._reasoner.advance(self._latest)
        return self._made[-1] if self._made else self._reasoner.advance(self._reasoner.now)


class _LiveAnswer(StreamingResponse):
    """An answer that is given while its request is still read."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.stream_response(send)


@dataclass
class LivePush:
    """A request that goes on for as long as its client has something to say."""

    request: Request
    served: ServedReasoner
    visitor: Visitor
    form: PushForm
    lines: int = 0
    """How many lines have come."""
    events: int = 0
    """How many events were in them."""
    _rest: bytes = field(default=b"", init=False)

    async def answers(self) -> AsyncIterator[bytes]:
        """A line of JSON for each piece, when it is on the disk."""
        try:
            async for piece in self._pieces():
                yield _line(await self._taken(piece))
        except ClientDisconnect:
            return
        except (LivefactsError, HTTPException) as error:
            what = str(getattr(error, "detail", error))
            yield _line({"error": without_path(self.request, what), "lines": self.lines})

    async def _pieces(self) -> AsyncIterator[bytes]:
        """Whole lines, as many as there are; the end of the request is the end of a line."""
        async for chunk in self._chunks():
            whole, end, self._rest = (self._rest + chunk).rpartition(b"\n")
            if len(self._rest) > self.served.settings.body_bytes:
                raise HTTPException(413, "a line is too long")
            if end:
                yield whole + end
        if self._rest:
            yield self._rest

    async def _chunks(self) -> AsyncIterator[bytes]:
        """What comes; a client that says nothing for too long is gone, or gives a sign of life."""
        chunks = aiter(self.request.stream())
        ending = asyncio.ensure_future(self.request.app.state.ending.wait())
        seconds = self.served.settings.client_seconds
        try:
            while True:
                coming = asyncio.ensure_future(anext(chunks, None))
                first = asyncio.FIRST_COMPLETED
                await asyncio.wait({coming, ending}, timeout=seconds, return_when=first)
                if not coming.done():
                    coming.cancel()
                    why = "the server is about to end" if ending.done() else "nothing came"
                    raise HTTPException(408, f"{why}; an empty line is a sign of life")
                chunk = coming.result()
                if chunk is None:
                    return
                yield chunk
        finally:
            ending.cancel()

    async def _taken(self, piece: bytes) -> dict[str, Any]:
        """Make the changes of some lines; what they did, and which could not be read."""
        served, reasoner = self.served, self.served.reasoner
        with Rejects(None) as rejects:
            read = partial(self.form.events, piece, rejects, reasoner.tick, 1)
            events = await served.read(self.request, lambda: [*read()])
        refused = [_refusal(replace(each, line=each.line + self.lines)) for each in rejects.kept]
        done: dict[str, Any] = {}
        if events:
            change = PushedChange(served, self.form, events)
            action = f"live push to {self.form.stream}"
            steps = partial(change.make_more, self.events)
            done = await served.change_in_steps(self.request, self.visitor, action, lambda: steps)
            done |= change.aside()
        self.lines += piece.count(b"\n") + (not piece.endswith(b"\n"))
        self.events += len(events)
        return {"lines": self.lines, **done, **({"rejected": refused} if refused else {})}


def _refusal(reject: Reject) -> dict[str, Any]:
    return {"line": reject.line, "column": reject.column, "reason": reject.reason}


def _line(said: dict[str, Any]) -> bytes:
    return f"{json.dumps(said, ensure_ascii=False)}\n".encode()
