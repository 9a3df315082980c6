"""Totals: the aggregates of numbers (sum, average, least, greatest), the same in any order.

A sum of floats and doubles added one after the other depends on the order of the rows.
Here everything is added exactly and rounded once, to the widest kind among the numbers; so
a total can be kept up to date by adding and taking away, and ends where it began.

Totals are canonical literals.  Among equal numbers of different kinds, `min` and `max` pick
the narrowest (integer before decimal before float before double).  A NaN makes every total
NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from livefacts.model.numbers import (
    EXACTLY,
    Number,
    NumberKind,
    calculate,
    nearest_double,
    nearest_single,
)

SMALLEST = 1074
"""Every double is a whole multiple of 2 to the power of minus this."""
DECIMAL_DIGITS = 18
"""Behind the point, in the query engine."""
WIDEST_INTEGER, WIDEST_DECIMAL = 10**DECIMAL_DIGITS << 63, 1 << 127
"""The first integer and the first decimal that it does not have, counted in its last digit."""


class ExactSum:
    """Numbers that come and go, added exactly; how many there are of each kind decides their kind.

    >>> total = ExactSum()
    >>> for amount in (0.1, 0.2, 1e300):
    ...     total.add(Number(NumberKind.DOUBLE, amount), 1)
    >>> total.add(Number(NumberKind.DOUBLE, 1e300), -1)
    >>> total.sum().amount
    0.30000000000000004
    """

    __slots__ = ("_decimals", "_endless", "_kinds", "_nans", "_rounded", "_wholes", "count")

    def __init__(self) -> None:
        self.count = 0
        """How many numbers there are."""
        self._kinds = [0, 0, 0, 0]
        self._wholes = 0
        self._decimals = Decimal(0)
        self._rounded = 0
        """The sum of floats and doubles, in the smallest part that a double can have."""
        self._endless = {math.inf: 0, -math.inf: 0}
        self._nans = 0

    def add_whole(self, amount: int, count: int) -> None:
        """An integer comes so many times more, or less."""
        self.count += count
        self._kinds[0] += count
        self._wholes += amount * count

    def add(self, number: Number, count: int) -> None:
        """A number comes so many times more, or less."""
        amount = number.amount
        if isinstance(amount, int):
            self.add_whole(amount, count)
        elif isinstance(amount, Decimal):
            self._count(number.kind, count)
            self._decimals = EXACTLY.fma(amount, count, self._decimals)
        elif math.isfinite(amount):
            self.add_rounded(number.kind, amount.as_integer_ratio(), count, count)
        else:
            self._count(number.kind, count)
            if math.isnan(amount):
                self._nans += count
            else:
                self._endless[amount] += count

    def add_rounded(
        self, kind: NumberKind, amount: tuple[int, int], times: int, count: int
    ) -> None:
        """So many floats or doubles come, which are this fraction, so many times, together."""
        numerator, denominator = amount
        self._count(kind, count)
        self._rounded += (numerator << (SMALLEST + 1 - denominator.bit_length())) * times

    def _count(self, kind: NumberKind, count: int) -> None:
        self.count += count
        self._kinds[kind] += count

    def sum(self) -> Number:
        """All numbers together; 0 if there are none."""
        if self._kinds[3] or self._kinds[2]:
            return self._nearest(1)
        if self._kinds[1]:
            return Number(
                NumberKind.DECIMAL, EXACTLY.add(self._decimals, self._wholes) or Decimal(0)
            )
        return Number(NumberKind.INTEGER, self._wholes)

    def average(self) -> Number:
        """The mean of at least one number."""
        if self._kinds[3] or self._kinds[2]:
            return self._nearest(self.count)
        quotient = calculate("/", self.sum(), Number(NumberKind.INTEGER, self.count))
        assert quotient is not None, "an average is of at least one number"
        return quotient

    def _nearest(self, divisor: int) -> Number:
        """The rounded sum, divided."""
        kind = NumberKind.DOUBLE if self._kinds[3] else NumberKind.FLOAT
        up, down = self._endless[math.inf], self._endless[-math.inf]
        if self._nans or (up and down):
            return Number(kind, math.nan)
        if up or down:
            return Number(kind, math.inf if up else -math.inf)
        parts = self._rounded + (self._wholes << SMALLEST)
        if kind == NumberKind.DOUBLE and not self._decimals:
            # Python divides whole numbers exactly and rounds once.
            try:
                return Number(kind, parts / (divisor << SMALLEST))
            except OverflowError:
                return Number(kind, math.inf if parts > 0 else -math.inf)
        exact = Fraction(parts, divisor << SMALLEST) + Fraction(self._decimals) / divisor
        return Number(
            kind, nearest_single(exact) if kind == NumberKind.FLOAT else nearest_double(exact)
        )


def truncated_quotient(total: Number, count: int) -> Number | None:
    """An exact number by a count as the query engine divides; None where it has no such numbers.

    >>> truncated_quotient(Number(NumberKind.INTEGER, 2), 3).amount
    Decimal('0.666666666666666666')
    """
    scaled = EXACTLY.scaleb(Decimal(total.amount), DECIMAL_DIGITS)
    whole = int(scaled)
    widest = WIDEST_INTEGER if total.kind == NumberKind.INTEGER else WIDEST_DECIMAL
    if whole != scaled or not -widest <= whole < widest:
        return None
    quotient = Decimal(abs(whole) // count).copy_sign(scaled)
    return Number(NumberKind.DECIMAL, EXACTLY.scaleb(quotient, -DECIMAL_DIGITS) or Decimal(0))


def aggregate_numbers(function: str, numbers: Sequence[Number]) -> Number:
    """`sum`, `avg`, `min` or `max` of at least one number."""
    if function in ("sum", "avg"):
        return _total(function, numbers)
    assert function in ("min", "max"), f"{function} is not an aggregate"
    return _extreme(function, numbers)


def _total(function: str, numbers: Sequence[Number]) -> Number:
    total = ExactSum()
    for number in numbers:
        total.add(number, 1)
    found = total.sum() if function == "sum" else total.average()
    return found if found.kind.is_exact or found.amount else Number(found.kind, _zero(numbers))


def _zero(numbers: Sequence[Number]) -> float:
    """Minus zero where nothing but minus zeros was added, as IEEE 754 has it."""
    negative = all(
        not n.kind.is_exact and math.copysign(1.0, float(n.amount)) < 0 and n.amount == 0
        for n in numbers
    )
    return -0.0 if negative else 0.0


def _extreme(function: str, numbers: Sequence[Number]) -> Number:
    narrow_first = sorted(numbers, key=lambda number: number.kind)
    for number in narrow_first:
        if number.amount != number.amount:
            return number
    choose = min if function == "min" else max
    return choose(narrow_first, key=lambda number: number.amount)
