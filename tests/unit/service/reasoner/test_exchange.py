"""What other libraries give to a reasoner and get of it."""

from __future__ import annotations

import copy
import pickle
from datetime import date
from random import Random

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import livefacts as lf

RULES = """
@id near [?x, <x:near>, ?y] :- [?x, <x:in>, ?z], [?y, <x:in>, ?z] .
p(?x) :- q(?x), not _seen(?x) .
_seen(1) .
false :- [?x, <x:in>, <x:void>] .
"""
MAP = "reading($.sensor, $.value)"


class TestCopies:
    def test_a_copy_has_the_same_facts_and_goes_its_own_way(self) -> None:
        r = lf.Reasoner(rules=RULES)
        r.add("<x:a> <x:in> <x:b> . <x:c> <x:in> <x:void> .")
        r.add([("q", 1), ("q", 2)])
        other = r.copy()
        assert set(other.facts()) == set(r.facts())
        assert [str(rule) for rule in other.rules] == [str(rule) for rule in r.rules]
        assert other.violations() == r.violations()
        other.remove("<x:a> <x:in> <x:b> .")
        assert "<x:a> <x:near> <x:a>" in r
        assert "<x:a> <x:near> <x:a>" not in other
        assert other.verify()

    def test_a_copy_knows_which_graph_asserts_what(self) -> None:
        r = lf.Reasoner(rules=RULES)
        r.update("INSERT DATA { GRAPH <x:g> { <x:a> <x:in> <x:b> } <x:d> <x:in> <x:b> }")
        other = r.copy()
        graph = "SELECT ?x { GRAPH <x:g> { ?x ?p ?o } }"
        assert other.query(graph) == r.query(graph)
        for each in (r, other):
            each.update("DROP GRAPH <x:g>")
        assert set(other.facts()) == set(r.facts())

    def test_hidden_facts_are_copied(self) -> None:
        r = lf.Reasoner(rules=RULES)
        other = r.copy()
        other.add([("q", 1), ("q", 2)])
        assert ("p", 1) not in other
        assert ("p", 2) in other

    def test_options_are_copied(self) -> None:
        other = lf.Reasoner(rules=RULES, on_violation="refuse").copy()
        with pytest.raises(lf.ViolationError):
            other.add("<x:c> <x:in> <x:void> .")

    def test_a_reasoner_with_time_says_where_its_copy_is(self) -> None:
        r = lf.Reasoner()
        r.push([("q", 1)], at=1)
        with pytest.raises(lf.LivefactsError, match="time has begun"):
            r.copy()

    @pytest.mark.parametrize("seed", range(6))
    def test_after_any_changes_a_copy_changes_as_the_first(self, seed: int) -> None:
        random = Random(seed)
        r = lf.Reasoner(rules="rdfs", same_as="rules")
        kinds = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
        types = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

        def some() -> str:
            return "".join(
                f"<x:{random.choice('abcd')}> <{random.choice([kinds, types])}> <x:{random.choice('abcd')}> .\n"
                for _ in range(random.randint(1, 6))
            )

        for _ in range(4):
            r.apply(add=some(), remove=some())
        other = r.copy()
        for _ in range(3):
            add, remove = some(), some()
            one, two = r.apply(add=add, remove=remove), other.apply(add=add, remove=remove)
            assert set(one.added) == set(two.added)
            assert set(one.removed) == set(two.removed)
        assert other.verify()

    @pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
    def test_pickling_is_refused_with_a_way_out(self, way: object) -> None:
        with pytest.raises(lf.LivefactsError, match=r"r\.copy\(\)"):
            way(lf.Reasoner())  # type: ignore[operator]


class TestRecords:
    ROWS = ({"sensor": "s1", "value": 20}, {"sensor": "s2", "value": 31})

    @pytest.mark.parametrize(
        "table",
        [
            list(ROWS),
            pd.DataFrame(ROWS),
            pa.Table.from_pylist(list(ROWS)),
            [{"sensor": "s1", "value": np.int64(20)}, {"sensor": "s2", "value": np.int32(31)}],
        ],
        ids=["dicts", "pandas", "arrow", "numpy"],
    )
    def test_each_row_is_what_the_map_says(self, table: object) -> None:
        r = lf.Reasoner(rules="hot(?s) :- reading(?s, ?v), ?v > 30 .")
        d = r.add_records(table, MAP)
        assert sorted(map(str, d.added)) == ["hot(s2)", "reading(s1, 20)", "reading(s2, 31)"]

    def test_gaps_of_pandas_are_missing(self) -> None:
        table = pd.DataFrame(
            {"sensor": ["s1", "s2"], "note": ["dry", None], "day": [date(2026, 5, 1), None]}
        )
        r = lf.Reasoner()
        r.add_records(table, "seen($.sensor)\nnoted($.sensor, $.note?)\non($.sensor, $.day?)")
        assert sorted(map(str, r.facts("noted"))) == ["noted(s1, dry)"]
        assert len(r.facts("seen")) == 2
        assert len(r.facts("on")) == 1

    def test_what_does_not_fit_refuses_the_change_with_its_row(self) -> None:
        r = lf.Reasoner()
        with pytest.raises(lf.InputError, match=r"row 2: "):
            r.add_records([*self.ROWS[:1], {"sensor": "s3"}], MAP)
        assert len(r) == 0
        with pytest.raises(lf.InputError, match="no table and no list"):
            r.add_records("s1", MAP)
        with pytest.raises(lf.InputError, match="and no record"):
            r.add_records([1], MAP)
        with pytest.raises(lf.InputError, match="for streams"):
            r.add_records([{"sensor": "s", "value": 1, "ts": 5}], f"{MAP} at $.ts")


class TestNotebooks:
    def test_everything_that_a_cell_may_end_with_is_shown_as_html(self) -> None:
        r = lf.Reasoner(rules=RULES)
        d = r.add("<x:a> <x:in> <x:b> . <x:c> <x:in> <x:void> .")
        rows = r.query("SELECT ?x { ?x <x:in> ?y }", limit_rows=1)
        shown = {
            "reasoner": r._repr_html_(),
            "delta": d._repr_html_(),
            "rows": rows._repr_html_(),  # type: ignore[union-attr]
            "triples": r.query("CONSTRUCT WHERE { ?x <x:in> ?y }")._repr_html_(),  # type: ignore[union-attr]
            "plan": rows.plan._repr_html_(),
            "why": r.explain("<x:a> <x:near> <x:a>")._repr_html_(),
        }
        assert "<td>violations</td><td>1</td>" in shown["reasoner"]
        assert "+4 added" in shown["delta"]
        assert "1 violations" in shown["delta"]
        assert "a limit has cut them" in shown["rows"]
        assert "2 rows" in shown["triples"]
        assert "&lt;x:in&gt;" in shown["plan"]
        assert "<details" in shown["why"]

    def test_a_large_answer_shows_its_beginning(self) -> None:
        r = lf.Reasoner()
        r.add([("n", number) for number in range(100)])
        r.add("".join(f"<x:{number}> <x:p> 1 .\n" for number in range(100)))
        shown = r.query("SELECT ?x { ?x ?p ?y }")._repr_html_()  # type: ignore[union-attr]
        assert "100 rows, of which 20 are shown" in shown
        assert shown.count("<tr>") == 21
