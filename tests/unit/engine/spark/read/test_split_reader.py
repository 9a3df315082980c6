"""Reading splits in tasks: pieces, rejects with their lines, and files that are left out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from livefacts.engine.spark.read import split_reader
from livefacts.engine.spark.read.bucket_intake import Read
from livefacts.engine.spark.read.ingestion import placed, without_failed
from livefacts.engine.spark.read.split_reader import FactPiece, SplitReading
from livefacts.engine.spark.read.splits import Split, make_splits
from livefacts.kb.term_encoding import Encoding
from livefacts.syntax.input.rejects import Reject

LINES = [f"<urn:s{i}> <urn:p> <urn:o{i % 7}> ." for i in range(100)]


def texts_of(piece: FactPiece) -> set[tuple[str, ...]]:
    texts = dict(zip(piece.terms.ids.tolist(), piece.terms.texts.to_pylist(), strict=True))
    rows = [*piece.triples.tolist(), *piece.quads.tolist()]
    rows += [row for others in piece.others.values() for row in others.tolist()]
    return {tuple(texts[each] for each in row) for row in rows}


@pytest.mark.slow
def test_a_packed_file_is_read_in_pieces_that_stand_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(split_reader, "ROWS_PER_PIECE", 1 << 16)
    count = 150_000
    text = "".join(f"<urn:s{i}> <urn:p> <urn:o{i % 7}> .\n" for i in range(count))
    path = tmp_path / "many.nt.gz"
    path.write_bytes(gzip.compress(text.encode(), 1))
    pieces = list(SplitReading(Split(str(path), b"x"), Encoding()).pieces())
    assert [piece.rows < 100_000 for piece in pieces] == [True] * 3
    found = set.union(*map(texts_of, pieces))
    assert found == {(f"<urn:s{i}>", "<urn:p>", f"<urn:o{i % 7}>") for i in range(count)}


def test_statements_of_named_graphs_are_apart_from_the_others(tmp_path: Path) -> None:
    path = tmp_path / "some.nq"
    path.write_text("<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p> <urn:c> <urn:g> .\n")
    (piece,) = SplitReading(Split(str(path), b"x"), Encoding()).pieces()
    assert (len(piece.triples), len(piece.quads)) == (1, 1)
    assert ("<urn:a>", "<urn:p>", "<urn:c>", "<urn:g>") in texts_of(piece)


def test_facts_of_a_rule_file_are_read_by_their_number_of_arguments(tmp_path: Path) -> None:
    path = tmp_path / "some.rules"
    path.write_text(
        'dry().\nisIn(lamp, kitchen).\nheat(kitchen, 21, "warm").\n[<urn:a>, <urn:p>, 3].\n'
    )
    (piece,) = SplitReading(Split(str(path), b"x"), Encoding()).pieces()
    assert sorted(piece.others) == [1, 3, 4]
    assert ("'isIn", "'lamp", "'kitchen") in texts_of(piece)
    assert len(piece.triples) == 1


def test_a_file_with_a_rule_is_left_out_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "some.rules"
    path.write_text("a(b).\nc(?x) :- a(?x) .\n")
    task = SplitReading(Split(str(path), b"x"), Encoding())
    assert list(task.pieces()) == []
    assert task.failure == "rules cannot be ingested: give them to materialize (line 2)"


def test_all_rejects_are_counted_and_the_first_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "bad.nt"
    path.write_text("no triple\n" * 1500 + LINES[0] + "\n")
    task = SplitReading(Split(str(path), b"x"), Encoding())
    (piece,) = task.pieces()
    assert (piece.rows, task.rejects.count) == (1, 1500)
    assert [reject.line for reject in task.rejects.kept] == list(range(1, 1001))


def test_lines_of_later_parts_of_a_file_are_counted_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "long.nt"
    path.write_text("\n".join([*LINES[:90], "no triple", *LINES[90:]]) + "\n")
    splits = make_splits([path], "s", bytes_per_split=700)
    assert len(splits) > 3
    reads = []
    for split in splits:
        task = SplitReading(split, Encoding())
        rows = sum(piece.rows for piece in task.pieces())
        reads.append(
            Read(split, rows=rows, lines=task.lines, rejects=tuple(task.rejects.kept), rejected=0)
        )
    assert sum(read.rows for read in reads) == 100
    assert [reject.line for reject in placed(reads)] == [91]


def test_a_file_that_becomes_shorter_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "long.nt"
    path.write_text("\n".join(LINES) + "\n")
    last = make_splits([path], "s", bytes_per_split=700)[-1]
    path.write_text("\n".join(LINES[:90]) + "\n")
    task = SplitReading(last, Encoding())
    assert list(task.pieces()) == []
    assert task.failure == "the file has become shorter while it was read"


def test_a_file_of_which_one_part_fails_is_left_out_as_a_whole() -> None:
    good = [Read(Split("a.nt", b"", None, i, i + 1), rows=5, lines=5) for i in range(2)]
    bad = [Read(Split("b.nt", b"", None, i, i + 1), rows=5, lines=5) for i in range(3)]
    bad[1] = Read(bad[1].split, failure="the disk went away")
    left = without_failed([good[0], *bad, good[1]])
    assert left == [good[0], bad[1], good[1]]
    assert placed(left) == [Reject("b.nt", 0, 0, "the disk went away; the file was left out", "")]
