"""The retest of candidate pairs: which pairs of a part may be lost, and which still hold.

A part (a strongly connected component) can lose only what its own lost edges led to, and what
was lost by the parts that its remaining edges lead to.  These pairs are its candidates, the
*doubts*.  Struck out again is whatever one of its outgoing edges, its *ways*, still reaches.
Its first member stands for all: points that reach each other reach the same.

Each way either looks up every candidate among the pairs of its end, or goes through all pairs
of its end and strikes those out, whichever is shorter.  Where many ways would have to look up
many candidates, the part is searched along edges instead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.embedded.transitive.affected_region import (
    Edges,
    Parts,
    Region,
    end_of,
    first_from,
    is_standing_edge,
    next_row,
    number_of,
)
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_kernels import find_fact, row_address
from livefacts.store.machine_code import inlined, kernel, load_int32, store_int32

Numbers = NDArray[np.int64]

# fields of the state
PART = 0
WAY_COUNT = 1
IS_CYCLIC = 2
DOUBT_COUNT = 3
OPEN = 4
"""Candidates that are not struck out."""
LOST_COUNT = 5
WORK = 6
WANTED = 7
"""How much room there should be, where there is too little."""
PATIENCE = 8
"""How often a part may look at each candidate and each way before it is searched."""
TURN = 9
"""The number of the part under way; one that is taken again for want of room has a new one."""
STATE_FIELDS = 10


class Losses(NamedTuple):
    """Lost edges by part, and what has been found out."""

    gone_first: Numbers
    """Where the lost edges of each part begin in `gone`, and where those of the last one end."""
    gone: Numbers
    """The points where lost edges ended."""
    ways: Numbers
    """Where edges lead that leave the part under way: as in `Region.ends`, one for a part."""
    used: Numbers
    """By part: the last turn that had a way to it."""
    doubts: Numbers
    """Rows of the part's first member."""
    visited: Numbers
    lost: Numbers
    """Rows whose transitive support is gone."""
    blocks: Numbers
    """By part: where the rows of its first member begin and end in `lost`."""
    state: Numbers
    key: NDArray[np.int32]


class Case(NamedTuple):
    """One predicate and its lost edges."""

    rows: layout.StoredRows
    edges: Edges
    region: Region
    parts: Parts
    losses: Losses


@inlined
def pair_row(case: Any, start: Any, end: Any) -> Any:
    """The row of a pair, or 0."""
    edges, key = case.edges, case.losses.key
    key[edges.predicate_column] = edges.predicate
    key[edges.start_column] = start
    key[edges.end_column] = end
    return find_fact(case.rows, edges.relation, key, 0)


@inlined
def cells_of(case: Any, row: Any) -> Any:
    return row_address(case.rows, case.edges.relation, row)


@inlined
def still_holds(cells: Any) -> Any:
    """Whether a pair of a part that is done, or of no part, is connected."""
    is_kept = load_int32(cells, layout.FLAGS) & (bits.CLOSED | bits.LOST_PAIR) == bits.CLOSED
    return is_kept or is_standing_edge(cells)


@inlined
def still_reaches(case: Any, start: Any, end: Any) -> Any:
    row = pair_row(case, start, end)
    return row != 0 and still_holds(cells_of(case, row))


@inlined
def mark(case: Any, row: Any, bit: Any, marked: Any, count: Any) -> Any:
    """Mark a row that is there and has no such mark; how many have one, also where room ends."""
    if row == 0:
        return count
    cells = cells_of(case, row)
    flags = load_int32(cells, layout.FLAGS)
    if flags & bit:
        return count
    if count < marked.shape[0]:
        store_int32(cells, layout.FLAGS, np.int32(flags | bit))
        marked[count] = row
    return count + 1


@inlined
def unmark(cells: Any, bit: Any) -> Any:
    store_int32(cells, layout.FLAGS, np.int32(load_int32(cells, layout.FLAGS) & ~bit))


@kernel
def unmark_all(rows: Any, relation: Any, marked: Any, count: Any, bit: Any) -> Any:
    for i in range(min(count, marked.shape[0])):
        unmark(row_address(rows, relation, marked[i]), bit)


@inlined
def start_of(case: Any, part: Any) -> Any:
    """The first member of a part, which stands for all."""
    return case.region.points[case.parts.members[case.parts.first[part]]]


@inlined
def way_end(case: Any, i: Any) -> Any:
    """The point that a way out of the part under way leads to."""
    way = case.losses.ways[i]
    return case.region.points[way] if way >= 0 else ~way


@inlined
def is_in_part(case: Any, point: Any, part: Any) -> Any:
    number = number_of(case.region, point)
    return number >= 0 and case.parts.part_of[number] == part


@kernel
def find_ways(case: Any, part: Any) -> Any:
    """Collect the ways out of a part, and whether some stay inside."""
    _, _, region, parts, losses = case
    count = 0
    losses.state[IS_CYCLIC] = 0
    losses.state[TURN] += 1
    for i in range(parts.first[part], parts.first[part + 1]):
        member = parts.members[i]
        for at in range(region.first[member], region.first[member + 1]):
            end = region.ends[at]
            if end >= 0:
                other = parts.part_of[end]
                if other == part:
                    losses.state[IS_CYCLIC] = 1
                    continue
                if losses.used[other] == losses.state[TURN]:
                    continue
                losses.used[other] = losses.state[TURN]
            losses.ways[count] = end
            count += 1
    losses.state[WAY_COUNT] = count


@inlined
def has_detour(case: Any, part: Any, end: Any) -> Any:
    """Whether the end of a lost edge of this part is still reached from it."""
    if case.losses.state[IS_CYCLIC] and is_in_part(case, end, part):
        return True
    for i in range(case.losses.state[WAY_COUNT]):
        point = way_end(case, i)
        if point == end or still_reaches(case, point, end):
            return True
    return False


@kernel
def find_doubts(case: Any, part: Any) -> Any:
    """Mark all pairs of the part's first member that may be lost."""
    rows, edges, _, parts, losses = case
    start, doubts = start_of(case, part), losses.doubts
    count = 0
    for i in range(losses.gone_first[part], losses.gone_first[part + 1]):
        end = losses.gone[i]
        if has_detour(case, part, end):
            continue
        count = mark(case, pair_row(case, start, end), bits.IN_DOUBT, doubts, count)
        row = first_from(rows, edges, edges.pairs_from, end, losses.key)
        while row:
            cells = cells_of(case, row)
            mine = pair_row(case, start, end_of(edges, cells))
            count = mark(case, mine, bits.IN_DOUBT, doubts, count)
            row = next_row(rows, edges.pairs_from, cells)
    for i in range(losses.state[WAY_COUNT]):
        if losses.ways[i] < 0:
            continue
        other = parts.part_of[losses.ways[i]]
        for at in range(losses.blocks[other, 0], losses.blocks[other, 1]):
            cells = cells_of(case, losses.lost[at])
            if not is_standing_edge(cells):
                mine = pair_row(case, start, end_of(edges, cells))
                count = mark(case, mine, bits.IN_DOUBT, doubts, count)
    losses.state[DOUBT_COUNT] = count


@inlined
def strike_out(case: Any, row: Any) -> Any:
    """A pair of the part under way is connected after all."""
    if row == 0:
        return
    cells = cells_of(case, row)
    flags = load_int32(cells, layout.FLAGS)
    if flags & bits.IN_DOUBT:
        store_int32(cells, layout.FLAGS, np.int32(flags & ~bits.IN_DOUBT))
        case.losses.state[OPEN] -= 1


@kernel
def strike_inside(case: Any, part: Any) -> Any:
    """Points that reach each other go on doing so, and reach whatever a way out leads to."""
    losses = case.losses
    for i in range(losses.state[DOUBT_COUNT]):
        if is_in_part(case, end_of(case.edges, cells_of(case, losses.doubts[i])), part):
            strike_out(case, losses.doubts[i])
    for i in range(losses.state[WAY_COUNT]):
        strike_out(case, pair_row(case, start_of(case, part), way_end(case, i)))


@kernel
def strike_by_pairs(case: Any, start: Any, point: Any) -> Any:
    """Strike out what a point still reaches; False if it has more pairs than candidates."""
    rows, edges, losses = case.rows, case.edges, case.losses
    most = losses.state[WORK] + losses.state[OPEN]
    row = first_from(rows, edges, edges.pairs_from, point, losses.key)
    while row:
        if losses.state[WORK] >= most:
            return False
        losses.state[WORK] += 1
        cells = cells_of(case, row)
        if still_holds(cells):
            strike_out(case, pair_row(case, start, end_of(edges, cells)))
        row = next_row(rows, edges.pairs_from, cells)
    return True


@kernel
def strike_by_doubts(case: Any, point: Any) -> Any:
    """The same, candidate by candidate; those that are struck out are dropped."""
    losses = case.losses
    kept = 0
    losses.state[WORK] += losses.state[DOUBT_COUNT]
    for i in range(losses.state[DOUBT_COUNT]):
        row = losses.doubts[i]
        cells = cells_of(case, row)
        if not load_int32(cells, layout.FLAGS) & bits.IN_DOUBT:
            continue
        if still_reaches(case, point, end_of(case.edges, cells)):
            strike_out(case, row)
        else:
            losses.doubts[kept] = row
            kept += 1
    losses.state[DOUBT_COUNT] = kept


@kernel
def strike_by_search(case: Any, start: Any) -> Any:
    """Strike out what edges lead to from the ends of the ways; False if there is no room."""
    rows, edges, losses = case.rows, case.edges, case.losses
    visited = losses.visited
    count = 0
    for i in range(losses.state[WAY_COUNT]):
        count = mark(case, pair_row(case, start, way_end(case, i)), bits.VISITED, visited, count)
    at = 0
    while at < min(count, visited.shape[0]):
        point = end_of(edges, cells_of(case, visited[at]))
        row = first_from(rows, edges, edges.edges_from, point, losses.key)
        while row:
            cells = cells_of(case, row)
            if is_standing_edge(cells):
                mine = pair_row(case, start, end_of(edges, cells))
                strike_out(case, mine)
                count = mark(case, mine, bits.VISITED, visited, count)
            row = next_row(rows, edges.edges_from, cells)
            losses.state[WORK] += 1
        at += 1
    unmark_all(rows, edges.relation, visited, count, bits.VISITED)
    losses.state[WANTED] = count
    return count <= visited.shape[0]


@kernel
def settle_doubts(case: Any, part: Any) -> Any:
    """Strike out what a part still reaches; False if there is no room to find out."""
    state, start = case.losses.state, start_of(case, part)
    state[OPEN] = state[DOUBT_COUNT]
    if state[IS_CYCLIC]:
        strike_inside(case, part)
    most = state[WORK] + state[PATIENCE] * (state[OPEN] + state[WAY_COUNT])
    for i in range(state[WAY_COUNT]):
        if state[OPEN] == 0:
            break
        if state[WORK] > most:
            return strike_by_search(case, start)
        point = way_end(case, i)
        if not strike_by_pairs(case, start, point):
            strike_by_doubts(case, point)
    return True
