"""The checkpoint: asserted facts of a folder into one process, and a reasoner's state back.

Reading needs no Spark: hash ids become the numbers of a dictionary.  Writing gives every
fact the support count that the pipeline would have found, so that it can go on from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from livefacts.errors import DamageError, LivefactsError
from livefacts.kb import predicate_rows
from livefacts.kb.bucket_stages import bucket_files
from livefacts.kb.buckets import bucket_of
from livefacts.kb.consequences import fact_table, in_order, make_table, summed
from livefacts.kb.graph_rows import DEFAULT, quads_at, told_by_default, write_quads
from livefacts.kb.id_map import number_terms
from livefacts.kb.live_buckets import Live, ToldTriples
from livefacts.kb.predicate_rows import CountedRows
from livefacts.kb.rule_table import rule_notes, rules_write, stored_program
from livefacts.kb.schema_closure import (
    SchemaCloser,
    SchemaNotSingleError,
    is_followed_singly,
)
from livefacts.kb.tables import (
    CHANGES,
    CHECKPOINT,
    COUNTED,
    DERIVED,
    GENERAL,
    GRAPHS,
    HANDED_OVER,
    OVERWRITE,
    PREDICATE_CHANGES,
    PREDICATES_TABLE,
    RULES,
    SINGLE,
    TERMS,
    TRIPLES_TABLE,
    Commit,
    DataFile,
    KnowledgeBase,
    Write,
    write_file,
)
from livefacts.kb.term_encoding import Encoding, Texts, encode_numbers, keep_apart, new_terms
from livefacts.kb.term_rows import encoding_of, new_term_writes
from livefacts.language.program import Program
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary, Ids
from livefacts.store.terms.hash_ids import HashIds
from livefacts.store.terms.term_reader import TermReader, text_of
from livefacts.store.terms.term_table import INLINE_FIRST

Facts = Mapping[int, Ids]


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


@dataclass(frozen=True, slots=True)
class SavedState:
    """What is written: a program, facts asserted and derived, and which graphs assert triples.

    `quads` are triples that named graphs assert, each with its graph; `shared` are those of
    them that the default graph asserts, too; `constants` are those of the rules.  The commit has
    these `notes`, too.
    """

    program: Program
    told: Facts
    derived: Facts
    quads: Ids
    shared: Ids
    constants: Ids
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


def write_base(base: KnowledgeBase, start: Commit, terms: TermReader, state: SavedState) -> Commit:
    """Write asserted facts and conclusions as the next commit; no thread has to wait for it."""
    facts = [*state.told.values(), *state.derived.values(), state.quads, state.constants]
    encoding, ids = _settled(base, start, terms, facts)
    hashed = {shape: ids.of(rows) for shape, rows in state.told.items()}
    others = {shape: ids.of(rows) for shape, rows in state.derived.items()}
    triples, path = _supported(state.program, encoding, hashed[TRIPLES], others[TRIPLES])
    writes = {
        TRIPLES_TABLE: Write(tuple(_fact_files(base, triples)), OVERWRITE),
        PREDICATES_TABLE: Write((_predicate_file(base, hashed, others),), OVERWRITE),
        RULES: rules_write(base, start.seq + 1, state.program),
        **_graph_writes(base, start, ids.of(state.quads), ids.of(state.shared)),
        **new_term_writes(base, ids.new, encoding),
    }
    for table in (CHANGES, PREDICATE_CHANGES):
        if table in start.versions:
            writes[table] = Write((), OVERWRITE)
    notes = {
        "closed": True,
        "path": path,
        HANDED_OVER: path == GENERAL,
        COUNTED: False,
        "changed": 0,
        DERIVED: sum(map(len, state.derived.values())),
        **rule_notes(state.program),
        **state.notes,
    }
    return base.publish(start, CHECKPOINT, writes, notes=notes)


class _Hashes:
    """The hash ids of numbers, and those terms that no table has yet."""

    def __init__(self, numbers: Ids, ids: HashIds, new: Texts) -> None:
        """The numbers are in order, inline integers last."""
        first = int(np.searchsorted(numbers, INLINE_FIRST))
        self._inline, self._inline_ids = numbers[first:], ids[first:]
        self._ids = np.zeros(numbers[first - 1] + 1 if first else 0, np.int64)
        self._ids[numbers[:first]] = ids[:first]
        self.new = new

    def of(self, rows: Ids) -> HashIds:
        if not len(self._inline):
            return self._ids[rows]
        found = np.empty(rows.shape, np.int64)
        is_inline = rows >= INLINE_FIRST
        found[~is_inline] = self._ids[rows[~is_inline]]
        found[is_inline] = self._inline_ids[np.searchsorted(self._inline, rows[is_inline])]
        return found


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
    base: KnowledgeBase, start: Commit, terms: TermReader, facts: list[Ids]
) -> tuple[Encoding, _Hashes]:
    """The ids of all terms of facts, and those of them that no table has yet."""
    encoding, numbers = encoding_of(base, start), _numbers(facts, terms)
    encode = partial(encode_numbers, numbers, terms)
    found = encode(encoding)
    new = new_terms(found, base.read(TERMS, start))
    if new is not None:
        return encoding, _Hashes(numbers, found.ids, new)
    live = Live(bucket_files(base, start, int(base.settings["buckets"])))
    apart = keep_apart(encode, encoding, live.texts)
    texts = pa.array(list(apart.new.values()), pa.large_string())
    new = Texts(np.array(list(apart.new), np.int64), texts)
    return apart.encoding, _Hashes(numbers, apart.terms.ids, new)


def _graph_writes(
    base: KnowledgeBase, start: Commit, quads: HashIds, shared: HashIds
) -> dict[str, Write]:
    """Which graphs assert which triples, in place of what was there."""
    if not len(quads):
        return {GRAPHS: Write((), OVERWRITE)} if GRAPHS in start.versions else {}
    default = np.column_stack([shared, np.full(len(shared), DEFAULT, np.int64)])
    rows = np.concatenate([quads.reshape(-1, 4), default.reshape(-1, 4)])
    return {GRAPHS: Write(write_quads(base, start.seq + 1, rows), OVERWRITE)}


def _supported(
    program: Program, encoding: Encoding, told: HashIds, derived: HashIds
) -> tuple[pa.Table, str]:
    """Triples with their supports, and the path on which they are right."""
    if all(map(is_followed_singly, program.rules)):
        held = ToldTriples(told)

        def id_of(term: object) -> int:
            return encoding.id_of(text_of(term))  # type: ignore[arg-type]

        try:
            schema = SchemaCloser(program.rules, id_of, held.of_kinds, held.count_kinds).close()
        except SchemaNotSingleError:
            pass
        else:
            table = make_table(schema.heads)
            closed = np.array(sorted(schema.derived), np.int64).reshape(-1, 3)
            followed = [fact_table(table.follow(told)[0], 1, 0), fact_table(closed, 1, 0)]
            return summed(pa.concat_tables([fact_table(told, 0, 1), *followed])), SINGLE
    return pa.concat_tables([fact_table(told, 0, 1), fact_table(derived, 1, 0)]), GENERAL


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
