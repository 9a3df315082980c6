"""What is merged stays true while streams bring facts, time moves, and rules come and go."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pyoxigraph import Triple
from tests.golden.test_owl import expected
from tests.properties.compare.held_snapshots import Expected, HeldSnapshots
from tests.properties.generate.equalities import MANY, draw_equals, draw_following
from tests.properties.generate.ontologies import Step
from tests.properties.test_equalities import (
    EVERYTHING,
    RULES,
    check_explanations,
    compare,
    compare_deltas,
    eager,
    explained,
)

import livefacts as lf

__all__ = ["eager"]

PREFIXES = """
    @prefix ex: <http://example.org/> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> .
"""
TIMED = (
    "lately(?x, ?y) :- sometime [?x, ex:p, ?y] in [2] .",
    "[?x, ex:q, ?y] :- always [?x, ex:p, ?y] in [1] .",
    "at ?t [?x, ex:r, ?y] :- at ?t [?x, ex:p, ?y] in [3] .",
    "never(?x, ?y) :- [?x, a, ?y], not sometime [?x, a, ?y] in [2] .",
    "equal(?x, ?y) :- sometime [?x, owl:sameAs, ?y] in [2] .",
    "recent(?x, ?y) :- sometime seen(?x) in [2 facts], [?x, ex:p, ?y] .",
    "often(?x, ?n) :- ?n = count { ?t : at ?t [?x, ex:p, ?y] in [3] } .",
)
APART = (
    "many(?n) :- ?n = count { ?x : [?x, ex:p, ?y] } .",
    "apart(?x, ?y) :- [?x, ex:p, ?y], not [?x, owl:sameAs, ?y] .",
    "trio(?x, ?y, ?z) :- [?x, ex:p, ?o], [?y, ex:p, ?o], [?z, ex:p, ?o], ?x != ?y, ?y != ?z, ?x != ?z .",
    "pairs(?n) :- ?n = count { ?x : lately(?x, ?y) } .",
)


@dataclass
class Life:
    """Two reasoners that are told the same: one merges, one follows the rules."""

    seed: int
    own: tuple[str, ...] = ()
    merged: int = 0
    asserted: set[Triple] = field(default_factory=set)
    arrived: dict[int, set[Triple]] = field(default_factory=dict)
    snapshots: HeldSnapshots = field(default_factory=HeldSnapshots)

    def __post_init__(self) -> None:
        self.pick = random.Random(f"equals in time {self.seed}")
        rules = [RULES, PREFIXES + "\n".join(self.own)] if self.own else RULES
        self.merging = lf.Reasoner(rules=rules, same_as="merge", start=0)
        self.ruled = lf.Reasoner(rules=rules, start=0)
        self.watches = [r.watch(EVERYTHING) for r in (self.merging, self.ruled)]

    @property
    def now(self) -> int | None:
        return self.merging.now

    def run(self, draw: Callable[[int], list[Step]] = draw_equals) -> Life:
        for step in draw(self.seed):
            self.take(step)
            for deed in self.pick.choices((self.push, self.retract, self.advance), k=3):
                deed(step)
                self.check()
        return self

    def turned(self) -> Life:
        """A life in which rules come and go."""
        for step in draw_equals(self.seed, 9):
            self.take(step)
            self.turn()
            self.push(step)
            self.advance(step)
            self.check()
        return self

    def both(self, deed: Callable[[lf.Reasoner], lf.Delta]) -> None:
        compare_deltas(deed(self.merging), deed(self.ruled))

    def take(self, step: Step) -> None:
        """Background changes."""
        self.both(lambda r: r.apply(add=step.added, remove=step.removed))
        self.asserted = (self.asserted - set(step.removed)) | set(step.added)

    def push(self, step: Step) -> None:
        """Facts arrive, late or early; some are background, too."""
        some = self.pick.sample(step.added, min(len(step.added), self.pick.choice((1, 3, 6))))
        time = max(0, (self.now or 0) + self.pick.choice((-1, 0, 0, 1, 2)))
        seen = [lf.Fact("seen", (self.pick.choice(MANY),))] if self.own else []
        self.both(lambda r: r.push([*some, *seen], at=time))
        self.arrived.setdefault(time, set()).update(some)
        if self.pick.random() < 0.5:
            self.take(Step([], some))

    def retract(self, step: Step) -> None:
        """Arrivals are taken back."""
        if self.arrived:
            time = self.pick.choice(sorted(self.arrived))
            known = sorted(self.arrived[time], key=str)
            some = self.pick.sample(known, len(known) // 2)
            self.both(lambda r: r.retract(some, at=time))
            self.arrived[time].difference_update(some)

    def advance(self, step: Step) -> None:
        time = (self.now or 0) + self.pick.choice((0, 1, 1, 2))
        self.both(lambda r: r.advance(time))

    def turn(self) -> None:
        """A rule comes, or goes."""
        goes = self.own and self.pick.random() < 0.6
        rule = self.pick.choice(self.own if goes else [*APART, *TIMED])
        name = f"own-{[*APART, *TIMED].index(rule)}"
        if rule in self.own:
            self.both(lambda r: r.remove_rules(name))
            self.own = tuple(other for other in self.own if other != rule)
        else:
            self.both(lambda r: r.add_rules(f"{PREFIXES} @id {name} {rule}"))
            self.own = (*self.own, rule)

    def check(self) -> None:
        """Both know the same, and what an independent closure knows of this moment."""
        compare(self.merging, self.ruled)
        assert self.merging.verify()
        assert not list(self.snapshots.take(self.merging, known_to(self.ruled)))
        if not self.own and self.now is not None:
            here = self.asserted | self.arrived.get(self.now, set())
            triples = {fact for fact in self.merging if isinstance(fact, Triple)}
            assert triples == expected(list(here))[0]
        for part in ("answers", "changes"):
            found = [sorted(map(str, getattr(watch, part)())) for watch in self.watches]
            assert found[:1] == found[1:]
        self.merged += self.merging.stats()["merged_groups"]
        if self.pick.random() < 0.3:
            self.explain()

    def explain(self) -> None:
        """Facts have proofs, and last as long for both."""
        here = self.asserted | self.arrived.get(-1 if self.now is None else self.now, set())
        if not self.own:
            check_explanations(self.merging, here, self.pick)
        facts = sorted(self.merging.facts(), key=str)
        explanation = explained(self.merging, self.pick.choice(facts)) if facts else None
        if explanation is not None:
            assert explanation.lasting == self.ruled.explain(explanation.fact).lasting


def known_to(reasoner: lf.Reasoner) -> Expected:
    """What a reasoner knows, for a snapshot of another one."""
    violations = {(v.constraint, frozenset(v.bindings.items())) for v in reasoner.violations()}
    return Expected(set(reasoner), violations, set(reasoner.facts(derived=False)))


@pytest.mark.parametrize("seed", [3, pytest.param(1, marks=pytest.mark.thorough)])
def test_merging_means_what_the_rules_mean_while_streams_come(seed: int) -> None:
    assert Life(seed).run().merged


@pytest.mark.usefixtures("eager")
@pytest.mark.thorough
def test_what_follows_to_be_the_same_is_merged_while_streams_come() -> None:
    Life(3).run(draw_following)


def timed(seed: int) -> Life:
    """A life with some rules that look at time, or tell equal things apart."""
    pick = random.Random(seed)
    rules = pick.sample(TIMED, 2) + pick.sample(APART, pick.choice((0, 0, 1)))
    return Life(seed, tuple(rules))


@pytest.mark.parametrize("seed", [20, pytest.param(21, marks=pytest.mark.thorough)])
@pytest.mark.filterwarnings("ignore")
def test_merging_means_what_the_rules_mean_where_rules_look_at_time(seed: int) -> None:
    assert timed(seed).run().merged


@pytest.mark.filterwarnings("ignore")
def test_merging_means_what_the_rules_mean_while_rules_come_and_go() -> None:
    Life(4).turned()


def again(reasoner: lf.Reasoner, folder: Path) -> lf.Reasoner:
    """A reasoner that was kept in a folder."""
    reasoner.checkpoint(folder)
    return lf.Reasoner.open(folder)


def test_what_is_merged_goes_on_from_a_folder(tmp_path: Path) -> None:
    life = Life(3)
    for number, step in enumerate(draw_equals(3)):
        life.take(step)
        if number % 2:
            life.merging = again(life.merging, tmp_path / f"merging{number}")
            life.ruled = again(life.ruled, tmp_path / f"ruled{number}")
            life.watches = []
        life.check()
    assert life.merged


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", range(10))
def test_merging_means_what_the_rules_mean_in_many_worlds_in_time(chunk: int) -> None:
    for seed in range(1000 + chunk, 1100, 10):
        Life(seed).run()
        Life(seed).turned()
        timed(seed).run()
