"""A change in memory: facts and rules come and go in the engine that was handed the state.

What was handed over stays in memory between changes; each is followed by the embedded engine,
and what differs from the state before is one signed row a fact, as of any other change.
"""

from __future__ import annotations

from livefacts.engine.spark.jobs.stage_report import JobReport
from livefacts.engine.spark.jobs.work import Work, Written, commit_change
from livefacts.engine.spark.joins.general_rules import GeneralChange
from livefacts.engine.spark.local.engine_over_tables import LiveChange, LiveProgram
from livefacts.engine.spark.local.handover import Room, in_memory
from livefacts.engine.spark.read.asked_facts import settle
from livefacts.engine.spark.read.graph_change import NotedGraphs, noted_graphs
from livefacts.kb.change_rows import signed_tables, signed_write
from livefacts.kb.tables import (
    DERIVED,
    GENERAL,
    HANDED_OVER,
    Commit,
    Write,
)
from livefacts.kb.term_rows import term_writes
from livefacts.language.program import Program


def is_handed_over(commit: Commit) -> bool:
    """Whether the conclusions of a state were drawn in the driver."""
    return commit.notes.get("path") == GENERAL and bool(commit.notes.get(HANDED_OVER))


class HandedOver:
    """A knowledge base in memory, as it is after one commit."""

    def __init__(self, work: Work, program: Program, room: Room) -> None:
        self._live = LiveProgram(in_memory(work), program.rules, room.conclusions)
        self._graphs: NotedGraphs = noted_graphs(work.base, work.start)

    def change(
        self, work: Work, change: GeneralChange, room: Room, kind: str, batch: str = ""
    ) -> JobReport:
        """Facts and rules come and go; one commit.  After an error, this is of no use."""
        terms = self._live.terms
        with work.stages.stage("reason in the driver") as stage:
            asked, graphs = self._graphs.change(
                settle(change.asked, terms.encoding, terms.texts), self._live.is_told
            )
            is_new = change.after != change.before
            found = self._live.change(asked, change.after, is_new, room.conclusions)
            stage.rows = found.figures["added"] + found.figures["removed"]
        with work.stages.stage("commit"):
            writes = graphs.writes(work.base, work.start.seq + 1)
            writes |= term_writes(work.base, found.terms, terms.encoding)
            written = _written(work, found, writes, self._live.conclusions)
            programs = change.before, change.after
            commit = commit_change(work, written, programs, kind, batch)
        self._graphs.take(graphs)
        return JobReport(commit.seq, kind, found.figures, tuple(work.stages.done))


def _written(work: Work, found: LiveChange, others: dict[str, Write], derived: int) -> Written:
    tables = signed_tables(found.signed)
    seq = work.start.seq + 1
    writes = {name: signed_write(work.base, name, seq, rows) for name, rows in tables.items()}
    return Written(writes | others, sum(map(len, tables.values())), {DERIVED: derived})
