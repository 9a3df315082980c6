"""Safety and all other checks of a program: whether its rules make sense, each and together.

A program that passes has one meaning and comes to an end: every variable gets its
values from facts, every predicate has one number of arguments, nothing depends on its
own negation, and no rule counts upward forever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeGuard

from livefacts.errors import ArityError, Place, RuleError, UnsafeVariableError
from livefacts.language.checks.arithmetic import check_arithmetic
from livefacts.language.checks.strata import Strata
from livefacts.language.checks.strata_change import Restratifier
from livefacts.language.formula import (
    NOWHERE,
    Aggregate,
    Atom,
    Comparison,
    Expression,
    Formula,
    Negation,
    PredicateAtom,
    Timed,
    TripleAtom,
    Variable,
    variables_of,
)
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact

EMPTY = Program()
MOST_ATOMS = 300
"""Atoms of one body, negated ones included."""


def check(
    program: Program, checked: Program = EMPTY, restratifier: Restratifier | None = None
) -> Strata:
    """Raise the `RuleError` that says what is wrong with the program, if anything is.

    `checked` is a program that has passed: what it has in common is not looked at again.  The
    strata that were found are returned; a restratifier finds those of a changed program faster.
    """
    known = set(map(id, checked.rules))
    new = [rule for rule in program.rules if id(rule) not in known]
    if program.facts != checked.facts or any(map(_has_predicates, new)):
        check_arities(program)
    for rule in new:
        check_length(rule)
        check_variables(rule)
    restratifier = restratifier or Restratifier()
    strata = restratifier.strata(program.rules)
    if program.limit is None and not _is_arithmetic_in_order(strata):
        strata = restratifier.anew(program.rules)
        for rule in program.rules:
            check_arithmetic(rule, strata.recursive_atoms(rule))
    return strata


def check_length(rule: Rule) -> None:
    """Refuse a body that would take longer to plan than anyone waits: a plan for each atom."""
    count = sum(isinstance(formula, Atom | Negation) for formula in rule.body)
    if count > MOST_ATOMS:
        raise RuleError(
            f"the body has {count:,} atoms; {MOST_ATOMS} are allowed",
            place=rule.place,
            hint="put parts of it into rules of their own",
        )


def _is_arithmetic_in_order(strata: Strata) -> bool:
    try:
        for rule in strata.recursive_rules:
            check_arithmetic(rule, strata.recursive_atoms(rule))
    except RuleError:
        return False
    return True


class Arities:
    """How many arguments each predicate was seen with, and where first."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[int, Place]] = {}

    def agree(self, name: str, arity: int) -> bool:
        """Whether the predicate was seen before, with this number of arguments."""
        return name in self._first and self._first[name][0] == arity

    def use(self, name: str, arity: int, place: Place) -> None:
        """A predicate stands here with so many arguments; raise if it had another number."""
        known, there = self._first.setdefault(name, (arity, place))
        if known != arity:
            raise ArityError(
                f"{name} has {arguments(arity)} here and {arguments(known)} {_where(there)}",
                place=place if place.line else None,
                hint="give one of the two another name",
            )


def check_arities(program: Program) -> None:
    """Every predicate has the same number of arguments wherever it stands."""
    arities = Arities()
    for rule in program.rules:
        for atom in all_atoms(rule):
            if isinstance(atom, PredicateAtom):
                arities.use(atom.name, len(atom.arguments), atom.place)
    for fact in program.facts:
        if isinstance(fact, Fact):
            arities.use(fact.name, len(fact.arguments), NOWHERE)


def first_atoms(rules: Iterable[Rule]) -> dict[str, PredicateAtom]:
    """Where each predicate of the rules stands first."""
    found: dict[str, PredicateAtom] = {}
    for rule in rules:
        for atom in all_atoms(rule):
            if isinstance(atom, PredicateAtom):
                found.setdefault(atom.name, atom)
    return found


def _has_predicates(rule: Rule) -> bool:
    return any(isinstance(atom, PredicateAtom) for atom in all_atoms(rule))


def all_atoms(rule: Rule) -> Iterator[Atom]:
    """The atoms of a rule, wherever they stand in it."""
    waiting: list[Formula] = [*([rule.head] if rule.head else []), *rule.body]
    for formula in waiting:
        match formula:
            case TripleAtom() | PredicateAtom():
                yield formula
            case Negation(atom) | Timed(atom=atom):
                yield atom
            case Aggregate(body=inner):
                waiting.extend(inner)


def arguments(arity: int) -> str:
    """So many arguments, in words."""
    return f"{arity or 'no'} argument{'s' if arity != 1 else ''}"


def _where(place: Place) -> str:
    return f"at {place}" if place.line else "in a fact"


def check_variables(rule: Rule) -> None:
    """Every variable gets its values from a positive atom, an aggregate or an `=`."""
    bound = bound_variables(rule.body, _given_by_aggregates(rule))
    for formula in rule.body:
        if isinstance(formula, Aggregate):
            _check_braces(formula)
        elif _is_test(formula):
            _require(formula, bound)
    if rule.head is not None:
        for variable in _head_variables(rule):
            if variable not in bound:
                raise UnsafeVariableError(
                    f"{variable} is in the head but in no positive body atom",
                    place=_place(variable, rule.place),
                    hint=f"bind {variable} in the body, or drop it from the head",
                )


def _head_variables(rule: Rule) -> Iterator[Variable]:
    assert rule.head is not None
    yield from variables_of(rule.head)
    if rule.at is not None:
        yield from variables_of(rule.at)


def _is_test(formula: Formula) -> TypeGuard[Negation | Comparison | Timed]:
    """Whether the formula needs values and gives none."""
    if isinstance(formula, Timed):
        return formula.negated or formula.denied
    return isinstance(formula, Negation | Comparison)


def bound_variables(body: Iterable[Formula], given: Iterable[Variable] = ()) -> set[Variable]:
    """The variables that have a value once the atoms of the body are matched.

    The order of the body does not matter: an `=` with a variable alone on one side binds
    it as soon as the other side has a value.
    """
    bound = set(given)
    equations: list[tuple[Variable, Expression]] = []
    for formula in body:
        if isinstance(formula, TripleAtom | PredicateAtom):
            bound.update(variables_of(formula))
        elif isinstance(formula, Timed) and not formula.denied:
            bound.update(_given_by_time(formula))
        elif isinstance(formula, Comparison) and formula.operator == "=":
            equations += equations_of(formula)
    while True:
        new = {
            v for v, other in equations if v not in bound and bound.issuperset(variables_of(other))
        }
        if not new:
            return bound
        bound |= new


def _given_by_time(formula: Timed) -> Iterator[Variable]:
    """What a timed formula binds; `at ?t not a` goes through the time points of its window."""
    if not formula.negated:
        yield from variables_of(formula.atom)
    if isinstance(formula.time, Variable):
        yield formula.time


def equations_of(comparison: Comparison) -> list[tuple[Variable, Expression]]:
    """The ways in which an `=` can give a variable its value."""
    sides = (comparison.left, comparison.right), (comparison.right, comparison.left)
    return [(side, other) for side, other in sides if isinstance(side, Variable)]


def _given_by_aggregates(rule: Rule) -> set[Variable]:
    given = set()
    for formula in rule.body:
        if isinstance(formula, Aggregate):
            given |= {formula.result, *rule.groups_of(formula)}
    return given


def _check_braces(aggregate: Aggregate) -> None:
    inside = {v for formula in aggregate.body for v in variables_of(formula)}
    if aggregate.result in inside | set(aggregate.listed):
        raise UnsafeVariableError(
            f"{aggregate.result} is the result of this aggregate and stands inside it, too",
            place=_place(aggregate.result, aggregate.place),
            hint="give the result a name of its own",
        )
    bound = bound_variables(aggregate.body)
    for formula in aggregate.body:
        if _is_test(formula):
            _require(formula, bound, " inside these braces")
    for variable in aggregate.listed:
        if variable not in bound:
            raise UnsafeVariableError(
                f"{variable} is listed, but no positive atom inside the braces binds it",
                place=_place(variable, aggregate.place),
                hint=f"add an atom with {variable} behind the colon",
            )


def _require(formula: Negation | Comparison | Timed, bound: set[Variable], where: str = "") -> None:
    for variable in variables_of(formula):
        if variable not in bound:
            what, hint = _unbound(formula, variable)
            raise UnsafeVariableError(
                f"{variable} is {what} but in no positive atom{where}",
                place=_place(variable, formula.place),
                hint=hint,
            )


def _unbound(formula: Negation | Comparison | Timed, variable: Variable) -> tuple[str, str]:
    if isinstance(formula, Comparison):
        return "compared", f"add an atom that binds {variable}"
    name = formula.atom.name if isinstance(formula.atom, PredicateAtom) else "one"
    return "negated", (
        f"add an atom that binds {variable}; to say that there is none at all, make a predicate "
        f"without {variable} (has_{name}(…) :- …) and negate that one (not has_{name}(…))"
    )


def _place(variable: Variable, otherwise: Place) -> Place:
    return variable.place if variable.place.line else otherwise
