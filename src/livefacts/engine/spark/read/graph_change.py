"""Changes of named graphs: which graphs assert a triple, and whether any still does.

A triple is asserted while any graph asserts it.  A change says what the default graph and named
ones assert and retract; what comes of it are triples that are asserted now and were not, or were
and are not, and notes of which graphs assert the triples of named graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.spark.read.asked_facts import QUADS, SettledChange
from livefacts.kb.bucket_stages import Bucket
from livefacts.kb.graph_rows import DEFAULT, NO_QUADS, GraphChange, quads_at
from livefacts.kb.live_buckets import Live
from livefacts.kb.tables import Commit, KnowledgeBase
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.hash_ids import HashIds

Triple = tuple[int, int, int]
IsTold = Callable[[HashIds], NDArray[np.bool_]]
"""Which of some triples are asserted by anyone."""


class NotedGraphs:
    """Which graphs assert the triples that named graphs assert; read when someone first asks."""

    def __init__(self, read: Callable[[], HashIds] = lambda: NO_QUADS) -> None:
        self._read = read
        self._noted: dict[Triple, set[int]] | None = None

    def change(self, asked: SettledChange, is_told: IsTold) -> tuple[SettledChange, GraphChange]:
        """What a change of graphs asserts and retracts, and what is to be noted."""
        noted = self._graphs()
        if not noted and QUADS not in asked.added and QUADS not in asked.removed:
            return asked, GraphChange()
        come, go = (_tellers(facts) for facts in (asked.added, asked.removed))
        spoken_of = [t for t in come.keys() | go.keys() if t in noted or _is_named(t, come, go)]
        before = self._tellers_before(spoken_of, is_told)
        after = {t: (before[t] - go.get(t, set())) | come.get(t, set()) for t in spoken_of}
        told = {t for t in spoken_of if after[t] and not before[t]}
        untold = {t for t in spoken_of if before[t] and not after[t]}
        rows_before = {(*t, g) for t in spoken_of for g in noted.get(t, ())}
        rows_after = {(*t, g) for t in spoken_of if after[t] - {DEFAULT} for g in after[t]}
        settled = replace(
            asked,
            added=_with_triples(asked.added, set(spoken_of), told),
            removed=_with_triples(asked.removed, set(spoken_of), untold),
        )
        begins, ceases = rows_after - rows_before, rows_before - rows_after
        return settled, GraphChange(frozenset(begins), frozenset(ceases))

    def _tellers_before(self, triples: list[Triple], is_told: IsTold) -> dict[Triple, set[int]]:
        noted = self._graphs()
        others = [triple for triple in triples if triple not in noted]
        found = {triple: noted[triple] for triple in triples if triple in noted}
        if others:
            flags = is_told(_rows(others)).tolist()
            told = dict(zip(map(tuple, _rows(others).tolist()), flags, strict=True))
            found |= {triple: {DEFAULT} if told[triple] else set() for triple in others}
        return found

    def _graphs(self) -> dict[Triple, set[int]]:
        if self._noted is None:
            self._noted = {}
            for s, p, o, graph in self._read().tolist():
                self._noted.setdefault((s, p, o), set()).add(graph)
        return self._noted

    def take(self, change: GraphChange) -> None:
        """The change was committed."""
        noted = self._graphs()
        for s, p, o, graph in change.begins:
            noted.setdefault((s, p, o), set()).add(graph)
        for s, p, o, graph in change.ceases:
            noted[s, p, o].discard(graph)
            if not noted[s, p, o]:
                del noted[s, p, o]


def noted_graphs(base: KnowledgeBase, commit: Commit) -> NotedGraphs:
    """What is noted of graphs at a commit."""
    return NotedGraphs(lambda: quads_at(base, commit))


def told_in(buckets: list[Bucket]) -> IsTold:
    """Whether triples are asserted, as the files of their buckets say."""
    return Live(buckets).is_told


def _tellers(facts: Mapping[int, HashIds]) -> dict[Triple, set[int]]:
    """The graphs that a change speaks of, for each triple."""
    found: dict[Triple, set[int]] = {}
    for s, p, o in facts.get(TRIPLES, NO_QUADS[:, :3]).tolist():
        found.setdefault((s, p, o), set()).add(DEFAULT)
    for s, p, o, graph in facts.get(QUADS, NO_QUADS).tolist():
        found.setdefault((s, p, o), set()).add(graph)
    return found


def _is_named(triple: Triple, *tellers: Mapping[Triple, set[int]]) -> bool:
    return any(each.get(triple, set()) - {DEFAULT} for each in tellers)


def _with_triples(
    facts: Mapping[int, HashIds], spoken_of: set[Triple], changed: set[Triple]
) -> dict[int, HashIds]:
    """Facts in which some triples are replaced by those of them that change."""
    plain = {(s, p, o) for s, p, o in facts.get(TRIPLES, NO_QUADS[:, :3]).tolist()}
    others = {shape: rows for shape, rows in facts.items() if shape not in (TRIPLES, QUADS)}
    return {**others, TRIPLES: _rows((plain - spoken_of) | changed)}


def _rows(triples: Iterable[Triple]) -> HashIds:
    return np.array(sorted(triples), np.int64).reshape(-1, 3)
