"""The row store against a dictionary of tuples, and its kernels against plain twins."""

from __future__ import annotations

import random

import numpy as np
import pytest

from livefacts.store.facts import row_kernels
from livefacts.store.facts.bits import EDGE, LIVE
from livefacts.store.facts.layout import COLUMN, FLAGS
from livefacts.store.facts.row_store import TRIPLES, RowStore

MASK = 2**64 - 1


def tag(values: list[int]) -> int:
    """The twin of `tag_of_key`, in Python integers."""
    state = 0x2545F4914F6CDD1D
    for value in values:
        state = ((state ^ (value & 0xFFFFFFFF)) * 0x9E3779B97F4A7C15) & MASK
        state ^= state >> 29
    return state >> 32


def chain(store: RowStore, index: int, key: list[int]) -> list[list[int]]:
    """The facts in the chain of a key, by following its links."""
    row = int(row_kernels.find(store.rows, TRIPLES, index, np.array(key, np.int32), 0))
    link = int(store.rows.indices[index, 3])
    found = []
    while row:
        cells = store.cells(TRIPLES)[row]
        found.append(cells[COLUMN : COLUMN + 3].tolist())
        row = int(cells[link]) if link else 0
    return found


def rows_of(facts: list[tuple[int, int, int]]) -> np.ndarray:
    return np.array(facts, np.int32).reshape(-1, 3)


@pytest.mark.parametrize("seed", range(20))
def test_tags_are_those_of_the_plain_hash(seed: int) -> None:
    values = [random.Random(seed).randrange(2**31) for _ in range(1 + seed % 5)]
    assert row_kernels.tag_of_key(np.array(values, np.int32), 0, len(values)) == tag(values)


@pytest.mark.parametrize("seed", range(8))
def test_facts_come_and_go_as_in_a_set(seed: int) -> None:
    pick = random.Random(seed)
    store, expected = RowStore(), set()
    by_predicate = store.index(TRIPLES, (1,))
    by_pair = store.index(TRIPLES, (1, 2))
    for _ in range(30):
        new = {tuple(pick.randrange(6) for _ in range(3)) for _ in range(pick.randrange(20))}
        store.insert(TRIPLES, rows_of(sorted(new - expected)))
        expected |= new
        for fact in pick.sample(sorted(expected), len(expected) // 3):
            store.remove(TRIPLES, int(store.find(TRIPLES, rows_of([fact]))[0]))
            expected.discard(fact)
        assert store.live(TRIPLES) == len(expected)
        for p in range(6):
            mine = [list(f) for f in expected if f[1] == p]
            assert sorted(chain(store, by_predicate, [p])) == sorted(mine)
            for o in range(6):
                pair = [f for f in mine if f[2] == o]
                assert sorted(chain(store, by_pair, [p, o])) == sorted(pair)


def test_a_fact_that_is_not_stored_is_found_at_row_0() -> None:
    store = RowStore()
    store.insert(TRIPLES, rows_of([(1, 2, 3)]))
    asked = rows_of([(1, 2, 3), (3, 2, 1)])
    assert store.find(TRIPLES, asked).tolist() == [1, 0]
    store.cells(TRIPLES)[1, FLAGS] |= EDGE
    assert store.find_flags(TRIPLES, asked).tolist() == [LIVE | EDGE, 0]


def test_an_index_added_later_has_all_earlier_facts() -> None:
    store = RowStore()
    facts = [(s, s % 3, s % 5) for s in range(10_000)]
    store.insert(TRIPLES, rows_of(facts))
    index = store.index(TRIPLES, (1, 2))
    mine = [list(fact) for fact in facts if fact[1:] == (2, 4)]
    assert sorted(chain(store, index, [2, 4])) == mine


@pytest.mark.slow
def test_an_index_on_flags_has_only_rows_with_them() -> None:
    store = RowStore()
    store.insert(TRIPLES, rows_of([(1, 7, 2), (2, 7, 3)]))
    store.cells(TRIPLES)[1, FLAGS] |= EDGE
    index = store.index(TRIPLES, (1,), EDGE)
    assert chain(store, index, [7]) == [[1, 7, 2]]
    store.cells(TRIPLES)[2, FLAGS] |= EDGE
    row_kernels.link_gained(store.rows, TRIPLES, 2, EDGE)
    assert sorted(chain(store, index, [7])) == [[1, 7, 2], [2, 7, 3]]
    row_kernels.unlink_lost(store.rows, TRIPLES, 1, EDGE)
    assert chain(store, index, [7]) == [[2, 7, 3]]


def test_removed_rows_are_used_again() -> None:
    store = RowStore()
    store.insert(TRIPLES, rows_of([(1, 1, 1), (2, 2, 2)]))
    store.remove(TRIPLES, 1)
    store.insert(TRIPLES, rows_of([(3, 3, 3)]))
    assert store.find(TRIPLES, rows_of([(3, 3, 3)])).tolist() == [1]


def test_relations_of_all_arities_live_side_by_side() -> None:
    store = RowStore()
    for arity in (0, 1, 5, 11):
        relation = store.relation(1 + arity)
        store.insert(relation, np.arange(1 + arity, dtype=np.int32).reshape(1, -1))
        assert store.find(relation, np.arange(1 + arity, dtype=np.int32).reshape(1, -1))[0] == 1
        assert store.live(relation) == 1
