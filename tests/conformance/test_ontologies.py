"""Ontologies that others wrote: they load, become rules, close, and say what rules cannot say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import livefacts as lf
from livefacts.syntax.rulelang.rule_parser import parse

VIN = "http://www.w3.org/TR/2003/CR-owl-guide-20030818/wine#"
DISJOINT = "http://www.w3.org/2002/07/owl#disjointWith"
UB = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
FILES = {
    "wine.owl": (("wine.owl",), 53),
    "food.owl": (("food.owl",), 32),
    "wine and food": (("wine.owl", "food.owl"), 85),
    "univ-bench.owl": (("univ-bench.owl",), 8),
    "schema.org": (("schemaorg-28.1.nt",), 0),
    "DBpedia": (("dbpedia-ontology-2018.12.28.ttl",), 141),
}

SMALL = [name for name in FILES if name != "DBpedia"]


def ontology(folder: Path, name: str) -> lf.OntologyReport:
    return lf.rules_from_owl([folder / "ontologies" / file for file in FILES[name][0]])


@pytest.mark.parametrize("name", [*SMALL, pytest.param("DBpedia", marks=pytest.mark.thorough)])
def test_an_ontology_becomes_rules_that_close_and_reports_the_rest(
    third_party_data: Path, name: str
) -> None:
    report = ontology(third_party_data, name)
    assert len({gap.axiom for gap in report.inexpressible}) == FILES[name][1]
    assert all(gap.reason for gap in report.inexpressible)
    assert parse(report.rules) == report.program
    reasoner = lf.Reasoner(report.program)
    assert len(reasoner.facts(derived=False)) <= len(report.program.facts)
    assert reasoner.verify()


CLOSED = {
    "wine.owl": (1_839, 9_091),
    "wine and food": (2_709, 17_953),
    "univ-bench.owl": (295, 736),
    "schema.org": (16_858, 28_570),
    "DBpedia": (31_917, 76_769),
}
"""By ontology: triples told, and those that are true under OWL 2 RL."""


def closed(folder: Path, name: str, *, single_path: bool = True) -> lf.Reasoner:
    reasoner = lf.Reasoner(rules="owl-rl", single_path=single_path)
    for file in FILES[name][0]:
        reasoner.load(folder / "ontologies" / file)
    return reasoner


@pytest.mark.parametrize(
    "name",
    [
        "wine.owl",
        "univ-bench.owl",
        "schema.org",
        *(pytest.param(each, marks=pytest.mark.thorough) for each in ("wine and food", "DBpedia")),
    ],
)
def test_an_ontology_closes_under_owl_rl_as_data_without_a_contradiction(
    third_party_data: Path, name: str
) -> None:
    reasoner = closed(third_party_data, name)
    assert (len(reasoner.facts(derived=False)), len(reasoner)) == CLOSED[name]
    assert reasoner.violations() == []
    assert reasoner.verify()


@pytest.mark.thorough
@pytest.mark.parametrize("name", CLOSED)
def test_rules_made_for_an_ontology_end_with_what_the_generic_ones_do(
    third_party_data: Path, name: str
) -> None:
    made, generic = (closed(third_party_data, name, single_path=way) for way in (True, False))
    assert set(map(_unlabelled, made)) == set(map(_unlabelled, generic))
    assert len(made) == len(generic)


def _unlabelled(triple: object) -> str:
    return re.sub(r"_:\S+", "_:", str(triple))


def test_a_wine_that_is_told_to_be_a_winery_contradicts_the_ontology_and_its_removal_mends_it(
    third_party_data: Path,
) -> None:
    reasoner = closed(third_party_data, "wine.owl")
    asserted = f"<{VIN}CorbansSauvignonBlanc> a <{VIN}WineGrape> . <{VIN}WineGrape> <{DISJOINT}> <{VIN}Wine> ."
    delta = reasoner.add(asserted)
    assert {v.constraint for v in delta.violations} == {"cax-dw"}
    assert ":CorbansSauvignonBlanc a :WineGrape   asserted" in str(
        reasoner.explain(delta.violations[0])
    )
    assert len(reasoner.remove(asserted).resolved) == len(delta.violations)
    assert reasoner.violations() == []


def test_wine_with_food_classifies_its_bottles_without_a_contradiction(
    third_party_data: Path,
) -> None:
    report = ontology(third_party_data, "wine and food")
    reasoner = lf.Reasoner(report.program)
    types = {
        row["c"].value.removeprefix(VIN)
        for row in reasoner.query(
            f"SELECT ?c WHERE {{ <{VIN}MountadamRiesling> a ?c FILTER(STRSTARTS(STR(?c), '{VIN}')) }}"
        )
    }
    assert {"DryRiesling", "DryWhiteWine", "Riesling", "WhiteWine", "Wine"} <= types
    assert reasoner.violations() == []


def test_the_university_of_lubm_has_as_many_chairs_and_students_as_its_authors_say(
    third_party_data: Path,
) -> None:
    text = (third_party_data / "ontologies" / "univ-bench.owl").read_text(encoding="utf-8")
    moved = text.replace("http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl", UB.rstrip("#"))
    reasoner = lf.Reasoner(lf.rules_from_owl(moved).program)
    reasoner.load(third_party_data / "lubm" / "lubm-1-0.nt.gz")
    counts = {
        name: len(list(reasoner.query(f"SELECT ?x WHERE {{ ?x a <{UB}{name}> }}")))
        for name in ("Chair", "Person", "Student")
    }
    assert counts == {"Chair": 15, "Person": 8330, "Student": 7790}
