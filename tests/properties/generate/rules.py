"""Random rules: bodies whose atoms share variables, and heads that those can fill.

A rule is built so that it is safe; whether it fits into a program (stratified, and no
arithmetic in recursion) is asked afterwards, in `programs`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tests.properties.generate.vocabulary import (
    CLASSES,
    NODE,
    NODE_PROPERTIES,
    PREDICATES,
    TYPE,
    VALUE,
    VALUE_PROPERTIES,
    Vocabulary,
    integer,
)

from livefacts.language.formula import (
    FUNCTIONS,
    Aggregate,
    Arithmetic,
    Atom,
    Comparison,
    Formula,
    FunctionCall,
    Negation,
    PredicateAtom,
    Slot,
    TripleAtom,
    Variable,
)
from livefacts.language.program import Rule
from livefacts.model.running_totals import IN_RULES

OF_ORDER = ("stddev", "percentile", "group_concat", "argmin", "argmax")
NAMES = {NODE: ("x", "y", "z", "w"), VALUE: ("m", "n", "k")}


@dataclass(slots=True)
class Scope:
    """The variables that a body has bound so far, by sort."""

    bound: dict[str, list[Variable]] = field(default_factory=lambda: {NODE: [], VALUE: []})
    prefix: str = ""

    def fresh(self, sort: str) -> Variable:
        taken = set(self.bound[sort])
        names = (f"{self.prefix}{name}{n}" for n in ("", 1, 2, 3, 4, 5) for name in NAMES[sort])
        return next(Variable(name) for name in names if Variable(name) not in taken)

    def bind(self, sort: str, variable: Variable) -> Variable:
        if variable not in self.bound[sort]:
            self.bound[sort].append(variable)
        return variable


class RuleMaker:
    """Draws rules over one vocabulary."""

    def __init__(self, pick: random.Random, words: Vocabulary, *, plain: bool = False) -> None:
        self.pick = pick
        self.words = words
        self.plain = plain
        self.names = pick.sample(sorted(PREDICATES), 6)
        self.heads: list[Atom] = []

    def chance(self, share: float) -> bool:
        return self.pick.random() < share

    def rule(self) -> Rule:
        scope = Scope()
        body: list[Formula] = [self.atom(scope) for _ in range(self.pick.choice((1, 2, 2, 3)))]
        body += self.aggregates(scope)
        body += self.computations(scope)
        body += self.comparisons(scope)
        body += self.negations(scope)
        if self.chance(0.3):
            self.pick.shuffle(body)
        head = None if self.chance(0.08) else self.head(scope)
        return Rule(head, tuple(body))

    def atom(self, scope: Scope) -> Atom:
        """A positive atom that shares a variable with the body where it can."""
        kind = self.pick.choices(
            ("predicate", "node", "value", "class", "type", "any"), (10, 3, 2, 2, 1, 1)
        )[0]
        if kind == "predicate":
            return self.predicate_atom(scope)
        subject = self.slot(NODE, scope)
        match kind:
            case "node":
                return TripleAtom(
                    subject, self.pick.choice(NODE_PROPERTIES), self.slot(NODE, scope)
                )
            case "value":
                return TripleAtom(
                    subject, self.pick.choice(VALUE_PROPERTIES), self.slot(VALUE, scope)
                )
            case "class":
                return TripleAtom(subject, TYPE, self.pick.choice(CLASSES))
            case "type":
                return TripleAtom(subject, TYPE, self.slot(NODE, scope))
            case _:
                return TripleAtom(subject, self.variable(NODE, scope), self.slot(NODE, scope))

    def predicate_atom(self, scope: Scope) -> Atom:
        name = self.pick.choice(self.names)
        return PredicateAtom(name, tuple(self.argument(sort, scope) for sort in PREDICATES[name]))

    def counted_atom(self, scope: Scope) -> Atom:
        """The first atom of a brace: one with a value, or one that a rule concludes."""
        if self.chance(0.5):
            return self.valued_atom(scope)
        if self.heads and self.chance(0.7):
            return self.like(self.pick.choice(self.heads), lambda sort: self.variable(sort, scope))
        return self.atom(scope)

    def valued_atom(self, scope: Scope) -> Atom:
        """An atom with a value in it, for aggregates to work on."""
        value = self.variable(VALUE, scope)
        if self.chance(0.4):
            return TripleAtom(self.variable(NODE, scope), self.pick.choice(VALUE_PROPERTIES), value)
        name = self.pick.choice(("reading", "total", "score"))
        sorts = PREDICATES[name]
        slots = [value if sort == VALUE else self.variable(NODE, scope) for sort in sorts]
        return PredicateAtom(name, tuple(slots))

    def argument(self, sort: str, scope: Scope) -> Slot:
        """A slot of a predicate atom, where a symbol may stand too."""
        if sort == NODE and self.words.symbols and self.chance(0.05):
            return self.pick.choice(self.words.symbols)
        return self.slot(sort, scope)

    def slot(self, sort: str, scope: Scope) -> Slot:
        return self.constant(sort) if self.chance(0.1) else self.variable(sort, scope)

    def constant(self, sort: str) -> Slot:
        """A term that may stand in any atom: blank nodes and symbols may not."""
        return self.pick.choice(self.words.iris if sort == NODE else self.words.values)

    def variable(self, sort: str, scope: Scope) -> Variable:
        if scope.bound[sort] and self.chance(0.6):
            return self.pick.choice(scope.bound[sort])
        return scope.bind(sort, scope.fresh(sort))

    def bound_slot(self, sort: str, scope: Scope) -> Slot:
        known = scope.bound[sort]
        if sort == VALUE and known and self.chance(0.3):
            return known[-1]  # the result of a computation, if there is one
        return self.pick.choice(known) if known and self.chance(0.9) else self.constant(sort)

    def negations(self, scope: Scope) -> list[Formula]:
        count = self.pick.choices((0, 1, 2), (70, 25, 5))[0]
        return [Negation(self.denied(scope)) for _ in range(count)]

    def denied(self, scope: Scope) -> Atom:
        """An atom to negate: often one that an earlier rule concludes."""
        if not self.heads or self.chance(0.4):
            return self.filled(scope)
        return self.like(self.pick.choice(self.heads), lambda sort: self.bound_slot(sort, scope))

    def like(self, atom: Atom, slot: Callable[[str], Slot]) -> Atom:
        """The atom with other slots in the place of its variables."""
        match atom:
            case PredicateAtom(name, arguments):
                sorts = PREDICATES.get(name, (NODE,) * len(arguments))
                return PredicateAtom(
                    name,
                    tuple(
                        slot(sort) if isinstance(old, Variable) else old
                        for sort, old in zip(sorts, arguments, strict=True)
                    ),
                )
            case TripleAtom(_, predicate, _):
                sort = VALUE if predicate in VALUE_PROPERTIES else NODE
                middle = slot(NODE) if isinstance(predicate, Variable) else predicate
                return TripleAtom(slot(NODE), middle, slot(sort))

    def head(self, scope: Scope) -> Atom:
        return self.filled(scope)

    def filled(self, scope: Scope) -> Atom:
        """An atom whose variables are bound already."""
        if self.chance(0.6):
            name = self.pick.choice(self.names)
            sorts = PREDICATES[name]
            return PredicateAtom(name, tuple(self.bound_slot(sort, scope) for sort in sorts))
        subject = self.bound_slot(VALUE if self.chance(0.06) else NODE, scope)
        if self.chance(0.3):
            return TripleAtom(subject, TYPE, self.pick.choice(CLASSES))
        if self.chance(0.3):
            value = self.bound_slot(VALUE, scope)
            return TripleAtom(subject, self.pick.choice(VALUE_PROPERTIES), value)
        if self.chance(0.1):
            predicate = self.bound_slot(NODE, scope)
        else:
            predicate = self.pick.choice(NODE_PROPERTIES)
        return TripleAtom(subject, predicate, self.bound_slot(NODE, scope))

    def comparisons(self, scope: Scope) -> list[Formula]:
        if not self.chance(0.3):
            return []
        if scope.bound[VALUE] and self.chance(0.7):
            left = self.pick.choice(scope.bound[VALUE])
            operator = self.pick.choice(("=", "!=", "<", "<=", ">", ">=", "is", "is not"))
            return [Comparison(left, operator, self.bound_slot(VALUE, scope))]
        if not scope.bound[NODE]:
            return []
        operator = self.pick.choice(("=", "!=", "is", "is not"))
        left = self.pick.choice(scope.bound[NODE])
        return [Comparison(left, operator, self.bound_slot(NODE, scope))]

    def computations(self, scope: Scope) -> list[Formula]:
        """`?k = ?n + 1`, or a variable that is only another name for a bound one."""
        if not scope.bound[VALUE] or not self.chance(0.25):
            return []
        left = self.pick.choice(scope.bound[VALUE])
        right = (
            self.bound_slot(VALUE, scope)
            if self.chance(0.5)
            else integer(self.pick.choice((1, 2, 3)))
        )
        result = scope.bind(VALUE, scope.fresh(VALUE))
        if self.chance(0.15):
            return [Comparison(left, "=", result)]
        if not self.plain and self.chance(0.15):
            function = self.pick.choice(FUNCTIONS)
            return [Comparison(result, "=", FunctionCall(function, left))]
        operator = self.pick.choice(("+", "-", "*") if self.plain else ("+", "-", "*", "/"))
        return [Comparison(result, "=", Arithmetic(operator, left, right))]

    def aggregates(self, scope: Scope) -> list[Formula]:
        """One in six rules counts or sums over a brace of one or two atoms."""
        if not self.chance(0.18):
            return []
        inner = Scope(prefix="in_")
        body: list[Formula] = [self.counted_atom(inner)]
        body += [self.atom(inner) for _ in range(self.pick.choice((0, 0, 1)))]
        if self.chance(0.15):
            body += self.comparisons(inner)
        if self.chance(0.1):
            body.append(Negation(self.filled(inner)))
        variables = [(sort, v) for sort in (VALUE, NODE) for v in inner.bound[sort]]
        if not variables:
            return []
        function, first = self.function(inner)
        rest = [v for _, v in variables if v != first and self.chance(0.3)]
        if IN_RULES[function].values > 1:
            compared = self.pick.choice(inner.bound[VALUE])
            rest = [compared, *(v for v in rest if v != compared)]
        formula = Aggregate(
            scope.fresh(VALUE), function, (first, *rest), tuple(body), parameter=self.told(function)
        )
        groups = [(sort, v) for sort, v in variables if v != first and v not in rest]
        return [self.grouped(formula, groups[: self.pick.choice((0, 1, 1, 2))], scope)]

    def function(self, inner: Scope) -> tuple[str, Variable]:
        if inner.bound[VALUE] and not self.plain and self.chance(0.3):
            function = self.pick.choice(OF_ORDER)
            sorts = (NODE, VALUE) if function in ("argmin", "argmax") else (VALUE, VALUE)
            return function, self.pick.choice(inner.bound[sorts[0]] or inner.bound[sorts[1]])
        if inner.bound[VALUE] and self.chance(0.75):
            functions = ("sum", "min", "max", "count") + (() if self.plain else ("avg",))
            return self.pick.choice(functions), self.pick.choice(inner.bound[VALUE])
        return "count", self.pick.choice(inner.bound[NODE] or inner.bound[VALUE])

    def told(self, function: str) -> str | None:
        """What stands in brackets behind the name of an aggregate."""
        if IN_RULES[function].parameter == "percent":
            return self.pick.choice(("0", "30", "50", "99.5", "100"))
        return self.pick.choice((None, ", ")) if function == "group_concat" else None

    def grouped(
        self, formula: Aggregate, groups: Sequence[tuple[str, Variable]], scope: Scope
    ) -> Aggregate:
        """The aggregate, with its groups joined to the body or handed to the head."""
        names: dict[Variable, Variable] = {}
        for sort, variable in groups:
            free = [v for v in scope.bound[sort] if v not in names.values()]
            if free and self.chance(0.6):
                names[variable] = self.pick.choice(free)
            else:
                scope.bind(sort, variable)
        scope.bind(VALUE, formula.result)
        return renamed_inside(formula, names)


def renamed_inside(formula: Aggregate, names: dict[Variable, Variable]) -> Aggregate:
    """The aggregate with some of its variables under other names."""

    def of(slot: Slot) -> Slot:
        return names.get(slot, slot) if isinstance(slot, Variable) else slot

    def part(inner: Formula) -> Formula:
        match inner:
            case TripleAtom(s, p, o):
                return TripleAtom(of(s), of(p), of(o))
            case PredicateAtom(name, arguments):
                return PredicateAtom(name, tuple(map(of, arguments)))
            case Comparison(left, operator, right):
                return Comparison(of(left), operator, of(right))  # type: ignore[arg-type]
            case Negation(atom):
                return Negation(part(atom))  # type: ignore[arg-type]
            case _:
                return inner

    body = tuple(part(inner) for inner in formula.body)
    return replace(formula, body=body)
