"""Ctrl-C at any moment: a change is undone, or done to the end."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest
from pyoxigraph import NamedNode, Quad

from livefacts import InterruptAfterChange, LimitError, Reasoner
from livefacts.store.critical_sections import uninterrupted
from livefacts.store.facts.row_store import RowStore

RULES = "q(?x) :- p(?x). r(?x) :- q(?x), not s(?x)."


def interrupted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with Ctrl-C before it does anything."""

    def and_then(*arguments: Any, **named: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return function(*arguments, **named)

    return and_then


@pytest.mark.parametrize(("part", "name"), [("versions", "follow"), ("graphs", "change")])
def test_an_interrupt_after_the_decision_waits_until_all_is_told(
    monkeypatch: pytest.MonkeyPatch, part: str, name: str
) -> None:
    r = Reasoner(RULES)
    r.query("ASK {}")
    held = getattr(r._state, part)
    monkeypatch.setattr(held, name, interrupted(getattr(held, name)))
    with pytest.raises(InterruptAfterChange) as caught:
        r.add([("p", "a"), Quad(*map(NamedNode, ("x:a", "x:b", "x:c", "x:graph")))])
    monkeypatch.undo()
    assert len(caught.value.delta.added) == 4
    assert sorted(map(str, r.facts())) == sorted(["p(a)", "q(a)", "r(a)", "<x:a> <x:b> <x:c>"])
    assert len(r) == 4
    assert r.query("ASK { <x:a> <x:b> <x:c> }")
    assert r.verify()
    assert r.add("p(b).").seq == 2


def test_an_interrupt_before_the_decision_undoes_the_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    r = Reasoner(RULES)
    monkeypatch.setattr(r._state.truth, "before_commit", interrupted(r._state.truth.before_commit))
    with pytest.raises(KeyboardInterrupt) as caught:
        r.add("p(a).")
    assert not isinstance(caught.value, InterruptAfterChange)
    monkeypatch.undo()
    assert len(r) == 0
    assert r.verify()


def test_an_interrupt_while_time_moves_leaves_one_time_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    r = Reasoner("seen(?x) :- sometime p(?x) in [2].")
    r.push([("p", "a")], at=1)
    r.query("ASK {}")
    monkeypatch.setattr(r._state.versions, "follow", interrupted(r._state.versions.follow))
    with pytest.raises(InterruptAfterChange) as caught:
        r.advance(2)
    monkeypatch.undo()
    assert r.now == 1
    assert sorted(map(str, caught.value.delta.added)) == ["p(a)", "seen(a)"]
    assert ("seen", "a") in r
    assert [str(fact) for fact in r.advance(4).removed] == ["p(a)", "seen(a)"]


def test_interrupts_are_as_before_after_a_change() -> None:
    before = signal.getsignal(signal.SIGINT)
    Reasoner(RULES).add("p(a).")
    assert signal.getsignal(signal.SIGINT) is before


def test_those_who_watch_hear_of_a_change_that_was_interrupted_too_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    r = Reasoner()
    heard: list[object] = []
    r.watch("SELECT * { ?x ?p ?y }").on_change(heard.append)
    r.query("ASK {}")
    monkeypatch.setattr(r._state.versions, "follow", interrupted(r._state.versions.follow))
    with pytest.raises(KeyboardInterrupt):
        r.add("<x:a> <x:b> <x:c> .")
    assert len(heard) == 1


def test_a_limit_stops_rules_that_come_with_their_first_fact() -> None:
    r = Reasoner(limit=1000)
    with pytest.raises(LimitError, match="more than 1,000"):
        r.add_rules("@limit 1000 . n(0) . n(?y) :- n(?x), ?y = ?x + 1, ?y < 9000000 .")
    assert len(r) == 0


def test_an_update_that_is_interrupted_when_a_part_is_made_leaves_no_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    r = Reasoner()
    r.add("<x:a> <x:p> <x:b> .")
    r.query("ASK {}")
    monkeypatch.setattr(r._state.versions, "follow", interrupted(r._state.versions.follow))
    with pytest.raises(KeyboardInterrupt) as caught:
        r.update("INSERT DATA { <x:c> <x:p> <x:d> } ; INSERT { ?x <x:q> ?y } WHERE { ?x <x:p> ?y }")
    monkeypatch.undo()
    assert not isinstance(caught.value, InterruptAfterChange)
    assert [str(fact) for fact in r.facts()] == ["<x:a> <x:p> <x:b>"]
    assert r.verify()


def test_an_interrupt_in_a_critical_section_waits_for_its_end() -> None:
    done: list[str] = []

    @uninterrupted
    def grow() -> None:
        done.append("resized")
        signal.raise_signal(signal.SIGINT)
        done.append("noted")

    with pytest.raises(KeyboardInterrupt):
        grow()
    assert done == ["resized", "noted"]


@pytest.mark.parametrize("name", ["_set_capacity", "_make_index_room", "_widen", "_add_index"])
def test_whatever_moves_rows_is_a_critical_section(name: str) -> None:
    """An interrupt behind `resize` left an address of memory that was freed: the process ended."""
    assert hasattr(getattr(RowStore, name), "__wrapped__")
