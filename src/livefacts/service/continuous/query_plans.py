"""Query plans of continuous queries: from the text to a flow, or the reason why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import pairwise

from pyoxigraph import Store

from livefacts.engine.messages.standing_flow import StandingFlow
from livefacts.engine.messages.standing_group import Build
from livefacts.engine.messages.standing_query import StandingPattern
from livefacts.errors import QueryError
from livefacts.language.algebra import Query, parts_in
from livefacts.language.arrival_times import refuse_times
from livefacts.language.expressions import UNREPEATABLE, Call
from livefacts.language.graph_pattern import basic_query_of
from livefacts.model.facts import Term
from livefacts.model.namespaces import DECLARED
from livefacts.plan.continuous.flow import FlowPlan
from livefacts.plan.continuous.flow_builder import flow_of
from livefacts.syntax.sparql.query_shapes import shape_of
from livefacts.syntax.sparql.query_text import place_in, tokens_of


def plan_of(text: str, prefixes: Mapping[str, str]) -> FlowPlan:
    """The flow of a query's text; a `NotIncrementalError` says why there is none."""
    return flow_plan(refuse_times(shape_of(text, {**DECLARED, **prefixes}).bound), text)


def flow_plan(query: Query, text: str, known: Iterable[Term] = ()) -> FlowPlan:
    """The flow of a query, whose mistakes are shown in its text.

    `known` are named graphs that are there even while they are empty.
    """
    refuse_unrepeatable(text)
    _refuse_unknown_functions(query)
    return flow_of(query, tuple(known))


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


def _refuse_unknown_functions(query: Query) -> None:
    """Refuses functions that are no part of SPARQL and that pyoxigraph does not have, either."""
    for part, _ in parts_in(query.pattern):
        if isinstance(part, Call) and re.fullmatch("<.+>", part.name):
            try:
                Store().query(f"ASK {{ FILTER({part.name}(1)) }}")
            except RuntimeError as error:
                raise QueryError(f"the query cannot be evaluated: {error}") from None


def build_of(text: str, prefixes: Mapping[str, str] | None) -> Build:
    """What makes the standing query of a text.

    `prefixes` are known beside rdf:, rdfs:, xsd: and owl:, and those of the text.
    """
    known = {**DECLARED, **(prefixes or {})}
    query = basic_query_of(shape_of(text, known).bound)
    if query is None or query.comparisons or query.form == "CONSTRUCT":
        return partial(StandingFlow, plan_of(text, known))
    return partial(StandingPattern, query)
