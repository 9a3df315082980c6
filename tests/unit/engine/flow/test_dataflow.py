"""Flows: what one message costs, what is shared, and single operators in small."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from livefacts.engine.flow.bags import UNBOUND
from livefacts.engine.flow.dataflow import Dataflow, RunningQuery
from livefacts.plan.continuous.flow import Cut
from livefacts.service.continuous.query_plans import plan_of
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.versions.snapshots import graphs_of

NOTHING = np.zeros((0, 3), np.int32)
XSD = "http://www.w3.org/2001/XMLSchema#"

FORMS = {
    "pattern": "SELECT ?x ?y { ?x <x:p> ?y . ?y <x:q> ?z }",
    "filter": "SELECT ?x { ?x <x:p> ?y . ?x <x:n> ?n FILTER(?n >= 0 && STRLEN(STR(?n)) > 0) }",
    "bind": "SELECT ?m { ?x <x:p> ?y . ?x <x:n> ?n BIND(?n + 1 AS ?m) }",
    "values": "SELECT ?y { VALUES ?x { <x:1> <x:2> } ?x <x:p> ?y }",
    "projection": "SELECT ?y { ?x <x:p> ?y . ?y <x:q> ?z . ?z <x:p> ?w }",
    "union": "SELECT ?x { { ?x <x:p> ?y } UNION { ?x <x:q> ?y } }",
    "optional": "SELECT ?x ?z { ?x <x:p> ?y OPTIONAL { ?y <x:q> ?z FILTER(?z != ?x) } }",
    "minus": "SELECT ?x { ?x <x:p> ?y MINUS { ?y <x:q> ?x } }",
    "not exists": "SELECT ?x { ?x <x:p> ?y FILTER NOT EXISTS { ?y <x:q> ?z FILTER(?z = ?x) } }",
    "exists": "SELECT ?x { ?x <x:p> ?y FILTER(?x = <x:1> || EXISTS { ?y <x:q> ?z }) }",
    "exists as a value": "SELECT ?x (EXISTS { ?y <x:q> ?z } AS ?e) { ?x <x:p> ?y }",
    "exists of groups": "SELECT ?x (COUNT(*) AS ?n) { ?x <x:p> ?y } GROUP BY ?x "
    "HAVING (EXISTS { ?x <x:q> ?z } || COUNT(*) > 3)",
    "ordered by exists": "SELECT ?x { ?x <x:p> ?y } ORDER BY EXISTS { ?y <x:q> ?z }",
    "distinct": "SELECT DISTINCT ?x { ?x <x:p> ?y }",
    "groups": "SELECT ?x (COUNT(?y) AS ?c) (SUM(?n) AS ?s) (MAX(?n) AS ?m) (AVG(DISTINCT ?n) AS ?a) "
    "{ ?x <x:p> ?y . ?y <x:n> ?n } GROUP BY ?x HAVING (COUNT(*) > 0)",
    "sequence": "SELECT ?z { ?x <x:p>/^<x:q>/(<x:p>|<x:q>) ?z }",
    "reach": "SELECT ?y { <x:1> (<x:p>/<x:q>)+ ?y }",
    "star": "SELECT ?y { ?x <x:n> 5 . ?x <x:p>* ?y }",
    "inner": "SELECT ?x ?c { ?x <x:p> ?y { SELECT ?y (COUNT(?z) AS ?c) { ?y <x:q> ?z } GROUP BY ?y } }",
    "ask": "ASK { ?x <x:p> ?y . ?y <x:n> ?n FILTER(?n > 3) }",
    "construct": "CONSTRUCT { ?y <x:back> ?x } WHERE { ?x <x:p> ?y . ?y <x:q> ?z }",
}


@lru_cache(maxsize=2)
def known_graph(size: int) -> tuple[Dictionary, Any]:
    dictionary = Dictionary()
    return dictionary, graph(dictionary, size)


def graph(dictionary: Dictionary, size: int) -> Any:
    """Nodes in small rings of p and q, with a number each: parts alike, and many of them."""
    triples = []
    for node in range(size // 3):
        ring = node - node % 6
        subject = NamedNode(f"x:{node}")
        for edge, step in (("x:p", 1), ("x:q", 2)):
            triples += [subject, NamedNode(edge), NamedNode(f"x:{ring + (node + step) % 6}")]
        triples += [subject, NamedNode("x:n"), Literal(node % 7)]
    return dictionary.encode(triples).reshape(-1, 3)


def message(dictionary: Dictionary) -> Any:
    return dictionary.encode([NamedNode("x:1"), NamedNode("x:p"), NamedNode("x:4")]).reshape(1, 3)


def lines_of(action: Callable[[], object]) -> int:
    """How many lines of Python an action runs."""
    count = 0

    def trace(frame: object, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(None)
    return count


def work(text: str, size: int) -> tuple[int, int]:
    """The rows that steps look at when a triple comes and goes, and the lines that are run."""
    dictionary, triples = known_graph(size)
    flow = Dataflow(dictionary)
    standing = flow.add(plan_of(text, {}), graphs_of(triples))
    triple = message(dictionary)
    flow.apply(triple, NOTHING)
    flow.apply(NOTHING, triple)
    before = standing.looked_at
    lines = lines_of(lambda: (flow.apply(triple, NOTHING), flow.apply(NOTHING, triple)))
    return standing.looked_at - before, lines


@pytest.mark.parametrize("form", FORMS)
def test_no_form_is_computed_anew(form: str) -> None:
    assert not any(isinstance(step.operator, Cut) for step in plan_of(FORMS[form], {}).steps)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_message_takes_as_much_work_in_a_graph_twenty_times_as_large(form: str) -> None:
    rows, lines = work(FORMS[form], 1_000)
    assert (rows, lines) == work(FORMS[form], 20_000)
    assert lines > 20


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS)
def test_a_message_takes_as_much_work_in_a_graph_of_a_million_triples(form: str) -> None:
    assert work(FORMS[form], 10_000) == work(FORMS[form], 1_000_000)


def test_a_message_about_a_hub_looks_at_no_edge_that_leads_nowhere() -> None:
    text = "SELECT ?x ?z { ?x <x:p> ?y . ?y <x:q> ?z . ?z <x:n> 5 }"
    hub, looked = NamedNode("x:hub"), []
    for edges in (10, 1_000):
        table = Table(text)
        for end in range(edges):
            table.tell(hub, NamedNode("x:q"), NamedNode(f"x:{end}"))
        before = table.standing.looked_at
        table.tell(A, P, hub)
        looked.append(table.standing.looked_at - before)
    assert looked[0] == looked[1]


def test_two_patterns_are_matched_together_and_columns_are_chosen_once() -> None:
    plan = plan_of("SELECT ?x (COUNT(?y) AS ?c) { ?x <x:p> ?y . ?y <x:q> ?z } GROUP BY ?x", {})
    kinds = [type(step.operator).__name__ for step in plan.steps]
    assert kinds == ["Joined", "Group"]


def test_a_pattern_and_what_is_said_of_its_ends_are_matched_together() -> None:
    plan = plan_of("SELECT * { ?x <x:p> ?y . ?x a <x:A> . ?y a <x:B> . ?y <x:q> ?z }", {})
    kinds = [type(step.operator).__name__ for step in plan.steps]
    assert kinds.count("Joined") == 1
    assert kinds.count("Combine") == 1


def test_a_cut_looks_at_all_rows_below_it() -> None:
    text = "SELECT ?x { ?x <x:p> ?y } ORDER BY ?x LIMIT 3"
    (few, short), (many, long) = work(text, 300), work(text, 1_200)
    assert few < many
    assert short < long


class Table:
    """One query over triples that are told one by one."""

    def __init__(self, text: str) -> None:
        self.dictionary = Dictionary()
        self.flow = Dataflow(self.dictionary)
        self.standing: RunningQuery = self.flow.add(plan_of(text, {}))

    def tell(self, *terms: Any, gone: bool = False) -> None:
        triple = self.dictionary.encode(terms).reshape(-1, 3)
        self.flow.apply(NOTHING if gone else triple, triple if gone else NOTHING)

    def rows(self) -> list[tuple[str, ...]]:
        shown = [
            tuple("-" if t == UNBOUND else str(self.dictionary.decode_one(t)) for t in row)
            for row, count in self.standing.answers.items()
            for _ in range(count)
        ]
        return sorted(shown)


P, A, B = NamedNode("x:p"), NamedNode("x:a"), NamedNode("x:b")


def number(text: str, kind: str = "integer") -> Literal:
    return Literal(text, datatype=NamedNode(XSD + kind))


@pytest.mark.parametrize(
    ("total", "values", "expected"),
    [
        ("SUM(?v)", [number("1"), number("2.50", "decimal")], '"3.5"^^<XSDdecimal>'),
        ("SUM(?v)", [number("1"), number("0.5", "double")], '"1.5"^^<XSDdouble>'),
        ("AVG(?v)", [number("1"), number("2")], '"1.5"^^<XSDdecimal>'),
        ("AVG(?v)", [number("9" * 30), number("1")], '"5' + "0" * 29 + '"^^<XSDdecimal>'),
        ("SUM(?v)", [number("1"), Literal("x")], "-"),
        ("MIN(?v)", [number("3"), Literal("a"), A], "<x:a>"),
        ("MAX(?v)", [number("3"), number("2.5", "decimal"), A], '"3"^^<XSDinteger>'),
        ("MAX(?v)", [number("NaN", "double"), number("3")], '"NaN"^^<XSDdouble>'),
        ("MIN(?v)", [BlankNode("b"), A], "_:b"),
        (
            "MAX(?v)",
            [number("2026-11-16", "date"), number("2025-01-01", "date")],
            '"2026-11-16"^^<XSDdate>',
        ),
        ("GROUP_CONCAT(?v; SEPARATOR='+')", [Literal("b"), Literal("a")], '"a+b"'),
        (
            "GROUP_CONCAT(?v)",
            [Literal("b", language="en"), Literal("a", language="en")],
            '"a b"@en',
        ),
        ("GROUP_CONCAT(?v)", [Literal("b"), number("1")], "-"),
        ("COUNT(DISTINCT ?v)", [number("1"), number("01")], '"2"^^<XSDinteger>'),
        ("SAMPLE(?v)", [number("7")], '"7"^^<XSDinteger>'),
        ("SUM(?v)", [number("INF", "double"), number("-INF", "double")], '"NaN"^^<XSDdouble>'),
    ],
)
def test_a_total_comes_and_goes_with_its_values(total: str, values: Any, expected: str) -> None:
    table = Table(f"SELECT ({total} AS ?t) {{ ?x <x:p> ?v }}")
    empty = table.rows()
    for value in values:
        table.tell(A, P, value)
    assert table.rows() == [(expected.replace("XSD", XSD),)]
    for value in reversed(values):
        table.tell(A, P, value, gone=True)
    assert table.rows() == empty


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (number("2026-02-28", "date"), number("P1D", "dayTimeDuration"), ("2026-03-01", "date")),
        (
            number("PT1H", "dayTimeDuration"),
            number("2026-12-31T23:30:00Z", "dateTime"),
            ("2027-01-01T00:30:00Z", "dateTime"),
        ),
        (number("23:00:00", "time"), number("PT2H", "dayTimeDuration"), ("01:00:00", "time")),
        (
            number("2024-02-29T00:00:00", "dateTime"),
            number("P1Y", "yearMonthDuration"),
            ("2025-02-28T00:00:00", "dateTime"),
        ),
        (number("3"), number("0.5", "decimal"), ("3.5", "decimal")),
    ],
)
def test_a_duration_is_added_to_a_date_or_a_time(first: Any, second: Any, expected: Any) -> None:
    table = Table("SELECT ?s { ?x <x:p> ?v . ?x <x:q> ?w BIND(?v + ?w AS ?s) }")
    test = Table("SELECT ?x { ?x <x:p> ?v . ?x <x:q> ?w FILTER(?v + ?w = ?w + ?v) }")
    for each in (table, test):
        each.tell(A, P, first, A, NamedNode("x:q"), second)
    value, kind = expected
    assert table.rows() == [(f'"{value}"^^<{XSD}{kind}>',)]
    assert len(test.rows()) == 1
    table.tell(A, P, first, gone=True)
    assert table.rows() == []


def test_a_minus_inside_of_exists_leaves_rows_that_have_nothing_in_common_with_it() -> None:
    table = Table("SELECT ?v { ?v <x:p> ?w FILTER EXISTS { ?v <x:p> ?u MINUS { ?y <x:q> ?z } } }")
    table.tell(A, P, B, B, NamedNode("x:q"), B)
    assert table.rows() == [("<x:a>",)]


def test_terms_join_as_they_are_written_and_compare_by_value() -> None:
    joined = Table("SELECT ?x ?y { ?x <x:p> ?v . ?y <x:q> ?v }")
    equal = Table("SELECT ?x ?y { ?x <x:p> ?v . ?y <x:q> ?w FILTER(?v = ?w) }")
    for table in (joined, equal):
        table.tell(A, P, number("01"))
        table.tell(B, NamedNode("x:q"), number("1"))
    assert joined.rows() == []
    assert equal.rows() == [("<x:a>", "<x:b>")]


def test_a_blank_node_of_a_template_is_the_same_whenever_its_row_comes_back() -> None:
    table = Table("CONSTRUCT { _:b <x:of> ?x } WHERE { ?x <x:p> ?y }")
    table.tell(A, P, B)
    before = table.rows()
    assert before[0][0].startswith("_:")
    table.tell(A, P, B, gone=True)
    assert table.rows() == []
    table.tell(A, P, B)
    assert table.rows() == before


def test_a_cycle_that_loses_an_edge_is_reached_no_further() -> None:
    table = Table("SELECT ?y { <x:a> <x:p>+ ?y }")
    table.tell(A, P, B, B, P, A, A, P, A)
    assert table.rows() == [("<x:a>",), ("<x:b>",)]
    table.tell(A, P, B, gone=True)
    assert table.rows() == [("<x:a>",)]
    table.tell(A, P, A, gone=True)
    assert table.rows() == []


def test_blank_nodes_are_values_of_expressions() -> None:
    table = Table("SELECT ?x ?b { ?x <x:p> ?v BIND(isBLANK(?v) && ?v != <x:a> AS ?b) }")
    table.tell(A, P, BlankNode("b"))
    assert table.rows() == [("<x:a>", f'"true"^^<{XSD}boolean>')]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["optional", "distinct", "groups", "sequence", "minus"])
def test_the_memory_that_is_reported_is_what_python_has_given(form: str) -> None:
    dictionary = Dictionary()
    triples = graph(dictionary, 6_000)
    flow = Dataflow(dictionary)
    standing = flow.add(plan_of(FORMS[form], {}))
    flow.apply(triples[:300], NOTHING)
    gc.collect()
    before = sum(part.bytes for part in standing.kept())
    tracemalloc.start()
    for first in range(300, len(triples), 300):
        flow.apply(triples[first : first + 300], NOTHING)
    gc.collect()
    given, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    asserted = sum(part.bytes for part in standing.kept()) - before
    assert 0.75 < asserted / given < 1.25


def test_every_step_that_keeps_something_is_reported_with_its_rows() -> None:
    table = Table(
        "SELECT ?x (COUNT(?z) AS ?n) { ?x <x:p> ?y OPTIONAL { ?y <x:q> ?z } } GROUP BY ?x"
    )
    table.tell(A, P, B, B, P, A, B, NamedNode("x:q"), A)
    kept = {
        part.name.partition(", ")[2] or part.name: part.entries for part in table.standing.kept()
    }
    assert kept == {
        "triples ?0 <x:p> ?1 and ?1 <x:q> ?2": 3,
        "rows whose [0, 1] is not in the second": 3,
        "groups by [0]: COUNT": 2,
        "answers": 2,
    }
