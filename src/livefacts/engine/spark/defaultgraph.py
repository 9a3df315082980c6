"""Changes of the default graph, where named graphs tell some of the same triples.

An update speaks of the default graph.  A triple that a named graph tells as well stays told
when the default graph no longer tells it; and what is noted of graphs says who tells it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from livefacts.engine.spark.graphs import DEFAULT, NO_QUADS, quads_at, write_quads
from livefacts.engine.spark.tables import GRAPHS, Commit, KnowledgeBase, Write
from livefacts.engine.spark.telling import Settled
from livefacts.store.rows import TRIPLES
from livefacts.store.xxhash import HashIds

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class GraphChange:
    """The triples of named graphs that the default graph begins and ceases to tell."""

    begins: frozenset[Triple] = frozenset()
    ceases: frozenset[Triple] = frozenset()

    def writes(self, base: KnowledgeBase, seq: int) -> dict[str, Write]:
        """What notes it."""
        parts = ((self.begins, 1), (self.ceases, -1))
        files = tuple(
            file
            for triples, sign in parts
            if triples
            for file in write_quads(base, seq, _quads(triples), sign)
        )
        return {GRAPHS: Write(files)} if files else {}


def _quads(triples: frozenset[Triple]) -> HashIds:
    return np.array([(*triple, DEFAULT) for triple in sorted(triples)], np.int64)


class NotedGraphs:
    """Which graphs tell the triples that named graphs tell; read when someone first asks."""

    def __init__(self, read: Callable[[], HashIds] = lambda: NO_QUADS) -> None:
        self._read = read
        self._noted: dict[Triple, set[int]] | None = None

    def change(self, asked: Settled) -> tuple[Settled, GraphChange]:
        """A change of the default graph: what it tells and untells, and what is to be noted."""
        noted = self._graphs()
        if not noted:
            return asked, GraphChange()
        come, go = (_triples(each.get(TRIPLES)) for each in (asked.added, asked.removed))
        begins = {t for t in come & noted.keys() if DEFAULT not in noted[t]}
        ceases = {t for t in (go - come) & noted.keys() if DEFAULT in noted[t]}
        stays = {t for t in go & noted.keys() if noted[t] - {DEFAULT}}
        removed = {**asked.removed, TRIPLES: _rows(go - stays)}
        return replace(asked, removed=removed), GraphChange(frozenset(begins), frozenset(ceases))

    def _graphs(self) -> dict[Triple, set[int]]:
        if self._noted is None:
            self._noted = {}
            for s, p, o, graph in self._read().tolist():
                self._noted.setdefault((s, p, o), set()).add(graph)
        return self._noted

    def take(self, change: GraphChange) -> None:
        """The change was committed."""
        noted = self._graphs()
        for triple in change.begins:
            noted[triple].add(DEFAULT)
        for triple in change.ceases:
            noted[triple].discard(DEFAULT)
            if not noted[triple]:
                del noted[triple]


def noted_graphs(base: KnowledgeBase, commit: Commit) -> NotedGraphs:
    """What is noted of graphs at a commit."""
    return NotedGraphs(lambda: quads_at(base, commit))


def _triples(rows: HashIds | None) -> set[Triple]:
    return set() if rows is None else {(s, p, o) for s, p, o in rows.tolist()}


def _rows(triples: set[Triple]) -> HashIds:
    return np.array(sorted(triples), np.int64).reshape(-1, 3)
