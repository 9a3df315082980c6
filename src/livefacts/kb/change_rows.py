"""Change rows: how a change is written beside the facts, one row for each fact that it touches.

A row has what is added to the support and the assertion of a fact, and a sign: 1 where it becomes
true, -1 where it ends.  Whoever reads the facts adds the rows of all changes to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from livefacts.kb import predicate_rows
from livefacts.kb.consequences import table_of
from livefacts.kb.predicate_rows import CountedRows
from livefacts.kb.tables import (
    CHANGES,
    PREDICATE_CHANGES,
    SCHEMAS,
    KnowledgeBase,
    Write,
    write_in_buckets,
)
from livefacts.store.facts.hash_rows import Facts
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.hash_ids import HashIds


class CountChanges(NamedTuple):
    """Facts of one shape, how their support and assertion change, and what becomes of them."""

    rows: CountedRows
    signs: HashIds


def signed_tables(signed: Mapping[int, CountChanges]) -> dict[str, pa.Table]:
    """Changes by shape as rows of their tables."""
    found = {}
    if TRIPLES in signed:
        rows, signs = signed[TRIPLES]
        s, p, o = (np.ascontiguousarray(column) for column in rows.facts.T)
        triples = table_of(Facts(s, p, o, rows.support, rows.told))
        found[CHANGES] = _with_signs(triples, signs)
    others = [each for shape, each in sorted(signed.items()) if shape != TRIPLES]
    if others:
        facts = predicate_rows.as_table([each.rows for each in others])
        signs = np.concatenate([each.signs for each in others])
        found[PREDICATE_CHANGES] = _with_signs(facts, signs)
    return found


def _with_signs(rows: pa.Table, signs: HashIds) -> pa.Table:
    return rows.append_column("sign", pa.array(signs.astype(np.int32)))


def signed_write(base: KnowledgeBase, table: str, seq: int, rows: pa.Table) -> Write:
    """A change's rows of predicate facts or triples, numbered, in files of their table."""
    numbered = rows.add_column(0, "seq", pa.array(np.full(len(rows), seq, np.int64)))
    numbered = numbered.cast(SCHEMAS[table])
    buckets = int(base.settings.get("buckets", 1))
    return Write(write_in_buckets(base.path / table, numbered, buckets))
