"""Unfolding: what a query asks for, with the bodies of rules that negate in the place of their heads.

What is left are atoms that follow by positive rules, and groups of them that are absent.  Whoever
knows until when each of these holds knows from when until when a match does, in windows of every
length.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from livefacts.language.checks.relevance import can_meet, dependent_rules
from livefacts.language.checks.strata import body_atoms
from livefacts.language.formula import (
    Atom,
    Comparison,
    Formula,
    Negation,
    PredicateAtom,
    Slot,
    TripleAtom,
    Variable,
    filled,
    variables_of,
)
from livefacts.language.program import Rule
from livefacts.plan.rules.expiry_plans import are_lasting
from livefacts.plan.rules.normal_form import positive_atoms

MOST_STEPS = 64
"""So many rules are put in the place of heads, at the most; recursion never ends."""
MOST_FORMULAS = 32
"""So many atoms and comparisons a way may have."""


@dataclass(frozen=True, slots=True)
class MatchWay:
    """One way to a match: what must hold, and groups none of which may hold as a whole.

    `shown` are the values of the variables that were asked for; `rules` are the ids of the
    rules that were put in.
    """

    shown: tuple[Slot, ...]
    body: tuple[Formula, ...]
    absent: tuple[tuple[Formula, ...], ...] = ()
    rules: tuple[str, ...] = ()

    def atoms(self) -> tuple[Atom, ...]:
        """What is looked up."""
        parts = (self.body, *self.absent)
        return tuple([atom for part in parts for atom, _ in body_atoms(part)])


def negating_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules with more than atoms and comparisons, and those that depend on such rules."""
    rules = tuple(rules)
    return dependent_rules(rules, [rule for rule in rules if not are_lasting([rule])])


def ways_to(goal: MatchWay, rules: Sequence[Rule]) -> tuple[MatchWay, ...] | None:
    """All ways to a goal, if these rules, which negate, are not followed; None if that is too much.

    What the goal and the rules negate must not depend on such rules itself.
    """
    if len(rules) > MOST_STEPS:
        return None
    denied = [atom for group in goal.absent for atom, _ in body_atoms(group)]
    denied += [part.atom for rule in rules for part in rule.body if isinstance(part, Negation)]
    heads = [rule.head for rule in rules if rule.head is not None]
    if not all(map(_can_be_put_in, rules)) or _meet(denied, heads):
        return None
    found, waiting, steps = [], [(goal, 0)], 0
    while waiting:
        way, at = waiting.pop()
        if at == len(way.body):
            found.append(way)
            continue
        waiting.append((way, at + 1))
        for rule in rules:
            made = _with_body(way, at, rule, steps)
            if made is not None:
                steps += 1
                waiting.append((made, at))
                if steps > MOST_STEPS or len(made.body) + len(made.absent) > MOST_FORMULAS:
                    return None
    return tuple(found)


def _meet(some: Iterable[Atom], others: Sequence[Atom]) -> bool:
    return any(can_meet(one, other) for one in some for other in others)


def _can_be_put_in(rule: Rule) -> bool:
    """Whether the body says all: what the head shows is found by atoms, not computed."""
    kinds = TripleAtom | PredicateAtom | Comparison | Negation
    if rule.head is None or rule.at is not None:
        return False
    looked_up = {v for atom in positive_atoms(rule) for v in variables_of(atom)}
    return looked_up.issuperset(variables_of(rule.head)) and all(
        isinstance(part, kinds) for part in rule.body
    )


def _with_body(way: MatchWay, at: int, rule: Rule, number: int) -> MatchWay | None:
    """A way with the body of a rule in the place of an atom, if the rule concludes such facts."""
    atom, head = way.body[at], rule.head
    if head is None or not isinstance(atom, TripleAtom | PredicateAtom) or not can_meet(atom, head):
        return None
    names = {v: Variable(f"{v.name}:{number}") for part in rule.body for v in variables_of(part)}
    known = _unified(atom.slots, [names[s] if isinstance(s, Variable) else s for s in head.slots])
    if known is None:
        return None
    own = [filled(filled(part, names), known) for part in rule.body]
    holds = [part for part in own if not isinstance(part, Negation)]
    denied = [(part.atom,) for part in own if isinstance(part, Negation)]
    body = [filled(part, known) for part in way.body]
    absent = [tuple(filled(part, known) for part in group) for group in way.absent]
    return MatchWay(
        tuple(known.get(slot, slot) if isinstance(slot, Variable) else slot for slot in way.shown),
        (*body[:at], *holds, *body[at + 1 :]),
        (*absent, *denied),
        (*way.rules, rule.id),
    )


def _unified(some: Sequence[Slot], others: Sequence[Slot]) -> dict[Variable, Slot] | None:
    """What variables must be for slots to be the same; None if they cannot be."""
    known: dict[Variable, Slot] = {}

    def value(slot: Slot) -> Slot:
        while isinstance(slot, Variable) and slot in known:
            slot = known[slot]
        return slot

    for one, other in zip(map(value, some), map(value, others), strict=True):
        if one == other:
            continue
        if isinstance(other, Variable):
            known[other] = one
        elif isinstance(one, Variable):
            known[one] = other
        else:
            return None
    return {variable: value(variable) for variable in known}
