"""The embedded engine: facts and a plan in one process; changes in, deltas of ids out.

While more facts can only add conclusions, a change is followed forward from its facts.
Where they can take conclusions away (negation, aggregates), and when the rules change,
the conclusions are computed again into a fresh store, and the delta is the difference.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from livefacts.engine.contract import IdDelta, Ids
from livefacts.engine.embedded import interpret as code
from livefacts.engine.embedded.aggregates import aggregate_rows
from livefacts.engine.embedded.binding import bind
from livefacts.engine.embedded.chase import NotSingle
from livefacts.engine.embedded.interpreter import Interpreter
from livefacts.engine.embedded.schema import SinglePath
from livefacts.model.facts import Symbol
from livefacts.plan.normalize import TRUE
from livefacts.plan.operators import Level, Plan
from livefacts.store.dictionary import Dictionary
from livefacts.store.layout import ASSERTED, EDGE, LIVE, ROOT
from livefacts.store.rows import TRIPLES, RowStore

ASSERTION = EDGE | ROOT | ASSERTED
CONCLUSION = EDGE | ROOT | code.COUNT_PLAIN
Facts = dict[int, Ids]


class EmbeddedEngine:
    """Facts, their conclusions, and the plan that keeps them together."""

    def __init__(
        self, dictionary: Dictionary, plan: Plan, *, single_path: bool = True
    ) -> None:
        self._dictionary = dictionary
        self.plan = plan
        self._single_path = single_path
        self.on_pause: Callable[[int], None] = lambda made: None
        self._start()

    def _start(self) -> None:
        """An empty store, with the plan bound to it."""
        self.store = RowStore()
        self._interpreter = Interpreter(self.store, self._dictionary)
        self._interpreter.on_pause = lambda made: self.on_pause(made)
        self._levels = [_BoundLevel(level, self) for level in self.plan.levels or (Level((), ()),)]
        self._is_empty = True
        self._support_true()

    def _support_true(self) -> None:
        relation = self.store.relation(1 + len(TRUE.arguments))
        true = np.array([[self._dictionary.encode_one(Symbol(TRUE.name))]], np.int32)
        self._interpreter.support(relation, true, EDGE | ROOT)

    # changes

    def add(self, facts: Facts) -> IdDelta:
        """Assert facts; all of the change happens, or nothing of it."""
        if self._is_empty or self.plan.is_monotone:
            try:
                return self._follow(facts)
            except NotSingle:
                self._single_path = False
        return self._recompute(self.plan, facts)

    def change_plan(self, plan: Plan) -> IdDelta:
        """Keep the facts that were asserted and draw the conclusions of another plan."""
        return self._recompute(plan, {})

    def _follow(self, facts: Facts) -> IdDelta:
        """Follow new facts forward through all levels."""
        try:
            for shape, ids in facts.items():
                self._interpreter.support(self.store.relation(shape), ids, ASSERTION)
            for number, level in enumerate(self._levels):
                if number:
                    self._interpreter.start_level()
                level.run(facts)
        except BaseException:
            self._interpreter.roll_back()
            self._rebind()
            raise
        self._is_empty = False
        return self._interpreter.commit()

    def _rebind(self) -> None:
        """After an undone change: a schema that had grown with it must be closed anew."""
        for level in self._levels:
            level.reset()

    def _recompute(self, plan: Plan, facts: Facts) -> IdDelta:
        old = EmbeddedEngine.__new__(EmbeddedEngine)
        old.__dict__.update(self.__dict__)
        try:
            self.plan = plan
            self._start()
            told = old.asserted()
            self._follow({s: _joined(told.get(s), facts.get(s)) for s in told | facts})
        except NotSingle:
            self.__dict__.update(old.__dict__)
            self._single_path = False
            return self._recompute(plan, facts)
        except BaseException:
            self.__dict__.update(old.__dict__)
            raise
        return _difference(old, self)

    # reading

    def asserted(self) -> Facts:
        """The facts that were told, by shape."""
        return self._with_flags(LIVE | ASSERTED)

    def facts(self) -> Facts:
        """Everything that is true, hidden predicates included, by shape."""
        return self._with_flags(LIVE)

    def derived(self) -> Facts:
        """The facts that some rule derives, by shape."""
        found = {}
        for shape, relation in self.store.shapes().items():
            rows = self.store.with_flags(relation)
            rows = rows[self._interpreter.is_derived(relation, rows)]
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
            self._path = SinglePath(
                self._level.single, self._interpreter, self._engine._dictionary, self._schema_engine
            )

    def _schema_engine(self) -> EmbeddedEngine:
        plan = Plan((Level((), self._level.single_plans),))
        return EmbeddedEngine(self._engine._dictionary, plan, single_path=False)

    def reset(self) -> None:
        if self._path is not None:
            self._make_path()
            self._path.take_in_new(self._engine.asserted()[TRIPLES])
            self._interpreter.roll_back()

    def run(self, facts: Facts) -> None:
        engine = self._engine
        for aggregate in self._level.aggregates:
            rows = aggregate_rows(aggregate, engine.store, engine._dictionary)
            relation = engine.store.relation(1 + len(aggregate.target.arguments))
            self._interpreter.support(relation, rows, CONCLUSION)
        if self._path is None:
            self._interpreter.run(self._plans)
            return
        self._path.take_in_new(facts.get(TRIPLES, np.zeros((0, 3), np.int32)))
        self._interpreter.run(
            self._plans, self._path.consequences, self._path.on_key, self._path.on_schema
        )


def _joined(first: Ids | None, second: Ids | None) -> Ids:
    parts = [part for part in (first, second) if part is not None]
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
            delta.derived[shape] = new._interpreter.is_derived(new.store.relation(shape), rows)
        if was is not None and len(was):
            delta.removed[shape] = was if now is None else was[_is_missing(new, shape, was)]
    return delta


def _is_missing(
    engine: EmbeddedEngine, shape: int, facts: Ids
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return engine.store.find(engine.store.relation(shape), facts) == 0
