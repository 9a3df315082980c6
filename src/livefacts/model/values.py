"""Values: what literals stand for, and how rules compare and compute with them.

Two terms join only when they are the same term; `= != < <= > >=` and arithmetic look at
their values, as the operators of SPARQL 1.1 do: `1 = 1.0`, although these are two terms.

- Numbers are promoted first (integer, decimal, float, double).
- Strings are ordered by code point, and only against strings with the same language tag.
- Booleans are ordered: false before true.
- Dates, times and durations are ordered where every time zone and every length of a month
  agree.
- Everything else has `=` and `!=` only, as terms.  Two literals that are different terms may
  still have one value if we do not know the datatype of one of them, so they are neither
  `=` nor `!=`, unless one has a language tag.  IRIs, blank nodes, symbols and values of
  different sorts are `!=`.

`is` and `is not` look at the terms: `1` is not `1.0`, whatever their values.

An error is never raised: a comparison that makes no sense is false, a calculation is None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from pyoxigraph import BaseDirection, Literal, Triple

from livefacts.model.facts import Term
from livefacts.model.identity import kind_of, value_literal
from livefacts.model.moments import (
    MOMENT_TYPES,
    SPAN_TYPES,
    Moment,
    Span,
    order_of_moments,
    order_of_spans,
    parse_moment,
    parse_span,
)
from livefacts.model.namespaces import XSD
from livefacts.model.numbers import (
    INTEGER_RANGES,
    Number,
    calculate,
    compare_numbers,
    literal_of,
    nearest_double,
    parse_decimal,
    parse_double,
    parse_float,
    parse_integer,
)
from livefacts.model.numbers import NumberKind as NumberKind

EXACT, ROUNDED, DOUBLE, FLOAT = 1, 2, 3, 4
"""What `number_of` says of a number: see there."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string, simple or with a language tag (in lower case) and a direction."""

    text: str
    language: str | None = None
    direction: BaseDirection | None = None


Value: TypeAlias = Number | Text | bool | Moment | Span


def value_of(term: Term) -> Value | None:
    """What a literal stands for; None for other terms, unknown datatypes and ill-typed forms."""
    if not isinstance(term, Literal):
        return None
    if term.language is not None:
        return Text(term.value, term.language.lower(), term.direction)
    parse = _PARSERS.get(term.datatype.value)
    return None if parse is None else parse(term.value)


def _parse_boolean(text: str) -> bool | None:
    return {"true": True, "1": True, "false": False, "0": False}.get(text)


_PARSERS: dict[str, Callable[[str], Value | None]] = {
    XSD + "string": Text,
    XSD + "boolean": _parse_boolean,
    XSD + "decimal": parse_decimal,
    XSD + "float": parse_float,
    XSD + "double": parse_double,
    **{XSD + name: partial(parse_integer, datatype=name) for name in INTEGER_RANGES},
    **{XSD + name: partial(parse_moment, datatype=name) for name in MOMENT_TYPES},
    **{XSD + name: partial(parse_span, datatype=name) for name in SPAN_TYPES},
}


def compare(operator: str, left: Term, right: Term) -> bool:
    """Whether `left operator right` holds; an error is false, for `=` and for `!=` too.

    >>> compare("=", Literal(1), Literal(1.0))
    True
    >>> compare("<", Literal("a"), Literal(1)), compare("!=", Literal("a"), Literal(1))
    (False, True)
    """
    if operator in ("is", "is not"):
        return (left == right) == (operator == "is")
    if operator in ("=", "!="):
        equal = _equal(left, right)
        return equal is not None and equal == (operator == "=")
    a, b = value_of(left), value_of(right)
    if isinstance(a, Number) and isinstance(b, Number):
        return compare_numbers(operator, a, b)
    order = _order(a, b)
    return order is not None and _fits(operator, order)


def _equal(left: Term, right: Term) -> bool | None:
    """Whether two terms have one value; None where that cannot be known."""
    if isinstance(left, Triple) and isinstance(right, Triple):
        return _equal_triples(left, right)
    if not (isinstance(left, Literal) and isinstance(right, Literal)):
        return left == right
    a, b = value_of(left), value_of(right)
    if a is None or b is None:
        return left == right if left == right or _one_has_a_language(left, right) else None
    if isinstance(a, Number) and isinstance(b, Number):
        return compare_numbers("=", a, b)
    return type(a) is type(b) and a == b


def _one_has_a_language(left: Literal, right: Literal) -> bool:
    return (left.language is None) != (right.language is None)


def _equal_triples(left: Triple, right: Triple) -> bool | None:
    parts = [
        _equal(left.subject, right.subject),
        _equal(left.predicate, right.predicate),
        _equal(left.object, right.object),
    ]
    if False in parts:
        return False
    return None if None in parts else True


def _order(a: Value | None, b: Value | None) -> int | None:
    match a, b:
        case bool(), bool():
            return a - b
        case Text(), Text() if (a.language, a.direction) == (b.language, b.direction):
            return (a.text > b.text) - (a.text < b.text)
        case Moment(), Moment():
            return order_of_moments(a, b)
        case Span(), Span():
            return order_of_spans(a, b)
        case _:
            return None


def _fits(operator: str, order: int) -> bool:
    match operator:
        case "<":
            return order < 0
        case "<=":
            return order <= 0
        case ">":
            return order > 0
        case _:
            return order >= 0


def arithmetic(operator: str, left: Term, right: Term) -> Literal | None:
    """The canonical literal of `left operator right`; None where a side is no number.

    >>> str(arithmetic("/", Literal(1), Literal(3)).value)
    '0.3333333333333333333333333333'
    """
    a, b = value_of(left), value_of(right)
    if not (isinstance(a, Number) and isinstance(b, Number)):
        return None
    result = calculate(operator, a, b)
    return None if result is None else literal_of(result)


def apply_function(name: str, term: Term) -> Term | None:
    """The value of a function of the rule language; None where it has none.

    >>> apply_function("datatype", Literal(1)).value
    'http://www.w3.org/2001/XMLSchema#integer'
    """
    match name:
        case "value":
            return value_literal(term)
        case "kind":
            return kind_of(term)
    assert name == "datatype", f"{name} is not a function of the rule language"
    return term.datatype if isinstance(term, Literal) else None


def number_of(term: Term) -> tuple[int, float] | None:
    """How to compare a number quickly: its kind and the double nearest to it.

    EXACT is an integer or decimal that is that double, ROUNDED one that is not, DOUBLE and
    FLOAT are of these types.  The doubles decide every comparison but two: where they are
    equal and one side is ROUNDED, the other exact, and where FLOAT meets an exact number.
    """
    value = value_of(term)
    if not isinstance(value, Number):
        return None
    double = nearest_double(value.amount)
    if value.kind == NumberKind.DOUBLE:
        return DOUBLE, double
    if value.kind == NumberKind.FLOAT:
        return FLOAT, double
    return (EXACT if double == value.amount else ROUNDED), double


__all__ = [
    "DOUBLE",
    "EXACT",
    "FLOAT",
    "ROUNDED",
    "Moment",
    "Number",
    "Span",
    "Text",
    "Value",
    "apply_function",
    "arithmetic",
    "compare",
    "number_of",
    "value_of",
]
