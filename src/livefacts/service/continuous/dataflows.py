"""Standing flows: a query of any form over ids, on its own, without a graph."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.embedded.bags import Bag
from livefacts.engine.embedded.dataflow import Dataflow
from livefacts.engine.embedded.signedrows import SignedRows
from livefacts.engine.embedded.standing import KeptPart
from livefacts.plan.flowwords import PlanWords, words_of
from livefacts.service.continuous.queryplans import plan_of
from livefacts.store.dictionary import Dictionary

NO_TRIPLES = np.zeros((0, 3), np.int32)


def dataflow_of(text: str, prefixes: Mapping[str, str], dictionary: Dictionary) -> StandingFlow:
    """The flow of a query; a `QueryError` says why there is none."""
    return StandingFlow(text, prefixes, dictionary)


class StandingFlow:
    """Follows one query through exact changes.

    What comes was not there and what goes was.  Unbound columns are -1.  `patterns` are the
    triple patterns that the query can see, -1 in the place of a variable.
    """

    def __init__(self, text: str, prefixes: Mapping[str, str], dictionary: Dictionary) -> None:
        plan = plan_of(text, prefixes)
        self._flow = Dataflow(dictionary)
        self._standing = self._flow.add(plan, NO_TRIPLES)
        self.form = plan.form
        self.variables = plan.variables
        self.plan: PlanWords = words_of(plan)

    @property
    def patterns(self) -> Ids:
        """The triple patterns of the query, in ids."""
        return self._standing.patterns

    def apply(self, added: Ids, removed: Ids) -> SignedRows:
        """The answers that come and go with triples that come and go."""
        for _, bag in self._flow.apply(added, removed):
            return self._as_rows(bag)
        return self._as_rows({})

    def rows(self) -> SignedRows:
        """All answers as they are now."""
        return self._as_rows(self._standing.answers)

    def kept(self) -> tuple[KeptPart, ...]:
        """What each step keeps, and the answers."""
        return self._standing.kept()

    def _as_rows(self, bag: Bag) -> SignedRows:
        rows = np.array(list(bag), np.int32).reshape(len(bag), len(self.variables))
        return SignedRows(rows, np.fromiter(bag.values(), np.int64, len(bag)))
