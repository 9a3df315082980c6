"""Strongly connected components: the sets of nodes of a graph that can reach each other.

Beside them, a shortest path from one node to another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence


def strong_components(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """The components, each before those that its edges lead to (Tarjan's algorithm).

    `successors[n]` are the nodes that the edges of node n lead to.

    >>> strong_components([[1], [2], [1, 3], []])
    [[0], [1, 2], [3]]
    """
    walk = _Walk(successors)
    for node in range(len(successors)):
        if walk.order[node] < 0:
            walk.visit(node)
    return [sorted(component) for component in reversed(walk.components)]


class _Walk:
    """One depth-first walk; without recursion, so that long chains are no danger."""

    def __init__(self, successors: Sequence[Sequence[int]]) -> None:
        self.successors = successors
        self.order = [-1] * len(successors)
        self.lowest = [0] * len(successors)
        self.is_open = [False] * len(successors)
        self.open: list[int] = []
        self.components: list[list[int]] = []
        self.count = 0

    def visit(self, root: int) -> None:
        self._enter(root)
        path = [(root, iter(self.successors[root]))]
        while path:
            node, remaining = path[-1]
            for successor in remaining:
                if self.order[successor] < 0:
                    self._enter(successor)
                    path.append((successor, iter(self.successors[successor])))
                    break
                if self.is_open[successor]:
                    self.lowest[node] = min(self.lowest[node], self.order[successor])
            else:
                path.pop()
                self._leave(node)
                if path:
                    parent = path[-1][0]
                    self.lowest[parent] = min(self.lowest[parent], self.lowest[node])

    def _enter(self, node: int) -> None:
        self.order[node] = self.lowest[node] = self.count
        self.count += 1
        self.open.append(node)
        self.is_open[node] = True

    def _leave(self, node: int) -> None:
        """Close the component that began at this node, if one did."""
        if self.lowest[node] != self.order[node]:
            return
        component: list[int] = []
        while not component or component[-1] != node:
            component.append(self.open.pop())
            self.is_open[component[-1]] = False
        self.components.append(component)


def shortest_path(start: int, end: int, successors: Callable[[int], Iterable[int]]) -> list[int]:
    """A shortest path from one node to another that it reaches.

    >>> shortest_path(0, 3, [[1, 2], [2], [3], []].__getitem__)
    [0, 2, 3]
    """
    before = {start: start}
    waiting = deque([start])
    while end not in before:
        here = waiting.popleft()
        for there in successors(here):
            if there not in before:
                before[there] = here
                waiting.append(there)
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]
