"""Facts of streams, and time that moves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

import livefacts as lf
from livefacts.errors import InputError, RuleError

SEEN = "seen(?x) :- sometime a(?x) in [3] ."


def names(reasoner: lf.Reasoner) -> set[str]:
    return set(map(str, reasoner))


def test_a_fact_of_a_stream_holds_at_its_time_point_only() -> None:
    reasoner = lf.Reasoner(start=0)
    reasoner.push(("a", "x"), at=2)
    held = {}
    for now in range(4):
        reasoner.advance(now)
        held[now] = names(reasoner)
    assert held == {0: set(), 1: set(), 2: {"a(x)"}, 3: set()}


def test_what_streams_bring_is_told_and_what_rules_say_of_it_is_concluded() -> None:
    reasoner = lf.Reasoner(rules=SEEN)
    reasoner.push(("a", "x"), at=1)
    reasoner.advance(1)
    assert list(map(str, reasoner.facts(derived=True))) == ["seen(x)"]
    assert list(map(str, reasoner.facts(derived=False))) == ["a(x)"]


def test_background_stays_when_the_stream_lets_go_of_the_same_fact() -> None:
    reasoner = lf.Reasoner(start=0)
    reasoner.push(("a", "x"), at=1)
    reasoner.advance(1)
    reasoner.add(("a", "x"))
    assert not reasoner.advance(2)
    assert names(reasoner) == {"a(x)"}


def test_what_a_stream_holds_stays_when_it_is_removed_from_the_background() -> None:
    reasoner = lf.Reasoner(start=0)
    reasoner.add(("a", "x"))
    reasoner.push(("a", "x"), at=1)
    reasoner.advance(1)
    assert not reasoner.remove(("a", "x"))
    assert names(reasoner) == {"a(x)"}
    assert list(map(str, reasoner.advance(2).removed)) == ["a(x)"]


def test_a_triple_of_a_stream_goes_through_the_schema_while_it_holds() -> None:
    reasoner = lf.Reasoner(rules="rdfs", start=0)
    reasoner.add(
        "<http://e/Cat> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e/Animal> ."
    )
    before = len(reasoner)
    reasoner.push("<http://e/tom> a <http://e/Cat> .", at=1)
    reasoner.advance(1)
    assert reasoner.query("ASK { <http://e/tom> a <http://e/Animal> }")
    reasoner.advance(2)
    assert len(reasoner) == before


def test_silence_is_passed_over() -> None:
    reasoner = lf.Reasoner(rules=SEEN, start=0)
    reasoner.push(("a", "x"), at=5)
    ticks = list(reasoner.ticks(1_000_000))
    assert [now for now, delta in ticks if delta] == [5, 6, 9]


def test_the_net_of_many_ticks_is_their_sum() -> None:
    reasoner = lf.Reasoner(rules=SEEN, start=0)
    reasoner.push(("a", "x"), at=1)
    reasoner.push(("a", "y"), at=8)
    delta = reasoner.advance(8)
    assert set(map(str, delta.added)) == {"a(y)", "seen(y)"}
    assert not delta.removed


def test_a_fact_that_waits_for_its_time_can_be_taken_back() -> None:
    reasoner = lf.Reasoner(rules=SEEN, start=0)
    reasoner.push(("a", "x"), at=3)
    reasoner.retract(("a", "x"), at=3)
    assert not reasoner.advance(4)


def test_the_same_fact_on_two_streams_holds_until_both_are_taken_back() -> None:
    reasoner = lf.Reasoner(start=0)
    for stream in ("http://e/1", "http://e/2"):
        reasoner.push(("a", "x"), at=1, stream=stream)
    reasoner.advance(1)
    assert not reasoner.retract(("a", "x"), at=1, stream="http://e/1")
    assert list(map(str, reasoner.retract(("a", "x"), at=1, stream="http://e/2").removed)) == [
        "a(x)"
    ]


def test_a_window_on_one_stream_does_not_see_another() -> None:
    reasoner = lf.Reasoner(rules="b :- sometime a in [3 on <http://e/1>] .", start=0)
    reasoner.push(("a",), at=1, stream="http://e/2")
    reasoner.advance(1)
    assert names(reasoner) == {"a"}


def test_rules_over_time_can_come_while_the_stream_runs() -> None:
    reasoner = lf.Reasoner(rules="old(?x) :- sometime a(?x) in [5] .", start=0)
    reasoner.push(("a", "x"), at=1)
    reasoner.advance(2)
    delta = reasoner.add_rules(SEEN)
    assert list(map(str, delta.added)) == ["seen(x)"]
    assert list(map(str, reasoner.remove_rules("old(?y) :- sometime a(?y) in [5] .").removed)) == [
        "old(x)"
    ]
    assert list(map(str, reasoner.advance(5).removed)) == ["seen(x)"]


def test_a_tick_that_is_refused_leaves_time_and_facts_as_they_were() -> None:
    reasoner = lf.Reasoner(
        rules="false :- sometime a(?x) in [3], bad(?x) .", start=0, on_violation="refuse"
    )
    reasoner.add(("bad", "x"))
    reasoner.advance(0)
    reasoner.push(("a", "x"), at=1)
    with pytest.raises(lf.ViolationError):
        reasoner.advance(1)
    assert reasoner.now == 0
    assert names(reasoner) == {"bad(x)"}
    reasoner.remove(("bad", "x"))
    reasoner.advance(1)
    assert names(reasoner) == {"a(x)"}
    assert reasoner.verify()


def test_time_does_not_go_back() -> None:
    reasoner = lf.Reasoner(start=0)
    reasoner.advance(5)
    with pytest.raises(InputError, match="5 already"):
        reasoner.advance(4)


def test_dates_are_time_points_by_the_tick() -> None:
    reasoner = lf.Reasoner(rules="@tick 1 min .\nseen :- sometime a in [2 min] .")
    reasoner.push(("a",), at=datetime(2026, 1, 1, 12, 0, 59, tzinfo=UTC))
    start = datetime(2026, 1, 1, 12, tzinfo=UTC)
    reasoner.advance(start)
    assert names(reasoner) == {"a", "seen"}
    reasoner.advance(start.replace(minute=2))
    assert names(reasoner) == {"seen"}
    reasoner.advance(start.replace(minute=3))
    assert names(reasoner) == set()


def test_a_window_that_is_no_whole_number_of_ticks_is_refused() -> None:
    with pytest.raises(RuleError, match="not a whole number of ticks"):
        lf.Reasoner(rules="@tick 1 min .\nb :- sometime a in [90 s] .")


def test_a_window_that_counts_facts_does_not_look_at_conclusions() -> None:
    with pytest.raises(RuleError, match="window that counts facts"):
        lf.Reasoner(rules="b :- a . c :- sometime b in [3 facts] .")


def test_time_without_a_window_needs_to_know_how_long_to_remember() -> None:
    with pytest.raises(RuleError, match="all history"):
        lf.Reasoner(rules="b :- sometime a .")
    lf.Reasoner(rules="@retain a 3 .\nb :- sometime a .")


def test_recursion_goes_through_always() -> None:
    reasoner = lf.Reasoner(
        rules="at ?t on :- at ?t go in [2] . at ?t on :- at ?t go2 in [2], always on in [1] . "
        "up :- always on in [1] .",
        start=0,
    )
    reasoner.push(("go",), at=0)
    reasoner.push(("go",), at=1)
    reasoner.advance(1)
    assert "up" in names(reasoner)
    reasoner.advance(2)
    assert "up" not in names(reasoner)
    assert reasoner.verify()


ONE_STATE = """
@prefix ex: <http://example.org/> .
[?x, a, ex:Hot]   :- sometime [?x, ex:temperature, ?v] in [2], ?v > 90 .
[?x, a, ex:Alarm] :- always [?x, ex:temperature, ?v] in [1], [?x, a, ex:Hot] .
"""
HOTTEST = """REGISTER QUERY hottest AS PREFIX ex: <http://example.org/>
SELECT ?x ?v FROM STREAM <http://example.org/plant> [RANGE 2 STEP 1] WHERE { ?x ex:temperature ?v }"""
ALARMS = "PREFIX ex: <http://example.org/> SELECT ?x WHERE { ?x a ex:Alarm }"


def test_rules_over_windows_registered_queries_and_sparql_share_one_reasoner() -> None:
    reasoner = lf.Reasoner(rules=ONE_STATE)
    hottest = reasoner.register(HOTTEST)
    seen = []
    for now, value in enumerate([80, 95, 95, 95, 20]):
        asserted = f"<http://example.org/boiler> <http://example.org/temperature> {value} ."
        reasoner.push(asserted, at=now, stream="http://example.org/plant")
        reasoner.advance(now)
        reports = [len(report.rows) for report in hottest.results()]
        seen.append((len(reasoner.query(ALARMS)), reports))
    assert [alarms for alarms, _ in seen] == [0, 0, 1, 1, 0]
    assert [reports for _, reports in seen] == [[], [2], [1], [1], [2]]
    assert reasoner.explain("<http://example.org/boiler> a <http://example.org/Hot>").holds
    assert reasoner.verify().ok


def test_the_same_fact_on_two_streams_has_the_place_of_the_first() -> None:
    reasoner = lf.Reasoner(rules="q(?x) :- sometime a(?x) in [1 facts] .", start=0)
    reasoner.push(("a", "x"), at=1, stream="http://example.org/one")
    reasoner.push(("a", "y"), at=1)
    reasoner.push(("a", "x"), at=1, stream="http://example.org/two")
    reasoner.advance(1)
    assert {name for name in names(reasoner) if name.startswith("q")} == {"q(y)"}
    reasoner.retract(("a", "x"), at=1, stream="http://example.org/one")
    assert {name for name in names(reasoner) if name.startswith("q")} == {"q(x)"}


def test_a_longer_window_begins_with_what_the_shorter_ones_remember() -> None:
    reasoner = lf.Reasoner(rules=SEEN, start=0)
    reasoner.push(("a", "x"), at=1)
    reasoner.push(("a", "y"), at=4)
    reasoner.advance(5)
    delta = reasoner.add_rules("long(?x) :- sometime a(?x) in [10] .")
    assert set(map(str, delta.added)) == {"long(y)"}


def test_before_the_first_time_point_the_background_and_what_follows_hold() -> None:
    reasoner = lf.Reasoner(rules=f"{SEEN} calm :- not seen(x) . known(?x) :- b(?x) .")
    reasoner.add(("b", "y"))
    reasoner.push(("a", "x"), at=1)
    assert names(reasoner) == {"calm", "b(y)", "known(y)"}
    assert set(map(str, reasoner.advance(1).removed)) == {"calm"}


def test_a_rule_that_comes_later_finds_background_at_every_time_point() -> None:
    reasoner = lf.Reasoner(rules="warm(?x) :- sometime hot(?x) in [2] .", start=0)
    reasoner.add(("hot", "x"))
    reasoner.advance(5)
    delta = reasoner.add_rules("when(?t) :- at ?t hot(?x) in [2] .")
    assert set(map(str, delta.added)) == {"when(3)", "when(4)", "when(5)"}


def test_a_window_in_steps_that_is_still_growing_changes_at_its_grid_points() -> None:
    """It has its first time points at 5, and nothing arrives that would call for a tick there."""
    reasoner = lf.Reasoner(
        rules="calm(?x) :- always p(?x) in [range 2 step 5] . seen :- sometime p(x) in [range 2 step 5] .",
        start=1,
    )
    reasoner.add(("p", "x"))
    assert [(now, len(d.added)) for now, d in reasoner.ticks(12)] == [(5, 2)]


def test_always_in_a_window_in_steps_ends_when_the_window_grows_beyond_what_arrived() -> None:
    reasoner = lf.Reasoner(rules="calm :- always p in [range 6 step 2] .", start=1)
    reasoner.push(("p",), at=1)
    reasoner.push(("p",), at=2)
    changes = {now: [str(f) for f in d.removed] for now, d in reasoner.ticks(9)}
    assert changes[4] == ["calm"]


def test_a_stream_has_one_window_in_which_its_facts_hold() -> None:
    with pytest.raises(RuleError, match="another window already") as refused:
        lf.Reasoner(rules="@stream <u:s> in [range 3] . @stream <u:s> in [range 5] .")
    assert refused.value.place is not None


def test_a_window_that_is_no_whole_number_of_ticks_is_refused_in_its_place() -> None:
    with pytest.raises(RuleError, match="90 s is not a whole number") as refused:
        lf.Reasoner(rules="@tick 1 min .\nq(?x) :- sometime a(?x) in [90 s] .")
    assert refused.value.place is not None
    assert refused.value.place.line == 2


@pytest.mark.parametrize("late", [False, True])
def test_a_change_that_is_not_about_time_costs_the_same_whatever_windows_hold(late: bool) -> None:
    costs = []
    for pushes in (4, 64):
        r = lf.Reasoner("seen(?x) :- sometime reading(?x) in [1000] .", start=0)
        for n in range(pushes):
            r.push([("reading", f"s{n}")], at=n)
            if late:
                r.advance(n)
        r.advance(pushes)
        r.add(("sensor", "first"))
        costs.append(_calls(lambda r=r: r.add(("sensor", "second"))))
    # Terms that nobody needs are looked for now and then.
    assert costs[1] <= costs[0] + 5


def _calls(deed: Callable[[], object]) -> int:
    """How many Python functions something calls."""
    events: list[str] = []
    sys.setprofile(lambda frame, event, argument: events.append(event))
    try:
        deed()
    finally:
        sys.setprofile(None)
    return events.count("call")


def test_what_has_no_effect_on_streams_is_said() -> None:
    r = lf.Reasoner("seen(?x) :- sometime p(?x) in [3] .", start=5)
    assert r.push("p(a) . p(b) .", at=2).hints == (
        "to push: 2 set aside, before the first time point",
    )
    assert r.push("p(a) .", at=6).hints == ()
    assert r.retract("p(z) .", at=6).hints == (
        "to retract: nothing of this arrived then on this stream",
    )
    assert r.retract("p(a) .", at=6).hints == ()
