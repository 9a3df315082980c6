"""Query shapes: texts that differ in their constants alone are parsed once.

One pass finds the constants of a text: IRIs, prefixed names, strings and numbers that stand for
terms.  The text with a mark in the place of each is the key of its shape; what the key parses to
is remembered, with a `Parameter` for each mark.  The pass errs on the side of the key: what it is
not sure of stays there, and makes another shape.  A key that cannot be parsed (a mark where only
some words can stand) is no shape: the whole text is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

from pyoxigraph import Literal

from livefacts.errors import QueryError
from livefacts.language.algebra import Query
from livefacts.model.facts import Term
from livefacts.syntax.sparql.lexemes import (
    Lexemes,
    Names,
    QueryMistakeError,
    number,
    tagged,
    unquoted,
)
from livefacts.syntax.sparql.query_reader import parse_query
from livefacts.syntax.sparql.query_text import (
    DEFAULT_LIMITS,
    IRI_PARAMETER,
    LITERAL_PARAMETER,
    QueryLimits,
    terminals,
    tokens_of,
    without_code_point_escapes,
)

Prefixes = tuple[tuple[str, str], ...]
REMEMBERED = 1024
"""So many shapes are kept, and so many texts with their constants."""
SHORT = 8192
"""Texts and shapes up to this length are kept."""
_PROLOGUE = re.compile(
    r"(?:[ \t\r\n]+|\#[^\r\n]*"
    r"|PREFIX[ \t\r\n]+[^\s:<>\#]*:[ \t\r\n]*<[^<>\s]*>|BASE[ \t\r\n]*<[^<>\s]*>)*",
    re.IGNORECASE,
)


class ShapeKey(NamedTuple):
    """What queries of one shape have in common, and what their parse depends on."""

    text: str
    base: str
    prefixes: Prefixes
    limits: QueryLimits


@dataclass(frozen=True)
class QueryShape:
    """A query without its constants, and the constants.

    Queries of one `key` have one `query`, the same object as long as it is remembered.
    """

    key: ShapeKey
    query: Query
    constants: tuple[Term, ...]

    @cached_property
    def bound(self) -> Query:
        """The query with its constants."""
        return self.query.bound(self.constants)


@cache
def _constant() -> re.Pattern[str]:
    """What is looked for in a text; group `KEPT` is passed over.

    A `<` that could be an operator is left in the key, and so is the name of a function.
    """
    kinds = terminals()
    iri = r'<[^<>"{}|^`\\&),;\x00-\x20]*>'
    number_ = kinds["NUMBER"].removeprefix("[+-]?")
    space = r"[ \t\r\n]*"
    return re.compile(
        rf"(?P<KEPT>\#[^\r\n]*|(?i:LIMIT|OFFSET){space}[0-9]+"
        rf"|(?i:SEPARATOR){space}={space}(?:{kinds['STRING']}))"
        rf"|(?P<IRI>{iri}|(?<=[\s(,;.{{\[|/^!=])(?>{kinds['NAME']}))(?!{space}\()"
        rf"|(?P<STRING>(?>(?P<quoted>{kinds['STRING']})"
        rf"(?:{space}(?P<tag>{kinds['LANGUAGE']})"
        rf"|{space}\^\^{space}(?P<datatype>{kinds['IRI']}|{kinds['NAME']}))?))"
        rf"|(?<=[\s(,=<>])(?P<NUMBER>(?>{number_}))",
        re.DOTALL,
    )


def shape_of(
    text: str,
    prefixes: Mapping[str, str],
    base: str = "",
    limits: QueryLimits = DEFAULT_LIMITS,
) -> QueryShape:
    """The shape of a query and its constants; a `QueryError` if it cannot be read."""
    asked = ShapeKey(text, base, tuple(prefixes.items()), limits)
    found: QueryShape = _remembered(_shape, text)(asked)
    return found


@lru_cache(REMEMBERED)
def _shape(asked: ShapeKey) -> QueryShape:
    text, base, prefixes, limits = asked
    limits.check(text)
    if "\\" in text:
        text = without_code_point_escapes(text)
    # A long text is not remembered: to look for its constants first would only read it twice.
    lifted = _lifted(text, dict(prefixes), base) if len(text) <= SHORT else None
    if lifted is not None:
        marked, known, constants = lifted
        key = ShapeKey(marked, base, known, limits)
        query = _remembered(_of_shape, marked)(key, len(constants))
        if query is not None:
            return QueryShape(key, query, constants)
    key = ShapeKey(text, base, prefixes, limits)
    return QueryShape(key, _remembered(_whole, text)(key), ())


def _remembered(read: Any, text: str) -> Any:
    """A function that remembers what it read, or, of a long text, the one that does not."""
    return read if len(text) <= SHORT else read.__wrapped__


@lru_cache(REMEMBERED)
def _whole(key: ShapeKey) -> Query:
    return _parsed(key, 0)


@lru_cache(REMEMBERED)
def _of_shape(key: ShapeKey, parameters: int) -> Query | None:
    """The query of a key with so many marks; None if it is no shape."""
    try:
        query = _parsed(key, parameters)
    except QueryError:
        return None
    return query if query.parameters == parameters else None


def _parsed(key: ShapeKey, parameters: int) -> Query:
    return parse_query(key.text, dict(key.prefixes), key.base, parameters, key.limits)


def _lifted(
    text: str, prefixes: Mapping[str, str], base: str
) -> tuple[str, Prefixes, tuple[Term, ...]] | None:
    """The text with marks for its constants, the prefixes that it still needs, and the constants.

    None if there are no constants, or one of them is wrong.
    """
    prologue = _PROLOGUE.match(text)
    start = prologue.end() if prologue else 0
    names = Names(prefixes, base) if not start else _declared(text[:start], base, prefixes)
    pieces: list[str] = []
    constants: list[Term] = []
    at = start
    try:
        for found in _constant().finditer(text, start):
            kind = found.lastgroup
            if kind != "KEPT":
                first, end = found.span()
                pieces += (text[at:first], IRI_PARAMETER if kind == "IRI" else LITERAL_PARAMETER)
                constants.append(_term(kind, found, names))
                at = end
    except QueryMistakeError:
        return None
    if not constants:
        return None
    body = "".join(pieces) + text[at:]
    return text[:start] + body, tuple(prefixes.items()) if ":" in body else (), tuple(constants)


def prefixes_in(text: str, prefixes: Mapping[str, str]) -> Mapping[str, str]:
    """What prefixes stand for in a query: those it declares, and those that are known."""
    prologue = _PROLOGUE.match(text)
    return {**prefixes, **(_declarations(prologue[0], "")[0] if prologue else {})}


def _term(kind: str | None, found: re.Match[str], names: Names) -> Term:
    if kind == "IRI":
        return names.node(found["IRI"])
    if kind == "NUMBER":
        return number(found["NUMBER"])
    value = unquoted(found["quoted"])
    if found["tag"]:
        return tagged(value, found["tag"])
    return Literal(value, datatype=names.node(found["datatype"]) if found["datatype"] else None)


def _declared(prologue: str, base: str, prefixes: Mapping[str, str]) -> Names:
    """What names stand for behind a prologue."""
    declared, base = _declarations(prologue, base)
    return Names({**prefixes, **declared} if declared else prefixes, base)


@lru_cache(REMEMBERED)
def _declarations(prologue: str, base: str) -> tuple[Mapping[str, str], str]:
    """The prefixes that a prologue declares, and the base that it ends with."""
    lexemes = Lexemes(tokens_of(prologue), {}, {}, base)
    assert not list(lexemes), "a prologue has declarations alone"
    return lexemes.names.prefixes, lexemes.names.base
