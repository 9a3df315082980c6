"""The embedded engine: facts and a plan in one process; changes in, deltas of ids out.

A change is followed in the fact base, or, where that cannot be, everything is drawn anew in
another fact base, which takes the place of the first: undoing that is to go back to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from livefacts.engine.contract import (
    COUNTING_DRED,
    RECOMPUTE,
    TRIPLES,
    Change,
    Facts,
    IdDelta,
    Ids,
    RuleTally,
)
from livefacts.engine.embedded.change.fact_base import FactBase, Settings
from livefacts.engine.embedded.change.stored_facts import (
    FactPieces,
    asserted_after,
    difference,
    rows_of,
)
from livefacts.engine.embedded.kernel.driver import Interpreter
from livefacts.engine.embedded.proofs.backward_search import BoundRules
from livefacts.engine.embedded.schema.chase import NotSingleError
from livefacts.engine.embedded.schema.single_path import SinglePath
from livefacts.errors import LimitError
from livefacts.language.program import Rule
from livefacts.plan.rules.operators import Plan
from livefacts.plan.rules.plan_difference import RuleChange
from livefacts.store.facts.row_store import RowStore
from livefacts.store.facts.selection import KnownNames
from livefacts.store.terms.dictionary import Dictionary


class EmbeddedEngine:
    """Facts, their conclusions, and the plan that keeps them together."""

    def __init__(
        self,
        dictionary: Dictionary,
        plan: Plan,
        *,
        single_path: bool = True,
        maintenance: str = COUNTING_DRED,
        reports_reasons: bool = False,
    ) -> None:
        """With `reports_reasons`, deltas tell what rules have begun or ceased to derive."""
        self.dictionary = dictionary
        self.limit: int | None = None
        self.uncounted: frozenset[int] = frozenset()
        """Predicates, by id, whose facts no limit counts."""
        self.on_progress: Callable[[int], None] | None = None
        self.on_pause: Callable[[int], None] | None = None
        """Hears what `on_progress` does, and before any limit counts; may end the change."""
        self.before_commit: Callable[[IdDelta], None] = lambda delta: None
        self._maintenance = maintenance
        self._settings = Settings(
            dictionary, maintenance, reports_reasons, self._check_progress, self._schema_engine
        )
        self._base = FactBase(self._settings, plan, single_path)

    def _schema_engine(self, plan: Plan) -> Callable[[Ids, Ids], IdDelta]:
        schema = EmbeddedEngine(self.dictionary, plan, single_path=False, reports_reasons=True)
        return lambda asserted, retracted: schema.apply(
            Change({TRIPLES: asserted}, retracted={TRIPLES: retracted})
        )

    # changes

    def apply(self, change: Change, *, keep: bool = True) -> IdDelta:
        """Make a change; all of it happens, or nothing.

        Unless it is to be kept, nothing happens: the delta is what would have happened.
        """
        base = self._base
        if self._maintenance != RECOMPUTE or base.is_empty:
            rules = None if change.plan is None else base.rule_change(change.plan)
            if rules is None or (rules.keeps_single and not base.is_empty):
                try:
                    return self._follow(change, rules, keep)
                except NotSingleError:
                    return self._recompute(change, keep, single_path=False)
        return self._recompute(change, keep, base.single_path)

    def _follow(self, change: Change, rules: RuleChange | None, keep: bool) -> IdDelta:
        """Follow a change through all levels, then settle or undo it."""
        base = self._base
        base.interpreter.limit = self.limit
        before = base.plan, base.levels
        try:
            base.take(change, rules)
            if self.limit is not None or self.on_pause or self.on_progress:
                self._check_progress(base.interpreter.made)
            delta = base.interpreter.delta()
            self.before_commit(delta)
        except BaseException:
            base.undo(before)
            raise
        if keep:
            base.settle()
        else:
            base.undo(before)
        return delta

    def _recompute(self, change: Change, keep: bool, single_path: bool) -> IdDelta:
        """Draw all conclusions again from what was asserted; the delta is the difference."""
        old = self._base
        try:
            plan = old.plan if change.plan is None else change.plan
            self._base = self._new_base(old, plan, single_path)
            self._base.take(asserted_after(old.store, change))
            self._check_progress(self._base.interpreter.made)
            self._base.settle()
            delta = difference(old.store, self._base.store)
            derived = sum(int(flags.sum()) for flags in delta.derived.values())
            self._check_progress(derived - self._uncounted_of(delta.added))
            self.before_commit(delta)
        except NotSingleError:
            self._base = old
            return self._recompute(change, keep, single_path=False)
        except BaseException:
            self._base = old
            raise
        if not keep:
            self._base = old
        return delta

    def _new_base(self, old: FactBase, plan: Plan, single_path: bool) -> FactBase:
        """An empty fact base; conclusions that the old one has are not counted by limits."""
        known = 0 if self.limit is None else sum(map(len, self.derived().values()))
        base = FactBase(self._settings, plan, single_path, old.interpreter, known)
        base.interpreter.limit = None if self.limit is None else self.limit + known
        return base

    def _check_progress(self, made: int) -> None:
        if self.on_pause is not None:
            self.on_pause(made)
        if self.limit is not None:
            derived, limit = made - self._base.interpreter.asserted, self.limit + self._base.spared
            if derived > limit and derived - self._made_uncounted() > limit:
                raise LimitError(
                    f"the change derives more than {self.limit:,} facts; it was undone",
                    hint="raise limit= (@limit in the rules), or look for a rule that makes ever new values",
                )
        if self.on_progress is not None:
            self.on_progress(made)

    def _made_uncounted(self) -> int:
        """How many facts of the change under way no limit counts."""
        if not self.uncounted:
            return 0
        return self._uncounted_of({shape: self.made_so_far(shape) for shape in self.shapes()})

    def _uncounted_of(self, facts: Mapping[int, Ids]) -> int:
        names = [ids[:, 0] for shape, ids in facts.items() if shape != TRIPLES]
        return sum(int(np.isin(each, list(self.uncounted)).sum()) for each in names)

    def asserted_after(self, change: Change) -> Change:
        """Everything that is asserted once a change of facts is made."""
        return asserted_after(self.store, change)

    def made_so_far(self, shape: int) -> Ids:
        """The facts of a shape that the change under way has made."""
        return self._base.made_so_far(shape)

    def beside(self, plan: Plan | None = None) -> EmbeddedEngine:
        """Another engine under the same rules, or those of a plan, with nothing asserted yet."""
        return EmbeddedEngine(self.dictionary, self.plan if plan is None else plan)

    # reading

    def shapes(self) -> tuple[int, ...]:
        """The shapes of which there may be facts."""
        return tuple(self.store.relations)

    def rows(self, shape: int, derived: bool | None = None, names: KnownNames | None = None) -> Ids:
        """The facts of a shape; only conclusions, or only what was asserted; only these names."""
        return rows_of(self.store, shape, derived, names)

    def pieces(self) -> FactPieces:
        """The facts, to be looked at piece by piece; equal as long as they are in the same rows."""
        return FactPieces(self.store)

    def facts(self) -> Facts:
        """Everything that holds, hidden predicates included, by shape."""
        return {shape: self.rows(shape) for shape in self.shapes()}

    def asserted(self) -> Facts:
        """The facts that were asserted, by shape."""
        return {shape: self.rows(shape, derived=False) for shape in self.shapes()}

    def derived(self) -> Facts:
        """The conclusions: what holds and was not asserted, by shape."""
        return {shape: self.rows(shape, derived=True) for shape in self.shapes()}

    def holds(self, shape: int, fact: Ids) -> bool:
        """Whether a fact holds."""
        return bool(self.standing(shape, fact.reshape(1, -1))[0])

    def standing(self, shape: int, rows: Ids) -> Ids:
        """The flags of facts, 0 for those that are not there."""
        store = self._base.store
        if not store.has(shape):
            return np.zeros(len(rows), np.int32)
        return store.find_flags(store.relation(shape), rows)

    def held_ids(self) -> Iterator[Ids]:
        """The ids of all facts, and of all that is known of kinds of triples."""
        return self._base.held_ids()

    # how it works

    @property
    def plan(self) -> Plan:
        """The plan that is followed."""
        return self._base.plan

    @property
    def store(self) -> RowStore:
        """The facts as they are stored; for the rooms of this engine, and for tests."""
        return self._base.store

    @property
    def interpreter(self) -> Interpreter:
        """What drives the kernels; for the rooms of this engine, and for tests."""
        return self._base.interpreter

    @property
    def single_path(self) -> bool:
        """Whether rules may be followed by the consequences of single triples."""
        return self._base.single_path

    @property
    def followed(self) -> SinglePath | None:
        """What knows the consequences of single triples, where they are followed."""
        return self._base.followed

    @property
    def follows_single_triples(self) -> bool:
        """Whether some rules are followed by the consequences of single triples."""
        return self._base.follows_single_triples

    @property
    def derivations(self) -> int:
        """Rule instances found so far."""
        return self.interpreter.derivations

    def nbytes(self) -> int:
        """The memory of the facts, and of the change under way."""
        return self.interpreter.nbytes()

    def proofs(self, rules: Sequence[Rule]) -> BoundRules:
        """Rules over the facts of this moment, for a search of proofs."""
        return BoundRules(rules, self.store, self.dictionary)

    def tallies(self) -> list[RuleTally]:
        """What each rule has looked at, found and cost so far."""
        seconds = self.interpreter.seconds_per_tick()
        found = []
        for rule, tally in self.interpreter.tallies().items():
            looked_at, instances, new, ticks = tally.tolist()
            rules = (rule,) if rule else self._single_rules()
            if rule or (rules and looked_at):
                found.append(RuleTally(rules, looked_at, instances, new, ticks * seconds))
        return found

    def _single_rules(self) -> tuple[str, ...]:
        """The rules that are followed by the consequences of single triples."""
        if not self.follows_single_triples:
            return ()
        return tuple(rule.id for level in self.plan.levels for rule in level.single)

    def figures(self) -> dict[str, int | str]:
        """Terms, bytes, rule instances, and the path that rules take."""
        return {
            "terms": len(self.dictionary),
            "fact_bytes": self.store.nbytes(),
            "term_bytes": self.dictionary.nbytes,
            "rule_instances": self.derivations,
            "path": "single triples" if self.follows_single_triples else "general",
            "specialised": False,
        }
