"""Operators on value columns: comparisons, arithmetic and truth, as SPARQL has them.

Truth has three values.  What a column cannot decide stays OPEN, and pyoxigraph is asked; what
is decided here is what it would say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.queries.solutions import UNBOUND, Flags
from livefacts.engine.queries.value_columns import (
    Sorts,
    ValueColumn,
    Wholes,
    computed,
    computed_doubles,
)
from livefacts.engine.queries.value_lines import (
    BLANK,
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    IRI,
    LOCAL_DAY,
    LOCAL_TIME,
    MOST_DIGITS,
    MOST_SCALE,
    NOTHING,
    OTHER,
    POWERS,
    SORTS,
    STRING,
    TAGGED,
    TRIPLE,
    ZONED_DAY,
    ZONED_TIME,
)

FALSE, TRUE, ERROR, OPEN = range(4)
TRUTHS = np.arange(3, dtype=np.uint8)
Truth = NDArray[np.uint8]
"""FALSE, TRUE or ERROR for each row, or OPEN while nobody knows."""

COMPARISONS: dict[str, Callable[..., Any]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
CALCULATIONS: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
}
SAFE = 2.0**62
"""What is smaller than this in doubles is surely no overflow of 64 bits."""


def _flags(*sorts: int) -> Flags:
    flags = np.zeros(SORTS, np.bool_)
    flags[list(sorts)] = True
    return flags


IS_EXACT = _flags(INTEGER, DECIMAL)
IS_ROUNDED = _flags(FLOAT, DOUBLE)
IS_NUMBER = IS_EXACT | IS_ROUNDED
IS_IRI, IS_BLANK = _flags(IRI), _flags(BLANK)
IS_THING = IS_IRI | IS_BLANK
IS_LITERAL = ~_flags(NOTHING, IRI, BLANK, TRIPLE)
IS_UNKNOWN = _flags(OTHER, TRIPLE)
IS_MOMENT = _flags(ZONED_TIME, LOCAL_TIME, ZONED_DAY, LOCAL_DAY)
NO_OPERAND = _flags(IRI, BLANK, STRING, TAGGED, BOOLEAN)
"""What nothing is added to."""
# Values of different families are different, and none comes before the other.
FAMILIES = np.arange(SORTS, dtype=np.uint8)
FAMILIES[[INTEGER, DECIMAL, FLOAT, DOUBLE]] = INTEGER
FAMILIES[[ZONED_TIME, LOCAL_TIME]] = ZONED_TIME
FAMILIES[[ZONED_DAY, LOCAL_DAY]] = ZONED_DAY


def truth_of(flags: Flags) -> Truth:
    """TRUE or FALSE."""
    return flags.astype(np.uint8)


def effective(column: ValueColumn) -> Truth:
    """The effective boolean value."""
    truth = np.full(len(column.sorts), OPEN, np.uint8)
    sorts = column.sorts
    truth[IS_THING[sorts] | (sorts == NOTHING)] = ERROR
    by_whole = IS_EXACT[sorts] | (sorts == BOOLEAN) | (sorts == STRING)
    truth[by_whole] = truth_of(column.wholes[by_whole] != 0)
    rounded = IS_ROUNDED[sorts]
    truth[rounded] = truth_of(column.reals[rounded] != 0)
    return truth


def compared(operator: str, left: ValueColumn, right: ValueColumn) -> Truth:
    """Whether values are equal, or in an order; strings that are ordered stay open."""
    a, b = left.sorts, right.sorts
    truth = np.full(len(a), OPEN, np.uint8)
    is_equality = operator in ("=", "!=")
    by_ids = (IS_THING[a] | IS_THING[b] | _both(a, b, STRING) | _both(a, b, TAGGED)) & is_equality
    apart = ~(IS_UNKNOWN[a] | IS_UNKNOWN[b]) & (FAMILIES[a] != FAMILIES[b])
    truth[apart] = (operator == "!=") if is_equality else ERROR
    by_whole = (a == b) & (IS_MOMENT[a] | ((a == BOOLEAN) & is_equality))
    for rows, fields in ((by_ids, "ids"), (by_whole, "wholes")):
        mine, theirs = getattr(left, fields)[rows], getattr(right, fields)[rows]
        truth[rows] = truth_of(COMPARISONS[operator](mine, theirs))
    _compare_numbers(operator, left, right, truth)
    truth[(a == NOTHING) | (b == NOTHING)] = ERROR
    if not is_equality:
        # A thing is not before or after any other; that it is not after itself is certain.
        things = IS_THING[a] & IS_THING[b]
        same = things & (left.ids == right.ids)
        truth[things] = ERROR
        truth[same] = OPEN
    return truth


def _both(a: Sorts, b: Sorts, sort: int) -> Flags:
    both: Flags = (a == sort) & (b == sort)
    return both


def _compare_numbers(operator: str, left: ValueColumn, right: ValueColumn, truth: Truth) -> None:
    a, b = left.sorts, right.sorts
    compare = COMPARISONS[operator]
    rounded = _are_doubles(a, b) | (IS_ROUNDED[a] & IS_ROUNDED[b])
    truth[rounded] = truth_of(compare(left.reals[rounded], right.reals[rounded]))
    exact = np.flatnonzero(IS_EXACT[a] & IS_EXACT[b])
    if len(exact):
        mine, theirs, _, fits = _aligned(left.at(exact), right.at(exact))
        truth[exact[fits]] = truth_of(compare(mine, theirs)[fits])


def _are_doubles(a: Sorts, b: Sorts) -> Flags:
    """Where two numbers are promoted to doubles."""
    both = IS_NUMBER[a] & IS_NUMBER[b]
    doubles: Flags = both & ((a == DOUBLE) | (b == DOUBLE))
    return doubles


def _aligned(left: ValueColumn, right: ValueColumn) -> tuple[Wholes, Wholes, Sorts, Flags]:
    """Exact numbers with one scale each, that scale, and where this fits."""
    scales = np.maximum(left.scales, right.scales)
    mine, theirs = (side.wholes * POWERS[scales - side.scales] for side in (left, right))
    # int64 wraps around where the doubles say that it does not fit.
    sizes = (np.abs(side.reals * POWERS[scales]) for side in (left, right))
    return mine, theirs, scales, np.maximum(*sizes) < SAFE


def calculated(operator: str, left: ValueColumn, right: ValueColumn) -> tuple[ValueColumn, Flags]:
    """The values of `left operator right`, and which of them stay open."""
    a, b = left.sorts, right.sorts
    nothing = np.zeros(len(a), np.uint8)
    found = computed(nothing, nothing, np.zeros(len(a), np.int64))
    still = ~((a == NOTHING) | (b == NOTHING) | NO_OPERAND[a] | NO_OPERAND[b])
    doubles = np.flatnonzero(_are_doubles(a, b))
    if len(doubles):
        with np.errstate(all="ignore"):
            reals = CALCULATIONS[operator](left.reals[doubles], right.reals[doubles])
        fits = np.isfinite(reals)
        found = found.filled(doubles[fits], computed_doubles(reals[fits]))
        still[doubles[fits]] = False
    exact = np.flatnonzero(IS_EXACT[a] & IS_EXACT[b])
    if len(exact):
        made, fits = _calculated_exactly(operator, left.at(exact), right.at(exact))
        found = found.filled(exact[fits], made.at(fits))
        still[exact[fits]] = False
    return found, still


def _calculated_exactly(
    operator: str, left: ValueColumn, right: ValueColumn
) -> tuple[ValueColumn, Flags]:
    if operator == "/":
        return _divided(left, right)
    if operator == "*":
        scales = left.scales + right.scales
        mine, theirs, fits = left.wholes, right.wholes, scales <= MOST_SCALE
    else:
        mine, theirs, scales, fits = _aligned(left, right)
    calculate = CALCULATIONS[operator]
    fits = fits & (np.abs(calculate(mine.astype(float), theirs.astype(float))) < SAFE)
    wholes = calculate(mine, theirs)
    sorts = np.maximum(left.sorts, right.sorts)
    fits &= (sorts == INTEGER) | (np.abs(wholes) < MOST_DIGITS)
    return computed(sorts, np.minimum(scales, MOST_SCALE), wholes), fits


def _divided(left: ValueColumn, right: ValueColumn) -> tuple[ValueColumn, Flags]:
    """Quotients of exact numbers that come out even, and errors where something is divided by 0."""
    by_zero = right.wholes == 0
    divisors = np.where(by_zero, 1, right.wholes)
    even = (left.wholes % divisors == 0) & (left.scales >= right.scales)
    # The least integer has no opposite.
    even &= np.abs(left.reals) < SAFE
    sorts = np.where(by_zero, NOTHING, DECIMAL).astype(np.uint8)
    scales = np.where(even, left.scales - right.scales, 0).astype(np.uint8)
    wholes = left.wholes // divisors
    even &= np.abs(wholes) < MOST_DIGITS
    return computed(sorts, scales, np.where(even & ~by_zero, wholes, 0)), even | by_zero


def negated(column: ValueColumn) -> tuple[ValueColumn, Flags]:
    """The opposites of numbers, and which of them stay open."""
    sorts = column.sorts
    nothing = (sorts == NOTHING) | NO_OPERAND[sorts]
    fits = (IS_EXACT[sorts] & (np.abs(column.reals) < SAFE)) | (sorts == DOUBLE)
    kinds = np.where(fits, sorts, NOTHING).astype(np.uint8)
    ids = np.full(len(sorts), UNBOUND, np.int32)
    # Of zeros, only a double has an opposite.
    reals = np.where(sorts == DOUBLE, -column.reals, 0.0 - column.reals)
    return ValueColumn(ids, kinds, column.scales, -column.wholes, reals), ~(fits | nothing)


def negation(truth: Truth) -> Truth:
    """`!`."""
    return np.where(truth == ERROR, ERROR, 1 - truth).astype(np.uint8)
