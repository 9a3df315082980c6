"""Predicate facts as rows: by shape, added up, told once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from livefacts.kb import predicate_rows
from livefacts.kb.predicate_rows import CountedRows

NAMES = ("pred", "arguments", "support", "told")
LISTED = [
    {"pred": 8, "arguments": [], "support": 0, "told": 1},
    {"pred": 16, "arguments": [24, 32], "support": 2, "told": 0},
    {"pred": 16, "arguments": [24, 32], "support": -1, "told": 1},
    {"pred": 16, "arguments": [40], "support": 1, "told": 0},
    {"pred": 16, "arguments": [40], "support": -1, "told": 0},
]


def table(rows: list[dict[str, object]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=predicate_rows.as_table([]).schema)


def listed(parts: list[CountedRows]) -> list[dict[str, object]]:
    return predicate_rows.as_table(parts).to_pylist()


def test_counts_are_added_up_and_facts_without_any_are_left_out() -> None:
    found = listed(predicate_rows.summed(predicate_rows.by_shape(table(LISTED))))
    assert found == [LISTED[0], {"pred": 16, "arguments": [24, 32], "support": 1, "told": 1}]


def test_only_told_facts_stay_without_what_they_follow_from() -> None:
    found = listed(
        predicate_rows.only_told(predicate_rows.summed(predicate_rows.by_shape(table(LISTED))))
    )
    assert [(row["arguments"], row["support"], row["told"]) for row in found] == [
        ([], 0, 1),
        ([24, 32], 0, 1),
    ]


@pytest.mark.parametrize("width", [1, 2, 5])
def test_every_fact_belongs_to_one_bucket(width: int) -> None:
    rows = np.random.default_rng(width).integers(0, 2**60, (200, width)) * 8
    told, _ = predicate_rows.exchanged(rows)
    whole = predicate_rows.as_table(predicate_rows.as_told(told))
    parts = [predicate_rows.of_bucket(whole, number, 3) for number in range(3)]
    assert all(parts)
    found = [tuple(row) for part in parts for each in part for row in each.facts.tolist()]
    assert sorted(found) == sorted(map(tuple, rows.tolist()))


def test_a_fact_that_is_told_twice_is_told_once() -> None:
    told, _ = predicate_rows.exchanged(np.array([[8, 16], [8, 16]]))
    (found,) = listed(predicate_rows.told_once(predicate_rows.summed(predicate_rows.as_told(told))))
    assert found == {"pred": 8, "arguments": [16], "support": 0, "told": 1}
