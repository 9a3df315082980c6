"""The Graph Store Protocol: named graphs as resources, and the default graph.

What is read of the default graph is everything that is true, as queries see it; what is written
to it is asserted there.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from email import message_from_bytes, policy
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Triple
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from livefacts.server.admission.tokens import AccessScope
from livefacts.server.admission.visitors import body_of
from livefacts.server.standards.negotiation import format_of_body
from livefacts.server.standards.sparql_protocol import (
    ProtocolRequest,
    address,
    answer,
    graph_of_address,
)
from livefacts.syntax.rdf.documents import read_quads

if TYPE_CHECKING:
    from livefacts.server.admission.served_reasoner import ServedReasoner
    from livefacts.service.change.delta import Delta

Statement = Triple | Quad
STORE = "/graphs"
SAFE = "/:?#[]@!$&'()*+,;=%~"
"""What stands for itself in an address; a header has nothing beyond ASCII."""
FORM_DATA = "multipart/form-data"


async def graphs(request: Request) -> Response:
    """One graph: `?graph=IRI`, `?default`, or the one whose IRI is the address itself."""
    served: ServedReasoner = request.app.state.served
    if request.method in ("GET", "HEAD"):
        return await _read(request, served, _graph(request))
    visitor = served.admit(request, AccessScope.update)
    graph, is_new = _graph(request), False
    if request.method == "DELETE":
        call = partial(_delete, served, graph)
    else:
        parts = [*_parts(request, await body_of(request, served.settings))]
        is_new = not await served.read(request, partial(_is_there, served, graph))
        base = address(request) if graph is None else graph.value
        call = partial(_write, served, graph, parts, base, request.method == "PUT")
    done = await served.change(request, visitor, f"graph {request.method}", call)
    headers = {"Livefacts-Seq": str(done["seq"])}
    if is_new and graph is not None:
        headers["Location"] = quote(graph.value, safe=SAFE)
    return JSONResponse(done, 201 if is_new else 200, headers)


def _graph(request: Request) -> NamedNode | None:
    """The graph that a request names; None is the default one."""
    names = request.query_params.getlist("graph")
    is_default = "default" in request.query_params
    direct = request.path_params.get("rest", "").strip("/")
    if len(names) + is_default + bool(direct) > 1:
        raise HTTPException(400, "more than one graph is named")
    if is_default:
        return None
    if names:
        return graph_of_address(names[0])
    if not direct:
        if request.method != "POST":
            raise HTTPException(
                400, f"a graph is wanted\nhint: {STORE}?default, or {STORE}?graph=IRI"
            )
        # What is sent to the store itself becomes a graph, which the answer names.
        return graph_of_address(f"{address(request).rstrip('/')}/{uuid.uuid4()}")
    return graph_of_address(address(request))


def _nothing(graph: NamedNode | None) -> HTTPException:
    return HTTPException(404, f"there is no graph {graph or ''}".rstrip())


def _parts(request: Request, body: bytes) -> Iterator[tuple[bytes, str]]:
    """The documents that a request brings, each with its format."""
    kind = request.headers.get("content-type", "")
    if kind.partition(";")[0].strip().lower() != FORM_DATA:
        yield body, format_of_body(kind)
        return
    head = f"Content-Type: {kind}\r\n\r\n".encode("latin-1")
    message = message_from_bytes(head + body, policy=policy.HTTP)
    if not message.is_multipart():
        raise HTTPException(400, f"this is no {FORM_DATA}")
    for part in message.iter_parts():
        content = part.get_payload(decode=True)
        yield content if isinstance(content, bytes) else b"", format_of_body(part["content-type"])


async def _read(request: Request, served: ServedReasoner, graph: NamedNode | None) -> Response:
    if graph is not None and not await served.read(request, partial(_is_there, served, graph)):
        raise _nothing(graph)
    text = f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {_all(graph)} }}"
    kept = [(name, value) for name, value in request.query_params.multi_items() if name in KEPT]
    return await answer(request, served, ProtocolRequest(text, None, tuple(kept)))


KEPT = ("at", "format", "timeout")


def _all(graph: NamedNode | None) -> str:
    return "?s ?p ?o" if graph is None else f"GRAPH {graph} {{ ?s ?p ?o }}"


def _is_there(served: ServedReasoner, graph: NamedNode | None) -> bool:
    """Whether a graph has something; called in a thread."""
    with served.snapshot() as snapshot:
        return bool(snapshot.query(f"ASK {{ {_all(graph)} }}"))


def _drop(graph: NamedNode | None) -> str:
    return f"DELETE WHERE {{ {_all(graph)} }}"


def _delete(served: ServedReasoner, graph: NamedNode | None) -> Delta:
    """Empty a graph, if it has something; called in a thread, and not for a key that is known."""
    if graph is not None and not _is_there(served, graph):
        raise _nothing(graph)
    return served.reasoner.update(_drop(graph))


def _write(
    served: ServedReasoner,
    graph: NamedNode | None,
    parts: list[tuple[bytes, str]],
    base: str,
    replaces: bool,
) -> Delta:
    """Add what was sent to a graph, or put it into its place; called in a thread."""
    statements = [s for body, form in parts for s in _statements(body, form, graph, base)]
    if not replaces:
        return served.reasoner.add(statements)
    # Both in one change: no reader sees the graph empty in between.
    lines = "".join(f"{_triple(each)} .\n" for each in statements)
    inside = lines if graph is None else f"GRAPH {graph} {{ {lines} }}"
    return served.reasoner.update(f"{_drop(graph)} ; INSERT DATA {{ {inside} }}")


def _triple(statement: Statement) -> Triple:
    return statement.triple if isinstance(statement, Quad) else statement


def _statements(body: bytes, form: str, graph: NamedNode | None, base: str) -> list[Statement]:
    """What was sent, in the graph that was named; blank nodes are new ones."""
    nodes: dict[BlankNode, BlankNode] = {}
    found: list[Statement] = []
    for quad in read_quads(body, format=form, base=base, name="the request"):
        s, p, o = (_renamed(each, nodes) for each in (quad.subject, quad.predicate, quad.object))
        into = graph or (None if isinstance(quad.graph_name, DefaultGraph) else quad.graph_name)
        triple = Triple(s, p, o)  # type: ignore[arg-type]
        found.append(
            triple if into is None else Quad(triple.subject, triple.predicate, triple.object, into)
        )
    return found


def _renamed(term: object, nodes: dict[BlankNode, BlankNode]) -> object:
    return nodes.setdefault(term, BlankNode()) if isinstance(term, BlankNode) else term
