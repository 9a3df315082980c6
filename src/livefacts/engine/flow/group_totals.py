"""Group totals: aggregates that are kept up to date by adding and taking away.

Each group has its running totals (`model.running_totals`), as groups of rules have; here they
follow the rows that come and go, and their results are rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from livefacts.engine.flow.bags import Bag, Row, add_to, key_getter
from livefacts.engine.flow.first_rows import bag_of, rows_of
from livefacts.engine.patterns.signed_rows import SignedRows, consolidated
from livefacts.model.running_totals import IN_SPARQL, Distinctly, Running
from livefacts.plan.continuous.flow import Group, Total
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.known_numbers import IdTerms

OF_NUMBERS = frozenset({"SUM", "AVG", "STDDEV", "PERCENTILE", "ARGMIN", "ARGMAX"})


def _running(total: Total, terms: IdTerms) -> Running:
    made = IN_SPARQL[total.function].running(terms, total.parameter)
    return Distinctly(made) if total.distinct else made


class _Group:
    """One group: how many rows it has, its totals, and the row that was passed on last."""

    __slots__ = ("rows", "shown", "totals")

    def __init__(self, totals: list[Running]) -> None:
        self.rows = 0
        self.totals = totals
        self.shown: Row | None = None


class Grouper:
    """Follows a `Group`."""

    def __init__(self, operator: Group, dictionary: Dictionary) -> None:
        self._operator = operator
        self._dictionary = dictionary
        self._terms = IdTerms(dictionary)
        self._key = key_getter(operator.keys)
        numbered = [total.columns for total in operator.totals if total.function in OF_NUMBERS]
        self._numbered = {columns[-1] for columns in numbered}
        """The columns of which numbers are asked."""
        self._groups: dict[Any, _Group] = {}
        self.looked_at = 0

    def fill(self, found: SignedRows) -> SignedRows:
        """The groups of the rows that are there when it begins; without keys there is always one."""
        keys, totals = self._operator.keys, self._operator.totals
        if not keys:
            self._groups[()] = self._new_group()
        made = self.apply(bag_of(self._thinned(found)))
        if not keys and not made:
            self._show((), self._groups[()], made)
        return rows_of(made, len(keys) + len(totals))

    def _thinned(self, found: SignedRows) -> SignedRows:
        """Rows that are equal where the totals look at them, together."""
        totals = self._operator.totals
        if any(total.distinct and not total.columns for total in totals):
            return found
        counted = [each for each in totals if each.function == "COUNT" and not each.distinct]
        looked_at = {column for each in totals if each not in counted for column in each.columns}
        rows = np.zeros_like(found.rows)
        for column in {column for each in counted for column in each.columns}:
            # Of what is only counted it matters whether it is bound.
            rows[:, column] = np.minimum(found.rows[:, column], 0)
        for column in {*self._operator.keys, *looked_at}:
            rows[:, column] = found.rows[:, column]
        return consolidated(SignedRows(rows, found.counts))

    def apply(self, *bags: Bag) -> Bag:
        """The rows of groups that come and go."""
        (rows,) = bags
        for column in self._numbered:
            self._terms.learn([row[column] for row in rows])
        touched: defaultdict[Any, list[tuple[Row, int]]] = defaultdict(list)
        for row, count in rows.items():
            touched[self._key(row)].append((row, count))
        made: Bag = {}
        for key, changes in touched.items():
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = self._new_group()
            self._take(group, changes)
            self._show(key, group, made)
        return made

    def _new_group(self) -> _Group:
        return _Group([_running(total, self._terms) for total in self._operator.totals])

    def _take(self, group: _Group, changes: list[tuple[Row, int]]) -> None:
        group.rows += sum([count for _, count in changes])
        for total, running in zip(self._operator.totals, group.totals, strict=True):
            match total.columns:
                case (column,):
                    running.take([(row[column], count) for row, count in changes])
                case (column, by):
                    running.take([((row[column], row[by]), count) for row, count in changes])
                case _:
                    running.take(changes if total.distinct else [(0, n) for _, n in changes])

    def _show(self, key: Any, group: _Group, made: Bag) -> None:
        if group.shown is not None:
            add_to(made, group.shown, -1)
        if group.rows or not self._operator.keys:
            keys = key if len(self._operator.keys) != 1 else (key,)
            group.shown = (*keys, *(running.total() for running in group.totals))
            add_to(made, group.shown, 1)
        else:
            del self._groups[key]

    def rows(self) -> Iterable[Row]:
        """The row of each group, and the values that its totals keep."""
        for group in self._groups.values():
            yield group.shown or ()
            for running in group.totals:
                yield from ((key,) for key in running.kept())

    @property
    def size(self) -> int:
        """How many groups are kept, and how many values for their totals."""
        return sum(1 for _ in self.rows())
