"""The template engine: rules that read axioms are followed as the instances made for them.

Of the generic program, templates are replaced by their instances for the axioms that are
asserted (`plan.rules.specialisation`).  When axioms come and go, so do instances, in the same
change.

That is exact as long as nothing of what templates read is merely derived: an instance for
such an axiom would be missing.  A change that derives one is rolled back and made again with
the generic rules, and the engine stays with them.  In the same way, rules that have nothing
to do without owl:sameAs are left out until there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from livefacts.engine.contract import Change, IdDelta, Ids
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.engine.embedded.templates.instances import Foreseen, Specialised
from livefacts.plan.rules.operators import Plan
from livefacts.plan.rules.specialisation import reading_of
from livefacts.store.facts.row_store import TRIPLES


class DerivedAxiomError(Exception):
    """A change concludes something that templates read."""


class UnguardedError(Exception):
    """A change concludes something that rules wait for which have been left out."""


class SpecialisedEngine(EmbeddedEngine):
    """An engine whose rules are specialised for the axioms that are asserted."""

    def __init__(self, *args: Any, single_path: bool = True, **options: Any) -> None:
        self._special: Specialised | None = None
        self._foreseen = Foreseen()
        self._generic: Plan | None = None
        self._specialises = single_path
        super().__init__(*args, single_path=single_path, **options)

    @property
    def is_specialised(self) -> bool:  # type: ignore[override]
        """Whether rules are followed as rules about the axioms that are there."""
        return self._special is not None

    def held_ids(self) -> Iterator[Ids]:
        """The ids of all facts, and of the axioms that rules were made for."""
        yield from super().held_ids()
        if self._special is not None:
            yield from self._special.held_ids()

    def apply(self, change: Change, *, keep: bool = True) -> IdDelta:
        """Make a change; all of it happens, or nothing.

        Unless it is to be kept, nothing happens: the delta is what would have happened.
        """
        special, generic = self._special, self._generic
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
        if special.axioms_in(TRIPLES, self.derived()[TRIPLES]).any():
            return
        asserted = self._asserted_after(replace(change, plan=None))
        special.settle(special.foresee(asserted))
        special.open_guards(self.facts().get(TRIPLES))
        self._special = special

    def _specialised(self, change: Change, keep: bool) -> IdDelta:
        special = self._special
        if special is None:
            return super().apply(change, keep=keep)
        foreseen = special.foresee(change) if change.plan is None else special.gone_with(change)
        is_made = False
        try:
            self._foreseen = foreseen
            delta = self._guarded(special, change, keep)
            is_made = True
            return delta
        except DerivedAxiomError:
            self._special = None
            return super().apply(replace(change, plan=self._generic), keep=keep)
        finally:
            if is_made and keep:
                special.settle(foreseen)
            else:
                special.forget(foreseen)

    def _guarded(self, special: Specialised, change: Change, keep: bool) -> IdDelta:
        """Make a change with rules left out that wait for something; with them if it comes."""
        special.open_guards(change.triples())
        while True:
            plan = special.plan(self.plan)
            try:
                return super().apply(replace(change, plan=plan), keep=keep)
            except UnguardedError:
                special.guards_are_open = True

    def _accept(self, delta: IdDelta) -> None:
        special = self._special
        if special is not None:
            if special.concludes_axioms(delta, self._foreseen, self.store):
                raise DerivedAxiomError
            if special.needs_guarded(delta):
                raise UnguardedError
        super()._accept(delta)
