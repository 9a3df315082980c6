"""Errors in the envelope of a registered query, in words: what stands there, and what could."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from livefacts.errors import Place, QueryError

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput

WINDOW_FORMS = (
    "windows are [RANGE 10s STEP 1s], [RANGE 10s TUMBLING] and [TRIPLES 10], "
    "with BOUNDS CLOSED before ] if both ends belong to it"
)
_IRI = re.compile(r"<[^<>\s]+>")
HINTS = {
    "[": WINDOW_FORMS,
    "RANGE": f"a length of time follows, such as 10s, 1 min or PT10S; {WINDOW_FORMS}",
    "STEP": "a length of time follows, such as 1s, 1 min or PT10S",
    "TRIPLES": "a number of triples follows: [TRIPLES 10]",
    "FROM": "an IRI follows, or NAMED, or STREAM <iri> [RANGE 10s STEP 1s]",
    "NAMED": "an IRI follows, or WINDOW <name> ON <stream> [RANGE 10s STEP 1s]",
    "STREAM": "the IRI of the stream follows, and its window: <iri> [RANGE 10s STEP 1s]",
    "ON": "the IRI of the stream follows, and its window: <iri> [RANGE 10s STEP 1s]",
    "WINDOW": "the name of a window follows, and { or ON <stream>",
    "BOUNDS": "CLOSED follows: both ends belong to the window; without BOUNDS, the later one does",
    "EVERY": "a length of time follows, such as 1s, 1 min or PT10S, and AS",
    "REGISTER": "QUERY, STREAM, RSTREAM, ISTREAM or DSTREAM follows, a name, and AS",
    "COMPUTE": "EVERY follows, and a length of time",
    "AS": "SELECT, ASK or CONSTRUCT follows",
    "PREFIX": "a prefix and its IRI follow: PREFIX ex: <http://example.org/>",
    "BASE": "an IRI follows: BASE <http://example.org/>",
}
NEAR_ENDS = frozenset(["STREAM", "ON", "WINDOW", "NAMED", "FROM"])


def explained(text: str, error: UnexpectedInput) -> QueryError:
    """The error of the parser, as one that says what, where and what to do."""
    from lark import Token
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    place = _place(text, error)
    if isinstance(error, UnexpectedCharacters):
        if text[error.pos_in_stream or 0] in "\"'":
            return QueryError(
                "a string that does not end", place=place, hint="close it with the same quotes"
            )
        return QueryError("a character that means nothing here", place=place)
    assert isinstance(error, UnexpectedToken), "the parser meets characters and tokens"
    stack = error.interactive_parser.parser_state.value_stack if error.interactive_parser else []
    before = [part for part in stack if isinstance(part, Token)]
    hint = next((HINTS[t.type] for t in reversed(before) if t.type in HINTS), "")
    if before and before[-1].type == "LSQB":
        hint = WINDOW_FORMS
    if error.token.type == "$END":
        return QueryError("the query ends too early", place=place, hint=hint)
    return QueryError(f"{error.token} is not expected here", place=place, hint=hint)


def as_written(text: str, error: QueryError, place: Place) -> QueryError:
    """A mistake in the body of a query, shown in the text that the user wrote.

    `place` is that of the query: it counts where no other is known.
    """
    if error.place is not None:
        place = replace(error.place, text=text.split("\n")[error.place.line - 1])
    named = _IRI.search(error.message)
    if error.place is None and named is not None and named[0] in text:
        place = _at(text, text.index(named[0]))
    return QueryError(error.message, place=place, hint=error.hint)


def _place(text: str, error: UnexpectedInput) -> Place:
    at = error.pos_in_stream
    position = len(text.rstrip()) if at is None or at < 0 else at
    token = getattr(error, "token", None)
    if token is not None and token.type == "$END":
        position = len(text.rstrip())
    return _at(text, position)


def _at(text: str, position: int) -> Place:
    before = text[:position]
    start = before.rfind("\n") + 1
    return Place(
        "query", before.count("\n") + 1, position - start + 1, text[start:].partition("\n")[0]
    )
