"""The reasoner through its public names: arguments, graphs, blank nodes, constraints, dumping."""

from __future__ import annotations

import gzip
import io
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple, parse

import livefacts as lf

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
ANN, KNOWS, BEN = NamedNode("x:ann"), NamedNode("x:knows"), NamedNode("x:ben")


def written(reasoner: lf.Reasoner, format: str = "nt", derived: bool | None = None) -> str:
    target = io.BytesIO()
    reasoner.dump(target, format=format, derived=derived)
    return target.getvalue().decode()


class TestArguments:
    def test_four_terms_are_a_triple_in_a_graph(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add((ANN, KNOWS, BEN, NamedNode("x:g")))
        assert "<x:ann> <x:knows> <x:ben> <x:g> ." in written(reasoner, "nq")
        with pytest.raises(lf.InputError, match="is not a triple"):
            reasoner.add((ANN, KNOWS, BEN, Literal("g")))

    def test_a_triple_can_be_written_in_many_ways(self) -> None:
        rdflib = pytest.importorskip("rdflib")
        ways = [
            Triple(ANN, KNOWS, BEN),
            [Triple(ANN, KNOWS, BEN)],
            (Triple(ANN, KNOWS, BEN),),
            (ANN, KNOWS, BEN),
            tuple(map(rdflib.URIRef, ("x:ann", "x:knows", "x:ben"))),
            "<x:ann> <x:knows> <x:ben> .",
            "@prefix x: <x:> . x:ann x:knows x:ben .",
            "[<x:ann>, <x:knows>, <x:ben>] .",
        ]
        for way in ways:
            reasoner = lf.Reasoner()
            assert list(reasoner.add(way).added) == [Triple(ANN, KNOWS, BEN)]
            assert (ANN, KNOWS, BEN) in reasoner

    def test_python_values_become_literals_and_strings_symbols(self) -> None:
        reasoner = lf.Reasoner()
        moment = datetime(2026, 5, 1, 12, tzinfo=UTC)
        reasoner.add([("seen", "ann", 2, Decimal("1.50"), True, 2.5, moment, Literal("hi"))])
        assert [str(fact) for fact in reasoner.facts()] == [
            'seen(ann, 2, 1.50, true, "2.5"^^<http://www.w3.org/2001/XMLSchema#double>, '
            '"2026-05-01T12:00:00+00:00"'
            '^^<http://www.w3.org/2001/XMLSchema#dateTime>, "hi")'
        ]

    @pytest.mark.parametrize("wrong", [5, None, [5], ("two words", "x"), ("p", "two words"), [()]])
    def test_what_is_no_fact_is_refused_and_nothing_is_added(self, wrong: object) -> None:
        reasoner = lf.Reasoner()
        with pytest.raises(lf.InputError, match="hint"):
            reasoner.add([("p", "a"), wrong] if isinstance(wrong, tuple) else wrong)
        assert len(reasoner) == 0

    def test_a_rule_among_facts_is_refused_with_its_place(self) -> None:
        with pytest.raises(lf.InputError, match=r"<text>:2:1"):
            lf.Reasoner().add("p(a) .\nq(?x) :- p(?x) .")

    def test_a_path_is_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "people.ttl"
        path.write_text("<x:ann> <x:knows> <x:ben> .")
        assert len(lf.Reasoner().add(path).added) == 1


class TestChanges:
    def test_adding_twice_changes_nothing(self) -> None:
        reasoner = lf.Reasoner()
        assert reasoner.add([("p", "a"), ("p", "a")]).counts["added"] == 1
        delta = reasoner.add([("p", "a")])
        assert not delta
        assert delta.seq == 2

    def test_telling_a_conclusion_makes_it_told(self) -> None:
        reasoner = lf.Reasoner(rules="q(?x) :- p(?x) .")
        reasoner.add([("p", "a")])
        assert not reasoner.add([("q", "a")])
        assert set(map(str, reasoner.facts(derived=False))) == {"p(a)", "q(a)"}
        assert list(reasoner.facts(derived=True)) == []

    def test_rules_added_later_conclude_from_what_is_there(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add([("p", "a")])
        assert [str(fact) for fact in reasoner.add_rules("q(?x) :- p(?x) .").derived] == ["q(a)"]
        assert not reasoner.add_rules("q(?y)   :- p(?y).")
        assert [rule.id for rule in reasoner.rules] == ["r1"]

    def test_a_bad_rule_leaves_rules_and_facts_alone(self) -> None:
        reasoner = lf.Reasoner(rules="q(?x) :- p(?x) .")
        with pytest.raises(lf.UnstratifiedError):
            reasoner.add_rules("a(x) . s(?x) :- p(?x), not q(?x) . q(?x) :- s(?x) .")
        assert len(reasoner.rules) == 1
        assert len(reasoner) == 0

    def test_facts_lists_the_moment_it_was_asked(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add([("p", "a")])
        then = reasoner.facts()
        reasoner.add([("p", "b")])
        assert len(list(then)) == 1

    def test_negation_takes_conclusions_back_in_the_delta(self) -> None:
        reasoner = lf.Reasoner(rules="free(?x) :- room(?x), not taken(?x) .")
        reasoner.add([("room", "a"), ("room", "b")])
        delta = reasoner.add([("taken", "a")])
        assert [str(fact) for fact in delta.removed] == ["free(a)"]
        assert [str(fact) for fact in delta.added] == ["taken(a)"]


class TestGraphs:
    def test_a_triple_is_told_in_each_of_its_graphs(self) -> None:
        reasoner = lf.Reasoner(rules="rho-df")
        reasoner.add(
            [Quad(ANN, KNOWS, BEN, NamedNode("x:g")), Quad(ANN, KNOWS, BEN, NamedNode("x:h"))]
        )
        reasoner.add(f"<x:knows> <{RDFS}domain> <x:Person> .")
        assert len(reasoner) == 3
        found = reasoner.query("SELECT ?g WHERE { GRAPH ?g { ?s <x:knows> ?o } } ORDER BY ?g")
        assert [row["g"] for row in found] == [NamedNode("x:g"), NamedNode("x:h")]

    def test_conclusions_are_in_the_default_graph_only(self) -> None:
        reasoner = lf.Reasoner(rules="rho-df")
        reasoner.add([Quad(ANN, KNOWS, BEN, NamedNode("x:g"))])
        reasoner.add(f"<x:knows> <{RDFS}domain> <x:Person> .")
        assert reasoner.query("ASK { <x:ann> a <x:Person> }")
        assert not reasoner.query("ASK { GRAPH ?g { <x:ann> a <x:Person> } }")

    def test_load_puts_the_default_graph_of_a_file_into_a_graph(self, tmp_path: Path) -> None:
        path = tmp_path / "a.nq"
        path.write_text("<x:ann> <x:knows> <x:ben> .\n<x:ben> <x:knows> <x:ann> <x:h> .\n")
        reasoner = lf.Reasoner()
        reasoner.load(path, graph="x:g")
        found = reasoner.query("SELECT ?g ?s WHERE { GRAPH ?g { ?s ?p ?o } } ORDER BY ?g")
        assert [(row["g"], row["s"]) for row in found] == [
            (NamedNode("x:g"), ANN),
            (NamedNode("x:h"), BEN),
        ]

    def test_graphs_survive_a_change_of_rules(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add([Quad(ANN, KNOWS, BEN, NamedNode("x:g"))])
        reasoner.add_rules("[?y, <x:knows>, ?x] :- [?x, <x:knows>, ?y] .")
        assert set(reasoner.facts(derived=False)) == {Triple(ANN, KNOWS, BEN)}
        assert len(reasoner.query("SELECT * WHERE { GRAPH ?g { ?s ?p ?o } }")) == 1

    def test_a_triple_stays_told_while_any_graph_tells_it(self) -> None:
        triple, g, h = Triple(ANN, KNOWS, BEN), NamedNode("x:g"), NamedNode("x:h")
        reasoner = lf.Reasoner(rules="[?y, <x:knows>, ?x] :- [?x, <x:knows>, ?y] .")
        reasoner.query("ASK {}")
        reasoner.add([triple, Quad(ANN, KNOWS, BEN, g), Quad(ANN, KNOWS, BEN, h)])
        assert not reasoner.remove(triple)
        assert not reasoner.remove(Quad(ANN, KNOWS, BEN, g))
        assert len(reasoner.query("SELECT * { GRAPH ?g { ?s ?p ?o } }")) == 1
        assert len(reasoner.remove(Quad(ANN, KNOWS, BEN, h)).removed) == 2
        assert not reasoner.query("ASK { GRAPH ?g { ?s ?p ?o } }")
        assert len(reasoner) == 0

    def test_a_graph_that_goes_leaves_what_the_default_graph_tells(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add([Triple(ANN, KNOWS, BEN), Quad(ANN, KNOWS, BEN, NamedNode("x:g"))])
        assert not reasoner.remove(Quad(ANN, KNOWS, BEN, NamedNode("x:g")))
        assert not reasoner.remove(Quad(ANN, KNOWS, BEN, NamedNode("x:never")))
        assert list(reasoner.remove(Triple(ANN, KNOWS, BEN)).removed) == [Triple(ANN, KNOWS, BEN)]


class TestRemoving:
    def test_a_conclusion_goes_with_its_last_reason(self) -> None:
        reasoner = lf.Reasoner(rules="q(?x) :- p(?x) . q(?x) :- r(?x) .")
        reasoner.add([("p", "a"), ("r", "a")])
        assert [str(fact) for fact in reasoner.remove([("p", "a")]).removed] == ["p(a)"]
        assert sorted(map(str, reasoner.remove([("r", "a")]).removed)) == ["q(a)", "r(a)"]

    def test_removing_what_was_never_told_changes_nothing(self) -> None:
        reasoner = lf.Reasoner(rules="q(?x) :- p(?x) .")
        reasoner.add([("p", "a")])
        assert not reasoner.remove([("q", "a"), ("p", "b")])

    def test_many_triples_are_removed_at_once_as_one_by_one(self) -> None:
        known = [Triple(ANN, KNOWS, NamedNode(f"x:{n}")) for n in range(40)]
        strange = [Triple(ANN, KNOWS, NamedNode(f"y:{n}")) for n in range(3)]
        reasoner = lf.Reasoner()
        reasoner.add(known)
        terms = len(reasoner._state.dictionary)
        delta = reasoner.remove([*known[:30], *strange, Triple(KNOWS, KNOWS, ANN)])
        assert set(delta.removed) == set(known[:30])
        assert delta.hints == ("to remove: 4 never asserted",)
        assert set(reasoner) == set(known[30:])
        assert len(reasoner._state.dictionary) == terms

    def test_a_blank_node_that_nobody_knows_is_refused_among_many_triples(self) -> None:
        known = [Triple(ANN, KNOWS, NamedNode(f"x:{n}")) for n in range(40)]
        reasoner = lf.Reasoner()
        reasoner.add(known)
        with pytest.raises(lf.InputError, match="there is no blank node _:nobody"):
            reasoner.remove([*known, Triple(BlankNode("nobody"), KNOWS, ANN)])
        assert len(reasoner) == 40

    def test_what_is_removed_and_added_is_there(self) -> None:
        reasoner = lf.Reasoner(rules="q(?x) :- p(?x) .")
        reasoner.add([("p", "a")])
        assert not reasoner.apply(add=[("p", "a")], remove=[("p", "a")])

    def test_facts_that_hold_up_each_other_go_together(self) -> None:
        subclass = f"<x:A> <{RDFS}subClassOf> <x:B> . <x:B> <{RDFS}subClassOf> <x:A> ."
        for rules in (
            "rho-df",
            "[?x, a, <x:B>] :- [?x, a, <x:A>] . [?x, a, <x:A>] :- [?x, a, <x:B>] .",
        ):
            reasoner = lf.Reasoner(rules=rules)
            reasoner.add(subclass + " <x:a> a <x:A> .")
            assert len(reasoner.remove("<x:a> a <x:A> .").removed) == 2

    def test_a_rule_goes_by_id_or_by_text(self) -> None:
        reasoner = lf.Reasoner(rules="@id up q(?x) :- p(?x) . r(?x) :- q(?x) .")
        reasoner.add([("p", "a")])
        assert [str(fact) for fact in reasoner.remove_rules("r(?y)   :- q(?y) .").removed] == [
            "r(a)"
        ]
        assert [str(fact) for fact in reasoner.remove_rules("up").removed] == ["q(a)"]
        with pytest.raises(lf.RuleError, match="no such rule"):
            reasoner.remove_rules("q(?x) :- p(?x) .")

    def test_facts_of_any_width_can_be_told_before_any_rule(self) -> None:
        reasoner = lf.Reasoner()
        wide = [("p", *range(width)) for width in range(1, 12)]
        reasoner.add([(f"{name}{len(rest)}", *rest) for name, *rest in wide])
        assert sorted(len(fact.arguments) for fact in reasoner.facts()) == list(range(1, 12))  # type: ignore[union-attr]

    @pytest.mark.parametrize("single_path", [True, False])
    def test_a_rule_that_closes_a_circle_with_the_schema_lets_it_fall(
        self, single_path: bool
    ) -> None:
        reasoner = lf.Reasoner(rules="rho-df", single_path=single_path)
        schema = f"<x:q> <{RDFS}subPropertyOf> <x:p> . <x:p> <{RDFS}domain> <x:C> ."
        reasoner.add(schema + " <x:x> <x:p> <x:y> .")
        reasoner.add_rules("[?x, <x:q>, <x:y>] :- [?x, a, <x:C>] .")
        reasoner.remove("<x:x> <x:p> <x:y> .")
        assert len(reasoner) == 2

    @pytest.mark.parametrize("single_path", [True, False])
    def test_a_rule_that_turned_recursive_lets_its_circle_fall(self, single_path: bool) -> None:
        rule = "[?x, <x:k>, ?c] :- [?c, rdfs:domain, <x:D>], [?x, <x:q>, ?c] ."
        reasoner = lf.Reasoner(rules=rule, single_path=single_path)
        reasoner.add(f"<x:c> <{RDFS}domain> <x:D> . <x:a> <x:q> <x:c> .")
        reasoner.add_rules("[?x, <x:q>, ?c] :- [?x, <x:k>, ?c] .")
        reasoner.remove("<x:a> <x:q> <x:c> .")
        assert len(reasoner) == 1

    def test_the_limit_is_on_one_change_also_when_rules_come(self) -> None:
        reasoner = lf.Reasoner(limit=5)
        for number in range(20):
            reasoner.add([("p", number)])
        assert len(reasoner.add_rules("q(?x) :- p(?x), ?x < 3 .").added) == 3
        with pytest.raises(lf.LimitError, match=r"raise limit= .@limit in the rules."):
            reasoner.add_rules("z(?x) :- p(?x) .")
        assert len(reasoner.rules) == 1

    def test_counting_alone_is_refused_under_recursion(self) -> None:
        with pytest.raises(lf.RuleError, match="hold up each other"):
            lf.Reasoner(rules="p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .", maintenance="counting")


class TestBlankNodes:
    def test_labels_are_local_to_a_text(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add("_:b <x:p> <x:o> .")
        reasoner.add("_:b <x:p> <x:o> .")
        assert len(reasoner) == 2

    def test_by_name_loading_a_file_again_changes_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "b.ttl"
        path.write_text("_:b <x:p> [ <x:q> 1 ] .")
        reasoner = lf.Reasoner()
        reasoner.load(path, bnodes="by-name")
        assert not reasoner.load(path, bnodes="by-name")
        assert reasoner.load(path)

    def test_a_node_that_was_handed_out_can_be_used_again(self) -> None:
        reasoner = lf.Reasoner()
        (triple,) = reasoner.add("_:b <x:p> <x:o> .").added
        assert isinstance(triple, Triple)
        reasoner.add((triple.subject, NamedNode("x:q"), Literal("more")))
        assert len(reasoner.query("SELECT * { ?b <x:p> ?o ; <x:q> ?m }")) == 1

    def test_blank_node_objects_are_taken_by_their_label(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add((BlankNode("mine"), KNOWS, BEN))
        assert not reasoner.add((BlankNode("mine"), KNOWS, BEN))


class TestConstraints:
    RULES = "@id grown  false :- age(?x, ?n), ?n < 0 ."

    def test_violations_are_listed_with_their_bindings(self) -> None:
        reasoner = lf.Reasoner(rules=self.RULES)
        delta = reasoner.add([("age", "tom", -3), ("age", "ann", 3)])
        assert list(map(str, delta.violations)) == ["grown: ?x = tom, ?n = -3"]
        assert reasoner.violations() == list(delta.violations)
        assert len(reasoner) == 2

    def test_refusing_undoes_the_change(self) -> None:
        reasoner = lf.Reasoner(rules=self.RULES, on_violation="refuse")
        reasoner.add([("age", "ann", 3)])
        with pytest.raises(lf.ViolationError, match=r"grown: \?x = tom"):
            reasoner.add([("age", "tom", -3), ("age", "ben", 4)])
        assert [str(fact) for fact in reasoner.facts()] == ["age(ann, 3)"]

    def test_a_constraint_that_is_broken_already_cannot_be_added_when_refusing(self) -> None:
        reasoner = lf.Reasoner(on_violation="refuse")
        reasoner.add([("age", "tom", -3)])
        with pytest.raises(lf.ViolationError):
            reasoner.add_rules(self.RULES)
        assert reasoner.rules == ()

    def test_neither_rules_nor_queries_see_violations(self) -> None:
        reasoner = lf.Reasoner(rules="false :- [?x, <x:p>, ?x] .")
        reasoner.add("<x:a> <x:p> <x:a> .")
        assert len(reasoner.query("SELECT * { ?s ?p ?o }")) == 1
        assert len(reasoner.violations()) == 1


class TestHiddenFacts:
    def test_a_literal_as_subject_works_but_is_not_shown(self) -> None:
        reasoner = lf.Reasoner(
            rules="[?o, <x:of>, ?s] :- [?s, <x:has>, ?o] . seen(?o) :- [?o, <x:of>, ?s] ."
        )
        reasoner.add('<x:a> <x:has> "thing" .')
        assert sorted(map(str, reasoner.facts())) == [
            '<x:a> <x:has> "thing"',
            'seen("thing")',
        ]
        assert len(reasoner) == 2

    def test_predicates_that_begin_with_an_underscore_are_not_shown(self) -> None:
        reasoner = lf.Reasoner(rules="_step(?x) :- p(?x) . q(?x) :- _step(?x) .")
        delta = reasoner.add([("p", "a")])
        assert [str(fact) for fact in delta.derived] == ["q(a)"]
        assert ("_step", "a") not in reasoner


class TestDumping:
    def test_a_dump_can_be_loaded_again(self, tmp_path: Path) -> None:
        reasoner = lf.Reasoner(rules="rho-df")
        reasoner.add(f'<x:A> <{RDFS}subClassOf> <x:B> . <x:a> a <x:A> ; <x:p> "é\\n"@en , _:b .')
        for name in (
            "all.nt",
            "all.ttl",
            "all.nq",
            "all.rdf",
            "all.rules",
            "all.nt.gz",
            "all.ttl.gz",
        ):
            path = tmp_path / name
            reasoner.dump(path)
            again = lf.Reasoner()
            again.load(path)
            assert len(again) == len(reasoner), name

    def test_a_dump_uses_the_prefixes_that_are_known_and_can_be_written(
        self, tmp_path: Path
    ) -> None:
        reasoner, text = lf.Reasoner(), "@prefix ex: <http://example.org/> .\nex:a ex:p ex:b .\n"
        reasoner.add(text)
        odd = {"a b": "x:", "n": "http://[bad", "z.": "x:z", "-": "x:", "e": "no iri"}
        reasoner.prefixes = {**reasoner.prefixes, **odd}
        for name in ("dump.ttl", "dump.trig"):
            reasoner.dump(tmp_path / name)
            assert (tmp_path / name).read_text() == text

    def test_only_conclusions_can_be_dumped(self) -> None:
        reasoner = lf.Reasoner(rules="rho-df")
        reasoner.add(f"<x:A> <{RDFS}subClassOf> <x:B> . <x:a> a <x:A> .")
        lines = written(reasoner, derived=True).splitlines()
        assert lines == ["<x:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <x:B> ."]

    def test_predicate_facts_that_rdf_cannot_hold_are_not_left_out_silently(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add([("p", "a")])
        with pytest.warns(lf.LivefactsWarning, match=r"1 predicate fact"):
            assert written(reasoner) == ""
        assert written(reasoner, "rules") == "p(a) .\n"

    def test_named_graphs_are_in_a_quad_dump(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add([Quad(ANN, KNOWS, BEN, NamedNode("x:g"))])
        quads = list(parse(written(reasoner, "nq"), format=RdfFormat.N_QUADS))
        assert quads == [Quad(ANN, KNOWS, BEN, NamedNode("x:g"))]

    def test_what_a_named_graph_tells_and_rules_derive_is_dumped_in_that_graph(self) -> None:
        reasoner = lf.Reasoner("[?y, <x:knows>, ?x] :- [?x, <x:knows>, ?y] .")
        there = Quad(ANN, KNOWS, BEN, NamedNode("x:g"))
        reasoner.add([there, (BEN, KNOWS, ANN), (BEN, KNOWS, BEN)])
        reasoner.add([Quad(BEN, KNOWS, BEN, NamedNode("x:g"))])
        quads = set(parse(written(reasoner, "trig"), format=RdfFormat.TRIG))
        both = {Quad(BEN, KNOWS, BEN), Quad(BEN, KNOWS, BEN, NamedNode("x:g"))}
        assert quads == {there, Quad(BEN, KNOWS, ANN), *both}

    def test_a_packed_dump_is_packed(self, tmp_path: Path) -> None:
        reasoner = lf.Reasoner()
        reasoner.add("<x:a> <x:b> <x:c> .")
        reasoner.dump(tmp_path / "a.nt.gz")
        assert gzip.decompress((tmp_path / "a.nt.gz").read_bytes()) == b"<x:a> <x:b> <x:c> .\n"

    def test_a_place_that_cannot_be_written_to_is_an_input_error(self, tmp_path: Path) -> None:
        with pytest.raises(lf.InputError, match="cannot write"):
            lf.Reasoner().dump(tmp_path / "no" / "such.nt")


class TestQueriesInStep:
    def test_a_query_follows_every_change(self) -> None:
        reasoner = lf.Reasoner(rules="[?y, <x:knows>, ?x] :- [?x, <x:knows>, ?y] .")
        count = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"
        for number in range(1, 4):
            reasoner.add((NamedNode(f"x:{number}"), KNOWS, BEN))
            ((n,),) = reasoner.query(count)
            assert n == Literal(2 * number)

    def test_lexical_forms_come_back_as_they_were_told(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add('<x:a> <x:n> "01"^^<http://www.w3.org/2001/XMLSchema#integer> .')
        ((n,),) = reasoner.query("SELECT ?n { ?s <x:n> ?n }")
        assert n == Literal("01", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#integer"))

    def test_ub_stands_for_the_university_vocabulary_that_is_loaded(self) -> None:
        for vocabulary in (
            "http://livefacts.example/university#",
            "http://swat.cse.lehigh.edu/onto/univ-bench.owl#",
        ):
            reasoner = lf.Reasoner()
            reasoner.add(f"<x:ann> a <{vocabulary}Person> .")
            assert len(reasoner.query("SELECT ?x WHERE { ?x a ub:Person } LIMIT 5")) == 1
            with pytest.raises(lf.QueryError, match=r"known without it: owl:, .*, ub:, xsd:"):
                reasoner.query("ASK { ?x a u:Person }")
        with pytest.raises(lf.QueryError, match="ub: is not declared"):
            lf.Reasoner().query("ASK { ?x a ub:Person }")

    def test_prefixes_of_loaded_texts_and_rules_are_known(self) -> None:
        reasoner = lf.Reasoner(rules="@prefix r: <x:r#> . [?x, a, r:T] :- [?x, a, r:S] .")
        reasoner.add("@prefix d: <x:d#> . d:a a <x:r#S> .")
        assert reasoner.query("ASK { d:a a r:T }")


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        ({"add": ["p(a) ."]}, "a text or a Path stands alone"),
        ({"remove": [("x:tom", "a", "x:Cat")]}, "for a triple terms"),
        ({"add_rules": 5}, "give rule text"),
        ({"remove_rules": 5}, "give the ids or the texts of rules"),
        ({"remove_rules": ["r9"]}, "rules are called r1"),
    ],
)
def test_an_argument_that_means_nothing_is_refused_with_what_to_give(
    change: dict[str, Any], hint: str
) -> None:
    reasoner = lf.Reasoner(rules="p(?x) :- q(?x) .")
    with pytest.raises(lf.LivefactsError, match="hint") as error:
        reasoner.apply(**change)
    assert hint in str(error.value)
