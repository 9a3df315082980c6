"""Event time: when time moves, what waits, what is corrected, and what is set aside."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.unit.service.registered.stage import (
    EX,
    PAIRS,
    TRANSITIVE,
    Stage,
    by_time,
    triples,
    words,
)

from livefacts.errors import InputError
from livefacts.model.durations import read_duration
from livefacts.service.streams.event_time import EventTime

S, T = EX + "s", EX + "t"
QUERY = f"REGISTER QUERY q AS SELECT ?x ?y FROM STREAM <s> [RANGE 2] {PAIRS}"


class Clock:
    """A reasoner of which only the clock is there."""

    def __init__(self) -> None:
        self.now: int | None = None
        self.deeds: list[str] = []

    def push(self, facts: object, at: int, stream: object = None) -> None:
        self.deeds.append(f"{facts}@{at}")

    def retract(self, facts: object, at: int, stream: object = None) -> None:
        self.deeds.append(f"-{facts}@{at}")

    def advance(self, to: int) -> None:
        self.now = to
        self.deeds.append(f"|{to}")

    def correct(self, stream: str, lateness: int) -> None:
        self.deeds.append(f"correct {lateness}")


def test_facts_in_order_complete_the_time_before_them() -> None:
    clock = Clock()
    events = EventTime(clock)
    for time in (3, 3, 4, 7):
        events.push("a", time, S)
    events.finish()
    assert clock.deeds == ["a@3", "a@3", "a@4", "|3", "a@7", "|6", "|7"]


def test_without_lateness_a_late_fact_counts_from_now_on() -> None:
    clock = Clock()
    events = EventTime(clock)
    for time in (3, 5, 4):
        assert events.push("a", time, S)
    assert clock.deeds == ["a@3", "a@5", "|4", "a@4"]
    assert (events.late, dict(events.set_aside)) == (1, {})


def test_a_time_point_is_reported_once_the_watermark_has_passed_it() -> None:
    clock = Clock()
    events = EventTime(clock, lateness=2)
    for time in (3, 5, 4, 6, 3):
        events.push("a", time, S)
    assert events.watermark == 4
    assert clock.deeds == ["a@3", "a@5", "a@4", "a@6", "|3"]
    assert dict(events.set_aside) == {"older than the watermark": 1}
    assert events.kept[0].time == 3


def test_the_watermark_is_that_of_the_slowest_stream() -> None:
    clock = Clock()
    events = EventTime(clock, streams=[S, T])
    events.push("a", 5, S)
    assert events.watermark is None
    events.push("b", 3, T)
    assert events.watermark == 3
    events.push("b", 9, T)
    assert events.watermark == 5
    assert clock.now == 4


def test_lateness_can_differ_from_stream_to_stream() -> None:
    events = EventTime(Clock(), lateness={S: 4})
    events.push("a", 10, S)
    events.push("b", 8, T)
    assert events.watermark == 6


def test_a_silent_stream_is_not_waited_for() -> None:
    clock = Clock()
    events = EventTime(clock, streams=[S, T], idle=5)
    for time in (1, 4, 6, 7):
        events.push("a", time, S)
    assert clock.deeds == ["a@1", "a@4", "a@6", "a@7", "|6"]
    events.push("b", 3, T)
    assert clock.deeds[-1] == "b@3"
    assert events.late == 1


def test_a_stream_that_first_shows_itself_too_late_blocks_nothing() -> None:
    events = EventTime(Clock(), lateness=1)
    events.push("a", 9, S)
    assert not events.push("b", 3, T)
    assert events.watermark == 8


def test_time_begins_by_the_clock_before_anything_has_come() -> None:
    clock = Clock()
    events = EventTime(clock)
    for time in (3, 4, 6):
        events.elapse(time)
    events.push("a", 6, S)
    events.push("a", 8, S)
    assert clock.deeds == ["|3", "|5", "a@6", "a@8", "|7"]


def test_a_fact_too_far_ahead_closes_no_window() -> None:
    clock = Clock()
    events = EventTime(clock)
    events.push("a", 1, S)
    assert not events.push("b", 5_000, T)
    assert events.push("b", 3_601, T)
    assert dict(events.set_aside) == {"too far ahead": 1}
    assert clock.now is None


def test_any_distance_is_allowed_if_so_asked() -> None:
    events = EventTime(Clock(), max_ahead=None)
    assert events.push("a", 1, S)
    assert events.push("a", 1_000_000, S)


def test_times_may_be_dates() -> None:
    clock = Clock()
    events = EventTime(clock, lateness="1 min")
    events.push("a", datetime(2026, 1, 1, tzinfo=UTC), S)
    events.push("a", datetime(2026, 1, 1, 0, 1, 1), S)
    assert clock.now == 1767225600


def test_facts_that_cannot_be_read_do_not_move_time() -> None:
    stage = Stage()
    events = stage.reasoner.event_time()
    events.push(f"<{EX}x> <{EX}p> <{EX}o> .", 10, S)
    with pytest.raises(InputError):
        events.push(f"<{EX}y> <{EX}p> oops", 1000, S)
    with pytest.raises(InputError, match="name of a stream"):
        events.push(f"<{EX}y> <{EX}p> <{EX}o> .", 1000, "positions")
    assert (stage.reasoner.now, events.watermark) == (None, 10)


@pytest.mark.parametrize(
    "options", [{"lateness": -1}, {"max_ahead": -5}, {"idle": 1.5}, {"streams": S}]
)
def test_what_is_no_length_of_time_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(InputError):
        EventTime(Clock(), **options)  # type: ignore[arg-type]


def test_a_tick_may_be_longer_than_facts_may_lie_ahead() -> None:
    events = EventTime(Clock(), tick=read_duration("1 d"))
    assert events.push("a", 1, S)
    assert events.push("a", 2, S)
    assert not events.push("a", 4, S)


def test_another_word_than_wait_or_correct_is_refused() -> None:
    with pytest.raises(InputError, match="wait"):
        EventTime(Clock(), late="never")


def test_a_report_waits_for_late_facts() -> None:
    stage = Stage()
    query = stage.register(QUERY)
    events = stage.reasoner.event_time(lateness=2)
    for facts, time in (("in A B", 1), ("in B C", 3), ("in C D", 2), ("in D E", 4)):
        events.push(triples(facts), time, S)
    assert by_time(query) == {1: "AB"}
    events.finish()
    assert by_time(query) == {2: "AB CD", 3: "BC CD", 4: "BC DE"}
    assert stage.reasoner.stats()["watermark"] == 2


@pytest.mark.parametrize("body", [PAIRS, "WHERE { { ?x :in ?y } }"])
def test_reports_that_a_late_fact_touches_are_sent_again(body: str) -> None:
    stage = Stage(TRANSITIVE)
    query = stage.register(QUERY.replace(PAIRS, body))
    events = stage.reasoner.event_time(lateness=5, late="correct")
    for facts, time in (("in A B", 1), ("in C D", 3), ("in E F", 5)):
        events.push(triples(facts), time, S)
    assert by_time(query) == {1: "AB", 2: "AB", 3: "CD", 4: "CD"}
    events.push(triples("in B C"), 2, S)
    sent = [(report.time, words(report), report.correction) for report in query.results()]
    assert sent == [(2, "AB AC BC", True), (3, "BC BD CD", True)]


def test_a_late_fact_that_changes_nothing_sends_nothing() -> None:
    stage = Stage()
    query = stage.register(QUERY)
    events = stage.reasoner.event_time(lateness=5, late="correct")
    for facts, time in (("in A B", 1), ("near A B", 5)):
        events.push(triples(facts), time, S)
    list(query.results())
    events.push(triples("near A B"), 2, S)
    assert list(query.results()) == []


def test_a_correction_can_empty_a_report() -> None:
    stage = Stage()
    query = stage.register(QUERY)
    events = stage.reasoner.event_time(lateness=5, late="correct")
    for time in (1, 4):
        events.push(triples("in A B"), time, S)
    list(query.results())
    events.retract(triples("in A B"), 1, S)
    assert [(r.time, len(r), r.correction) for r in query.results()] == [(1, 0, True), (2, 0, True)]


def test_what_is_new_and_gone_is_corrected_from_the_report_before() -> None:
    stage = Stage()
    query = stage.register(QUERY.replace("QUERY", "ISTREAM"))
    events = stage.reasoner.event_time(lateness=5, late="correct")
    for facts, time in (("in A B", 1), ("in C D", 3), ("in E F", 5)):
        events.push(triples(facts), time, S)
    assert by_time(query) == {1: "AB", 2: "", 3: "CD", 4: ""}
    events.push(triples("in C D"), 2, S)
    assert [(r.time, words(r)) for r in query.results()] == [(2, "CD"), (3, "")]


def test_corrections_reach_those_who_read_the_stream_that_was_made() -> None:
    stage = Stage()
    stage.register(
        f"REGISTER STREAM :turned AS CONSTRUCT {{ ?y :in ?x }} FROM STREAM <s> [RANGE 1] {PAIRS}"
    )
    reader = stage.register(
        f"REGISTER QUERY q AS SELECT ?x ?y FROM STREAM :turned [RANGE 1] {PAIRS}"
    )
    events = stage.reasoner.event_time(lateness=5, late="correct")
    for facts, time in (("in A B", 1), ("in C D", 4)):
        events.push(triples(facts), time, S)
    assert by_time(reader) == {1: "BA", 2: "", 3: ""}
    events.push(triples("in E F"), 2, S)
    events.retract(triples("in A B"), 1, S)
    sent = [(r.time, words(r), r.correction) for r in reader.results()]
    assert sent == [(2, "FE", True), (1, "", True)]


def test_a_push_far_ahead_moves_no_time_and_waits_for_its_own() -> None:
    stage = Stage()
    stage.push("in A B", at=1)
    stage.advance(1)
    stage.push("in A C", at=1_000_000)
    assert stage.reasoner.now == 1
    stage.push("in A D", at=2)
    stage.advance(2)
    assert triples("in A D")[0] in stage.reasoner
    stage.advance(1_000_000)
    assert triples("in A C")[0] in stage.reasoner
