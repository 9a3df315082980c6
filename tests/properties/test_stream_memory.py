"""Windows that count facts keep what they may need, however long a stream runs."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from pyoxigraph import NamedNode
from tests.oracle.timeline import Timeline

import livefacts as lf
from livefacts.model.facts import Fact, Symbol
from livefacts.service.streams import arrival_log, window_contents
from livefacts.syntax.rulelang.rule_parser import parse

STREAM = NamedNode("urn:s")
PROGRAM = parse(f"""
last(?x)      :- sometime p(?x) in [3 facts] .
rare(?x)      :- sometime q(?x) in [2 facts of q] .
there(?x, ?t) :- at ?t p(?x) in [4 facts of p on {STREAM}] .
held(?x)      :- always p(?x) in [2 facts of p] .
soon(?x)      :- sometime p(?x) in [5] .
""")
POINTS, TAKEN_BACK, LATEST = 60, 3, 4
Arrival = tuple[Fact, int, NamedNode | None]


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_contents, "FEWEST_SPARE", 4)
    monkeypatch.setattr(arrival_log, "FEWEST_SWEPT", 0)


def arrivals(pick: Random, now: int) -> Iterator[Arrival]:
    """What arrives at a time point; some of it is late."""
    for _ in range(pick.choice((0, 1, 1, 2, 3))):
        name = pick.choice(("p", "p", "p", "q", "r", "r", "r")) if now % 20 < 10 else "p"
        fact = Fact(name, (Symbol(f"k{pick.randrange(5)}"),))
        late = pick.randrange(1, LATEST) if pick.random() < 0.1 and now >= LATEST else 0
        yield fact, now - late, pick.choice((None, STREAM))


@pytest.mark.parametrize("seed", range(12))
def test_what_was_forgotten_was_not_needed(seed: int, forgetful: None) -> None:
    pick, reasoner, oracle = Random(seed), lf.Reasoner(PROGRAM, start=0), Timeline(0)
    past: list[Arrival] = []
    for now in range(POINTS):
        for fact, at, stream in arrivals(pick, now):
            reasoner.push(fact, at=at, stream=stream)
            oracle.push(fact, at, stream)
            past.append((fact, at, stream))
        reasoner.advance(now)
        if now % (POINTS // TAKEN_BACK) == 15:
            fact, at, stream = pick.choice(past[-5:])
            reasoner.retract(fact, at=at, stream=stream)
            oracle.retract(fact, at, stream)
        assert set(reasoner.facts()) == oracle.model(PROGRAM, now).facts, now
    assert reasoner.stats()["arrivals"] < len(past) * 3 // 4
    assert reasoner.verify()


def test_a_rule_that_goes_leaves_nothing_of_its_window_behind(forgetful: None) -> None:
    reasoner = lf.Reasoner(PROGRAM)
    for now in range(POINTS):
        reasoner.push([("p", f"k{now}"), ("r", f"k{now}")], at=now)
        reasoner.advance(now)
    reasoner.remove_rules([rule.id for rule in PROGRAM])
    assert not len(reasoner.facts(derived=True))
    assert reasoner.verify()


def test_sizes_follow_the_windows_and_not_the_stream() -> None:
    reasoner, sizes = lf.Reasoner(PROGRAM), []
    for now in range(450):
        reasoner.push([("p", f"k{now * 20 + n}") for n in range(20)], at=now)
        if now % 100 == 0:
            reasoner.push([("q", f"k{now}")], at=now)
        reasoner.advance(now)
        if now % 10 == 0:
            sizes.append(reasoner.stats()["arrivals"])
    assert max(sizes) <= arrival_log.FEWEST_SWEPT + 21
    assert {str(fact) for fact in reasoner if str(fact).startswith("rare")} == {
        "rare(k300)",
        "rare(k400)",
    }
