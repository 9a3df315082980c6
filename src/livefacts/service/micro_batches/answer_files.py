"""Answer files: where the answers of a micro-batch go, once for each batch, whatever happens.

A file is called like its batch, and written as a whole: a batch that comes again writes the same
file again, so a folder is that of one stream.  A Delta table notes in its log which batch of a
stream it has last; one that it has is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Protocol

import pyarrow as pa

from livefacts.errors import LivefactsError, OptionError
from livefacts.kb.stores.file_path import NO_OPTIONS, StorePath, store_path
from livefacts.service.micro_batches.answer_rows import CAME, FACT, OP, TIME

DELTA, PARQUET, JSON_LINES, PATCH = FORMATS = ("delta", "parquet", "jsonl", "patch")
SUFFIXES = {PARQUET: "parquet", JSON_LINES: "jsonl", PATCH: "rdfp"}
DIGITS = 12
OWNER = "_stream"
"""The file of a folder of answers that says whose they are; readers pass over such names."""


class AnswerFiles(Protocol):
    """Takes the answers of batches."""

    def write(self, batch: int, table: pa.Table) -> None:
        """Have the answers of a batch there, once; a batch without any is not written."""


def answer_files(
    to: str, format: str, stream: str, options: Mapping[str, str] = NO_OPTIONS
) -> AnswerFiles:
    """Where the answers of a stream go, which no other has this name of."""
    if format not in FORMATS:
        raise OptionError(f"answers are written as {', '.join(FORMATS)}, not {format!r}")
    place = store_path(to, options)
    return DeltaAnswers(place, stream) if format == DELTA else BatchFiles(place, format, stream)


class BatchFiles:
    """A folder with one file for each batch."""

    def __init__(self, folder: StorePath, format: str, stream: str) -> None:
        self._folder = folder
        self._format = format
        self._stream = stream
        self._is_ours = self._checked()

    def _checked(self) -> bool:
        """Whether the folder is noted to be that of this stream; that of another is refused."""
        try:
            owner = (self._folder / OWNER).read().decode()
        except FileNotFoundError:
            return False
        if owner != self._stream:
            raise LivefactsError(
                f"{self._folder} has the answers of another stream, or of one that began anew",
                hint="name another folder: files are called like their batches, and new ones would "
                "take the place of those that are there",
            )
        return True

    def write(self, batch: int, table: pa.Table) -> None:
        """Write a file under the number of the batch."""
        if not len(table):
            return
        if not self._is_ours:
            (self._folder / OWNER).write(self._stream.encode())
            self._is_ours = True
        name = PurePosixPath(f"{batch:0{DIGITS}d}.{SUFFIXES[self._format]}")
        (self._folder / str(name)).write(_WRITERS[self._format](table))


class DeltaAnswers:
    """A Delta table to which each batch is appended."""

    def __init__(self, folder: StorePath, stream: str) -> None:
        self._folder = folder
        self._name = f"livefacts {stream}"

    def write(self, batch: int, table: pa.Table) -> None:
        """Append a batch, unless the table has it."""
        from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

        if not len(table):
            return
        address, options = str(self._folder), dict(self._folder.options)
        if DeltaTable.is_deltatable(address, options):
            known = DeltaTable(address, storage_options=options).transaction_version(self._name)
            if known is not None and known >= batch:
                return
        noted = CommitProperties(app_transactions=[Transaction(self._name, batch)])
        write_deltalake(
            address,
            table,
            mode="append",
            schema_mode="merge",
            storage_options=options,
            commit_properties=noted,
        )


def _parquet(table: pa.Table) -> bytes:
    import pyarrow.parquet as pq

    out = pa.BufferOutputStream()
    pq.write_table(table, out)
    return out.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _json_lines(table: pa.Table) -> bytes:
    rows = (
        {name: value for name, value in row.items() if value is not None}
        for row in table.to_pylist()
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _patch(table: pa.Table) -> bytes:
    """One transaction for each time point, below a header that says which."""
    lines: list[str] = []
    time: int | None = None
    for row in table.to_pylist():
        if row[TIME] != time:
            lines += [*_end(lines), f"H time {row[TIME]} .", "TX ."]
            time = row[TIME]
        lines.append(f"{'A' if row.get(OP, CAME) == CAME else 'D'} {_statement(row)} .")
    return "".join(f"{line}\n" for line in [*lines, *_end(lines)]).encode()


def _end(lines: Sequence[str]) -> list[str]:
    return ["TC ."] if lines else []


def _statement(row: Mapping[str, Any]) -> str:
    if FACT in row:
        return str(row[FACT])
    return " ".join(row[name] for name in TRIPLE)


TRIPLE = ("subject", "predicate", "object")
_WRITERS = {PARQUET: _parquet, JSON_LINES: _json_lines, PATCH: _patch}
