"""Plan text: what an engine will do, for people and for golden tests."""

from __future__ import annotations

from collections.abc import Iterator

from livefacts.language.formula import (
    Aggregate,
    Arithmetic,
    Comparison,
    Expression,
    Formula,
    FunctionCall,
    Negation,
    PredicateAtom,
    Timed,
    TripleAtom,
    Variable,
)
from livefacts.language.program import Rule
from livefacts.model.facts import shown
from livefacts.plan.rules.operators import (
    AggregatePlan,
    AntiJoin,
    Bind,
    Level,
    Plan,
    RulePlan,
    Scan,
    Step,
    Test,
)
from livefacts.plan.rules.schema_split import TYPE, is_schema


def explain_plan(plan: Plan, *, single: bool = True) -> str:
    """The plan in words; `single` says whether rules that can follow single triples do so."""
    lines = []
    for number, level in enumerate(plan.levels, start=1):
        lines.append(f"level {number}")
        lines.extend("  " + line for line in _level(level, single))
    return "\n".join(lines) or "no rules"


def _level(level: Level, single: bool) -> Iterator[str]:
    for aggregate in level.aggregates:
        yield _aggregate(aggregate)
    plans = level.plans
    if single:
        for rule in level.single:
            yield _single(rule)
    else:
        plans += level.single_plans
    for plan in plans:
        yield from _rule_plan(plan)


def _aggregate(plan: AggregatePlan) -> str:
    groups = "one group" if not plan.groups else f"groups by {plan.groups} columns"
    return f"{plan.function} over {plan.source.name}, {groups}, into {plan.target.name}"


def _single(rule: Rule) -> str:
    instance = [a for a in rule.body if isinstance(a, TripleAtom) and not is_schema(a)]
    if not instance:
        return f"{rule.id}: closes the schema"
    return f"{rule.id}: follows each {written(instance[0])} under the closed schema"


def _rule_plan(plan: RulePlan) -> Iterator[str]:
    edge = "an edge of " if plan.pivot_is_edge else ""
    yield f"{plan.rule.id}: when {edge}{written(plan.pivot)} is new"
    for step in plan.steps:
        yield f"    {_step(step)}"
    counted = "transitive" if plan.transitive else "recursive" if plan.recursive else ""
    yield f"    conclude {written(plan.head)}" + (f" ({counted})" if counted else "")


def _step(step: Step) -> str:
    match step:
        case Scan(atom, before, edges_only):
            kind = "edges of " if edges_only else ""
            return f"match {kind}{written(atom)}" + (" seen before" if before else "")
        case AntiJoin(atom):
            return f"unless {written(atom)}"
        case Test(operator, left, right):
            return f"if {written(left)} {operator} {written(right)}"
        case Bind(target, operator, left, right):
            return f"let {written(target)} = {operator}({written(left)}, {written(right)})"


def written(part: Formula | Expression) -> str:
    """A formula or term as in the rule language; hidden predicates under their own names."""
    match part:
        case TripleAtom(s, p, o):
            return f"[{written(s)}, {'a' if p == TYPE else written(p)}, {written(o)}]"
        case PredicateAtom(name, arguments):
            return f"{name}({', '.join(map(written, arguments))})" if arguments else name
        case Negation(atom):
            return f"not {written(atom)}"
        case Comparison(left, operator, right):
            return f"{written(left)} {operator} {written(right)}"
        case Arithmetic(operator, left, right):
            return f"({written(left)} {operator} {written(right)})"
        case FunctionCall(function, argument):
            return f"{function}({written(argument)})"
        case Variable():
            return str(part)
        case Aggregate() | Timed():
            raise AssertionError("plans have neither braces nor windows")
        case _:
            return shown(part)
