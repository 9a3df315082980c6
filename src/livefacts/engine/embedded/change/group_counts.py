"""Group counts: the number of rows in a group, without reading the rows.

The hidden predicate of the groups has one rule, which leaves out what is counted: how many
instances derive a group is how many rows it has, and the engine counts that support already.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Flags, Ids
from livefacts.engine.embedded.kernel.driver import Interpreter
from livefacts.model.facts import Symbol
from livefacts.plan.rules.operators import AggregatePlan
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_kernels import find, row_address
from livefacts.store.machine_code import kernel, load_int32
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.text_table import INLINE_ZERO

ROW_BITS = 0xFFFFFFFF


class BoundCount:
    """One count over one store."""

    def __init__(
        self, plan: AggregatePlan, interpreter: Interpreter, dictionary: Dictionary
    ) -> None:
        assert plan.counted is not None
        self._interpreter = interpreter
        self._store = interpreter.store
        self._groups = plan.groups
        self._counted = self._store.relation(1 + plan.groups)
        self.target = self._store.relation(1 + len(plan.target.arguments))
        self._counted_name = int(dictionary.encode_one(Symbol(plan.counted.name)))
        self._target_name = int(dictionary.encode_one(Symbol(plan.target.name)))
        self._index = self._store.index(self.target, range(1 + plan.groups))

    def changes(self, entries: NDArray[np.int64]) -> tuple[Ids, Ids]:
        """The facts of the target that end and that begin, when these rows come and go."""
        rows = entries[entries >> 32 == self._counted] & ROW_BITS
        touched = self._interpreter.touched(self._counted)
        return self._compared(np.unique(np.concatenate([rows, touched])))

    def all_changes(self) -> tuple[Ids, Ids]:
        """The same as `changes`, as if every group had come."""
        cells = self._store.cells(self._counted)
        return self._compared(np.flatnonzero(cells[:, layout.FLAGS] != 0))

    def all_values(self) -> Ids:
        """All facts of the target that are stored."""
        cells = self._store.cells(self.target)
        mine = np.flatnonzero(
            (cells[:, layout.COLUMN] == self._target_name) & (cells[:, layout.FLAGS] != 0)
        )
        return self._store.columns(self.target, mine[self._is_standing(self.target, mine)])

    def settle(self) -> None:
        """The change is committed; nothing is kept of it."""

    def restore(self, epoch: int) -> None:
        """The change was rolled back, and the support of groups with it."""

    def _compared(self, rows: NDArray[np.int64]) -> tuple[Ids, Ids]:
        groups = self._store.columns(self._counted, rows)
        mine = groups[:, 0] == self._counted_name
        rows, groups = rows[mine], groups[mine]
        counts = np.where(self._is_standing(self._counted, rows), self._instances(rows), 0)
        new = (counts + INLINE_ZERO).astype(np.int32)
        groups[:, 0] = self._target_name
        old = self._values(groups)
        ended, begun = (old != 0) & (old != new), (counts > 0) & (old != new)
        # No group has the value zero, so that its id stands for no value at all.
        ended |= (old != 0) & (counts == 0)
        return (
            np.column_stack([groups[ended], old[ended]]).astype(np.int32),
            np.column_stack([groups[begun], new[begun]]).astype(np.int32),
        )

    def _instances(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        cells = self._store.cells(self._counted)[rows]
        return cells[:, layout.PLAIN].astype(np.int64) + cells[:, layout.RECURSIVE]

    def _is_standing(self, relation: int, rows: NDArray[np.int64]) -> Flags:
        flags = self._store.flags(relation)[rows]
        standing: Flags = (flags != 0) & ((flags & bits.ENDED == 0) | (flags & bits.SUSPECT != 0))
        return standing

    def _values(self, groups: Ids) -> Ids:
        """The value that each group has in the target, 0 where it has none."""
        found = np.zeros(len(groups), np.int32)
        flat = np.ascontiguousarray(groups).reshape(-1)
        width = self._groups + 1
        standing_values(self._store.rows, self.target, self._index, flat, width, found)
        return found


@kernel
def standing_values(rows: Any, relation: Any, index: Any, keys: Any, width: Any, found: Any) -> Any:
    """The last column of the fact that is true under each key, where there is one."""
    link = rows.indices[index, layout.LINK]
    for i in range(found.shape[0]):
        row = find(rows, relation, index, keys, i * width)
        while row:
            cells = row_address(rows, relation, row)
            flags = load_int32(cells, layout.FLAGS)
            if (flags & bits.ENDED) == 0 or (flags & bits.SUSPECT) != 0:
                found[i] = load_int32(cells, layout.COLUMN + width)
                break
            row = np.int64(load_int32(cells, link)) if link else np.int64(0)
