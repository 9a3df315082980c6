"""Join workers: joins, and semi-joins and anti-joins (rows whose key is, or is not, among others).

Both sides are kept, by what they are looked up by.  Where a column may be unbound, rows
are kept apart by which of their columns are bound, so that every lookup is by values that
both sides have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import numpy as np
from pyoxigraph import Literal

from livefacts.engine.contract import Flags
from livefacts.engine.flow.bags import UNBOUND, Bag, Key, Row, add_to, key_getter, tuple_getter
from livefacts.engine.flow.first_rows import CountTable, FirstRows, RowTable, bag_of, rows_of
from livefacts.engine.patterns.signed_rows import SignedRows
from livefacts.plan.continuous.flow import Combine, Keep, Mark
from livefacts.store.terms.dictionary import Dictionary

Table = dict[Key, Bag]


class JoinSide:
    """The rows of one side of a join, kept for lookups from the other side."""

    def __init__(self, agreeing: Sequence[int], equal: Sequence[int]) -> None:
        self._agreeing = agreeing
        self._equal = equal
        # By which of the agreeing columns are bound: tables by which of them are looked at.
        self._tables: dict[int, dict[int, Table]] = {}
        self._getters: dict[int, Callable[[Row], Key]] = {}
        self._all = (1 << len(agreeing)) - 1
        self._size = 0
        self.exact_key = key_getter(equal)
        self.exact = RowTable(self.exact_key)
        """The rows by their key, where no column may be unbound."""

    @property
    def size(self) -> int:
        """How many rows are kept."""
        return self._size + self.exact.size

    def fill(self, rows: SignedRows) -> FirstRows:
        """Keep rows at the beginning, where no column may be unbound."""
        self.exact.first = FirstRows(rows, self._equal)
        return self.exact.first

    def mask(self, row: Row) -> int:
        """Which of the agreeing columns are bound, as bits."""
        found = self._all
        for bit, column in enumerate(self._agreeing):
            if row[column] == UNBOUND:
                found &= ~(1 << bit)
        return found

    def key(self, row: Row, looked_at: int) -> Key:
        """What a row is looked up by, when so many of its columns are looked at."""
        getter = self._getters.get(looked_at)
        if getter is None:
            columns = [c for bit, c in enumerate(self._agreeing) if looked_at >> bit & 1]
            getter = self._getters[looked_at] = key_getter([*self._equal, *columns])
        return getter(row)

    def change(self, row: Row, count: int) -> None:
        """Keep a row so many times more, or less."""
        mask = self.mask(row)
        tables = self._tables.setdefault(mask, {mask: {}})
        for looked_at, table in tables.items():
            key = self.key(row, looked_at)
            bag = table.setdefault(key, {})
            before = len(bag)
            add_to(bag, row, count)
            if looked_at == mask:
                self._size += len(bag) - before
            if not bag:
                del table[key]

    def agreeing_with(self, row: Row, other: JoinSide) -> Iterator[Bag]:
        """The rows of this side that agree with a row of the other."""
        mask = other.mask(row)
        for own in self._tables:
            bag = self._table(own, own & mask).get(other.key(row, own & mask))
            if bag:
                yield bag

    def rows(self) -> Iterator[Row]:
        """The rows that are kept."""
        yield from self.exact.rows()
        for mask, tables in self._tables.items():
            yield from chain.from_iterable(tables[mask].values())

    def _table(self, mask: int, looked_at: int) -> Table:
        tables = self._tables[mask]
        table = tables.get(looked_at)
        if table is None:
            table = tables[looked_at] = {}
            for bag in tables[mask].values():
                for row, count in bag.items():
                    table.setdefault(self.key(row, looked_at), {})[row] = count
        return table


class Combiner:
    """Follows a `Combine`: d(A x B) = dA x B + A' x dB, with A' as A is afterwards."""

    def __init__(self, operator: Combine) -> None:
        self._left = JoinSide(*_columns(operator, 0))
        self._right = JoinSide(*_columns(operator, 1))
        self._agreeing = operator.agreeing
        self._equal = [pair[0] for pair in operator.equal]
        self._right_only = list(operator.right_only)
        self._rest = tuple_getter(operator.right_only)
        self.looked_at = 0

    def fill(self, left: SignedRows, right: SignedRows) -> SignedRows:
        """All pairs of the rows that are there when it begins."""
        if self._agreeing:
            made = self.apply(bag_of(left), bag_of(right))
            return rows_of(made, left.rows.shape[1] + len(self._right_only))
        self._left.fill(left)
        lefts, found = self._right.fill(right).pairs(left.rows, self._equal)
        self.looked_at += len(lefts)
        rows = np.concatenate([left.rows[lefts], found.rows[:, self._right_only]], axis=1)
        return SignedRows(rows, left.counts[lefts] * found.counts)

    def apply(self, *bags: Bag) -> Bag:
        """The pairs that come and go with rows of both sides."""
        left, right = bags
        if not self._agreeing:
            return self._exactly(left, right)
        made: Bag = {}
        for row, count in left.items():
            for bag in self._right.agreeing_with(row, self._left):
                self.looked_at += len(bag)
                for other, others in bag.items():
                    add_to(made, self._pair(row, other), count * others)
            self._left.change(row, count)
        for row, count in right.items():
            for bag in self._left.agreeing_with(row, self._right):
                self.looked_at += len(bag)
                for other, others in bag.items():
                    add_to(made, self._pair(other, row), count * others)
            self._right.change(row, count)
        return made

    def _exactly(self, left: Bag, right: Bag) -> Bag:
        """The same where no column may be unbound: pairs of one side's rows are all different."""
        made: Bag = {}
        rest, ours, theirs = self._rest, self._left, self._right
        for side in (ours, theirs):
            side.exact.expect(len(left) + len(right))
        for row, count in left.items():
            key = ours.exact_key(row)
            bag = theirs.exact[key]
            if bag:
                self.looked_at += len(bag)
                for other, others in bag.items():
                    made[row + rest(other)] = count * others
            ours.exact.change(key, row, count)
        for row, count in right.items():
            key = theirs.exact_key(row)
            bag = ours.exact[key]
            if bag:
                self.looked_at += len(bag)
                for other, others in bag.items():
                    add_to(made, other + rest(row), count * others)
            theirs.exact.change(key, row, count)
        return made

    def _pair(self, left: Row, right: Row) -> Row:
        if UNBOUND in left:
            values = list(left)
            for here, there in self._agreeing:
                if values[here] == UNBOUND:
                    values[here] = right[there]
            left = tuple(values)
        return left + self._rest(right)

    def rows(self) -> Iterator[Row]:
        """The rows of both sides."""
        return chain(self._left.rows(), self._right.rows())

    @property
    def size(self) -> int:
        """How many rows are kept."""
        return self._left.size + self._right.size


class SupportedRows:
    """Rows by their keys, and how often each key is supported."""

    def __init__(self, keys: Sequence[int]) -> None:
        self._keys = keys
        self._key = tuple_getter(keys)
        self._rows = RowTable(self._key)
        self._support = CountTable()
        self.looked_at = 0

    @property
    def size(self) -> int:
        """How many rows are kept, and how many keys have support."""
        return self._rows.size + self._support.size

    def filled(self, rows: SignedRows, support: SignedRows) -> Flags:
        """Keep rows and support at the beginning; which rows have support."""
        self._rows.first = FirstRows(rows, self._keys)
        self._support.first = FirstRows(support, range(len(self._keys)))
        has_support = np.zeros(len(rows.counts), np.bool_)
        has_support[self._support.first.pairs(rows.rows, self._keys)[0]] = True
        return has_support

    def turned(self, support: Bag) -> Iterator[tuple[bool, Bag]]:
        """The rows that have support now and had none, or have none now and had some."""
        self._rows.expect(len(support))
        self._support.expect(len(support))
        for key, count in support.items():
            if self._support.change(key, count):
                bag = self._rows[key]
                self.looked_at += len(bag)
                yield key in self._support, bag

    def keep(self, row: Row, count: int) -> bool:
        """Keep a row so many times more, or less; whether it has support."""
        key = self._key(row)
        self._rows.change(key, row, count)
        return self._support[key] > 0

    def rows(self) -> Iterator[Row]:
        """The rows that are kept, and the keys that have support."""
        return chain(self._support.rows(), self._rows.rows())


class KeepWorker(SupportedRows):
    """Follows a `Keep`: counts how often each key is supported."""

    def __init__(self, operator: Keep) -> None:
        super().__init__(operator.keys)
        self._present = operator.present

    def fill(self, rows: SignedRows, support: SignedRows) -> SignedRows:
        """The rows that are there when it begins."""
        kept = self.filled(rows, support) == self._present
        return SignedRows(rows.rows[kept], rows.counts[kept])

    def apply(self, *bags: Bag) -> Bag:
        """The rows that come and go, on their own or with their support."""
        rows, support = bags
        made: Bag = {}
        for is_supported, bag in self.turned(support):
            sign = 1 if is_supported == self._present else -1
            for row, copies in bag.items():
                add_to(made, row, sign * copies)
        for row, count in rows.items():
            if self.keep(row, count) == self._present:
                add_to(made, row, count)
        return made


class Marker(SupportedRows):
    """Follows a `Mark`: every row passes, with whether its key is supported."""

    def __init__(self, operator: Mark, dictionary: Dictionary) -> None:
        super().__init__(operator.keys)
        self._truths = [dictionary.encode_one(Literal(truth)) for truth in (False, True)]

    def fill(self, rows: SignedRows, support: SignedRows) -> SignedRows:
        """All rows, with their marks."""
        marks = np.array(self._truths, np.int32)[self.filled(rows, support).astype(np.int8)]
        return SignedRows(np.column_stack([rows.rows, marks]), rows.counts)

    def apply(self, *bags: Bag) -> Bag:
        """The rows that come and go, and those whose mark turns."""
        rows, support = bags
        made: Bag = {}
        for is_supported, bag in self.turned(support):
            before, now = self._truths[not is_supported], self._truths[is_supported]
            for row, copies in bag.items():
                add_to(made, (*row, before), -copies)
                add_to(made, (*row, now), copies)
        for row, count in rows.items():
            add_to(made, (*row, self._truths[self.keep(row, count)]), count)
        return made

    def rows(self) -> Iterator[Row]:
        """The rows that are kept, the keys that have support, and true and false."""
        return chain(super().rows(), ((truth,) for truth in self._truths))


def joiner_of(
    operator: Combine | Keep | Mark, dictionary: Dictionary
) -> Combiner | KeepWorker | Marker:
    """What carries out a join."""
    match operator:
        case Combine():
            return Combiner(operator)
        case Keep():
            return KeepWorker(operator)
        case Mark():
            return Marker(operator, dictionary)


def _columns(operator: Combine, side: int) -> tuple[list[int], list[int]]:
    return [pair[side] for pair in operator.agreeing], [pair[side] for pair in operator.equal]
