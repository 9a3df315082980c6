"""The oracle of streams, on the worked examples of the definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest
from pyoxigraph import Literal, NamedNode
from tests.oracle.examples import DECLARED, EXAMPLES, FURTHER, IS_IN, Example, fact_of
from tests.oracle.naive import Row, row_of
from tests.oracle.reports import (
    DSTREAM,
    ISTREAM,
    RSTREAM,
    Grid,
    Query,
    expiry,
    last_support,
    stepped,
    streamed,
)
from tests.oracle.streams import Arrival, model_at, visible

from livefacts.language.program import Program
from livefacts.syntax.rulelang.rule_parser import parse

STREAM, PLACES = map(NamedNode, ("http://example.org/numbers", "http://example.org/places"))


@pytest.mark.parametrize("example", [*EXAMPLES, *FURTHER], ids=lambda example: example.name)
def test_the_conclusions_are_those_of_the_table(example: Example) -> None:
    program = example.program()
    for now, expected in example.table().items():
        output = example.timeline(now).model(program, now).output
        assert visible(output) == expected, f"at {now}"


@pytest.mark.parametrize("example", DECLARED, ids=lambda example: example.name)
def test_what_holds_is_what_the_table_says(example: Example) -> None:
    program = example.program()
    for now, expected in example.table().items():
        assert example.timeline(now).model(program, now).facts == expected, f"at {now}"


def test_the_tables_are_read_whole() -> None:
    example = Example("", "", 35, "36: a(x1, y)  38: a(x2, y) b(y, z)@37", "35-37:  38-39: q(x1)")
    assert {now: len(facts) for now, facts in example.table().items()} == {
        35: 0,
        36: 0,
        37: 0,
        38: 1,
        39: 1,
    }
    assert [(each.known, str(each.fact), each.time) for each in example.events()] == [
        (36, "a(x1, y)", 36),
        (38, "a(x2, y)", 38),
        (38, "b(y, z)", 37),
    ]
    assert all(
        any(each.table().values()) and each.events() for each in (*EXAMPLES, *FURTHER, *DECLARED)
    )


def test_e6_a_fact_that_is_scheduled_is_known_before_its_time() -> None:
    example = _named("E6")
    scheduled = [
        now
        for now in range(8)
        if (("b", ()), 3) in example.timeline(now).model(example.program(), now).derived
    ]
    assert scheduled == [1, 2, 3, 4, 5]


def test_e7_a_fact_of_a_head_with_at_is_derived_while_its_own_window_lasts() -> None:
    example = _named("E7")
    for now in range(8):
        derived = example.timeline(now).model(example.program(), now).derived
        expected = {time for time in (now - 1, now) if 0 <= time <= 5}
        assert {time for (name, _), time in derived if name == "b"} == expected


E16_EXPIRY = {
    1: "ab11",
    2: "ab11 bc12 ac11",
    3: "ab11 bc12 cd13 ac11 bd12 ad11",
    **dict.fromkeys(range(4, 11), "ab11 bc12 cd13 ae14 ed14 ac11 bd12 ad14"),
    11: "bc12 cd13 ae14 ed14 bd12 ad14",
    12: "cd13 ae14 ed14 ad14",
    13: "ae14 ed14 ad14",
}
E17_EXPIRY = {
    5: "ab11 bc12 cd13 ae14 ed14 ac11 bd12 ad14",
    6: "ab16 bc12 cd13 ae14 ed14 ac12 bd12 ad14",
    7: "ab16 bc12 cd13 ae14 ed14 ac12 bd12 ad14",
    8: "ab16 bc12 cd13 ae14 ac12 bd12 ad12",
    12: "ab16 cd13 ae14",
    13: "ab16 ae14",
    14: "ab16",
}


@pytest.mark.parametrize(
    ("example", "table"),
    [(DECLARED[0], E16_EXPIRY), (DECLARED[2], E17_EXPIRY)],
    ids=["E16", "E17"],
)
def test_a_fact_expires_with_the_oldest_premise_of_its_best_derivation(
    example: Example, table: dict[int, str]
) -> None:
    for now, expected in table.items():
        assert _expiries(example, now) == set(expected.split())


def test_e16_closed_bounds_expire_one_time_point_later() -> None:
    ends = {"ab12", "bc13", "cd14", "ae15", "ed15", "ac12", "bd13", "ad15"}
    assert _expiries(DECLARED[1], 4) == ends


def test_e18_a_fact_that_two_streams_derive_expires_with_the_first() -> None:
    example = DECLARED[3]
    alerts = {"alert(u, hi)", "alert(u, lo)"}
    assert {_expiry(example, fact, 5) for fact in alerts} == {8}
    assert {_expiry(example, fact, 8) for fact in ("alert(v, hi)", "alert(v, lo)")} == {10}
    assert _expiry(example, "jam(r, hi)", 4) == 10


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize(("width", "step"), [(4, 3), (3, 3), (1, 3), (10, 1), (6, 2)])
def test_a_fact_is_seen_from_when_it_comes_until_it_ends(
    width: int, step: int, closed: bool
) -> None:
    program = Program(streams=((STREAM, stepped(width, step, closed=closed)),))
    grid = Grid(width, step, closed=closed)
    for time in range(1, 8):
        asserted = [Arrival(("a", ()), time, STREAM)]
        seen = [
            now for now in range(1, 30) if model_at(program, now, first=1, arrivals=asserted).facts
        ]
        assert seen == list(range(grid.comes(time), grid.ends(time)))


E19 = {
    (4, 3): {3: "1 2 3", 6: "3 4 5", 9: "5", 12: ""},
    (3, 3): {3: "1 2 3", 6: "4 5", 9: "", 12: ""},
    (1, 3): {3: "3", 6: "5", 9: "", 12: ""},
}


@pytest.mark.parametrize("window", E19)
def test_e19_a_report_has_what_is_in_the_window_at_its_time(window: tuple[int, int]) -> None:
    assert _reports(window, RSTREAM) == E19[window]


def test_e19_what_is_new_and_what_is_gone_since_the_report_before() -> None:
    assert _reports((4, 3), ISTREAM) == {3: "1 2 3", 6: "4 5", 9: "", 12: ""}
    assert _reports((4, 3), DSTREAM) == {3: "", 6: "1 2", 9: "3 4", 12: "5"}


def test_e20_one_state_serves_windows_of_every_length() -> None:
    known = DECLARED[0].timeline(5).known()
    support = last_support(parse(IS_IN), known)
    assert _pairs(support) == {"ab1", "bc2", "cd3", "ae4", "ed4", "ac1", "bd2", "ad4"}
    for width in (1, 2, 3, 10):
        program = replace(parse(IS_IN), streams=((PLACES, stepped(width, 1)),))
        rows = model_at(program, 5, first=1, arrivals=known).rows
        assert rows == {row for row, time in support.items() if time > 5 - width}


def _named(name: str) -> Example:
    return next(example for example in EXAMPLES if example.name.startswith(f"{name}:"))


def _expiries(example: Example, now: int) -> set[str]:
    """All that holds, each with its end: `ab11`."""
    program, timeline = example.program(), example.timeline(now)
    held = timeline.model(program, now).facts
    ends = {
        row_of(fact): expiry(lambda t: timeline.model(program, t), fact, now, 40) for fact in held
    }
    return _pairs(ends)


def _expiry(example: Example, fact: str, now: int) -> int | None:
    program, timeline = example.program(), example.timeline(now)
    return expiry(lambda t: timeline.model(program, t), fact_of(fact), now, 40)


def _pairs(numbers: Mapping[Row, int | None]) -> set[str]:
    return {f"{''.join(map(str, terms))}{number}" for (_, terms), number in numbers.items()}


def _reports(window: tuple[int, int], kind: str) -> dict[int, str]:
    """The reports on the stream of example 19, from time point 1 to 12."""
    asserted = [
        Arrival(("a", (Literal(n),)), time, STREAM, n) for n, time in enumerate((1, 2, 3, 4, 6), 1)
    ]
    query = Query(
        Program(),
        {STREAM: stepped(*window)},
        every=window[1],
        answers=lambda rows: Counter(terms[0].value for _, terms in rows),  # type: ignore[union-attr]
    )
    reports = [(t, query.report(t, first=1, arrivals=asserted)) for t in query.times(1, 0, 12)]
    return {t: " ".join(sorted(map(str, answers))) for t, answers in streamed(reports, kind)}
