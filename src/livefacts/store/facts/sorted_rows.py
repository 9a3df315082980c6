"""Rows in order: where a row of three numbers is among rows that are sorted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from livefacts.store.compiled import kernel

Column = NDArray[np.int64]


@kernel
def search(
    first: Column,
    second: Column,
    third: Column,
    wanted: NDArray[np.int64],
    found: NDArray[np.int64],
) -> None:
    """Fill `found` with the places of wanted rows, -1 for a row that is not there."""
    count = first.shape[0]
    for i in range(wanted.shape[0]):
        a, b, c = wanted[i, 0], wanted[i, 1], wanted[i, 2]
        low, high = 0, count
        while low < high:
            middle = (low + high) >> 1
            is_before = first[middle] < a
            if first[middle] == a:
                is_before = second[middle] < b
                if second[middle] == b:
                    is_before = third[middle] < c
            if is_before:
                low = middle + 1
            else:
                high = middle
        is_there = low < count and first[low] == a and second[low] == b and third[low] == c
        found[i] = low if is_there else -1


def places_of(columns: tuple[Column, Column, Column], wanted: Column) -> Column:
    """The places of rows among sorted columns; -1 for a row that is not there.

    >>> columns = (np.array([1, 1, 4]), np.array([2, 5, 0]), np.array([3, 3, 3]))
    >>> places_of(columns, np.array([[1, 5, 3], [4, 4, 4]])).tolist()
    [1, -1]
    """
    found = np.empty(len(wanted), np.int64)
    # Contiguous and writable: kernels would be compiled again for any other array.
    first, second, third = (np.require(column, np.int64, ["C", "W"]) for column in columns)
    search(first, second, third, np.require(wanted, np.int64, ["C", "W"]), found)
    return found
