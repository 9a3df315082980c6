"""Bucket intake: what was read is put into buckets, and each bucket takes in what is new.

Two kinds of task.  A reading task writes what it has read into exchange files; a settling
task deduplicates the terms, triples and assertions of its bucket, together with those that
the tables have.  Predicate facts are deduplicated apart, since most knowledge bases have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from livefacts.engine.spark.read.split_reader import FactPiece, SplitReading
from livefacts.engine.spark.read.splits import Split
from livefacts.kb import predicate_rows
from livefacts.kb.bucket_stages import QUAD, TERM_COLUMNS, Bucket
from livefacts.kb.buckets import as_columns, read_bucket, write_buckets
from livefacts.kb.consequences import (
    FACT_KEYS,
    columns_of,
    summed,
    table_of,
    told_facts,
)
from livefacts.kb.predicate_rows import ARGUMENT_COLUMNS
from livefacts.kb.tables import (
    GRAPHS,
    PREDICATES_TABLE,
    SCHEMAS,
    TERMS,
    TRIPLES_TABLE,
    DataFile,
    write_file,
)
from livefacts.kb.term_encoding import Encoding, clashes
from livefacts.syntax.input.rejects import Reject, Rejects

TRIPLE_COLUMNS = pa.schema([(name, pa.int64()) for name in FACT_KEYS])
QUAD_COLUMNS = pa.schema([(name, pa.int64()) for name in QUAD])
DEFAULT_GRAPH = 0


@dataclass(frozen=True, slots=True)
class ReadJob:
    """What reading tasks are given."""

    encoding: Encoding
    folder: Path
    buckets: int


@dataclass(frozen=True, slots=True)
class Files:
    """The exchange files in which something that was read is, by what it is."""

    triples: tuple[str, ...] = ()
    quads: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()

    def __add__(self, more: Files) -> Files:
        return Files(
            self.triples + more.triples,
            self.quads + more.quads,
            self.others + more.others,
            self.terms + more.terms,
        )

    def names(self) -> tuple[str, ...]:
        return self.triples + self.quads + self.others + self.terms


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of a split, and the files in which it is.

    `rejected` counts what was rejected, of which `rejects` are the first; `failure` says
    why the file has to be left out, if it has.
    """

    split: Split
    files: Files = field(default_factory=Files)
    rows: int = 0
    lines: int = 0
    rejects: tuple[Reject, ...] = ()
    rejected: int = 0
    failure: str = ""


class Reading(Protocol):
    """Something on its way into buckets: pieces, and afterwards what was rejected."""

    split: Split
    rejects: Rejects
    failure: str

    @property
    def lines(self) -> int: ...

    def pieces(self) -> Iterator[FactPiece]: ...


def read_split(job: ReadJob, split: Split) -> Read:
    """Read and encode a split into buckets of triples, assertions, facts and terms."""
    return taken_in(job, SplitReading(split, job.encoding))


def taken_in(job: ReadJob, reading: Reading) -> Read:
    """Put what is read into buckets."""
    split = reading.split
    files, rows = Files(), 0
    for piece in reading.pieces():
        files += _written(job, piece)
        rows += piece.rows
    rejects = reading.rejects
    if reading.failure:
        return Read(split, failure=reading.failure)
    return Read(split, files, rows, reading.lines, tuple(rejects.kept), rejects.count)


def _written(job: ReadJob, piece: FactPiece) -> Files:
    folder, buckets = job.folder, job.buckets
    triples, quads, terms = piece.triples, piece.quads, piece.terms
    named = pa.table([terms.ids, terms.texts], TERM_COLUMNS)
    found = Files(terms=(write_buckets(folder, named, terms.ids, buckets),))
    if len(triples):
        told = pa.table(as_columns(triples, "spo"))
        found += Files(triples=(write_buckets(folder, told, triples[:, 0], buckets),))
    if len(quads):
        told = pa.table(as_columns(quads, "spog"))
        found += Files(quads=(write_buckets(folder, told, quads[:, 0], buckets),))
    for rows in piece.others.values():
        told, keys = predicate_rows.exchanged(rows)
        found += Files(others=(write_buckets(folder, told, keys, buckets),))
    return found


# triples, assertions and terms


@dataclass(frozen=True, slots=True)
class SettleJob:
    """What deduplicating tasks are given: where the tables are, what was read, and the change."""

    path: Path
    files: Files
    seq: int = 0


@dataclass(frozen=True, slots=True)
class SettledBucket:
    """A bucket with its new facts and terms taken in, or the clashes of its terms."""

    facts: DataFile | None = None
    terms: DataFile | None = None
    graphs: DataFile | None = None
    told: int = 0
    clashes: tuple[tuple[int, tuple[str, ...], str], ...] = ()

    def paths(self, folder: Path) -> list[Path]:
        """Its data files, in the folder of a knowledge base."""
        tables = {TRIPLES_TABLE: self.facts, TERMS: self.terms, GRAPHS: self.graphs}
        return [folder / table / file.name for table, file in tables.items() if file]


def settle_bucket(job: SettleJob, bucket: Bucket) -> SettledBucket:
    """Deduplicate the terms and triples of a bucket, and look for clashes of terms."""
    known = bucket.read_terms()
    came = read_bucket(job.files.terms, bucket.number, TERM_COLUMNS)
    terms = _sorted_terms(pa.concat_tables([known, came]))
    ids, texts = terms["id"].to_numpy(), terms["text"].combine_chunks()
    found = clashes(ids, texts) if len(ids) > 1 else {}
    if found:
        owners = dict(zip(known["id"].to_pylist(), known["text"].to_pylist(), strict=True))
        return SettledBucket(
            clashes=tuple((id, tuple(texts), owners.get(id, "")) for id, texts in found.items())
        )
    is_new = np.ones(len(ids), np.bool_)
    is_new[1:] = ids[1:] != ids[:-1]
    if len(known):
        is_new &= ~np.isin(ids, known["id"].to_numpy())
    new = terms.filter(pa.array(is_new)).cast(SCHEMAS[TERMS])
    facts, graphs, told = _with_told(job, bucket)
    return SettledBucket(
        write_file(job.path / TRIPLES_TABLE, facts, bucket.number),
        write_file(job.path / TERMS, new, bucket.number) if len(new) else None,
        write_file(job.path / GRAPHS, graphs, bucket.number) if len(graphs) else None,
        told,
    )


def _sorted_terms(terms: pa.Table) -> pa.Table:
    order = np.argsort(terms["id"].to_numpy())
    return terms.combine_chunks().take(pa.array(order))


def _with_told(job: SettleJob, bucket: Bucket) -> tuple[pa.Table, pa.Table, int]:
    """The facts of a bucket after asserting triples, new assertions, and how many are asserted."""
    triples = read_bucket(job.files.triples, bucket.number, TRIPLE_COLUMNS)
    quads = read_bucket(job.files.quads, bucket.number, QUAD_COLUMNS)
    before = bucket.read_facts()
    told_by_any = pa.concat_tables([triples, quads.select(FACT_KEYS)])
    came = table_of(told_facts([told_by_any[name].to_numpy() for name in FACT_KEYS]))
    facts = columns_of(summed(pa.concat_tables([before, came]) if len(before) else came))
    told = np.minimum(facts.asserted, np.int32(1))
    graphs = _new_assertions(bucket, triples, quads, before)
    signed = graphs.add_column(0, "seq", pa.array(np.full(len(graphs), job.seq, np.int64)))
    signed = signed.append_column("sign", pa.array(np.ones(len(graphs), np.int32)))
    return table_of(facts._replace(asserted=told)), signed, int(told.sum())


def _new_assertions(
    bucket: Bucket, triples: pa.Table, quads: pa.Table, before: pa.Table
) -> pa.Table:
    """What is to be noted of graphs: of a triple of a named graph, all graphs that assert it."""
    known = bucket.read_quads()
    if not len(quads) and not len(known):
        return QUAD_COLUMNS.empty_table()
    told = before.filter(pa.array(before["told"].to_numpy() > 0)).select(FACT_KEYS)
    unnoted = _joined(_joined(told, quads, "left semi"), known, "left anti")
    noted = pa.concat_tables([quads.select(FACT_KEYS), known.select(FACT_KEYS)])
    default = pa.concat_tables([unnoted, _joined(triples, noted, "left semi")])
    graph = pa.array(np.full(len(default), DEFAULT_GRAPH, np.int64))
    all_told = pa.concat_tables([quads, default.append_column("g", graph)])
    distinct = all_told.group_by(QUAD, use_threads=False).aggregate([])
    return _joined(distinct, known, "left anti", QUAD)


def _joined(left: pa.Table, right: pa.Table, how: str, keys: list[str] = FACT_KEYS) -> pa.Table:
    return left.join(right.select(keys), keys, join_type=how, use_threads=False).select(
        left.column_names
    )


# predicate facts


@dataclass(frozen=True, slots=True)
class FactFiles:
    """The files of the tables of predicate facts, as they are before the change."""

    facts: tuple[str, ...]
    changes: tuple[str, ...]


def settle_predicates(job: SettleJob, known: FactFiles, bucket: Bucket) -> DataFile | None:
    """Deduplicate the predicate facts of a bucket, with those that the tables have."""
    came = read_bucket(job.files.others, bucket.number, ARGUMENT_COLUMNS)
    before = predicate_rows.read_files(known.facts, known.changes)
    parts = predicate_rows.of_bucket(before, bucket.number, bucket.buckets)
    facts = predicate_rows.told_once(predicate_rows.summed([*parts, *predicate_rows.as_told(came)]))
    if not facts:
        return None
    return write_file(job.path / PREDICATES_TABLE, predicate_rows.as_table(facts), bucket.number)


def keep_told(path: Path, known: FactFiles, bucket: Bucket) -> DataFile | None:
    """The predicate facts of a bucket that are asserted, without those that only followed."""
    before = predicate_rows.read_files(known.facts, known.changes)
    mine = predicate_rows.of_bucket(before, bucket.number, bucket.buckets)
    facts = predicate_rows.only_told(predicate_rows.summed(mine))
    if not facts:
        return None
    return write_file(path / PREDICATES_TABLE, predicate_rows.as_table(facts), bucket.number)
