"""The application: which path leads where, and what is around all of them."""

from __future__ import annotations

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
    graph_store,
    live_answers,
    page,
    problems,
    question_paths,
    sparql_protocol,
)
from livefacts.server.answer_headers import EXPOSED, AnswerHeaders
from livefacts.server.live_queries import LiveTopics
from livefacts.server.negotiation import LIVE

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from livefacts.server.served_reasoner import ServedReasoner

METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]
# What flows while it happens must not wait until a packer has enough of it.
NOT_PACKED = (*DEFAULT_EXCLUDED_CONTENT_TYPES, *(e.name for e in LIVE if e.form == "ndjson"))
ROUTES = [
    Route("/sparql", sparql_protocol.sparql, methods=["GET", "POST"]),
    Route("/queries/{id}", sparql_protocol.cancel, methods=["DELETE"]),
    Route("/graphs", graph_store.graphs, methods=["GET", "PUT", "POST", "DELETE"]),
    Route("/patch", change_paths.patch, methods=["GET", "POST"]),
    Route("/streams/{name:path}", change_paths.streams, methods=["POST"]),
    Route("/advance", change_paths.advance, methods=["POST"]),
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
]


SOCKETS = [
    WebSocketRoute(path, live_answers.socket)
    for path in ("/changes", "/watch", "/register", "/violations")
]


async def index(request: Request) -> Response:
    """The paths that there are."""
    paths = {route.path: sorted(route.methods or ()) for route in ROUTES}
    return JSONResponse({"paths": paths})


@asynccontextmanager
async def _running(app: Starlette) -> AsyncIterator[None]:
    live = app.state.live = LiveTopics(app.state.served)
    app.state.meters.follow(
        "livefacts_subscribers", "Live answers under way", lambda: live.subscribers
    )
    yield


def application(served: ServedReasoner) -> ASGIApp:
    """The application around one reasoner."""
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
