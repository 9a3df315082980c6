"""Solutions: a bag of rows as columns of ids, one for each variable.

A row may stand for several that are equal: `counts` says for how many.  Ids below -1 are terms
that the query itself has computed; see `livefacts.engine.queries.local_terms`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]

UNBOUND = -1
"""The id of no term."""


@dataclass(frozen=True, slots=True)
class Solutions:
    """Rows; a variable that no column has is unbound in all of them.

    >>> rows = Solutions(2, {"x": np.array([7, 8], np.int32)}, np.array([1, 3]))
    >>> rows.total, rows.expanded().columns["x"].tolist()
    (4, [7, 8, 8, 8])
    """

    count: int
    """The number of rows, equal ones that stand together as one."""
    columns: Mapping[str, Ids] = field(default_factory=dict)
    counts: Counts | None = None

    @property
    def total(self) -> int:
        """The number of rows of the bag."""
        return self.count if self.counts is None else int(self.counts.sum())

    def column(self, name: str) -> Ids:
        """The ids of a variable, unbound ones where there is no column for it."""
        found = self.columns.get(name)
        return np.full(self.count, UNBOUND, np.int32) if found is None else found

    def is_certain(self, name: str) -> bool:
        """Whether a variable has a value in every row."""
        return name in self.columns and bool((self.columns[name] != UNBOUND).all())

    def at(self, rows: Rows | Ids | Flags | slice) -> Solutions:
        """Some of the rows, by number or by flag, as often as they are named."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        counts = None if self.counts is None else self.counts[rows]
        return Solutions(_length(rows, self.count), columns, counts)

    def with_column(self, name: str, column: Ids) -> Solutions:
        """The same rows with a value for one more variable, or another value."""
        return Solutions(self.count, {**self.columns, name: column}, self.counts)

    def only(self, names: Collection[str]) -> Solutions:
        """The same rows with some of their variables."""
        kept = {name: column for name, column in self.columns.items() if name in names}
        return Solutions(self.count, kept, self.counts)

    def expanded(self) -> Solutions:
        """The bag with each of its rows by itself."""
        if self.counts is None:
            return self
        single = Solutions(self.count, self.columns)
        return single.at(np.repeat(np.arange(self.count), self.counts))

    def times(self, counts: Counts | None) -> Solutions:
        """The rows, each so many times as often."""
        if counts is None:
            return self
        return Solutions(
            self.count, self.columns, counts if self.counts is None else self.counts * counts
        )


EMPTY_ROW = Solutions(1)
NO_ROWS = Solutions(0)


def together(parts: Sequence[Solutions]) -> Solutions:
    """The rows of all parts."""
    parts = [part for part in parts if part.count]
    if len(parts) < 2:
        return parts[0] if parts else NO_ROWS
    names = dict.fromkeys(name for part in parts for name in part.columns)
    columns = {name: np.concatenate([part.column(name) for part in parts]) for name in names}
    counts = None
    if any(part.counts is not None for part in parts):
        counts = np.concatenate([_counts(part) for part in parts])
    return Solutions(sum(part.count for part in parts), columns, counts)


def _counts(part: Solutions) -> Counts:
    return np.ones(part.count, np.int64) if part.counts is None else part.counts


def _length(rows: Any, count: int) -> int:
    if isinstance(rows, slice):
        return len(range(*rows.indices(count)))
    return int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else len(rows)
