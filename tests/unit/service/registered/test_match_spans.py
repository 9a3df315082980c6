"""Match spans: queries with windows of several lengths about what is absent, in one state."""

from __future__ import annotations

import pytest
from tests.unit.service.registered.stage import PREFIX, Stage, by_time

from livefacts.service.registered.scheduled_query import Registration

ALONE = "[?x, :alone, ?z] :- [?x, :in, ?z], not [?x, :with, ?z] ."
ASKED = {
    "rule": (ALONE, "{ ?x :alone ?z }"),
    "NOT EXISTS": ("", "{ ?x :in ?z FILTER NOT EXISTS { ?x :with ?z } }"),
    "MINUS": ("", "{ ?x :in ?z MINUS { ?x :with ?z } }"),
    "rule above": (ALONE + "[?x, :free, ?z] :- [?x, :alone, ?z] .", "{ ?x :free ?z }"),
}


def query(stage: Stage, length: int, body: str) -> Registration:
    return stage.register(
        f"REGISTER QUERY q{length} AS SELECT ?x ?z FROM STREAM <s> [RANGE {length} STEP 1] WHERE {body}"
    )


@pytest.mark.parametrize("asked", ASKED)
def test_a_window_sees_a_match_if_it_is_too_short_for_what_denies_it(asked: str) -> None:
    rules, body = ASKED[asked]
    stage = Stage(rules, start=0)
    short, long = query(stage, 2, body), query(stage, 4, body)
    stage.push("with A B", at=1)
    stage.push("in A B", at=2)
    stage.advance(6)
    assert {time: rows for time, rows in by_time(short).items() if rows} == {3: "AB"}
    assert {time: rows for time, rows in by_time(long).items() if rows} == {5: "AB"}
    assert "state of windows of every length: shared by 2 queries" in short.plan


def test_a_match_is_seen_if_one_of_its_ways_is_not_denied() -> None:
    stage = Stage(ALONE + "[?x, :alone, ?y] :- [?x, :at, ?y], not [?y, :shut, ?y] .", start=0)
    asked = query(stage, 3, "{ ?x :alone ?z }")
    stage.add("shut B B")
    stage.push("in A B, with A B, at A B", at=1)
    stage.advance(1)
    stage.remove("shut B B")
    stage.advance(2)
    stage.push("shut B B", at=3)
    stage.advance(3)
    assert by_time(asked) == {1: "", 2: "AB", 3: ""}


def test_a_rule_that_denies_what_a_negating_rule_concludes_has_a_world() -> None:
    stage = Stage(ALONE + "[?x, :met, ?z] :- [?x, :in, ?z], not [?x, :alone, ?z] .", start=0)
    asked = query(stage, 3, "{ ?x :met ?z }")
    stage.push("in A B", at=1)
    stage.push("with A B", at=2)
    stage.advance(2)
    assert "world: its own" in asked.plan
    assert by_time(asked) == {1: "", 2: "AB"}


def test_answers_go_on_when_a_negating_rule_comes_and_goes() -> None:
    stage = Stage(ALONE, start=0)
    asked = query(stage, 5, "{ ?x :alone ?z }")
    stage.push("in A B", at=1)
    stage.advance(1)
    stage.reasoner.add_rules(PREFIX + "[?x, :alone, ?y] :- [?y, :in, ?x], not [?y, :with, ?y] .")
    stage.advance(2)
    stage.reasoner.remove_rules(stage.reasoner.rules[0])
    stage.advance(3)
    assert by_time(asked) == {1: "AB", 2: "AB BA", 3: "BA"}
