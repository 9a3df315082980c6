"""Selecting facts by flags and names: what the kernels find, by plain Python."""

from __future__ import annotations

import random

import numpy as np

from livefacts.model.facts import Symbol
from livefacts.store.facts.bits import ASSERTED, LIVE
from livefacts.store.facts.layout import FLAGS
from livefacts.store.facts.row_store import RowStore
from livefacts.store.facts.selection import KnownNames
from livefacts.store.terms.dictionary import Dictionary

SHAPE = 3


def is_even(name: int) -> bool:
    return name % 2 == 0


def even_names() -> tuple[KnownNames, Dictionary]:
    """Names of which every second one is looked at, and where they are from."""
    dictionary = Dictionary()
    assert dictionary.encode([Symbol(f"n{n}") for n in range(7)]).tolist() == list(range(7))
    return KnownNames(dictionary, lambda name: is_even(int(name[1:]))), dictionary


def filled(pick: random.Random) -> tuple[RowStore, int]:
    store = RowStore()
    relation = store.relation(SHAPE)
    facts = {tuple(pick.randrange(6) for _ in range(SHAPE)) for _ in range(80)}
    store.insert(relation, np.array(sorted(facts), np.int32))
    cells = store.cells(relation)
    for row in range(1, len(cells)):
        if pick.random() < 0.5:
            cells[row, FLAGS] |= ASSERTED
    for row in pick.sample(range(1, len(cells)), 10):
        store.remove(relation, row)
    return store, relation


def test_facts_are_selected_by_their_flags_and_names() -> None:
    for seed in range(20):
        store, relation = filled(random.Random(seed))
        for flags in (LIVE, LIVE | ASSERTED):
            found = even_names()[0].select(store, relation, LIVE | ASSERTED, flags)
            cells = store.cells(relation)[1:]
            expected = [
                row[-SHAPE:].tolist()
                for row in cells[:, : 4 + SHAPE]
                if row[FLAGS] & (LIVE | ASSERTED) == flags and is_even(int(row[4]))
            ]
            assert found.tolist() == expected


def test_facts_are_marked_by_their_names() -> None:
    names, _ = even_names()
    facts = np.array([[n % 7, n, n] for n in range(50)], np.int32)
    marks = np.empty(len(facts), np.bool_)
    assert not names.mark(facts, marks)
    assert marks.tolist() == [is_even(n % 7) for n in range(50)]
    assert names.mark(facts[facts[:, 0] % 2 == 0], marks[:29])


def test_an_id_that_means_another_name_is_asked_for_again() -> None:
    names, dictionary = even_names()
    facts, marks = np.array([[2, 0, 0]], np.int32), np.empty(1, np.bool_)
    assert names.mark(facts, marks)
    with dictionary.passing:
        kept = dictionary.encode([Symbol("n8"), Symbol("n10")])
    gone = np.array([[int(kept[0]), 0, 0]], np.int32)
    assert names.mark(gone, marks)
    assert dictionary.sweep([facts]) == 2
    with dictionary.passing:
        assert int(dictionary.encode([Symbol("n9")])[0]) in kept.tolist()
        assert int(dictionary.encode([Symbol("n11")])[0]) in kept.tolist()
    assert not names.mark(gone, marks)
