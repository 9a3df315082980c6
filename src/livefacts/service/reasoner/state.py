"""Knowledge: the facts, rules and conclusions of a reasoner, and how one change of them is made.

A change is taken in, followed by the engine, and published: all of it happens, or nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from livefacts.engine.contract import IdDelta, Ids
from livefacts.engine.embedded.change.engine import Change, Facts
from livefacts.engine.embedded.templates.template_engine import SpecialisedEngine
from livefacts.errors import RuleError, ViolationError
from livefacts.language.checks.safety import check
from livefacts.language.checks.strata_change import Restratifier
from livefacts.language.checks.warnings import warn_of_rules
from livefacts.language.program import Program, Rule
from livefacts.model.durations import SECOND, Duration, read_tick
from livefacts.model.time_points import time_point
from livefacts.plan import compile_rules
from livefacts.plan.rules.operators import Plan
from livefacts.plan.time_lowering import Timing, lowered
from livefacts.service.change.arities import Shapes
from livefacts.service.change.assertions import NO_QUADS, AskedChange, Assertions, note, without
from livefacts.service.change.delta import Delta, Violation
from livefacts.service.change.fact_reader import FactReader
from livefacts.service.change.intake import Intake, ReadingOptions
from livefacts.service.change.interrupts import Interrupts
from livefacts.service.change.patches import PatchSource, take_patches
from livefacts.service.change.retraction import Withdrawal
from livefacts.service.change.truth import Truth
from livefacts.service.merging.equality import MERGE, warn_of_obstacle, with_equality
from livefacts.service.queries.query_view import QueryView
from livefacts.service.reasoner.violations import Violated, Violations
from livefacts.service.streams.streams import Streams
from livefacts.service.streams.time_warnings import warn_of
from livefacts.store.compiled import announce_compilation
from livefacts.store.facts.named_graphs import NamedGraphs
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax import rule_sets
from livefacts.syntax.input.rejects import Rejects
from livefacts.syntax.rule_sets import RuleSource, named_rules

if TYPE_CHECKING:
    from livefacts.service.continuous.watches import Watching
    from livefacts.service.merging.merged_engine import Merged
    from livefacts.service.reasoner.axiom_index import AxiomIndex
    from livefacts.service.reasoner.saving import OpenFolder


class Knowledge:
    """The parts that a reasoner consists of; they change together."""

    _base: OpenFolder | None = None
    _axiom_index: AxiomIndex | None = None

    def __init__(
        self,
        limit: int | None,
        refuses: bool,
        maintenance: str,
        single_path: bool,
        start: Any,
        tick: str | Duration | None,
        same_as: str,
    ) -> None:
        announce_compilation()
        self._dictionary = Dictionary()
        self._reader = FactReader(self._dictionary)
        self._violations = Violations(self._dictionary)
        self._graphs = NamedGraphs()
        self._limit = limit
        self._refuses = refuses
        self._program = Program()
        self._same_as = same_as
        self._restratifiers = Restratifier(), Restratifier()
        self._engine = SpecialisedEngine(
            self._dictionary, compile_rules(()), single_path=single_path, maintenance=maintenance
        )
        self._interrupts = Interrupts()
        self._merged = _merged(self._engine) if same_as == MERGE else None
        self._truth: Truth = self._merged or self._engine
        self._truth.before_commit = self._decide
        self._queries = QueryView(self._truth, self._reader, self._graphs)
        self._tick = read_tick(tick)
        self._streams = Streams(self._truth, self._graphs, self._moved)
        self._shapes = Shapes(self._dictionary, self._reader, self._truth)
        self._streams.terms.ask(self._shapes)
        if start is not None:
            self._streams.timeline.first = time_point(start, self._tick)
        self.prefixes: dict[str, str] = {}
        """Prefixes that queries may use undeclared; loaded files and rules add theirs."""
        self._scopes: Iterator[object] = count(1)
        self._watching: Watching | None = None
        self._seq = 0
        self._shown = 0

    def _asked(
        self,
        add: Any,
        remove: Any,
        patch: PatchSource,
        add_rules: RuleSource | None,
        remove_rules: str | Rule | Sequence[str | Rule],
    ) -> tuple[Intake, Withdrawal, list[Rule]]:
        """What a change comes with, what it withdraws, and the rules that it drops."""
        intake, outtake = self._facts(add), Withdrawal(self._dictionary, self.prefixes)
        outtake.take(remove)
        take_patches(patch, intake, outtake)
        if add_rules is not None:
            intake.take_program(with_equality(rule_sets.open_rules(add_rules), self._same_as))
        return intake, outtake, named_rules(self._program, remove_rules)

    def _facts(self, facts: Any) -> Intake:
        intake = Intake(self._dictionary, self.prefixes)
        if isinstance(facts, str):
            intake.take_text(facts, self._scope("t"))
        elif isinstance(facts, os.PathLike):
            intake.take_file(facts, self._scope("f"), ReadingOptions())
        else:
            intake.take_objects(facts)
        return intake

    def _take(
        self,
        intake: Intake,
        outtake: Withdrawal | None = None,
        dropped: Sequence[Rule] = (),
        rejects: Rejects | None = None,
        *,
        keep: bool = True,
    ) -> Delta:
        """Make one change of what was taken in; all of it happens, or nothing."""
        outtake = outtake or Withdrawal(self._dictionary)
        asserted, retracted, quads = intake.facts(), outtake.facts(), intake.quads()
        gone, absent = self._leaving(outtake, quads)
        came = self._graphs.missing(quads)
        asked = note(self._truth.standing, asserted, retracted, outtake.strange)
        before, program = self._program, self._program.minus(dropped).joined(intake.program)
        with self._complete():
            with self._under(program, keep, asserted, retracted) as (plan, timing):
                asserted_change = self._change(asserted, quads, dict(retracted), gone, plan)
                self._graphs.make_room(len(came))
                with self._timed(asserted_change, timing, keep) as change:
                    ids = self._truth.apply(change, keep=keep)
            if keep:
                self._graphs.change(came, gone)
            violated = self._violated(ids, before, program, (*intake.program, *dropped))
            delta = Delta(
                self._seq + 1,
                ids,
                self._reader,
                Assertions(asked, ids, came, gone, absent),
                violations=violated.came,
                resolved=violated.went,
                rejects=rejects,
                hints=intake.hints,
            )
            if keep:
                self.prefixes |= dict(self._program.prefixes) | intake.prefixes
                self._publish(delta, came, gone)
                self._streams.listener.changed(program, asserted, retracted, came, gone)
            return delta

    def _leaving(self, outtake: Withdrawal, quads: Ids) -> tuple[Ids, int]:
        """The quads that a change takes away, and how many it names that are not there."""
        known = self._graphs.present(outtake.quads())
        # What one change both removes and adds is there afterwards, as it was before.
        return without(known, quads), len(outtake.quads()) - len(known)

    @contextmanager
    def _under(
        self, program: Program, keep: bool, asserted: Facts, retracted: Facts
    ) -> Iterator[tuple[Plan | None, Timing]]:
        """A program that fits what is told, its plan if it is new, and what it needs to know of time.

        The old one comes back unless all goes well.
        """
        self._check_tick(program)
        plan, timing = self._planned(program, asserted)
        self._shapes.check(program, asserted, retracted)
        before, self._program = self._program, program
        self._engine.limit = self._limit if self._limit is not None else program.limit
        try:
            yield plan, timing
        except BaseException:
            self._program = before
            raise
        if not keep:
            self._program = before

    def _planned(self, program: Program, asserted: Facts) -> tuple[Plan | None, Timing]:
        """The plan of a program with other rules than now, and what it needs to know of time."""
        if program.has_rules_of(self._program):
            return None, self._streams.timeline.timing
        checking, planning = self._restratifiers
        strata = check(program, self._program, checking)
        warn_of_rules(program, self._program)
        low = lowered(program, self._tick, strata)
        if low.rules is not program.rules:
            warn_of(program, self._program, self._tick, asserted, self._dictionary)
        known = strata if low.rules is program.rules else None
        plan = compile_rules(low.rules, known, self._engine.plan, planning)
        if self._merged is not None:
            warn_of_obstacle(plan.rules, self._merged.obstacle)
        return plan, low.timing

    def _check_tick(self, program: Program) -> None:
        """A time point lasts as long as it did when the first fact came."""
        if program.tick is None or program.tick == self._program.tick:
            return
        known = self._tick or (self._program.tick or SECOND if self._streams.has_begun else None)
        if known is not None and known != program.tick:
            raise RuleError(
                f"a time point lasts {known} already, and cannot last {program.tick}",
                hint="a reasoner has one tick, before the first fact or query of a stream",
            )

    def _change(
        self, asserted: Facts, quads: Ids, retracted: Facts, gone: Ids, plan: Plan | None
    ) -> Change:
        """The change for the engine, in which a triple counts as told while any graph tells it."""
        named = {TRIPLES: np.ascontiguousarray(quads[:, :3])} if len(quads) else {}
        unmarked: Facts = {}
        unnamed: Facts = {}
        if len(self._graphs) and TRIPLES in retracted:
            is_named = self._graphs.others(retracted[TRIPLES], gone)
            unmarked = {TRIPLES: retracted[TRIPLES][is_named]}
            retracted[TRIPLES] = retracted[TRIPLES][~is_named]
        if len(gone):
            triples = np.ascontiguousarray(gone[:, :3])
            unnamed = {TRIPLES: triples[~self._graphs.others(triples, gone)]}
        return Change(asserted, named, retracted, unmarked, unnamed, plan)

    def _timed(self, change: Change, timing: Timing, keep: bool) -> AbstractContextManager[Change]:
        """The change with what it means for facts of streams and windows, where there are any."""
        if (
            self._streams.now is None
            and timing is self._streams.timeline.timing
            and not timing.background
        ):
            return nullcontext(change)
        return self._streams.under(change, timing, keep)

    def _publish(self, delta: Delta, came: Ids, gone: Ids) -> None:
        self._seq += 1
        self._shown += len(delta.added) - len(delta.removed)
        self._queries.follow(delta, came, gone)
        if self._watching is not None:
            self._watching.follow(delta, self._seq, came, gone)
        if self._streams.now is not None:
            self._streams.beginnings.note(self._streams.now, delta.ids)

    @contextmanager
    def _complete(self) -> Iterator[None]:
        """What is decided in here is told to everyone before Ctrl-C counts, then calls are made."""
        try:
            with self._interrupts:
                yield
        finally:
            self._call_watchers()

    def _call_watchers(self) -> None:
        """Call those who watch, now that a change is complete."""
        if self._watching is not None:
            self._watching.call()

    def _moved(self, change: Change) -> Delta:
        """Make a change that time brings."""
        ids = self._truth.apply(change) if change != Change() else IdDelta({}, {}, {})
        delta = self._delta_of(ids)
        self._publish(delta, NO_QUADS, NO_QUADS)
        return delta

    def _delta_of(self, ids: IdDelta) -> Delta:
        nothing = AskedChange({}, {}, {}, {})
        return Delta(
            self._seq + 1,
            ids,
            self._reader,
            Assertions(nothing, ids, NO_QUADS, NO_QUADS, 0),
            violations=list(self._violations_in(ids.added, self._program)),
            resolved=list(self._violations_in(ids.removed, self._program)),
        )

    def _summed(self, deltas: Sequence[Delta]) -> Delta:
        self._seq -= 1
        try:
            return self._delta_of(self._streams.net([delta.ids for delta in deltas]))
        finally:
            self._seq += 1

    def _violations_in(self, facts: Mapping[int, Ids], program: Program) -> Iterator[Violation]:
        return self._violations.among(facts, program)

    def _violated(
        self, ids: IdDelta, before: Program, after: Program, moved: Sequence[Rule]
    ) -> Violated:
        """The violations that came and went with a change of facts and of these rules."""
        return self._violations.changes(ids, before, after, moved, self._truth.facts)

    def _decide(self, delta: IdDelta) -> None:
        """The last word on a change: from here on it happens, and Ctrl-C waits for its end."""
        if self._refuses:
            self._check_constraints(delta)
        self._interrupts.hold()

    def _check_constraints(self, delta: IdDelta) -> None:
        for violation in self._violations_in(delta.added, self._program):
            raise ViolationError(
                f"the change violates {violation}; it was undone",
                place=self._program.rule(violation.constraint).place,
                hint='on_violation="report" lists violations instead',
            )

    def _scope(self, kind: str) -> bytes:
        return f"{kind}{next(self._scopes)}".encode()


def _merged(engine: SpecialisedEngine) -> Merged:
    from livefacts.service.merging.merged_engine import Merged

    return Merged(engine)
