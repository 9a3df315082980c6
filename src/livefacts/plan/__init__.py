"""Planning: from rules to steps that any engine can run.

The passes, in order: `normalize` (no constraints, no braces), `stratify` (levels),
`split` (rules that follow single triples), and for every other rule one plan per
positive atom: `ordered_steps`, then `restricted` where the rule is transitive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from livefacts.plan.normalize import normalize, positive_atoms
from livefacts.plan.operators import AggregatePlan, Level, Plan, RulePlan
from livefacts.plan.order import negative_steps, ordered_steps
from livefacts.plan.split import split
from livefacts.plan.transitive import is_transitive, restricted
from livefacts.rules.formula import Aggregate, Negation, PredicateAtom
from livefacts.rules.program import Rule
from livefacts.rules.strata import Strata, stratify

__all__ = ["compile_rules"]


def compile_rules(rules: Iterable[Rule]) -> Plan:
    """The plan of a program that has passed its checks.

    Only one level follows single triples, the one with most rules that can: what another
    level concludes in that way would have to be followed again.
    """
    strata = stratify(normalize(rules))
    singles = [len(split(_deductive(rules))[0]) for rules in strata.levels]
    chosen = singles.index(max(singles)) if any(singles) else None
    return Plan(
        tuple(_level(rules, strata, number == chosen) for number, rules in enumerate(strata.levels))
    )


def _level(rules: tuple[Rule, ...], strata: Strata, is_single: bool) -> Level:
    aggregates = tuple(_aggregate_plan(rule) for rule in rules if _is_aggregate(rule))
    single, others = split(_deductive(rules)) if is_single else ((), _deductive(rules))
    return Level(
        aggregates,
        _plans(others, strata),
        tuple(plan for rule in others for plan in _negative_plans(rule, strata)),
        single,
        _plans(single, strata),
        _is_mixed(single, strata),
    )


def _is_mixed(single: tuple[Rule, ...], strata: Strata) -> bool:
    chosen = set(single)
    return any(
        chosen.intersection(part) and not chosen.issuperset(part) for part in strata.components
    )


def _deductive(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if not _is_aggregate(rule))


def _plans(rules: tuple[Rule, ...], strata: Strata) -> tuple[RulePlan, ...]:
    alone = {part[0] for part in strata.components if len(part) == 1}
    return tuple(plan for rule in rules for plan in _rule_plans(rule, strata, rule in alone))


def _rule_plans(rule: Rule, strata: Strata, is_alone: bool) -> list[RulePlan]:
    """One plan per positive atom.

    A transitive rule joins with edges only if no edge depends on its pairs: else a lost
    edge could seem to be replaced by one that it holds up itself.
    """
    assert rule.head is not None
    plans = [
        RulePlan(rule, rule.head, atom, ordered_steps(rule, number), strata.is_recursive(rule))
        for number, atom in enumerate(positive_atoms(rule))
    ]
    return [restricted(plan) for plan in plans] if is_alone and is_transitive(rule) else plans


def _negative_plans(rule: Rule, strata: Strata) -> Iterator[RulePlan]:
    assert rule.head is not None
    negations = [formula for formula in rule.body if isinstance(formula, Negation)]
    for number in range(len(negations)):
        pivot, steps = negative_steps(rule, number)
        recursive = strata.is_recursive(rule)
        yield RulePlan(rule, rule.head, pivot, steps, recursive, pivot_is_negated=True)


def _is_aggregate(rule: Rule) -> bool:
    return isinstance(rule.body[0], Aggregate)


def _aggregate_plan(rule: Rule) -> AggregatePlan:
    (aggregate,) = rule.body
    assert isinstance(aggregate, Aggregate)
    (source,) = aggregate.body
    assert isinstance(source, PredicateAtom)
    assert isinstance(rule.head, PredicateAtom)
    return AggregatePlan(source, rule.head, aggregate.function, len(rule.head.arguments) - 1)
