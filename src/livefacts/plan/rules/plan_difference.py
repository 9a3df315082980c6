"""The difference of plans: what goes, what stays and what comes between two plans.

A rule that stays keeps its support counts.  A rule that becomes recursive moves its instances
to the recursive counter; one that ceases to be recursive goes on counting as it was,
which is always sound.  A transitive rule whose edges begin or cease to depend on it is
dropped and adopted anew, because its instances are not counted.

Paper: Volz et al., section 4, without recomputing the predicates of changed rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from livefacts.language.program import Rule
from livefacts.plan.rules.operators import AggregatePlan, Level, Plan, RulePlan


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
    """What to do to get from one plan to another.

    Plans that both have are left aside: among thousands of rules nearly all stay as they are.
    """
    shared = _addresses(old) & _addresses(new)
    was = {plan.rule: plan for plan in _first_plans(old, shared)}
    new = Plan(tuple(_sticky(level, was) for level in new.levels), new.rules)
    now = {plan.rule: plan for plan in _first_plans(new, shared)}
    stays = {rule for rule in was if rule in now and was[rule].transitive == now[rule].transitive}
    aggregates = _aggregates(old) & _aggregates(new)
    gone = _Changed({id(rule) for rule in was if rule not in stays}, _aggregates(old) - aggregates)
    come = _Changed({id(rule) for rule in now if rule not in stays}, _aggregates(new) - aggregates)
    old_levels, new_levels = old.levels or (Level(),), new.levels or (Level(),)
    return RuleChange(
        new,
        tuple(gone.left_in(level) for level in old_levels),
        tuple(gone.part_of(level) for level in old_levels),
        new_levels,
        tuple(come.left_in(level) for level in new_levels),
        tuple(come.part_of(level) for level in new_levels),
        tuple(now[rule] for rule in stays if now[rule].recursive and not was[rule].recursive),
        _single_rules(old) == _single_rules(new),
    )


def _addresses(plan: Plan) -> set[int]:
    return {id(each) for level in plan.levels for each in level.plans}


def _aggregates(plan: Plan) -> set[AggregatePlan]:
    return {each for level in plan.levels for each in level.aggregates}


def _first_plans(plan: Plan, shared: set[int]) -> Iterator[RulePlan]:
    """One plan for each rule, the one at its first atom; those at these addresses aside."""
    seen: set[Rule] = set()
    for level in plan.levels:
        for each in [one for one in level.plans if id(one) not in shared]:
            if each.rule not in seen:
                seen.add(each.rule)
                yield each


def _sticky(level: Level, was: dict[Rule, RulePlan]) -> Level:
    """A rule that counted as recursive goes on doing so."""
    recursive = {rule for rule, plan in was.items() if plan.recursive}
    if not recursive:
        return level

    def kept(plans: Iterable[RulePlan]) -> tuple[RulePlan, ...]:
        return tuple(
            replace(plan, recursive=True) if plan.rule in recursive else plan for plan in plans
        )

    return replace(level, plans=kept(level.plans), negative=kept(level.negative))


@dataclass(frozen=True, slots=True)
class _Changed:
    """Rules and aggregates that one of two plans has and the other has not.

    Rules are known by address: all plans of one have the same.
    """

    rules: set[int]
    aggregates: set[AggregatePlan]

    def left_in(self, level: Level) -> Level:
        """A level without them."""
        if not self.rules and not self.aggregates:
            return level
        return replace(
            level,
            aggregates=tuple(plan for plan in level.aggregates if plan not in self.aggregates),
            plans=tuple([plan for plan in level.plans if id(plan.rule) not in self.rules]),
            negative=tuple([plan for plan in level.negative if id(plan.rule) not in self.rules]),
        )

    def part_of(self, level: Level) -> LevelChange:
        """Those of a level."""
        if not self.rules and not self.aggregates:
            return LevelChange()
        plans = {plan.rule: plan for plan in reversed(level.plans) if id(plan.rule) in self.rules}
        return LevelChange(
            tuple(plans.values()),
            tuple(plan for plan in level.aggregates if plan in self.aggregates),
        )


def _single_rules(plan: Plan) -> set[Rule]:
    return {rule for level in plan.levels for rule in level.single}
