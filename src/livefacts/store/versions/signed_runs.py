"""Signed runs: triples that came and went together, in every order that somebody asks for.

A run never changes.  Its first order is made from the rows as they come, the others from that
one, when they are first asked for.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from livefacts.store.versions.sorted_orders import (
    NO_SIGNS,
    OSP,
    PLACES,
    POS,
    PSO,
    SPO,
    Ids,
    Signs,
    SortedOrder,
    merged,
    order_of,
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
        run.count = len(next(iter(orders.values())).second)
        return run

    def order(self, kind: int) -> SortedOrder:
        """The rows in an order."""
        found = self._orders.get(kind)
        if found is not None:
            return found
        with self._making:
            if kind not in self._orders:
                self._orders[kind] = self._made(kind)
                self._rows = None
            return self._orders[kind]

    def _made(self, kind: int) -> SortedOrder:
        if self._rows is None:
            known, order = next(iter(self._orders.items()))
            return reordered(order, known, kind)
        columns = self._rows.T
        return order_of([np.ascontiguousarray(columns[at]) for at in PLACES[kind]], self._signs)

    @property
    def is_signed(self) -> bool:
        """Whether some of its rows take others back."""
        return bool(len(self._signs if self._rows is not None else self._any().signs))

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

    def with_newer(self, newer: Run) -> Run:
        """This run and a newer one as one, in the orders that this one has."""
        kinds = list(self._orders) or [0]
        return Run.of({kind: merged(self.order(kind), newer.order(kind)) for kind in kinds})

    def rows(self) -> tuple[Ids, NDArray[np.int8]]:
        """The rows as triples, and their signs."""
        if self._rows is not None:
            return self._rows, self._signs
        kind, order = next(iter(self._orders.items()))
        places = dict(zip(PLACES[kind], order.columns(), strict=True))
        return np.column_stack([places[place] for place in range(3)]), order.signs

    @property
    def nbytes(self) -> int:
        own = 0 if self._rows is None else self._rows.nbytes
        return own + sum(order.nbytes for order in self._orders.values())
