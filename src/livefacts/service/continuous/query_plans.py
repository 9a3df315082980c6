"""Query plans of continuous queries: from the text to a flow, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from pyoxigraph import QuerySolutions, Store

from livefacts.engine.messages.standing_flow import StandingFlow
from livefacts.engine.messages.standing_group import Build
from livefacts.engine.messages.standing_query import StandingPattern
from livefacts.errors import QueryError
from livefacts.language.expressions import UNREPEATABLE
from livefacts.model.facts import Term
from livefacts.model.namespaces import DECLARED
from livefacts.plan.continuous.flow import FlowPlan
from livefacts.plan.continuous.flow_builder import flow_of
from livefacts.syntax.sparql.algebra_reader import parse_query
from livefacts.syntax.sparql.basic_query import parse_basic_query
from livefacts.syntax.sparql.query_errors import syntax_error
from livefacts.syntax.sparql.query_text import (
    Token,
    place_in,
    read_query,
    tokens_of,
)


def plan_of(
    text: str, prefixes: Mapping[str, str], base: str = "", known: Iterable[Term] = ()
) -> FlowPlan:
    """The flow of a query; a `NotIncrementalError` says why there is none.

    Relative IRIs are relative to `base`; `known` are named graphs that are there even while
    they are empty.
    """
    spaces = {**DECLARED, **prefixes}
    text = read_query(text, spaces).text
    refuse_unrepeatable(text)
    names = _selected(text, spaces, base)
    query = parse_query(with_plain_negated_sets(text), spaces, base)
    asked = replace(query, selected=names) if query.form == "SELECT" else query
    return flow_of(asked, tuple(known))


def refuse_unrepeatable(text: str) -> None:
    """Refuses functions that give another value each time."""
    tokens = tokens_of(text)
    for token, following in pairwise(tokens):
        if following.text == "(" and token.is_word(*UNREPEATABLE):
            raise QueryError(
                f"{token.text} gives another value each time: "
                "what was answered with one could never be taken back",
                place=place_in(text, token.start),
                hint="ask with query() at the time, or put the value into the query",
            )


def with_plain_negated_sets(text: str) -> str:
    """`!(a|^b)` as `(!(a)|^(!(b)))`, which means the same and is read by every grammar.

    >>> with_plain_negated_sets("SELECT * { ?x !(<x:a>|^<x:b>) ?y }")
    'SELECT * { ?x (!(<x:a>)|^(!(<x:b>))) ?y }'
    """
    tokens = tokens_of(text)
    pieces, position, at = [], 0, 0
    while at < len(tokens):
        end = _set_end(tokens, at)
        members = [token.text for token in tokens[at + 1 : end] if token.text not in "()|"]
        if "^" in members:
            pieces += [text[position : tokens[at].start], _split_set(members)]
            position = tokens[end - 1].start + len(tokens[end - 1].text)
        at = max(end, at + 1)
    return "".join([*pieces, text[position:]])


def _set_end(tokens: Sequence[Token], at: int) -> int:
    """Where a negated set that begins here has ended; here, if none does."""
    if tokens[at].text != "!" or at + 1 == len(tokens):
        return at
    end = at + 1
    if tokens[end].text == "^":
        return end + 2
    if tokens[end].text != "(":
        return at
    while end < len(tokens) and tokens[end].text != ")":
        end += 1
    return end + 1


def _split_set(members: Sequence[str]) -> str:
    inverse = [other for mark, other in pairwise(members) if mark == "^"]
    forward = [m for before, m in pairwise(["", *members]) if "^" not in (before, m)]
    parts = [f"!({'|'.join(forward)})"] if forward else []
    return f"({'|'.join([*parts, '^(!(' + '|'.join(inverse) + '))'])})"


def _selected(text: str, prefixes: Mapping[str, str], base: str) -> tuple[str, ...]:
    """The names of the answers' columns, from the grammar that `query` has."""
    try:
        found = Store().query(text, prefixes=dict(prefixes), base_iri=base or None)
    except SyntaxError as error:
        raise syntax_error(text, error) from None
    except (OSError, RuntimeError, ValueError) as error:
        raise QueryError(f"the query could not be evaluated: {error}") from error
    if not isinstance(found, QuerySolutions):
        return ()
    return tuple(variable.value for variable in found.variables)


def build_of(text: str, prefixes: Mapping[str, str] | None) -> Build:
    """What makes the standing query of a text.

    `prefixes` are known beside rdf:, rdfs:, xsd: and owl:, and those of the text.
    """
    known = {**DECLARED, **(prefixes or {})}
    asked = read_query(text, known)
    try:
        Store().query(asked.text, prefixes=known)
    except SyntaxError as error:
        raise syntax_error(asked.text, error) from None
    except RuntimeError as error:
        raise QueryError(f"the query cannot be evaluated: {error}") from None
    query = parse_basic_query(asked.text, known)
    if query is None or query.comparisons or query.form == "CONSTRUCT":
        return partial(StandingFlow, plan_of(asked.text, known))
    return partial(StandingPattern, query)
