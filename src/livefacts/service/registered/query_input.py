"""Query inputs: the triples that a query sees, the quads beside them, and how both change.

The triples are all that is true in its world.  Quads are those of its windows that have names, of
the background's named graphs, and the times at which triples arrived.  What came and went is
gathered until somebody asks for it: a flow that follows the query, or a store that is asked anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np
from pyoxigraph import Quad

from livefacts.engine.contract import TRIPLES, IdDelta, Ids
from livefacts.service.change.fact_reader import FactReader
from livefacts.service.registered.window_graphs import WindowGraph
from livefacts.service.registered.window_times import WindowTimes
from livefacts.service.streams.fact_rows import Rows, facts_of, netted
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.versions.snapshots import NO_QUADS, NO_TRIPLES


class FollowedFacts(Protocol):
    """A world, as far as a query sees it."""

    def facts(self) -> Rows:
        """Everything that is true."""
        ...

    def follow(self, follower: Callable[[IdDelta], None]) -> None:
        """Call with every change from now on."""
        ...

    def unfollow(self, follower: Callable[[IdDelta], None]) -> None:
        """Call no more."""
        ...


class QueryInput:
    """What a query sees of its world, in step with it."""

    def __init__(
        self,
        world: FollowedFacts,
        dictionary: Dictionary,
        graphs: Sequence[WindowGraph],
        quads: Iterable[Quad],
        times: WindowTimes | None = None,
    ) -> None:
        self._world = world
        self._dictionary = dictionary
        self._reader = FactReader(dictionary)
        self._graphs = graphs
        self._times = times
        self.windows = [dictionary.encode_one(graph.name) for graph in graphs]
        """The graphs that are there even while they are empty."""
        self._triples: list[tuple[Ids, Ids]] = []
        self._quads: list[tuple[Ids, Ids]] = []
        self.graphs_changed(quads, ())

    def triples(self) -> Ids:
        """The triples that are true now, from which changes are gathered when it is followed."""
        return self._shown(self._world.facts())

    def follow(self) -> None:
        """Gather what changes from now on."""
        self._world.follow(self._note)

    def close(self) -> None:
        """Follow the world no longer."""
        self._world.unfollow(self._note)
        for graph in self._graphs:
            graph.close()

    def move(self, now: int) -> None:
        """The time is `now`, for windows that have names and for times, too."""
        for graph in self._graphs:
            graph.move(now)
        if self._times is not None:
            self._times.move(now)

    def graphs_changed(self, came: Iterable[Quad], gone: Iterable[Quad]) -> None:
        """Named graphs of the background have changed."""
        added, removed = self._encoded(came), self._encoded(gone)
        if len(added) or len(removed):
            self._quads.append((added, removed))

    def changes(self) -> tuple[Ids, Ids, Ids, Ids]:
        """The triples that came, and that went, and the quads, since this was last asked."""
        triples, quads = self._triples, self._quads
        self._triples, self._quads = [], []
        for name, graph in zip(self.windows, self._graphs, strict=True):
            came, gone = (self._shown(facts_of(keys)) for keys in graph.changes())
            quads.append((_in_graph(came, name), _in_graph(gone, name)))
        if self._times is not None:
            quads.append(self._times.changes())
        return *_netted(triples, NO_TRIPLES), *_netted(quads, NO_QUADS)

    def held_ids(self) -> Iterator[Ids]:
        """The ids of what changed and of what is in graphs, or may be."""
        for pair in (*self._triples, *self._quads):
            yield from pair
        for graph in self._graphs:
            yield from graph.held_ids()
        if self._times is not None:
            yield from self._times.held_ids()

    def _note(self, delta: IdDelta) -> None:
        added, removed = self._shown(delta.added), self._shown(delta.removed)
        if len(added) or len(removed):
            self._triples.append((added, removed))

    def _shown(self, facts: Rows) -> Ids:
        if not len(facts.get(TRIPLES, NO_TRIPLES)):
            return NO_TRIPLES
        return self._reader.shown({TRIPLES: facts[TRIPLES]}).get(TRIPLES, NO_TRIPLES)

    def _encoded(self, quads: Iterable[Quad]) -> Ids:
        terms = [term for quad in quads for term in quad]
        return self._dictionary.encode(terms).reshape(-1, 4)


def _netted(changes: Sequence[tuple[Ids, Ids]], nothing: Ids) -> tuple[Ids, Ids]:
    """What several changes of rows add and remove in the end; without any, `nothing`."""
    if len(changes) == 1:
        return changes[0]
    width = nothing.shape[1]
    came, gone = netted(({width: added}, {width: removed}) for added, removed in changes)
    return came.get(width, nothing), gone.get(width, nothing)


def _in_graph(triples: Ids, graph: int) -> Ids:
    return np.column_stack([triples, np.full(len(triples), graph, np.int32)])
