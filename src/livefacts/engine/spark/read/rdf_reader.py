"""The reader of the RDF data source: files and pieces of them, in tasks, as columns of texts.

Labels of blank nodes have the scope of their file's name, so that those of two files differ,
and that they are the same whenever the files are read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from livefacts.engine.spark.read.frame_columns import (
    FILE,
    GRAPH,
    HIDDEN_STARTS,
    LINE,
    REASON,
    TERMS,
)
from livefacts.engine.spark.read.rdf_data_source import FAILFAST, PERMISSIVE, SourceOptions
from livefacts.engine.spark.read.split_reader import SplitReading
from livefacts.engine.spark.read.splits import (
    RangeStream,
    Split,
    find_files,
    is_of_rules,
    make_splits,
)
from livefacts.errors import InputError
from livefacts.kb.stores.file_path import StorePath, store_path
from livefacts.kb.term_encoding import Encoding
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.ntriples import DEFAULT_GRAPH, Batch
from livefacts.syntax.input.files import without_compression
from livefacts.syntax.input.rejects import Reject, Rejects
from livefacts.syntax.rdf.documents import FORMATS, LINE_FORMATS, format_of

PIECE = 1 << 20
MOST_TERMS = 1 << 19


@dataclass(frozen=True)
class RdfPartition(InputPartition):
    """A file, or a piece of it, and the number of its first line."""

    split: Split
    first_line: int = 1


class RdfReader(DataSourceReader):
    """Reads files into batches of columns."""

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        options.check(schema)
        self._options = options
        self._names = schema.fieldNames()

    def partitions(self) -> Sequence[RdfPartition]:
        """A task for each file, or piece of a large one."""
        options = self._options
        files = files_of(options.paths)
        for path in files:
            if options.format is None and is_of_rules(str(path)):
                raise InputError(f"{path} has rules, not RDF", hint="ingest takes its facts")
            format_of(path, options.format)
        splits = make_splits(
            files,
            "",
            format=options.format,
            by_name=True,
            bytes_per_split=options.bytes_per_split,
        )
        return list(_numbered(splits)) if self._has_lines else list(map(RdfPartition, splits))

    @property
    def _has_lines(self) -> bool:
        return self._options.lines and LINE in self._names

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a file or piece."""
        assert isinstance(partition, RdfPartition)
        split, first = partition.split, partition.first_line
        is_numbered = self._has_lines and format_of(split.path, split.format) in LINE_FORMATS
        rejects = Rejects(most=sys.maxsize)
        reading = SplitReading(split, Encoding(), rejects=rejects, numbered=is_numbered)
        dictionary = Dictionary()
        for batch in reading.statements(dictionary):
            assert isinstance(batch, Batch), "files of rules are refused"
            yield from self._rejected(rejects, first)
            yield self._columns(_texts(batch, dictionary, first), split, len(batch.rows))
            if len(dictionary) > MOST_TERMS:
                dictionary.clear()
        yield from self._rejected(rejects, first)

    def _rejected(self, rejects: Rejects, first: int) -> Iterator[pa.RecordBatch]:
        """Rows for what could not be read since the last time."""
        bad = [_placed(reject, first) for reject in rejects.kept]
        rejects.kept.clear()
        for reject in bad if self._options.mode == FAILFAST else ():
            raise reject.as_error()
        if bad and self._options.mode == PERMISSIVE:
            columns = {
                LINE: pa.array([each.line or None for each in bad], pa.int64()),
                REASON: pa.array([each.reason for each in bad], pa.string()),
                self._options.bad_text: pa.array([each.text for each in bad], pa.string()),
            }
            yield self._columns(columns, None if not bad else bad[0].file, len(bad))

    def _columns(
        self, known: Mapping[str, pa.Array], origin: Split | str | None, rows: int
    ) -> pa.RecordBatch:
        """The columns that are asked for; null where nothing is known."""
        file = origin.path if isinstance(origin, Split) else origin
        columns = {**known, FILE: pa.array([file] * rows, pa.string())}
        kinds = {LINE: pa.int64()}
        arrays = [
            columns[name] if name in columns else pa.nulls(rows, kinds.get(name, pa.string()))
            for name in self._names
        ]
        return pa.RecordBatch.from_arrays(arrays, self._names)


def _placed(reject: Reject, first: int) -> Reject:
    """A reject with the number of its line in the whole file."""
    line = reject.line and reject.line + first - 1
    return Reject(reject.file, line, reject.column, reject.reason, reject.text)


def _numbered(splits: Sequence[Split]) -> Iterator[RdfPartition]:
    """Splits with the numbers of their first lines, for which files in pieces are gone through."""
    path, first = "", 1
    for number, split in enumerate(splits):
        first = first if split.path == path else 1
        path = split.path
        yield RdfPartition(split, first)
        is_followed = number + 1 < len(splits) and splits[number + 1].path == path
        first += _lines_in(split) if is_followed else 0


def _lines_in(split: Split) -> int:
    buffer, lines = np.empty(PIECE, np.uint8), 0
    stream = RangeStream(split, store_path(split.path))
    try:
        while size := stream.readinto(buffer.data):
            lines += int(np.count_nonzero(buffer[:size] == ord("\n")))
    finally:
        stream.close()
    return lines


def _texts(batch: Batch, dictionary: Dictionary, first: int) -> dict[str, pa.Array]:
    """The columns of statements: each different term becomes a text once."""
    rows = [np.ascontiguousarray(batch.rows[:, place]) for place in range(3)]
    graphs = batch.graphs
    named = graphs[graphs != DEFAULT_GRAPH] if graphs is not None else np.zeros(0, np.int32)
    numbers = np.unique(np.concatenate([*rows, named]))
    packed, ends = dictionary.packed_texts(numbers)
    offsets = np.concatenate([np.zeros(1, np.int64), ends])
    texts = pa.LargeStringArray.from_buffers(
        len(numbers), pa.py_buffer(offsets), pa.py_buffer(packed)
    ).cast(pa.string())
    columns = {
        name: texts.take(pa.array(np.searchsorted(numbers, ids)))
        for name, ids in zip(TERMS, rows, strict=True)
    }
    if graphs is not None:
        is_default = graphs == DEFAULT_GRAPH
        places = np.where(is_default, 0, np.searchsorted(numbers, graphs))
        columns[GRAPH] = texts.take(pa.array(places, mask=is_default))
    if batch.lines is not None:
        columns[LINE] = pa.array(batch.lines + (first - 1))
    return columns


def files_of(paths: Sequence[str]) -> list[StorePath]:
    """The files to read: those of folders, too, where their names say that they are RDF."""
    if not paths:
        raise InputError("no file to read", hint='load("data/*.nt.gz") names some')
    return [file for path in find_files(paths) for file in _files_in(path)]


def _files_in(path: StorePath) -> list[StorePath]:
    if path.exists() or not path.list():
        return [path]
    found = list(_inside(path))
    if not found:
        raise InputError(
            f"there is no file of RDF in {path}", hint=f"names end in {' '.join(FORMATS)}"
        )
    return found


def _inside(folder: StorePath) -> Iterator[StorePath]:
    """The files of RDF in a folder and those below it."""
    for name, state in sorted(folder.list().items()):
        if name.startswith(HIDDEN_STARTS):
            continue
        if state is None:
            yield from _inside(folder / name)
        elif without_compression(PurePath(name)).suffix.lower() in FORMATS:
            yield folder / name
