"""Aggregates: the values of groups, kept in step with the rows they range over.

Only the groups of rows that have come or gone are computed again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode

from livefacts.engine.contract import Ids
from livefacts.errors import LivefactsWarning
from livefacts.model import values
from livefacts.model.facts import Symbol, Term
from livefacts.model.namespaces import XSD
from livefacts.model.work_bounds import look
from livefacts.plan.rules.operators import AggregatePlan
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_store import RowStore
from livefacts.store.terms.dictionary import Dictionary, inline_id, inline_value, is_inline

XSD_INTEGER = NamedNode(XSD + "integer")
OF_INTEGERS: dict[str, Callable[[Iterable[int]], int]] = {"sum": sum, "min": min, "max": max}
Group = tuple[int, ...]


class BoundAggregate:
    """One aggregate over one store."""

    def __init__(self, plan: AggregatePlan, store: RowStore, dictionary: Dictionary) -> None:
        self._plan = plan
        self._store = store
        self._dictionary = dictionary
        self._source = store.relation(1 + len(plan.source.arguments))
        self.target = store.relation(1 + len(plan.target.arguments))
        self._source_name = int(dictionary.encode_one(Symbol(plan.source.name)))
        self._target_name = int(dictionary.encode_one(Symbol(plan.target.name)))
        columns = range(1 + plan.groups)
        self._source_index = store.index(self._source, columns)
        self._target_index = store.index(self.target, columns)

    def changes(self, entries: NDArray[np.int64]) -> tuple[Ids, Ids]:
        """The facts of the target that end and that begin, when these rows come and go."""
        ended, begun = [], []
        for group in self._groups_of(entries):
            look()
            old, new = self._old_values(group), self._new_value(group)
            ended += [[self._target_name, *group, value] for value in old if value != new]
            if new is not None and new not in old:
                begun.append([self._target_name, *group, new])
        return self._rows(ended), self._rows(begun)

    def all_values(self) -> Ids:
        """All facts of the target that are stored."""
        cells = self._store.cells(self.target)
        mine = np.flatnonzero(
            (cells[:, layout.COLUMN] == self._target_name) & (cells[:, layout.FLAGS] != 0)
        )
        return self._standing(self.target, mine)

    def all_changes(self) -> tuple[Ids, Ids]:
        """The same as `changes`, as if every row of the source had come."""
        cells = self._store.cells(self._source)
        mine = (cells[:, layout.COLUMN] == self._source_name) & (cells[:, layout.FLAGS] != 0)
        return self.changes(np.flatnonzero(mine) | (self._source << 32))

    def _rows(self, rows: list[list[int]]) -> Ids:
        return np.array(rows, np.int32).reshape(-1, self._plan.groups + 2)

    def _groups_of(self, entries: NDArray[np.int64]) -> list[Group]:
        rows = entries[entries >> 32 == self._source] & 0xFFFFFFFF
        facts = self._store.columns(self._source, rows)
        mine = facts[facts[:, 0] == self._source_name][:, 1 : 1 + self._plan.groups]
        return list(dict.fromkeys(map(tuple, mine.tolist())))

    def _old_values(self, group: Group) -> list[int]:
        rows = self._store.chain(self.target, self._target_index, (self._target_name, *group))
        return [int(fact[-1]) for fact in self._standing(self.target, rows)]

    def _standing(self, relation: int, rows: NDArray[np.int64]) -> Ids:
        flags = self._store.flags(relation)[rows]
        # A row of a lower level that was rederived there is true, even where this level has
        # doomed it for a try: no rule from here on derives rows of an aggregate.
        rows = rows[(flags & bits.ENDED == 0) | (flags & bits.SUSPECT != 0)]
        return self._store.columns(relation, rows)

    def _new_value(self, group: Group) -> int | None:
        """The id of the aggregate of one group, or None if the group has no row."""
        rows = self._store.chain(self._source, self._source_index, (self._source_name, *group))
        ids = self._standing(self._source, rows)[:, 1 + self._plan.groups]
        if not len(ids):
            return None
        function = self._plan.function
        if function == "count":
            return self._integer(len(ids))
        if function != "avg" and all(map(is_inline, ids.tolist())):
            return self._integer(OF_INTEGERS[function](map(inline_value, ids.tolist())))
        term = values.aggregate(function, self._dictionary.decode(ids))
        if term is None:
            self._warn()
            return None
        return self._computed(term)

    def _warn(self) -> None:
        warnings.warn(
            f"{self._plan.function} at {self._plan.source.place}: a group with something that "
            "is not a number has no row",
            LivefactsWarning,
            stacklevel=2,
        )

    def _integer(self, value: int) -> int:
        inline = inline_id(value)
        if inline is not None:
            return inline
        return self._computed(Literal(str(value), datatype=XSD_INTEGER))

    def _computed(self, term: Term) -> int:
        with self._dictionary.passing:
            return int(self._dictionary.encode_one(term))
