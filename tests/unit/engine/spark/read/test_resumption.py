"""A change that was cut off goes on after the last stage that it had finished."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from livefacts.engine.spark.jobs.stage_report import JobReport, Stage
from livefacts.spark import Pipeline

DOMAIN = "<http://www.w3.org/2000/01/rdf-schema#domain>"
RANGE = "<http://www.w3.org/2000/01/rdf-schema#range>"
TOLD = f"<urn:wrote> {DOMAIN} <urn:Writer> .\n<urn:wrote> {RANGE} <urn:Work> .\n" + "".join(
    f"<urn:a{i}> <urn:wrote> <urn:b{i}> .\n" for i in range(20)
)


class CutOffError(Exception):
    """Stands for whatever ends a driver."""


def cut_at(name: str) -> Any:
    def hear(stage: Stage, is_done: bool) -> None:
        if stage.name == name and not is_done:
            raise CutOffError

    return hear


def kept_stages(report: JobReport) -> list[str]:
    return [stage.name for stage in report.stages if stage.is_kept]


@pytest.fixture
def told(tmp_path: Path) -> Path:
    path = tmp_path / "told.nt"
    path.write_text(TOLD, encoding="utf-8")
    return path


@pytest.fixture
def closed(spark: Any, tmp_path: Path, told: Path) -> set[Any]:
    """What holds when nothing is cut off."""
    pipeline = Pipeline(spark, tmp_path / "whole", buckets=2)
    pipeline.ingest(told)
    pipeline.materialize("rho-df")
    return set(pipeline.facts().collect())


def test_stages_that_were_finished_are_not_run_again(
    spark: Any, tmp_path: Path, told: Path, closed: set[Any]
) -> None:
    kb = tmp_path / "kb"
    with pytest.raises(CutOffError):
        Pipeline(spark, kb, buckets=2, on_stage=cut_at("commit")).ingest(told)
    assert Pipeline(spark, kb).seq == 0
    report = Pipeline(spark, kb, buckets=2).ingest(told)
    assert kept_stages(report) == ["read and deduplicate"]
    with pytest.raises(CutOffError):
        Pipeline(spark, kb, on_stage=cut_at("commit")).materialize("rho-df")
    pipeline = Pipeline(spark, kb)
    assert kept_stages(pipeline.materialize("rho-df")) == ["close and publish"]
    assert set(pipeline.facts().collect()) == closed
    assert list((kb / ".stages").iterdir()) == []


def test_nothing_is_resumed_from_files_that_have_changed(
    spark: Any, tmp_path: Path, told: Path
) -> None:
    kb = tmp_path / "kb"
    with pytest.raises(CutOffError):
        Pipeline(spark, kb, buckets=2, on_stage=cut_at("commit")).ingest(told)
    told.write_text(TOLD + "<urn:more> <urn:wrote> <urn:b0> .\n", encoding="utf-8")
    pipeline = Pipeline(spark, kb)
    report = pipeline.ingest(told)
    assert kept_stages(report) == []
    assert report.figures["asserted"] == 23


def test_a_note_whose_files_have_gone_does_not_count(
    spark: Any, tmp_path: Path, told: Path
) -> None:
    kb = tmp_path / "kb"
    with pytest.raises(CutOffError):
        Pipeline(spark, kb, buckets=2, on_stage=cut_at("commit")).ingest(told)
    next((kb / "facts_3").glob("*.parquet")).unlink()
    pipeline = Pipeline(spark, kb)
    assert kept_stages(pipeline.ingest(told)) == []
    assert pipeline.facts().count() == 22
