"""Explanations through the public API: what they say, and in which forms."""

from __future__ import annotations

import json
import re

import pytest
from pyoxigraph import Literal, NamedNode, Triple

import livefacts as lf
from livefacts import InputError
from livefacts.engine.embedded.proofs import backward_search, lookups
from livefacts.language.formula import TripleAtom
from livefacts.service.explanations.proof_trees import PremiseState, Step

EX = "http://example.org/"
ROADS = """
    @id start  route(?x, ?y) :- road(?x, ?y) .
    @id reach  route(?x, ?z) :- road(?x, ?y), route(?y, ?z) .
    @id lonely cut_off(?x)   :- town(?x), not route(harbour, ?x) .
    @id busy   hub(?x, ?n)   :- ?n = count { ?y : road(?x, ?y) }, ?n >= 2 .
    @id loop   false         :- road(?x, ?x) .
"""


@pytest.fixture
def roads() -> lf.Reasoner:
    reasoner = lf.Reasoner(rules=ROADS)
    reasoner.add("road(harbour, mill) . road(mill, castle) . road(mill, abbey) .")
    reasoner.add("town(castle) . town(island) .")
    return reasoner


def proof_of(reasoner: lf.Reasoner, fact: object) -> Step:
    proof = reasoner.explain(fact).proof
    assert proof is not None
    return proof


class TestProofs:
    def test_nobody_asserted_what_time_it_is(self) -> None:
        reasoner = lf.Reasoner(
            rules="at ?t hot(?s) :- at ?t r(?s, ?v) in [9], ?v > 1 . on(?s) :- always hot(?s) in [2] ."
        )
        for time in (1, 2, 3):
            reasoner.push("r(a, 5) .", at=time)
        reasoner.advance(3)
        why = reasoner.explain("on(a)")
        assert "3 is a time point of [2]\n" in str(why)
        assert "r(a, 5) at 3   asserted\n" in str(why)
        points = json.dumps(why.to_dict())
        assert '{"fact": "3 is a time point of [2]", "asserted": false' in points
        assert '{"fact": "r(a, 5) at 3", "asserted": true' in points

    def test_the_tree_names_rules_bindings_and_premises(self, roads: lf.Reasoner) -> None:
        assert str(roads.explain("route(harbour, castle)")) == (
            "route(harbour, castle)\n"
            "│  by reach: route(?x, ?z) :- road(?x, ?y), route(?y, ?z) .\n"
            "│  with ?x = harbour, ?y = mill, ?z = castle\n"
            "├─ road(harbour, mill)   asserted\n"
            "└─ route(mill, castle)\n"
            "   │  by start: route(?x, ?y) :- road(?x, ?y) .\n"
            "   │  with ?x = mill, ?y = castle\n"
            "   └─ road(mill, castle)   asserted"
        )

    def test_a_told_fact_needs_no_rule(self, roads: lf.Reasoner) -> None:
        explanation = roads.explain(("road", "harbour", "mill"))
        assert str(explanation) == "road(harbour, mill)   asserted"
        assert explanation.to_dict() == {
            "fact": "road(harbour, mill)",
            "holds": True,
            "asserted": True,
            "told": True,
            "height": 0,
            "smallest": True,
            "steps": [],
        }

    def test_a_fact_that_was_told_and_concluded_counts_as_told(self, roads: lf.Reasoner) -> None:
        roads.add("route(harbour, castle) .")
        assert proof_of(roads, "route(harbour, castle)").is_asserted

    def test_a_shorter_way_is_taken_and_circles_are_not(self) -> None:
        r = lf.Reasoner(rules=ROADS)
        r.add("road(a, b) . road(b, c) . road(c, a) . road(c, d) . road(b, d) .")
        proof = proof_of(r, "route(a, d)")
        assert proof.height == 2
        assert [str(step.fact) for step in proof.facts()] == ["road(a, b)", "route(b, d)"]

    def test_a_long_chain_has_a_high_proof(self) -> None:
        r = lf.Reasoner(rules=ROADS)
        r.add([("road", f"n{i}", f"n{i + 1}") for i in range(600)])
        explanation = r.explain(("route", "n0", "n600"))
        assert explanation.proof is not None
        assert explanation.proof.height == 600
        assert len(explanation.to_dict()["steps"]) == 600
        assert len(json.dumps(explanation.to_dict())) > 600
        assert "more levels" in str(explanation)
        assert "more levels" in explanation.to_html()
        assert explanation.to_dot().count("shape=oval") == 600

    def test_an_aggregate_lists_its_rows(self, roads: lf.Reasoner) -> None:
        explanation = roads.explain("hub(mill, 2)")
        text = str(explanation)
        assert "?n = count { ?y : road(mill, ?y) }   is 2, over 2 rows" in text
        assert {"road(mill, castle)", "road(mill, abbey)"} <= set(
            re.findall(r"road\(\w+, \w+\)", text)
        )
        (step,) = explanation.to_dict()["steps"]
        assert step["premises"][0]["count"] == 2
        assert step["premises"][1] == {"comparison": "2 >= 2"}

    def test_many_rows_are_counted_and_not_all_shown(self) -> None:
        r = lf.Reasoner(rules=ROADS)
        r.add([("road", "mill", f"n{i}") for i in range(30)])
        assert "… and 20 more" in str(r.explain(("hub", "mill", 30)))

    def test_a_negated_premise_says_that_no_fact_matches(self, roads: lf.Reasoner) -> None:
        assert "no fact matches route(harbour, island)" in str(roads.explain("cut_off(island)"))

    def test_a_proof_that_is_used_twice_is_shown_once(self) -> None:
        r = lf.Reasoner(rules="q(?x) :- p(?x) . r(?x) :- q(?x) . both :- q(?x), r(?x) . p(a) .")
        text = str(r.explain("both"))
        assert text.count("p(a)   asserted") == 1
        assert text.count("q(a)   see above") == 1

    def test_a_violation_is_explained_and_so_is_the_id_of_its_constraint(self) -> None:
        r = lf.Reasoner(rules=ROADS)
        r.add("road(abbey, abbey) .")
        (violation,) = r.violations()
        assert str(r.explain(violation)).startswith("violation of loop: ?x = abbey")
        assert str(r.explain("loop")) == str(r.explain(violation))

    def test_a_constraint_that_is_not_violated_has_nothing_to_explain(
        self, roads: lf.Reasoner
    ) -> None:
        with pytest.raises(lf.InputError, match="the constraint loop is not violated"):
            roads.explain("loop")

    @pytest.mark.parametrize("single_path", [True, False])
    def test_rdfs_is_explained_on_both_paths(self, single_path: bool) -> None:
        r = lf.Reasoner(rules="rdfs", single_path=single_path)
        r.add(
            f"""@prefix ex: <{EX}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
            ex:tom ex:chases ex:jerry . ex:chases rdfs:domain ex:Cat .
            ex:Cat rdfs:subClassOf ex:Mammal . ex:Mammal rdfs:subClassOf ex:Animal ."""
        )
        explanation = r.explain("ex:tom a ex:Animal")
        assert explanation.proof is not None
        assert explanation.proof.height == 2
        assert "ex:tom ex:chases ex:jerry   asserted" in str(explanation)

    def test_generalized_triples_and_hidden_predicates_are_inner_steps(self) -> None:
        r = lf.Reasoner(
            rules=f"""@prefix ex: <{EX}> .
            [?o, ex:of, ?s] :- [?s, ex:name, ?o] .
            _inner(?s) :- [?o, ex:of, ?s] .
            named(?s) :- _inner(?s) ."""
        )
        r.add(Triple(NamedNode(EX + "ann"), NamedNode(EX + "name"), Literal("Ann")))
        text = str(r.explain("named(ex:ann)"))
        assert '"Ann" ex:of ex:ann' in text
        assert "_inner(ex:ann)" in text
        facts = [step.fact for step in r.explain("named(ex:ann)").steps()]
        assert any(isinstance(fact, TripleAtom) for fact in facts)

    def test_a_fact_with_very_many_derivations_is_explained_all_the_same(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(backward_search, "WIDTH", 1)
        r = lf.Reasoner(rules="q(?x) :- p(?y), e(?y, ?x) . p(?y) :- q(?y) . e(a, a) . e(b, a) .")
        r.add("q(b) . e(c, a) . e(d, a) .")
        for _ in range(2):
            assert proof_of(r, "q(a)").height == 2
            r.add("e(x, a) . e(y, a) . q(y) .")

    def test_an_index_finds_what_looking_through_finds(
        self, monkeypatch: pytest.MonkeyPatch, roads: lf.Reasoner
    ) -> None:
        scanned = {str(f): roads.explain(f).to_dict()["height"] for f in roads.facts()}
        monkeypatch.setattr(lookups, "LARGE", 0)
        assert {str(f): roads.explain(f).to_dict()["height"] for f in roads.facts()} == scanned
        roads.remove("road(mill, castle) .")
        assert not roads.explain("route(harbour, castle)").holds
        roads.add("road(abbey, castle) .")
        assert proof_of(roads, "route(harbour, castle)").height == 3


class TestWhatDoesNotHold:
    def test_the_nearest_rule_comes_first_with_what_it_lacks(self, roads: lf.Reasoner) -> None:
        explanation = roads.explain("route(harbour, island)")
        assert not explanation
        assert [a.rule.id for a in explanation.attempts] == ["reach", "start"]
        nearest = explanation.attempts[0]
        assert [p.state for p in nearest.premises] == [PremiseState.TRUE, PremiseState.MISSING]
        assert "missing: route(mill, island)" in str(explanation)

    def test_a_fact_that_stands_against_a_negation_is_named(self, roads: lf.Reasoner) -> None:
        text = str(roads.explain("cut_off(castle)"))
        assert "false:   not route(harbour, castle)   there is such a fact" in text

    def test_an_aggregate_says_what_it_is_instead(self, roads: lf.Reasoner) -> None:
        assert "it is 2" in str(roads.explain("hub(mill, 5)"))
        assert "false:   1 >= 2" in str(roads.explain("hub(harbour, 1)"))

    def test_no_rule_and_a_similar_name(self, roads: lf.Reasoner) -> None:
        explanation = roads.explain("rode(harbour, mill)")
        assert "No rule concludes this." in str(explanation)
        assert "Nothing speaks of rode. Did you mean road, route?" in str(explanation)

    def test_an_iri_that_nothing_speaks_of_is_perhaps_misspelt(self) -> None:
        r = lf.Reasoner(rules="rdfs")
        r.add("@prefix f: <http://f.example/> . f:ann a f:Parent . f:Parent rdfs:label 'parent' .")
        first, second, *_ = str(r.explain("f:ann a f:Parnet")).splitlines()
        assert first == "f:ann a f:Parnet does not hold"
        assert second == "Nothing speaks of f:Parnet. Did you mean f:Parent?"

    def test_a_misspelt_constraint_is_recognised(self) -> None:
        r = lf.Reasoner(rules="@id cat_or_dog false :- cat(?x), dog(?x) .")
        assert "Did you mean cat_or_dog?" in str(r.explain("cat_or_dgo"))
        r = lf.Reasoner(rules="@id cax-dw false :- cat(?x), dog(?x) .")
        with pytest.raises(InputError, match="did you mean cax-dw"):
            r.explain("cax-dww")

    @pytest.mark.parametrize("fact", ["route(harbour)", "route", "route(a, b, c)"])
    def test_another_number_of_arguments_is_told(self, roads: lf.Reasoner, fact: str) -> None:
        with pytest.raises(InputError, match=r"route has 2 arguments in the rules and .* in route"):
            roads.explain(fact)

    def test_unknown_terms_are_named(self, roads: lf.Reasoner) -> None:
        explanation = roads.explain("route(harbour, atlantis)")
        assert [str(term) for term in explanation.unknown] == ["atlantis"]

    def test_a_rule_that_would_need_the_fact_itself_is_no_help(self) -> None:
        r = lf.Reasoner(rules="p(?x) :- p(?x), q(?x) . q(a) .")
        assert r.explain("p(a)").attempts == ()

    def test_premises_that_match_but_do_not_join_are_missing(self) -> None:
        r = lf.Reasoner(rules="alarm :- smoke(?x), heat(?x) . smoke(hall) . heat(roof) .")
        (attempt,) = r.explain("alarm").attempts
        assert len(attempt.missing) == 1


class TestTheFact:
    def test_all_ways_to_write_a_fact_mean_the_same(self) -> None:
        r = lf.Reasoner()
        r.add(f"@prefix ex: <{EX}> . ex:tom a ex:Cat .")
        kind = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
        triple = Triple(NamedNode(EX + "tom"), kind, NamedNode(EX + "Cat"))
        ways = [triple, tuple(triple), "ex:tom a ex:Cat", f"<{EX}tom> a <{EX}Cat> ."]
        assert all(r.explain(way).fact == triple for way in ways)

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("ex:tom a ex:Cat, ex:Dog", "is 2 facts"),
            ("p(?x) :- q(?x)", "is not a fact"),
            ("p(", "is not a fact"),
            ("", "is not a fact"),
            ("nope:tom a ex:Cat", "is not a fact"),
        ],
    )
    def test_what_is_no_fact_is_refused_with_a_hint(self, text: str, reason: str) -> None:
        r = lf.Reasoner(rules=f"@prefix ex: <{EX}> . p(?x) :- [?x, a, ex:Cat] .")
        with pytest.raises(lf.InputError, match=reason) as error:
            r.explain(text)
        assert error.value.hint

    def test_a_refusal_does_not_speak_of_lines_that_nobody_wrote(self) -> None:
        with pytest.raises(lf.InputError) as error:
            lf.Reasoner().explain("nope:tom a nope:Cat")
        assert "The prefix nope: has not been declared" in error.value.message
        assert "line" not in error.value.message

    def test_explaining_changes_neither_facts_nor_terms(self, roads: lf.Reasoner) -> None:
        before = set(map(str, roads.facts())), roads.stats()["terms"]
        roads.explain("route(atlantis, lemuria)")
        assert (set(map(str, roads.facts())), roads.stats()["terms"]) == before


class TestForms:
    def test_html_escapes_what_it_shows(self) -> None:
        r = lf.Reasoner(rules="q(?x) :- p(?x) .")
        r.add(lf.Fact("p", (Literal("<script>alert(1)</script>"),)))
        (fact,) = r.facts(derived=True)
        html = r.explain(fact).to_html()
        assert "<script>" not in html
        assert "&lt;script&gt;" in html
        assert html.count("<details") == html.count("</details>") == 1
        assert r.explain(fact)._repr_html_() == html

    def test_dot_quotes_what_it_shows(self) -> None:
        r = lf.Reasoner(rules="q(?x) :- p(?x) .")
        r.add(lf.Fact("p", (Literal('say "hi"\\'),)))
        (fact,) = r.facts(derived=True)
        dot = r.explain(fact).to_dot()
        assert dot.startswith("digraph explanation {")
        assert len(re.findall(r'(?<!\\)(?:\\\\)*"', dot)) % 2 == 0
        assert r.explain("q(nobody)").to_dot().count("->") == 2

    def test_data_has_iris_in_full_and_is_ready_for_json(self) -> None:
        r = lf.Reasoner(rules=f"@prefix ex: <{EX}> . [?x, a, ex:Pet] :- [?x, a, ex:Cat] .")
        r.add(f"<{EX}tom> a <{EX}Cat> .")
        data = json.loads(json.dumps(r.explain("ex:tom a ex:Pet").to_dict()))
        assert data["steps"][0]["premises"][0]["fact"].startswith(f"<{EX}tom> <http://www.w3.org/")
        missing = json.loads(json.dumps(r.explain("ex:tim a ex:Pet").to_dict()))
        assert missing["holds"] is False
        assert missing["attempts"][0]["premises"][0]["state"] == "missing"


class TestLists:
    FAMILY = """
        @prefix f: <http://f.example/> .
        @prefix owl: <http://www.w3.org/2002/07/owl#> .
        f:hasUncle owl:propertyChainAxiom ( f:hasParent f:hasBrother ) .
        f:ann f:hasParent f:ben . f:ben f:hasBrother f:emil .
    """

    def test_steps_along_a_list_are_folded_to_the_list(self) -> None:
        r = lf.Reasoner(rules="owl-rl")
        r.add(self.FAMILY)
        why = r.explain("f:ann f:hasUncle f:emil")
        title, rule, bindings, *premises = str(why).splitlines()
        assert title == "f:ann f:hasUncle f:emil"
        assert "by prp-spo2" in rule
        assert "?u = f:ann" in bindings
        assert re.sub(r"_:\w+(-\w+)*", "_:l", "\n".join(premises)).splitlines() == [
            "├─ f:hasUncle owl:propertyChainAxiom _:l   asserted",
            "├─ f:ann f:hasParent f:ben   asserted",
            "├─ f:ben f:hasBrother f:emil   asserted",
            "└─ the list (f:hasParent f:hasBrother)",
        ]
        assert len(why.to_dict()["steps"]) > 5

    def test_hidden_facts_that_are_not_about_lists_stay(self) -> None:
        r = lf.Reasoner(rules="p(?x) :- _q(?x) . _q(?x) :- r(?x) . r(a) .")
        assert "_q(a)" in str(r.explain("p(a)"))

    def test_a_window_that_is_always_full_says_at_which_time_points(self) -> None:
        r = lf.Reasoner(rules="alarm(?s) :- always hot(?s) in [2] .")
        for second in (1, 2):
            r.push(("hot", "boiler"), at=second)
        r.advance(2)
        text = str(r.explain("alarm(boiler)"))
        assert "at each of its 2 time points" in text
        assert "count" not in text
        assert "has 2 time points" not in text
