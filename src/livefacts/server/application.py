"""The application: which path leads where, and what is around all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from livefacts.errors import LivefactsError
from livefacts.server import figures, problems, sparql_protocol
from livefacts.server.answer_headers import EXPOSED, AnswerHeaders
from livefacts.server.negotiation import NDJSON

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from livefacts.server.served_reasoner import ServedReasoner

METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]
# What flows while it happens must not wait until a packer has enough of it.
NOT_PACKED = (*DEFAULT_EXCLUDED_CONTENT_TYPES, NDJSON.name)
ROUTES = [
    Route("/sparql", sparql_protocol.sparql, methods=["GET", "POST"]),
    Route("/health", figures.health),
    Route("/ready", figures.ready),
    Route("/stats", figures.stats),
    Route("/metrics", figures.metrics),
]


async def index(request: Request) -> Response:
    """The paths that there are."""
    paths = {route.path: sorted(route.methods or ()) for route in ROUTES}
    return JSONResponse({"paths": paths})


def application(served: ServedReasoner) -> ASGIApp:
    """The application around one reasoner."""
    inner = Starlette(
        routes=[Route("/", index), *ROUTES],
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
