"""The timed engine: each fact holds until a time, and its conclusions say until when.

A fact is asserted until a time; a conclusion holds as long as its premise that expires
first, and of several derivations the longest counts.  A window that moves on thus removes
facts by looking at their times, not by reasoning.  A fact that ends before its time is ended
with `lower`.

The same state serves windows of every length over one stream: asserted with the time at which
it arrived instead of the one at which it expires, a fact is in the window of length r at time
g if its time is later than g - r.

Rules have atoms, comparisons and arithmetic only: whatever may begin because something
else ends has no time that is known beforehand.

Paper: Barbieri et al., section 3; sharing among windows is its open problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np

from livefacts.engine.contract import Flags, Ids
from livefacts.engine.embedded.expiry import lifetime_kernels as kernels
from livefacts.engine.embedded.expiry import timed_layout as timed
from livefacts.engine.embedded.expiry.runs import Longs, Runs
from livefacts.engine.embedded.kernel.bound_plans import relation_of
from livefacts.engine.embedded.kernel.registers import BoundPlans
from livefacts.errors import LimitError, LivefactsError
from livefacts.language.formula import Atom, Variable
from livefacts.language.program import Rule
from livefacts.model.facts import Symbol
from livefacts.plan.rules.expiry_plans import LastingPlanner, lasting_rules
from livefacts.plan.rules.normal_form import TRUE, positive_atoms
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary

FOREVER = int(timed.FOREVER)
"""The time of background facts, which do not end."""
NEVER = int(timed.NEVER)
"""The time of what does not hold."""
ROW_BITS = 0xFFFFFFFF
NO_TIMES = np.zeros(0, np.int64)
WAYS = {
    kernels.RAISE: attrgetter("raising"),
    kernels.FELL: attrgetter("falling"),
    kernels.REDERIVE: attrgetter("backward"),
}
"""Which of a rule's plans are run in a mode."""

Facts = Mapping[int, Ids]
"""Facts by shape."""
Until = int | Mapping[int, Longs]
"""One time for all facts, or by shape one for each."""


@dataclass(frozen=True, slots=True)
class ChangedTimes:
    """Facts of one shape, until when they held before a change, and until when they do now."""

    facts: Ids
    before: Longs
    until: Longs
    entries: Longs
    """Numbers of the facts: one keeps its number as long as it holds."""

    def came(self, after: int = NEVER) -> Ids:
        """The facts that last beyond a time, and did not before."""
        return self.facts[(self.before <= after) & (self.until > after)]

    def went(self, after: int = NEVER) -> Ids:
        """The facts that lasted beyond a time, and no longer do."""
        return self.facts[(self.before > after) & (self.until <= after)]

    def moved(self) -> Flags:
        """Which facts held before and still do, until another time."""
        flags: Flags = (self.before != NEVER) & (self.until != NEVER)
        return flags


@dataclass(frozen=True, slots=True)
class ExpiryDelta:
    """What a change has done, by shape; each fact is listed once."""

    shapes: dict[int, ChangedTimes] = field(default_factory=dict)

    def came(self, after: int = NEVER) -> dict[int, Ids]:
        """By shape, the facts that last beyond a time now; at all, if none is given."""
        found = {shape: changed.came(after) for shape, changed in self.shapes.items()}
        return {shape: facts for shape, facts in found.items() if len(facts)}

    def went(self, after: int = NEVER) -> dict[int, Ids]:
        """By shape, the facts that no longer last beyond a time; at all, if none is given."""
        found = {shape: changed.went(after) for shape, changed in self.shapes.items()}
        return {shape: facts for shape, facts in found.items() if len(facts)}


class BrokenEngineError(LivefactsError):
    """A change was interrupted when it was made and had not yet been reported."""


class ExpiringEngine:
    """Facts and their conclusions, each with the time until which it holds."""

    def __init__(self, dictionary: Dictionary, rules: Iterable[Rule] = ()) -> None:
        self.dictionary = dictionary
        self.limit: int | None = None
        """The largest number of facts that a change may derive."""
        self.uncounted: frozenset[int] = frozenset()
        """Predicates, by id, whose facts no limit counts."""
        self.on_progress: Callable[[int], None] = lambda made: None
        self._asserted = 0
        self._is_broken = False
        self._before: tuple[Rule, ...] | None = None
        """The rules from before the change under way."""
        self._rules: tuple[Rule, ...] = ()
        self._planner = LastingPlanner()
        self._runs = Runs(dictionary)
        self._runs.on_pause = lambda made: self._check_progress(made)
        self.store = self._runs.store
        self._bound: dict[int, BoundPlans] = {}
        """The plans of all rules, by the mode in which they are run."""
        if rules := tuple(rules):
            self.change_rules(rules)

    @property
    def now(self) -> int:
        """The time up to which everything that ended was removed."""
        return self._runs.now

    # changes

    def give(self, facts: Facts, until: Until) -> ExpiryDelta:
        """Assert facts until a time; one that holds longer already keeps its time."""
        return self.change(give=(facts, until))

    def lower(self, facts: Facts, until: Until = NEVER) -> ExpiryDelta:
        """Assert facts only until this time, or retract them.

        Their assertion changes, not what rules derive; a time that is later than the one
        they have changes nothing.
        """
        return self.change(lower=(facts, until))

    def found(self, rules: Iterable[Rule], asserted: Facts, concluded: Facts) -> None:
        """Begin with facts that hold for ever, and with all that follows from them by these rules.

        The engine is empty, and does not look for what others have found already.
        """
        assert not self.facts(), "an engine begins once"
        self.give(asserted, FOREVER)
        self._is_broken = True
        for shape, ids in concluded.items():
            self._runs.conclude(self.store.relation(shape), ids)
        self._bind(tuple(dict.fromkeys(lasting_rules(rules))))
        self._is_broken = False
        self.give(self._truth(self._rules), FOREVER)

    def change_rules(self, added: Iterable[Rule] = (), removed: Iterable[Rule] = ()) -> ExpiryDelta:
        """Adopt rules and give up others; one that is there or is not changes nothing."""
        return self.change(add_rules=added, remove_rules=removed)

    def change(
        self,
        *,
        give: tuple[Facts, Until] | None = None,
        lower: tuple[Facts, Until] | None = None,
        add_rules: Iterable[Rule] = (),
        remove_rules: Iterable[Rule] = (),
    ) -> ExpiryDelta:
        """All of it as one change, what goes before what comes; or nothing, if it fails."""
        self._check_sound()
        self._before = self._rules
        self._runs.limit = self.limit
        try:
            gone, new = self._change_of_rules(add_rules, remove_rules)
            self._asserted = 0
            self._lower(lower, gone)
            if give is not None:
                self._give(*give)
            self._give(self._truth(new), FOREVER)
            for rule in new:
                self._follow_all(rule, kernels.RAISE_GIVEN)
            if self._runs.has_risen:
                self._run(kernels.RAISE)
            self._check_progress(self._runs.made)
            delta = self._delta()
            self._runs.expect_endings()
        except BaseException:
            self._undo()
            raise
        self._settle()
        return delta

    def expire(self, now: int) -> ExpiryDelta:
        """Remove everything that holds only until `now` or less; says what went."""
        self._check_sound()
        self._is_broken = True
        entries = self._runs.take_ended(now)
        delta = ExpiryDelta()
        for shape, relation, mine in self._by_shape(entries):
            rows = entries[mine] & ROW_BITS
            until, _ = self._runs.times(relation, rows)
            facts = self.store.columns(relation, rows)
            never = np.full(len(rows), NEVER, np.int64)
            delta.shapes[shape] = ChangedTimes(facts, until, never, entries[mine])
            self._runs.remove(relation, rows)
        self._runs.now = max(self.now, now)
        self._is_broken = False
        return delta

    def reach_back(self, after: int) -> None:
        """From now on facts may be asserted again that ended later than this."""
        self._check_sound()
        self._runs.now = min(self.now, after)

    def _change_of_rules(
        self, added: Iterable[Rule], removed: Iterable[Rule]
    ) -> tuple[list[Rule], list[Rule]]:
        """Take other rules; returns those that are gone, and those that are new."""
        going = set(lasting_rules(removed))
        coming = [rule for rule in lasting_rules(added) if rule not in self._rules]
        gone = [rule for rule in self._rules if rule in going]
        new = list(dict.fromkeys(coming))
        if gone or new:
            self._bind((*(rule for rule in self._rules if rule not in going), *new))
        return gone, new

    def _truth(self, rules: Iterable[Rule]) -> Facts:
        """What is always true, if rules without premises look for it."""
        if not any(TRUE in rule.body for rule in rules):
            return {}
        true = np.array([[self.dictionary.encode_one(Symbol(TRUE.name))]], np.int32)
        return {1 + len(TRUE.arguments): true}

    def _bind(self, rules: tuple[Rule, ...]) -> None:
        self._rules, self._bound = rules, {}

    def _run(self, mode: int) -> None:
        """Take all rows that a mode is about, by plans that are bound the first time."""
        if mode not in self._bound:
            plans, way = self._planner.plans(self._rules), WAYS[mode]
            self._bound[mode] = self._runs.bind([plan for each in plans for plan in way(each)])
        self._runs.run(self._bound[mode], mode)

    def _lower(self, lower: tuple[Facts, Until] | None, gone: list[Rule]) -> None:
        """Let fall what held for longer, and raise it to what it is still derived for."""
        if lower is not None:
            for shape, facts, until in _dated(*lower):
                until[until <= self.now] = NEVER
                self._runs.retract(self.store.relation(shape), facts, until)
        for rule in gone:
            self._follow_all(rule, kernels.FELL_GIVEN)
        if self._runs.has_fallen:
            self._run(kernels.FELL)
            self._runs.fall()
            self._run(kernels.REDERIVE)

    def _give(self, facts: Facts, until: Until) -> None:
        made = self._runs.made
        for shape, given, times in _dated(facts, until):
            lasts = times > self.now
            if not lasts.all():
                given, times = given[lasts], times[lasts]
            self._runs.tell(self.store.relation(shape), given, times)
        self._asserted += self._runs.made - made

    def _follow_all(self, rule: Rule, mode: int) -> None:
        """Take every instance of one rule, from each fact that its first atom fits."""
        pivot = positive_atoms(rule)[0]
        relation = relation_of(self.store, pivot)
        given = self._candidates(pivot, relation) if self.store.live(relation) else NO_TIMES
        if len(given):
            self._runs.run(self._runs.bind([self._planner.forward(rule)]), mode, given)

    def _candidates(self, pivot: Atom, relation: int) -> Longs:
        rows = self.store.with_flags(relation)
        facts = self.store.columns(relation, rows)
        for column, slot in enumerate(pivot.slots):
            if not isinstance(slot, Variable):
                fits = facts[:, column] == self.dictionary.encode_one(slot)
                rows, facts = rows[fits], facts[fits]
        entries: Longs = rows | (relation << 32)
        return entries

    def _check_progress(self, made: int) -> None:
        derived = made - self._asserted
        limit = derived if self.limit is None else self.limit
        if derived > limit and derived - self._made_uncounted() > limit:
            raise LimitError(
                f"the change derives more than {limit:,} facts; it was undone",
                hint="raise limit= (@limit in the rules), or look for a rule that makes ever new values",
            )
        self.on_progress(made)

    def _made_uncounted(self) -> int:
        """How many facts of the change under way no limit counts."""
        if not self.uncounted:
            return 0
        log, found = self._runs.log(), 0
        made = log[log[:, 1] == NEVER, 0]
        for shape, relation, mine in self._by_shape(made):
            if shape != TRIPLES:
                names = self.store.columns(relation, made[mine] & ROW_BITS)[:, 0]
                found += int(np.isin(names, list(self.uncounted)).sum())
        return found

    # the end of a change

    def _delta(self) -> ExpiryDelta:
        delta, log = ExpiryDelta(), self._runs.log()
        for shape, relation, mine in self._by_shape(log[:, 0]):
            entries, before = log[mine, 0], log[mine, 1]
            until, _ = self._runs.times(relation, entries & ROW_BITS)
            has_changed = until != before
            if has_changed.any():
                entries, before, until = (each[has_changed] for each in (entries, before, until))
                facts = self.store.columns(relation, entries & ROW_BITS)
                delta.shapes[shape] = ChangedTimes(facts, before, until, entries)
        return delta

    def _by_shape(self, entries: Longs) -> Iterator[tuple[int, int, Flags]]:
        relations = entries >> 32
        for shape, relation in self.store.relations.items():
            mine = relations == relation
            if mine.any():
                yield shape, relation, mine

    def _undo(self) -> None:
        """Be as before the change; if this is interrupted, the next change begins with it."""
        assert self._before is not None
        self._runs.undo()
        if self._rules is not self._before:
            self._bind(self._before)
        self._before = None

    def _settle(self) -> None:
        """End the change; if this is interrupted, nobody knows what was changed."""
        self._is_broken = True
        self._before = None
        self._runs.settle()
        self._is_broken = False

    def _check_sound(self) -> None:
        if self._before is not None:
            self._undo()
        if self._is_broken:
            raise BrokenEngineError(
                "a change was interrupted when it was made and had not yet been reported",
                hint="make the engine anew, and assert everything again",
            )

    # reading

    def held_ids(self) -> Iterator[Ids]:
        """The ids of all facts."""
        return self.store.all_ids()

    def facts(self, after: int = NEVER, upto: int = FOREVER) -> dict[int, Ids]:
        """By shape, the facts that last beyond a time, and until another; all, if none is given."""
        found = {shape: self.rows(shape, after, upto)[0] for shape in self.store.relations}
        return {shape: facts for shape, facts in found.items() if len(facts)}

    def rows(
        self,
        shape: int,
        after: int = NEVER,
        upto: int = FOREVER,
        where: Mapping[int, int] | None = None,
    ) -> tuple[Ids, Longs]:
        """The facts of a shape that last beyond a time, and until when they hold.

        `upto` leaves out those that hold longer than that, `where` those that have other ids
        in these columns.
        """
        if shape not in self.store.relations:
            return np.zeros((0, 3 if shape == TRIPLES else shape), np.int32), NO_TIMES
        return self._runs.rows(self.store.relation(shape), where or {}, after, upto)

    def until(self, shape: int, facts: Ids) -> Longs:
        """Until when these facts hold; NEVER for those that do not."""
        return self._times(shape, facts)[0]

    def asserted(self, shape: int, facts: Ids) -> Longs:
        """Until when these facts were asserted to hold; NEVER for those that were not asserted."""
        return self._times(shape, facts)[1]

    def _times(self, shape: int, facts: Ids) -> tuple[Longs, Longs]:
        if shape not in self.store.relations:
            return (np.full(len(facts), NEVER, np.int64),) * 2
        relation = self.store.relation(shape)
        rows = self.store.find(relation, facts)
        until, asserted = self._runs.times(relation, rows)
        until[rows == 0] = NEVER
        asserted[(rows == 0) | (asserted <= self.now)] = NEVER
        return until, asserted


def _dated(facts: Facts, until: Until) -> Iterator[tuple[int, Ids, Longs]]:
    for shape, ids in facts.items():
        if isinstance(until, int):
            yield shape, ids, np.full(len(ids), until, np.int64)
        else:
            times = np.array(until[shape], np.int64)
            assert len(times) == len(ids), "each fact has a time"
            yield shape, ids, times
