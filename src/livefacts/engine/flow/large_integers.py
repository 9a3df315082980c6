"""Large numbers: what pyoxigraph, which has 64 bits for an integer, cannot compute or compare.

An xsd:integer of SPARQL has any length, and so has an xsd:decimal.  Calculations, comparisons and
functions of numbers in which such a number is an operand, or the result, are carried out here:
exactly, or in doubles where one of them is a double.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from pyoxigraph import Literal

from livefacts.language.expressions import Call, Constant, QueryExpression, rewritten
from livefacts.language.formula import Variable
from livefacts.model.facts import Term
from livefacts.model.numbers import (
    DATATYPES,
    Exact,
    Number,
    NumberKind,
    calculate,
    compare_numbers,
    decimal_of,
    literal_of,
    nearest_double,
    nearest_single,
)
from livefacts.model.values import value_of

CALCULATIONS = frozenset("+-*/")
COMPARISONS = frozenset(["=", "!=", "<", "<=", ">", ">="])
ROUNDINGS: dict[str, Callable[[Exact], Exact]] = {
    "ABS": lambda amount: max(amount, -amount),
    "CEIL": math.ceil,
    "FLOOR": math.floor,
    "ROUND": lambda amount: math.floor(Fraction(amount) + Fraction(1, 2)),
}
CASTS = {f"<{datatype.value}>": kind for kind, datatype in DATATYPES.items()}
EXACT = CALCULATIONS | COMPARISONS | {"u-", "isNUMERIC", *ROUNDINGS, *CASTS}
SMALL = range(-(2**63), 2**63)
WHOLE_DIGITS = 10**20
"""Decimals from here on are too large for pyoxigraph, too."""
SHORT = 9
"""The digits of integers of which any two can be multiplied."""
ZERO = Literal(0)


def is_long(term: object) -> bool:
    """Whether a term may be a number that becomes large when something is done with it."""
    return isinstance(term, Literal) and len(term.value) > SHORT and _is_exact(value_of(term))


def answer_of(name: str, terms: Sequence[Term]) -> Literal | None:
    """What a call gives if a large integer has to do with it; None if not, or if it is an error.

    >>> answer_of("*", [Literal(2**40), Literal(2**40)]).value
    '1208925819614629174706176'
    """
    answer = _exact_answer(name, terms)
    return answer if any(map(is_large, (*terms, answer))) else None


def _exact_answer(name: str, terms: Sequence[Term]) -> Literal | None:
    """What a call gives for exact numbers; None if it is no calculation or comparison of them."""
    if name == "u-":
        return _exact_answer("-", [ZERO, *terms])
    values = [value_of(term) for term in terms]
    numbers = [value for value in values if isinstance(value, Number)]
    if len(numbers) < len(values) or not (any(map(_is_beyond, numbers)) or _are_exact(numbers)):
        return None
    if name == "isNUMERIC":
        return Literal(True)
    if name in COMPARISONS:
        return Literal(compare_numbers(name, *numbers))
    if name in CALCULATIONS:
        found = calculate(name, *numbers)
        return None if found is None else _literal(found)
    return _function_of(name, *numbers)


def _function_of(name: str, number: Number) -> Literal | None:
    """What a function of one number gives."""
    amount = number.amount
    if isinstance(amount, float):
        return None
    if name in ROUNDINGS:
        rounded = ROUNDINGS[name](amount)
        return _literal(Number(number.kind, _as_kind(number.kind, rounded)))
    kind = CASTS.get(name)
    return None if kind is None else _literal(Number(kind, _as_kind(kind, amount)))


def _literal(number: Number) -> Literal:
    """The literal of a number; doubles are written as pyoxigraph writes those that it computes."""
    literal = literal_of(number)
    if number.kind.is_exact:
        return literal
    return Literal(Literal(float(literal.value)).value, datatype=literal.datatype)


def ordered_alike(terms: Sequence[Term]) -> tuple[list[Term], list[int]]:
    """Terms in the same order, as far as doubles tell, and the places of large ones among these."""
    large = {term: value_of(term) for term in terms if is_large(term)}
    amounts = {term: value.amount for term, value in large.items() if isinstance(value, Number)}
    ranks = {amount: rank for rank, amount in enumerate(sorted(set(amounts.values())), 1)}
    doubles = {term: Literal(nearest_double(amount)) for term, amount in amounts.items()}
    places = [ranks[amounts[term]] if term in amounts else 0 for term in terms]
    return [doubles.get(term, term) for term in terms], places


def _as_kind(kind: NumberKind, amount: Exact) -> int | Decimal | float:
    """An exact amount as one of another kind; an integer is what stands before the point."""
    if kind == NumberKind.INTEGER:
        return int(amount)
    if kind == NumberKind.DECIMAL:
        return amount if isinstance(amount, Decimal) else decimal_of(int(amount))
    return nearest_double(amount) if kind == NumberKind.DOUBLE else nearest_single(amount)


def is_large(term: object) -> bool:
    """Whether a term is a number that pyoxigraph cannot hold."""
    value = value_of(term) if isinstance(term, Literal) else None
    return isinstance(value, Number) and _is_beyond(value)


def _is_beyond(number: Number) -> bool:
    amount = number.amount
    if isinstance(amount, int):
        return amount not in SMALL
    return isinstance(amount, Decimal) and abs(amount) >= WHOLE_DIGITS


def _are_exact(numbers: Sequence[Number]) -> bool:
    return all(number.kind.is_exact for number in numbers)


def _is_exact(value: object) -> bool:
    return isinstance(value, Number) and value.kind.is_exact


def folded(
    expression: QueryExpression, values: Mapping[Variable, Term], ask: Callable[[Call], Term | None]
) -> QueryExpression:
    """The expression for one row, with exact answers, if large integers have to do with it.

    `ask` says what any other call gives for the row.
    """
    has_large = False

    def term_of(part: QueryExpression) -> Term | None:
        if isinstance(part, Call):
            return ask(part)
        return part.term if isinstance(part, Constant) else values.get(part)  # type: ignore[arg-type]

    def fold(part: QueryExpression) -> QueryExpression | None:
        nonlocal has_large
        if not isinstance(part, Call):
            return None
        if part.name in ("IN", "NOT IN") and len(part.arguments) > 1:
            wanted, *listed = part.arguments
            equal = [rewritten(Call("=", (wanted, each)), fold) for each in listed]
            among = equal[0] if len(equal) == 1 else Call("||", tuple(equal))
            return among if part.name == "IN" else Call("!", (among,))
        arguments = tuple(rewritten(each, fold) for each in part.arguments)
        if part.name not in EXACT:
            return Call(part.name, arguments)
        terms = [term for each in arguments if (term := term_of(each)) is not None]
        answer = _exact_answer(part.name, terms) if len(terms) == len(arguments) else None
        has_large = has_large or any(map(is_large, (*terms, answer)))
        return Call(part.name, arguments) if answer is None else Constant(answer)

    found = rewritten(expression, fold)
    return found if has_large else expression


def may_become_large(expression: QueryExpression) -> bool:
    """Whether an expression makes large integers of short ones, or has long ones itself."""
    products = 0

    def look(part: QueryExpression) -> None:
        nonlocal products
        if isinstance(part, Constant):
            products += 2 * is_long(part.term)
        products += isinstance(part, Call) and part.name == "*"

    rewritten(expression, look)
    return products > 1
