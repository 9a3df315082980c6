"""The fact base: facts in a store, their conclusions, and the plan that keeps them together.

A change is followed stratum by stratum (level by level): first what is lost, then what is
gained.  Each level sees the facts below it as they were before the change, and takes what has
gone and what has come there one by one, so every instance of a rule is lost or gained exactly
once.

A change of rules takes two passes: rules and facts that go, under the old levels, then
those that come, under the new ones.

Papers: maintenance under changes of facts and rules (Volz et al., sections 3 and 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from livefacts.engine.contract import COUNTING, DRED, Change, IdDelta, Ids
from livefacts.engine.embedded.change.level import Aggregates, BoundLevel
from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.driver import Interpreter
from livefacts.engine.embedded.schema.single_path import MakeSchema, SinglePath
from livefacts.errors import RuleError
from livefacts.model.facts import Symbol
from livefacts.model.work_bounds import within
from livefacts.plan.rules.normal_form import TRUE
from livefacts.plan.rules.operators import Level, Plan
from livefacts.plan.rules.plan_difference import RuleChange, rule_change
from livefacts.store.facts import bits
from livefacts.store.facts.row_store import RowStore
from livefacts.store.terms.dictionary import Dictionary

ASSERTION = bits.EDGE | bits.ROOT | bits.ASSERTED
SchemaEngines = Callable[[Plan], Callable[[Ids, Ids], IdDelta]]
"""Makes an engine that closes the schema under a plan, and gives its method to change it."""
Binding = tuple[Plan, list[BoundLevel]]
"""What undoing a change goes back to."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How all fact bases of one engine work."""

    dictionary: Dictionary
    maintenance: str
    reports_reasons: bool
    on_pause: Callable[[int], None]
    schema_engines: SchemaEngines


class FactBase:
    """Facts, their conclusions, and the plan that keeps them together."""

    def __init__(
        self,
        settings: Settings,
        plan: Plan,
        single_path: bool,
        earlier: Interpreter | None = None,
        spared: int = 0,
    ) -> None:
        """`earlier` is an interpreter whose tallies go on here."""
        self._settings = settings
        self._dictionary = settings.dictionary
        self.single_path = single_path
        self.spared = spared
        """How many conclusions of the change under way no limit counts: they are not new."""
        self.store = RowStore()
        self.interpreter = Interpreter(self.store, self._dictionary, earlier)
        self.interpreter.on_pause = settings.on_pause
        self.interpreter.reports_reasons = settings.reports_reasons
        self._bind(plan)
        self.is_empty = True
        self._assert_true()

    def _bind(self, plan: Plan) -> None:
        self._check_counting(plan)
        self.plan = plan if self.single_path else plan.general()
        self.levels = [self._bound(level) for level in self.plan.levels or (Level(),)]
        self._set_dooms()

    def _set_dooms(self) -> None:
        mixed = any(level.single and level.single_is_mixed for level in self.plan.levels)
        self.interpreter.doom(singles=mixed, everything=self._settings.maintenance == DRED)

    def _check_counting(self, plan: Plan) -> None:
        """Counting alone keeps facts that hold up each other: refuse it under recursion."""
        if self._settings.maintenance != COUNTING:
            return
        for level in plan.levels:
            for each in level.plans + level.single_plans:
                if each.recursive or each.transitive:
                    raise RuleError(
                        f"rule {each.rule.id} is recursive: counting alone would keep facts "
                        "that hold up each other",
                        place=each.rule.place,
                        hint='maintenance="counting-dred" counts and is right',
                    )

    def _bound(self, level: Level) -> BoundLevel:
        return BoundLevel(level, self.interpreter, self._dictionary, self._make_schema(level))

    def _make_schema(self, level: Level) -> MakeSchema | None:
        """Who makes an engine that closes the schema, where single triples are followed."""
        if not level.single or not self.single_path:
            return None
        return lambda: self._settings.schema_engines(Plan((Level(plans=level.single_plans),)))

    def _assert_true(self) -> None:
        relation = self.store.relation(1 + len(TRUE.arguments))
        true = np.array([[self._dictionary.encode_one(Symbol(TRUE.name))]], np.int32)
        self.interpreter.give(relation, true, ASSERTION)

    # changes

    def rule_change(self, plan: Plan) -> RuleChange:
        """What another plan changes."""
        return rule_change(self.plan, plan if self.single_path else plan.general())

    def take(self, change: Change, rules: RuleChange | None = None) -> None:
        """Take a change through all levels; it is under way until it is settled or undone."""
        store, interpreter = self.store, self.interpreter
        for facts, support in (
            (change.retracted, bits.ASSERTED | bits.IN_DEFAULT),
            (change.unmarked, bits.IN_DEFAULT),
            (change.unnamed, bits.ASSERTED),
        ):
            for shape, ids in facts.items():
                interpreter.change(code.LOSE, store.relation(shape), ids, support)
        if rules is not None:
            self._drop_rules(rules)
            # Before anything is asserted: a rule that becomes recursive moves the instances
            # that it has, and a negation would already see what is asserted.
            self._adopt_rules(rules)
        for facts, support in (
            (change.facts, ASSERTION | bits.IN_DEFAULT),
            (change.others, ASSERTION),
        ):
            for shape, ids in facts.items():
                known = store.relations.get(shape)
                relation = store.relation(shape) if known is None else known
                interpreter.change(code.GAIN, relation, ids, support)
        loses = change.retracted or change.unmarked or change.unnamed
        if len(self.levels) == 1 and rules is None and not loses:
            self.levels[0].run_alone(change)
        else:
            for number, level in enumerate(self.levels):
                level.run(change, None if rules is None else rules.levels[number])

    def settle(self) -> None:
        """End the change; what it has made is there to stay."""
        self.is_empty = False
        self.spared = 0
        for level in self.levels:
            if level.is_unsettled:
                level.settle()
        self.interpreter.commit()

    def undo(self, before: Binding) -> None:
        """Undo the change under way, to the end even if interrupted: twice does no harm."""
        with within(None):
            self._undo_change(self.interpreter.epoch, before)

    def _undo_change(self, epoch: int, before: Binding) -> None:
        try:
            self.interpreter.roll_back()
            self.plan, self.levels = before
            self._set_dooms()
            for level in self.levels:
                level.restore(epoch)
            if self.is_empty:
                self._assert_true()
        except KeyboardInterrupt:
            self._undo_change(epoch, before)
            raise

    def _drop_rules(self, rules: RuleChange) -> None:
        """First pass: rules that go, under the old levels."""
        self._bind_kept(rules)
        for level, dropped in zip(self.levels, rules.dropped, strict=True):
            level.drop(dropped)
        self.interpreter.close_pass()

    def _bind_kept(self, rules: RuleChange) -> None:
        self.levels = [
            level.with_plans(kept) for level, kept in zip(self.levels, rules.kept, strict=True)
        ]

    def _adopt_rules(self, rules: RuleChange) -> None:
        """Second pass: the new levels; rules that have become recursive count as such."""
        self._check_counting(rules.plan)
        self.plan = rules.plan
        self._set_dooms()
        followed = next((level for level in self.levels if level.path is not None), None)
        known = {plan: each for level in self.levels for plan, each in level.aggregates.items()}
        self.levels = [
            self._adopted(level, followed if level.single else None, known)
            for level in rules.new_levels
        ]
        for level, kept in zip(self.levels, rules.losing, strict=True):
            level.lose_only(kept)
        for plan in rules.recursive:
            self.levels[0].move_to_recursive(plan)

    def _adopted(self, level: Level, followed: BoundLevel | None, known: Aggregates) -> BoundLevel:
        make_schema = None if followed is None else followed.make_schema
        path = None if followed is None else followed.path
        return BoundLevel(level, self.interpreter, self._dictionary, make_schema, path, known)

    # reading

    def made_so_far(self, shape: int) -> Ids:
        """The facts of a shape that the change under way has made."""
        relation = self.store.relation(shape)
        return self.store.columns(relation, self.store.with_flags(relation, bits.LIVE | bits.FRESH))

    def held_ids(self) -> Iterator[Ids]:
        """The ids of all facts, and of all that is known of kinds of triples."""
        yield from self.store.all_ids()
        for level in self.levels:
            if level.path is not None:
                keys, heads = level.path.consequences()
                yield (keys[:, :2] - 1).astype(np.int32)
                yield heads

    @property
    def followed(self) -> SinglePath | None:
        """What knows the consequences of single triples, where they are followed."""
        return next((level.path for level in self.levels if level.path is not None), None)

    @property
    def follows_single_triples(self) -> bool:
        """Whether some rules are followed by the consequences of single triples."""
        return self.single_path and any(level.single for level in self.plan.levels)
