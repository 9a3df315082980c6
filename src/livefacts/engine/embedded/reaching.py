"""Transitive rules under loss: which pairs are still connected when edges go.

An edge between two points that stay connected in another way changes nothing: every path
over it has a detour.  Only for the others, all points from which the lost edge could be
reached search again along the edges that are left.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.store.compiled import inlined, kernel, load_int32, store_int32
from livefacts.store.layout import (
    ASSERTED,
    CLOSED,
    COLUMN,
    EDGE,
    ENDED,
    FLAGS,
    LINK,
    PLAIN,
    REACHED,
    REACHED_LATER,
    RECURSIVE,
    SINGLE,
    VISIBLE,
)
from livefacts.store.rowkernels import find, find_fact, row_address
from livefacts.store.rows import TRIPLES, RowStore


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


@inlined
def set_key(edges: Any, point_column: Any, point: Any, key: Any) -> Any:
    """The key of an index on the predicate and one end, in the order of columns."""
    if edges.predicate_column < point_column:
        key[0], key[1] = edges.predicate, point
    else:
        key[0], key[1] = point, edges.predicate


@inlined
def set_pair(edges: Any, start: Any, end: Any, key: Any) -> Any:
    key[edges.predicate_column] = edges.predicate
    key[edges.start_column] = start
    key[edges.end_column] = end


@inlined
def is_standing_edge(cells: Any) -> Any:
    flags = load_int32(cells, FLAGS)
    return flags & VISIBLE and not flags & ENDED and has_reason(cells, flags)


@inlined
def has_reason(cells: Any, flags: Any) -> Any:
    """Whether a row is an edge now, whatever its flag still says."""
    counts = load_int32(cells, PLAIN) + load_int32(cells, RECURSIVE) + load_int32(cells, SINGLE)
    return flags & ASSERTED != 0 or counts > 0


@inlined
def mark(rows: Any, edges: Any, start: Any, end: Any, marks: Any, key: Any) -> Any:
    """Mark the pair of two points; whether it was unmarked before."""
    set_pair(edges, start, end, key)
    row = find_fact(rows, edges.relation, key, 0)
    if row == 0:
        return False
    cells = row_address(rows, edges.relation, row)
    flags = load_int32(cells, FLAGS)
    store_int32(cells, FLAGS, np.int32(flags | marks))
    return flags & REACHED == 0


@kernel
def search(rows: Any, edges: Any, start: Any, stack: Any, key: Any) -> Any:
    """Mark every pair that begins in `start` and still has a path; -1 if the stack is full."""
    link = rows.indices[edges.edges_from, LINK]
    top = 0
    at = -1
    point = start
    while True:
        set_key(edges, edges.start_column, point, key)
        row = find(rows, edges.relation, edges.edges_from, key, 0)
        marks = REACHED if at < 0 else REACHED | REACHED_LATER
        while row:
            cells = row_address(rows, edges.relation, row)
            if is_standing_edge(cells):
                end = load_int32(cells, COLUMN + edges.end_column)
                if mark(rows, edges, start, end, marks, key):
                    if top == stack.shape[0]:
                        return -1
                    stack[top] = end
                    top += 1
            row = np.int64(load_int32(cells, link))
        at += 1
        if at == top:
            return top
        point = np.int64(stack[at])


@kernel
def clear_marks(rows: Any, edges: Any, start: Any, key: Any, lost: Any, count: Any) -> Any:
    """Unmark the pairs of a start; collect those whose transitive reason is gone, if asked."""
    link = rows.indices[edges.pairs_from, LINK]
    set_key(edges, edges.start_column, start, key)
    row = find(rows, edges.relation, edges.pairs_from, key, 0)
    while row:
        cells = row_address(rows, edges.relation, row)
        flags = load_int32(cells, FLAGS)
        if flags & CLOSED and not flags & (REACHED_LATER | ENDED):
            if count < lost.shape[0]:
                lost[count] = row
            count += 1
        store_int32(cells, FLAGS, np.int32(flags & ~(REACHED | REACHED_LATER)))
        row = np.int64(load_int32(cells, link))
    return count


class TransitiveLosses:
    """Finds what a transitive rule no longer derives."""

    def __init__(self, store: RowStore) -> None:
        self._store = store
        self._stack = np.zeros(256, np.int32)
        self._key = np.zeros(16, np.int32)
        self._lost = np.zeros(256, np.int64)

    def edges_of(self, relation: int, cells: NDArray[np.int32]) -> Edges:
        """Where the facts like this one are, with the indices that a search needs."""
        middle = 1 if relation == TRIPLES else 0
        start, end = (0, 2) if relation == TRIPLES else (1, 2)
        from_columns, to_columns = sorted((middle, start)), sorted((middle, end))
        return Edges(
            relation,
            int(cells[COLUMN + middle]),
            middle,
            start,
            end,
            self._store.index(relation, from_columns, EDGE),
            self._store.index(relation, from_columns),
            self._store.index(relation, to_columns),
        )

    def lost_rows(self, entries: NDArray[np.int64]) -> dict[int, list[int]]:
        """By relation, the rows that lose their transitive reason with these lost edges."""
        found: dict[int, list[int]] = {}
        by_edges: dict[Edges, list[tuple[int, int]]] = {}
        for entry in entries.tolist():
            relation, row = entry >> 32, entry & 0xFFFFFFFF
            cells = self._store.cells(relation)[row].copy()
            edges = self.edges_of(relation, cells)
            ends = int(cells[COLUMN + edges.start_column]), int(cells[COLUMN + edges.end_column])
            by_edges.setdefault(edges, []).append(ends)
        for edges, pairs in by_edges.items():
            found.setdefault(edges.relation, []).extend(self._lost_pairs(edges, pairs))
        return found

    def _lost_pairs(self, edges: Edges, pairs: list[tuple[int, int]]) -> list[int]:
        starts: set[int] = set()
        for start, end in pairs:
            if start in starts or self._reaches(edges, start, end):
                continue
            starts.add(start)
            starts.update(self._starts_to(edges, start))
        lost: list[int] = []
        for start in sorted(starts):
            with self._unmarked(edges, start):
                self._search(edges, start)
                lost.extend(self._collect(edges, start))
        return lost

    @contextmanager
    def _unmarked(self, edges: Edges, start: int) -> Iterator[None]:
        """Whatever happens, no mark of a search stays behind."""
        try:
            yield
        except BaseException:
            clear_marks(self._store.rows, edges, start, self._key, self._lost[:0], 0)
            raise

    def _reaches(self, edges: Edges, start: int, end: int) -> bool:
        with self._unmarked(edges, start):
            self._search(edges, start)
        pair = np.zeros((1, 3), np.int32)
        columns = [edges.predicate_column, edges.start_column, edges.end_column]
        pair[0, columns] = edges.predicate, start, end
        row = int(self._store.find(edges.relation, pair)[0])
        reached = row and self._store.cells(edges.relation)[row, FLAGS] & REACHED != 0
        clear_marks(self._store.rows, edges, start, self._key, self._lost[:0], 0)
        return bool(reached)

    def _search(self, edges: Edges, start: int) -> None:
        while search(self._store.rows, edges, start, self._stack, self._key) < 0:
            clear_marks(self._store.rows, edges, start, self._key, self._lost[:0], 0)
            self._stack = np.zeros(2 * len(self._stack), np.int32)

    def _collect(self, edges: Edges, start: int) -> list[int]:
        rows = self._store.rows
        while True:
            count = clear_marks(rows, edges, start, self._key, self._lost, 0)
            if count <= len(self._lost):
                return self._lost[:count].tolist()  # type: ignore[no-any-return]
            self._lost = np.zeros(2 * count, np.int64)
            self._search(edges, start)

    def _starts_to(self, edges: Edges, end: int) -> list[int]:
        """The points from which a point was reached before the loss."""
        is_first = edges.predicate_column < edges.end_column
        self._key[:2] = (edges.predicate, end) if is_first else (end, edges.predicate)
        row = int(find(self._store.rows, edges.relation, edges.pairs_to, self._key, 0))
        link = int(self._store.rows.indices[edges.pairs_to, LINK])
        cells, found = self._store.cells(edges.relation), []
        while row:
            found.append(int(cells[row, COLUMN + edges.start_column]))
            row = int(cells[row, link])
        return found
