"""Errors in queries: what a text that cannot be read should say instead, and where.

The parser says which token could not follow, and what could have.  The usual mistakes are
looked for first, each in its own way, among the tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import TYPE_CHECKING

from livefacts.errors import QueryError
from livefacts.syntax.sparql.lexemes import QueryMistakeError, QueryRefusedError
from livefacts.syntax.sparql.query_text import (
    READING_FORMS,
    Token,
    TokenKind,
    form_of,
    place_in,
)

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedToken

PAIRS = {")": "(", "}": "{", "]": "[", ")>>": "<<("}
CLOSING = {opening: closing for closing, opening in PAIRS.items()}
CLAUSES = (
    *("SELECT", "CONSTRUCT", "DESCRIBE", "ASK", "FROM", "NAMED", "WHERE", "DISTINCT", "REDUCED"),
    *("OPTIONAL", "MINUS", "UNION", "FILTER", "BIND", "VALUES", "GRAPH", "EXISTS", "UNDEF"),
    *("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "PREFIX", "BASE", "INSERT", "DELETE"),
)
QUERY, UPDATE, REGISTRATION = "query", "update", "registration"
FORMS = "INSERT DATA, DELETE DATA, DELETE WHERE, or DELETE { } INSERT { } WHERE { }"
FEW = 3
"""So many things that could stand somewhere are named."""


def explained(
    text: str,
    tokens: Sequence[Token],
    error: UnexpectedToken | QueryMistakeError,
    spellings: Mapping[str, str],
    what: str = QUERY,
    *,
    is_whole: bool = True,
) -> QueryError:
    """What is wrong with a text that the parser cannot read.

    `spellings` are the texts of the parser's terminals; a text is whole if nothing but its
    prologue stands before the query.
    """
    if not isinstance(error, QueryMistakeError):
        if what == QUERY and is_whole:
            form_of(text, tokens)
        elif what == UPDATE and "LOAD" in error.accepts:
            return _no_update(text, error)
        wanted = sorted(spellings[name] for name in error.accepts if name in spellings)
        mistake = next((found for look in LOOKS for found in look(tokens)), None)
        error = mistake or _unexpected(text, tokens, error, wanted)
    is_refused = isinstance(error, QueryRefusedError)
    message = error.message if is_refused else f"the {what} cannot be read: {error.message}"
    place = place_in(text, error.position, what)
    return QueryError(message, place=place, hint=error.hint)


# what the tokens show


def _brackets(tokens: Sequence[Token]) -> Iterator[QueryMistakeError]:
    """Brackets that are not closed, or not opened."""
    opened: list[Token] = []
    for token in tokens:
        if token.kind is not TokenKind.MARK:
            continue
        if token.text in PAIRS.values():
            opened.append(token)
        elif token.text in PAIRS:
            if not opened or opened[-1].text != PAIRS[token.text]:
                yield _closing(token, opened)
                return
            opened.pop()
    if opened:
        last = opened[-1]
        said = f"this {last.text} is never closed: {CLOSING[last.text]} is missing"
        yield QueryMistakeError(said, last.start)


def _closing(token: Token, opened: Sequence[Token]) -> QueryMistakeError:
    if not opened:
        return QueryMistakeError(f"this {token.text} closes nothing", token.start)
    hint = f"the last bracket before it that is open is {opened[-1].text}"
    return QueryMistakeError(f"{token.text} where something else must be closed", token.start, hint)


def _datatypes(tokens: Sequence[Token]) -> Iterator[QueryMistakeError]:
    """A literal and its type without what joins them."""
    for value, kind in pairwise(tokens):
        is_joined = value.start + len(value.text) == kind.start
        if (
            value.kind is TokenKind.STRING
            and kind.kind in (TokenKind.NAME, TokenKind.IRI)
            and is_joined
        ):
            hint = f"write {value.text}^^{kind.text}"
            yield QueryMistakeError(
                "a string and its type without ^^ between them", kind.start, hint
            )


LOOKS: tuple[Callable[[Sequence[Token]], Iterator[QueryMistakeError]], ...] = (
    _brackets,
    _datatypes,
)


# what the parser says


def _unexpected(
    text: str, tokens: Sequence[Token], error: UnexpectedToken, wanted: Sequence[str]
) -> QueryMistakeError:
    """A token that is not what could stand there."""
    missing = " or ".join(wanted) if len(wanted) <= FEW else ""
    at = next((n for n, token in enumerate(tokens) if token.start == error.token.start_pos), None)
    if at is None or error.token.type == "$END":
        said = f"it ends too early{': ' if missing else ''}{missing and missing + ' is missing'}"
        return QueryMistakeError(said, len(text.rstrip()))
    token = tokens[at]
    if token.kind is TokenKind.WORD and error.token.type in ("UNKNOWN", "WORD"):
        near = get_close_matches(token.text.upper(), CLAUSES, 1)
        hint = f"{near[0]}?" if near else ""
        return QueryMistakeError(f"{token.text} has no meaning here", token.start, hint)
    if missing:
        return QueryMistakeError(f"{missing} is missing here", token.start)
    begin = _clause(tokens, at)
    behind = f", in what begins with {begin.text}" if begin is not token else ""
    return QueryMistakeError(f"{token.text} cannot stand here{behind}", token.start)


def _no_update(text: str, error: UnexpectedToken) -> QueryError:
    """An error at a token that begins no operation."""
    word, position = str(error.token).upper(), error.token.start_pos or 0
    place = place_in(text, position, UPDATE)
    if word in READING_FORMS:
        said = f"{word} asks, and an update changes facts"
        return QueryError(said, place=place, hint="use query")
    return QueryError("this does not begin an update", place=place, hint=f"an update is {FORMS}")


def _clause(tokens: Sequence[Token], at: int) -> Token:
    """Where the clause begins that a token is in."""
    depth = 0
    for before in reversed(range(at)):
        token = tokens[before]
        if token.kind is TokenKind.MARK:
            if token.text in "{}." and depth <= 0:
                return tokens[before + 1]
            depth += (token.text in PAIRS) - (token.text in CLOSING)
        elif token.is_word(*CLAUSES) and depth <= 0:
            return token
    return tokens[0]
