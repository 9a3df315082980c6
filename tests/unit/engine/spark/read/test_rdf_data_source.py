"""`spark.read.format("rdf")`: what files say, on which line, and what is wrong with them."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.properties.compare.spark_frames import tiny

from livefacts.spark import Pipeline

LINES = """# people
<urn:a> <urn:p> "one" .

<urn:a> <urn:p> "two"@EN <urn:g> .
<urn:a> <urn:p> .
<urn:a> <urn:p> "\\u0033" .\r
_:x <urn:p> <urn:b> .
"""
TURTLE = "@prefix : <urn:> . :t :p :u , [] . :t :q nonsense ."


@pytest.fixture
def session(spark: Any) -> Iterator[Any]:
    with tiny(spark) as session:
        yield session


def rows(frame: Any) -> set[tuple[Any, ...]]:
    found = [tuple(row) for row in frame.collect()]
    assert len(set(found)) == len(found)
    return set(found)


def read(session: Any, *paths: Path, **options: Any) -> Any:
    return session.read.format("rdf").options(**options).load([str(path) for path in paths])


@pytest.fixture
def quads(tmp_path: Path) -> Path:
    (tmp_path / "some.nq").write_bytes(LINES.encode())
    return tmp_path / "some.nq"


def test_rows_say_on_which_line_they_stand_and_bad_lines_are_in_a_column(
    session: Any, quads: Path
) -> None:
    frame = read(session, quads)
    assert frame.columns == ["s", "p", "o", "g", "line", "_corrupt_record"]
    found = rows(frame.where("s NOT LIKE '\\_:%' OR s IS NULL"))
    assert found == {
        ("<urn:a>", "<urn:p>", '"one"', None, 2, None),
        ("<urn:a>", "<urn:p>", '"two"@en', "<urn:g>", 4, None),
        (None, None, None, None, 5, "<urn:a> <urn:p> ."),
        ("<urn:a>", "<urn:p>", '"3"', None, 6, None),
    }
    (label,) = {row.s for row in frame.where("s LIKE '\\_:%'").collect()}
    assert label.endswith("_x")
    assert label != "_:x", "two files may have the same label"


def test_modes_are_those_of_spark(session: Any, quads: Path) -> None:
    (quads.parent / "some.nq.gz").write_bytes(gzip.compress(quads.read_bytes()))
    quads = quads.parent / "some.nq.gz"
    dropped = read(session, quads, mode="DROPMALFORMED")
    assert dropped.columns == ["s", "p", "o", "g", "line"]
    assert {row.line for row in dropped.collect()} == {2, 4, 6, 7}
    with pytest.raises(Exception, match=r"some\.nq.*\n?.*5"):
        read(session, quads, mode="FAILFAST").collect()
    named = read(session, quads, columnNameOfCorruptRecord="bad").where("bad IS NOT NULL")
    assert [(row.line, row.bad) for row in named.collect()] == [(5, "<urn:a> <urn:p> .")]


def test_a_large_file_is_read_in_pieces_and_lines_are_those_of_the_file(
    session: Any, tmp_path: Path
) -> None:
    texts = [f"<urn:s{n}> <urn:p> <urn:o{n % 7}> .\n" if n % 5 else "\n" for n in range(200)]
    texts[77] = "not a statement\n"
    (tmp_path / "large.nt").write_text("".join(texts), encoding="utf-8")
    frame = read(session, tmp_path / "large.nt", bytesPerSplit=700)
    found = frame.collect()
    assert frame.rdd.getNumPartitions() > 5
    good = {row.s: row.line for row in found if row.s}
    assert good == {f"<urn:s{n}>": n + 1 for n in range(200) if n % 5 and n != 77}
    assert [(row.line, row._corrupt_record) for row in found if not row.s] == [
        (78, "not a statement")
    ]
    without = read(session, tmp_path / "large.nt", bytesPerSplit=700, lines="false")
    assert {row.line for row in without.where("s IS NOT NULL").collect()} == {None}


def test_folders_and_all_formats_are_read(session: Any, quads: Path) -> None:
    folder = quads.parent
    (folder / "inner").mkdir()
    (folder / "inner" / "some.ttl").write_text(TURTLE, encoding="utf-8")
    (folder / "inner" / "notes.txt").write_text("nothing of ours", encoding="utf-8")
    (folder / "_SUCCESS.nt").write_text("<hidden", encoding="utf-8")
    schema = "o string, file string, reason string, line long"
    frame = session.read.format("rdf").schema(schema).load(str(folder))
    turtle = [row for row in frame.collect() if row.file.endswith("ttl")]
    assert {row.o for row in turtle if row.o and not row.o.startswith("_:")} == {"<urn:u>"}
    (bad,) = [row for row in turtle if row.reason]
    assert "the rest of the file was not read" in bad.reason
    assert len(frame.select("file").distinct().collect()) == 2


@pytest.mark.parametrize(
    ("options", "schema", "message"),
    [
        ({"mode": "HOPEFUL"}, None, "no mode HOPEFUL"),
        ({"format": "docx"}, None, "unknown format docx"),
        ({"bytesPerSplit": "many"}, None, "bytesPerSplit=many"),
        ({}, "s string, weight int", "no column weight:int"),
        ({"path": "gone.nt"}, None, "gone.nt"),
    ],
)
def test_wrong_options_are_named(
    session: Any, quads: Path, options: dict[str, str], schema: str | None, message: str
) -> None:
    reader = session.read.format("rdf").options(**options)
    reader = reader.schema(schema) if schema else reader
    with pytest.raises(Exception, match=message):
        (reader.load() if "path" in options else reader.load(str(quads))).collect()


def test_what_is_read_so_can_be_ingested(session: Any, quads: Path, tmp_path: Path) -> None:
    """By name, it is what ingesting the files by name gives."""
    pipelines = [Pipeline(session, tmp_path / name, buckets=2) for name in ("frame", "files")]
    given = read(session, quads), quads
    reports = [
        each.ingest(source, bnodes="by-name") for each, source in zip(pipelines, given, strict=True)
    ]
    assert [report.figures["rejected"] for report in reports] == [1, 1]
    (reject,) = pipelines[0].rejects().collect()
    assert (reject.file, reject.line, reject.text) == ("DataFrame", 0, "<urn:a> <urn:p> .")
    assert reject.reason.endswith("(5)")
    facts, graphs = (
        [rows(getattr(each, what)(decoded=True)) for each in pipelines]
        for what in ("facts", "graphs")
    )
    assert facts[0] == facts[1]
    assert graphs[0] == graphs[1]
