"""Rows of arrivals: which of them differ."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from livefacts.service.streams import fact_rows
from livefacts.service.streams.fact_rows import different, distinct_rows


def test_each_row_is_kept_once_in_the_order_in_which_rows_come_first() -> None:
    pick = Random(4)
    for _ in range(100):
        rows = [(pick.randrange(3), pick.randrange(3)) for _ in range(pick.randrange(1, 9))]
        kept = distinct_rows(np.array(rows, np.int32))
        assert [tuple(row) for row in kept.tolist()] == list(dict.fromkeys(rows))


def test_different_rows_with_the_same_sum_are_all_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_rows, "FACTORS", np.ones(2, np.int64))
    rows = np.array([[1, 2], [2, 1], [1, 2]], np.int32)
    assert distinct_rows(rows).tolist() == [[1, 2], [2, 1]]


def test_the_values_of_a_column_are_found_wherever_they_stand() -> None:
    assert different(np.array([3, 3, 5, 3], np.int32)) == {3, 5}
    assert different(np.array([], np.int32)) == set()
