"""Snapshots: the rows of one version, and how one version follows another.

A version is a few runs, each several times as long as the next; a row is there if the signs of
its occurrences sum to one.  What changes bring waits until somebody asks, then becomes the
newest run, and runs of similar length are merged: a row is moved a logarithmic number of times.
A snapshot holds its runs, so nothing that it shows can change or go away; a reader needs no lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from livefacts.store.facts.row_sets import distinct_ids
from livefacts.store.machine_code import described
from livefacts.store.versions.signed_runs import Run
from livefacts.store.versions.sorted_orders import (
    FEW,
    OSP,
    PLACES,
    POS,
    PSO,
    SPO,
    WIDTH,
    Ids,
    SortedOrder,
    merged,
)

RATIO = 8
"""A run is merged with the one before it unless that is so many times as long."""
SHORT = 256
"""Runs up to this length are merged whatever their ratio."""
FIELDS = 7
KEYS, KEY_COUNT, STARTS, SECOND, THIRD, SIGNS, ROWS = range(FIELDS)
ORDERS = 4
FEW_GRAPHS = 16
NO_IDS = np.zeros(0, np.int32)
NO_TRIPLES = np.zeros((0, 3), np.int32)
NO_QUADS = np.zeros((0, 4), np.int32)
_KINDS: dict[tuple[bool, ...], int] = {
    (False, False, False): PSO,
    (False, True, False): PSO,
    (True, True, False): PSO,
    (True, True, True): PSO,
    (False, True, True): POS,
    (True, False, False): SPO,
    (False, False, True): OSP,
    (True, False, True): OSP,
}
"""The order in which the triples of a pattern lie together, by which of its places are known."""


class Snapshot:
    """The rows of one version: triples, or facts of one shape."""

    def __init__(self, runs: Sequence[Run], width: int = WIDTH) -> None:
        self.runs = tuple(runs)
        self._width = width
        self.table = np.zeros((ORDERS * len(self.runs), FIELDS), np.int64)
        """Where the columns are, for kernels: a line for each order and run."""
        self.place = described([self.table])
        self._ready = 0
        """The orders that are made, as bits."""
        self._nodes: Ids | None = None
        self.count = sum(run.count for run in self.runs)
        """The number of rows, those that take others back included."""

    def make(self, kinds: int) -> None:
        """Make the orders whose bits are set, unless they are there."""
        missing = kinds & ~self._ready
        for kind in range(ORDERS) if missing else ():
            if missing >> kind & 1:
                for number, run in enumerate(self.runs):
                    self.table[kind * len(self.runs) + number] = _described(run.order(kind))
                self._ready |= 1 << kind

    def distinct(self, place: int, predicate: object) -> int:
        """About how many terms stand in a place of the triples of a predicate, or of all."""
        if not self.runs:
            return 0
        return self.runs[0].distinct(place, predicate if isinstance(predicate, int) else None)

    def nodes(self) -> Ids:
        """Every term that is a subject or an object, each once."""
        if self._nodes is None:
            if len(self.runs) == 1 and self.count >= FEW:
                ends = [run.order(kind).keys for run in self.runs for kind in (SPO, OSP)]
            else:
                rows = self.rows()
                ends = [rows[:, 0], rows[:, 2]]
            self._nodes = distinct_ids(np.concatenate([NO_IDS, *ends]))
        return self._nodes

    def are_nodes(self, ids: Ids) -> NDArray[np.bool_]:
        """Which terms are subjects or objects."""
        return np.isin(ids, self.nodes())

    def firsts(self, kind: int, key: int) -> Ids:
        """The second values of an order that stand with a first one; some may be gone by now."""
        found = [NO_IDS]
        for run in self.runs:
            order = run.order(kind)
            found.append(order.second[slice(*order.range_of(key))])
        return distinct_ids(np.concatenate(found))

    @property
    def nbytes(self) -> int:
        return sum(run.nbytes for run in self.runs)

    @property
    def size(self) -> int:
        """The number of rows that are there."""
        signs = [run.signs for run in self.runs]
        return self.count - sum(2 * int(np.count_nonzero(each < 0)) for each in signs)

    def holds(self, row: Sequence[int]) -> bool:
        """Whether a row is there."""
        return sum(run.sign_of(row) for run in self.runs) > 0

    def rows(self) -> Ids:
        """All rows, in some order."""
        if not self.runs:
            return np.zeros((0, self._width), np.int32)
        run = self.runs[0]
        for newer in self.runs[1:]:
            run = run.with_newer(newer, 1)
        return run.rows()

    def matching(self, pattern: Sequence[int]) -> Ids:
        """The triples that have the ids of a pattern, in which -1 stands for any."""
        kind = _KINDS[tuple(each >= 0 for each in pattern)]
        known = [pattern[place] for place in PLACES[kind] if pattern[place] >= 0]
        if not known:
            return self.rows()
        parts = [part for run in self.runs if (part := run.order(kind).part_with(known)).size]
        return Run.of({kind: reduce(merged, parts)}).rows() if parts else NO_TRIPLES


def _described(order: SortedOrder) -> list[int]:
    signs = order.signs.ctypes.data if len(order.signs) else 0
    return [
        order.keys.ctypes.data,
        len(order.keys),
        order.starts.ctypes.data,
        order.second.ctypes.data,
        order.third.ctypes.data,
        signs,
        order.size,
    ]


def of_rows(rows: Ids) -> Snapshot:
    """A snapshot of these rows."""
    return Snapshot([Run(rows)] if len(rows) else [], rows.shape[1])


@dataclass(frozen=True)
class GraphSnapshots:
    """One version of all graphs: what is true, and what named graphs assert, by their names' ids."""

    everything: Snapshot
    named: Mapping[int, Snapshot] = field(default_factory=dict)

    def quads_matching(self, pattern: Sequence[int]) -> Ids:
        """The quads of named graphs that have the ids of a pattern, in which -1 stands for any."""
        found = [NO_QUADS]
        for name, graph in self.named.items():
            if pattern[3] in (-1, name):
                rows = graph.matching(pattern[:3])
                found.append(np.column_stack([rows, np.full(len(rows), name, np.int32)]))
        return np.concatenate(found)

    def having(self, ids: Sequence[int]) -> Iterable[tuple[int, Snapshot]]:
        """The named graphs in which each of these ids is a subject or an object.

        Others may be among them where there are few graphs.
        """
        if not ids or len(self.named) < FEW_GRAPHS:
            return self.named.items()
        names, nodes = self._nodes
        found = set(self.named)
        for each in ids:
            found &= set(names[nodes == each].tolist())
        return [(name, self.named[name]) for name in sorted(found)]

    @cached_property
    def _nodes(self) -> tuple[Ids, Ids]:
        """The name of a graph and a node of it, for all named graphs and their nodes."""
        nodes = [graph.nodes() for graph in self.named.values()]
        names = np.fromiter(self.named, np.int32, len(nodes))
        return np.repeat(names, [len(each) for each in nodes]), np.concatenate(nodes)


def graphs_of(triples: Ids, quads: Ids = NO_QUADS) -> GraphSnapshots:
    """Snapshots of triples that are true, and of the quads of named graphs."""
    named = {name: of_rows(rows) for name, rows in by_graph(quads).items()}
    return GraphSnapshots(of_rows(triples), named)


def by_graph(quads: Ids) -> dict[int, Ids]:
    """The triples of each graph."""
    by = np.argsort(quads[:, 3], kind="stable")
    names, firsts = np.unique(quads[by, 3], return_index=True)
    triples = np.ascontiguousarray(quads[by, :3])
    # Each has rows of its own: a graph that changes does not keep those of all others.
    parts = [part.copy() for part in np.split(triples, firsts[1:])]
    return dict(zip(names.tolist(), parts, strict=False))


class Versions:
    """The versions of a set of rows: what changes is noted, and who asks gets the newest one.

    `everything` gives all rows as they are now; it is called when there is no version yet, or
    so much has changed since the last that starting anew is cheaper.  Whoever has it lets one
    thread in at a time; snapshots are read by any.
    """

    def __init__(self, everything: Callable[[], Ids], *, may_forget: bool = True) -> None:
        self._everything = everything
        self._may_forget = may_forget
        self._current: Snapshot | None = None
        self._waiting: list[tuple[Ids, int]] = []
        self._waiting_rows = 0

    @property
    def is_followed(self) -> bool:
        """Whether there is a version that changes must be told to."""
        return self._current is not None

    def begin(self, rows: Ids) -> None:
        """These are all rows there are."""
        self._current = of_rows(rows)

    @staticmethod
    def beginning(rows: Ids) -> Versions:
        """Versions of rows of which everything is noted here, and nothing is kept elsewhere."""
        versions = Versions(lambda: NO_TRIPLES, may_forget=False)
        versions.begin(rows)
        return versions

    def note(self, added: Ids, removed: Ids) -> None:
        """What a change has added and removed; the next snapshot has it."""
        if self._current is None:
            return
        self._waiting += [(rows, sign) for rows, sign in ((removed, -1), (added, 1)) if len(rows)]
        self._waiting_rows += len(added) + len(removed)
        if self._may_forget and self._waiting_rows > SHORT + self._current.count // 2:
            self._current, self._waiting, self._waiting_rows = None, [], 0

    def snapshot(self) -> Snapshot:
        """The version of now."""
        if self._current is None:
            self.begin(self._everything())
        assert self._current is not None, "it has begun"
        if self._waiting:
            grown = _grown(self._current.runs, _net(self._waiting))
            self._current = Snapshot(grown, self._waiting[0][0].shape[1])
            self._waiting, self._waiting_rows = [], 0
        return self._current


def _net(changes: Sequence[tuple[Ids, int]]) -> Run:
    """Changes, one after the other, as one run without those that undo each other."""
    rows = np.concatenate([each for each, _ in changes])
    signs = np.concatenate([np.full(len(each), sign, np.int8) for each, sign in changes])
    by = np.lexsort(rows.T[::-1])
    rows, signs = rows[by], signs[by]
    begins = np.flatnonzero(np.r_[True, (rows[1:] != rows[:-1]).any(axis=1)])
    sums = np.add.reduceat(signs, begins)
    kept: NDArray[np.bool_] = sums != 0
    return Run(np.ascontiguousarray(rows[begins[kept]]), sums[kept].astype(np.int8))


def _grown(runs: Sequence[Run], newest: Run) -> list[Run]:
    grown = [*runs, newest] if newest.count else list(runs)
    while len(grown) > 1 and _belong_together(grown[-2], grown[-1]):
        newer = grown.pop()
        grown[-1] = grown[-1].with_newer(newer)
    return [run for run in grown if run.count]


def _belong_together(older: Run, newer: Run) -> bool:
    return newer.count * RATIO > older.count or older.count + newer.count <= SHORT
