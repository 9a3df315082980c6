"""Limits in the worlds of registered queries: as in the reasoner's own world."""

from __future__ import annotations

import pytest
from tests.unit.service.stage import EX, PREFIX, Stage, by_time

from livefacts.errors import LimitError

SAME = "[?x, :same, ?y] :- [?x, :in, ?z], [?y, :in, ?z] ."
"""So many things in one place give as many conclusions as their number squared."""
ENDLESS = (
    "[?x, :far, 1] :- [?x, :a, ?y], [?x, :b, ?y] . [?x, :far, ?m] :- [?x, :far, ?k], ?m = ?k + 1 ."
)
UNLESS = "[?x, :none, ?x] :- [?x, :a, ?x], not [?x, :b, ?x] ."
"""A rule that no state has: the query gets a world."""
STATE = "WHERE { ?x :same ?y }"
WORLD = "WHERE { ?x :same ?y . FILTER NOT EXISTS { ?x :none ?y } }"
in_state_or_world = pytest.mark.parametrize("where", [STATE, WORLD])
SOME = "in A P, in B P, in C P, in D P"


def stage(rules: str, limit: int | None = None) -> Stage:
    return Stage(rules, limit=limit, start=1)


def sizes(query: object) -> dict[int, int]:
    return {time: len(text.split()) for time, text in by_time(query).items()}  # type: ignore[arg-type]


@in_state_or_world
@pytest.mark.parametrize("is_written", [True, False])
def test_as_many_facts_as_the_limit_says_are_derived_and_no_more(
    where: str, is_written: bool
) -> None:
    for limit in (12, 11):
        rules, given = (f"@limit {limit} .", None) if is_written else ("", limit)
        made = stage(f"{SAME} {UNLESS} {rules}", given)
        query = made.register(f"REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 5] {where}")
        made.push("in A P, in B P", at=1)
        made.push("in C P, in D P", at=2)
        if limit == 12:
            made.advance(2)
            assert sizes(query) == {1: 4, 2: 16}
        else:
            with pytest.raises(LimitError, match="more than 11 facts for the query q at 2"):
                made.advance(2)


@in_state_or_world
def test_each_time_point_may_derive_as_much_as_the_limit_says(where: str) -> None:
    made = stage(f"{SAME} {UNLESS}", 16)
    query = made.register(f"REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 9] {where}")
    for at in range(1, 4):
        made.push(f"in A{at} P, in B{at} P", at=at)
    made.advance(2)
    assert sizes(query) == {1: 4, 2: 16}
    with pytest.raises(LimitError, match="at 3"):
        made.advance(3)


@in_state_or_world
def test_a_query_that_is_registered_later_takes_in_several_time_points_at_once(where: str) -> None:
    made = stage(f"{SAME} {UNLESS}", 12)
    made.register("REGISTER QUERY all AS SELECT * FROM STREAM <s> [RANGE 9] WHERE { ?x :in ?y }")
    for at in (1, 2):
        made.push(f"in A{at} P, in B{at} P", at=at)
    made.advance(2)
    query = made.register(f"REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 9] {where}")
    assert sizes(query) == {2: 16}


@in_state_or_world
def test_what_is_known_before_a_query_begins_counts_against_no_limit(where: str) -> None:
    made = stage(f"{SAME} {UNLESS}", 12)
    made.add("in A P, in B P")
    made.add("in C P, in D P")
    query = made.register(f"REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 9] {where}")
    made.advance(1)
    assert sizes(query) == {1: 16}


@pytest.mark.parametrize("rules", [ENDLESS, ENDLESS + UNLESS])
@pytest.mark.parametrize("filter", ["", "FILTER NOT EXISTS { ?x :none ?n }"])
def test_after_the_cause_is_taken_back_the_query_goes_on(rules: str, filter: str) -> None:
    made = stage("@limit 1000 . " + rules)
    query = made.register(
        "REGISTER QUERY q AS SELECT ?x ?z FROM STREAM <s> [RANGE 2] "
        f"WHERE {{ ?x :a ?z {filter} . OPTIONAL {{ ?x :far ?n }} }}"
    )
    made.push("a S O", at=1)
    made.push("b S O", at=2)
    made.advance(1)
    for now in (2, 3):
        with pytest.raises(LimitError) as caught:
            made.advance(now)
        assert "undone" not in str(caught.value)
        assert "more than 1,000 facts for the query q at 2" in str(caught.value)
        assert made.reasoner.now == now
    made.retract("b S O", at=2)
    made.advance(4)
    assert by_time(query) == {1: "SO", 2: "SO", 3: "", 4: ""}


@in_state_or_world
def test_background_that_derives_too_much_in_a_window_is_told_by_the_next_report(
    where: str,
) -> None:
    made = stage(f"{SAME} {UNLESS}", 5)
    query = made.register(f"REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 9] {where}")
    made.push("in A P", at=1)
    made.push("in B P", at=2)
    made.advance(3)
    made.add("in C P, in D P")
    with pytest.raises(LimitError, match="query q at 4"):
        made.advance(4)
    made.remove("in D P")
    made.advance(5)
    assert sizes(query) == {1: 1, 2: 4, 3: 4, 4: 9, 5: 9}


def test_rules_that_derive_too_much_in_a_window_are_told_by_the_next_report() -> None:
    made = stage("", 4)
    query = made.register(f"REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 9] {STATE}")
    made.push(SOME, at=1)
    made.advance(2)
    made.reasoner.add_rules(PREFIX + SAME)
    with pytest.raises(LimitError, match="query q at 3"):
        made.advance(3)
    made.retract("in C P, in D P", at=1)
    made.advance(4)
    assert sizes(query) == {1: 0, 2: 0, 3: 4, 4: 4}


def test_a_query_that_derives_too_much_is_not_registered() -> None:
    made = stage(SAME, 4)
    made.register("REGISTER QUERY all AS SELECT * FROM STREAM <s> [RANGE 9] WHERE { ?x :in ?y }")
    for at in (1, 2, 3):
        made.push(f"in A{at} P, in B{at} P", at=at)
    made.advance(4)
    text = f"REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 9] {STATE}"
    with pytest.raises(LimitError, match="not registered"):
        made.register(text)
    made.retract("in A1 P, in B1 P", at=1)
    made.retract("in A2 P, in B2 P", at=2)
    made.advance(5)
    assert sizes(made.register(text)) == {5: 4}


def test_a_correction_counts_only_what_is_new() -> None:
    made = stage(SAME, 12)
    made.reasoner.correct(EX + "s", 5)
    query = made.register(f"REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 9] {STATE}")
    for at in range(1, 5):
        made.push(f"in A{at} P", at=at)
    made.advance(4)
    assert sizes(query) == {1: 1, 2: 4, 3: 9, 4: 16}
    made.push("in L P", at=2)
    assert sizes(query) == {2: 9, 3: 16, 4: 25}
