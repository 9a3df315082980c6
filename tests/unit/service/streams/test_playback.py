"""Playing events: at the pace they should have, and by the clock."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from tests.unit.service.registered.stage import EX, Stage, by_time, triples

from livefacts.errors import InputError
from livefacts.model.durations import SECOND, read_duration
from livefacts.service.streams.playback import (
    Pace,
    Silence,
    joined,
    live,
    patience_for,
    play,
    read_ahead,
    stamped,
)
from livefacts.syntax.stream_files import Event

S = EX + "s"
QUERY = "REGISTER QUERY q AS SELECT ?x ?y FROM STREAM <s> [RANGE 2] WHERE { ?x :in ?y }"


def event(text: str, time: int = 0) -> Event:
    return Event(time, S, tuple(triples(text)))


def refuse(event: Event, error: InputError) -> None:
    raise error


def test_events_are_played_as_fast_as_they_happened_or_faster() -> None:
    clock, slept = [0.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds

    stage = Stage()
    pace = Pace(2.0, None, sleep, lambda: clock[0])
    source = [event("in A B", 10), event("in B C", 10), event("in C D", 14), event("in D E", 15)]
    assert len(list(play(source, stage.reasoner.event_time(), pace, refuse))) == 4
    assert slept == [2.0, 0.5]


def test_who_arrives_gets_the_time_of_the_clock_and_silence_has_a_time_too() -> None:
    seconds = iter([7, 7, 9, 11])
    source = [event("in A B", 3), event("in C D", 3), None, event("in B C")]
    found = list(stamped(source, None, lambda: next(seconds) * SECOND.amount))
    together = [Silence(7), event("in A B", 7), event("in C D", 7)]
    assert found == [*together, Silence(9), Silence(11), event("in B C", 11)]


def test_reports_are_due_by_the_clock_while_nothing_arrives() -> None:
    stage = Stage()
    query = stage.register(QUERY)
    events = stage.reasoner.event_time()
    source = [Silence(3), event("in A B", 5), Silence(5), Silence(9)]
    assert list(play(source, events, Pace(), refuse)) == source
    assert by_time(query) == {3: "", 4: "", 5: "AB", 6: "AB", 7: "", 8: ""}
    events.push(triples("in C D"), 9, S)
    events.finish()
    assert by_time(query) == {9: "CD"}


def test_a_stream_that_is_silent_while_another_is_not_holds_up_nothing() -> None:
    stage = Stage()
    query = stage.register(QUERY)
    seconds = iter(range(5, 9))
    others = [Event(0, EX + "t", tuple(triples("in X Y"))) for _ in range(3)]
    source = stamped([event("in A B"), *others], None, lambda: next(seconds) * SECOND.amount)
    for _ in play(source, stage.reasoner.event_time(), Pace(), refuse):
        pass
    assert by_time(query) == {5: "AB", 6: "AB", 7: ""}


def test_silence_does_not_make_late_facts_come_too_late() -> None:
    stage = Stage()
    query = stage.register(QUERY)
    events = stage.reasoner.event_time(lateness=2)
    events.push(triples("in A B"), 5, S)
    events.elapse(8)
    assert by_time(query) == {5: "AB"}
    assert events.push(triples("in C D"), 6, S)
    events.finish()
    assert by_time(query) == {6: "AB CD", 7: "CD", 8: ""}


def test_whoever_waits_for_a_source_is_told_that_nothing_has_come() -> None:
    gate = threading.Event()

    def source() -> Iterator[str]:
        yield "first"
        assert gate.wait(60)
        yield "last"

    found = []
    for come in read_ahead(source(), patience=0.001):
        found.append(come)
        if not come:
            gate.set()
    assert (found[0], found[-1]) == (["first"], ["last"])
    assert [] in found


def test_a_source_is_never_further_ahead_than_allowed() -> None:
    begun, ahead = list[int](), list[int]()

    def source() -> Iterator[int]:
        for number in range(200):
            begun.append(number)
            yield number

    found: list[int] = []
    for come in read_ahead(source(), 5):
        found += come
        ahead.append(len(begun) - len(found))
    assert found == list(range(200))
    assert max(ahead) <= 5 + 2


def test_an_error_of_a_source_reaches_the_one_who_reads() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise InputError("torn")

    with pytest.raises(InputError, match="torn"):
        list(read_ahead(source()))


def test_events_of_one_time_and_stream_are_taken_in_together() -> None:
    a, b = event("in A B", 1), event("in B C", 1)
    taken_back = Event(1, S, a.facts, True)
    other = Event(1, EX + "t", a.facts)
    found = list(joined([a, b, taken_back, a, other, event("in C D", 2), Silence(3), a]))
    both = Event(1, S, a.facts + b.facts)
    assert found == [both, taken_back, a, other, event("in C D", 2), Silence(3), a]


def test_what_has_come_while_the_reasoner_worked_is_taken_in_together() -> None:
    numbers = [event(f"in A{n} B", n // 100) for n in range(1000)]
    found = list(live(iter(numbers), None))
    assert [fact for each in found if isinstance(each, Event) for fact in each.facts] == [
        fact for each in numbers for fact in each.facts
    ]
    assert len(found) < 1000


@pytest.mark.parametrize(("tick", "seconds"), [("1 s", 0.25), ("100 ms", 0.1), ("1 ms", 0.05)])
def test_the_clock_is_looked_at_as_often_as_time_points_pass(tick: str, seconds: float) -> None:
    assert patience_for(read_duration(tick)) == seconds
