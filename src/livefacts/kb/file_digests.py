"""File digests: tables that are on the disk before a commit names them, and digests of their files.

A checkpoint notes every data file of its tables with a digest, and the row of a commit has one of
itself.  Whoever opens the folder compares: a file that is missing, changed or no longer in the
log of its table is damage, and is named.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from livefacts.errors import DamageError
from livefacts.journal import file_operations
from livefacts.journal.log_file import digest_of
from livefacts.kb.delta_log import FOLDER
from livefacts.kb.stores.file_path import StorePath

HINT = "restore the folder from a backup, or have the file again as it was"
Digests = Mapping[str, Mapping[str, str]]
"""The digests of data files by table and name."""
IN_A_ROW = ("seq", "batch", "kind", "rows", "versions", "notes")


def sync_tables(path: StorePath, files: Mapping[str, Sequence[str]]) -> None:
    """Have these data files of tables, and the latest entries of their logs, on the disk.

    What a remote store has taken, it keeps.
    """
    if not path.is_local:
        return
    folder = path.folder
    for name, names in files.items():
        table, log = folder / name, folder / name / FOLDER
        written = [table / each for each in names if each.endswith(".parquet")]
        for each in (*written, *sorted(log.glob("*.json"))[-2:]):
            file_operations.sync_file(each)
        for place in (log, table):
            file_operations.sync_folder(place)
    file_operations.sync_folder(folder)


def digests_of(
    files: Mapping[str, Sequence[StorePath]], known: Digests
) -> dict[str, dict[str, str]]:
    """The digests of data files; a file that has one keeps it, for files never change."""
    return {
        table: {
            path.name: known.get(table, {}).get(path.name) or file_digest(path) for path in paths
        }
        for table, paths in files.items()
    }


def file_damages(
    files: Mapping[str, Sequence[StorePath]],
    digests: Digests,
    *,
    is_all: bool,
    digest: Callable[[StorePath], str],
) -> Iterator[DamageError]:
    """Data files that are not as they were written; `is_all`, or that should not be there."""
    for table, paths in files.items():
        found, expected = {path.name: path for path in paths}, digests.get(table, {})
        if is_all and found.keys() != expected.keys():
            yield DamageError(f"the log of the table `{table}` names other files", hint=HINT)
        for name, path in found.items():
            try:
                if (now := digest(path)) != expected.get(name, now):
                    yield DamageError(f"{path} is not as it was written", hint=HINT)
            except DamageError as error:
                yield error


def file_digest(path: StorePath) -> str:
    """A digest of what is in a file."""
    try:
        with path.stream() as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()[:32]  # type: ignore[arg-type]
    except OSError as error:
        raise DamageError(f"{path} cannot be read: {error.strerror}", hint=HINT) from error


def write_noted(folder: StorePath, name: str, content: Mapping[str, Any]) -> dict[str, str]:
    """Write plain data as a file that is on the disk; what a commit notes of it."""
    data = json.dumps(content, ensure_ascii=False).encode()
    (folder / name).write(data)
    if folder.is_local:
        file_operations.sync_folder(folder.folder)
    return {"file": name, "digest": digest_of(data).hex()}


def read_noted(folder: StorePath, noted: Mapping[str, str]) -> dict[str, Any]:
    """The plain data of a file that a commit notes."""
    path = folder / noted["file"]
    try:
        data = path.read()
    except OSError as error:
        raise DamageError(f"{path} cannot be read: {error.strerror}", hint=HINT) from error
    if digest_of(data).hex() != noted["digest"]:
        raise DamageError(f"{path} is not as it was written", hint=HINT)
    found: dict[str, Any] = json.loads(data)
    return found


def row_digest(row: Mapping[str, Any]) -> str:
    """A digest of a row of the table of commits."""
    return digest_of(*(str(row[name]).encode() for name in IN_A_ROW)).hex()
