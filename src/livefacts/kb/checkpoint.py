"""The checkpoint: asserted facts of a folder into one process, and a reasoner's state back.

Reading needs no Spark: hash ids become the numbers of a dictionary.  What is written has each
fact as asserted or derived.  A version either adds what has changed to the one before, as a change
on Spark does, or has all facts anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from livefacts.errors import DamageError, LivefactsError
from livefacts.kb import predicate_rows
from livefacts.kb.bucket_stages import bucket_files
from livefacts.kb.buckets import bucket_of
from livefacts.kb.change_rows import CountChanges, signed_tables, signed_write
from livefacts.kb.compaction import merge_small_files
from livefacts.kb.consequences import fact_table, in_order
from livefacts.kb.graph_rows import DEFAULT, GraphChange, quads_at, told_by_default, write_quads
from livefacts.kb.id_map import number_terms
from livefacts.kb.live_buckets import Live
from livefacts.kb.predicate_rows import CountedRows
from livefacts.kb.rule_table import rule_notes, rule_text, rules_write, stored_program
from livefacts.kb.tables import (
    APPEND,
    CHANGES,
    CHECKPOINT,
    COUNTED,
    DERIVED,
    GENERAL,
    GRAPHS,
    HANDED_OVER,
    OVERWRITE,
    PLAIN,
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
from livefacts.kb.term_encoding import Encoding, Texts, encode_numbers, keep_apart, new_terms
from livefacts.kb.term_rows import encoding_of, known_terms, new_term_writes
from livefacts.kb.unsaved_changes import ChangedFacts, WholeFacts
from livefacts.language.program import Program
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary, Ids
from livefacts.store.terms.hash_ids import HashIds
from livefacts.store.terms.id_reader import TermReader
from livefacts.store.terms.text_table import INLINE_FIRST

Facts = Mapping[int, Ids]
MOST_TERMS = 2
"""When the table has so many times the terms that are used, the others are left out."""
MERGE_EVERY = 16
"""Versions after which the small files of those before are put together."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What a knowledge base holds: a program, and facts by shape in a dictionary's numbers.

    `facts` are those of the default graph; `quads` are triples and the named graphs that
    assert them.
    """

    commit: Commit
    program: Program
    facts: dict[int, Ids]
    quads: Ids


class CapturedFacts(Protocol):
    """All facts, or those that have changed, as they stood at one moment."""

    def net(self, terms: TermReader) -> WholeFacts | ChangedFacts:
        """These facts, and how they stood."""
        ...


@dataclass(frozen=True, slots=True)
class SavedState:
    """What is written: a program, and all facts or those that have changed.

    `constants` are those of the rules.  `is_closed` says whether conclusions are there, too.  The
    commit has these `notes`, too.
    """

    program: Program
    facts: WholeFacts | CapturedFacts
    constants: Ids
    is_closed: bool = True
    notes: Mapping[str, Any] = field(default_factory=dict)


def read_base(base: KnowledgeBase, dictionary: Dictionary, commit: Commit | None = None) -> Stored:
    """What was asserted and the rules, at a commit, or at the last one."""
    commit = base.last() if commit is None else commit
    if not commit.seq:
        raise LivefactsError(
            f"there is no knowledge base in {base.path}",
            hint="Reasoner.checkpoint(FOLDER) makes one, and livefacts spark ingest FILES --kb FOLDER",
        )
    base.check(commit)
    terms = base.read(TERMS, commit).combine_chunks().sort_by("id")
    ids, numbers = terms["id"].to_numpy(), number_terms(dictionary, terms)

    def numbered(rows: HashIds) -> Ids:
        places = np.minimum(np.searchsorted(ids, rows), max(len(ids) - 1, 0))
        if rows.size and not (len(ids) and np.array_equal(ids[places], rows)):
            raise DamageError(
                f"{base.path / TERMS} lacks a term that facts speak of",
                hint="restore the folder from a backup, or have the file again as it was",
            )
        found: Ids = numbers[places]
        return found

    buckets = bucket_files(base, commit, int(base.settings["buckets"]))
    told = np.concatenate([bucket.read_told() for bucket in buckets])
    quads = quads_at(base, commit)
    facts = {TRIPLES: numbered(told_by_default(told, quads))}
    named = numbered(quads[quads[:, 3] != DEFAULT]).reshape(-1, 4)
    for shape, rows in _told_predicates(base, commit).items():
        facts[shape] = numbered(rows)
    return Stored(commit, stored_program(base, commit), facts, named)


def _told_predicates(base: KnowledgeBase, commit: Commit) -> dict[int, HashIds]:
    facts, changes = (base.files(name, commit) for name in (PREDICATES_TABLE, PREDICATE_CHANGES))
    told = predicate_rows.summed(predicate_rows.by_shape(predicate_rows.read_files(facts, changes)))
    return {each.facts.shape[1]: each.facts[each.told > 0] for each in told}


def can_be_added_to(commit: Commit, *, is_closed: bool) -> bool:
    """Whether the next version may have only what has changed since this one."""
    notes = commit.notes
    return commit.kind == CHECKPOINT and notes.get(PLAIN) is True and notes["closed"] is is_closed


def write_base(base: KnowledgeBase, start: Commit, terms: TermReader, state: SavedState) -> Commit:
    """Write facts as the next commit; no thread has to wait for it."""
    facts = state.facts if isinstance(state.facts, WholeFacts) else state.facts.net(terms)
    is_whole = isinstance(facts, WholeFacts)
    settled = _settled(base, start, terms, [*facts.ids, state.constants], is_whole=is_whole)
    if isinstance(facts, WholeFacts):
        writes, changed = _whole_writes(base, start, settled.ids, facts), 0
        derived = sum(map(len, facts.derived.values()))
    else:
        writes = _change_writes(base, start, settled.ids, facts)
        changed = int(start.notes["changed"]) + len(facts)
        supports = [int(each.support.sum()) for each in facts.signed.values()]
        derived = int(start.notes[DERIVED]) + sum(supports)
    writes |= _rule_writes(base, start, state.program) | settled.writes(base)
    notes = {
        "closed": state.is_closed,
        "path": GENERAL,
        HANDED_OVER: True,
        COUNTED: False,
        PLAIN: True,
        "changed": changed,
        DERIVED: derived,
        **rule_notes(state.program),
        **state.notes,
    }
    writes = merge_small_files(base, start, writes, MERGE_EVERY)
    return base.publish(start, CHECKPOINT, writes, notes=notes)


def _whole_writes(
    base: KnowledgeBase, start: Commit, ids: _Hashes, facts: WholeFacts
) -> dict[str, Write]:
    """All facts in place of those that are there."""
    told = {shape: ids.of(rows) for shape, rows in facts.told.items()}
    derived = {shape: ids.of(rows) for shape, rows in facts.derived.items()}
    parts = [fact_table(told[TRIPLES], 0, 1), fact_table(derived[TRIPLES], 1, 0)]
    writes = {
        TRIPLES_TABLE: Write(tuple(_fact_files(base, pa.concat_tables(parts))), OVERWRITE),
        PREDICATES_TABLE: Write((_predicate_file(base, told, derived),), OVERWRITE),
        **_graph_writes(base, start, ids.of(facts.quads), ids.of(facts.shared)),
    }
    for table in (CHANGES, PREDICATE_CHANGES):
        if table in start.versions:
            writes[table] = Write((), OVERWRITE)
    return writes


def _change_writes(
    base: KnowledgeBase, start: Commit, ids: _Hashes, facts: ChangedFacts
) -> dict[str, Write]:
    """Signed rows, as of any change."""
    seq = start.seq + 1
    signed = {
        shape: CountChanges(
            CountedRows(ids.of(net.facts), net.support, net.told.astype(np.int32)), net.signs
        )
        for shape, net in facts.signed.items()
    }
    tables = signed_tables(signed)
    writes = {name: signed_write(base, name, seq, rows) for name, rows in tables.items()}
    begins, ceases = (
        frozenset(map(tuple, ids.of_quads(quads).tolist()))
        for quads in (facts.begins, facts.ceases)
    )
    return writes | GraphChange(begins, ceases).writes(base, seq)


def _rule_writes(base: KnowledgeBase, start: Commit, program: Program) -> dict[str, Write]:
    """The rules, if they are not those that are there."""
    if base.read(RULES, start)["text"].to_pylist() == [rule_text(program)]:
        return {}
    return {RULES: rules_write(base, start.seq + 1, program)}


class _Hashes:
    """The hash ids of numbers."""

    def __init__(self, numbers: Ids, ids: HashIds) -> None:
        """The numbers are in order, inline integers last."""
        first = int(np.searchsorted(numbers, INLINE_FIRST))
        self._inline, self._inline_ids = numbers[first:], ids[first:]
        self._ids = np.zeros(numbers[first - 1] + 1 if first else 0, np.int64)
        self._ids[numbers[:first]] = ids[:first]

    def of(self, rows: Ids) -> HashIds:
        if not len(self._inline):
            return self._ids[rows]
        found = np.empty(rows.shape, np.int64)
        is_inline = rows >= INLINE_FIRST
        found[~is_inline] = self._ids[rows[~is_inline]]
        found[is_inline] = self._inline_ids[np.searchsorted(self._inline, rows[is_inline])]
        return found

    def of_quads(self, quads: Ids) -> HashIds:
        """The same of quads, some of which the default graph asserts."""
        is_named = quads[:, 3] >= 0
        graphs = np.full(len(quads), DEFAULT, np.int64)
        graphs[is_named] = self.of(quads[is_named, 3])
        return np.column_stack([self.of(quads[:, :3]), graphs])


@dataclass(frozen=True, slots=True)
class _Settled:
    """The ids of all terms of facts, how ids are made, and the terms that are to be written."""

    ids: _Hashes
    encoding: Encoding
    terms: Texts
    mode: str = APPEND

    def writes(self, base: KnowledgeBase) -> dict[str, Write]:
        return new_term_writes(base, self.terms, self.encoding, self.mode)


def _numbers(facts: list[Ids], terms: TermReader) -> Ids:
    """The numbers of all terms of facts, in order.

    Marks are quicker than any sorting, and let other threads go on.
    """
    marks, inline = np.zeros(terms.numbers, np.bool_), [np.zeros(0, np.int32)]
    for rows in facts:
        flat = rows.reshape(-1)
        is_inline = flat >= INLINE_FIRST
        if is_inline.any():
            inline.append(flat[is_inline])
            flat = flat[~is_inline]
        marks[flat] = True
    numbers = np.flatnonzero(marks).astype(np.int32)
    return np.concatenate([numbers, np.unique(np.concatenate(inline))])


def _settled(
    base: KnowledgeBase, start: Commit, terms: TermReader, facts: list[Ids], *, is_whole: bool
) -> _Settled:
    encoding, numbers = encoding_of(base, start), _numbers(facts, terms)
    encode = partial(encode_numbers, numbers, terms)
    found = encode(encoding)
    new = new_terms(found, known_terms(base, start, found.ids))
    if new is not None:
        if is_whole and base.count(TERMS, start) > MOST_TERMS * len(numbers):
            return _Settled(_Hashes(numbers, found.ids), encoding, found, OVERWRITE)
        return _Settled(_Hashes(numbers, found.ids), encoding, new)
    live = Live(bucket_files(base, start, int(base.settings["buckets"])))
    apart = keep_apart(encode, encoding, live.texts)
    texts = pa.array(list(apart.new.values()), pa.large_string())
    new = Texts(np.array(list(apart.new), np.int64), texts)
    return _Settled(_Hashes(numbers, apart.terms.ids), apart.encoding, new)


def _graph_writes(
    base: KnowledgeBase, start: Commit, quads: HashIds, shared: HashIds
) -> dict[str, Write]:
    """Which graphs assert which triples, in place of what was there."""
    if not len(quads):
        return {GRAPHS: Write((), OVERWRITE)} if GRAPHS in start.versions else {}
    default = np.column_stack([shared, np.full(len(shared), DEFAULT, np.int64)])
    rows = np.concatenate([quads.reshape(-1, 4), default.reshape(-1, 4)])
    return {GRAPHS: Write(write_quads(base, start.seq + 1, rows), OVERWRITE)}


def _fact_files(base: KnowledgeBase, facts: pa.Table) -> list[DataFile]:
    ordered = in_order(facts)
    homes = bucket_of(ordered["s"].to_numpy(), int(base.settings["buckets"]))
    return [
        write_file(base.path / TRIPLES_TABLE, ordered.filter(pa.array(homes == number)), number)
        for number in range(int(base.settings["buckets"]))
    ]


def _predicate_file(
    base: KnowledgeBase, told: Mapping[int, HashIds], derived: Mapping[int, HashIds]
) -> DataFile:
    parts = [
        CountedRows(rows, np.full(len(rows), 1 - is_told), np.full(len(rows), is_told, np.int32))
        for is_told, facts in ((1, told), (0, derived))
        for shape, rows in facts.items()
        if shape != TRIPLES
    ]
    return write_file(base.path / PREDICATES_TABLE, predicate_rows.as_table(parts))
