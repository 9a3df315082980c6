"""Standing flows on their own: queries beyond triple patterns, fed by update messages.

A flow follows exact changes.  Which triples are there is kept here, of those that the query
can see: a triple that comes though it is there, or goes though it is not, is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.embedded.projecting import Signs
from livefacts.engine.embedded.signedrows import Factored
from livefacts.engine.embedded.standing import KeptPart, Plan
from livefacts.service.continuous.dataflows import dataflow_of
from livefacts.store.dictionary import Dictionary
from livefacts.store.rows import TRIPLES, RowStore


class StandingQuery:
    """Follows one query of any form that a flow can follow."""

    def __init__(self, text: str, prefixes: Mapping[str, str], dictionary: Dictionary) -> None:
        self._flow = dataflow_of(text, prefixes, dictionary)
        self._there = RowStore()
        self.form = self._flow.form
        self.variables = self._flow.variables
        self.plan: Plan = self._flow.plan
        self.patterns = self._flow.patterns
        self._order = tuple(range(len(self.variables)))

    def change(self, triples: Ids, signs: Signs) -> Factored:
        """The answers that come and go with triples that come (1) and go (-1)."""
        added, removed = self._exact(triples, signs)
        if not len(added) and not len(removed):
            return Factored((), self._order)
        found = self._flow.apply(added, removed)
        return Factored(((found,),) if found else (), self._order)

    def _exact(self, triples: Ids, signs: Signs) -> tuple[Ids, Ids]:
        """The triples that are there at the end and were not before, and those that were."""
        last = dict(zip(map(tuple, triples.tolist()), signs.tolist(), strict=True))
        told = np.array(list(last), np.int32).reshape(-1, 3)
        comes = np.array(list(last.values())) > 0
        rows = self._there.find(TRIPLES, told)
        added, removed = told[comes & (rows == 0)], told[~comes & (rows != 0)]
        for row in rows[~comes & (rows != 0)].tolist():
            self._there.remove(TRIPLES, row)
        self._there.insert(TRIPLES, added)
        return added, removed

    def answers(self) -> Factored:
        """All answers as they are now."""
        found = self._flow.rows()
        return Factored(((found,),) if found else (), self._order)

    def kept(self) -> Ids:
        """The triples that are known to be there."""
        return self._there.columns(TRIPLES, self._there.with_flags(TRIPLES))

    def cached(self) -> tuple[KeptPart, ...]:
        """The triples that are there, what each step keeps, and the answers."""
        there = KeptPart("triples", self._there.live(TRIPLES), self._there.nbytes())
        return (there, *self._flow.kept())
