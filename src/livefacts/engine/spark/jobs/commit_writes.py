"""Committing: what a change writes, with the rules if they have changed, as one commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from livefacts.engine.spark.jobs.work import Work
from livefacts.kb.compaction import merged
from livefacts.kb.rule_table import rule_notes, rules_write
from livefacts.kb.tables import RULES, Commit, Write
from livefacts.language.program import Program


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
    writes = merged(work.base, work.start, writes)
    return work.base.publish(work.start, kind, writes, batch=batch, notes=notes)
