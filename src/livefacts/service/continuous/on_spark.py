"""Continuous queries on Spark: from the text of a query to a DataFrame of changes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from livefacts.engine.messages.standing_group import StandingGroup
from livefacts.engine.messages.standing_query import StandingPattern
from livefacts.engine.spark.watch.answer_frames import changes_of
from livefacts.engine.spark.watch.keeper import KeptQuery
from livefacts.service.continuous.query_plans import build_of

if TYPE_CHECKING:
    from livefacts.engine.spark.watch.answer_frames import Changes, Messages

NO_PREFIXES: Mapping[str, str] = MappingProxyType({})


def watch(messages: Messages, query: str, prefixes: Mapping[str, str] = NO_PREFIXES) -> Changes:
    """The changes of a query's answers, as a DataFrame, from a stream or a table of messages.

    `messages` has the columns t (anything that can be ordered), op ("ins" or "del"), and s,
    p, o: terms as N-Triples writes them; where a query speaks of graphs, g is the graph, or
    null.  What comes out has the columns op ("+" or "-"),
    one for each variable (null where it is unbound), and count.  Every query that a
    `ContinuousQuery` follows can be asked.
    """
    build = build_of(query, prefixes)
    (standing,) = StandingGroup([build]).queries
    meaning = "\n".join([query, *(f"{name}: {iri}" for name, iri in sorted(prefixes.items()))])
    asked = KeptQuery(meaning, tuple(standing.variables), build)
    basic = standing.query if isinstance(standing, StandingPattern) else None
    return changes_of(messages, asked, basic)
