"""File digests: tables that are on the disk before a commit names them, and digests of their files.

A checkpoint notes every data file of its tables with a digest, and the row of a commit has one of
itself.  Whoever opens the folder compares: a file that is missing, changed or no longer in the
log of its table is damage, and is named.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from livefacts.errors import DamageError
from livefacts.journal import file_operations
from livefacts.journal.log_file import digest_of
from livefacts.kb.delta_log import FOLDER

HINT = "restore the folder from a backup, or have the file again as it was"
Digests = Mapping[str, Mapping[str, str]]
"""The digests of data files by table and name."""
IN_A_ROW = ("seq", "batch", "kind", "rows", "versions", "notes")


def sync_tables(folder: Path, files: Mapping[str, Sequence[str]]) -> None:
    """Have these data files of tables, and the latest entries of their logs, on the disk."""
    for name, names in files.items():
        table, log = folder / name, folder / name / FOLDER
        written = [table / each for each in names if each.endswith(".parquet")]
        for path in (*written, *sorted(log.glob("*.json"))[-2:]):
            file_operations.sync_file(path)
        for place in (log, table):
            file_operations.sync_folder(place)
    file_operations.sync_folder(folder)


def digests_of(files: Mapping[str, Sequence[str]], known: Digests) -> dict[str, dict[str, str]]:
    """The digests of data files; a file that has one keeps it, for files never change."""
    return {
        table: {
            Path(name).name: known.get(table, {}).get(Path(name).name) or file_digest(name)
            for name in names
        }
        for table, names in files.items()
    }


def file_damages(
    files: Mapping[str, Sequence[str]],
    digests: Digests,
    *,
    is_all: bool,
    digest: Callable[[str], str],
) -> Iterator[DamageError]:
    """Data files that are not as they were written; `is_all`, or that should not be there."""
    for table, names in files.items():
        found, expected = {Path(name).name: name for name in names}, digests.get(table, {})
        if is_all and found.keys() != expected.keys():
            yield DamageError(f"the log of the table `{table}` names other files", hint=HINT)
        for name, path in found.items():
            try:
                if (now := digest(path)) != expected.get(name, now):
                    yield DamageError(f"{path} is not as it was written", hint=HINT)
            except DamageError as error:
                yield error


def file_digest(path: str | Path) -> str:
    """A digest of what is in a file."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()[:32]
    except OSError as error:
        raise DamageError(f"{path} cannot be read: {error.strerror}", hint=HINT) from error


def write_noted(folder: Path, name: str, content: Mapping[str, Any]) -> dict[str, str]:
    """Write plain data as a file that is on the disk; what a commit notes of it."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    data = json.dumps(content, ensure_ascii=False).encode()
    file_operations.replace_file(path, data)
    file_operations.sync_folder(folder)
    return {"file": name, "digest": digest_of(data).hex()}


def read_noted(folder: Path, noted: Mapping[str, str]) -> dict[str, Any]:
    """The plain data of a file that a commit notes."""
    path = folder / noted["file"]
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DamageError(f"{path} cannot be read: {error.strerror}", hint=HINT) from error
    if digest_of(data).hex() != noted["digest"]:
        raise DamageError(f"{path} is not as it was written", hint=HINT)
    found: dict[str, Any] = json.loads(data)
    return found


def row_digest(row: Mapping[str, Any]) -> str:
    """A digest of a row of the table of commits."""
    return digest_of(*(str(row[name]).encode() for name in IN_A_ROW)).hex()
