"""The affected region of a loss: the points that reached a lost edge, in connected components.

Only those points can lose a pair.  They are numbered, the edges that they still have are
laid out in one array, and points that reach each other (a strongly connected component) come
together in a *part*, for they lose the same.  Parts are in such an order that every edge from
one part to another leads to a part before it.

Whoever reaches a point of the region belongs to it, so no part lies half outside.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.embedded.kernel.registers import lookup_entry, place_entry
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_kernels import find, row_address
from livefacts.store.facts.row_store import TRIPLES, RowStore
from livefacts.store.machine_code import inlined, kernel, load_int32

FEWEST_POINTS = 1 << 9
"""Room to begin with, a power of two."""


class Edges(NamedTuple):
    """Where the facts of one transitive predicate are."""

    relation: int
    predicate: int
    predicate_column: int
    start_column: int
    end_column: int
    edges_from: int
    pairs_from: int
    pairs_to: int


class Region(NamedTuple):
    """Points by number, and the ends of the edges that each still has."""

    numbers: NDArray[np.int64]
    """Open addressing: one more than a point, 0, its number."""
    points: NDArray[np.int64]
    first: NDArray[np.int64]
    """Where the ends of each point begin in `ends`, and where those of the last one end."""
    ends: NDArray[np.int64]
    """The number of a point, or ~point where it is outside the region."""


class Parts(NamedTuple):
    """The points of a region, those together that reach each other."""

    part_of: NDArray[np.int64]
    members: NDArray[np.int64]
    """Numbers of points, part by part."""
    first: NDArray[np.int64]
    """Where each part begins in `members`, and where the last one ends."""


@inlined
def set_key(edges: Any, point_column: Any, point: Any, key: Any) -> Any:
    """The key of an index on the predicate and one end, in the order of columns."""
    if edges.predicate_column < point_column:
        key[0], key[1] = edges.predicate, point
    else:
        key[0], key[1] = point, edges.predicate


@inlined
def first_from(rows: Any, edges: Any, index: Any, point: Any, key: Any) -> Any:
    """The first row that begins in a point, of an index on edges or on pairs."""
    set_key(edges, edges.start_column, point, key)
    return find(rows, edges.relation, index, key, 0)


@inlined
def next_row(rows: Any, index: Any, cells: Any) -> Any:
    return np.int64(load_int32(cells, rows.indices[index, layout.LINK]))


@inlined
def end_of(edges: Any, cells: Any) -> Any:
    return np.int64(load_int32(cells, layout.COLUMN + edges.end_column))


@inlined
def is_standing_edge(cells: Any) -> Any:
    flags = load_int32(cells, layout.FLAGS)
    return flags & bits.VISIBLE != 0 and not flags & bits.ENDED and has_reason(cells, flags)


@inlined
def has_reason(cells: Any, flags: Any) -> Any:
    """Whether a row is an edge now, whatever its flag still says."""
    counts = (
        load_int32(cells, layout.PLAIN)
        + load_int32(cells, layout.RECURSIVE)
        + load_int32(cells, layout.SINGLE)
    )
    return flags & bits.ASSERTED != 0 or counts > 0


@inlined
def number_of(region: Any, point: Any) -> Any:
    """The number of a point, or -1 if it is outside."""
    at = lookup_entry(region.numbers, point + 1, np.int64(0))
    return region.numbers[at, 2] if at >= 0 else np.int64(-1)


@inlined
def add_point(region: Any, point: Any, count: Any) -> Any:
    """Number a point, if there is room and it is not there; how many there are now."""
    at = place_entry(region.numbers, point + 1, np.int64(0))
    if region.numbers[at, 0]:
        return count
    if count < region.points.shape[0]:
        region.numbers[at, 0] = point + 1
        region.numbers[at, 2] = count
        region.points[count] = point
    return count + 1


@kernel
def is_connected(rows: Any, edges: Any, start: Any, end: Any, room: Any, key: Any) -> Any:
    """Whether edges that are left lead from one point to another, as far as room is to search."""
    count = add_point(room, start, np.int64(0))
    at = 0
    while at < count:
        row = first_from(rows, edges, edges.edges_from, room.points[at], key)
        while row:
            cells = row_address(rows, edges.relation, row)
            if is_standing_edge(cells):
                point = end_of(edges, cells)
                if point == end:
                    return True
                count = add_point(room, point, count)
                if count > room.points.shape[0]:
                    return False
            row = next_row(rows, edges.edges_from, cells)
        at += 1
    return False


@kernel
def number_points(rows: Any, edges: Any, lost: Any, region: Any, key: Any) -> Any:
    """Number the starts of lost edges and whoever reached them before the loss; how many they are, or more."""
    count = np.int64(0)
    for i in range(lost.shape[0]):
        start = np.int64(lost[i, edges.start_column])
        if number_of(region, start) >= 0:
            # It reached another one, so whoever reached it has been numbered, too.
            continue
        count = add_point(region, start, count)
        set_key(edges, edges.end_column, start, key)
        row = find(rows, edges.relation, edges.pairs_to, key, 0)
        while row:
            cells = row_address(rows, edges.relation, row)
            if load_int32(cells, layout.FLAGS) & bits.CLOSED or is_standing_edge(cells):
                point = np.int64(load_int32(cells, layout.COLUMN + edges.start_column))
                count = add_point(region, point, count)
            row = next_row(rows, edges.pairs_to, cells)
        if count > region.points.shape[0]:
            return count
    return count


@kernel
def lay_out_ends(rows: Any, edges: Any, region: Any, count: Any, key: Any) -> Any:
    """Lay out the standing edges of all points; how many there are, also where room ends."""
    at = np.int64(0)
    for number in range(count):
        region.first[number] = at
        row = first_from(rows, edges, edges.edges_from, region.points[number], key)
        while row:
            cells = row_address(rows, edges.relation, row)
            if is_standing_edge(cells):
                if at < region.ends.shape[0]:
                    point = end_of(edges, cells)
                    end = number_of(region, point)
                    region.ends[at] = end if end >= 0 else ~point
                at += 1
            row = next_row(rows, edges.edges_from, cells)
    region.first[count] = at
    return at


@kernel
def find_parts(region: Any, parts: Any, work: Any) -> Any:
    """Bring points together that reach each other (Tarjan); how many parts there are.

    `work` has a line each for: order of visit, lowest order reached, next end, points
    being visited, points without a part.
    """
    order, lowest, cursor, path, waiting = work[0], work[1], work[2], work[3], work[4]
    count = parts.part_of.shape[0]
    visited, found, placed, waits = 0, 0, 0, 0
    for root in range(count):
        if order[root]:
            continue
        depth = 0
        path[0] = root
        while depth >= 0:
            at = path[depth]
            if order[at] == 0:
                visited += 1
                order[at], lowest[at], cursor[at] = visited, visited, region.first[at]
                parts.part_of[at] = -1
                waiting[waits] = at
                waits += 1
            if cursor[at] < region.first[at + 1]:
                end = region.ends[cursor[at]]
                cursor[at] += 1
                if end < 0:
                    continue
                if order[end] == 0:
                    depth += 1
                    path[depth] = end
                elif parts.part_of[end] < 0:
                    lowest[at] = min(lowest[at], order[end])
                continue
            if lowest[at] == order[at]:
                parts.first[found] = placed
                last = np.int64(-1)
                while last != at:
                    waits -= 1
                    last = waiting[waits]
                    parts.part_of[last] = found
                    parts.members[placed] = last
                    placed += 1
                found += 1
            depth -= 1
            if depth >= 0:
                lowest[path[depth]] = min(lowest[path[depth]], lowest[at])
    parts.first[found] = placed
    return found


def edges_of(store: RowStore, relation: int, predicate: int) -> Edges:
    """Where the facts of a predicate are, with the indices that a search needs."""
    middle = 1 if relation == TRIPLES else 0
    start, end = (0, 2) if relation == TRIPLES else (1, 2)
    from_columns, to_columns = sorted((middle, start)), sorted((middle, end))
    return Edges(
        relation,
        predicate,
        middle,
        start,
        end,
        store.index(relation, from_columns, bits.EDGE),
        store.index(relation, from_columns),
        store.index(relation, to_columns),
    )


def without_near_detours(
    rows: layout.StoredRows, edges: Edges, lost: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The lost edges whose ends are not seen, by a short search, to be connected without them."""
    key = np.zeros(2, np.int32)
    far = [
        not is_connected(rows, edges, start, end, _room_for(FEWEST_POINTS), key)
        for start, end in lost[:, [edges.start_column, edges.end_column]].tolist()
    ]
    left: NDArray[np.int32] = lost[np.array(far)]
    return left


def region_of(rows: layout.StoredRows, edges: Edges, lost: NDArray[np.int32]) -> Region:
    """The region from which these lost edges could be reached."""
    key = np.zeros(2, np.int32)
    room = FEWEST_POINTS
    while True:
        region = _room_for(room)
        count = int(number_points(rows, edges, lost, region, key))
        if count <= room:
            break
        room = 1 << (count - 1).bit_length()
    room = len(region.ends)
    while True:
        found = int(lay_out_ends(rows, edges, region, count, key))
        if found <= room:
            break
        room = found
        region = region._replace(ends=np.empty(room, np.int64))
    return region._replace(
        points=region.points[:count], first=region.first[: count + 1], ends=region.ends[:found]
    )


def _room_for(points: int) -> Region:
    """Room for a power of two of points."""
    return Region(
        np.zeros((2 * points, 3), np.int64),
        np.empty(points, np.int64),
        np.empty(points + 1, np.int64),
        np.empty(4 * points, np.int64),
    )


def parts_of(region: Region) -> Parts:
    """The parts of a region."""
    count = len(region.points)
    ints = np.zeros((5, count), np.int64)
    parts = Parts(
        np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count + 1, np.int64)
    )
    found = int(find_parts(region, parts, ints))
    return parts._replace(first=parts.first[: found + 1])
