"""The watched query: what keeps its answers up to date.

Nearly all queries are followed change by change, by a dataflow.  The rest (DESCRIBE and the
like) is evaluated anew after every change, and compared with what it was; the plan says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from pyoxigraph import Triple

from livefacts.engine.flow.bags import UNBOUND
from livefacts.engine.flow.dataflow import RunningQuery
from livefacts.engine.flow.evaluator import Ordering
from livefacts.engine.flow.memory_use import Footprint
from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.plan.continuous.flow_text import PlanWords, words_of
from livefacts.service.queries.results import (
    Answer,
    IdRows,
    QueryResult,
    Row,
    Rows,
    Triples,
    row_type,
)
from livefacts.store.terms.dictionary import Dictionary, Loan

Bags = Mapping[Any, int]


class FollowedQuery(Protocol):
    """A query that is followed in some way."""

    @property
    def plan(self) -> PlanWords:
        """How it is followed, in words."""

    @property
    def cached(self) -> dict[str, int]:
        """What is kept for it."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the columns."""

    def bag(self) -> Bags:
        """All answers as they are now, as what stands for them, and how often."""

    def row(self, key: Any) -> Row:
        """An answer, from what stands for it in a bag."""

    def answers(self, prefixes: Mapping[str, str]) -> QueryResult:
        """All answers as they are now."""

    def lend(self, bag: Bags) -> Loan | None:
        """Keep the terms of what stands for answers as long as the loan is kept."""


class Incremental:
    """A query that a dataflow follows; answers are rows of ids."""

    def __init__(self, standing: RunningQuery, dictionary: Dictionary) -> None:
        self.standing = standing
        self._dictionary = dictionary
        plan = standing.plan
        self.variables = plan.variables
        self._ordering = Ordering(plan.order, dictionary, plan.base)

    @property
    def plan(self) -> PlanWords:
        return words_of(self.standing.plan)

    @property
    def cached(self) -> dict[str, int]:
        standing = self.standing
        return {
            "steps": len(standing.nodes),
            "shared": sum(node.is_shared for node in standing.nodes),
            "rows": standing.size,
            "bytes": sum(part.bytes for part in standing.kept()),
            "looked_at": standing.looked_at,
        }

    def bag(self) -> Bags:
        return dict(self.standing.answers)

    def lend(self, bag: Bags) -> Loan | None:
        return self._dictionary.lend_rows(bag)

    def row(self, key: Any) -> Row:
        bound = [each for each in key if each != UNBOUND]
        terms: Any = iter(self._dictionary.decode(bound) if bound else ())
        found = [None if each == UNBOUND else next(terms) for each in key]
        return Row.of(self.variables, found)

    def answers(self, prefixes: Mapping[str, str]) -> QueryResult:
        found = self.standing.rows
        if self.standing.plan.form == "ASK":
            return Answer(bool(found))
        order = self._ordering.order(found.rows)
        by = np.repeat(order, found.counts[order])
        columns = [found.rows[by, at] for at in range(len(self.variables))]
        terms = QueryTerms(self._dictionary.reader())
        if self.standing.plan.form == "CONSTRUCT":
            return Triples(IdRows(columns, len(by), terms, _triple), prefixes)
        made = row_type(self.variables)
        return Rows(self.variables, IdRows(columns, len(by), terms, made), prefixes)


class Reevaluated:
    """A query that is evaluated anew after every change; answers are rows of terms."""

    def __init__(self, ask: Callable[[], QueryResult], reason: str) -> None:
        self._ask = ask
        self._reason = reason
        self._result = ask()
        self._bag = _bag_of(self._result)

    @property
    def variables(self) -> tuple[str, ...]:
        return () if isinstance(self._result, Answer) else self._result.variables

    def bag(self) -> Bags:
        return self._bag

    @property
    def plan(self) -> PlanWords:
        text = f"the whole query is evaluated anew after every change: {self._reason}\n"
        return PlanWords(text, 'digraph flow {\n  s0 [label="evaluated anew"];\n}\n')

    @property
    def cached(self) -> dict[str, int]:
        kept = Footprint().bytes_of(self._bag)
        return {"steps": 0, "shared": 0, "rows": len(self._bag), "bytes": kept, "looked_at": 0}

    def follow(self) -> Bags:
        """The difference to what the answers were."""
        self._result = self._ask()
        before, self._bag = self._bag, _bag_of(self._result)
        keys = dict.fromkeys([*before, *self._bag])
        found = {key: self._bag[key] - before[key] for key in keys}
        return {key: count for key, count in found.items() if count}

    def lend(self, bag: Bags) -> Loan | None:
        return None

    def row(self, key: Any) -> Row:
        assert isinstance(key, Row), "the answers are rows"
        return key

    def answers(self, prefixes: Mapping[str, str]) -> QueryResult:
        return self._result


def _bag_of(result: QueryResult) -> Counter[Row]:
    if isinstance(result, Answer):
        return Counter([Row.of((), ())] if result else [])
    return Counter(result.as_rows() if isinstance(result, Triples) else result)


def _triple(terms: tuple[Any, ...]) -> Triple:
    return Triple(*terms)
