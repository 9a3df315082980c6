"""Window graphs: the windows of a query that have names, each as a graph.

In it is what arrived in the window, and what follows from it with the background and would not
follow from the background alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import NamedNode

from livefacts.engine.contract import TRIPLES, IdDelta, Ids
from livefacts.service.registered.world import World
from livefacts.service.streams.fact_rows import Key, Rows, facts_of, keys_of
from livefacts.service.streams.reclamation import ids_of


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
