"""Selection: the facts of a relation that are visible, by their flags and by their names.

Which predicates are visible is remembered as they turn up: a kernel that meets one it does
not know returns, and asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from livefacts.store.facts import layout
from livefacts.store.facts.row_kernels import row_address
from livefacts.store.facts.row_store import Ids, RowStore
from livefacts.store.machine_code import kernel, load_int32
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.id_reader import as_ids


class KnownNames:
    """What is known of the names of predicates: which of them are looked at.

    Names are ids of a dictionary, which may mean other names once it has given some back.
    """

    def __init__(self, dictionary: Dictionary, is_wanted: Callable[[str], bool]) -> None:
        self._dictionary = dictionary
        self._is_wanted = is_wanted
        self._forget()

    def _forget(self) -> None:
        self._epoch = self._dictionary.epoch
        self._names = np.zeros(0, np.int32)
        self._wanted = np.zeros(0, np.bool_)

    def select(self, store: RowStore, relation: int, mask: int, flags: int) -> Ids:
        """The facts of a relation with names that are looked at, and these of the masked flags."""
        if self._epoch != self._dictionary.epoch:
            self._forget()
        found = np.empty((store.live(relation), store.width(relation)), np.int32)
        while True:
            count = select_facts(
                store.rows, relation, mask, flags, self._names, self._wanted, found
            )
            if count >= 0:
                return found[:count] if 2 * count > len(found) else found[:count].copy()
            self._learn(-1 - count)

    def mark(self, facts: Ids, marks: NDArray[np.bool_]) -> bool:
        """Mark the facts with names that are looked at; whether that is all of them."""
        if self._epoch != self._dictionary.epoch:
            self._forget()
        facts = as_ids(facts)
        while True:
            count = mark_facts(facts, self._names, self._wanted, marks)
            if count >= 0:
                return int(count) == len(facts)
            self._learn(-1 - count)

    def _learn(self, name: int) -> None:
        self._names = np.append(self._names, np.int32(name))
        self._wanted = np.append(self._wanted, self._is_wanted(self._dictionary.texts([name])[0]))


@kernel
def select_facts(
    rows: Any, relation: Any, mask: Any, flags: Any, names: Any, wanted: Any, found: Any
) -> Any:
    """Copy facts; returns how many, or what is below zero by one and a name that is not known."""
    count, at = 0, 0
    for row in range(1, rows.relations[relation, layout.HIGH]):
        cells = row_address(rows, relation, row)
        if load_int32(cells, layout.FLAGS) & mask == flags:
            name = load_int32(cells, layout.COLUMN)
            if at == names.shape[0] or names[at] != name:
                at = 0
                while at < names.shape[0] and names[at] != name:
                    at += 1
                if at == names.shape[0]:
                    return -1 - np.int64(name)
            if wanted[at]:
                for j in range(found.shape[1]):
                    found[count, j] = load_int32(cells, layout.COLUMN + j)
                count += 1
    return count


@kernel
def mark_facts(facts: Any, names: Any, wanted: Any, marks: Any) -> Any:
    """Mark facts; returns how many are, or what is below zero as `select_facts` does."""
    count, at = 0, 0
    for i in range(facts.shape[0]):
        name = facts[i, 0]
        if at == names.shape[0] or names[at] != name:
            at = 0
            while at < names.shape[0] and names[at] != name:
                at += 1
            if at == names.shape[0]:
                return -1 - np.int64(name)
        marks[i] = wanted[at]
        count += wanted[at]
    return count
