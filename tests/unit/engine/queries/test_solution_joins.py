"""Joins of two bags of rows ask for room, and stop where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from livefacts.engine.queries.solution_joins import PIECE, joined, left_joined
from livefacts.engine.queries.solutions import Solutions
from livefacts.errors import LimitError


def many(name: str, count: int) -> Solutions:
    return Solutions(count, {name: np.arange(count, dtype=np.int32)})


def refuse_many(rows: int) -> None:
    if rows > 2 * PIECE:
        raise LimitError(f"{rows} rows")


@pytest.mark.parametrize("join", [joined, left_joined])
def test_a_product_of_many_rows_is_refused_before_it_is_made(join) -> None:
    with pytest.raises(LimitError, match=f"^{3 * PIECE} rows"):
        join(many("x", PIECE), many("y", PIECE), room=refuse_many)


def test_a_long_join_pauses_between_pieces() -> None:
    pauses = []
    found = joined(many("x", PIECE), many("y", 3), pause=lambda: pauses.append(1))
    assert found.count == 3 * PIECE
    assert len(pauses) == 4
