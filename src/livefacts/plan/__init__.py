"""Planning: from rules and queries to steps that any engine can run.

The passes of a program, in order: `normalize` (no constraints, no braces, no parts of bodies
that nothing else needs), `stratify` (levels),
the schema split (rules that follow single triples), and for every other rule one plan per
positive atom: `ordered_steps`, then `restricted` where the rule is transitive.

In: rules, queries and windows as data.
Out: `Plan`, `FlowPlan`, rules without time, maintenance programs.

- `time_lowering`: timed formulas to rules over time points
- `rules`: rules to joins, one for every premise that may change
- `continuous`: the SPARQL algebra to a dataflow
- `maintenance`: programs, as rules, that keep other programs' conclusions true

Papers: Volz et al., sections 3 and 4; DynamiTE, section 3.2; Laser, section 3.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property

from livefacts.language.checks.strata import Strata
from livefacts.language.checks.strata_change import Restratifier
from livefacts.language.formula import Aggregate, Negation, PredicateAtom
from livefacts.language.program import Rule
from livefacts.plan.rules.join_order import negative_steps, ordered_steps
from livefacts.plan.rules.normal_form import normalize, positive_atoms
from livefacts.plan.rules.operators import AggregatePlan, Level, Plan, RulePlan
from livefacts.plan.rules.schema_split import is_worth_splitting
from livefacts.plan.rules.traits import SortedRules, sorted_rules, traits
from livefacts.plan.rules.transitivity import restrict_to_edges

__all__ = ["compile_normal", "compile_rules"]

Rules = tuple[Rule, ...]


def compile_rules(
    rules: Iterable[Rule],
    strata: Strata | None = None,
    before: Plan | None = None,
    restratifier: Restratifier | None = None,
) -> Plan:
    """The plan of a program that has passed its checks.

    `strata` are those of the rules, if they are known; rules that are in the plan `before` keep
    the plans they have, and a restratifier finds the strata of a changed program faster.
    """
    rules = tuple(rules)
    normal = normalize(rules)
    if strata is None or normal != rules:
        strata = (restratifier or Restratifier()).strata(normal)
    return _compiled(normal, strata, before, None)


def compile_normal(
    rules: Iterable[Rule], before: Plan, restratifier: Restratifier, single: Container[Rule]
) -> Plan:
    """The plan of rules in normal form, of which only `single` may follow single triples."""
    rules = tuple(rules)
    return _compiled(rules, restratifier.strata(rules), before, single)


def _compiled(
    normal: Rules, strata: Strata, before: Plan | None, single: Container[Rule] | None
) -> Plan:
    """The plan of rules in normal form.

    Only one level follows single triples, the one with most rules that can: what another
    level concludes in that way would have to be followed again.
    """
    levels = [sorted_rules(rules, single) for rules in strata.levels]
    singles = [len(each.single) if is_worth_splitting(each.single) else 0 for each in levels]
    chosen = singles.index(max(singles)) if any(singles) else None
    planner = _Planner(strata, _KnownPlans(before))
    return Plan(
        tuple(
            planner.level(each if number == chosen else each.unsplit(strata.levels[number]))
            for number, each in enumerate(levels)
        ),
        normal,
    )


class _KnownPlans:
    """The plans of an earlier program, by the address of their rule, which they keep alive."""

    def __init__(self, plan: Plan | None) -> None:
        levels = plan.levels if plan else ()
        self._plans = tuple(each for level in levels for each in level.plans + level.single_plans)
        # One number for each rule, not one list: the garbage collector would go over them.
        backwards = zip(range(len(self._plans) - 1, -1, -1), reversed(self._plans), strict=True)
        self._first = {id(each.rule): number for number, each in backwards}

    def of(self, rule: Rule) -> tuple[RulePlan, ...]:
        """The plans of a rule, which stand together."""
        first = self._first.get(id(rule))
        if first is None:
            return ()
        end = first + 1
        while end < len(self._plans) and self._plans[end].rule is rule:
            end += 1
        return self._plans[first:end]


class _Planner:
    """The strata of a program, and the plans that some of its rules have already."""

    def __init__(self, strata: Strata, known: _KnownPlans) -> None:
        self._strata = strata
        self._known = known

    @cached_property
    def _alone(self) -> set[Rule]:
        """The rules that depend on no other that depends on them."""
        return {part[0] for part in self._strata.components if len(part) == 1}

    def level(self, rules: SortedRules) -> Level:
        return Level(
            tuple(map(_aggregate_plan, rules.aggregates)),
            self._plans(rules.others),
            tuple(p for rule in rules.negated for p in _negative_plans(rule, self._strata)),
            rules.single,
            self._plans(rules.single),
            _is_mixed(rules.single, self._strata),
        )

    def _plans(self, rules: Rules) -> tuple[RulePlan, ...]:
        return tuple([plan for rule in rules for plan in self._plans_of(rule)])

    def _plans_of(self, rule: Rule) -> Sequence[RulePlan]:
        is_transitive_alone = traits(rule).is_transitive and rule in self._alone
        recursive = self._strata.is_recursive(rule)
        known = self._known.of(rule)
        if known and known[0].recursive == recursive and known[0].transitive == is_transitive_alone:
            return known
        return _rule_plans(rule, recursive, is_transitive_alone)


def _is_mixed(single: tuple[Rule, ...], strata: Strata) -> bool:
    chosen = set(single)
    return bool(chosen) and any(
        chosen.intersection(part) and not chosen.issuperset(part) for part in strata.components
    )


def _rule_plans(rule: Rule, recursive: bool, is_restricted: bool) -> list[RulePlan]:
    """One plan per positive atom.

    A transitive rule joins with edges only if no edge depends on its pairs: else a lost
    edge could seem to be replaced by one that it holds up itself.
    """
    assert rule.head is not None
    plans = [
        RulePlan(rule, rule.head, atom, ordered_steps(rule, number), recursive)
        for number, atom in enumerate(positive_atoms(rule))
    ]
    return [restrict_to_edges(plan) for plan in plans] if is_restricted else plans


def _negative_plans(rule: Rule, strata: Strata) -> Iterator[RulePlan]:
    assert rule.head is not None
    negations = [formula for formula in rule.body if isinstance(formula, Negation)]
    for number in range(len(negations)):
        pivot, steps = negative_steps(rule, number)
        recursive = strata.is_recursive(rule)
        yield RulePlan(rule, rule.head, pivot, steps, recursive)


def _aggregate_plan(rule: Rule) -> AggregatePlan:
    (aggregate,) = rule.body
    assert isinstance(aggregate, Aggregate)
    source, *counted = aggregate.body
    assert isinstance(source, PredicateAtom)
    assert isinstance(rule.head, PredicateAtom)
    groups = len(rule.head.arguments) - 1
    groups_of = counted[0] if counted else None
    assert groups_of is None or isinstance(groups_of, PredicateAtom)
    return AggregatePlan(
        source, rule.head, aggregate.function, groups, groups_of, aggregate.parameter
    )
