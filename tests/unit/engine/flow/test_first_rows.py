"""First rows: a table that was filled with columns is the same as one that was told row by row."""

from __future__ import annotations

import random

import numpy as np
import pytest

from livefacts.engine.flow.bags import Bag, Row, tuple_getter
from livefacts.engine.flow.first_rows import CountTable, FirstRows, RowTable, bag_of, rows_of

LARGEST = 2**31 - 1
IDS = [-1, 0, 1, 7, LARGEST - 1, LARGEST]


def some_rows(rng: random.Random, width: int) -> Bag:
    rows = (tuple(rng.choice(IDS) for _ in range(width)) for _ in range(60))
    return {row: rng.randrange(1, 4) for row in rows}


@pytest.mark.parametrize("columns", [(), (0,), (2,), (1, 0), (0, 2, 1), (3, 2, 1, 0)], ids=str)
def test_rows_are_found_by_their_keys_and_change_as_if_they_had_come_one_by_one(
    columns: tuple[int, ...],
) -> None:
    rng = random.Random(str(columns))
    key = tuple_getter(columns)
    told, filled = RowTable(key), RowTable(key)
    first = some_rows(rng, 4)
    for row, count in first.items():
        told.change(key(row), row, count)
    filled.first = FirstRows(rows_of(first, 4), columns)
    for turn in range(200):
        row: Row = rng.choice([*first, *some_rows(rng, 4)])
        there = told[key(row)].get(row, 0)
        change = rng.choice([-there, 1]) or 1
        for table in (told, filled):
            table.change(key(row), row, change)
        if turn == 150:
            filled.expect(100)
        other = key(rng.choice(list(first)))
        assert told[other] == filled[other]
        assert told.size == filled.size
    assert sorted(told.rows()) == sorted(filled.rows())


def test_rows_are_counted_as_if_they_had_come_one_by_one() -> None:
    rng = random.Random(0)
    told, filled = CountTable(), CountTable()
    first = some_rows(rng, 3)
    for row, count in first.items():
        told.change(row, count)
    filled.first = FirstRows(rows_of(first, 3), range(3))
    for turn in range(200):
        row = rng.choice([*first, *some_rows(rng, 3)])
        change = rng.choice([-told[row], 1]) or 1
        assert told.change(row, change) == filled.change(row, change)
        if turn == 150:
            filled.expect(100)
        assert told.size == filled.size
    assert dict(told) == {row: filled[row] for row in told}


@pytest.mark.parametrize("columns", [(), (1,), (2, 0), (0, 2, 1)], ids=str)
def test_pairs_are_those_of_nested_loops(columns: tuple[int, ...]) -> None:
    rng = random.Random(str(columns))
    left, right = some_rows(rng, 3), some_rows(rng, 3)
    others = rows_of(left, 3).rows
    lefts, found = FirstRows(rows_of(right, 3), columns).pairs(others, columns)
    pairs = zip(map(tuple, others[lefts].tolist()), map(tuple, found.rows.tolist()), strict=True)
    key = tuple_getter(columns)
    assert sorted(pairs) == sorted((a, b) for a in left for b in right if key(a) == key(b))
    assert bag_of(found).keys() <= right.keys()
    assert found.counts.dtype == np.int64
