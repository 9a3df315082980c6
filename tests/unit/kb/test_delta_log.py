"""Entries of a Delta log that we make are those that everyone else reads."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

import livefacts as lf
from livefacts.kb import compaction
from livefacts.kb.delta_log import Log, TakenError
from livefacts.kb.stores.file_path import store_path
from livefacts.kb.stores.machine_files import LocalStore
from livefacts.kb.tables import CHANGES, TERMS, write_file
from livefacts.spark import Pipeline

ROWS = pa.table({"town": ["mill", "castle"]})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    from deltalake import write_deltalake

    write_deltalake(tmp_path / "towns", ROWS)
    return tmp_path / "towns"


def test_files_that_are_appended_belong_to_the_next_version(table: Path) -> None:
    log = Log(store_path(table))
    assert log.version() == 0
    assert log.append([write_file(table, ROWS), write_file(table, ROWS)], change=7) == 1
    found = DeltaTable(table)
    assert found.to_pyarrow_table().num_rows == 6
    assert found.transaction_version("livefacts") == 7
    assert DeltaTable(table, version=0).to_pyarrow_table().num_rows == 2


def test_what_others_have_appended_is_seen(table: Path) -> None:
    ours, theirs = Log(store_path(table)), Log(store_path(table))
    assert ours.version() == theirs.version() == 0
    theirs.append([write_file(table, ROWS)])
    assert ours.version() == 1
    assert ours.since_checkpoint() == 2
    DeltaTable(table).create_checkpoint()
    assert ours.since_checkpoint() == 0


def test_of_two_writers_the_second_is_refused_and_leaves_nothing(table: Path) -> None:
    ours, theirs = Log(store_path(table)), Log(store_path(table))
    assert ours.version() == theirs.version()
    theirs.append([write_file(table, ROWS)])
    with pytest.raises(TakenError):
        ours.append([write_file(table, ROWS)])
    assert DeltaTable(table).version() == 1
    assert not list(table.glob("_delta_log/*.tmp"))


def test_a_folder_without_a_table_has_no_version(tmp_path: Path) -> None:
    assert Log(store_path(tmp_path)).version() == -1
    assert LocalStore().can_put_files(str(tmp_path))
    assert not list(tmp_path.iterdir())


def test_who_follows_a_table_by_its_log_sees_each_row_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that only hold the rows of those that they replace are no change of data."""
    monkeypatch.setattr(compaction, "TIDY_EVERY", 3)
    lf.Reasoner(rules="rho-df").checkpoint(tmp_path / "kb")
    pipeline = Pipeline(None, tmp_path / "kb", memory="1g")  # type: ignore[arg-type]
    for number in range(8):
        pipeline.update(add=f"<urn:a{number}> <urn:p> <urn:b{number}> .")
    last = pipeline.base.last()
    for table in (CHANGES, TERMS):
        entries = sorted((tmp_path / "kb" / table / "_delta_log").glob("*.json"))
        actions = [json.loads(line) for entry in entries for line in entry.read_text().splitlines()]
        added = [action["add"] for action in actions if "add" in action]
        seen = sum(json.loads(add["stats"])["numRecords"] for add in added if add["dataChange"])
        assert seen == pipeline.base.count(table, last) >= 8
        assert not all(add["dataChange"] for add in added), "nothing was merged"
        assert not any(action["remove"]["dataChange"] for action in actions if "remove" in action)
