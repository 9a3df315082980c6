"""A version is how everything stood at one moment, whatever changes while it is looked at."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import livefacts as lf
from livefacts.kb.tables import DERIVED, KnowledgeBase
from livefacts.service.folder import survey
from livefacts.service.folder.saved_state import seq_of
from livefacts.service.streams import reclamation

RULES = """
    ancestor(?x, ?y) :- parent(?x, ?y) .
    ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .
    [?x, <x:near>, ?y] :- [?x, <x:road>, ?y] .
"""
LATE = "@id late [?y, <x:near>, ?x] :- [?x, <x:near>, ?y] ."
SEEDS = 5


def change(reasoner: lf.Reasoner, pick: random.Random) -> None:
    """Any change; much of what comes was there before, and is gone again soon."""
    a, b, graph = pick.randrange(9), pick.randrange(9), pick.randrange(3)
    triple, fact = f"<x:a{a}> <x:road> <x:a{b}>", f"parent(p{a}, p{b}) ."
    kinds: list[Callable[[], object]] = [
        lambda: reasoner.add(fact),
        lambda: reasoner.remove(fact),
        lambda: reasoner.add(f"{triple} ."),
        lambda: reasoner.remove(f"{triple} ."),
        lambda: reasoner.add(f"<x:a{a}> <x:near> <x:a{b}> ."),
        lambda: reasoner.remove(f"<x:a{a}> <x:near> <x:a{b}> ."),
        lambda: reasoner.update(f"INSERT DATA {{ GRAPH <x:g{graph}> {{ {triple} }} }}"),
        lambda: reasoner.update(f"DELETE DATA {{ GRAPH <x:g{graph}> {{ {triple} }} }}"),
        lambda: reasoner.add(f"<x:fresh{pick.random()}> <x:road> <x:a{a}> ."),
        lambda: reasoner.update("DELETE WHERE { ?s <x:road> <x:a1> }"),
        lambda: reasoner.update("DELETE { ?s <x:road> ?o } WHERE { ?s <x:road> <x:a0>, ?o }"),
        lambda: turn_rule(reasoner),
        lambda: reasoner._state.streams.terms.sweep(),
    ]
    pick.choice(kinds)()


def turn_rule(reasoner: lf.Reasoner) -> None:
    if any(rule.id == "late" for rule in reasoner.rules):
        reasoner.remove_rules("late")
    else:
        reasoner.add_rules(LATE)


def shown(reasoner: lf.Reasoner) -> list[str]:
    quads = reasoner.query("SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }")
    told = (f"told {fact}" for fact in reasoner.facts(derived=False))
    return sorted([*map(str, reasoner.facts()), *map(str, quads), *told])


class Clock:
    """Between two looks, something changes; `states` has how everything stood after each change."""

    def __init__(self, reasoner: lf.Reasoner, seed: int) -> None:
        self.reasoner, self.pick = reasoner, random.Random(seed)
        self.states: dict[int, list[str]] = {}
        self.looks = 0

    def perf_counter(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        self.looks += 1
        if self.pick.random() < 0.25:
            self.change()

    def change(self) -> None:
        change(self.reasoner, self.pick)
        self.states[self.reasoner._state.seq] = shown(self.reasoner)


def small(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """Pieces of a few facts, and changes between them; terms are given back at once."""
    monkeypatch.setattr(reclamation, "FEWEST_LOOSE", 0)
    monkeypatch.setattr(reclamation, "SHARE", 1 << 20)
    for name in ("PIECE", "PIECE_OF_GRAPHS", "FEW"):
        monkeypatch.setattr(survey, name, 3)
    monkeypatch.setattr(survey, "time", clock)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_version_is_how_everything_stood_at_one_moment(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lf.Reasoner.open(tmp_path / "kb", RULES, fold_after=None) as reasoner:
        clock = Clock(reasoner, seed)
        small(monkeypatch, clock)
        for _ in range(30):
            clock.change()
        for _ in range(3):
            reasoner.checkpoint()
            commit = KnowledgeBase(tmp_path / "kb").last()
            found = reasoner.at(seq_of(commit))
            assert shown(found) == clock.states[seq_of(commit)]
            assert commit.notes[DERIVED] == len([*found.facts(derived=True)])
        assert clock.looks > 10
    with lf.Reasoner.open(tmp_path / "kb") as again:
        assert shown(again) == clock.states[again.seq]
        assert again.verify()
