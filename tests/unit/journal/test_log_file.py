"""A log file: rows come back, a cut-off row is left out, and every damage is found."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from livefacts.errors import DamageError
from livefacts.journal import file_operations, log_file
from livefacts.journal.log_file import (
    HEADER_SIZE,
    ROW_SIZE,
    START,
    STEP,
    LogHeader,
    LogReader,
    LogWriter,
)

ROWS = [f'{{"row": {number}, "text": "{"x" * number}"}}'.encode() for number in range(40)]
LARGE = [b"a" * STEP, b"b" * 10, b"c" * (2 * STEP)]


def written(folder: Path, rows: list[bytes]) -> Path:
    path = folder / "log"
    writer = LogWriter.create(path, LogHeader(1, 0, START))
    for row in rows:
        writer.append(row)
    writer.sync()
    writer.close()
    return path


def end_of(rows: list[bytes]) -> int:
    return HEADER_SIZE + sum(ROW_SIZE + len(row) + 1 for row in rows)


def read(path: Path) -> list[bytes]:
    """The rows, which who writes and who only follows see alike."""
    try:
        found = list(LogReader(path).rows())
    except DamageError as error:
        with pytest.raises(DamageError, match=re.escape(error.message)):
            list(LogReader(path).rows(is_growing=True))
        raise
    assert list(LogReader(path).rows(is_growing=True)) == found
    return found


@pytest.mark.parametrize("rows", [[], ROWS, LARGE])
def test_rows_come_back_as_they_were_written(tmp_path: Path, rows: list[bytes]) -> None:
    assert read(written(tmp_path, rows)) == rows


def test_writing_goes_on_where_reading_ended(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    reader = LogReader(path)
    assert list(reader.rows()) == ROWS
    writer = LogWriter(path, reader.end, reader.digest)
    writer.append(b"one more")
    assert list(reader.rows()) == [b"one more"]
    assert read(path) == [*ROWS, b"one more"]


def test_a_row_that_was_cut_off_anywhere_is_left_out_and_overwritten(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    whole, last = path.read_bytes(), ROW_SIZE + len(ROWS[-1]) + 1
    end = end_of(ROWS)
    for kept in range(last):
        path.write_bytes(whole[: end - last + kept] + bytes(len(whole) - end + last - kept))
        assert read(path) == ROWS[:-1], kept
        reader = LogReader(path)
        assert list(reader.rows()) == ROWS[:-1], kept
    writer = LogWriter(path, reader.end, reader.digest)
    writer.clean()
    writer.append(b"short")
    assert read(path) == [*ROWS[:-1], b"short"]


@pytest.mark.slow
def test_a_flipped_bit_is_found_wherever_rows_are(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    whole = path.read_bytes()
    end = end_of(ROWS)
    for place in range(end):
        for bit in (random.Random(place).randrange(8),):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
            with pytest.raises(DamageError, match="log"):
                read(path)


@pytest.mark.slow
def test_a_file_that_was_cut_is_found_unless_no_row_is_missing(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    whole = path.read_bytes()
    end = end_of(ROWS)
    for size in range(end + 1):
        path.write_bytes(whole[:size])
        with pytest.raises(DamageError, match="log"):
            read(path)
    path.write_bytes(whole[: end + 1])
    assert read(path) == ROWS


def test_a_row_that_is_not_there_any_more_is_found(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    whole, size = path.read_bytes(), ROW_SIZE + len(ROWS[0]) + 1
    path.write_bytes(whole[:HEADER_SIZE] + whole[HEADER_SIZE + size :] + bytes(size))
    with pytest.raises(DamageError, match="not as it was written"):
        read(path)
    path.write_bytes(whole[:HEADER_SIZE] + bytes(size) + whole[HEADER_SIZE + size :])
    with pytest.raises(DamageError, match="others follow"):
        read(path)


def test_a_follower_takes_no_row_for_damaged_that_is_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two looks at a file a row is written: the first part is old, the last part new."""
    path = written(tmp_path, ROWS)
    reader, before = LogReader(path), LogReader(path)
    assert list(before.rows()) == ROWS
    writer = LogWriter(path, before.end, before.digest)
    last_nonzero = log_file._File.last_nonzero
    left = [b"a" * 5, b"b" * STEP, b"c"]

    def meanwhile(file: log_file._File, offset: int) -> int:
        if left:
            writer.append(left.pop(0))
            file._piece = b""
        return last_nonzero(file, offset)

    monkeypatch.setattr(log_file._File, "last_nonzero", meanwhile)
    assert list(reader.rows(is_growing=True)) == [*ROWS, b"a" * 5, b"b" * STEP, b"c"]
    writer.close()


def test_a_row_is_wiped_from_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever someone looks, there is the beginning of a row, and then zeros."""
    path = written(tmp_path, [*ROWS, b"x" * 20_000])
    whole, end = path.read_bytes(), end_of(ROWS)
    path.write_bytes(whole[: end + 15_000] + bytes(len(whole) - end - 15_000))
    reader = LogReader(path)
    assert list(reader.rows()) == ROWS
    seen = list[list[bytes]]()
    monkeypatch.setattr(file_operations, "on_step", lambda step, path: seen.append(read(path)))
    writer = LogWriter(path, reader.end, reader.digest)
    writer.clean()
    writer.close()
    assert seen == [ROWS] * len(seen)
    assert len(seen) > 6
    assert path.read_bytes() == whole[:end] + bytes(len(whole) - end)
