"""Transitive losses: what is lost with edges, and what keeps another way."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import pytest

import livefacts as lf
from livefacts.engine.embedded.transitive import affected_region, edge_loss
from livefacts.store.facts.bits import CLOSED, IN_DOUBT, LOST_PAIR, VISITED
from livefacts.store.facts.row_store import TRIPLES

Edge = tuple[str, str]
Step = tuple[set[tuple[str, str, str]], set[tuple[str, str, str]]]
RULES = """
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
route(?x, ?z) :- route(?x, ?y), route(?y, ?z) .
path(?x, ?y) :- road(?x, ?y) .
"""
TRIPLE_RULES = "[?x, <x:part>, ?z] :- [?x, <x:part>, ?y], [?y, <x:part>, ?z] ."
BINARY = 3


def reached(edges: Iterable[Edge], start: str) -> set[str]:
    """The points at the end of one edge or more."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        point = waiting.pop()
        more = {end for begin, end in edges if begin == point} - found
        found |= more
        waiting += more
    return found


def two_steps(edges: set[Edge]) -> set[Edge]:
    """The pairs that two edges or more connect, along any walk."""
    starts = {start for start, _ in edges}
    between = {start: reached(edges, start) for start in starts}
    return {(start, end) for start in starts for mid, end in edges if mid in between[start]}


def stored(reasoner: lf.Reasoner, predicate: str) -> dict[Edge, bool]:
    """The pairs of a predicate, and whether the transitive rule derives each."""
    store = reasoner._state.engine.store
    relation = store.relations[BINARY]
    rows = store.with_flags(relation)
    flags = store.flags(relation)[rows]
    assert not (flags & (IN_DOUBT | LOST_PAIR | VISITED)).any(), "a mark was left behind"
    found = {}
    for columns, flag in zip(store.columns(relation, rows), flags.tolist(), strict=True):
        name, start, end = reasoner._state.dictionary.texts(columns)
        if name == predicate:
            found[start, end] = flag & CLOSED != 0
    return found


def expected(edges: set[Edge]) -> dict[Edge, bool]:
    closed = two_steps(edges)
    return {pair: pair in closed for pair in edges | closed}


def random_edge(pick: random.Random, points: int) -> tuple[str, str, str]:
    """Self loops and rings are frequent: cycles are what makes losses hard."""
    start = pick.randrange(points)
    end = pick.choice([start, (start + 1) % points, *[pick.randrange(points)] * 4])
    return pick.choice(["path", "path", "route", "road"]), f"n{start}", f"n{end}"


def random_steps(seed: int) -> Iterator[Step]:
    """What comes and what goes, in changes of one edge and of many."""
    pick = random.Random(seed)
    points = pick.choice([3, 4, 6, 9, 14])
    asserted = {random_edge(pick, points) for _ in range(int(points * pick.choice([1, 2, 3])))}
    yield asserted, set()
    for _ in range(12):
        new = {random_edge(pick, points) for _ in range(pick.choice([0, 0, 1, 4]))}
        gone = set(pick.sample(sorted(asserted), min(len(asserted), pick.choice([0, 1, 1, 2, 12]))))
        asserted = (asserted - gone) | new
        yield new, gone


def assert_exact(seed: int) -> None:
    reasoner = lf.Reasoner(rules=RULES)
    asserted: set[tuple[str, str, str]] = set()
    for new, gone in random_steps(seed):
        reasoner.apply(add=sorted(new), remove=sorted(gone))
        asserted = (asserted - gone) | new
        paths = {(start, end) for name, start, end in asserted if name != "route"}
        routes = {(start, end) for name, start, end in asserted if name == "route"}
        assert stored(reasoner, "path") == expected(paths)
        assert stored(reasoner, "route") == expected(routes)


@pytest.mark.parametrize("seed", range(40))
def test_pairs_and_their_reasons_are_those_of_the_edges_that_are_left(seed: int) -> None:
    assert_exact(seed)


@pytest.mark.parametrize("seed", range(40, 60))
def test_losses_are_the_same_without_a_first_search(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_loss, "FEW", 0)
    assert_exact(seed)


@pytest.mark.parametrize("seed", range(60, 80))
def test_losses_are_the_same_if_every_part_is_searched(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_loss, "FEW", 0)
    monkeypatch.setattr(edge_loss, "LOOKUPS", -1)
    assert_exact(seed)


@pytest.mark.slow
@pytest.mark.parametrize("lookups", [64, -1], ids=["looked up", "searched"])
@pytest.mark.parametrize("seed", range(80, 100))
def test_losses_are_the_same_with_hardly_any_room(
    seed: int, lookups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_loss, "LOOKUPS", lookups)
    monkeypatch.setattr(edge_loss, "FEWEST", 1)
    monkeypatch.setattr(edge_loss, "BUDGET", 0)
    monkeypatch.setattr(affected_region, "FEWEST_POINTS", 1)
    assert_exact(seed)


def test_a_loss_that_is_interrupted_leaves_no_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(losses: edge_loss.Losses, status: int) -> None:
        raise KeyboardInterrupt

    reasoner = lf.Reasoner(rules=RULES)
    edges = {(f"n{i}", f"n{i + 1}") for i in range(20)}
    reasoner.add([("path", *edge) for edge in edges])
    before = stored(reasoner, "path")
    monkeypatch.setattr(edge_loss, "BUDGET", 20)
    with monkeypatch.context() as broken:
        broken.setattr(edge_loss, "_make_room", interrupt)
        with pytest.raises(KeyboardInterrupt):
            reasoner.remove([("path", "n10", "n11")])
    assert stored(reasoner, "path") == before == expected(edges)
    reasoner.remove([("path", "n10", "n11")])
    assert stored(reasoner, "path") == expected(edges - {("n10", "n11")})


def test_an_edge_beside_a_path_keeps_its_own_reason_only() -> None:
    reasoner = lf.Reasoner(rules=RULES)
    reasoner.add("path(a, b) . path(b, c) . path(a, c) .")
    delta = reasoner.remove("path(b, c) .")
    assert list(map(str, delta.removed)) == ["path(b, c)"]
    assert stored(reasoner, "path") == {("a", "b"): False, ("a", "c"): False}


def test_a_lost_self_loop_takes_the_detours_over_itself() -> None:
    reasoner = lf.Reasoner(rules=RULES)
    reasoner.add("path(a, a) . path(a, b) .")
    assert stored(reasoner, "path") == {("a", "a"): True, ("a", "b"): True}
    reasoner.remove("path(a, a) .")
    assert stored(reasoner, "path") == {("a", "b"): False}


def test_a_ring_that_is_cut_is_a_chain() -> None:
    reasoner = lf.Reasoner(rules=RULES)
    ring = [f"n{i}" for i in range(30)]
    edges = {*pairwise(ring), (ring[-1], ring[0])}
    reasoner.add([("path", *edge) for edge in edges])
    delta = reasoner.remove([("path", "n29", "n0")])
    assert len(delta.removed) == 30 * 30 - 30 * 29 // 2
    assert stored(reasoner, "path") == expected(set(pairwise(ring)))


def test_triples_lose_paths_as_predicates_do() -> None:
    reasoner = lf.Reasoner(rules=TRIPLE_RULES)
    edges = {("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")}
    reasoner.add(" ".join(f"<x:{start}> <x:part> <x:{end}> ." for start, end in edges))
    reasoner.remove("<x:c> <x:a> <x:b> . <x:c> <x:part> <x:a> .")
    left = edges - {("c", "a")}
    assert len(reasoner) == len(expected(left))
    assert reasoner.verify()


def test_points_that_reach_each_other_are_one_part_and_ways_lead_back() -> None:
    reasoner = lf.Reasoner(rules=TRIPLE_RULES)
    ring = "<x:a> <x:part> <x:b> . <x:b> <x:part> <x:a> . <x:b> <x:part> <x:c> ."
    reasoner.add(f"{ring} <x:c> <x:part> <x:d> .")
    store = reasoner._state.engine.store
    edge = store.columns(TRIPLES, store.with_flags(TRIPLES))[-1:]
    edges = affected_region.edges_of(store, TRIPLES, int(edge[0, 1]))
    found = affected_region.region_of(store.rows, edges, edge)
    parts = affected_region.parts_of(found)
    for number, part in enumerate(parts.part_of.tolist()):
        ends = found.ends[found.first[number] : found.first[number + 1]]
        assert all(parts.part_of[end] <= part for end in ends[ends >= 0].tolist())
    assert np.diff(parts.first).sum() == len(found.points)
