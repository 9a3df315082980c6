"""Column joins: all the ways to make a rule body true, as columns of ids.

Atoms are joined one after the other; comparisons and negations thin the columns out as
soon as their variables have values.  Which equation gives a variable its value is decided
by the order of the text, before any atom is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from livefacts.engine.contract import Flags, Ids
from livefacts.engine.embedded.recheck.column_values import NONE, Calculator
from livefacts.engine.embedded.recheck.id_tables import FOREVER, IdTable, Joined
from livefacts.language.formula import (
    Arithmetic,
    Atom,
    Comparison,
    Expression,
    Formula,
    FunctionCall,
    Negation,
    PredicateAtom,
    TripleAtom,
    Variable,
    variables_of,
)
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary


@dataclass(frozen=True, slots=True)
class BatchAtom:
    """An atom with ids for its terms."""

    shape: int
    slots: tuple[int | Variable, ...]

    @property
    def variables(self) -> set[Variable]:
        return {slot for slot in self.slots if isinstance(slot, Variable)}

    @property
    def constants(self) -> dict[int, int]:
        """The ids in their columns."""
        return {n: slot for n, slot in enumerate(self.slots) if not isinstance(slot, Variable)}


@dataclass(frozen=True, slots=True)
class Give:
    """An equation that gives a variable its value."""

    target: Variable
    expression: Expression


@dataclass(frozen=True, slots=True)
class Deny:
    """No fact may fit."""

    pattern: BatchAtom


Check: TypeAlias = Give | Comparison | Deny


@dataclass(frozen=True, slots=True)
class BatchBody:
    """What must hold: atoms, and checks that need nothing but atoms and earlier checks."""

    atoms: tuple[BatchAtom, ...]
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Bindings:
    """Ways to make a part of a body true: a column for every variable so far."""

    count: int
    columns: Mapping[Variable, Ids] = field(default_factory=dict)

    def taken(self, rows: Flags) -> Bindings:
        if rows.all():
            return self
        return Bindings(int(rows.sum()), {v: column[rows] for v, column in self.columns.items()})

    def column(self, slot: int | Variable) -> Ids:
        if isinstance(slot, Variable):
            return self.columns[slot]
        return np.full(self.count, slot, np.int32)


def compiled(formulas: Sequence[Formula], dictionary: Dictionary) -> BatchBody:
    """A body in ids."""
    atoms = tuple(
        pattern_of(formula, dictionary)
        for formula in formulas
        if isinstance(formula, TripleAtom | PredicateAtom)
    )
    known = {variable for atom in atoms for variable in atom.variables}
    checks: list[Check] = []
    waiting = [formula for formula in formulas if isinstance(formula, Comparison)]
    while waiting:
        ready = next(c for c in waiting if _given(c, known) or known.issuperset(variables_of(c)))
        waiting = [comparison for comparison in waiting if comparison is not ready]
        given = _given(ready, known)
        checks.append(ready if given is None else given)
        known.update(() if given is None else (given.target,))
    negations = (formula for formula in formulas if isinstance(formula, Negation))
    return BatchBody(atoms, (*checks, *(Deny(pattern_of(n.atom, dictionary)) for n in negations)))


def _given(comparison: Comparison, known: set[Variable]) -> Give | None:
    """What an equation gives its value to, if one side is a lone unknown variable."""
    if comparison.operator != "=":
        return None
    for one, other in (
        (comparison.left, comparison.right),
        (comparison.right, comparison.left),
    ):
        if isinstance(one, Variable) and one not in known and known.issuperset(variables_of(other)):
            return Give(one, other)
    return None


def pattern_of(atom: Atom, dictionary: Dictionary) -> BatchAtom:
    """An atom in ids."""
    shape = TRIPLES if isinstance(atom, TripleAtom) else len(atom.slots)
    return BatchAtom(
        shape,
        tuple(
            slot if isinstance(slot, Variable) else int(dictionary.encode_one(slot))
            for slot in atom.slots
        ),
    )


class Model:
    """Facts by shape, and the answers to bodies over them."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.tables: dict[int, IdTable] = {}
        self.calculator = Calculator(dictionary)

    def table(self, shape: int) -> IdTable:
        """The facts of a shape."""
        table = self.tables.get(shape)
        if table is None:
            table = self.tables[shape] = IdTable(3 if shape == TRIPLES else shape)
        return table

    def counts(self) -> dict[int, int]:
        """How many facts there are by now."""
        return {shape: table.count for shape, table in self.tables.items()}

    def solutions(self, body: BatchBody) -> Iterator[Bindings]:
        """Every way to make a body true, once, in pieces."""
        return _Search(self, body).all()

    def new_solutions(
        self, body: BatchBody, pivot: int, since: Mapping[int, int]
    ) -> Iterator[Bindings]:
        """The ways in which atom number `pivot` is the first to match a fact that came since."""
        return _Search(self, body, pivot, since).all()

    def holds(self, pattern: BatchAtom, found: Bindings) -> Flags:
        """Where a fact fits a pattern whose variables all have values."""
        rows = self.table(pattern.shape).find([found.column(slot) for slot in pattern.slots])
        there: Flags = rows >= 0
        return there


class _Search:
    """One body over one model."""

    def __init__(
        self,
        model: Model,
        body: BatchBody,
        pivot: int | None = None,
        since: Mapping[int, int] | None = None,
    ) -> None:
        self._model = model
        self._body = body
        self._pivot = pivot
        self._since = since or {}

    def all(self) -> Iterator[Bindings]:
        waiting = tuple(range(len(self._body.atoms)))
        if self._pivot is None:
            return self._completed(Bindings(1), waiting, self._body.checks)
        rest = tuple(number for number in waiting if number != self._pivot)
        return (
            found
            for first in self._extended(Bindings(1), self._pivot)
            for found in self._completed(first, rest, self._body.checks)
        )

    def _completed(
        self, found: Bindings, waiting: tuple[int, ...], checks: tuple[Check, ...]
    ) -> Iterator[Bindings]:
        found, checks = self._checked(found, checks)
        if not found.count:
            return
        if not waiting:
            yield found
            return
        chosen = waiting[0]
        if len(waiting) > 1:
            chosen = min(waiting, key=lambda number: self._cost(number, found))
        rest = tuple(number for number in waiting if number != chosen)
        for more in self._extended(found, chosen):
            yield from self._completed(more, rest, checks)

    def _cost(self, number: int, found: Bindings) -> tuple[int, int]:
        """Few unknown columns first, unless nothing is known; then few facts."""
        atom = self._body.atoms[number]
        known = sum(slot in found.columns for slot in atom.variables)
        constants = atom.constants
        table = self._model.table(atom.shape)
        return (
            (len(atom.slots) - len(constants) - known) if found.columns else 0,
            table.how_many(tuple(constants), tuple(constants.values())),
        )

    def _range(self, number: int) -> tuple[int, int]:
        """The rows that an atom may match: before its pivot old ones only, at it new ones only."""
        mark = self._since.get(self._body.atoms[number].shape, 0)
        if self._pivot is None or number > self._pivot:
            return 0, FOREVER
        return (mark, FOREVER) if number == self._pivot else (0, mark)

    def _extended(self, found: Bindings, number: int) -> Iterator[Bindings]:
        """The ways so far, each with every fact that fits one more atom."""
        atom = self._body.atoms[number]
        known = tuple(
            column
            for column, slot in enumerate(atom.slots)
            if not isinstance(slot, Variable) or slot in found.columns
        )
        values = [found.column(atom.slots[column]) for column in known]
        table = self._model.table(atom.shape)
        for joined in table.joined(known, values, found.count, *self._range(number)):
            if len(joined[0]):
                yield _with_facts(found, atom, table, joined)

    def _checked(
        self, found: Bindings, checks: tuple[Check, ...]
    ) -> tuple[Bindings, tuple[Check, ...]]:
        """Make the checks whose variables have values; those that are left."""
        left = []
        for check in checks:
            if found.columns.keys() >= _needed(check):
                found = self._passed(found, check)
            else:
                left.append(check)
        return found, tuple(left)

    def _passed(self, found: Bindings, check: Check) -> Bindings:
        match check:
            case Deny(pattern):
                return found.taken(~self._model.holds(pattern, found))
            case Give(target, expression):
                values = self._value(expression, found)
                extended = Bindings(found.count, {**found.columns, target: values})
                return extended.taken(values != NONE)
            case Comparison(left, operator, right):
                sides = self._value(left, found), self._value(right, found)
                return found.taken(self._model.calculator.compare(operator, *sides))

    def _value(self, expression: Expression, found: Bindings) -> Ids:
        calculator = self._model.calculator
        match expression:
            case Variable():
                return found.column(expression)
            case Arithmetic(operator, left, right):
                sides = self._value(left, found), self._value(right, found)
                return calculator.compute(operator, *sides)
            case FunctionCall(function, argument):
                return calculator.call(function, self._value(argument, found))
            case _:
                return found.column(int(self._model.dictionary.encode_one(expression)))


def _needed(check: Check) -> set[Variable]:
    match check:
        case Deny(pattern):
            return pattern.variables
        case Give(_, expression):
            return set(variables_of(expression))
        case Comparison():
            return set(variables_of(check))


def _with_facts(found: Bindings, atom: BatchAtom, table: IdTable, joined: Joined) -> Bindings:
    left, rows = joined
    columns = {variable: column[left] for variable, column in found.columns.items()}
    fits = np.ones(len(rows), np.bool_)
    for number, slot in enumerate(atom.slots):
        if not isinstance(slot, Variable) or slot in found.columns:
            continue
        values = table.column(number)[rows]
        if slot in columns:
            fits &= columns[slot] == values
        else:
            columns[slot] = values
    return Bindings(len(rows), columns).taken(fits)
