"""Value columns: what the ids of a column stand for, as numbers that NumPy computes with.

Each different term is looked at once.  Its sort says what the other columns mean: an exact
number is `whole / 10**scale`, a rounded one is `real`, a date is `whole` microseconds.  What a
column cannot hold exactly as pyoxigraph computes with it, large numbers among them, is of the
sort OTHER: pyoxigraph is asked about it.

A computed number has no id yet; one is made where somebody wants it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import BlankNode, Literal, NamedNode

from livefacts.engine.queries.query_terms import QueryTerms
from livefacts.engine.queries.solutions import UNBOUND, Flags, Ids
from livefacts.model.facts import Term
from livefacts.model.moments import Moment
from livefacts.model.numbers import Number, NumberKind, literal_of
from livefacts.model.values import Text, value_of
from livefacts.store.terms import term_table
from livefacts.store.terms.term_table import INLINE_FIRST, INLINE_REACH, INLINE_ZERO

# sorts of values
NOTHING, IRI, BLANK, OTHER, STRING, TAGGED, BOOLEAN, INTEGER, DECIMAL, FLOAT, DOUBLE = range(11)
ZONED_TIME, LOCAL_TIME, ZONED_DAY, LOCAL_DAY, TRIPLE, UNSEEN = range(11, 17)
"""UNSEEN is a literal that was not looked at yet, TRIPLE what is no other term."""
SORTS = 17
KINDS = np.full(256, TRIPLE, np.uint8)
KINDS[[term_table.IRI, term_table.BLANK, term_table.LITERAL]] = IRI, BLANK, UNSEEN

NUMBER_SORTS = {
    NumberKind.INTEGER: INTEGER,
    NumberKind.DECIMAL: DECIMAL,
    NumberKind.FLOAT: FLOAT,
    NumberKind.DOUBLE: DOUBLE,
}
MOMENT_SORTS = {
    ("dateTime", True): ZONED_TIME,
    ("dateTime", False): LOCAL_TIME,
    ("date", True): ZONED_DAY,
    ("date", False): LOCAL_DAY,
}
MOST_DIGITS = 2**53
"""Up to here the double next to a decimal is what pyoxigraph takes for it, too."""
MOST_WHOLE = 2**63
MOST_SCALE = 18
MOST_MOMENT = 10**17
MICROSECONDS = 10**6
POWERS = 10 ** np.arange(MOST_SCALE + 1, dtype=np.int64)
AT_ONCE = 1 << 15
"""How many terms are looked at between two pauses."""

TABLE = np.dtype([("id", "i4"), ("sort", "u1"), ("scale", "u1"), ("whole", "i8"), ("real", "f8")])
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
        self._table = np.empty(0, TABLE)
        """The literals that were looked at, by id."""

    def of(self, ids: Ids) -> ValueColumn:
        """The values of ids."""
        inline = ids >= INLINE_FIRST
        whole = np.where(inline, ids.astype(np.int64) - INLINE_ZERO, 0)
        sorts = np.where(inline, np.uint8(INTEGER), np.uint8(NOTHING))
        column = ValueColumn(ids, sorts, np.zeros(len(ids), np.uint8), whole, whole.astype(float))
        if not inline.all():
            stored = ~inline & (ids >= 0)
            sorts[stored] = KINDS[self._terms.kinds(ids[stored])]
            sorts[ids < UNBOUND] = UNSEEN
            self._fill(column, np.flatnonzero(sorts == UNSEEN))
        return column

    def _fill(self, column: ValueColumn, rows: NDArray[np.int64]) -> None:
        different, places = np.unique(column.ids[rows], return_inverse=True)
        found = self._found(different)[places]
        column.sorts[rows] = found["sort"]
        column.scales[rows] = found["scale"]
        column.wholes[rows] = found["whole"]
        column.reals[rows] = found["real"]

    def _found(self, ids: Ids) -> NDArray[Any]:
        """The lines of the table for different ids, which are in order."""
        missing = ids[~np.isin(ids, self._table["id"], assume_unique=True)]
        new = [self._table]
        for first in range(0, len(missing), AT_ONCE):
            some = missing[first : first + AT_ONCE]
            lines = zip(some.tolist(), map(_described, self._terms.decode(some)), strict=True)
            new.append(np.array([(number, *line) for number, line in lines], TABLE))
            self._pause()
        if len(missing):
            table = np.concatenate(new)
            self._table = table[np.argsort(table["id"])]
        found: NDArray[Any] = self._table[np.searchsorted(self._table["id"], ids)]
        return found

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


Line = tuple[int, int, int, float]
"""Sort, scale, whole and real."""
UNKNOWN: Line = (OTHER, 0, 0, 0.0)


def _described(term: Term | None) -> Line:
    """What a term stands for."""
    if isinstance(term, NamedNode):
        return IRI, 0, 0, 0.0
    if isinstance(term, BlankNode):
        return BLANK, 0, 0, 0.0
    if not isinstance(term, Literal):
        return TRIPLE, 0, 0, 0.0
    match value_of(term):
        case bool() as truth:
            return BOOLEAN, 0, int(truth), 0.0
        case Number() as number:
            return _described_number(number)
        case Text() as text:
            # Whether it is empty is all that its number says.
            return STRING if text.language is None else TAGGED, 0, len(text.text), 0.0
        case Moment() as moment:
            return _described_moment(moment)
    return UNKNOWN


def _described_number(number: Number) -> Line:
    sort, amount = NUMBER_SORTS[number.kind], number.amount
    if isinstance(amount, float):
        return (sort, 0, 0, amount) if math.isfinite(amount) else UNKNOWN
    if isinstance(amount, int):
        return (sort, 0, amount, float(amount)) if abs(amount) < MOST_WHOLE else UNKNOWN
    _, digits, exponent = amount.as_tuple()
    assert isinstance(exponent, int), "a decimal is a finite number"
    if max(len(digits), len(digits) + exponent, -exponent) > MOST_SCALE:
        return UNKNOWN
    amount = amount.normalize()
    scale = max(0, -int(amount.as_tuple().exponent))
    whole = int(amount.scaleb(scale))
    return (sort, scale, whole, whole / 10**scale) if abs(whole) < MOST_DIGITS else UNKNOWN


def _described_moment(moment: Moment) -> Line:
    sort = MOMENT_SORTS.get((moment.datatype, moment.has_zone))
    ticks: Fraction = moment.seconds * MICROSECONDS
    if sort is None or ticks.denominator != 1 or abs(ticks) > MOST_MOMENT:
        return UNKNOWN
    return sort, 0, int(ticks), 0.0
