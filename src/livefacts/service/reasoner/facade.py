"""The reasoner: the one object that users, the command line and services talk to.

It holds facts and rules, keeps every conclusion true, and answers: what holds, what
changed, what violates a constraint, and any SPARQL query.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import IO, TYPE_CHECKING, Any, TypeVar, overload

from pyoxigraph import NamedNode, Triple

from livefacts.engine.contract import COUNTING_DRED
from livefacts.errors import InterruptAfterChange
from livefacts.language.program import NO_PROGRAM, Rule
from livefacts.model.durations import Duration
from livefacts.model.facts import Fact
from livefacts.model.time_points import time_point, written_like
from livefacts.model.work_bounds import look
from livefacts.plan.rules.plan_text import explain_plan
from livefacts.service.change.arguments import graph_name, query_text
from livefacts.service.change.delta import Delta, Violation
from livefacts.service.change.fact_reader import FactView, check_derived
from livefacts.service.change.import_catalogue import ImportSource
from livefacts.service.change.intake import LOCAL, ReadingOptions
from livefacts.service.change.patches import PatchSource
from livefacts.service.knowledge import recorder
from livefacts.service.knowledge.draft import Draft, arrivals, drafted
from livefacts.service.knowledge.file_load import LoadSource, load_files
from livefacts.service.knowledge.state import REFUSE, REPORT, Options, State, check_options
from livefacts.service.merging.equality import RULES, check_same_as
from livefacts.service.reasoner.exchange import Exchange
from livefacts.service.reasoner.fact_snapshot import FactSnapshot, shape_and_terms
from livefacts.service.reasoner.profile import Profile, profile_of
from livefacts.service.reasoner.turns import bounded_change, not_in_a_folder, one_at_a_time
from livefacts.syntax.rule_sets import RuleSource, open_rules

if TYPE_CHECKING:
    from typing import Literal, Unpack

    from livefacts.language.algebra import Dataset
    from livefacts.service.continuous.watch import Callback, Watch
    from livefacts.service.explanations.proof_trees import Explanation
    from livefacts.service.knowledge.ontology import OntologyReport, OntologySource
    from livefacts.service.knowledge.recorder import SignedBy
    from livefacts.service.queries.plan_tree import PlanTree
    from livefacts.service.queries.question import AskOptions
    from livefacts.service.queries.results import QueryResult
    from livefacts.service.reasoner.durable import DurableReasoner
    from livefacts.service.reasoner.verification import VerifyReport
    from livefacts.service.registered.scheduled_query import Registration
    from livefacts.service.streams.event_time import Clocked, EventTime, Length

T = TypeVar("T")
PATIENCE = 0.0005
"""Seconds that a reader lets a change go before."""


class Reasoner(Exchange):
    """Facts, rules, and everything that follows.

    `rules` is the name of a ready rule set, a path, rule text, a `Program`, or a list of
    these.  `limit` is the largest number of facts that one change may derive, `timeout` how many
    seconds it may take, `memory` how many bytes it may add; passing one undoes the change.
    `on_violation` is "report", or "refuse": a change that violates a
    constraint is undone.  `maintenance` chooses how changes are followed, for comparison:
    "counting-dred", "dred", "counting" (programs without recursion) or "recompute".
    `same_as` says how owl:sameAs is treated where the rules are those of OWL: by "rules", by
    keeping few of many that are the same ("merge"), or not at all ("off").  `start` is the first time point of streams, `tick` how long one lasts ("1 s").
    """

    def __init__(
        self,
        rules: RuleSource = (),
        *,
        limit: int | None = None,
        timeout: float | None = None,
        memory: int | None = None,
        on_violation: str = REPORT,
        maintenance: str = COUNTING_DRED,
        single_path: bool = True,
        same_as: str = RULES,
        start: Any = None,
        tick: str | Duration | None = None,
    ) -> None:
        check_options(on_violation, maintenance)
        check_same_as(same_as)
        refuses = on_violation == REFUSE
        given = limit, refuses, maintenance, single_path, start, tick, same_as, timeout, memory
        self._state = State(Options(*given))
        program = open_rules(rules)
        if program != NO_PROGRAM or program.axioms:
            self.add_rules(program)
            self._state.seq = 0

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], rules: RuleSource | None = None, **options: Any
    ) -> DurableReasoner:
        """The reasoner in a folder: every change is on the disk before it is acknowledged.

        The folder is made if it is not there; one that `checkpoint` or Spark wrote will do.
        `rules` are those of a new folder; given again, they are compared.  `options`: DurableReasoner.
        """
        from livefacts.service.reasoner.durable import open_folder

        return open_folder(path, rules, **options)

    def checkpoint(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        storage_options: Mapping[str, str] | None = None,
    ) -> int:
        """Write what is asserted and derived back to the opened folder; the new version's number.

        `path` is a folder that becomes a knowledge base, or an address on a remote store, with its
        options; later checkpoints go there.
        """
        from livefacts.service.folder.saved_state import write_state

        return write_state(self._state, path, storage_options or {})

    def changes_since(self, seq: int) -> Iterator[Delta]:
        """The changes after the one with this number, of a reasoner in a folder."""
        raise not_in_a_folder("changes_since")

    def at(self, seq: int) -> Reasoner:
        """How things were after a change, of a reasoner in a folder."""
        raise not_in_a_folder("at")

    def undo(self, seq: int, *, preview: bool = False) -> Delta:
        """Take one change back, of a reasoner in a folder."""
        raise not_in_a_folder("undo")

    def record(self, change: Callable[[], Delta], **signed: Unpack[SignedBy]) -> Delta:
        """Make a change of which the log of a folder says who made it and why; once for a key."""
        raise not_in_a_folder("record")

    def refresh(self) -> int:
        """Follow another process that writes, of a reasoner in a folder."""
        raise not_in_a_folder("refresh")

    @property
    def prefixes(self) -> dict[str, str]:
        """Prefixes that queries may use undeclared; loaded files and rules add theirs."""
        return self._state.prefixes

    @prefixes.setter
    def prefixes(self, prefixes: dict[str, str]) -> None:
        self._state.prefixes = prefixes
        if self._state.recorder is not None:
            self._state.recorder.note_prefixes(prefixes, self._state.seq)

    # changes

    @one_at_a_time
    def load(
        self,
        source: LoadSource,
        *,
        format: str | None = None,
        graph: str | NamedNode | None = None,
        bnodes: str = LOCAL,
        rejects: str | os.PathLike[str] | None = None,
        progress: bool = False,
        unpacked: int | None = None,
        imports: ImportSource | None = None,
        timeout: float | None = None,
        memory: int | None = None,
    ) -> Delta:
        """Load files: RDF in any format, or rules and facts (.rules); globs, .gz and .zst too.

        Lines that cannot be read are rejected, listed in the delta and written to the
        `rejects` file; nothing else is lost.  `graph` is where triples of the default
        graph go.  With `bnodes="by-name"`, loading a file again adds no new blank nodes.
        `unpacked` is how many bytes a packed file may have.  Ontologies that files import are read
        where `imports` says: files by IRI, or a folder.  A graph of rdflib can be loaded, too.
        """
        into = None if graph is None else graph_name(graph)
        with self._state.bounded(timeout, memory):
            reading = ReadingOptions(format, into, bnodes, unpacked=unpacked)
            return load_files(self._state, source, reading, rejects, progress, imports)

    @bounded_change
    def add(self, facts: Any) -> Delta:
        """Assert facts: triples, Facts, tuples, text, or a Path to a file."""
        draft = Draft(self._state)
        draft.add(facts)
        return draft.apply()

    @bounded_change
    def remove(self, facts: Any) -> Delta:
        """Take assertions back; what was not asserted, or follows all the same, stays as it is."""
        draft = Draft(self._state)
        draft.remove(facts)
        return draft.apply()

    def add_rules(self, rules: RuleSource) -> Delta:
        """Add rules, and assert the facts that come with them."""
        return self.apply(add_rules=rules)

    def remove_rules(self, rules: str | Rule | Sequence[str | Rule]) -> Delta:
        """Remove rules by id or by text, whatever the spacing and the names of variables."""
        return self.apply(remove_rules=rules)

    @bounded_change
    def change_ontology(
        self,
        *,
        add: OntologySource = (),
        remove: OntologySource = (),
        to: OntologySource | None = None,
    ) -> Delta:
        """Axioms of an ontology that was compiled to rules ("dlp:…") come and go.

        The arguments are texts or files of axioms, in any RDF format; `to` is the whole
        ontology as it is now.  Only the rules in which it differs change.
        """
        from livefacts.service.knowledge.ontology import change_axioms

        return change_axioms(self._state, add, remove, to)

    def ontology(self) -> OntologyReport:
        """The axioms that rules were made from, their rules, and what rules cannot say."""
        from livefacts.service.knowledge.ontology import ontology_in

        return ontology_in(self._state.program)

    @one_at_a_time
    def apply(
        self,
        *,
        add: Any = (),
        remove: Any = (),
        patch: PatchSource = (),
        add_rules: RuleSource | None = None,
        remove_rules: str | Rule | Sequence[str | Rule] = (),
        timeout: float | None = None,
        memory: int | None = None,
    ) -> Delta:
        """One atomic change; removals come first, so what is in both is there afterwards.

        `patch` is RDF Patch: a text, a Path to a file, or several of them in order.
        """
        with self._state.bounded(timeout, memory):
            return drafted(self._state, add, remove, patch, add_rules, remove_rules).apply()

    @bounded_change
    def preview(
        self,
        *,
        add: Any = (),
        remove: Any = (),
        patch: PatchSource = (),
        add_rules: RuleSource | None = None,
        remove_rules: str | Rule | Sequence[str | Rule] = (),
    ) -> Delta:
        """What `apply` would do: the delta that would come, violations included.

        Nothing changes, and the cost is that of the change.
        """
        draft = drafted(self._state, add, remove, patch, add_rules, remove_rules)
        with self._state.accepting_violations():
            return draft.apply(keep=False)

    @bounded_change
    def update(self, text: str, *, base: str = "", dataset: Dataset | None = None) -> Delta:
        """Run a SPARQL Update as one atomic change: all of SPARQL 1.1 but LOAD.

        A WHERE sees all triples that are true, or the graphs of `dataset`; what it deletes is no
        longer asserted.  Relative IRIs are relative to `base`.
        """
        from livefacts.service.knowledge.updates import drafted_update

        return drafted_update(self._state, text, base, dataset).apply()

    # time

    @property
    def now(self) -> int | None:
        """The time point that was evaluated last."""
        return self._state.streams.now

    @property
    def first_time_point(self) -> int | None:
        """The first time point that there is, once time has begun."""
        return self._state.streams.timeline.first

    @property
    def tick(self) -> Duration | None:
        """How long a time point lasts; None: a second, where it matters."""
        return self._state.present_tick

    @bounded_change
    def push(self, facts: Any, at: Any, stream: str | NamedNode | None = None) -> Delta:
        """Facts of a stream happen at a time point; at or before now they count at once.

        `at` is a whole number, a datetime or an xsd:dateTime; `stream` an IRI.
        """
        try:
            return self._state.streams.push(
                *arrivals(self._state, facts, at, stream, recorder.PUSH)
            )
        finally:
            self._state.complete()

    @bounded_change
    def retract(self, facts: Any, at: Any, stream: str | NamedNode | None = None) -> Delta:
        """Take facts of a stream back, as if they had never arrived."""
        try:
            return self._state.streams.retract(
                *arrivals(self._state, facts, at, stream, recorder.RETRACT)
            )
        finally:
            self._state.complete()

    @bounded_change
    def advance(self, to: Any) -> Delta:
        """Move time on; the net change of all time points up to this one.

        After an error time stands where it got to, and the next call gives that part, too:
        `r.advance(r.now)` gives it alone, and is best called before anything else changes.
        """
        deltas = self._state.streams.unreported
        try:
            with self._state.synced_together():
                deltas.extend(delta for _, delta in self.ticks(to))
        except InterruptAfterChange as error:
            deltas.append(error.delta)
            error.delta = self._state.reported()
            raise
        return self._state.reported()

    def ticks(self, to: Any) -> Iterator[tuple[int, Delta]]:
        """Move time on; each time point at which something changes, with its delta."""
        state = self._state
        last = time_point(to, self.tick)
        points = state.streams.ticks(last, written_like(to, self.tick))
        try:
            while (tick := self._next_tick(points)) is not None:
                point, delta = tick
                if delta or delta.violations or delta.resolved:
                    yield point, delta
        finally:
            state.interrupts.release()

    @bounded_change
    def _next_tick(self, points: Iterator[tuple[int, Delta]]) -> tuple[int, Delta] | None:
        look()
        if self._state.recorder is not None:
            self._state.recorder.tick()
        tick = next(points, None)
        if tick is not None:
            self._state.complete()
        return tick

    # what is true

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, with their ids."""
        return self._state.program.rules

    def snapshot(self, *, whole: bool = True) -> FactSnapshot:
        """What is true after the last change, to be read by any thread while others come.

        `with r.snapshot() as s:` has `s.query`, `s.facts`, `len(s)`, `fact in s`, `s.violations`,
        `s.dump`, `s.seq` and `s.now`.  One that is not `whole` is for queries, and takes less room.
        """
        return self._snapshot(dict(self._state.known_prefixes()), whole=whole)

    def _snapshot(self, prefixes: Mapping[str, str], *, whole: bool = True) -> FactSnapshot:
        # Readers that never pause would keep the interpreter from the change under way.
        if self._state.changing.acquire(timeout=PATIENCE):
            self._state.changing.release()
        version = self._state.versions.version(whole=whole)
        return FactSnapshot(version, prefixes, self._state.violations)

    def facts(self, pattern: str | None = None, *, derived: bool | None = None) -> FactView:
        """What is true now; `derived=True`: only conclusions, `False`: only what was asserted.

        `pattern` is the name of a predicate, or an atom: `reading(?s, ?v)`, `[?x, a, ex:Cat]`.
        """
        state = self._state
        check_derived(derived)
        found = self._read(
            lambda: FactView(state.reader.stored(state.truth, derived), state.dictionary.reader()),
            lambda: self._snapshot({}).facts(derived=derived),
        )
        return found.matching(pattern, state.known_prefixes())

    def __iter__(self) -> Iterator[Triple | Fact]:
        return iter(self.facts())

    def __len__(self) -> int:
        return self._state.shown

    def __contains__(self, fact: Any) -> bool:
        state, known = self._state, self._state.known_prefixes()
        return self._read(
            lambda: state.reader.holds(state.truth, *shape_and_terms(fact, known)),
            lambda: fact in self._snapshot(known),
        )

    def _read(self, by_engine: Callable[[], T], by_version: Callable[[], T]) -> T:
        """Ask the engine, which needs no columns, unless another thread changes something."""
        if not self._state.changing.acquire(blocking=False):
            return by_version()
        try:
            return by_engine()
        finally:
            self._state.changing.release()

    @one_at_a_time
    def stats(self) -> dict[str, Any]:
        """Figures of the store: facts, terms, bytes, and how rules are followed."""
        self._state.streams.terms.sweep()
        count = partial(self._state.reader.count, self._state.truth)
        asserted = {
            "facts": len(self),
            "asserted": count(False),
            "derived": count(True),
            "rules": len(self._state.program),
            "named_graphs": self._state.graphs.count_graphs(),
            "column_bytes": self._state.versions.nbytes,
        }
        return asserted | {**self._state.truth.figures()} | self._state.streams.stats()

    @one_at_a_time
    def profile(self) -> Profile:
        """What each rule has looked at, found and cost so far; `since` compares two profiles."""
        return profile_of(self._state.engine.tallies())

    def plan(self) -> str:
        """How the rules are followed, in words."""
        engine = self._state.engine
        return explain_plan(engine.plan, single=engine.follows_single_triples)

    @one_at_a_time
    def explain(self, fact: Any) -> Explanation:
        """Why a fact or violation holds: a smallest proof; or, if it does not, what is missing.

        `fact` is a triple, a Fact, a tuple, a Violation, or text of one fact.
        """
        from livefacts.service.explanations.questions import explain
        from livefacts.service.explanations.time_words import as_written, with_times

        known = self._state.known_prefixes()
        followed = self._state.followed()
        with self._state.dictionary.passing:
            if self._state.merged is None:
                explanation = explain(fact, followed, self._state.engine.proofs(followed), known)
            else:
                explanation = self._state.merged.explain(fact, followed, known)
            return with_times(explanation, self._state.streams, as_written(followed, self.rules))

    def violations(self) -> list[Violation]:
        """The violations of constraints, with their bindings."""
        return self._snapshot({}).violations()

    @one_at_a_time
    def verify(self) -> VerifyReport:
        """Compute everything anew by another road, and compare facts, flags and counters."""
        from livefacts.service.reasoner.verification import verify

        state = self._state
        return verify(
            state.engine,
            state.followed(),
            state.graphs,
            state.streams.timeline.held(),
            state.dictionary,
            None if state.merged is None else state.merged.others,
            state.specialised.instances(),
        )

    # queries

    @overload
    def query(
        self, text: str, *, explain_only: Literal[False] = False, **options: Unpack[AskOptions]
    ) -> QueryResult: ...
    @overload
    def query(
        self, text: str, *, explain_only: Literal[True], **options: Unpack[AskOptions]
    ) -> PlanTree: ...
    def query(
        self, text: str, *, explain_only: bool = False, **options: Unpack[AskOptions]
    ) -> QueryResult | PlanTree:
        """Ask a SPARQL 1.1 query of all triples that are true; from any thread.

        Prefixes of files and rules are known, and rdf, rdfs, xsd and owl; `bindings` are values
        of variables.  More than `timeout` seconds or `memory` bytes are a LimitError; of more than
        `limit_rows` rows the first are given, `complete` is False.  `explain_only` gives the plan.
        """
        snapshot = self._snapshot(self._state.known_prefixes(), whole=False)
        return snapshot.query(query_text(text), explain_only=explain_only, **options)

    @one_at_a_time
    def watch(
        self,
        text: str,
        *,
        buffer: int = 100_000,
        name: str | None = None,
        on_change: Callback | None = None,
    ) -> Watch:
        """Follow the answers of a SPARQL query while facts, rules and time change.

        `answers()` are ready at any time; `changes()` are what came and went since last
        asked.  Of more than `buffer` unread changes a reader learns only that there were some.
        In a folder, a watch with a `name` goes on after a restart with what was not read before.
        `on_change` is called with the answers of the beginning, then with what comes and goes.
        """
        state, known = self._state, self._state.known_prefixes()
        begin = partial(state.watching().watch, text, known, buffer, state.seq, on_change)
        if name is None:
            return begin()
        return state.watched.watch(name, text, begin, lambda seq: self.at(seq).watch(text))

    @one_at_a_time
    def register(self, text: str, *, full: bool = False) -> Registration:
        """Register a C-SPARQL or RSP-QL query over streams; its `results()` are its reports.

        Of the rules only those run for it that can matter, unless it is `full`.
        """
        state, known = self._state, dict(self._state.known_prefixes())
        queries = state.queries()
        count = len(queries)
        made = queries.register(text, known, full=full)
        if len(queries) > count:
            try:
                state.note(recorder.REGISTER, {"text": text, "full": full, "known": known})
            except BaseException:
                queries.end(made)
                raise
        return made

    def registered(self) -> dict[str, Registration]:
        """The registered queries by name, those of before a restart included."""
        return self._state.streams.listener.by_name()

    @one_at_a_time
    def event_time(
        self,
        *,
        lateness: Length | Mapping[str, Length] = 0,
        late: str = "wait",
        streams: Iterable[str] = (),
        idle: Length | None = None,
        max_ahead: Length | None = "1 h",
        through: Clocked | None = None,
    ) -> EventTime:
        """Where to push facts that carry their own times: the clock follows them.

        Facts may come late by `lateness`, for all streams or by stream: reports "wait" for
        them, or are sent again ("correct").  `through` makes the calls, `streams` are waited for,
        but not while they are `idle`; what lies further ahead than `max_ahead` is set aside.
        """
        from livefacts.service.streams.event_time import EventTime

        state, given = self._state, (lateness, late, streams, idle, max_ahead, self.tick)
        events = EventTime(through or self, *given, self._finish, state.note)
        before, state.streams.events = state.streams.events, events
        if before is not None and before.is_restored and before.settings == events.settings:
            events.resume(before.state())
        else:
            state.note(recorder.EVENT_TIME, events.settings)
        return events

    @one_at_a_time
    def _finish(self) -> None:
        try:
            self._state.note(recorder.FINISH, {})
            self._state.streams.listener.finished()
        finally:
            self._state.complete()

    @one_at_a_time
    def correct(self, stream: str, lateness: int) -> None:
        """Send reports again that facts of a stream touch, no later than so many time points."""
        self._state.note(recorder.CORRECT, {"stream": stream, "lateness": lateness})
        self._state.queries().correct(stream, lateness)

    # writing

    def dump(
        self,
        target: str | os.PathLike[str] | IO[bytes],
        *,
        derived: bool | None = None,
        format: str | None = None,
    ) -> None:
        """Write what is true to a file or stream, in an RDF format or as facts (.rules)."""
        self._snapshot(self._state.prefixes).dump(target, derived=derived, format=format)
