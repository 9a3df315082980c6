"""The log of a Delta table: files are appended by one small entry, and nothing is read.

A Delta table is a folder of data files and a log of numbered entries, each of which says
which files come and go.  An entry belongs to whoever is the first to make the file with the
next number.  Anything but appending is left to the deltalake package, which reads the log,
checks it and sums it up; for one small change that would take longer than all the rest.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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

    def __init__(self, table: Path) -> None:
        self._folder = table / FOLDER
        self._known = -1

    def version(self) -> int:
        """The last version; -1 if there is no table."""
        if self._known < 0:
            self._known = max(map(_number, self._entries()), default=-1)
        while self._known >= 0 and self._entry(self._known + 1).exists():
            self._known += 1
        return self._known

    def _entries(self) -> list[str]:
        names = os.listdir(self._folder) if self._folder.is_dir() else []
        return [name for name in names if name.endswith(".json") and name[:DIGITS].isdigit()]

    def _entry(self, version: int) -> Path:
        return self._folder / f"{version:0{DIGITS}d}.json"

    def since_checkpoint(self) -> int:
        """How many entries there are that no checkpoint sums up."""
        try:
            summed_up = json.loads((self._folder / LAST_CHECKPOINT).read_text(encoding="utf-8"))
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
        part = self._folder / f"_commit_{uuid.uuid4().hex}.json.tmp"
        part.write_text(_entry_text(files, replaced, change), encoding="utf-8")
        try:
            os.link(part, self._entry(version))
        except FileExistsError as error:
            raise TakenError from error
        finally:
            part.unlink()
        self._known = version
        return version


def can_append(table: Path) -> bool:
    """Whether entries can be made here: the file system has to know links."""
    first, second = (table / f".{uuid.uuid4().hex}" for _ in range(2))
    first.touch()
    try:
        os.link(first, second)
    except OSError:
        return False
    else:
        second.unlink()
        return True
    finally:
        first.unlink()


def _number(name: str) -> int:
    return int(name[:DIGITS])


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
