"""The query reader: SPARQL text to the algebra, by one grammar.

The actions of the grammar make the parts of a query while they are parsed, the innermost first;
no tree is made, and nothing calls itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from livefacts.errors import QueryError
from livefacts.language.algebra import BLANK, Basic, Query, variables_in
from livefacts.language.formula import Variable
from livefacts.syntax.sparql import group_patterns, query_forms, triple_blocks, value_expressions
from livefacts.syntax.sparql.lexemes import Lexemes, QueryMistakeError, QueryRefusedError
from livefacts.syntax.sparql.query_text import (
    DEFAULT_LIMITS,
    QueryLimits,
    Token,
    TokenKind,
    place_in,
    tokens_of,
)

if TYPE_CHECKING:
    from lark import Lark

DEEPEST = 200
"""So deep may parts of a query be nested: who walks through it calls itself so often."""
ACTIONS = {
    **triple_blocks.ACTIONS,
    **value_expressions.ACTIONS,
    **group_patterns.ACTIONS,
    **query_forms.ACTIONS,
}


@cache
def _grammar() -> tuple[Lark, dict[str, str]]:
    """The parser, and its terminals by their texts."""
    from lark import Lark
    from lark.lexer import Lexer

    class LexemeLexer(Lexer):
        """Lexemes come as they are."""

        def __init__(self, conf: object) -> None:
            del conf

        def lex(self, lexemes: Any) -> Any:  # type: ignore[override]
            return iter(lexemes)

    made = Lark(
        Path(__file__).with_name("sparql.lark").read_text(encoding="utf-8"),
        parser="lalr",
        lexer=LexemeLexer,
        start=["query", "update"],
        maybe_placeholders=True,
        transformer=SimpleNamespace(**ACTIONS),
    )
    return made, {str(each.pattern.value): each.name for each in made.terminals}


def parse_query(
    text: str,
    prefixes: Mapping[str, str],
    base: str = "",
    parameters: int = 0,
    limits: QueryLimits = DEFAULT_LIMITS,
) -> Query:
    """The query of a text, in which so many marks stand for constants."""
    from lark.exceptions import UnexpectedToken

    parser, terminals = _grammar()
    tokens = tokens_of(text, limits)
    lexemes = Lexemes(tokens, terminals, prefixes, base, parameters)
    try:
        query: Query = parser.parse(lexemes, start="query")  # type: ignore[assignment]
        _check_parts(query, tokens)
    except QueryRefusedError as error:
        place = place_in(text, error.position)
        raise QueryError(error.message, place=place, hint=error.hint) from None
    except QueryMistakeError as error:
        place = place_in(text, error.position)
        raise QueryError(
            f"the query cannot be read: {error.message}", place=place, hint=error.hint
        ) from None
    except UnexpectedToken as error:
        raise QueryError(
            f"the query cannot be read: {error.token} cannot stand here",
            place=place_in(text, error.token.start_pos or 0),
        ) from None
    return replace(query, base=lexemes.names.base, parameters=lexemes.parameters)


def _check_parts(query: Query, tokens: Sequence[Token]) -> None:
    """Refuse what is nested too deeply, and a blank node that has its label in two groups."""
    labels: set[str] = set()
    for part, depth in _parts(query):
        if depth > DEEPEST:
            raise QueryMistakeError("it is nested too deeply", 0, "split the query")
        if isinstance(part, Basic):
            mine = {v.name for v in variables_in(part) if v.name.startswith(BLANK)}
            for label in mine & labels:
                last = [t for t in tokens if t.kind is TokenKind.BLANK and t.text == label][-1]
                hint = "a label is about one group; use a variable"
                raise QueryMistakeError(f"{label} in two groups", last.start, hint)
            labels |= mine


def _parts(query: Query) -> Iterator[tuple[Any, int]]:
    """Every part of a query, and how deep it lies."""
    waiting: list[tuple[Any, int]] = [(query.pattern, 0)]
    while waiting:
        part, depth = waiting.pop()
        yield part, depth
        if isinstance(part, tuple):
            waiting += [(each, depth) for each in part]
        elif is_dataclass(part) and not isinstance(part, Variable):
            waiting += [(getattr(part, each.name), depth + 1) for each in fields(part)]
