"""A folder as a stream: each file once, in the order in which they came.

The offset has the names of the files that were read, so that a batch that comes again has the same
files, whatever has come since, and a file that comes late is not passed over because it is old.  Names
that are a week older than the newest are forgotten, and files that old no longer looked at.
Names that begin with a dot or an underscore are passed over: a file is written under such a name,
and renamed when it is whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from livefacts.engine.spark.read.frame_columns import HIDDEN_STARTS
from livefacts.errors import InputError, LivefactsError
from livefacts.kb.stores.file_path import StorePath, store_path

MOST_FILES, MOST_BYTES = 1000, 64 << 20
"""What one micro-batch takes at most, unless options say otherwise; one file at least."""
FORGOTTEN_AFTER = 7 * 24 * 3600 * 1000
FILES_PER_TASK = 16


@dataclass(frozen=True, slots=True)
class FolderOptions:
    """Which folder, which names, and how much at once."""

    path: str
    suffixes: tuple[str, ...]
    most_files: int = MOST_FILES
    most_bytes: int = MOST_BYTES

    @classmethod
    def of(cls, given: Mapping[str, str], suffixes: tuple[str, ...]) -> FolderOptions:
        """The same from Spark's options."""
        if not given.get("path"):
            raise InputError("no folder to read", hint='load("in/") names one')
        files, size = (
            _number(given, name, otherwise)
            for name, otherwise in (
                ("maxFilesPerTrigger", MOST_FILES),
                ("maxBytesPerTrigger", MOST_BYTES),
            )
        )
        return cls(given["path"], suffixes, files, size)


def _number(given: Mapping[str, str], name: str, otherwise: int) -> int:
    text = given.get(name, str(otherwise))
    if not text.isdigit() or not int(text):
        raise InputError(f"{name}={text} is no number", hint=f"{otherwise} by default")
    return int(text)


@dataclass(frozen=True)
class FilesPartition(InputPartition):
    """Some files, and when each was written, in milliseconds."""

    files: tuple[tuple[str, int], ...]


FileRows = Callable[[StorePath], Iterator[dict[str, pa.Array]]]
"""The columns of a file, a batch at a time."""


@dataclass(frozen=True)
class FolderFiles:
    """The files of a folder, and how their rows are read."""

    options: FolderOptions
    rows: FileRows
    columns: tuple[str, ...]

    def listed(self) -> dict[str, tuple[int, int]]:
        """When each file was written, and how large it is."""
        return dict(_files_below(store_path(self.options.path), self.options.suffixes))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of some files, with the name and the time of each."""
        assert isinstance(partition, FilesPartition)
        for name, written in partition.files:
            path = store_path(name)
            time = datetime.fromtimestamp(written / 1000, UTC)
            for found in self.rows(path):
                count = len(next(iter(found.values())))
                stamp = pa.array([time] * count, pa.timestamp("us", "UTC"))
                known = {"file": pa.array([name] * count, pa.string()), "time": stamp, **found}
                arrays = [known[column] for column in self.columns]
                yield pa.RecordBatch.from_arrays(arrays, list(self.columns))


def _parts(chosen: Mapping[str, int]) -> list[FilesPartition]:
    """Tasks for files, the oldest first."""
    files = sorted(chosen.items(), key=lambda each: (each[1], each[0]))
    firsts = range(0, len(files), FILES_PER_TASK)
    return [FilesPartition(tuple(files[first : first + FILES_PER_TASK])) for first in firsts]


class FolderReader(DataSourceReader):
    """Reads a folder as it is."""

    def __init__(self, files: FolderFiles) -> None:
        self._files = files

    def partitions(self) -> Sequence[FilesPartition]:
        """All files there are."""
        return _parts({name: written for name, (written, _) in self._files.listed().items()})

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of some of them."""
        return self._files.read(partition)


class FolderStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a folder as it fills."""

    def __init__(self, files: FolderFiles) -> None:
        self._files = files
        self._options = files.options
        self._until: set[str] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Nothing was read yet."""
        return {"files": {}}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """So many files, unless a trigger says otherwise."""
        return ReadMaxFiles(self._options.most_files)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Files that come from now on are for the next time."""
        self._until = set(self._files.listed())

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """The files that were read, and those of the next batch."""
        known: dict[str, int] = position_in(start, "files")
        oldest = max(known.values(), default=0) - FORGOTTEN_AFTER
        listed = self._files.listed()
        new = sorted(
            (written, name, size)
            for name, (written, size) in listed.items()
            if name not in known and written > oldest and (not self._until or name in self._until)
        )
        taken: dict[str, int] = {}
        room = self._options.most_bytes
        most = len(new) if isinstance(limit, ReadAllAvailable) else self._options.most_files
        for written, name, size in new[:most]:
            if taken and size > room:
                break
            taken[name], room = written, room - size
        if not taken:
            return start
        kept = {name: written for name, written in known.items() if written > oldest}
        return {"files": kept | taken}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[FilesPartition]:
        """The files of a batch."""
        known = position_in(start, "files")
        return _parts({n: w for n, w in end["files"].items() if n not in known})

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of some of them."""
        return self._files.read(partition)

    def commit(self, end: dict[str, Any]) -> None:
        """Files stay where they are."""

    def stop(self) -> None:
        """Nothing is held."""


def position_in(offset: Mapping[str, Any], name: str) -> Any:
    """How far a source was read, by an offset of its own.

    >>> position_in({"number": 7}, "number")
    7
    """
    if name not in offset:
        raise LivefactsError(
            f"the checkpoint of this stream is one of another source: it has {', '.join(offset)} "
            f"where this one has {name}",
            hint="give the stream another name, which reads its source from the beginning",
        )
    return offset[name]


def _files_below(
    folder: StorePath, suffixes: tuple[str, ...]
) -> Iterator[tuple[str, tuple[int, int]]]:
    state = folder.stat()
    listed = folder.list()
    if state is not None and not listed:
        yield str(folder), (int(state.written // 1_000_000), state.size)
    for name, inside in listed.items():
        if name.startswith(HIDDEN_STARTS):
            continue
        if inside is None:
            yield from _files_below(folder / name, suffixes)
        elif name.removesuffix(".gz").removesuffix(".zst").endswith(suffixes):
            yield str(folder / name), (int(inside.written // 1_000_000), inside.size)
