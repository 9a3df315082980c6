"""Laws of change, over random programs: what must be so whatever the facts and rules are."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import pytest
from pyoxigraph import NamedNode, Quad, Triple
from tests.properties.compare.histories import Truth, applied, keeps_names_apart, stored
from tests.properties.generate.histories import GRAPHS, Change, History, draw_history
from tests.properties.generate.vocabulary import EX

import livefacts as lf
from livefacts.language.program import Program

pytestmark = pytest.mark.filterwarnings("ignore::livefacts.LivefactsWarning")

SEEDS = range(20_000, 20_030)
MAINTENANCE = ("counting-dred", "dred", "counting", "recompute")


def known(reasoner: lf.Reasoner) -> Any:
    """Everything that a reasoner knows: rows with flags and counters, graphs, violations."""
    violations = {(v.constraint, frozenset(v.bindings.items())) for v in reasoner.violations()}
    graphs = {tuple(quad) for quad in reasoner._state.graphs.quads().tolist()}
    rules = {rule.key() for rule in reasoner.rules}
    return stored(reasoner), graphs, violations, rules, len(reasoner), reasoner.stats()["path"]


def moved(*deltas: lf.Delta) -> tuple[set[Any], set[Any]]:
    """What several changes have made true and ended, all together."""
    came: set[Any] = set()
    went: set[Any] = set()
    for delta in deltas:
        added, removed = set(delta.added), set(delta.removed)
        came, went = (came - removed) | (added - went), (went - added) | (removed - came)
    return came, went


def drawn() -> Iterator[tuple[History, lf.Reasoner, Truth, list[Change]]]:
    """Random reasoners in the middle of a history, with the changes that would follow."""
    for seed in SEEDS:
        history = draw_history(seed, steps=16, graphs=True)
        yield history, begun(history), reached(history), list(history.changes[4:])


def begun(history: History) -> lf.Reasoner:
    reasoner = lf.Reasoner(single_path=history.single_path)
    for change in (Change(rules_added=history.start), *history.changes[:4]):
        applied(reasoner, change)
    return reasoner


def reached(history: History) -> Truth:
    rules, asserted = history.start, frozenset[Any]()
    for change in history.changes[:4]:
        rules, asserted = change.rules_after(rules), change.asserted_after(asserted)
    return Truth(rules, asserted, frozenset())


def between(before: Truth, after: Truth) -> Change:
    """The one change that leads from here to there."""
    return Change(
        after.statements - before.statements,
        before.statements - after.statements,
        tuple(rule for rule in after.rules if rule not in before.rules),
        tuple(rule for rule in before.rules if rule not in after.rules),
    )


def after(truth: Truth, *changes: Change) -> Truth:
    for change in changes:
        truth = Truth(
            change.rules_after(truth.rules), change.asserted_after(truth.statements), truth.rows
        )
    return truth


def test_step_by_step_is_the_same_as_all_at_once() -> None:
    for history, slowly, truth, changes in drawn():
        at_once = begun(history)
        steps = [applied(slowly, change) for change in changes]
        jump = applied(at_once, between(truth, after(truth, *changes)))
        assert moved(*steps) == moved(jump), history
        assert known(slowly) == known(at_once), history


def test_a_change_and_its_opposite_leave_everything_as_it_was() -> None:
    for history, reasoner, truth, changes in drawn():
        for change in changes:
            if not keeps_names_apart(truth.rules, change):
                continue
            before = known(reasoner)
            there = applied(reasoner, between(truth, after(truth, change)))
            back = applied(reasoner, between(after(truth, change), truth))
            assert moved(there) == moved(back)[::-1], history
            assert known(reasoner) == before, history


def test_changes_of_different_things_can_come_in_any_order() -> None:
    for history, first, truth, changes in drawn():
        one, two = changes[0], apart(changes[1], changes[0])
        if not keeps_names_apart(truth.rules, two):
            continue
        second, third = begun(history), begun(history)
        forth = [applied(first, one), applied(first, two)]
        back = [applied(second, two), applied(second, one)]
        both = applied(third, between(truth, after(truth, one, two)))
        assert moved(*forth) == moved(*back) == moved(both), history
        assert known(first) == known(second) == known(third), history


def apart(change: Change, other: Change) -> Change:
    """The part of a change that speaks of nothing another one speaks of."""
    facts = other.added | other.removed
    rules = (*other.rules_added, *other.rules_removed)
    return Change(
        change.added - facts,
        change.removed - facts,
        tuple(rule for rule in change.rules_added if rule not in rules),
        tuple(rule for rule in change.rules_removed if rule not in rules),
    )


def same_rules(reasoner: lf.Reasoner, truth: Truth, pick: random.Random) -> lf.Delta:
    rules = pick.sample(reasoner.rules, pick.randint(0, len(reasoner.rules)))
    return reasoner.apply(remove_rules=rules, add_rules=Program(tuple(rules), limit=100_000))


def same_facts(reasoner: lf.Reasoner, truth: Truth, pick: random.Random) -> lf.Delta:
    return reasoner.apply(remove=list(truth.statements), add=list(truth.statements))


def asserted_again(reasoner: lf.Reasoner, truth: Truth, pick: random.Random) -> lf.Delta:
    return reasoner.apply(
        add=[*truth.statements, *truth.statements], add_rules=Program(reasoner.rules)
    )


def conclusions_removed(reasoner: lf.Reasoner, truth: Truth, pick: random.Random) -> lf.Delta:
    return reasoner.remove(list(reasoner.facts(derived=True)))


def strangers_removed(reasoner: lf.Reasoner, truth: Truth, pick: random.Random) -> lf.Delta:
    nobody = NamedNode(EX + "nobody")
    return reasoner.remove([Triple(nobody, nobody, nobody), ("near", nobody, nobody)])


@pytest.mark.parametrize(
    "change", [same_rules, same_facts, asserted_again, conclusions_removed, strangers_removed]
)
def test_nothing_happens_when_nothing_changes(
    change: Callable[[lf.Reasoner, Truth, random.Random], lf.Delta],
) -> None:
    for history, reasoner, truth, _ in drawn():
        before = known(reasoner)
        delta = change(reasoner, truth, random.Random(history.name))
        assert not delta, history
        assert delta.violations == (), history
        assert known(reasoner) == before, history


def test_without_rules_only_what_was_told_is_true() -> None:
    for history, reasoner, _, _ in drawn():
        derived, asserted = set(reasoner.facts(derived=True)), set(reasoner.facts(derived=False))
        delta = reasoner.remove_rules(reasoner.rules)
        assert moved(delta) == (set(), derived), history
        assert set(reasoner.facts()) == asserted, history
        assert reasoner.violations() == [], history


RECURSION = (
    ("reach(?x, ?y) :- step(?x, ?y) .", "step(?x, ?z) :- reach(?x, ?y), reach(?y, ?z) ."),
    ("b(?x) :- a(?x) . c(?x) :- b(?x) .", "a(?y) :- c(?x), step(?x, ?y) ."),
    ("p(?x, ?y) :- step(?x, ?y) . step(?x, ?y) :- q(?x, ?y) .", "q(?y, ?x) :- p(?x, ?y) ."),
    ("step(?x, ?z) :- step(?x, ?y), step(?y, ?z) .", "step(?y, ?x) :- step(?x, ?y), a(?x) ."),
    (
        "[?x, ex:in, ?z] :- [?x, ex:in, ?y], [?y, ex:in, ?z] . step(?x, ?y) :- [?x, ex:in, ?y] .",
        "[?x, ex:in, ?y] :- step(?x, ?y), not a(?x) .",
    ),
)


@pytest.mark.parametrize("maintenance", ["counting-dred", "dred", "recompute"])
@pytest.mark.parametrize(("rules", "closing"), RECURSION)
def test_a_rule_can_make_others_recursive_and_go_again(
    rules: str, closing: str, maintenance: str
) -> None:
    for seed in range(6):
        pick = random.Random(seed)
        prefix = f"@prefix ex: <{EX}> .\n"
        facts = [("step", pick.choice("uvwx"), pick.choice("uvwx")) for _ in range(5)]
        marks = [("a", node) for node in pick.sample("uvwx", 2)]
        reasoner = lf.Reasoner(prefix + rules, maintenance=maintenance)
        reasoner.add([*facts, *marks])
        before = known(reasoner)
        there = reasoner.add_rules(prefix + closing)
        cut = reasoner.apply(remove=facts[:2])
        joined = reasoner.apply(add=facts[:2])
        back = reasoner.remove_rules(prefix + closing)
        assert moved(there, cut, joined, back) == (set(), set())
        assert known(reasoner) == before


@pytest.mark.parametrize("single_path", [True, False])
@pytest.mark.parametrize("maintenance", MAINTENANCE)
def test_a_triple_is_told_while_any_graph_tells_it(maintenance: str, single_path: bool) -> None:
    asserted = Triple(*(NamedNode(EX + name) for name in ("ann", "knows", "bob")))
    rules = f"@prefix ex: <{EX}> . friend(?x, ?y) :- [?x, ex:knows, ?y] ."
    asserters = [asserted, *(Quad(*asserted, graph) for graph in GRAPHS)]
    for order in permutations(asserters):
        reasoner = lf.Reasoner(rules, maintenance=maintenance, single_path=single_path)
        empty = known(reasoner)
        deltas = [reasoner.add([teller]) for teller in order]
        assert [bool(delta) for delta in deltas] == [True, False, False]
        deltas = [reasoner.remove([teller]) for teller in order]
        assert [bool(delta) for delta in deltas] == [False, False, True]
        assert known(reasoner) == empty


@pytest.mark.parametrize("maintenance", MAINTENANCE)
def test_a_violation_comes_and_goes_with_what_causes_it(maintenance: str) -> None:
    reasoner = lf.Reasoner(
        "@id alone false :- room(?x), not key(?x) .\n"
        "@id twin false :- key(?x), key(?y), ?x != ?y .",
        maintenance=maintenance,
    )
    (violation,) = reasoner.add([("room", "hall")]).violations
    assert violation.constraint == "alone"
    delta = reasoner.add([("key", "hall")])
    assert (delta.violations, delta.resolved) == ((), (violation,))
    assert reasoner.violations() == []
    (twins,) = reasoner.add([("key", "roof")]).violations
    assert twins.constraint == "twin"
    assert [v.constraint for v in reasoner.remove([("key", "hall")]).violations] == ["alone"]
    assert [v.constraint for v in reasoner.remove_rules(["alone"]).resolved] == ["alone"]
    assert reasoner.violations() == []
