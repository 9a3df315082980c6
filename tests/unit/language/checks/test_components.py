"""Strongly connected components, against reachability by brute force."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livefacts.language.checks.components import strong_components

STEADY = settings(deadline=None, derandomize=True)


def reachable(successors: list[list[int]], start: int) -> set[int]:
    seen, waiting = {start}, [start]
    while waiting:
        new = set(successors[waiting.pop()]) - seen
        seen |= new
        waiting += new
    return seen


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    size = draw(st.integers(0, 9))
    nodes = st.integers(0, max(size - 1, 0))
    return [draw(st.lists(nodes, max_size=3)) for _ in range(size)]


@given(graphs())
@STEADY
def test_two_nodes_share_a_component_when_each_reaches_the_other(graph: list[list[int]]) -> None:
    reach = [reachable(graph, node) for node in range(len(graph))]
    component = {n: i for i, members in enumerate(strong_components(graph)) for n in members}
    assert component.keys() == set(range(len(graph)))
    for one in component:
        for other in component:
            together = other in reach[one] and one in reach[other]
            assert (component[one] == component[other]) == together


@given(graphs())
@STEADY
def test_edges_lead_to_the_same_or_a_later_component(graph: list[list[int]]) -> None:
    component = {n: i for i, members in enumerate(strong_components(graph)) for n in members}
    assert all(component[n] <= component[m] for n, targets in enumerate(graph) for m in targets)


@pytest.mark.slow
def test_a_chain_of_a_hundred_thousand_nodes_is_no_danger() -> None:
    size = 100_000
    chain = [[node + 1] for node in range(size - 1)] + [[0]]
    assert strong_components(chain) == [list(range(size))]
