"""Registered queries: what is reported, and when."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode, Quad
from tests.unit.service.registered.stage import (
    EX,
    PAIRS,
    PREFIX,
    TRANSITIVE,
    Stage,
    by_time,
    triples,
    words,
)

from livefacts.errors import QueryError
from livefacts.service.registered.reports import TimeSpan


def window(extent: str, what: str = "QUERY", body: str = PAIRS, name: str = "q") -> str:
    return f"REGISTER {what} {name} AS SELECT ?x ?y FROM STREAM <s> [{extent}] {body}"


def places(stage: Stage) -> None:
    for time, facts in ((1, "in A B"), (2, "in B C"), (3, "in C D"), (4, "in A E, in E D")):
        stage.push(facts, at=time)


E16 = {
    1: "AB",
    2: "AB AC BC",
    3: "AB AC AD BC BD CD",
    **dict.fromkeys(range(4, 11), "AB AC AD AE BC BD CD ED"),
    11: "AD AE BC BD CD ED",
    12: "AD AE CD ED",
    13: "AD AE ED",
    14: "",
    15: "",
}


@pytest.mark.parametrize("body", [PAIRS, "WHERE { ?x :in ?y OPTIONAL { ?y :none ?z } }"])
def test_conclusions_leave_the_window_with_the_first_of_their_premises(body: str) -> None:
    stage = Stage(TRANSITIVE)
    query = stage.register(window("RANGE 10 STEP 1", body=body))
    places(stage)
    stage.advance(15)
    assert by_time(query) == E16


def test_in_a_closed_window_facts_stay_one_time_point_longer() -> None:
    stage = Stage(TRANSITIVE)
    query = stage.register(window("RANGE 10 STEP 1 BOUNDS CLOSED"))
    places(stage)
    stage.advance(15)
    found = by_time(query)
    assert [found[t] for t in (11, 12, 13, 14, 15)] == [E16[t] for t in (10, 11, 12, 13, 14)]


def test_a_renewed_fact_stays_and_a_retracted_one_takes_its_conclusions_along() -> None:
    stage = Stage(TRANSITIVE)
    query = stage.register(window("RANGE 10 STEP 1"))
    places(stage)
    stage.push("in A B", at=6)
    stage.advance(7)
    stage.retract("in E D", at=4)
    stage.advance(17)
    found = by_time(query)
    assert found[8] == found[11] == "AB AC AD AE BC BD CD"
    assert found[12] == "AB AE CD"
    assert [found[t] for t in (13, 14, 15, 16)] == ["AB AE", "AB", "AB", ""]


def test_each_stream_has_its_own_window_and_grid() -> None:
    stage = Stage("[?x, :alert, ?z] :- [?x, :pos, ?y], [?y, :jam, ?z] .")
    query = stage.register(
        "REGISTER QUERY q COMPUTE EVERY 1 AS SELECT ?x ?y FROM STREAM <pos> [RANGE 3 STEP 1] "
        "FROM STREAM <jam> [RANGE 6 STEP 2] WHERE { ?x :alert ?y }"
    )
    for facts, time in (("pos u r", 1), ("pos u r", 5), ("pos v r", 8)):
        stage.push(facts, at=time, stream="pos")
    stage.push("jam r hi", at=3, stream="jam")
    stage.push("jam r lo", at=4, stream="jam")
    stage.advance(10)
    expected = dict.fromkeys(range(1, 11), "")
    expected |= dict.fromkeys((5, 6, 7), "uhi ulo") | dict.fromkeys((8, 9), "vhi vlo")
    assert by_time(query) == expected


@pytest.mark.parametrize(
    ("extent", "contents"),
    [
        ("RANGE 4 STEP 3", ["1 2 3", "3 4 5", "5", ""]),
        ("RANGE 3 TUMBLING", ["1 2 3", "4 5", "", ""]),
        ("RANGE 1 STEP 3", ["3", "5", "", ""]),
    ],
)
def test_a_window_moves_at_the_points_of_its_grid(extent: str, contents: list[str]) -> None:
    stage = Stage()
    query = stage.register(window(extent, body="WHERE { :a :a ?y }").replace("?x ", ""))
    numbered(stage)
    stage.advance(12)
    assert by_time(query) == dict(zip((3, 6, 9, 12), contents, strict=True))


def numbered(stage: Stage) -> None:
    for number, time in enumerate((1, 2, 3, 4, 6), 1):
        stage.push(f"a a {number}", at=time)


@pytest.mark.parametrize("body", ["{ :a :a ?y }", "{ :a :a ?y OPTIONAL { ?y :none ?z } }"])
def test_istream_reports_what_is_new_and_dstream_what_is_gone(body: str) -> None:
    stage = Stage()
    queries = [
        stage.register(
            f"REGISTER {what} {what}1 AS SELECT ?y FROM STREAM <s> [RANGE 4 STEP 3] WHERE {body}"
        )
        for what in ("ISTREAM", "DSTREAM")
    ]
    numbered(stage)
    stage.advance(12)
    new, gone = map(by_time, queries)
    assert new == {3: "1 2 3", 6: "4 5", 9: "", 12: ""}
    assert gone == {3: "", 6: "1 2", 9: "3 4", 12: "5"}


def test_windows_of_different_lengths_see_the_same_stream() -> None:
    stage = Stage(TRANSITIVE)
    queries = [stage.register(window(f"RANGE {r} STEP 1", name=f"q{r}")) for r in (10, 3, 2, 1)]
    places(stage)
    stage.advance(5)
    assert [by_time(query)[5] for query in queries] == [E16[5], "AD AE CD ED", "AD AE ED", ""]


def test_a_window_by_count_has_the_last_arrivals_and_moves_with_every_nth() -> None:
    stage = Stage()
    one = stage.register(window("TRIPLES 2", body="{ :a :a ?y }", name="one").replace("?x ", ""))
    two = stage.register(
        window("TRIPLES 3 STEP 2", body="{ :a :a ?y }", name="two").replace("?x ", "")
    )
    numbered(stage)
    stage.advance(6)
    assert by_time(one) == {1: "1", 2: "1 2", 3: "2 3", 4: "3 4", 5: "3 4", 6: "4 5"}
    assert by_time(two) == {1: "", 2: "1 2", 3: "1 2", 4: "2 3 4", 5: "2 3 4", 6: "2 3 4"}


def test_a_retracted_arrival_lets_the_next_older_one_back_into_a_window_by_count() -> None:
    stage = Stage()
    query = stage.register(window("TRIPLES 2", body="{ :a :a ?y }").replace("?x ", ""))
    numbered(stage)
    stage.advance(6)
    stage.retract("a a 5", at=6)
    stage.advance(7)
    assert by_time(query)[7] == "3 4"


def test_answers_are_bags_unless_they_are_distinct() -> None:
    stage = Stage()
    text = "REGISTER QUERY {} AS SELECT {} ?x FROM STREAM <s> [RANGE 9] WHERE {{ ?x :in ?y }}"
    bag, distinct = (stage.register(text.format(name, name)) for name in ("REDUCED", "DISTINCT"))
    plain = stage.register(text.format("plain", ""))
    stage.push("in A B, in A C", at=1)
    stage.advance(1)
    assert by_time(plain) == {1: "A A"}
    assert by_time(distinct) == {1: "A"}
    assert by_time(bag)[1] in ("A", "A A")


def test_a_fact_that_background_and_window_tell_holds_until_neither_does() -> None:
    stage = Stage(TRANSITIVE)
    query = stage.register(window("RANGE 2 STEP 1"))
    stage.add("in A B")
    stage.push("in A B, in B C", at=1)
    stage.advance(1)
    stage.remove("in A B")
    stage.advance(2)
    stage.add("in A B")
    stage.advance(4)
    stage.remove("in A B")
    stage.advance(5)
    full = "AB AC BC"
    assert by_time(query) == {1: full, 2: full, 3: "AB", 4: "AB", 5: ""}


def test_what_the_background_had_first_stays_when_the_window_has_moved_on() -> None:
    stage = Stage()
    stage.add("in A B")
    query = stage.register(window("RANGE 1 STEP 1"))
    stage.push("in A B", at=1)
    stage.advance(3)
    assert by_time(query) == {1: "AB", 2: "AB", 3: "AB"}


def test_reports_without_answers_are_one_entry() -> None:
    stage = Stage()
    query = stage.register(window("RANGE 2 STEP 1"))
    stage.push("in A B", at=3)
    stage.advance(3)
    stage.advance(1_000_000_000)
    first, second, rest = query.results()
    assert (first.time, second.time, words(second)) == (3, 4, "AB")
    assert (rest.first, rest.last, rest.count) == (5, 1_000_000_000, 999_999_996)
    assert rest.rows == ()


def test_an_entry_that_was_read_does_not_grow() -> None:
    stage = Stage()
    query = stage.register(window("RANGE 1"))
    stage.advance(1)
    stage.advance(4)
    assert [(r.first, r.last) for r in query.results()] == [(1, 4)]
    stage.advance(6)
    assert [(r.first, r.last) for r in query.results()] == [(5, 6)]


def test_a_fact_of_the_future_is_in_no_report_before_its_time() -> None:
    stage = Stage()
    query = stage.register(window("RANGE 1"))
    stage.push("in A B", at=1)
    stage.push("in C D", at=3)
    stage.advance(2)
    stage.advance(3)
    assert by_time(query) == {1: "AB", 2: "", 3: "CD"}


def test_a_late_fact_counts_from_now_on_and_leaves_on_time() -> None:
    stage = Stage()
    query = stage.register(window("RANGE 3"))
    stage.push("in A B", at=1)
    stage.advance(3)
    stage.push("in C D", at=2)
    stage.push("in E F", at=1)
    stage.advance(5)
    assert by_time(query) == {1: "AB", 2: "AB", 3: "AB", 4: "CD", 5: ""}


def test_the_same_fact_twice_at_a_time_point_is_one_arrival() -> None:
    stage = Stage()
    query = stage.register(window("RANGE 1"))
    stage.push("in A B, in A B", at=1)
    stage.push("in A B", at=1)
    stage.retract("in A B", at=1)
    stage.advance(1)
    assert by_time(query) == {1: ""}


@pytest.mark.parametrize(
    ("start", "times"), [(0, [3, 6]), (1, [3, 6]), (-4, [-3, 0, 3, 6]), (-3, [-3, 0, 3, 6])]
)
def test_reports_begin_with_the_grid_and_0_is_its_origin(start: int, times: list[int]) -> None:
    stage = Stage(start=start)
    query = stage.register(window("RANGE 4 STEP 3"))
    stage.advance(7)
    assert list(by_time(query)) == times


def test_a_query_registered_later_reports_from_the_next_grid_point() -> None:
    stage = Stage()
    stage.register(window("RANGE 4 STEP 1", name="other"))
    stage.push("in A B", at=3)
    stage.advance(5)
    query = stage.register(window("RANGE 4 STEP 3"))
    stage.advance(9)
    assert by_time(query) == {6: "AB", 9: ""}


def test_a_query_registered_at_a_grid_point_reports_it() -> None:
    stage = Stage()
    stage.register(window("RANGE 4 STEP 1", name="other"))
    stage.push("in A B", at=3)
    stage.advance(6)
    query = stage.register(window("RANGE 4 STEP 3"))
    assert by_time(query) == {6: "AB"}


def test_a_closed_query_reports_no_more_and_frees_what_only_it_needed() -> None:
    stage = Stage()
    query, other = stage.register(window("RANGE 9")), stage.register(window("RANGE 5", name="b"))
    stage.push("in A B", at=1)
    stage.advance(1)
    query.close()
    stage.advance(2)
    assert by_time(query) == {1: "AB"}
    assert by_time(other) == {1: "AB", 2: "AB"}
    assert len(stage.reasoner.stats()["worlds"]) == 1


def test_arrivals_are_forgotten_when_no_window_can_see_them() -> None:
    stage = Stage()
    stage.register(window("RANGE 5 STEP 2"))
    for time in range(100):
        stage.push(f"in A{time} B", at=time)
        stage.advance(time)
    (kept,) = stage.reasoner.stats()["kept_arrivals"].values()
    assert 5 <= kept <= 8


BACKGROUND = "in B C, in C D, of B X, of C Y, has B P, has X Q"
BACK = "[?x, :back, ?y] :- [?y, :has, ?x] ."
BACK_IF_NOT = "[?x, :back, ?y] :- [?y, :has, ?x], not [?x, :in, ?y] ."


@pytest.mark.parametrize("extent", ["RANGE 9", "TRIPLES 9"])
@pytest.mark.parametrize("rule", [BACK, BACK_IF_NOT])
def test_a_world_has_no_more_of_the_background_than_is_looked_at(extent: str, rule: str) -> None:
    stage = Stage(f"{TRANSITIVE} {rule}")
    stage.add(BACKGROUND)
    asked = window(extent, body="WHERE { ?x :of ?y }")
    query, before = stage.register(asked), stage.reasoner.stats()["worlds"]
    # Beside the two facts, a state has their matches, and a world what is always true.
    assert [world["facts"] for world in before] == [4 if "RANGE" in extent else 3]
    stage.push("of A B, in A B, has X R", at=1)
    stage.advance(1)
    assert by_time(query) == {1: "AB BX CY"}
    # Whoever comes and looks at more finds it, though the world is there.
    other = stage.register(window(extent, name="other", body="WHERE { ?y :in ?x . ?x :of ?z }"))
    stage.advance(2)
    third = stage.register(window(extent, name="third", body="WHERE { ?x :back ?y }"))
    stage.advance(3)
    assert by_time(query) == {2: "AB BX CY", 3: "AB BX CY"}
    assert by_time(other) == dict.fromkeys((1, 2, 3), "BA CA CB")
    assert by_time(third) == {2: "PB QX RX", 3: "PB QX RX"}
    stage.add("has B S, of D Z")
    stage.remove("has X Q")
    stage.advance(4)
    assert [by_time(each)[4] for each in (query, other, third)] == [
        "AB BX CY DZ",
        "BA CA CB DA DB DC",
        "PB RX SB",
    ]


def test_the_window_of_a_report_has_its_time_points() -> None:
    stage = Stage()
    query = stage.register(window("RANGE 4 STEP 3"))
    stage.push("in A B", at=2)
    stage.advance(6)
    first, second = query.results()
    assert (first.window, second.window) == (TimeSpan(2, 3), TimeSpan(3, 6))


def test_construct_makes_triples_and_a_stream_that_others_read() -> None:
    stage = Stage()
    reader = stage.register(
        "REGISTER QUERY late AS SELECT ?x ?y FROM STREAM <http://example.org/near> [RANGE 2] "
        "WHERE { ?x :near ?y }"
    )
    maker = stage.register(
        "REGISTER STREAM :near AS CONSTRUCT { ?y :near ?x } FROM STREAM <s> [RANGE 1] " + PAIRS
    )
    stage.push("in A B", at=1)
    stage.advance(4)
    assert by_time(maker) == {1: "BnearA", 2: "", 3: "", 4: ""}
    assert by_time(reader) == {1: "BA", 2: "BA", 3: "", 4: ""}


def test_streams_that_are_made_of_each_other_are_refused() -> None:
    stage = Stage()
    text = "REGISTER STREAM :{} AS CONSTRUCT {{ ?x :in ?y }} FROM STREAM :{} [RANGE 1] " + (
        "WHERE {{ ?x :in ?y }}"
    )
    stage.register(text.format("one", "two"))
    with pytest.raises(QueryError, match="made of each other"):
        stage.register(text.format("two", "one"))
    with pytest.raises(QueryError, match="made of each other"):
        stage.register(text.format("self", "self"))


def test_ask_reports_one_row_while_the_answer_is_yes() -> None:
    stage = Stage()
    query = stage.register("REGISTER QUERY q AS ASK FROM STREAM <s> [RANGE 1] { ?x :in ?y }")
    stage.push("in A B", at=2)
    stage.push("in A B", at=1, stream="other")
    stage.advance(3)
    assert by_time(query) == {1: "", 2: "true", 3: ""}


def test_named_windows_are_told_apart_and_outside_of_them_all_is_seen() -> None:
    stage = Stage(TRANSITIVE)
    stage.add("in C D")
    query = stage.register(
        "PREFIX : <http://example.org/> REGISTER RSTREAM <out> AS SELECT ?x ?y ?z "
        "FROM NAMED WINDOW <a> ON <s> [RANGE 9] FROM NAMED WINDOW <b> ON <t> [RANGE 9] "
        "WHERE { WINDOW <a> { ?x :in ?y } WINDOW <b> { ?y :in ?z } }"
    )
    stage.push("in A B", at=1)
    stage.push("in B C", at=1, stream="t")
    stage.advance(1)
    assert by_time(query) == {1: "ABC ABD"}


def test_a_rule_change_is_seen_by_the_next_report() -> None:
    stage = Stage()
    query = stage.register(window("RANGE 9"))
    stage.push("in A B, in B C", at=1)
    stage.advance(1)
    stage.reasoner.add_rules(PREFIX + TRANSITIVE)
    stage.advance(2)
    assert by_time(query) == {1: "AB BC", 2: "AB AC BC"}


@pytest.mark.parametrize("what", ["ISTREAM", "DSTREAM"])
def test_what_was_reported_is_not_new_in_the_world_that_other_rules_ask_for(what: str) -> None:
    stage = Stage()
    body = "{ ?x :in ?y FILTER NOT EXISTS { ?x :left ?z } }"
    text = f"REGISTER {what} q AS SELECT ?x ?y FROM STREAM <s> [RANGE 2 STEP 1] WHERE {body}"
    query = stage.register(text)
    stage.push("in A B", at=1)
    stage.advance(1)
    stage.reasoner.add_rules(PREFIX + "[?x, :left, ?y] :- [?x, :was, ?y], not [?x, :back, ?y] .")
    assert "world: its own" in query.plan
    stage.advance(3)
    expected = {"ISTREAM": {1: "AB", 2: "", 3: ""}, "DSTREAM": {1: "", 2: "", 3: "AB"}}
    assert by_time(query) == expected[what]


def test_only_rules_that_can_matter_run_unless_all_are_asked_for() -> None:
    rules = TRANSITIVE + " [?x, :near, ?y] :- [?y, :near, ?x] . [?x, :in, ?y] :- [?y, :has, ?x] ."
    stage = Stage(rules)
    assert "rules: r1, r3" in stage.register(window("RANGE 9")).plan
    assert "rules: r1, r2, r3" in stage.register(window("RANGE 8", name="b"), full=True).plan


REMEMBERS = "[?x, :in, ?y] :- sometime [?x, :was, ?y] in [3] ."


def test_a_rule_that_looks_at_time_itself_sees_the_streams_and_not_the_windows_of_the_query() -> (
    None
):
    stage = Stage(REMEMBERS)
    query = stage.register(window("RANGE 2"))
    stage.push("was A B", at=1, stream="t")
    stage.push("in C D", at=2)
    stage.push("in E F", at=2, stream="t")
    stage.advance(6)
    assert by_time(query) == {1: "AB", 2: "AB CD", 3: "AB CD", 4: "AB", 5: "", 6: ""}


def test_what_arrives_on_any_stream_wakes_a_query_whose_rules_look_at_time() -> None:
    stage = Stage(REMEMBERS)
    query = stage.register(window("RANGE 2"))
    stage.advance(5)
    stage.push("was A B", at=7, stream="t")
    stage.advance(7)
    assert by_time(query)[7] == "AB"


def test_a_query_moves_to_another_world_when_a_rule_that_looks_at_time_comes_and_goes() -> None:
    stage = Stage(TRANSITIVE)
    new = stage.register(window("RANGE 9", "ISTREAM"))
    stage.push("in A B, was B C", at=1)
    stage.advance(1)
    stage.reasoner.add_rules(PREFIX + REMEMBERS)
    stage.advance(2)
    stage.reasoner.remove_rules("r2")
    stage.advance(3)
    stage.push("in X Y", at=4)
    stage.advance(4)
    assert by_time(new) == {1: "AB", 2: "AC BC", 3: "", 4: "XY"}


def test_a_rule_that_a_query_cannot_stand_beside_leaves_the_query_with_the_rules_it_had() -> None:
    stage = Stage(TRANSITIVE)
    query = stage.register(window("TRIPLES 9"))
    with pytest.raises(QueryError, match="a window that is not by time"):
        stage.reasoner.add_rules(PREFIX + REMEMBERS)
    stage.push("in A B, in B C", at=1)
    stage.advance(1)
    assert by_time(query) == {1: "AB AC BC"}


def test_a_made_stream_is_looked_at_by_rules_of_queries_that_read_it() -> None:
    stage = Stage(REMEMBERS)
    stage.register(
        "REGISTER STREAM <http://example.org/made> AS CONSTRUCT { ?x :was ?y } "
        "FROM STREAM <s> [RANGE 1] WHERE { ?x :has ?y }"
    )
    reader = stage.register(
        "REGISTER QUERY r AS SELECT ?x ?y FROM STREAM <made> [RANGE 1] WHERE { ?x :in ?y }"
    )
    other = stage.register(window("RANGE 1", name="other"))
    stage.push("has A B", at=1)
    stage.advance(5)
    assert by_time(reader) == {1: "AB", 2: "AB", 3: "AB", 4: "AB", 5: ""}
    assert by_time(other) == dict.fromkeys(range(1, 6), "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (window("TRIPLES 9"), "a window that is not by time"),
        (window("RANGE 9").replace("WHERE", "FROM STREAM <s> [RANGE 2] WHERE"), "two windows"),
        (
            "REGISTER QUERY q AS SELECT ?x FROM NAMED WINDOW <w> ON <s> [RANGE 9] "
            "WHERE { WINDOW <w> { ?x :in ?y } }",
            "a name",
        ),
    ],
)
def test_windows_that_have_no_meaning_beside_rules_that_look_at_time_are_refused(
    text: str, reason: str
) -> None:
    stage = Stage(REMEMBERS)
    with pytest.raises(QueryError, match=f"looks at time itself, and has .*{reason}"):
        stage.register(text)
    assert stage.reasoner.stats()["worlds"] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (window("RANGE 1") + " LIMIT x", "cannot be read"),
        (window("RANGE 1").replace("?x :in", "SERVICE <http://a> { ?x :in") + "}", "SERVICE"),
        (window("RANGE 1").replace("WHERE", "FROM NAMED <http://none> WHERE"), "no graph"),
        (window("RANGE 1500ms"), "whole number of ticks"),
    ],
)
def test_what_cannot_be_registered_is_refused(text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        Stage().register(text)


def test_a_mistake_in_the_body_is_shown_where_it_stands_in_the_text() -> None:
    text = "REGISTER QUERY q AS\nSELECT ?x\nFROM STREAM <s> [RANGE 1]\nWHERE { ?x :in }"
    with pytest.raises(QueryError) as caught:
        Stage().register(text)
    assert caught.value.place is not None
    assert caught.value.place.line == 4


def test_two_queries_of_one_name_are_refused() -> None:
    stage = Stage()
    stage.register(window("RANGE 1"))
    with pytest.raises(QueryError, match="registered already"):
        stage.register(window("RANGE 2"))


def test_queries_of_the_same_body_share_their_answers_and_part_as_they_like() -> None:
    stage = Stage()
    first, second = (stage.register(window("RANGE 2", name=name)) for name in ("one", "two"))
    new = stage.register(window("RANGE 2", "ISTREAM", name="new"))
    stage.push("in A B", at=1)
    stage.advance(1)
    first.close()
    stage.push("in C D", at=2)
    stage.advance(3)
    assert by_time(first) == {1: "AB"}
    assert by_time(second) == {1: "AB", 2: "AB CD", 3: "CD"}
    assert by_time(new) == {1: "AB", 2: "CD", 3: ""}
    second.close()
    third = stage.register(window("RANGE 2", name="three"))
    stage.push("in E F", at=4)
    stage.advance(4)
    assert by_time(third) == {3: "CD", 4: "EF"}


def in_graph(fact: str, graph: str) -> list[Quad]:
    (triple,) = triples(fact)
    return [Quad(triple.subject, triple.predicate, triple.object, NamedNode(EX + graph))]


@pytest.mark.parametrize(
    "rule", [TRANSITIVE, TRANSITIVE + "[?x, :far, ?y] :- [?x, :a, ?y], not [?x, :in, ?y] ."]
)
def test_from_narrows_the_background_to_its_graphs(rule: str) -> None:
    stage = Stage(rule)
    stage.add("in B X")
    stage.reasoner.add(in_graph("in B C", "one"))
    stage.reasoner.add(in_graph("in B D", "two"))
    text = window("RANGE 5 STEP 1").replace("STREAM", "<one> FROM STREAM", 1)
    one = stage.register(text.replace("<one>", f"<{EX}one>"), full=True)
    every = stage.register(window("RANGE 5 STEP 1", name="every"))
    stage.push("in A B", at=1)
    stage.advance(1)
    stage.reasoner.add(in_graph("in C E", "one"))
    stage.reasoner.remove(in_graph("in B C", "one"))
    stage.advance(2)
    assert by_time(one) == {1: "AB AC BC", 2: "AB CE"}
    assert by_time(every) == {1: "AB AC AD AX BC BD BX", 2: "AB AD AX BD BX CE"}


def test_from_of_a_graph_that_is_not_loaded_is_refused_where_graphs_are_loaded() -> None:
    stage = Stage()
    text = window("RANGE 5").replace("STREAM", f"<{EX}none> FROM STREAM", 1)
    stage.add("in B X")
    query = stage.register(text)
    stage.advance(5)
    assert by_time(query)[5] == "BX"
    query.close()
    stage.reasoner.add(in_graph("in B C", "one"))
    with pytest.raises(QueryError, match=r"no graph <http://example.org/none> is loaded"):
        stage.register(text)


def test_a_state_begins_with_what_the_reasoner_has_concluded_from_the_background() -> None:
    stage = Stage(TRANSITIVE)
    stage.add("in A B, in B C, in C D")
    query = stage.register(window("RANGE 5", body=PAIRS))
    [state] = stage.reasoner._state.queries()._worlds
    assert state.conclusions() == 3
    assert state._engine._runs.derivations == 6, "one for each answer, and none for a conclusion"
    stage.push("in D E", at=1)
    stage.advance(1)
    stage.remove("in B C")
    stage.advance(2)
    assert by_time(query) == {1: "AB AC AD AE BC BD BE CD CE DE", 2: "AB CD CE DE"}
