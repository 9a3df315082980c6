"""Limits in the worlds of registered queries: as in the reasoner's own world."""

from __future__ import annotations

import pytest
from tests.unit.service.registered.stage import EX, PREFIX, Stage, by_time

from livefacts.errors import LimitError
from livefacts.service.registered.query_preparation import Preparer
from livefacts.service.registered.scheduled_query import Prepared, QueryRequest, Registration

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


def sizes(query: Registration) -> dict[int, int | None]:
    """How many answers there were at each time; None where there was no report."""
    found = by_time(query).items()
    return {time: None if text == "!" else len(text.split()) for time, text in found}


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
        made.advance(2)
        assert sizes(query) == {1: 4, 2: 16 if limit == 12 else None}
        if limit == 11:
            assert "more than 11 facts for the query q at 2" in str(query.error)


@in_state_or_world
def test_each_time_point_may_derive_as_much_as_the_limit_says(where: str) -> None:
    made = stage(f"{SAME} {UNLESS}", 16)
    query = made.register(f"REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 9] {where}")
    for at in range(1, 4):
        made.push(f"in A{at} P, in B{at} P", at=at)
    made.advance(3)
    assert sizes(query) == {1: 4, 2: 16, 3: None}


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "filter"),
    [(ENDLESS, ""), (ENDLESS + UNLESS, "FILTER NOT EXISTS { ?x :none ?n }")],
)
def test_when_the_cause_is_gone_the_query_goes_on(rules: str, filter: str) -> None:
    made = stage("@limit 50 . " + rules)
    query = made.register(
        "REGISTER QUERY q AS SELECT ?x ?z FROM STREAM <s> [RANGE 4] "
        f"WHERE {{ ?x :a ?z {filter} . OPTIONAL {{ ?x :far ?n }} }}"
    )
    made.push("a S O", at=1)
    made.push("b S O", at=2)
    made.advance(3)
    assert "undone" not in str(query.error)
    assert "more than 50 facts for the query q at 3" in str(query.error)
    assert made.reasoner.stats()["failing"] == {"q": query.error.message}
    made.retract("b S O", at=2)
    made.advance(4)
    assert by_time(query) == {1: "SO", 2: "!", 3: "!", 4: "SO"}
    assert query.error is None
    assert query.unmade == 2
    assert made.reasoner.stats()["failing"] == {}
    made.push("a S O", at=5)
    made.push("b S O", at=6)
    made.advance(9)
    assert by_time(query) == {5: "SO", 6: "!", 7: "!", 8: "!", 9: ""}


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
    made.advance(4)
    made.remove("in D P")
    made.advance(5)
    assert sizes(query) == {1: 1, 2: 4, 3: 4, 4: None, 5: 9}


def test_rules_that_derive_too_much_in_a_window_are_told_by_the_next_report() -> None:
    made = stage("", 4)
    query = made.register(f"REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 9] {STATE}")
    made.push(SOME, at=1)
    made.advance(2)
    made.reasoner.add_rules(PREFIX + SAME)
    made.advance(3)
    made.retract("in C P, in D P", at=1)
    made.advance(4)
    assert sizes(query) == {1: 0, 2: 0, 3: None, 4: 4}


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


def too_many(limit: int = 11, rules: str = SAME) -> Stage:
    """Two things in one place at 1, and two at 2: four, and twelve more."""
    made = stage(rules, limit)
    made.push("in A P, in B P", at=1)
    made.push("in C P, in D P", at=2)
    return made


def test_reading_a_report_that_was_not_made_says_why() -> None:
    made = too_many()
    query = made.register(f"REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 3] {STATE}")
    made.advance(6)
    _, unmade, *others = query.results()
    assert (unmade.first, unmade.last, unmade.count) == (2, 3, 2)
    assert not unmade
    for read in (lambda: unmade.rows, lambda: len(unmade), lambda: list(unmade)):
        with pytest.raises(LimitError, match="more than 11 facts for the query q at 2"):
            read()
    assert "more than 11 facts" in repr(unmade)
    assert [(report.first, report.last, len(report)) for report in others] == [(4, 4, 4), (5, 6, 0)]


ALL = "WHERE { ?x :in ?y }"
FEW = "WHERE { ?x :one ?y }"


@pytest.mark.parametrize("relation", ["QUERY", "DSTREAM"])
@pytest.mark.parametrize("rules", [SAME, SAME + UNLESS])
@pytest.mark.parametrize("body", [ALL, FEW, "WHERE { ?x :in ?y OPTIONAL { ?x :none ?y } }"])
def test_queries_that_share_a_world_with_one_that_derives_too_much_are_reported(
    body: str, rules: str, relation: str
) -> None:
    """As if it were not there: before, meanwhile and after."""
    asserted = []
    for others in ([], [STATE], [WORLD, STATE]):
        made = too_many(rules=rules + "[?x, :one, ?y] :- [?x, :in, ?y], [?y, :in, ?z] .")
        bad = [
            made.register(f"REGISTER QUERY bad{n} AS SELECT * FROM STREAM <s> [RANGE 3] {where}")
            for n, where in enumerate(others)
        ]
        query = made.register(f"REGISTER {relation} q AS SELECT * FROM STREAM <s> [RANGE 3] {body}")
        made.push("in P C", at=3)
        made.push("in F P", at=7)
        made.advance(8)
        asserted.append(by_time(query))
        for each in bad:
            assert [time for time, size in sizes(each).items() if size is None] == [2, 3]
    assert asserted[0] == asserted[1] == asserted[2]
    assert any(asserted[0].values())


def test_a_query_that_derives_too_much_can_be_closed() -> None:
    made = too_many()
    text = f"REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 9] {STATE}"
    query = made.register(text)
    made.advance(2)
    query.close()
    made.advance(5)
    assert sizes(query) == {1: 4, 2: None}
    assert made.reasoner.stats()["worlds"] == []
    again = made.register(text)
    made.push("in A P", at=6)
    made.advance(6)
    assert sizes(again) == {5: 0, 6: 1}


def test_readers_of_a_stream_that_was_not_made_say_so_while_their_windows_see_it() -> None:
    made = too_many()
    other = made.register(f"REGISTER QUERY other AS SELECT * FROM STREAM <s> [RANGE 2] {ALL}")
    made.register(
        f"REGISTER STREAM <{EX}pairs> AS CONSTRUCT {{ ?x :pair ?y }} "
        f"FROM STREAM <s> [RANGE 2] {STATE}"
    )
    reader = made.register(
        "REGISTER QUERY reader AS SELECT * FROM STREAM <pairs> [RANGE 2] WHERE { ?x :pair ?y }"
    )
    made.advance(3)
    assert "pairs> was not made at 2" in str(reader.error)
    made.advance(6)
    assert sizes(reader) == {1: 4, 2: None, 3: None, 4: 4, 5: 0, 6: 0}
    assert sizes(other) == {1: 2, 2: 4, 3: 2, 4: 0, 5: 0, 6: 0}


TIMED = "[?x, :late, ?y] :- sometime [?x, :in, ?y] in [2] ."


@pytest.mark.parametrize("rules", [SAME, SAME + UNLESS, SAME + TIMED])
def test_arrivals_are_not_kept_for_a_query_that_goes_on_deriving_too_much(rules: str) -> None:
    made = stage(rules, 11)
    query = made.register(
        "REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 3] "
        "WHERE { ?x :same ?y OPTIONAL { ?x :none ?n } OPTIONAL { ?x :late ?y } }"
    )
    for at in range(1, 40):
        made.push(f"in A{at} P, in B{at} P", at=at)
        made.advance(at)
    assert len(list(query.results())) == 2
    assert query.unmade == 38
    assert sum(made.reasoner.stats()["kept_arrivals"].values()) <= 8


def test_a_report_that_could_not_be_made_is_corrected_when_it_can() -> None:
    made = too_many()
    made.reasoner.correct(EX + "s", 5)
    query = made.register(f"REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 2] {STATE}")
    made.advance(3)
    assert sizes(query) == {1: 4, 2: None, 3: 4}
    made.retract("in D P", at=2)
    assert sizes(query) == {2: 9, 3: 1}


def test_a_query_whose_new_world_cannot_begin_tries_at_its_next_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = too_many()
    query = made.register(f"REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 3] {STATE}")

    def refuse(self: Preparer, asked: QueryRequest) -> Prepared:
        raise LimitError("the background alone derives too much")

    with monkeypatch.context() as patched:
        patched.setattr(Preparer, "prepare", refuse)
        made.advance(3)
        assert made.reasoner.stats()["worlds"] == []
    made.advance(4)
    assert sizes(query) == {1: 4, 2: None, 3: None, 4: 4}
    query.close()
    assert made.reasoner.stats()["queries"] == 0
