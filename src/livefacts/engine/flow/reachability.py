"""Reachability: the nodes that edges lead to, from seeds, while edges and seeds come and go.

For each seed the nodes that it reaches are kept.  A new edge carries on what its start is
reached by.  When an edge goes, the nodes behind it are overdeleted, as far as they are reached
through it, and those are rederived that a node which stands still leads to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from livefacts.engine.flow.bags import Bag, Row, add_to


class Reacher:
    """Follows a `Reach`: edges and seeds in, pairs (seed, node) out."""

    def __init__(self) -> None:
        self._out: dict[int, set[int]] = {}
        self._in: dict[int, set[int]] = {}
        self._seeds: set[int] = set()
        self._reached: dict[int, set[int]] = {}
        self._reached_by: dict[int, set[int]] = {}
        self.looked_at = 0

    @property
    def size(self) -> int:
        """How many pairs are kept."""
        return sum(map(len, self._reached.values())) + sum(map(len, self._out.values()))

    def rows(self) -> Iterator[Row]:
        """The nodes that are kept."""
        yield from ((node,) for node in chain(self._out, self._in, self._seeds))

    def apply(self, *bags: Bag) -> Bag:
        """The pairs that come and go; edges and seeds come once each."""
        edges, seeds = bags
        made: Bag = {}
        for (seed,), count in seeds.items():
            if count < 0:
                self._drop_seed(seed, made)
        gone = [edge for edge, count in edges.items() if count < 0]
        if gone:
            self._remove_edges(gone, made)
        for (start, end), count in edges.items():
            if count > 0:
                self._add_edge(start, end, made)
        for (seed,), count in seeds.items():
            if count > 0:
                self._add_seed(seed, made)
        return made

    def _add_seed(self, seed: int, made: Bag) -> None:
        self._seeds.add(seed)
        self._reached[seed] = set()
        self._spread(seed, self._out.get(seed, ()), made)

    def _drop_seed(self, seed: int, made: Bag) -> None:
        self._seeds.discard(seed)
        for node in list(self._reached.get(seed, ())):
            self._unreach(seed, node, made)
        self._reached.pop(seed, None)

    def _add_edge(self, start: int, end: int, made: Bag) -> None:
        self._out.setdefault(start, set()).add(end)
        self._in.setdefault(end, set()).add(start)
        for seed in self._sources(start):
            self._spread(seed, (end,), made)

    def _sources(self, node: int) -> list[int]:
        """The seeds that a step from this node carries on."""
        found = list(self._reached_by.get(node, ()))
        if node in self._seeds and node not in self._reached_by.get(node, ()):
            found.append(node)
        return found

    def _spread(self, seed: int, nodes: Iterable[int], made: Bag) -> None:
        """These nodes are reached from a seed now, and all behind them."""
        reached = self._reached[seed]
        waiting = [node for node in nodes if node not in reached]
        while waiting:
            node = waiting.pop()
            self.looked_at += 1
            if node in reached:
                continue
            reached.add(node)
            self._reached_by.setdefault(node, set()).add(seed)
            add_to(made, (seed, node), 1)
            waiting.extend(each for each in self._out.get(node, ()) if each not in reached)

    def _unreach(self, seed: int, node: int, made: Bag) -> None:
        self._reached[seed].discard(node)
        by = self._reached_by[node]
        by.discard(seed)
        if not by:
            del self._reached_by[node]
        add_to(made, (seed, node), -1)

    def _remove_edges(self, gone: Iterable[tuple[int, ...]], made: Bag) -> None:
        doubted: dict[int, list[int]] = {}
        for start, end in gone:
            for seed in self._sources(start):
                doubted.setdefault(seed, []).append(end)
        for start, end in gone:
            _discard(self._out, start, end)
            _discard(self._in, end, start)
        for seed, nodes in doubted.items():
            self._doubt(seed, nodes, made)

    def _doubt(self, seed: int, nodes: list[int], made: Bag) -> None:
        """Take back what was reached through these nodes, then what still is, comes back."""
        reached = self._reached[seed]
        waiting, lost = list(nodes), set()
        while waiting:
            node = waiting.pop()
            self.looked_at += 1
            if node in reached and node not in lost and not self._is_certain(seed, node):
                lost.add(node)
                waiting.extend(self._out.get(node, ()))
        for node in lost:
            self._unreach(seed, node, made)
        self._spread(seed, [node for node in lost if self._is_led_to(seed, node)], made)

    def _is_certain(self, seed: int, node: int) -> bool:
        """Whether an edge leads to a node from the seed itself."""
        return seed in self._in.get(node, ())

    def _is_led_to(self, seed: int, node: int) -> bool:
        """Whether an edge leads to a node from one that is reached."""
        starts = self._in.get(node, ())
        self.looked_at += len(starts)
        return seed in starts or any(start in self._reached[seed] for start in starts)


class ReacherApart:
    """Follows a `Reach` in each of several graphs, which the last column names."""

    def __init__(self) -> None:
        self._reachers: dict[int, Reacher] = {}

    @property
    def size(self) -> int:
        """How many pairs are kept."""
        return sum(reacher.size for reacher in self._reachers.values())

    @property
    def looked_at(self) -> int:
        """How many nodes were looked at so far."""
        return sum(reacher.looked_at for reacher in self._reachers.values())

    def rows(self) -> Iterator[Row]:
        """The graphs, and the nodes that are kept in them."""
        for graph, reacher in self._reachers.items():
            yield (graph,)
            yield from reacher.rows()

    def apply(self, *bags: Bag) -> Bag:
        """The pairs that come and go, each with its graph."""
        made: Bag = {}
        for graph, given in _by_graph(bags).items():
            reacher = self._reachers.setdefault(graph, Reacher())
            made.update({(*pair, graph): n for pair, n in reacher.apply(*given).items()})
        return made


def _by_graph(bags: tuple[Bag, ...]) -> dict[int, list[Bag]]:
    found: dict[int, list[Bag]] = {}
    for place, bag in enumerate(bags):
        for (*row, graph), count in bag.items():
            found.setdefault(graph, [{} for _ in bags])[place][tuple(row)] = count
    return found


def _discard(edges: dict[int, set[int]], start: int, end: int) -> None:
    ends = edges[start]
    ends.discard(end)
    if not ends:
        del edges[start]
