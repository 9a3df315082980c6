"""Delta output: what each change adds and removes, as rows of a Delta table that others follow.

Rows are written after the commit, and the entry of the table's log notes the number of the change:
what was cut off in between is made up for before the next batch, and nothing is there twice.  All
changes since the stream began are in it, those made by others too: the rows add up to the state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from livefacts.engine.spark.joins.term_frames import term_of
from livefacts.errors import InputError
from livefacts.kb.delta_log import APPLICATION, Log
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.tables import CHANGES, PREDICATE_CHANGES, SCHEMAS, Commit, KnowledgeBase
from livefacts.kb.term_rows import known_terms
from livefacts.language.rule_text import write_fact
from livefacts.model.facts import Fact, Symbol
from livefacts.store.terms.hash_ids import KIND_MASK, HashIds
from livefacts.store.terms.text_table import BLANK, IRI, SYMBOL

SCHEMA = pa.schema(
    [
        ("seq", pa.int64()),
        ("op", pa.string()),
        ("fact", pa.string()),
        ("s", pa.string()),
        ("p", pa.string()),
        ("o", pa.string()),
    ]
)
NOTHING_CHANGED = ("optimize", "checkpoint")
"""Kinds of commits that leave all facts as they are."""
SUMMED_UP_EVERY = 100
MOST_TERMS = 1 << 19
"""Texts that are remembered; the oldest go."""
Whole = Callable[[int], pa.Table]
"""The delta of a change that its rows do not tell, decoded: s, p, o, name, arguments and sign."""


class DeltaOutput:
    """Writes the changes of a knowledge base, each once."""

    def __init__(self, base: KnowledgeBase, table: StorePath, whole: Whole) -> None:
        self._base = base
        self._path = table
        self._whole = whole
        self._texts: dict[int, str] = {}
        self._table = self._opened()

    def _opened(self) -> Any:
        from deltalake import CommitProperties, DeltaTable, Transaction

        if DeltaTable.is_deltatable(str(self._path), self._path.options):
            found = DeltaTable(str(self._path), storage_options=self._path.options)
            if found.transaction_version(APPLICATION) is None:
                raise InputError(
                    f"{self._path} is a Delta table, and none of deltas",
                    hint="name another folder: it is made where there is none",
                )
            return found
        begin = CommitProperties(app_transactions=[Transaction(APPLICATION, self._base.last().seq)])
        return DeltaTable.create(
            str(self._path),
            SCHEMA,
            storage_options=self._path.options or None,
            configuration={"delta.enableExpiredLogCleanup": "false"},
            commit_properties=begin,
        )

    def catch_up(self) -> None:
        """Write the changes that are not there yet."""
        last, done = self._base.last().seq, self._done()
        for seq in range(done + 1, last + 1):
            self._write(seq, self._rows(self._base.commit(seq)))

    def _done(self) -> int:
        self._table.update_incremental()
        found = self._table.transaction_version(APPLICATION)
        assert found is not None, "the table began with one"
        return int(found)

    def _write(self, seq: int, rows: pa.Table) -> None:
        from deltalake import CommitProperties, Transaction, write_deltalake

        done = CommitProperties(app_transactions=[Transaction(APPLICATION, seq)])
        write_deltalake(self._table, rows, mode="append", commit_properties=done)
        if seq % SUMMED_UP_EVERY == 0:
            self._table.update_incremental()
            self._table.create_checkpoint()

    def _rows(self, commit: Commit) -> pa.Table:
        if commit.notes.get("delta") == commit.seq:
            return pa.concat_tables([self._triples(commit), self._others(commit)])
        if commit.kind in NOTHING_CHANGED:
            return SCHEMA.empty_table()
        found = self._whole(commit.seq)
        return pa.Table.from_pylist(
            [_decoded_row(commit.seq, row) for row in found.to_pylist()], SCHEMA
        )

    def _signed(self, table: str, commit: Commit) -> pa.Table:
        """The rows of a commit in a table, found by its entry in the log."""
        version = commit.versions.get(table)
        before = self._base.commit(commit.seq - 1).versions.get(table) if commit.seq > 1 else None
        schema = SCHEMAS[table]
        if version is None or version == before:
            return schema.empty_table()
        entry = Log(self._base.path / table).actions(version)
        names = [action["add"]["path"] for action in entry if "add" in action]
        parts = [(self._base.path / table / name).read_table(schema) for name in names]
        rows = pa.concat_tables([schema.empty_table(), *parts])
        is_ours = pc.and_(pc.equal(rows["seq"], commit.seq), pc.not_equal(rows["sign"], 0))
        return rows.filter(is_ours)

    def _triples(self, commit: Commit) -> pa.Table:
        rows = self._signed(CHANGES, commit)
        s, p, o = (rows[name].to_numpy() for name in "spo")
        is_shown = np.isin(s & KIND_MASK, (IRI, BLANK)) & (p & KIND_MASK == IRI)
        rows = rows.filter(pa.array(is_shown & (o & KIND_MASK != SYMBOL)))
        if not len(rows):
            return SCHEMA.empty_table()
        ids = [rows[name].to_numpy() for name in "spo"]
        numbers = np.unique(np.concatenate(ids))
        known = self._texts_of(commit, numbers)
        texts = pa.array([known[number] for number in numbers.tolist()], pa.string())
        columns = [texts.take(pa.array(np.searchsorted(numbers, each))) for each in ids]
        facts = pc.binary_join_element_wise(*columns, " ")
        seqs = pa.array(np.full(len(rows), commit.seq, np.int64))
        return pa.table([seqs, _marks(rows), facts, *columns], schema=SCHEMA)

    def _others(self, commit: Commit) -> pa.Table:
        rows = self._signed(PREDICATE_CHANGES, commit).to_pylist()
        ids = [number for row in rows for number in (row["pred"], *row["arguments"])]
        known = self._texts_of(commit, np.unique(np.array(ids, np.int64)))
        found = []
        for row in rows:
            name, *arguments = (known[number] for number in (row["pred"], *row["arguments"]))
            if not name[1:].startswith("_"):
                found.append(_row(commit.seq, row["sign"], _written(name[1:], arguments)))
        return pa.Table.from_pylist(found, SCHEMA)

    def _texts_of(self, commit: Commit, ids: HashIds) -> dict[int, str]:
        """The texts of ids; the tables are asked for those that are not remembered."""
        missing = [number for number in ids.tolist() if number not in self._texts]
        if len(self._texts) + len(missing) > MOST_TERMS:
            self._texts, missing = {}, ids.tolist()
        if missing:
            wanted = np.array(missing, np.int64)
            found = known_terms(self._base, commit, wanted)
            found = found.filter(pc.is_in(found["id"], pa.array(wanted)))
            pairs = zip(found["id"].to_pylist(), found["text"].to_pylist(), strict=True)
            self._texts.update(pairs)
        return self._texts


def _marks(rows: pa.Table) -> pa.Array:
    marks = pa.array(["D", "A"])
    return marks.take(pa.array((rows["sign"].to_numpy() > 0).astype(np.int8)))


def _row(seq: int, sign: int, fact: str, *terms: str) -> dict[str, Any]:
    places = dict(zip("spo", terms, strict=False))
    return {"seq": seq, "op": "A" if sign > 0 else "D", "fact": fact, **places}


def _decoded_row(seq: int, row: dict[str, Any]) -> dict[str, Any]:
    if row["name"] is None:
        terms = row["s"], row["p"], row["o"]
        return _row(seq, row["sign"], " ".join(terms), *terms)
    return _row(seq, row["sign"], _written(row["name"], row["arguments"]))


def _written(name: str, arguments: list[str]) -> str:
    """A predicate fact as the rule language has it."""
    terms = tuple(Symbol(t[1:]) if t.startswith("'") else term_of(t) for t in arguments)
    return write_fact(Fact(name, terms), {}).removesuffix(" .")
