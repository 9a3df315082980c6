"""The end of the streams: everything that has come is in a report."""

from __future__ import annotations

import random

import pytest
from tests.unit.service.registered.stage import EX, PAIRS, TRANSITIVE, Stage, by_time, triples

S = EX + "s"
EVERY_TEN = f"REGISTER QUERY tens AS SELECT ?x ?y FROM STREAM <s> [RANGE 10 TUMBLING] {PAIRS}"
EVERY_ONE = f"REGISTER QUERY ones AS SELECT ?x ?y FROM STREAM <s> [RANGE 20] {PAIRS}"


def finished(stage: Stage, *facts: tuple[str, int]) -> None:
    """Facts at their times on the stream, and then nothing more."""
    events = stage.reasoner.event_time()
    for fact, time in facts:
        events.push(triples(fact), time, S)
    events.finish()


def test_a_query_goes_on_to_its_report_that_sees_the_last_fact() -> None:
    stage = Stage()
    query = stage.register(EVERY_TEN)
    finished(stage, ("in A B", 3), ("in C D", 7))
    assert by_time(query) == {10: "AB CD"}
    assert stage.reasoner.now == 7


def test_a_fact_at_the_beginning_of_time_is_reported() -> None:
    stage = Stage()
    query = stage.register(EVERY_TEN.replace("TUMBLING", "STEP 5"))
    finished(stage, ("in A B", 0))
    assert by_time(query) == {5: "AB"}


def test_each_query_ends_for_itself() -> None:
    stage = Stage(TRANSITIVE)
    tens, ones = stage.register(EVERY_TEN), stage.register(EVERY_ONE)
    finished(stage, ("in A B", 12), ("in B C", 13))
    assert by_time(tens) == {20: "AB AC BC"}
    assert by_time(ones) == {12: "AB", 13: "AB AC BC"}


def test_a_report_between_the_steps_of_a_window_waits_for_the_step() -> None:
    stage = Stage()
    query = stage.register(
        f"REGISTER QUERY q COMPUTE EVERY 2 AS SELECT ?x ?y FROM STREAM <s> [RANGE 10 STEP 5] {PAIRS}"
    )
    finished(stage, ("in A B", 1))
    assert by_time(query) == {2: "", 4: "", 6: "AB"}


def test_what_reads_a_made_stream_goes_on_as_long_as_it_brings_something() -> None:
    stage = Stage()
    stage.register(
        f"REGISTER STREAM <{EX}m> AS CONSTRUCT {{ ?y :in ?x }} FROM STREAM <s> [RANGE 4 STEP 4] {PAIRS}"
    )
    reader = stage.register(f"SELECT ?x ?y FROM STREAM <m> [RANGE 10 TUMBLING] {PAIRS}")
    finished(stage, ("in A B", 3), ("in C D", 10))
    assert by_time(reader) == {10: "BA", 20: "DC"}


def test_a_window_by_count_waits_for_facts_and_not_for_time() -> None:
    stage = Stage()
    query = stage.register(
        f"REGISTER QUERY q COMPUTE EVERY 4 AS SELECT ?x ?y FROM STREAM <s> [TRIPLES 2 STEP 2] {PAIRS}"
    )
    finished(stage, ("in A B", 1), ("in C D", 5), ("in E F", 6))
    assert by_time(query) == {4: "", 8: "AB CD"}


def test_rules_that_look_at_time_see_the_last_fact_of_every_stream() -> None:
    stage = Stage("[?x, :in, ?z] :- [?x, :in, ?y], sometime [?y, :on, ?z] in [20] .")
    query = stage.register(EVERY_TEN)
    events = stage.reasoner.event_time()
    events.push(triples("in A B"), 8, S)
    events.push(triples("on B C"), 9, EX + "other")
    events.finish()
    assert by_time(query) == {10: "AB AC"}


def test_what_comes_behind_the_end_is_late_for_what_was_reported() -> None:
    stage = Stage()
    tens, ones = stage.register(EVERY_TEN), stage.register(EVERY_ONE)
    events = stage.reasoner.event_time()
    events.push(triples("in A B"), 7, S)
    events.finish()
    assert (by_time(tens), by_time(ones)) == ({10: "AB"}, {7: "AB"})
    events.push(triples("in C D"), 9, S)
    events.push(triples("in E F"), 12, S)
    events.finish()
    assert (by_time(tens), by_time(ones)) == ({20: "EF"}, {11: "AB CD", 12: "AB CD EF"})


def test_without_facts_there_is_nothing_to_finish() -> None:
    stage = Stage()
    query = stage.register(EVERY_TEN)
    stage.reasoner.event_time().finish()
    assert by_time(query) == {}


@pytest.mark.parametrize("seed", range(6))
def test_reports_at_the_end_are_those_of_a_clock_that_goes_on(seed: int) -> None:
    choice = random.Random(seed)
    range, step, every = (choice.randint(1, 9) for _ in "rse")
    text = (
        f"REGISTER QUERY q COMPUTE EVERY {every} AS SELECT ?x ?y "
        f"FROM STREAM <s> [RANGE {range} STEP {step}] {PAIRS}"
    )
    facts = sorted((choice.randint(1, 30), choice.choice("ABC")) for _ in "12345678")
    ended, went_on = Stage(TRANSITIVE), Stage(TRANSITIVE)
    queries = [stage.register(text) for stage in (ended, went_on)]
    finished(ended, *((f"in {name} {name}x", time) for time, name in facts))
    for time, name in facts:
        went_on.push(f"in {name} {name}x", time)
    went_on.advance(60)
    reported, wanted = map(by_time, queries)
    assert reported == {time: wanted[time] for time in reported}
    last = facts[-1][0]
    seen = -(-last // step) * step
    assert max(reported) == -(-seen // every) * every
