"""The pipeline draws the conclusions that the embedded engine draws."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import livefacts as lf
from livefacts.generate import university
from livefacts.spark import Pipeline

PREFIX = "http://example.org/"
SCHEMA = f"""
<{PREFIX}Writer> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{PREFIX}Person> .
<{PREFIX}wrote> <http://www.w3.org/2000/01/rdf-schema#domain> <{PREFIX}Writer> .
<{PREFIX}wrote> <http://www.w3.org/2000/01/rdf-schema#range> <{PREFIX}Work> .
<{PREFIX}wrote> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <{PREFIX}made> .
"""
FACTS = f"""
<{PREFIX}virginia> <{PREFIX}wrote> <{PREFIX}orlando> .
<{PREFIX}virginia> <{PREFIX}name> "Virginia"@en .
_:someone <{PREFIX}wrote> "a letter" .
_:someone <{PREFIX}age> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .
"""


def shown(frame: Any) -> set[tuple[str, str, str]]:
    return {(row.s, row.p, row.o) for row in frame.collect()}


def embedded(rules: str, *files: Path) -> set[tuple[str, str, str]]:
    reasoner = lf.Reasoner(rules=rules)
    reasoner.load(files, bnodes="by-name")
    return {(str(t.subject), str(t.predicate), str(t.object)) for t in reasoner}


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    path = tmp_path / "letters.nt"
    path.write_text(SCHEMA + FACTS, encoding="utf-8")
    return path


@pytest.mark.parametrize("rules", ["rho-df", "rdfs"])
def test_small_files_have_the_conclusions_of_the_embedded_engine(
    spark: Any, tmp_path: Path, letters: Path, rules: str
) -> None:
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest(letters, bnodes="by-name")
    pipeline.materialize(rules)
    assert shown(pipeline.facts(decoded=True)) == embedded(rules, letters)


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["rdfs", pytest.param("rho-df", marks=pytest.mark.thorough)])
def test_a_university_has_the_conclusions_of_the_embedded_engine(
    spark: Any, tmp_path: Path, rules: str
) -> None:
    path = tmp_path / "uni.nt"
    path.write_bytes(b"".join(university(1)))
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=3, bytes_per_split=4 << 20)
    report = pipeline.ingest(path, bnodes="by-name")
    pipeline.materialize(rules)
    assert report.figures["rejected"] == 0
    assert shown(pipeline.facts(decoded=True)) == embedded(rules, path)


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["rho-df", pytest.param("rdfs", marks=pytest.mark.thorough)])
def test_lubm_has_the_conclusions_of_the_embedded_engine(
    spark: Any, tmp_path: Path, third_party_data: Path, rules: str
) -> None:
    lubm = third_party_data / "lubm" / "lubm-1-0.nt.gz"
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest(lubm, bnodes="by-name")
    pipeline.materialize(rules)
    assert shown(pipeline.facts(decoded=True)) == embedded(rules, lubm)


def test_told_and_derived_facts_are_told_apart(spark: Any, tmp_path: Path, letters: Path) -> None:
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest(letters)
    pipeline.materialize("rho-df")
    assert pipeline.facts(derived=False).count() == 8
    assert {row.told for row in pipeline.facts(derived=True).collect()} == {False}


def test_an_earlier_version_can_still_be_read(spark: Any, tmp_path: Path, letters: Path) -> None:
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest(letters)
    before = shown(pipeline.facts(decoded=True))
    pipeline.materialize("rho-df")
    assert shown(pipeline.facts(decoded=True, version=1)) == before
    with pytest.raises(lf.LivefactsError, match="no version 9"):
        pipeline.facts(version=9)


def test_a_truncated_file_is_left_out_and_the_others_are_not_lost(
    spark: Any, tmp_path: Path, letters: Path
) -> None:
    whole = gzip.compress(b"".join(university(1))[:100_000].rpartition(b"\n")[0] + b"\n")
    (tmp_path / "cut.nt.gz").write_bytes(whole[: len(whole) // 2])
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    report = pipeline.ingest([letters, tmp_path / "cut.nt.gz"])
    assert "ingest; 8 read, 8 asserted, 1 rejected\n" in str(report)
    (reject,) = pipeline.rejects().collect()
    assert reject.file.endswith("cut.nt.gz")
    assert "middle of the compressed data" in reject.reason


def test_a_bad_line_is_rejected_with_its_number_in_the_whole_file(
    spark: Any, tmp_path: Path
) -> None:
    lines = [f"<{PREFIX}s{i}> <{PREFIX}p> <{PREFIX}o> ." for i in range(100)]
    lines[90] = "this is no triple"
    (tmp_path / "long.nt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2, bytes_per_split=1000)
    report = pipeline.ingest(tmp_path / "long.nt")
    assert "ingest; 99 read, 99 asserted, 1 rejected\n" in str(report)
    (reject,) = pipeline.rejects().collect()
    assert (reject.line, reject.text) == (91, "this is no triple")


def test_a_batch_is_ingested_once(spark: Any, tmp_path: Path, letters: Path) -> None:
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    first = pipeline.ingest(letters, batch="monday")
    again = pipeline.ingest(letters, batch="monday")
    assert again.is_replay
    assert (again.seq, pipeline.seq) == (first.seq, 1)


def test_ingesting_the_same_triples_again_changes_nothing(
    spark: Any, tmp_path: Path, letters: Path
) -> None:
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest(letters, bnodes="by-name")
    report = pipeline.ingest(letters, bnodes="by-name")
    assert report.figures["asserted"] == report.figures["told"] == 8
    assert pipeline.delta(2).count() == 0


def test_terms_whose_hashes_collide_are_kept_apart(spark: Any, tmp_path: Path) -> None:
    lines = [f"<{PREFIX}s{i}> <{PREFIX}p{i % 3}> <{PREFIX}o{i}> ." for i in range(30)]
    first, second = tmp_path / "first.nt", tmp_path / "second.nt"
    first.write_text("\n".join(lines[:15]) + "\n", encoding="utf-8")
    second.write_text("\n".join(lines) + "\n", encoding="utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.base.create({"buckets": 2, "bits": 9})
    pipeline.ingest(first)
    pipeline.ingest(second)
    told = {tuple(line.split()[:3]) for line in lines}
    assert shown(pipeline.facts(decoded=True)) == told
    assert pipeline.terms().count() == pipeline.terms().select("id").distinct().count() == 63


def test_the_plan_says_where_each_rule_runs(spark: Any, tmp_path: Path) -> None:
    plan = Pipeline(spark, tmp_path / "kb").plan("rho-df")
    schema, _, single = plan.partition("single triples")
    assert "rdfs11:" in schema
    assert "rdfs9:" in single


def test_a_stage_tells_how_many_of_its_tasks_are_done(
    spark: Any, tmp_path: Path, letters: Path
) -> None:
    heard: dict[str, tuple[int, int]] = {}

    def hear(stage: Any, is_done: bool) -> None:
        if not is_done and stage.tasks:
            heard[stage.name] = stage.tasks_done, stage.tasks

    Pipeline(spark, tmp_path / "kb", buckets=3, bytes_per_split=200, on_stage=hear).ingest(letters)
    assert heard == {"read and deduplicate": (7, 7)}
