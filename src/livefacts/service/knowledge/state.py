"""The state of a reasoner: its facts, rules, graphs, streams and queries, which change together.

A `Draft` changes it; whoever watches hears of the change when all parts say the same.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

from pyoxigraph import NamedNode

from livefacts.engine.contract import MAINTENANCE, NO_CHANGE, Change, Engine, Facts, IdDelta, Ids
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.engine.embedded.templates.axiom_engine import SpecialisedEngine
from livefacts.errors import InterruptAfterChange, OptionError, RuleError, ViolationError
from livefacts.language.checks.safety import check
from livefacts.language.checks.strata_change import Restratifier
from livefacts.language.checks.warnings import warn_of_rules
from livefacts.language.program import Program, Rule
from livefacts.model.durations import SECOND, Duration, read_tick
from livefacts.model.time_points import time_point
from livefacts.model.work_bounds import WorkBounds, check_bounds, under_way, within
from livefacts.plan import compile_rules
from livefacts.plan.rules.operators import Plan
from livefacts.plan.time_lowering import Timing, lower_time
from livefacts.service.change.arities import PredicateArities
from livefacts.service.change.assertions import NO_ASSERTIONS, NO_QUAD_CHANGE
from livefacts.service.change.delta import Delta
from livefacts.service.change.fact_reader import FactReader
from livefacts.service.continuous.watch_positions import WatchPositions
from livefacts.service.knowledge.violations import Violations
from livefacts.service.merging.equality import MERGE, warn_of_obstacle
from livefacts.service.queries.fact_versions import FactVersions, VersionStamp
from livefacts.service.streams.time_movement import Streams
from livefacts.service.streams.time_warnings import warn_of
from livefacts.store.critical_sections import Held
from livefacts.store.facts.named_graphs import NamedGraphs
from livefacts.store.machine_code import announce_compilation
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.id_reader import TermReader

if TYPE_CHECKING:
    from livefacts.kb.tables import KnowledgeBase
    from livefacts.kb.unsaved_changes import UnsavedChanges
    from livefacts.service.continuous.watches import Watching
    from livefacts.service.knowledge.axiom_index import AxiomIndex
    from livefacts.service.knowledge.recorder import Origin, Recorder
    from livefacts.service.merging.merged_engine import Merged
    from livefacts.service.queries.question import QueryOptions
    from livefacts.service.queries.results import QueryResult
    from livefacts.service.registered.registry import Registrations

NOTHING = nullcontext()
UNIVERSITIES = (
    "http://livefacts.example/university#",
    "http://swat.cse.lehigh.edu/onto/univ-bench.owl#",
)
"""Vocabularies of university data, generated and LUBM: `ub:` stands for the one that is loaded."""
NO_DELTA = IdDelta({}, {}, {})
READ = "read"
"""The kind of a row of the journal that says how far a query or a watch was read."""
WATCH = "watch"
"""The kind of a row that says that a watch with a name begins, or ends."""
REPORT, REFUSE = "report", "refuse"
UNREGISTER = "unregister"
"""The kind of a row of the journal that says that a query was closed."""


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """The folder that a state was read from, and the version that it goes on from."""

    base: KnowledgeBase
    seq: int


@dataclass(frozen=True, slots=True)
class Options:
    """How a reasoner was asked to work."""

    limit: int | None
    refuses: bool
    maintenance: str
    single_path: bool
    start: Any
    tick: str | Duration | None
    same_as: str
    timeout: float | None = None
    memory: int | None = None


class State:
    """The parts that a reasoner consists of."""

    recorder: Recorder | None = None
    """Writes every change into a journal, where there is one."""
    unsaved: UnsavedChanges | None = None
    """What has changed since the last version of the folder, for who will write the next one."""
    _spoken_of: tuple[tuple[TermReader, int] | None, dict[str, str]] = None, {}
    """Terms that were looked at for vocabularies of universities, and prefixes of those there."""

    def __init__(self, options: Options) -> None:
        announce_compilation()
        self.same_as = options.same_as
        self.refuses = options.refuses
        """Whether a change that violates a constraint is undone."""
        self.tick = read_tick(options.tick)
        self.program = Program()
        self.prefixes: dict[str, str] = {}
        """Prefixes that queries may use undeclared; loaded files and rules add theirs."""
        self.seq = 0
        self.shown = 0
        """How many facts are true and shown."""
        self.is_trying = False
        """Whether changes are made that will be taken back."""
        self.folder: OpenFolder | None = None
        self.axiom_index: AxiomIndex | None = None
        self.watches: Watching | None = None
        self.made: Delta | None = None
        """The change under way, from when it is made until it is over."""
        self.scopes: Iterator[object] = count(1)
        self.interrupts = Held()
        self.changing = threading.RLock()
        """Held by whoever changes something."""
        self._restratifiers = Restratifier(), Restratifier()
        self._make_engine(options)
        check_bounds(timeout=options.timeout, memory=options.memory, limit=options.limit)
        self.limit = options.limit
        self._timeout, self._memory = options.timeout, options.memory
        self._make_readers()
        if options.start is not None:
            self.streams.log.first = time_point(options.start, self.tick)

    def like_this(self) -> State:
        """An empty state that works as this one does."""
        return State(replace(self._options, limit=self.limit, tick=self.tick))

    def _make_engine(self, options: Options) -> None:
        self._options = options
        self.dictionary = Dictionary()
        self.graphs = NamedGraphs()
        self.engine = EmbeddedEngine(
            self.dictionary,
            compile_rules(()),
            single_path=options.single_path,
            maintenance=options.maintenance,
        )
        self.specialised = SpecialisedEngine(self.engine)
        self.merged = _merged(self.specialised) if self.same_as == MERGE else None
        self.truth: Engine = self.merged or self.specialised
        """What is asserted and true; where equal things are merged, the engine has a part of it."""
        self.truth.before_commit = self._decide

    def _make_readers(self) -> None:
        self.watched = WatchPositions(lambda given: self.note(WATCH, given), self.note_read)
        self._reads: dict[str, Mapping[str, Any]] = {}
        self._unnoted: dict[str, Mapping[str, Any]] = {}
        """Positions of readers, and those of them that are not in the journal yet."""
        self.reader = FactReader(self.dictionary)
        self.violations = Violations()
        self.offsets: dict[str, Origin] = {}
        """How far each source was read that changes have come from."""
        self.keys: dict[str, int] = {}
        """The changes that were made with a key."""
        self.versions = FactVersions(
            self.truth, self.reader, self.graphs, self.changing, self._stamp
        )
        self.streams = Streams(self.truth, self.graphs, self.moved)
        self.arities = PredicateArities(self.dictionary, self.reader, self.truth)
        self.streams.terms.ask(self.arities)
        self.streams.terms.ask(self.versions)

    # rules

    @property
    def limit(self) -> int | None:
        """The largest number of facts that one change may derive, whatever the program says."""
        return self._limit

    @limit.setter
    def limit(self, limit: int | None) -> None:
        self._limit = limit
        self.adopt(self.program)

    def adopt(self, program: Program) -> None:
        """The program is this one from now on, and so is its limit."""
        self.program = program
        self.engine.limit = self._limit if self._limit is not None else program.limit

    def planned(self, program: Program, asserted: Facts) -> tuple[Plan | None, Timing]:
        """The plan of a program with other rules than now, and what it needs to know of time."""
        self._check_tick(program)
        if program.has_rules_of(self.program):
            return None, self.streams.timeline.timing
        checking, planning = self._restratifiers
        strata = check(program, self.program, checking)
        warn_of_rules(program, self.program)
        low = lower_time(program, self.tick, strata)
        if low.rules is not program.rules:
            warn_of(program, self.program, self.tick, asserted, self.dictionary)
        known = strata if low.rules is program.rules else None
        plan = compile_rules(low.rules, known, self.engine.plan, planning)
        if self.merged is not None:
            warn_of_obstacle(plan.rules, self.merged.obstacle)
        return plan, low.timing

    @property
    def present_tick(self) -> Duration | None:
        """How long a time point lasts; None: a second, where it matters."""
        return self.program.tick or self.tick

    def _check_tick(self, program: Program) -> None:
        """A time point lasts as long as it did when the first fact came."""
        if program.tick is None or program.tick == self.program.tick:
            return
        if self.tick is not None and self.tick != program.tick:
            raise RuleError(
                f"the rules say @tick {program.tick}, and tick= (--tick) says {self.tick}",
                hint="a reasoner has one tick: leave one of them out",
            )
        known = self.program.tick or SECOND if self.streams.has_begun else None
        if known is not None and known != program.tick:
            raise RuleError(
                f"a time point lasts {known} already, and cannot last {program.tick}",
                hint="a reasoner has one tick, before the first fact or query of a stream",
            )

    def followed(self) -> tuple[Rule, ...]:
        """The rules as the engine follows them: without formulas of time."""
        return lower_time(self.program, self.tick).rules

    # bounds

    @cached_property
    def is_bounded(self) -> bool:
        """Whether every change has bounds."""
        return self._timeout is not None or self._memory is not None

    def bounded(
        self, timeout: float | None = None, memory: int | None = None
    ) -> AbstractContextManager[None]:
        """Inside the `with`, a change takes no longer and needs no more memory than it may."""
        timeout = self._timeout if timeout is None else timeout
        memory = self._memory if memory is None else memory
        if timeout is None and memory is None:
            return NOTHING
        return within(WorkBounds(timeout, memory, self._kept))

    def _kept(self) -> int:
        """Bytes of facts and terms, and of the change under way."""
        return self.engine.nbytes() + self.dictionary.nbytes

    # the end of a change

    def _decide(self, delta: IdDelta) -> None:
        """The last word on a change: from here on it happens, and Ctrl-C waits for its end."""
        # What was too quick for a look on its way is looked at here.
        if (bounds := under_way.get()) is not None:
            bounds.look(0)
        if self.refuses:
            self._check_constraints(delta)
        # Many facts take a while to be written down: Ctrl-C is still heard.
        recorder = self.recorder
        row = None if recorder is None else recorder.row_of(delta, self.seq + 1, self.streams.now)
        self.interrupts.hold()
        if recorder is not None and row is not None:
            recorder.decide(row)

    def _check_constraints(self, delta: IdDelta) -> None:
        for violation in self.violations.among(delta.added, self.program, self.dictionary):
            raise ViolationError(
                f"the change violates {violation}; it was undone",
                place=self.program.rule(violation.constraint).place,
                hint='on_violation="report" lists violations instead',
            )

    @contextmanager
    def accepting_violations(self) -> Iterator[None]:
        """Changes that are only tried violate what they like."""
        refuses, self.refuses = self.refuses, False
        try:
            yield
        finally:
            self.refuses = refuses

    def publish(self, delta: Delta, came: Ids, gone: Ids) -> None:
        """Let everyone follow a change that has been made, and of the quads that came and went."""
        self.seq += 1
        self.made = delta
        if not self.is_trying:
            self.shown += sum(map(len, delta.shown_added.values()))
            self.shown -= sum(map(len, delta.shown_removed.values()))
            if self.unsaved is not None:
                self.unsaved.take(delta.ids, delta.assertions, self.shown)
        if delta.ids.removed or len(gone):
            removed = sum(ids.size for ids in delta.ids.removed.values())
            self.dictionary.loosen(removed + gone.size)
        if self.versions.is_followed:
            self.versions.follow(delta, came, gone)
        if self.watches is not None:
            self.watches.follow(delta, self.seq, came, gone)
        now = self.streams.timeline.now
        if now is not None:
            self.streams.beginnings.note(now, delta.ids)

    def note_unsaved(self) -> None:
        """From now on it is noted what differs from the last version of the folder."""
        from livefacts.kb.unsaved_changes import UnsavedChanges

        self.unsaved = UnsavedChanges()
        self.streams.terms.ask(self.unsaved)

    def _stamp(self) -> VersionStamp:
        return VersionStamp(self.seq, self.streams.timeline.now, self.shown, self.program)

    def synced_together(self) -> AbstractContextManager[None]:
        """Changes that time brings are on the disk at the end of the `with` block."""
        recorder = self.recorder
        if recorder is None or self.watches is not None:
            return NOTHING
        return recorder.synced_together()

    def complete(self) -> None:
        """A change is over, made or undone: an interrupt that waited is raised, calls are made."""
        made, self.made = self.made, None
        try:
            if self.recorder is not None:
                self._settle()
            self.interrupts.release()
        except KeyboardInterrupt:
            if made is None:
                raise
            raise InterruptAfterChange(made) from None
        finally:
            if self.watches is not None:
                self._call(self.watches, made)

    def _call(self, watches: Watching, made: Delta | None) -> None:
        """Make the calls of watches; Ctrl-C in one of them comes after the change, too."""
        try:
            if self.recorder is None:
                watches.call()
            else:
                self.recorder.unsigned(watches.call)
        except KeyboardInterrupt:
            if made is None:
                raise
            raise InterruptAfterChange(made) from None

    def _settle(self) -> None:
        """Have the change on the disk; if that fails, Ctrl-C works all the same."""
        assert self.recorder is not None, "there is a journal"
        try:
            # Nobody is called of a change that is not on the disk.
            self.recorder.settle(is_due=self.watches is not None and self.watches.has_calls)
        except BaseException:
            self.interrupts.release()
            if self.watches is not None:
                self.watches.drop_calls()
            raise

    # time

    def moved(self, change: Change, *hints: str) -> Delta:
        """Make a change that time brings; `hints` say what had no effect."""
        applied = self.versions.applied if self.versions.is_followed else self.truth.apply
        ids = NO_DELTA if change is NO_CHANGE else applied(change)
        delta = self._delta_of(ids, self.seq + 1, hints)
        if self.recorder is not None:
            self.recorder.moved(delta, self.streams.now, self.prefixes)
        self.publish(delta, NO_QUAD_CHANGE.came, NO_QUAD_CHANGE.gone)
        return delta

    def reported(self) -> Delta:
        """The net change of all that time has brought and that was not yet reported."""
        deltas, self.streams.unreported = self.streams.unreported, []
        return self._delta_of(self.streams.net([delta.ids for delta in deltas]), self.seq)

    def _delta_of(self, ids: IdDelta, seq: int, hints: Sequence[str] = ()) -> Delta:
        programs = self.program, self.program
        came, went = self.violations.changes(ids, *programs, (), self.truth.facts, self.dictionary)
        return Delta(
            seq,
            ids,
            self.reader,
            NO_ASSERTIONS,
            violations=came,
            resolved=went,
            hints=hints,
        )

    # queries

    def watching(self) -> Watching:
        """The watches; the first time, they begin to follow."""
        from livefacts.service.continuous.watches import Watching

        if self.watches is None:
            self.watches = Watching(self.truth, self.versions, self.ask, self.changing)
            self.streams.terms.ask(self.watches)
        return self.watches

    def queries(self) -> Registrations:
        """The registered queries; the first time, they begin to listen."""
        from livefacts.service.registered.registry import Registrations

        found = Registrations.of(self.streams, self.program, self.present_tick)
        found.when_ended = lambda name: self.note(UNREGISTER, {"name": name})
        found.when_read = lambda name, read: self.note_read(name, {"query": name, "upto": read})
        return found

    def note(self, kind: str, given: Mapping[str, Any]) -> None:
        """Have something in the journal that makes no change of facts, where there is one."""
        if self.recorder is not None:
            with self.changing:
                self.recorder.note(kind, self.seq, given)

    def note_read(self, name: str, given: Mapping[str, Any]) -> None:
        """Someone has read what a query or a watch has to say, up to here.

        That is in the journal at once, unless another thread makes a change: then with what is
        noted next.  It goes to the disk with the next change.
        """
        if self.recorder is None or given == self._reads.get(name):
            return
        self._reads[name] = given
        self._unnoted[name] = given
        if self.changing.acquire(blocking=False):
            try:
                self.note_reads()
            finally:
                self.changing.release()

    def note_reads(self) -> None:
        """What was read, and is not in the journal yet; nobody else changes anything."""
        assert self.recorder is not None, "there is a journal"
        while self._unnoted:
            _, given = self._unnoted.popitem()
            self.recorder.note(READ, self.seq, given, synced=False)

    def ask(
        self,
        text: str,
        graph: NamedNode | None,
        prefixes: Mapping[str, str],
        options: QueryOptions | None = None,
    ) -> QueryResult:
        """Ask a query of what is true now, or of what a graph asserts."""
        from livefacts.service.queries.question import NO_OPTIONS, ask

        return ask(text, prefixes, self.versions.version(), options or NO_OPTIONS, graph)

    # names

    def scope(self, kind: str) -> bytes:
        """A new scope for the labels of blank nodes."""
        return f"{kind}{next(self.scopes)}".encode()

    def known_prefixes(self) -> Mapping[str, str]:
        """The prefixes that a text may use without declaring them; `ub:` for universities."""
        terms = self.dictionary.reader()
        looked_at = terms, len(terms)
        if looked_at != self._spoken_of[0]:
            found = [u for u in UNIVERSITIES if terms.find(NamedNode(f"{u}Person")) is not None]
            self._spoken_of = looked_at, {"ub": found[0]} if found else {}
        return {**self._spoken_of[1], **self.prefixes}


def _merged(engine: SpecialisedEngine) -> Merged:
    from livefacts.service.merging.merged_engine import Merged

    return Merged(engine)


def check_options(on_violation: str, maintenance: str) -> None:
    """Refuse options that a reasoner cannot have."""
    if on_violation not in (REPORT, REFUSE):
        raise OptionError(f'on_violation is "{REPORT}" or "{REFUSE}", not {on_violation!r}')
    if maintenance not in MAINTENANCE:
        raise OptionError(f"maintenance is one of {', '.join(MAINTENANCE)}, not {maintenance!r}")
