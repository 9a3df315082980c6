"""Work on a knowledge base: one session, one base, the commit it starts from, and its tasks."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from livefacts.engine.spark.jobs.shuffle import Sending, exchange
from livefacts.engine.spark.jobs.stage_report import Stage, Stages
from livefacts.engine.spark.jobs.tasks import run_tasks
from livefacts.kb.buckets import Blocks
from livefacts.kb.compaction import merge_small_files
from livefacts.kb.marker import EXCHANGE
from livefacts.kb.rule_table import rule_notes, rules_write
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.tables import RULES, Commit, KnowledgeBase, Write
from livefacts.language.program import Program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Input = TypeVar("Input")
Output = TypeVar("Output")
Head = TypeVar("Head")
Report = TypeVar("Report")


@dataclass(frozen=True, slots=True)
class Work:
    """What is changed, from which commit on, in which session, and the stages that report on it."""

    session: SparkSession
    base: KnowledgeBase
    start: Commit
    buckets: int
    stages: Stages
    beside: Written | None = None
    """What is written in the same commit as the change."""

    def tasks(
        self, stage: Stage, task: Callable[[Input], Output], inputs: Sequence[Input]
    ) -> Callable[[], list[Output]]:
        """The tasks of a stage, ready to run; the stage reports how they go on."""
        told = self.stages.progress(stage)
        return lambda: run_tasks(self.session, task, inputs, stage.name, told)

    def exchange(
        self,
        stage: Stage,
        send: Callable[[Input], Sending[Report]],
        inputs: Sequence[Input],
        receive: Callable[[Head, Blocks], Output],
        heads: Sequence[Head],
    ) -> Callable[[], list[Report | Output]]:
        """Tasks that send blocks to buckets and tasks that receive them, ready to run."""
        told = self.stages.progress(stage)

        def run() -> list[Report | Output]:
            found = exchange(self.session, send, inputs, receive, heads, stage.name, told)
            return [*found.reports, *found.outputs]

        return run

    def with_beside(
        self, writes: Mapping[str, Write], notes: Mapping[str, object]
    ) -> tuple[dict[str, Write], dict[str, object]]:
        """What a change writes, with what is written beside it."""
        beside = self.beside or Written({}, 0)
        return {**writes, **beside.writes}, {**notes, **beside.notes}


@dataclass(frozen=True, slots=True)
class Written:
    """What a change writes: files by table, how many signed rows are in them, and notes."""

    writes: Mapping[str, Write]
    rows: int
    notes: Mapping[str, object] = field(default_factory=dict)


@contextmanager
def passing_folder(base: StorePath) -> Iterator[StorePath]:
    """A folder for what tasks write for later ones; it is gone when the change is made."""
    folder = base / EXCHANGE / uuid.uuid4().hex
    folder.make_folder()
    try:
        yield folder
    finally:
        folder.delete_folder()


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
    writes, notes = work.with_beside(writes, notes)
    writes = merge_small_files(work.base, work.start, writes)
    return work.base.publish(work.start, kind, writes, batch=batch, notes=notes)
