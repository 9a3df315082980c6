"""Watching a query on a reasoner: what is told, when, and to whom."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter

import pytest
from pyoxigraph import NamedNode, Quad

import livefacts as lf
from livefacts.service.continuous.answers import Change
from livefacts.service.queries.results import Answer

HEADER = "@prefix ex: <http://example.org/> .\n"
PREFIX = "PREFIX ex: <http://example.org/>\n"
KNOWS = f"{PREFIX} SELECT ?x ?y {{ ?x ex:knows ?y }}"


def add(reasoner: lf.Reasoner, facts: str) -> lf.Delta:
    return reasoner.add(HEADER + facts)


def remove(reasoner: lf.Reasoner, facts: str) -> lf.Delta:
    return reasoner.remove(HEADER + facts)


def asserted(changes: list[Change]) -> list[str]:
    """Changes in short: `+2 ann ben` comes twice."""
    return [
        " ".join(
            [
                f"{change.op}{change.count if change.count > 1 else ''}",
                *(str(t).strip("<>").rpartition("/")[2] if t else "-" for t in change.row),
            ]
        )
        for change in changes
    ]


def test_changes_are_what_came_and_went_since_last_asked() -> None:
    r = lf.Reasoner()
    add(r, "ex:ann ex:knows ex:ben .")
    q = r.watch(KNOWS)
    assert len(q.answers()) == 1
    assert q.changes() == []
    delta = add(r, "ex:ben ex:knows ex:ann .")
    remove(r, "ex:ann ex:knows ex:ben .")
    changes = q.changes()
    assert asserted(changes) == ["+ ben ann", "- ann ben"]
    assert [change.seq for change in changes] == [delta.seq, delta.seq + 1]
    assert q.changes() == []
    assert q.seq == delta.seq + 1


def test_conclusions_and_rule_changes_are_told() -> None:
    r = lf.Reasoner()
    q = r.watch(KNOWS)
    add(r, "ex:ann ex:knows ex:ben .")
    r.add_rules(HEADER + "@id back [?y, ex:knows, ?x] :- [?x, ex:knows, ?y] .")
    assert asserted(q.changes()) == ["+ ann ben", "+ ben ann"]
    r.remove_rules("back")
    assert asserted(q.changes()) == ["- ben ann"]


def test_time_is_told() -> None:
    r = lf.Reasoner(rules=HEADER + "[?x, ex:seen, ex:now] :- sometime [?x, ex:at, ?y] in [2] .")
    q = r.watch(f"{PREFIX} SELECT ?x {{ ?x ex:seen ex:now }}")
    r.push(HEADER + "ex:ann ex:at ex:door .", at=1)
    r.advance(1)
    assert asserted(q.changes()) == ["+ ann"]
    r.advance(9)
    assert asserted(q.changes()) == ["- ann"]


def test_a_bag_counts_and_distinct_does_not() -> None:
    r = lf.Reasoner()
    bag = r.watch(f"{PREFIX} SELECT ?x {{ ?x ex:knows ?y }}")
    once = r.watch(f"{PREFIX} SELECT DISTINCT ?x {{ ?x ex:knows ?y }}")
    add(r, "ex:ann ex:knows ex:ben, ex:cleo .")
    assert asserted(bag.changes()) == ["+2 ann"]
    assert asserted(once.changes()) == ["+ ann"]
    remove(r, "ex:ann ex:knows ex:ben .")
    assert asserted(bag.changes()) == ["- ann"]
    assert once.changes() == []


def test_answers_have_the_form_and_the_order_of_the_query() -> None:
    r = lf.Reasoner()
    add(r, "ex:ann ex:age 31 . ex:ben ex:age 4 . ex:cleo ex:age 17 .")
    rows = r.watch(f"{PREFIX} SELECT ?n {{ ?x ex:age ?n }} ORDER BY DESC(?n)")
    ask = r.watch(f"{PREFIX} ASK {{ ?x ex:age ?n FILTER(?n > 30) }}")
    made = r.watch(
        f"{PREFIX} CONSTRUCT {{ ?x a ex:Child }} WHERE {{ ?x ex:age ?n FILTER(?n < 18) }}"
    )
    assert [row[0].value for row in rows.answers()] == ["31", "17", "4"]
    assert bool(ask.answers())
    assert len(made.answers()) == 2
    remove(r, "ex:ann ex:age 31 .")
    assert not ask.answers()
    assert asserted(ask.changes()) == ["-"]
    assert made.changes() == []


def test_a_cut_is_made_anew_and_the_plan_says_so() -> None:
    r = lf.Reasoner()
    first = r.watch(f"{PREFIX} SELECT ?x {{ ?x ex:age ?n }} ORDER BY ?n ?x LIMIT 1")
    add(r, "ex:ann ex:age 31 . ex:ben ex:age 4 .")
    assert asserted(first.changes()) == ["+ ben"]
    remove(r, "ex:ben ex:age 4 .")
    assert asserted(first.changes()) == ["- ben", "+ ann"]
    assert "computed anew" in first.plan
    assert "computed anew" not in r.watch(KNOWS).plan


def test_what_cannot_be_followed_is_evaluated_anew_and_the_plan_says_so() -> None:
    r = lf.Reasoner()
    q = r.watch(f"{PREFIX} DESCRIBE ex:ann")
    add(r, "ex:ann ex:knows ex:ben .")
    assert asserted(q.changes()) == ["+ ann knows ben"]
    remove(r, "ex:ann ex:knows ex:ben .")
    assert asserted(q.changes()) == ["- ann knows ben"]
    assert "evaluated anew after every change: DESCRIBE" in q.plan


SOMEWHERE = {
    "selected": "SELECT ?x (EXISTS { ?y ex:knows ?z FILTER(?z != ?x) } AS ?e) { ?x ex:knows ?y }",
    "in IF": "SELECT ?x (IF(NOT EXISTS { ?y ex:knows ?x }, ?y, 0) AS ?e) { ?x ex:knows ?y }",
    "HAVING": "SELECT ?x { ?x ex:knows ?y } GROUP BY ?x HAVING (COUNT(*) > 1 || EXISTS { ?y ex:knows ?x })",
    "HAVING sees keys alone": "SELECT (COUNT(*) AS ?n) { ?x ex:knows ?y } GROUP BY ?x HAVING EXISTS "
    "{ ?x ex:knows ex:cleo . ?y ex:knows ex:ann }",
    "beside totals": "SELECT ?x (COUNT(?y) AS ?n) (EXISTS { ?z ex:knows ?x } AS ?e) "
    "{ ?x ex:knows ?y } GROUP BY ?x",
    "inside of totals": "SELECT (SUM(IF(EXISTS { ?y ex:knows ?x }, 1, 0)) AS ?n) { ?x ex:knows ?y }",
    "a key": "SELECT ?e (COUNT(*) AS ?n) { ?x ex:knows ?y } GROUP BY (EXISTS { ?y ex:knows ?x } AS ?e)",
    "a key without a name": "SELECT (COUNT(*) AS ?n) { ?x ex:knows ?y } GROUP BY (EXISTS { ?y ex:knows ?x })",
    "inside of another": "SELECT (EXISTS { ?x ex:knows ?z FILTER(!EXISTS { ?z ex:knows ?x }) } AS ?e) "
    "{ ?x ex:knows ?y }",
    "in a query inside of it": "SELECT (EXISTS { SELECT (EXISTS { ?y ex:knows ?x } AS ?i) "
    "{ ?x ex:knows ?y } HAVING(?i) } AS ?e) { }",
    "OPTIONAL": "SELECT ?x ?z { ?x ex:knows ?y OPTIONAL "
    "{ ?y ex:knows ?z FILTER(IF(EXISTS { ?z ex:knows ?x }, true, false)) } }",
    "rows without columns": "SELECT ?x { ?x ex:knows ?y VALUES () { () () } }",
    "no rows": "SELECT ?x { ?x ex:knows ?y OPTIONAL { VALUES (?y ?z) { } } }",
}


@pytest.mark.parametrize("place", SOMEWHERE)
def test_exists_is_followed_wherever_an_expression_may_stand(place: str) -> None:
    text = PREFIX + SOMEWHERE[place]
    r = lf.Reasoner()
    q, alone = r.watch(text), lf.ContinuousQuery(text)
    assert "every step is followed change by change" in q.plan
    for number, facts in enumerate(
        [
            "ex:ann ex:knows ex:ben, ex:cleo .",
            "ex:ben ex:knows ex:ann .",
            "ex:cleo ex:knows ex:ann, ex:cleo .",
            "ex:ben ex:knows ex:ann .",
            "ex:ann ex:knows ex:cleo .",
        ]
    ):
        (add if number < 3 else remove)(r, facts)
        alone.feed(**{"add" if number < 3 else "remove": HEADER + facts})
        wanted = Counter(map(str, r.query(text)))
        assert Counter(map(str, q.answers())) == Counter(map(str, alone.answers())) == wanted


def test_rows_are_ordered_by_what_they_do_not_show() -> None:
    r = lf.Reasoner()
    add(r, "ex:ann ex:age 31 . ex:ben ex:age 4 . ex:cleo ex:age 17 . ex:ann ex:age 5 .")
    by_age = r.watch(f"{PREFIX} SELECT ?x {{ ?x ex:age ?n }} ORDER BY DESC(?n)")
    known = r.watch(
        f"{PREFIX} SELECT ?x {{ ?x ex:age ?n }} ORDER BY DESC(EXISTS {{ ?y ex:knows ?x }}) ?n"
    )
    for facts in ("ex:ann ex:knows ex:cleo .", "ex:ben ex:knows ex:ben . ex:dan ex:age 16 ."):
        add(r, facts)
        for watch in (by_age, known):
            assert list(watch.answers()) == list(r.query(watch.text))
    assert asserted(known.changes()) == asserted(by_age.changes()) == ["+ dan"]
    assert "and what they are ordered by" in known.plan


@pytest.mark.parametrize("spaces", range(5))
def test_a_total_keeps_its_name_wherever_it_stands_in_the_text(spaces: int) -> None:
    # A column without a name was once called after its place, as others were after a count.
    inside = "EXISTS { ?z <x:p> ?z MINUS { ?z (^!<x:q>|<x:p>)+ ?x } }"
    total = f"SELECT{' ' * spaces}(SUM(IF({inside}, 1, 0)) AS ?n) {{ }}"
    q = lf.Reasoner().watch(f"{total} HAVING (EXISTS {{ }} || COUNT(*) = 2)")
    assert [n.value for (n,) in q.answers()] == ["0"]


@pytest.mark.slow
def test_a_string_that_doubles_again_and_again_is_an_error_and_takes_no_memory() -> None:
    binds = " ".join(f"BIND(CONCAT(?v{at}, ?v{at}) AS ?v{at + 1})" for at in range(40))
    r = lf.Reasoner()
    q = r.watch(f"SELECT (STRLEN(?v10) AS ?n) ?v40 {{ ?x <x:p> ?v0 {binds} }}")
    r.add("<x:a> <x:p> 'abc' .")
    assert [(n.value, last) for n, last in q.answers()] == [("3072", None)]


INSIDE = {
    "a total": "{ SELECT (COUNT(?z) AS ?n) { ?z ex:knows ex:ann } } FILTER(?n = 0)",
    "a total beside others": "?y ex:knows ?w { SELECT (COUNT(?z) AS ?n) (MAX(?z) AS ?m) "
    "{ ?z ex:knows ex:ann } } FILTER(?n = 0 && !BOUND(?m))",
    "the least": "{ SELECT ?y (MIN(?z) AS ?n) { ?y ex:knows ?z } GROUP BY ?y } FILTER(?n = ex:ann)",
    "LIMIT": "{ SELECT ?y ?z { ?y ex:knows ?z } ORDER BY ?z LIMIT 1 } FILTER(?z = ex:ann)",
    "OFFSET": "SELECT ?y { ?y ex:knows ?z } ORDER BY ?z OFFSET 1",
}


@pytest.mark.parametrize("inside", INSIDE)
def test_totals_and_cuts_inside_of_exists_are_followed(inside: str) -> None:
    r = lf.Reasoner()
    q = r.watch(f"{PREFIX} SELECT ?x ?y {{ ?x ex:knows ?y FILTER EXISTS {{ {INSIDE[inside]} }} }}")
    assert "the whole query" not in q.plan
    seen = set()
    for facts in (
        "ex:ann ex:knows ex:ben .",
        "ex:ben ex:knows ex:cleo, ex:ben .",
        "ex:ben ex:knows ex:ann .",
    ):
        for change in (add, add, remove, add):
            change(r, facts)
            assert sorted(map(str, q.answers())) == sorted(map(str, r.query(q.text)))
            seen.add(len(q.answers()))
    assert len(seen) > 1


def test_totals_and_cuts_inside_of_a_graph_are_those_of_each_graph() -> None:
    r = lf.Reasoner()
    count = r.watch(
        f"{PREFIX} SELECT ?g ?n {{ GRAPH ?g {{ SELECT (COUNT(?y) AS ?n) {{ ex:ann ex:knows ?y }} }} }}"
    )
    first = r.watch(
        f"{PREFIX} SELECT ?g ?y {{ GRAPH ?g {{ SELECT ?y {{ ?x ex:knows ?y }} ORDER BY ?y LIMIT 1 }} }}"
    )
    r.add([*in_graph(ONE, "ann ben", "ann cleo"), *in_graph(TWO, "ben dan")])
    assert sorted(f"{g.value[-3:]} {n.value}" for g, n in count.answers()) == ["one 2", "two 0"]
    assert asserted(first.changes()) == ["+ one ben", "+ two dan"]
    r.remove(in_graph(ONE, "ann ben"))
    assert asserted(first.changes()) == ["- one ben", "+ one cleo"]
    r.remove(in_graph(TWO, "ben dan"))
    assert asserted(first.changes()) == ["- two dan"]
    assert [n.value for _, n in count.answers()] == ["1"]


GRAPHS = [
    "SELECT ?x ?g { GRAPH ?g { ?x ex:knows ?y } }",
    "SELECT ?x { GRAPH ex:one { ?x ex:knows ?y } }",
    "SELECT ?x ?y ?g { GRAPH ?g { ?x ex:knows+ ?y OPTIONAL { ?y ex:age ?n } } }",
    "SELECT ?x ?g { GRAPH ?g { ?x ex:knows ?y FILTER NOT EXISTS { ?y ex:knows ?x } } }",
    "SELECT ?x ?y { ?x ex:knows ?y FILTER EXISTS { GRAPH ?g { ?y ex:knows ?z } } }",
    "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?x ex:knows ?y } } GROUP BY ?g",
    "SELECT ?x ?y FROM ex:one { ?x ex:knows ?y }",
    "SELECT ?x ?g FROM ex:one FROM NAMED ex:two { ?x ex:knows ?y GRAPH ?g { ?x ex:knows ?z } }",
    "CONSTRUCT { ?g ex:tells ?x } WHERE { GRAPH ?g { ?x ex:knows ?y } }",
    "ASK { GRAPH ex:two { ex:ann ex:knows ?y } }",
]


def in_graph(graph: str, *pairs: str) -> list[Quad]:
    knows, one = NamedNode("http://example.org/knows"), "http://example.org/"
    ends = (pair.split() for pair in pairs)
    return [Quad(NamedNode(one + a), knows, NamedNode(one + b), NamedNode(graph)) for a, b in ends]


ONE, TWO = "http://example.org/one", "http://example.org/two"


@pytest.mark.parametrize("text", GRAPHS)
def test_named_graphs_are_followed_and_not_evaluated_anew(text: str) -> None:
    r = lf.Reasoner(rules=HEADER + "[?y, ex:knows, ?x] :- [?x, ex:knows, ?y] .")
    r.add([*in_graph(ONE, "ann ben", "ben cleo"), *in_graph(TWO, "ann ben")])
    q = r.watch(PREFIX + text)
    assert "anew" not in q.plan
    summed = Counter({(c.row): c.count for c in q.beginning()})
    for change in (
        {"add": in_graph(ONE, "ann ben"), "remove": in_graph(ONE, "ann ben")},
        {"remove": in_graph(ONE, "ann ben")},
        {"add": in_graph(ONE, "ann ben"), "remove": in_graph(ONE, "ann ben", "dan dan")},
        {"remove": in_graph(ONE, "ann ben")},
        {"add": in_graph(TWO, "ben cleo", "cleo ann"), "remove": in_graph(ONE, "ben cleo")},
        {"add": in_graph(ONE, "ann ann")},
        {"remove": in_graph(TWO, "ann ben", "ben cleo", "cleo ann")},
    ):
        r.apply(**change)
        summed.update({c.row: c.count if c.op == "+" else -c.count for c in q.changes()})
        found = r.query(PREFIX + text)
        if isinstance(found, Answer):
            assert bool(q.answers()) == bool(found) == bool(+summed)
        else:
            assert sorted(map(str, q.answers())) == sorted(map(str, found))
            assert (+summed).total() == len(found)


def test_from_a_graph_that_nobody_loaded_is_refused_as_in_a_query() -> None:
    with pytest.raises(lf.QueryError, match="no graph"):
        lf.Reasoner().watch(f"{PREFIX} SELECT ?x FROM ex:one {{ ?x ex:knows ?y }}")


def test_a_triple_that_two_graphs_of_from_tell_counts_once() -> None:
    r = lf.Reasoner()
    r.add([*in_graph(ONE, "ann ben"), *in_graph(TWO, "ann ben")])
    q = r.watch(f"{PREFIX} SELECT ?x FROM ex:one FROM ex:two {{ ?x ex:knows ?y }}")
    assert len(q.answers()) == 1
    r.remove(in_graph(ONE, "ann ben"))
    assert q.changes() == []
    r.remove(in_graph(TWO, "ann ben"))
    assert asserted(q.changes()) == ["- ann"]


@pytest.mark.parametrize("call", ["NOW()", "RAND()", "UUID()", "STRUUID()", "BNODE()"])
def test_functions_that_never_repeat_are_refused_where_they_stand(call: str) -> None:
    with pytest.raises(lf.QueryError, match="another value each time") as error:
        lf.Reasoner().watch(f"SELECT ?x {{ ?x ?p ?o FILTER(BOUND(?x) && {call} != ?x) }}")
    assert error.value.place is not None


@pytest.mark.parametrize(
    "text", ["SELECT ?x { ?x ex:nope ?y }", "SELECT {", "INSERT DATA { <x:a> <x:b> <x:c> }"]
)
def test_what_query_refuses_watch_refuses(text: str) -> None:
    with pytest.raises(lf.QueryError):
        lf.Reasoner().watch(text)


def test_watches_share_what_they_have_in_common_whatever_the_names() -> None:
    r = lf.Reasoner()
    one = r.watch(f"{PREFIX} SELECT ?x {{ ?x ex:knows ?y . ?y ex:knows ?z }}")
    before = one.cached["steps"]
    other = r.watch(
        f"{PREFIX} SELECT ?a (COUNT(?b) AS ?n) {{ ?a ex:knows ?b . ?b ex:knows ?c }} GROUP BY ?a"
    )
    assert other.cached["shared"] == 1
    one.close()
    assert other.cached["shared"] == 0
    add(r, "ex:ann ex:knows ex:ben . ex:ben ex:knows ex:cleo .")
    assert len(other.changes()) == 1
    assert before > 0


def test_a_watch_that_begins_later_sees_what_shared_steps_already_hold() -> None:
    r = lf.Reasoner()
    r.watch(KNOWS)
    add(r, "ex:ann ex:knows ex:ben .")
    later = r.watch(f"{PREFIX} SELECT ?y {{ ?x ex:knows ?y }}")
    assert asserted(later.beginning()) == ["+ ben"]
    remove(r, "ex:ann ex:knows ex:ben .")
    assert asserted(later.changes()) == ["- ben"]


def test_a_preview_and_a_failed_change_tell_nothing() -> None:
    r = lf.Reasoner(rules=HEADER + "false :- [?x, ex:knows, ?x] .", on_violation="refuse")
    q = r.watch(KNOWS)
    r.preview(add=HEADER + "ex:ann ex:knows ex:ben .")
    with pytest.raises(lf.ViolationError):
        add(r, "ex:ann ex:knows ex:ann .")
    assert q.changes() == []


def test_an_update_of_several_parts_is_one_change() -> None:
    r = lf.Reasoner()
    add(r, "ex:ann ex:knows ex:ben .")
    q = r.watch(KNOWS)
    delta = r.update(
        f"{PREFIX} INSERT DATA {{ ex:ben ex:knows ex:ann }} ;"
        "DELETE { ?x ex:knows ?y } INSERT { ?y ex:likes ?x } WHERE { ?x ex:knows ?y }"
    )
    changes = q.changes()
    assert asserted(changes) == ["- ann ben"]
    assert {change.seq for change in changes} == {delta.seq}


class TestCallbacks:
    """Being called."""

    def test_a_callback_gets_the_changes_of_one_change(self) -> None:
        r, heard = lf.Reasoner(), []
        r.watch(KNOWS).on_change(heard.append)
        add(r, "ex:ann ex:knows ex:ben, ex:cleo .")
        add(r, "ex:ann ex:likes ex:ben .")
        assert list(map(asserted, heard)) == [["+ ann ben", "+ ann cleo"]]

    def test_what_a_callback_changes_is_told_after_what_it_was_called_for(self) -> None:
        r, heard = lf.Reasoner(), []
        first, second = r.watch(KNOWS), r.watch(KNOWS)

        def answer(changes: list[Change]) -> None:
            heard.append(("first", *asserted(changes)))
            if len(heard) == 1:
                add(r, "ex:ben ex:knows ex:ann .")

        first.on_change(answer)
        second.on_change(lambda changes: heard.append(("second", *asserted(changes))))
        add(r, "ex:ann ex:knows ex:ben .")
        assert heard == [
            ("first", "+ ann ben"),
            ("second", "+ ann ben"),
            ("first", "+ ben ann"),
            ("second", "+ ben ann"),
        ]

    def test_a_callback_that_fails_costs_nobody_else_a_change(self) -> None:
        r, heard = lf.Reasoner(), []
        first, second = r.watch(KNOWS), r.watch(KNOWS)
        first.on_change(lambda changes: 1 / 0)
        second.on_change(heard.append)
        with pytest.raises(ZeroDivisionError):
            add(r, "ex:ann ex:knows ex:ben .")
        assert len(r) == 1
        assert len(heard) == 1


class TestBuffers:
    """Readers who are slow."""

    def test_a_slow_reader_is_told_how_much_was_lost_and_where_to_go_on(self) -> None:
        r = lf.Reasoner()
        q = r.watch(KNOWS, buffer=2)
        add(r, "ex:ann ex:knows ex:ben, ex:cleo, ex:dan .")
        lost, *rest = q.changes()
        assert (lost.op, lost.count, lost.seq, rest) == ("lagged", 3, 1, [])
        assert len(q.answers()) == 3
        add(r, "ex:ann ex:knows ex:eve .")
        assert asserted(q.changes()) == ["+ ann eve"]

    def test_the_marker_comes_before_what_was_not_lost(self) -> None:
        r = lf.Reasoner()
        q = r.watch(KNOWS, buffer=1)
        add(r, "ex:ann ex:knows ex:ben, ex:cleo .")
        add(r, "ex:ann ex:knows ex:dan .")
        lost, kept = q.changes()
        assert (lost.op, lost.seq) == ("lagged", 1)
        assert (asserted([kept]), kept.seq) == (["+ ann dan"], 2)

    def test_a_buffer_holds_something(self) -> None:
        with pytest.raises(ValueError, match="at least one"):
            lf.Reasoner().watch(KNOWS, buffer=0)


class TestWaiting:
    """Iterators."""

    def test_an_iterator_waits_for_other_threads_until_the_watch_is_closed(self) -> None:
        r = lf.Reasoner()
        q, heard = r.watch(KNOWS), []
        reader = threading.Thread(target=lambda: heard.extend(asserted(list(q))))
        reader.start()
        add(r, "ex:ann ex:knows ex:ben .")
        remove(r, "ex:ann ex:knows ex:ben .")
        q.close()
        reader.join(timeout=30)
        assert heard == ["+ ann ben", "- ann ben"]

    def test_an_async_iterator_waits_without_blocking_the_loop(self) -> None:
        r = lf.Reasoner()

        async def watched() -> list[str]:
            q, heard = r.watch(KNOWS), []

            async def change() -> None:
                add(r, "ex:ann ex:knows ex:ben .")
                await asyncio.sleep(0)
                remove(r, "ex:ann ex:knows ex:ben .")
                q.close()

            task = asyncio.create_task(change())
            async for each in q:
                heard += asserted([each])
            await task
            return heard

        assert asyncio.run(watched()) == ["+ ann ben", "- ann ben"]

    def test_after_closing_nothing_more_is_followed_and_the_rest_can_be_read(self) -> None:
        r = lf.Reasoner()
        with r.watch(KNOWS) as q:
            add(r, "ex:ann ex:knows ex:ben .")
        add(r, "ex:ann ex:knows ex:cleo .")
        assert asserted(q.changes()) == ["+ ann ben"]


def test_str_gives_a_number_as_it_is_written() -> None:
    r = lf.Reasoner()
    query = "SELECT ?x (STR(?n) AS ?t) WHERE { ?x <x:has> ?n FILTER(STR(?n) != '1') }"
    watch = r.watch(query)
    r.add('<x:a> <x:has> 2.50 . <x:b> <x:has> "02"^^xsd:integer . <x:c> <x:has> 1, <x:d>, _:e .')
    assert {str(row["t"]) for row in watch.answers()} == {'"2.50"', '"02"', '"x:d"'}
    assert sorted(map(str, watch.answers())) == sorted(map(str, r.query(query)))


def test_who_is_called_hears_of_the_answers_of_the_beginning_first() -> None:
    heard: list[list[str]] = []
    r = lf.Reasoner()
    r.add("<x:a> <x:p> <x:b> .")
    watch = r.watch(
        "SELECT ?o { <x:a> <x:p> ?o }",
        on_change=lambda changes: heard.append([str(each) for each in changes]),
    )
    r.add("<x:a> <x:p> <x:c> .")
    watch.close()
    watch.close()
    r.add("<x:a> <x:p> <x:d> .")
    assert heard == [["+ ?o=<x:b>"], ["+ ?o=<x:c>"]]
