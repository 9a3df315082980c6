"""Stages by bucket: what one task surveys, follows or publishes in the bucket that it is given.

Each function here is the body of one task, and what the driver hears of it is small: rows
are sent to the buckets of the next stage as blocks, and go for good into the folder of a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from livefacts.kb.buckets import Blocks, bucket_of, by_bucket, posted
from livefacts.kb.consequences import (
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
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.tables import (
    CHANGES,
    GRAPHS,
    SCHEMAS,
    TERMS,
    TRIPLES_TABLE,
    Commit,
    DataFile,
    KnowledgeBase,
    write_file,
)
from livefacts.store.terms.hash_ids import HashIds

QUAD = [*FACT_KEYS, "g"]
TERM_COLUMNS = pa.schema([("id", pa.int64()), ("text", pa.large_string())])


@dataclass(frozen=True, slots=True)
class Bucket:
    """The files in which the rows of one bucket are.

    Some of `changes` and `graphs` have rows of all buckets: those of small changes.
    """

    number: int
    buckets: int
    facts: tuple[StorePath, ...]
    changes: tuple[StorePath, ...] = ()
    terms: tuple[StorePath, ...] = ()
    graphs: tuple[StorePath, ...] = ()

    def read_facts(self) -> pa.Table:
        """The facts of the bucket as they are now, in no order."""
        parts = [file.read_table(FACTS) for file in self.facts]
        signed = [self._own(file) for file in self.changes]
        if not signed and len(parts) == 1:
            return parts[0]
        facts = summed(pa.concat_tables([FACTS.empty_table(), *parts, *signed]))
        return facts.filter(pc.or_(pc.greater(facts["support"], 0), pc.greater(facts["told"], 0)))

    def _own(self, file: StorePath) -> pa.Table:
        return self._mine(file.read_table(SCHEMAS[CHANGES])).select(FACTS.names)

    def _mine(self, rows: pa.Table) -> pa.Table:
        mine = bucket_of(rows["s"].to_numpy(), self.buckets) == self.number
        return rows.filter(pa.array(mine))

    def read_told(self) -> HashIds:
        """The asserted triples of the bucket, as rows."""
        return np.stack(self.read_told_columns(), axis=1)

    def read_told_columns(self) -> TripleColumns:
        """The asserted triples of the bucket, as columns in order."""
        facts = columns_of(self.read_facts())
        is_told = facts.asserted > 0
        if is_told.all():
            return facts[:3]
        return facts.s[is_told], facts.p[is_told], facts.o[is_told]

    def read_quads(self) -> pa.Table:
        """The triples of the bucket that named graphs assert, with all graphs that assert them."""
        schema = SCHEMAS[GRAPHS]
        parts = [file.read_table(schema) for file in self.graphs]
        rows = self._mine(pa.concat_tables([schema.empty_table(), *parts]))
        sums = rows.group_by(QUAD, use_threads=False).aggregate([("sign", "sum")])
        return sums.filter(pc.greater(sums["sign_sum"], 0)).select(QUAD)

    def read_terms(self) -> pa.Table:
        """The terms of the bucket."""
        parts = [file.read_table(SCHEMAS[TERMS]) for file in self.terms]
        return pa.concat_tables(
            [TERM_COLUMNS.empty_table(), *(p.cast(TERM_COLUMNS) for p in parts)]
        )


# what the driver wants to know of the asserted triples


@dataclass(frozen=True, slots=True)
class Survey:
    """What the driver asks of asserted triples: those of some kinds, and how many each kind has."""

    kinds: frozenset[Kind]
    by_object: frozenset[int] = frozenset()


def survey_bucket(survey: Survey, bucket: Bucket) -> tuple[HashIds, Counter[Kind]]:
    """The asserted triples of some kinds in a bucket, and how many it has of each kind."""
    return survey_told(survey, bucket.read_told_columns())


def survey_told(survey: Survey, told: TripleColumns) -> tuple[HashIds, Counter[Kind]]:
    """The same of asserted triples in order."""
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


FOLLOWED = "followed"
"""The kind of a block of facts that follow from triples of another bucket."""


def follow_bucket(table: ConsequenceTable, bucket: Bucket) -> Generator[pa.RecordBatch, None, int]:
    """Send the consequences of the asserted triples of a bucket to theirs; how many they are."""
    found = summed(table_of(followed(table, bucket.read_told_columns())))
    yield posted(FOLLOWED, found, found["s"].to_numpy(), bucket.buckets)
    return len(found)


@dataclass(frozen=True, slots=True)
class PublishJob:
    """What publishing tasks are given.

    `own` are the consequences that stay in the bucket of their triple, and `schema` has those
    of the schema.
    """

    path: StorePath
    own: ConsequenceTable
    schema: HashIds


@dataclass(frozen=True, slots=True)
class Published:
    """A bucket with its conclusions."""

    file: DataFile
    told: int
    derived: int


def publish_bucket(job: PublishJob, bucket: Bucket, sent: Blocks) -> Published:
    """Write the asserted triples of a bucket and their conclusions, each once with its support.

    What follows from triples of other buckets was sent.
    """
    told = bucket.read_told_columns()
    mine = job.schema[bucket_of(job.schema[:, 0], bucket.buckets) == bucket.number]
    parts = [
        table_of(told_facts(told)),
        table_of(followed(job.own, told)),
        sent.rows(FOLLOWED, FACTS),
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


def compact_bucket(path: StorePath, bucket: Bucket) -> DataFile:
    """Write the facts of a bucket as they are now."""
    return write_file(path / TRIPLES_TABLE, in_order(bucket.read_facts()), bucket.number)


def collect_bucket(path: StorePath, bucket: Bucket, sent: Blocks) -> DataFile:
    """Write the facts that were sent to a bucket."""
    return write_file(path / TRIPLES_TABLE, summed(sent.rows(FOLLOWED, FACTS)), bucket.number)


def bucket_files(base: KnowledgeBase, commit: Commit, buckets: int) -> list[Bucket]:
    """The files of every bucket at a commit."""
    facts = by_bucket(base.files(TRIPLES_TABLE, commit), buckets)
    terms = by_bucket(base.files(TERMS, commit), buckets)
    graphs = by_bucket(base.files(GRAPHS, commit), buckets)
    changes = by_bucket(base.files(CHANGES, commit), buckets)
    listed = zip(facts, changes, terms, graphs, strict=True)
    return [Bucket(number, buckets, *map(tuple, each)) for number, each in enumerate(listed)]
