"""Rows of hash ids in bulk, against plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from livefacts.store.facts.hash_rows import (
    CONSTANT,
    OBJECT,
    SUBJECT,
    Facts,
    Kinds,
    added_up,
    conclusions,
    order_by_bucket,
    ordered,
)


def random_facts(seed: int, count: int, subjects: int) -> Facts:
    draw = np.random.default_rng(seed)
    columns = [draw.integers(-most, most, count) for most in (subjects, 4, 50)]
    counts = draw.integers(-2, 3, count)
    return Facts(*columns, counts, draw.integers(-1, 2, count).astype(np.int32))


def rows_of(facts: Facts) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in facts), strict=True))


@pytest.mark.parametrize("subjects", [1, 40, 100_000])
def test_facts_are_brought_into_the_order_of_their_ids(subjects: int) -> None:
    facts = random_facts(subjects, 3000, subjects)
    found = rows_of(ordered(facts))
    assert [row[:3] for row in found] == sorted(row[:3] for row in rows_of(facts))
    assert Counter(found) == Counter(rows_of(facts))


def test_facts_that_are_in_order_stay_as_they_are() -> None:
    facts = ordered(random_facts(5, 1000, 30))
    assert rows_of(ordered(facts)) == rows_of(facts)


@pytest.mark.parametrize("subjects", [1, 40, 100_000])
def test_counts_of_the_same_fact_are_added_up(subjects: int) -> None:
    facts = random_facts(subjects, 3000, subjects)
    sums: dict[tuple[int, ...], list[int]] = {}
    for *fact, support, asserted in rows_of(facts):
        each = sums.setdefault(tuple(fact), [0, 0])
        each[0] += support
        each[1] += asserted
    assert rows_of(added_up(facts)) == [(*fact, *sums[fact]) for fact in sorted(sums)]


def test_no_facts_add_up_to_none() -> None:
    assert len(added_up(random_facts(0, 0, 1)).s) == 0


def test_rows_keep_their_order_inside_a_bucket() -> None:
    places = np.random.default_rng(7).integers(0, 5, 400).astype(np.uint16)
    order, ends = order_by_bucket(places, 6)
    assert order.tolist() == sorted(range(400), key=lambda row: (places[row], row))
    assert ends.tolist() == [int((places <= bucket).sum()) for bucket in range(6)]


def test_conclusions_take_their_places_from_the_triple_or_from_the_table() -> None:
    plain = Kinds(*(np.array(column) for column in ([10, 20], [0, 0], [0, 2], [2, 3])))
    named = Kinds(*(np.array(column) for column in ([30, 30], [1, 2], [3, 4], [4, 5])))
    sources = [
        [SUBJECT, CONSTANT, OBJECT],
        [OBJECT, CONSTANT, SUBJECT],
        [SUBJECT, CONSTANT, CONSTANT],
        [SUBJECT, CONSTANT, CONSTANT],
        [CONSTANT, CONSTANT, SUBJECT],
    ]
    values = [[0, 11, 0], [0, 12, 0], [0, 21, 22], [0, 30, 9], [7, 8, 0]]
    s, p, o = (np.array(column) for column in ([1, 2, 3, 4, 5], [20, 10, 30, 30, 99], [5] * 5))
    o[2:4] = [2, 3]
    found = conclusions(
        (s, p, o), plain, named, np.array(sources, np.int8), np.array(values, np.int64)
    )
    assert list(zip(*(column.tolist() for column in found), strict=True)) == [
        (1, 21, 22, 0),
        (2, 11, 5, 1),
        (5, 12, 2, 1),
        (7, 8, 3, 2),
    ]
