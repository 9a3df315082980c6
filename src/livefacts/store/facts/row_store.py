"""The row store: facts as rows of ids, with hash indices on demand.

One relation per shape of fact.  The store owns the arrays, makes room before kernels
need it, and adds an index the first time a plan asks for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from livefacts.store.critical_sections import uninterrupted
from livefacts.store.facts import bits, layout, row_kernels

Ids = NDArray[np.int32]
TRIPLES = 0
"""The shape of triples, and the number of their relation; shape 1 + n is that of predicate facts
of arity n, whose relation has a number in the order of first use."""
SMALLEST_TABLE = 1 << 6
FEWEST_ROWS = 64


class RowStore:
    """All relations of one engine.

    >>> store = RowStore()
    >>> store.make_room(TRIPLES, 2)
    >>> store.find(TRIPLES, np.array([[1, 2, 3]], np.int32))
    array([0])
    """

    def __init__(self, spare: int = 0) -> None:
        """`spare` cells in each row, behind its columns, are for whoever makes the store."""
        self._spare = spare
        self.rows = layout.StoredRows(
            np.zeros((0, layout.RELATION_FIELDS), np.int64),
            np.zeros((0, layout.KEY + 4), np.int64),
        )
        self._data: list[Ids] = []
        self._slots: list[NDArray[np.int64]] = []
        self._tags = np.zeros(row_kernels.BLOCK, np.int64)
        self._found = np.zeros(64, np.int64)
        self._indices: dict[tuple[int, tuple[int, ...], int], int] = {}
        self.relations: dict[int, int] = {}
        """Relation numbers by shape."""
        self._shapes: list[int] = []
        self.relation(TRIPLES)

    # relations

    def relation(self, shape: int) -> int:
        """The number of the relation for a shape (TRIPLES, or 1 + arity), made if new."""
        number = self.relations.get(shape)
        if number is None:
            number = self._add_relation(3 if shape == TRIPLES else shape)
            self.relations[shape] = number
            self._shapes.append(shape)
        return number

    def has(self, shape: int) -> bool:
        """Whether there are facts of this shape."""
        number = self.relations.get(shape)
        return number is not None and self.live(number) > 0

    def shape(self, relation: int) -> int:
        """The shape of the facts of a relation."""
        return self._shapes[relation]

    @uninterrupted
    def _add_relation(self, columns: int) -> int:
        relations, indices = self.rows
        line = np.zeros((1, relations.shape[1]), np.int64)
        line[0, layout.STRIDE] = layout.COLUMN + columns + self._spare
        line[0, [layout.COLUMNS, layout.HIGH]] = columns, 1
        widened = np.zeros((len(indices), max(indices.shape[1], layout.KEY + columns)), np.int64)
        widened[:, : indices.shape[1]] = indices
        self.rows = layout.StoredRows(np.concatenate([relations, line]), widened)
        self._data.append(np.zeros(0, np.int32))
        number = len(relations)
        self._set_capacity(number, FEWEST_ROWS)
        self._add_index(number, tuple(range(columns)))
        return number

    def width(self, relation: int) -> int:
        return int(self.rows.relations[relation, layout.COLUMNS])

    def live(self, relation: int) -> int:
        """How many rows hold a fact."""
        return int(self.rows.relations[relation, layout.LIVE_ROWS])

    @property
    def count(self) -> int:
        return len(self._data)

    # indices

    def index(self, relation: int, columns: Sequence[int], wanted: int = 0) -> int:
        """The number of the index on these columns, built if it is not there.

        With `wanted`, it holds only the rows that have these flags.
        """
        number = self._indices.get((relation, tuple(columns), wanted))
        return self._add_index(relation, tuple(columns), wanted) if number is None else number

    def has_index(self, relation: int, columns: Sequence[int]) -> bool:
        """Whether there is an index on these columns for all rows."""
        return (relation, tuple(columns), 0) in self._indices

    def widest_index(self, relation: int, columns: Sequence[int]) -> tuple[int, ...]:
        """The columns of the index on most of these columns, for all rows; () if there is none."""
        fitting = [
            known
            for number, known, wanted in self._indices
            if number == relation and not wanted and set(known) <= set(columns)
        ]
        return max(fitting, key=len, default=())

    def has_index_room(self, relation: int, columns: Sequence[int], wanted: int = 0) -> bool:
        """Whether an index on these columns is there or can still be added for a plan."""
        known = (relation, tuple(columns), wanted) in self._indices
        return known or bool(
            self.rows.relations[relation, layout.INDEX_COUNT] < layout.MOST_PLANNED
        )

    @uninterrupted
    def _add_index(self, relation: int, columns: tuple[int, ...], wanted: int = 0) -> int:
        relations, indices = self.rows
        place = int(relations[relation, layout.INDEX_COUNT])
        assert place < layout.MOST_INDICES, "the planner asks has_index_room first"
        link = 0
        if place:
            link = int(relations[relation, layout.STRIDE])
            self._widen(relation, link + 2)
        size = _table_size(self.live(relation) + layout.OUT_ROWS if place else SMALLEST_TABLE)
        slots = np.zeros(size, np.int64)
        line = np.zeros((1, indices.shape[1]), np.int64)
        line[0, [layout.SLOTS, layout.MASK]] = _address(slots), size - 1
        line[0, [layout.LINK, layout.WANTED, layout.KEYS]] = link, wanted, len(columns)
        line[0, layout.KEY : layout.KEY + len(columns)] = columns
        number = len(indices)
        relations[relation, layout.INDEX + place] = number
        relations[relation, layout.INDEX_COUNT] += 1
        self.rows = layout.StoredRows(relations, np.concatenate([indices, line]))
        self._slots.append(slots)
        self._indices[relation, columns, wanted] = number
        if place and self.live(relation):
            block = np.zeros(row_kernels.BLOCK, np.int64)
            row_kernels.link_all(self.rows, relation, number, self._tags, block)
        return number

    # room

    def make_room(self, relation: int, more: int) -> None:
        """Let this relation and its indices take `more` new rows."""
        line = self.rows.relations[relation]
        if line[layout.HIGH] + more >= line[layout.CAPACITY]:
            self._set_capacity(
                relation, _grown(int(line[layout.CAPACITY]), int(line[layout.HIGH]) + more + 1)
            )
        for place in range(int(line[layout.INDEX_COUNT])):
            self._make_index_room(int(line[layout.INDEX + place]), more)

    def expect(self, relation: int, more: int) -> None:
        """Make room for `more` rows at once; secondary indices grow as keys turn up."""
        line = self.rows.relations[relation]
        if line[layout.HIGH] + more >= line[layout.CAPACITY]:
            self._set_capacity(relation, int(line[layout.HIGH]) + more + 1)
        self._make_index_room(int(line[layout.INDEX]), more)

    @uninterrupted
    def _set_capacity(self, relation: int, capacity: int) -> None:
        line = self.rows.relations[relation]
        data = self._data[relation]
        data.resize(capacity * int(line[layout.STRIDE]), refcheck=False)
        line[layout.ADDRESS], line[layout.CAPACITY] = _address(data), capacity

    @uninterrupted
    def _make_index_room(self, index: int, more: int) -> None:
        line = self.rows.indices[index]
        if (line[layout.USED] + more) * 10 <= (line[layout.MASK] + 1) * 7:
            return
        slots = np.zeros(_table_size(int(line[layout.USED]) + more), np.int64)
        if line[layout.USED]:
            row_kernels.rehash(self._slots[index], slots)
        self._slots[index] = slots
        line[layout.SLOTS], line[layout.MASK] = _address(slots), len(slots) - 1

    @uninterrupted
    def _widen(self, relation: int, stride: int) -> None:
        line = self.rows.relations[relation]
        old = self._data[relation]
        new = np.zeros(int(line[layout.CAPACITY]) * stride, np.int32)
        if line[layout.HIGH] > 1:
            row_kernels.relay(old, int(line[layout.STRIDE]), new, stride, int(line[layout.HIGH]))
        self._data[relation] = new
        line[layout.ADDRESS], line[layout.STRIDE] = _address(new), stride

    # reading

    def cells(self, relation: int) -> Ids:
        """A view of all rows of a relation, row 0 (never used) included."""
        line = self.rows.relations[relation]
        high, stride = int(line[layout.HIGH]), int(line[layout.STRIDE])
        return self._data[relation][: high * stride].reshape(high, stride)

    def flags(self, relation: int) -> Ids:
        return self.cells(relation)[:, layout.FLAGS]

    def slots(self, index: int) -> NDArray[np.int64]:
        """The slots of an index, each a tag and a row number, or 0."""
        return self._slots[index]

    def columns(self, relation: int, rows: NDArray[Any]) -> Ids:
        """The column values of these rows."""
        found = np.empty((len(rows), self.width(relation)), np.int32)
        numbers = np.ascontiguousarray(rows, np.int64)
        row_kernels.read_columns(self.rows, relation, numbers, found)
        return found

    def with_flags(self, relation: int, wanted: int = bits.LIVE) -> NDArray[np.int64]:
        """The numbers of the rows that have all these flags."""
        mask = (self.flags(relation) & wanted) == wanted
        mask[0] = False
        return np.flatnonzero(mask)

    def piece(self, relation: int, first: int, end: int) -> tuple[Ids, Ids] | None:
        """The facts in the rows from one number to another, and their flags; None: there are none.

        A fact has the same row as long as it is stored.
        """
        high = int(self.rows.relations[relation, layout.HIGH])
        if first >= high:
            return None
        flags = self.flags(relation)[first:end]
        live = np.flatnonzero(flags & bits.LIVE)
        live = live[live + first > 0]
        return self.columns(relation, live + first), np.ascontiguousarray(flags[live])

    def all_ids(self) -> Iterator[Ids]:
        """The ids of all facts, relation by relation."""
        for relation in range(self.count):
            yield self.columns(relation, self.with_flags(relation))

    def find(self, relation: int, facts: Ids) -> NDArray[np.int64]:
        """The row of each fact, 0 where it is not stored."""
        found = np.zeros(len(facts), np.int64)
        flat = np.ascontiguousarray(facts, np.int32).reshape(-1)
        row_kernels.find_facts(self.rows, relation, flat, len(facts), found, self._tags)
        return found

    def find_flags(self, relation: int, facts: Ids) -> Ids:
        """The flags of each fact, 0 where it is not stored."""
        found = np.empty(len(facts), np.int32)
        flat = np.ascontiguousarray(facts, np.int32).reshape(-1)
        row_kernels.find_flags(self.rows, relation, flat, len(facts), found, self._tags)
        return found

    def chain(self, relation: int, index: int, key: Sequence[int]) -> NDArray[np.int64]:
        """The rows whose key columns under an index have these values."""
        values = np.array(key, np.int32)
        while True:
            count = row_kernels.chain_rows(self.rows, relation, index, values, self._found)
            if count <= len(self._found):
                return self._found[:count].copy()
            self._found = np.zeros(2 * count, np.int64)

    def insert(self, relation: int, facts: Ids) -> None:
        """Store facts that are not there, each once."""
        self.make_room(relation, len(facts))
        self.put(relation, facts)

    def put(self, relation: int, facts: Ids) -> None:
        """The same, where room was made before."""
        flat = np.ascontiguousarray(facts, np.int32).reshape(-1)
        row_kernels.insert_facts(self.rows, relation, flat, len(facts), self._tags)

    def remove(self, relation: int, row: int) -> None:
        row_kernels.remove_row(self.rows, relation, row)

    def nbytes(self) -> int:
        """Bytes in use by rows and indices."""
        rows = sum(self.cells(number).nbytes for number in range(self.count))
        return rows + sum(slots.nbytes for slots in self._slots)


def _address(array: NDArray[Any]) -> int:
    """Where an array is; `ctypes` makes objects of Python to say so."""
    found: int = array.__array_interface__["data"][0]
    return found


def _table_size(entries: int) -> int:
    """The least power of two that is at most 70 % full with these entries."""
    size = SMALLEST_TABLE
    while entries * 10 > size * 7:
        size *= 2
    return size


def _grown(capacity: int, needed: int) -> int:
    return max(needed, capacity * 2 if capacity < 1 << 20 else capacity + capacity // 4)
