"""The oracle's values: what comparisons, arithmetic and aggregates give.

Integers and decimals are Python fractions, so that nothing overflows; everything else is
asked of pyoxigraph as a one-line SPARQL query, and remembered.  An error is None.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from pyoxigraph import BlankNode, Literal, NamedNode, QuerySolutions, Store, Triple

from livefacts.model.facts import Symbol, Term
from livefacts.model.term_ranks import rank_of

XSD = "http://www.w3.org/2001/XMLSchema#"
UNSIGNED = {"unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"}
SIGNED = {"nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger"}
INTEGERS = {"integer", "long", "int", "short", "byte", *UNSIGNED, *SIGNED}
KINDS = ("integer", "decimal", "float", "double")
INEXACT = frozenset({"float", "double"})
TRUE = Literal(True)
DIVISION = Context(prec=28, rounding=ROUND_HALF_EVEN)
NOTHING = Store()


def compare(operator: str, left: Term | None, right: Term | None) -> bool:
    """Whether the comparison holds between values; an error is false."""
    if left is None or right is None:
        return False
    if operator in ("is", "is not"):
        return (left == right) is (operator == "is")
    if isinstance(left, Symbol) or isinstance(right, Symbol):
        return (left == right) is (operator == "=") and operator in ("=", "!=")
    for value in (_exact, _boolean):
        one, other = value(left), value(right)
        if one is not None and other is not None:
            return _holds(operator, one, other)
    left, right = _within_range(left, right), _within_range(right, left)
    if operator in ("=", "!="):
        return _ask(operator, left, right) == TRUE
    # pyoxigraph finds every term `<=` itself, even one that has no order.
    if not (_has_value(left) and _has_value(right)):
        return False
    strictly, equal = _ask(operator[0], left, right), _ask("=", left, right)
    return strictly == TRUE or (strictly is not None and "=" in operator and equal == TRUE)


def arithmetic(operator: str, left: Term | None, right: Term | None) -> Literal | None:
    """The canonical literal of a sum, difference, product or quotient of two numbers."""
    if not _is_number(left) or not _is_number(right):
        return None
    one, other = _exact(left), _exact(right)
    if one is not None and other is not None:
        integral = _type(left) in INTEGERS and _type(right) in INTEGERS
        return _exact_arithmetic(operator, one, other, integral and operator != "/")
    result = _ask(operator, _within_range(left, right), _within_range(right, left))
    return _scientific(result.value, _type(result)) if isinstance(result, Literal) else None


def datatype(term: Term | None) -> NamedNode | None:
    """The datatype of a literal."""
    return term.datatype if isinstance(term, Literal) else None


def value(term: Term | None) -> Term | None:
    """The literal that stands for all of one value, of the sorts of literals that tests draw."""
    if not isinstance(term, Literal):
        return None
    exact, kind = _exact(term), _type(term)
    if exact is not None:
        return _number(exact, "integer" if exact.denominator == 1 else "decimal")
    if kind in INEXACT and _is_number(term):
        return _scientific(repr(_as_float(term.value)), kind)
    if _boolean(term) is not None:
        return typed("true" if _boolean(term) else "false", "boolean")
    if kind.endswith("Duration"):
        return typed({"PT24H": "P1D"}.get(term.value, term.value), "duration")
    is_known = kind in ("string", "dateTime", "date") or term.language is not None
    return term if is_known else None


def _as_float(text: str) -> float:
    return float(text.replace("INF", "inf"))


def kind(term: Term | None) -> NamedNode | None:
    """The narrowest datatype of such a literal."""
    found = value(term)
    if not isinstance(found, Literal):
        return None
    if _type(found) == "string":
        return NamedNode(XSD + ("NMTOKEN" if found.value.isdigit() else "language"))
    if _type(found) == "dateTime" and found.value[19:]:
        return NamedNode(XSD + "dateTimeStamp")
    return found.datatype


def aggregate(
    function: str, tuples: Iterable[tuple[Term, ...]], parameter: str | None = None
) -> Term | None:
    """The value of a group of at least one tuple, of which the first term is aggregated."""
    listed = list(tuples)
    if function in ("argmin", "argmax"):
        return _belonging(function, [(first, second) for first, second, *_ in listed])
    terms = [first for first, *_ in listed]
    if function == "group_concat":
        return _concatenated(terms, " " if parameter is None else parameter)
    items = sorted(terms, key=lambda term: (_rank(term), str(term)))
    if function == "stddev":
        return _deviation(items)
    if function == "percentile":
        return _at_percentage(items, Fraction(parameter or ""))
    if function == "count":
        return _number(Fraction(len(items)), "integer")
    if not all(_is_number(item) for item in items):
        return None
    if function in ("min", "max"):
        return _extreme(function, items)
    return _total(items, len(items) if function == "avg" else None)


def _belonging(function: str, pairs: list[tuple[Term, Term]]) -> Term | None:
    """The term beside the least or greatest number; NaN beats all, then terms by their order."""
    if not all(_is_number(by) for _, by in pairs):
        return None
    amounts = [_amount(by) for _, by in pairs]
    undefined = [amount != amount for amount in amounts]
    chosen = min(amounts) if function == "argmin" else max(amounts)
    fits = undefined if any(undefined) else [amount == chosen for amount in amounts]
    terms = [term for (term, _), fit in zip(pairs, fits, strict=True) if fit]
    return min(terms, key=rank_of)


def _concatenated(terms: list[Term], separator: str) -> Term | None:
    if not all(isinstance(t, Literal) and (t.language or _type(t) == "string") for t in terms):
        return None
    tags = {term.language for term in terms}  # type: ignore[union-attr]
    text = separator.join(sorted(term.value for term in terms))  # type: ignore[union-attr]
    tag = tags.pop() if len(tags) == 1 else None
    return Literal(text, language=tag) if tag else Literal(text)


def _deviation(items: list[Term]) -> Literal | None:
    """The standard deviation of a sample, by its definition."""
    if len(items) < 2 or not all(_is_number(item) for item in items):
        return None
    amounts = [_amount(item) for item in items]
    if any(amount != amount or abs(amount) == float("inf") for amount in amounts):
        return _scientific("NaN", "double")
    exact = [Fraction(amount) for amount in amounts]
    mean = sum(exact) / len(exact)
    variance = sum((each - mean) ** 2 for each in exact) / (len(exact) - 1)
    digits = Context(prec=100)
    root = digits.sqrt(digits.divide(Decimal(variance.numerator), Decimal(variance.denominator)))
    return _scientific(repr(float(root)), "double")


def _at_percentage(items: list[Term], percent: Fraction) -> Term | None:
    """The least number that at least so many of a hundred are not above."""
    if not all(_is_number(item) for item in items):
        return None
    undefined = [item for item in items if _amount(item) != _amount(item)]
    if undefined:
        return _total(undefined[:1], None)
    ordered = sorted(items, key=_amount)
    for number, item in enumerate(ordered, 1):
        if number * 100 >= percent * len(ordered):
            return _total([item], None)
    raise AssertionError("the last number has all of them below")


def _extreme(function: str, items: list[Term]) -> Literal | None:
    """The narrowest of the least or greatest, as canonical literal; NaN beats all."""
    amounts = [_amount(item) for item in items]
    undefined = [item for item, amount in zip(items, amounts, strict=True) if amount != amount]
    chosen = min(amounts) if function == "min" else max(amounts)
    return _total(undefined[:1] or [items[amounts.index(chosen)]], None)


def _total(items: list[Term], divisor: int | None) -> Literal | None:
    """The exact sum, divided for an average, and only then rounded to the widest kind."""
    kind = KINDS[max(_rank(item) for item in items)]
    amounts = [_amount(item) for item in items]
    if any(isinstance(amount, float) for amount in amounts):
        total = sum(amount for amount in amounts if isinstance(amount, float))
        return _scientific(repr(total), kind)
    exact = sum((Fraction(amount) for amount in amounts), Fraction(0))
    if kind in INEXACT:
        rounded = typed(repr(float(exact / (divisor or 1))), kind)
        return arithmetic("+", rounded, _number(Fraction(0), "integer"))
    if divisor is None:
        return _number(exact, kind)
    return _exact_arithmetic("/", exact, Fraction(divisor), integral=False)


def _holds(operator: str, left: Fraction, right: Fraction) -> bool:
    return {
        "=": left == right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[operator]


def _type(term: Term | None) -> str:
    """The local name of an xsd datatype, or nothing."""
    if not isinstance(term, Literal) or not term.datatype.value.startswith(XSD):
        return ""
    return term.datatype.value[len(XSD) :]


def _rank(term: Term) -> int:
    """How wide the kind of a number is; what is no number has rank 0 as well."""
    kind = _type(term)
    return KINDS.index(kind) if kind in KINDS else 0


def _amount(term: Term) -> Fraction | float:
    """The value of a number: exact where it is finite."""
    exact = _exact(term)
    if exact is not None:
        return exact
    text: str = term.value  # type: ignore[union-attr]
    if text.lstrip("+-") in ("INF", "NaN"):
        return float(text.replace("INF", "inf"))
    amount = float(text)
    if _type(term) == "float":
        (amount,) = struct.unpack("f", struct.pack("f", amount))
    return Fraction(amount)


def _is_number(term: Term | None) -> bool:
    if _exact(term) is not None:
        return True
    return _type(term) in INEXACT and _ask("=", term, term) is not None


def _exact(term: Term | None) -> Fraction | None:
    """The value of an integer or decimal in the form that xsd allows."""
    kind = _type(term)
    if kind not in INTEGERS and kind != "decimal":
        return None
    text = term.value.lstrip("+-")  # type: ignore[union-attr]
    allowed = text.replace(".", "", 1) if kind == "decimal" else text
    if not (allowed.isascii() and allowed.isdigit()) or len(term.value) - len(text) > 1:  # type: ignore[union-attr]
        return None
    return Fraction(Decimal(term.value))  # type: ignore[union-attr]


def _boolean(term: Term) -> Fraction | None:
    known = {"true": 1, "1": 1, "false": 0, "0": 0}
    if _type(term) != "boolean" or term.value not in known:  # type: ignore[union-attr]
        return None
    return Fraction(known[term.value])  # type: ignore[union-attr]


def _within_range(term: Term | None, beside: Term | None) -> Term | None:
    """A number that pyoxigraph cannot hold exactly is rounded to the kind beside it."""
    exact = _exact(term)
    if exact is None or (abs(exact) < 2**63 and (exact * 10**18).denominator == 1):
        return term
    return typed(repr(float(exact)), "float" if _type(beside) == "float" else "double")


def _has_value(term: Term | None) -> bool:
    """Whether SPARQL knows what a literal stands for, and so that it is not some string."""
    return isinstance(term, Literal) and _ask("=", term, Literal("no such string")) is not None


def _exact_arithmetic(
    operator: str, left: Fraction, right: Fraction, integral: bool
) -> Literal | None:
    kind = "integer" if integral else "decimal"
    if operator != "/":
        result = {"+": left + right, "-": left - right, "*": left * right}[operator]
        return _number(result, kind)
    if right == 0:
        return None
    quotient = left / right
    rounded = DIVISION.divide(Decimal(quotient.numerator), Decimal(quotient.denominator))
    return _number(Fraction(rounded), kind)


def _number(value: Fraction, kind: str) -> Literal:
    """The canonical form: no sign on zero, no zeros at the ends, no point on a whole number."""
    digits, places = value.numerator, 0
    while value.denominator != 1:
        value, places = value * 10, places + 1
        digits = value.numerator
    text = str(abs(digits)).rjust(places + 1, "0")
    whole, part = text[: len(text) - places], text[len(text) - places :]
    sign = "-" if digits < 0 else ""
    return typed(sign + whole + (f".{part}" if part else ""), kind)


def _scientific(text: str, kind: str) -> Literal:
    """The canonical form of a float or double: one digit, a point, digits, E, exponent."""
    text = {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(text, text)
    if text in ("INF", "-INF", "NaN"):
        return typed(text, kind)
    sign, digits, exponent = Decimal(text).normalize().as_tuple()
    first, *others = map(str, digits)
    power = int(exponent) + len(others) if any(digits) else 0
    return typed(f"{'-' * sign}{first}.{''.join(others) or '0'}E{power}", kind)


def typed(text: str, kind: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + kind))


@lru_cache(maxsize=200_000)
def _ask(operator: str, left: Term | None, right: Term | None) -> Term | None:
    """What SPARQL says of `left operator right`."""
    for side in (left, right):
        if not isinstance(side, NamedNode | Literal | Triple | BlankNode):
            return None
    if isinstance(left, BlankNode) or isinstance(right, BlankNode):
        return _of_blank_nodes(operator, left, right)
    rows = NOTHING.query(f"SELECT (({left} {operator} {right}) AS ?value) {{}}")
    assert isinstance(rows, QuerySolutions)
    answer: Term | None = next(iter(rows))["value"]
    return answer


def _of_blank_nodes(operator: str, left: Term | None, right: Term | None) -> Term | None:
    if operator not in ("=", "!="):
        return None
    return TRUE if (left == right) is (operator == "=") else None
