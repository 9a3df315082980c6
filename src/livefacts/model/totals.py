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
    Number,
    NumberKind,
    calculate,
    nearest_double,
    nearest_single,
)


def aggregate_numbers(function: str, numbers: Sequence[Number]) -> Number:
    """`sum`, `avg`, `min` or `max` of at least one number."""
    if function == "sum":
        return total(numbers)
    if function == "avg":
        return average(numbers)
    assert function in ("min", "max"), f"{function} is not an aggregate"
    return _extreme(function, numbers)


def total(numbers: Sequence[Number]) -> Number:
    kind = max(number.kind for number in numbers)
    if kind.is_exact:
        return _exact_total(numbers)
    return _rounded(kind, numbers, 1)


def average(numbers: Sequence[Number]) -> Number:
    kind = max(number.kind for number in numbers)
    if not kind.is_exact:
        return _rounded(kind, numbers, len(numbers))
    quotient = calculate("/", _exact_total(numbers), Number(NumberKind.INTEGER, len(numbers)))
    assert quotient is not None, "an average is of at least one number"
    return quotient


def _exact_total(numbers: Sequence[Number]) -> Number:
    result = Number(NumberKind.INTEGER, 0)
    for number in numbers:
        added = calculate("+", result, number)
        assert added is not None, "exact numbers can always be added"
        result = added
    return result


def _rounded(kind: NumberKind, numbers: Sequence[Number], divisor: int) -> Number:
    endless = [n.amount for n in numbers if not _is_finite(n)]
    if endless:
        return Number(kind, math.fsum(map(float, endless)) if _agree(endless) else math.nan)
    exact = sum((Fraction(n.amount) for n in numbers), Fraction(0)) / divisor
    if exact == 0:
        return Number(kind, _zero(numbers))
    return Number(
        kind, nearest_single(exact) if kind == NumberKind.FLOAT else nearest_double(exact)
    )


def _is_finite(number: Number) -> bool:
    return number.kind.is_exact or math.isfinite(number.amount)


def _agree(endless: Sequence[int | Decimal | float]) -> bool:
    return len({float(amount) for amount in endless}) == 1


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
