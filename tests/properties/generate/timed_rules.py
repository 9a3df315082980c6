"""Random rules with time: windows, `sometime`, `always` and `at` over what arrives and follows.

A rule is built so that it is safe; whether it fits into a program (stratified, no window of
facts over conclusions, no counting without end) is asked afterwards, in `fits`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pyoxigraph import NamedNode
from tests.oracle.naive import atoms_of, levels, overlap
from tests.properties.generate.programs import is_recursive
from tests.properties.generate.vocabulary import EX, NODE, VALUE, integer

from livefacts.language.formula import (
    ALWAYS,
    AT,
    SOMETIME,
    Aggregate,
    Arithmetic,
    Atom,
    Comparison,
    Formula,
    Negation,
    PredicateAtom,
    Slot,
    Timed,
    TripleAtom,
    Variable,
    variables_of,
)
from livefacts.language.program import Rule
from livefacts.language.windows import (
    FactWindow,
    PastWindow,
    SessionWindow,
    SteppedWindow,
    TimeWindow,
    Window,
)
from livefacts.model.durations import Duration
from livefacts.model.running_totals import IN_RULES

TIME = "time"
ARRIVING: dict[str, tuple[str, ...]] = {
    "open": (),
    "hot": (NODE,),
    "seen": (NODE,),
    "near": (NODE, NODE),
    "reading": (NODE, VALUE),
}
DERIVED: dict[str, tuple[str, ...]] = {
    "alarm": (),
    "warm": (NODE,),
    "_mark": (NODE,),
    "far": (NODE, NODE),
    "total": (NODE, VALUE),
    "when": (VALUE,),
}
PROPERTIES = {NamedNode(EX + "knows"): NODE, NamedNode(EX + "age"): VALUE}
NODES = tuple(NamedNode(EX + name) for name in ("ann", "bob", "cat"))
VALUES = tuple(integer(n) for n in range(4))
STREAMS = tuple(NamedNode(EX + name) for name in ("kitchen", "cellar"))
NAMES = {NODE: "xyzw", VALUE: "mnkv", TIME: "tusr"}


@dataclass(slots=True)
class Scope:
    """The variables that a body has bound so far, by sort."""

    bound: dict[str, list[Variable]] = field(
        default_factory=lambda: {NODE: [], VALUE: [], TIME: []}
    )
    prefix: str = ""

    def fresh(self, sort: str) -> Variable:
        taken = self.bound[sort]
        names = (f"{self.prefix}{name}{n}" for n in ("", 1, 2, 3) for name in NAMES[sort])
        return next(Variable(name) for name in names if Variable(name) not in taken)

    def bind(self, sort: str, variable: Variable) -> Variable:
        if variable not in self.bound[sort]:
            self.bound[sort].append(variable)
        return variable


class TimedRuleMaker:
    """Draws rules over a few predicates; `retained` are those that need no window."""

    def __init__(self, pick: random.Random, retained: Sequence[str] = ()) -> None:
        self.pick = pick
        self.retained = retained
        self.arriving = pick.sample(sorted(ARRIVING), 3)
        self.derived = pick.sample(sorted(DERIVED), 3)
        self.has_triples = pick.random() < 0.35
        self.heads: list[Atom] = []

    def chance(self, share: float) -> bool:
        return self.pick.random() < share

    def rule(self) -> Rule:
        scope = Scope()
        body: list[Formula] = []
        if self.chance(0.15):
            body.append(self.aggregate(scope))
        for _ in range(self.pick.choice((1, 1, 2, 2, 3)) - len(body)):
            body.append(self.literal(scope))
        body += self.shifts(scope)
        body += self.comparisons(scope)
        body += self.denials(scope)
        if self.chance(0.3):
            self.pick.shuffle(body)
        if self.chance(0.05):
            return Rule(None, tuple(body))
        at = self.head_time(scope)
        return Rule(self.head(scope), tuple(body), at=at)

    # literals that bind

    def literal(self, scope: Scope) -> Formula:
        atom = self.atom(scope)
        kind = self.pick.choices(("", SOMETIME, ALWAYS, AT), (25, 30, 20, 30))[0]
        if not kind:
            return atom
        time = self.time(scope) if kind == AT else None
        return Timed(kind, atom, self.window(atom), time)

    def atom(self, scope: Scope) -> Atom:
        if self.heads and self.chance(0.4):
            return self.like(self.pick.choice(self.heads), scope)
        if self.has_triples and self.chance(0.5):
            property = self.pick.choice(list(PROPERTIES))
            subject, object = self.slots((NODE, PROPERTIES[property]), scope)
            return TripleAtom(subject, property, object)
        name = self.pick.choice(self.arriving)
        return PredicateAtom(name, tuple(self.slots(ARRIVING[name], scope)))

    def like(self, atom: Atom, scope: Scope) -> Atom:
        if isinstance(atom, TripleAtom):
            sort = PROPERTIES[atom.predicate]  # type: ignore[index]
            subject, object = self.slots((NODE, sort), scope)
            return TripleAtom(subject, atom.predicate, object)
        sorts = (ARRIVING | DERIVED)[atom.name]
        return PredicateAtom(atom.name, tuple(self.slots(sorts, scope)))

    def slots(self, sorts: Iterable[str], scope: Scope) -> list[Slot]:
        """Places of one atom; a variable that stands in two of them is rare."""
        before = {sort: list(known) for sort, known in scope.bound.items()}
        return [self.slot(sort, scope, before) for sort in sorts]

    def slot(self, sort: str, scope: Scope, before: dict[str, list[Variable]]) -> Slot:
        if self.chance(0.1):
            return self.constant(sort)
        known = scope.bound[sort] if self.chance(0.1) else before[sort]
        if known and self.chance(0.65):
            return self.pick.choice(known)
        return scope.bind(sort, scope.fresh(sort))

    def constant(self, sort: str) -> Slot:
        return self.pick.choice(NODES if sort == NODE else VALUES)

    def time(self, scope: Scope) -> Slot:
        """The time of an `at`: mostly a new variable, now and then one that is bound, or a value."""
        if self.chance(0.08):
            return integer(self.pick.randrange(6))
        known = scope.bound[TIME] + (scope.bound[VALUE] if self.chance(0.2) else [])
        if known and self.chance(0.25):
            return self.pick.choice(known)
        return scope.bind(TIME, scope.fresh(TIME))

    def window(self, atom: Atom) -> Window | None:
        if isinstance(atom, PredicateAtom) and atom.name in self.retained and self.chance(0.5):
            return None
        stream = self.pick.choice(STREAMS) if self.chance(0.08) else None
        full = self.chance(0.12)
        kinds = ("time", "stepped", "facts", "session", "past")
        match self.pick.choices(kinds, (48, 14, 19, 10, 9))[0]:
            case "time":
                return TimeWindow(Duration(self.pick.choice((0, 1, 1, 2, 2, 3, 4))), stream, full)
            case "session":
                of = self.counted(atom) if self.chance(0.3) else None
                return SessionWindow(Duration(self.pick.choice((1, 2, 2, 3, 4))), of, stream)
            case "past":
                until = self.pick.choice((0, 1, 1, 2))
                length = until + self.pick.choice((0, 1, 2, 3))
                return PastWindow(Duration(length), Duration(until), stream, full)
            case "stepped":
                width = self.pick.choice((1, 2, 3, 4, 5))
                step = self.pick.choice((1, 2, 3, width))
                closed = self.chance(0.3)
                return SteppedWindow(Duration(width), Duration(step), stream, closed, full)
            case _:
                of = self.counted(atom) if self.chance(0.3) else None
                return FactWindow(self.pick.choice((1, 2, 3, 4)), of, stream)

    def counted(self, atom: Atom) -> str | NamedNode:
        """What a window of facts counts: mostly the predicate that is looked for."""
        if self.chance(0.2):
            return self.pick.choice(self.arriving)
        if isinstance(atom, TripleAtom):
            assert isinstance(atom.predicate, NamedNode)
            return atom.predicate
        return atom.name

    def aggregate(self, scope: Scope) -> Aggregate:
        """Over one literal; its node, if it has one, may be the group."""
        inner = Scope(prefix="a")
        literals = [self.literal(inner)]
        if self.chance(0.2):
            literals.append(self.literal(inner))
        numbers, nodes = inner.bound[VALUE] + inner.bound[TIME], inner.bound[NODE]
        functions = (
            "count",
            "sum",
            "min",
            "max",
            "avg",
            "stddev",
            "percentile",
            "argmin",
            "argmax",
        )
        function = self.pick.choice(functions) if numbers else "count"
        first = self.pick.choice(numbers if function != "count" else numbers + nodes or [None])
        if first is None:
            return self.aggregate(scope)
        others = [v for v in numbers + nodes if v != first]
        if IN_RULES[function].values > 1:
            # What is looked for, and then the number that decides.
            listed = (self.pick.choice(others or [first]), first)
        else:
            more = self.pick.sample(others, min(len(others), self.pick.choice((0, 0, 1))))
            listed = (first, *more)
        groups = [v for v in nodes if v not in listed and self.chance(0.7)]
        for group in groups:
            scope.bind(NODE, group)
        result = scope.bind(VALUE, Variable("total"))
        percent = self.pick.choice(("25", "50", "100")) if function == "percentile" else None
        return Aggregate(result, function, listed, tuple(literals), parameter=percent)

    # literals that compute or test

    def shifts(self, scope: Scope) -> list[Formula]:
        """A time point before or after one that is bound, and sometimes a look at it."""
        if not scope.bound[TIME] or not self.chance(0.35):
            return []
        operator = self.pick.choices(("+", "-", "/"), (60, 35, 5))[0]
        start, moved = self.pick.choice(scope.bound[TIME]), scope.fresh(TIME)
        by = integer(self.pick.choice((1, 1, 2, 3)))
        shift = Comparison(moved, "=", Arithmetic(operator, start, by))
        scope.bind(TIME, moved)
        if not self.chance(0.4):
            return [shift]
        atom = self.bound_atom(scope)
        return [shift, Timed(AT, atom, self.window(atom), moved)]

    def comparisons(self, scope: Scope) -> list[Formula]:
        found: list[Formula] = []
        for sort, share in ((VALUE, 0.25), (TIME, 0.15)):
            if scope.bound[sort] and self.chance(share):
                left = self.pick.choice(scope.bound[sort])
                operator = self.pick.choice(("<", "<=", ">", ">=", "!=", "="))
                numbers = [*scope.bound[VALUE], *scope.bound[TIME], *VALUES]
                found.append(Comparison(left, operator, self.pick.choice(numbers)))
        return found

    def denials(self, scope: Scope) -> list[Formula]:
        count = self.pick.choices((0, 1, 2), (60, 33, 7))[0]
        return [self.denial(scope) for _ in range(count)]

    def denial(self, scope: Scope) -> Formula:
        """A negation: of a plain atom, outside an operator, inside one, or both."""
        atom = self.bound_atom(scope)
        kind = self.pick.choice(("plain", SOMETIME, SOMETIME, ALWAYS, AT, AT))
        if kind == "plain":
            return Negation(atom)
        way = self.pick.choice(("outer", "outer", "inner", "inner", "both"))
        negated, denied = way != "outer", way != "inner"
        if kind != AT:
            return Timed(kind, atom, self.window(atom), None, negated, denied)
        known = scope.bound[TIME]
        free = not denied and (not known or self.chance(0.6))
        time: Slot = integer(self.pick.randrange(6))
        if free:
            time = scope.bind(TIME, scope.fresh(TIME))
        elif known:
            time = self.pick.choice(known)
        return Timed(AT, atom, self.window(atom), time, negated, denied)

    def bound_atom(self, scope: Scope) -> Atom:
        """An atom whose variables are bound already."""
        shape = self.atom(Scope())
        if self.heads and self.chance(0.3):
            shape = self.pick.choice(self.heads)
        if isinstance(shape, TripleAtom):
            sort = PROPERTIES[shape.predicate]  # type: ignore[index]
            subject = self.bound_slot(NODE, scope)
            return TripleAtom(subject, shape.predicate, self.bound_slot(sort, scope))
        sorts = (ARRIVING | DERIVED)[shape.name]
        return PredicateAtom(shape.name, tuple(self.bound_slot(sort, scope) for sort in sorts))

    def bound_slot(self, sort: str, scope: Scope) -> Slot:
        known = scope.bound[sort]
        if sort == VALUE and scope.bound[TIME] and (not known or self.chance(0.2)):
            return self.pick.choice(scope.bound[TIME])
        return self.pick.choice(known) if known and self.chance(0.9) else self.constant(sort)

    # heads

    def head(self, scope: Scope) -> Atom:
        if self.has_triples and self.chance(0.35):
            property = self.pick.choice(list(PROPERTIES))
            object = self.bound_slot(PROPERTIES[property], scope)
            return TripleAtom(self.bound_slot(NODE, scope), property, object)
        names = self.arriving if self.chance(0.12) else self.derived
        fitting = [name for name in names if self._can_fill(name, scope)]
        name = self.pick.choice(fitting or names)
        sorts = (ARRIVING | DERIVED)[name]
        return PredicateAtom(name, tuple(self.bound_slot(sort, scope) for sort in sorts))

    def _can_fill(self, name: str, scope: Scope) -> bool:
        sorts = (ARRIVING | DERIVED)[name]
        return all(scope.bound[s] or (s == VALUE and scope.bound[TIME]) for s in sorts)

    def head_time(self, scope: Scope) -> Slot | None:
        if scope.bound[TIME] and self.chance(0.65):
            return self.pick.choice(scope.bound[TIME])
        if scope.bound[VALUE] and self.chance(0.06):
            return self.pick.choice(scope.bound[VALUE])
        return integer(self.pick.randrange(8)) if self.chance(0.03) else None


def fits(rules: Sequence[Rule]) -> bool:
    """Whether the rules make a program that has a meaning and comes to an end."""
    derivations = [rule for rule in rules if not rule.is_constraint]
    try:
        levels(derivations)
    except ValueError:
        return False
    if any(_counts_conclusions(rule, derivations) for rule in rules):
        return False
    return not any(_grows(rule) and is_recursive(rule, derivations) for rule in derivations)


def _counts_conclusions(rule: Rule, rules: Sequence[Rule]) -> bool:
    """Whether a window of facts looks for what a rule concludes."""
    counted = [part.atom for part in timed_parts(rule.body) if isinstance(part.window, FactWindow)]
    heads = [other.head for other in rules if other.head is not None]
    return any(overlap(atom, head) for atom in counted for head in heads)


def timed_parts(body: Sequence[Formula]) -> list[Timed]:
    """The timed formulas of a body, those in braces included."""
    found = [part for part in body if isinstance(part, Timed)]
    braces = [part for part in body if isinstance(part, Aggregate)]
    return found + [part for brace in braces for part in timed_parts(brace.body)]


def _grows(rule: Rule) -> bool:
    """Whether the head has an argument that the rule computes."""
    computed = {
        part.left
        for part in rule.body
        if isinstance(part, Comparison) and isinstance(part.right, Arithmetic)
    }
    assert rule.head is not None
    return any(variable in computed for variable in variables_of(rule.head))


def reads(rules: Sequence[Rule]) -> list[Atom]:
    """The atoms that the rules look for."""
    return sorted({atom for rule in rules for atom, _ in atoms_of(rule.body)}, key=str)
