"""Updating: told triples come and go, and exactly what changes is written down.

Removals come before additions.  A told triple that goes takes its consequences' support
along, one that comes gives it; a fact ends when nothing tells and nothing supports it.
Where the change touches the schema, or the first or last triple of a kind, the schema is
closed anew, and the told triples of kinds whose consequences differ are visited.

All of it happens in the driver, on the buckets that the change looks into; the change is
one file of signed rows and one commit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyoxigraph import RdfFormat, Triple

from livefacts.engine.spark.consequences import (
    ConsequenceTable,
    Kind,
    fact_table,
    make_table,
    triples_of,
)
from livefacts.engine.spark.encode import NO_TRIPLES, Encoding, Texts, encode_rows
from livefacts.engine.spark.ingest import MOST_SALTS, term_writes
from livefacts.engine.spark.live import Live, ToldTriples, netted
from livefacts.engine.spark.schema import ClosedSchema, SchemaCloser
from livefacts.engine.spark.stages import is_of_kinds, kinds_of_triples
from livefacts.engine.spark.tables import (
    CHANGES,
    KnowledgeBase,
    Write,
    write_file,
)
from livefacts.errors import InputError
from livefacts.rules.program import Rule
from livefacts.store.dictionary import Dictionary, Ids, text_of
from livefacts.store.xxhash import HashIds
from livefacts.syntax.rdf import read_rows

if TYPE_CHECKING:
    from collections import Counter

MOST_LATER = 1000
"""After so many changes the told triples are put together anew."""
Facts = str | os.PathLike[str] | Iterable[Triple]
"""Text in Turtle or N-Triples, a path to a file, or triples."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an update changes: signed rows, their signs, new terms, and how ids are made."""

    rows: pa.Table
    signs: HashIds
    terms: dict[int, str]
    encoding: Encoding
    told: int
    untold: int


class Updater:
    """Makes changes to a closed knowledge base, one after the other."""

    def __init__(self, rules: tuple[Rule, ...], live: Live, encoding: Encoding) -> None:
        self._rules = rules
        self._live = live
        self.encoding = encoding
        self._told = live.told()
        self._later: list[tuple[HashIds, HashIds]] = []
        self._schema = self._closed(self._told)
        self._table = make_table(self._schema.heads)
        self._kinds = kinds_of_triples(self._told, self._schema.by_object)

    def _told_after(self, *changes: tuple[HashIds, HashIds]) -> HashIds:
        """All told triples after changes; they are put together only when someone asks."""
        told = self._told
        for came, gone in (*self._later, *changes):
            told = np.concatenate([told[~contains(gone, told)], came])
        return told

    def _closed(self, told: HashIds) -> ClosedSchema:
        triples = ToldTriples(told)

        def id_of(term: object) -> int:
            return self.encoding.id_of(text_of(term))  # type: ignore[arg-type]

        return SchemaCloser(self._rules, id_of, triples.of_kinds, triples.count_kinds).close()

    # one change

    def change(self, add: Facts, remove: Facts, scope: bytes) -> Change:
        """What an update would change; `keep` makes it so."""
        came, terms, encoding = self._encoded(add, scope)
        gone, _ = encoded_facts(remove, b"", encoding)
        came, gone = unique_rows(came), unique_rows(gone)
        gone = gone[~contains(came, gone)]
        came = came[self._live.counts(came)[:, 1] == 0]
        gone = gone[self._live.counts(gone)[:, 1] > 0]
        rows = netted([*self._signed(came, gone)])
        before = self._live.counts(triples_of(rows)).sum(axis=1)
        after = before + rows["support"].to_numpy() + rows["told"].to_numpy()
        signs = (after > 0).astype(np.int64) - (before > 0).astype(np.int64)
        return Change(rows, signs, terms, encoding, len(came), len(gone))

    def _signed(self, came: HashIds, gone: HashIds) -> Iterable[pa.Table]:
        """What the change does to supports and tellings, in parts."""
        yield fact_table(came, 0, 1)
        yield fact_table(gone, 0, -1)
        yield fact_table(self._table.follow(gone)[0], -1, 0)
        self._after = self._state_after(came, gone)
        schema, table, _, _ = self._after
        yield fact_table(table.follow(came)[0], 1, 0)
        if schema is not self._schema:
            yield fact_table(_rows(schema.derived - self._schema.derived), 1, 0)
            yield fact_table(_rows(self._schema.derived - schema.derived), -1, 0)
            stayed = self._told_after((NO_TRIPLES, gone))
            visited = stayed[is_of_kinds(stayed, _differing(self._schema, schema))]
            yield fact_table(self._table.follow(visited)[0], -1, 0)
            yield fact_table(table.follow(visited)[0], 1, 0)

    def _state_after(
        self, came: HashIds, gone: HashIds
    ) -> tuple[ClosedSchema, ConsequenceTable, Counter[Kind], tuple[HashIds, HashIds]]:
        """Schema, consequences and kinds after a change, and the change itself."""
        kinds = self._kinds.copy()
        kinds.update(kinds_of_triples(came, self._schema.by_object))
        kinds.subtract(kinds_of_triples(gone, self._schema.by_object))
        kinds = +kinds
        changed = np.concatenate([came, gone])
        touches = bool(is_of_kinds(changed, self._schema.kinds).any())
        if not touches and kinds.keys() == self._kinds.keys():
            return self._schema, self._table, kinds, (came, gone)
        told = self._told_after((came, gone))
        schema = self._closed(told)
        table = make_table(schema.heads)
        return schema, table, kinds_of_triples(told, schema.by_object), (came, gone)

    def keep(self, change: Change) -> None:
        """The change was committed: go on from it."""
        self._schema, self._table, self._kinds, made = self._after
        self._later.append(made)
        if len(self._later) > MOST_LATER:
            self._told, self._later = self._told_after(), []
        self._live.take(change.rows)
        self._live.take_terms(change.terms)
        self.encoding = change.encoding

    # terms

    def _encoded(self, facts: Facts, scope: bytes) -> tuple[HashIds, dict[int, str], Encoding]:
        """Triples, the terms of theirs that are new, and the encoding with new exceptions."""
        encoding = self.encoding
        for salt in range(1, MOST_SALTS):
            triples, terms = encoded_facts(facts, scope, encoding)
            texts = dict(zip(terms.texts.to_pylist(), terms.ids.tolist(), strict=True))
            clashing = self._clashing(texts, terms.ids)
            if not clashing:
                known = self._live.texts(terms.ids)
                new = {number: text for text, number in texts.items() if number not in known}
                return triples, new, encoding
            salted = {text: encoding.id_of(text, salt) for text in clashing}
            encoding = replace(encoding, exceptions={**encoding.exceptions, **salted})
        raise InputError("too many terms have the same hash", hint="please report this")

    def _clashing(self, texts: dict[str, int], ids: HashIds) -> list[str]:
        """Texts whose id another text has, among those known or those before them."""
        owners = self._live.texts(ids)
        return [text for text, number in texts.items() if owners.setdefault(number, text) != text]


def encoded_facts(facts: Facts, scope: bytes, encoding: Encoding) -> tuple[HashIds, Texts]:
    """Triples from text, a file or objects, in ids, and their terms."""
    dictionary = Dictionary()
    return encode_rows(rows_of(facts, scope, dictionary), dictionary, encoding)


def rows_of(facts: Facts, scope: bytes, dictionary: Dictionary) -> Ids:
    """Triples from text, a file or objects, in the numbers of a dictionary."""
    if isinstance(facts, str):
        batches = read_rows(facts.encode(), dictionary, format=RdfFormat.TURTLE, scope=scope)
    elif isinstance(facts, os.PathLike):
        batches = read_rows(facts, dictionary, scope=scope)
    else:
        terms = [term for t in facts for term in (t.subject, t.predicate, t.object)]
        return dictionary.encode(terms).reshape(-1, 3)
    found = [batch.rows for batch in batches]
    return np.concatenate(found) if found else np.zeros((0, 3), np.int32)


def unique_rows(triples: HashIds) -> HashIds:
    """Triples, each once."""
    return np.unique(triples, axis=0) if len(triples) else triples


def contains(among: HashIds, triples: HashIds) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which triples are among others."""
    if not len(among) or not len(triples):
        return np.zeros(len(triples), np.bool_)
    suspects = np.flatnonzero(np.isin(triples[:, 0], among[:, 0]))
    found = np.zeros(len(triples), np.bool_)
    known = set(map(tuple, among.tolist()))
    found[suspects] = [tuple(row) in known for row in triples[suspects].tolist()]
    return found


def _rows(triples: Iterable[tuple[int, int, int]]) -> HashIds:
    return np.array(sorted(triples), np.int64).reshape(-1, 3)


def _differing(old: ClosedSchema, new: ClosedSchema) -> frozenset[Kind]:
    """The kinds whose consequences are not the same under both schemas."""
    kinds = old.heads.keys() | new.heads.keys()
    return frozenset(
        kind for kind in kinds if set(old.heads.get(kind, ())) != set(new.heads.get(kind, ()))
    )


def change_writes(base: KnowledgeBase, seq: int, change: Change) -> dict[str, Write]:
    """What a change writes: signed rows, new terms, new exceptions."""
    count = len(change.rows)
    rows = change.rows.add_column(0, "seq", pa.array(np.full(count, seq, np.int64)))
    rows = rows.append_column("sign", pa.array(change.signs.astype(np.int32)))
    writes = {CHANGES: Write((write_file(base.path / CHANGES, rows),))}
    return writes | term_writes(base, change.terms, change.encoding)
