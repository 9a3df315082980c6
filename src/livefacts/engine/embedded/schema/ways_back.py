"""Ways back: from the consequences of single triples to the asserted triples, kind by kind.

The kernel half of the same idea is `kernel.foundation`, which walks the ways.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.foundation import NO_WAYS, WAY_FIELDS, Ways
from livefacts.engine.embedded.kernel.registers import place_entry
from livefacts.engine.embedded.schema.chase import Symbolic
from livefacts.engine.embedded.schema.kind_table import Kind
from livefacts.store.facts.row_store import TRIPLES, RowStore

MOST_HEADS = 50_000
"""Where kinds have more consequences than this, the ways back are not listed."""


Way = tuple[tuple[int, ...], tuple[int, ...]]
"""The columns of an index, and the key: ids, SUBJECT or OBJECT of the consequence."""


def ways_back(heads: Mapping[Kind, tuple[Symbolic, ...]], store: RowStore) -> Ways:
    """The ways back from the consequences of kinds, as far as there are indices for them."""
    if sum(map(len, heads.values())) > MOST_HEADS:
        return NO_WAYS
    found: dict[Kind, dict[Way, set[int]]] = {}
    for (predicate, obj), consequences in heads.items():
        for head in consequences:
            way = _way(predicate, obj, head)
            if way is not None and store.has_index(TRIPLES, way[0]):
                place = (head[1], head[2] if head[2] >= 0 else None)
                objects = found.setdefault(place, {}).setdefault(way, set())
                objects.update(() if obj is None else (obj,))
    return _as_tables(found, store)


def _way(predicate: int, obj: int | None, head: Symbolic) -> Way | None:
    """How to find the triples of a kind that a consequence follows from."""
    if head[0] >= 0 or head[0] == head[2]:
        return None
    # Where in the consequence the subject and the object of such a triple stand.
    at = {head[2]: code.OBJECT, head[0]: code.SUBJECT}
    if code.SUBJECT in at and code.OBJECT in at:
        return (0, 1, 2), (at[code.SUBJECT], predicate, at[code.OBJECT])
    if code.SUBJECT in at:
        return (0, 1), (at[code.SUBJECT], predicate)
    return (1, 2), (predicate, at[code.OBJECT])


def _as_tables(found: Mapping[Kind, Mapping[Way, set[int]]], store: RowStore) -> Ways:
    places = _table(len(found), 4)
    objects = _table(sum(len(each) for ways in found.values() for each in ways.values()), 3)
    listed: list[list[int]] = []
    for (predicate, obj), ways in found.items():
        at = place_entry(places, predicate + 1, 0 if obj is None else obj + 1)
        places[at] = predicate + 1, 0 if obj is None else obj + 1, len(listed), len(ways)
        # What a thing is asserted to be comes first: it is the shortest way.
        for (columns, key), needed in sorted(ways.items(), key=lambda way: not way[1]):
            for each in needed:
                at = place_entry(objects, len(listed) + 1, each + 1)
                objects[at] = len(listed) + 1, each + 1, 0
            padded = (*key, 0)[:3]
            listed.append([store.index(TRIPLES, columns), *padded, int(bool(needed))])
    return Ways(places, np.array(listed, np.int64).reshape(-1, WAY_FIELDS), objects)


def _table(lines: int, width: int) -> NDArray[np.int64]:
    """An empty table of open addressing, at most half full with so many lines."""
    return np.zeros((1 << max(4, (2 * lines).bit_length()), width), np.int64)
