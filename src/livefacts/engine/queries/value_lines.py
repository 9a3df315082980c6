"""Value lines: what a term stands for, in a few numbers.

The sort says what the numbers mean: an exact number is `whole / 10**scale`, a rounded one is
`real`, a date or a time is `whole` microseconds.  What they cannot hold exactly as pyoxigraph
computes with it, large numbers among them, is of the sort OTHER.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from pyoxigraph import BlankNode, Literal, NamedNode

from livefacts.model.facts import Term
from livefacts.model.moments import Moment
from livefacts.model.numbers import Number, NumberKind
from livefacts.model.values import Text, value_of

# sorts of values
NOTHING, IRI, BLANK, OTHER, STRING, TAGGED, BOOLEAN, INTEGER, DECIMAL, FLOAT, DOUBLE = range(11)
ZONED_TIME, LOCAL_TIME, ZONED_DAY, LOCAL_DAY, TRIPLE, UNSEEN = range(11, 17)
"""UNSEEN is a literal that was not looked at yet, TRIPLE what is no other term."""
SORTS = 17
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
LINE = np.dtype([("sort", "u1"), ("scale", "u1"), ("whole", "i8"), ("real", "f8")])
Line = tuple[int, int, int, float]
"""Sort, scale, whole and real."""
UNKNOWN: Line = (OTHER, 0, 0, 0.0)


def described(term: Term | None) -> Line:
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
