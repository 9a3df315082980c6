"""Programs: sets of rules, as values.

Changing a program makes a new one.  A rule has an id that is never used again, and a
key under which spacing and the names of variables do not matter: adding a rule that is
there already changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from pyoxigraph import NamedNode, Triple

from livefacts.errors import Place, RuleError
from livefacts.language.axioms import Axiom
from livefacts.language.formula import (
    NOWHERE,
    Aggregate,
    Arithmetic,
    Atom,
    Comparison,
    Expression,
    Formula,
    FunctionCall,
    Negation,
    PredicateAtom,
    Slot,
    Timed,
    TripleAtom,
    Variable,
    variables_of,
)
from livefacts.language.windows import SteppedWindow
from livefacts.model.durations import Duration
from livefacts.model.facts import Fact

SHOWN = 8
"""How many names of rules an error lists."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`head :- body`; a rule without a head is a constraint (`false :- body`).

    `numbered` says that the id is a number a program gave: another program gives
    the rule a number of its own.
    """

    head: Atom | None
    body: tuple[Formula, ...]
    id: str = ""
    at: Slot | None = None
    """The time point that the head is meant for (`at ?t head :- …`); None means now."""
    place: Place = field(default=NOWHERE, compare=False, repr=False)
    numbered: bool = field(default=False, compare=False, repr=False)
    _hash: int = field(default=0, init=False, compare=False, repr=False)
    _key: Rule | None = field(default=None, init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        # Planning looks every rule up many times; a program may have tens of thousands.
        if not self._hash:
            object.__setattr__(self, "_hash", hash((self.head, self.body, self.id, self.at)) or 1)
        return self._hash

    def __str__(self) -> str:
        from livefacts.language.rule_text import write_rule

        return write_rule(self)

    def __reduce__(self) -> tuple[object, ...]:
        # Hashes of texts differ from process to process: none may travel.
        return Rule, (self.head, self.body, self.id, self.at, self.place, self.numbered)

    @property
    def is_constraint(self) -> bool:
        return self.head is None

    def groups_of(self, aggregate: Aggregate) -> tuple[Variable, ...]:
        """The variables in the braces of this aggregate that occur elsewhere in the rule.

        "Elsewhere" is the head and every other formula of the body, braces included.
        `aggregate` is one of the objects in `body`.
        """
        others = [part for part in (self.head, self.at, *self.body) if part is not None]
        outside = {v for part in others if part is not aggregate for v in variables_of(part)}
        inside = dict.fromkeys(v for part in aggregate.body for v in variables_of(part))
        return tuple(v for v in inside if v in outside)

    def key(self) -> Rule:
        """The rule with variables numbered in order, and neither id nor place."""
        if self._key is None:
            names: dict[Variable, Variable] = {}
            head = None if self.head is None else _renamed(self.head, names)
            at = None if self.at is None else _renamed(self.at, names)
            body = tuple(_renamed(f, names) for f in self.body)
            object.__setattr__(self, "_key", Rule(head, body, at=at))  # type: ignore[arg-type]
        assert self._key is not None
        return self._key


@dataclass(frozen=True, slots=True)
class Program:
    """Rules in the order they were added, facts that came with them, and a limit.

    `limit` is the largest number of facts a change may derive (`@limit`); with it,
    arithmetic in recursion is allowed, and passing it undoes the change.  `tick` is how long
    a time point lasts, `retained` how long atoms without a window are remembered, `streams`
    the windows in which the facts of a stream hold.  `prefixes` are the declared ones, as
    pairs of name and IRI: writing uses them, meaning never does.
    """

    rules: tuple[Rule, ...] = ()
    facts: tuple[Triple | Fact, ...] = ()
    limit: int | None = None
    next_number: int = 1
    tick: Duration | None = None
    retained: tuple[tuple[str | NamedNode, Duration], ...] = ()
    streams: tuple[tuple[NamedNode, SteppedWindow], ...] = ()
    prefixes: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)
    axioms: tuple[Axiom, ...] = field(default=(), compare=False, repr=False)
    """The ontology that rules were made from, as far as they were: meaning is in the rules."""

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def has_rules_of(self, other: Program) -> bool:
        """Whether both have the same rules, and say the same about time."""
        if self.rules is not other.rules and self.rules != other.rules:
            return False
        mine, theirs = ((p.tick, p.retained, p.streams) for p in (self, other))
        return mine == theirs

    def rule(self, id: str) -> Rule:
        for rule in self.rules:
            if rule.id == id:
                return rule
        raise RuleError(f"there is no rule {id}", hint=self._names_near(id))

    def _names_near(self, id: str) -> str:
        import difflib  # only here: importing it takes longer than importing this module

        names = [rule.id for rule in self.rules]
        if not names:
            return "there are no rules"
        near = difflib.get_close_matches(id, names, n=1) if len(names) > SHOWN else []
        if near:
            return f"did you mean {near[0]}? Reasoner.rules lists them all"
        more = ", …; Reasoner.rules lists them all" if len(names) > SHOWN else ""
        return f"rules are called {', '.join(names[:SHOWN])}{more}"

    def plus(self, rules: Iterable[Rule]) -> Program:
        """With these rules too; rules without an id get the next number."""
        rules = tuple(rules)
        if not rules:
            return self
        present = {rule.key() for rule in self.rules}
        taken = {rule.id for rule in self.rules}
        kept, number = list(self.rules), self.next_number
        for rule in rules:
            key = rule.key()
            if key in present:
                continue
            if rule.numbered or not rule.id:
                while f"r{number}" in taken:
                    number += 1
                rule, number = replace(rule, id=f"r{number}", numbered=True), number + 1
            if rule.id in taken:
                raise RuleError(
                    f"two different rules are called {rule.id}",
                    place=rule.place,
                    hint="rename one with @id",
                )
            present.add(key)
            taken.add(rule.id)
            kept.append(rule)
        return replace(self, rules=tuple(kept), next_number=number)

    def joined(self, other: Program) -> Program:
        """Both programs in one: the rules, facts and prefixes of each, the smaller limit."""
        if other is NO_PROGRAM or (other == NO_PROGRAM and not (other.prefixes or other.axioms)):
            return self
        limits = [limit for limit in (self.limit, other.limit) if limit is not None]
        return replace(
            self.plus(other.rules),
            facts=tuple(dict.fromkeys((*self.facts, *other.facts))),
            limit=min(limits, default=None),
            tick=_one_tick(self.tick, other.tick),
            retained=tuple((dict(self.retained) | dict(other.retained)).items()),
            streams=tuple((dict(self.streams) | dict(other.streams)).items()),
            prefixes=tuple((dict(self.prefixes) | dict(other.prefixes)).items()),
            axioms=tuple(dict.fromkeys((*self.axioms, *other.axioms))),
        )

    def minus(self, rules: Iterable[Rule]) -> Program:
        """Without the rules that have the key of one of these."""
        gone = {rule.key() for rule in rules}
        if not gone:
            return self
        return replace(self, rules=tuple(r for r in self.rules if r.key() not in gone))


def _one_tick(first: Duration | None, second: Duration | None) -> Duration | None:
    if first is not None and second is not None and first != second:
        raise RuleError(
            f"one program has ticks of {first} and of {second}",
            hint="all rules of a reasoner share one @tick",
        )
    return first or second


NO_PROGRAM = Program()
Part = Formula | Expression


def _renamed(part: Part, names: dict[Variable, Variable]) -> Part:
    match part:
        case Variable():
            return names.setdefault(part, Variable(str(len(names))))
        case TripleAtom(s, p, o):
            return TripleAtom(_renamed(s, names), _renamed(p, names), _renamed(o, names))  # type: ignore[arg-type]
        case PredicateAtom(name, arguments):
            return PredicateAtom(name, tuple(_renamed(a, names) for a in arguments))  # type: ignore[misc]
        case Arithmetic(operator, left, right):
            return Arithmetic(operator, _renamed(left, names), _renamed(right, names))  # type: ignore[arg-type]
        case FunctionCall(function, argument):
            return FunctionCall(function, _renamed(argument, names))  # type: ignore[arg-type]
        case Comparison(left, operator, right):
            return Comparison(_renamed(left, names), operator, _renamed(right, names))  # type: ignore[arg-type]
        case Negation(atom):
            return Negation(_renamed(atom, names))  # type: ignore[arg-type]
        case Timed():
            time = None if part.time is None else _renamed(part.time, names)
            inner = _renamed(part.atom, names)
            return replace(part, atom=inner, time=time, place=NOWHERE)  # type: ignore[arg-type]
        case Aggregate(result, function, listed, body):
            return Aggregate(
                _renamed(result, names),  # type: ignore[arg-type]
                function,
                tuple(_renamed(v, names) for v in listed),  # type: ignore[misc]
                tuple(_renamed(f, names) for f in body),  # type: ignore[misc]
                parameter=part.parameter,
            )
        case _:
            return part
