"""The reasoner: the one object that users, the command line and services talk to.

It holds facts and rules, keeps every conclusion true, and answers: what holds, what
changed, what violates a constraint, and any SPARQL query.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from pyoxigraph import NamedNode, Triple

from livefacts.engine.contract import Ids
from livefacts.engine.embedded.engine import COUNTING_DRED, MAINTENANCE, Facts
from livefacts.model.durations import Duration
from livefacts.model.facts import Fact, Symbol
from livefacts.model.timepoints import time_point
from livefacts.plan.explain import explained
from livefacts.plan.timing import lowered
from livefacts.rules.program import NO_PROGRAM, Rule
from livefacts.service.arguments import as_statement, stream_name
from livefacts.service.delta import Delta, Violation
from livefacts.service.dumping import Named, write_facts
from livefacts.service.equality import RULES, check_same_as
from livefacts.service.intake import LOCAL, Intake, Reading
from livefacts.service.knowledge import Knowledge
from livefacts.service.patching import PatchSource
from livefacts.service.profiling import Profile, profile_of
from livefacts.service.progress import ProgressBar
from livefacts.service.reading import FactView
from livefacts.service.streams.timeline import NO_STREAM
from livefacts.store.layout import IN_DEFAULT
from livefacts.store.rows import TRIPLES
from livefacts.syntax import rulefile
from livefacts.syntax.files import expand
from livefacts.syntax.rejects import Rejects
from livefacts.syntax.rulefile import RuleSource

if TYPE_CHECKING:
    from livefacts.service.continuous.watch import Watch
    from livefacts.service.explanations.explaining import Explanation
    from livefacts.service.ontology import OntologyReport, OntologySource
    from livefacts.service.queries.results import QueryResult
    from livefacts.service.registered.registration import Registration
    from livefacts.service.streams.eventtime import EventTime, Length
    from livefacts.service.verifying import Report

REPORT, REFUSE = "report", "refuse"


class Reasoner(Knowledge):
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
        super().__init__(limit, refuses, maintenance, single_path, start, tick, same_as)
        program = rulefile.open_rules(rules)
        if program != NO_PROGRAM or program.axioms:
            self.add_rules(program)
            self._seq = 0

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, same_as: str | None = None) -> Reasoner:
        """The knowledge base that a Spark pipeline keeps in a folder, live in this process.

        owl:sameAs is treated as by the reasoner that wrote it, unless `same_as` says how.
        """
        from livefacts.engine.spark.session import require_extra
        from livefacts.service.keeping import opened

        require_extra()
        return opened(cls, path, same_as)

    def checkpoint(self, path: str | os.PathLike[str] | None = None) -> int:
        """Write what is told and concluded back to the opened folder; the new version's number.

        `path` is a folder that becomes a knowledge base; later checkpoints go there.
        """
        from livefacts.engine.spark.session import require_extra
        from livefacts.service.keeping import written

        require_extra()
        return written(self, path)

    # changes

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
        intake = Intake(self._dictionary)
        with (
            Rejects(None if rejects is None else Path(rejects)) as rejected,
            ProgressBar(progress) as bar,
        ):
            reading = Reading(format, into, bnodes, rejected, bar.read)
            for path in [p for s in sources for p in _paths(s)]:
                bar.start_file(path)
                intake.take_file(path, self._scope("f"), reading)
            bar.start_reasoning()
            self._engine.on_progress = bar.made
            try:
                return self._take(intake, rejects=rejected)
            finally:
                self._engine.on_progress = lambda made: None

    def add(self, facts: Any) -> Delta:
        """Assert facts: triples, Facts, tuples, text, or a Path to a file."""
        return self.apply(add=facts)

    def remove(self, facts: Any) -> Delta:
        """Take assertions back; what was not asserted, or follows all the same, stays as it is."""
        return self.apply(remove=facts)

    def add_rules(self, rules: RuleSource) -> Delta:
        """Add rules, and assert the facts that come with them."""
        return self.apply(add_rules=rules)

    def remove_rules(self, rules: str | Rule | Sequence[str | Rule]) -> Delta:
        """Remove rules by id or by text, whatever the spacing and the names of variables."""
        return self.apply(remove_rules=rules)

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
        from livefacts.service.ontology import change_axioms

        return change_axioms(self, add, remove, to)

    def ontology(self) -> OntologyReport:
        """The axioms that rules were made from, their rules, and what rules cannot say."""
        from livefacts.service.ontology import ontology_in

        return ontology_in(self._program)

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
        return self._take(*self._asked(add, remove, patch, add_rules, remove_rules))

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
        asked = self._asked(add, remove, patch, add_rules, remove_rules)
        refuses, self._refuses = self._refuses, False
        try:
            return self._take(*asked, keep=False)
        finally:
            self._refuses = refuses

    def update(self, text: str) -> Delta:
        """Run a SPARQL Update as one atomic change: INSERT and DELETE, of DATA or WHERE.

        A WHERE sees all triples that are true; what it deletes is no longer told.
        """
        from livefacts.service import meanwhile, updatetext, updating

        prefixes = self._queries.prefixes(self.prefixes)
        for_a_while = partial(meanwhile.changed, self)
        world = updating.World(
            prefixes, self._queries.store, for_a_while, lambda: self._scope("u").decode()
        )
        net = updating.netted(updatetext.read_update(text, prefixes), world)
        return meanwhile.change_to(self, net)

    # time

    @property
    def now(self) -> int | None:
        """The time point that was evaluated last."""
        return self._streams.now

    @property
    def tick(self) -> Duration | None:
        """How long a time point lasts; None: a second, where it matters."""
        return self._program.tick or self._tick

    def push(self, facts: Any, at: Any, stream: str | NamedNode | None = None) -> Delta:
        """Facts of a stream happen at a time point; at or before now they count at once.

        `at` is a whole number, a datetime or an xsd:dateTime; `stream` an IRI.
        """
        with self._complete():
            return self._streams.push(*self._arrivals(facts, at, stream))

    def retract(self, facts: Any, at: Any, stream: str | NamedNode | None = None) -> Delta:
        """Take facts of a stream back, as if they had never arrived."""
        with self._complete():
            return self._streams.retract(*self._arrivals(facts, at, stream))

    def _arrivals(
        self, facts: Any, at: Any, stream: str | NamedNode | None
    ) -> tuple[list[Facts], int, int]:
        iri = NO_STREAM if stream is None else stream_name(stream)
        name = int(self._dictionary.encode_one(iri))
        point = time_point(at, self.tick)
        with self._streams.terms.passing():
            runs = self._facts(facts).in_order()
        self._shapes.check_arrivals(self._program, runs)
        return runs, point, name

    def advance(self, to: Any) -> Delta:
        """Move time on; the net change of all time points up to this one.

        After an error time stands where it got to, and the next call tells that part, too:
        `r.advance(r.now)` tells it alone, and is best called before anything else changes.
        """
        deltas = self._streams.unreported
        deltas.extend(delta for _, delta in self.ticks(to))
        self._streams.unreported = []
        return self._summed(deltas)

    def ticks(self, to: Any) -> Iterator[tuple[int, Delta]]:
        """Move time on; each time point at which something changes, with its delta."""
        last = time_point(to, self.tick)
        with self._interrupts:
            for point, delta in self._streams.ticks(last):
                try:
                    self._interrupts.release()
                finally:
                    self._call_watchers()
                if delta or delta.violations or delta.resolved:
                    yield point, delta

    # what is true

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, with their ids."""
        return self._program.rules

    def facts(self, derived: bool | None = None) -> FactView:
        """What is true at this moment; `True`: only conclusions, `False`: only what was told."""
        return FactView(self._reader, self._stored(derived))

    def _stored(self, derived: bool | None) -> dict[int, Ids]:
        if self._merged is not None:
            return self._reader.shown(self._chosen(derived))
        return self._reader.stored(self._engine.store, derived)

    def _chosen(self, derived: bool | None) -> dict[int, Ids]:
        if derived is None:
            return self._truth.facts()
        return self._truth.derived() if derived else self._truth.asserted()

    def __iter__(self) -> Iterator[Triple | Fact]:
        return iter(self.facts())

    def __len__(self) -> int:
        return self._shown

    def __contains__(self, fact: Any) -> bool:
        statement = self._one_fact(fact) if isinstance(fact, str) else as_statement(fact)
        if isinstance(statement, Fact):
            terms = [Symbol(statement.name), *statement.arguments]
            shape = len(terms)
        else:
            terms = [statement.subject, statement.predicate, statement.object]
            shape = TRIPLES
        found = [self._dictionary.find(term) for term in terms]
        if None in found:
            return False
        ids = np.array([found], np.int32)
        return self._truth.holds(shape, ids) and self._reader.are_shown(shape, ids)

    def _one_fact(self, text: str) -> Triple | Fact:
        from livefacts.service.explanations.asking import read_fact

        return read_fact(text, self._queries.prefixes(self.prefixes))

    def stats(self) -> dict[str, Any]:
        """Figures of the store: facts, terms, bytes, and how rules are followed."""
        from livefacts.service.figures import figures_of

        told = {
            "facts": len(self),
            "asserted": len(self.facts(derived=False)),
            "derived": len(self.facts(derived=True)),
            "rules": len(self._program),
        }
        merged = {} if self._merged is None else self._merged.figures()
        return told | figures_of(self._engine, self._graphs) | self._streams.stats() | merged

    def profile(self) -> Profile:
        """What each rule has looked at, found and cost so far; `since` compares two profiles."""
        engine = self._engine
        seconds = engine.interpreter.seconds_per_tick()
        return profile_of(engine.interpreter.tallies(), engine.single_rules(), seconds)

    def plan(self) -> str:
        """How the rules are followed, in words."""
        return explained(self._engine.plan, single=self._engine.follows_single_triples)

    def explain(self, fact: Any) -> Explanation:
        """Why a fact or violation holds: a smallest proof; or, if it does not, what is missing.

        `fact` is a triple, a Fact, a tuple, a Violation, or text of one fact.
        """
        from livefacts.service.explanations.asking import explain
        from livefacts.service.explanations.explanationtimes import as_written, timed

        known = self._queries.prefixes(self.prefixes)
        followed = self._followed()
        if self._merged is None:
            explanation = explain(fact, followed, self._engine, known)
        else:
            explanation = self._merged.explain(fact, followed, known)
        return timed(explanation, self._streams, as_written(followed, self.rules))

    def violations(self) -> list[Violation]:
        """The violations of constraints, with their bindings."""
        return list(self._violations_in(self._truth.facts(), self._program))

    def _followed(self) -> tuple[Rule, ...]:
        """The rules as the engine follows them: without formulas of time."""
        return lowered(self._program, self._tick).rules

    def verify(self) -> Report:
        """Compute everything anew by another road, and compare facts, flags and counters."""
        from livefacts.service.verifying import verified

        held = self._streams.timeline.held()
        others = None if self._merged is None else self._merged.others
        return verified(
            self._engine, self._followed(), self._graphs, held, self._dictionary, others
        )

    # queries

    def query(self, text: str) -> QueryResult:
        """Ask a SPARQL 1.1 query of all triples that are true.

        Prefixes of loaded files and rules are known, and rdf, rdfs, xsd and owl.
        """
        return self._queries.store().query(text, self._queries.prefixes(self.prefixes))

    def watch(self, text: str, *, buffer: int = 100_000) -> Watch:
        """Follow the answers of a SPARQL query while facts, rules and time change.

        `answers()` are ready at any time; `changes()` are what came and went since last
        asked.  Of more than `buffer` unread changes a reader is told only that they were.
        """
        from livefacts.service.continuous.watching import Watching

        if self._watching is None:
            self._watching = Watching(self._truth, self._reader, self._queries)
            self._streams.terms.ask(self._watching)
        known = self._queries.prefixes(self.prefixes)
        return self._watching.watch(text, known, buffer, self._seq)

    def register(self, text: str, *, full: bool = False) -> Registration:
        """Register a C-SPARQL or RSP-QL query over streams; its `results()` are its reports.

        Of the rules only those run for it that can matter, unless it is `full`.
        """
        from livefacts.service.registered.hosting import host_of

        host = host_of(self._streams, self._program, self.tick)
        return host.queries.register(text, self._queries.prefixes(self.prefixes), full=full)

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
        from livefacts.service.streams.eventtime import EventTime

        events = EventTime(self, lateness, late, streams, idle, max_ahead, self.tick, self._finish)
        self._streams.events = events
        return events

    def _finish(self) -> None:
        with self._complete():
            self._streams.listener.finished()

    def correct(self, stream: str, lateness: int) -> None:
        """Send reports again that facts of a stream touch, no later than so many time points."""
        from livefacts.service.registered.hosting import host_of

        host = host_of(self._streams, self._program, self.tick)
        host.queries.correct(stream, lateness)

    # writing

    def dump(
        self,
        target: str | os.PathLike[str] | IO[bytes],
        *,
        derived: bool | None = None,
        format: str | None = None,
    ) -> None:
        """Write what is true to a file or stream, in an RDF format or as facts (.rules)."""
        quads = self._graphs.quads() if derived is not True else np.zeros((0, 4), np.int32)
        triples = np.ascontiguousarray(quads[:, :3])
        alone = triples[self._truth.standing(TRIPLES, triples) & IN_DEFAULT == 0]
        facts, named = self._stored(derived), Named(quads, alone)
        write_facts(target, format, facts, named, self._dictionary, self._reader)


def _check_options(on_violation: str, maintenance: str) -> None:
    if on_violation not in (REPORT, REFUSE):
        raise ValueError(f'on_violation is "{REPORT}" or "{REFUSE}", not {on_violation!r}')
    if maintenance not in MAINTENANCE:
        raise ValueError(f"maintenance is one of {', '.join(MAINTENANCE)}, not {maintenance!r}")


def _paths(source: str | os.PathLike[str]) -> list[str | Path]:
    return ["-"] if source == "-" else list(expand(source))
