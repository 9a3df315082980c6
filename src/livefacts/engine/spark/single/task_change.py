"""A change by tasks, for large ones: jobs over all buckets, and one commit.

The change itself is read and encoded in the driver; everything that it is looked up in, and
everything that follows from it, stays with the tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from livefacts.engine.spark.jobs.shuffle import exchange
from livefacts.engine.spark.jobs.tasks import run_tasks
from livefacts.engine.spark.jobs.work import Work
from livefacts.engine.spark.read.asked_facts import AskedFacts
from livefacts.engine.spark.read.graph_change import noted_graphs, told_in
from livefacts.engine.spark.read.predicate_change import told_predicates
from livefacts.engine.spark.read.table_terms import TableTerms, table_terms
from livefacts.engine.spark.single.bucket_change import (
    BucketChange,
    ChangedBucket,
    FollowChange,
    SignChange,
    Signed,
    follow_change,
    sign_change,
    told_in_bucket,
)
from livefacts.engine.spark.single.closure import ToldInTables
from livefacts.engine.spark.single.driver_change import (
    RuleState,
    closed_state,
    differing,
    schema_changes,
    state_after,
)
from livefacts.kb.bucket_stages import Bucket, Survey, survey_bucket
from livefacts.kb.buckets import bucket_of
from livefacts.kb.change_rows import signed_write
from livefacts.kb.consequences import FACTS, Kind
from livefacts.kb.live_buckets import Live, TriplesHere, contains
from livefacts.kb.tables import CHANGES, PREDICATE_CHANGES, Write
from livefacts.kb.term_encoding import NO_TRIPLES
from livefacts.kb.term_rows import term_writes
from livefacts.language.program import Program
from livefacts.store.facts.hash_rows import order_by_bucket
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.hash_ids import HashIds


@dataclass(frozen=True, slots=True)
class TaskChange:
    """What a change writes, how many signed rows it has, and figures by name."""

    writes: dict[str, Write]
    rows: int
    figures: dict[str, int]
    state: RuleState
    """What the rules say afterwards."""


def changed_by_tasks(
    work: Work, asked: AskedFacts, before: Program, after: Program, known: RuleState | None = None
) -> TaskChange:
    """Follow a change of facts and of rules that follow single triples.

    `known` is what the rules say at this commit, if the change before has found it out.
    """
    terms = table_terms(work)
    with work.stages.stage("encode"):
        is_told = told_in(terms.buckets)
        found, graphs = noted_graphs(work.base, work.start).change(terms.settle(asked), is_told)
        come, go = (each.get(TRIPLES, NO_TRIPLES) for each in (found.added, found.removed))
    with work.stages.stage("look up") as stage:
        told = _told(work, terms, come, go)
        came, gone = come[~told[0]], go[told[1] & ~contains(come, go)]
        stage.rows = len(come) + len(go)
    with work.stages.stage("close the schema"):
        told_now = ToldInTables(work, terms.buckets)
        state = known or closed_state(before.rules, told_now, terms.encoding)
        rules = None if after == before else after.rules
        new = state_after(
            state, told_now, TriplesHere(came), TriplesHere(gone), rules, terms.encoding
        )
    changed = _by_bucket(terms.buckets, came, gone)
    signed = followed_and_signed(work, changed, terms.buckets, (state, new))
    change = _written(work, terms, found.added, found.removed, (came, gone), signed, new)
    change.writes.update(graphs.writes(work.base, work.start.seq + 1))
    return change


Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


def _told(work: Work, terms: TableTerms, come: HashIds, go: HashIds) -> tuple[Flags, Flags]:
    """Which of these triples are asserted, as tasks know."""
    asked = _by_bucket(terms.buckets, come, go)
    answers = run_tasks(work.session, told_in_bucket, asked, "look up")
    found = np.zeros(len(come), np.bool_), np.zeros(len(go), np.bool_)
    for side, (rows, flags) in enumerate(zip((come, go), found, strict=True)):
        # Triples of a bucket were asked for in the order in which they are.
        flags[np.concatenate(_places(rows, work.buckets))] = np.concatenate(
            [answer[side] for answer in answers]
        )
    return found


def _places(triples: HashIds, buckets: int) -> list[HashIds]:
    """Where the triples of each bucket are."""
    homes = bucket_of(np.ascontiguousarray(triples[:, 0]), buckets)
    order, ends = order_by_bucket(homes.astype(np.uint16), buckets)
    return np.split(order, ends[:-1])


def _by_bucket(buckets: Sequence[Bucket], come: HashIds, go: HashIds) -> list[ChangedBucket]:
    """Each bucket with the triples that are its own."""
    coming, going = (_places(rows, len(buckets)) for rows in (come, go))
    return [
        ChangedBucket(bucket, come[coming[bucket.number]], go[going[bucket.number]])
        for bucket in buckets
    ]


def surveyed(work: Work, buckets: Sequence[Bucket]) -> Live:
    """Asserted triples that are asked for through tasks."""

    def survey(question: Survey) -> list[tuple[HashIds, Counter[Kind]]]:
        task = partial(survey_bucket, question)
        return run_tasks(work.session, task, buckets, "asserted triples")

    return Live(buckets, survey)


def followed_and_signed(
    work: Work,
    changed: Sequence[BucketChange],
    buckets: Sequence[Bucket],
    states: tuple[RuleState, RuleState],
) -> list[Signed]:
    """Follow what comes and goes in each bucket, and write what that changes in each."""
    old, new = states
    has_changed = old.schema is not new.schema
    kinds = differing(old.schema, new.schema) if has_changed else frozenset()
    schema = schema_changes(old.schema, new.schema) if has_changed else FACTS.empty_table()
    following = partial(follow_change, FollowChange(old.table, new.table, kinds))
    signing = partial(sign_change, SignChange(work.base.path, work.start.seq + 1, schema))
    with work.stages.stage("follow and sign") as stage:
        found = exchange(work.session, following, changed, signing, buckets, stage.name).outputs
        stage.rows = sum(each.file.rows for each in found if each.file)
    return found


def _written(
    work: Work,
    terms: TableTerms,
    added: dict[int, HashIds],
    removed: dict[int, HashIds],
    change: tuple[HashIds, HashIds],
    signed: list[Signed],
    state: RuleState,
) -> TaskChange:
    predicates = told_predicates(work.base, work.start).change(added, removed)
    files = tuple(each.file for each in signed if each.file)
    writes = {CHANGES: Write(files)} if files else {}
    if len(predicates.rows):
        seq = work.start.seq + 1
        writes[PREDICATE_CHANGES] = signed_write(work.base, PREDICATE_CHANGES, seq, predicates.rows)
    writes |= term_writes(work.base, terms.new, terms.encoding)
    came, gone = change
    figures = {
        "asserted": len(came) + predicates.came,
        "retracted": len(gone) + predicates.gone,
        "added": sum(each.added for each in signed) + predicates.came,
        "removed": sum(each.removed for each in signed) + predicates.gone,
    }
    rows = sum(file.rows for file in files) + len(predicates.rows)
    return TaskChange(writes, rows, figures, state)
