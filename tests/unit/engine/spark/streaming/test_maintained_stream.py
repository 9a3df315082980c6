"""A knowledge base follows a stream: each micro-batch is one commit, made once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from tests.unit.engine.spark.beside import delta_of, facts_of

from livefacts.engine.spark.streaming.source_address import source_frame
from livefacts.errors import InputError, LivefactsError
from livefacts.spark import Pipeline

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
DOMAIN = "<urn:wrote> <http://www.w3.org/2000/01/rdf-schema#domain> <urn:Writer>"
TOLD = f"{DOMAIN} .\n<urn:a> <urn:wrote> <urn:b> .\n"
BAD = "x\n" * 3
NOW = {"availableNow": True}


def closed(spark: Any, folder: Path, rules: str = "rho-df") -> Pipeline:
    """A knowledge base with some facts and their conclusions."""
    (folder / "told.nt").write_text(TOLD, encoding="utf-8")
    pipeline = Pipeline(spark, folder / "kb", buckets=2)
    pipeline.ingest(folder / "told.nt")
    pipeline.materialize(rules)
    return pipeline


def lines(spark: Any, folder: Path, **files: str) -> Any:
    """Files of messages as a stream, a file in each micro-batch."""
    (folder / "in").mkdir(exist_ok=True)
    for name, text in files.items():
        path = folder / "in" / f"{name}.txt"
        path.write_text(text, encoding="utf-8")
        # Files come in the order of their times.
        second = len(list(path.parent.iterdir()))
        os.utime(path, (second, second))
    return spark.readStream.option("maxFilesPerTrigger", 1).text(str(folder / "in"))


def run(pipeline: Pipeline, frame: Any, **options: Any) -> None:
    query = pipeline.stream(frame, trigger=NOW, **options)
    query.awaitTermination()


def test_each_micro_batch_is_one_commit_and_the_same_call_goes_on(
    spark: Any, tmp_path: Path
) -> None:
    pipeline = closed(spark, tmp_path)
    run(pipeline, lines(spark, tmp_path, one="A <urn:c> <urn:wrote> <urn:d> .\n"))
    assert pipeline.seq == 3
    assert delta_of(pipeline, 3)[0] == {
        "<urn:c> <urn:wrote> <urn:d>",
        f"<urn:c> {TYPE} <urn:Writer>",
    }
    again = Pipeline(spark, tmp_path / "kb")
    run(again, lines(spark, tmp_path, two="D <urn:a> <urn:wrote> <urn:b> .\nnothing at all\n"))
    assert [(each.seq, each.kind) for each in again.history()[2:]] == [(3, "stream"), (4, "stream")]
    assert delta_of(again, 4)[1] == {"<urn:a> <urn:wrote> <urn:b>", f"<urn:a> {TYPE} <urn:Writer>"}
    (reject,) = again.rejects().collect()
    assert (reject.seq, reject.stream, reject.text) == (4, "default", "nothing at all")
    assert again.verify()


def test_messages_may_come_as_terms(spark: Any, tmp_path: Path) -> None:
    pipeline = closed(spark, tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "one.csv").write_text("<urn:c>;<urn:wrote>;<urn:d>\n", encoding="utf-8")
    frame = spark.readStream.schema("s string, p string, o string").option("sep", ";")
    run(pipeline, frame.csv(str(tmp_path / "in")))
    assert "<urn:c> <urn:wrote> <urn:d>" in facts_of(pipeline)


@pytest.mark.parametrize(
    "rules", ["near(?x, ?z) :- [?x, <urn:wrote>, ?y], [?z, <urn:wrote>, ?y] ."]
)
def test_rules_that_join_are_followed_too(spark: Any, tmp_path: Path, rules: str) -> None:
    pipeline = closed(spark, tmp_path, rules)
    run(pipeline, lines(spark, tmp_path, one="A <urn:c> <urn:wrote> <urn:b> .\nx\n"))
    assert "('near', '<urn:a>', '<urn:c>')" in facts_of(pipeline)
    assert pipeline.rejects().count() == 1


def test_too_many_messages_in_a_row_that_cannot_be_read_pause_the_stream(
    spark: Any, tmp_path: Path
) -> None:
    pipeline = closed(spark, tmp_path)
    frame = lines(spark, tmp_path, one="A <urn:c> <urn:p> <urn:d> .\n" + BAD, two=BAD)
    with pytest.raises(Exception, match="is paused: 5 messages in a row could not be read"):
        run(pipeline, frame, pause=5)
    assert pipeline.rejects().count() == 3, "of the second batch nothing was taken"
    run(pipeline, frame, pause=None)
    assert pipeline.rejects().count() == 6


def test_what_is_no_stream_is_refused_before_anything_starts(spark: Any, tmp_path: Path) -> None:
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    frame = lines(spark, tmp_path, one="x")
    with pytest.raises(LivefactsError, match="there is nothing in"):
        pipeline.stream(frame)
    pipeline = closed(spark, tmp_path)
    with pytest.raises(InputError, match=r"cannot be called '\.\./x'"):
        pipeline.stream(frame, name="../x")
    with pytest.raises(InputError, match="no format 'turtles'"):
        pipeline.stream(frame, format="turtles")
    with pytest.raises(InputError, match="it is no stream"):
        pipeline.stream(spark.createDataFrame([("x",)], "value string"))
    with pytest.raises(InputError, match="its columns are n int"):
        pipeline.stream(spark.readStream.schema("n int").csv(str(tmp_path / "in")))


def test_a_folder_is_followed_whatever_its_files_are(spark: Any, tmp_path: Path) -> None:
    pipeline, come = closed(spark, tmp_path), tmp_path / "in"
    with pytest.raises(InputError, match="there is no folder"):
        source_frame(spark, str(come))
    come.mkdir()
    run(pipeline, source_frame(spark, str(come)))
    (come / "one.nt").write_text(
        "<urn:c> <urn:wrote> <urn:d> .\n<urn:c> <urn:p> <urn:d> .\nnothing\n<urn:e> <urn:wrote> <urn:d> .\n"
    )
    (come / "two.rdfp").write_text(
        "PA u: <urn:> .\nA u:f u:wrote u:d .\nD <urn:c> <urn:p> <urn:d> .\n"
    )
    for file in come.iterdir():
        os.utime(file, (5, 5))
    run(pipeline, source_frame(spark, str(come)))
    assert {f"<urn:{who}> <urn:wrote> <urn:d>" for who in "cef"} < facts_of(pipeline)
    assert "<urn:c> <urn:p> <urn:d>" not in facts_of(pipeline), (
        "files of one time go by their names"
    )
    (reject,) = pipeline.rejects().collect()
    assert reject.topic.endswith("/one.nt")
    seq = pipeline.seq
    run(pipeline, source_frame(spark, str(come)))
    assert pipeline.seq == seq, "each file is read once"
    (come / "three.patch").write_text("D <urn:a> <urn:wrote> <urn:b> .\n")
    run(pipeline, source_frame(spark, str(come)))
    assert "<urn:a> <urn:wrote> <urn:b>" not in facts_of(pipeline)


def test_a_checkpoint_that_does_not_belong_to_the_stream_is_refused(
    spark: Any, tmp_path: Path
) -> None:
    pipeline = closed(spark, tmp_path)
    frame = lines(spark, tmp_path, one="A <urn:c> <urn:wrote> <urn:d> .\n")
    streams = tmp_path / "kb" / "_streams"
    for name in ("one", "two"):
        run(pipeline, frame, name=name)
    seq = pipeline.seq
    shutil.rmtree(streams / "two")
    with pytest.raises(LivefactsError, match=r"stream two in .* is gone"):
        run(pipeline, frame, name="two")
    shutil.copytree(streams / "one", streams / "two")
    with pytest.raises(LivefactsError, match=r"stream two in .* belongs to another query"):
        run(pipeline, frame, name="two")
    shutil.copytree(streams / "one", streams / "three")
    with pytest.raises(LivefactsError, match="has got to batch 0 by its checkpoint"):
        run(pipeline, frame, name="three")
    (streams / "two" / "metadata").write_text("{")
    with pytest.raises(LivefactsError, match="is not as Spark wrote it"):
        run(pipeline, frame, name="two")
    assert pipeline.seq == seq
    (tmp_path / "patches").mkdir()
    with pytest.raises(Exception, match="one of another source: it has logOffset where"):
        run(
            pipeline,
            spark.readStream.format("rdfpatch").load(str(tmp_path / "patches")),
            name="one",
        )


def test_deltas_of_one_knowledge_base_are_the_messages_of_another(
    spark: Any, tmp_path: Path
) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    first, second = (closed(spark, tmp_path / name) for name in ("first", "second"))
    deltas = str(tmp_path / "deltas")
    for text in ("A <urn:c> <urn:wrote> <urn:d> .\n", "D <urn:a> <urn:wrote> <urn:b> .\n"):
        run(first, lines(spark, tmp_path / "first", **{f"f{first.seq}": text}), deltas=deltas)
        run(second, spark.readStream.format("deltas").load(deltas))
        assert facts_of(second) == facts_of(first)
    rows = spark.createDataFrame(DeltaTable(deltas).to_pyarrow_table()).coalesce(1)
    rows.write.format("rdfpatch").mode("append").save(str(tmp_path / "out"))
    (file,) = (tmp_path / "out").glob("*.rdfp")
    assert sorted(file.read_text().splitlines()) == sorted(
        [
            "TX .",
            "A <urn:c> <urn:wrote> <urn:d> .",
            f"A <urn:c> {TYPE} <urn:Writer> .",
            "D <urn:a> <urn:wrote> <urn:b> .",
            f"D <urn:a> {TYPE} <urn:Writer> .",
            "TC .",
        ]
    )
