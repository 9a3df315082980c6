"""Many worlds in one fixpoint on Spark, compared with the oracle world by world, after every step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from pyoxigraph import Triple
from tests.oracle import Row, matches_in, model, row_of, supports
from tests.properties.compare.spark_frames import decoded, found, frames, is_inner
from tests.properties.generate.worlds import Worlds

from livefacts.engine.spark.joins.closure_change import Way, change
from livefacts.engine.spark.joins.materialization import Closure, joined_plan, materialize
from livefacts.engine.spark.joins.rounds import Setting
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact
from livefacts.plan.rules.normal_form import VIOLATION, violation_variables

LIMIT = 100_000


def differences(worlds: Worlds, setting: Setting, way: Way = Way.COUNTING_DRED) -> Iterator[str]:
    """Where Spark differs from the oracle after a step, in words."""
    plan = joined_plan(worlds.plan_rules(0))
    asserted = _asserted(worlds, 0)
    closure = materialize(setting, plan, frames(setting, asserted), limit=LIMIT)
    truth = _truths(worlds, 0)
    yield from _unlike(worlds, 0, closure, truth)
    for step in worlds.steps[1:]:
        plan = closure.plan
        if worlds.present[step] != worlds.present[step - 1]:
            plan = joined_plan(worlds.plan_rules(step))
        before, asserted = asserted, _asserted(worlds, step)
        changed = change(
            closure,
            frames(setting, {k: asserted[k] - before[k] for k in asserted}),
            frames(setting, {k: before[k] - asserted[k] for k in asserted}),
            plan=plan,
            way=way,
            limit=LIMIT,
        )
        closure = changed.closure
        rows, truth = truth, _truths(worlds, step)
        yield from _unlike(worlds, step, closure, truth)
        yield from _unlike_delta(step, closure, changed.delta, rows, truth)


def _asserted(worlds: Worlds, step: int) -> dict[int, set[Triple | Fact]]:
    return {k: worlds.asserted(k, step) for k in range(len(worlds.worlds))}


def _truths(worlds: Worlds, step: int) -> dict[int, set[Row]]:
    return {
        k: model(Program().plus(worlds.active(k, step)), asserted)
        for k, asserted in _asserted(worlds, step).items()
    }


def _unlike(
    worlds: Worlds, step: int, closure: Closure, truths: dict[int, set[Row]]
) -> Iterator[str]:
    closed = found(closure)
    for k, truth in truths.items():
        expected = _expected(worlds, k, step, truth)
        stored = {row: counts for row, counts in closed[k].items() if not is_inner(row)}
        for row in sorted(stored.keys() | expected.keys(), key=str):
            if stored.get(row) != expected.get(row):
                yield f"step {step}, world {k}, {row}: {stored.get(row)}, not {expected.get(row)}"
        rules = worlds.active(k, step)
        if _violations(rules, closed[k]) != matches_in(truth, rules):
            yield f"step {step}, world {k}: violations differ"


def _expected(worlds: Worlds, world: int, step: int, truth: set[Row]) -> dict[Row, tuple[int, int]]:
    """Every fact with whether it is told and how many instances derive it."""
    asserted = {row_of(fact) for fact in worlds.asserted(world, step)}
    rules = [rule for rule in worlds.active(world, step) if not rule.is_constraint]
    counts = Counter(row for _, row in supports(truth, rules))
    return {row: (int(row in asserted), counts[row]) for row in truth if not is_inner(row)}


def _violations(rules: list[Rule], rows: Any) -> set[Any]:
    constraints = {VIOLATION + rule.id: rule for rule in rules if rule.is_constraint}
    found = set()
    for name, terms in rows:
        if name in constraints:
            variables = violation_variables(constraints[name])
            named = zip((v.name for v in variables), terms, strict=True)
            found.add((constraints[name].id, frozenset(named)))
    return found


def _unlike_delta(
    step: int, closure: Closure, delta: Any, before: dict[int, set[Row]], after: dict[int, set[Row]]
) -> Iterator[str]:
    signed: Any = {k: Counter() for k in after}
    for row in delta.collect():
        fact = decoded(closure, row)
        if not is_inner(fact):
            signed[row.k][fact] += row.sign
    for k in after:
        expected = dict.fromkeys(after[k] - before[k], 1)
        expected |= {row: -1 for row in before[k] - after[k] if not is_inner(row)}
        if dict(signed[k]) != expected:
            odd = {
                row for row in signed[k].keys() | expected if signed[k][row] != expected.get(row)
            }
            yield f"step {step}, world {k}: the delta is wrong about {sorted(odd, key=str)[:3]}"
