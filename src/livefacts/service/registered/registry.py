"""The registry: all registered queries, what happens to them, and the order of their reports.

A query is reported at every point of its grid, in the order of time; within a time point
the queries that make streams come before those that read them.  From an empty report on, a
query sleeps until one of its windows changes, and the reports in between are one entry.

A query whose world derives more than the limit allows has no report for that time; it gets
a new world, of its own, for the next.  Other queries are not affected, but for those that read
the stream that it makes: they have no report, either, while their windows see that time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from typing import Any

from pyoxigraph import Quad, Triple

from livefacts.engine.contract import TRIPLES, Facts, Ids
from livefacts.errors import LimitError, QueryError
from livefacts.language.program import Program
from livefacts.language.registration import RegisteredQuery
from livefacts.language.windows import Extent, grid_point
from livefacts.model.durations import Duration
from livefacts.model.namespaces import DECLARED
from livefacts.service.continuous.findings import Found, found_rows
from livefacts.service.queries.results import Row
from livefacts.service.registered.background import Background
from livefacts.service.registered.end_of_stream import NEVER, Ending
from livefacts.service.registered.limits import lacking, not_registered, not_reported
from livefacts.service.registered.query_preparation import Preparer
from livefacts.service.registered.saved_queries import restore, saved
from livefacts.service.registered.scheduled_query import QueryRequest, Registration
from livefacts.service.registered.shared_worlds import AnyShared, SharedWorlds
from livefacts.service.registered.stream_rows import stream_triples
from livefacts.service.streams.arrival_log import ArrivalChunk, ArrivalLog
from livefacts.service.streams.fact_rows import Rows, united
from livefacts.service.streams.time_movement import Listener, Streams
from livefacts.service.streams.window_contents import LatestContents
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.sparql.csparql import parse_registration
from livefacts.syntax.sparql.csparql_errors import as_written


class Registrations(Listener):
    """All registered queries of a reasoner, which hear of everything that happens to it."""

    is_heard = True

    def __init__(
        self,
        dictionary: Dictionary,
        background: Background,
        program: Program,
        log: ArrivalLog,
    ) -> None:
        self._dictionary = dictionary
        self._background = background
        self._log = log
        self._worlds = SharedWorlds(dictionary, background, program, log)
        self._preparer = Preparer(dictionary, background, self._worlds)
        self._queries: list[Registration] = []
        self._unclaimed: list[Registration] = []
        """Those that were registered before a restart, until they are registered again."""
        self.when_ended: Callable[[str], None] = lambda name: None
        """Called with the name of a query that is closed."""
        self.when_read: Callable[[str, int], None] = lambda name, read: None
        """Called with the name of a query, and how many of its reports were read."""
        self._last_number = 0
        self._gaps: dict[str, set[int]] = {}
        """When streams that queries make were not made."""
        self.is_begun = False
        self.now: int | None = None

    @classmethod
    def of(cls, streams: Streams, program: Program, tick: Duration | None) -> Registrations:
        """The registered queries of a reasoner; the first time, they begin to listen."""
        found = streams.listener
        if not isinstance(found, cls):
            engine = streams.engine
            timeline = streams.timeline
            background = Background(engine, streams.graphs, is_alone=lambda: not timeline.held())
            found = streams.listener = cls(engine.dictionary, background, program, streams.log)
            found.now = streams.now
            if streams.log.first is not None:
                found.begin()
        found.tick, found.limit = tick, streams.engine.limit
        return found

    @property
    def tick(self) -> Duration | None:
        """How long a time point lasts."""
        return self._preparer.tick

    @tick.setter
    def tick(self, tick: Duration | None) -> None:
        self._preparer.tick = self._worlds.tick = tick

    @property
    def limit(self) -> int | None:
        """The largest number of facts that a change of their worlds may derive."""
        return self._worlds.limit

    @limit.setter
    def limit(self, limit: int | None) -> None:
        self._worlds.limit = limit

    # registering

    def register(
        self, text: str, prefixes: Mapping[str, str] | None = None, *, full: bool = False
    ) -> Registration:
        """Register a C-SPARQL or RSP-QL query; it reports from the next grid point on.

        Only rules run that can matter to it, unless it is `full`.
        """
        for unclaimed in self._unclaimed:
            if unclaimed.is_of(text, full):
                self._unclaimed.remove(unclaimed)
                return unclaimed
        known = {**DECLARED, **(prefixes or {})}
        self._last_number += 1
        number = self._last_number
        query = parse_registration(text, known, f"query{number}")
        if query.name in [other.query.name for other in self._queries]:
            raise QueryError(
                f"{query.name} is registered already",
                place=query.place,
                hint="close it first, or choose another name",
            )
        names = ordered([*[other.query for other in self._queries], query])
        try:
            asked = self._preparer.request(number, query, known, full, text)
        except QueryError as error:
            raise as_written(text, error, query.place) from None
        try:
            made = self._registration(asked)
            queries = {each.query.name: each for each in (*self._queries, made)}
            self._queries = [queries[name] for name in names]
            self._start(made)
            if made.error is not None and self._lack(made, made.last) is None:
                raise made.error
        except LimitError as error:
            self._end_number(number)
            raise not_registered(query.name, self.limit, error) from None
        return made

    def _end_number(self, number: int) -> None:
        for query in [query for query in self._queries if query.number == number]:
            self.end(query)

    def _start(self, made: Registration) -> None:
        if self._log.lateness:
            made.remembered = {}
        if self.is_begun:
            made.start(self._first, self._first if self.now is None else self.now)
        if self.now is not None:
            self._run(self.now)

    def _close(self, registration: Registration) -> None:
        """A user closes a query."""
        if registration in self._queries:
            self.when_ended(registration.name)
            self.end(registration)

    def __len__(self) -> int:
        return len(self._queries)

    def by_name(self) -> dict[str, Registration]:
        """All queries that report."""
        return {query.name: query for query in self._queries}

    def end(self, registration: Registration) -> None:
        """A query reports no more."""
        if registration in self._queries:
            self._queries.remove(registration)
            self._unclaimed = [each for each in self._unclaimed if each is not registration]
            registration.leave()
            self._worlds.end(registration.number)

    # written down

    def state(self) -> dict[str, Any]:
        """All queries, and which of their reports comes next, as plain data."""
        return {
            "now": self.now,
            "begun": self.is_begun,
            "last number": self._last_number,
            "gaps": {name: sorted(gaps) for name, gaps in self._gaps.items()},
            "queries": [saved(query, self._dictionary) for query in self._queries],
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Queries that are new go on from what was written down."""
        self._gaps = {name: set(gaps) for name, gaps in state["gaps"].items()}
        for each in state["queries"]:
            query = parse_registration(each["text"], each["prefixes"], each["name"])
            given = each["number"], query, each["prefixes"], each["full"], each["text"]
            made = self._registration(self._preparer.request(*given, each["graphs"]))
            made.go_on(each["position"])
            restore(made, each, self._dictionary)
            self._queries.append(made)
        self._last_number = state["last number"]
        self.now, self.is_begun = state["now"], state["begun"]

    def repeated(self, *, forget: bool) -> None:
        """The queries are those of a program that ended; the next one registers them again.

        Who only reads may `forget` the reports that were made until now.
        """
        self._unclaimed = sorted(self._queries, key=lambda query: query.number)
        for query in self._queries if forget else ():
            query.forget_reports()

    def _registration(self, asked: QueryRequest) -> Registration:
        made = Registration(self._preparer.prepare(asked), self._close)
        made.when_read = lambda name, read: self.when_read(name, read)
        return made

    def pass_over(self, name: str, read: int) -> None:
        """So many reports of a query were read before the end of the process."""
        for query in self._queries:
            if query.name == name:
                query.reports.pass_over(read)

    # what happens

    def arrived(self, chunks: Sequence[ArrivalChunk]) -> None:
        """Facts have arrived on a stream, for a time point, or have been taken back."""
        self._part(self._worlds.arrived(chunks))
        self._touch(chunks[0].time, self._worlds.name(chunks[0].lane))

    def changed(
        self, program: Program, asserted: Facts, retracted: Facts, came: Ids, gone: Ids
    ) -> None:
        """Background or rules have changed; quads have come to named graphs, or gone."""
        self.limit = self._background.engine.limit
        self._change_rules(program)
        named = [{TRIPLES: ids[:, :3]} for ids in (came, gone)]
        touched = united([asserted, retracted, *named])
        if touched:
            self._part(self._worlds.background_changed(touched))
            self._change_graphs(*(list(self._background.decoded(ids)) for ids in (came, gone)))
            self._wake(self.now)

    def _change_graphs(self, came: Iterable[Quad], gone: Iterable[Quad]) -> None:
        for query in self._queries:
            if query.source is not None and query.query.named_graphs:
                wanted = query.query.named_graphs
                query.source.graphs_changed(_of(wanted, came), _of(wanted, gone))

    def _change_rules(self, program: Program) -> None:
        if program.rules == self._worlds.program.rules:
            self._worlds.program = program
            return
        before = self._worlds.program
        numbers = self._worlds.unlasting(program)
        moving = [query for query in self._queries if query.number in numbers]
        timed = self._worlds.timed() | numbers
        try:
            for query in self._queries:
                if query.number in timed:
                    self._preparer.check_windows(query.asked, query.needs)
        except QueryError:
            self._worlds.program = before
            raise
        self._leave(moving)
        failed = self._worlds.change_rules()
        self._resettle(moving)
        self._part(failed)
        self._wake(self.now)

    def _leave(self, queries: Iterable[Registration]) -> None:
        for query in queries:
            query.leave()
        self._worlds.release(*(query.number for query in queries))

    def _resettle(self, queries: Iterable[Registration]) -> None:
        """Give queries worlds; where the rules derive too much at once, the next report tries."""
        for query in queries:
            with suppress(LimitError):
                query.resettle(self._preparer.prepare(query.asked))

    def _part(self, failed: Iterable[AnyShared]) -> None:
        """Give the queries of these worlds new ones, which they do not share as they did."""
        numbers = self._worlds.part(failed)
        parting = [query for query in self._queries if query.number in numbers]
        self._leave(parting)
        self._resettle(parting)

    def begin(self) -> None:
        """The first time point is known."""
        self.is_begun = True
        for query in self._queries:
            query.start(self._first, self._first)

    @property
    def _first(self) -> int:
        first = self._log.first
        assert first is not None, "time has begun"
        return first

    def advanced(self, now: int) -> None:
        """Every time point up to `now` is complete."""
        self.limit = self._background.engine.limit
        if self.now is not None and now < self.now:
            return
        if not self.is_begun:
            self.begin()
        self._run(now)
        self.now = now
        for query in self._queries:
            query.pass_until(now)
        self._forget(now)

    def _run(self, now: int) -> None:
        while True:
            due = min([q.due for q in self._queries if q.due is not None], default=None)
            if due is None or due > now:
                return
            for query in self._queries:
                if query.due == due:
                    self._report(query, due)

    def finished(self) -> None:
        """Nothing more will come: every query reports until it has seen all that has come."""
        if self.now is None:
            return
        ending = Ending(self._worlds, self._gaps, self.now)
        while (due := min(map(ending.due, self._queries), default=NEVER)) < NEVER:
            for query in self._queries:
                if ending.due(query) == due:
                    self._report(query, due)
        for query in self._queries:
            query.pass_until(ending.end(query))
        self.now = max([self.now, *(query.last for query in self._queries if query.is_started)])
        for query in self._queries:
            query.skip_until(self.now)
        self._forget(self.now)

    def _report(self, query: Registration, due: int) -> None:
        """Make a report, and the stream that is made of it."""
        found = self._made(query, due)
        if not query.query.makes_stream:
            return
        if found is None:
            self._gaps.setdefault(query.name, set()).add(due)
            for reader in self._readers(query.name):
                reader.wake(due)
        elif not found.is_empty:
            self._emit(query, stream_triples(query.query, found.rows()), due)

    def _made(self, query: Registration, due: int) -> Found | None:
        """What a query reports; None if its world derives too much, or a stream lacks something."""
        try:
            if not query.is_settled:
                query.resettle(self._preparer.prepare(query.asked))
            query.move(due)
        except LimitError as error:
            return self._made_apart(query, due, error)
        lack = self._lack(query, due)
        if lack is not None:
            query.fail(due, lack)
            return None
        found = query.report(due)
        for gap in self._coming_gaps(query, due):
            query.wake(gap)
        return found

    def _coming_gaps(self, query: Registration, due: int) -> list[int]:
        """When streams were not made that the query does not see yet."""
        return [
            gap
            for stream, gaps in self._gaps.items()
            if query.reads(stream)
            for gap in gaps
            if gap >= query.looks_back_to(stream, due)
        ]

    def _made_apart(self, query: Registration, due: int, error: LimitError) -> Found | None:
        """What a query reports if others have no part in its world."""
        worlds = self._worlds.of(query.number)
        is_shared = any(len(shared.needs) > 1 for shared in worlds)
        if is_shared or not all(shared.place.is_new for shared in worlds):
            self._part(worlds)
        if is_shared:
            return self._made(query, due)
        query.fail(due, not_reported(query.name, due, self.limit, error))
        return None

    def _lack(self, query: Registration, due: int) -> LimitError | None:
        """Why a query that has moved cannot be reported, though its own world is right."""
        for stream, gaps in self._gaps.items():
            if query.reads(stream):
                since = query.looks_back_to(stream, due)
                gap = max((gap for gap in gaps if since <= gap <= due), default=None)
                if gap is not None:
                    return lacking(query.name, due, stream, gap)
        return None

    def _emit(self, query: Registration, triples: Iterable[Triple], now: int) -> None:
        """What a query has reported arrives on its stream."""
        new = self._log.add(now, ~self._worlds.lane(query.name), [self._encoded(triples)])
        if new:
            self._part(self._worlds.arrived(new))
        for reader in self._readers(query.name):
            reader.wake(now)

    def _encoded(self, triples: Iterable[Triple]) -> Rows:
        with self._dictionary.passing:
            return {TRIPLES: self._dictionary.encode_triples(list(triples))}

    def _readers(self, stream: str | None) -> list[Registration]:
        return [query for query in self._queries if stream is None or query.reads(stream)]

    def _wake(self, time: int | None, stream: str | None = None) -> None:
        if time is not None:
            after = time if self.now is None else max(time, self.now + 1)
            for query in self._readers(stream):
                query.wake(after)

    def _forget(self, now: int) -> None:
        """Drop arrivals and reports that can no longer matter."""
        oldest = self._oldest(now)
        self._forget_gaps(now - oldest)
        self._worlds.forget(now)
        for query in self._queries:
            if query.remembered:
                kept = query.remembered.items()
                query.remembered = {time: found for time, found in kept if time >= oldest}

    def _oldest(self, now: int) -> int:
        """The time of the oldest report that may be sent again."""
        lateness = self._log.lateness
        if not lateness:
            return now
        return (
            now - max(lateness.values()) - max((query.every for query in self._queries), default=0)
        )

    def needed(self, lane: int) -> int:
        """The time from which on arrivals of a lane can matter."""
        assert self.now is not None, "time has moved"
        return self._worlds.needed(lane, self._oldest(self.now), self._unsettled())

    def latest(self) -> list[LatestContents]:
        """Windows whose facts are kept by their number."""
        return list(self._worlds.latest(self._unsettled()))

    def _unsettled(self) -> list[Extent]:
        return [each for query in self._queries if not query.is_settled for each in query.windows]

    def _forget_gaps(self, kept: int) -> None:
        """Drop the times at which streams were not made that nobody looks at any more."""
        assert self.now is not None, "time has moved"
        for stream, gaps in self._gaps.items():
            seen = [each.looks_back_to(stream, self.now) for each in self._readers(stream)]
            self._gaps[stream] = {gap for gap in gaps if seen and gap >= min(seen) - kept}

    # corrections

    def correct(self, stream: str, lateness: int) -> None:
        """Send reports again that a fact of this stream touches, as late as this."""
        self._log.lateness[self._worlds.lane(stream)] = lateness
        for query in self._queries:
            query.remembered = query.remembered or {}

    def _touch(self, time: int, stream: str) -> None:
        """Facts have come or gone: reports ahead change, and past ones if they are corrected."""
        self._wake(time, stream)
        lateness = self._late(stream)
        if lateness is None or self.now is None:
            return
        if self.now - lateness <= time <= self.now:
            self._correct(stream, time)

    def _late(self, stream: str) -> int | None:
        return self._log.lateness.get(self._worlds.lane(stream))

    def _correct(self, stream: str, time: int) -> None:
        assert self.now is not None, "only what has been reported is corrected"
        for query in self._readers(stream):
            again = self._again(query, time)
            right = again.remembered or {}
            query.compare_with(again)
            for at in range(grid_point(time, query.every), self.now + 1, query.every):
                if query.has_reported(at):
                    self._send_again(query, at, right.get(at))

    def _send_again(self, query: Registration, at: int, found: Found | LimitError | None) -> None:
        before = (query.remembered or {}).get(at)
        if isinstance(found, LimitError):
            if not isinstance(before, LimitError):
                self._unmake(query, at, found)
            return
        was_unmade = isinstance(before, LimitError)
        old, new = _sorted_rows(before), _sorted_rows(found)
        if old == new and not was_unmade:
            return
        known = found if before is None or isinstance(before, LimitError) else before
        query.correct(at, found_rows(() if known is None else known.names, new))
        if query.query.makes_stream:
            self._gaps.get(query.name, set()).discard(at)
            self._emit_again(query, at, old, new)

    def _unmake(self, query: Registration, at: int, reason: LimitError) -> None:
        """A report can no longer be made: it is taken back, and the stream that was made of it."""
        old = _sorted_rows((query.remembered or {}).get(at))
        query.correct(at, reason)
        if query.query.makes_stream:
            self._gaps.setdefault(query.name, set()).add(at)
            self._emit_again(query, at, old, [])
            self._wake(at, query.name)

    def _emit_again(self, query: Registration, at: int, old: list[Row], new: list[Row]) -> None:
        """Corrections travel as retractions and late facts of the stream that was made."""
        gone = stream_triples(query.query, (row for row in old if row not in new))
        came = stream_triples(query.query, (row for row in new if row not in old))
        lane = ~self._worlds.lane(query.name)
        went = self._log.remove(at, lane, self._encoded(gone))[0] if gone else []
        made = self._log.add(at, lane, [self._encoded(came)]) if came else []
        for chunks in (went, made):
            if chunks:
                self.arrived(chunks)
        if self._late(query.name) is None:
            self._correct(query.name, at)

    def _again(self, query: Registration, time: int) -> Registration:
        """A query that has made its reports from a time on anew, from what is known now."""
        assert self.now is not None, "there have been reports"
        program = self._worlds.program
        apart = Registrations(self._dictionary, self._background, program, self._log)
        apart.tick, apart.is_begun = self.tick, True
        if self.limit is not None:
            apart.limit = self.limit + sum(world.sizes()["facts"] for world in self._worlds)
        again = Registration(apart._preparer.prepare(query.asked), apart.end)
        apart._queries.append(again)
        apart._gaps = self._gaps
        again.start(self._first, grid_point(time, query.every) - query.every)
        again.remembered = {}
        while again.due is not None and again.due <= self.now:
            apart._made(again, again.due)
        return again

    # terms and figures

    def held_ids(self) -> Iterator[Ids]:
        """The ids that the queries, their worlds and their streams keep."""
        yield from self._worlds.held_ids()
        for query in self._queries:
            yield from query.held_ids()

    def stats(self) -> dict[str, object]:
        """What is kept for the queries."""
        return {
            "queries": len(self._queries),
            "worlds": [world.sizes() for world in self._worlds],
            "failing": {q.name: q.error.message for q in self._queries if q.error is not None},
            "kept_arrivals": self._kept_arrivals(),
        }

    def _kept_arrivals(self) -> dict[str, int]:
        kept: Counter[str] = Counter()
        for number, lane in self._log.lanes.items():
            kept[self._worlds.name(number)] += len(lane)
        return dict(kept)


def _sorted_rows(found: Found | LimitError | None) -> list[Row]:
    """What was reported; nothing, if there was no report."""
    return sorted(found.rows(), key=str) if isinstance(found, Found) else []


def _of(graphs: Iterable[str], quads: Iterable[Quad]) -> list[Quad]:
    return [quad for quad in quads if quad.graph_name.value in graphs]  # type: ignore[union-attr]


def ordered(queries: Sequence[RegisteredQuery]) -> list[str]:
    """The names of the queries in order; the last query is refused if it closes a circle."""
    makers = {query.name for query in queries if query.makes_stream}
    if not makers:
        return [query.name for query in queries]
    reads = {
        query.name: [window.stream for window in query.windows if window.stream in makers]
        for query in queries
    }
    try:
        return list(TopologicalSorter(reads).static_order())
    except CycleError as error:
        circle = " reads ".join(reversed(error.args[1]))
        raise QueryError(
            f"streams that are made of each other: {circle}",
            place=queries[-1].place,
            hint="let one of them read a stream that is pushed",
        ) from None
