"""Errors in queries: what a text that cannot be read should say instead, and where.

pyoxigraph says how far it could read and all the characters that could have followed.
The usual mistakes are looked for here first, each in its own way, among the tokens; for the
others the place is that of the clause which rdflib's grammar could not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import NamedTuple

from livefacts.errors import Place, QueryError
from livefacts.syntax.sparql.query_text import Token, TokenKind, place_in, tokens_of

PAIRS = {")": "(", "}": "{", "]": "[", ")>>": "<<("}
CLAUSES = (
    *("SELECT", "CONSTRUCT", "DESCRIBE", "ASK", "FROM", "NAMED", "WHERE", "DISTINCT", "REDUCED"),
    *("OPTIONAL", "MINUS", "UNION", "FILTER", "BIND", "VALUES", "GRAPH", "EXISTS", "UNDEF"),
    *("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "PREFIX", "BASE", "INSERT", "DELETE"),
)
UPDATE = "update"
_POSITION = re.compile(r"error at (\d+):(\d+): (.*)", re.DOTALL)
_SENTENCE = re.compile(r"[A-Z][a-z]+ [a-z][^,\[]+")
OF_SELECT = {
    "SELECT * is not authorized": (
        "SELECT * does not go with GROUP BY",
        "select the variables of GROUP BY, and aggregates",
    ),
    "SELECT contains a variable that is unbound": (
        "SELECT has a variable that is neither grouped nor counted",
        "add it to GROUP BY, or select an aggregate of it such as SAMPLE",
    ),
    "SELECT overrides an existing variable": (
        "SELECT computes a variable that the pattern has",
        "choose another name after AS",
    ),
}


class Mistake(NamedTuple):
    """What is wrong, where, and what to do."""

    message: str
    position: int
    hint: str = ""


def syntax_error(text: str, error: SyntaxError, what: str = "query") -> QueryError:
    """What is wrong with a text that pyoxigraph cannot read."""
    found = _POSITION.match(str(error))
    if found is None:
        return QueryError(f"the {what} cannot be read: {error}")
    tokens = tokens_of(text)
    reached = _token_at(tokens, _offset(text, int(found[1]), int(found[2])))
    mistake = next((m for look in LOOKS for m in look(tokens)), None)
    if mistake is None and what != UPDATE:
        mistake = _about_select(tokens, found[3]) or _in_clause(text, tokens, reached)
    mistake = mistake or _unexpected(tokens, reached, found[3])
    place = place_in(text, mistake.position)
    return QueryError(
        f"the {what} cannot be read: {mistake.message}",
        place=Place(what, place.line, place.column, place.text),
        hint=mistake.hint,
    )


# what the tokens show


def _brackets(tokens: Sequence[Token]) -> Iterator[Mistake]:
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
        yield Mistake(f"this {opened[-1].text} is never closed", opened[-1].start)


def _closing(token: Token, opened: Sequence[Token]) -> Mistake:
    if not opened:
        return Mistake(f"this {token.text} closes nothing", token.start)
    hint = f"the last bracket before it that is open is {opened[-1].text}"
    return Mistake(f"{token.text} where something else must be closed", token.start, hint)


def _datatypes(tokens: Sequence[Token]) -> Iterator[Mistake]:
    """A literal and its type without what joins them."""
    for value, kind in pairwise(tokens):
        is_joined = value.start + len(value.text) == kind.start
        if (
            value.kind is TokenKind.STRING
            and kind.kind in (TokenKind.NAME, TokenKind.IRI)
            and is_joined
        ):
            hint = f"write {value.text}^^{kind.text}"
            yield Mistake("a string and its type without ^^ between them", kind.start, hint)


def _values(tokens: Sequence[Token]) -> Iterator[Mistake]:
    """Rows of VALUES that have more or fewer values than there are variables."""
    for at, token in enumerate(tokens):
        if token.is_word("VALUES") and tokens[at + 1 : at + 2] and tokens[at + 1].text == "(":
            end = _end_of(tokens, at + 1)
            wanted = end - at - 2
            for row in _rows(tokens, end + 1):
                if len(row) - 1 != wanted:
                    said = f"a row of {len(row) - 1} for {wanted} variables"
                    yield Mistake(said, row[0].start, "UNDEF stands for no value")


def _rows(tokens: Sequence[Token], first: int) -> Iterator[list[Token]]:
    """The rows of VALUES, each with its opening bracket and one token for each value."""
    end, at = _end_of(tokens, first), first + 1
    while at < end:
        after = _end_of(tokens, at)
        joined = {i for i in range(at, after) if tokens[i].text == "^^"}
        joined |= {i + 1 for i in joined}
        joined |= {i for i in range(at, after) if tokens[i].kind is TokenKind.LANGUAGE}
        joined |= {i for i in range(at, after) if tokens[i].text in ("+", "-")}
        yield [tokens[i] for i in range(at, after) if i not in joined]
        at = after + 1


def _end_of(tokens: Sequence[Token], first: int) -> int:
    """Where the bracket that opens at `first` closes."""
    depth = 0
    for at in range(first, len(tokens)):
        depth += (tokens[at].text in PAIRS.values()) - (tokens[at].text in PAIRS)
        if depth <= 0:
            return at
    return len(tokens)


def _bindings(tokens: Sequence[Token]) -> Iterator[Mistake]:
    """BIND of a variable that its group has used before."""
    groups: list[set[str]] = [set()]
    for at, token in enumerate(tokens):
        if token.text == "{":
            groups.append(set())
        elif token.text == "}" and len(groups) > 1:
            inner = groups.pop()
            groups[-1] |= inner
        elif token.kind is TokenKind.VARIABLE:
            if _is_bound_at(tokens, at) and token.text in groups[-1]:
                hint = "choose another name, or compare with FILTER"
                yield Mistake(f"BIND of {token.text}, which is used before", token.start, hint)
            groups[-1].add(token.text)


def _is_bound_at(tokens: Sequence[Token], at: int) -> bool:
    """Whether this variable is the one that a BIND makes."""
    if at < 1 or not tokens[at - 1].is_word("AS"):
        return False
    depth = 0
    for before in reversed(range(at - 1)):
        depth += (tokens[before].text == ")") - (tokens[before].text == "(")
        if depth < 0:
            return before > 0 and tokens[before - 1].is_word("BIND")
    return False


LOOKS: tuple[Callable[[Sequence[Token]], Iterator[Mistake]], ...] = (
    _brackets,
    _datatypes,
    _values,
    _bindings,
)


# what the parsers say


def _in_clause(text: str, tokens: Sequence[Token], reached: Token | None) -> Mistake | None:
    """A mistake in the clause that rdflib's grammar cannot read."""
    begin = _token_at(tokens, _unread_from(text))
    if begin is None:
        return None
    near = get_close_matches(begin.text.upper(), CLAUSES, 1) if begin.kind is TokenKind.WORD else []
    if near and near[0] != begin.text.upper():
        return Mistake(f"{begin.text} has no meaning here", begin.start, f"{near[0]}?")
    if begin.kind is TokenKind.MARK and begin.text not in PAIRS.values():
        return Mistake(f"{begin.text} cannot stand here", begin.start)
    if reached is None or reached.start <= begin.start:
        is_term = begin.kind in (TokenKind.VARIABLE, TokenKind.NAME, TokenKind.IRI)
        hint = f"a pattern has three parts, such as {begin.text} a ?class" if is_term else ""
        return Mistake(f"a mistake in what begins with {begin.text}", begin.start, hint)
    said = f"{reached.text} cannot stand here, in what begins with {begin.text}"
    return Mistake(said, reached.start)


def _unread_from(text: str) -> int:
    """Where the clause begins that rdflib's grammar cannot read, or the end."""
    from pyparsing import ParseBaseException
    from rdflib.plugins.sparql.parser import parseQuery

    try:
        parseQuery(text)
    except ParseBaseException as error:
        return error.loc
    except (ValueError, RecursionError):
        # What rdflib makes of a literal, or of deep nesting, is no help in finding the place.
        return len(text)
    return len(text)


def _about_select(tokens: Sequence[Token], reason: str) -> Mistake | None:
    """What pyoxigraph checks once a SELECT has been read: a sentence among what it expected."""
    start = next((token.start for token in tokens if token.is_word("SELECT")), 0)
    for sentence, (message, hint) in OF_SELECT.items():
        if sentence in reason:
            return Mistake(message, start, hint)
    return None


def _unexpected(tokens: Sequence[Token], token: Token | None, expected: str) -> Mistake:
    """The token at a place is not what could stand there."""
    wanted = expected.removeprefix("expected ")
    sentence = _SENTENCE.search(wanted)
    if sentence:
        return Mistake(sentence[0], token.start if token else tokens[-1].start)
    is_asserted = wanted != expected and "[" not in wanted and " of " not in wanted
    hint = f"{wanted} is expected" if is_asserted else ""
    if token is None:
        last = tokens[-1]
        return Mistake("it ends too early", last.start + len(last.text), hint)
    return Mistake(f"{token.text} cannot stand here", token.start, hint)


def _token_at(tokens: Sequence[Token], position: int) -> Token | None:
    """The first token that ends after a position."""
    return next((token for token in tokens if token.start + len(token.text) > position), None)


def _offset(text: str, line: int, column: int) -> int:
    lines = text.split("\n")[: line - 1]
    return sum(len(each) + 1 for each in lines) + column - 1
