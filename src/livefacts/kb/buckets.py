"""Buckets: rows by a hash of what they are about, and the blocks in which they travel.

A task packs the rows that it has for a bucket into one block, a record batch without its
schema; whatever carries blocks from stage to stage sees a few large values, and no rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from livefacts.kb.stores.file_path import StorePath
from livefacts.store.facts.hash_rows import order_by_bucket
from livefacts.store.terms.hash_ids import KIND_BITS, HashIds

SPREAD = np.uint64(0x9E3779B97F4A7C15)
SPREAD_SHIFT = np.uint64(40)
ALIGNMENT = 8
PARCEL = pa.schema(
    [("bucket", pa.int32()), ("kind", pa.string()), ("origin", pa.int64()), ("block", pa.binary())]
)
"""How blocks travel: the bucket that a block is for, what it is, and where it came from."""
IN_BUCKET = re.compile(r"b\d{5}-")
"""How the name of a data file begins that has rows of one bucket only."""


def bucket_of(ids: HashIds, buckets: int) -> NDArray[np.int64]:
    """The bucket that each id belongs to.

    >>> bucket_of(np.array([8, 16, 24]), 1).tolist()
    [0, 0, 0]
    """
    mixed = (ids >> KIND_BITS).view(np.uint64) * SPREAD >> SPREAD_SHIFT
    return (mixed % np.uint64(buckets)).astype(np.int64)


def posted(
    kind: str,
    table: pa.Table,
    keys: HashIds,
    buckets: int,
    origin: int = 0,
    *,
    to_all: bool = False,
) -> pa.RecordBatch:
    """Rows as blocks, one for each bucket that some of them belong to, or one `to_all`."""
    order, ends = order_by_bucket(bucket_of(keys, buckets).astype(np.uint16), buckets)
    ordered = table.take(pa.array(order)).combine_chunks()
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
    chosen = list(range(buckets)) if to_all else np.flatnonzero(ends > starts).tolist()
    blocks = [
        _one_batch(ordered.slice(starts[bucket], ends[bucket] - starts[bucket])).serialize()
        for bucket in chosen
    ]
    return parcel(kind, origin, chosen, blocks)


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.to_batches()
    assert len(batches) == 1 or not len(table), "rows that were combined are one batch"
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def parcel(
    kind: str, origin: int, buckets: Sequence[int], blocks: Sequence[pa.Buffer | bytes]
) -> pa.RecordBatch:
    """Blocks with the buckets that they are for; each begins where numbers may begin."""
    padded = pa.BufferOutputStream()
    offsets = [0]
    for block in blocks:
        padded.write(block)
        padded.write(bytes(-padded.tell() % ALIGNMENT))
        offsets.append(padded.tell())
    places = pa.py_buffer(np.array(offsets, np.int32))
    packed = pa.BinaryArray.from_buffers(
        pa.binary(), len(blocks), [None, places, padded.getvalue()]
    )
    count = len(blocks)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(buckets, pa.int32()),
            pa.array([kind] * count),
            pa.array([origin] * count),
            packed,
        ],
        schema=PARCEL,
    )


def contents(parcel: pa.RecordBatch) -> Iterator[tuple[int, str, int, pa.Buffer]]:
    """The blocks of a parcel: bucket, kind, origin and bytes, which are not copied."""
    buckets, kinds, origins, blocks = parcel.columns
    places = zip(buckets.to_pylist(), kinds.to_pylist(), origins.to_pylist(), strict=True)
    for row, (bucket, kind, origin) in enumerate(places):
        yield bucket, kind, origin, blocks[row].as_buffer()


@dataclass(frozen=True, slots=True)
class Blocks:
    """What was sent to one bucket: blocks by kind, each with the number of where it came from."""

    found: dict[str, list[tuple[int, pa.Buffer]]] = field(default_factory=dict)

    def put(self, kind: str, origin: int, block: pa.Buffer) -> None:
        self.found.setdefault(kind, []).append((origin, block))

    def rows(self, kind: str, schema: pa.Schema) -> pa.Table:
        """The rows of all blocks of a kind."""
        blocks = self.found.get(kind, ())
        batches = [pa.ipc.read_record_batch(block, schema) for _, block in blocks]
        return pa.Table.from_batches(batches, schema=schema)

    def origins(self, kind: str) -> set[int]:
        """Where blocks of a kind came from."""
        return {origin for origin, _ in self.found.get(kind, ())}

    def without(self, origins: set[int]) -> Blocks:
        """All blocks but those that came from there."""
        if not origins:
            return self
        kept = {
            kind: [each for each in listed if each[0] not in origins]
            for kind, listed in self.found.items()
        }
        return Blocks({kind: listed for kind, listed in kept.items() if listed})


def as_columns(rows: HashIds, names: str) -> dict[str, Any]:
    """The columns of rows by name, each contiguous."""
    return {name: np.ascontiguousarray(rows[:, at]) for at, name in enumerate(names)}


def bucket_of_file(name: str) -> int:
    """The bucket that a data file belongs to, by its name.

    >>> bucket_of_file("b00012-0a.parquet")
    12
    """
    return int(name[1:6])


def bucket_if_any(name: str) -> int | None:
    """The bucket that all rows of a data file belong to, if it is one."""
    return bucket_of_file(name) if IN_BUCKET.match(name) else None


def by_bucket(files: Sequence[StorePath], buckets: int) -> list[list[StorePath]]:
    """Data files by their bucket; a file of no bucket has rows of all of them."""
    found: list[list[StorePath]] = [[] for _ in range(buckets)]
    for file in files:
        bucket = bucket_if_any(file.name)
        for each in found if bucket is None else [found[bucket]]:
            each.append(file)
    return found
