"""Ingestion: files or a DataFrame become asserted triples and terms, deduplicated, in one commit.

Two jobs: splits of files, or partitions, are read, encoded and put into buckets; then each bucket deduplicates its
terms and its triples.  If two texts turn out to have the same hash, all but one of them
become exceptions with ids of their own, and the splits are read once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from livefacts.engine.spark.jobs.stage_report import JobReport, Stage
from livefacts.engine.spark.jobs.work import Work, run_tasks
from livefacts.engine.spark.read.bucket_intake import (
    FactFiles,
    Files,
    Read,
    ReadJob,
    SettledBucket,
    SettleJob,
    read_split,
    settle_bucket,
    settle_predicates,
)
from livefacts.engine.spark.read.frame_source import FrameSource
from livefacts.engine.spark.read.resumption import KeptStages, input_of, key_of, resumable
from livefacts.engine.spark.read.splits import Split
from livefacts.errors import InputError
from livefacts.kb.bucket_stages import Bucket, bucket_files
from livefacts.kb.tables import (
    CHANGES,
    GRAPHS,
    OVERWRITE,
    PREDICATE_CHANGES,
    PREDICATES_TABLE,
    REJECTS,
    SCHEMAS,
    TERMS,
    TRIPLES_TABLE,
    DataFile,
    Write,
    write_file,
)
from livefacts.kb.term_encoding import SALTS, Encoding, too_many_alike
from livefacts.kb.term_rows import encoding_of, exception_writes
from livefacts.syntax.input.rejects import Reject

MOST_HINTS = 10


@dataclass(frozen=True, slots=True)
class Taken:
    """What was read and deduplicated; the file of predicate facts of each bucket that has some."""

    reads: list[Read]
    settled: list[SettledBucket]
    others: list[DataFile] | None
    encoding: Encoding

    def figures(self) -> dict[str, int]:
        return {
            "read": sum(read.rows for read in self.reads),
            "asserted": sum(each.told for each in self.settled)
            + sum(file.rows for file in self.others or ()),
            "rejected": sum(read.rejected or bool(read.failure) for read in self.reads),
        }


Source = Sequence[Split] | FrameSource
"""What is read: pieces of files, or a DataFrame."""


def ingest(work: Work, source: Source, batch: str) -> JobReport:
    """Take in what a source has; one commit."""
    before = encoding_of(work.base, work.start)
    known = source.key() if isinstance(source, FrameSource) else input_of(source)
    key = key_of("ingest", work.start, work.buckets, sorted(before.exceptions.items()), known)
    with resumable(work.base, key) as kept:
        taken = _taken(work, source, before, kept)
        rejects, figures = placed(taken.reads), taken.figures()
        if rejects and not figures["read"]:
            raise InputError(f"nothing could be read: {rejects[0]}", hint=_unread_hint(source))
        notes = {
            "buckets": work.buckets,
            "told": figures["asserted"],
            "closed": False,
            "changed": 0,
        }
        with work.stages.stage("commit"):
            writes = _writes(work, taken, rejects)
            commit = work.base.publish(work.start, "ingest", writes, batch=batch, notes=notes)
    hints = tuple(_hints(taken.reads, rejects))
    return JobReport(commit.seq, "ingest", figures, tuple(work.stages.done), hints)


def _unread_hint(source: Source) -> str:
    if isinstance(source, FrameSource):
        return 'values are N-Triples text: <http://example.org/a>, _:b, "text"'
    return "are these files in the right format?"


def _taken(work: Work, source: Source, encoding: Encoding, kept: KeptStages) -> Taken:
    """Read and deduplicate until no two terms have the same id."""
    buckets = bucket_files(work.base, work.start, work.buckets)
    for salt in SALTS:
        again = f", again ({salt})" if salt > 1 else ""
        with work.stages.stage(f"parse and encode{again}") as stage:
            reads = _read(work, source, ReadJob(encoding, kept.folder, work.buckets), stage, kept)
        files = sum((read.files for read in reads), Files())
        job = SettleJob(work.base.path, files, work.start.seq + 1)
        with work.stages.stage(f"deduplicate, dictionary{again}") as stage:
            settled = _settled(work, job, buckets, stage, kept)
        found = [clash for each in settled for clash in each.clashes]
        if not found:
            return Taken(reads, settled, _settled_predicates(work, job, buckets), encoding)
        encoding = _with_exceptions(encoding, found, salt)
    raise too_many_alike()


def _read(work: Work, source: Source, job: ReadJob, stage: Stage, kept: KeptStages) -> list[Read]:
    if isinstance(source, FrameSource):
        run = source.tasks(work, stage, job)
    else:
        run = work.tasks(stage, partial(read_split, job), source)
    reads = without_failed(kept.results(stage, run, lambda read: read.files.names()))
    stage.rows = sum(read.rows for read in reads)
    stage.bytes = sum(read.split.size() for read in reads)
    return reads


def _settled(
    work: Work, job: SettleJob, buckets: Sequence[Bucket], stage: Stage, kept: KeptStages
) -> list[SettledBucket]:
    run = work.tasks(stage, partial(settle_bucket, job), buckets)
    settled = kept.results(stage, run, lambda each: each.paths(work.base.path))
    stage.rows = sum(each.told for each in settled)
    stage.bytes = sum(f.size for each in settled for f in (each.facts, each.terms) if f)
    return settled


def _settled_predicates(
    work: Work, job: SettleJob, buckets: Sequence[Bucket]
) -> list[DataFile] | None:
    """The files of predicate facts in place of those before; None if none were read."""
    if not job.files.others:
        return None
    with work.stages.stage("predicate facts") as stage:
        task = partial(settle_predicates, job, fact_files(work))
        files = [file for file in run_tasks(work.session, task, buckets, stage.name) if file]
        stage.rows, stage.bytes = sum(f.rows for f in files), sum(f.size for f in files)
    return files


def fact_files(work: Work) -> FactFiles:
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
    return encoding.with_salt(others, salt)


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


def _writes(work: Work, taken: Taken, rejects: Sequence[Reject]) -> dict[str, Write]:
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
