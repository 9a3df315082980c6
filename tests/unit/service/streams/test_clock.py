"""The clock of a reasoner: one tick, times as text, and errors on the way."""

from __future__ import annotations

import pytest

import livefacts as lf
from livefacts.errors import InputError, LimitError, RuleError

SOMETIME = "q(?x) :- sometime a(?x) in [3] . "
STREAM = "http://example.org/s"


def texts(facts: object) -> list[str]:
    return sorted(map(str, facts))  # type: ignore[call-overload]


def test_what_time_brought_before_an_error_is_told_by_the_next_advance() -> None:
    rules = SOMETIME + "false :- q(bad) ."
    r = lf.Reasoner(rules=rules, start=0, on_violation="refuse")
    r.advance(0)
    r.push([("a", "ok")], at=1)
    r.push([("a", "bad")], at=2)
    with pytest.raises(lf.ViolationError):
        r.advance(3)
    assert r.now == 1
    r.retract([("a", "bad")], at=2)
    delta = r.advance(3)
    assert texts(delta.added) == ["q(ok)"]
    assert texts(delta.removed) == []


def test_to_advance_to_now_tells_what_an_error_kept_before_anything_else_changes() -> None:
    rules = SOMETIME + "false :- q(bad) ."
    r = lf.Reasoner(rules=rules, start=0, on_violation="refuse")
    r.advance(0)
    r.push([("a", "ok")], at=1)
    r.push([("a", "bad")], at=2)
    with pytest.raises(lf.ViolationError):
        r.advance(3)
    asserted = r.advance(r.now)
    assert texts(asserted.added) == ["a(ok)", "q(ok)"]
    assert r.now == 1
    deltas = [
        asserted,
        r.retract([("a", "ok")], at=1),
        r.retract([("a", "bad")], at=2),
        r.advance(3),
    ]
    summed = set()
    for delta in deltas:
        summed = (summed | set(texts(delta.added))) - set(texts(delta.removed))
    assert summed == set(texts(r.facts())) == set()
    assert not r.advance(r.now)


def test_an_error_of_a_registered_query_loses_no_change() -> None:
    rules = """@prefix : <http://e/> . @limit 1000 .
        [?x, :dist, 1] :- [?x, :a, ?y], [?x, :b, ?y] .
        [?x, :dist, ?m] :- [?x, :dist, ?k], ?m = ?k + 1 .
        q(?x) :- sometime [?x, :b, ?y] in [3] ."""
    r = lf.Reasoner(rules=rules, start=0)
    query = r.register(
        f"PREFIX : <http://e/> REGISTER QUERY q AS SELECT ?s ?o FROM STREAM <{STREAM}> [RANGE 5] "
        "WHERE { ?s :dist ?o }"
    )
    r.push("<http://e/s> <http://e/a> <http://e/o> .", at=1, stream=STREAM)
    r.push("<http://e/s> <http://e/b> <http://e/o> .", at=2, stream=STREAM)
    r.advance(1)
    assert "q(<http://e/s>)" in texts(r.advance(2).added)
    assert isinstance(query.error, LimitError)


def test_a_time_point_does_not_change_its_length_once_facts_have_come() -> None:
    r = lf.Reasoner(rules="q(?x) :- sometime a(?x) in [120 s] .")
    r.push(("a", "u"), at=100)
    with pytest.raises(RuleError, match="lasts 1 s already"):
        r.add_rules("@tick 1 min .")
    r.add_rules("@tick 1 s .")
    said = r"the rules say @tick 1 min, and tick= \(--tick\) says 1 s"
    with pytest.raises(RuleError, match=said):
        lf.Reasoner(tick="1 s", rules="@tick 1 min .")


def test_a_time_that_has_passed_is_refused_as_it_was_given() -> None:
    r = lf.Reasoner(rules=SOMETIME)
    r.advance("2026-01-01T12:00:05Z")
    with pytest.raises(InputError, match=r"it is 2026-01-01T12:00:05Z already.* 2026-01-01T12"):
        r.advance("2026-01-01T12:00:00Z")
    with pytest.raises(InputError, match=r"it is 1767268805 already.* back to 7\n"):
        r.advance(7)


@pytest.mark.parametrize("tick", ["0 s", "1", 5])
def test_a_tick_is_a_length_of_time(tick: object) -> None:
    with pytest.raises(InputError, match=r"time point lasts\nhint: .* longer than 0"):
        lf.Reasoner(tick=tick)  # type: ignore[arg-type]


def test_facts_before_the_first_time_point_are_counted() -> None:
    r = lf.Reasoner(rules=SOMETIME)
    r.push(("a", "u"), at=5)
    r.advance(5)
    r.push(("a", "v"), at=2)
    assert r.stats()["set_aside"] == {"before the first time point": 1}


def test_times_may_be_texts() -> None:
    r = lf.Reasoner(rules=SOMETIME, tick="1 min")
    r.push(("a", "u"), at="1970-01-01T00:02:30Z")
    r.advance("3")
    assert texts(r.facts(derived=True)) == ["q(u)"]
    with pytest.raises(InputError, match="noon is not a time point"):
        r.advance("noon")


def test_a_window_that_is_not_a_whole_number_of_ticks_is_shown_where_it_stands() -> None:
    with pytest.raises(RuleError) as caught:
        lf.Reasoner(rules="@tick 1 min .\nq(?x) :- sometime a(?x) in [90 s] .")
    assert "90 s is not a whole number of ticks of 1 min" in str(caught.value)
    assert "@tick 30 s" in str(caught.value)
    assert caught.value.place is not None
    assert caught.value.place.line == 2


@pytest.mark.parametrize("stream", ["positions", "not iri", 5])
def test_a_stream_is_called_by_an_absolute_iri(stream: object) -> None:
    with pytest.raises(InputError, match="name of a stream"):
        lf.Reasoner().push(("a", "x"), at=1, stream=stream)  # type: ignore[arg-type]


def test_a_query_reads_only_streams_that_can_be_pushed_to() -> None:
    with pytest.raises(lf.QueryError, match="name of a stream"):
        lf.Reasoner().register(
            "REGISTER QUERY q AS SELECT ?s FROM STREAM <gates> [RANGE 3] WHERE { ?s ?p ?o }"
        )


def test_a_stream_has_one_window() -> None:
    twice = f"@stream <{STREAM}> in [range 3 step 1] . @stream <{STREAM}> in [range 5 step 1] ."
    with pytest.raises(RuleError, match="already"):
        lf.Reasoner(rules=twice)
