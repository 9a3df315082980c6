"""Sources and sinks of streams without a knowledge base."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from livefacts.engine.spark.formats.mqtt_source import PER_FILE, Spool
from livefacts.engine.spark.formats.patch_lines import patch_rows
from livefacts.errors import LivefactsError

ROW = "<urn:a> <urn:p> <urn:o> ."
NOW = {"availableNow": True}


def values(text: str) -> list[tuple[str, int]]:
    return list(patch_rows(text.encode()))


def test_rows_of_a_patch_stand_on_their_own() -> None:
    text = f'H id "7" .\nPA x: <urn:x#> .\nA x:a x:p "x:b" .\nA {ROW}\nPD x: .\nA x:a x:p x:o .\n'
    assert values(text) == [
        ('A <urn:x#a> <urn:x#p> "x:b" .', 3),
        (f"A {ROW}", 4),
        ("A x:a x:p x:o .", 6),
    ]
    assert values("PA : <urn:> .\nD near(:a, b) .") == [("D near(<urn:a>, b) .", 2)]


def test_what_was_dropped_does_not_count_and_what_never_ends_is_told() -> None:
    text = f"TX .\nA {ROW}\nTA .\nTX .\nD {ROW}\nTC .\nTX .\nA {ROW}\n"
    assert values(text) == [(f"D {ROW}", 5), ("TX .", 7)]


def test_a_folder_of_patches_is_read_once_and_written_again(spark: Any, tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "one.rdfp").write_text(f"TX .\nA {ROW}\nTC .\n", encoding="utf-8")
    with gzip.open(folder / "two.rdfp.gz", "wt", encoding="utf-8") as file:
        file.write(f"D {ROW}\nnothing\n")
    (folder / ".three.rdfp").write_text("not whole yet", encoding="utf-8")
    rows = spark.read.format("rdfpatch").load(str(folder)).collect()
    found = {(row.value, Path(row.file).name, row.line) for row in rows}
    assert found == {
        (f"A {ROW}", "one.rdfp", 2),
        (f"D {ROW}", "two.rdfp.gz", 1),
        ("nothing", "two.rdfp.gz", 2),
    }
    assert all(row.time is not None for row in rows)

    def follow() -> None:
        stream = spark.readStream.format("rdfpatch").option("maxFilesPerTrigger", 1)
        writer = stream.load(str(folder)).where("value LIKE '_ <%'").writeStream
        query = (
            writer.format("rdfpatch")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .option("path", str(out))
            .trigger(**NOW)
            .start()
        )
        query.awaitTermination()

    follow()
    follow()
    assert sorted(path.name[:15] for path in out.glob("*.rdfp")) == [
        "batch-000000000",
        "batch-000000001",
    ]
    again = spark.read.format("rdfpatch").load(str(out)).collect()
    assert sorted(row.value for row in again) == [f"A {ROW}", f"D {ROW}"]


def test_stream_files_are_read_with_their_times(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text(
        "<urn:a> <urn:p> <urn:o> <urn:s> 17 .\n<urn:a> <urn:p> <urn:o> .\n", encoding="utf-8"
    )
    (tmp_path / "b.jsonl").write_text('{"at": 18, "retract": "hot(hall) ."}\n', encoding="utf-8")
    rows = spark.read.format("timed-rdf").load(str(tmp_path)).collect()
    found = {(row.at, row.stream, row.op, row.fact) for row in rows if row.reason is None}
    assert found == {
        ("17", "urn:s", "A", "<urn:a> <urn:p> <urn:o>"),
        ("18", None, "D", "hot(hall)"),
    }
    (bad,) = [row for row in rows if row.reason is not None]
    assert (bad.line, bad.fact) == (2, "<urn:a> <urn:p> <urn:o> .")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("format", "options", "reason"),
    [
        ("rdfpatch", {}, "no folder to read"),
        ("rdfpatch", {"path": "in", "maxFilesPerTrigger": "0"}, "maxFilesPerTrigger=0"),
        ("mqtt", {"path": "http://x"}, "no broker to read"),
        ("deltas", {}, "no table of deltas"),
    ],
)
def test_wrong_options_are_refused_by_name(
    spark: Any, tmp_path: Path, format: str, options: dict[str, str], reason: str
) -> None:
    frame = spark.readStream.format(format).options(**options).load()
    query = frame.writeStream.format("noop").option("checkpointLocation", str(tmp_path))
    with pytest.raises(Exception, match=reason):
        query.trigger(**NOW).start().awaitTermination()


def test_what_a_broker_gave_is_kept_until_the_stream_has_it(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    for number in range(5):
        spool.add(b"%d" % number, "t", f"p{number}")
    with (tmp_path / f"{0:012d}.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"value": "cut')
    again = Spool(tmp_path)
    assert (again.end, again.position) == (5, "p4")
    again.add(b"5", "t", None)
    assert [row[0] for row in again.rows(2, 6)] == [b"2", b"3", b"4", b"5"]
    again.drop(5)
    assert Spool(tmp_path).end == 6, "the last file stays, for its numbers"
    assert PER_FILE > 6


def test_a_format_says_what_it_takes() -> None:
    from livefacts.engine.spark.formats.patch_sink import PatchFolder

    with pytest.raises(LivefactsError, match="no patch can be made of the columns x"):
        PatchFolder({"path": "out"}, ["x"])
    with pytest.raises(LivefactsError, match="not into s3://b/out"):
        PatchFolder({"path": "s3://b/out"}, ["value"])


def test_a_spool_whose_last_file_has_only_half_a_line_knows_its_position(tmp_path: Path) -> None:
    whole = '{"value": "YQ==", "topic": "t", "position": "p1"}\n'
    (tmp_path / f"{0:012d}.jsonl").write_text(whole * PER_FILE)
    (tmp_path / f"{PER_FILE:012d}.jsonl").write_text('{"value": "Yg')
    spool = Spool(tmp_path)
    assert (spool.end, spool.position) == (PER_FILE, "p1")
    spool.add(b"b", "t", "p2")
    assert [row[0] for row in spool.rows(PER_FILE - 1, PER_FILE + 1)] == [b"a", b"b"]
    again = Spool(tmp_path)
    assert (again.end, again.position) == (PER_FILE + 1, "p2")
