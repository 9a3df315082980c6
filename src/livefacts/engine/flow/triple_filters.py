"""Triple filters: the triples that match one pattern, as rows; nothing is kept.

A pattern of named graphs looks at rows of four places, the last of which is the graph.
"""

from __future__ import annotations

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.flow.bags import Bag, Row, add_to, nothing_kept, tuple_getter
from livefacts.engine.flow.triple_changes import TripleChange
from livefacts.engine.patterns.signed_rows import SignedRows, consolidated
from livefacts.plan.continuous.flow import Match, MatchNamed
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.versions.snapshots import GraphSnapshots

ANY = -1
GRAPH = 3


class TripleFilter:
    """Follows a `Match`."""

    looked_at = size = 0
    rows = nothing_kept

    def __init__(self, operator: Match | MatchNamed, dictionary: Dictionary) -> None:
        self._constants: list[tuple[int, int]] = []
        self._equal: list[tuple[int, int]] = []
        places: dict[int, int] = {}
        for place, slot in enumerate(operator.slots):
            if slot is None:
                continue
            if not isinstance(slot, int):
                self._constants.append((place, dictionary.encode_one(slot)))
            elif slot in places:
                self._equal.append((places[slot], place))
            else:
                places[slot] = place
        constants = dict(self._constants)
        self._asked = tuple(constants.get(place, ANY) for place in range(4))
        self.pattern = self._asked[:3]
        """The pattern in ids, -1 in the place of a variable."""
        self._columns = [places[column] for column in range(len(places))]
        self.patterns = [self.pattern]
        self.predicates = [self.pattern[1]]
        self._get = tuple_getter(self._columns)
        self.is_named = isinstance(operator, MatchNamed)
        self._within: Ids | None = None
        if isinstance(operator, MatchNamed) and operator.within is not None:
            self._within = dictionary.encode(operator.within)

    def fill(self, there: GraphSnapshots) -> SignedRows:
        """The rows of what is there when it begins."""
        if self.is_named:
            triples = there.quads_matching(self._asked)
        else:
            triples = there.everything.matching(self.pattern)
        rows = triples[self.matches(triples)][:, self._columns]
        found = SignedRows(rows, np.ones(len(rows), np.int64))
        return found if self._within is None else consolidated(found)

    def bag(self, change: TripleChange) -> Bag:
        """The rows of triples that come and go."""
        if self._within is not None:
            return self._bag_within(change)
        if change.few is None:
            found = dict.fromkeys(self._rows(change.added), 1)
            found.update(dict.fromkeys(self._rows(change.removed), -1))
            return found
        return {
            self._get(triple): sign
            for sign, triple in change.few
            if all(triple[place] == term for place, term in self._constants)
            and all(triple[one] == triple[other] for one, other in self._equal)
        }

    def _bag_within(self, change: TripleChange) -> Bag:
        """The same where several graphs may assert the same triple."""
        found: Bag = {}
        for triples, sign in ((change.added, 1), (change.removed, -1)):
            for row in self._rows(triples):
                add_to(found, row, sign)
        return found

    def matches(self, triples: Ids) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which triples match."""
        fits = np.ones(len(triples), np.bool_)
        for place, term in self._constants:
            fits &= triples[:, place] == term
        for one, other in self._equal:
            fits &= triples[:, one] == triples[:, other]
        if self._within is not None:
            fits &= np.isin(triples[:, GRAPH], self._within)
        return fits

    def _rows(self, triples: Ids) -> list[Row]:
        if not len(triples):
            return []
        found = triples[self.matches(triples)]
        return list(map(self._get, found.tolist()))
