"""Buckets between stages: files in which each bucket's rows are a record batch of their own.

A task writes one file; a task of the next stage reads its bucket out of every file.  Each
file has a name of its own, and only files named in task results are read, so a task that
runs twice does no harm.  The folder has to be on a file system that all executors see.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from livefacts.kb.stores.file_path import StorePath
from livefacts.store.facts.hash_rows import order_by_bucket
from livefacts.store.terms.hash_ids import KIND_BITS, HashIds

SPREAD = np.uint64(0x9E3779B97F4A7C15)
SPREAD_SHIFT = np.uint64(40)
IN_BUCKET = re.compile(r"b\d{5}-")
"""How the name of a data file begins that has rows of one bucket only."""


def bucket_of(ids: HashIds, buckets: int) -> NDArray[np.int64]:
    """The bucket that each id belongs to.

    >>> bucket_of(np.array([8, 16, 24]), 1).tolist()
    [0, 0, 0]
    """
    mixed = (ids >> KIND_BITS).view(np.uint64) * SPREAD >> SPREAD_SHIFT
    return (mixed % np.uint64(buckets)).astype(np.int64)


def write_buckets(folder: Path, table: pa.Table, keys: HashIds, buckets: int) -> str:
    """Write rows so that those of a bucket are found together; the name of the file."""
    order, ends = order_by_bucket(bucket_of(keys, buckets).astype(np.uint16), buckets)
    ordered = table.take(pa.array(order)).combine_chunks()
    name = str(folder / f"{uuid.uuid4().hex}.arrow")
    start = 0
    with pa.OSFile(name, "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        for end in ends.tolist():
            writer.write_batch(_one_batch(ordered.slice(start, end - start)))
            start = end
    return name


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.to_batches()
    if len(batches) == 1:
        return batches[0]
    assert not batches or len(table) == 0, "rows that were combined are one batch"
    return pa.RecordBatch.from_pylist([], schema=table.schema)


def read_bucket(files: Iterable[str], bucket: int, schema: pa.Schema) -> pa.Table:
    """The rows of one bucket in all of these files."""
    batches = [pa.ipc.open_file(pa.memory_map(name)).get_batch(bucket) for name in files]
    return pa.Table.from_batches(batches, schema=schema)


def as_columns(rows: HashIds, names: str) -> dict[str, Any]:
    """The columns of rows by name, each contiguous."""
    return {name: np.ascontiguousarray(rows[:, at]) for at, name in enumerate(names)}


def bucket_of_file(name: str) -> int:
    """The bucket that a data file belongs to, by its name.

    >>> bucket_of_file("b00012-0a.parquet")
    12
    """
    return int(name[1:6])


def by_bucket(files: Sequence[StorePath], buckets: int) -> list[list[StorePath]]:
    """Data files by their bucket; a file of no bucket has rows of all of them."""
    found: list[list[StorePath]] = [[] for _ in range(buckets)]
    for file in files:
        is_of_one = IN_BUCKET.match(file.name) is not None
        for each in [found[bucket_of_file(file.name)]] if is_of_one else found:
            each.append(file)
    return found
