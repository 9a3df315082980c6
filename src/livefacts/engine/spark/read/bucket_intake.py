"""Bucket intake: what was read is sent to buckets, and each bucket takes in what is new.

Two kinds of task.  A reading task sends what it has read to the buckets it belongs to; the
settling task of a bucket deduplicates terms, triples, assertions and predicate facts, together
with those that the tables have.  What was read of a file before it turned out that the file
cannot be read to its end has been sent by then: so all buckets are told to leave the file out.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from livefacts.engine.spark.read.split_reader import FactPiece, SplitReading
from livefacts.engine.spark.read.splits import Split
from livefacts.kb import predicate_rows
from livefacts.kb.bucket_stages import QUAD, TERM_COLUMNS, Bucket
from livefacts.kb.buckets import Blocks, as_columns, parcel, posted
from livefacts.kb.consequences import (
    FACT_KEYS,
    columns_of,
    summed,
    table_of,
    told_facts,
)
from livefacts.kb.predicate_rows import ARGUMENT_COLUMNS
from livefacts.kb.stores.file_path import StorePath
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
Clash = tuple[int, tuple[str, ...], str]
"""An id, the texts that have it, and which of them the tables have."""


TRIPLES, QUADS, OTHERS, TERM_TEXTS, FAILURE = "triples", "quads", "others", "terms", "failure"
"""Kinds of blocks: of the default graph, of named ones, predicate facts, terms, and a file to leave out."""


@dataclass(frozen=True, slots=True)
class ReadJob:
    """What reading tasks are given."""

    encoding: Encoding
    buckets: int
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What it takes to read the input, where it is on a remote store."""


@dataclass(frozen=True, slots=True)
class NumberedSplit:
    """A split, and the number of its file."""

    file: int
    split: Split


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of a split.

    `rejected` counts what was rejected, of which `rejects` are the first; `failure` says
    why the file has to be left out, if it has.
    """

    split: Split
    rows: int = 0
    lines: int = 0
    rejects: tuple[Reject, ...] = ()
    rejected: int = 0
    failure: str = ""

    def paths(self, folder: StorePath) -> list[StorePath]:
        """No data files: what was read was sent."""
        return []


class Reading(Protocol):
    """Something on its way into buckets: pieces, and afterwards what was rejected."""

    split: Split
    rejects: Rejects
    failure: str

    @property
    def lines(self) -> int: ...

    def pieces(self) -> Iterator[FactPiece]: ...


def read_split(job: ReadJob, numbered: NumberedSplit) -> Generator[pa.RecordBatch, None, Read]:
    """Read and encode a split, and send triples, assertions, facts and terms to their buckets."""
    return read_and_send(
        job, SplitReading(numbered.split, job.encoding, job.options), numbered.file
    )


def read_and_send(
    job: ReadJob, reading: Reading, file: int
) -> Generator[pa.RecordBatch, None, Read]:
    """Send what is read, of the file with this number, to its buckets."""
    rows = 0
    for piece in reading.pieces():
        yield from _sent(job, file, piece)
        rows += piece.rows
    rejects = reading.rejects
    if reading.failure:
        everywhere = range(job.buckets)
        yield parcel(FAILURE, file, everywhere, [b""] * job.buckets)
        return Read(reading.split, failure=reading.failure)
    return Read(reading.split, rows, reading.lines, tuple(rejects.kept), rejects.count)


def _sent(job: ReadJob, file: int, piece: FactPiece) -> Iterator[pa.RecordBatch]:
    triples, quads, terms = piece.triples, piece.quads, piece.terms
    named = pa.table([terms.ids, terms.texts], TERM_COLUMNS)
    yield posted(TERM_TEXTS, named, terms.ids, job.buckets, file)
    told = pa.table(as_columns(triples, "spo"))
    yield posted(TRIPLES, told, triples[:, 0], job.buckets, file)
    if len(quads):
        told = pa.table(as_columns(quads, "spog"))
        yield posted(QUADS, told, quads[:, 0], job.buckets, file)
    for rows in piece.others.values():
        told, keys = predicate_rows.exchanged(rows)
        yield posted(OTHERS, told, keys, job.buckets, file, to_all=True)


# triples, assertions and terms


@dataclass(frozen=True, slots=True)
class FactFiles:
    """The files of the tables of predicate facts, as they are before the change."""

    facts: tuple[StorePath, ...]
    changes: tuple[StorePath, ...]


@dataclass(frozen=True, slots=True)
class SettleJob:
    """What deduplicating tasks are given: where the tables are, their predicate facts, the change."""

    path: StorePath
    known: FactFiles
    seq: int = 0


@dataclass(frozen=True, slots=True)
class SettledBucket:
    """A bucket with its new facts and terms taken in, or the clashes of its terms."""

    facts: DataFile | None = None
    terms: DataFile | None = None
    graphs: DataFile | None = None
    told: int = 0
    others: DataFile | None = None
    has_others: bool = False
    """Whether predicate facts were read, of any bucket: then `others` are all that this one has."""
    left_out: tuple[int, ...] = ()
    """The files that were left out, by number."""
    clashes: tuple[Clash, ...] = ()

    def paths(self, folder: StorePath) -> list[StorePath]:
        """Its data files, in the folder of a knowledge base."""
        tables = {
            TRIPLES_TABLE: self.facts,
            TERMS: self.terms,
            GRAPHS: self.graphs,
            PREDICATES_TABLE: self.others,
        }
        return [folder / table / file.name for table, file in tables.items() if file]


def settle_bucket(job: SettleJob, bucket: Bucket, sent: Blocks) -> SettledBucket:
    """Deduplicate what was sent to a bucket, unless some of its terms clash."""
    left_out = sent.origins(FAILURE)
    whole = sent.without(left_out)
    terms, found = settled_terms(bucket, whole)
    if found:
        return SettledBucket(clashes=found)
    taken = _taken_in(job, bucket, whole, terms)
    return replace(taken, left_out=tuple(sorted(left_out)))


def settled_terms(bucket: Bucket, sent: Blocks) -> tuple[pa.Table, tuple[Clash, ...]]:
    """The terms that were sent to a bucket and are new there, and those of which two have one id."""
    known = bucket.read_terms()
    terms = _sorted_terms(pa.concat_tables([known, sent.rows(TERM_TEXTS, TERM_COLUMNS)]))
    ids, texts = terms["id"].to_numpy(), terms["text"].combine_chunks()
    found = clashes(ids, texts) if len(ids) > 1 else {}
    owners = (
        dict(zip(known["id"].to_pylist(), known["text"].to_pylist(), strict=True)) if found else {}
    )
    clashing = tuple((id, tuple(texts), owners.get(id, "")) for id, texts in found.items())
    return _new_terms(terms, known), clashing


def _sorted_terms(terms: pa.Table) -> pa.Table:
    order = np.argsort(terms["id"].to_numpy())
    return terms.combine_chunks().take(pa.array(order))


def _new_terms(terms: pa.Table, known: pa.Table) -> pa.Table:
    """Those of sorted terms, each once, that are not known."""
    ids = terms["id"].to_numpy()
    is_new = np.ones(len(ids), np.bool_)
    is_new[1:] = ids[1:] != ids[:-1]
    if len(known):
        is_new &= ~np.isin(ids, known["id"].to_numpy())
    return terms.filter(pa.array(is_new)).cast(SCHEMAS[TERMS])


def _taken_in(job: SettleJob, bucket: Bucket, sent: Blocks, terms: pa.Table) -> SettledBucket:
    facts, graphs, told = _with_told(job, bucket, sent)
    return SettledBucket(
        write_file(job.path / TRIPLES_TABLE, facts, bucket.number),
        write_file(job.path / TERMS, terms, bucket.number) if len(terms) else None,
        write_file(job.path / GRAPHS, graphs, bucket.number) if len(graphs) else None,
        told,
        _settled_predicates(job, bucket, sent) if OTHERS in sent.found else None,
        OTHERS in sent.found,
    )


def _with_told(job: SettleJob, bucket: Bucket, sent: Blocks) -> tuple[pa.Table, pa.Table, int]:
    """The facts of a bucket after asserting triples, new assertions, and how many are asserted."""
    triples, quads = sent.rows(TRIPLES, TRIPLE_COLUMNS), sent.rows(QUADS, QUAD_COLUMNS)
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


def _settled_predicates(job: SettleJob, bucket: Bucket, sent: Blocks) -> DataFile | None:
    """Deduplicate the predicate facts of a bucket, with those that the tables have."""
    before = predicate_rows.read_files(job.known.facts, job.known.changes)
    parts = predicate_rows.of_bucket(before, bucket.number, bucket.buckets)
    came = predicate_rows.as_told(sent.rows(OTHERS, ARGUMENT_COLUMNS))
    facts = predicate_rows.told_once(predicate_rows.summed([*parts, *came]))
    if not facts:
        return None
    return write_file(job.path / PREDICATES_TABLE, predicate_rows.as_table(facts), bucket.number)


def keep_told(path: StorePath, known: FactFiles, bucket: Bucket) -> DataFile | None:
    """The predicate facts of a bucket that are asserted, without those that only followed."""
    before = predicate_rows.read_files(known.facts, known.changes)
    mine = predicate_rows.of_bucket(before, bucket.number, bucket.buckets)
    facts = predicate_rows.only_told(predicate_rows.summed(mine))
    if not facts:
        return None
    return write_file(path / PREDICATES_TABLE, predicate_rows.as_table(facts), bucket.number)
