"""The SPARQL 1.1 Protocol: queries by GET and both forms of POST, updates by both forms of POST.

An answer is written in pieces, each in a thread and when the client has taken the one before: a
slow client keeps a snapshot, but no thread.
"""

from __future__ import annotations

import asyncio
import re
import threading
import zlib
from collections.abc import AsyncIterator, Coroutine, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from pyoxigraph import NamedNode
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from livefacts.language.algebra import Dataset
from livefacts.server.admission.tokens import AccessScope
from livefacts.server.admission.visitors import text_of_body
from livefacts.server.standards.negotiation import RDF, ROWS, chosen, first_known
from livefacts.server.standards.service_description import description

if TYPE_CHECKING:
    from livefacts.server.admission.served_reasoner import ServedReasoner
    from livefacts.service.queries.results import QueryResult

FORM = "application/x-www-form-urlencoded"
QUERY, UPDATE = "application/sparql-query", "application/sparql-update"
OF_UPDATES = {"update", "using-graph-uri", "using-named-graph-uri"}
OF_SPARQL = {"query", "update"}
CHUNK = 1 << 16
LOOK = 0.5
"""Seconds after which it is looked whether a client still waits."""
CHANGING = re.compile(r"\b(?:NOW|RAND|UUID|STRUUID|BNODE)\s*\(", re.IGNORECASE)
"""What makes the answers of a query differ from one time to the next."""


@dataclass(frozen=True, slots=True)
class ProtocolRequest:
    """What a request asks for: a query or an update, and its parameters."""

    query: str | None = None
    update: str | None = None
    parameters: tuple[tuple[str, str], ...] = ()

    def all(self, name: str) -> list[str]:
        """The values of a parameter."""
        return [value for key, value in self.parameters if key == name]

    def one(self, name: str) -> str | None:
        """The value of a parameter that may occur once."""
        values = self.all(name)
        if len(values) > 1:
            raise HTTPException(400, f"{name} is given {len(values)} times")
        return values[0] if values else None


async def protocol_request(
    request: Request, served: ServedReasoner, *, takes_text: bool = False
) -> ProtocolRequest:
    """Read a request in one of the forms of the protocol.

    `takes_text`, and what is none of them is the text of a query.
    """
    in_address, path = tuple(request.query_params.multi_items()), request.url.path
    if request.method in ("GET", "HEAD"):
        query = ProtocolRequest(parameters=in_address).one("query")
        return _checked(ProtocolRequest(query, None, in_address), path)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (FORM, QUERY, UPDATE) and not takes_text:
        raise HTTPException(
            415, f"{kind or 'nothing'} cannot be read here; send {FORM}, {QUERY} or {UPDATE}"
        )
    text = await text_of_body(request, served.settings)
    if kind == UPDATE:
        return _checked(ProtocolRequest(None, text, in_address), path)
    sent = tuple(parse_qsl(text, keep_blank_values=True)) if kind == FORM else ()
    both = ProtocolRequest(parameters=(*in_address, *sent))
    is_text = takes_text and text.strip() and not OF_SPARQL & {name for name, _ in both.parameters}
    if kind == QUERY or is_text:
        return _checked(ProtocolRequest(text, None, in_address), path)
    found = ProtocolRequest(both.one("query"), both.one("update"), both.parameters)
    return _checked(found, path)


def _checked(found: ProtocolRequest, path: str) -> ProtocolRequest:
    if found.query is not None and found.update is not None:
        raise HTTPException(400, "query and update are in one request\nhint: send two requests")
    if found.query is None and found.update is None:
        raise HTTPException(400, f"there is no query\nhint: {path}?query=SELECT …")
    if found.update is None and any(name in OF_UPDATES for name, _ in found.parameters):
        raise HTTPException(400, "an update is sent by POST, and alone")
    return found


# queries


async def sparql(request: Request) -> Response:
    """The endpoint."""
    served: ServedReasoner = request.app.state.served
    if request.method != "POST" and not OF_SPARQL & {*request.query_params}:
        return await description(request, served)
    asked = await protocol_request(request, served)
    if asked.update is not None:
        return await _update(request, served, asked)
    return await answer(request, served, asked)


@dataclass(slots=True)
class QueryAnswer:
    """An answer on its way: how it begins, and what is still to be written."""

    seq: int
    media_type: str = ""
    start: bytes = b""
    rest: Iterator[str] = field(default_factory=lambda: iter(()))
    is_complete: bool = True
    """Whether no limit has cut the rows."""
    is_known: bool = False
    """Whether the client has it already."""


def version_tag(request: Request, served: ServedReasoner, seq: int) -> str:
    """The ETag of what is read after a change: it holds for one format, and for one process."""
    wish = zlib.crc32(request.headers.get("accept", "").encode())
    return f'W/"{seq}-{wish:x}-{served.mark}"'


def _is_known(request: Request, tag: str) -> bool:
    """Whether a client has what this tag stands for; an address stands for one answer, a body may not."""
    if request.method not in ("GET", "HEAD"):
        return False
    tags = {
        each.strip().removeprefix("W/")
        for each in request.headers.get("if-none-match", "").split(",")
    }
    return "*" in tags or tag.removeprefix("W/") in tags


async def answer(request: Request, served: ServedReasoner, asked: ProtocolRequest) -> Response:
    """The answers of a query, in the format that the client wants."""
    with served.running_query(request) as stop:
        found = await _unless_left(
            request, stop, served.read(request, partial(_found, request, served, asked, stop))
        )
    tag = version_tag(request, served, found.seq)
    headers = {"Livefacts-Seq": str(found.seq), "Vary": "Accept"}
    if not CHANGING.search(asked.query or ""):
        headers |= {"ETag": tag, "Cache-Control": "no-cache"}
    if found.is_known:
        return Response(status_code=304, headers=headers)
    if not found.is_complete:
        headers["Livefacts-Complete"] = "false"
    if len(found.start) < CHUNK:
        return Response(found.start, headers=headers, media_type=found.media_type)
    pieces = _sent(request, served, found)
    return StreamingResponse(pieces, headers=headers, media_type=found.media_type)


async def _unless_left(
    request: Request, stop: threading.Event, work: Coroutine[Any, Any, QueryAnswer]
) -> QueryAnswer:
    """Wait for an answer; when the client has left, the query is given up."""
    found = asyncio.ensure_future(work)
    while not (await asyncio.wait({found}, timeout=LOOK))[0]:
        if await request.is_disconnected():
            stop.set()
    return found.result()


async def cancel(request: Request) -> Response:
    """Give up a query under way, by the id of its request."""
    served: ServedReasoner = request.app.state.served
    if not served.cancel(request, request.path_params["id"]):
        raise HTTPException(404, "no query of yours with this id is under way")
    return Response(status_code=204)


def _found(
    request: Request, served: ServedReasoner, asked: ProtocolRequest, stop: threading.Event
) -> QueryAnswer:
    """Find the answers, and write how they begin; called in a thread."""
    limits, text = served.settings, asked.query
    assert text is not None, "it was looked at before"
    with served.snapshot(_number(asked, "at")) as snapshot:
        found = QueryAnswer(snapshot.seq)
        tag = version_tag(request, served, found.seq)
        if _is_known(request, tag) and not CHANGING.search(text):
            found.is_known = True
            return found
        result = snapshot.query(
            text,
            timeout=min(limits.query_seconds, _number(asked, "timeout") or limits.query_seconds),
            memory=limits.query_bytes,
            limit_rows=limits.query_rows,
            dataset=_dataset(asked, "default", "named"),
            stop=stop,
            base=address(request),
        )
    _begin(found, request, asked, result)
    return found


def _begin(
    found: QueryAnswer, request: Request, asked: ProtocolRequest, result: QueryResult
) -> None:
    from livefacts.service.queries.result_writers import result_pieces
    from livefacts.service.queries.results import Triples

    offered = RDF if isinstance(result, Triples) else ROWS
    given = first_known(asked.all("format"), offered)
    chosen_type = chosen(request.headers.get("accept", ""), given, offered)
    found.media_type, found.is_complete = chosen_type.name, result.complete
    found.rest = result_pieces(result, chosen_type.form)
    found.start = next_chunk(found.rest)


def next_chunk(pieces: Iterator[str]) -> bytes:
    """The next pieces, at least as many bytes as a chunk has; fewer are the last ones."""
    found: list[bytes] = []
    size = 0
    for piece in pieces:
        found.append(piece.encode())
        size += len(found[-1])
        if size >= CHUNK:
            break
    return b"".join(found)


async def _sent(
    request: Request, served: ServedReasoner, found: QueryAnswer
) -> AsyncIterator[bytes]:
    chunk = found.start
    while chunk:
        yield chunk
        chunk = await served.read(request, partial(next_chunk, found.rest))


def _dataset(asked: ProtocolRequest, *kinds: str) -> Dataset | None:
    """The graphs that a request names; they count instead of those of FROM."""
    names = (asked.all(f"{kind}-graph-uri") for kind in kinds)
    default, named = (tuple(map(graph_of_address, each)) for each in names)
    return Dataset(default, named) if default or named else None


def address(request: Request) -> str:
    """Where a request goes: what relative IRIs in it are relative to."""
    return str(request.url).partition("?")[0]


def graph_of_address(name: str) -> NamedNode:
    """A graph that an address names."""
    try:
        return NamedNode(name)
    except ValueError:
        raise HTTPException(400, f"{name!r} is no absolute IRI of a graph") from None


def _number(asked: ProtocolRequest, name: str) -> int | None:
    given = asked.one(name)
    if given is not None and not (given.isascii() and given.isdecimal() and len(given) <= 18):
        raise HTTPException(400, f"{name}={given} is no whole number")
    return None if given is None else int(given)


# updates


async def _update(request: Request, served: ServedReasoner, asked: ProtocolRequest) -> Response:
    visitor = served.admit(request, AccessScope.update)
    text = asked.update
    assert text is not None, "it was looked at before"
    call = partial(
        served.reasoner.update,
        text,
        base=address(request),
        dataset=_dataset(asked, "using", "using-named"),
    )
    done = await served.change(request, visitor, "update", call)
    return JSONResponse(done, headers={"Livefacts-Seq": str(done["seq"])})
