"""Bodies of registered queries: every form inside windows, and how it is followed."""

from __future__ import annotations

import pytest
from tests.unit.service.registered.stage import Stage

WINDOW = "FROM STREAM <s> [RANGE 3 STEP 1]"
FORMS = [
    "SELECT ?x {w} {{ ?x :in ?y OPTIONAL {{ ?y :near ?z }} }}",
    "SELECT ?x {w} {{ {{ ?x :in ?y }} UNION {{ ?y :near ?x }} }}",
    "SELECT ?x {w} {{ ?x :in ?y MINUS {{ ?y :near ?x }} }}",
    "SELECT ?x {w} {{ ?x :in ?y FILTER EXISTS {{ ?y :near ?z }} }}",
    "SELECT ?x {w} {{ ?x :in ?y FILTER NOT EXISTS {{ ?y :near ?z }} }}",
    "SELECT ?x {w} {{ ?x :in ?y FILTER(STRLEN(STR(?y)) > 3) }}",
    "SELECT ?x ?n {w} {{ ?x :in ?y BIND(STR(?y) AS ?n) }}",
    "SELECT ?x {w} {{ ?x :in ?y VALUES ?y {{ :A :B }} }}",
    "SELECT ?x (COUNT(?y) AS ?n) {w} {{ ?x :in ?y }} GROUP BY ?x HAVING (COUNT(?y) > 1)",
    "SELECT (MIN(?y) AS ?n) {w} {{ ?x :in ?y }}",
    "SELECT ?x {w} {{ ?x :in+ ?y }}",
    "SELECT ?x {w} {{ ?x (:in|^:near)/:in* ?y }}",
    "SELECT ?x {w} {{ ?x :in ?y {{ SELECT DISTINCT ?y {{ ?z :near ?y }} }} }}",
    "SELECT ?x {w} {{ ?x :in ?y }} ORDER BY DESC(?x)",
    "SELECT DISTINCT ?x {w} {{ ?x :in ?y OPTIONAL {{ ?x :near ?z }} }}",
    "SELECT ?x FROM NAMED WINDOW <v> ON <s> [RANGE 3 STEP 1] {{ WINDOW <v> {{ ?x :in ?y }} }}",
    "SELECT ?x ?g FROM NAMED WINDOW <v> ON <s> [RANGE 3 STEP 1] {{ WINDOW ?g {{ ?x :in+ ?y }} }}",
    "ASK {w} {{ ?x :in ?y MINUS {{ ?y :in ?x }} }}",
    "CONSTRUCT {{ ?y :has ?x }} {w} {{ ?x :in ?y OPTIONAL {{ ?y :near ?z }} }}",
]


@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_sparql_is_asked_anew_inside_windows(form: str) -> None:
    plan = Stage().register(form.format(w=WINDOW)).plan
    assert "answers: followed change by change" in plan
    assert "every step is followed change by change" in plan or "what denies them" in plan


def test_what_cannot_be_followed_is_asked_anew_and_the_plan_says_why() -> None:
    plan = Stage().register(f"SELECT ?x {WINDOW} {{ ?x :in ?y FILTER(NOW() != ?x) }}").plan
    assert "asked anew of a store at each report: NOW gives another value each time" in plan


def test_an_aggregate_follows_what_enters_and_leaves_the_window() -> None:
    stage = Stage()
    query = stage.register(
        f"SELECT ?y (COUNT(?x) AS ?n) {WINDOW} {{ ?x :in ?y }} GROUP BY ?y ORDER BY ?n"
    )
    stage.push("in A R, in B R", at=1)
    stage.push("in C R, in C T", at=2)
    stage.advance(6)
    found = {r.time: [(row[0].value[-1], row[1].value) for row in r.rows] for r in query.results()}
    assert found == {
        1: [("R", "2")],
        2: [("T", "1"), ("R", "3")],
        3: [("T", "1"), ("R", "3")],
        4: [("R", "1"), ("T", "1")],
        5: [],
    }


def test_the_first_rows_of_an_order_stay_in_that_order() -> None:
    stage = Stage()
    query = stage.register(
        f"SELECT ?y (COUNT(?x) AS ?n) {WINDOW} {{ ?x :in ?y }} "
        "GROUP BY ?y ORDER BY DESC(?n) ?y LIMIT 2"
    )
    stage.push("in A R, in B R, in A S", at=1)
    stage.push("in C T, in D T, in E T", at=2)
    stage.push("in F S, in G S, in H S", at=3)
    stage.advance(3)
    found = {r.time: "".join(row[0].value[-1] + row[1].value for row in r) for r in query.results()}
    assert found == {1: "R2S1", 2: "T3R2", 3: "S4T3"}


def test_istream_and_dstream_of_an_optional_compare_reports_as_bags() -> None:
    stage = Stage()
    body = f"SELECT ?x ?z {WINDOW} {{ ?x :in ?y OPTIONAL {{ ?y :near ?z }} }}"
    came = stage.register(f"REGISTER ISTREAM came AS {body}")
    gone = stage.register(f"REGISTER DSTREAM gone AS {body}")
    stage.push("in A R", at=1)
    stage.push("near R S", at=2)
    stage.advance(6)
    for query, expected in ((came, {1: "A-", 2: "AS"}), (gone, {2: "A-", 4: "AS"})):
        found = {
            r.time: " ".join("".join("-" if t is None else t.value[-1] for t in x) for x in r.rows)
            for r in query.results()
        }
        assert {time: text for time, text in found.items() if text} == expected


def test_a_closed_query_is_fed_no_more() -> None:
    stage = Stage()
    query = stage.register(f"SELECT ?x {WINDOW} {{ ?x :in ?y OPTIONAL {{ ?y :near ?z }} }}")
    query.close()
    stage.push("in A R", at=1)
    stage.advance(2)
    assert list(query.results()) == []


def test_a_rule_with_not_moves_a_followed_query_to_a_world_of_its_own() -> None:
    stage = Stage()
    query = stage.register(
        f"REGISTER ISTREAM q AS SELECT ?x {WINDOW} {{ ?x :in ?y OPTIONAL {{ ?x :near ?z }} }}"
    )
    stage.push("in A R", at=1)
    stage.advance(1)
    assert "state of windows" in query.plan
    stage.reasoner.add_rules(
        "@prefix : <http://example.org/> . [?y, :in, ?y] :- [?x, :in, ?y], not [?y, :near, ?x] ."
    )
    assert "state of windows" not in query.plan
    stage.advance(2)
    reported = [[t.value[-1] for row in r.rows for t in row] for r in query.results()]
    assert reported == [["A"], ["R"]]


def test_changes_tell_what_came_and_went_from_report_to_report() -> None:
    stage = Stage()
    body = f"SELECT ?x {WINDOW} {{ ?x :in ?y OPTIONAL {{ ?y :near ?z }} }}"
    queries = [
        stage.register(f"REGISTER {kind} {kind.lower()} AS {body}")
        for kind in ("QUERY", "ISTREAM", "DSTREAM")
    ]
    stage.push("in A R, in A S", at=1)
    stage.push("in A R, in B R", at=2)
    stage.advance(9)
    came, gone = [(1, "+2 A"), (2, "+1 B")], [(4, "-1 A"), (5, "-1 A"), (5, "-1 B")]
    for query, expected in zip(queries, ([*came, *gone], came, gone), strict=True):
        found = [(c.time, f"{c.op}{c.count} {c.row['x'].value[-1]}") for c in query.changes()]
        assert found == expected
        assert query.changes() == []


def test_reports_are_ordered_by_what_their_rows_do_not_show() -> None:
    stage = Stage()
    body = f"SELECT ?x {WINDOW} {{ ?x :in ?y OPTIONAL {{ ?y :near ?z }} }}"
    query = stage.register(f"{body} ORDER BY DESC(EXISTS {{ ?y :near ?x }}) DESC(?y)")
    stage.push("in A R, in B S, in C T, near R A", at=1)
    stage.advance(1)
    (report,) = query.results()
    assert "".join(row[0].value[-1] for row in report) == "ACB"
