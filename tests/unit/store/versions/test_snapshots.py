"""Snapshots: what a version shows, whatever runs it consists of."""

from __future__ import annotations

import random
from itertools import product

import numpy as np

from livefacts.store.versions.snapshots import NO_TRIPLES, Versions, graphs_of

ANY = -1


def test_the_triples_of_a_pattern_are_those_that_have_its_ids_after_every_change() -> None:
    rng = random.Random(0)
    versions, there = Versions.beginning(NO_TRIPLES), set[tuple[int, ...]]()
    for size in (2_000, 300, 40, 40, 5, 5, 1):
        come = {tuple(rng.randrange(12) for _ in range(3)) for _ in range(size)} - there
        gone = set(rng.sample(sorted(there), min(len(there), size)))
        there = (there | come) - gone
        versions.note(*(np.array(sorted(each), np.int32).reshape(-1, 3) for each in (come, gone)))
        snapshot = versions.snapshot()
        for pattern in product((ANY, 3), (ANY, 5), (ANY, 7)):
            fits = {t for t in there if all(p in (ANY, i) for p, i in zip(pattern, t, strict=True))}
            found = list(map(tuple, snapshot.matching(pattern).tolist()))
            assert sorted(found) == sorted(fits), pattern
    assert len(versions.snapshot().runs) > 1


def test_the_quads_of_a_pattern_have_the_graph_that_it_names() -> None:
    quads = np.array([[1, 2, 3, 8], [1, 2, 3, 9], [4, 2, 3, 9]], np.int32)
    graphs = graphs_of(NO_TRIPLES, quads)
    assert graphs.quads_matching((ANY, 2, ANY, ANY)).tolist() == quads.tolist()
    assert graphs.quads_matching((4, ANY, ANY, 9)).tolist() == [[4, 2, 3, 9]]
    assert not len(graphs.quads_matching((ANY, ANY, ANY, 7)))
