"""Random bags of rows that share variables: few values, some unbound, some rows several times."""

from __future__ import annotations

import random

import numpy as np

from livefacts.engine.queries.solutions import UNBOUND, Solutions


def draw_solutions(pick: random.Random, names: str, most: int = 9) -> Solutions:
    """Rows for some of the variables, each a letter."""
    chosen = [name for name in names if pick.random() < 0.8]
    count, values = pick.randrange(most), pick.choice([2, 4])
    gaps = pick.choice([0.0, 0.0, 0.3])
    columns = {
        name: np.array(
            [UNBOUND if pick.random() < gaps else pick.randrange(values) for _ in range(count)],
            np.int32,
        )
        for name in chosen
    }
    counts = np.array([pick.randint(1, 3) for _ in range(count)], np.int64)
    return Solutions(count, columns, counts if pick.random() < 0.5 else None)
