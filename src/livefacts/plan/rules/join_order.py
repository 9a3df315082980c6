"""The join order: which atom is matched next, and how early a test can be made.

Tests come as soon as their variables are bound.  An atom that is bound altogether is as good as
a test; among others, the one with the most bound columns comes first.  Ties keep the order of
the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import count

from livefacts.language.formula import (
    Arithmetic,
    Atom,
    Comparison,
    Expression,
    Formula,
    FunctionCall,
    Negation,
    PredicateAtom,
    Slot,
    TripleAtom,
    Variable,
    variables_of,
)
from livefacts.language.program import Rule
from livefacts.model.work_bounds import look
from livefacts.plan.rules.normal_form import positive_atoms
from livefacts.plan.rules.operators import AntiJoin, Bind, Scan, Step, Test

COPY = "copy"
SAME = "is"
"""The same term, where `=` would compare values."""


def ordered_steps(rule: Rule, pivot: int) -> tuple[Step, ...]:
    """The steps that complete a rule from its positive atom number `pivot`."""
    look()
    atoms = positive_atoms(rule)
    waiting = [number for number in range(len(atoms)) if number != pivot]
    return _completed(rule, set(variables_of(atoms[pivot])), waiting, _Checks(rule), pivot)


def negative_steps(rule: Rule, pivot: int) -> tuple[Atom, tuple[Step, ...]]:
    """A fact pattern for negation number `pivot` of a rule, and the steps that complete it.

    What an equation binds is computed as everywhere, and must be the same term as in the
    pivot: 1 and "01" are equal values, but a fact about one is not a fact about the other.
    """
    negations = [f for f in rule.body if isinstance(f, Negation)]
    return _steps_from(rule, negations[pivot].atom, _Checks(rule, negated_pivot=pivot))


def backward_steps(rule: Rule) -> tuple[Atom, tuple[Step, ...]]:
    """A fact pattern for the head of a rule, and the steps that find what derives such a fact."""
    assert rule.head is not None
    return _steps_from(rule, rule.head, _Checks(rule))


def _steps_from(rule: Rule, atom: Atom, checks: _Checks) -> tuple[Atom, tuple[Step, ...]]:
    """A pattern for an atom that binds nothing by itself, and the steps that complete it."""
    by_atoms = {v for a in positive_atoms(rule) for v in variables_of(a)}
    computed = dict.fromkeys(v for v in variables_of(atom) if v not in by_atoms)
    aside = {v: Variable(f":pivot:{v.name}") for v in computed}
    pattern = _with_variables(atom, aside)
    every = list(range(len(positive_atoms(rule))))
    steps = _completed(rule, set(variables_of(pattern)), every, checks)
    return pattern, (*steps, *(Test(SAME, aside[v], v) for v in computed))


def _with_variables(atom: Atom, names: dict[Variable, Variable]) -> Atom:
    def renamed(slot: Slot) -> Slot:
        return names.get(slot, slot) if isinstance(slot, Variable) else slot

    if isinstance(atom, TripleAtom):
        return TripleAtom(renamed(atom.subject), renamed(atom.predicate), renamed(atom.object))
    return PredicateAtom(atom.name, tuple(map(renamed, atom.arguments)))


def _completed(
    rule: Rule, bound: set[Variable], waiting: list[int], checks: _Checks, pivot: int = 0
) -> tuple[Step, ...]:
    """Match the waiting atoms in a good order, and make each check as early as can be."""
    atoms = positive_atoms(rule)
    steps = list(checks.ready(bound))
    queue = _AtomQueue(atoms, waiting, bound)
    for _ in waiting:
        number = queue.take()
        steps.append(Scan(atoms[number], before=number < pivot))
        known = set(bound) if checks.waiting else bound
        new = [v for v in variables_of(atoms[number]) if v not in bound]
        bound.update(new)
        steps.extend(checks.ready(bound))
        queue.bind(new if known is bound else bound - known)
    assert not checks.waiting, f"safety was checked before: {checks.waiting}"
    return tuple(steps)


class _AtomQueue:
    """Atoms that wait to be matched: first those with all columns bound, then those with most."""

    def __init__(self, atoms: Sequence[Atom], waiting: list[int], bound: set[Variable]) -> None:
        self._widths = {n: len(atoms[n].slots) for n in waiting}
        self._columns = {n: _columns(atoms[n], bound) for n in waiting}
        self._users: dict[Variable, list[int]] = {}
        for n in waiting:
            for slot in atoms[n].slots:
                if isinstance(slot, Variable):
                    self._users.setdefault(slot, []).append(n)
        self._heap = [self._entry(n) for n in waiting]
        heapify(self._heap)

    def _entry(self, number: int) -> tuple[bool, int, int]:
        columns = self._columns[number]
        return columns != self._widths[number], -columns, number

    def take(self) -> int:
        """The atom that comes next; entries from before a column was bound are passed over."""
        while True:
            entry = heappop(self._heap)
            number = entry[2]
            if number in self._columns and entry == self._entry(number):
                del self._columns[number]
                return number

    def bind(self, variables: Iterable[Variable]) -> None:
        """These variables have values from now on."""
        for variable in variables:
            for number in self._users.get(variable, ()):
                if number in self._columns:
                    self._columns[number] += 1
                    heappush(self._heap, self._entry(number))


def _columns(atom: Atom, bound: set[Variable]) -> int:
    """How many columns are bound."""
    return sum([not isinstance(slot, Variable) or slot in bound for slot in atom.slots])


class _Checks:
    """The comparisons and negations of a body that wait for their variables."""

    def __init__(self, rule: Rule, negated_pivot: int | None = None) -> None:
        self.waiting: list[Formula] = [f for f in rule.body if isinstance(f, Comparison | Negation)]
        self._givers = _givers(rule)
        self._before: list[Negation] = []
        self._numbers = count()
        if negated_pivot is not None:
            negations = [f for f in self.waiting if isinstance(f, Negation)]
            self._before = negations[:negated_pivot]
            self.waiting = [f for f in self.waiting if f is not negations[negated_pivot]]

    def ready(self, bound: set[Variable]) -> Iterator[Step]:
        """The steps of all checks that can be made now; extends `bound`."""
        progress = True
        while progress:
            progress = False
            for formula in tuple(self.waiting):
                steps = self._steps(formula, bound)
                if steps is not None:
                    self.waiting = [f for f in self.waiting if f is not formula]
                    yield from steps
                    progress = True

    def _steps(self, formula: Formula, bound: set[Variable]) -> list[Step] | None:
        if isinstance(formula, Negation):
            if not bound.issuperset(variables_of(formula)):
                return None
            return [AntiJoin(formula.atom, any(formula is earlier for earlier in self._before))]
        assert isinstance(formula, Comparison)
        target, expression = self._binding(formula)
        if target is not None:
            if not bound.issuperset(variables_of(expression)):
                return None
            bound.add(target)
            return self._computed(expression, target)
        if not bound.issuperset(variables_of(formula)):
            return None
        return self._compared(formula)

    def _binding(self, formula: Comparison) -> tuple[Variable | None, Expression]:
        """The variable that an `=` gives its value, if it does, and the other side."""
        for one, other in ((formula.left, formula.right), (formula.right, formula.left)):
            if isinstance(one, Variable) and self._givers.get(one) is formula:
                return one, other
        return None, formula.left

    def _compared(self, formula: Comparison) -> list[Step]:
        left, steps = self._flattened(formula.left)
        right, more = self._flattened(formula.right)
        return [*steps, *more, Test(formula.operator, left, right)]

    def _computed(self, expression: Expression, target: Variable) -> list[Step]:
        value, steps = self._flattened(expression)
        if steps and isinstance(steps[-1], Bind):
            last = steps[-1]
            return [*steps[:-1], Bind(target, last.operator, last.left, last.right)]
        return [Bind(target, COPY, value, value)]

    def _flattened(self, expression: Expression) -> tuple[Slot, list[Step]]:
        """The variable or term that holds the value, and the steps that compute it."""
        if isinstance(expression, Arithmetic):
            left, steps = self._flattened(expression.left)
            right, more = self._flattened(expression.right)
            result = Variable(f":{next(self._numbers)}")
            return result, [*steps, *more, Bind(result, expression.operator, left, right)]
        if isinstance(expression, FunctionCall):
            value, steps = self._flattened(expression.argument)
            result = Variable(f":{next(self._numbers)}")
            return result, [*steps, Bind(result, expression.function, value, value)]
        return expression, []


def _givers(rule: Rule) -> dict[Variable, Comparison]:
    """The equation that gives each variable its value, where no atom does.

    Of several, the first in the text that can, whichever fact the rule is taken at: `?z = ?x`
    and `?z = ?y` with 1 and "01" hold either way, and conclude different terms.
    """
    givers: dict[Variable, Comparison] = {}
    waiting = [f for f in rule.body if isinstance(f, Comparison)]
    if not waiting:
        return givers
    known = {v for atom in positive_atoms(rule) for v in variables_of(atom)}
    while waiting:
        ready = next((f for f in waiting if _target(f, known) or known >= {*variables_of(f)}), None)
        if ready is None:
            break
        target = _target(ready, known)
        if target is not None:
            givers[target] = ready
            known.add(target)
        waiting = [f for f in waiting if f is not ready]
    return givers


def _target(formula: Comparison, known: set[Variable]) -> Variable | None:
    """The lone unknown variable of an equation whose other side is known."""
    if formula.operator == "=":
        for one, other in ((formula.left, formula.right), (formula.right, formula.left)):
            if isinstance(one, Variable) and one not in known and known >= {*variables_of(other)}:
                return one
    return None
