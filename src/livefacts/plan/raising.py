"""Plans for facts that last: forward from a fact that lasts longer, backward from one in doubt.

Where every fact carries the time until which it holds, a rule is taken at each of its
atoms when that time is raised, and at its head when it has to be found anew.  Of several
derivations the one that lasts longest counts, so nothing has to be counted, and no plan
is restricted as those of transitive rules are elsewhere.

Paper: Barbieri et al., section 3.
"""

from __future__ import annotations

from collections.abc import Iterable

from livefacts.errors import Place, RuleError
from livefacts.plan.normalize import normalize, positive_atoms
from livefacts.plan.operators import RulePlan
from livefacts.plan.order import backward_steps, ordered_steps
from livefacts.rules.formula import Comparison, PredicateAtom, TripleAtom
from livefacts.rules.program import Rule


class NotPositiveError(RuleError):
    """A rule whose conclusions have no end that is known beforehand."""


def lasting_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules in normal form; refuses those whose conclusions may begin when a fact ends."""
    rules = tuple(rules)
    for rule in rules:
        _require_positive(rule)
    return normalize(rules)


def _require_positive(rule: Rule) -> None:
    place: Place | None = rule.place
    is_plain = rule.at is None
    for formula in rule.body:
        if is_plain and not isinstance(formula, TripleAtom | PredicateAtom | Comparison):
            is_plain, place = False, formula.place
    if not is_plain:
        raise NotPositiveError(
            f"rule {rule.id or '(without a name)'} has more than atoms and comparisons: until "
            "when its conclusions hold is not known beforehand",
            place=place if place and place.line else None,
            hint="such a program is kept by exact changes instead",
        )


def forward_plans(rule: Rule) -> list[RulePlan]:
    """A rule of the normal form, taken at each of its atoms."""
    assert rule.head is not None
    return [
        RulePlan(rule, rule.head, atom, ordered_steps(rule, number), recursive=False)
        for number, atom in enumerate(positive_atoms(rule))
    ]


def backward_plan(rule: Rule) -> RulePlan:
    """A rule of the normal form, taken at its head: each instance derives that very fact."""
    pattern, steps = backward_steps(rule)
    return RulePlan(rule, pattern, pattern, steps, recursive=False)
