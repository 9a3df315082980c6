"""Large integers: what pyoxigraph, which has 64 bits for an integer, cannot compute or compare.

An xsd:integer of SPARQL has any length.  Calculations and comparisons in which such a number is
an operand, or the result, are carried out here, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyoxigraph import Literal

from livefacts.language.expressions import Call, Constant, QueryExpression, rewritten
from livefacts.language.formula import Variable
from livefacts.model.facts import Term
from livefacts.model.numbers import Number, calculate, compare_numbers, literal_of
from livefacts.model.values import value_of

CALCULATIONS = frozenset("+-*/")
COMPARISONS = frozenset(["=", "!=", "<", "<=", ">", ">="])
EXACT = CALCULATIONS | COMPARISONS | {"u-", "isNUMERIC"}
SMALL = range(-(2**63), 2**63)
SHORT = 9
"""The digits of integers of which any two can be multiplied."""
ZERO = Literal(0)


def is_long(term: object) -> bool:
    """Whether a term may be an integer that becomes large when something is done with it."""
    return isinstance(term, Literal) and len(term.value) > SHORT and _is_whole(value_of(term))


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
    numbers = [value for value in values if isinstance(value, Number) and value.kind.is_exact]
    if len(numbers) < len(values):
        return None
    if name == "isNUMERIC":
        return Literal(True)
    if name in COMPARISONS:
        return Literal(compare_numbers(name, *numbers))
    found = calculate(name, *numbers) if name in CALCULATIONS else None
    return None if found is None else literal_of(found)


def is_large(term: object) -> bool:
    """Whether a term is an integer of more than 64 bits."""
    value = value_of(term) if isinstance(term, Literal) else None
    amount = value.amount if isinstance(value, Number) else 0
    return isinstance(amount, int) and amount not in SMALL


def _is_whole(value: object) -> bool:
    return isinstance(value, Number) and isinstance(value.amount, int)


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
