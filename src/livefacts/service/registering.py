"""Registered queries together: streams, worlds, and the order of reports.

A query is reported at every point of its grid, in the order of time; within a time point
the queries that make streams come before those that read them.  From an empty report on, a
query sleeps until one of its windows changes, and the reports in between are one entry.

Queries over the same windows share a world, and only rules run whose conclusions can matter
to one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import count

from pyoxigraph import Quad

from livefacts.errors import QueryError
from livefacts.model.durations import Duration
from livefacts.rules.needed import needed_rules
from livefacts.rules.program import Program
from livefacts.rules.registration import CountWindow, RegisteredQuery
from livefacts.service.answering import Answers, AskedAnswers, FollowedAnswers, Found, triples_of
from livefacts.service.queries import WELL_KNOWN_PREFIXES, QueryStore
from livefacts.service.reading import FactReader
from livefacts.service.registration import Needs, Registration, SharedWorld
from livefacts.service.streamlog import Facts, StreamLog
from livefacts.service.windowing import Extent, extent_of, points
from livefacts.service.worlds import Background, EngineWorld
from livefacts.service.worldstores import WindowGraph, WorldStore
from livefacts.store.dictionary import Dictionary
from livefacts.store.rows import TRIPLES
from livefacts.syntax.basicquery import parse_basic_query
from livefacts.syntax.csparql import WINDOW_BASE, parse_registration

WorldKey = tuple[Extent, ...]


class Registrations:
    """All registered queries of a reasoner, and what they share."""

    def __init__(
        self, dictionary: Dictionary, background: Background, program: Program | None = None
    ) -> None:
        self._dictionary = dictionary
        self._background = background
        self._program = program or Program()
        self._reader = FactReader(dictionary)
        self._logs: dict[str, StreamLog] = {}
        self._worlds: dict[WorldKey, SharedWorld] = {}
        self._queries: list[Registration] = []
        self._numbers = count(1)
        self.first: int | None = None
        self.now: int | None = None
        self.tick: Duration | None = None

    def __len__(self) -> int:
        return len(self._queries)

    # registering

    def register(
        self, text: str, prefixes: Mapping[str, str] | None = None, *, full: bool = False
    ) -> Registration:
        """Register a C-SPARQL or RSP-QL query; it reports from the next grid point on.

        Only rules run that can matter to it, unless it is `full`.
        """
        known = {**WELL_KNOWN_PREFIXES, **(prefixes or {})}
        number = next(self._numbers)
        query = parse_registration(text, known, f"query{number}")
        self._check(query, known)
        made = self._made(number, query, known, full)
        if self.first is not None:
            made.start(self.first, self.first if self.now is None else self.now)
        if self.now is not None:
            self._run(self.now)
        return made

    def _check(self, query: RegisteredQuery, prefixes: Mapping[str, str]) -> None:
        """Refuse what cannot be registered, before anything is done."""
        if query.name in [other.name for other in self._queries]:
            raise QueryError(
                f"{query.name} is registered already",
                place=query.place,
                hint="close it first, or choose another name",
            )
        QueryStore().query(query.body, prefixes, base=WINDOW_BASE)
        known = {quad.graph_name.value for quad in self._background.quads()}  # type: ignore[union-attr]
        for graph in query.named_graphs:
            if graph not in known:
                raise QueryError(
                    f"no graph <{graph}> is loaded",
                    place=query.place,
                    hint="load(path, graph=...) loads into a graph",
                )
        self._order([*self._queries_as_text(), query])

    def _queries_as_text(self) -> list[RegisteredQuery]:
        return [registration.query for registration in self._queries]

    def _made(
        self, number: int, query: RegisteredQuery, prefixes: Mapping[str, str], full: bool
    ) -> Registration:
        extents = tuple(extent_of(window, self.tick) for window in query.windows)
        shared = self._world_of(extents)
        basic = None
        if not query.named_graphs:
            basic = parse_basic_query(query.body, prefixes)
        answers: Answers
        store = None
        try:
            if basic is not None:
                answers = FollowedAnswers(basic, query.relation, number, self._dictionary)
                shared.world.follow(answers.follow)
                shared.needs[number] = Needs(answers.patterns, answers.rule, full)
                self._require(shared)
            else:
                shared.needs[number] = Needs(full=full)
                self._require(shared)
                store = self._store_of(number, query, extents, shared, full)
                asked = store
                answers = AskedAnswers(lambda: asked.query(query.body, prefixes), query.relation)
        except BaseException:
            self._release(number)
            raise
        made = Registration(
            number, query, extents, self._every(query, extents), shared, answers, store, self._end
        )
        self._queries.append(made)
        names = [each.name for each in self._order(self._queries_as_text())]
        self._queries.sort(key=lambda each: names.index(each.name))
        return made

    def _every(self, query: RegisteredQuery, extents: Sequence[Extent]) -> int:
        if query.every is not None:
            return points(query.every, self.tick, query.place)
        first = extents[0]
        return 1 if isinstance(query.windows[0].window, CountWindow) else first.step

    def _store_of(
        self,
        number: int,
        query: RegisteredQuery,
        extents: Sequence[Extent],
        shared: SharedWorld,
        full: bool,
    ) -> WorldStore:
        """A store for a query that is asked anew, with its windows that have names as graphs."""
        graphs = []
        for window, extent in zip(query.windows, extents, strict=True):
            if window.name is None:
                continue
            alone, empty = self._world_of((extent,)), self._world_of(())
            for world in (alone, empty):
                world.needs[number] = Needs(full=full)
                self._require(world)
            graphs.append(WindowGraph(window.name, alone.world, empty.world))
        quads = [
            quad
            for quad in self._background.quads()
            if quad.graph_name.value in query.named_graphs  # type: ignore[union-attr]
        ]
        return WorldStore(shared.world, self._reader, graphs, quads)

    # worlds

    def _world_of(self, extents: Sequence[Extent]) -> SharedWorld:
        key = tuple(sorted(set(extents)))
        if key not in self._worlds:
            windows = [(extent, self._log(extent.stream)) for extent in key]
            world = EngineWorld(self._dictionary, self._background, windows, self._program.limit)
            world.fill()
            self._worlds[key] = SharedWorld(world)
        return self._worlds[key]

    def _require(self, shared: SharedWorld) -> None:
        """Let the rules run that some query of this world needs."""
        needs = shared.needs.values()
        if any(need.full for need in needs):
            rules = tuple(rule for rule in self._program.rules if not rule.is_constraint)
        else:
            atoms = [atom for need in needs for atom in need.atoms]
            rules = needed_rules(self._program.rules, atoms)
        answers = [need.rule for need in needs if need.rule is not None]
        shared.world.require([*rules, *answers])
        shared.rules = rules

    def _end(self, registration: Registration) -> None:
        if registration in self._queries:
            self._queries.remove(registration)
            if registration.store is not None:
                registration.store.close()
            self._release(registration.number)

    def _release(self, number: int) -> None:
        for key, shared in list(self._worlds.items()):
            if shared.needs.pop(number, None) is None and shared.needs:
                continue
            if not shared.needs:
                del self._worlds[key]
            else:
                self._require(shared)

    # what happens

    def pushed(self, facts: Facts, time: int, stream: str) -> None:
        """Facts have arrived on a stream, for a time point."""
        if self.first is not None and time < self.first:
            return
        new = self._log(stream).add(time, facts)
        for shared in self._worlds.values():
            shared.world.arrived(stream, time, new)
        self._wake(time, stream)

    def retracted(self, facts: Facts, time: int, stream: str) -> None:
        """Arrivals have been taken back."""
        gone = self._log(stream).remove(time, facts)
        for shared in self._worlds.values():
            shared.world.retracted(stream, time, gone)
        self._wake(time, stream)

    def background(
        self, touched: Facts, came: Iterable[Quad] = (), gone: Iterable[Quad] = ()
    ) -> None:
        """The background may have changed for these facts, and named graphs by these quads."""
        came, gone = list(came), list(gone)
        for shared in self._worlds.values():
            shared.world.background_changed(touched)
        for query in self._queries:
            if query.store is not None and (came or gone):
                wanted = query.query.named_graphs
                query.store.graphs_changed(
                    [quad for quad in came if quad.graph_name.value in wanted],  # type: ignore[union-attr]
                    [quad for quad in gone if quad.graph_name.value in wanted],  # type: ignore[union-attr]
                )
        self._wake(self.now)

    def rules(self, program: Program) -> None:
        """The rules have changed."""
        before, self._program = self._program, program
        if before.rules == program.rules:
            return
        for shared in self._worlds.values():
            self._require(shared)
        self._wake(self.now)

    def begin(self, first: int) -> None:
        """The first time point is known."""
        self.first = first
        for log in self._logs.values():
            log.forget(first - 1)
        for query in self._queries:
            query.start(first, first)

    def advance(self, now: int) -> None:
        """Every time point up to `now` is complete."""
        if self.first is None:
            times = [log.times[0] for log in self._logs.values() if log.times]
            self.begin(min([now, *times]))
        self._run(now)
        self.now = now
        for query in self._queries:
            query.pass_until(now)
        self._forget(now)

    def _run(self, now: int) -> None:
        while True:
            due = min((q.due for q in self._queries if q.due is not None), default=None)
            if due is None or due > now:
                return
            for query in self._queries:
                if query.due == due:
                    found = query.report(due)
                    if query.query.makes_stream:
                        self._emit(query, found, due)

    def _emit(self, query: Registration, found: Found, now: int) -> None:
        """What a query has constructed arrives on its stream."""
        if not found.count:
            return
        triples = triples_of(found)
        terms = (term for triple in triples for term in triple)
        ids = self._dictionary.encode(terms).reshape(-1, 3)
        self._arrive({TRIPLES: ids}, now, query.name)

    def _arrive(self, facts: Facts, now: int, stream: str) -> None:
        new = self._log(stream).add(now, facts)
        for shared in self._worlds.values():
            shared.world.arrived(stream, now, new)
        for reader in self._queries:
            if any(extent.stream == stream for extent in reader.windows):
                reader.wake(now)

    def _wake(self, time: int | None, stream: str | None = None) -> None:
        if time is None:
            return
        after = time if self.now is None else max(time, self.now + 1)
        for query in self._queries:
            if stream is None or any(extent.stream == stream for extent in query.windows):
                query.wake(after)

    def _forget(self, now: int) -> None:
        extents = [extent for key in self._worlds for extent in key]
        for stream, log in self._logs.items():
            times = [
                time
                for shared in self._worlds.values()
                for time in shared.world.forgettable(stream, now)
            ]
            fewest = max((e.fewest for e in extents if e.stream == stream), default=0)
            log.forget(min([now - 1, *times]), fewest)

    def _log(self, stream: str) -> StreamLog:
        return self._logs.setdefault(stream, StreamLog())

    def _order(self, queries: Sequence[RegisteredQuery]) -> list[RegisteredQuery]:
        """The queries, those that make a stream before those that read it."""
        by_name = {query.name: query for query in queries}
        reads = {
            query.name: [
                window.stream
                for window in query.windows
                if window.stream in by_name and by_name[window.stream].makes_stream
            ]
            for query in queries
        }
        try:
            return [by_name[name] for name in TopologicalSorter(reads).static_order()]
        except CycleError as error:
            circle = " reads ".join(reversed(error.args[1]))
            raise QueryError(
                f"streams that are made of each other: {circle}",
                place=queries[-1].place,
                hint="let one of them read a stream that is pushed",
            ) from None

    # figures

    def stats(self) -> dict[str, object]:
        """What is kept for the queries."""
        return {
            "queries": len(self._queries),
            "worlds": [shared.world.sizes() for shared in self._worlds.values()],
            "kept_arrivals": {stream: len(log) for stream, log in self._logs.items()},
        }
