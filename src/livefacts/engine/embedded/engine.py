"""The embedded engine: facts and a plan in one process; changes in, deltas of ids out.

While more facts can only add conclusions, a change is followed forward from its facts.
Where they can take conclusions away (negation, aggregates), and when the rules change,
the conclusions are computed again into a fresh store, and the delta is the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field

import numpy as np

from livefacts.engine.contract import Flags, IdDelta, Ids
from livefacts.engine.embedded import machine as code
from livefacts.engine.embedded.aggregates import aggregate_rows
from livefacts.engine.embedded.binding import bind
from livefacts.engine.embedded.chase import NotSingleError
from livefacts.engine.embedded.interpreter import Interpreter
from livefacts.engine.embedded.schema import SinglePath
from livefacts.errors import LimitError
from livefacts.model.facts import Symbol
from livefacts.plan.normalize import TRUE
from livefacts.plan.operators import Level, Plan
from livefacts.store.dictionary import Dictionary
from livefacts.store.layout import ASSERTED, EDGE, FRESH, IN_DEFAULT, LIVE, ROOT
from livefacts.store.rows import TRIPLES, RowStore

ASSERTION = EDGE | ROOT | ASSERTED
CONCLUSION = EDGE | ROOT | code.COUNT_PLAIN
Facts = dict[int, Ids]


@dataclass(frozen=True, slots=True)
class Change:
    """Facts to assert, by shape; triples that only named graphs assert; a new plan."""

    facts: Facts = field(default_factory=dict)
    named: Ids | None = None
    plan: Plan | None = None

    def triples(self) -> Ids:
        return _joined(self.facts.get(TRIPLES), self.named)


class EmbeddedEngine:
    """Facts, their conclusions, and the plan that keeps them together."""

    def __init__(self, dictionary: Dictionary, plan: Plan, *, single_path: bool = True) -> None:
        self._dictionary = dictionary
        self.plan = plan
        self.limit: int | None = None
        self.on_progress: Callable[[int], None] = lambda made: None
        self.before_commit: Callable[[], None] = lambda: None
        self._single_path = single_path
        self._start()

    def _start(self) -> None:
        """An empty store, with the plan bound to it."""
        self.store = RowStore()
        self._interpreter = Interpreter(self.store, self._dictionary)
        self._levels = [_BoundLevel(level, self) for level in self.plan.levels or (Level((), ()),)]
        self._is_empty = True
        self._support_true()

    def _support_true(self) -> None:
        relation = self.store.relation(1 + len(TRUE.arguments))
        true = np.array([[self._dictionary.encode_one(Symbol(TRUE.name))]], np.int32)
        self._interpreter.support(relation, true, EDGE | ROOT)

    # changes

    def apply(self, change: Change) -> IdDelta:
        """Make a change; all of it happens, or nothing."""
        if change.plan is None and (self._is_empty or self.plan.is_monotone):
            try:
                return self._follow(change)
            except NotSingleError:
                self._single_path = False
        return self._recompute(change)

    def _follow(self, change: Change) -> IdDelta:
        """Follow new facts forward through all levels."""
        try:
            self._assert(change)
            told = self._interpreter.made
            self._interpreter.on_pause = lambda made: self._on_pause(made, told)
            for number, level in enumerate(self._levels):
                if number:
                    self._interpreter.start_level()
                level.run(change)
            self._on_pause(self._interpreter.made, told)
            self.before_commit()
        except BaseException:
            self._interpreter.roll_back()
            for level in self._levels:
                level.reset()
            raise
        self._is_empty = False
        return self._interpreter.commit()

    def _assert(self, change: Change) -> None:
        for shape, ids in change.facts.items():
            self._interpreter.support(self.store.relation(shape), ids, ASSERTION | IN_DEFAULT)
        if change.named is not None:
            self._interpreter.support(TRIPLES, change.named, ASSERTION)

    def _on_pause(self, made: int, told: int) -> None:
        if self.limit is not None and made - told > self.limit:
            raise LimitError(
                f"the change derives more than {self.limit:,} facts; it was undone",
                hint="raise the limit, or look for a rule that makes ever new values",
            )
        self.on_progress(made)

    def _recompute(self, change: Change) -> IdDelta:
        """Draw all conclusions again from what was told; the delta is the difference."""
        old = copy(self)
        try:
            self.plan = self.plan if change.plan is None else change.plan
            self._start()
            self._follow(old._told_and(change))
        except NotSingleError:
            self.__dict__.update(old.__dict__)
            self._single_path = False
            return self._recompute(change)
        except BaseException:
            self.__dict__.update(old.__dict__)
            raise
        return _difference(old, self)

    def _told_and(self, change: Change) -> Change:
        default = self._with_flags(LIVE | ASSERTED | IN_DEFAULT)
        rows = self.store.with_flags(TRIPLES, LIVE | ASSERTED)
        rows = rows[self.store.flags(TRIPLES)[rows] & IN_DEFAULT == 0]
        named = self.store.columns(TRIPLES, rows)
        return Change(
            {s: _joined(default.get(s), change.facts.get(s)) for s in default | change.facts},
            _joined(named, change.named),
        )

    # reading

    def asserted(self) -> Facts:
        """The facts that were told, by shape."""
        return self._with_flags(LIVE | ASSERTED)

    def facts(self) -> Facts:
        """Everything that is true, hidden predicates included, by shape."""
        return self._with_flags(LIVE)

    def derived(self) -> Facts:
        """The conclusions: what is true and was not told, by shape."""
        found = {}
        for shape, relation in self.store.shapes().items():
            rows = self.store.with_flags(relation)
            rows = rows[self.store.flags(relation)[rows] & ASSERTED == 0]
            found[shape] = self.store.columns(relation, rows)
        return found

    def _with_flags(self, flags: int) -> Facts:
        return {
            shape: self.store.columns(relation, self.store.with_flags(relation, flags))
            for shape, relation in self.store.shapes().items()
        }

    def holds(self, shape: int, fact: Ids) -> bool:
        if shape not in self.store.shapes():
            return False
        return bool(self.store.find(self.store.relation(shape), fact.reshape(1, -1))[0])

    def fresh(self, shape: int, predicate: int) -> Ids:
        """The facts of a predicate that the change under way has made."""
        relation = self.store.relation(shape)
        rows = self.store.with_flags(relation, LIVE | FRESH)
        facts = self.store.columns(relation, rows)
        mine: Ids = facts[facts[:, 0] == predicate]
        return mine

    @property
    def follows_single_triples(self) -> bool:
        """Whether some rules are followed by the consequences of single triples."""
        return self._single_path and any(level.single for level in self.plan.levels)

    @property
    def derivations(self) -> int:
        """Rule instances found so far."""
        return self._interpreter.derivations


class _BoundLevel:
    """One level of the plan, bound to the engine's store."""

    def __init__(self, level: Level, engine: EmbeddedEngine) -> None:
        self._level = level
        self._engine = engine
        self._interpreter = engine._interpreter
        self._is_single = bool(level.single) and engine._single_path
        plans = level.plans if self._is_single else level.plans + level.single_plans
        self._plans, binder = bind(plans, engine.store, engine._dictionary)
        for aggregate in level.aggregates:
            engine.store.relation(1 + len(aggregate.source.arguments))
            engine.store.relation(1 + len(aggregate.target.arguments))
        self._interpreter.fit(binder)
        self._make_path()

    def _make_path(self) -> None:
        self._path: SinglePath | None = None
        if self._is_single:
            plan = Plan((Level((), self._level.single_plans),))
            schema = EmbeddedEngine(self._engine._dictionary, plan, single_path=False)
            self._path = SinglePath(
                self._level.single,
                self._interpreter,
                self._engine._dictionary,
                close=lambda triples: schema.apply(Change({TRIPLES: triples})),
            )

    def reset(self) -> None:
        if self._path is not None:
            self._make_path()
            self._path.restore()
            self._interpreter.roll_back()

    def run(self, change: Change) -> None:
        engine = self._engine
        for aggregate in self._level.aggregates:
            rows = aggregate_rows(aggregate, engine.store, engine._dictionary)
            relation = engine.store.relation(1 + len(aggregate.target.arguments))
            self._interpreter.support(relation, rows, CONCLUSION)
        if self._path is None:
            self._interpreter.run(self._plans)
            return
        self._path.take_in_new(change.triples())
        self._interpreter.run(
            self._plans, self._path.consequences, self._path.on_key, self._path.on_schema
        )


def _joined(first: Ids | None, second: Ids | None) -> Ids:
    parts = [part for part in (first, second) if part is not None and len(part)]
    if not parts:
        return np.zeros((0, 3), np.int32)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _difference(old: EmbeddedEngine, new: EmbeddedEngine) -> IdDelta:
    delta = IdDelta()
    before, after = old.facts(), new.facts()
    for shape in before | after:
        was = before.get(shape)
        now = after.get(shape)
        if now is not None and len(now):
            fresh = now if was is None else now[_is_missing(old, shape, now)]
            delta.added[shape] = fresh
            rows = new.store.find(new.store.relation(shape), fresh)
            delta.derived[shape] = new.store.flags(new.store.relation(shape))[rows] & ASSERTED == 0
        if was is not None and len(was):
            delta.removed[shape] = was if now is None else was[_is_missing(new, shape, was)]
    return delta


def _is_missing(engine: EmbeddedEngine, shape: int, facts: Ids) -> Flags:
    missing: Flags = engine.store.find(engine.store.relation(shape), facts) == 0
    return missing
