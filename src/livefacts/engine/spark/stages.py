"""The stages as tasks: read and encode, settle, follow, publish.

Each function here is the body of one task, and what it takes and gives is small: rows go
through files, between stages in the exchange folder, for good into the folder of a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from livefacts.engine.spark.consequences import (
    FACT_KEYS,
    FACTS,
    ConsequenceTable,
    Kind,
    TripleColumns,
    columns_of,
    fact_table,
    followed,
    in_order,
    summed,
    table_of,
    told_facts,
)
from livefacts.engine.spark.encode import Encoding, clashes, encode_split
from livefacts.engine.spark.exchange import as_columns, bucket_of, read_bucket, write_buckets
from livefacts.engine.spark.splits import Split
from livefacts.engine.spark.tables import (
    CHANGES,
    SCHEMAS,
    TERMS,
    TRIPLES_TABLE,
    DataFile,
    write_file,
)
from livefacts.store.xxhash import HashIds
from livefacts.syntax.rejects import Reject

TRIPLE_COLUMNS = pa.schema([(name, pa.int64()) for name in FACT_KEYS])
TERM_COLUMNS = pa.schema([("id", pa.int64()), ("text", pa.large_string())])


@dataclass(frozen=True, slots=True)
class ReadJob:
    """What reading tasks are told."""

    encoding: Encoding
    folder: Path
    buckets: int


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of a split, and the files in which it is."""

    split: Split
    triples: str
    terms: str
    rows: int
    lines: int
    rejects: tuple[Reject, ...]


def read_split(job: ReadJob, split: Split) -> Read:
    """Read and encode a split into buckets of triples and of terms."""
    encoded = encode_split(split, job.encoding)
    triples, terms = encoded.triples, encoded.terms
    return Read(
        split,
        write_buckets(job.folder, pa.table(as_columns(triples, "spo")), triples[:, 0], job.buckets),
        write_buckets(
            job.folder, pa.table([terms.ids, terms.texts], TERM_COLUMNS), terms.ids, job.buckets
        ),
        len(triples),
        encoded.lines,
        encoded.rejects,
    )


@dataclass(frozen=True, slots=True)
class Bucket:
    """The files in which the rows of one bucket are; `changes` have those of all buckets."""

    number: int
    buckets: int
    facts: tuple[str, ...]
    changes: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()

    def read_facts(self) -> pa.Table:
        """The facts of the bucket as they are now, in no order."""
        parts = [pq.read_table(name, schema=FACTS, partitioning=None) for name in self.facts]
        signed = [self._own(name) for name in self.changes]
        if not signed and len(parts) == 1:
            return parts[0]
        facts = summed(pa.concat_tables([FACTS.empty_table(), *parts, *signed]))
        return facts.filter(pc.or_(pc.greater(facts["support"], 0), pc.greater(facts["told"], 0)))

    def _own(self, name: str) -> pa.Table:
        changes = pq.read_table(name, schema=SCHEMAS[CHANGES], partitioning=None)
        mine = bucket_of(changes["s"].to_numpy(), self.buckets) == self.number
        return changes.select(FACTS.names).filter(pa.array(mine))

    def read_told(self) -> HashIds:
        """The told triples of the bucket, as rows."""
        return np.stack(self.read_told_columns(), axis=1)

    def read_told_columns(self) -> TripleColumns:
        """The told triples of the bucket, as columns in order."""
        facts = columns_of(self.read_facts())
        is_told = facts.told > 0
        if is_told.all():
            return facts[:3]
        return facts.s[is_told], facts.p[is_told], facts.o[is_told]

    def read_terms(self) -> pa.Table:
        """The terms of the bucket."""
        schema = SCHEMAS[TERMS]
        parts = [pq.read_table(name, schema=schema, partitioning=None) for name in self.terms]
        return pa.concat_tables(
            [TERM_COLUMNS.empty_table(), *(p.cast(TERM_COLUMNS) for p in parts)]
        )


@dataclass(frozen=True, slots=True)
class SettleJob:
    """What settling tasks are told: where the tables are, and what was read."""

    path: Path
    triples: tuple[str, ...]
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """A bucket after new triples and terms were settled in it, or the clashes of its terms."""

    facts: DataFile | None = None
    terms: DataFile | None = None
    told: int = 0
    clashes: tuple[tuple[int, tuple[str, ...], str], ...] = ()


def settle_bucket(job: SettleJob, bucket: Bucket) -> Settled:
    """Deduplicate the terms and triples of a bucket, and look for clashes of terms."""
    known = bucket.read_terms()
    came = read_bucket(job.terms, bucket.number, TERM_COLUMNS)
    terms = _sorted_terms(pa.concat_tables([known, came]))
    ids, texts = terms["id"].to_numpy(), terms["text"].combine_chunks()
    found = clashes(ids, texts) if len(ids) > 1 else {}
    if found:
        owners = dict(zip(known["id"].to_pylist(), known["text"].to_pylist(), strict=True))
        return Settled(
            clashes=tuple((id, tuple(texts), owners.get(id, "")) for id, texts in found.items())
        )
    is_first = np.ones(len(ids), np.bool_)
    is_first[1:] = ids[1:] != ids[:-1]
    is_new = is_first & ~np.isin(ids, known["id"].to_numpy()) if len(known) else is_first
    new = terms.filter(pa.array(is_new)).cast(SCHEMAS[TERMS])
    facts, told = _with_told(bucket, read_bucket(job.triples, bucket.number, TRIPLE_COLUMNS))
    return Settled(
        write_file(job.path / TRIPLES_TABLE, facts, bucket.number),
        write_file(job.path / TERMS, new, bucket.number) if len(new) else None,
        told,
    )


def _sorted_terms(terms: pa.Table) -> pa.Table:
    order = np.argsort(terms["id"].to_numpy())
    return terms.combine_chunks().take(pa.array(order))


def _with_told(bucket: Bucket, triples: pa.Table) -> tuple[pa.Table, int]:
    """The facts of a bucket after telling triples, and how many are told now."""
    came = table_of(told_facts([triples[name].to_numpy() for name in FACT_KEYS]))
    known = [bucket.read_facts()] if bucket.facts or bucket.changes else []
    facts = columns_of(summed(pa.concat_tables([*known, came])))
    told = np.minimum(facts.told, np.int32(1))
    return table_of(facts._replace(told=told)), int(told.sum())


# what the driver wants to know of the told triples


@dataclass(frozen=True, slots=True)
class Survey:
    """What the driver asks of told triples: those of some kinds, and how many each kind has."""

    kinds: frozenset[Kind]
    by_object: frozenset[int]


def survey_bucket(survey: Survey, bucket: Bucket) -> tuple[HashIds, Counter[Kind]]:
    """The told triples of some kinds in a bucket, and how many it has of each kind."""
    told = bucket.read_told_columns()
    counts = _count_kinds(told, survey.by_object)
    predicates = np.array(sorted({predicate for predicate, _ in survey.kinds}), np.int64)
    chosen = np.flatnonzero(np.isin(told[1], predicates))
    found = np.stack([column[chosen] for column in told], axis=1).reshape(-1, 3)
    return found[is_of_kinds(found, survey.kinds)], counts


def kinds_of_triples(triples: HashIds, by_object: Iterable[int]) -> Counter[Kind]:
    """How many triples of each kind there are; kinds of some predicates name the object."""
    return _count_kinds((triples[:, 0], triples[:, 1], triples[:, 2]), by_object)


def _count_kinds(triples: TripleColumns, by_object: Iterable[int]) -> Counter[Kind]:
    _, p, o = triples
    found: Counter[Kind] = Counter(
        {(each["values"], None): each["counts"] for each in pc.value_counts(p).to_pylist()}
    )
    named = [predicate for predicate in by_object if found.pop((predicate, None), 0)]
    if named:
        chosen = np.flatnonzero(np.isin(p, np.array(named, np.int64)))
        pairs = pa.table({"p": p[chosen], "o": o[chosen]}).group_by(["p", "o"], use_threads=False)
        for row in pairs.aggregate([([], "count_all")]).to_pylist():
            found[row["p"], row["o"]] = row["count_all"]
    return found


def is_of_kinds(
    triples: HashIds, kinds: frozenset[Kind]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which triples are of one of these kinds."""
    plain = np.array(sorted(p for p, o in kinds if o is None), np.int64)
    fits = np.isin(triples[:, 1], plain)
    objects: dict[int, list[int]] = {}
    for predicate, obj in kinds:
        if obj is not None:
            objects.setdefault(predicate, []).append(obj)
    for predicate, named in objects.items():
        of_predicate = np.flatnonzero(triples[:, 1] == predicate)
        mine = np.isin(triples[of_predicate, 2], np.array(named, np.int64))
        fits[of_predicate[mine]] = True
    return fits


# following and publishing


@dataclass(frozen=True, slots=True)
class FollowJob:
    """What following tasks are told."""

    table: ConsequenceTable
    folder: Path


def follow_bucket(job: FollowJob, bucket: Bucket) -> tuple[str, int]:
    """The consequences of the told triples of a bucket, in an exchange file."""
    found = summed(table_of(followed(job.table, bucket.read_told_columns())))
    keys = found["s"].to_numpy()
    return write_buckets(job.folder, found, keys, bucket.buckets), len(found)


@dataclass(frozen=True, slots=True)
class PublishJob:
    """What publishing tasks are told.

    `own` are the consequences that stay in the bucket of their triple, `files` have all
    others, and `schema` has those of the schema.
    """

    path: Path
    own: ConsequenceTable
    files: tuple[str, ...]
    schema: HashIds


@dataclass(frozen=True, slots=True)
class Published:
    """A bucket with its conclusions."""

    file: DataFile
    told: int
    derived: int


def publish_bucket(job: PublishJob, bucket: Bucket) -> Published:
    """Write the told triples of a bucket and their conclusions, each once with its support."""
    told = bucket.read_told_columns()
    mine = job.schema[bucket_of(job.schema[:, 0], bucket.buckets) == bucket.number]
    parts = [
        table_of(told_facts(told)),
        table_of(followed(job.own, told)),
        read_bucket(job.files, bucket.number, FACTS),
        fact_table(mine, 1, 0),
    ]
    facts = summed(pa.concat_tables(parts))
    count = len(told[0])
    return Published(
        write_file(job.path / TRIPLES_TABLE, facts, bucket.number), count, len(facts) - count
    )


def texts_in(ids: HashIds, bucket: Bucket) -> dict[int, str]:
    """The texts of those of these ids that are in a bucket."""
    terms = bucket.read_terms()
    chosen = terms.filter(pa.array(np.isin(terms["id"].to_numpy(), ids)))
    return dict(zip(chosen["id"].to_pylist(), chosen["text"].to_pylist(), strict=True))


def compact_bucket(path: Path, bucket: Bucket) -> DataFile:
    """Write the facts of a bucket as they are now."""
    return write_file(path / TRIPLES_TABLE, in_order(bucket.read_facts()), bucket.number)


def collect_bucket(path: Path, files: tuple[str, ...], bucket: Bucket) -> DataFile:
    """Write the facts that exchange files have for a bucket."""
    facts = summed(read_bucket(files, bucket.number, FACTS))
    return write_file(path / TRIPLES_TABLE, facts, bucket.number)
