"""Random worlds side by side: the rules of one random case, and many worlds that use them differently.

Every world has facts of its own that come and go.  Most rules ask in addition whether they
are switched on in their world, which is a fact like others: so each world has a program of
its own.  Now and then rules come and go for all worlds.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pyoxigraph import Triple
from tests.properties.generate.histories import Stock, draw_changes
from tests.properties.generate.programs import draw_case

from livefacts.language.formula import PredicateAtom
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact, Symbol

SWITCH, WORLD = "switched_on", Fact("_world:", ())


@dataclass(frozen=True)
class World:
    """What is told and which rules are switched on, after each step."""

    asserted: tuple[frozenset[Triple | Fact], ...]
    switched: tuple[frozenset[str], ...]


@dataclass(frozen=True)
class Worlds:
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


def draw_worlds(seed: int, worlds: int, steps: int) -> Worlds:
    """Random histories over the rules and facts of a random case."""
    case, pick = draw_case(seed), random.Random(f"abreast {seed}")
    rules = Program().plus(case.rules).rules
    stock = Stock(rules, tuple(dict.fromkeys(case.facts)))
    return Worlds(
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
