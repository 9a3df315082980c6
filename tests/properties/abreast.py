"""Histories abreast: the rules of one random case, and many worlds that use them differently.

Every world has facts of its own that come and go.  Most rules ask in addition whether they
are switched on in their world, which is a fact like others: so each world has a program of
its own.  Now and then rules come and go for all worlds.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pyoxigraph import Triple
from tests.oracle import Row, conclusion, instances, matches_in, model, row_of
from tests.properties.histories import Stock, draw_changes
from tests.properties.programs import draw_case
from tests.properties.worlds import decoded, found, frames, is_inner

from livefacts.engine.spark.joins.closure_change import Way, change
from livefacts.engine.spark.joins.materialization import Closure, joined_plan, materialize
from livefacts.engine.spark.joins.rounds import Setting
from livefacts.language.formula import PredicateAtom
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact, Symbol
from livefacts.plan.rules.normal_form import VIOLATION, violation_variables

SWITCH, WORLD = "switched_on", Fact("_world:", ())
LIMIT = 100_000


@dataclass(frozen=True)
class World:
    """What is told and which rules are switched on, after each step."""

    asserted: tuple[frozenset[Triple | Fact], ...]
    switched: tuple[frozenset[str], ...]


@dataclass(frozen=True)
class Abreast:
    """Rules, which of them have a switch, which are there after each step, and the worlds."""

    name: str
    rules: tuple[Rule, ...]
    with_switch: frozenset[str]
    present: tuple[frozenset[str], ...]
    worlds: tuple[World, ...]

    @property
    def steps(self) -> range:
        return range(len(self.present))

    def plan_rules(self, step: int) -> list[Rule]:
        """The rules as the engine gets them."""
        return [
            _switchable(rule) if rule.id in self.with_switch else rule
            for rule in self.rules
            if rule.id in self.present[step]
        ]

    def asserted(self, world: int, step: int) -> set[Triple | Fact]:
        """What a world is told, switches included."""
        switches = {Fact(SWITCH, (Symbol(id),)) for id in self.worlds[world].switched[step]}
        return {*self.worlds[world].asserted[step], *switches, WORLD}

    def active(self, world: int, step: int) -> list[Rule]:
        """The rules that a world has."""
        on = self.worlds[world].switched[step]
        return [
            rule
            for rule in self.rules
            if rule.id in self.present[step] and (rule.id not in self.with_switch or rule.id in on)
        ]


def _switchable(rule: Rule) -> Rule:
    return replace(rule, body=(*rule.body, PredicateAtom(SWITCH, (Symbol(rule.id),))))


def draw_abreast(seed: int, worlds: int, steps: int) -> Abreast:
    """Random histories over the rules and facts of a random case."""
    case, pick = draw_case(seed), random.Random(f"abreast {seed}")
    rules = Program().plus(case.rules).rules
    stock = Stock(rules, tuple(dict.fromkeys(case.facts)))
    return Abreast(
        f"seed {seed}",
        rules,
        frozenset(rule.id for rule in rules if pick.random() < 0.6),
        tuple(_draw_present(pick, rules, steps)),
        tuple(_draw_world(pick, stock, steps) for _ in range(worlds)),
    )


def _draw_present(
    pick: random.Random, rules: tuple[Rule, ...], steps: int
) -> Iterator[frozenset[str]]:
    present = {rule.id for rule in rules if pick.random() < 0.85}
    for step in range(steps):
        if step and pick.random() < 0.35:
            for rule in pick.sample(rules, min(len(rules), pick.choice((1, 1, 2, 3)))):
                present ^= {rule.id}
        yield frozenset(present)


def _draw_world(pick: random.Random, stock: Stock, steps: int) -> World:
    start = tuple(rule for rule in stock.rules if pick.random() < 0.8)
    asserted: Any = frozenset()
    rules, history = start, []
    for each in draw_changes(pick, stock, start, steps):
        asserted, rules = each.asserted_after(asserted), each.rules_after(rules)
        history.append((asserted, frozenset(rule.id for rule in rules)))
    return World(tuple(t for t, _ in history), tuple(on for _, on in history))


def differences(abreast: Abreast, setting: Setting, way: Way = Way.COUNTING_DRED) -> Iterator[str]:
    """Where Spark differs from the oracle after a step, in words."""
    plan = joined_plan(abreast.plan_rules(0))
    asserted = _asserted(abreast, 0)
    closure = materialize(setting, plan, frames(setting, asserted), limit=LIMIT)
    truth = _truths(abreast, 0)
    yield from _unlike(abreast, 0, closure, truth)
    for step in abreast.steps[1:]:
        plan = closure.plan
        if abreast.present[step] != abreast.present[step - 1]:
            plan = joined_plan(abreast.plan_rules(step))
        before, asserted = asserted, _asserted(abreast, step)
        changed = change(
            closure,
            frames(setting, {k: asserted[k] - before[k] for k in asserted}),
            frames(setting, {k: before[k] - asserted[k] for k in asserted}),
            plan=plan,
            way=way,
            limit=LIMIT,
        )
        closure = changed.closure
        rows, truth = truth, _truths(abreast, step)
        yield from _unlike(abreast, step, closure, truth)
        yield from _unlike_delta(step, closure, changed.delta, rows, truth)


def _asserted(abreast: Abreast, step: int) -> dict[int, set[Triple | Fact]]:
    return {k: abreast.asserted(k, step) for k in range(len(abreast.worlds))}


def _truths(abreast: Abreast, step: int) -> dict[int, set[Row]]:
    return {
        k: model(Program().plus(abreast.active(k, step)), asserted)
        for k, asserted in _asserted(abreast, step).items()
    }


def _unlike(
    abreast: Abreast, step: int, closure: Closure, truths: dict[int, set[Row]]
) -> Iterator[str]:
    worlds = found(closure)
    for k, truth in truths.items():
        expected = _expected(abreast, k, step, truth)
        stored = {row: counts for row, counts in worlds[k].items() if not is_inner(row)}
        for row in sorted(stored.keys() | expected.keys(), key=str):
            if stored.get(row) != expected.get(row):
                yield f"step {step}, world {k}, {row}: {stored.get(row)}, not {expected.get(row)}"
        rules = abreast.active(k, step)
        if _violations(rules, worlds[k]) != matches_in(truth, rules):
            yield f"step {step}, world {k}: violations differ"


def _expected(
    abreast: Abreast, world: int, step: int, truth: set[Row]
) -> dict[Row, tuple[int, int]]:
    """Every fact with whether it is told and how many instances derive it."""
    asserted = {row_of(fact) for fact in abreast.asserted(world, step)}
    rules = [rule for rule in abreast.active(world, step) if not rule.is_constraint]
    counts = Counter(conclusion(rule, binding) for rule, binding in instances(truth, rules))
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
