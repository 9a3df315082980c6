"""Triple filters: the triples that match one pattern, as rows; nothing is kept."""

from __future__ import annotations

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.embedded.bags import Bag, Row, nothing_kept
from livefacts.plan.flow import Match
from livefacts.store.dictionary import Dictionary

ANY = -1


class TripleFilter:
    """Follows a `Match`."""

    looked_at = size = 0
    rows = nothing_kept

    def __init__(self, operator: Match, dictionary: Dictionary) -> None:
        self._constants: list[tuple[int, int]] = []
        self._equal: list[tuple[int, int]] = []
        places: dict[int, int] = {}
        for place, slot in enumerate(operator.slots):
            if not isinstance(slot, int):
                self._constants.append((place, dictionary.encode_one(slot)))
            elif slot in places:
                self._equal.append((places[slot], place))
            else:
                places[slot] = place
        constants = dict(self._constants)
        self.pattern = tuple(constants.get(place, ANY) for place in range(3))
        """The pattern in ids, -1 in the place of a variable."""
        self._columns = [places[column] for column in range(len(places))]
        self.predicate = self.pattern[1]

    def bag(self, added: Ids, removed: Ids) -> Bag:
        """The rows of triples that come and go; no triple does both."""
        found = dict.fromkeys(self._rows(added), 1)
        found.update(dict.fromkeys(self._rows(removed), -1))
        return found

    def matches(self, triples: Ids) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which triples match."""
        fits = np.ones(len(triples), np.bool_)
        for place, term in self._constants:
            fits &= triples[:, place] == term
        for one, other in self._equal:
            fits &= triples[:, one] == triples[:, other]
        return fits

    def _rows(self, triples: Ids) -> list[Row]:
        if not len(triples):
            return []
        found = triples[self.matches(triples)]
        return list(map(tuple, found[:, self._columns].tolist()))
