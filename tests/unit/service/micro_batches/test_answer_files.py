"""Answers of several streams at one place: none takes the place of others, and none is left out."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import livefacts as lf
from livefacts.service.micro_batches.answer_files import answer_files
from livefacts.service.micro_batches.answer_rows import CHANGE_SCHEMA
from livefacts.service.micro_batches.stream_reasoner import stream_id


def rows(batch: int, fact: str) -> pa.Table:
    row = {"batch": batch, "time": 1, "op": "+", "fact": fact}
    return pa.Table.from_pylist([row], CHANGE_SCHEMA)


def test_a_checkpoint_has_one_name_and_no_other_has_it(tmp_path: Path) -> None:
    first = stream_id(tmp_path / "a")
    assert stream_id(tmp_path / "a") == first
    assert stream_id(tmp_path / "b") != first


def test_a_delta_table_has_the_same_batch_of_several_streams(tmp_path: Path) -> None:
    from deltalake import DeltaTable

    place = str(tmp_path / "answers")
    for stream in ("program 1", "program 2", "program 1"):
        answer_files(place, "delta", stream).write(0, rows(0, f"of({stream[-1]})"))
    found = DeltaTable(place).to_pyarrow_table().to_pylist()
    assert sorted(row["fact"] for row in found) == ["of(1)", "of(2)"]


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_a_folder_of_files_is_of_one_stream(tmp_path: Path, format: str) -> None:
    place = str(tmp_path / "answers")
    answer_files(place, format, "program 1").write(0, rows(0, "p(1)"))
    answer_files(place, format, "program 1").write(1, rows(1, "p(2)"))
    with pytest.raises(lf.LivefactsError, match="the answers of another stream"):
        answer_files(place, format, "program 2")
    assert len(list((tmp_path / "answers").glob(f"*.{format}"))) == 2
