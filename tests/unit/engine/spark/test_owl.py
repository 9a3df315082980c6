"""OWL 2 RL on Spark: the conclusions of the embedded engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.engine.spark.test_pipeline import embedded, shown

from livefacts.spark import Pipeline

EX = "http://example.org/"
ONTOLOGY = f"""
@prefix ex: <{EX}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

ex:partOf a owl:TransitiveProperty ; owl:inverseOf ex:hasPart .
ex:Furnished owl:intersectionOf ( ex:Room ex:WithBed ) .
ex:WithBed owl:someValuesFrom ex:Bed ; owl:onProperty ex:hasPart .
ex:owner a owl:FunctionalProperty .

ex:attic a ex:Room ; ex:partOf ex:house .
ex:cot a ex:Bed ; ex:partOf ex:attic .
ex:house ex:owner ex:ann , ex:anna .
ex:anna ex:livesIn ex:attic .
"""


@pytest.mark.slow
def test_an_ontology_has_the_conclusions_of_the_embedded_engine(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "house.ttl"
    path.write_text(ONTOLOGY, encoding="utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest(path, bnodes="by-name")
    pipeline.materialize("owl-rl")
    assert shown(pipeline.facts(decoded=True)) == embedded("owl-rl", path)
