"""Profiles: counts by rule, and what a change leaves alone."""

from __future__ import annotations

import pytest

import livefacts as lf

ROADS = """
reach(?x, ?y) :- road(?x, ?y) .
reach(?x, ?z) :- reach(?x, ?y), road(?y, ?z) .
lit(?x) :- lamp(?x) .
"""


def chain(length: int) -> lf.Reasoner:
    reasoner = lf.Reasoner(ROADS)
    reasoner.add([("road", f"a{i}", f"a{i + 1}") for i in range(length)])
    return reasoner


def test_a_rule_is_charged_with_its_instances_and_its_new_facts() -> None:
    profile = chain(4).profile()
    assert (profile["r1"].instances, profile["r1"].new) == (4, 4)
    assert (profile["r2"].instances, profile["r2"].new) == (6, 6)
    assert profile["r3"].looked_at == 0


def test_a_second_derivation_is_an_instance_but_no_new_fact() -> None:
    reasoner = lf.Reasoner("known(?x) :- seen(?x) . known(?x) :- heard(?x) .")
    reasoner.add("seen(ann) .")
    reasoner.add("heard(ann) .")
    assert (reasoner.profile()["r2"].instances, reasoner.profile()["r2"].new) == (1, 0)


def test_a_rule_change_looks_at_no_instance_of_other_predicates() -> None:
    reasoner = chain(20)
    before = reasoner.profile()
    reasoner.add_rules("dark(?x) :- cellar(?x) .")
    reasoner.add("cellar(c) .")
    assert [line.rules for line in reasoner.profile().since(before)] == [("r4",)]


def test_a_rule_change_looks_at_no_instance_of_other_properties() -> None:
    reasoner = lf.Reasoner(
        """@prefix ex: <http://example/> .
        [?x, ex:ancestor, ?z] :- [?x, ex:parent, ?y], [?y, ex:ancestor, ?z] .
        [?x, ex:ancestor, ?y] :- [?x, ex:parent, ?y] ."""
    )
    reasoner.add(
        "@prefix ex: <http://example/> . ex:a ex:parent ex:b . ex:b ex:parent ex:c; ex:age 7 ."
    )
    before = reasoner.profile()
    reasoner.add_rules("@prefix ex: <http://example/> . [?x, a, ex:Aged] :- [?x, ex:age, ?n] .")
    assert [line.rules for line in reasoner.profile().since(before)] == [("r3",)]


def test_rules_of_single_triples_share_a_line() -> None:
    reasoner = lf.Reasoner("rho-df")
    reasoner.add(
        """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix ex: <http://example/> .
        ex:Cat rdfs:subClassOf ex:Animal . ex:tom a ex:Cat ."""
    )
    (line,) = reasoner.profile()
    assert len(line.rules) > 1
    assert reasoner.profile()[line.rules[0]].new == 1


def test_a_rule_without_a_line_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        chain(1).profile()["r9"]


def test_the_profile_prints_as_a_table() -> None:
    first, *lines = str(chain(3).profile()).splitlines()
    assert first.split() == ["rule", "looked", "at", "instances", "new", "ms"]
    assert [line.split()[0] for line in lines] == ["r1", "r2", "r3"]
