"""Query plans of continuous queries: from the text to a flow, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import pairwise

from pyoxigraph import Store

from livefacts.engine.messages.standing_flow import StandingFlow
from livefacts.engine.messages.standing_group import Build
from livefacts.engine.messages.standing_query import StandingPattern
from livefacts.errors import QueryError
from livefacts.language.expressions import UNREPEATABLE
from livefacts.model.facts import Term
from livefacts.model.namespaces import DECLARED
from livefacts.plan.continuous.flow import FlowPlan
from livefacts.plan.continuous.flow_builder import flow_of
from livefacts.syntax.sparql.basic_query import parse_basic_query
from livefacts.syntax.sparql.query_errors import syntax_error
from livefacts.syntax.sparql.query_shapes import shape_of
from livefacts.syntax.sparql.query_text import place_in, read_query, tokens_of


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
    _check(text, spaces, base)
    return flow_of(shape_of(text, spaces, base).bound, tuple(known))


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


def _check(text: str, prefixes: Mapping[str, str], base: str) -> None:
    """Refuses what `query` does not understand."""
    try:
        Store().query(text, prefixes=dict(prefixes), base_iri=base or None)
    except SyntaxError as error:
        raise syntax_error(text, error) from None
    except (OSError, RuntimeError, ValueError) as error:
        raise QueryError(f"the query could not be evaluated: {error}") from error


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
