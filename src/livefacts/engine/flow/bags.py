"""Signed bags of rows: what the steps of a flow pass on.

A row is a tuple of ids, -1 where a column is unbound; a bag says how often each row comes,
or goes.  No row of a bag has the count zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

UNBOUND = -1

Row: TypeAlias = tuple[int, ...]
Bag: TypeAlias = dict[Row, int]
Key: TypeAlias = Any
"""What rows are looked up by: an id, or a tuple of ids."""


def add_to(bag: dict[Any, int], row: Any, count: int) -> None:
    """Put a row into a bag so many times; a negative count takes it out."""
    total = bag.get(row, 0) + count
    if total:
        bag[row] = total
    else:
        del bag[row]


def summed(bags: Iterable[Bag]) -> Bag:
    """The sum of bags."""
    total: Bag = {}
    for bag in bags:
        for row, count in bag.items():
            add_to(total, row, count)
    return total


def tuple_getter(columns: Sequence[int]) -> Callable[[Row], Row]:
    """Reads some columns of a row, as a row."""
    if len(columns) == 1:
        (only,) = columns
        return lambda row: (row[only],)
    return key_getter(columns)


def key_getter(columns: Sequence[int]) -> Callable[[Row], Key]:
    """Reads the key of a row: the values of some of its columns."""
    if not columns:
        return lambda row: ()
    return itemgetter(*columns)


def nothing_kept(worker: object) -> Iterable[Row]:
    """The rows that a worker without state keeps."""
    return ()
