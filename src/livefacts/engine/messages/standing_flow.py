"""Standing flows: standing queries beyond triple patterns, in one dataflow for their group.

A flow follows exact changes: the group knows what is there, and passes on what has changed in
that.  Unbound columns of answers are -1.
"""

from __future__ import annotations

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.flow.bags import Bag
from livefacts.engine.flow.dataflow import Dataflow
from livefacts.engine.flow.evaluator import Ordering
from livefacts.engine.flow.memory_use import Footprint, KeptPart
from livefacts.engine.messages.standing_query import QueryPlan
from livefacts.engine.patterns.signed_rows import Factored, SignedRows
from livefacts.plan.continuous.flow import FlowPlan
from livefacts.plan.continuous.flow_text import words_of
from livefacts.store.terms.dictionary import Dictionary


class StandingFlow:
    """Follows one query of any form that a flow can follow."""

    def __init__(self, plan: FlowPlan, dictionary: Dictionary, flow: Dataflow) -> None:
        self.standing = flow.add(plan)
        self.form = plan.form
        self.variables = plan.variables
        self.plan: QueryPlan = words_of(plan)
        self.patterns: Ids = self.standing.patterns
        self._ordering = Ordering(plan.order, dictionary, plan.base) if plan.order else None
        self._order = tuple(range(len(self.variables)))

    def answers_in(self, bag: Bag) -> Factored:
        """Answers that the flow has found to come and go."""
        return self._factored(list(bag), bag)

    def answers(self) -> Factored:
        """All answers as they are now, in the order of the query if it has one."""
        bag = self.standing.ordered
        rows = list(bag)
        return self._factored(self._ordering.sorted(rows) if self._ordering else rows, bag)

    def _factored(self, rows: list[tuple[int, ...]], bag: Bag) -> Factored:
        if not rows:
            return Factored((), self._order)
        width = len(self.variables)
        ids = np.array([row[:width] for row in rows], np.int32).reshape(len(rows), width)
        counts = np.array([bag[row] for row in rows], np.int64)
        return Factored(((SignedRows(ids, counts),),), self._order)

    def cached(self, measured: Footprint) -> tuple[KeptPart, ...]:
        """What each step keeps, and the answers; what was measured before counts no more."""
        return self.standing.kept(measured)
