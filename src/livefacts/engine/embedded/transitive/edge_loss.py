"""Edge loss under a transitive rule: which pairs are still connected when edges go.

Only points that reached a lost edge can lose a pair.  They are taken in parts, which are
strongly connected components, those first that the others lead to (see `affected_region`).
Which pairs a part may have lost is known when its turn comes; they are retested against what
its outgoing edges still reach (see `retest`); the rest is lost by every point of the part.

An edge whose ends stay connected in another way changes nothing: every path over it has a
detour.  The work follows the pairs that are lost and the edges of those who lose them, not the
pairs that could have been lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.embedded.transitive.affected_region import (
    Edges,
    Parts,
    Region,
    edges_of,
    end_of,
    is_standing_edge,
    number_of,
    parts_of,
    region_of,
    without_near_detours,
)
from livefacts.engine.embedded.transitive.retest import (
    DOUBT_COUNT,
    LOST_COUNT,
    OPEN,
    PART,
    PATIENCE,
    STATE_FIELDS,
    WANTED,
    WORK,
    Case,
    Losses,
    Numbers,
    cells_of,
    find_doubts,
    find_ways,
    mark,
    pair_row,
    settle_doubts,
    unmark,
    unmark_all,
)
from livefacts.model.work_bounds import look
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_store import TRIPLES, RowStore
from livefacts.store.machine_code import kernel, load_int32

Ids = NDArray[np.int32]

# what a call returns
DONE = 0
PAUSED = 1
NEED_DOUBTS = 2
NEED_LOST = 3

BUDGET = 1_000_000
"""Work between two looks at interrupts: some 50 ms."""
FEW = 8
"""Lost edges that are worth a search of their own."""
LOOKUPS = 64
"""The patience of a part with looking up what its ways out reach."""
FEWEST = 1 << 10
NOTHING = np.zeros(0, np.int64)


@kernel
def place_gone(edges: Any, region: Any, parts: Any, losses: Any, gone: Any) -> Any:
    """Put the ends of lost edges together by the part in which they started."""
    first = losses.gone_first
    for i in range(gone.shape[0]):
        start = np.int64(gone[i, edges.start_column])
        first[parts.part_of[number_of(region, start)] + 2] += 1
    for part in range(2, first.shape[0]):
        first[part] += first[part - 1]
    for i in range(gone.shape[0]):
        part = parts.part_of[number_of(region, np.int64(gone[i, edges.start_column]))]
        losses.gone[first[part + 1]] = gone[i, edges.end_column]
        first[part + 1] += 1


@kernel
def lose_part(case: Any, part: Any) -> Any:
    """The candidates that are left are lost by all members; the caller has seen to room."""
    region, parts, losses = case.region, case.parts, case.losses
    begin = losses.state[LOST_COUNT]
    count = begin
    for i in range(losses.state[DOUBT_COUNT]):
        row = losses.doubts[i]
        cells = cells_of(case, row)
        if load_int32(cells, layout.FLAGS) & bits.IN_DOUBT:
            unmark(cells, bits.IN_DOUBT)
            if load_int32(cells, layout.FLAGS) & bits.CLOSED or not is_standing_edge(cells):
                count = mark(case, row, bits.LOST_PAIR, losses.lost, count)
    losses.blocks[part, 0], losses.blocks[part, 1] = begin, count
    for i in range(parts.first[part] + 1, parts.first[part + 1]):
        member = region.points[parts.members[i]]
        for at in range(begin, losses.blocks[part, 1]):
            end = end_of(case.edges, cells_of(case, losses.lost[at]))
            count = mark(case, pair_row(case, member, end), bits.LOST_PAIR, losses.lost, count)
    losses.state[LOST_COUNT] = count


@kernel
def lose_parts(case: Any, budget: Any) -> Any:
    """Find what is lost, part by part; DONE, or why it stopped before the part in the state."""
    parts, losses = case.parts, case.losses
    state = losses.state
    state[WORK] = 0
    while state[PART] < parts.first.shape[0] - 1:
        if state[WORK] > budget:
            return PAUSED
        part = state[PART]
        find_ways(case, part)
        find_doubts(case, part)
        is_settled = state[DOUBT_COUNT] <= losses.doubts.shape[0]
        state[WANTED] = state[DOUBT_COUNT]
        if is_settled:
            is_settled = settle_doubts(case, part)
        size = parts.first[part + 1] - parts.first[part]
        after = state[LOST_COUNT] + state[OPEN] * size
        if not is_settled or after > losses.lost.shape[0]:
            unmark_all(
                case.rows, case.edges.relation, losses.doubts, state[DOUBT_COUNT], bits.IN_DOUBT
            )
            if not is_settled:
                return NEED_DOUBTS
            state[WANTED] = after
            return NEED_LOST
        lose_part(case, part)
        state[WORK] += state[OPEN] * size
        state[PART] += 1
    return DONE


class TransitiveLosses:
    """Finds what a transitive rule no longer derives."""

    def __init__(self, store: RowStore) -> None:
        self._store = store

    def lost_rows(self, entries: Numbers) -> list[tuple[int, Numbers]]:
        """The rows of each relation that lose their transitive reason with these lost edges."""
        return [
            (edges.relation, self._lost_pairs(edges, ends))
            for edges, ends in self._by_predicate(entries)
        ]

    def _by_predicate(self, entries: Numbers) -> Iterator[tuple[Edges, Ids]]:
        """Lost edges, by predicate."""
        relations = entries >> 32
        for relation in sorted(set(relations.tolist())):
            rows = entries[relations == relation] & 0xFFFFFFFF
            facts = self._store.columns(relation, rows)
            predicates = facts[:, 1 if relation == TRIPLES else 0]
            for predicate in sorted(set(predicates.tolist())):
                yield edges_of(self._store, relation, predicate), facts[predicates == predicate]

    def _lost_pairs(self, edges: Edges, gone: Ids) -> Numbers:
        rows = self._store.rows
        if len(gone) <= FEW:
            gone = without_near_detours(rows, edges, gone)
            if not len(gone):
                return NOTHING
        region = region_of(rows, edges, gone)
        parts = parts_of(region)
        losses = _no_losses(region, parts, len(gone))
        place_gone(edges, region, parts, losses, gone)
        losses.state[PATIENCE] = LOOKUPS
        case = Case(rows, edges, region, parts, losses)
        try:
            while (status := lose_parts(case, BUDGET)) != DONE:
                look()
                _make_room(losses, status)
        finally:
            count = int(losses.state[LOST_COUNT])
            unmark_all(rows, edges.relation, losses.lost, count, bits.LOST_PAIR)
        found = losses.lost[:count]
        closed: Numbers = found[self._store.flags(edges.relation)[found] & bits.CLOSED != 0]
        return closed


def _no_losses(region: Region, parts: Parts, gone: int) -> Losses:
    """Nothing found out yet, and some room."""
    count = len(parts.first) - 1
    return Losses(
        gone_first=np.zeros(count + 2, np.int64),
        gone=np.empty(gone, np.int64),
        ways=np.empty(len(region.ends), np.int64),
        used=np.zeros(count, np.int64),
        doubts=np.empty(FEWEST, np.int64),
        visited=np.empty(FEWEST, np.int64),
        lost=np.empty(FEWEST, np.int64),
        blocks=np.zeros((count, 2), np.int64),
        state=np.zeros(STATE_FIELDS, np.int64),
        key=np.zeros(3, np.int32),
    )


def _make_room(losses: Losses, status: int) -> None:
    room = int(losses.state[WANTED]) * 3 // 2 + 1
    if status == NEED_DOUBTS:
        losses.doubts.resize(room, refcheck=False)
        losses.visited.resize(room, refcheck=False)
    elif status == NEED_LOST:
        losses.lost.resize(room, refcheck=False)
