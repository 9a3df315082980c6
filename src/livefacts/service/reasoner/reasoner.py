"""The reasoner: the one object that users, the command line and services talk to.

It holds facts and rules, keeps every conclusion true, and answers: what holds, what
changed, what violates a constraint, and any SPARQL query.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from pyoxigraph import NamedNode, Triple

from livefacts.engine.contract import COUNTING_DRED, IN_DEFAULT, MAINTENANCE, TRIPLES, Facts, Ids
from livefacts.language.program import NO_PROGRAM, Rule
from livefacts.model.durations import Duration
from livefacts.model.facts import Fact, Symbol
from livefacts.model.time_points import time_point
from livefacts.plan.rules.plan_text import explain_plan
from livefacts.service.change.arguments import as_rdf_value, as_statement, stream_name
from livefacts.service.change.delta import Delta, Violation
from livefacts.service.change.dump import NamedTriples, write_facts
from livefacts.service.change.fact_reader import FactView
from livefacts.service.change.intake import LOCAL, ReadingOptions
from livefacts.service.change.patches import PatchSource
from livefacts.service.merging.equality import RULES, check_same_as
from livefacts.service.reasoner.draft import Draft, draft_of, trial
from livefacts.service.reasoner.profile import Profile, profile_of
from livefacts.service.reasoner.progress import ProgressBar
from livefacts.service.reasoner.state import Options, State
from livefacts.service.streams.timeline import NO_STREAM
from livefacts.syntax.input.files import expand
from livefacts.syntax.input.rejects import Rejects
from livefacts.syntax.rule_sets import RuleSource, open_rules

if TYPE_CHECKING:
    from livefacts.service.continuous.watch import Watch
    from livefacts.service.explanations.explanation import Explanation
    from livefacts.service.queries.results import QueryResult
    from livefacts.service.reasoner.ontology import OntologyReport, OntologySource
    from livefacts.service.reasoner.verification import VerifyReport
    from livefacts.service.registered.scheduled_query import Registration
    from livefacts.service.streams.event_time import EventTime, Length

REPORT, REFUSE = "report", "refuse"


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def _one_at_a_time(
    method: Callable[Concatenate[Reasoner, Parameters], Result],
) -> Callable[Concatenate[Reasoner, Parameters], Result]:
    """A method that waits until no other thread changes the reasoner, or looks at its tables."""

    @wraps(method)
    def wait(
        self: Reasoner, /, *arguments: Parameters.args, **options: Parameters.kwargs
    ) -> Result:
        with self._state.changing:
            return method(self, *arguments, **options)

    return wait


class Reasoner:
    """Facts, rules, and everything that follows.

    `rules` is the name of a ready rule set, a path, rule text, a `Program`, or a list of
    these.  `limit` is the largest number of facts that one change may derive; passing it
    undoes the change.  `on_violation` is "report", or "refuse": a change that violates a
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
        on_violation: str = REPORT,
        maintenance: str = COUNTING_DRED,
        single_path: bool = True,
        same_as: str = RULES,
        start: Any = None,
        tick: str | Duration | None = None,
    ) -> None:
        _check_options(on_violation, maintenance)
        check_same_as(same_as)
        refuses = on_violation == REFUSE
        self._state = State(Options(limit, refuses, maintenance, single_path, start, tick, same_as))
        program = open_rules(rules)
        if program != NO_PROGRAM or program.axioms:
            self.add_rules(program)
            self._state.seq = 0

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, same_as: str | None = None) -> Reasoner:
        """The knowledge base in a folder, written by `checkpoint` or by Spark, live in this process.

        owl:sameAs is treated as by the reasoner that wrote it, unless `same_as` says how.
        """
        from livefacts.service.reasoner.saved_folder import SavedFolder

        folder = SavedFolder(path)
        reasoner = cls(same_as=same_as or folder.same_as)
        folder.read_into(reasoner._state)
        return reasoner

    @_one_at_a_time
    def checkpoint(self, path: str | os.PathLike[str] | None = None) -> int:
        """Write what is asserted and derived back to the opened folder; the new version's number.

        `path` is a folder that becomes a knowledge base; later checkpoints go there.
        """
        from livefacts.service.reasoner.saved_folder import write_state

        return write_state(self._state, path)

    @property
    def prefixes(self) -> dict[str, str]:
        """Prefixes that queries may use undeclared; loaded files and rules add theirs."""
        return self._state.prefixes

    @prefixes.setter
    def prefixes(self, prefixes: dict[str, str]) -> None:
        self._state.prefixes = prefixes

    # changes

    @_one_at_a_time
    def load(
        self,
        source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        format: str | None = None,
        graph: str | NamedNode | None = None,
        bnodes: str = LOCAL,
        rejects: str | os.PathLike[str] | None = None,
        progress: bool = False,
    ) -> Delta:
        """Load files: RDF in any format, or rules and facts (.rules); globs, .gz and .zst too.

        Lines that cannot be read are rejected, listed in the delta and written to the
        `rejects` file; nothing else is lost.  `graph` is where triples of the default
        graph go.  With `bnodes="by-name"`, loading a file again adds no new blank nodes.
        """
        sources = [source] if isinstance(source, str | os.PathLike) else list(source)
        into = NamedNode(graph) if isinstance(graph, str) else graph
        state = self._state
        with (
            Rejects(None if rejects is None else Path(rejects)) as rejected,
            ProgressBar(progress) as bar,
        ):
            draft = Draft(state, rejected)
            reading = ReadingOptions(format, into, bnodes, rejected, bar.read)
            for path in [p for s in sources for p in _paths(s)]:
                bar.start_file(path)
                draft.intake.take_file(path, state.scope("f"), reading)
            bar.start_reasoning()
            state.engine.on_progress = bar.made
            try:
                return draft.apply()
            finally:
                state.engine.on_progress = lambda made: None

    @_one_at_a_time
    def add(self, facts: Any) -> Delta:
        """Assert facts: triples, Facts, tuples, text, or a Path to a file."""
        draft = Draft(self._state)
        draft.add(facts)
        return draft.apply()

    @_one_at_a_time
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

    @_one_at_a_time
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
        from livefacts.service.reasoner.ontology import change_axioms

        return change_axioms(self._state, add, remove, to)

    def ontology(self) -> OntologyReport:
        """The axioms that rules were made from, their rules, and what rules cannot say."""
        from livefacts.service.reasoner.ontology import ontology_in

        return ontology_in(self._state.program)

    @_one_at_a_time
    def apply(
        self,
        *,
        add: Any = (),
        remove: Any = (),
        patch: PatchSource = (),
        add_rules: RuleSource | None = None,
        remove_rules: str | Rule | Sequence[str | Rule] = (),
    ) -> Delta:
        """One atomic change; removals come first, so what is in both is there afterwards.

        `patch` is RDF Patch: a text, a Path to a file, or several of them in order.
        """
        return self._draft(add, remove, patch, add_rules, remove_rules).apply()

    @_one_at_a_time
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
        draft = self._draft(add, remove, patch, add_rules, remove_rules)
        with self._state.accepting_violations():
            return draft.apply(keep=False)

    def _draft(
        self,
        add: Any,
        remove: Any,
        patch: PatchSource,
        add_rules: RuleSource | None,
        remove_rules: str | Rule | Sequence[str | Rule],
    ) -> Draft:
        draft = Draft(self._state)
        draft.add(add)
        draft.remove(remove)
        draft.patch(patch)
        if add_rules is not None:
            draft.add_rules(add_rules)
        draft.remove_rules(remove_rules)
        return draft

    @_one_at_a_time
    def update(self, text: str) -> Delta:
        """Run a SPARQL Update as one atomic change: INSERT and DELETE, of DATA or WHERE.

        A WHERE sees all triples that are true; what it deletes is no longer asserted.
        """
        from livefacts.service.reasoner.updates import UpdateTarget, net_of
        from livefacts.syntax.sparql.query_reader import parse_update

        state, prefixes = self._state, self._state.known_prefixes()
        target = UpdateTarget(
            partial(state.ask, prefixes=prefixes),
            partial(trial, state),
            lambda: state.scope("u").decode(),
        )
        return draft_of(state, net_of(parse_update(text, prefixes), target)).apply()

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
        return self._state.program.tick or self._state.tick

    @_one_at_a_time
    def push(self, facts: Any, at: Any, stream: str | NamedNode | None = None) -> Delta:
        """Facts of a stream happen at a time point; at or before now they count at once.

        `at` is a whole number, a datetime or an xsd:dateTime; `stream` an IRI.
        """
        try:
            return self._state.streams.push(*self._arrivals(facts, at, stream))
        finally:
            self._state.complete()

    @_one_at_a_time
    def retract(self, facts: Any, at: Any, stream: str | NamedNode | None = None) -> Delta:
        """Take facts of a stream back, as if they had never arrived."""
        try:
            return self._state.streams.retract(*self._arrivals(facts, at, stream))
        finally:
            self._state.complete()

    def _arrivals(
        self, facts: Any, at: Any, stream: str | NamedNode | None
    ) -> tuple[list[Facts], int, int]:
        state = self._state
        iri = NO_STREAM if stream is None else stream_name(stream)
        name = int(state.dictionary.encode_one(iri))
        point = time_point(at, self.tick)
        with state.streams.terms.passing():
            draft = Draft(state)
            draft.add(facts)
            runs = draft.intake.in_order()
        state.arities.check_arrivals(state.program, runs)
        return runs, point, name

    @_one_at_a_time
    def advance(self, to: Any) -> Delta:
        """Move time on; the net change of all time points up to this one.

        After an error time stands where it got to, and the next call gives that part, too:
        `r.advance(r.now)` gives it alone, and is best called before anything else changes.
        """
        deltas = self._state.streams.unreported
        deltas.extend(delta for _, delta in self.ticks(to))
        self._state.streams.unreported = []
        return self._state.summed(deltas)

    def ticks(self, to: Any) -> Iterator[tuple[int, Delta]]:
        """Move time on; each time point at which something changes, with its delta."""
        state = self._state
        points = state.streams.ticks(time_point(to, self.tick))
        try:
            while (tick := self._next_tick(points)) is not None:
                point, delta = tick
                if delta or delta.violations or delta.resolved:
                    yield point, delta
        finally:
            state.interrupts.release()

    @_one_at_a_time
    def _next_tick(self, points: Iterator[tuple[int, Delta]]) -> tuple[int, Delta] | None:
        tick = next(points, None)
        if tick is not None:
            self._state.complete()
        return tick

    # what is true

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, with their ids."""
        return self._state.program.rules

    @_one_at_a_time
    def facts(self, derived: bool | None = None) -> FactView:
        """What is true now; `derived=True`: only conclusions, `False`: only what was asserted."""
        return FactView(self._state.reader, self._stored(derived))

    def _stored(self, derived: bool | None) -> dict[int, Ids]:
        return self._state.reader.stored(self._state.truth, derived)

    def __iter__(self) -> Iterator[Triple | Fact]:
        return iter(self.facts())

    def __len__(self) -> int:
        return self._state.shown

    @_one_at_a_time
    def __contains__(self, fact: Any) -> bool:
        statement = self._one_fact(fact) if isinstance(fact, str) else as_statement(fact)
        if isinstance(statement, Fact):
            terms = [Symbol(statement.name), *statement.arguments]
            shape = len(terms)
        else:
            terms = [statement.subject, statement.predicate, statement.object]
            shape = TRIPLES
        found = [self._state.dictionary.find(term) for term in terms]
        if None in found:
            return False
        ids = np.array([found], np.int32)
        return self._state.truth.holds(shape, ids) and self._state.reader.are_shown(shape, ids)

    def _one_fact(self, text: str) -> Triple | Fact:
        from livefacts.service.explanations.questions import read_fact

        return read_fact(text, self._state.known_prefixes())

    @_one_at_a_time
    def stats(self) -> dict[str, Any]:
        """Figures of the store: facts, terms, bytes, and how rules are followed."""
        asserted = {
            "facts": len(self),
            "asserted": len(self.facts(derived=False)),
            "derived": len(self.facts(derived=True)),
            "rules": len(self._state.program),
            "named_graphs": self._state.graphs.count_graphs(),
            "column_bytes": self._state.versions.nbytes,
        }
        return asserted | {**self._state.truth.figures()} | self._state.streams.stats()

    @_one_at_a_time
    def profile(self) -> Profile:
        """What each rule has looked at, found and cost so far; `since` compares two profiles."""
        return profile_of(self._state.engine.tallies())

    def plan(self) -> str:
        """How the rules are followed, in words."""
        return explain_plan(
            self._state.engine.plan, single=self._state.engine.follows_single_triples
        )

    @_one_at_a_time
    def explain(self, fact: Any) -> Explanation:
        """Why a fact or violation holds: a smallest proof; or, if it does not, what is missing.

        `fact` is a triple, a Fact, a tuple, a Violation, or text of one fact.
        """
        from livefacts.service.explanations.questions import explain
        from livefacts.service.explanations.time_words import as_written, with_times

        known = self._state.known_prefixes()
        followed = self._state.followed()
        if self._state.merged is None:
            explanation = explain(fact, followed, self._state.engine.proofs(followed), known)
        else:
            explanation = self._state.merged.explain(fact, followed, known)
        return with_times(explanation, self._state.streams, as_written(followed, self.rules))

    @_one_at_a_time
    def violations(self) -> list[Violation]:
        """The violations of constraints, with their bindings."""
        return list(self._state.violations.among(self._state.truth.facts(), self._state.program))

    @_one_at_a_time
    def verify(self) -> VerifyReport:
        """Compute everything anew by another road, and compare facts, flags and counters."""
        from livefacts.service.reasoner.verification import verify

        held = self._state.streams.timeline.held()
        others = None if self._state.merged is None else self._state.merged.others
        return verify(
            self._state.engine,
            self._state.followed(),
            self._state.graphs,
            held,
            self._state.dictionary,
            others,
            self._state.specialised.instances(),
        )

    # queries

    def query(
        self,
        text: str,
        *,
        bindings: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        limit_rows: int | None = None,
        memory: int | None = None,
    ) -> QueryResult:
        """Ask a SPARQL 1.1 query of all triples that are true; from any thread.

        Prefixes of loaded files and rules are known, and rdf, rdfs, xsd and owl.  `bindings`
        are values of variables.  A query that takes longer than `timeout` seconds, or more
        than `memory` bytes, ends with a LimitError; of more than `limit_rows` rows the
        first are given, and `complete` is False.
        """
        from livefacts.service.queries.question import QueryOptions

        values = {name: as_rdf_value(value) for name, value in (bindings or {}).items()}
        options = QueryOptions(timeout, memory, limit_rows, values)
        return self._state.ask(text, None, self._state.known_prefixes(text), options)

    @_one_at_a_time
    def watch(self, text: str, *, buffer: int = 100_000) -> Watch:
        """Follow the answers of a SPARQL query while facts, rules and time change.

        `answers()` are ready at any time; `changes()` are what came and went since last
        asked.  Of more than `buffer` unread changes a reader learns only that there were some.
        """
        from livefacts.service.continuous.watches import Watching

        if self._state.watches is None:
            self._state.watches = Watching(
                self._state.truth, self._state.reader, self._state.versions, self._state.ask
            )
            self._state.streams.terms.ask(self._state.watches)
        known = self._state.known_prefixes()
        return self._state.watches.watch(text, known, buffer, self._state.seq)

    @_one_at_a_time
    def register(self, text: str, *, full: bool = False) -> Registration:
        """Register a C-SPARQL or RSP-QL query over streams; its `results()` are its reports.

        Of the rules only those run for it that can matter, unless it is `full`.
        """
        from livefacts.service.registered.host import host_of

        host = host_of(self._state.streams, self._state.program, self.tick)
        return host.queries.register(text, self._state.known_prefixes(), full=full)

    @_one_at_a_time
    def event_time(
        self,
        *,
        lateness: Length | Mapping[str, Length] = 0,
        late: str = "wait",
        streams: Iterable[str] = (),
        idle: Length | None = None,
        max_ahead: Length | None = "1 h",
    ) -> EventTime:
        """Where to push facts that carry their own times: the clock follows them.

        Facts may come late by `lateness`, for all streams or by stream: reports "wait" for
        them, or are sent again ("correct").  `streams` are waited for from the beginning,
        but not while they are `idle`; what lies further ahead than `max_ahead` is set aside.
        """
        from livefacts.service.streams.event_time import EventTime

        events = EventTime(self, lateness, late, streams, idle, max_ahead, self.tick, self._finish)
        self._state.streams.events = events
        return events

    @_one_at_a_time
    def _finish(self) -> None:
        try:
            self._state.streams.listener.finished()
        finally:
            self._state.complete()

    @_one_at_a_time
    def correct(self, stream: str, lateness: int) -> None:
        """Send reports again that facts of a stream touch, no later than so many time points."""
        from livefacts.service.registered.host import host_of

        host = host_of(self._state.streams, self._state.program, self.tick)
        host.queries.correct(stream, lateness)

    # writing

    @_one_at_a_time
    def dump(
        self,
        target: str | os.PathLike[str] | IO[bytes],
        *,
        derived: bool | None = None,
        format: str | None = None,
    ) -> None:
        """Write what is true to a file or stream, in an RDF format or as facts (.rules)."""
        state, reader = self._state, self._state.reader
        quads = state.graphs.quads() if derived is not True else np.zeros((0, 4), np.int32)
        triples = np.ascontiguousarray(quads[:, :3])
        alone = triples[state.truth.standing(TRIPLES, triples) & IN_DEFAULT == 0]
        facts, named = self._stored(derived), NamedTriples(quads, alone)
        write_facts(target, format, facts, named, state.dictionary, reader)


def _check_options(on_violation: str, maintenance: str) -> None:
    if on_violation not in (REPORT, REFUSE):
        raise ValueError(f'on_violation is "{REPORT}" or "{REFUSE}", not {on_violation!r}')
    if maintenance not in MAINTENANCE:
        raise ValueError(f"maintenance is one of {', '.join(MAINTENANCE)}, not {maintenance!r}")


def _paths(source: str | os.PathLike[str]) -> list[str | Path]:
    return ["-"] if source == "-" else list(expand(source))
