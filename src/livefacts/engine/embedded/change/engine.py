"""The embedded engine: facts and a plan in one process; changes in, deltas of ids out.

A change is followed stratum by stratum (level by level): first what is lost, then what is
gained.  Each level sees the facts below it as they were before the change, and takes what has
gone and what has come there one by one, so every instance of a rule is lost or gained exactly
once.

A change of rules takes two passes: rules and facts that go, under the old levels, then
those that come, under the new ones.

Papers: maintenance under changes of facts and rules (Volz et al., sections 3 and 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy

import numpy as np

from livefacts.engine.contract import TRIPLES, Change, Facts, Flags, IdDelta, Ids, joined
from livefacts.engine.embedded.change.level import BoundLevel
from livefacts.engine.embedded.kernel.driver import Interpreter
from livefacts.engine.embedded.schema.chase import NotSingleError
from livefacts.engine.embedded.schema.single_path import MakeSchema, SinglePath
from livefacts.errors import LimitError, RuleError
from livefacts.model.facts import Symbol
from livefacts.plan.rules.normal_form import TRUE
from livefacts.plan.rules.operators import Level, Plan
from livefacts.plan.rules.rule_change import RuleChange, rule_change
from livefacts.store.facts.layout import ASSERTED, EDGE, FRESH, IN_DEFAULT, LIVE, ROOT
from livefacts.store.facts.row_store import RowStore
from livefacts.store.terms.dictionary import Dictionary

ASSERTION = EDGE | ROOT | ASSERTED
COUNTING_DRED, DRED, COUNTING, RECOMPUTE = "counting-dred", "dred", "counting", "recompute"
MAINTENANCE = (COUNTING_DRED, DRED, COUNTING, RECOMPUTE)


class EmbeddedEngine:
    """Facts, their conclusions, and the plan that keeps them together."""

    is_specialised = False
    """Whether rules are followed as rules about the axioms that are there."""

    def __init__(
        self,
        dictionary: Dictionary,
        plan: Plan,
        *,
        single_path: bool = True,
        maintenance: str = COUNTING_DRED,
    ) -> None:
        self.dictionary = dictionary
        self.plan = plan
        self.limit: int | None = None
        self.uncounted: frozenset[int] = frozenset()
        """Predicates, by id, whose facts no limit counts."""
        self.on_progress: Callable[[int], None] = lambda made: None
        self.on_pause: Callable[[int], None] = lambda made: None
        """Hears what `on_progress` does, and before any limit counts; may end the change."""
        self.before_commit: Callable[[IdDelta], None] = lambda delta: None
        self.single_path = single_path
        self._maintenance = maintenance
        self._earlier: Interpreter | None = None
        self._start()

    def _start(self) -> None:
        """An empty store, with the plan bound to it."""
        self.store = RowStore()
        self.interpreter = Interpreter(self.store, self.dictionary, self._earlier)
        self._earlier = self.interpreter
        self.interpreter.on_pause = lambda made: self._check_progress(made)
        self._bind(self.plan)
        self._is_empty = True
        self._tell_true()

    def _bind(self, plan: Plan) -> None:
        self._check_counting(plan)
        self.plan = plan if self.single_path else plan.general()
        self._levels = [self._bound(level) for level in self.plan.levels or (Level(),)]
        self._set_dooms()

    def _set_dooms(self) -> None:
        mixed = any(level.single and level.single_is_mixed for level in self.plan.levels)
        self.interpreter.doom(singles=mixed, everything=self._maintenance == DRED)

    def _check_counting(self, plan: Plan) -> None:
        """Counting alone keeps facts that hold up each other: refuse it under recursion."""
        if self._maintenance != COUNTING:
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
        return BoundLevel(level, self.interpreter, self.dictionary, self._make_schema(level))

    def _make_schema(self, level: Level) -> MakeSchema | None:
        """Who makes an engine that closes the schema, where single triples are followed."""
        if not level.single or not self.single_path:
            return None

        def make() -> Callable[[Ids, Ids], IdDelta]:
            plan = Plan((Level(plans=level.single_plans),))
            schema = EmbeddedEngine(self.dictionary, plan, single_path=False)
            schema.interpreter.reports_reasons = True
            return lambda asserted, retracted: schema.apply(
                Change({TRIPLES: asserted}, retracted={TRIPLES: retracted})
            )

        return make

    def _tell_true(self) -> None:
        relation = self.store.relation(1 + len(TRUE.arguments))
        true = np.array([[self.dictionary.encode_one(Symbol(TRUE.name))]], np.int32)
        self.interpreter.give(relation, true, ASSERTION)

    # changes

    def apply(self, change: Change, *, keep: bool = True) -> IdDelta:
        """Make a change; all of it happens, or nothing.

        Unless it is to be kept, nothing happens: the delta is what would have happened.
        """
        if self._maintenance != RECOMPUTE or self._is_empty:
            rules = None if change.plan is None else self._rule_change(change.plan)
            if rules is None or (rules.keeps_single and not self._is_empty):
                try:
                    return self._follow(change, rules, keep)
                except NotSingleError:
                    return self._recompute(change, keep, single_path=False)
        return self._recompute(change, keep, self.single_path)

    def _rule_change(self, plan: Plan) -> RuleChange:
        return rule_change(self.plan, plan if self.single_path else plan.general())

    def _follow(self, change: Change, rules: RuleChange | None, keep: bool) -> IdDelta:
        """Follow a change through all levels, then commit or roll it back."""
        plan, levels = self.plan, self._levels
        try:
            self._pass(change, rules)
            delta = self.interpreter.delta()
            self._accept(delta)
        except BaseException:
            self._undo(plan, levels)
            raise
        if keep:
            self._settle()
        else:
            self._undo(plan, levels)
        return delta

    def _accept(self, delta: IdDelta) -> None:
        """Whoever has something against a change raises an error now."""
        self.before_commit(delta)

    def _pass(self, change: Change, rules: RuleChange | None = None) -> None:
        """Take a change through all levels."""
        self._retract(change)
        if rules is not None:
            self._drop_rules(rules)
            # Before anything is asserted: a rule that becomes recursive moves the instances
            # that it has, and a negation would already see what is asserted.
            self._adopt_rules(rules)
        self._assert(change)
        self._run_levels(change.triples(), rules)
        self._check_progress(self.interpreter.made)

    def _settle(self) -> None:
        self._is_empty = False
        for level in self._levels:
            level.settle()
        self.interpreter.commit()

    def _undo(self, plan: Plan, levels: list[BoundLevel]) -> None:
        """Undo the change under way, to the end even if interrupted: twice does no harm."""
        self._undo_change(self.interpreter.epoch, plan, levels)

    def _undo_change(self, epoch: int, plan: Plan, levels: list[BoundLevel]) -> None:
        try:
            self.interpreter.roll_back()
            self.plan, self._levels = plan, levels
            self._set_dooms()
            for level in levels:
                level.restore(epoch)
            if self._is_empty:
                self._tell_true()
        except KeyboardInterrupt:
            self._undo_change(epoch, plan, levels)
            raise

    def _run_levels(self, asserted: Ids, rules: RuleChange | None = None) -> None:
        if len(self._levels) == 1 and rules is None:
            self._levels[0].run_alone(asserted)
            return
        for number, level in enumerate(self._levels):
            level.run(asserted, None if rules is None else rules.levels[number])

    def _drop_rules(self, rules: RuleChange) -> None:
        """First pass: rules that go, under the old levels."""
        self._bind_kept(rules)
        for level, dropped in zip(self._levels, rules.dropped, strict=True):
            level.drop(dropped)
        self.interpreter.close_pass()

    def _bind_kept(self, rules: RuleChange) -> None:
        self._levels = [
            level.with_plans(kept) for level, kept in zip(self._levels, rules.kept, strict=True)
        ]

    def _adopt_rules(self, rules: RuleChange) -> None:
        """Second pass: the new levels; rules that have become recursive count as such."""
        self._check_counting(rules.plan)
        self.plan = rules.plan
        self._set_dooms()
        followed = next((level for level in self._levels if level.path is not None), None)
        self._levels = [
            self._adopted(level, followed if level.single else None) for level in rules.new_levels
        ]
        for level, kept in zip(self._levels, rules.losing, strict=True):
            level.lose_only(kept)
        for plan in rules.recursive:
            self._levels[0].move_to_recursive(plan)

    def _adopted(self, level: Level, followed: BoundLevel | None) -> BoundLevel:
        if followed is None:
            return BoundLevel(level, self.interpreter, self.dictionary, None)
        return BoundLevel(
            level, self.interpreter, self.dictionary, followed.make_schema, followed.path
        )

    def _retract(self, change: Change) -> None:
        for shape, ids in change.retracted.items():
            self.interpreter.take(self.store.relation(shape), ids, ASSERTED | IN_DEFAULT)
        for shape, ids in change.unmarked.items():
            self.interpreter.take(self.store.relation(shape), ids, IN_DEFAULT)
        for shape, ids in change.unnamed.items():
            self.interpreter.take(self.store.relation(shape), ids, ASSERTED)

    def _assert(self, change: Change) -> None:
        for shape, ids in change.facts.items():
            self.interpreter.give(self.store.relation(shape), ids, ASSERTION | IN_DEFAULT)
        for shape, ids in change.others.items():
            self.interpreter.give(self.store.relation(shape), ids, ASSERTION)

    def _check_progress(self, made: int) -> None:
        self.on_pause(made)
        derived = made - self.interpreter.asserted
        limit = derived if self.limit is None else self.limit
        if derived > limit and derived - self._made_uncounted() > limit:
            raise _limit_error(self.limit)
        self.on_progress(made)

    def _made_uncounted(self) -> int:
        """How many facts of the change under way no limit counts."""
        if not self.uncounted:
            return 0
        store = self.store
        return self._uncounted_of(
            {
                shape: store.columns(relation, store.with_flags(relation, FRESH))
                for shape, relation in store.shapes().items()
            }
        )

    def _uncounted_of(self, facts: Mapping[int, Ids]) -> int:
        names = [ids[:, 0] for shape, ids in facts.items() if shape != TRIPLES]
        return sum(int(np.isin(each, list(self.uncounted)).sum()) for each in names)

    def _recompute(self, change: Change, keep: bool, single_path: bool) -> IdDelta:
        """Draw all conclusions again from what was asserted; the delta is the difference."""
        old = copy(self)
        try:
            self.single_path = single_path
            self.plan = self.plan if change.plan is None else change.plan
            self._start()
            self._pass_within(old, old._asserted_after(change))
            self._settle()
            self.limit = old.limit
            delta = _difference(old, self)
            derived = sum(int(flags.sum()) for flags in delta.derived.values())
            self._check_progress(derived - self._uncounted_of(delta.added))
            self._accept(delta)
        except NotSingleError:
            self.__dict__.update(old.__dict__)
            return self._recompute(change, keep, single_path=False)
        except BaseException:
            self.__dict__.update(old.__dict__)
            raise
        if not keep:
            self.__dict__.update(old.__dict__)
        return delta

    def _pass_within(self, old: EmbeddedEngine, change: Change) -> None:
        """Take everything through all levels; what there was already does not count."""
        if old.limit is not None:
            self.limit = old.limit + sum(map(len, old.derived().values()))
        try:
            self._pass(change)
        except LimitError:
            raise _limit_error(old.limit) from None

    def _asserted_after(self, change: Change) -> Change:
        """Everything that is asserted when the change is made."""
        default, others = {}, {}
        for shape, relation in self.store.shapes().items():
            retracted, unmarked = change.retracted.get(shape), change.unmarked.get(shape)
            default[shape] = self._asserted_but(relation, IN_DEFAULT, [retracted, unmarked])
            unnamed = change.unnamed.get(shape)
            others[shape] = joined(self._asserted_but(relation, 0, [unnamed]), unmarked)
        return Change(_all(default, change.facts), _all(others, change.others))

    def _asserted_but(self, relation: int, graph: int, gone: Sequence[Ids | None]) -> Ids:
        """What is asserted in the default graph, or only elsewhere, but for facts that go."""
        asserted = self.store.flags(relation) & (LIVE | ASSERTED | IN_DEFAULT)
        is_asserted: Flags = asserted == LIVE | ASSERTED | graph
        for facts in gone:
            if facts is not None:
                is_asserted[self.store.find(relation, facts)] = False
        return self.store.columns(relation, np.flatnonzero(is_asserted))

    def beside(self) -> EmbeddedEngine:
        """Another engine under the same rules, in which nothing is asserted yet."""
        return EmbeddedEngine(self.dictionary, self.plan)

    # reading

    def asserted(self) -> Facts:
        """The facts that were asserted, by shape."""
        return self._with_flags(LIVE | ASSERTED)

    def held_ids(self) -> Iterator[Ids]:
        """The ids of all facts, and of all that is known of kinds of triples."""
        yield from self.store.all_ids()
        for level in self._levels:
            if level.path is not None:
                keys, heads = level.path.consequences()
                yield (keys[:, :2] - 1).astype(np.int32)
                yield heads

    def facts(self) -> Facts:
        """Everything that is true, hidden predicates included, by shape."""
        return self._with_flags(LIVE)

    def derived(self) -> Facts:
        """The conclusions: what is true and was not asserted, by shape."""
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

    def standing(self, shape: int, rows: Ids) -> Ids:
        """The flags of facts, 0 for those that are not there."""
        if not self.store.has(shape):
            return np.zeros(len(rows), np.int32)
        return self.store.find_flags(self.store.relation(shape), rows)

    @property
    def follows_single_triples(self) -> bool:
        """Whether some rules are followed by the consequences of single triples."""
        return self.single_path and any(level.single for level in self.plan.levels)

    def single_rules(self) -> list[str]:
        """The rules that are followed by the consequences of single triples."""
        if not self.follows_single_triples:
            return []
        return [rule.id for level in self.plan.levels for rule in level.single]

    @property
    def followed(self) -> SinglePath | None:
        """What knows the consequences of single triples, where they are followed."""
        return next((level.path for level in self._levels if level.path is not None), None)

    @property
    def derivations(self) -> int:
        """Rule instances found so far."""
        return self.interpreter.derivations


def _limit_error(limit: int | None) -> LimitError:
    return LimitError(
        f"the change derives more than {limit:,} facts; it was undone",
        hint="raise the limit, or look for a rule that makes ever new values",
    )


def _all(first: Facts, second: Facts) -> Facts:
    both = {shape: joined(first.get(shape), second.get(shape)) for shape in first | second}
    return {shape: ids for shape, ids in both.items() if len(ids)}


def _difference(old: EmbeddedEngine, new: EmbeddedEngine) -> IdDelta:
    added: Facts = {}
    removed: Facts = {}
    derived: dict[int, Flags] = {}
    before, after = old.facts(), new.facts()
    for shape in before | after:
        was = before.get(shape)
        now = after.get(shape)
        if now is not None and len(now):
            fresh = now if was is None else now[_is_missing(old, shape, now)]
            added[shape] = fresh
            rows = new.store.find(new.store.relation(shape), fresh)
            derived[shape] = new.store.flags(new.store.relation(shape))[rows] & ASSERTED == 0
        if was is not None and len(was):
            removed[shape] = was if now is None else was[_is_missing(new, shape, was)]
    return IdDelta(added, removed, derived)


def _is_missing(engine: EmbeddedEngine, shape: int, facts: Ids) -> Flags:
    missing: Flags = engine.store.find(engine.store.relation(shape), facts) == 0
    return missing
