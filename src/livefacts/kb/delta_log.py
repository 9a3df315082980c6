"""The log of a Delta table: files are appended by one small entry, and nothing is read.

A Delta table is a folder of data files and a log of numbered entries, each of which says
which files come and go.  An entry belongs to whoever is the first to make the file with the
next number.  Anything but appending is left to the deltalake package, which reads the log,
checks it and sums it up; for one small change that would take longer than all the rest.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from livefacts.kb.stores.file_path import StorePath

FOLDER = "_delta_log"
DIGITS = 20
APPLICATION = "livefacts"
LAST_CHECKPOINT = "_last_checkpoint"


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file that a task wrote into a table's folder; `written` is in milliseconds.

    One whose rows are those of files that it replaces is not new: whoever follows the table by its
    log has seen them.
    """

    name: str
    size: int
    rows: int
    written: int
    is_new: bool = True


class TakenError(Exception):
    """Someone else has made the next entry."""


class Log:
    """The log of one table, and its last version as far as it is known."""

    def __init__(self, table: StorePath) -> None:
        self._folder = table / FOLDER
        self._known = -1

    def version(self) -> int:
        """The last version; -1 if there is no table."""
        if self._known < 0:
            self._known = max(self.numbers(), default=-1)
        while self._known >= 0 and self._entry(self._known + 1).exists():
            self._known += 1
        return self._known

    def numbers(self) -> list[int]:
        """The numbers of the entries that are there, in order."""
        names = self._folder.files(".json")
        return sorted(int(name[:DIGITS]) for name in names if name[:DIGITS].isdigit())

    def actions(self, version: int) -> list[dict[str, Any]]:
        """What an entry did, removals first."""
        lines = self._entry(version).read().splitlines()
        found = [json.loads(line) for line in lines if line]
        return sorted(found, key=lambda action: "remove" not in action)

    def _entry(self, version: int) -> StorePath:
        return self._folder / f"{version:0{DIGITS}d}.json"

    def since_checkpoint(self) -> int:
        """How many entries there are that no checkpoint sums up."""
        try:
            summed_up = json.loads((self._folder / LAST_CHECKPOINT).read())
        except FileNotFoundError:
            return self.version() + 1
        return self.version() - int(summed_up["version"])

    def append(
        self,
        files: Sequence[DataFile],
        *,
        replaced: Sequence[str] = (),
        change: int | None = None,
    ) -> int:
        """Add files after the last version that is known; `change` is noted as a transaction.

        Files that are replaced have no rows but those that the new ones have as well.
        """
        version = self._known + 1
        entry, text = self._entry(version), _entry_text(files, replaced, change)
        if not entry.store.put_if_absent(entry.address, text.encode()):
            raise TakenError
        self._known = version
        return version


def open_table(table: StorePath, version: int | None = None) -> Any:
    """A Delta table, as it is now or at a version."""
    from deltalake import DeltaTable

    return DeltaTable(str(table), version=version, storage_options=table.options)


def files_at(table: StorePath, version: int) -> list[StorePath]:
    """The data files of a Delta table at a version."""
    # Addresses have names of folders encoded; the names of files here need no encoding.
    addresses = open_table(table, version).file_uris()
    return sorted(table / address.rpartition("/")[2] for address in addresses)


def rows_at(table: StorePath, version: int) -> int:
    """How many rows a Delta table has at a version; files that the log does not count are asked."""
    found = pa.table(open_table(table, version).get_add_actions(flatten=True))
    rows = 0
    for path, count in zip(
        found["path"].to_pylist(), found["num_records"].to_pylist(), strict=True
    ):
        rows += (table / unquote(path)).parquet().metadata.num_rows if count is None else count
    return rows


def size_of(files: Iterable[StorePath]) -> int:
    """How many bytes files have."""
    return sum(state.size for file in files if (state := file.stat()) is not None)


def _entry_text(files: Sequence[DataFile], replaced: Sequence[str], change: int | None) -> str:
    now = time.time_ns() // 1_000_000
    information = {
        "timestamp": now,
        "operation": "WRITE",
        "operationParameters": {"mode": "Append"},
        "engineInfo": APPLICATION,
    }
    actions: list[dict[str, Any]] = [{"commitInfo": information}]
    actions += [
        {"remove": {"path": name, "deletionTimestamp": now, "dataChange": False}}
        for name in replaced
    ]
    actions += [{"add": _added(file)} for file in files]
    if change is not None:
        actions.append({"txn": {"appId": APPLICATION, "version": change, "lastUpdated": now}})
    return "\n".join(map(json.dumps, actions))


def _added(file: DataFile) -> dict[str, Any]:
    return {
        "path": file.name,
        "partitionValues": {},
        "size": file.size,
        "modificationTime": file.written,
        "dataChange": file.is_new,
        "stats": json.dumps({"numRecords": file.rows}),
    }
