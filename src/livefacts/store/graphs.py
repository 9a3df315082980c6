"""Named graphs: which graph asserts which triple.

The default graph's assertions are marked on the triples themselves; here are those of
all other graphs, as rows of subject, predicate, object and graph.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from livefacts.store.rows import RowStore

Ids = NDArray[np.int32]
QUADS = 4
"""A shape of four columns."""


class NamedGraphs:
    """The assertions of named graphs."""

    def __init__(self) -> None:
        self._store = RowStore()
        self._relation = self._store.relation(QUADS)
        self.graphs: dict[int, None] = {}

    def __len__(self) -> int:
        return self._store.live(self._relation)

    def add(self, quads: Ids) -> Ids:
        """Assert these; returns those that were new."""
        if not len(quads):
            return quads
        self.graphs.update(dict.fromkeys(np.unique(quads[:, 3]).tolist()))
        quads = np.unique(quads, axis=0)
        new: Ids = quads[self._store.find(self._relation, quads) == 0]
        self._store.insert(self._relation, new)
        return new

    def quads(self) -> Ids:
        """All of them."""
        return self._store.columns(self._relation, self._store.with_flags(self._relation))

    def pieces(self, size: int) -> Iterator[Ids]:
        quads = self.quads()
        for first in range(0, len(quads), size):
            yield quads[first : first + size]
