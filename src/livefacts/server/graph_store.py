"""The Graph Store Protocol: named graphs as resources, and the default graph.

What is read of the default graph is everything that is true, as queries see it; what is written
to it is asserted there.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Triple
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from livefacts.server.negotiation import format_of_body
from livefacts.server.sparql_protocol import ProtocolRequest, answer, graph_of_address
from livefacts.server.tokens import AccessScope
from livefacts.server.visitors import body_of
from livefacts.syntax.rdf.documents import read_quads

if TYPE_CHECKING:
    from livefacts.server.served_reasoner import ServedReasoner
    from livefacts.service.change.delta import Delta

Statement = Triple | Quad


async def graphs(request: Request) -> Response:
    """One graph, named by `?graph=`, or `?default`."""
    served: ServedReasoner = request.app.state.served
    graph = _graph(request)
    if request.method in ("GET", "HEAD"):
        return await _read(request, served, graph)
    visitor = served.admit(request, AccessScope.update)
    if request.method == "DELETE":
        call = partial(served.reasoner.update, _drop(graph))
    else:
        form = format_of_body(request.headers.get("content-type", ""))
        body = await body_of(request, served.settings)
        replaces = request.method == "PUT"
        call = partial(_write, served, graph, body, form, replaces)
    done = await served.change(request, visitor, f"graph {request.method}", call)
    return JSONResponse(done, headers={"Livefacts-Seq": str(done["seq"])})


def _graph(request: Request) -> NamedNode | None:
    """The graph that a request names; None is the default one."""
    names = request.query_params.getlist("graph")
    is_default = "default" in request.query_params
    if len(names) + is_default != 1:
        raise HTTPException(400, "one graph is wanted\nhint: /graphs?default, or /graphs?graph=IRI")
    return None if is_default else graph_of_address(names[0])


async def _read(request: Request, served: ServedReasoner, graph: NamedNode | None) -> Response:
    pattern = "?s ?p ?o" if graph is None else f"GRAPH {graph} {{ ?s ?p ?o }}"
    if graph is not None:
        known = partial(_is_there, served, f"ASK {{ {pattern} }}")
        if not await served.read(request, known):
            raise HTTPException(404, f"there is no graph {graph}")
    text = f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {pattern} }}"
    kept = [(name, value) for name, value in request.query_params.multi_items() if name in KEPT]
    return await answer(request, served, ProtocolRequest(text, None, tuple(kept)))


KEPT = ("at", "format", "timeout")


def _is_there(served: ServedReasoner, text: str) -> bool:
    with served.snapshot() as snapshot:
        return bool(snapshot.query(text))


def _drop(graph: NamedNode | None) -> str:
    every = "?s ?p ?o"
    return f"DELETE WHERE {{ {every if graph is None else f'GRAPH {graph} {{ {every} }}'} }}"


def _write(
    served: ServedReasoner, graph: NamedNode | None, body: bytes, form: str, replaces: bool
) -> Delta:
    """Add what was sent to a graph, or put it into its place; called in a thread."""
    statements = _statements(body, form, graph)
    if not replaces:
        return served.reasoner.add(statements)
    # Both in one change: no reader sees the graph empty in between.
    lines = "".join(f"{_triple(each)} .\n" for each in statements)
    inside = lines if graph is None else f"GRAPH {graph} {{ {lines} }}"
    return served.reasoner.update(f"{_drop(graph)} ; INSERT DATA {{ {inside} }}")


def _triple(statement: Statement) -> Triple:
    return statement.triple if isinstance(statement, Quad) else statement


def _statements(body: bytes, form: str, graph: NamedNode | None) -> list[Statement]:
    """What was sent, in the graph that was named; blank nodes are new ones."""
    nodes: dict[BlankNode, BlankNode] = {}
    found: list[Statement] = []
    for quad in read_quads(body, format=form, name="the request"):
        s, p, o = (_renamed(each, nodes) for each in (quad.subject, quad.predicate, quad.object))
        into = graph or (None if isinstance(quad.graph_name, DefaultGraph) else quad.graph_name)
        triple = Triple(s, p, o)  # type: ignore[arg-type]
        found.append(
            triple if into is None else Quad(triple.subject, triple.predicate, triple.object, into)
        )
    return found


def _renamed(term: object, nodes: dict[BlankNode, BlankNode]) -> object:
    return nodes.setdefault(term, BlankNode()) if isinstance(term, BlankNode) else term
