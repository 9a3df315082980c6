"""Totals: sums, averages and deviations of numbers that come and go, the same in any order.

A sum of floats and doubles added one after the other depends on the order of the rows.
Here everything is added exactly and rounded once, to the widest kind among the numbers; so
a total can be kept up to date by adding and taking away, and ends where it began.

A NaN makes every total NaN.
"""

from __future__ import annotations

import math
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

    __slots__ = (
        "_decimals", "_endless", "_kinds", "_minus_zeros", "_nans", "_rounded", "_wholes", "count",
    )  # fmt: skip

    def __init__(self) -> None:
        self.count = 0
        """How many numbers there are."""
        self._minus_zeros = 0
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
        elif not amount:
            self._count(number.kind, count)
            self._minus_zeros += count * (math.copysign(1.0, amount) < 0)
        elif math.isfinite(amount):
            self.add_rounded(number.kind, amount.as_integer_ratio(), count, count)
        else:
            self._count(number.kind, count)
            if math.isnan(amount):
                self._nans += count
            else:
                self._endless[amount] += count

    def add_wholes(self, total: int, count: int) -> None:
        """So many integers come, which are this together."""
        self.count += count
        self._kinds[0] += count
        self._wholes += total

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

    @property
    def is_minus_zero(self) -> bool:
        """Whether nothing but minus zeros was added, whose sum is one as IEEE 754 has it."""
        return 0 < self._minus_zeros == self.count

    def sum(self) -> Number:
        """All numbers together; 0 if there are none."""
        if self._kinds[3] or self._kinds[2]:
            return self._nearest(1)
        if self._kinds[1]:
            return Number(
                NumberKind.DECIMAL, EXACTLY.add(self._decimals, self._wholes) or Decimal(0)
            )
        return Number(NumberKind.INTEGER, self._wholes)

    def whole(self) -> int | None:
        """The sum, if all numbers are integers."""
        return self._wholes if self._kinds[0] == self.count else None

    def exact(self) -> Fraction:
        """The sum of numbers that are all finite."""
        wholes = self._wholes if not self._rounded else Fraction(
            self._rounded + (self._wholes << SMALLEST), 1 << SMALLEST
        )  # fmt: skip
        return wholes + Fraction(self._decimals)

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


class ExactSpread:
    """Numbers that come and go, and how far they lie from their mean.

    The numbers and their squares are added exactly; only the root is rounded.

    >>> spread = ExactSpread()
    >>> for amount in (2, 4, 4, 4, 5, 5, 7, 9, 10**30):
    ...     spread.add(Number(NumberKind.INTEGER, amount), 1)
    >>> spread.add(Number(NumberKind.INTEGER, 10**30), -1)
    >>> spread.deviation()
    2.138089935299395
    """

    __slots__ = ("_decimals", "_endless", "_rounded", "_sum", "_wholes")

    def __init__(self) -> None:
        self._sum = ExactSum()
        self._wholes = 0
        self._decimals = Decimal(0)
        self._rounded = 0
        """The squares of floats and doubles together, in the square of their smallest part."""
        self._endless = 0
        """How many numbers are infinite, or none."""

    def add(self, number: Number, count: int) -> None:
        """A number comes so many times more, or less."""
        self._sum.add(number, count)
        amount = number.amount
        if isinstance(amount, int):
            self._wholes += amount * amount * count
        elif isinstance(amount, Decimal):
            square = EXACTLY.multiply(amount, amount)
            self._decimals = EXACTLY.fma(square, count, self._decimals)
        elif math.isfinite(amount):
            numerator, denominator = amount.as_integer_ratio()
            part = numerator << (SMALLEST + 1 - denominator.bit_length())
            self._rounded += part * part * count
        else:
            self._endless += count

    def deviation(self) -> float | None:
        """The standard deviation of a sample; None of fewer than two numbers."""
        count = self._sum.count
        if count < 2:
            return None
        if self._endless:
            return math.nan
        total = self._sum.exact()
        if self._rounded:
            squares = Fraction(self._rounded + (self._wholes << 2 * SMALLEST), 1 << 2 * SMALLEST)
        else:
            squares = Fraction(self._wholes)
        squares += Fraction(self._decimals)
        return nearest_root((count * squares - total * total) / (count * (count - 1)))


ROOT_BITS = 64
"""A root is found to so many bits before it is rounded, and what is left is told by one more."""


def nearest_root(square: Fraction) -> float:
    """The double next to the root of a fraction that is not negative, rounded once.

    >>> nearest_root(Fraction(2)) == math.sqrt(2), nearest_root(Fraction(10) ** 400)
    (True, 1e+200)
    """
    above, below = square.numerator, square.denominator
    shift = ROOT_BITS + (below.bit_length() - above.bit_length()) // 2
    scaled, left = divmod(above << max(0, 2 * shift), below << max(0, -2 * shift))
    root = math.isqrt(scaled)
    is_exact = root * root == scaled and not left
    # Where something is left, a last bit behind all others keeps it from being a half.
    return nearest_double(Fraction(2 * root + (not is_exact), 2) / Fraction(2) ** shift)


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
