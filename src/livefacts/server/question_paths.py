"""Question paths: why something holds, what has happened, and whether all of it is right."""

from __future__ import annotations

import time
from collections import Counter, deque
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from livefacts.journal import fact_texts
from livefacts.journal.change_log import FOLDER
from livefacts.server.admission.tokens import AccessScope
from livefacts.server.admission.visitors import text_of_body, whole_number
from livefacts.service.knowledge import recorder

if TYPE_CHECKING:
    from livefacts.journal.change_log import JournalRow
    from livefacts.server.admission.served_reasoner import ServedReasoner

ARRIVED = "arrived"
SAID = ("at", "to", "stream", "author", "note")
LISTED = 1_000
"""So many changes are listed, the last ones."""


async def explain(request: Request) -> Response:
    """Why a fact holds, or what is missing for it: `?fact=`, or the text of one by POST."""
    served: ServedReasoner = request.app.state.served
    fact = request.query_params.get("fact")
    if request.method == "POST" and fact is None:
        fact = await text_of_body(request, served.settings)
    if not fact:
        raise HTTPException(400, "there is no fact\nhint: /explain?fact=<x:a> <x:b> <x:c>")
    found = await served.read(request, partial(served.reasoner.explain, fact))
    match request.query_params.get("format", "json"):
        case "text":
            return Response(f"{found}\n", media_type="text/plain")
        case "dot":
            return Response(found.to_dot(), media_type="text/vnd.graphviz")
        case "json":
            return JSONResponse({"holds": found.holds, "text": str(found), **found.to_dict()})
        case other:
            raise HTTPException(406, f"{other} is not known; there are json, text and dot")


async def log(request: Request) -> Response:
    """The changes that are kept, the last ones: number, time, kind, and counts."""
    served: ServedReasoner = request.app.state.served
    since = whole_number(request, "since")
    return JSONResponse({"changes": await served.read(request, lambda: _log(served, since))})


def _log(served: ServedReasoner, since: int | None) -> list[dict[str, Any]]:
    rows = served.reasoner.log() if since is None else served.reasoner.tail(since).rows()
    changes = (row for row in rows if row.first <= row.last)
    return [_line(served, row) for row in deque(changes, LISTED)]


def _line(served: ServedReasoner, row: JournalRow) -> dict[str, Any]:
    made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(row.time))
    counts = Counter[str]()
    for name, count in fact_texts.counts_of(row.content, served.reasoner.path / FOLDER).items():
        # What arrived in a stream is kept in runs of the same lifetime.
        counts[ARRIVED if name.startswith(recorder.RUN) else name] += count
    said = {name: row.content[name] for name in SAID if name in row.content}
    return {"seq": row.last, "time": made, "kind": row.kind, "counts": counts, **said}


async def verify(request: Request) -> Response:
    """Compute everything anew, and compare; takes its time."""
    served: ServedReasoner = request.app.state.served
    served.admit(request, AccessScope.admin)
    report = await served.read(request, served.reasoner.verify)
    said = {"ok": report.ok, "facts": report.facts, "seconds": report.seconds, "text": str(report)}
    return JSONResponse(said)
