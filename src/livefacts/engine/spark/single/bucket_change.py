"""A change by bucket: which of its triples change anything, what follows, and what that changes.

Each function is the body of one task, on one bucket.  First a bucket says which of the triples
that come and go there were asserted before.  Then each finds the consequences of its own, and
of asserted triples of kinds whose consequences differ; and at last each adds up what was sent
for it, and writes down how its facts change.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from livefacts.kb.bucket_stages import FOLLOWED, Bucket, is_of_kinds
from livefacts.kb.buckets import Blocks, bucket_of, posted
from livefacts.kb.consequences import (
    FACTS,
    ConsequenceTable,
    Kind,
    columns_of,
    fact_table,
    triples_of,
)
from livefacts.kb.live_buckets import Columns, contains, netted
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.tables import CHANGES, DataFile, write_file
from livefacts.store.facts.hash_rows import ordered
from livefacts.store.terms.hash_ids import HashIds


@dataclass(frozen=True, slots=True)
class ChangedBucket:
    """A bucket, and those of the triples that come and go that belong to it."""

    bucket: Bucket
    came: HashIds
    gone: HashIds


class BucketChange(Protocol):
    """A bucket, and what comes and goes there, wherever that is."""

    @property
    def bucket(self) -> Bucket: ...
    @property
    def came(self) -> HashIds: ...
    @property
    def gone(self) -> HashIds: ...


@dataclass(frozen=True, slots=True)
class FiledChange:
    """The same, with files in which tasks have noted what comes and goes."""

    bucket: Bucket
    coming: Bucket
    going: Bucket

    @property
    def came(self) -> HashIds:
        return self.coming.read_told()

    @property
    def gone(self) -> HashIds:
        return self.going.read_told()


def told_in_bucket(asked: ChangedBucket) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which of a bucket's triples that are to come, and to go, are asserted."""
    facts = Columns(ordered(columns_of(asked.bucket.read_facts())))
    return told_among(facts, asked.came), told_among(facts, asked.gone)


def told_among(facts: Columns, triples: HashIds) -> NDArray[np.bool_]:
    """Which triples these facts assert."""
    counts = np.zeros((len(triples), 2), np.int64)
    facts.add_counts(triples, counts)
    return np.asarray(counts[:, 1] > 0)


@dataclass(frozen=True, slots=True)
class FollowChange:
    """What following tasks are given: what follows before and after, and of what that differs."""

    before: ConsequenceTable
    after: ConsequenceTable
    differing: frozenset[Kind]


def follow_change(job: FollowChange, change: BucketChange) -> Generator[pa.RecordBatch, None, None]:
    """Send what a change of a bucket's triples does to supports and tellings."""
    came, gone, bucket = change.came, change.gone, change.bucket
    visited = np.zeros((0, 3), np.int64)
    if job.differing:
        told = bucket.read_told()
        visited = told[is_of_kinds(told, job.differing)]
        visited = visited[~contains(gone, visited)]
    parts = [
        fact_table(came, 0, 1),
        fact_table(gone, 0, -1),
        fact_table(job.after.follow(came)[0], 1, 0),
        fact_table(job.before.follow(gone)[0], -1, 0),
        fact_table(job.after.follow(visited)[0], 1, 0),
        fact_table(job.before.follow(visited)[0], -1, 0),
    ]
    found = netted(parts)
    yield posted(FOLLOWED, found, found["s"].to_numpy(), bucket.buckets)


@dataclass(frozen=True, slots=True)
class SignChange:
    """What signing tasks are given: the number of the change, and what it does to the schema's."""

    path: StorePath
    seq: int
    schema: pa.Table


@dataclass(frozen=True, slots=True)
class Signed:
    """The changes of a bucket, and how many facts came and went."""

    file: DataFile | None
    added: int = 0
    removed: int = 0


def sign_change(job: SignChange, bucket: Bucket, sent: Blocks) -> Signed:
    """Write what changes in a bucket, each fact once, with what becomes of it."""
    mine = bucket_of(job.schema["s"].to_numpy(), bucket.buckets) == bucket.number
    rows = netted([sent.rows(FOLLOWED, FACTS), job.schema.filter(pa.array(mine))])
    if not len(rows):
        return Signed(None)
    counts = np.zeros((len(rows), 2), np.int64)
    Columns(ordered(columns_of(bucket.read_facts()))).add_counts(triples_of(rows), counts)
    signs = signs_of(rows, counts.sum(axis=1))
    return Signed(
        write_file(job.path / CHANGES, signed_rows(rows, signs, job.seq), bucket.number),
        int((signs > 0).sum()),
        int((signs < 0).sum()),
    )


def signs_of(rows: pa.Table, before: HashIds) -> HashIds:
    """Whether facts come (1), go (-1) or stay, that had so many reasons before."""
    after: HashIds = before + rows["support"].to_numpy() + rows["told"].to_numpy()
    return (after > 0).astype(np.int64) - (before > 0).astype(np.int64)


def signed_rows(rows: pa.Table, signs: HashIds, seq: int) -> pa.Table:
    """Rows as they are in the table of changes."""
    numbered = rows.add_column(0, "seq", pa.array(np.full(len(rows), seq, np.int64)))
    return numbered.append_column("sign", pa.array(signs.astype(np.int32)))
