"""The world store: a world as a store that answers any SPARQL query, kept in step with it.

The default graph is everything that is true in the world.  A window that has a name is a
graph: what arrived in it, and what follows from it with the background and would not
follow from the background alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

import numpy as np
from pyoxigraph import NamedNode, Quad, Triple

from livefacts.engine.contract import TRIPLES, IdDelta, Ids
from livefacts.service.change.fact_reader import FactReader
from livefacts.service.queries.fact_versions import FactVersion
from livefacts.service.queries.question import QueryOptions, ask
from livefacts.service.queries.results import QueryResult
from livefacts.service.registered.world import Follower, World
from livefacts.service.streams.fact_rows import Key, Rows, facts_of, keys_of
from livefacts.service.streams.reclamation import ids_of
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.versions.snapshots import NO_TRIPLES, GraphSnapshots, Versions
from livefacts.syntax.sparql.csparql import WINDOW_BASE


class WindowGraph:
    """The triples of one window, as they change."""

    def __init__(self, name: str, world: World, background: World) -> None:
        self.name = NamedNode(name)
        self._world = world
        self._background = background
        self._members: set[Key] = set()
        self._touched: set[Key] = set()
        self._touch(world.facts())
        self._touched.update(world.inside())
        world.follow(self._follow)
        background.follow(self._follow)

    def close(self) -> None:
        """Follow the worlds no longer."""
        self._world.unfollow(self._follow)
        self._background.unfollow(self._follow)

    def move(self, now: int) -> None:
        """The time is `now`."""
        self._world.move(now)
        self._background.move(now)

    def _follow(self, delta: IdDelta) -> None:
        self._touch(delta.added)
        self._touch(delta.removed)
        self._touched.update(self._world.recent)

    def _touch(self, facts: Rows) -> None:
        if TRIPLES in facts:
            self._touched.update(keys_of({TRIPLES: facts[TRIPLES]}))

    def held_ids(self) -> Iterable[Ids]:
        """The ids of facts that are in the graph, or may be."""
        return ids_of(self._members | self._touched)

    def changes(self) -> tuple[list[Key], list[Key]]:
        """What has come to the graph, and what has gone, since this was last asked."""
        touched = [key for key in self._touched if key[0] == TRIPLES]
        self._touched = set()
        if not touched:
            return [], []
        ids = facts_of(touched)
        follows = (
            self._world.holds(TRIPLES, ids[TRIPLES])
            & ~self._background.holds(TRIPLES, ids[TRIPLES])
        ).tolist()
        inside = self._world.inside()
        now = {k for k, f in zip(touched, follows, strict=True) if f or k in inside}
        came = [key for key in now if key not in self._members]
        gone = [key for key in touched if key not in now and key in self._members]
        self._members.update(came)
        self._members.difference_update(gone)
        return came, gone


class WindowGraphs:
    """The windows of a query that have names, each as a graph."""

    def __init__(self, graphs: Iterable[WindowGraph] = ()) -> None:
        self._graphs = tuple(graphs)

    def __iter__(self) -> Iterator[WindowGraph]:
        return iter(self._graphs)

    def close(self) -> None:
        """Follow the worlds no longer."""
        for graph in self._graphs:
            graph.close()

    def move(self, now: int) -> None:
        """The time is `now`."""
        for graph in self._graphs:
            graph.move(now)

    def held_ids(self) -> Iterator[Ids]:
        """The ids of facts that are in the graphs, or may be."""
        for graph in self._graphs:
            yield from graph.held_ids()


NO_GRAPHS = WindowGraphs()


class StoredWorld(Protocol):
    """What a store is kept in step with."""

    def facts(self) -> Rows:
        """Everything that is true."""
        ...

    def follow(self, follower: Follower) -> None:
        """Call with every change from now on."""
        ...

    def unfollow(self, follower: Follower) -> None:
        """Call no more."""
        ...


class WorldStore:
    """A world that can be asked."""

    def __init__(
        self,
        world: StoredWorld,
        dictionary: Dictionary,
        graphs: WindowGraphs = NO_GRAPHS,
        quads: Iterable[Quad] = (),
    ) -> None:
        self._world = world
        self._dictionary = dictionary
        self._reader = FactReader(dictionary)
        self._graphs = graphs
        self._triples = Versions(lambda: self._shown(world.facts()))
        self._triples.snapshot()
        self._named: dict[int, Versions] = {}
        for graph in graphs:
            self._versions(graph.name)
        self.graphs_changed(quads, ())
        world.follow(self._follow)

    def close(self) -> None:
        """Follow the world no longer."""
        self._world.unfollow(self._follow)
        self._graphs.close()

    def move(self, now: int) -> None:
        """The time is `now`, for the windows that have names, too."""
        self._graphs.move(now)

    def graphs_changed(self, came: Iterable[Quad], gone: Iterable[Quad]) -> None:
        """Named graphs of the background have changed."""
        for quads, sign in ((gone, -1), (came, 1)):
            for graph, triples in _by_graph(quads).items():
                rows = self._dictionary.encode_triples(triples)
                self._note(
                    graph, rows if sign > 0 else NO_TRIPLES, rows if sign < 0 else NO_TRIPLES
                )

    def _versions(self, graph: NamedNode) -> Versions:
        name = self._dictionary.encode_one(graph)
        if name not in self._named:
            self._named[name] = Versions.beginning(NO_TRIPLES)
        return self._named[name]

    def _note(self, graph: NamedNode, came: Ids, gone: Ids) -> None:
        self._versions(graph).note(came, gone)

    def _follow(self, delta: IdDelta) -> None:
        self._triples.note(self._shown(delta.added), self._shown(delta.removed))

    def _shown(self, facts: Rows) -> Ids:
        if TRIPLES not in facts or not len(facts[TRIPLES]):
            return NO_TRIPLES
        return self._reader.shown({TRIPLES: facts[TRIPLES]})[TRIPLES]

    def held_ids(self) -> Iterator[Ids]:
        """The ids of facts that named windows have, or may have."""
        yield from self._graphs.held_ids()
        yield np.array(list(self._named), np.int32)

    def query(self, text: str, prefixes: Mapping[str, str]) -> QueryResult:
        """The answers to a query, as things are now."""
        for graph in self._graphs:
            came, gone = (self._shown(facts_of(keys)) for keys in graph.changes())
            self._note(graph.name, came, gone)
        named = {name: versions.snapshot() for name, versions in self._named.items()}
        graphs = GraphSnapshots(self._triples.snapshot(), named)
        version = FactVersion(graphs, self._dictionary.reader())
        return ask(text, prefixes, version, QueryOptions(base=WINDOW_BASE))


def _by_graph(quads: Iterable[Quad]) -> dict[NamedNode, list[Triple]]:
    found: dict[NamedNode, list[Triple]] = {}
    for quad in quads:
        assert isinstance(quad.graph_name, NamedNode), "graphs of the background have names"
        found.setdefault(quad.graph_name, []).append(quad.triple)
    return found
