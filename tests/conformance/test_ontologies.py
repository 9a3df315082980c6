"""Ontologies that others wrote: they load, become rules, close, and say what rules cannot say."""

from __future__ import annotations

from pathlib import Path

import pytest

import livefacts as lf
from livefacts.syntax.rulefile import parse

VIN = "http://www.w3.org/TR/2003/CR-owl-guide-20030818/wine#"
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
