"""Change paths: changes that the SPARQL protocol has no words for.

Facts and rules in one change, RDF Patch, rules, ontologies, previews, and the way back.
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

from livefacts.language.checks.relevance import fed_rules
from livefacts.server.admission.served_reasoner import summary
from livefacts.server.admission.tokens import AccessScope
from livefacts.server.admission.visitors import Visitor, text_of_body, whole_number
from livefacts.server.change_events import RowReader
from livefacts.server.standards.negotiation import PATCH

if TYPE_CHECKING:
    from collections.abc import Callable

    from livefacts.language.program import Rule
    from livefacts.server.admission.served_reasoner import ServedReasoner
    from livefacts.service.change.delta import Delta
    from livefacts.service.reasoner.profile import RuleProfile

MOST_SHOWN = 10_000
"""So many facts of a preview are shown."""
MOST_CHANGES = 10_000
"""So many changes are in one patch."""
RULES_SENT = "the body is the text of rules; curl takes a text that begins with @ by --data-raw"
OF_FACTS = ("add", "remove", "patch")
OF_RULES = ("add_rules", "remove_rules")
OF_ONTOLOGIES = ("add", "remove", "to")


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


async def advance(request: Request) -> Response:
    """Move time on; further than events may is said twice."""
    served = _served(request)
    visitor = served.admit(request, AccessScope.update)
    to = whole_number(request, "to")
    if to is None:
        raise HTTPException(400, "there is no time\nhint: /advance?to=17")
    now = served.reasoner.now
    if "far" not in request.query_params and served.is_too_far(to, now):
        raise HTTPException(
            409,
            f"{to} is more than {served.settings.max_ahead} after {now}, and time never goes back\n"
            f"hint: /advance?to={to}&far moves it all the same",
        )
    return await _changed(request, visitor, "advance", partial(served.reasoner.advance, to))


async def rules(request: Request) -> Response:
    """The rules: GET lists them, POST adds some, DELETE removes one by its id."""
    served = _served(request)
    reasoner = served.reasoner
    if request.method in ("GET", "HEAD"):
        listed = await served.read(request, partial(_listed, served))
        return JSONResponse({"rules": listed, "prefixes": reasoner.prefixes})
    visitor = served.admit(request, AccessScope.rules)
    if request.method == "DELETE":
        name = request.query_params.get("id")
        if name is None:
            raise HTTPException(400, "there is no rule\nhint: /rules?id=r1")
        return await _changed(
            request, visitor, "remove rules", partial(reasoner.remove_rules, name)
        )
    text = await text_of_body(request, served.settings)
    if not text.strip():
        raise HTTPException(400, f"no rules were sent\nhint: {RULES_SENT}")
    # A text that is the name of a rule set, or of a file of the server, is not what was sent.
    return await _changed(
        request, visitor, "add rules", lambda: reasoner.add_rules(_read_rules(text))
    )


def _listed(served: ServedReasoner) -> list[dict[str, Any]]:
    """The rules: what each feeds, has found and cost; some share a line of that."""
    lines = {name: line for line in served.reasoner.profile() for name in line.rules}
    rules = tuple(served.reasoner.rules)
    feeds = [[rules[number].id for number in fed] for fed in fed_rules(rules)]
    return [_rule(rule, fed, lines.get(rule.id)) for rule, fed in zip(rules, feeds, strict=True)]


def _rule(rule: Rule, feeds: list[str], line: RuleProfile | None) -> dict[str, Any]:
    said = {"id": rule.id, "text": str(rule), "constraint": rule.is_constraint, "feeds": feeds}
    if line is None:
        return said
    counts = {"instances": line.instances, "new": line.new, "seconds": round(line.seconds, 6)}
    return {**said, **counts, "shared_by": len(line.rules)}


def _read_rules(text: str) -> Any:
    from livefacts.syntax.rulelang.rule_parser import parse

    return parse(text)


async def ontology(request: Request) -> Response:
    """The ontology that rules were made from: GET tells of it, POST changes its axioms."""
    served = _served(request)
    if request.method in ("GET", "HEAD"):
        return JSONResponse(await served.read(request, partial(_ontology, served)))
    visitor = served.admit(request, AccessScope.rules)
    texts = await _texts(request, OF_ONTOLOGIES)
    # A text with a line break is no path: no file of the server is read.
    given = {name: f"{text}\n" for name, text in texts.items()}
    call = partial(served.reasoner.change_ontology, **given)
    return await _changed(request, visitor, "change ontology", call)


def _ontology(served: ServedReasoner) -> dict[str, Any]:
    report = served.reasoner.ontology()
    return {
        "axioms": [report.words(each) for each in islice(report.axioms, MOST_SHOWN)],
        "inexpressible": [*islice(report.reasons(), MOST_SHOWN)],
        "imports": report.imports,
        "text": report.summary(),
    }


async def apply(request: Request) -> Response:
    """Facts and rules that come and go, in one change."""
    served = _served(request)
    visitor = served.admit(request, AccessScope.update)
    given = await _texts(request, (*OF_FACTS, *OF_RULES))
    if any(name in given for name in OF_RULES):
        visitor.must_have(AccessScope.rules)
    return await _changed(request, visitor, "apply", lambda: served.reasoner.apply(**_read(given)))


async def preview(request: Request) -> Response:
    """What such a change would do; nothing changes."""
    served = _served(request)
    served.admit(request, AccessScope.update)
    given = await _texts(request, (*OF_FACTS, *OF_RULES))
    return JSONResponse(await served.read(request, lambda: _shown(served, _read(given))))


async def _texts(request: Request, names: tuple[str, ...]) -> dict[str, str]:
    """The texts that a request brings as an object of JSON."""
    try:
        given = json.loads(await text_of_body(request, _served(request).settings))
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"this is no JSON: {error}") from None
    if not isinstance(given, dict) or not all(isinstance(each, str) for each in given.values()):
        raise HTTPException(400, f"an object with texts is wanted: {', '.join(names)}")
    unknown = [name for name in given if name not in names]
    if unknown:
        raise HTTPException(400, f"{unknown[0]} is not known; there are {', '.join(names)}")
    return given


def _read(given: dict[str, str]) -> dict[str, Any]:
    """The arguments of `apply`; a text that names a rule set, or a file, is not what was sent."""
    rules = given.get("add_rules")
    return {**given, **({} if rules is None else {"add_rules": _read_rules(rules)})}


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
