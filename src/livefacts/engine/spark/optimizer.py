"""The optimizer: changes are folded into facts, small files into larger ones, and room is made.

What is folded and put together is one commit; a knowledge base that is in order already
gets none.  Then every log is summed up, and data files that no kept version needs are
removed: those of versions that were dropped, and those of changes that were cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from functools import partial

import pyarrow as pa

from livefacts.engine.spark.jobs.frames import counted_predicates
from livefacts.engine.spark.jobs.stage_report import JobReport
from livefacts.engine.spark.jobs.tasks import run_tasks
from livefacts.engine.spark.jobs.work import Work
from livefacts.engine.spark.read.resumption import forget
from livefacts.errors import InputError
from livefacts.kb.bucket_stages import TERM_COLUMNS, Bucket, bucket_files, compact_bucket
from livefacts.kb.buckets import by_bucket
from livefacts.kb.graph_rows import quads_at, write_quads
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.tables import (
    CHANGES,
    COMMITS,
    COMPACT,
    GRAPHS,
    OLDEST,
    OVERWRITE,
    PREDICATE_CHANGES,
    PREDICATES_TABLE,
    SCHEMAS,
    TERMS,
    TRIPLES_TABLE,
    Commit,
    DataFile,
    KnowledgeBase,
    Write,
    write_file,
)
from livefacts.kb.vacuum import Removed, vacuum_versions

FOLDED = (TRIPLES_TABLE, TERMS, CHANGES, PREDICATE_CHANGES, GRAPHS)
"""Tables whose files are by bucket, or whose rows add up: Delta must not put them together."""
MADE = "name string, size long, rows long, written long, is_new boolean"


def optimize(work: Work, keep: int | None = None) -> JobReport:
    """Put everything in order; of versions, the last `keep` stay readable, or all of them."""
    if keep is not None and keep < 1:
        raise InputError(f"keep={keep}: the last version always stays", hint="keep 1 or more")
    writes = {
        **_other_writes(work),
        **_fact_writes(work),
        **_term_writes(work),
        **_predicate_writes(work),
        **_graph_writes(work),
    }
    commit = _committed(work, writes, keep)
    with work.stages.stage("vacuum") as stage:
        removed = tidy(work.base, commit)
        stage.rows, stage.bytes = removed.files, removed.bytes
    figures = {
        "facts": work.base.count(TRIPLES_TABLE, commit),
        "files removed": removed.files,
        "bytes freed": removed.bytes,
    }
    return JobReport(commit.seq, "optimize", figures, tuple(work.stages.done))


def _fact_writes(work: Work) -> dict[str, Write]:
    """Facts as they are now in place of facts and changes."""
    buckets = bucket_files(work.base, work.start, work.buckets)
    if not any(bucket.changes or len(bucket.facts) > 1 for bucket in buckets):
        return {}
    writes = {TRIPLES_TABLE: _rewritten(work, "compact facts", compact_bucket, buckets)}
    if CHANGES in work.start.versions:
        writes[CHANGES] = Write((), OVERWRITE)
    return writes


def _term_writes(work: Work) -> dict[str, Write]:
    """The terms of each bucket in one file."""
    buckets = bucket_files(work.base, work.start, work.buckets)
    if not any(len(bucket.terms) > 1 for bucket in buckets):
        return {}
    written = _rewritten(work, "compact terms", compact_terms, buckets)
    if not work.base.has_links or work.base.is_ahead(TERMS, work.start):
        return {TERMS: written}
    # The same rows in other files: who follows the table by its log has seen them.
    files = tuple(replace(file, is_new=False) for file in written.files)
    old = tuple(file.name for bucket in buckets for file in bucket.terms)
    return {TERMS: Write(files, replaced=old)}


def _predicate_writes(work: Work) -> dict[str, Write]:
    """Predicate facts as they are now in place of facts and changes."""
    if not work.base.files(PREDICATE_CHANGES, work.start):
        return {}
    with work.stages.stage("compact predicate facts") as stage:
        facts = counted_predicates(work.session, work.base, work.start)
        writing = partial(write_batches, work.base.path / PREDICATES_TABLE)
        found = facts.coalesce(work.buckets).mapInArrow(writing, MADE).collect()
        files = tuple(DataFile(*row) for row in found)
        stage.rows, stage.bytes = sum(f.rows for f in files), sum(f.size for f in files)
    return {PREDICATES_TABLE: Write(files, OVERWRITE), PREDICATE_CHANGES: Write((), OVERWRITE)}


def write_batches(folder: StorePath, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Write the predicate facts of a task into one file; what it is called."""
    listed = [batch for batch in batches if len(batch)]
    if listed:
        file = write_file(folder, pa.Table.from_batches(listed).cast(SCHEMAS[PREDICATES_TABLE]))
        yield pa.RecordBatch.from_pylist([asdict(file)])


def _graph_writes(work: Work) -> dict[str, Write]:
    """Each graph's triples once, in one file a bucket."""
    files = by_bucket(work.base.files(GRAPHS, work.start), work.buckets)
    if not any(len(each) > 1 for each in files):
        return {}
    quads = quads_at(work.base, work.start)
    return {GRAPHS: Write(write_quads(work.base, work.start.seq + 1, quads), OVERWRITE)}


def _rewritten(
    work: Work,
    name: str,
    rewriting: Callable[[StorePath, Bucket], DataFile],
    buckets: Iterable[Bucket],
) -> Write:
    with work.stages.stage(name) as stage:
        task = partial(rewriting, work.base.path)
        files = run_tasks(work.session, task, list(buckets), name)
        stage.rows, stage.bytes = sum(f.rows for f in files), sum(f.size for f in files)
    return Write(tuple(files), OVERWRITE)


def compact_terms(path: StorePath, bucket: Bucket) -> DataFile:
    """Write the terms of a bucket as one file, in the order of their ids."""
    terms = bucket.read_terms().cast(TERM_COLUMNS).sort_by("id").cast(SCHEMAS[TERMS])
    return write_file(path / TERMS, terms, bucket.number)


def _other_writes(work: Work) -> dict[str, Write]:
    """Other tables in few files, and without versions that nobody named."""
    base, start = work.base, work.start
    writes = {}
    for table in SCHEMAS:
        if table == COMMITS:
            continue
        if table not in FOLDED and len(base.files(table, start)) > 1:
            writes[table] = Write(mode=COMPACT)
        elif table in start.versions and base.is_ahead(table, start):
            writes[table] = Write()
    return writes


def _committed(work: Work, writes: dict[str, Write], keep: int | None) -> Commit:
    """The state to keep: a new one if anything is written or dropped."""
    seq, before = work.start.seq, int(work.start.notes.get(OLDEST, 1))
    if not writes and (keep is None or seq - keep < before):
        return work.start
    oldest = before if keep is None else max(before, seq + 2 - keep)
    with work.stages.stage("commit"):
        notes = {"changed": 0, **({OLDEST: oldest} if oldest > 1 else {})}
        return work.base.publish(work.start, "optimize", writes, notes=notes)


def tidy(base: KnowledgeBase, commit: Commit) -> Removed:
    """Sum up the logs, and remove the files that no kept version needs."""
    kept = [each for each in base.commits() if each.seq >= commit.notes.get(OLDEST, 1)]
    base.tidy()
    forget(base.path)
    return vacuum_versions(base, kept)
