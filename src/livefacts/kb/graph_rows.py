"""Named graphs in the tables: which graph asserts which triple.

An asserted triple that is in no row here is asserted by the default graph alone.  Of all others
the rows say which graphs assert them, and the default graph, where it does too, is graph 0.
Rows are signed, so that a change only adds some; a graph asserts a triple where they add up to
more than nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from livefacts.kb.buckets import bucket_of
from livefacts.kb.tables import (
    GRAPHS,
    SCHEMAS,
    Commit,
    DataFile,
    KnowledgeBase,
    Write,
    write_file,
)
from livefacts.store.terms.hash_ids import HashIds

DEFAULT = 0
QUAD = ("s", "p", "o", "g")
NO_QUADS = np.zeros((0, 4), np.int64)
Quad = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class GraphChange:
    """The rows about triples of named graphs that come and go."""

    begins: frozenset[Quad] = frozenset()
    ceases: frozenset[Quad] = frozenset()

    def writes(self, base: KnowledgeBase, seq: int) -> dict[str, Write]:
        """What notes it."""
        parts = ((self.begins, 1), (self.ceases, -1))
        files = tuple(
            file
            for quads, sign in parts
            if quads
            for file in write_quads(base, seq, np.array(sorted(quads), np.int64), sign)
        )
        return {GRAPHS: Write(files)} if files else {}


def quads_at(base: KnowledgeBase, commit: Commit) -> HashIds:
    """Triples and the graphs that assert them, at a commit: s, p, o, g."""
    return summed_quads(base.read(GRAPHS, commit))


def summed_quads(rows: pa.Table) -> HashIds:
    """What signed rows come to."""
    if not len(rows):
        return NO_QUADS
    counted = rows.group_by(list(QUAD)).aggregate([("sign", "sum")])
    kept = counted.filter(pa.array(counted["sign_sum"].to_numpy() > 0))
    return np.stack([kept[name].to_numpy() for name in QUAD], axis=1)


def write_quads(
    base: KnowledgeBase, seq: int, quads: HashIds, sign: int = 1
) -> tuple[DataFile, ...]:
    """Files of rows that add these to the table, or with sign -1 take them out, by bucket."""
    homes = bucket_of(np.ascontiguousarray(quads[:, 0]), int(base.settings["buckets"]))
    return tuple(
        write_file(base.path / GRAPHS, _signed(seq, quads[homes == number], sign), number)
        for number in np.unique(homes).tolist()
    )


def _signed(seq: int, quads: HashIds, sign: int) -> pa.Table:
    count = len(quads)
    columns = {name: np.ascontiguousarray(quads[:, at]) for at, name in enumerate(QUAD)}
    signed = {"seq": np.full(count, seq), **columns, "sign": np.full(count, sign, np.int32)}
    return pa.table(signed, schema=SCHEMAS[GRAPHS])


def told_by_default(told: HashIds, quads: HashIds) -> HashIds:
    """Those of the asserted triples that the default graph asserts."""
    if not len(quads):
        return told
    named = {tuple(row[:3]) for row in quads.tolist()}
    default = {tuple(row[:3]) for row in quads.tolist() if row[3] == DEFAULT}
    only_named = named - default
    is_default = [tuple(row) not in only_named for row in told.tolist()]
    found: HashIds = told[np.array(is_default, np.bool_)]
    return found
