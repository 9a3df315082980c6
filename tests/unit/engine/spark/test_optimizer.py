"""Optimizing: the same facts in fewer files, versions kept or let go, and nothing left behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import livefacts as lf
from livefacts.kb.stores.file_path import store_path
from livefacts.kb.tables import CHANGES, SCHEMAS, TERMS, TRIPLES_TABLE, write_file
from livefacts.kb.vacuum import vacuum
from livefacts.spark import Pipeline

PREFIX = "http://example.org/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
DOMAIN = f"<{PREFIX}wrote> <{RDFS}domain> <{PREFIX}Writer> .\n"


def wrote(number: int) -> str:
    return f"<{PREFIX}writer{number}> <{PREFIX}wrote> <{PREFIX}book{number}> .\n"


@pytest.fixture
def pipeline(spark: Any, tmp_path: Path) -> Pipeline:
    """Seven versions: two of them made from files, five by small changes."""
    (tmp_path / "told.nt").write_text(DOMAIN + wrote(0), encoding="utf-8")
    made = Pipeline(spark, tmp_path / "kb", buckets=2)
    made.ingest(tmp_path / "told.nt")
    made.materialize("rho-df")
    for number in range(1, 5):
        made.update(add=wrote(number))
    made.update(remove=wrote(0))
    return made


def held(pipeline: Pipeline, version: int | None = None) -> set[str]:
    rows = pipeline.facts(decoded=True, version=version).collect()
    return {f"{row.s} {row.p} {row.o} {row.told}" for row in rows}


def data_files(pipeline: Pipeline, table: str) -> set[str]:
    return set((pipeline.base.path / table).files(".parquet"))


def listed(pipeline: Pipeline, table: str) -> list[str]:
    return pipeline.base.files(table, pipeline.base.last())


def test_optimizing_keeps_the_facts_and_every_version(pipeline: Pipeline) -> None:
    before = {version: held(pipeline, version) for version in range(1, 8)}
    report = pipeline.optimize()
    assert report.seq == pipeline.seq == 8
    assert held(pipeline) == before[7]
    assert {version: held(pipeline, version) for version in range(1, 8)} == before
    assert listed(pipeline, CHANGES) == []
    assert len(listed(pipeline, TERMS)) == len(listed(pipeline, TRIPLES_TABLE)) == 2


def test_terms_that_are_put_together_are_no_change_of_data(pipeline: Pipeline) -> None:
    count = pipeline.terms().count()
    pipeline.optimize()
    assert pipeline.terms().count() == count
    log = pipeline.base.path.folder / TERMS / "_delta_log"
    lines = [
        line for entry in sorted(log.glob("*.json")) for line in entry.read_text().splitlines()
    ]
    changed = [json.loads(line).get(what) for line in lines for what in ("add", "remove")]
    seen = [
        json.loads(each["stats"])["numRecords"] for each in changed if each and each["dataChange"]
    ]
    assert sum(seen) == count, "a follower of the log sees each term once"


def test_a_knowledge_base_in_order_gets_no_new_version(pipeline: Pipeline) -> None:
    pipeline.optimize()
    assert pipeline.optimize().seq == pipeline.seq == 8


def test_versions_that_are_let_go_take_their_files_along(pipeline: Pipeline) -> None:
    facts = held(pipeline)
    report = pipeline.optimize(keep=2)
    assert held(pipeline) == held(pipeline, version=7) == facts
    with pytest.raises(lf.LivefactsError, match="no longer kept") as refused:
        pipeline.facts(version=6)
    assert "oldest one is 7" in refused.value.hint
    assert report.figures["files removed"] > 0
    pipeline.optimize(keep=1)
    for table in (TERMS, TRIPLES_TABLE, CHANGES):
        assert data_files(pipeline, table) == {Path(f).name for f in listed(pipeline, table)}
    pipeline.update(add=wrote(9))
    assert len(held(pipeline)) == len(facts) + 2


def test_files_that_no_commit_names_are_invisible_and_removed(pipeline: Pipeline) -> None:
    facts = held(pipeline)
    for table in (TRIPLES_TABLE, TERMS):
        write_file(pipeline.base.path / table, SCHEMAS[table].empty_table(), 1)
    left = pipeline.base.path.folder / ".exchange" / "old"
    left.mkdir(parents=True)
    (left / "rows.arrow").write_bytes(b"half a file")
    assert held(pipeline) == facts
    report = pipeline.optimize()
    assert report.figures["files removed"] >= 2
    assert not left.exists()
    assert held(pipeline) == facts


def test_a_change_goes_on_from_what_was_optimized(pipeline: Pipeline) -> None:
    pipeline.optimize(keep=1)
    report = pipeline.update(remove=DOMAIN)
    assert report.figures["removed"] == 5
    other = Pipeline(pipeline.session, pipeline.base.path)
    assert held(other) == held(pipeline)


def test_the_history_tells_what_was_written_when(pipeline: Pipeline) -> None:
    history = pipeline.history()
    assert [commit.kind for commit in history] == ["ingest", "materialize", *["update"] * 5]
    assert history[0].rows[TRIPLES_TABLE] == 2
    times = [commit.time for commit in history]
    assert times == sorted(times)
    assert times[0].year > 2000


def test_keeping_no_version_at_all_is_refused(pipeline: Pipeline) -> None:
    with pytest.raises(lf.InputError, match="keep=0"):
        pipeline.optimize(keep=0)


def test_a_folder_that_is_not_there_has_nothing_to_remove(tmp_path: Path) -> None:
    assert vacuum(store_path(tmp_path / "facts_3"), []).files == 0
