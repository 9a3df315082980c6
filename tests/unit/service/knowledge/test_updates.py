"""SPARQL Update through the reasoner: one atomic change, over everything that is true."""

from __future__ import annotations

import io
import random

import pytest
from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, RdfFormat, Store, parse

import livefacts as lf
from livefacts.language.algebra import Dataset

PREFIX = "PREFIX ex: <x:>\n"
CATS = "ex:Cat rdfs:subClassOf ex:Animal . ex:tom a ex:Cat ."


def reasoner_with(data: str, rules: str = "rho-df", **settings: object) -> lf.Reasoner:
    reasoner = lf.Reasoner(rules=rules, **settings)  # type: ignore[arg-type]
    reasoner.update(f"{PREFIX}INSERT DATA {{ {data} }}")
    return reasoner


def changed(delta: lf.Delta) -> list[str]:
    """The rows of the asserted patch, without what all IRIs here begin with."""
    rows = delta.to_patch(asserted=True).splitlines()[2:-1]
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    return sorted(row.replace("<x:", "<").replace(rdf, "") for row in rows)


class TestOperations:
    def test_data_is_inserted_and_deleted(self) -> None:
        reasoner = lf.Reasoner()
        delta = reasoner.update(PREFIX + 'INSERT DATA { ex:a ex:p 01 ; ex:q "x"@en, ex:b . }')
        assert len(delta.added) == 3
        delta = reasoner.update(PREFIX + 'DELETE DATA { ex:a ex:p 1 . ex:a ex:q "x"@en }')
        assert changed(delta) == ['D <a> <q> "x"@en .']

    def test_where_sees_conclusions(self) -> None:
        reasoner = reasoner_with(CATS)
        delta = reasoner.update(PREFIX + "INSERT { ?x ex:alive true } WHERE { ?x a ex:Animal }")
        assert [str(fact.subject) for fact in delta.added] == ["<x:tom>"]  # type: ignore[union-attr]

    def test_delete_where_deletes_what_matches(self) -> None:
        reasoner = reasoner_with("ex:a ex:p ex:b . ex:b ex:p ex:c . ex:c ex:q ex:d .")
        delta = reasoner.update(PREFIX + "DELETE WHERE { ?x ex:p ?y . ?y ex:q ?z }")
        assert changed(delta) == ["D <b> <p> <c> .", "D <c> <q> <d> ."]

    def test_delete_and_insert_work_on_the_same_matches(self) -> None:
        reasoner = reasoner_with("ex:a ex:p ex:b . ex:b ex:p ex:a .")
        text = "DELETE { ?x ex:p ?y } INSERT { ?y ex:p ?x } WHERE { ?x ex:p ?y }"
        assert not reasoner.update(PREFIX + text)
        delta = reasoner.update(
            PREFIX + "DELETE { ?x ex:p ?y } INSERT { ?x ex:q ?y } WHERE { ?x ex:p ?y }"
        )
        assert len(changed(delta)) == 4

    def test_several_operations_see_the_effects_of_those_before_them(self) -> None:
        reasoner = reasoner_with("ex:Cat rdfs:subClassOf ex:Animal .")
        delta = reasoner.update(
            PREFIX
            + """INSERT DATA { ex:tom a ex:Cat } ;
            PREFIX y: <x:> INSERT { ?x y:alive true } WHERE { ?x a y:Animal } ;
            DELETE { ?x a ?c } WHERE { ?x ex:alive true ; a ?c } ;
            INSERT { ?x ex:was ex:there } WHERE { ?x ex:alive true FILTER NOT EXISTS { ?x a ?c } }"""
        )
        assert delta.seq == 2
        assert {str(fact.predicate) for fact in delta.added} == {"<x:alive>", "<x:was>"}  # type: ignore[union-attr]
        assert len(reasoner.query("SELECT * { ?s ?p ?o }")) == len(reasoner) == 3  # type: ignore[arg-type]

    def test_prefixes_of_the_reasoner_need_no_declaration(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.prefixes["ex"] = "x:"
        assert changed(reasoner.update("INSERT DATA { ex:a ex:p ex:b }")) == ["A <a> <p> <b> ."]
        assert changed(reasoner.update("DELETE WHERE { ex:a ?p ?o }")) == ["D <a> <p> <b> ."]

    def test_base_resolves_iris(self) -> None:
        delta = lf.Reasoner().update("BASE <http://e/x/> INSERT DATA { <a> <b> <../c> }")
        assert str(next(iter(delta.added))) == "<http://e/x/a> <http://e/x/b> <http://e/c>"

    def test_templates_that_make_no_triple_are_passed_over(self) -> None:
        reasoner = reasoner_with("ex:a ex:p 5 . ex:b ex:p ex:c .")
        delta = reasoner.update(
            PREFIX + "INSERT { ?y ex:of ?x . ?x ex:no ?z } WHERE { ?x ex:p ?y }"
        )
        assert changed(delta) == ["A <c> <of> <b> ."]

    def test_triple_terms_and_variables_in_them(self) -> None:
        reasoner = reasoner_with("ex:a ex:p ex:b .")
        text = "INSERT { ex:e ex:says <<( ?x ex:p ?y )>> } WHERE { ?x ex:p ?y }"
        assert changed(reasoner.update(PREFIX + text)) == ["A <e> <says> <<( <a> <p> <b> )>> ."]


class TestToldAndConcluded:
    def test_deleting_a_conclusion_changes_nothing_and_is_told(self) -> None:
        delta = reasoner_with(CATS).update(PREFIX + "DELETE WHERE { ex:tom a ex:Animal }")
        assert not delta
        assert "not asserted but derived" in delta.hints[0]

    def test_inserting_a_conclusion_makes_it_told(self) -> None:
        reasoner = reasoner_with(CATS)
        delta = reasoner.update(PREFIX + "INSERT { ?x a ex:Animal } WHERE { ?x a ex:Animal }")
        assert (len(delta.added), delta.counts["asserted"]) == (0, 1)
        reasoner.update(PREFIX + "DELETE DATA { ex:tom a ex:Cat }")
        assert reasoner.query("PREFIX ex: <x:> ASK { ex:tom a ex:Animal }")

    def test_all_ways_of_writing_a_value_are_deleted_by_a_pattern(self) -> None:
        reasoner = reasoner_with("ex:a ex:p 1, 01, 2 .")
        delta = reasoner.update(
            PREFIX + "DELETE { ?x ex:p ?y } WHERE { ?x ex:p ?y FILTER(?y < 2) }"
        )
        assert len(delta.removed) == 2


class TestGraphs:
    def test_graph_blocks_in_data_and_templates(self) -> None:
        reasoner = lf.Reasoner()
        data = "ex:a ex:p ex:b GRAPH ex:g { ex:a ex:p ex:c . ex:d ex:p ex:e } . ex:f ex:p ex:g"
        assert len(changed(reasoner.update(f"{PREFIX}INSERT DATA {{ {data} }}"))) == 4
        delta = reasoner.update(
            PREFIX + "DELETE { GRAPH ?g { ?x ex:p ?y } } INSERT { GRAPH ex:h { ?y ex:in ?g } } "
            "WHERE { GRAPH ?g { ?x ex:p ?y } }"
        )
        assert changed(delta) == [
            "A <c> <in> <g> <h> .",
            "A <e> <in> <g> <h> .",
            "D <a> <p> <c> <g> .",
            "D <d> <p> <e> <g> .",
        ]

    def test_with_and_using_choose_graphs(self) -> None:
        reasoner = reasoner_with("ex:a ex:p ex:b . GRAPH ex:g { ex:c ex:p ex:d }")
        moved = "WITH ex:g DELETE { ?x ex:p ?y } INSERT { ?x ex:q ?y } WHERE { ?x ex:p ?y }"
        assert changed(reasoner.update(PREFIX + moved)) == [
            "A <c> <q> <d> <g> .",
            "D <c> <p> <d> <g> .",
        ]
        copied = "INSERT { ?x ex:r ?y } USING ex:g WHERE { ?x ?p ?y }"
        assert changed(reasoner.update(PREFIX + copied)) == ["A <c> <r> <d> ."]
        named = "INSERT { ?x ex:s ?y } USING NAMED ex:g WHERE { GRAPH ?g { ?x ?p ?y } }"
        assert changed(reasoner.update(PREFIX + named)) == ["A <c> <s> <d> ."]


class TestBlankNodes:
    def test_every_solution_gets_nodes_of_its_own(self) -> None:
        reasoner = reasoner_with("ex:a ex:p ex:b, ex:c .")
        delta = reasoner.update(
            PREFIX + "INSERT { ?y ex:has _:n . _:n ex:of [ ex:is ?y ] } WHERE { ex:a ex:p ?y }"
        )
        nodes = {term for fact in delta.added for term in fact if isinstance(term, BlankNode)}
        assert (len(delta.added), len(nodes)) == (6, 4)

    def test_nodes_that_are_found_stay_themselves(self) -> None:
        reasoner = reasoner_with("ex:a ex:p _:x . _:x ex:q ex:b .")
        delta = reasoner.update(PREFIX + "DELETE WHERE { ex:a ex:p ?x . ?x ex:q ?y }")
        assert len(delta.removed) == 2
        assert len(reasoner) == 0

    @pytest.mark.parametrize(
        "text",
        [
            "DELETE DATA { _:x ex:p 1 }",
            "DELETE { [] ex:p ?y } WHERE { ?x ex:p ?y }",
            "DELETE WHERE { _:x ex:p 1 }",
        ],
    )
    def test_a_new_node_cannot_be_deleted(self, text: str) -> None:
        with pytest.raises(lf.QueryError, match="blank node cannot be deleted") as caught:
            lf.Reasoner().update(PREFIX + text)
        assert "variable" in caught.value.hint


GRAPHS = """INSERT DATA { ex:a ex:p 1 . ex:b ex:p 2 GRAPH ex:g { ex:a ex:p 1 . ex:a ex:p 3 }
    GRAPH ex:h { ex:c ex:p 4 } }"""
WHOLE_GRAPHS = {
    "CLEAR DEFAULT": {"g: a1 a3", "h: c4"},
    "DROP GRAPH ex:g": {": a1 b2", "h: c4"},
    "CLEAR GRAPH ex:none": {": a1 b2", "g: a1 a3", "h: c4"},
    "CLEAR NAMED": {": a1 b2"},
    "DROP SILENT ALL": set(),
    "CREATE GRAPH ex:new": {": a1 b2", "g: a1 a3", "h: c4"},
    "ADD ex:h TO GRAPH ex:g": {": a1 b2", "g: a1 a3 c4", "h: c4"},
    "ADD DEFAULT TO ex:h": {": a1 b2", "g: a1 a3", "h: a1 b2 c4"},
    "COPY ex:g TO DEFAULT": {": a1 a3", "g: a1 a3", "h: c4"},
    "COPY SILENT ex:none TO ex:g": {": a1 b2", "h: c4"},
    "MOVE ex:g TO ex:h": {": a1 b2", "h: a1 a3"},
    "MOVE DEFAULT TO ex:new": {"g: a1 a3", "h: c4", "new: a1 b2"},
    "MOVE ex:g TO ex:g": {": a1 b2", "g: a1 a3", "h: c4"},
    "CLEAR GRAPH ex:g ; ADD ex:h TO ex:g ; DROP DEFAULT": {"g: c4", "h: c4"},
    "INSERT DATA { GRAPH ex:h { ex:d ex:p 5 } } ; MOVE ex:h TO ex:g": {": a1 b2", "g: c4 d5"},
}


def quads_in(reasoner: lf.Reasoner) -> set[Quad]:
    stream = io.BytesIO()
    reasoner.dump(stream, derived=False, format="nq")
    return set(parse(stream.getvalue(), RdfFormat.N_QUADS))


class TestWholeGraphs:
    @pytest.mark.parametrize("text", WHOLE_GRAPHS)
    def test_are_emptied_and_go_into_others(self, text: str) -> None:
        reasoner = lf.Reasoner()
        reasoner.update(PREFIX + GRAPHS)
        reasoner.update(PREFIX + text)
        graphs: dict[str, list[str]] = {}
        for s, _, o, g in quads_in(reasoner):
            name = "" if isinstance(g, DefaultGraph) else g.value[2:]
            graphs.setdefault(name, []).append(s.value[2:] + o.value)
        found = {f"{name}: {' '.join(sorted(each))}" for name, each in graphs.items()}
        assert found == WHOLE_GRAPHS[text]

    def test_conclusions_belong_to_none(self) -> None:
        reasoner = lf.Reasoner(rules="[?x, <x:q>, ?y] :- [?x, <x:p>, ?y] .")
        reasoner.add("<x:a> <x:p> <x:b> .")
        delta = reasoner.update("MOVE DEFAULT TO <x:g>")
        assert not delta
        rows = reasoner.query("SELECT ?p { GRAPH <x:g> { ?s ?p ?o } }")
        assert [p.value for (p,) in rows] == ["x:p"]
        assert len(reasoner.update("DROP ALL").removed) == 2

    @pytest.mark.parametrize("seed", range(20))
    def test_are_those_of_a_store_after_random_operations(self, seed: int) -> None:
        pick = random.Random(seed).choice
        graphs = ["DEFAULT", "GRAPH <x:g>", "GRAPH <x:h>", "GRAPH <x:k>"]
        reasoner, store = lf.Reasoner(), Store()
        for _ in range(12):
            parts = []
            for _ in range(pick([1, 1, 2, 3])):
                one, other = pick(graphs), pick(graphs)
                triple = f"{pick(['<x:a>', '<x:b>'])} <x:p> {pick([1, 2, 3])}"
                inside = triple if one == "DEFAULT" else f"{one} {{ {triple} }}"
                word = pick(["ADD SILENT", "COPY SILENT", "MOVE SILENT"])
                emptied = f"{pick(['CLEAR', 'DROP'])} SILENT {pick([*graphs, 'NAMED', 'ALL'])}"
                data = f"INSERT DATA {{ {inside} }}"
                parts.append(pick([data, data, data, f"{word} {one} TO {other}", emptied]))
            text = " ; ".join(parts)
            reasoner.update(text)
            store.update(text)
            assert quads_in(reasoner) == set(store), text


class TestRefused:
    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("LOAD <http://example.org/x>", "LOAD is refused"),
            ("CLEAR <x:g>", "cannot be read|missing"),
            ("COPY <x:g> TO <x:h>", "there is nothing in the graph <x:g>"),
            ("MOVE DEFAULT TO <x:h>", "there is nothing in the graph DEFAULT"),
            ("ADD ALL TO <x:h>", "cannot be read|missing"),
            ("SELECT * { ?s ?p ?o }", "SELECT asks"),
            ("INSERT { <x:a> <x:p> 1 } WHERE { SERVICE <x:s> { ?s ?p ?o } }", "SERVICE is refused"),
            ("INSERT DATA { ?x <x:p> 1 }", "Variables are not allowed"),
            ("INSERT DATA { ex:a ex:p 1 }", "prefix ex: is not declared"),
            ("INSERT DATA { <a> <x:p> 1 }", "relative IRI"),
            ("INSERT DATA { <x:a> <x:p> 1", "} is missing"),
            ("INSERT DATA { <x:a> <x:p> 1 } DELETE DATA {}", "; is missing"),
            ("INSERT { <x:a> <x:p> 1 }", "WHERE is missing"),
            ("INSERT { <x:a> <x:p> 1 } WHERE { ?x }", "cannot be read"),
            ("NONSENSE", "does not begin an update"),
            ('INSERT DATA { <x:a> <x:p> "open }', "string that does not end"),
            ("INSERT DATA { " + "[ <x:p> " * 200 + "}", "open brackets"),
            ("INSERT { <x:a> <x:p> 1 } WHERE { " + "?x <x:p> ?y . " * 200 + "}", "triple patterns"),
            ("INSERT DATA { <x:a> <x:p> '" + "x" * (1 << 20) + "' }", "characters"),
        ],
    )
    def test_with_a_reason(self, text: str, reason: str) -> None:
        with pytest.raises(lf.QueryError, match=reason) as caught:
            lf.Reasoner().update(text)
        if caught.value.place is not None:
            assert caught.value.place.file == "update"

    def test_much_data_is_no_problem(self) -> None:
        data = " . ".join(f"<x:{number}> <x:p> {number}" for number in range(2000))
        assert len(lf.Reasoner().update(f"INSERT DATA {{ {data} }}").added) == 2000

    def test_words_in_strings_and_names_do_no_harm(self) -> None:
        text = PREFIX + 'INSERT DATA { ex:CLEAR ex:where "} ; LOAD <x:y> # {" } # ; DROP ALL'
        assert len(lf.Reasoner().update(text).added) == 1


class TestAtomic:
    def test_a_mistake_in_a_later_operation_leaves_everything_as_before(self) -> None:
        reasoner = reasoner_with(CATS)
        before, answers = set(reasoner.facts()), reasoner.query("SELECT * { ?s ?p ?o }")
        for later in ("LOAD <x:y>", "INSERT { ?s ?p 1 } USING <x:no> WHERE { ?s ?p ?o }"):
            with pytest.raises(lf.QueryError):
                reasoner.update(f"{PREFIX}DELETE DATA {{ ex:tom a ex:Cat }} ; {later}")
            assert set(reasoner.facts()) == before
            assert set(reasoner.query("SELECT * { ?s ?p ?o }")) == set(answers)  # type: ignore[arg-type]
            assert reasoner.update("INSERT DATA {}").seq > 1

    def test_only_the_end_is_held_to_constraints(self) -> None:
        reasoner = lf.Reasoner(
            rules="false :- [?x, <x:p>, ?y], [?x, <x:q>, ?y] .", on_violation="refuse"
        )
        reasoner.update("INSERT DATA { <x:a> <x:p> <x:b> }")
        swap = "INSERT {{ ?x <x:q> ?y }} WHERE {{ ?x <x:p> ?y }} ; {}"
        with pytest.raises(lf.ViolationError):
            reasoner.update(swap.format("INSERT { ?x <x:r> ?y } WHERE { ?x <x:q> ?y }"))
        assert len(reasoner) == 1
        reasoner.update(swap.format("DELETE { ?x <x:p> ?y } WHERE { ?x <x:q> ?y }"))
        assert [str(fact) for fact in reasoner.facts()] == ["<x:a> <x:q> <x:b>"]

    def test_an_update_that_passes_the_limit_is_undone(self) -> None:
        rules = "[?x, <x:r>, ?z] :- [?x, <x:r>, ?y], [?y, <x:r>, ?z] ."
        reasoner = lf.Reasoner(rules=rules, limit=3)
        for number in range(4):
            reasoner.update(f"INSERT DATA {{ <x:{number}> <x:r> <x:{number + 1}> }}")
        before = set(reasoner.facts())
        with pytest.raises(lf.LimitError):
            reasoner.update(
                "DELETE WHERE { <x:1> <x:r> <x:2> } ; INSERT { ?x <x:s> ?y } WHERE { ?x <x:r> ?y } ;"
                "INSERT { ?x <x:r> <x:0> } WHERE { ?x <x:s> <x:4> } ; INSERT DATA { <x:1> <x:r> <x:2> }"
            )
        assert set(reasoner.facts()) == before

    def test_rewinding_goes_to_its_end_when_it_is_interrupted(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        reasoner = reasoner_with(CATS)
        before = set(reasoner.facts())
        apply, calls = reasoner._state.truth.apply, []

        def interrupted(change: object, *, keep: bool) -> object:
            calls.append(change)
            if len(calls) == 2:
                raise KeyboardInterrupt
            return apply(change, keep=keep)  # type: ignore[arg-type]

        monkeypatch.setattr(reasoner._state.truth, "apply", interrupted)
        with pytest.raises(KeyboardInterrupt):
            reasoner.update(
                PREFIX + "DELETE DATA { ex:tom a ex:Cat } ; INSERT { ?x ex:p 1 } WHERE { ?x a ?c }"
            )
        assert set(reasoner.facts()) == before
        assert len(reasoner) == len(before)


# what is said beside the text


def test_a_where_looks_into_the_graphs_that_are_named_beside_it() -> None:
    r = lf.Reasoner()
    r.update("INSERT DATA { GRAPH <x:g> { <x:a> a <x:C> } GRAPH <x:h> { <x:b> a <x:C> } }")
    inside = Dataset((NamedNode("x:g"),), (NamedNode("x:h"),))
    r.update("INSERT { ?s <x:in> 1 } WHERE { ?s a <x:C> }", dataset=inside)
    r.update("INSERT { ?s <x:at> ?g } WHERE { GRAPH ?g { ?s a <x:C> } }", dataset=inside)
    assert "<x:a> <x:in> 1" in r
    assert "<x:b> <x:in> 1" not in r
    assert "<x:b> <x:at> <x:h>" in r
    assert "<x:a> <x:at> <x:g>" not in r
    for words in ("WITH <x:g> INSERT { ?s <x:p> 1 }", "INSERT { ?s <x:p> 1 } USING <x:g>"):
        with pytest.raises(lf.QueryError, match="named beside it"):
            r.update(f"{words} WHERE {{ ?s a <x:C> }}", dataset=inside)


def test_relative_names_are_relative_to_a_base() -> None:
    r = lf.Reasoner()
    r.update("INSERT DATA { <a> <#b> <c> }", base="http://x/y")
    assert "<http://x/a> <http://x/y#b> <http://x/c>" in r
    assert bool(r.query("ASK { <a> ?p ?o }", base="http://x/y"))
    r.update("DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(?s = <a>) }", base="http://x/y")
    assert len(r) == 0
