"""The application: which path leads where, and what is around all of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute

from livefacts.errors import LivefactsError
from livefacts.server import (
    change_paths,
    figures,
    live_answers,
    openapi,
    page,
    problems,
    pushed_events,
    question_paths,
)
from livefacts.server.answer_headers import EXPOSED, METHODS, AnswerHeaders
from livefacts.server.live_queries import LiveTopics
from livefacts.server.standards import graph_store, sparql_protocol
from livefacts.server.standards.negotiation import LIVE

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from livefacts.server.admission.served_reasoner import ServedReasoner
    from livefacts.server.followed_sources import FollowedSources

# What flows while it happens must not wait until a packer has enough of it.
NOT_PACKED = (*DEFAULT_EXCLUDED_CONTENT_TYPES, *(e.name for e in LIVE if e.form == "ndjson"))


async def described(request: Request) -> Response:
    """What is ours of the paths, for programs."""
    return JSONResponse(openapi.document())


ROUTES = [
    Route("/sparql", sparql_protocol.sparql, methods=["GET", "POST"]),
    Route("/sparql/", sparql_protocol.sparql, methods=["GET", "POST"]),
    Route("/queries/{id}", sparql_protocol.cancel, methods=["DELETE"]),
    Route("/graphs", graph_store.graphs, methods=["GET", "PUT", "POST", "DELETE"]),
    Route("/graphs/{rest:path}", graph_store.graphs, methods=["GET", "PUT", "POST", "DELETE"]),
    Route("/patch", change_paths.patch, methods=["GET", "POST"]),
    Route("/streams/{name:path}", pushed_events.streams, methods=["POST"]),
    Route("/advance", change_paths.advance, methods=["POST"]),
    Route("/apply", change_paths.apply, methods=["POST"]),
    Route("/ontology", change_paths.ontology, methods=["GET", "POST"]),
    Route("/rules", change_paths.rules, methods=["GET", "POST", "DELETE"]),
    Route("/preview", change_paths.preview, methods=["POST"]),
    Route("/undo", change_paths.undo, methods=["POST"]),
    Route("/explain", question_paths.explain, methods=["GET", "POST"]),
    Route("/log", question_paths.log),
    Route("/verify", question_paths.verify, methods=["POST"]),
    Route("/changes", live_answers.changes),
    Route("/watch", live_answers.watch, methods=["GET", "POST"]),
    Route("/register", live_answers.register, methods=["GET", "POST", "DELETE"]),
    Route("/violations", live_answers.violations),
    Route("/health", figures.health),
    Route("/ready", figures.ready),
    Route("/stats", figures.stats),
    Route("/metrics", figures.metrics),
    Route("/openapi.json", described),
]


SOCKETS = [
    WebSocketRoute(path, live_answers.socket)
    for path in ("/changes", "/watch", "/register", "/violations")
]


def _written(path: str) -> str:
    """A path as people write it.

    >>> _written("/graphs/{rest:path}"), _written("/streams/{name:path}")
    ('/graphs/...', '/streams/{name}')
    """
    return path.replace("{rest:path}", "...").replace(":path}", "}")


async def index(request: Request) -> Response:
    """The paths that there are."""
    paths = {_written(route.path): sorted(route.methods or ()) for route in ROUTES}
    return JSONResponse({"paths": paths})


@asynccontextmanager
async def _running(app: Starlette) -> AsyncIterator[None]:
    served: ServedReasoner = app.state.served
    sources: FollowedSources = app.state.sources
    live = app.state.live = LiveTopics(served)
    loop = asyncio.get_running_loop()
    ending = app.state.ending = asyncio.Event()
    served.when_stopping += [sources.stop, lambda: loop.call_soon_threadsafe(ending.set)]
    sources.begin(lambda seq: loop.call_soon_threadsafe(served.acknowledge, seq))
    app.state.meters.follow(
        "livefacts_subscribers", "Live answers under way", lambda: live.subscribers
    )
    app.state.meters.follow_sources(sources.followers)
    yield
    await asyncio.to_thread(sources.close)


def application(served: ServedReasoner, sources: FollowedSources) -> ASGIApp:
    """The application around one reasoner, and the sources that it follows."""
    has_page = served.settings.has_page and page.is_built()
    first = page.routes(index) if has_page else [Route("/", index)]
    inner = Starlette(
        lifespan=_running,
        routes=[*first, *ROUTES, *SOCKETS],
        exception_handlers={
            LivefactsError: problems.of_error,
            HTTPException: problems.of_http,
            Exception: problems.of_mistake,
        },
    )
    inner.state.served = served
    inner.state.sources = sources
    inner.state.meters = figures.Meters(served)
    packed = GZipMiddleware(inner, compresslevel=4, exclude_content_types=NOT_PACKED)
    shared = CORSMiddleware(
        packed,
        allow_origins=served.settings.origins,
        allow_methods=METHODS,
        allow_headers=["*"],
        expose_headers=EXPOSED,
        max_age=86_400,
    )
    paths = {"/" + route.path.split("/")[1] for route in ROUTES}
    return AnswerHeaders(shared, served, inner.state.meters, paths)
