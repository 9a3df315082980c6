"""Changes in the driver, of a state that general rules were closed in there.

All conclusions are drawn anew in memory, which takes less time than one round of joins;
what differs from the state before is one signed row a fact, as of any other change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from livefacts.engine.contract import Ids
from livefacts.engine.spark import factrows
from livefacts.engine.spark.consequences import columns_of, fact_table, summed
from livefacts.engine.spark.defaultgraph import noted_graphs
from livefacts.engine.spark.factrows import Rows
from livefacts.engine.spark.general import GeneralChange
from livefacts.engine.spark.handover import (
    GENERAL,
    HashNumbers,
    Memory,
    Room,
    closed,
    counted,
    in_memory,
)
from livefacts.engine.spark.ingest import (
    Ingest,
    bucket_files,
    encoding_of,
    fact_files,
    term_writes,
)
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
from livefacts.engine.spark.telling import Settled, settled
from livefacts.errors import LimitError
from livefacts.rules.program import Program
from livefacts.store.rows import TRIPLES
from livefacts.store.xxhash import HashIds

Told = dict[int, Ids]


def is_handed_over(commit: Commit) -> bool:
    """Whether the conclusions of a state were drawn in the driver."""
    return commit.notes.get("path") == GENERAL and commit.notes.get("counted") is False


@dataclass(frozen=True, slots=True)
class _Difference:
    """Signed rows of triples and of predicate facts."""

    triples: pa.Table
    others: pa.Table

    def signs(self) -> HashIds:
        return np.concatenate([t["sign"].to_numpy() for t in (self.triples, self.others)])


def change_in_driver(
    work: Ingest, change: GeneralChange, room: Room, kind: str, batch: str = ""
) -> Report:
    """Facts and rules come and go; one commit."""
    with work.stages.stage("told facts") as stage:
        before = in_memory(work)
        asked = settled(change.asked, encoding_of(work.base, work.start), before.texts)
        asked, graphs = noted_graphs(work.base, work.start).change(asked)
        memory = before.with_terms(asked.terms)
        told, figures = _after(memory, asked)
        stage.rows = sum(map(len, told.values()))
    with work.stages.stage("close in the driver") as stage:
        derived = closed(memory, change.after.rules, told, room.conclusions)
        stage.rows = sum(map(len, derived.values()))
    with work.stages.stage("compare") as stage:
        hashes = HashNumbers(memory, asked.encoding)
        found = _difference(work, *hashes.of(told, derived))
        signs = found.signs()
        figures |= {"added": int((signs > 0).sum()), "removed": int((signs < 0).sum())}
        stage.rows = len(signs)
    _check_limit(change.after, figures["added"])
    terms = term_writes(work.base, {**asked.terms, **hashes.new}, hashes.encoding)
    writes = graphs.writes(work.base, work.start.seq + 1) | terms
    with work.stages.stage("commit"):
        commit = _committed(work, change, found, writes, kind, batch)
    return Report(commit.seq, kind, figures, tuple(work.stages.done))


def _committed(
    work: Ingest,
    change: GeneralChange,
    found: _Difference,
    others: dict[str, Write],
    kind: str,
    batch: str,
) -> Commit:
    seq = work.start.seq + 1
    writes = _appended(work, {CHANGES: found.triples, PREDICATE_CHANGES: found.others}) | others
    changed = int(work.start.notes.get("changed", 0)) + len(found.signs())
    notes = {"changed": changed, "delta": seq}
    if change.after != change.before:
        writes[RULES] = rules_write(work.base, seq, change.after)
        notes |= rule_notes(change.after)
    return work.base.publish(work.start, kind, writes, batch=batch, notes=notes)


def _check_limit(program: Program, added: int) -> None:
    if program.limit is not None and added > program.limit:
        raise LimitError(
            f"the change would derive more than {program.limit:,} facts",
            hint="raise @limit, or look for arithmetic that goes on forever",
        )


# what is told afterwards


def _after(memory: Memory, asked: Settled) -> tuple[Told, dict[str, int]]:
    """What is told after a change, and how many facts were told and untold."""
    told = dict(memory.told)
    came = gone = 0
    for shape in asked.removed.keys() | asked.added.keys():
        width = shape or 3
        before = _set_of(told.get(shape))
        coming, going = (
            _set_of(memory.rows(facts[shape]) if shape in facts else None)
            for facts in (asked.added, asked.removed)
        )
        after = (before - (going - coming)) | coming
        came, gone = came + len(after - before), gone + len(before - after)
        told[shape] = np.array(sorted(after), np.int32).reshape(-1, width)
    return told, {"told": came, "untold": gone}


def _set_of(rows: Ids | None) -> set[tuple[int, ...]]:
    return set() if rows is None else set(map(tuple, rows.tolist()))


# what differs


def _difference(
    work: Ingest, told: Mapping[int, HashIds], derived: Mapping[int, HashIds]
) -> _Difference:
    triples = _signed_triples(work, told[TRIPLES], derived[TRIPLES])
    return _Difference(triples, _signed_others(work, told, derived))


def _signed_triples(work: Ingest, told: HashIds, derived: HashIds) -> pa.Table:
    buckets = bucket_files(work.base, work.start, work.buckets)
    before = pa.concat_tables([bucket.read_facts() for bucket in buckets])
    after = summed(pa.concat_tables([fact_table(told, 0, 1), fact_table(derived, 1, 0)]))
    held = [_marked(before, -1), _marked(after, 1)]
    counts = summed(pa.concat_tables([_negative(before), after]))
    signs = columns_of(summed(pa.concat_tables(held))).support
    rows = counts.append_column("sign", pa.array(signs.astype(np.int32)))
    changed = (counts["support"].to_numpy() != 0) | (counts["told"].to_numpy() != 0)
    return rows.filter(pa.array(changed))


def _negative(facts: pa.Table) -> pa.Table:
    columns = columns_of(facts)
    return _with_counts(facts, -columns.support, -columns.told)


def _marked(facts: pa.Table, sign: int) -> pa.Table:
    """Facts with a sign in place of what they follow from."""
    count = len(facts)
    return _with_counts(facts, np.full(count, sign, np.int64), np.zeros(count, np.int32))


def _with_counts(facts: pa.Table, support: Any, told: Any) -> pa.Table:
    facts = facts.set_column(3, "support", pa.array(support))
    return facts.set_column(4, "told", pa.array(told.astype(np.int32)))


def _signed_others(
    work: Ingest, told: Mapping[int, HashIds], derived: Mapping[int, HashIds]
) -> pa.Table:
    files = fact_files(work)
    before = factrows.summed(factrows.by_shape(factrows.read_files(files.facts, files.changes)))
    after = [counted(rows, 0, 1) for shape, rows in told.items() if shape != TRIPLES]
    after += [counted(rows, 1, 0) for shape, rows in derived.items() if shape != TRIPLES]
    negative = [Rows(part.facts, -part.support, -part.told) for part in before]
    parts = factrows.differences([*negative, *after])
    rows = factrows.as_table(parts)
    held = _held(before)
    kept = _held(factrows.summed(after))
    facts = [tuple(row) for part in parts for row in part.facts.tolist()]
    signs = np.array([(fact in kept) - (fact in held) for fact in facts], np.int32)
    return rows.append_column("sign", pa.array(signs, pa.int32()))


def _held(parts: Iterable[Rows]) -> set[tuple[int, ...]]:
    return {tuple(row) for part in parts for row in part.facts.tolist()}


def _appended(work: Ingest, tables: Mapping[str, pa.Table]) -> dict[str, Write]:
    """Signed rows as files that are added to their tables."""
    writes = {}
    for table, rows in tables.items():
        if len(rows):
            seq = pa.array(np.full(len(rows), work.start.seq + 1, np.int64))
            signed = rows.add_column(0, "seq", seq).cast(SCHEMAS[table])
            writes[table] = Write((write_file(work.base.path / table, signed),))
    return writes
