"""Checking a store: what belongs together stays together, and each kind of damage shows."""

from __future__ import annotations

import random

import numpy as np
import pytest

from livefacts.store.facts.integrity import broken
from livefacts.store.facts.layout import (
    COLUMN,
    FREE,
    INDEX,
    INDEX_COUNT,
    LINK,
    LIVE_ROWS,
    MASK,
    USED,
)
from livefacts.store.facts.row_store import TRIPLES, RowStore


def filled(count: int = 200) -> RowStore:
    """A store with some indices, from which rows have been removed."""
    pick = random.Random(count)
    store = RowStore()
    store.index(TRIPLES, (1,))
    store.index(TRIPLES, (0, 2))
    facts = {tuple(pick.randrange(9) for _ in range(3)) for _ in range(count)}
    store.insert(TRIPLES, np.array(sorted(facts), np.int32))
    for row in pick.sample(store.with_flags(TRIPLES).tolist(), len(facts) // 3):
        store.remove(TRIPLES, row)
    store.index(TRIPLES, (2,))
    return store


def problems(store: RowStore) -> str:
    return "\n".join(each.problem for each in broken(store))


def link_of(store: RowStore, place: int) -> int:
    return int(store.rows.indices[int(store.rows.relations[TRIPLES, INDEX + place]), LINK])


def linked_row(store: RowStore, place: int) -> int:
    """A row with another one after it in its chain."""
    cells, link = store.cells(TRIPLES), link_of(store, place)
    return next(row for row in store.with_flags(TRIPLES).tolist() if cells[row, link])


@pytest.mark.parametrize("count", [0, 1, 20, 200, 3_000])
def test_a_store_that_was_used_as_it_should_is_whole(count: int) -> None:
    assert problems(filled(count)) == ""


def test_a_store_whose_rows_come_and_go_stays_whole() -> None:
    store, pick = filled(), random.Random(5)
    for _ in range(60):
        rows = store.with_flags(TRIPLES).tolist()
        for row in pick.sample(rows, min(len(rows), 5)):
            store.remove(TRIPLES, row)
        facts = np.unique(np.array([[pick.randrange(9) for _ in "spo"] for _ in "12345"]), axis=0)
        store.insert(TRIPLES, facts[store.find(TRIPLES, facts) == 0].astype(np.int32))
        assert problems(store) == ""


def test_an_emptied_slot_is_found() -> None:
    store = filled()
    slots = store.slots(0)
    slots[np.flatnonzero(slots)[0]] = 0
    assert "slots are taken" in problems(store)
    store.rows.indices[0, USED] -= 1
    assert "is missing from the index on columns 0, 1, 2" in problems(store)


def test_a_slot_in_the_wrong_place_is_found() -> None:
    store = filled(20)
    slots = store.slots(0)
    taken = int(np.flatnonzero(slots)[0])
    home = (int(slots[taken]) >> 32) & int(store.rows.indices[0, MASK])
    free = next(n for n in range(len(slots)) if not slots[n] and not slots[n - 1] and n != home)
    slots[free], slots[taken] = slots[taken], 0
    assert "cannot be reached in the index" in problems(store)


def test_a_wrong_tag_is_found() -> None:
    store = filled()
    slots = store.slots(0)
    slots[np.flatnonzero(slots)[0]] ^= 1 << 40
    assert "has a wrong tag in the index" in problems(store)


def test_a_slot_that_leads_to_a_free_row_is_found() -> None:
    store = filled()
    slots = store.slots(0)
    at = np.flatnonzero(slots)[0]
    slots[at] = (slots[at] >> 32 << 32) | store.rows.relations[TRIPLES, FREE]
    assert "a slot leads to no row of the index" in problems(store)


@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_chain_that_is_cut_is_found(place: int) -> None:
    store = filled()
    store.cells(TRIPLES)[linked_row(store, place), link_of(store, place)] = 0
    assert "has a wrong row before in the index" in problems(store)


def test_a_link_to_nowhere_is_found() -> None:
    store = filled()
    store.cells(TRIPLES)[linked_row(store, 1), link_of(store, 1)] = 10**6
    assert "links to no row in the index" in problems(store)


def test_a_circle_apart_from_its_chain_is_found() -> None:
    store = filled(3_000)
    cells, link = store.cells(TRIPLES), link_of(store, 1)
    keys = cells[:, COLUMN + 1]
    chain = [row for row in store.with_flags(TRIPLES).tolist() if keys[row] == 3]
    head = next(row for row in chain if not cells[row, link + 1])
    last = next(row for row in chain if not cells[row, link])
    second = int(cells[head, link])
    assert second != last
    cells[head, link] = 0
    cells[last, link], cells[second, link + 1] = second, last
    assert problems(store).splitlines() == ["is in a circle of the index on columns 1"]


def test_a_row_in_the_chain_of_another_key_is_found() -> None:
    store = filled()
    row = linked_row(store, 1)
    following = int(store.cells(TRIPLES)[row, link_of(store, 1)])
    store.cells(TRIPLES)[following, COLUMN + 1] += 1
    assert "is in another row's chain in the index on columns 1" in problems(store)


def test_books_that_do_not_agree_are_found() -> None:
    store = filled()
    store.rows.relations[TRIPLES, LIVE_ROWS] += 1
    assert "rows are live" in problems(store)
    store = filled()
    store.rows.relations[TRIPLES, FREE] = 0
    assert "the free list has 0 of" in problems(store)


def test_every_index_of_every_relation_is_looked_at() -> None:
    store = filled()
    store.insert(store.relation(3), np.array([[1, 2, 3]], np.int32))
    assert int(store.rows.relations[TRIPLES, INDEX_COUNT]) == 4
    for index in range(len(store.rows.indices)):
        kept = store.slots(index).copy()
        store.slots(index)[:] = 0
        assert problems(store)
        store.slots(index)[:] = kept
    assert problems(store) == ""
