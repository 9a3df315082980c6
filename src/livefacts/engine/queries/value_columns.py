"""Value columns: what the ids of a column stand for, as numbers that NumPy computes with.

Each different term is looked at once: common literals by their texts, all together, and others
one by one (`literal_scan`, `value_lines`).

A computed number has no id yet; one is made where somebody wants it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal

from livefacts.engine.queries.literal_scan import scanned
from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.engine.queries.solutions import UNBOUND, Flags, Ids
from livefacts.engine.queries.value_lines import (
    BLANK,
    DECIMAL,
    DOUBLE,
    INTEGER,
    IRI,
    LINE,
    NOTHING,
    POWERS,
    TRIPLE,
    UNSEEN,
    described,
)
from livefacts.model.facts import Term
from livefacts.model.numbers import Number, NumberKind, literal_of
from livefacts.store.terms import text_table
from livefacts.store.terms.text_table import INLINE_FIRST, INLINE_REACH, INLINE_ZERO

AT_ONCE = 1 << 15
"""How many terms are looked at between two pauses."""

KINDS = np.full(256, TRIPLE, np.uint8)
KINDS[[text_table.IRI, text_table.BLANK, text_table.LITERAL]] = IRI, BLANK, UNSEEN
Sorts = NDArray[np.uint8]
Wholes = NDArray[np.int64]
Reals = NDArray[np.float64]


class ValueColumn(NamedTuple):
    """The values of rows; a number without an id was computed and is not a term yet."""

    ids: Ids
    sorts: Sorts
    scales: Sorts
    wholes: Wholes
    reals: Reals

    def at(self, rows: Any) -> ValueColumn:
        """The values of some rows."""
        return ValueColumn(*(field[rows] for field in self))

    def repeated(self, count: int) -> ValueColumn:
        """One value for so many rows."""
        fields: list[Any] = [np.broadcast_to(field, count) for field in self]
        return ValueColumn(*fields)

    def filled(self, rows: Any, others: ValueColumn) -> ValueColumn:
        """The same values with others in some rows."""
        fields = []
        for field, other in zip(self, others, strict=True):
            field = np.array(field)
            field[rows] = other
            fields.append(field)
        return ValueColumn(*fields)


def computed(sorts: Sorts, scales: Sorts, wholes: Wholes) -> ValueColumn:
    """Exact numbers."""
    ids = np.full(len(sorts), UNBOUND, np.int32)
    return ValueColumn(ids, sorts, scales, wholes, wholes / POWERS[scales])


def computed_doubles(reals: Reals) -> ValueColumn:
    """Doubles."""
    count = len(reals)
    ids, sorts = np.full(count, UNBOUND, np.int32), np.full(count, DOUBLE, np.uint8)
    return ValueColumn(ids, sorts, np.zeros(count, np.uint8), np.zeros(count, np.int64), reals)


class TermValues:
    """What the terms of one query stand for."""

    def __init__(self, terms: QueryTerms, pause: Callable[[], None]) -> None:
        self._terms = terms
        self._pause = pause
        self._ids = np.empty(0, np.int32)
        self._lines = np.empty(0, LINE)
        """The literals that were looked at, by id."""

    def of(self, ids: Ids) -> ValueColumn:
        """The values of ids."""
        sorts, inline = self._kinds(ids), ids >= INLINE_FIRST
        whole = np.where(inline, ids.astype(np.int64) - INLINE_ZERO, 0)
        column = ValueColumn(ids, sorts, np.zeros(len(ids), np.uint8), whole, whole.astype(float))
        rows = np.flatnonzero(sorts == UNSEEN)
        if len(rows):
            self._fill(column, rows)
        return column

    def kinds(self, ids: Ids) -> Sorts:
        """The sorts of ids; literals that nobody has looked at may be UNSEEN."""
        sorts = self._kinds(ids)
        own = np.flatnonzero(ids < UNBOUND)
        sorts[own] = self.of(ids[own]).sorts
        return sorts

    def _kinds(self, ids: Ids) -> Sorts:
        sorts = np.where(ids >= INLINE_FIRST, np.uint8(INTEGER), np.uint8(NOTHING))
        stored = np.flatnonzero((ids >= 0) & (ids < INLINE_FIRST))
        sorts[stored] = KINDS[self._terms.kinds(ids[stored])]
        sorts[ids < UNBOUND] = UNSEEN
        return sorts

    def _fill(self, column: ValueColumn, rows: NDArray[np.int64]) -> None:
        different, places = np.unique(column.ids[rows], return_inverse=True)
        found = self._found(different)[places]
        column.sorts[rows] = found["sort"]
        column.scales[rows] = found["scale"]
        column.wholes[rows] = found["whole"]
        column.reals[rows] = found["real"]

    def _found(self, ids: Ids) -> NDArray[Any]:
        """The lines of different ids, which are in order."""
        missing = ids[~np.isin(ids, self._ids, assume_unique=True)]
        new = [self._lines]
        for first in range(0, len(missing), AT_ONCE):
            new.append(self._looked_at(missing[first : first + AT_ONCE]))
            self._pause()
        if len(missing):
            known = np.concatenate([self._ids, missing])
            order = np.argsort(known)
            self._ids, self._lines = known[order], np.concatenate(new)[order]
        found: NDArray[Any] = self._lines[np.searchsorted(self._ids, ids)]
        return found

    def _looked_at(self, ids: Ids) -> NDArray[Any]:
        lines = np.zeros(len(ids), LINE)
        lines["sort"] = UNSEEN
        stored = np.flatnonzero(ids >= 0)
        lines[stored] = scanned(*self._terms.packed_texts(ids[stored]))
        rest = np.flatnonzero(lines["sort"] == UNSEEN)
        lines[rest] = np.array([described(term) for term in self._terms.decode(ids[rest])], LINE)
        return lines

    def made(self, column: ValueColumn) -> Ids:
        """The ids of values; computed numbers become terms."""
        unmade = np.flatnonzero((column.ids == UNBOUND) & (column.sorts != NOTHING))
        if not len(unmade):
            return column.ids
        new = column.at(unmade)
        ids = np.array(column.ids)
        ids[unmade] = np.where(_fits_inline(new), new.wholes + INLINE_ZERO, UNBOUND)
        rest = ids[unmade] == UNBOUND
        ids[unmade[rest]] = self._terms_of(new.at(rest))
        return ids

    def _terms_of(self, column: ValueColumn) -> Ids:
        ids = np.empty(len(column.ids), np.int32)
        amounts = np.where(column.sorts == DOUBLE, column.reals.view(np.int64), column.wholes)
        codes = column.sorts.astype(np.int64) << 8 | column.scales
        for code in np.unique(codes).tolist():
            here = codes == code
            different, places = np.unique(amounts[here], return_inverse=True)
            made = self._terms.encode(
                _literal(code >> 8, code & 255, each) for each in different.tolist()
            )
            ids[here] = made[places]
        return ids


def _fits_inline(column: ValueColumn) -> Flags:
    within = (column.wholes >= -INLINE_REACH) & (column.wholes < INLINE_REACH)
    fits: Flags = within & (column.sorts == INTEGER)
    return fits


def _literal(sort: int, scale: int, amount: int) -> Term:
    if sort == DOUBLE:
        return Literal(float(np.int64(amount).view(np.float64)))
    if sort == DECIMAL:
        return literal_of(Number(NumberKind.DECIMAL, Decimal(amount).scaleb(-scale)))
    return Literal(amount)
