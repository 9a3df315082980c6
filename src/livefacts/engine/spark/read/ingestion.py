"""Ingestion: files or a DataFrame become asserted triples and terms, deduplicated, in one commit.

One job of two stages: splits of files, or partitions, are read, encoded and sent to buckets; then each bucket
deduplicates its terms and its facts.  If two texts turn out to have the same hash, all but one of
them become exceptions with ids of their own, and the splits are read once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from livefacts.engine.spark.jobs.stage_report import JobReport
from livefacts.engine.spark.jobs.work import Work
from livefacts.engine.spark.read.bucket_intake import (
    FactFiles,
    NumberedSplit,
    Read,
    ReadJob,
    SettledBucket,
    SettleJob,
    read_split,
    settle_bucket,
)
from livefacts.engine.spark.read.frame_source import VALUES_HINT, FrameSource
from livefacts.engine.spark.read.resumption import KeptStages, input_of, key_of, resumable
from livefacts.engine.spark.read.splits import Split
from livefacts.errors import InputError
from livefacts.kb.bucket_stages import Bucket, bucket_files
from livefacts.kb.buckets import Blocks
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
    """What was read and deduplicated."""

    reads: list[Read]
    settled: list[SettledBucket]
    encoding: Encoding

    def others(self) -> list[DataFile] | None:
        """The files of predicate facts in place of those before; None if none were read."""
        if not any(each.has_others for each in self.settled):
            return None
        return [each.others for each in self.settled if each.others]

    def figures(self) -> dict[str, int]:
        return {
            "read": sum(read.rows for read in self.reads),
            "asserted": sum(each.told for each in self.settled)
            + sum(file.rows for file in self.others() or ()),
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
        settling = SettleJob(work.base.path, fact_files(work), work.start.seq + 1)
        taken = take_in(work, source, before, partial(settle_bucket, settling), kept)
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
        return VALUES_HINT
    return "are these files in the right format?"


def take_in(
    work: Work,
    source: Source,
    encoding: Encoding,
    settle: Callable[[Bucket, Blocks], SettledBucket],
    kept: KeptStages | None = None,
    title: str = "read and deduplicate",
) -> Taken:
    """Read and settle until no two terms have the same id."""
    buckets = bucket_files(work.base, work.start, work.buckets)
    for salt in SALTS:
        again = f", again ({salt})" if salt > 1 else ""
        with work.stages.stage(f"{title}{again}") as stage:
            job = ReadJob(encoding, work.buckets, work.base.options)
            if isinstance(source, FrameSource):
                run = source.exchange(work, stage, job, settle, buckets)
            else:
                reading = partial(read_split, job)
                run = work.exchange(stage, reading, numbered(source), settle, buckets)
            found = (
                run()
                if kept is None
                else kept.results(stage, run, lambda each: each.paths(work.base.path))
            )
            reads = without_failed([each for each in found if isinstance(each, Read)])
            settled = [each for each in found if isinstance(each, SettledBucket)]
            stage.rows = sum(read.rows for read in reads)
            stage.bytes = sum(read.split.size() for read in reads)
        _require_same_left_out(settled)
        clashes = [clash for each in settled for clash in each.clashes]
        if not clashes:
            return Taken(reads, settled, encoding)
        encoding = _with_exceptions(encoding, clashes, salt)
    raise too_many_alike()


def _require_same_left_out(settled: Sequence[SettledBucket]) -> None:
    """Refuse what was read twice, since an executor was lost, with another end the second time."""
    seen = {each.left_out for each in settled if not each.clashes}
    if len(seen) > 1:
        raise InputError(
            "a file could be read at first, and not when an executor that was lost had to be replaced",
            hint="nothing was changed: try again",
        )


def numbered(splits: Sequence[Split]) -> list[NumberedSplit]:
    """Splits with the numbers of their files."""
    files = {path: number for number, path in enumerate(dict.fromkeys(s.path for s in splits))}
    return [NumberedSplit(files[split.path], split) for split in splits]


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
    others = taken.others()
    if others is not None:
        writes[PREDICATES_TABLE] = Write(tuple(others), OVERWRITE)
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
