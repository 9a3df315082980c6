"""Named graphs: which graph asserts which triple.

The default graph's assertions are marked on the triples themselves; here are those of
all other graphs, as rows of subject, predicate, object and graph.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from livefacts.store.facts.integrity import Broken, broken
from livefacts.store.facts.row_store import RowStore

Ids = NDArray[np.int32]
QUADS = 4
"""A shape of four columns."""


class NamedGraphs:
    """The assertions of named graphs."""

    def __init__(self) -> None:
        self._store = RowStore()
        self._relation = self._store.relation(QUADS)

    def count_graphs(self) -> int:
        """How many graphs assert something."""
        return len(np.unique(self.quads()[:, 3]))

    def __len__(self) -> int:
        return self._store.live(self._relation)

    def missing(self, quads: Ids) -> Ids:
        """Those of these that are not asserted, each once."""
        if not len(quads):
            return quads
        quads = np.unique(quads, axis=0)
        new: Ids = quads[self._store.find(self._relation, quads) == 0]
        return new

    def present(self, quads: Ids) -> Ids:
        """Those of these that are asserted, each once."""
        if not len(quads):
            return quads
        quads = np.unique(quads, axis=0)
        found: Ids = quads[self._store.find(self._relation, quads) > 0]
        return found

    def remove(self, quads: Ids) -> None:
        """Take back assertions, all of which are there."""
        for row in self._store.find(self._relation, quads).tolist():
            self._store.remove(self._relation, row)

    def make_room(self, more: int) -> None:
        """Let `change` assert so many."""
        if more:
            self._store.make_room(self._relation, more)

    def change(self, came: Ids, gone: Ids) -> None:
        """Take back what is there, and assert what is not; there is room for it."""
        if len(gone):
            self.remove(gone)
        if len(came):
            self._store.put(self._relation, came)

    def others(self, triples: Ids, gone: Ids) -> NDArray[np.bool_]:
        """Which of these triples some graph asserts, not counting the assertions that go."""
        index = self._store.index(self._relation, (0, 1, 2))
        leaving = set(map(tuple, gone.tolist()))
        asserted = []
        for triple in triples.tolist():
            rows = self._store.chain(self._relation, index, triple)
            quads = self._store.columns(self._relation, rows).tolist()
            asserted.append(any(tuple(quad) not in leaving for quad in quads))
        return np.array(asserted, np.bool_)

    def of(self, triples: Ids) -> Ids:
        """All quads of these triples."""
        index = self._store.index(self._relation, (0, 1, 2))
        chains = [self._store.chain(self._relation, index, each) for each in triples.tolist()]
        rows = np.concatenate([np.zeros(0, np.int64), *chains])
        return self._store.columns(self._relation, rows)

    def asserts(self, graph: int, triples: Ids) -> NDArray[np.bool_]:
        """Which of these triples a graph asserts."""
        quads = np.column_stack([triples, np.full(len(triples), graph, np.int32)])
        asserted: NDArray[np.bool_] = self._store.find(self._relation, quads) > 0
        return asserted

    def broken(self) -> Iterator[Broken]:
        """What does not fit together in the store of these assertions."""
        return broken(self._store)

    def held_ids(self) -> Iterator[Ids]:
        """The ids of triples and graphs."""
        return self._store.all_ids()

    def piece(self, first: int, end: int) -> Ids | None:
        """Those in the rows from one number to another; None: there are none."""
        found = self._store.piece(self._relation, first, end)
        return None if found is None else found[0]

    def quads(self) -> Ids:
        """All of them."""
        return self._store.columns(self._relation, self._store.with_flags(self._relation))
