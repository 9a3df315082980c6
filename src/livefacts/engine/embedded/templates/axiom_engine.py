"""The axiom engine: rules that read axioms are followed as the instances made for them.

It stands around an embedded engine.  Of the generic program, templates are replaced by their
instances for the axioms that are asserted (`plan.rules.specialisation`).  When axioms come and go, so do
instances, in the same change.

That is exact as long as nothing of what templates read is merely derived: an instance for
such an axiom would be missing.  A change that derives one is rolled back and made again with
the generic rules, and the engine stays with them.  In the same way, rules that have nothing
to do without owl:sameAs are left out until there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from livefacts.engine.contract import TRIPLES, Change, Facts, IdDelta, Ids
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.engine.embedded.proofs.backward_search import BoundRules
from livefacts.engine.embedded.templates.instances import Foreseen, Specialised
from livefacts.language.program import Rule
from livefacts.plan import compile_rules
from livefacts.plan.rules.operators import Plan
from livefacts.plan.rules.specialisation import reading_of
from livefacts.store.facts.selection import KnownNames
from livefacts.store.terms.dictionary import Dictionary


class DerivedAxiomError(Exception):
    """A change derives something that templates read."""


class UnguardedError(Exception):
    """A change derives something that rules wait for which have been left out."""


class SpecialisedEngine:
    """An engine whose rules are specialised for the axioms that are asserted."""

    def __init__(self, engine: EmbeddedEngine) -> None:
        self._engine = engine
        self._special: Specialised | None = None
        self._foreseen = Foreseen()
        self._generic: Plan | None = None
        self._specialises = engine.single_path
        self.before_commit: Callable[[IdDelta], None] = lambda delta: None
        engine.before_commit = self._accept

    @property
    def dictionary(self) -> Dictionary:
        """The terms of all ids."""
        return self._engine.dictionary

    @property
    def limit(self) -> int | None:
        """The largest number of facts that a change may derive."""
        return self._engine.limit

    def beside(self) -> SpecialisedEngine:
        """Another one under the same rules, in which nothing is asserted yet."""
        other = SpecialisedEngine(self._engine.beside(compile_rules(())))
        if self._generic is not None:
            other.apply(Change(plan=self._generic))
        return other

    # changes

    def apply(self, change: Change, *, keep: bool = True) -> IdDelta:
        """Make a change; all of it happens, or nothing.

        Unless it is to be kept, nothing happens: the delta is what would have happened.
        """
        special, generic = self._special, self._generic
        if special is None and change.plan is None:
            return self._engine.apply(change, keep=keep)
        is_made = False
        try:
            if change.plan is not None:
                self._read_rules(change, change.plan)
            delta = self._specialised(change, keep)
            is_made = True
        finally:
            if not (is_made and keep):
                self._special, self._generic = special, generic
        return delta

    def _read_rules(self, change: Change, plan: Plan) -> None:
        """Where rules change, look at all of them, and at everything that is asserted."""
        self._generic, self._special = plan, None
        reading = reading_of(plan.rules)
        if not self._specialises or not reading.templates:
            return
        special = Specialised(reading, self.dictionary)
        if special.axioms_in(TRIPLES, self.rows(TRIPLES, derived=True)).any():
            return
        special.settle(special.foresee(self._engine.asserted_after(change)))
        special.open_guards(self.rows(TRIPLES))
        self._special = special

    def _specialised(self, change: Change, keep: bool) -> IdDelta:
        special = self._special
        if special is None:
            return self._engine.apply(change, keep=keep)
        foreseen = special.foresee(change) if change.plan is None else special.gone_with(change)
        is_made = False
        try:
            self._foreseen = foreseen
            delta = self._guarded(special, change, keep)
            is_made = True
            return delta
        except DerivedAxiomError:
            self._special = None
            return self._engine.apply(replace(change, plan=self._generic), keep=keep)
        finally:
            if is_made and keep:
                special.settle(foreseen)
            else:
                special.forget(foreseen)

    def _guarded(self, special: Specialised, change: Change, keep: bool) -> IdDelta:
        """Make a change with rules left out that wait for something; with them if it comes."""
        special.open_guards(change.triples())
        while True:
            plan = special.plan(self._engine.plan)
            try:
                return self._engine.apply(replace(change, plan=plan), keep=keep)
            except UnguardedError:
                special.guards_are_open = True

    def _accept(self, delta: IdDelta) -> None:
        special = self._special
        if special is not None:
            if special.derives_axioms(delta, self._foreseen, self.standing):
                raise DerivedAxiomError
            if special.needs_guarded(delta):
                raise UnguardedError
        self.before_commit(delta)

    def hear_pauses(self, hear: Callable[[int], None]) -> None:
        """Call with how much a change under way has made; that may end it."""
        self._engine.on_pause = hear

    def made_so_far(self, shape: int) -> Ids:
        """The facts of a shape that the change under way has made."""
        return self._engine.made_so_far(shape)

    # reading

    def shapes(self) -> tuple[int, ...]:
        """The shapes of which there may be facts."""
        return self._engine.shapes()

    def rows(self, shape: int, derived: bool | None = None, names: KnownNames | None = None) -> Ids:
        """The facts of a shape; only conclusions, or only what was asserted; only these names."""
        return self._engine.rows(shape, derived, names)

    def facts(self) -> Facts:
        """Everything that holds, hidden predicates included, by shape."""
        return self._engine.facts()

    def asserted(self) -> Facts:
        """The facts that were asserted, by shape."""
        return self._engine.asserted()

    def derived(self) -> Facts:
        """The conclusions: what holds and was not asserted, by shape."""
        return self._engine.derived()

    def holds(self, shape: int, fact: Ids) -> bool:
        """Whether a fact holds."""
        return self._engine.holds(shape, fact)

    def standing(self, shape: int, rows: Ids) -> Ids:
        """The flags of facts, 0 for those that are not there."""
        return self._engine.standing(shape, rows)

    def held_ids(self) -> Iterator[Ids]:
        """The ids of all facts, and of the axioms that rules were made for."""
        yield from self._engine.held_ids()
        if self._special is not None:
            yield from self._special.held_ids()

    def proofs(self, rules: Sequence[Rule]) -> BoundRules:
        """Rules over the facts of this moment, for a search of proofs."""
        return self._engine.proofs(rules)

    def instances(self) -> Sequence[Rule] | None:
        """The rules that are followed in the place of those that were written, if there are any."""
        return None if self._special is None else self._engine.plan.rules

    def figures(self) -> dict[str, int | str]:
        """Those of the embedded engine, and whether rules are specialised."""
        return self._engine.figures() | {"specialised": self._special is not None}
