"""The query reader: SPARQL text, queries, updates and registrations, to data by one grammar.

The actions of the grammar make the parts of a query while they are parsed, the innermost first;
no tree is made, and nothing calls itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from livefacts.language.algebra import BLANK, Basic, Pattern, Query, parts_in, variables_in
from livefacts.model.namespaces import DECLARED
from livefacts.syntax.sparql import (
    aggregate_clauses,
    group_patterns,
    query_forms,
    stream_clauses,
    triple_blocks,
    update_operations,
    value_expressions,
)
from livefacts.syntax.sparql.csparql_errors import explained_registration
from livefacts.syntax.sparql.lexemes import Lexemes, QueryMistakeError
from livefacts.syntax.sparql.query_errors import QUERY, REGISTRATION, UPDATE, explained
from livefacts.syntax.sparql.query_text import (
    DEFAULT_LIMITS,
    UPDATE_LIMITS,
    QueryLimits,
    Token,
    TokenKind,
    tokens_of,
    without_code_point_escapes,
)
from livefacts.syntax.sparql.stream_clauses import REGISTRATION_WORDS, RegisteredText
from livefacts.syntax.sparql.update_operations import GraphOperation, Operation, UpdateDraft

if TYPE_CHECKING:
    from lark import Lark

DEEPEST = 200
"""So deep may parts of a query be nested: who walks through it calls itself so often."""
ROOMS = (
    triple_blocks,
    value_expressions,
    group_patterns,
    aggregate_clauses,
    query_forms,
    update_operations,
    stream_clauses,
)
"""Where the actions of the grammar are: functions that are called as its rules are."""


class _Actions:
    """Lark's door to the actions."""

    def __getattr__(self, rule: str) -> Any:
        for module in ROOMS:
            action = vars(module).get(rule)
            if getattr(action, "__module__", "") == module.__name__ and rule[0] != "_":
                return action
        raise AttributeError(rule)


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
        start=["query", "update", "registration"],
        maybe_placeholders=True,
        transformer=_Actions(),
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
    with _reading(text, prefixes, base, parameters, limits) as (tokens, lexemes):
        query: Query = _parsed(lexemes, QUERY).query
        _check_parts(query.pattern, tokens)
    return replace(query, base=lexemes.names.base, parameters=lexemes.parameters)


def read_registration(
    text: str, prefixes: Mapping[str, str], base: str
) -> tuple[Sequence[Token], Lexemes, RegisteredText]:
    """The tokens of a text that registers a query, and what the grammar makes of them."""
    with _reading(text, prefixes, base, is_registration=True) as (tokens, lexemes):
        found: RegisteredText = _parsed(lexemes, REGISTRATION)
        _check_parts(found.asked.query.pattern, tokens)
    return tokens, lexemes, found


def _parsed(lexemes: Lexemes, start: str) -> Any:
    return _grammar()[0].parse(lexemes, start=start)


def parse_update(
    text: str, prefixes: Mapping[str, str], base: str = ""
) -> list[Operation | GraphOperation]:
    """The operations of an update, in order; otherwise a `QueryError`."""
    UPDATE_LIMITS.check(text)
    text = without_code_point_escapes(text, UPDATE)
    known = {**DECLARED, **prefixes}
    with _reading(text, known, base, limits=UPDATE_LIMITS) as (tokens, lexemes):
        drafts: list[UpdateDraft] = _parsed(lexemes, UPDATE)
        for draft in drafts:
            _check_parts(draft.pattern, tokens)
    return [draft.drafted(text, lexemes.declared) for draft in drafts]


@contextmanager
def _reading(
    text: str,
    prefixes: Mapping[str, str],
    base: str = "",
    parameters: int = 0,
    limits: QueryLimits = DEFAULT_LIMITS,
    *,
    is_registration: bool = False,
) -> Iterator[tuple[Sequence[Token], Lexemes]]:
    """The tokens and lexemes of a text; errors of the parser are told in words."""
    from lark.exceptions import UnexpectedToken

    terminals = _grammar()[1]
    if not is_registration:
        terminals = {
            text: name for text, name in terminals.items() if text not in REGISTRATION_WORDS
        }
    tokens = tokens_of(text, limits)
    lexemes = Lexemes(tokens, terminals, prefixes, base, parameters, is_registration)
    try:
        yield tokens, lexemes
    except (QueryMistakeError, UnexpectedToken) as error:
        spellings = {name: spelled for spelled, name in terminals.items()}
        if is_registration:
            raise explained_registration(text, tokens, error, spellings) from None
        raise explained(text, tokens, error, spellings, limits.what) from None


def _check_parts(pattern: Pattern | None, tokens: Sequence[Token]) -> None:
    """Refuse what is nested too deeply, and a blank node that has its label in two groups."""
    labels: set[str] = set()
    for part, depth in parts_in(pattern):
        if depth > DEEPEST:
            raise QueryMistakeError("it is nested too deeply", 0, "split it")
        if isinstance(part, Basic):
            mine = {v.name for v in variables_in(part) if v.name.startswith(BLANK)}
            for label in mine & labels:
                last = [t for t in tokens if t.kind is TokenKind.BLANK and t.text == label][-1]
                hint = "a label is about one group; use a variable"
                raise QueryMistakeError(f"{label} in two groups", last.start, hint)
            labels |= mine
