"""A level (stratum) under change: its rules lose what has gone, then gain what has come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import NO_TRIPLES, Change, Ids
from livefacts.engine.embedded.change.aggregates import BoundAggregate
from livefacts.engine.embedded.change.group_counts import BoundCount
from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.bound_plans import relation_of
from livefacts.engine.embedded.kernel.driver import Interpreter
from livefacts.engine.embedded.schema.single_path import MakeSchema, SinglePath
from livefacts.engine.embedded.transitive.edge_loss import TransitiveLosses
from livefacts.language.formula import Variable
from livefacts.plan.rules.operators import AggregatePlan, Level, RulePlan
from livefacts.plan.rules.plan_difference import LevelChange
from livefacts.store.facts import bits
from livefacts.store.terms.dictionary import Dictionary

CONCLUSION = bits.EDGE | bits.ROOT | code.COUNT_PLAIN
Entries = NDArray[np.int64]
Values = tuple[Ids, Ids]
"""The rows of an aggregate that end, and those that begin."""
Aggregates = Mapping[AggregatePlan, BoundAggregate | BoundCount]
NONE_YET: Aggregates = {}


class BoundLevel:
    """One level of the plan, bound to a store."""

    def __init__(
        self,
        level: Level,
        interpreter: Interpreter,
        dictionary: Dictionary,
        make_schema: MakeSchema | None,
        path: SinglePath | None = None,
        earlier: Aggregates = NONE_YET,
    ) -> None:
        """`earlier` are aggregates that have followed the facts so far."""
        self.level = level
        self._interpreter = interpreter
        self._store = interpreter.store
        self._dictionary = dictionary
        self.make_schema = make_schema
        self.path = path
        if path is None:
            self._make_path()
        if self.path is not None:
            self.path.follow_beside(plan.rule for plan in level.plans)
        self._plans = self._losing = self._bind(self._followed(level))
        self._losing_negative = self._bind(level.negative)
        self.aggregates = {
            plan: earlier.get(plan) or self._bound_aggregate(plan) for plan in level.aggregates
        }
        self._transitive = TransitiveLosses(self._store)
        self._is_positive = not level.negative and not level.aggregates
        self.is_unsettled = self.path is not None or bool(self.aggregates)
        """Whether the end of a change matters here."""

    def _followed(self, level: Level) -> tuple[RulePlan, ...]:
        return level.plans if self.path is not None else level.plans + level.single_plans

    def _bind(self, plans: Sequence[RulePlan]) -> code.BoundPlans:
        return self._interpreter.bind(plans)

    def _bound_aggregate(self, plan: AggregatePlan) -> BoundAggregate | BoundCount:
        if plan.counted is not None:
            return BoundCount(plan, self._interpreter, self._dictionary)
        return BoundAggregate(plan, self._interpreter, self._dictionary)

    def _make_path(self) -> None:
        if self.make_schema is not None:
            self.path = SinglePath(
                self.level.single, self._interpreter, self._dictionary, self.make_schema
            )

    # changes

    def run_alone(self, change: Change) -> None:
        """As `run`, where there is no other level, no rules come and nothing is lost."""
        if self._is_positive:
            if self.path is not None:
                self._take_in(self.path, change.triples())
            self._interpreter.follow(
                self._losing, self._plans, self.path, code.GAINING, code.GAINING
            )
        else:
            self.run(change)

    def run(self, change: Change, rules: LevelChange | None = None) -> None:
        """Lose and gain; the change says which triples are asserted, `rules` are those that come."""
        asserted = NO_TRIPLES if self.path is None else change.triples()
        if self.path is not None and self._interpreter.has_lost:
            self.path.ready_for_losses()
        if self._is_positive and rules is None and len(asserted) <= 1:
            self._follow(code.OPEN, code.CLOSE)
            return
        self._follow(code.OPEN, code.OPEN)
        changes = self._aggregate_changes(rules)
        self._end(changes)
        self._follow(code.LOSING, code.REDERIVE)
        self._begin(changes)
        if rules is not None:
            self._interpreter.see_all()
            self._instances(rules.plans, code.GAIN)
        if self.path is not None:
            self._take_in(self.path, asserted)
        self._follow(code.GAINING, code.CLOSE)

    def _take_in(self, path: SinglePath, asserted: Ids) -> None:
        """Give the schema its triples all at once; one triple finds its own way."""
        if len(asserted) > 1:
            path.take_in_new(asserted)

    def _follow(self, first: int, last: int) -> None:
        """Go through stages of the level; also along edges, and out of the schema."""
        follow, path = self._interpreter.follow, self.path
        while follow(self._losing, self._plans, path, first, last) != code.DONE:
            edges = self._interpreter.lost_edges()
            if len(edges):
                self._lose_pairs(edges)
            emptied = self._interpreter.has_emptied_kinds()
            if emptied and path is not None:
                path.forget_empty_kinds()
            first = code.LOSING

    def _aggregate_changes(self, rules: LevelChange | None) -> list[Values]:
        """What the aggregates end and begin; of those that come with rules, everything."""
        new = () if rules is None else rules.aggregates
        return [
            aggregate.all_changes() if plan in new else aggregate.changes(self._entries())
            for plan, aggregate in self.aggregates.items()
        ]

    def _end(self, changes: list[Values]) -> None:
        """Take what ends because of negations and aggregates."""
        self._interpreter.run_negative(self._losing_negative, code.LOSE)
        for aggregate, (ended, _) in zip(self.aggregates.values(), changes, strict=True):
            self._interpreter.take(aggregate.target, ended, code.COUNT_PLAIN)

    def _begin(self, changes: list[Values]) -> None:
        """Give what begins because of negations and aggregates."""
        self._interpreter.run_negative(self._losing_negative, code.GAIN)
        for aggregate, (_, begun) in zip(self.aggregates.values(), changes, strict=True):
            self._interpreter.give(aggregate.target, begun, CONCLUSION)

    def _entries(self) -> Entries:
        return np.concatenate([self._interpreter.entries(True), self._interpreter.entries(False)])

    def _lose_pairs(self, edges: Entries) -> None:
        for relation, rows in self._transitive.lost_rows(edges[:, 0]):
            self._interpreter.take(relation, self._store.columns(relation, rows), bits.CLOSED)

    # changes of rules

    def with_plans(self, level: Level) -> BoundLevel:
        """The same level with fewer rules."""
        return BoundLevel(
            level,
            self._interpreter,
            self._dictionary,
            self.make_schema,
            self.path,
            self.aggregates,
        )

    def lose_only(self, level: Level) -> None:
        """Until the commit (`settle`), only these rules have instances to lose."""
        self.is_unsettled = True
        self._losing = self._bind(self._followed(level))
        self._losing_negative = self._bind(level.negative)

    def restore(self, epoch: int) -> None:
        """The change of this number was rolled back."""
        if self.path is not None:
            self.path.undo(epoch)
        for aggregate in self.aggregates.values():
            aggregate.restore(epoch)

    def settle(self) -> None:
        """The change is committed: all rules of the level have instances from now on."""
        if self.path is not None:
            self.path.settle()
        for aggregate in self.aggregates.values():
            aggregate.settle()
        if self._losing is not self._plans:
            self._losing = self._plans
            if self.path is not None:
                self.path.follow_beside((plan.rule for plan in self.level.plans), alone=True)
            self._losing_negative = self._bind(self.level.negative)

    def drop(self, dropped: LevelChange) -> None:
        """Lose all instances of rules, and what follows below and from that."""
        self._follow(code.OPEN, code.OPEN)
        changes = self._aggregate_changes(None)
        self._end(changes)
        for plan in dropped.aggregates:
            bound = self._bound_aggregate(plan)
            self._interpreter.take(bound.target, bound.all_values(), code.COUNT_PLAIN)
        self._instances(dropped.plans, code.LOSE)
        self._follow(code.LOSING, code.REDERIVE)
        self._begin(changes)
        self._follow(code.GAINING, code.CLOSE)

    def move_to_recursive(self, plan: RulePlan) -> None:
        """Count the instances of a rule as recursive from now on."""
        bound, entries = self._bind([plan]).apart(), self._candidates(plan)
        bound.tables.plans[:, code.HEAD_SUPPORT] = code.COUNT_RECURSIVE
        self._interpreter.run_instances(bound, code.GAIN, entries)
        bound.tables.plans[:, code.HEAD_SUPPORT] = code.COUNT_PLAIN | code.QUIET
        self._interpreter.run_instances(bound, code.LOSE, entries)

    def _instances(self, plans: Sequence[RulePlan], mode: int) -> None:
        for plan in plans:
            if plan.transitive and mode == code.LOSE:
                self._lose_closed(plan)
            else:
                bound = self._bind([plan])
                self._interpreter.run_instances(bound, mode, self._candidates(plan))

    def _lose_closed(self, plan: RulePlan) -> None:
        entries = self._candidates(plan)
        relation = relation_of(self._store, plan.pivot)
        rows = entries & 0xFFFFFFFF
        closed = rows[self._store.flags(relation)[rows] & bits.CLOSED != 0]
        self._interpreter.take(relation, self._store.columns(relation, closed), bits.CLOSED)

    def _candidates(self, plan: RulePlan) -> Entries:
        """The visible facts that the first atom of a rule may fit."""
        relation = relation_of(self._store, plan.pivot)
        constants = {
            column: self._dictionary.encode_one(slot)
            for column, slot in enumerate(plan.pivot.slots)
            if not isinstance(slot, Variable)
        }
        rows = self._rows_with(relation, constants)
        flags = self._store.flags(relation)[rows]
        rows = rows[flags & bits.VISIBLE != 0]
        entries: Entries = rows | (relation << 32)
        return entries

    def _rows_with(self, relation: int, constants: dict[int, int]) -> Entries:
        """The facts with these constants; where each is looked at, only visible ones."""
        if not constants:
            return self._store.with_flags(relation, bits.LIVE | bits.VISIBLE)
        if len(constants) == self._store.width(relation):
            fact = np.array([[constants[column] for column in sorted(constants)]], np.int32)
            rows = self._store.find(relation, fact)
            return rows[rows > 0]
        columns = sorted(constants)
        if self._store.has_index(relation, columns):
            index = self._store.index(relation, columns)
            return self._store.chain(relation, index, [constants[c] for c in columns])
        rows = self._store.with_flags(relation, bits.LIVE | bits.VISIBLE)
        facts = self._store.columns(relation, rows)[:, columns]
        fitting: Entries = rows[(facts == [constants[c] for c in columns]).all(axis=1)]
        return fitting
