"""A change of DataFrames by tasks: however many rows come or go, none of them is in the driver.

Each DataFrame is read by tasks, as an ingested one is, and sent to buckets.  A bucket notes in a file
which of the triples change anything; what follows from them is followed and signed as for any
large change, with those files in the place of triples from the driver.  Removals come first: what
is in both DataFrames is asserted afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from livefacts.engine.spark.jobs.work import Work, passing_folder
from livefacts.engine.spark.read.bucket_intake import (
    TRIPLE_COLUMNS,
    TRIPLES,
    SettledBucket,
    settled_terms,
)
from livefacts.engine.spark.read.frame_source import VALUES_HINT, FrameSource
from livefacts.engine.spark.read.ingestion import Taken, placed, take_in
from livefacts.engine.spark.single.bucket_change import FiledChange, Signed, told_among
from livefacts.engine.spark.single.closure import ToldInTables
from livefacts.engine.spark.single.driver_change import RuleState, closed_state, state_after
from livefacts.engine.spark.single.task_change import TaskChange, followed_and_signed
from livefacts.errors import InputError
from livefacts.kb.bucket_stages import Bucket, bucket_files
from livefacts.kb.buckets import Blocks
from livefacts.kb.consequences import (
    FACT_KEYS,
    FACTS,
    columns_of,
    fact_table,
    summed,
    table_of,
    told_facts,
    triples_of,
)
from livefacts.kb.live_buckets import Columns, contains
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.tables import CHANGES, TERMS, Write, write_file
from livefacts.kb.term_encoding import NO_TRIPLES, Encoding, too_many_alike
from livefacts.kb.term_rows import encoding_of, exception_writes
from livefacts.language.program import Program
from livefacts.store.facts.hash_rows import ordered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COMES, GOES = "read what comes", "read what goes"


@dataclass(frozen=True, slots=True)
class SideJob:
    """What settling tasks are given: where their notes go, and those of what comes if it is known."""

    folder: StorePath
    tables: StorePath
    coming: Mapping[int, StorePath] = field(default_factory=dict)


def settle_coming(job: SideJob, bucket: Bucket, sent: Blocks) -> SettledBucket:
    """Note what was sent to a bucket to be asserted: `told` is 1 if it is not yet, and 0 if it is."""
    terms, clashes = settled_terms(bucket, sent)
    if clashes:
        return SettledBucket(clashes=clashes)
    asked = _asked(sent)
    is_told = _told_before(bucket, asked)
    notes = table_of(columns_of(asked)._replace(asserted=(~is_told).astype(np.int32)))
    return SettledBucket(
        facts=write_file(job.folder, notes, bucket.number) if len(notes) else None,
        terms=write_file(job.tables / TERMS, terms, bucket.number) if len(terms) else None,
        told=int((~is_told).sum()),
    )


def settle_going(job: SideJob, bucket: Bucket, sent: Blocks) -> SettledBucket:
    """Note what was sent to a bucket to be retracted, and is asserted, and does not come as well."""
    _, clashes = settled_terms(bucket, sent)
    if clashes:
        return SettledBucket(clashes=clashes)
    asked = _asked(sent)
    file = job.coming.get(bucket.number)
    comes = NO_TRIPLES if file is None else triples_of(file.read_table(FACTS))
    gone = triples_of(asked)[_told_before(bucket, asked)]
    gone = gone[~contains(comes, gone)]
    notes = fact_table(gone, 0, 1)
    return SettledBucket(
        facts=write_file(job.folder, notes, bucket.number) if len(notes) else None, told=len(gone)
    )


def _asked(sent: Blocks) -> pa.Table:
    """The triples that were sent, each once."""
    triples = sent.rows(TRIPLES, TRIPLE_COLUMNS)
    return summed(table_of(told_facts([triples[name].to_numpy() for name in FACT_KEYS])))


def _told_before(bucket: Bucket, asked: pa.Table) -> NDArray[np.bool_]:
    facts = Columns(ordered(columns_of(bucket.read_facts())))
    return told_among(facts, triples_of(asked))


def changed_by_frames(
    work: Work,
    add: DataFrame | None,
    remove: DataFrame | None,
    program: Program,
    known: RuleState | None = None,
) -> TaskChange:
    """Follow a change of DataFrames under rules that follow single triples.

    `known` is what the rules say at this commit, if the change before has found it out.
    """
    with passing_folder(work.base.path) as folder:
        encoding = encoding_of(work.base, work.start)
        buckets = bucket_files(work.base, work.start, work.buckets)
        coming = _read(
            work, add, f"u{work.start.seq + 1}", encoding, SideJob(folder, work.base.path)
        )
        files = _files(folder, coming)
        going = _read(work, remove, "", coming.encoding, SideJob(folder, work.base.path, files))
        if going.encoding != coming.encoding:
            raise too_many_alike()
        notes = [_noted(buckets, _files(folder, side)) for side in (coming, going)]
        with work.stages.stage("close the schema"):
            told, came, gone = (ToldInTables(work, each) for each in (buckets, *notes))
            state = known or closed_state(program.rules, told, coming.encoding)
            new = state_after(state, told, came, gone, None, coming.encoding)
        changed = [FiledChange(*each) for each in zip(buckets, *notes, strict=True)]
        signed = followed_and_signed(work, changed, buckets, (state, new))
    return _written(work, coming, going, signed, new)


def _read(
    work: Work, frame: DataFrame | None, scope: str, encoding: Encoding, job: SideJob
) -> Taken:
    """The rows of one side in the files of buckets; one bad row refuses all of them."""
    if frame is None:
        return Taken([], [SettledBucket()] * work.buckets, encoding)
    settle, title = (settle_coming, COMES) if scope else (settle_going, GOES)
    taken = take_in(
        work, FrameSource(frame, scope.encode()), encoding, partial(settle, job), title=title
    )
    for reject in placed(taken.reads):
        raise InputError(str(reject), hint=VALUES_HINT)
    return taken


def _files(folder: StorePath, taken: Taken) -> dict[int, StorePath]:
    """The notes of one side, by bucket."""
    return {
        number: folder / each.facts.name
        for number, each in enumerate(taken.settled)
        if each.facts is not None
    }


def _noted(buckets: Sequence[Bucket], files: Mapping[int, StorePath]) -> list[Bucket]:
    """The notes of each bucket as if they were its facts."""
    return [
        Bucket(each.number, each.buckets, (files[each.number],) if each.number in files else ())
        for each in buckets
    ]


def _written(
    work: Work, coming: Taken, going: Taken, signed: Sequence[Signed], state: RuleState
) -> TaskChange:
    files = tuple(each.file for each in signed if each.file)
    terms = tuple(each.terms for each in coming.settled if each.terms)
    writes = {CHANGES: Write(files)} if files else {}
    if terms:
        writes[TERMS] = Write(terms)
    writes |= exception_writes(work.base, coming.encoding)
    figures = {
        "asserted": sum(each.told for each in coming.settled),
        "retracted": sum(each.told for each in going.settled),
        "added": sum(each.added for each in signed),
        "removed": sum(each.removed for each in signed),
    }
    return TaskChange(writes, sum(file.rows for file in files), figures, state)
