"""The sink of RDF Patch: a file for each task that has rows, under the number of its micro-batch.

Tasks write under hidden names, and files are renamed when all of them are done.  A micro-batch that
comes again replaces its files, so that each is there once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from livefacts.errors import InputError
from livefacts.kb.stores.address import is_remote

TERMS = ("s", "p", "o", "g")
WANTED = "columns are value, or op and fact, or op, s, p, o and g"
MARKS = {"A": "A", "D": "D", "+": "A", "-": "D", "1": "A", "-1": "D"}


@dataclass(frozen=True)
class WrittenPatch(WriterCommitMessage):
    """A file that a task has written; none if it had no rows."""

    path: str | None
    task: int


class PatchFolder:
    """The folder into which rows go."""

    def __init__(self, options: Mapping[str, str], columns: Sequence[str]) -> None:
        path = options.get("path", "")
        if not path or is_remote(path):
            raise InputError(
                f"rdfpatch writes into a folder that all tasks see, not into {path or 'nothing'}",
                hint='start("out/") names one; format("delta") and others write to stores',
            )
        self._folder = Path(path.removeprefix("file:")).absolute()
        names = set(columns)
        known = "value" in names or {"op", "fact"} <= names or {"op", *TERMS[:3]} <= names
        if not known:
            raise InputError(
                f"no patch can be made of the columns {', '.join(columns)}", hint=WANTED
            )

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write the rows of a task; nobody sees them yet."""
        from pyspark import TaskContext

        context = TaskContext.get()
        task = context.partitionId() if context else 0
        self._folder.mkdir(parents=True, exist_ok=True)
        path, count = self._folder / f".{uuid4().hex}.unfinished", 0
        with path.open("w", encoding="utf-8") as file:
            file.write("TX .\n")
            for batch in iterator:
                for text in _rows(batch):
                    file.write(f"{text}\n")
                    count += 1
            file.write("TC .\n")
            file.flush()
            os.fsync(file.fileno())
        if not count:
            path.unlink()
        return WrittenPatch(str(path) if count else None, task)

    def publish(self, messages: Sequence[WriterCommitMessage | None], name: str) -> None:
        """Give files their names, in place of those that have them."""
        for old in self._folder.glob(f"{name}-*.rdfp"):
            old.unlink()
        for message in messages:
            if isinstance(message, WrittenPatch) and message.path:
                os.replace(message.path, self._folder / f"{name}-{message.task:05d}.rdfp")

    def drop(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Remove what tasks have written."""
        for message in messages:
            if isinstance(message, WrittenPatch) and message.path:
                Path(message.path).unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove all patches."""
        for old in self._folder.glob("*.rdfp"):
            old.unlink()


def _rows(batch: pa.RecordBatch) -> Iterator[str]:
    names = batch.schema.names
    if "value" in names:
        for value in batch["value"].to_pylist():
            yield value.decode() if isinstance(value, bytes) else value
        return
    columns = ["fact"] if "fact" in names else [name for name in TERMS if name in names]
    for row in batch.select(["op", *columns]).to_pylist():
        mark = MARKS.get(str(row["op"]))
        if mark is None:
            raise InputError(f"op is A or D, not {row['op']!r}")
        yield " ".join([mark, *(row[name] for name in columns if row[name] is not None), "."])


class PatchStreamWriter(DataSourceStreamArrowWriter):
    """Writes micro-batches."""

    def __init__(self, options: Mapping[str, str], columns: Sequence[str]) -> None:
        self._folder = PatchFolder(options, columns)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """The rows of a task."""
        return self._folder.write(iterator)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """All tasks are done."""
        self._folder.publish(messages, f"batch-{batchId:09d}")

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """One has failed."""
        self._folder.drop(messages)


class PatchBatchWriter(DataSourceArrowWriter):
    """Writes a DataFrame."""

    def __init__(self, options: Mapping[str, str], columns: Sequence[str], overwrite: bool) -> None:
        self._folder = PatchFolder(options, columns)
        self._overwrite = overwrite
        self._name = f"part-{uuid4().hex[:12]}"

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """The rows of a task."""
        return self._folder.write(iterator)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """All tasks are done."""
        if self._overwrite:
            self._folder.clear()
        self._folder.publish(messages, self._name)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """One has failed."""
        self._folder.drop(messages)
