"""Generated graphs: the edges that were asked for, each once, the same every time."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from livefacts.errors import InputError
from livefacts.generate import chain, random_graph, tree

LINE = re.compile(r"<\S+#n(\d+)> <\S+#edge> <\S+#n(\d+)> \.\n")


def edges(pieces: Iterable[bytes]) -> list[tuple[int, int]]:
    """The numbers of the nodes of every edge; each line must be an edge."""
    text = b"".join(pieces).decode()
    found = LINE.findall(text)
    assert len(found) == text.count("\n")
    return [(int(source), int(target)) for source, target in found]


def test_a_chain_leads_from_node_to_node() -> None:
    assert edges(chain(3)) == [(0, 1), (1, 2), (2, 3)]


def test_a_tree_gives_every_inner_node_its_children() -> None:
    assert edges(tree(2, 2)) == [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]


def test_a_tree_of_one_child_is_a_chain() -> None:
    assert edges(tree(5, 1)) == edges(chain(5))


def test_nothing_is_a_graph_too() -> None:
    assert edges(chain(0)) == edges(tree(0, 3)) == edges(random_graph(0, 0)) == []


@pytest.mark.parametrize(
    ("nodes", "count"), [(2, 2), (3, 6), (10, 5), (50, 2450), (40_000, 70_000)]
)
def test_a_random_graph_has_so_many_different_edges_and_no_loops(nodes: int, count: int) -> None:
    found = edges(random_graph(nodes, count, seed=3))
    assert len(found) == len(set(found)) == count
    assert all(source != target for source, target in found)
    assert all(0 <= source < nodes and 0 <= target < nodes for source, target in found)


def test_a_random_graph_depends_on_its_seed_alone() -> None:
    first = edges(random_graph(100, 50, seed=1))
    assert first == edges(random_graph(100, 50, seed=1))
    assert set(first) != set(edges(random_graph(100, 50, seed=2)))


def test_a_random_graph_is_a_beginning_of_one_with_more_edges() -> None:
    assert edges(random_graph(100, 80, seed=4))[:50] == edges(random_graph(100, 50, seed=4))


def test_edges_of_a_random_graph_are_spread_over_all_nodes() -> None:
    sources = [source for source, _ in edges(random_graph(10, 60, seed=9))]
    assert set(sources) == set(range(10))


def test_more_edges_than_pairs_are_refused_with_the_number_that_fits() -> None:
    with pytest.raises(InputError, match="room for 6 edges, not 7"):
        random_graph(3, 7)


@pytest.mark.parametrize("make", [lambda: chain(-1), lambda: tree(-1, 2), lambda: tree(2, 0)])
def test_impossible_shapes_are_refused_before_anything_is_written(make: object) -> None:
    with pytest.raises(InputError, match="cannot have"):
        make()  # type: ignore[operator]
