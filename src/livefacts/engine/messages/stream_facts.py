"""Stream facts: the triples, or quads, that messages have brought, and what a message changes.

A triple that comes though it is there, or goes though it is not, changes nothing.  A query
that speaks of graphs sees quads of named graphs and, where it names none, every triple that
any graph asserts: it comes with the first of them, and goes with the last.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.flow.bags import Row
from livefacts.engine.flow.memory_use import Footprint, KeptPart
from livefacts.engine.patterns.projection import Signs
from livefacts.store.facts.row_store import TRIPLES, RowStore

DEFAULT = -1
"""Stands for the default graph in the last place of a quad."""
NO_QUADS = np.zeros((0, 4), np.int32)


class StreamChange(NamedTuple):
    """Triples that are there and were not, and the other way round; quads of named graphs."""

    added: Ids
    removed: Ids
    came: Ids = NO_QUADS
    gone: Ids = NO_QUADS


NO_CHANGE = StreamChange(np.zeros((0, 3), np.int32), np.zeros((0, 3), np.int32))


class StreamFacts(Protocol):
    """What is there."""

    def follow(self, rows: Ids, signs: Signs) -> StreamChange:
        """What changes in the end, when rows come (1) and go (-1); the last word counts."""

    def rows(self) -> Ids:
        """All that is there."""

    def kept(self) -> KeptPart:
        """What this takes."""


class StreamTriples:
    """The triples that are there."""

    def __init__(self) -> None:
        self._store = RowStore()

    def follow(self, rows: Ids, signs: Signs) -> StreamChange:
        """What changes in the end, when triples come (1) and go (-1); the last word counts."""
        last = dict(zip(map(tuple, rows.tolist()), signs.tolist(), strict=True))
        named = _ids(last, 3)
        comes = np.fromiter(last.values(), np.int32, len(last)) > 0
        found = self._store.find(TRIPLES, named)
        added, removed = named[comes & (found == 0)], named[~comes & (found != 0)]
        for row in found[~comes & (found != 0)].tolist():
            self._store.remove(TRIPLES, row)
        self._store.insert(TRIPLES, added)
        return StreamChange(added, removed)

    def rows(self) -> Ids:
        """All triples that are there."""
        return self._store.columns(TRIPLES, self._store.with_flags(TRIPLES))

    def kept(self) -> KeptPart:
        """What this takes."""
        return KeptPart("triples", self._store.live(TRIPLES), self._store.nbytes())


class StreamQuads:
    """The quads that are there, as the graphs that assert each triple."""

    def __init__(self) -> None:
        self._homes: dict[Row, set[int]] = {}

    def follow(self, rows: Ids, signs: Signs) -> StreamChange:
        """What changes in the end, when quads come (1) and go (-1); the last word counts."""
        last = dict(zip(map(tuple, rows.tolist()), signs.tolist(), strict=True))
        was_there: dict[Row, bool] = {}
        came: list[Row] = []
        gone: list[Row] = []
        for quad, sign in last.items():
            triple, graph = quad[:3], quad[3]
            homes = self._homes.get(triple, ())
            if (graph in homes) == (sign > 0):
                continue
            was_there.setdefault(triple, bool(homes))
            self._move(triple, graph, sign)
            if graph != DEFAULT:
                (came if sign > 0 else gone).append(quad)
        added = [each for each, was in was_there.items() if not was and each in self._homes]
        removed = [each for each, was in was_there.items() if was and each not in self._homes]
        return StreamChange(_ids(added, 3), _ids(removed, 3), _ids(came, 4), _ids(gone, 4))

    def _move(self, triple: Row, graph: int, sign: int) -> None:
        homes = self._homes.setdefault(triple, set())
        if sign > 0:
            homes.add(graph)
            return
        homes.remove(graph)
        if not homes:
            del self._homes[triple]

    def rows(self) -> Ids:
        """All quads that are there."""
        return _ids(((*t, graph) for t, homes in self._homes.items() for graph in homes), 4)

    def kept(self) -> KeptPart:
        """What this takes."""
        many = sum(map(len, self._homes.values()))
        return KeptPart("quads", many, Footprint().bytes_of(self._homes))


def _ids(rows: Iterable[Row], width: int) -> Ids:
    return np.array(list(rows), np.int32).reshape(-1, width)
