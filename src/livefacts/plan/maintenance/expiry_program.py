"""The expiry program: expiration times as rules, which maintain conclusions while a window moves.

Every fact has one argument more, the last time point at which it holds.  A conclusion holds as
long as the premise that ends first, and of several derivations the longest counts.  What the
paper prints loses a fact whose time is renewed, and depends on its own negation: a rule that
differs from the published one has that beside it.

Paper: Barbieri et al., section 3, Tables 4 to 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

from livefacts.errors import RuleError
from livefacts.language.formula import (
    Aggregate,
    Comparison,
    Formula,
    Negation,
    PredicateAtom,
    Variable,
    variables_of,
)
from livefacts.language.program import Rule
from livefacts.plan.maintenance.rewrite import (
    INS,
    MINUS,
    NEW,
    NOW,
    OLD,
    PLUS,
    FlatRule,
    Input,
    PredicateNames,
    ProgramSection,
    arities,
    flat_rules,
    general_atom,
    names_for,
)

UNTIL, LATER, CLOCK = Variable("until"), Variable("later"), Variable("now")
Published = tuple[str, tuple[PredicateAtom, ...]]


@dataclass(frozen=True, slots=True)
class ExpiryTask:
    """The rules to maintain, and the predicates they speak of."""

    names: PredicateNames
    now: PredicateAtom
    predicates: tuple[PredicateAtom, ...]
    rules: tuple[FlatRule, ...]


def expiry_task(rules: Sequence[Rule], split: bool = False) -> ExpiryTask:
    """What is to be maintained; rules with `not` or an aggregate are refused."""
    for rule in rules:
        _require_positive(rule)
    names = names_for(rules, split)
    flat = tuple(flat_rules(rules, names).values())
    known = arities(flat)
    clock = next(n for n in chain([NOW], map(f"{NOW}{{}}".format, count(1))) if n not in known)
    return ExpiryTask(
        names,
        PredicateAtom(clock, (CLOCK,)),
        tuple(general_atom(name, arity, names) for name, arity in known.items()),
        flat,
    )


def _require_positive(rule: Rule) -> None:
    for formula in rule.body:
        if isinstance(formula, Negation | Aggregate) and rule.head is not None:
            what = "not" if isinstance(formula, Negation) else "an aggregate"
            raise RuleError(
                f"{what} has no place in a program of expiring facts: when a fact ends, "
                "such a rule may begin to conclude, and no time says so beforehand",
                place=formula.place if formula.place.line else None,
                hint="the dred maintenance program covers such rules",
            )


def inputs_of(task: ExpiryTask) -> Iterator[Input]:
    """What has to be filled in before the maintenance program is evaluated."""
    yield Input(task.now, "the time point at hand")
    for atom in task.predicates:
        yield Input(_until(atom, UNTIL), "what is materialized, and until when it holds")
        yield Input(
            _until(task.names.atom(atom, INS), UNTIL), "what enters the window, and until when"
        )


def sections_of(task: ExpiryTask) -> Iterator[ProgramSection]:
    """The maintenance program."""
    insertions = [rule for each in task.rules for rule in _insertions(each, task.names)]
    yield ProgramSection(
        "Ins: conclusions of what enters, which hold as long as the premise that ends first.",
        tuple(rule for rule, _ in insertions),
        {rule.id: published for rule, published in insertions if published},
    )
    parts = {
        "New: what has not expired, and what comes.": _new,
        "Old: what another derivation outlasts.": _old,
        "Minus: what has expired, and what is outlasted.": _minus,
        "Plus: what comes and is not outlasted.": _plus,
    }
    for title, rewritten in parts.items():
        pairs = [pair for atom in task.predicates for pair in rewritten(atom, task)]
        yield ProgramSection(
            title,
            tuple(rule for rule, _ in pairs),
            {rule.id: published for rule, published in pairs if published},
        )


Pairs = Iterator[tuple[Rule, Published | None]]


def _until(atom: PredicateAtom, end: Variable) -> PredicateAtom:
    return replace(atom, arguments=(*atom.arguments, end))


def _new(atom: PredicateAtom, task: ExpiryTask) -> Pairs:
    new, ins, old = (task.names.atom(atom, role) for role in (NEW, INS, OLD))
    holds = Comparison(UNTIL, ">=", CLOCK)
    yield (
        Rule(_until(new, UNTIL), (_until(atom, UNTIL), task.now, holds), f"{atom.name}.New1"),
        ("{}[T] :- {}[T], not {}[T1], T1 = (now - 1)", (new, atom, atom)),
    )
    yield (
        Rule(_until(new, UNTIL), (_until(ins, UNTIL),), f"{atom.name}.New2"),
        ("{}[T] :- {}[T], not {}[T]", (new, ins, old)),
    )


def _old(atom: PredicateAtom, task: ExpiryTask) -> Pairs:
    ins, old = task.names.atom(atom, INS), task.names.atom(atom, OLD)
    longer = Comparison(LATER, ">", UNTIL)
    for number, (one, other) in enumerate(((ins, atom), (ins, ins), (atom, ins)), 1):
        body = (_until(one, LATER), _until(other, UNTIL), longer)
        text = "{}[T] :- {}[T1], {}[T], T1 > T"
        missing = "missing: what comes may end before what is there"
        yield (
            Rule(_until(old, UNTIL), body, f"{atom.name}.Old{number}"),
            (text, (old, one, other)) if number < 3 else (missing, ()),
        )


def _minus(atom: PredicateAtom, task: ExpiryTask) -> Pairs:
    ins, old, minus = (task.names.atom(atom, role) for role in (INS, OLD, MINUS))
    ended = Comparison(UNTIL, "<", CLOCK)
    yield (
        Rule(_until(minus, UNTIL), (_until(atom, UNTIL), task.now, ended), f"{atom.name}.Minus1"),
        ("{}[T] :- {}[T1], T1 = (now - 1), not {}[T1]", (minus, atom, ins)),
    )
    body = _until(old, UNTIL), _until(atom, UNTIL)
    yield (
        Rule(_until(minus, UNTIL), body, f"{atom.name}.Minus2"),
        ("{}[T] :- {}[T]", (minus, old)),
    )


def _plus(atom: PredicateAtom, task: ExpiryTask) -> Pairs:
    names = task.names
    new, ins, old, plus = (names.atom(atom, role) for role in (NEW, INS, OLD, PLUS))
    twice = names.atom(plus, PLUS)
    body = _until(ins, UNTIL), Negation(_until(old, UNTIL)), Negation(_until(atom, UNTIL))
    yield (
        Rule(_until(plus, UNTIL), body, f"{atom.name}.Plus"),
        (
            "{}[T] :- {}[T], not {}[T1]\n{}[T] :- {}[T], not {}[T1]",
            (twice, new, atom, plus, twice, old),
        ),
    )


def _insertions(rule: FlatRule, names: PredicateNames) -> Pairs:
    """Premise i comes, and premise j ends first: `min` is said by comparisons."""
    atoms = [formula for formula in rule.body if isinstance(formula, PredicateAtom)]
    ends = _ends(rule, len(atoms))
    head = names.atom(rule.head, INS)
    for i in range(len(atoms)):
        roles = [INS if i == k else NEW for k in range(len(atoms))]
        named = [names.atom(atom, role) for atom, role in zip(atoms, roles, strict=True)]
        body = tuple(_until(atom, end) for atom, end in zip(named, ends, strict=True))
        tests = tuple(formula for formula in rule.body if isinstance(formula, Comparison))
        for j in range(len(atoms)):
            id = f"{rule.id}.I{i + 1}" + (f".{j + 1}" if len(atoms) > 1 else "")
            made = Rule(_until(head, ends[j]), (*body, *tests, *_is_first(ends, j)), id)
            yield made, _published(head, named) if j == 0 else None


def _is_first(ends: Sequence[Variable], chosen: int) -> Iterator[Formula]:
    for k, end in enumerate(ends):
        if k != chosen:
            yield Comparison(ends[chosen], "<" if k < chosen else "<=", end)


def _published(head: PredicateAtom, body: Sequence[PredicateAtom]) -> Published:
    numbers = range(1, len(body) + 1)
    premises = ", ".join(f"{{}}[T{n}]" for n in numbers)
    ends = ", ".join(f"T{n}" for n in numbers)
    return f"{{}}[T] :- {premises}, T = min({ends})", (head, *body)


def _ends(rule: FlatRule, number: int) -> tuple[Variable, ...]:
    """Variables for the ends of premises, named so that the rule has none of them."""
    parts: Mapping[str, None] = {
        v.name: None for formula in (rule.head, *rule.body) for v in variables_of(formula)
    }
    starts = chain(["t", "until"], map("until{}_".format, count(1)))
    start = next(s for s in starts if not any(name.startswith(s) for name in parts))
    return tuple(Variable(f"{start}{n}") for n in range(1, number + 1))
