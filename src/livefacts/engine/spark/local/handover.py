"""The handover: general rules are followed in the driver's memory where they fit.

A round of joins costs half a second however few facts it finds; the embedded engine closes
a million facts in the time of two.  So where asserted facts and terms take no more than a part
of the memory that a pipeline may use, they are read into one process, closed there, and
written back.  If more conclusions come up than the memory holds, nothing has happened yet,
and the joins do it after all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from livefacts.engine.contract import Ids
from livefacts.engine.spark.jobs.stage_report import JobReport
from livefacts.engine.spark.jobs.work import Work
from livefacts.engine.spark.read.asked_facts import row_of
from livefacts.engine.spark.read.ingestion import fact_files
from livefacts.errors import InputError, LimitError
from livefacts.kb import predicate_rows
from livefacts.kb.bucket_stages import bucket_files
from livefacts.kb.buckets import bucket_of
from livefacts.kb.consequences import fact_table, in_order
from livefacts.kb.delta_log import size_of
from livefacts.kb.id_map import IdMap
from livefacts.kb.predicate_rows import CountedRows
from livefacts.kb.rule_table import rule_notes, rules_write
from livefacts.kb.schema_closure import closed_in_memory
from livefacts.kb.tables import (
    CHANGES,
    COUNTED,
    DERIVED,
    GENERAL,
    HANDED_OVER,
    OVERWRITE,
    PREDICATE_CHANGES,
    PREDICATES_TABLE,
    RULES,
    TERMS,
    TRIPLES_TABLE,
    Commit,
    DataFile,
    KnowledgeBase,
    Write,
    write_file,
)
from livefacts.kb.term_rows import encoding_of, term_writes
from livefacts.language.program import Program, Rule
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.hash_ids import HashIds

BYTES_PER_FACT = 110
BYTES_PER_TERM = 60
TEXT_GROWTH = 4
"""Texts are packed in the files of the tables, and take about so many times the room."""
SHARE = 3
"""What is asserted may take one part in so many of the memory: conclusions need the rest."""
SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)b?", re.IGNORECASE)


class TooLargeError(Exception):
    """More conclusions came up than the memory holds."""


def bytes_of(memory: str | int | None) -> int:
    """How many bytes a size means; none is 0.

    >>> bytes_of("2g"), bytes_of("1.5 MB"), bytes_of(None)
    (2147483648, 1572864, 0)
    """
    if memory is None or isinstance(memory, int):
        return memory or 0
    found = SIZE.fullmatch(memory.strip())
    if found is None:
        raise InputError(f"memory={memory!r} is not a size", hint='write "512m" or "2g"')
    return int(float(found[1]) * SIZES[found[2].lower()])


@dataclass(frozen=True, slots=True)
class Room:
    """How much memory the asserted facts of a knowledge base need, and how much there is."""

    facts: int
    needed: int
    given: int

    @property
    def fits(self) -> bool:
        return self.needed * SHARE <= self.given

    @property
    def conclusions(self) -> int:
        """How many conclusions there is room for."""
        return (self.given - self.needed) // BYTES_PER_FACT

    def __str__(self) -> str:
        needed, given = (f"{size / (1 << 20):,.0f} MB" for size in (self.needed, self.given))
        return f"{self.facts:,} facts need {needed} of {given}"


def room_for(base: KnowledgeBase, commit: Commit, given: int) -> Room:
    """How much memory a state needs in one process; estimated from the sizes of its tables."""
    facts = sum(base.count(table, commit) for table in (TRIPLES_TABLE, PREDICATES_TABLE))
    facts = max(0, facts - int(commit.notes.get(DERIVED, 0)))
    files = base.files(TERMS, commit)
    terms, texts = base.count(TERMS, commit), size_of(files)
    needed = facts * BYTES_PER_FACT + terms * BYTES_PER_TERM + texts * TEXT_GROWTH
    return Room(facts, needed, given)


@dataclass(frozen=True, slots=True)
class Memory:
    """A state in memory: its terms, and asserted facts by shape, in a dictionary's numbers."""

    terms: IdMap
    told: dict[int, Ids]

    @property
    def dictionary(self) -> Dictionary:
        return self.terms.dictionary


def close_in_driver(work: Work, program: Program, room: Room, batch: str = "") -> JobReport:
    """All conclusions of any program, in the driver; one commit."""
    with work.stages.stage("asserted facts") as stage:
        memory = in_memory(work)
        told = _with_facts(memory, program)
        stage.rows = sum(map(len, told.values()))
    with work.stages.stage("close in the driver") as stage:
        derived = _closed_within(memory, program, told, room)
        stage.rows = sum(map(len, derived.values()))
    with work.stages.stage("publish") as stage:
        new = memory.terms.settle(_numbers_in(told, derived))
        writes = _writes(work, *(_in_ids(memory.terms, facts) for facts in (told, derived)))
        files = [file for write in writes.values() for file in write.files]
        stage.rows, stage.bytes = sum(f.rows for f in files), sum(f.size for f in files)
    figures = {"asserted": sum(map(len, told.values())), "derived": sum(map(len, derived.values()))}
    with work.stages.stage("commit"):
        writes[RULES] = rules_write(work.base, work.start.seq + 1, program)
        writes |= term_writes(work.base, new, memory.terms.encoding)
        notes = {"closed": True, "path": GENERAL, HANDED_OVER: True, COUNTED: False}
        notes |= {"changed": 0, DERIVED: figures["derived"]}
        notes |= rule_notes(program)
        commit = work.base.publish(work.start, "materialize", writes, batch=batch, notes=notes)
    hint = f"general rules were handed to the embedded engine: {room}"
    return JobReport(commit.seq, "materialize", figures, tuple(work.stages.done), (hint,))


def _closed_within(
    memory: Memory, program: Program, told: Mapping[int, Ids], room: Room
) -> dict[int, Ids]:
    if program.limit is not None and program.limit <= room.conclusions:
        return closed_in_memory(memory.dictionary, program.rules, told, program.limit)
    return close(memory, program.rules, told, room.conclusions)


def close(
    memory: Memory, rules: Sequence[Rule], told: Mapping[int, Ids], most: int
) -> dict[int, Ids]:
    """What follows from asserted facts; too large if there are more conclusions than so many."""
    try:
        return closed_in_memory(memory.dictionary, rules, told, most)
    except LimitError:
        raise TooLargeError from None


# from the tables into memory


def in_memory(work: Work) -> Memory:
    """The asserted facts of a state, in the numbers of a dictionary."""
    buckets = bucket_files(work.base, work.start, work.buckets)
    texts = pa.concat_tables([bucket.read_terms() for bucket in buckets]).sort_by("id")
    terms = IdMap(Dictionary(), texts, encoding_of(work.base, work.start))
    told = {TRIPLES: np.concatenate([bucket.read_told() for bucket in buckets])}
    files = fact_files(work)
    for rows in predicate_rows.only_told(
        predicate_rows.summed(
            predicate_rows.by_shape(predicate_rows.read_files(files.facts, files.changes))
        )
    ):
        told[rows.facts.shape[1]] = rows.facts
    return Memory(terms, {shape: terms.rows(rows) for shape, rows in told.items()})


def _with_facts(memory: Memory, program: Program) -> dict[int, Ids]:
    """What is asserted, and the facts that come with rules."""
    told = dict(memory.told)
    for fact in program.facts:
        shape, row = row_of(fact)
        more = memory.dictionary.encode(row).reshape(1, -1)
        told[shape] = (
            np.unique(np.concatenate([told[shape], more]), axis=0) if shape in told else more
        )
    return told


# and back


def _numbers_in(*groups: Mapping[int, Ids]) -> Ids:
    return np.concatenate([rows.ravel() for each in groups for rows in each.values()])


def _in_ids(terms: IdMap, facts: Mapping[int, Ids]) -> dict[int, HashIds]:
    return {shape: terms.ids_of(rows.ravel()).reshape(rows.shape) for shape, rows in facts.items()}


def _writes(
    work: Work, told: Mapping[int, HashIds], derived: Mapping[int, HashIds]
) -> dict[str, Write]:
    triples = [fact_table(told[TRIPLES], 0, 1), fact_table(derived[TRIPLES], 1, 0)]
    others = [counted(rows, 0, 1) for shape, rows in told.items() if shape != TRIPLES]
    others += [counted(rows, 1, 0) for shape, rows in derived.items() if shape != TRIPLES]
    writes = {TRIPLES_TABLE: Write(tuple(_triple_files(work, triples)), OVERWRITE)}
    if others or PREDICATES_TABLE in work.start.versions:
        file = write_file(work.base.path / PREDICATES_TABLE, predicate_rows.as_table(others))
        writes[PREDICATES_TABLE] = Write((file,), OVERWRITE)
    for table in (CHANGES, PREDICATE_CHANGES):
        if table in work.start.versions:
            writes[table] = Write((), OVERWRITE)
    return writes


def _triple_files(work: Work, parts: Sequence[pa.Table]) -> list[DataFile]:
    facts = in_order(pa.concat_tables(parts))
    homes = bucket_of(facts["s"].to_numpy(), work.buckets)
    folder = work.base.path / TRIPLES_TABLE
    return [
        write_file(folder, facts.filter(pa.array(homes == number)), number)
        for number in range(work.buckets)
    ]


def counted(facts: HashIds, support: int, told: int) -> CountedRows:
    """Facts that all have the same support and assertion."""
    counts: Any = np.full(len(facts), support, np.int64), np.full(len(facts), told, np.int32)
    return CountedRows(facts, *counts)
