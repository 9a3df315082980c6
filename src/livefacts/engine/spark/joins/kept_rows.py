"""Kept rows: what a round has found, in files beside the tables, from which the next one goes on.

A DataFrame is how to compute rows, so each round would hold all rounds before it.  The tasks that find
the rows of a round write them down, in files of the store that the tables are in, which outlive
every executor: whatever is lost later costs its part of the round under way.  A few rows need no
file; the driver has them, as a part of what it asks next.

The task that writes rows counts them as well, by columns that are computed for this alone.
"""

from __future__ import annotations

import pickle
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from livefacts.engine.spark.jobs.frames import files_frame, rows_frame
from livefacts.kb.stores.file_path import StorePath

FEW, FEW_IN_ALL = 2_000, 20_000
"""So many rows of one task, and of all of them, need no file."""
ROWS_A_FILE = 1 << 20
MANY_FILES = 16
GROUP = "by_"
WRITTEN = "name string, block binary, counts binary"
Group = tuple[Any, ...]


@dataclass(frozen=True)
class KeptRows:
    """Rows that are computed: in files, or here; and how many there are in each group."""

    session: SparkSession
    schema: pa.Schema
    files: tuple[StorePath, ...]
    here: pa.Table
    counts: Mapping[Group, int]

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    @cached_property
    def frame(self) -> DataFrame:
        """The rows as a DataFrame that is as short as one table."""
        here = rows_frame(self.session, self.here)
        if not self.files:
            return here
        there = files_frame(self.session, self.schema, self.files)
        return there.unionAll(here) if len(self.here) else there


def keep_rows(folder: StorePath, rows: DataFrame, by: Sequence[str] = ()) -> KeptRows:
    """Compute rows, and count them by these expressions; one job."""
    names = [f"{GROUP}{number}" for number in range(len(by))]
    schema = _arrow_schema(rows)
    grouped = rows.selectExpr(
        "*", *(f"{text} AS {name}" for text, name in zip(by, names, strict=True))
    )
    found = grouped.mapInArrow(partial(write_rows, folder, schema, len(by)), WRITTEN).collect()
    counts: Counter[Group] = Counter()
    for row in found:
        counts.update(pickle.loads(row.counts))
    files = [folder / row.name for row in found if row.name]
    here = pa.concat_tables(
        [schema.empty_table(), *(_table(row.block) for row in found if row.block)]
    )
    if len(here) > FEW_IN_ALL:
        files, here = [*files, _file(folder, here)], schema.empty_table()
    return KeptRows(rows.sparkSession, schema, tuple(files), here, counts)


def together(folder: StorePath, one: KeptRows, other: KeptRows) -> KeptRows:
    """The rows of both; written anew only where that makes few files of many small ones."""
    counts = Counter(one.counts)
    counts.update(other.counts)
    files, here = (*one.files, *other.files), pa.concat_tables([one.here, other.here])
    if len(here) > FEW_IN_ALL:
        files, here = (*files, _file(folder, here)), here.slice(0, 0)
    found = KeptRows(one.session, one.schema, files, here, counts)
    if len(files) <= MANY_FILES or found.count > len(files) * ROWS_A_FILE // 4:
        return found
    rows = keep_rows(folder, found.frame.coalesce(1 + 2 * found.count // ROWS_A_FILE))
    return KeptRows(one.session, one.schema, rows.files, rows.here, counts)


def _arrow_schema(rows: DataFrame) -> pa.Schema:
    """The columns of rows, all of which may be null, also inside of maps."""
    from pyspark.sql.pandas.types import to_arrow_schema

    fields = [(field.name, field.type) for field in to_arrow_schema(rows.schema)]
    return pa.schema(
        [
            (name, pa.map_(kind.key_type, kind.item_type) if pa.types.is_map(kind) else kind)
            for name, kind in fields
        ]
    )


def write_rows(
    folder: StorePath, schema: pa.Schema, groups: int, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The rows of a task in files of a size that fits into memory, or in the answer if they are few."""
    waiting: list[pa.Table] = []
    for batch in batches:
        waiting.append(pa.Table.from_batches([batch]))
        if sum(map(len, waiting)) >= ROWS_A_FILE:
            yield _written(folder, schema, groups, waiting)
            waiting = []
    if any(map(len, waiting)):
        yield _written(folder, schema, groups, waiting)


def _written(
    folder: StorePath, schema: pa.Schema, groups: int, tables: Sequence[pa.Table]
) -> pa.RecordBatch:
    rows = pa.concat_tables(tables)
    counts = _counted(rows.select(rows.column_names[len(schema) :]), len(rows))
    chosen = rows.select(schema.names).cast(schema)
    is_few = len(chosen) <= FEW
    values = {
        "name": None if is_few else _file(folder, chosen).name,
        "block": _block(chosen) if is_few else None,
        "counts": pickle.dumps(counts),
    }
    kinds = pa.schema([("name", pa.string()), ("block", pa.binary()), ("counts", pa.binary())])
    return pa.RecordBatch.from_pylist([values], kinds)


def _counted(groups: pa.Table, count: int) -> dict[Group, int]:
    if not groups.column_names:
        return {(): count}
    found = groups.group_by(groups.column_names, use_threads=False).aggregate([([], "count_all")])
    keys = zip(*(found[name].to_pylist() for name in groups.column_names), strict=True)
    return dict(zip(keys, found["count_all"].to_pylist(), strict=True))


def _file(folder: StorePath, rows: pa.Table) -> StorePath:
    file = folder / f"{uuid.uuid4().hex}.parquet"
    file.write_table(rows, compression="lz4")
    return file


def _block(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _table(block: bytes) -> pa.Table:
    return pa.ipc.open_stream(block).read_all()
