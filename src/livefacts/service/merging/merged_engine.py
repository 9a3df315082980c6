"""The merged engine: it keeps two of each group of equal things, and answers for all.

Equalities that are asserted, or proven, make groups.  Of the members of a group that nothing
tells apart the engine keeps two, the stand-ins; it is given of them what was asserted of any
member, and follows the rules of equality as they are.  What is true is expanded on the way out,
and is exactly what the rules would conclude.  Where a group changes, what was asserted of its
members is given to the engine anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import (
    ASSERTED,
    HOLDS,
    IN_DEFAULT,
    NO_TRIPLES,
    TRIPLES,
    Change,
    Facts,
    Flags,
    IdDelta,
    Ids,
)
from livefacts.engine.embedded.templates.axiom_engine import SpecialisedEngine
from livefacts.language.checks.exchangeability import Obstacle
from livefacts.language.program import Rule
from livefacts.plan.rules.normal_form import VIOLATION
from livefacts.service.merging.derived_equalities import Following, FollowingError
from livefacts.service.merging.equality import has_equality, merging
from livefacts.service.merging.equality_support import Pair, Support
from livefacts.service.merging.expansion import Roles, StandIns
from livefacts.service.merging.group_steps import GroupStep, Stepping, have_any
from livefacts.service.merging.group_views import (
    Lens,
    changed_terms,
    lens_of,
)
from livefacts.service.merging.groups import HERE, RETRACTED, EqualGroup, Groups
from livefacts.service.merging.member_assertions import MemberAssertions, Row
from livefacts.store.facts.row_sets import rows_among, rows_without
from livefacts.store.facts.selection import KnownNames
from livefacts.store.terms.dictionary import Dictionary

if TYPE_CHECKING:
    from livefacts.service.explanations.proof_trees import Explanation

HIDDEN = "_"
MANY = 10_000
"""After so many conclusions a change is looked at for what is the same."""
NOTHING: Facts = {}


class NotPlainError(Exception):
    """A change tells members of a group apart."""

    def __init__(self, terms: set[int]) -> None:
        super().__init__(terms)
        self.terms = terms


class Merged:
    """What is true, of which an engine keeps the part that is about stand-ins."""

    def __init__(self, engine: SpecialisedEngine) -> None:
        self.engine = engine
        self.groups = Groups()
        self.assertions = MemberAssertions()
        self._stepping = Stepping(engine, self.groups, self.assertions)
        self._following = Following(engine, self.groups, self.assertions, self._stepping.plainness)
        self._roles = Roles()
        self._rules: Sequence[Rule] = ()
        self.obstacle: Obstacle | None = None
        """Why nothing is merged, if that is so."""
        self._visible = KnownNames(engine.dictionary, _is_visible)
        self.before_commit: Callable[[IdDelta], None] = lambda delta: None
        self._step: GroupStep | None = None
        self._touching: Facts = {}
        self._lens: Lens | None = None
        self._next_look = 0
        self._delta = IdDelta({}, {}, {})
        engine.before_commit = self._accept
        engine.hear_pauses(self._pause)

    @property
    def dictionary(self) -> Dictionary:
        return self.engine.dictionary

    @property
    def limit(self) -> int | None:
        """The largest number of facts that a change may derive, of those that the engine keeps."""
        return self.engine.limit

    def beside(self) -> Merged:
        """Another one under the same rules, in which nothing is asserted yet."""
        other = Merged(self.engine.beside())
        other._follow(self._rules)
        return other

    @property
    def same_as(self) -> int:
        """The id of owl:sameAs."""
        return self._stepping.plainness.same_as

    # changes

    def apply(self, change: Change, *, keep: bool = True) -> IdDelta:
        """Make a change; the net change of what is true, of all members."""
        rules = self._rules
        is_made = False
        if change.plan is not None:
            self._follow(change.plan.rules)
        lost = {pair: self.groups.proven[pair] for pair in self._losing(change)}
        found: dict[Pair, Support] = {}
        try:
            while True:
                try:
                    self._make(change, keep, lost, found)
                    break
                except NotPlainError as error:
                    self._stepping.plainness.known |= error.terms
                    self._stepping.doubted |= error.terms
                except FollowingError as error:
                    found |= error.found
            is_made = True
        finally:
            if change.plan is not None and not (is_made and keep):
                self._follow(rules)
        return self._delta

    def _follow(self, rules: Sequence[Rule]) -> None:
        """Take note of the rules that are followed; groups are looked at again."""
        stepping = self._stepping
        is_active = has_equality(rules)
        interchange = merging(rules)
        stepping.plainness.follow(interchange)
        self.obstacle = interchange.obstacle
        stepping.is_active, self._rules = is_active and self.obstacle is None, rules
        stepping.plainness.known.clear()
        for term in stepping.plainness.asserted_apart(self.engine.facts()):
            if term in self.groups.plain:
                stepping.plainness.known.update(self.groups.plain[term].plain)
        stepping.doubted.update(self.groups.connected_terms())

    def _losing(self, change: Change) -> set[Pair]:
        """The proven equalities that a change may end: they are proven anew, or go."""
        if not self.groups.proven:
            return set()
        if not self._stepping.is_active:
            return set(self.groups.proven)
        lost = self.groups.resting.on_facts(
            (shape, *row)
            for part in (change.retracted, change.unnamed)
            for shape, rows in part.items()
            for row in rows.tolist()
        )
        if change.plan is not None:
            lost |= self.groups.resting.on_other_rules({rule.key() for rule in self._rules})
        return lost

    def _make(
        self,
        change: Change,
        keep: bool,
        lost: Mapping[Pair, Support],
        found: Mapping[Pair, Support],
    ) -> None:
        step = self._stepping.step(change, lost, found)
        self._enter(step)
        self._next_look = MANY
        is_made = False
        try:
            self._look(step)
            self.engine.apply(step.change, keep=keep)
            is_made = True
        finally:
            self._step = None
            if is_made and keep:
                self._settle(step)
            else:
                self._leave(step)

    def _enter(self, step: GroupStep) -> None:
        """Groups that change are out of sight while the step is made."""
        for group in step.gone:
            self._roles.remove(*group.stand_ins)
        self._step = step

    def _settle(self, step: GroupStep) -> None:
        self.groups.replace(step.gone, step.come)
        self.assertions.replace(step.forgotten, step.remembered, step.counts)
        self._forget(term for pair in (*step.before, *step.lost) for term in pair)
        for group in step.come:
            self._roles.add(_standing(group))
        self._stepping.doubted.clear()

    def _forget(self, terms: Iterable[int]) -> None:
        """What is the same as nothing else need not be known to stay itself."""
        self._stepping.plainness.known.difference_update(
            term for term in terms if self.groups.is_alone(term)
        )

    def _leave(self, step: GroupStep) -> None:
        """Nothing has happened."""
        self._stepping.leave(step)
        for group in step.gone:
            self._roles.add(_standing(group))

    def _look(self, step: GroupStep) -> None:
        """What is true of groups that change, before they do."""
        self._touching, self._lens = {}, None
        if not step.gone and not step.come:
            return
        _, spoken = changed_terms(step, self.groups.plain)
        present: set[int] = set()
        for shape in self.engine.shapes():
            rows = self.engine.rows(shape, names=self._visible)
            found = rows[have_any(rows, spoken)]
            self._touching[shape] = found
            present.update(np.unique(found).tolist())
        self._lens = lens_of(step, present)

    # what has changed

    def _accept(self, delta: IdDelta) -> None:
        """The engine has made its change: say what that means, to whoever has a say in it."""
        assert self._step is not None, "a step is under way"
        self._check_plain(delta)
        if self._stepping.is_active:
            self._following.check(self._step, self._rules, delta.added.get(TRIPLES, NO_TRIPLES))
        added: dict[int, Ids] = {}
        removed: dict[int, Ids] = {}
        derived: dict[int, Flags] = {}
        for shape in {**delta.added, **delta.removed, **self._touching}:
            came, is_derived, went = self._net(shape, delta)
            added[shape], derived[shape], removed[shape] = came, is_derived, went
        self._delta = IdDelta(added, removed, derived)
        self.before_commit(self._delta)

    def _check_plain(self, delta: IdDelta) -> None:
        assert self._step is not None, "a step is under way"
        groups = {term: group for group in self._step.come for term in group.plain}
        terms: set[int] = set()
        for term in self._stepping.plainness.asserted_apart(delta.added):
            group = groups.get(term) or self.groups.plain.get(term)
            if group is not None and group not in self._step.gone:
                terms.update(group.plain)
        if terms:
            raise NotPlainError(terms)

    def _pause(self, made: int) -> None:
        """In the middle of a change: much may come of what is the same, unless it is merged."""
        if self._step is not None and self._stepping.is_active and made >= self._next_look:
            self._next_look = 2 * made
            self._following.check_stored(self._step, self._rules)

    def _net(self, shape: int, delta: IdDelta) -> tuple[Ids, Flags, Ids]:
        """What came, which of it was derived, and what went."""
        none = np.zeros((0, 3 if shape == TRIPLES else shape), np.int32)
        came, went = delta.added.get(shape, none), delta.removed.get(shape, none)
        is_derived = delta.derived.get(shape, np.zeros(0, np.bool_))
        ours, theirs = self._concerned(shape, came), self._concerned(shape, went)
        new = self._new() if shape == TRIPLES else came[~is_derived]
        # Equalities of others are asserted, though the engine concludes them from the stand-ins.
        is_derived = is_derived & ~rows_among(came, new)
        if not ours.any() and not theirs.any() and not len(self._touching.get(shape, none)):
            return came, is_derived, went
        more, less = self._expanded(shape, came[ours], went[theirs])
        return (
            np.concatenate([came[~ours], more]),
            np.concatenate([is_derived[~ours], ~rows_among(more, new)]),
            np.concatenate([went[~theirs], less]),
        )

    def _concerned(self, shape: int, rows: Ids) -> Flags:
        """Which rows are about stand-ins, or about groups that change; hidden ones are left."""
        found = self._roles.touched(rows)
        if self._lens is not None:
            found |= self._lens.concerned(rows)
        if shape != TRIPLES and len(rows):
            found &= self._are_visible(rows)
        return found

    def _expanded(self, shape: int, came: Ids, went: Ids) -> tuple[Ids, Ids]:
        are_triples = shape == TRIPLES
        if self._lens is not None:
            ours, theirs = self._lens.concerned(came), self._lens.concerned(went)
            before = self._touching.get(shape, came[:0])
            more, less = self._lens.difference(
                before, went[theirs], came[ours], are_triples=are_triples
            )
            came = np.concatenate([came[~ours], more])
            went = np.concatenate([went[~theirs], less])
        return (
            self._roles.expanded(came, are_triples=are_triples),
            self._roles.expanded(went, are_triples=are_triples),
        )

    def _new(self) -> Ids:
        assert self._step is not None, "a step is under way"
        return _as_ids(self._step.new)

    # what is true

    def _are_visible(self, rows: Ids) -> Flags:
        marks = np.empty(len(rows), np.bool_)
        self._visible.mark(rows, marks)
        return marks

    def shapes(self) -> tuple[int, ...]:
        """The shapes of which there may be facts."""
        return self.engine.shapes()

    def rows(self, shape: int, derived: bool | None = None, names: KnownNames | None = None) -> Ids:
        """The facts of a shape, of all members; only conclusions, or only what was asserted."""
        if derived is False:
            return self._asserted_rows(shape, names)
        kept = self.engine.rows(shape, names=names)
        rows = self._roles.expanded(kept, are_triples=shape == TRIPLES)
        return rows_without(rows, self._asserted_rows(shape, names)) if derived else rows

    def _asserted_rows(self, shape: int, names: KnownNames | None) -> Ids:
        asserted = self.engine.rows(shape, False, names)
        if shape != TRIPLES or not self.groups.of:
            return asserted
        return np.concatenate([self.others(asserted), self._asserted_of_members()])

    def facts(self) -> Facts:
        """Everything that holds, of all members; hidden predicates only of violations."""
        return {shape: self.rows(shape, names=self._visible) for shape in self.shapes()}

    def asserted(self) -> Facts:
        """The facts that were asserted."""
        return {shape: self.rows(shape, derived=False) for shape in self.shapes()}

    def derived(self) -> Facts:
        """What holds and was not asserted, of all members; hidden predicates, too."""
        return {shape: self.rows(shape, derived=True) for shape in self.shapes()}

    def _is_replaced(self, rows: Ids) -> Flags:
        """Which triples the engine was given in place of others."""
        same = rows[:, 1] == self._stepping.plainness.same_as
        members = np.fromiter(self.groups.of, np.int32, len(self.groups.of))
        plain = np.fromiter(self.groups.plain, np.int32, len(self.groups.plain))
        links = same & (rows[:, 0] != rows[:, 2]) & np.isin(rows[:, 0], members)
        found: Flags = links | np.isin(rows, plain).any(axis=1)
        return found

    def _asserted_of_members(self) -> Ids:
        same = self._stepping.plainness.same_as
        links = [(x, same, y) for x, y in self.groups.asserted if x in self.groups.of]
        return _as_ids([*self.assertions.states, *links])

    def holds(self, shape: int, fact: Ids) -> bool:
        """Whether a fact is true."""
        return any(
            self.engine.holds(shape, np.array([each], np.int32))
            for each in self._stood_for(fact.reshape(-1).tolist())
        )

    def _stood_for(self, cells: list[int]) -> list[tuple[int, ...]]:
        """The facts about stand-ins, one of which must be true for a fact to be."""
        members: dict[EqualGroup, list[int]] = {}
        for cell in dict.fromkeys(cells):
            if cell in self.groups.plain:
                members.setdefault(self.groups.plain[cell], []).append(cell)
        choices = [
            [dict(zip(terms, chosen, strict=True)) for chosen in _labels(group, len(terms))]
            for group, terms in members.items()
        ]
        found = []
        for chosen in product(*choices):
            names = {term: name for each in chosen for term, name in each.items()}
            found.append(tuple(names.get(cell, cell) for cell in cells))
        return found

    def standing(self, shape: int, rows: Ids) -> NDArray[np.int32]:
        """The flags of facts: whether they are true, and how they are asserted."""
        flags = self.engine.standing(shape, rows)
        if shape != TRIPLES or not self.groups.of:
            return flags
        for at in np.flatnonzero(self._is_replaced(rows)).tolist():
            row: Row = tuple(rows[at].tolist())
            state = self._state(row)
            true = HOLDS if state or self.holds(shape, rows[at]) else 0
            flags[at] = true | (ASSERTED if state else 0) | (IN_DEFAULT if state == HERE else 0)
        return flags

    def _state(self, row: Row) -> int:
        s, p, o = row
        if p == self._stepping.plainness.same_as and s != o:
            return self.groups.asserted.get((s, o), RETRACTED)
        return self.assertions.states.get(row, RETRACTED)

    def held_ids(self) -> Iterator[Ids]:
        """The ids of what the engine keeps, and of what was asserted of members."""
        yield from self.engine.held_ids()
        yield np.array([*self.groups.asserted, *self.groups.proven], np.int32).reshape(-1, 2)
        yield _as_ids(self.assertions.states)

    def others(self, triples: Ids) -> Ids:
        """Of triples that named graphs or streams assert, those that the engine is given as they are."""
        return triples[~self._is_replaced(triples)] if self.groups.of else triples

    def explain(
        self, fact: object, rules: Sequence[Rule], prefixes: Mapping[str, str]
    ) -> Explanation:
        """Why a fact holds, or what is missing for it."""
        from livefacts.service.merging.merged_proofs import explain_merged

        return explain_merged(fact, rules, self, prefixes)

    def figures(self) -> dict[str, int | str]:
        """How many groups are merged, how much is in them and how much follows, or why none are."""
        return self.engine.figures() | {
            "merged_groups": len(set(self.groups.of.values())),
            "merged_terms": len(self.groups.plain),
            "equalities_merged_by_proof": len(self.groups.proven),
            **({} if self.obstacle is None else {"unmerged": str(self.obstacle)}),
        }


def _is_visible(name: str) -> bool:
    return not name.startswith(HIDDEN) or name.startswith(VIOLATION)


def _standing(group: EqualGroup) -> StandIns:
    return StandIns(*group.stand_ins, np.array(group.plain, np.int32))


def _labels(group: EqualGroup, count: int) -> list[tuple[int, ...]]:
    """The stand-ins for some different members; for more than two, in every way."""
    first, second = group.stand_ins
    if count <= 2:
        return [(first, second)[:count]]
    return list(product((first, second), repeat=count))


def _as_ids(rows: object) -> Ids:
    found = np.array(sorted(rows), np.int32)  # type: ignore[call-overload]
    return found if len(found) else NO_TRIPLES
