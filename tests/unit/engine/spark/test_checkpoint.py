"""One knowledge base, on Spark and in one process, in both directions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import livefacts as lf
from livefacts.spark import Pipeline

PREFIX = "http://example.org/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
WROTE = f"<{PREFIX}virginia> <{PREFIX}wrote> <{PREFIX}orlando> .\n"
AGE = f'<{PREFIX}virginia> <{PREFIX}age> "42"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
DOMAIN = f"<{PREFIX}wrote> <{RDFS}domain> <{PREFIX}Writer> .\n"
PERSON = f"<{PREFIX}Writer> <{RDFS}subClassOf> <{PREFIX}Person> .\n"


def on_spark(pipeline: Pipeline, derived: bool | None = None) -> set[str]:
    found = pipeline.facts(decoded=True, derived=derived).collect()
    return {f"{row.s} {row.p} {row.o}" for row in found}


def live(reasoner: lf.Reasoner, derived: bool | None = None) -> set[str]:
    return {str(fact) for fact in reasoner.facts(derived=derived)}


def test_a_knowledge_base_goes_from_spark_to_one_process_and_back(
    spark: Any, tmp_path: Path
) -> None:
    (tmp_path / "told.nt").write_text(WROTE + AGE + DOMAIN, encoding="utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest(tmp_path / "told.nt")
    pipeline.materialize("rho-df")
    reasoner = lf.Reasoner.open(tmp_path / "kb")
    assert live(reasoner) == on_spark(pipeline)
    assert live(reasoner, derived=True) == on_spark(pipeline, derived=True)

    delta = reasoner.apply(add=PERSON, remove=AGE)
    assert (len(delta.added), len(delta.removed)) == (2, 1)
    assert reasoner.checkpoint() == pipeline.seq == 3
    assert on_spark(pipeline) == live(reasoner)

    pipeline.update(remove=DOMAIN)
    reasoner.remove(DOMAIN)
    assert on_spark(pipeline) == live(reasoner)
    with pytest.raises(lf.LivefactsError, match="open it again"):
        reasoner.checkpoint()


def test_predicate_facts_and_general_rules_survive_the_journey(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "told.nt").write_text(WROTE, encoding="utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest(tmp_path / "told.nt")
    pipeline.materialize(
        f"known(?x) :- [?x, <{PREFIX}wrote>, ?y], read(?y) . read(<{PREFIX}orlando>) ."
    )
    reasoner = lf.Reasoner.open(tmp_path / "kb")
    assert {fact.name for fact in reasoner if isinstance(fact, lf.Fact)} == {"known", "read"}
    reasoner.checkpoint()
    names = {(row.name, row.told) for row in pipeline.predicate_facts().collect()}
    assert names == {("known", False), ("read", True)}


def test_a_reasoner_that_was_not_opened_has_nowhere_to_write_to() -> None:
    with pytest.raises(lf.LivefactsError, match="not opened"):
        lf.Reasoner().checkpoint()


def test_a_folder_without_a_knowledge_base_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(lf.LivefactsError, match="no knowledge base") as refused:
        lf.Reasoner.open(tmp_path / "kb")
    assert "ingest" in refused.value.hint
