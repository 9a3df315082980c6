"""Consequences of single triples as a table: what tasks are given, and how they look it up.

The driver closes the schema and writes down, for each kind of triple, its consequences
with the subject and the object left open.  A task then finds those of its triples by
looking up their kinds, whole columns at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from livefacts.kb.tables import SCHEMAS, TRIPLES_TABLE
from livefacts.store.facts.hash_rows import (
    CONSTANT,
    OBJECT,
    SUBJECT,
    Facts,
    Kinds,
    added_up,
    conclusions,
    order_by_bucket,
    ordered,
)
from livefacts.store.terms.hash_ids import HashIds

__all__ = ["CONSTANT", "OBJECT", "SUBJECT"]

Kind = tuple[int, int | None]
"""A predicate, or a predicate and an object."""
Place = tuple[int, int]
"""CONSTANT and an id, or SUBJECT or OBJECT and 0."""
Head = tuple[Place, Place, Place]
TripleColumns = tuple[HashIds, HashIds, HashIds]
FACT_KEYS = ["s", "p", "o"]
FACTS = SCHEMAS[TRIPLES_TABLE]


@dataclass(frozen=True, slots=True)
class ConsequenceTable:
    """The consequences of all kinds, as columns; `named` kinds are those with an object."""

    plain: Kinds
    named: Kinds
    sources: NDArray[np.int8]
    values: HashIds

    def __len__(self) -> int:
        return len(self.values)

    def follow(self, triples: HashIds) -> tuple[HashIds, NDArray[np.int64]]:
        """The consequences of triples, and for each the place of the triple that it is of."""
        s, p, o, origin = self.follow_columns((triples[:, 0], triples[:, 1], triples[:, 2]))
        return np.stack([s, p, o], axis=1), origin

    def follow_columns(
        self, triples: TripleColumns
    ) -> tuple[HashIds, HashIds, HashIds, NDArray[np.int64]]:
        """The same with triples and consequences as columns."""
        return conclusions(triples, self.plain, self.named, self.sources, self.values)


Heads = Mapping[Kind, Sequence[Head]]


def make_table(heads: Heads) -> ConsequenceTable:
    """The table of these consequences; a kind without any is left out."""
    kinds = sorted((kind for kind, each in heads.items() if each), key=_place_of_kind)
    flat = [head for kind in kinds for head in heads[kind]]
    counts = np.array([len(heads[kind]) for kind in kinds], np.int64)
    ends = np.cumsum(counts)
    plain = np.array([kind[1] is None for kind in kinds], np.bool_)
    return ConsequenceTable(
        _rows_of(kinds, ends - counts, ends, np.flatnonzero(plain)),
        _rows_of(kinds, ends - counts, ends, np.flatnonzero(~plain)),
        np.array([[place[0] for place in head] for head in flat], np.int8).reshape(-1, 3),
        np.array([[place[1] for place in head] for head in flat], np.int64).reshape(-1, 3),
    )


def split_heads(heads: Heads) -> tuple[Heads, Heads]:
    """Consequences that are about the subject of their triple, and all others."""
    own = {kind: [head for head in each if head[0][0] == SUBJECT] for kind, each in heads.items()}
    away = {kind: [head for head in each if head[0][0] != SUBJECT] for kind, each in heads.items()}
    return own, away


def _place_of_kind(kind: Kind) -> tuple[int, int]:
    return kind[0], kind[1] or 0


def _rows_of(
    kinds: Sequence[Kind],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    chosen: NDArray[np.int64],
) -> Kinds:
    places = [_place_of_kind(kinds[i]) for i in chosen.tolist()]
    predicates, objects = np.array(places, np.int64).reshape(-1, 2).T.copy()
    return Kinds(predicates, objects, starts[chosen], ends[chosen])


# facts as columns


def columns_of(facts: pa.Table) -> Facts:
    """The columns of facts."""
    return Facts(*(facts[name].to_numpy() for name in FACTS.names))


def table_of(facts: Facts) -> pa.Table:
    """Columns of facts as a table."""
    return pa.Table.from_arrays([pa.array(column) for column in facts], schema=FACTS)


def told_facts(triples: Sequence[HashIds]) -> Facts:
    """Triples, as columns, that are asserted and do not follow."""
    s, p, o = triples
    return Facts(s, p, o, np.zeros(len(s), np.int64), np.ones(len(s), np.int32))


def followed(table: ConsequenceTable, triples: TripleColumns) -> Facts:
    """What follows from triples, one row for each time."""
    s, p, o, _ = table.follow_columns(triples)
    return Facts(s, p, o, np.ones(len(s), np.int64), np.zeros(len(s), np.int32))


def summed(facts: pa.Table) -> pa.Table:
    """Facts in order, each once, their supports and tellings added up."""
    return table_of(added_up(columns_of(facts)))


def in_order(facts: pa.Table) -> pa.Table:
    """Facts in the order of their ids, in which they are looked up."""
    return table_of(ordered(columns_of(facts)))


def compile_kernels() -> None:
    """Compile here, once, what every worker would otherwise compile at the same time."""
    table = make_table({(8, None): [((SUBJECT, 0), (CONSTANT, 16), (OBJECT, 0))]})
    ids = np.array([24, 8], np.int64)
    added_up(followed(table, (ids, ids, ids)))
    order_by_bucket(np.zeros(2, np.uint16), 1)


def fact_table(triples: HashIds, support: int, told: int) -> pa.Table:
    """Triples as facts that all have the same support and assertion."""
    columns = {name: np.ascontiguousarray(triples[:, i]) for i, name in enumerate(FACT_KEYS)}
    return pa.table(
        {
            **columns,
            "support": np.full(len(triples), support, np.int64),
            "told": np.full(len(triples), told, np.int32),
        },
        schema=FACTS,
    )


def triples_of(facts: pa.Table) -> HashIds:
    """The triples of facts as rows."""
    found = np.empty((len(facts), 3), np.int64)
    for at, name in enumerate(FACT_KEYS):
        found[:, at] = facts[name].to_numpy()
    return found
