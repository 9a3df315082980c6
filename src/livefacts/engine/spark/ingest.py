"""Ingesting: files become told triples and terms, deduplicated, in one commit.

Two jobs: splits are read, encoded and put into buckets; then each bucket deduplicates its
terms and its triples.  If two texts turn out to have the same hash, all but one of them
become exceptions with ids of their own, and the splits are read once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from livefacts.engine.spark.apart import SALTS, too_many_alike, with_salt
from livefacts.engine.spark.encode import Encoding
from livefacts.engine.spark.exchange import Input, Output, bucket_of, run_tasks
from livefacts.engine.spark.reports import Report, Stage, Stages
from livefacts.engine.spark.resuming import Kept, input_of, key_of, resumable
from livefacts.engine.spark.settling import (
    FactFiles,
    Files,
    Read,
    ReadJob,
    Settled,
    SettleJob,
    read_split,
    settle_bucket,
    settle_predicates,
)
from livefacts.engine.spark.splits import Split
from livefacts.engine.spark.stages import Bucket
from livefacts.engine.spark.tables import (
    CHANGES,
    EXCEPTIONS,
    GRAPHS,
    OVERWRITE,
    PREDICATE_CHANGES,
    PREDICATES_TABLE,
    REJECTS,
    SCHEMAS,
    TERMS,
    TRIPLES_TABLE,
    Commit,
    DataFile,
    KnowledgeBase,
    Write,
    by_bucket,
    write_file,
)
from livefacts.errors import InputError
from livefacts.syntax.rejects import Reject

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_HINTS = 10


@dataclass(frozen=True, slots=True)
class Ingest:
    """What is ingested into what."""

    session: SparkSession
    base: KnowledgeBase
    start: Commit
    buckets: int
    stages: Stages

    def tasks(
        self, stage: Stage, task: Callable[[Input], Output], inputs: Sequence[Input]
    ) -> Callable[[], list[Output]]:
        """The tasks of a stage, ready to run; the stage tells how they go on."""
        told = self.stages.progress(stage)
        return lambda: run_tasks(self.session, task, inputs, stage.name, told)


def encoding_of(base: KnowledgeBase, commit: Commit) -> Encoding:
    """How texts become ids in this knowledge base at a commit."""
    rows = base.read(EXCEPTIONS, commit)
    exceptions = dict(zip(rows["text"].to_pylist(), rows["id"].to_pylist(), strict=True))
    bits = base.settings.get("bits")
    return Encoding(exceptions=exceptions) if bits is None else Encoding(bits, exceptions)


def bucket_files(base: KnowledgeBase, commit: Commit, buckets: int) -> list[Bucket]:
    """The files of every bucket at a commit."""
    facts = by_bucket(base.files(TRIPLES_TABLE, commit), buckets)
    terms = by_bucket(base.files(TERMS, commit), buckets)
    graphs = by_bucket(base.files(GRAPHS, commit), buckets)
    changes = tuple(base.files(CHANGES, commit))
    return [
        Bucket(number, buckets, tuple(each), changes, tuple(named), tuple(told))
        for number, (each, named, told) in enumerate(zip(facts, terms, graphs, strict=True))
    ]


@dataclass(frozen=True, slots=True)
class Taken:
    """What was read and settled; the file of predicate facts of each bucket that has some."""

    reads: list[Read]
    settled: list[Settled]
    others: list[DataFile] | None
    encoding: Encoding

    def figures(self) -> dict[str, int]:
        return {
            "read": sum(read.rows for read in self.reads),
            "told": sum(each.told for each in self.settled)
            + sum(file.rows for file in self.others or ()),
            "rejected": sum(read.rejected or bool(read.failure) for read in self.reads),
        }


def ingest(work: Ingest, splits: Sequence[Split], batch: str) -> Report:
    """Ingest splits; one commit."""
    before = encoding_of(work.base, work.start)
    key = key_of(
        "ingest", work.start, work.buckets, sorted(before.exceptions.items()), input_of(splits)
    )
    with resumable(work.base, key) as kept:
        taken = _taken(work, splits, before, kept)
        rejects, figures = placed(taken.reads), taken.figures()
        if rejects and not figures["read"]:
            raise InputError(
                f"nothing could be read: {rejects[0]}", hint="are these files in the right format?"
            )
        notes = {"buckets": work.buckets, "told": figures["told"], "closed": False, "changed": 0}
        with work.stages.stage("commit"):
            writes = _writes(work, taken, rejects)
            commit = work.base.publish(work.start, "ingest", writes, batch=batch, notes=notes)
    hints = tuple(_hints(taken.reads, rejects))
    return Report(commit.seq, "ingest", figures, tuple(work.stages.done), hints)


def _taken(work: Ingest, splits: Sequence[Split], encoding: Encoding, kept: Kept) -> Taken:
    """Read and settle until no two terms have the same id."""
    buckets = bucket_files(work.base, work.start, work.buckets)
    for salt in SALTS:
        again = f", again ({salt})" if salt > 1 else ""
        with work.stages.stage(f"parse and encode{again}") as stage:
            reads = _read(work, splits, ReadJob(encoding, kept.folder, work.buckets), stage, kept)
        files = sum((read.files for read in reads), Files())
        job = SettleJob(work.base.path, files, work.start.seq + 1)
        with work.stages.stage(f"deduplicate, dictionary{again}") as stage:
            settled = _settled(work, job, buckets, stage, kept)
        found = [clash for each in settled for clash in each.clashes]
        if not found:
            return Taken(reads, settled, _settled_predicates(work, job, buckets), encoding)
        encoding = _with_exceptions(encoding, found, salt)
    raise too_many_alike()


def _read(
    work: Ingest, splits: Sequence[Split], job: ReadJob, stage: Stage, kept: Kept
) -> list[Read]:
    run = work.tasks(stage, partial(read_split, job), splits)
    reads = without_failed(kept.results(stage, run, lambda read: read.files.names()))
    stage.rows = sum(read.rows for read in reads)
    stage.bytes = sum(split.size() for split in splits)
    return reads


def _settled(
    work: Ingest, job: SettleJob, buckets: Sequence[Bucket], stage: Stage, kept: Kept
) -> list[Settled]:
    run = work.tasks(stage, partial(settle_bucket, job), buckets)
    settled = kept.results(stage, run, lambda each: each.paths(work.base.path))
    stage.rows = sum(each.told for each in settled)
    stage.bytes = sum(f.size for each in settled for f in (each.facts, each.terms) if f)
    return settled


def _settled_predicates(
    work: Ingest, job: SettleJob, buckets: Sequence[Bucket]
) -> list[DataFile] | None:
    """The files of predicate facts in place of those before; None if none were read."""
    if not job.files.others:
        return None
    with work.stages.stage("predicate facts") as stage:
        task = partial(settle_predicates, job, fact_files(work))
        files = [file for file in run_tasks(work.session, task, buckets, stage.name) if file]
        stage.rows, stage.bytes = sum(f.rows for f in files), sum(f.size for f in files)
    return files


def fact_files(work: Ingest) -> FactFiles:
    """The files of predicate facts that a change starts from."""
    facts, changes = (
        tuple(work.base.files(table, work.start)) for table in (PREDICATES_TABLE, PREDICATE_CHANGES)
    )
    return FactFiles(facts, changes)


def without_failed(reads: Sequence[Read]) -> list[Read]:
    """What was read, without the files of which some part could not be read."""
    failures: dict[str, Read] = {}
    for read in reads:
        if read.failure:
            failures.setdefault(read.split.path, read)
    return [
        read
        for read in reads
        if read.split.path not in failures or read is failures[read.split.path]
    ]


def _with_exceptions(
    encoding: Encoding, found: Sequence[tuple[int, tuple[str, ...], str]], salt: int
) -> Encoding:
    """Every text but one of those that share an id gets another one, with a salt."""
    others: list[str] = []
    for _, texts, owner in found:
        plain = [text for text in texts if text not in encoding.exceptions]
        keeper = owner or (plain or list(texts))[0]
        others += [text for text in texts if text != keeper]
    return with_salt(encoding, others, salt)


def placed(reads: Sequence[Read]) -> list[Reject]:
    """The rejects of all splits; lines are counted from the beginning of their file."""
    found: list[Reject] = []
    lines: dict[str, int] = {}
    for read in reads:
        path = read.split.path
        before = lines.get(path, 0)
        found += [
            replace(each, line=each.line + before) if each.line else each for each in read.rejects
        ]
        if read.failure:
            found.append(Reject(path, 0, 0, f"{read.failure}; the file was left out", ""))
        lines[path] = before + read.lines
    return found


def _hints(reads: Sequence[Read], rejects: Sequence[Reject]) -> Iterator[str]:
    yield from [str(reject) for reject in rejects if not reject.line][:MOST_HINTS]
    more = sum(read.rejected - len(read.rejects) for read in reads)
    if more:
        yield f"{more:,} more lines were rejected than are listed: the first of each part are"


def _writes(work: Ingest, taken: Taken, rejects: Sequence[Reject]) -> dict[str, Write]:
    path, seq = work.base.path, work.start.seq + 1
    settled = taken.settled
    facts = tuple(each.facts for each in settled if each.facts)
    terms = tuple(each.terms for each in settled if each.terms)
    graphs = tuple(each.graphs for each in settled if each.graphs)
    writes = {TRIPLES_TABLE: Write(facts, OVERWRITE)}
    if terms:
        writes[TERMS] = Write(terms)
    if graphs:
        writes[GRAPHS] = Write(graphs)
    if CHANGES in work.start.versions:
        writes[CHANGES] = Write((), OVERWRITE)
    if taken.others is not None:
        writes[PREDICATES_TABLE] = Write(tuple(taken.others), OVERWRITE)
        if PREDICATE_CHANGES in work.start.versions:
            writes[PREDICATE_CHANGES] = Write((), OVERWRITE)
    if rejects:
        writes[REJECTS] = Write((write_file(path / REJECTS, _reject_table(seq, rejects)),))
    return writes | exception_writes(work.base, taken.encoding)


def term_writes(
    base: KnowledgeBase, terms: Mapping[int, str], encoding: Encoding
) -> dict[str, Write]:
    """What adds new terms and exceptions."""
    ids = np.array(sorted(terms), np.int64)
    homes = bucket_of(ids, int(base.settings["buckets"]))
    files = []
    for number in np.unique(homes).tolist():
        mine = ids[homes == number].tolist()
        rows = pa.table([mine, [terms[each] for each in mine]], SCHEMAS[TERMS])
        files.append(write_file(base.path / TERMS, rows, number))
    writes = exception_writes(base, encoding)
    return {TERMS: Write(tuple(files)), **writes} if files else writes


def exception_writes(base: KnowledgeBase, encoding: Encoding) -> dict[str, Write]:
    """What keeps the exceptions, where there are any."""
    if not encoding.exceptions:
        return {}
    columns = [list(encoding.exceptions), list(encoding.exceptions.values())]
    rows = pa.table(columns, SCHEMAS[EXCEPTIONS])
    return {EXCEPTIONS: Write((write_file(base.path / EXCEPTIONS, rows),), OVERWRITE)}


def _reject_table(seq: int, rejects: Sequence[Reject]) -> pa.Table:
    rows = [
        {
            "seq": seq,
            "file": each.file,
            "line": each.line,
            "column": each.column,
            "reason": each.reason,
            "text": each.text,
        }
        for each in rejects
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMAS[REJECTS])
