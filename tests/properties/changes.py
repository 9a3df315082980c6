"""Random changes: facts and rules come and go, and every step is checked against the oracle.

The rules and facts of a random case are a stock from which each step draws some to add and
takes some of what is there away, all in one change.  After every step the facts, the Delta
and the length must be what the oracle computes from scratch, and the flags and counters of
every stored row those of a reasoner that is told everything anew.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyoxigraph import Triple
from tests.oracle import closure
from tests.properties.programs import draw_case

import livefacts as lf
from livefacts.model.facts import Fact
from livefacts.rules.program import Program, Rule
from livefacts.store.layout import ASSERTED, CLOSED, EDGE, IN_DEFAULT, LIVE, ROOT, VISIBLE
from livefacts.syntax.rulewriter import write_rule

LIMIT = 100_000
LASTING = LIVE | ASSERTED | VISIBLE | EDGE | ROOT | CLOSED | IN_DEFAULT
Facts = frozenset[Triple | Fact]


@dataclass(frozen=True, slots=True)
class Change:
    """What one step adds and removes."""

    added: Facts
    removed: Facts
    rules_added: tuple[Rule, ...]
    rules_removed: tuple[Rule, ...]

    def __str__(self) -> str:
        parts = [f"+ {fact}" for fact in self.added] + [f"- {fact}" for fact in self.removed]
        parts += [f"+ {write_rule(rule)}" for rule in self.rules_added]
        return "\n".join(parts + [f"- {write_rule(rule)}" for rule in self.rules_removed])


@dataclass(frozen=True, slots=True)
class History:
    """Rules to start with, and the changes that follow."""

    seed: int
    start: tuple[Rule, ...]
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        steps = (f"# step {number}\n{change}" for number, change in enumerate(self.changes))
        return "\n".join([f"# seed {self.seed}", *map(write_rule, self.start), *steps])


def draw_history(seed: int, steps: int = 10) -> History:
    """A random history over the rules and facts of a random case."""
    case, pick = draw_case(seed), random.Random(seed)
    start = tuple(rule for rule in case.rules if pick.random() < 0.8)
    facts: Facts = frozenset()
    rules, changes = list(start), []
    for _ in range(steps):
        change = _draw_change(pick, case.rules, case.facts, facts, rules)
        facts = (facts - change.removed) | change.added
        rules = [r for r in rules if r not in change.rules_removed] + list(change.rules_added)
        changes.append(change)
    return History(seed, start, tuple(changes))


def _draw_change(
    pick: random.Random,
    all_rules: tuple[Rule, ...],
    all_facts: tuple[Triple | Fact, ...],
    facts: Facts,
    rules: list[Rule],
) -> Change:
    stock = sorted(set(all_facts), key=str)
    added = pick.sample(stock, min(len(stock), pick.randrange(6)))
    removed = pick.sample(sorted(facts, key=str), min(len(facts), pick.randrange(4)))
    absent = [rule for rule in all_rules if rule not in rules]
    rules_added = pick.sample(absent, 1) if absent and pick.random() < 0.35 else []
    rules_removed = pick.sample(rules, 1) if rules and pick.random() < 0.35 else []
    return Change(frozenset(added), frozenset(removed), tuple(rules_added), tuple(rules_removed))


def differences(history: History, maintenance: str = "counting-dred") -> Iterator[str]:
    """Where a reasoner that follows the changes differs from the oracle; refused ones end it."""
    reasoner = lf.Reasoner(maintenance=maintenance)
    told: Facts = frozenset()
    try:
        reasoner.add_rules(Program(history.start, limit=LIMIT))
        before = set(reasoner.facts())
        for number, change in enumerate(history.changes):
            delta = applied(reasoner, change)
            told = (told - change.removed) | change.added
            after = closure(Program().plus(reasoner.rules), set(told))
            for problem in _unlike(reasoner, delta, before, after):
                yield f"step {number}: {problem}"
            if maintenance == "counting-dred":
                yield from (f"step {number}: {p}" for p in _unlike_anew(reasoner, told))
            before = after
    except lf.RuleError:
        return


def applied(reasoner: lf.Reasoner, change: Change) -> lf.Delta:
    known = {rule.key(): rule for rule in reasoner.rules}
    gone = [known[rule.key()] for rule in change.rules_removed if rule.key() in known]
    return reasoner.apply(
        add=list(change.added),
        remove=list(change.removed),
        add_rules=Program(change.rules_added, limit=LIMIT),
        remove_rules=gone,
    )


def _unlike(
    reasoner: lf.Reasoner, delta: lf.Delta, before: set[Any], after: set[Any]
) -> Iterator[str]:
    found = set(reasoner.facts())
    if found != after:
        yield f"facts: too much {found - after}, lacking {after - found}"
    if set(delta.added) != after - before or set(delta.removed) != before - after:
        yield f"the delta is +{set(delta.added)} -{set(delta.removed)}"
    if len(reasoner) != len(after):
        yield f"len() is {len(reasoner)}, the oracle has {len(after)}"


def _unlike_anew(reasoner: lf.Reasoner, told: Facts) -> Iterator[str]:
    """Rows whose flags or counters are not those of a reasoner that was told everything anew.

    A rule that was recursive goes on counting as recursive: the two counters are summed.
    """
    anew = lf.Reasoner()
    anew.add_rules(Program(reasoner.rules, limit=LIMIT))
    anew.add(sorted(told, key=str))
    if anew.stats()["path"] != reasoner.stats()["path"]:
        return
    kept, expected = stored(reasoner), stored(anew)
    for fact in kept.keys() | expected.keys():
        if kept.get(fact) != expected.get(fact):
            yield f"{fact}: {kept.get(fact)} is stored, {expected.get(fact)} expected"


def stored(reasoner: lf.Reasoner) -> dict[tuple[int, tuple[str, ...]], tuple[int, ...]]:
    """Every stored row: its lasting flags and its counters."""
    store, found = reasoner._engine.store, {}
    for shape, relation in store.shapes().items():
        rows = store.with_flags(relation)
        texts = map(reasoner._dictionary.texts, store.columns(relation, rows))
        cells = store.cells(relation)[rows, :4].tolist()
        for (flags, plain, recursive, single), text in zip(cells, texts, strict=True):
            found[shape, tuple(text)] = flags & LASTING, plain + recursive, single
    return found
