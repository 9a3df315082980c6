"""Arithmetic in recursion: rules that could go on making new numbers forever, and are refused.

Facts are finite, so only a rule that feeds itself can make numbers without end: one
that computes a number in its head from its own conclusions, be it through other rules.
Such a rule is accepted when it moves the number by fixed steps and a constant bound lies
ahead in that direction:

    count(?m) :- count(?n), ?m = ?n + 1, ?m <= 100 .

Several such rules together come to an end, too: their numbers lie on a grid, between
the numbers of the facts and the bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

from pyoxigraph import Literal

from livefacts.errors import Place, UnboundedArithmeticError
from livefacts.language.formula import (
    Aggregate,
    Arithmetic,
    Atom,
    Comparison,
    Expression,
    Formula,
    FunctionCall,
    PredicateAtom,
    Timed,
    TripleAtom,
    Variable,
    variables_of,
)
from livefacts.language.program import Rule
from livefacts.model.namespaces import XSD

NUMBERS = frozenset(XSD + name for name in ("integer", "decimal", "double", "float"))
BOUNDS = {"<": 1, "<=": 1, ">": -1, ">=": -1}
"""The direction in which what stands left of the comparison may not go on."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Values of a variable that the rule feeds itself, moved by a fixed step."""

    base: Variable
    step: Decimal


FINITE = "finite"
"""Values of which there are finitely many, whatever the rule concludes."""
ANY = "any"
"""Values that the rule can make new ones of."""

Reach: TypeAlias = Moved | str


def check_arithmetic(rule: Rule, recursive_atoms: Sequence[Atom]) -> None:
    """Refuse the rule if its numbers could run away through these atoms of its body."""
    if rule.head is None or not recursive_atoms:
        return
    values = _Values(rule.body, recursive_atoms)
    for variable in dict.fromkeys(variables_of(rule.head)):
        reach = values.of(variable)
        if reach == ANY or (isinstance(reach, Moved) and not values.is_bounded(reach)):
            raise UnboundedArithmeticError(
                f"{variable} is computed from this rule's own conclusions, "
                "which could go on forever",
                place=values.place(variable, rule.place),
                hint="move the number by a fixed step towards a bound (?m = ?n + 1, ?m <= 100), "
                "or set a limit for the whole program: @limit 1000000 .",
            )


class _Values:
    """What the variables of one body can range over."""

    def __init__(self, body: Sequence[Formula], recursive_atoms: Sequence[Atom]) -> None:
        self.comparisons = [formula for formula in body if isinstance(formula, Comparison)]
        self.known: dict[Variable, Reach] = {}
        for formula in body:
            if isinstance(formula, Aggregate):
                self.known |= dict.fromkeys(variables_of(formula), FINITE)
                continue
            atom = formula
            if isinstance(formula, Timed):
                atom = formula.atom
                if isinstance(formula.time, Variable):  # a time point of a window
                    self.known[formula.time] = FINITE
            if isinstance(atom, TripleAtom | PredicateAtom):
                for variable in variables_of(atom):
                    if atom not in recursive_atoms:
                        self.known[variable] = FINITE
                    else:
                        self.known.setdefault(variable, Moved(variable, Decimal(0)))

    def of(self, expression: Expression) -> Reach:
        match expression:
            case Variable():
                return self._variable(expression)
            case Arithmetic():
                return self._arithmetic(expression)
            case FunctionCall("value", argument):
                return self.of(argument)
            case _:
                return FINITE

    def _variable(self, variable: Variable) -> Reach:
        if variable not in self.known:
            self.known[variable] = ANY  # so that equations in a circle prove nothing
            ways = [self.of(other) for other, _ in self._equations(variable)]
            self.known[variable] = min(ways, key=_freedom, default=ANY)
        return self.known[variable]

    def _arithmetic(self, expression: Arithmetic) -> Reach:
        left, right = self.of(expression.left), self.of(expression.right)
        if left == FINITE and right == FINITE:
            return FINITE
        if expression.operator == "+" and isinstance(right, Moved):
            left, right = right, left
            step = _number(expression.left)
        else:
            step = _number(expression.right)
        if not isinstance(left, Moved) or step is None or expression.operator not in "+-":
            return ANY
        return Moved(left.base, left.step + (step if expression.operator == "+" else -step))

    def _equations(self, variable: Variable) -> Iterator[tuple[Expression, Place]]:
        for comparison in self.comparisons:
            if comparison.operator == "=":
                if comparison.left == variable:
                    yield comparison.right, comparison.place
                elif comparison.right == variable:
                    yield comparison.left, comparison.place

    def is_bounded(self, moved: Moved) -> bool:
        """Whether a constant bound stops the movement, at its start, its end or on the way."""
        direction = (moved.step > 0) - (moved.step < 0)
        return not direction or any(
            BOUNDS.get(comparison.operator, 0) * side == direction
            and _number(bound) is not None
            and isinstance(reach := self.of(value), Moved)
            and reach.base == moved.base
            for comparison in self.comparisons
            for side, value, bound in (
                (1, comparison.left, comparison.right),
                (-1, comparison.right, comparison.left),
            )
        )

    def place(self, variable: Variable, otherwise: Place) -> Place:
        """Where the variable is computed."""
        places = (place for _, place in self._equations(variable))
        return next((place for place in places if place.line), otherwise)


def _freedom(reach: Reach) -> int:
    return 0 if reach == FINITE else 1 if isinstance(reach, Moved) else 2


def _number(expression: Expression) -> Decimal | None:
    """The number that a constant is, if it is a finite one."""
    if not isinstance(expression, Literal) or expression.datatype.value not in NUMBERS:
        return None
    try:
        number = Decimal(expression.value)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
