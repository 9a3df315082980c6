"""A pipeline whose input and knowledge base are on a store, and a reasoner that reads it."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from tests.system.store_servers import SECRET, StoreServer
from tests.unit.engine.spark.beside import delta_of, facts_of

import livefacts as lf
from livefacts.cli import run
from livefacts.engine.spark.store_settings import store_options
from livefacts.errors import StoppedError
from livefacts.kb.stores.file_path import store_path
from livefacts.kb.tables import SCHEMAS, write_file
from livefacts.kb.vacuum import SAFE_AGE, vacuum
from livefacts.spark import Pipeline

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
RANGE = "<http://www.w3.org/2000/01/rdf-schema#range>"
PLAIN = f"<x:a> <x:p> <x:b> .\n<x:p> {RANGE} <x:T> .\nnot a triple\n"
PACKED = "<x:c> <x:p> <x:d> .\n"
TOLD = {"<x:a> <x:p> <x:b>", f"<x:p> {RANGE} <x:T>", "<x:c> <x:p> <x:d>"}
DERIVED = {f"<x:b> {TYPE} <x:T>", f"<x:d> {TYPE} <x:T>"}


@pytest.fixture(scope="module")
def kb(spark: Any, s3: StoreServer) -> str:
    """Three versions, of files on a store."""
    place = s3.place()
    store_path(f"{place}/raw/a.nt", s3.options).write(PLAIN.encode())
    store_path(f"{place}/raw/b.nt.gz", s3.options).write(gzip.compress(PACKED.encode()))
    store_path(f"{place}/new.nt", s3.options).write(b"<x:e> <x:p> <x:f> .\n")
    pipeline = Pipeline(spark, f"{place}/kb", buckets=2, storage_options=s3.options)
    report = pipeline.ingest(f"{place}/raw/*.nt*")
    assert report.figures["rejected"] == 1
    pipeline.materialize("rho-df")
    pipeline.update(add=f"{place}/new.nt")
    return f"{place}/kb"


def test_files_of_a_store_become_facts_there_and_changes_are_exact(
    spark: Any, s3: StoreServer, kb: str
) -> None:
    pipeline = Pipeline(spark, kb, storage_options=s3.options)
    assert facts_of(pipeline) == TOLD | DERIVED | {"<x:e> <x:p> <x:f>", f"<x:f> {TYPE} <x:T>"}
    added, removed = delta_of(pipeline, 3)
    assert (added, removed) == ({"<x:e> <x:p> <x:f>", f"<x:f> {TYPE} <x:T>"}, set())
    [reject] = pipeline.rejects().collect()
    assert (reject.file, reject.line) == (f"{kb.removesuffix('kb')}raw/a.nt", 3)
    assert [commit.kind for commit in pipeline.history()] == ["ingest", "materialize", "update"]


def test_a_reasoner_reads_a_store_without_spark(s3: StoreServer, kb: str) -> None:
    reasoner = lf.Reasoner.open(kb, read_only=True, storage_options=s3.options)
    assert len(reasoner) == 7
    assert len(reasoner.at(2)) == 5
    with pytest.raises(StoppedError, match="read only"):
        reasoner.add("<x:g> <x:p> <x:h> .")
    with pytest.raises(lf.InputError, match="remote store"):
        lf.Reasoner.open(kb, storage_options=s3.options)
    copy = s3.place()
    reasoner.checkpoint(copy, storage_options=s3.options)
    again = lf.Reasoner.open(copy, read_only=True, storage_options=s3.options)
    assert set(again.facts()) == set(reasoner.facts())


def test_a_query_on_the_command_line_reads_a_store(
    s3: StoreServer, kb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in s3.options.items():
        monkeypatch.setenv(name, value)
    assert run(["query", kb, "SELECT (COUNT(*) AS ?n) { ?x a <x:T> }", "--format", "csv"]) == 0
    assert capsys.readouterr().out.split() == ["n", "3"]


def test_a_cut_off_ingest_goes_on_and_a_changed_file_is_read_anew(
    spark: Any, s3: StoreServer
) -> None:
    place = s3.place()
    file = store_path(f"{place}/a.nt", s3.options)
    file.write(PLAIN.encode())

    def ingest(step: str = "") -> Any:
        pipeline = Pipeline(spark, f"{place}/kb", buckets=2, storage_options=s3.options)

        def stop(reached: str) -> None:
            if reached == step:
                raise KeyboardInterrupt

        pipeline.base.reached = stop
        return pipeline.ingest(str(file))

    with pytest.raises(KeyboardInterrupt):
        ingest("data written")
    with pytest.raises(KeyboardInterrupt):
        ingest("terms committed")
    file.write(PACKED.encode())
    report = ingest()
    assert not any(stage.is_kept for stage in report.stages)
    assert report.figures["asserted"] == 1


def test_optimizing_a_store_removes_what_is_old_and_leaves_what_may_be_someone_elses(
    spark: Any, s3: StoreServer
) -> None:
    place = s3.place()
    store_path(f"{place}/a.nt", s3.options).write(PLAIN.encode())
    pipeline = Pipeline(spark, f"{place}/kb", buckets=1, storage_options=s3.options)
    pipeline.ingest(f"{place}/a.nt")
    pipeline.materialize("rho-df")
    pipeline.update(add="<x:e> <x:p> <x:f> .")
    table = pipeline.base.path / "facts_3"
    young = write_file(table, SCHEMAS["facts_3"].empty_table(), 0)
    facts = facts_of(pipeline)
    report = pipeline.optimize(keep=1)
    assert facts_of(pipeline) == facts
    last = pipeline.base.files("facts_3", pipeline.base.last())
    assert table.files(".parquet").keys() == {young.name, *(file.name for file in last)}
    assert report.figures["files removed"] > 0
    versions = [pipeline.base.last().versions["facts_3"]]
    state = (table / young.name).stat()
    assert state is not None
    assert vacuum(table, versions, now=state.written / 1e9 + SAFE_AGE + 1).files == 1


def test_settings_of_spark_are_those_of_the_store(spark: Any, s3: StoreServer, kb: str) -> None:
    settings = {
        "fs.s3a.endpoint": s3.options["AWS_ENDPOINT_URL"].removeprefix("http://"),
        "fs.s3a.connection.ssl.enabled": "false",
        "fs.s3a.endpoint.region": "us-east-1",
        "fs.s3a.access.key": "nobody",
        "fs.s3a.bucket.lake.access.key": s3.options["AWS_ACCESS_KEY_ID"],
        "fs.s3a.secret.key": SECRET,
    }
    try:
        for name, value in settings.items():
            spark.conf.set(f"spark.hadoop.{name}", value)
        assert store_options(spark, kb, {}) == dict(s3.options)
        assert store_options(spark, kb, {"aws_region": "x"})["aws_region"] == "x"
        assert Pipeline(spark, kb.replace("s3://", "s3a://")).seq == 3
    finally:
        for name in settings:
            spark.conf.unset(f"spark.hadoop.{name}")


def test_keys_are_in_no_file_and_in_no_representation(spark: Any, s3: StoreServer, kb: str) -> None:
    pipeline = Pipeline(spark, kb, storage_options=s3.options)
    folders, shown = [pipeline.base.path], repr(pipeline) + repr(pipeline.base.last())
    while folders:
        folder = folders.pop()
        for name, state in folder.list().items():
            if state is None:
                folders.append(folder / name)
            else:
                assert SECRET.encode() not in (folder / name).read()
    assert SECRET not in shown
    with pytest.raises(lf.LivefactsError) as refused:
        pipeline.facts(version=99)
    assert SECRET not in str(refused.value)
