"""Pattern matches: the matches of several triple patterns together, as rows of a flow.

Compiled code follows them: by bits where the patterns have one variable, else by joins of the
triples that fit, which are all that is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.flow.bags import Bag, Row
from livefacts.engine.flow.first_rows import bag_of
from livefacts.engine.flow.triple_changes import TripleChange
from livefacts.engine.patterns.connected_parts import JoinMatcher
from livefacts.engine.patterns.signed_rows import SignedRows
from livefacts.engine.patterns.stars import StarMatcher
from livefacts.plan.continuous.flow import Joined
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.versions.snapshots import GraphSnapshots


class PatternMatches:
    """Follows a `Joined`."""

    is_named = False

    def __init__(self, operator: Joined, dictionary: Dictionary) -> None:
        coded = [
            [~slot if isinstance(slot, int) else dictionary.encode_one(slot) for slot in slots]
            for slots in operator.patterns
        ]
        slots = np.array(coded, np.int32)
        self.patterns = [tuple(row) for row in np.maximum(slots, -1).tolist()]
        """The patterns in ids, -1 in the place of a variable."""
        width = -int(slots.min())
        self._matcher = StarMatcher(slots) if width == 1 else JoinMatcher(slots, width)
        self._predicates = np.unique(slots[:, 1])

    @property
    def predicates(self) -> list[int]:
        """The predicates whose triples it is about; -1 for any."""
        return sorted({max(each, -1) for each in self._predicates.tolist()})

    def bag(self, change: TripleChange) -> Bag:
        """The matches that come and go."""
        triples, signs = change.signed
        if change.few is None and self._predicates[0] >= 0:
            concerned = np.isin(triples[:, 1], self._predicates)
            triples, signs = triples[concerned], signs[concerned]
        return bag_of(self._matcher.change(triples, signs))

    def fill(self, there: GraphSnapshots) -> SignedRows:
        """The matches among what is there when it begins."""
        triples = np.concatenate([there.everything.matching(each) for each in set(self.patterns)])
        return self._matcher.change(triples, np.ones(len(triples), np.int32))

    @property
    def size(self) -> int:
        """How many triples, or centres with their bits, are kept."""
        return self._matcher.entries

    @property
    def nbytes(self) -> int:
        """The memory of what is kept."""
        return self._matcher.nbytes

    @property
    def looked_at(self) -> int:
        """How many triples have been looked at, all changes together."""
        return self._matcher.looked if isinstance(self._matcher, JoinMatcher) else 0

    def triples(self) -> Ids:
        """The triples that are kept."""
        return self._matcher.kept()

    def rows(self) -> Iterable[Row]:
        """The triples that are kept, and the terms of the patterns."""
        constants = [tuple(each for each in pattern if each >= 0) for pattern in self.patterns]
        return chain(constants, map(tuple, self._matcher.kept().tolist()))
