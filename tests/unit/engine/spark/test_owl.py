"""OWL on Spark, as data of OWL 2 RL and as rules: the conclusions of the embedded engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.engine.spark.test_pipeline import shown

import livefacts as lf
from livefacts.spark import Pipeline

EX = "http://example.org/"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
PREFIXES = f"""
@prefix ex: <{EX}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
AXIOMS = """
ex:partOf a owl:TransitiveProperty ; owl:inverseOf ex:hasPart .
ex:Furnished owl:intersectionOf ( ex:Room ex:WithBed ) .
ex:WithBed a owl:Restriction ; owl:someValuesFrom ex:Bed ; owl:onProperty ex:hasPart .
ex:owner a owl:ObjectProperty , owl:FunctionalProperty .
"""
FACTS = """
ex:attic a ex:Room ; ex:partOf ex:house .
ex:cot a ex:Bed ; ex:partOf ex:attic .
ex:house ex:owner ex:ann , ex:anna .
ex:anna ex:livesIn ex:attic .
"""
CHANGES = (
    ("", "ex:house ex:partOf ex:street . ex:livesIn rdfs:domain ex:Tenant ."),
    ("ex:house ex:owner ex:ann .", "ex:house a ex:Room ."),
    ("ex:partOf a owl:TransitiveProperty .", ""),
    ("ex:cot a ex:Bed .", "ex:partOf a owl:TransitiveProperty ."),
)
"""What goes and what comes, step by step."""
CHANGES_OF_FACTS = (
    ("", "ex:house ex:partOf ex:street ; a ex:Room ."),
    ("ex:cot a ex:Bed .", "ex:sofa a ex:Bed ; ex:partOf ex:house ."),
)


def known(reasoner: lf.Reasoner) -> set[tuple[str, str, str]]:
    return {(str(t.subject), str(t.predicate), str(t.object)) for t in reasoner}


def closed(spark: Any, folder: Path, rules: Any, text: str) -> tuple[Pipeline, lf.Reasoner]:
    """A pipeline and a reasoner that know the same."""
    path = folder / "house.ttl"
    path.write_text(PREFIXES + text, encoding="utf-8")
    pipeline = Pipeline(spark, folder / "kb", buckets=2)
    pipeline.ingest(path, bnodes="by-name")
    pipeline.materialize(rules)
    reasoner = lf.Reasoner(rules=rules)
    reasoner.load(path, bnodes="by-name")
    return pipeline, reasoner


@pytest.mark.slow
def test_axioms_and_facts_come_and_go_as_in_the_embedded_engine(spark: Any, tmp_path: Path) -> None:
    pipeline, reasoner = closed(spark, tmp_path, "owl-rl", AXIOMS + FACTS)
    assert shown(pipeline.facts(decoded=True)) == known(reasoner)
    for gone, come in CHANGES:
        pipeline.update(add=PREFIXES + come, remove=PREFIXES + gone)
        delta = reasoner.apply(add=PREFIXES + come, remove=PREFIXES + gone)
        assert delta.added or delta.removed
        assert shown(pipeline.facts(decoded=True)) == known(reasoner)


@pytest.mark.slow
def test_an_ontology_as_rules_concludes_what_it_does_in_the_embedded_engine(
    spark: Any, tmp_path: Path
) -> None:
    program = lf.rules_from_owl(PREFIXES + AXIOMS).program
    pipeline, reasoner = closed(spark, tmp_path, program, FACTS)
    assert (f"<{EX}attic>", TYPE, f"<{EX}Furnished>") in known(reasoner)
    assert shown(pipeline.facts(decoded=True)) == known(reasoner)
    for gone, come in CHANGES_OF_FACTS:
        pipeline.update(add=PREFIXES + come, remove=PREFIXES + gone)
        reasoner.apply(add=PREFIXES + come, remove=PREFIXES + gone)
        assert shown(pipeline.facts(decoded=True)) == known(reasoner)
