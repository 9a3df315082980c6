"""Graphs of known closure: chains, trees and random graphs, as edges in N-Triples.

A chain of n edges has n(n+1)/2 paths, a tree has as many as the depths of its nodes
add up to, and a random graph with more edges than nodes has one large cycle-ridden
core: the three shapes that transitive closure meets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from livefacts.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAMESPACE = "http://livefacts.example/graph#"
EDGES_IN_A_PIECE = 16_384


def chain(edges: int) -> Iterator[bytes]:
    """A path: node 0 to node 1, node 1 to node 2, and so on.

    >>> print(b"".join(chain(1)).decode(), end="")
    <http://livefacts.example/graph#n0> <http://livefacts.example/graph#edge> <http://livefacts.example/graph#n1> .
    """
    _expect(edges >= 0, f"a chain cannot have {edges} edges")
    return _written((node, node + 1) for node in range(edges))


def tree(depth: int, branch: int) -> Iterator[bytes]:
    """A full tree: edges lead from a node to each of its `branch` children.

    >>> sum(piece.count(b"\\n") for piece in tree(3, 2))
    14
    """
    _expect(depth >= 0, f"a tree cannot have depth {depth}")
    _expect(branch >= 1, f"a node of a tree cannot have {branch} children")
    nodes = sum(branch**level for level in range(depth + 1))
    return _written(((child - 1) // branch, child) for child in range(1, nodes))


def random_graph(nodes: int, edges: int, seed: int = 0) -> Iterator[bytes]:
    """So many distinct edges between distinct nodes, any two as likely as any others."""
    _expect(nodes >= 0 and edges >= 0, "a graph cannot have fewer than no nodes or edges")
    pairs = nodes * max(nodes - 1, 0)
    _expect(edges <= pairs, f"{nodes} nodes have room for {pairs} edges, not {edges}", "add nodes")
    _expect(pairs < 2**62, f"{nodes} nodes are too many", "use fewer than two billion")
    return _written(_random_edges(nodes, edges, seed))


def _random_edges(nodes: int, edges: int, seed: int) -> Iterator[tuple[int, int]]:
    for number in islice(_shuffled(nodes * max(nodes - 1, 0), seed), edges):
        source, offset = divmod(number, nodes - 1)
        yield source, offset if offset < source else offset + 1


def _shuffled(size: int, seed: int) -> Iterator[int]:
    """The numbers below `size` in an order that looks random, each once, in no memory.

    A Feistel network permutes the numbers of an even number of bits; those that are not
    below `size` are left out, at most three of four.
    """
    import numpy as np

    half = max((max(size - 1, 1).bit_length() + 1) // 2, 1)
    for start in range(0, 1 << 2 * half, EDGES_IN_A_PIECE):
        stop = min(start + EDGES_IN_A_PIECE, 1 << 2 * half)
        numbers = _permuted(np.arange(start, stop, dtype=np.uint64), half, seed)
        yield from numbers[numbers < np.uint64(size)].tolist()


def _permuted(numbers: NDArray[np.uint64], half: int, seed: int) -> NDArray[np.uint64]:
    import numpy as np

    width, mask = np.uint64(half), np.uint64((1 << half) - 1)
    left, right = numbers >> width, numbers & mask
    for turn in range(6):
        key = np.uint64((seed * 0x9E3779B97F4A7C15 + turn * 0xD1B54A32D192ED03) % 2**64)
        left, right = right, left ^ (_mixed(right + key) & mask)
    return (left << width) | right


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each number with its bits stirred: xor-shifts and odd multipliers."""
    import numpy as np

    for shift, multiplier in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(multiplier)
    return numbers ^ (numbers >> np.uint64(31))


def _written(edges: Iterable[tuple[int, int]]) -> Iterator[bytes]:
    rest = iter(edges)
    while piece := list(islice(rest, EDGES_IN_A_PIECE)):
        yield "".join(
            f"<{NAMESPACE}n{source}> <{NAMESPACE}edge> <{NAMESPACE}n{target}> .\n"
            for source, target in piece
        ).encode()


def _expect(holds: bool, message: str, hint: str = "") -> None:
    if not holds:
        raise InputError(message, hint=hint)
