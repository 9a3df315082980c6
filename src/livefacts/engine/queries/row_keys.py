"""Row keys: rows of several columns as one number each, equal where the rows are equal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.queries.solutions import Ids

Keys = NDArray[np.int64]


def row_keys(columns: Sequence[Ids], count: int) -> Keys:
    """A number for each of so many rows; without columns all rows are equal.

    >>> a, b = np.array([7, 7, 8], np.int32), np.array([-1, -1, 2], np.int32)
    >>> first, second, third = row_keys([a, b, a], 3).tolist()
    >>> first == second, first == third
    (True, False)
    """
    if not columns:
        return np.zeros(count, np.int64)
    keys = columns[0].astype(np.int64)
    for number, column in enumerate(columns[1:]):
        if number:
            keys = np.unique(keys, return_inverse=True)[1]
        keys = (keys << 32) | (column.astype(np.int64) & 0xFFFFFFFF)
    return keys
