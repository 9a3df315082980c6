"""DataFrames as input: what they mean, what is rejected, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.properties.compare.spark_frames import tiny
from tests.unit.engine.spark.read.test_resumption import CutOffError, cut_at, kept_stages

import livefacts as lf
from livefacts.engine.spark.read import ingestion as ingesting
from livefacts.spark import Pipeline

KNOWS = "<urn:knows>"
RULE = "[?y, <urn:knows>, ?x] :- [?x, <urn:knows>, ?y] ."
COLUMNS = "s string, p string, o string"


@pytest.fixture
def session(spark: Any) -> Iterator[Any]:
    with tiny(spark) as session:
        yield session


def people(session: Any, *pairs: tuple[str, str | None]) -> Any:
    rows = [(f"<urn:{s}>", KNOWS, o and f"<urn:{o}>") for s, o in pairs]
    return session.createDataFrame(rows, COLUMNS)


def told(pipeline: Pipeline, derived: bool | None = None) -> set[tuple[str, str]]:
    rows = pipeline.facts(decoded=True, derived=derived).collect()
    return {(row.s[5:-1], row.o[5:-1]) for row in rows}


def test_a_frame_is_taken_in_and_changed_by_frames(session: Any, tmp_path: Path) -> None:
    pipeline = Pipeline(session, tmp_path / "kb", buckets=2)
    frame = people(session, ("a", "b"), ("b", "c"), ("a", "b"), ("c", None)).repartition(3)
    report = pipeline.ingest(frame)
    assert (report.figures["asserted"], report.figures["rejected"]) == (2, 1)
    (reject,) = pipeline.rejects().collect()
    assert (reject.file, reject.reason) == ("DataFrame", "o is null")
    assert reject.text == f"<urn:c> {KNOWS} null null"
    assert 1 <= reject.line <= 4
    pipeline.materialize(RULE)
    change = pipeline.update(add=people(session, ("x", "y")), remove=people(session, ("a", "b")))
    assert (change.figures["added"], change.figures["removed"]) == (2, 2)
    assert told(pipeline) == {("b", "c"), ("c", "b"), ("x", "y"), ("y", "x")}


def test_blank_nodes_are_local_to_a_frame_unless_they_are_known_by_name(
    session: Any, tmp_path: Path
) -> None:
    frame = session.createDataFrame([("_:x", KNOWS, "<urn:a>")], COLUMNS)
    pipeline = Pipeline(session, tmp_path / "kb", buckets=2)
    for bnodes in ("local", "local", "by-name", "by-name"):
        pipeline.ingest(frame, bnodes=bnodes)
    subjects = {row.s for row in pipeline.facts(decoded=True).collect()}
    assert len(subjects) == 3
    assert "_:x" in subjects


def test_a_batch_is_taken_in_once_and_goes_on_where_it_was_cut_off(
    session: Any, tmp_path: Path
) -> None:
    frame = people(session, ("a", "b"), ("b", "c"))

    def cut(batch: str) -> None:
        with pytest.raises(CutOffError):
            Pipeline(session, tmp_path / "kb", buckets=2, on_stage=cut_at("commit")).ingest(
                frame, batch=batch
            )

    pipeline = Pipeline(session, tmp_path / "kb", buckets=2)
    cut("monday")
    assert kept_stages(pipeline.ingest(frame, batch="monday")) == ["read and deduplicate"]
    assert pipeline.ingest(frame, batch="monday").is_replay
    cut("")
    assert kept_stages(pipeline.ingest(frame)) == [], "nobody said that the data are the same"
    assert told(pipeline) == {("a", "b"), ("b", "c")}


def test_what_cannot_be_read_is_refused_before_anything_is_written(
    session: Any, tmp_path: Path
) -> None:
    pipeline = Pipeline(session, tmp_path / "kb", buckets=2)
    good = people(session, ("a", "b"))
    numbers = session.createDataFrame([("<urn:a>", KNOWS, 4)], "s string, p string, o int")
    refused = {
        "no column 'p'": good.drop("p"),
        "a column 'weight'": good.selectExpr("*", "1 AS weight"),
        "more than one 's'": good.selectExpr("*", "s"),
        "column 'o' of the DataFrame is int, not text": numbers,
        "streaming": session.readStream.format("rate").load(),
        "another Spark session": people(session.newSession(), ("a", "b")),
    }
    for message, frame in refused.items():
        with pytest.raises(lf.LivefactsError, match=message) as error:
            pipeline.ingest(frame)
        assert error.value.hint
    with pytest.raises(lf.LivefactsError, match="has no format"):
        pipeline.ingest(good, format="nt")
    assert not (tmp_path / "kb").exists()


def test_a_frame_of_which_nothing_can_be_read_changes_nothing(session: Any, tmp_path: Path) -> None:
    pipeline = Pipeline(session, tmp_path / "kb", buckets=2)
    bare = session.createDataFrame([("urn:a", "urn:b", "c")], COLUMNS)
    with pytest.raises(lf.LivefactsError, match="s is not the N-Triples text") as refused:
        pipeline.ingest(bare)
    assert "<http://example.org/a>" in refused.value.hint
    assert pipeline.seq == 0
    pipeline.ingest(people(session, ("a", "b")))
    pipeline.materialize(RULE)
    with pytest.raises(lf.LivefactsError, match="o is null"):
        pipeline.update(add=people(session, ("b", "c"), ("b", None)))
    assert pipeline.seq == 2


def test_terms_with_one_hash_are_kept_apart(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The frame is read once more, with other ids for the texts that clash."""
    from livefacts.kb.term_encoding import Encoding

    monkeypatch.setattr(ingesting, "encoding_of", lambda base, commit: Encoding(bits=4))
    rows = pa.table(
        {"s": [f"<urn:{n}>" for n in range(12)], "p": [KNOWS] * 12, "o": ["<urn:o>"] * 12}
    )
    pipeline = Pipeline(session, tmp_path / "kb", buckets=2)
    report = pipeline.ingest(session.createDataFrame(rows))
    assert any("again" in stage.name for stage in report.stages)
    assert {row.s for row in pipeline.facts(decoded=True).collect()} == set(rows["s"].to_pylist())


def said(report: Any) -> tuple[int, ...]:
    names = "asserted", "retracted", "added", "removed"
    return tuple(report.figures[name] for name in names)


def test_large_frames_are_followed_without_a_row_in_the_driver(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from livefacts.engine.spark import pipeline as doors

    pipeline = Pipeline(session, tmp_path / "kb", buckets=2, small=1)
    pipeline.ingest(people(session, ("a", "b"), ("b", "c")))
    pipeline.materialize(RULE)
    monkeypatch.setattr(doors, "table_of_frame", None)
    come = people(session, ("x", "y"), ("a", "b"), ("b", "c"))
    go = people(session, ("a", "b"), ("b", "c"), ("n", "n")).where("s <> '<urn:a>'")
    report = pipeline.update(add=come, remove=go)
    assert said(report) == (1, 0, 2, 0)
    report = pipeline.update(remove=people(session, ("a", "b"), ("b", "c"), ("c", "b")))
    assert said(report) == (0, 2, 0, 4)
    assert told(pipeline) == {("x", "y"), ("y", "x")}
    with pytest.raises(lf.LivefactsError, match="o is null"):
        pipeline.update(add=people(session, ("b", "c"), ("b", None)))
    assert pipeline.seq == 4
