"""Predicate facts as rows: out of their tables by arity, added up, and back.

A row is the id of the predicate's name and those of its arguments; facts with as many
arguments are one array.  In the tables the arguments are a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from livefacts.kb.buckets import bucket_of
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.tables import PREDICATE_CHANGES, PREDICATES_TABLE, SCHEMAS
from livefacts.store.terms.hash_ids import KIND_BITS, HashIds

ARGUMENT_COLUMNS = pa.schema([("pred", pa.int64()), ("arguments", pa.list_(pa.int64()))])
ODD = np.uint64(0x9E3779B97F4A7C15)
FOLD = np.uint64(29)


class CountedRows(NamedTuple):
    """Facts of one shape, how often each follows and how often it is asserted."""

    facts: HashIds
    support: NDArray[np.int64]
    told: NDArray[np.int32]


def key_of(rows: HashIds) -> HashIds:
    """A number for each row, by which rows are spread over buckets."""
    mixed = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        mixed = (mixed ^ (np.ascontiguousarray(column) >> KIND_BITS).view(np.uint64)) * ODD
        mixed ^= mixed >> FOLD
    return mixed.view(np.int64)


def exchanged(rows: HashIds) -> tuple[pa.Table, HashIds]:
    """Rows as they are exchanged, and the keys that decide their buckets."""
    return pa.table([rows[:, 0].copy(), _listed(rows)], ARGUMENT_COLUMNS), key_of(rows)


def _listed(rows: HashIds) -> pa.ListArray:
    width = rows.shape[1] - 1
    offsets = np.arange(len(rows) + 1, dtype=np.int32) * width
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(rows[:, 1:].ravel()))


def read_files(facts: Sequence[StorePath], changes: Sequence[StorePath]) -> pa.Table:
    """All rows of data files of facts and of changes."""
    schema = SCHEMAS[PREDICATES_TABLE]
    parts = [file.read_table(schema) for file in facts]
    for file in changes:
        parts.append(file.read_table(SCHEMAS[PREDICATE_CHANGES]).select(schema.names))
    return pa.concat_tables([schema.empty_table(), *parts])


def by_shape(table: pa.Table) -> list[CountedRows]:
    """The rows of a table, those with as many arguments together."""
    lengths = pc.list_value_length(table["arguments"]).to_numpy()
    found = []
    for length in np.unique(lengths).tolist():
        chosen = table.filter(pa.array(lengths == length)).combine_chunks()
        arguments = chosen["arguments"].combine_chunks().flatten().to_numpy()
        rows = np.column_stack([chosen["pred"].to_numpy(), arguments.reshape(len(chosen), length)])
        support, told = chosen["support"].to_numpy(), chosen["told"].to_numpy()
        found.append(CountedRows(rows.astype(np.int64), support, told))
    return found


def of_bucket(table: pa.Table, number: int, buckets: int) -> list[CountedRows]:
    """The rows of a table that belong to one bucket."""
    found = []
    for each in by_shape(table):
        mine = bucket_of(key_of(each.facts), buckets) == number
        found.append(CountedRows(each.facts[mine], each.support[mine], each.told[mine]))
    return found


def as_told(came: pa.Table) -> list[CountedRows]:
    """Rows that were exchanged, each as asserted once."""
    count = len(came)
    counted = came.append_column("support", pa.array(np.zeros(count, np.int64)))
    return by_shape(counted.append_column("told", pa.array(np.ones(count, np.int32))))


def summed(parts: Iterable[CountedRows]) -> list[CountedRows]:
    """Facts each once, with the sums of their counts; those that come to nothing are left out."""
    found = []
    for part in _together(parts):
        holds = (part.support > 0) | (part.told > 0)
        found.append(CountedRows(part.facts[holds], part.support[holds], part.told[holds]))
    return found


def differences(parts: Iterable[CountedRows]) -> list[CountedRows]:
    """Signed facts each once, with the sums of their counts, without those that cancel out."""
    found = []
    for part in _together(parts):
        changed = (part.support != 0) | (part.told != 0)
        found.append(CountedRows(part.facts[changed], part.support[changed], part.told[changed]))
    return found


def _together(parts: Iterable[CountedRows]) -> list[CountedRows]:
    by_width: dict[int, list[CountedRows]] = {}
    for part in parts:
        by_width.setdefault(part.facts.shape[1], []).append(part)
    return [_added_up(each) for _, each in sorted(by_width.items())]


def _added_up(parts: list[CountedRows]) -> CountedRows:
    rows = np.concatenate([part.facts for part in parts])
    if not len(rows):
        return parts[0]
    facts, places = np.unique(rows, axis=0, return_inverse=True)
    support, told = np.zeros(len(facts), np.int64), np.zeros(len(facts), np.int32)
    np.add.at(support, places, np.concatenate([part.support for part in parts]))
    np.add.at(told, places, np.concatenate([part.told for part in parts]))
    return CountedRows(facts, support, told)


def told_once(parts: Iterable[CountedRows]) -> list[CountedRows]:
    """Facts that are asserted, each asserted once; without shapes of which there are none."""
    once = (part._replace(told=np.minimum(part.told, np.int32(1))) for part in parts)
    return [part for part in once if len(part.facts)]


def only_told(parts: Iterable[CountedRows]) -> list[CountedRows]:
    """The facts that are asserted, without what they follow from."""
    found = []
    for part in parts:
        facts = part.facts[part.told > 0]
        if len(facts):
            counts = np.zeros(len(facts), np.int64), np.ones(len(facts), np.int32)
            found.append(CountedRows(facts, *counts))
    return found


def as_table(parts: Iterable[CountedRows]) -> pa.Table:
    """Facts as a table."""
    schema = SCHEMAS[PREDICATES_TABLE]
    tables = [
        pa.table([part.facts[:, 0].copy(), _listed(part.facts), part.support, part.told], schema)
        for part in parts
    ]
    return pa.concat_tables([schema.empty_table(), *tables])
