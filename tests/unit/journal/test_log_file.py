"""A log file: rows come back, a cut-off row is left out, and every damage is found."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from livefacts.errors import DamageError
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


def read(path: Path) -> list[bytes]:
    return list(LogReader(path).rows())


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
    end = HEADER_SIZE + sum(ROW_SIZE + len(row) + 1 for row in ROWS)
    for kept in range(last):
        path.write_bytes(whole[: end - last + kept] + bytes(len(whole) - end + last - kept))
        reader = LogReader(path)
        assert list(reader.rows()) == ROWS[:-1], kept
    writer = LogWriter(path, reader.end, reader.digest)
    writer.clean()
    writer.append(b"short")
    assert read(path) == [*ROWS[:-1], b"short"]


def test_a_flipped_bit_is_found_wherever_rows_are(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    whole = path.read_bytes()
    end = HEADER_SIZE + sum(ROW_SIZE + len(row) + 1 for row in ROWS)
    for place in range(end):
        for bit in (random.Random(place).randrange(8),):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
            with pytest.raises(DamageError, match="log"):
                read(path)


def test_a_file_that_was_cut_is_found_unless_no_row_is_missing(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    whole = path.read_bytes()
    end = HEADER_SIZE + sum(ROW_SIZE + len(row) + 1 for row in ROWS)
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
