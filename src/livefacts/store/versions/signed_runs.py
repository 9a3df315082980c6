"""Signed runs: rows that came and went together, in every order that somebody asks for.

A run never changes.  Its first order is made from the rows as they come, the others from that
one, when they are first asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from livefacts.store.versions.sorted_orders import (
    NO_SIGNS,
    OSP,
    POS,
    PSO,
    SPO,
    Ids,
    Signs,
    SortedOrder,
    merged,
    order_of,
    places_of,
    reordered,
)


class Run:
    """Rows of one run; each of them is in it once."""

    def __init__(self, rows: Ids | None, signs: Signs = NO_SIGNS) -> None:
        self._rows = rows
        self._signs = signs
        self._orders: dict[int, SortedOrder] = {}
        self._making = threading.Lock()
        self._distinct: dict[tuple[int, int], int] = {}
        self.count = 0 if rows is None else len(rows)

    @staticmethod
    def of(orders: dict[int, SortedOrder]) -> Run:
        """A run with orders that are made already."""
        run = Run(None)
        run._orders = orders
        run.count = run._any().size
        return run

    def order(self, kind: int) -> SortedOrder:
        """The rows in an order."""
        found = self._orders.get(kind)
        if found is not None:
            return found
        with self._making:
            if kind not in self._orders:
                # Another thread may be going through the orders: they are replaced, not changed.
                self._orders = {**self._orders, kind: self._made(kind)}
                self._rows = None
            return self._orders[kind]

    def _made(self, kind: int) -> SortedOrder:
        if self._rows is None:
            known, order = next(iter(self._orders.items()))
            return reordered(order, known, kind)
        columns, places = self._rows.T, places_of(self._rows.shape[1])[kind]
        return order_of([np.ascontiguousarray(columns[at]) for at in places], self._signs)

    @property
    def signs(self) -> Signs:
        """The signs of the rows, in some order; none if all of them have come."""
        rows, signs = self._rows, self._signs
        return signs if rows is not None else self._any().signs

    def sign_of(self, row: Sequence[int]) -> int:
        """1 if a row has come, -1 if it takes one back, 0 if it is not here."""
        orders = places_of(len(row))
        kind = next(iter(self._orders), len(orders) // 2)
        return self.order(kind).sign_of([row[place] for place in orders[kind]])

    def _any(self) -> SortedOrder:
        return next(iter(self._orders.values()))

    def distinct(self, place: int, predicate: int | None) -> int:
        """How many terms stand in a place of the rows of a predicate, or of all rows."""
        if place == 1 and predicate is not None:
            return 1
        if predicate is None:
            return len(self.order((SPO, PSO, OSP)[place]).keys)
        if (place, predicate) not in self._distinct:
            order = self.order(PSO if place == 0 else POS)
            first, last = order.range_of(predicate)
            values = order.second[first:last]
            changes = int(np.count_nonzero(values[1:] != values[:-1]))
            self._distinct[place, predicate] = changes + (last > first)
        return self._distinct[place, predicate]

    def with_newer(self, newer: Run, most: int | None = None) -> Run:
        """This run and a newer one as one, in the orders that this one has, or in `most` of them."""
        kinds = (list(self._orders) or [0])[:most]
        return Run.of({kind: merged(self.order(kind), newer.order(kind)) for kind in kinds})

    def rows(self) -> Ids:
        """The rows, whatever their signs."""
        rows = self._rows
        if rows is not None:
            return rows
        kind, order = next(iter(self._orders.items()))
        columns = order.columns()
        places = dict(zip(places_of(len(columns))[kind], columns, strict=True))
        return np.column_stack([places[place] for place in range(len(columns))])

    @property
    def nbytes(self) -> int:
        rows = self._rows
        return (0 if rows is None else rows.nbytes) + sum(
            order.nbytes for order in self._orders.values()
        )
