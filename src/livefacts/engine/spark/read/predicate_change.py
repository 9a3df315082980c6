"""Changes of predicate facts in the driver, where no rule speaks of them.

Rules that follow single triples neither use nor make predicate facts; these are asserted and
retracted, and that is all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from livefacts.kb.tables import (
    PREDICATE_CHANGES,
    PREDICATES_TABLE,
    SCHEMAS,
    Commit,
    KnowledgeBase,
)
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.hash_ids import HashIds

SIGNED = pa.schema([field for field in SCHEMAS[PREDICATE_CHANGES] if field.name != "seq"])
Row = tuple[int, ...]
"""The ids of a predicate and its arguments."""


@dataclass(frozen=True, slots=True)
class PredicateChange:
    """The predicate facts that a change asserts and retracts, as signed rows."""

    rows: pa.Table
    came: int
    gone: int


def nothing_told(predicates: HashIds) -> pa.Table:
    """No facts of these predicates."""
    return SCHEMAS[PREDICATES_TABLE].empty_table()


class ToldPredicates:
    """The asserted predicate facts, read when someone first asks for their predicate."""

    def __init__(self, read: Callable[[HashIds], pa.Table] = nothing_told) -> None:
        self._read = read
        self._told: dict[int, set[Row]] = {}

    def change(
        self, added: Mapping[int, HashIds], removed: Mapping[int, HashIds]
    ) -> PredicateChange:
        """What changes when facts, by shape, are asserted and retracted; removals come first."""
        coming, going = _listed(added), _listed(removed) - _listed(added)
        if not coming and not going:
            return PredicateChange(SIGNED.empty_table(), 0, 0)
        self._look({row[0] for row in coming | going})
        came = sorted(row for row in coming if row not in self._told[row[0]])
        gone = sorted(row for row in going if row in self._told[row[0]])
        rows = [_signed(row, 1) for row in came] + [_signed(row, -1) for row in gone]
        return PredicateChange(pa.Table.from_pylist(rows, SIGNED), len(came), len(gone))

    def _look(self, predicates: set[int]) -> None:
        unknown = predicates - self._told.keys()
        if not unknown:
            return
        self._told |= {predicate: set() for predicate in unknown}
        rows = self._read(np.array(sorted(unknown), np.int64))
        totals: dict[Row, int] = {}
        for row in rows.to_pylist():
            fact = (row["pred"], *row["arguments"])
            totals[fact] = totals.get(fact, 0) + row["told"]
        for fact, told in totals.items():
            if told > 0:
                self._told[fact[0]].add(fact)

    def take(self, rows: pa.Table) -> None:
        """The change was committed."""
        for row in rows.to_pylist():
            fact = (row["pred"], *row["arguments"])
            (self._told[fact[0]].add if row["told"] > 0 else self._told[fact[0]].discard)(fact)


def _listed(facts: Mapping[int, HashIds]) -> set[Row]:
    return {tuple(row) for shape, ids in facts.items() if shape != TRIPLES for row in ids.tolist()}


def _signed(row: Row, sign: int) -> dict[str, object]:
    return {"pred": row[0], "arguments": row[1:], "support": 0, "told": sign, "sign": sign}


def told_predicates(base: KnowledgeBase, commit: Commit) -> ToldPredicates:
    """The asserted predicate facts of a commit."""

    def read(predicates: HashIds) -> pa.Table:
        columns = SCHEMAS[PREDICATES_TABLE].names
        tables = [base.read(name, commit) for name in (PREDICATES_TABLE, PREDICATE_CHANGES)]
        rows = pa.concat_tables([table.select(columns) for table in tables])
        return rows.filter(pc.is_in(rows["pred"], pa.array(predicates)))

    return ToldPredicates(read)
