"""What goes wrong from outside: good files are not lost, and nothing is half done."""

from __future__ import annotations

import errno
import gzip
from pathlib import Path
from typing import Any

import pytest

import livefacts as lf
from livefacts.cli import run
from livefacts.engine.spark.jobs.stage_report import Stage
from livefacts.engine.spark.read import ingestion as ingesting
from livefacts.engine.spark.read.bucket_intake import settle_bucket
from livefacts.kb.delta_log import Log
from livefacts.spark import Pipeline


def triple(name: str) -> str:
    return f"<urn:{name}> <urn:p> <urn:o> .\n"


def told(pipeline: Pipeline) -> set[str]:
    return {row.s for row in pipeline.facts(decoded=True).collect()}


def no_room_for_one(task: Any) -> Any:
    """Every attempt at it ends a worker, and starting one takes seconds: one bucket is enough."""
    return lambda job, bucket, sent: task(job, bucket, sent) if bucket.number else no_room()


def no_room(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_bad_files_among_good_ones_cost_nothing_but_themselves(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "good.nt").write_text(triple("good"), encoding="utf-8")
    (tmp_path / "line.nt").write_text(triple("first") + "not a triple\n" + triple("third"), "utf-8")
    packed = gzip.compress("".join(triple(f"cut{n}") for n in range(5000)).encode())
    (tmp_path / "cut.nt.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "gone.nt").write_text(triple("gone"), encoding="utf-8")

    def disappear(stage: Stage, is_done: bool) -> None:
        (tmp_path / "gone.nt").unlink(missing_ok=True)

    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2, on_stage=disappear)
    report = pipeline.ingest([tmp_path / "*.nt", tmp_path / "*.gz"])
    assert told(pipeline) == {"<urn:good>", "<urn:first>", "<urn:third>"}
    rejects = {Path(row.file).name: row for row in pipeline.rejects().collect()}
    assert rejects.keys() == {"line.nt", "cut.nt.gz", "gone.nt"}
    assert rejects["line.nt"].line == 2
    assert report.figures["rejected"] == 3
    assert {"cut.nt.gz", "gone.nt"} <= {Path(hint.split(":")[0]).name for hint in report.hints}


@pytest.mark.parametrize("place", ["in a task", "in a commit"])
def test_a_full_disk_changes_nothing_and_says_so(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.nt").write_text(triple(name), encoding="utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest(tmp_path / "first.nt")
    with monkeypatch.context() as patched:
        if place == "in a task":
            patched.setattr(ingesting, "settle_bucket", no_room_for_one(settle_bucket))
        else:
            patched.setattr(Log, "append", no_room)
        with pytest.raises(lf.LivefactsError, match="the disk is full") as refused:
            pipeline.ingest(tmp_path / "second.nt")
    assert "nothing was changed" in refused.value.hint
    assert told(Pipeline(spark, tmp_path / "kb")) == {"<urn:first>"}
    pipeline.ingest(tmp_path / "second.nt")
    assert told(pipeline) == {"<urn:first>", "<urn:second>"}


def test_a_folder_that_is_no_knowledge_base_is_left_as_it_is(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "told.nt").write_text(triple("good"), encoding="utf-8")
    given = ["spark", "ingest", str(tmp_path / "told.nt"), "--kb", str(tmp_path / "mine")]
    assert run(given) == 1
    assert "no knowledge base" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]
    assert run(["spark", "update", "--kb", str(tmp_path / "typo")]) == 1
    assert "livefacts spark ingest" in capsys.readouterr().err
    assert not (tmp_path / "typo").exists()
