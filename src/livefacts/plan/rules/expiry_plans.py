"""Expiry plans: forward from a fact that lasts longer, backward from one that must be rederived.

Where every fact carries the time until which it holds, a rule is taken at each of its
atoms when that time is raised, and at its head when the head must be found anew.  Of several
derivations the one that lasts longest counts, so no support is counted.

Paper: Barbieri et al., section 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from livefacts.errors import RuleError
from livefacts.language.formula import (
    Comparison,
    Formula,
    PredicateAtom,
    Slot,
    TripleAtom,
    Variable,
)
from livefacts.language.program import Rule
from livefacts.plan.rules.join_order import backward_steps, ordered_steps
from livefacts.plan.rules.normal_form import normalize, positive_atoms
from livefacts.plan.rules.operators import RulePlan, Scan
from livefacts.plan.rules.transitivity import is_transitive, restrict_to_edges

ANYTHING = Variable("")


class NotPositiveError(RuleError):
    """A rule whose conclusions have no end that is known beforehand."""


def lasting_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules in normal form; refuses those whose conclusions may begin when a fact ends."""
    rules = tuple(rules)
    for rule in rules:
        _require_positive(rule)
    return normalize(rules)


def are_lasting(rules: Iterable[Rule]) -> bool:
    """Whether the conclusions of all rules have ends that are known beforehand."""
    return not any(rule.at is not None or any(_odd_formulas(rule)) for rule in rules)


def _odd_formulas(rule: Rule) -> list[Formula]:
    kinds = TripleAtom | PredicateAtom | Comparison
    return [formula for formula in rule.body if not isinstance(formula, kinds)]


def _require_positive(rule: Rule) -> None:
    if not are_lasting([rule]):
        odd = _odd_formulas(rule) if rule.at is None else []
        place = odd[0].place if odd else rule.place
        raise NotPositiveError(
            f"rule {rule.id or '(without a name)'} has more than atoms and comparisons: until "
            "when its conclusions hold is not known beforehand",
            place=place if place.line else None,
            hint="such a program is kept by exact changes instead",
        )


@dataclass(frozen=True)
class LastingPlans:
    """One rule: from an atom whose time was raised or lowered, and from its head.

    Each is made when it is asked for: where nothing is taken back, nothing falls.

    Of a transitive rule that is alone, one premise is any pair, the other an asserted one.
    The closure is the same.  When a time is lowered, pairs are followed whatever they are:
    what then falls too much is derived again.
    """

    rule: Rule
    is_alone: bool

    @cached_property
    def raising(self) -> tuple[RulePlan, ...]:
        """From each atom whose time was raised."""
        return tuple(map(restrict_to_edges, self.falling)) if self.is_alone else self.falling

    @cached_property
    def falling(self) -> tuple[RulePlan, ...]:
        """From each atom whose time was lowered."""
        rule, head = self.rule, self.rule.head
        assert head is not None
        return tuple(
            RulePlan(rule, head, atom, ordered_steps(rule, number), recursive=False)
            for number, atom in enumerate(positive_atoms(rule))
        )

    @cached_property
    def backward(self) -> tuple[RulePlan, ...]:
        """From the head, to find it anew."""
        pattern, steps = backward_steps(self.rule)
        plan = RulePlan(self.rule, pattern, pattern, steps, recursive=False)
        return (_restricted_backward(plan) if self.is_alone else plan,)


class LastingPlanner:
    """Plans of rules in normal form; a rule that stays keeps the very plans it has."""

    def __init__(self) -> None:
        self._known: dict[tuple[Rule, bool], LastingPlans] = {}

    def plans(self, rules: Sequence[Rule]) -> list[LastingPlans]:
        """One for each rule of a program."""
        concluding = Counter(map(_derived, rules))
        return [self._plans_of(rule, _is_alone(rule, concluding)) for rule in rules]

    def forward(self, rule: Rule) -> RulePlan:
        """A rule from its first atom on, whatever time that has."""
        return self._plans_of(rule, is_alone=False).falling[0]

    def _plans_of(self, rule: Rule, is_alone: bool) -> LastingPlans:
        known = self._known.get((rule, is_alone))
        if known is None:
            known = self._known[rule, is_alone] = LastingPlans(rule, is_alone)
        return known


def _derived(rule: Rule) -> Slot | tuple[str, int]:
    """The predicate of the facts that a rule concludes, or a variable."""
    assert rule.head is not None
    if isinstance(rule.head, TripleAtom):
        return ANYTHING if isinstance(rule.head.predicate, Variable) else rule.head.predicate
    return rule.head.name, len(rule.head.arguments)


def _is_alone(rule: Rule, concluding: Counter[Slot | tuple[str, int]]) -> bool:
    """Whether a transitive rule is the only one that concludes facts of its predicate."""
    is_triple = isinstance(rule.head, TripleAtom)
    others = concluding[_derived(rule)] - 1 + (concluding[ANYTHING] if is_triple else 0)
    return is_transitive(rule) and not others


def _restricted_backward(plan: RulePlan) -> RulePlan:
    target = plan.head.slots[-1]
    steps = (
        replace(step, edges_only=step.atom.slots[-1] == target) if isinstance(step, Scan) else step
        for step in plan.steps
    )
    return replace(plan, steps=tuple(steps))
