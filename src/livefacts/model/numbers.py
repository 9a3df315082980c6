"""Numbers: the values of xsd:integer, xsd:decimal, xsd:float and xsd:double, computed exactly.

Integers and decimals have as many digits as they need; nothing wraps or overflows.  An
operator first promotes both sides to the wider of their kinds, in the order integer,
decimal, float, double, as XPath does for SPARQL.  Only a quotient of exact numbers is
rounded: to 28 significant digits, half to even.  Floats and doubles follow IEEE 754.

Results are written in the canonical forms of XML Schema 1.1: `5`, `2.5`, `2.5E0`.
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from enum import IntEnum
from fractions import Fraction
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode

from livefacts.model.namespaces import XSD

QUOTIENT_DIGITS = 28

EXACTLY = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, rounding=ROUND_HALF_EVEN)
_QUOTIENT = Context(prec=QUOTIENT_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN, rounding=ROUND_HALF_EVEN)


Exact: TypeAlias = int | Decimal | Fraction


class NumberKind(IntEnum):
    """The four kinds of number, in the order in which they are promoted."""

    INTEGER = 0
    DECIMAL = 1
    FLOAT = 2
    DOUBLE = 3

    @property
    def is_exact(self) -> bool:
        return self <= NumberKind.DECIMAL


DATATYPES = {
    NumberKind.INTEGER: NamedNode(XSD + "integer"),
    NumberKind.DECIMAL: NamedNode(XSD + "decimal"),
    NumberKind.FLOAT: NamedNode(XSD + "float"),
    NumberKind.DOUBLE: NamedNode(XSD + "double"),
}

INTEGER_RANGES: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 2**8 - 1),
}


@dataclass(frozen=True, slots=True)
class Number:
    """An amount of one kind: an `int`, a `Decimal`, or a `float` (rounded to single for FLOAT)."""

    kind: NumberKind
    amount: int | Decimal | float


MOST_DIGITS = 100_000
"""Digits that a product may have: squares of squares grow beyond all bounds in a few steps."""
SHORT = 2000
"""So many digits are converted at once."""
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN")


def parse_integer(text: str, datatype: str = "integer") -> Number | None:
    """The value of a lexical form of xsd:integer or of a type derived from it.

    >>> parse_integer("300", "byte") is None
    True
    """
    if not _INTEGER.fullmatch(text):
        return None
    amount = whole(text)
    least, most = INTEGER_RANGES[datatype]
    if (least is not None and amount < least) or (most is not None and amount > most):
        return None
    return Number(NumberKind.INTEGER, amount)


def parse_decimal(text: str) -> Number | None:
    return (
        Number(NumberKind.DECIMAL, _unsigned_zero(Decimal(text)))
        if _DECIMAL.fullmatch(text)
        else None
    )


def _unsigned_zero(amount: Decimal) -> Decimal:
    """The amount; Python keeps the sign of a zero, xsd:decimal has one zero only."""
    return amount or Decimal(0)


def parse_double(text: str) -> Number | None:
    return Number(NumberKind.DOUBLE, float(text)) if _DOUBLE.fullmatch(text) else None


def parse_float(text: str) -> Number | None:
    if not _DOUBLE.fullmatch(text):
        return None
    double = float(text)
    if not math.isfinite(double) or double == 0.0:
        return Number(NumberKind.FLOAT, double)
    return Number(NumberKind.FLOAT, _single_of(double, Decimal(text)))


def whole(digits: str) -> int:
    """An integer of any length; `int(str)` alone refuses more than 4300 digits.

    By halves: Python takes the square of the time for twice the digits, and hears no Ctrl-C.
    """
    if len(digits) < SHORT:
        return int(digits)
    if digits[0] in "+-":
        return -whole(digits[1:]) if digits[0] == "-" else whole(digits[1:])
    half = len(digits) // 2
    return int(whole(digits[:-half]) * 10**half + whole(digits[-half:]))


def digits_of(number: int) -> str:
    """The digits of an integer of any length; `str(int)` alone refuses more than 4300."""
    return format(decimal_of(number), "f")


def decimal_of(amount: int | Decimal | float) -> Decimal:
    """An exact number as a decimal, a long integer by halves."""
    if not isinstance(amount, int) or amount.bit_length() < 4 * SHORT:
        return Decimal(amount)
    half = amount.bit_length() // 2
    upper, lower = amount >> half, amount & ((1 << half) - 1)
    shifted = EXACTLY.multiply(decimal_of(upper), EXACTLY.power(Decimal(2), half))
    return EXACTLY.add(shifted, decimal_of(lower))


def compare_numbers(operator: str, left: Number, right: Number) -> bool:
    """The order of two promoted numbers; a NaN is only ever `!=`."""
    a, b = promoted(left, right)
    match operator:
        case "=":
            return a == b
        case "!=":
            return a != b
        case "<":
            return a < b
        case "<=":
            return a <= b
        case ">":
            return a > b
        case _:
            return a >= b


def promoted(left: Number, right: Number) -> tuple[int | Decimal | float, int | Decimal | float]:
    """Both amounts, in the wider of the two kinds."""
    kind = max(left.kind, right.kind)
    return _amount_as(kind, left), _amount_as(kind, right)


def _amount_as(kind: NumberKind, number: Number) -> int | Decimal | float:
    if kind == NumberKind.DOUBLE:
        return nearest_double(number.amount)
    if kind == NumberKind.FLOAT:
        return nearest_single(number.amount)
    return number.amount


def nearest_double(amount: Exact | float) -> float:
    """The double next to an exact amount; beyond the largest one it is infinite."""
    try:
        return float(amount)
    except OverflowError:
        return math.inf if amount > 0 else -math.inf


def nearest_single(amount: Exact | float) -> float:
    """The single-precision number next to an exact amount, rounded once."""
    return _single_of(nearest_double(amount), amount)


_SINGLE_LIMIT = 2.0**128 - 2.0**103  # halfway between the largest single and the next power of two
_LARGEST_SINGLE = 2.0**128 - 2.0**104


def _single_of(double: float, exact: Exact | float) -> float:
    """`exact` in single precision, where `double` is the double nearest to it.

    Rounding the double would round twice; that goes wrong only where the double lies
    halfway between two singles, and there the exact amount decides.
    """
    if abs(double) >= _SINGLE_LIMIT:
        within = abs(double) == _SINGLE_LIMIT and -_SINGLE_LIMIT < exact < _SINGLE_LIMIT
        return math.copysign(_LARGEST_SINGLE if within else math.inf, double)
    single = _round_to_single(double)
    other = double + (double - single)
    if math.isnan(double) or single == double or abs(other) >= _SINGLE_LIMIT:
        return single
    if _round_to_single(other) != other or exact == double:
        return single
    return max(single, other) if exact > double else min(single, other)


def _round_to_single(double: float) -> float:
    return float(struct.unpack("f", struct.pack("f", double))[0])


def calculate(operator: str, left: Number, right: Number) -> Number | None:
    """One of `+ - * /`; None where an exact number is divided by zero, or a product is too long."""
    kind = max(left.kind, right.kind)
    if not kind.is_exact:
        a, b = promoted(left, right)
        return Number(kind, _calculate_rounded(operator, float(a), float(b), kind))
    if operator == "/":
        return _quotient(left.amount, right.amount)
    if operator == "*" and _length(left.amount) + _length(right.amount) > MOST_DIGITS:
        return None
    if kind == NumberKind.INTEGER:
        return Number(kind, _calculate_whole(operator, int(left.amount), int(right.amount)))
    result = _calculate_decimal(operator, decimal_of(left.amount), decimal_of(right.amount))
    return Number(kind, _unsigned_zero(result))


def _length(amount: int | Decimal | float) -> int:
    """About how many digits an exact number has."""
    if isinstance(amount, int):
        return amount.bit_length() * 3 // 10
    return len(amount.as_tuple().digits) if isinstance(amount, Decimal) else 0


def _calculate_whole(operator: str, a: int, b: int) -> int:
    return a + b if operator == "+" else a - b if operator == "-" else a * b


def _calculate_decimal(operator: str, a: Decimal, b: Decimal) -> Decimal:
    if operator == "+":
        return EXACTLY.add(a, b)
    return EXACTLY.subtract(a, b) if operator == "-" else EXACTLY.multiply(a, b)


def _calculate_rounded(operator: str, a: float, b: float, kind: NumberKind) -> float:
    # A double carries more than twice the digits of a single, so an operation in doubles
    # that is then rounded to single gives the correctly rounded single.
    match operator:
        case "+":
            result = a + b
        case "-":
            result = a - b
        case "*":
            result = a * b
        case _:
            result = _divide_as_ieee(a, b)
    return nearest_single(result) if kind == NumberKind.FLOAT else result


def _divide_as_ieee(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    if a == 0.0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _quotient(a: int | Decimal | float, b: int | Decimal | float) -> Number | None:
    if b == 0:
        return None
    return Number(
        NumberKind.DECIMAL, _unsigned_zero(_QUOTIENT.divide(decimal_of(a), decimal_of(b)))
    )


def literal_of(number: Number) -> Literal:
    """The canonical literal of a number.

    >>> str(literal_of(Number(NumberKind.DECIMAL, Decimal("2.50"))).value)
    '2.5'
    """
    return Literal(canonical_form(number), datatype=DATATYPES[number.kind])


def canonical_form(number: Number) -> str:
    match number.kind:
        case NumberKind.INTEGER:
            return digits_of(int(number.amount))
        case NumberKind.DECIMAL:
            return _plain(Decimal(number.amount))
        case NumberKind.FLOAT:
            return _scientific(float(number.amount), _shortest_single(float(number.amount)))
        case _:
            return _scientific(float(number.amount), repr(float(number.amount)))


def _plain(amount: Decimal) -> str:
    if amount == 0:
        return "0"
    text = format(amount, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _shortest_single(single: float) -> str:
    texts = (f"{single:.{digits}g}" for digits in range(1, 10))
    return next((t for t in texts if nearest_single(float(t)) == single), repr(single))


def _scientific(amount: float, shortest: str) -> str:
    if math.isnan(amount):
        return "NaN"
    if math.isinf(amount):
        return "INF" if amount > 0 else "-INF"
    sign, digits, exponent = Decimal(shortest).as_tuple()
    assert isinstance(exponent, int), "a finite number has an exponent"
    text = "".join(map(str, digits)).rstrip("0") or "0"
    power = 0 if amount == 0 else exponent + len(digits) - 1
    return f"{'-' * sign}{text[0]}.{text[1:] or '0'}E{power}"
