"""Answers of a continuous pattern: a fresh query after every message, and the sum of the changes.

The oracle is pyoxigraph: a store that takes every message, and is asked again after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pyoxigraph import Quad, QueryBoolean, Store, Triple

from livefacts.service.continuous.answers import Change

Bag = Counter[tuple[str, ...]]


class Fresh:
    """A graph that is asked anew after every message."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._store = Store()

    def tell(self, operation: str, triple: Triple) -> None:
        change = self._store.add if operation == "ins" else self._store.remove
        change(Quad(*triple))

    def answers(self) -> Bag:
        found = self._store.query(self._text)
        if isinstance(found, QueryBoolean):
            return Counter([()] if found else [])
        return Counter(tuple(map(str, row)) for row in found)  # type: ignore[arg-type, union-attr]


class Summed:
    """The sum of the changes so far."""

    def __init__(self) -> None:
        self.bag: Bag = Counter()

    def add(self, changes: Sequence[Change]) -> None:
        for change in changes:
            row = tuple(map(str, change.row))
            self.bag[row] += change.count if change.op == "+" else -change.count
            if not self.bag[row]:
                del self.bag[row]
