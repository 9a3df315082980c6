"""Previews: the delta that would come, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from pyoxigraph import NamedNode, Quad

import livefacts as lf
from livefacts.engine.contract import MAINTENANCE

SCHEMA = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix ex: <http://example/> .
ex:Cat rdfs:subClassOf ex:Animal . ex:tom a ex:Cat . ex:kim a ex:Dog ."""
MORE = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix ex: <http://example/> .
ex:Dog rdfs:subClassOf ex:Animal . ex:Animal rdfs:subClassOf ex:Thing . ex:kim ex:knows ex:tom ."""
ROADS = "reach(?x, ?y) :- road(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), road(?y, ?z) ."


def facts_of(view: Any) -> set[str]:
    return {str(fact) for fact in view}


def assert_foretold(reasoner: lf.Reasoner, **change: Any) -> None:
    before, rules = facts_of(reasoner.facts()), reasoner.rules
    asserted = facts_of(reasoner.facts(derived=False))
    foretold = reasoner.preview(**change)
    assert (facts_of(reasoner.facts()), reasoner.rules) == (before, rules)
    assert facts_of(reasoner.facts(derived=False)) == asserted
    assert len(reasoner) == len(before)
    assert reasoner.verify()
    happened = reasoner.apply(**change)
    assert facts_of(foretold.added) == facts_of(happened.added)
    assert facts_of(foretold.removed) == facts_of(happened.removed)
    assert (foretold.counts, foretold.seq) == (happened.counts, happened.seq)
    assert foretold.violations == happened.violations
    assert foretold.to_patch(asserted=True) == happened.to_patch(asserted=True)


def test_a_schema_change_is_foretold() -> None:
    reasoner = lf.Reasoner("rdfs")
    reasoner.add(SCHEMA)
    assert_foretold(reasoner, add=MORE)
    assert_foretold(reasoner, remove=MORE)


def test_the_first_change_is_foretold() -> None:
    assert_foretold(lf.Reasoner("rho-df"), add=SCHEMA)


@pytest.mark.parametrize("maintenance", [m for m in MAINTENANCE if m != "counting"])
def test_facts_and_rules_that_come_and_go_are_foretold(maintenance: str) -> None:
    reasoner = lf.Reasoner(ROADS, maintenance=maintenance)
    reasoner.add("road(a, b) . road(b, c) . road(c, a) . road(c, d) .")
    assert_foretold(reasoner, remove="road(b, c) .", add="road(d, e) .")
    assert_foretold(reasoner, remove_rules=["r2"], add_rules="near(?x) :- reach(a, ?x) .")


def test_what_a_fact_ends_is_foretold_where_a_rule_that_comes_closes_a_circle() -> None:
    reasoner = lf.Reasoner("open :- asked, not shut .")
    reasoner.add("asked .")
    change = {"add": "shut .", "add_rules": "asked :- open ."}
    assert facts_of(reasoner.preview(**change).removed) == {"open"}
    assert_foretold(reasoner, **change)


def test_violations_are_foretold_even_where_they_would_be_refused() -> None:
    reasoner = lf.Reasoner("false :- hot(?x), not fan(?x) .", on_violation="refuse")
    (violation,) = reasoner.preview(add="hot(kitchen) .").violations
    assert str(violation.bindings["x"]) == "kitchen"
    with pytest.raises(lf.ViolationError):
        reasoner.add("hot(kitchen) .")


def test_named_graphs_are_foretold() -> None:
    reasoner = lf.Reasoner("rdfs")
    reasoner.add(SCHEMA)
    asserted = Quad(*(NamedNode(f"http://example/{name}") for name in ("tom", "likes", "kim", "g")))
    assert_foretold(reasoner, add=[asserted])
    assert_foretold(reasoner, remove=[asserted])
