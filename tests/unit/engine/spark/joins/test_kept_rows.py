"""Kept rows: little of them in the driver, much in files, counted, and the same whatever they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from livefacts.engine.spark.jobs.frames import rows_frame
from livefacts.engine.spark.jobs.work import passing_folder
from livefacts.engine.spark.joins import kept_rows
from livefacts.engine.spark.joins.kept_rows import KeptRows, keep_rows, together
from livefacts.kb.stores.file_path import store_path
from livefacts.kb.vacuum import SAFE_AGE, vacuum_rounds


def numbers(spark: Any, count: int) -> Any:
    return spark.range(0, count, 1, 2).selectExpr(
        "id AS c0", "map(id, 'x') AS made", "id > 3 AS late"
    )


def found(rows: KeptRows) -> list[int]:
    return sorted(row.c0 for row in rows.frame.where("made[c0] = 'x'").collect())


@pytest.mark.parametrize("few", [2_000, 3])
def test_rows_are_kept_and_counted(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(kept_rows, "FEW_IN_ALL", few)
    kept = keep_rows(store_path(tmp_path), numbers(spark, 9), ["late", "c0 % 2"])
    assert found(kept) == list(range(9))
    assert dict(kept.counts) == {(False, 0): 2, (False, 1): 2, (True, 0): 3, (True, 1): 2}
    assert kept.count == 9
    assert bool(kept.files) == (few < 9)


def test_rows_that_are_kept_one_after_the_other_are_one_table(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_rows, "FEW_IN_ALL", 4)
    monkeypatch.setattr(kept_rows, "MANY_FILES", 1)
    folder = store_path(tmp_path)
    parts = [keep_rows(folder, numbers(spark, count)) for count in (3, 0, 2, 5)]
    whole = parts[0]
    for part in parts[1:]:
        whole = together(folder, whole, part)
    assert found(whole) == sorted([0, 1, 2, 0, 1, 0, 1, 2, 3, 4])
    assert whole.count == 10
    assert len(whole.files) <= 1


def test_a_table_with_an_empty_piece_is_read_to_its_end(spark: Any) -> None:
    rows = pa.table({"id": [1, 2]})
    pieces = pa.concat_tables([rows, rows.slice(0, 0), rows])
    assert rows_frame(spark, pieces).count() == 4


def test_rows_of_a_change_are_gone_with_it_and_those_of_a_lost_driver_with_age(
    tmp_path: Path,
) -> None:
    base = store_path(tmp_path)
    with passing_folder(base) as folder:
        (folder / "a.parquet").write(b"rows")
    assert not folder.list()
    left = base / ".exchange" / "left"
    (left / "b.parquet").write(b"rows")
    (state,) = left.files("").values()
    written = state.written / 1e9
    assert vacuum_rounds(base, now=written + SAFE_AGE / 2).files == 0
    assert (left / "b.parquet").exists()
    assert vacuum_rounds(base, now=written + SAFE_AGE + 1).bytes == 4
    assert not left.list()
