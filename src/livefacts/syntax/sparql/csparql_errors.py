"""Errors in the envelope of a registered query, in words: what stands there, and what could."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from livefacts.errors import Place, QueryError
from livefacts.syntax.sparql.lexemes import ALIASES, QueryMistakeError
from livefacts.syntax.sparql.query_errors import explained
from livefacts.syntax.sparql.query_text import Token, place_in
from livefacts.syntax.sparql.stream_clauses import WINDOW_HINTS

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedToken

_IRI = re.compile(r"<[^<>\s]+>")
HINTS = {
    **WINDOW_HINTS,
    "FROM": "an IRI follows, or NAMED, or STREAM <iri> [RANGE 10s STEP 1s]; in [ ], NOW-PT1H",
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


def explained_registration(
    text: str,
    tokens: Sequence[Token],
    error: UnexpectedToken | QueryMistakeError,
    spellings: Mapping[str, str],
) -> QueryError:
    """What is wrong with a text that registers a query."""
    if isinstance(error, QueryMistakeError):
        return explained(text, tokens, error, spellings)
    end, position = len(text.rstrip()), error.token.start_pos or 0
    is_end = error.token.type == "$END"
    before = [token for token in tokens if is_end or token.start < position]
    if is_end and (not before or before[-1].is_word("AS")):
        said = "the query ends where it should begin"
        hint = "SELECT, ASK or CONSTRUCT comes behind AS"
        return QueryError(said, place=place_in(text, end), hint=hint)
    if any(token.text == "{" for token in before):
        if error.token.type == "FROM":
            said, hint = "FROM inside of braces", "FROM stands in front of WHERE"
            return QueryError(said, place=place_in(text, position), hint=hint)
        return explained(text, tokens, error, spellings, is_whole=False)
    place = place_in(text, end if is_end else position)
    words = (ALIASES.get(token.text.upper(), token.text.upper()) for token in reversed(before))
    hint = next((HINTS[word] for word in words if word in HINTS), "")
    said = "the query ends too early" if is_end else f"{error.token} is not expected here"
    return QueryError(said, place=place, hint=hint)


def as_written(text: str, error: QueryError, place: Place) -> QueryError:
    """A mistake in the body of a query, shown in the text that the user wrote.

    `place` is that of the query: it counts where no other is known.
    """
    if error.place is not None:
        place = replace(error.place, text=text.split("\n")[error.place.line - 1])
    named = _IRI.search(error.message)
    if error.place is None and named is not None and named[0] in text:
        place = place_in(text, text.index(named[0]))
    return QueryError(error.message, place=place, hint=error.hint)
