"""The draft: one change on its way, read, checked, planned, applied and published.

Everything is read before anything is changed: what cannot be read leaves the state as it
was.  A stage that has nothing to do is skipped, so that a small change costs little.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import numpy as np
from pyoxigraph import NamedNode

from livefacts.engine.contract import IN_DEFAULT, TRIPLES, Change, Facts, IdDelta
from livefacts.errors import InterruptAfterChange
from livefacts.language.program import NO_PROGRAM, Program, Rule
from livefacts.model.time_points import time_point
from livefacts.model.work_bounds import within
from livefacts.plan.rules.operators import Plan
from livefacts.plan.time_lowering import Timing
from livefacts.service.change.arguments import stream_name
from livefacts.service.change.assertions import (
    NO_QUAD_CHANGE,
    AskedChange,
    Assertions,
    QuadChange,
    note,
    without,
)
from livefacts.service.change.delta import Delta
from livefacts.service.change.intake import Intake, ReadingOptions
from livefacts.service.change.patches import PatchSource, take_patches
from livefacts.service.change.retraction import Retraction
from livefacts.service.knowledge.recorder import PlannedChange
from livefacts.service.knowledge.state import State
from livefacts.service.knowledge.violations import NO_VIOLATIONS, Violated
from livefacts.service.merging.equality import with_equality
from livefacts.service.streams import reclamation
from livefacts.service.streams.timeline import NO_STREAM
from livefacts.syntax.input.rejects import Rejects
from livefacts.syntax.rule_sets import RuleSource, named_rules, open_rules

ONLY_TRIPLES = frozenset({TRIPLES})
NO_LIMIT = 1 << 62


class Draft:
    """What one change asserts and retracts, and the rules that come and go with it."""

    def __init__(self, state: State, rejects: Rejects | None = None) -> None:
        self._state = state
        self._rejects = rejects
        self._dropped: list[Rule] = []
        self._retraction: Retraction | None = None
        self._restored: Program | None = None
        self._files: list[str] = []
        self._loose = state.dictionary.loose
        if self._loose > reclamation.FEWEST_LOOSE:
            state.streams.terms.sweep()
            self._loose = state.dictionary.loose
        self._passing = state.dictionary.passing_but_labels
        self.intake = Intake(state.dictionary, state.prefixes)

    # read

    def add(self, facts: Any) -> None:
        """Facts that come: triples, Facts, tuples, text, or a Path to a file."""
        with self._passing:
            self.intake.take(facts, self._state.scopes)

    def load(self, path: Any, reading: ReadingOptions) -> None:
        """A file that comes."""
        with self._passing:
            self.intake.take_file(path, self._state.scope("f"), reading)
        self._files.append(str(path))

    @property
    def retraction(self) -> Retraction:
        """Facts that go."""
        if self._retraction is None:
            self._retraction = Retraction(self._state.dictionary, self._state.prefixes)
        return self._retraction

    def remove(self, facts: Any) -> None:
        """Facts that go, given as those that come."""
        if not _is_nothing(facts):
            with self._passing:
                self.retraction.take(facts)

    def patch(self, patch: PatchSource) -> None:
        """Facts that come and go, as RDF Patch."""
        if not _is_nothing(patch):
            with self._passing:
                take_patches(patch, self.intake, self.retraction)

    def add_rules(self, rules: RuleSource) -> None:
        """Rules that come, and the facts that come with them."""
        with self._passing:
            self.intake.take_program(with_equality(open_rules(rules), self._state.same_as))

    def remove_rules(self, rules: str | Rule | Sequence[str | Rule]) -> None:
        """Rules that go, by id or by text."""
        if not _is_nothing(rules):
            self._dropped += named_rules(self._state.program, rules)

    def restore(self, program: Program) -> None:
        """The rules of a new state, with the ids that they had."""
        self._restored = program

    # made

    def apply(self, *, keep: bool = True) -> Delta:
        """Make the change; all of it happens, or nothing.

        Unless it is to be kept, nothing happens: the delta is what would have happened.
        """
        state, asked, named = self._state, self._asked(), self._quad_change()
        read = state.dictionary.loose - self._loose
        before, after = state.program, self._program()
        if keep and state.recorder is not None:
            state.recorder.expect(self._planned(asked, named, (before, after)))
        try:
            ids = self._applied(after, asked, named, keep)
            delta = self._delta(asked, ids, named, (before, after))
            if keep:
                # The terms that were read are those of facts that are there now.
                state.dictionary.loosen(-read)
                self._publish(delta, asked, named)
            return delta
        finally:
            state.complete()

    @property
    def is_idle(self) -> bool:
        """Whether all of it is so already: nothing is asserted or retracted, and no rule moves."""
        asked, named = self._asked(), self._quad_change()
        return (
            self._program().rules == self._state.program.rules
            and not len(named.came)
            and not len(named.gone)
            and all((each & IN_DEFAULT).all() for each in asked.asserted_before.values())
            and not any((each & IN_DEFAULT).any() for each in asked.retracted_before.values())
        )

    def _planned(
        self, asked: AskedChange, named: QuadChange, programs: tuple[Program, Program]
    ) -> PlannedChange:
        """What a journal is to know of the change."""
        new = self.intake.program
        prefixes = self._state.prefixes | dict(programs[1].prefixes) | self.intake.prefixes
        added: Sequence[Rule] = ()
        if new is not NO_PROGRAM and self._restored is None:
            added = programs[1].rules[len(programs[0].minus(self._dropped)) :]
        rules, violated = (new, added, self._dropped), partial(self._violated, programs)
        return PlannedChange(asked, named, *rules, prefixes, violated, self._files)

    def _program(self) -> Program:
        """The program after the change."""
        program, new = self._state.program, self.intake.program
        if self._restored is not None:
            return self._restored
        if self._dropped:
            program = program.minus(self._dropped)
        return program if new is NO_PROGRAM else program.joined(new)

    def _quad_change(self) -> QuadChange:
        """What named graphs assert and retract."""
        quads, graphs = self.intake.quads(), self._state.graphs
        named = None if self._retraction is None else self._retraction.quads()
        if not len(quads) and (named is None or not len(named)):
            return NO_QUAD_CHANGE
        known = graphs.present(quads[:0] if named is None else named)
        # What one change both removes and adds is there afterwards, as it was before.
        gone, absent = without(known, quads), 0 if named is None else len(named) - len(known)
        return QuadChange(quads, graphs.missing(quads), gone, absent)

    def _asked(self) -> AskedChange:
        """What the default graph asserts and retracts, and how that stood before."""
        standing, retraction = self._state.truth.standing, self._retraction
        if retraction is None:
            return note(standing, self.intake.facts(), {}, 0)
        return note(standing, self.intake.facts(), retraction.facts(), retraction.strange)

    def _applied(
        self, program: Program, asked: AskedChange, named: QuadChange, keep: bool
    ) -> IdDelta:
        """Plan, check and follow the change; the old program comes back unless all goes well."""
        state, before = self._state, self._state.program
        plan, timing = None, state.streams.timeline.timing
        if program is not before:
            plan, timing = state.planned(program, asked.asserted)
        if program is not before or asked.asserted.keys() - ONLY_TRIPLES:
            state.arities.check(program, asked.asserted, asked.retracted)
        is_made = False
        try:
            if program is not before:
                state.adopt(program)
            ids = self._followed(self._change(asked, named, plan), timing, keep)
            is_made = True
        finally:
            if not (is_made and keep) and program is not before:
                state.adopt(before)
        return ids

    def _change(self, asked: AskedChange, named: QuadChange, plan: Plan | None) -> Change:
        """The change for the engine, in which a triple is asserted while any graph asserts it."""
        graphs, retracted = self._state.graphs, asked.retracted
        if named is NO_QUAD_CHANGE and (TRIPLES not in retracted or not len(graphs)):
            return Change(asked.asserted, retracted=retracted, plan=plan)
        graphs.make_room(len(named.came))
        others: Facts = {}
        unmarked: Facts = {}
        unnamed: Facts = {}
        if len(named.quads):
            others = {TRIPLES: np.ascontiguousarray(named.quads[:, :3])}
        if len(graphs) and TRIPLES in retracted:
            is_named = graphs.others(retracted[TRIPLES], named.gone)
            unmarked = {TRIPLES: retracted[TRIPLES][is_named]}
            retracted = {**retracted, TRIPLES: retracted[TRIPLES][~is_named]}
        if len(named.gone):
            triples = np.ascontiguousarray(named.gone[:, :3])
            unnamed = {TRIPLES: triples[~graphs.others(triples, named.gone)]}
        return Change(asked.asserted, others, retracted, unmarked, unnamed, plan)

    def _followed(self, change: Change, timing: Timing, keep: bool) -> IdDelta:
        """What the engine makes of the change, and of what it means for streams and windows."""
        state, streams = self._state, self._state.streams
        applied = state.versions.applied if state.versions.is_followed else state.truth.apply
        timeline = streams.timeline
        if timeline.now is None and timing is timeline.timing and not timing.background:
            return applied(change, keep=keep)
        with streams.under(change, timing, keep) as timed:
            return applied(timed, keep=keep)

    def _delta(
        self,
        asked: AskedChange,
        ids: IdDelta,
        named: QuadChange,
        programs: tuple[Program, Program],
    ) -> Delta:
        """The change as users see it."""
        state, intake = self._state, self.intake
        violated = NO_VIOLATIONS
        rules_move = self._dropped or intake.program is not NO_PROGRAM
        if rules_move or (ids.added.keys() | ids.removed.keys()) - ONLY_TRIPLES:
            violated = self._violated(programs, ids)
        return Delta(
            state.seq + 1,
            ids,
            state.reader,
            Assertions(asked, ids, named),
            violations=violated.came,
            resolved=violated.went,
            rejects=self._rejects,
            hints=intake.hints,
        )

    def _violated(self, programs: tuple[Program, Program], ids: IdDelta) -> Violated:
        """The violations that come and go."""
        state, moved = self._state, (*self.intake.program.rules, *self._dropped)
        return state.violations.changes(ids, *programs, moved, state.truth.facts, state.dictionary)

    def _publish(self, delta: Delta, asked: AskedChange, named: QuadChange) -> None:
        """The graphs follow, and everyone hears of it."""
        state, streams = self._state, self._state.streams
        if named is not NO_QUAD_CHANGE:
            state.graphs.change(named.came, named.gone)
        if self.intake.program is not NO_PROGRAM or self.intake.prefixes:
            state.prefixes |= dict(state.program.prefixes) | self.intake.prefixes
        state.publish(delta, named.came, named.gone)
        if streams.listener.is_heard:
            streams.listener.changed(
                state.program, asked.asserted, asked.retracted, named.came, named.gone
            )


def _is_nothing(given: object) -> bool:
    """Whether nothing was given at all."""
    return type(given) is tuple and not given


def arrivals(
    state: State, facts: Any, at: Any, stream: str | NamedNode | None, kind: str
) -> tuple[list[Facts], int, int]:
    """Facts of a stream in the order in which they came, their time point, and the stream."""
    dictionary, lanes = state.dictionary, state.streams.lanes
    if stream not in lanes:
        iri = NO_STREAM if stream is None else stream_name(stream)
        lanes[stream] = int(dictionary.encode_one(iri))
    point = time_point(at, state.program.tick or state.tick)
    if dictionary.loose > reclamation.FEWEST_LOOSE:
        state.streams.terms.sweep()
    intake = Intake(dictionary, state.prefixes)
    with dictionary.passing:
        intake.take(facts, state.scopes)
        runs = intake.in_order()
    state.arities.check_arrivals(state.program, runs)
    if state.recorder is not None:
        events = state.streams.events
        event = events is not None and events.is_pushing
        state.recorder.arrive(kind, runs, point, stream and stream_name(stream).value, event=event)
    return runs, point, lanes[stream]


def drafted(
    state: State,
    add: Any,
    remove: Any,
    patch: PatchSource,
    add_rules: RuleSource | None,
    remove_rules: str | Rule | Sequence[str | Rule],
) -> Draft:
    """The change that all of these make together."""
    draft = Draft(state)
    draft.add(add)
    draft.remove(remove)
    draft.patch(patch)
    if add_rules is not None:
        draft.add_rules(add_rules)
    draft.remove_rules(remove_rules)
    return draft


def draft_of(state: State, net: Mapping[Any, bool]) -> Draft:
    """The change that asserts some statements and retracts others."""
    draft = Draft(state)
    draft.add([statement for statement, is_asserted in net.items() if is_asserted])
    draft.remove([statement for statement, is_asserted in net.items() if not is_asserted])
    return draft


@contextmanager
def trial(state: State, net: Mapping[Any, bool]) -> Iterator[None]:
    """The state after a change, for a while; then everything is as before.

    The parts of a SPARQL Update see so what the parts before them did, and yet all of it is
    one change.
    """
    seq, limit, watches, recorder = state.seq, state.limit, state.watches, state.recorder
    state.recorder = None
    try:
        with (
            state.accepting_violations(),
            state.versions.keeping(),
            _trying(state),
            nullcontext() if watches is None else watches.quietly(),
        ):
            delta = _tried(state, net)
            try:
                yield
            finally:
                state.limit = NO_LIMIT
                _take_back(state, delta)
    finally:
        state.seq, state.limit, state.recorder = seq, limit, recorder


def _tried(state: State, net: Mapping[Any, bool]) -> Delta:
    """Make a change that is only tried; interrupted too late, it is taken back."""
    try:
        return draft_of(state, net).apply()
    except InterruptAfterChange as error:
        state.limit = NO_LIMIT
        _take_back(state, error.delta)
        raise KeyboardInterrupt from None


@contextmanager
def _trying(state: State) -> Iterator[None]:
    """Facts that come and go meanwhile are not counted."""
    state.is_trying = True
    try:
        yield
    finally:
        state.is_trying = False


def _take_back(state: State, delta: Delta) -> None:
    """Undo a change, to the end even if interrupted: doing it twice does no harm."""
    draft, net = Draft(state), delta.assertions
    draft.intake.take_rows(net.retracted, net.went)
    draft.retraction.take_rows(net.asserted, net.came)
    with within(None):
        try:
            draft.apply()
        except InterruptAfterChange:
            raise KeyboardInterrupt from None
        except KeyboardInterrupt:
            draft.apply()
            raise
