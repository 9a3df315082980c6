"""Changes in the driver, of a state that general rules were closed in there.

What was handed over stays in memory between changes; each is followed by the embedded engine,
and what differs from the state before is one signed row a fact, as of any other change.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from livefacts.engine.spark import factrows
from livefacts.engine.spark.consequences import table_of
from livefacts.engine.spark.general import GeneralChange
from livefacts.engine.spark.graphchange import NotedGraphs, noted_graphs
from livefacts.engine.spark.handover import Room, in_memory
from livefacts.engine.spark.ingest import Ingest, term_writes
from livefacts.engine.spark.liveprogram import LiveChange, LiveProgram, SignedRows
from livefacts.engine.spark.merging import merged
from livefacts.engine.spark.notes import DERIVED, GENERAL, HANDED_OVER
from livefacts.engine.spark.reports import Report
from livefacts.engine.spark.ruletable import rule_notes, rules_write
from livefacts.engine.spark.tables import (
    CHANGES,
    PREDICATE_CHANGES,
    RULES,
    SCHEMAS,
    Commit,
    Write,
    write_file,
)
from livefacts.engine.spark.telling import settled
from livefacts.rules.program import Program
from livefacts.store.hashrows import Facts
from livefacts.store.rows import TRIPLES


def is_handed_over(commit: Commit) -> bool:
    """Whether the conclusions of a state were drawn in the driver."""
    return commit.notes.get("path") == GENERAL and bool(commit.notes.get(HANDED_OVER))


class HandedOver:
    """A knowledge base in memory, as it is after one commit."""

    def __init__(self, work: Ingest, program: Program, room: Room) -> None:
        self._live = LiveProgram(in_memory(work), program.rules, room.conclusions)
        self._graphs: NotedGraphs = noted_graphs(work.base, work.start)

    def change(
        self, work: Ingest, change: GeneralChange, room: Room, kind: str, batch: str = ""
    ) -> Report:
        """Facts and rules come and go; one commit.  After an error, this is of no use."""
        terms = self._live.terms
        with work.stages.stage("reason in the driver") as stage:
            asked, graphs = self._graphs.change(
                settled(change.asked, terms.encoding, terms.texts), self._live.is_told
            )
            is_new = change.after != change.before
            found = self._live.change(asked, change.after, is_new, room.conclusions)
            stage.rows = found.figures["added"] + found.figures["removed"]
        with work.stages.stage("commit"):
            writes = graphs.writes(work.base, work.start.seq + 1)
            writes |= term_writes(work.base, found.terms, terms.encoding)
            commit = _committed(work, change, found, writes, kind, batch, self._live.conclusions)
        self._graphs.take(graphs)
        return Report(commit.seq, kind, found.figures, tuple(work.stages.done))


def _committed(
    work: Ingest,
    change: GeneralChange,
    found: LiveChange,
    others: dict[str, Write],
    kind: str,
    batch: str,
    derived: int,
) -> Commit:
    seq = work.start.seq + 1
    tables = _tables(found.signed)
    writes = _appended(work, tables) | others
    changed = int(work.start.notes.get("changed", 0)) + sum(map(len, tables.values()))
    notes = {"changed": changed, "delta": seq, DERIVED: derived}
    if change.after != change.before:
        writes[RULES] = rules_write(work.base, seq, change.after)
        notes |= rule_notes(change.after)
    writes = merged(work.base, work.start, writes)
    return work.base.publish(work.start, kind, writes, batch=batch, notes=notes)


def _tables(signed: Mapping[int, SignedRows]) -> dict[str, pa.Table]:
    """Signed rows as they are in the tables."""
    found = {}
    if TRIPLES in signed:
        rows, signs = signed[TRIPLES]
        s, p, o = (np.ascontiguousarray(column) for column in rows.facts.T)
        triples = table_of(Facts(s, p, o, rows.support, rows.told))
        found[CHANGES] = _with_signs(triples, signs)
    others = [each for shape, each in sorted(signed.items()) if shape != TRIPLES]
    if others:
        facts = factrows.as_table([each.rows for each in others])
        signs = np.concatenate([each.signs for each in others])
        found[PREDICATE_CHANGES] = _with_signs(facts, signs)
    return found


def _with_signs(rows: pa.Table, signs: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Table:
    return rows.append_column("sign", pa.array(signs.astype(np.int32)))


def _appended(work: Ingest, tables: Mapping[str, pa.Table]) -> dict[str, Write]:
    """Signed rows as files that are added to their tables."""
    writes = {}
    for table, rows in tables.items():
        seq = pa.array(np.full(len(rows), work.start.seq + 1, np.int64))
        signed = rows.add_column(0, "seq", seq).cast(SCHEMAS[table])
        writes[table] = Write((write_file(work.base.path / table, signed),))
    return writes
