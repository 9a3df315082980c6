"""Time points and lengths of time that have room in 64 bits."""

from __future__ import annotations

from datetime import datetime

import pytest
from pyoxigraph import Literal, NamedNode

from livefacts.errors import InputError, QueryError, RuleError
from livefacts.model.durations import read_duration
from livefacts.model.time_points import MOST_POINTS, time_point
from livefacts.service.reasoner.facade import Reasoner

QUERY = "REGISTER QUERY q AS SELECT ?x FROM STREAM <http://e/s> [{}] {{ ?x ?p ?y }}"
FACT = "<http://e/a> <http://e/b> <http://e/c> ."
HUGE = 10**20


@pytest.mark.parametrize("time", [MOST_POINTS, -MOST_POINTS, str(HUGE), datetime(9999, 1, 1)])
def test_a_time_that_cannot_be_kept_is_refused_before_anything_is_taken(time: object) -> None:
    reasoner = Reasoner()
    with pytest.raises(InputError, match="not a time point that can be kept"):
        time_point(time, read_duration("1 ns"))
    if not isinstance(time, datetime):
        with pytest.raises(InputError, match="not a time point that can be kept"):
            reasoner.push(FACT, at=time, stream="http://e/s")
        assert reasoner.stats()["arrivals"] == 0


@pytest.mark.parametrize("time", [MOST_POINTS - 1, 1 - MOST_POINTS])
@pytest.mark.parametrize("window", ["RANGE 3", f"RANGE {1 << 60}", f"TRIPLES {1 << 60}"])
def test_the_first_and_the_last_time_point_are_reported(time: int, window: str) -> None:
    reasoner = Reasoner()
    query = reasoner.register(QUERY.format(window))
    reasoner.push(FACT, at=time, stream="http://e/s")
    reasoner.advance(time)
    assert [(report.time, len(report.rows)) for report in query.results()] == [(time, 1)]


@pytest.mark.parametrize(
    "window", [f"RANGE {HUGE} STEP 1", f"RANGE 1 STEP {HUGE}", f"TRIPLES {HUGE}", f"RANGE {HUGE}d"]
)
def test_a_window_that_is_too_long_is_refused_where_it_stands(window: str) -> None:
    with pytest.raises(QueryError, match="longer than anything") as caught:
        Reasoner().register(QUERY.format(window))
    assert caught.value.place is not None


@pytest.mark.parametrize("window", [f"{HUGE}", f"range {HUGE} step 1", f"{HUGE} facts"])
def test_a_window_of_a_rule_that_is_too_long_is_refused_where_it_stands(window: str) -> None:
    with pytest.raises(RuleError, match="longer than anything") as caught:
        Reasoner(rules=f"p(?x) :- sometime q(?x) in [{window}] .")
    assert caught.value.place is not None


@pytest.mark.parametrize("zone", ["", "Z", "+05:30"])
def test_the_end_of_a_day_is_the_beginning_of_the_next(zone: str) -> None:
    ends = [f"2025-12-31T24:00:00{fraction}{zone}" for fraction in ("", ".000")]
    date_time = NamedNode("http://www.w3.org/2001/XMLSchema#dateTime")
    wanted = time_point(f"2026-01-01T00:00:00{zone}")
    assert {time_point(end) for end in ends} == {wanted}
    assert time_point(Literal(ends[0], datatype=date_time)) == wanted


@pytest.mark.parametrize(
    "time", ["2025-12-31T24:00:01Z", "2025-12-31T24:01:00Z", "9999-12-31T24:00:00Z"]
)
def test_other_times_behind_the_end_of_a_day_are_none(time: str) -> None:
    with pytest.raises(InputError, match="is not a time point"):
        time_point(time)
