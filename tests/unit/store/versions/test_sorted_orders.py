"""Sorted orders: rows are sorted by their columns, however many and however large their values."""

from __future__ import annotations

import numpy as np
import pytest

from livefacts.store.terms.text_table import INLINE_FIRST
from livefacts.store.versions.sorted_orders import DIGIT, order_of


@pytest.mark.parametrize("count", [0, 1, 100, (1 << DIGIT) - 1, 1 << DIGIT, 20_000])
@pytest.mark.parametrize("most", [3, 70_000, 1 << 21, INLINE_FIRST + 1000])
def test_rows_are_sorted_by_their_columns(count: int, most: int) -> None:
    random = np.random.default_rng(count + most)
    rows = np.unique(random.integers(0, most, (count, 3)).astype(np.int32), axis=0)
    shuffled = random.permutation(rows)
    order = order_of([np.ascontiguousarray(column) for column in shuffled.T])
    assert np.array_equal(np.column_stack(order.columns()), rows)
    assert np.array_equal(order.keys, np.unique(rows[:, 0]))


def test_inline_integers_are_sorted_behind_terms() -> None:
    random = np.random.default_rng(7)
    values = np.concatenate(
        [random.integers(0, 50, 2000), INLINE_FIRST + random.integers(0, 50, 2000)]
    )
    rows = np.unique(random.choice(values, (9000, 3)).astype(np.int32), axis=0)
    order = order_of([np.ascontiguousarray(column) for column in random.permutation(rows).T])
    assert np.array_equal(np.column_stack(order.columns()), rows)
