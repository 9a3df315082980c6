"""Change paths: changes that the SPARQL protocol has no words for.

RDF Patch, events of streams, rules, previews, and the way back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from livefacts.errors import InputError
from livefacts.server.change_events import RowReader
from livefacts.server.negotiation import PATCH
from livefacts.server.served_reasoner import summary
from livefacts.server.tokens import AccessScope
from livefacts.server.visitors import Visitor, body_of, text_of_body, whole_number
from livefacts.syntax.input.rejects import Rejects
from livefacts.syntax.stream_files import read_events

if TYPE_CHECKING:
    from collections.abc import Callable

    from livefacts.server.served_reasoner import ServedReasoner
    from livefacts.service.change.delta import Delta

MOST_SHOWN = 10_000
"""So many facts of a preview are shown."""
MOST_CHANGES = 10_000
"""So many changes are in one patch."""
PREVIEWED = ("add", "remove", "patch", "add_rules", "remove_rules")
FORMATS = {
    "application/x-ndjson": "json",
    "application/ndjson": "json",
    "application/n-quads": "quads",
}
FORMATS |= {"application/json": "json", "application/n-triples": "quads", PATCH.name: "patch"}


def _served(request: Request) -> ServedReasoner:
    served: ServedReasoner = request.app.state.served
    return served


async def _changed(
    request: Request, visitor: Visitor, action: str, call: Callable[[], Delta]
) -> Response:
    done = await _served(request).change(request, visitor, action, call)
    return JSONResponse(done, headers={"Livefacts-Seq": str(done["seq"])})


async def patch(request: Request) -> Response:
    """RDF Patch: by POST a change, by GET the changes after a number."""
    served = _served(request)
    if request.method == "POST":
        visitor = served.admit(request, AccessScope.update)
        text = await text_of_body(request, served.settings)
        call = partial(served.reasoner.apply, patch=text)
        return await _changed(request, visitor, "patch", call)
    since, asserted = whole_number(request, "since") or 0, "asserted" in request.query_params
    text = await served.read(request, lambda: "".join(_patches(served, since, asserted)))
    return Response(text, media_type=PATCH.name)


def _patches(served: ServedReasoner, since: int, asserted: bool) -> Iterator[str]:
    reader = RowReader()
    for row in islice(served.reasoner.tail(since).rows(), MOST_CHANGES):
        yield reader.patch(row, asserted=asserted)


async def streams(request: Request) -> Response:
    """Events of a stream, with their times; time moves on to the last of them."""
    served = _served(request)
    visitor = served.admit(request, AccessScope.update)
    name = request.path_params["name"]
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in FORMATS:
        raise HTTPException(
            415, f"{kind or 'nothing'} cannot be read here; send one of {', '.join(FORMATS)}"
        )
    body = await body_of(request, served.settings)
    stream = name if ":" in name else f"stream:{name}"
    waits = request.query_params.get("advance") == "false"
    call = partial(_push, served, body, FORMATS[kind], stream, waits)
    return await _changed(request, visitor, f"push to {stream}", call)


def _push(served: ServedReasoner, body: bytes, form: str, stream: str, waits: bool) -> Delta:
    """Push events, all or none of which can be read; called in a thread."""
    reasoner = served.reasoner
    with Rejects(None) as rejects:
        events = list(read_events(body, rejects, form))
    for reject in rejects.kept[:1]:
        raise reject.as_error()
    if not events:
        raise InputError("there are no events", hint='{"at": 17, "facts": "<s> <p> <o> ."}')
    for event in events:
        move = reasoner.retract if event.retracts else reasoner.push
        delta = move(event.facts, at=event.time, stream=event.stream or stream)
    return delta if waits else reasoner.advance(max((each.time for each in events), key=_order))


def _order(time: Any) -> Any:
    return time if isinstance(time, int) else str(time)


async def advance(request: Request) -> Response:
    """Move time on."""
    served = _served(request)
    visitor = served.admit(request, AccessScope.update)
    to = whole_number(request, "to")
    if to is None:
        raise HTTPException(400, "there is no time\nhint: /advance?to=17")
    return await _changed(request, visitor, "advance", partial(served.reasoner.advance, to))


async def rules(request: Request) -> Response:
    """The rules: GET lists them, POST adds some, DELETE removes one by its id."""
    served = _served(request)
    reasoner = served.reasoner
    if request.method in ("GET", "HEAD"):
        listed = await served.read(request, lambda: [_rule(each) for each in reasoner.rules])
        return JSONResponse({"rules": listed})
    visitor = served.admit(request, AccessScope.rules)
    if request.method == "DELETE":
        name = request.query_params.get("id")
        if name is None:
            raise HTTPException(400, "there is no rule\nhint: /rules?id=r1")
        return await _changed(
            request, visitor, "remove rules", partial(reasoner.remove_rules, name)
        )
    text = await text_of_body(request, served.settings)
    # A text that is the name of a rule set, or of a file of the server, is not what was sent.
    return await _changed(
        request, visitor, "add rules", lambda: reasoner.add_rules(_read_rules(text))
    )


def _rule(rule: Any) -> dict[str, Any]:
    return {"id": rule.id, "text": str(rule), "constraint": rule.is_constraint}


def _read_rules(text: str) -> Any:
    from livefacts.syntax.rulelang.rule_parser import parse

    return parse(text)


async def preview(request: Request) -> Response:
    """What a change would do; nothing changes."""
    served = _served(request)
    served.admit(request, AccessScope.update)
    try:
        given = json.loads(await text_of_body(request, served.settings))
    except ValueError as error:
        raise HTTPException(400, f"this is no JSON: {error}") from None
    if not isinstance(given, dict) or not all(isinstance(each, str) for each in given.values()):
        raise HTTPException(400, f"texts of {', '.join(PREVIEWED)} are wanted")
    unknown = [name for name in given if name not in PREVIEWED]
    if unknown:
        raise HTTPException(400, f"{unknown[0]} is not known; there are {', '.join(PREVIEWED)}")
    if "add_rules" in given:
        given["add_rules"] = _read_rules(given["add_rules"])
    return JSONResponse(await served.read(request, lambda: _shown(served, given)))


def _shown(served: ServedReasoner, given: dict[str, Any]) -> dict[str, Any]:
    delta = served.reasoner.preview(**given)
    return {**summary(delta, served.reasoner.now), **_facts(delta)}


def _facts(delta: Delta) -> dict[str, Any]:
    added, removed = (islice(each, MOST_SHOWN) for each in (delta.added, delta.removed))
    return {"added": [*map(str, added)], "removed": [*map(str, removed)]}


async def undo(request: Request) -> Response:
    """Take one change back by another; `?preview` only says what that would do."""
    served = _served(request)
    visitor = served.admit(request, AccessScope.update)
    seq = whole_number(request, "seq")
    if seq is None:
        raise HTTPException(400, "there is no change\nhint: /undo?seq=17")
    if "preview" in request.query_params:

        def looked() -> dict[str, Any]:
            delta = served.reasoner.undo(seq, preview=True)
            return {**summary(delta, served.reasoner.now), **_facts(delta)}

        return JSONResponse(await served.read(request, looked))
    return await _changed(request, visitor, f"undo {seq}", partial(served.reasoner.undo, seq))
