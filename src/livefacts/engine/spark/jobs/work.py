"""Work on a knowledge base: one session, one base, the commit it starts from, and its tasks."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from livefacts.engine.spark.jobs.stage_report import Stage, Stages
from livefacts.kb.compaction import merge_small_files
from livefacts.kb.rule_table import rule_notes, rules_write
from livefacts.kb.tables import RULES, Commit, KnowledgeBase, Write
from livefacts.language.program import Program

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

SECONDS_BETWEEN_LOOKS = 1.0

Input = TypeVar("Input")
Output = TypeVar("Output")


@dataclass(frozen=True, slots=True)
class Work:
    """What is changed, from which commit on, in which session, and the stages that report on it."""

    session: SparkSession
    base: KnowledgeBase
    start: Commit
    buckets: int
    stages: Stages

    def tasks(
        self, stage: Stage, task: Callable[[Input], Output], inputs: Sequence[Input]
    ) -> Callable[[], list[Output]]:
        """The tasks of a stage, ready to run; the stage reports how they go on."""
        told = self.stages.progress(stage)
        return lambda: run_tasks(self.session, task, inputs, stage.name, told)


def run_tasks(
    session: SparkSession,
    task: Callable[[Input], Output],
    inputs: Sequence[Input],
    title: str,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Output]:
    """What a task makes of each input, one task an input; results come in order.

    `on_progress` hears now and then how many tasks are done, and how many there are.
    """
    if not inputs:
        return []
    context = session.sparkContext
    with job_group(session, title) as group, _watched(context, group, len(inputs), on_progress):
        return context.parallelize(inputs, len(inputs)).map(task).collect()


@contextmanager
def job_group(session: SparkSession, title: str) -> Iterator[str]:
    """Jobs that Spark lists under a title; the name of their group."""
    context = session.sparkContext
    group = uuid.uuid4().hex
    context.setJobGroup(group, title)
    try:
        yield group
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
        context.setJobDescription(None)  # type: ignore[arg-type]


@contextmanager
def _watched(
    context: SparkContext, group: str, tasks: int, tell: Callable[[int, int], None] | None
) -> Iterator[None]:
    """Report how many tasks are done, every now and then while they run, and at the end."""
    if tell is None:
        yield
        return
    over = threading.Event()

    def look() -> None:
        while not over.wait(SECONDS_BETWEEN_LOOKS):
            tell(_done(context, group), tasks)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
    tell(tasks, tasks)


def _done(context: SparkContext, group: str) -> int:
    """How many tasks of a group of jobs are done."""
    status = context.statusTracker()
    jobs = [status.getJobInfo(job) for job in status.getJobIdsForGroup(group)]
    stages = [status.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    return sum(stage.numCompletedTasks for stage in stages if stage)


@dataclass(frozen=True, slots=True)
class Written:
    """What a change writes: files by table, how many signed rows are in them, and notes."""

    writes: Mapping[str, Write]
    rows: int
    notes: Mapping[str, object] = field(default_factory=dict)


def commit_change(
    work: Work, written: Written, programs: tuple[Program, Program], kind: str, batch: str
) -> Commit:
    """Publish a change that leads from one program to another, or leaves it as it is."""
    seq, (before, after) = work.start.seq + 1, programs
    changed = int(work.start.notes.get("changed", 0)) + written.rows
    notes = {"changed": changed, "delta": seq, **written.notes}
    writes = dict(written.writes)
    if after != before:
        writes[RULES] = rules_write(work.base, seq, after)
        notes |= rule_notes(after)
    writes = merge_small_files(work.base, work.start, writes)
    return work.base.publish(work.start, kind, writes, batch=batch, notes=notes)
