"""Rule changes: what goes, what stays and what comes between two plans.

A rule that stays keeps its counters.  A rule that becomes recursive moves its instances
to the recursive counter; one that ceases to be recursive goes on counting as it was,
which is always sound.  A transitive rule whose edges begin or cease to depend on it is
dropped and adopted anew, because its instances are not counted.

Paper: Volz et al., section 4, without recomputing the predicates of changed rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from livefacts.plan.operators import AggregatePlan, Level, Plan, RulePlan
from livefacts.rules.program import Rule


@dataclass(frozen=True, slots=True)
class LevelChange:
    """One plan for each rule that comes (or goes) in a level, and aggregates likewise."""

    plans: tuple[RulePlan, ...] = ()
    aggregates: tuple[AggregatePlan, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleChange:
    """The way from one plan to another."""

    plan: Plan
    kept: tuple[Level, ...]
    """The old levels, with the rules that stay."""
    dropped: tuple[LevelChange, ...]
    new_levels: tuple[Level, ...]
    losing: tuple[Level, ...]
    """The new levels, with the rules that stay: only those have instances to lose."""
    levels: tuple[LevelChange, ...]
    recursive: tuple[RulePlan, ...]
    keeps_single: bool


def rule_change(old: Plan, new: Plan) -> RuleChange:
    """What to do to get from one plan to another."""
    was = {plan.rule: plan for plan in _first_plans(old)}
    new = Plan(tuple(_sticky(level, was) for level in new.levels))
    now = {plan.rule: plan for plan in _first_plans(new)}
    stays = {rule for rule in was if rule in now and was[rule].transitive == now[rule].transitive}
    old_aggregates = {plan for level in old.levels for plan in level.aggregates}
    new_aggregates = {plan for level in new.levels for plan in level.aggregates}
    kept_aggregates = old_aggregates & new_aggregates
    old_levels, new_levels = old.levels or (Level(),), new.levels or (Level(),)
    return RuleChange(
        new,
        tuple(_restricted(level, stays, kept_aggregates) for level in old_levels),
        tuple(_level_change(level, stays, kept_aggregates) for level in old_levels),
        new_levels,
        tuple(_restricted(level, stays, kept_aggregates) for level in new_levels),
        tuple(_level_change(level, stays, kept_aggregates) for level in new_levels),
        tuple(now[rule] for rule in stays if now[rule].recursive and not was[rule].recursive),
        _single_rules(old) == _single_rules(new),
    )


def _first_plans(plan: Plan) -> Iterator[RulePlan]:
    """One plan for each rule: the one at its first atom."""
    seen: set[Rule] = set()
    for level in plan.levels:
        for each in level.plans:
            if each.rule not in seen:
                seen.add(each.rule)
                yield each


def _sticky(level: Level, was: dict[Rule, RulePlan]) -> Level:
    def kept(plans: Iterable[RulePlan]) -> tuple[RulePlan, ...]:
        return tuple(
            replace(plan, recursive=True) if _was_recursive(plan, was) else plan for plan in plans
        )

    return replace(level, plans=kept(level.plans), negative=kept(level.negative))


def _was_recursive(plan: RulePlan, was: dict[Rule, RulePlan]) -> bool:
    return plan.rule in was and was[plan.rule].recursive


def _restricted(level: Level, rules: set[Rule], aggregates: set[AggregatePlan]) -> Level:
    return replace(
        level,
        aggregates=tuple(plan for plan in level.aggregates if plan in aggregates),
        plans=tuple(plan for plan in level.plans if plan.rule in rules),
        negative=tuple(plan for plan in level.negative if plan.rule in rules),
    )


def _level_change(level: Level, rules: set[Rule], aggregates: set[AggregatePlan]) -> LevelChange:
    changed = {plan.rule: plan for plan in reversed(level.plans) if plan.rule not in rules}
    return LevelChange(
        tuple(changed.values()),
        tuple(plan for plan in level.aggregates if plan not in aggregates),
    )


def _single_rules(plan: Plan) -> set[Rule]:
    return {rule for level in plan.levels for rule in level.single}
