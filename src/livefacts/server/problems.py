"""Problems: what went wrong, as the JSON of RFC 9457 with what, where and a hint.

`detail` is the whole message for people; `what`, `where` and `hint` are its parts for programs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from http import HTTPStatus
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from livefacts.errors import (
    ConflictError,
    DamageError,
    ForgottenError,
    LimitError,
    LivefactsError,
    Place,
    StoppedError,
    ViolationError,
)

PROBLEM = "application/problem+json"
STATUSES: Mapping[type[LivefactsError], int] = {
    LimitError: 503,
    StoppedError: 503,
    DamageError: 503,
    ForgottenError: 410,
    ConflictError: 409,
    ViolationError: 409,
}
"""What an error means to a client; all others are mistakes in what was asked."""


def problem(
    request: Request,
    status: int,
    what: str,
    *,
    title: str = "",
    where: Place | None = None,
    hint: str = "",
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A problem as an answer."""
    place = where if where is not None and (where.file or where.line) else None
    lines = [what, *([place.shown()] if place else ()), *([f"hint: {hint}"] if hint else ())]
    parts = {
        "type": "about:blank",
        "title": title or what,
        "status": status,
        "what": what,
        "where": None if place is None else asdict(place),
        "hint": hint,
        "detail": "\n".join(lines),
        "request": request.scope.get("request_id"),
    }
    return Response(
        json.dumps(parts, ensure_ascii=False), status, headers=headers, media_type=PROBLEM
    )


def of_error(request: Request, error: Exception) -> Response:
    """An error of livefacts as an answer."""
    assert isinstance(error, LivefactsError), "it is registered for these"
    place = error.place
    if place is not None:
        place = replace(place, file=without_path(request, place.file))
    kinds = (status for kind, status in STATUSES.items() if isinstance(error, kind))
    return problem(
        request,
        next(kinds, 400),
        without_path(request, error.message),
        title=type(error).__name__,
        where=place,
        hint=without_path(request, error.hint),
    )


def without_path(request: HTTPConnection, text: str) -> str:
    """A text in which the folder has its name alone: where it is concerns no client."""
    folder: Path = request.app.state.served.reasoner.path
    return text.replace(str(folder), folder.name)


def of_http(request: Request, error: Exception) -> Response:
    """A refusal of the protocol as an answer; what follows "hint: " in it is the hint."""
    assert isinstance(error, HTTPException), "it is registered for these"
    what, _, hint = error.detail.partition("\nhint: ")
    if what == HTTPStatus.NOT_FOUND.phrase:
        what, hint = f"there is no path {request.url.path}", "/ lists the paths"
    return problem(request, error.status_code, what, hint=hint, headers=error.headers)


def of_mistake(request: Request, error: Exception) -> Response:
    """A mistake of ours: what it was stands in the log, beside the id of the request."""
    return problem(
        request, 500, "the server made a mistake", hint="its log has more under the request's id"
    )
