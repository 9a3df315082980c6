"""Formulas: what rule bodies and heads are made of.

Atoms are looked up among the facts; comparisons and arithmetic are computed; a negation
holds when no fact matches; an aggregate counts or sums what its braces match; a timed
formula looks at the time points of a window.  Every formula keeps the place in the text
it came from; places never take part in equality.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from pyoxigraph import NamedNode

from livefacts.errors import Place
from livefacts.language.windows import Window
from livefacts.model.facts import Symbol, Term
from livefacts.model.running_totals import IN_RULES

NOWHERE = Place("", 0, 0)
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "is", "is not")
"""`is` and `is not` compare terms, the others values."""
ARITHMETIC = ("+", "-", "*", "/")
FUNCTIONS = ("datatype", "value", "kind")
AGGREGATES = tuple(IN_RULES)
SOMETIME, ALWAYS, AT = "sometime", "always", "at"


# The words of the rule language that are neither symbols nor names of predicates.
TIME_WORDS = frozenset({"sometime", "always", "at", "in"})
RESERVED = TIME_WORDS | {"not", "true", "false"}


@dataclass(frozen=True, slots=True, order=True)
class Variable:
    """A variable of a rule, by its name without the question mark."""

    name: str
    place: Place = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return f"?{self.name}"


Slot: TypeAlias = Variable | Term
"""What may stand in a place of an atom."""


@dataclass(frozen=True, slots=True)
class TripleAtom:
    """`[?s, ex:p, ?o]`: a triple pattern; the predicate may be a variable."""

    subject: Slot
    predicate: Slot
    object: Slot
    place: Place = field(default=NOWHERE, compare=False, repr=False)

    @property
    def slots(self) -> tuple[Slot, ...]:
        return (self.subject, self.predicate, self.object)


@dataclass(frozen=True, slots=True)
class PredicateAtom:
    """`isIn(?x, ?y)`: a predicate pattern of any arity from 0."""

    name: str
    arguments: tuple[Slot, ...] = ()
    place: Place = field(default=NOWHERE, compare=False, repr=False)

    @property
    def slots(self) -> tuple[Slot, ...]:
        return (Symbol(self.name), *self.arguments)


Atom: TypeAlias = TripleAtom | PredicateAtom


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`?c * 1.8`: two expressions under one of `+ - * /`."""

    operator: str
    left: Expression
    right: Expression
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """`datatype(?x)`: a function of `FUNCTIONS` applied to one expression."""

    function: str
    argument: Expression
    place: Place = field(default=NOWHERE, compare=False, repr=False)


Expression: TypeAlias = Variable | Term | Arithmetic | FunctionCall


@dataclass(frozen=True, slots=True)
class Comparison:
    """`?v >= 90`, `?x is not ?y`.

    An `=` with an otherwise unbound variable alone on one side binds it.
    """

    left: Expression
    operator: str
    right: Expression
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Timed:
    """`sometime a in [10 s]`, `always a in [10 s]`, `at ?t a in [10 s]`.

    `denied` is a `not` in front of it, `negated` one inside: `sometime not a in [10 s]`.
    Without a window, the atom is looked for as far back as `@retain` says.
    """

    operator: str
    atom: Atom
    window: Window | None = None
    time: Slot | None = None
    negated: bool = False
    denied: bool = False
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Negation:
    """`not broken(?s)`: holds when no fact matches."""

    atom: Atom
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`?n = count { ?e : [?e, ex:worksFor, ?d] }`.

    Ranges over the distinct tuples of the `listed` variables in each group and
    aggregates the first of them, `argmin` and `argmax` the first by the second.  Groups are
    the variables of `body` that occur elsewhere in the rule.  The parameter is the percentage
    of `percentile`, or the separator of `group_concat`.
    """

    result: Variable
    function: str
    listed: tuple[Variable, ...]
    body: tuple[Formula, ...]
    place: Place = field(default=NOWHERE, compare=False, repr=False)
    parameter: str | None = None


Family: TypeAlias = str | NamedNode | None
"""The predicate of an atom, the predicate of a triple pattern, or None for any triple."""


def family_of(atom: Atom) -> Family:
    """What an atom is about."""
    if isinstance(atom, PredicateAtom):
        return atom.name
    return atom.predicate if isinstance(atom.predicate, NamedNode) else None


Formula: TypeAlias = TripleAtom | PredicateAtom | Comparison | Negation | Aggregate | Timed


def variables_of(part: Formula | Expression) -> list[Variable]:
    """The variables in a formula or expression, in order, repeats included."""
    found: list[Variable] = []
    match part:
        case Variable():
            found.append(part)
        case TripleAtom() | PredicateAtom():
            for slot in part.slots:
                if isinstance(slot, Variable):
                    found.append(slot)
        case Arithmetic() | Comparison():
            found += variables_of(part.left)
            found += variables_of(part.right)
        case FunctionCall():
            found += variables_of(part.argument)
        case Negation():
            found += variables_of(part.atom)
        case Timed():
            if part.time is not None:
                found += variables_of(part.time)
            found += variables_of(part.atom)
        case Aggregate():
            found += (part.result, *part.listed)
            for inner in part.body:
                found += variables_of(inner)
    return found


def filled(part: Formula, terms: Mapping[Variable, Slot]) -> Formula:
    """A formula with terms, or other variables, in the place of variables, as far as they are given.

    >>> x, y = Variable("x"), Variable("y")
    >>> filled(PredicateAtom("isIn", (x, y)), {x: Symbol("cup")}).arguments
    (cup, Variable(name='y'))
    """
    match part:
        case TripleAtom(s, p, o):
            return TripleAtom(_in_slot(s, terms), _in_slot(p, terms), _in_slot(o, terms))
        case PredicateAtom(name, arguments):
            return PredicateAtom(name, tuple(_in_slot(slot, terms) for slot in arguments))
        case Comparison(left, operator, right):
            return Comparison(_in_expression(left, terms), operator, _in_expression(right, terms))
        case Negation(atom):
            inner = filled(atom, terms)
            assert isinstance(inner, TripleAtom | PredicateAtom), "an atom stays an atom"
            return Negation(inner)
        case Timed():
            inner = filled(part.atom, terms)
            assert isinstance(inner, TripleAtom | PredicateAtom), "an atom stays an atom"
            time = None if part.time is None else _in_slot(part.time, terms)
            return replace(part, atom=inner, time=time)
        case Aggregate():
            return replace(part, body=tuple(filled(inner, terms) for inner in part.body))


def _in_slot(slot: Slot, terms: Mapping[Variable, Slot]) -> Slot:
    return terms.get(slot, slot) if isinstance(slot, Variable) else slot


def _in_expression(part: Expression, terms: Mapping[Variable, Slot]) -> Expression:
    match part:
        case Variable():
            return terms.get(part, part)
        case Arithmetic(operator, left, right):
            return Arithmetic(operator, _in_expression(left, terms), _in_expression(right, terms))
        case FunctionCall(function, argument):
            return FunctionCall(function, _in_expression(argument, terms))
        case _:
            return part
