"""Ingesting: files become told triples and terms, deduplicated, in one commit.

Two jobs: splits are read, encoded and put into buckets; then each bucket deduplicates its
terms and its triples.  If two texts turn out to have the same hash, all but one of them
become exceptions with ids of their own, and the splits are read once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from livefacts.engine.spark.encode import Encoding
from livefacts.engine.spark.exchange import bucket_of, remove_files, run_tasks
from livefacts.engine.spark.reports import Report, Stages
from livefacts.engine.spark.splits import Split
from livefacts.engine.spark.stages import (
    Bucket,
    Read,
    ReadJob,
    Settled,
    SettleJob,
    read_split,
    settle_bucket,
)
from livefacts.engine.spark.tables import (
    CHANGES,
    EXCEPTIONS,
    OVERWRITE,
    REJECTS,
    SCHEMAS,
    TERMS,
    TRIPLES_TABLE,
    Commit,
    KnowledgeBase,
    Write,
    by_bucket,
    write_file,
)
from livefacts.errors import InputError
from livefacts.syntax.rejects import Reject

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_SALTS = 64


@dataclass(frozen=True, slots=True)
class Ingest:
    """What is ingested into what."""

    session: SparkSession
    base: KnowledgeBase
    start: Commit
    buckets: int
    stages: Stages


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
    changes = tuple(base.files(CHANGES, commit))
    return [
        Bucket(number, buckets, tuple(facts[number]), changes, tuple(terms[number]))
        for number in range(buckets)
    ]


def ingest(work: Ingest, splits: Sequence[Split], batch: str) -> Report:
    """Ingest splits; one commit."""
    before = encoding_of(work.base, work.start)
    with work.base.exchange() as folder:
        reads, settled, encoding = _settled(work, splits, before, folder)
    rejects = _placed(reads)
    _refuse_nothing(reads, rejects)
    figures = {
        "read": sum(read.rows for read in reads),
        "told": sum(each.told for each in settled),
        "rejected": len(rejects),
    }
    with work.stages.stage("commit"):
        commit = work.base.publish(
            work.start,
            "ingest",
            _writes(work, settled, rejects, encoding),
            batch=batch,
            notes={"buckets": work.buckets, "told": figures["told"], "closed": False},
        )
    return Report(commit.seq, "ingest", figures, tuple(work.stages.done), _hints(rejects))


def _settled(
    work: Ingest, splits: Sequence[Split], encoding: Encoding, folder: Path
) -> tuple[list[Read], list[Settled], Encoding]:
    """Read and settle until no two terms have the same id."""
    for salt in range(1, MOST_SALTS):
        with work.stages.stage("parse and encode") as stage:
            reading = partial(read_split, ReadJob(encoding, folder, work.buckets))
            reads = run_tasks(work.session, reading, splits, stage.name)
            stage.rows = sum(read.rows for read in reads)
            stage.bytes = sum(split.size() for split in splits)
        with work.stages.stage("deduplicate, dictionary") as stage:
            triples = tuple(read.triples for read in reads)
            terms = tuple(read.terms for read in reads)
            settling = partial(settle_bucket, SettleJob(work.base.path, triples, terms))
            buckets = bucket_files(work.base, work.start, work.buckets)
            settled = run_tasks(work.session, settling, buckets, stage.name)
            stage.rows = sum(each.told for each in settled)
            stage.bytes = sum(f.size for each in settled for f in (each.facts, each.terms) if f)
        remove_files([*triples, *terms])
        found = [clash for each in settled for clash in each.clashes]
        if not found:
            return reads, settled, encoding
        encoding = _with_exceptions(encoding, found, salt)
    raise InputError(
        "too many terms have the same hash", hint="this should not happen: please report it"
    )


def _with_exceptions(
    encoding: Encoding, found: Sequence[tuple[int, tuple[str, ...], str]], salt: int
) -> Encoding:
    """Every text but one of those that share an id gets another one, with a salt."""
    exceptions = dict(encoding.exceptions)
    for _, texts, owner in found:
        plain = [text for text in texts if text not in exceptions]
        keeper = owner or (plain or list(texts))[0]
        for text in texts:
            if text != keeper:
                exceptions[text] = encoding.id_of(text, salt)
    return replace(encoding, exceptions=exceptions)


def _placed(reads: Sequence[Read]) -> list[Reject]:
    """The rejects of all splits; lines are counted from the beginning of their file."""
    found, lines = [], dict[str, int]()
    for read in reads:
        before = lines.get(read.split.path, 0)
        found += [
            replace(each, line=each.line + before) if each.line else each for each in read.rejects
        ]
        lines[read.split.path] = before + read.lines
    return found


def _refuse_nothing(reads: Sequence[Read], rejects: Sequence[Reject]) -> None:
    if rejects and not any(read.rows for read in reads):
        raise InputError(
            f"nothing could be read: {rejects[0]}", hint="are these files in the right format?"
        )


def _hints(rejects: Sequence[Reject]) -> tuple[str, ...]:
    left_out = [str(reject) for reject in rejects if not reject.line]
    return tuple(left_out[:10])


def _writes(
    work: Ingest,
    settled: Sequence[Settled],
    rejects: Sequence[Reject],
    encoding: Encoding,
) -> dict[str, Write]:
    path, seq = work.base.path, work.start.seq + 1
    facts = tuple(each.facts for each in settled if each.facts)
    terms = tuple(each.terms for each in settled if each.terms)
    writes = {TRIPLES_TABLE: Write(facts, OVERWRITE)}
    if terms:
        writes[TERMS] = Write(terms)
    if CHANGES in work.start.versions:
        writes[CHANGES] = Write((), OVERWRITE)
    if rejects:
        writes[REJECTS] = Write((write_file(path / REJECTS, _reject_table(seq, rejects)),))
    return writes | exception_writes(work.base, encoding)


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
