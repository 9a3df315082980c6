"""Standing queries: a query that stays while messages come, over ids, and what it keeps."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.flow.memory_use import Footprint, KeptPart
from livefacts.engine.patterns.matcher import Matcher
from livefacts.engine.patterns.projection import Signs
from livefacts.engine.patterns.signed_rows import Factored
from livefacts.language.formula import Variable
from livefacts.language.graph_pattern import BasicQuery
from livefacts.plan.continuous.pattern_plan import PatternPlan
from livefacts.store.terms.dictionary import Dictionary

ANY = -1
"""Stands for a variable in the patterns that triples are let in by."""


class QueryPlan(Protocol):
    """How a query is followed: in words when printed."""

    def to_dot(self) -> str:
        """The same as a picture for Graphviz."""


class StandingQuery(Protocol):
    """Follows one query."""

    form: str
    variables: tuple[str, ...]
    patterns: Ids
    """Every triple pattern that the query can see: ids, and -1 for variables."""

    @property
    def plan(self) -> QueryPlan:
        """How the query is followed."""

    def answers(self) -> Factored:
        """All answers as they are now."""

    def cached(self, measured: Footprint) -> tuple[KeptPart, ...]:
        """What is kept, part by part, without what was measured before."""


class StandingPattern:
    """Follows one query of triple patterns."""

    def __init__(self, query: BasicQuery, dictionary: Dictionary, flow: object = None) -> None:
        self.query = query
        self.plan: QueryPlan = PatternPlan(query)
        self.form = query.form
        self.variables = tuple(variable.name for variable in query.selected)
        distinct = query.distinct or query.form == "ASK"
        encode = dictionary.encode_one
        self._matcher = Matcher(query.patterns, encode, query.selected, distinct)
        slots = [
            [ANY if isinstance(s, Variable) else encode(s) for s in pattern.slots]
            for pattern in query.patterns
        ]
        self.patterns: Ids = np.array(slots, np.int32).reshape(-1, 3)

    def change(self, triples: Ids, signs: Signs) -> Factored:
        """The answers that come and go with triples that come (1) and go (-1)."""
        return self._matcher.change(triples, signs)

    def answers(self) -> Factored:
        """All answers as they are now."""
        return self._matcher.factored()

    def kept(self) -> Ids:
        """The triples that are known to be there."""
        return self._matcher.kept()

    def cached(self, measured: Footprint) -> tuple[KeptPart, ...]:
        """What is kept, part by part; nothing of it is shared."""
        pairs = zip(self._matcher.parts, self._matcher.matchers, strict=True)
        return tuple(
            KeptPart(f"part {number}, {part.shape.value}", matcher.entries, matcher.nbytes)
            for number, (part, matcher) in enumerate(pairs, start=1)
        )
