"""Entries of a Delta log that we make are those that everyone else reads."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from livefacts.kb.delta_log import Log, TakenError
from livefacts.kb.stores.file_path import store_path
from livefacts.kb.stores.machine_files import LocalStore
from livefacts.kb.tables import write_file

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
