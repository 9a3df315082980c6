"""Links: which nodes a property path of any length connects, over columns of ids.

A path of single steps, any of which may be taken, is followed by a kernel from the side that is
known.  What repeats a longer path is followed over the pairs which that path connects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from livefacts.engine.queries.paths import reach_kernel
from livefacts.language.algebra import Alternative, InversePath, Path, PredicatePath
from livefacts.model.facts import Term
from livefacts.store.facts.row_sets import distinct_ids
from livefacts.store.machine_code import described
from livefacts.store.terms.text_table import INLINE_FIRST
from livefacts.store.versions.signed_runs import Run
from livefacts.store.versions.snapshots import Snapshot
from livefacts.store.versions.sorted_orders import POS, PSO, Ids

Pairs: TypeAlias = tuple[Ids, Ids]
"""Where paths begin, and where they end."""
Link: TypeAlias = tuple[int, int]
"""An order of columns and a predicate: one step of a path."""
ROOM = 1 << 16
HELD = 0
"""The predicate of pairs that are searched as triples."""


def links_of(path: Path, encode: Callable[[Term], int]) -> list[Link] | None:
    """The single steps of a path, any of which may be taken; None if it has longer parts."""
    match path:
        case PredicatePath():
            return [(PSO, encode(path.predicate))]
        case InversePath():
            inner = links_of(path.path, encode)
            return None if inner is None else turned(inner)
        case Alternative():
            parts = [links_of(each, encode) for each in path.paths]
            if None in parts:
                return None
            return [link for part in parts for link in part or ()]
        case _:
            return None


def turned(links: Sequence[Link]) -> list[Link]:
    """The same steps in the other direction."""
    return [(POS if order == PSO else PSO, predicate) for order, predicate in links]


def as_triples(pairs: Pairs) -> Snapshot:
    """Pairs as the triples of one predicate, to be searched."""
    both = np.unique(np.column_stack(pairs), axis=0)
    rows = np.insert(both, 1, HELD, axis=1).astype(np.int32)
    return Snapshot([Run(np.ascontiguousarray(rows))] if len(rows) else [])


def reachable(
    snapshot: Snapshot,
    links: Sequence[Link],
    starts: Ids,
    terms: int,
    pause: Callable[[], None],
    room: Callable[[int], None],
) -> Pairs:
    """The number of each start with every node that one or more steps lead to from it.

    Ids of nodes are below `terms`, or inline integers.
    """
    nothing = np.zeros(0, np.int32), np.zeros(0, np.int32)
    if not snapshot.runs or not len(starts):
        return nothing
    snapshot.make(sum({1 << order for order, _ in links}))
    state = np.zeros(reach_kernel.STATE_FIELDS, np.int64)
    inline = _inline_ends(snapshot, links)
    fixed = [
        snapshot.table,
        np.array(links, np.int32).reshape(-1, 2),
        np.ascontiguousarray(starts, np.int32),
        inline,
        np.zeros(terms + len(inline), np.int32),
        np.zeros(terms + len(inline) + 1, np.int32),
        state,
    ]
    pieces, ended, total = [nothing], reach_kernel.FULL, 0
    while ended != reach_kernel.DONE:
        out = np.empty((2, ROOM), np.int32)
        desk = np.array(described([*fixed, out]), np.int64)
        ended = reach_kernel.reach(desk)
        found = int(state[reach_kernel.FOUND])
        pieces.append((out[0, :found], out[1, :found]))
        state[reach_kernel.FOUND] = 0
        total += found
        pause()
        room(2 * total)
    numbers, nodes = map(np.concatenate, zip(*pieces, strict=True))
    return numbers, nodes


def _inline_ends(snapshot: Snapshot, links: Sequence[Link]) -> Ids:
    """The inline integers that these steps lead to."""
    found = [np.zeros(0, np.int32)]
    for order, predicate in links:
        for run in snapshot.runs:
            rows = run.order(order)
            ends = rows.third[slice(*rows.range_of(predicate))]
            found.append(ends[ends >= INLINE_FIRST])
    return distinct_ids(np.concatenate(found))
