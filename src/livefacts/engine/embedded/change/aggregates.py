"""Aggregates: the values of groups, kept in step with the rows they range over.

Each group has a running total (`model.running_totals`), which takes the rows that have come and
those that have gone; no other row is looked at.  What a change has done to totals is noted, so
that rolling it back takes that away again.  A total that was interrupted while it changed is made
anew from the rows that are there, when its group next changes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Flags, Ids
from livefacts.engine.embedded.kernel.driver import Interpreter
from livefacts.errors import LivefactsWarning
from livefacts.model.facts import Symbol
from livefacts.model.running_totals import IN_RULES, Changes, Running
from livefacts.model.work_bounds import look
from livefacts.plan.rules.operators import AggregatePlan
from livefacts.store.facts import bits, layout
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.known_numbers import UNBOUND, IdTerms

Group = tuple[int, ...]
ROW_BITS = 0xFFFFFFFF


class KeptTotal:
    """The total of one group, how many rows it has, and the value that it shows; UNBOUND for none."""

    __slots__ = ("rows", "running", "shown")

    def __init__(self, running: Running, shown: int = UNBOUND) -> None:
        self.running = running
        self.rows = 0
        self.shown = shown

    def take(self, changes: Changes, sign: int = 1) -> None:
        """Rows come, or go, or the other way round."""
        signed = changes if sign > 0 else [(key, -count) for key, count in changes]
        self.rows += sum([count for _, count in signed])
        self.running.take(signed)


class _Step:
    """What a change has done to a group; whether it was done to the end."""

    __slots__ = ("changes", "group", "is_done", "shown")

    def __init__(self, group: Group, changes: Changes, shown: int) -> None:
        self.group = group
        self.changes = changes
        self.shown = shown
        self.is_done = False


class BoundAggregate:
    """One aggregate over one store."""

    def __init__(
        self, plan: AggregatePlan, interpreter: Interpreter, dictionary: Dictionary
    ) -> None:
        self._plan = plan
        self._interpreter = interpreter
        self._store = store = interpreter.store
        self._dictionary = dictionary
        self._terms = IdTerms(dictionary)
        self._source = store.relation(1 + len(plan.source.arguments))
        self.target = store.relation(1 + len(plan.target.arguments))
        self._source_name = int(dictionary.encode_one(Symbol(plan.source.name)))
        self._target_name = int(dictionary.encode_one(Symbol(plan.target.name)))
        self._source_index = store.index(self._source, range(1 + plan.groups))
        self._sort = IN_RULES[plan.function]
        self._groups: dict[Group, KeptTotal] = {}
        self._unknown: set[Group] = set()
        """The groups whose totals were left half changed."""
        self._epoch = -1
        """The change that the steps and rows below are of."""
        self._steps: list[_Step] = []
        self._seen: list[tuple[NDArray[np.int64], Flags]] = []
        """Rows that the change has moved, in the order of their numbers, and whether they hold."""

    def changes(self, entries: NDArray[np.int64]) -> tuple[Ids, Ids]:
        """The facts of the target that end and that begin, when these rows come and go."""
        return self._followed(np.unique(entries[entries >> 32 == self._source] & ROW_BITS))

    def all_changes(self) -> tuple[Ids, Ids]:
        """The same as `changes`, as if every row of the source had come."""
        return self._followed(np.flatnonzero(self._store.flags(self._source)), everything=True)

    def all_values(self) -> Ids:
        """All facts of the target that are stored."""
        cells = self._store.cells(self.target)
        mine = np.flatnonzero(
            (cells[:, layout.COLUMN] == self._target_name) & (cells[:, layout.FLAGS] != 0)
        )
        return self._store.columns(self.target, mine[self._is_standing(self.target, mine)])

    def _followed(self, rows: NDArray[np.int64], *, everything: bool = False) -> tuple[Ids, Ids]:
        ended: list[list[int]] = []
        begun: list[list[int]] = []
        if self._epoch != self._interpreter.epoch:
            self._epoch = self._interpreter.epoch
            self._steps, self._seen = [], []
        if len(rows):
            facts = self._store.columns(self._source, rows)
            mine = facts[:, 0] == self._source_name
            rows, facts = rows[mine], facts[mine]
            for group, changes in self._moved(rows, facts, everything).items():
                look()
                self._follow(group, changes, ended, begun)
        return self._rows(ended), self._rows(begun)

    def _moved(
        self, rows: NDArray[np.int64], facts: Ids, everything: bool
    ) -> dict[Group, list[tuple[Any, int]]]:
        """What has come to each group, and what has gone."""
        stands = self._is_standing(self._source, rows)
        stood = np.zeros(len(rows), np.bool_) if everything else self._stood(rows)
        if len(rows):
            self._seen.append((rows, stands))
        moved = stands != stood
        facts = facts[moved]
        signs = np.where(stands[moved], 1, -1).tolist()
        groups = map(tuple, facts[:, 1 : 1 + self._plan.groups].tolist())
        found: dict[Group, list[tuple[Any, int]]] = {}
        for group, key, sign in zip(groups, self._keys(facts), signs, strict=True):
            found.setdefault(group, []).append((key, sign))
        return found

    def _keys(self, facts: Ids) -> list[Any]:
        """What the aggregate looks at of each row."""
        first, count = 1 + self._plan.groups, self._sort.values
        self._terms.learn(facts[:, first + count - 1].tolist())
        if count == 1:
            keys: list[Any] = facts[:, first].tolist()
            return keys
        return list(zip(*facts[:, first : first + count].T.tolist(), strict=True))

    def _stood(self, rows: NDArray[np.int64]) -> Flags:
        """Whether the totals have these rows: what they have seen of the change, or what was there."""
        stood: Flags = self._store.flags(self._source)[rows] & bits.FRESH == 0
        for seen, standing in self._seen:
            places = np.minimum(np.searchsorted(seen, rows), len(seen) - 1)
            known = seen[places] == rows
            stood[known] = standing[places[known]]
        return stood

    def _is_standing(self, relation: int, rows: NDArray[np.int64]) -> Flags:
        flags = self._store.flags(relation)[rows]
        # A row of a lower level that was rederived there is true, even where this level has
        # doomed it for a try: no rule from here on derives rows of an aggregate.
        standing: Flags = (flags & bits.ENDED == 0) | (flags & bits.SUSPECT != 0)
        return standing

    def _follow(
        self, group: Group, changes: Changes, ended: list[list[int]], begun: list[list[int]]
    ) -> None:
        """Take the changes of a group into its total, and note what it shows then."""
        total = self._groups.get(group)
        old = UNBOUND if total is None else total.shown
        step = _Step(group, changes, old)
        self._steps.append(step)
        if group in self._unknown:
            total = self._made_anew(group)
            old = step.shown = total.shown
        elif total is None:
            total = self._groups[group] = self._nothing()
            total.take(changes)
        else:
            total.take(changes)
        new = total.shown = self._value(total)
        if not total.rows:
            del self._groups[group]
        step.is_done = True
        if old != new:
            if old != UNBOUND:
                ended.append([self._target_name, *group, old])
            if new != UNBOUND:
                begun.append([self._target_name, *group, new])

    def _nothing(self) -> KeptTotal:
        return KeptTotal(self._sort.running(self._terms, self._plan.parameter))

    def _value(self, total: KeptTotal) -> int:
        """The id of the aggregate of one group; UNBOUND if the group has no row."""
        if not total.rows:
            return UNBOUND
        with self._dictionary.passing:
            found: int = total.running.total()
        if found == UNBOUND and total.rows >= self._sort.fewest:
            self._warn()
        return found

    def _made_anew(self, group: Group) -> KeptTotal:
        """The total of a group, from the rows that are there; it shows what is stored."""
        rows = self._store.chain(self._source, self._source_index, (self._source_name, *group))
        rows = rows[self._is_standing(self._source, rows)]
        total = self._nothing()
        total.take([(key, 1) for key in self._keys(self._store.columns(self._source, rows))])
        for fact in self.all_values().tolist():
            if tuple(fact[1:-1]) == group:
                total.shown = fact[-1]
        self._groups[group] = total
        self._unknown.discard(group)
        return total

    def settle(self) -> None:
        """The change is committed: nothing of it will be taken away again."""
        self._steps, self._seen = [], []

    def restore(self, epoch: int) -> None:
        """The change of this number was rolled back; twice does no harm."""
        while self._epoch == epoch and self._steps:
            step = self._steps[-1]
            if step.is_done:
                step.is_done = False
                total = self._groups.get(step.group)
                if total is None:
                    total = self._groups[step.group] = self._nothing()
                total.take(step.changes, -1)
                total.shown = step.shown
                if not total.rows:
                    del self._groups[step.group]
            else:
                self._groups.pop(step.group, None)
                self._unknown.add(step.group)
            self._steps.pop()

    def _rows(self, rows: Iterable[list[int]]) -> Ids:
        return np.array(list(rows), np.int32).reshape(-1, self._plan.groups + 2)

    def _warn(self) -> None:
        warnings.warn(
            f"{self._plan.function} at {self._plan.source.place}: a group with something that "
            f"{self._sort.needs} has no row",
            LivefactsWarning,
            stacklevel=2,
        )
