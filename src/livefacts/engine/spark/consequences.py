"""What follows from single triples, by table: what tasks are told, and what they do with it.

The driver closes the schema and writes down, for each kind of triple, its consequences
with the subject and the object left open.  A task then finds those of its triples by
looking up their kinds, whole columns at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from livefacts.engine.spark.tables import SCHEMAS, TRIPLES_TABLE
from livefacts.store.xxhash import HashIds

Kind = tuple[int, int | None]
"""A predicate, or a predicate and an object."""
CONSTANT, SUBJECT, OBJECT = 0, 1, 2
Place = tuple[int, int]
"""CONSTANT and an id, or SUBJECT or OBJECT and 0."""
Head = tuple[Place, Place, Place]
FACT_KEYS = ["s", "p", "o"]
FACTS = SCHEMAS[TRIPLES_TABLE]


class KindRows(NamedTuple):
    """Kinds in the order of predicate and object: where their consequences begin and end."""

    predicates: HashIds
    objects: HashIds
    first: NDArray[np.int64]
    last: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ConsequenceTable:
    """The consequences of all kinds, as columns.

    `by_object` are the predicates whose kinds name the object.
    """

    by_predicate: KindRows
    by_both: KindRows
    by_object: HashIds
    sources: NDArray[np.int8]
    values: HashIds

    def follow(self, triples: HashIds) -> tuple[HashIds, NDArray[np.int64]]:
        """The consequences of triples, and for each the place of the triple that it is of."""
        kinds = self._spans(triples)
        counts = kinds[:, 1] - kinds[:, 0]
        origin = np.repeat(np.arange(len(triples)), counts)
        before = np.repeat(np.cumsum(counts) - counts, counts)
        head = np.arange(len(origin)) - before + kinds[origin, 0]
        found = np.empty((len(origin), 3), np.int64)
        for column in range(3):
            source = self.sources[head, column]
            values = self.values[head, column]
            values = np.where(source == SUBJECT, triples[origin, 0], values)
            found[:, column] = np.where(source == OBJECT, triples[origin, 2], values)
        return found, origin

    def _spans(self, triples: HashIds) -> NDArray[np.int64]:
        """Where the consequences of each triple begin and end."""
        spans = np.zeros((len(triples), 2), np.int64)
        _look_up(self.by_predicate, triples[:, 1], None, np.arange(len(triples)), spans)
        named = np.flatnonzero(np.isin(triples[:, 1], self.by_object))
        _look_up(self.by_both, triples[named, 1], triples[named, 2], named, spans)
        return spans


def _look_up(
    rows: KindRows,
    predicates: HashIds,
    objects: HashIds | None,
    places: NDArray[np.int64],
    spans: NDArray[np.int64],
) -> None:
    if not len(rows.predicates) or not len(predicates):
        return
    keys = _keys(rows.predicates, None if objects is None else rows.objects)
    wanted = _keys(predicates, objects)
    order = np.argsort(keys)
    found = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(order) - 1)]
    fits = rows.predicates[found] == predicates
    if objects is not None:
        fits &= rows.objects[found] == objects
    spans[places[fits], 0] = rows.first[found[fits]]
    spans[places[fits], 1] = rows.last[found[fits]]


def _keys(predicates: HashIds, objects: HashIds | None) -> NDArray[np.uint64]:
    """One number for a predicate, or for a predicate and an object.

    Two kinds would have to share it for a triple to find the wrong one, which `unique_keys`
    rules out when the table is made.
    """
    keys = predicates.view(np.uint64)
    if objects is None:
        return keys
    return (keys * np.uint64(0x9E3779B97F4A7C15)) ^ np.ascontiguousarray(objects).view(np.uint64)


def make_table(heads: Mapping[Kind, Sequence[Head]], by_object: Sequence[int]) -> ConsequenceTable:
    """The table of these consequences; a kind without any is left out."""
    flat = [head for kind_heads in heads.values() for head in kind_heads]
    ends = np.cumsum([len(each) for each in heads.values()], dtype=np.int64)
    starts = ends - np.array([len(each) for each in heads.values()], np.int64)
    kinds = list(heads)
    plain = np.array([kind[1] is None for kind in kinds], np.bool_)
    return ConsequenceTable(
        _kind_rows(kinds, starts, ends, np.flatnonzero(plain)),
        _kind_rows(kinds, starts, ends, np.flatnonzero(~plain)),
        np.array(sorted(by_object), np.int64),
        np.array([[place[0] for place in head] for head in flat], np.int8).reshape(-1, 3),
        np.array([[place[1] for place in head] for head in flat], np.int64).reshape(-1, 3),
    )


def _kind_rows(
    kinds: Sequence[Kind],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    chosen: NDArray[np.int64],
) -> KindRows:
    predicates = np.array([kinds[i][0] for i in chosen.tolist()], np.int64)
    objects = np.array([kinds[i][1] or 0 for i in chosen.tolist()], np.int64)
    keys = _keys(predicates, objects)
    assert len(np.unique(keys)) == len(keys), "two kinds have the same key"
    return KindRows(predicates, objects, starts[chosen], ends[chosen])


def summed(facts: pa.Table) -> pa.Table:
    """Facts each once, their supports and tellings added up."""
    found = facts.group_by(FACT_KEYS, use_threads=False).aggregate(
        [("support", "sum"), ("told", "sum")]
    )
    return found.rename_columns(FACTS.names).cast(FACTS)


def fact_table(triples: HashIds, support: int, told: int) -> pa.Table:
    """Triples as facts that all have the same support and telling."""
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
