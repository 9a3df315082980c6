"""The page for people: the files that `web/` is built into, served as browsers keep them best.

The page itself is small and asked for anew each time; whatever it needs has a digest in its name,
and is kept for good.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from livefacts.server.standards.negotiation import MediaType, chosen

if TYPE_CHECKING:
    from starlette.routing import BaseRoute
    from starlette.types import Scope

BUILT = Path(__file__).parent / "built_page"
HTML = MediaType("text/html", "html")
JSON = MediaType("application/json", "json")
YEAR = 365 * 24 * 3600


class HashedFiles(StaticFiles):
    """Files that never change under their names."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file, to be kept for good."""
        answer = await super().get_response(path, scope)
        answer.headers["Cache-Control"] = f"public, max-age={YEAR}, immutable"
        return answer


def is_built() -> bool:
    """Whether there is a page to serve."""
    return (BUILT / "index.html").is_file()


def routes(index: Callable[[Request], Awaitable[Response]]) -> list[BaseRoute]:
    """The page where a browser asks, and `index` for programs."""

    async def page(request: Request) -> Response:
        accept = request.headers.get("accept", "")
        if chosen(accept, request.query_params.get("format"), (JSON, HTML)) is JSON:
            return await index(request)
        return FileResponse(BUILT / "index.html", headers={"Cache-Control": "no-cache"})

    return [Route("/", page), Mount("/assets", HashedFiles(directory=BUILT / "assets"))]
