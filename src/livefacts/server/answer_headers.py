"""Answer headers: what every answer carries, whoever made it, and how it is counted.

Each request has an id, its own or a new one; each answer has it, the number of the last change,
and what keeps a browser from doing more with it than it should.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Collection
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from livefacts.server.admission.served_reasoner import ServedReasoner
    from livefacts.server.figures import Meters

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")
REQUEST_ID = "X-Request-Id"
SEQ = "Livefacts-Seq"
EXPOSED = (REQUEST_ID, SEQ, "Livefacts-Complete", "ETag", "Location", "Retry-After")
FITTING = re.compile(r"[A-Za-z0-9_.-]{1,64}")
SAFE = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
}


class AnswerHeaders:
    """Around the whole application, so that errors carry them, too."""

    def __init__(
        self, app: ASGIApp, served: ServedReasoner, meters: Meters, paths: Collection[str]
    ) -> None:
        self._app = app
        self._served = served
        self._meters = meters
        self._paths = frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID, "")
        scope["request_id"] = given if FITTING.fullmatch(given) else uuid.uuid4().hex
        started = time.perf_counter()

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._complete(scope, message, time.perf_counter() - started)
            await send(message)

        await self._app(scope, receive, sent)

    def _complete(self, scope: Scope, message: Message, seconds: float) -> None:
        headers = MutableHeaders(raw=message.setdefault("headers", []))
        headers[REQUEST_ID] = scope["request_id"]
        headers.setdefault(SEQ, str(self._served.reasoner.seq))
        for name, value in SAFE.items():
            headers.setdefault(name, value)
        # Whatever a client makes up is counted as one: each name takes memory for good.
        first = "/" + scope["path"].removeprefix("/").partition("/")[0]
        path = first if first in self._paths else "other"
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._meters.requests.labels(path, method, str(message["status"])).inc()
        self._meters.seconds.labels(path).observe(seconds)
