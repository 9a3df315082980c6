"""From the text of a query to what follows it, on its own or on Spark."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pyoxigraph import Store

from livefacts.engine.messages.standing_flow import StandingFlow
from livefacts.engine.messages.standing_group import Build
from livefacts.engine.messages.standing_query import StandingPattern
from livefacts.errors import QueryError
from livefacts.model.namespaces import DECLARED
from livefacts.service.continuous.query_plans import plan_of
from livefacts.syntax.sparql.basic_query import parse_basic_query
from livefacts.syntax.sparql.query_errors import syntax_error
from livefacts.syntax.sparql.query_text import read_query


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
