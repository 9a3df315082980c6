"""The oracle's values: what comparisons, arithmetic and aggregates give.

Integers and decimals are Python fractions, so that nothing overflows; everything else is
asked of pyoxigraph as a one-line SPARQL query, and remembered.  An error is None.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from livefacts.model.facts import Symbol, Term
from pyoxigraph import BlankNode, Literal, NamedNode, QuerySolutions, Store, Triple

XSD = "http://www.w3.org/2001/XMLSchema#"
INTEGERS = frozenset(
    "integer long int short byte nonNegativeInteger positiveInteger nonPositiveInteger "
    "negativeInteger unsignedLong unsignedInt unsignedShort unsignedByte".split()
)
INEXACT = frozenset({"float", "double"})
TRUE = Literal("true", datatype=NamedNode(XSD + "boolean"))
DIVISION = Context(prec=28, rounding=ROUND_HALF_EVEN)
NOTHING = Store()


def compare(operator: str, left: Term | None, right: Term | None) -> bool:
    """Whether the comparison holds between values; an error is false."""
    if left is None or right is None:
        return False
    if isinstance(left, Symbol) or isinstance(right, Symbol):
        return (left == right) is (operator == "=") and operator in ("=", "!=")
    exact = _exact(left), _exact(right)
    if exact[0] is not None and exact[1] is not None:
        return _holds(operator, *exact)
    booleans = _boolean(left), _boolean(right)
    if booleans[0] is not None and booleans[1] is not None:
        return _holds(operator, *booleans)
    return _ask(operator, _within_range(left), _within_range(right)) == TRUE


def arithmetic(operator: str, left: Term | None, right: Term | None) -> Literal | None:
    """The canonical literal of a sum, difference, product or quotient of two numbers."""
    if not _is_number(left) or not _is_number(right):
        return None
    exact = _exact(left), _exact(right)
    if exact[0] is not None and exact[1] is not None:
        integral = _type(left) in INTEGERS and _type(right) in INTEGERS
        return _exact_arithmetic(operator, *exact, integral and operator != "/")
    result = _ask(operator, _within_range(left), _within_range(right))
    return _canonical(result) if isinstance(result, Literal) else None


def datatype(term: Term | None) -> NamedNode | None:
    """The datatype of a literal."""
    return term.datatype if isinstance(term, Literal) else None


def aggregate(function: str, terms: Iterable[Term]) -> Term | None:
    """`count`, `sum`, `min`, `max` or `avg` of at least one term, repeats counted."""
    items = sorted(terms, key=str)
    if function == "count":
        return _number(Fraction(len(items)), "integer")
    if not all(_is_number(item) for item in items):
        return None
    total: Term | None = items[0]
    for item in items[1:]:
        if function in ("sum", "avg"):
            total = arithmetic("+", total, item)
        elif compare("<" if function == "min" else ">", item, total):
            total = item
    if function == "avg":
        return arithmetic("/", total, _number(Fraction(len(items)), "integer"))
    return arithmetic("+", total, _number(Fraction(0), "integer"))


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


def _within_range(term: Term | None) -> Term | None:
    """A number that pyoxigraph cannot hold exactly becomes the nearest double."""
    exact = _exact(term)
    if exact is None or (abs(exact) < 2**63 and (exact * 10**18).denominator == 1):
        return term
    return Literal(repr(float(exact)), datatype=NamedNode(XSD + "double"))


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
    return Literal(sign + whole + (f".{part}" if part else ""), datatype=NamedNode(XSD + kind))


def _canonical(number: Literal) -> Literal:
    return number


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
