"""The worked examples of time, through the reasoner."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
from pyoxigraph import Triple
from tests.oracle.examples import DECLARED, EX, EXAMPLES, FURTHER, Event, Example, fact_of

import livefacts as lf

by_name = {"ids": lambda example: example.name}


@pytest.mark.parametrize("example", [*EXAMPLES, *FURTHER], **by_name)
def test_the_conclusions_are_those_of_the_table(example: Example) -> None:
    table = example.table()
    for now, reasoner, _ in _played(example):
        asserted = set(reasoner.facts(derived=False))
        found = set(reasoner.facts(derived=True))
        if now in table:
            assert found - asserted == table[now] - asserted, f"at {now}"


@pytest.mark.parametrize("example", DECLARED, **by_name)
def test_what_holds_is_what_the_table_says(example: Example) -> None:
    table = example.table()
    for now, reasoner, _ in _played(example):
        if now in table:
            assert set(reasoner.facts()) == table[now], f"at {now}"


@pytest.mark.parametrize("example", [*EXAMPLES, *FURTHER, *DECLARED], **by_name)
def test_the_deltas_of_all_ticks_add_up_to_what_holds(example: Example) -> None:
    held: set[Triple | lf.Fact] = set(_reasoner(example).facts())
    for now, reasoner, deltas in _played(example):
        for delta in deltas:
            assert held.isdisjoint(delta.added), f"at {now}"
            assert held.issuperset(delta.removed), f"at {now}"
            held = (held - set(delta.removed)) | set(delta.added)
        assert held == set(reasoner.facts()), f"at {now}"


def test_e8_ticks_that_are_skipped_report_every_change_point() -> None:
    reasoner = _after(_named("E8"), 3)
    changes = [
        (now, [f"+{fact}" for fact in delta.added] + [f"-{fact}" for fact in delta.removed])
        for now, delta in reasoner.ticks(20)
    ]
    assert [change for change in changes if change[0] > 4] == [
        (5, ["+alarm(k)"]),
        (6, ["-alarm(k)"]),
        (11, ["-seen(k)"]),
    ]


def test_e8_an_advance_over_many_ticks_is_the_net_of_them() -> None:
    reasoner = _after(_named("E8"), 3)
    delta = reasoner.advance(20)
    assert not set(delta.added)
    assert set(delta.removed) == {fact_of("seen(k)"), fact_of("ok(k)")}


def test_e16_a_change_is_told_when_it_happens() -> None:
    changes = {now: _signed(deltas) for now, _, deltas in _played(DECLARED[0])}
    assert {now: change for now, change in changes.items() if change} == {
        1: {"+ab"},
        2: {"+bc", "+ac"},
        3: {"+cd", "+bd", "+ad"},
        4: {"+ae", "+ed"},
        11: {"-ab", "-ac"},
        12: {"-bc", "-bd"},
        13: {"-cd"},
        14: {"-ae", "-ed", "-ad"},
    }


@pytest.mark.parametrize(
    ("window", "table"),
    [
        ("range 4 step 3", {3: "1 2 3", 6: "3 4 5", 9: "5", 12: ""}),
        ("range 3 step 3", {3: "1 2 3", 6: "4 5", 9: "", 12: ""}),
        ("tumbling 3", {3: "1 2 3", 6: "4 5", 9: "", 12: ""}),
        ("range 1 step 3", {3: "3", 6: "5", 9: "", 12: ""}),
    ],
)
def test_e19_a_window_moves_with_its_grid(window: str, table: dict[int, str]) -> None:
    reasoner = lf.Reasoner(f"@stream <{EX}numbers> in [{window}] .", start=1)
    for number, time in enumerate((1, 2, 3, 4, 6), 1):
        reasoner.push([lf.Fact("a", (number,))], at=time, stream=f"{EX}numbers")  # type: ignore[arg-type]
    for now, numbers in table.items():
        reasoner.advance(now)
        assert set(reasoner.facts()) == {fact_of(f"a({n})") for n in numbers.split()}, f"at {now}"


def _played(example: Example) -> Iterator[tuple[int, lf.Reasoner, list[lf.Delta]]]:
    """The reasoner at every time point, with the deltas since the one before."""
    reasoner = _reasoner(example)
    deltas = [reasoner.add(example.asserted())]
    happened = example.events()
    for now in range(example.start, max(example.table()) + 1):
        deltas += [_assert(reasoner, event) for event in happened if event.known == now]
        deltas += [delta for _, delta in reasoner.ticks(now)]
        assert reasoner.now == now
        yield now, reasoner, deltas
        deltas = []


def _reasoner(example: Example) -> lf.Reasoner:
    with warnings.catch_warnings():
        # Some of the examples are there to show what a warning warns of.
        warnings.simplefilter("ignore")
        return lf.Reasoner(f"@prefix ex: <{EX}> . {example.rules}", start=example.start)


def _assert(reasoner: lf.Reasoner, event: Event) -> lf.Delta:
    act = reasoner.retract if event.is_retraction else reasoner.push
    return act([event.fact], at=event.time, stream=event.stream)


def _named(name: str) -> Example:
    return next(example for example in EXAMPLES if example.name.startswith(f"{name}:"))


def _after(example: Example, time: int) -> lf.Reasoner:
    reasoner = _reasoner(example)
    for event in example.events():
        _assert(reasoner, event)
    reasoner.advance(time)
    return reasoner


def _signed(deltas: list[lf.Delta]) -> set[str]:
    """What came and went, by its two letters."""
    found = set()
    for delta in deltas:
        for sign, facts in (("+", delta.added), ("-", delta.removed)):
            found |= {sign + "".join(map(str, f.arguments)) for f in facts}  # type: ignore[union-attr]
    return found
