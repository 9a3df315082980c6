"""A change that fails anywhere leaves everything as it was, and can then be made."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from tests.properties.compare.fault_injection import (
    OutOfBoundsError,
    Saboteur,
    TooLateError,
    every_row,
    snapshot,
    unlike,
)
from tests.properties.compare.histories import LIMIT, Change, History, applied, draw_history
from tests.properties.generate.seeds import chunks

import livefacts as lf
from livefacts.language.program import Program

pytestmark = pytest.mark.filterwarnings("ignore::livefacts.LivefactsWarning")

HISTORIES, CHUNKS, STEPS, TRIES = 40, 10, 4, 2
Sabotage = Callable[[Saboteur, lf.Reasoner], AbstractContextManager[None]]
SABOTAGE: tuple[Sabotage, ...] = (
    Saboteur.interrupting,
    Saboteur.running_late,
    Saboteur.running_out,
    Saboteur.breaking_off,
)
AGAIN = (None, 0, 1, 2, 4)


class Pair:
    """Two reasoners with one history; in the first, every change fails before it is made."""

    def __init__(self, history: History, maintenance: str) -> None:
        self.history, self.failed = history, 0
        self.failing, self.smooth = (
            lf.Reasoner(maintenance=maintenance, single_path=history.single_path) for _ in "12"
        )
        self._pick = random.Random(history.name)

    def follow(self) -> Pair:
        for change in (Change(rules_added=self.history.start), *self.history.changes):
            before = snapshot(self.smooth)
            for sabotage in SABOTAGE:
                for _ in range(TRIES):
                    self._fail(change, sabotage, before)
            self._make(change)
        return self

    def _fail(self, change: Change, sabotage: Sabotage, before: dict[str, Any]) -> None:
        """Fail somewhere; if the change has fewer moments than that, at its end, and once more."""
        for most in (200, 30, 8, 2, 1):
            saboteur = Saboteur(self._pick.randrange(most), self._pick.choice(AGAIN))
            checking = self.failing._state.truth.before_commit
            self.failing._state.truth.before_commit = saboteur.stop
            try:
                with sabotage(saboteur, self.failing):
                    applied(self.failing, change)
            except (KeyboardInterrupt, MemoryError, OutOfBoundsError):
                self.failed += 1
                self._expect(before, f"failed at moment {saboteur.moments} of\n{change}")
                return
            except TooLateError:
                self._expect(before, f"failed at the end of\n{change}")
            finally:
                self.failing._state.truth.before_commit = checking

    def _make(self, change: Change) -> None:
        delta, expected = applied(self.failing, change), applied(self.smooth, change)
        assert set(delta.added) == set(expected.added), change
        assert set(delta.removed) == set(expected.removed), change
        self._expect(snapshot(self.smooth), f"made after it had failed:\n{change}")

    def _expect(self, wanted: dict[str, Any], what: str) -> None:
        differing, report = unlike(wanted, snapshot(self.failing)), self.failing.verify()
        if differing or not report:
            pytest.fail(f"{self.history}\n{what}\n{differing}\n{report}", pytrace=False)


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 3))
def test_a_change_that_fails_anywhere_leaves_no_trace(chunk: int) -> None:
    failed = 0
    for seed in range(chunk, HISTORIES, CHUNKS):
        failed += Pair(draw_history(seed, STEPS, graphs=True), "counting-dred").follow().failed
    assert failed > HISTORIES // CHUNKS * STEPS


@pytest.mark.parametrize("maintenance", ["dred", "recompute"])
@pytest.mark.parametrize("chunk", chunks(2, 1))
def test_a_change_that_fails_leaves_no_trace_whichever_way_is_chosen(
    maintenance: str, chunk: int
) -> None:
    for seed in range(9_000 + chunk, 9_006, 2):
        assert Pair(draw_history(seed, STEPS, graphs=True), maintenance).follow().failed


@pytest.mark.parametrize("seed", chunks(40, 20))
def test_a_change_that_passes_its_limit_leaves_no_trace(seed: int) -> None:
    history = draw_history(seed, STEPS, graphs=True)
    reasoner = lf.Reasoner(single_path=history.single_path)
    reasoner.add_rules(Program(history.start, limit=LIMIT))
    for change in history.changes:
        before = snapshot(reasoner)
        for limit in (0, 1, 2, 4, 8):
            reasoner._state.limit = limit
            try:
                applied(reasoner, change)
                break
            except lf.LimitError:
                assert unlike(before, snapshot(reasoner)) == ""
                assert reasoner.verify()
        reasoner._state.limit = None
        applied(reasoner, change)
        assert reasoner.verify()


RULES = """
@prefix ex: <http://example.org/> .
@id near route(?x, ?y) :- road(?x, ?y) .
@id far  route(?x, ?z) :- road(?x, ?y), route(?y, ?z) .
@id lone lone(?x) :- town(?x), not route(?x, ?x) .
@id many ways(?x, ?n) :- ?n = count { ?y : route(?x, ?y) } .
@id kind [?x, a, ex:Town] :- town(?x), ways(?x, ?n), ?n > 1 .
@id odd  false :- lone(?x), ways(?x, 3) .
"""
FACTS = "road(a, b) . road(b, c) . road(c, a) . town(a) . town(d) ."
MISTAKES = {
    "cannot be read": {"add_rules": "fine(?x) :- town(?x) . broken(?x :- town(?x) ."},
    "unsafe": {"add_rules": "fine(?x) :- town(?x) . loose(?x, ?y) :- town(?x) ."},
    "unstratified": {
        "add_rules": "fine(?x) :- town(?x) . town(?x) :- road(?x, ?y), not lone(?x) ."
    },
    "arity": {"add_rules": "fine(?x) :- town(?x) . town(?x, ?y) :- road(?x, ?y) ."},
    "unknown prefix": {
        "add_rules": "@prefix new: <x:> . fine(?x) :- town(?x) . [?x, a, no:Town] :- town(?x) ."
    },
    "the name of another": {"add_rules": "fine(?x) :- town(?x) . @id near other(?x) :- town(?x) ."},
    "runs away": {
        "add_rules": "fine(?x) :- town(?x) . ways(?x, ?m) :- ways(?x, ?n), ?m = ?n + 1 ."
    },
    "not there": {"remove_rules": ["near", "nowhere"]},
    "facts that cannot be read": {"add": "town(e) . town(f"},
}
WORDS = {
    "cannot be read": "was expected",
    "unsafe": r"\?y is in the head",
    "unstratified": "depends on its own negation",
    "arity": "arguments",
    "unknown prefix": "no:",
    "the name of another": "two different rules are called near",
    "runs away": "could go on forever",
    "not there": "there is no rule nowhere",
    "facts that cannot be read": "was expected",
}


@pytest.mark.parametrize("maintenance", ["counting-dred", "dred", "recompute"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_middle_of_a_change_leaves_no_trace(
    mistake: str, maintenance: str
) -> None:
    reasoner = lf.Reasoner(rules=RULES, maintenance=maintenance)
    reasoner.add(FACTS)
    change: dict[str, Any] = {
        "add": "road(c, d) . [<x:s>, <x:p>, <x:o>] .",
        "remove": "road(a, b) .",
        "remove_rules": ["kind"],
    }
    before = snapshot(reasoner)
    with pytest.raises(lf.LivefactsError, match=WORDS[mistake]):
        reasoner.apply(**(change | MISTAKES[mistake]))
    assert unlike(before, snapshot(reasoner)) == ""
    assert reasoner.verify()
    reasoner.apply(**change)
    fresh = lf.Reasoner(rules=RULES, maintenance=maintenance)
    fresh.remove_rules("kind")
    fresh.add("road(b, c) . road(c, a) . town(a) . town(d) . road(c, d) . [<x:s>, <x:p>, <x:o>] .")
    assert every_row(reasoner) == every_row(fresh)


def test_a_rule_that_counting_refuses_half_way_leaves_no_trace() -> None:
    reasoner = lf.Reasoner(rules="near(?x, ?y) :- road(?x, ?y) .", maintenance="counting")
    reasoner.add(FACTS)
    before = snapshot(reasoner)
    for rules in (
        "@id far near(?x, ?z) :- near(?x, ?y), near(?y, ?z) .",
        "@id other town(?x) :- road(?x, ?y) . @id far near(?x, ?z) :- road(?x, ?y), near(?y, ?z) .",
    ):
        with pytest.raises(lf.RuleError, match="rule far is recursive"):
            reasoner.apply(remove="road(a, b) .", add="road(c, d) .", add_rules=rules)
        assert unlike(before, snapshot(reasoner)) == ""
        assert reasoner.verify()
    reasoner.apply(remove="road(a, b) .", add="road(c, d) .")
    assert reasoner.verify()


@pytest.mark.parametrize("maintenance", ["counting-dred", "dred", "recompute"])
def test_a_refused_violation_leaves_no_trace(maintenance: str) -> None:
    reasoner = lf.Reasoner(rules=RULES, maintenance=maintenance, on_violation="refuse")
    reasoner.add(FACTS)
    before = snapshot(reasoner)
    broken = "road(d, e) . road(e, f) . road(f, g) ."
    with pytest.raises(lf.ViolationError, match="odd: \\?x = d"):
        reasoner.apply(
            add=broken, remove="road(a, b) .", add_rules="@prefix new: <x:> . p(?x) :- town(?x) ."
        )
    assert unlike(before, snapshot(reasoner)) == ""
    assert reasoner.verify()
    reasoner.remove_rules("odd")
    reasoner.apply(add=broken, remove="road(a, b) .")
    assert len(reasoner) == len(set(reasoner.facts()))
    assert reasoner.verify()


def test_an_update_that_fails_in_its_second_part_leaves_no_trace() -> None:
    reasoner = lf.Reasoner(rules="rdfs", on_violation="refuse")
    reasoner.add_rules("false :- [?x, <x:p>, ?x] .")
    reasoner.add("<x:a> <x:p> <x:b> . <x:p> <http://www.w3.org/2000/01/rdf-schema#domain> <x:A> .")
    before = snapshot(reasoner)
    with pytest.raises(lf.ViolationError):
        reasoner.update(
            "INSERT DATA { <x:c> <x:p> <x:d> } ; INSERT { ?x <x:p> ?x } WHERE { ?x a <x:A> }"
        )
    assert unlike(before, snapshot(reasoner)) == ""
    assert reasoner.verify()


@pytest.mark.parametrize("sabotage", [Saboteur.running_out, Saboteur.breaking_off])
@pytest.mark.parametrize("again", range(8))
def test_an_undo_that_fails_half_way_leaves_no_trace(sabotage: Sabotage, again: int) -> None:
    """The schema was closed without the triple; failing to close it again, it stayed so."""
    person = "<x:Person> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <x:Person> ."
    reasoner, fresh = lf.Reasoner("rdfs"), lf.Reasoner("rdfs")
    for each in (reasoner, fresh):
        each.add(f"{person} <x:ann> a <x:Person> .")
    before, saboteur = snapshot(reasoner), Saboteur(again=again)
    checking, reasoner._state.truth.before_commit = (
        reasoner._state.truth.before_commit,
        saboteur.stop,
    )
    with pytest.raises((TooLateError, KeyboardInterrupt)), sabotage(saboteur, reasoner):
        reasoner.remove(person)
    reasoner._state.truth.before_commit = checking
    assert unlike(before, snapshot(reasoner)) == ""
    more = "<x:Person> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <x:Agent> . <x:bob> a <x:Person> ."
    for each in (reasoner, fresh):
        each.add(more)
        each.remove(person)
    assert every_row(reasoner) == every_row(fresh)
    assert reasoner.verify()
