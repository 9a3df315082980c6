"""Plans of queries: what they say, that it is true, and what they cost."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from types import FunctionType, ModuleType

import numpy as np
import pytest
from pyoxigraph import NamedNode

import livefacts as lf
from livefacts.engine.queries.joins import leapfrog
from livefacts.engine.queries.paths import reach_kernel
from livefacts.errors import QueryError
from livefacts.service.queries.plan_tree import PatternLookup, PlanTree
from livefacts.service.queries.results import Answer
from livefacts.store.versions.snapshots import Snapshot

LIBRARY = """
@prefix ex: <http://example.org/> .
ex:emma a ex:Novel ; ex:by ex:jane ; ex:year 1815 .
ex:persuasion a ex:Novel ; ex:by ex:jane ; ex:year 1817 .
ex:orlando a ex:Novel ; ex:by ex:virginia ; ex:year 1928 .
ex:flush a ex:Biography ; ex:by ex:virginia .
ex:jane ex:name "Jane" ; ex:knows ex:virginia .
ex:virginia ex:name "Virginia" ; ex:knows ex:vita .
"""
OPTIONAL_MINUS = """SELECT DISTINCT ?w (COUNT(*) AS ?n) {
    ?b ex:by ?w OPTIONAL { ?b ex:year ?y FILTER(?y > 1816) } MINUS { ?b a ex:Biography } }
    GROUP BY ?w HAVING (COUNT(*) > 1) ORDER BY DESC(?n) LIMIT 5"""
UNION_EXISTS = """SELECT ?b { { ?b a ex:Novel } UNION { ?b a ex:Biography }
    VALUES ?b { ex:emma ex:flush } FILTER EXISTS { ?b ex:by ?w . ?w ex:name ?n }
    { SELECT ?b (MAX(?y) AS ?last) { ?b ex:year ?y } GROUP BY ?b } }"""


@pytest.fixture(scope="module")
def library() -> lf.Reasoner:
    reasoner = lf.Reasoner()
    reasoner.add(LIBRARY)
    return reasoner


def prefixed(text: str) -> str:
    return f"PREFIX ex: <http://example.org/> {text}"


def plan_of(library: lf.Reasoner, text: str) -> PlanTree:
    return library.query(prefixed(text)).plan


def future(library: lf.Reasoner, text: str) -> PlanTree:
    return library.query(prefixed(text), explain_only=True)


def lines_of(plan: PlanTree) -> list[str]:
    """The lines of a plan without its head and its times; columns stand two spaces apart."""
    lines = [re.sub(r" +[0-9,.]+ ms$", "", line) for line in str(plan).splitlines()[1:]]
    return [re.sub(r"(?<=[^ │]) {2,}", "  ", line) for line in lines]


def nodes(plan: PlanTree) -> Iterator[PlanTree]:
    yield plan
    for each in plan.below:
        yield from nodes(each)


def named(plan: PlanTree, operator: str) -> PlanTree:
    """The only node that begins so."""
    (found,) = (node for node in nodes(plan) if node.operator.startswith(operator))
    return found


class TestText:
    """What people read: expected rows and rows behind each line."""

    def test_a_join_is_shown_variable_by_variable(self, library: lf.Reasoner) -> None:
        text = "SELECT ?novel ?who { ?novel a ex:Novel ; ex:by ?who . ?who ex:name ?called }"
        assert lines_of(plan_of(library, text)) == [
            "SELECT ?novel ?who  3",
            "└─ join of 3 triple patterns  3  3",
            "   ├─ ?who  ?novel ex:by ?who  [POS]  2  2",
            "   │        ?who ex:name ?called  [PSO]",
            "   ├─ count  ?who ex:name ?called  [PSO]  2",
            "   └─ ?novel  ?novel a ex:Novel  [POS]  3  3",
            "              ?novel ex:by ?who  [POS]",
        ]

    def test_operators_stand_above_what_they_take(self, library: lf.Reasoner) -> None:
        assert lines_of(plan_of(library, OPTIONAL_MINUS)) == [
            "SELECT ?w ?n  1",
            "└─ LIMIT 5  1",
            "   └─ DISTINCT  1",
            "      └─ ORDER BY DESC(?n)  1",
            "         └─ BIND (COUNT(*) AS ?n)  1",
            "            └─ FILTER (COUNT(*) > 1)  1",
            "               └─ GROUP BY ?w: COUNT(*)  2",
            "                  └─ MINUS  3",
            "                     ├─ OPTIONAL with FILTER (?y > 1816)  4",
            "                     │  ├─ 1 triple pattern  4  4",
            "                     │  │  ├─ ?w  ?b ex:by ?w  [POS]  2  2",
            "                     │  │  └─ ?b  ?b ex:by ?w  [POS]  4  4",
            "                     │  └─ 1 triple pattern  3",
            "                     │     ├─ for each ?b  4",
            "                     │     └─ ?y  ?b ex:year ?y  [PSO]  3",
            "                     └─ 1 triple pattern  1",
            "                        └─ for each ?b  ?b a ex:Biography  [PSO]  1",
        ]

    def test_parts_that_know_nothing_of_the_others_say_so(self, library: lf.Reasoner) -> None:
        assert lines_of(plan_of(library, UNION_EXISTS)) == [
            "SELECT ?b  1",
            "└─ FILTER EXISTS { ... }  1",
            "   ├─ join  1",
            "   │  ├─ VALUES ?b  2",
            "   │  ├─ UNION  2",
            "   │  │  ├─ 1 triple pattern  1",
            "   │  │  │  └─ for each ?b  ?b a ex:Novel  [PSO]  1",
            "   │  │  └─ 1 triple pattern  1",
            "   │  │     └─ for each ?b  ?b a ex:Biography  [PSO]  1",
            "   │  └─ SELECT ?b ?last, by itself  3",
            "   │     └─ BIND (MAX(?y) AS ?last)  3",
            "   │        └─ GROUP BY ?b: MAX(?y)  3",
            "   │           └─ 1 triple pattern  3  3",
            "   │              ├─ ?b  ?b ex:year ?y  [PSO]  3  3",
            "   │              └─ ?y  ?b ex:year ?y  [PSO]  3  3",
            "   └─ EXISTS",
            "      └─ join of 2 triple patterns  1",
            "         ├─ for each ?b  1",
            "         ├─ ?w  ?b ex:by ?w  [PSO]  1  1",
            "         │      ?w ex:name ?n  [PSO]",
            "         └─ any  ?w ex:name ?n  [PSO]  1",
        ]

    def test_paths_are_stages_beside_the_triple_patterns(self, library: lf.Reasoner) -> None:
        text = "SELECT ?x { ex:jane ex:knows+ ?x . ?x (ex:name|^ex:by)/ex:year ?y }"
        assert lines_of(plan_of(library, text)) == [
            "SELECT ?x  1",
            "└─ graph pattern  1",
            "   ├─ path ex:jane ex:knows+ ?x  2",
            "   ├─ 1 triple pattern  6",
            "   │  ├─ _:0  _:0 ex:year ?y  [PSO]  6  6",
            "   │  └─ count  _:0 ex:year ?y  [PSO]  6",
            "   └─ path ?x ex:name|^ex:by _:0  1",
        ]

    def test_the_forms_of_queries(self, library: lf.Reasoner) -> None:
        assert lines_of(plan_of(library, "ASK { ex:emma a ex:Novel }")) == [
            "ASK  1",
            "└─ 1 triple pattern  1",
            "   └─ if  ex:emma a ex:Novel  [PSO]  1",
        ]
        made = plan_of(library, "CONSTRUCT { ?b a ex:Book } { ?b a ex:Novel }")
        assert (made.operator, made.rows) == ("CONSTRUCT", 3)
        about = plan_of(library, "DESCRIBE ?b { ?b a ex:Biography }")
        assert [node.rows for node in about.below] == [1, 2]

    def test_a_term_that_no_fact_has_ends_the_search(self, library: lf.Reasoner) -> None:
        (join,) = plan_of(library, "SELECT * { ?x a ex:Novel ; ex:unheard ?y }").below
        assert (join.rows, join.below) == (0, ())
        assert [str(each) for each in join.lookups] == ["?x a ex:Novel", "?x ex:unheard ?y"]

    def test_what_was_not_reached_has_no_rows(self, library: lf.Reasoner) -> None:
        plan = plan_of(
            library, "SELECT * { ?x a ex:Biography ; ex:year ?y OPTIONAL { ?x ex:by ?z } }"
        )
        assert [node.rows for node in plan.below[0].below] == [0, None]

    def test_values_of_variables_are_rows_that_are_given(self, library: lf.Reasoner) -> None:
        who = NamedNode("http://example.org/jane")
        result = library.query(prefixed("SELECT ?b { ?b ex:by ?who }"), bindings={"who": who})
        assert lines_of(result.plan) == [
            "SELECT ?b  2",
            "└─ join  2",
            "   ├─ VALUES ?who  1",
            "   └─ 1 triple pattern  2",
            "      ├─ for each ?who  1",
            "      └─ ?b  ?b ex:by ?who  [POS]  2",
        ]


class TestRows:
    """Rows are those that the parts really give."""

    def test_a_step_leaves_the_values_on_which_its_patterns_agree(self) -> None:
        edges = {(a, b) for a in range(9) for b in range(9) if (a * a + 3 * b) % 5 < 2}
        reasoner = lf.Reasoner()
        reasoner.add(" ".join(f"<x:n{a}> <x:e> <x:n{b}> ." for a, b in edges))
        text = "SELECT * { ?a <x:e> ?b . ?b <x:e> ?c . ?c <x:e> ?a }"
        steps = reasoner.query(text).plan.below[0].below
        order = [step.operator for step in steps]
        assert sorted(order) == ["?a", "?b", "?c"]
        for number, step in enumerate(steps, start=1):
            rows = (dict(zip(order, row, strict=False)) for row in product(range(9), repeat=number))
            assert step.rows == sum(
                all(has_edge(row, ends, edges) for ends in CYCLE) for row in rows
            )

    def test_equal_rows_that_are_only_counted_count(self, library: lf.Reasoner) -> None:
        plan = plan_of(library, "SELECT (COUNT(*) AS ?n) { ?someone ex:by ?x . ?y ex:by ?x }")
        assert named(plan, "join of 2").rows == 2 * 2 + 2 * 2

    def test_rows_of_a_part_that_runs_for_many_pieces_are_added_up(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add(" ".join(f"<x:s{n}> <x:p> {n} ; <x:q> {n % 7} ." for n in range(5_000)))
        text = "SELECT * { ?many <x:p> ?p OPTIONAL { ?many <x:q> ?q FILTER(?q < 3) } }"
        plan = reasoner.query(text).plan
        assert named(plan, "for each").rows == 5_000
        assert (named(plan, "?q").rows, plan.rows) == (5_000, 5_000)

    def test_a_search_that_ends_early_has_the_rows_until_then(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add(" ".join(f"<x:s{n}> <x:p> <x:o{n}> ." for n in range(5_000)))
        plan = reasoner.query("SELECT * { ?early <x:p> ?o } LIMIT 3").plan
        assert (plan.rows, named(plan, "LIMIT").rows) == (3, 3)
        assert 3 <= (named(plan, "1 triple").rows or 0) < 5_000

    def test_times_are_of_all_that_is_below(self, library: lf.Reasoner) -> None:
        plan = plan_of(library, OPTIONAL_MINUS)
        for node in nodes(plan):
            below = sum(each.seconds or 0.0 for each in node.below)
            assert node.seconds is None or below <= node.seconds


CYCLE = ("?a", "?b"), ("?b", "?c"), ("?c", "?a")


def has_edge(
    row: Mapping[str, int], ends: tuple[str, str], edges: Iterable[tuple[int, int]]
) -> bool:
    """Whether an edge fits what is known of its ends."""
    known = [row.get(end) for end in ends]
    return any(all(k in (None, n) for k, n in zip(known, edge, strict=True)) for edge in edges)


class TestOtherForms:
    """Data and pictures."""

    def test_data_have_the_same_numbers(self, library: lf.Reasoner) -> None:
        plan = plan_of(library, "SELECT ?title { ?title a ex:Novel }")
        data = plan.to_dict()
        assert json.loads(json.dumps(data)) == data
        (join,) = data["below"]
        assert (data["operator"], data["rows"], join["rows"]) == ("SELECT ?title", 3, 3)
        assert data["seconds"] >= join["seconds"] > 0
        assert join["below"] == [
            {
                "operator": "?title",
                "patterns": [{"pattern": "?title a ex:Novel", "order": "POS"}],
                "rows": 3,
            }
        ]

    def test_a_picture_has_an_arrow_from_each_part(self) -> None:
        step = PlanTree("?x", (PatternLookup('?x ex:p "a"', "POS"),), expected=2.0)
        assert PlanTree("SELECT ?x", below=(step,), rows=1).to_dot() == (
            "digraph plan {\n  rankdir=BT\n  node [shape=box]\n"
            '  n1 [label="SELECT ?x\\nrows 1"]\n'
            '  n2 [label="?x\\n?x ex:p \\"a\\"  [POS]\\nexpected 2"]\n'
            "  n2 -> n1\n}\n"
        )

    def test_less_than_a_row_is_not_none(self) -> None:
        shown = [PlanTree("", expected=rows).measures()[0] for rows in (0.0, 0.2, 0.7, 1234.5)]
        assert shown == ["0", "<1", "1", "1,234"]

    def test_answers_that_nobody_asked_a_query_for_have_no_plan(self) -> None:
        with pytest.raises(QueryError, match="have a plan"):
            _ = Answer(True).plan


class TestExplainOnly:
    """Plans of queries that do not run."""

    @pytest.mark.parametrize("text", [OPTIONAL_MINUS, UNION_EXISTS])
    def test_the_plan_is_that_of_the_query_when_it_runs(
        self, library: lf.Reasoner, text: str
    ) -> None:
        assert shape_of(future(library, text)) == shape_of(plan_of(library, text))

    def test_there_are_only_expectations(self, library: lf.Reasoner) -> None:
        plan = future(library, "SELECT ?book { ?book a ex:Novel ; ex:by ex:jane }")
        assert str(plan).splitlines()[0].split() == ["expected"]
        assert lines_of(plan)[0] == "SELECT ?book"
        assert {(node.rows, node.seconds) for node in nodes(plan)} == {(None, None)}
        assert named(plan, "?book").expected is not None

    def test_nothing_is_looked_for(
        self, library: lf.Reasoner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def forbidden(desk: object) -> None:
            raise AssertionError("rows are read")

        monkeypatch.setattr(leapfrog, "join", forbidden)
        monkeypatch.setattr(reach_kernel, "reach", forbidden)
        many = " ".join(f"?s{n} ?p{n} ?o{n} ." for n in range(20))
        text = f"SELECT * {{ {many} ?s1 ex:knows* ?s2 FILTER EXISTS {{ ?s0 ?p1 ?o2 }} }}"
        assert named(future(library, text), "join of 20").expected == pytest.approx(20.0**20, rel=9)
        with pytest.raises(AssertionError, match="rows are read"):
            plan_of(library, "SELECT * { ?s ?p ?o }")

    def test_mistakes_are_found(self, library: lf.Reasoner) -> None:
        with pytest.raises(QueryError):
            future(library, "SELECT * { ?x }")


def shape_of(plan: PlanTree) -> tuple[object, ...]:
    """A plan without numbers."""
    return plan.operator, plan.lookups, tuple(map(shape_of, plan.below))


class TestMemory:
    """What a result keeps for its plan."""

    @pytest.mark.slow
    def test_nothing_that_was_found_is_kept_for_a_plan(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add(" ".join(f"<x:s{n}> <x:p> {n} ." for n in range(30_000)))
        text = """ASK { { SELECT ?kept (STR(?o) AS ?t) { ?kept <x:p> ?o } ORDER BY ?t }
            ?kept <x:p> ?o MINUS { ?kept <x:q> ?o } }"""
        result = reasoner.query(text)
        assert named(result.plan, "SELECT ?kept").rows == 30_000
        reached = list(reachable_from(result.noted))
        assert not [each for each in reached if isinstance(each, Snapshot)]
        assert sum(each.nbytes for each in reached if isinstance(each, np.ndarray)) < 20_000


def reachable_from(thing: object) -> Iterator[object]:
    """Every object that is kept by one, without code."""
    known, waiting = {id(thing)}, [thing]
    while waiting:
        each = waiting.pop()
        yield each
        for other in gc.get_referents(each):
            if id(other) not in known and not isinstance(other, type | FunctionType | ModuleType):
                known.add(id(other))
                waiting.append(other)
