"""Registered queries together: what happens to them, and the order of their reports.

A query is reported at every point of its grid, in the order of time; within a time point
the queries that make streams come before those that read them.  From an empty report on, a
query sleeps until one of its windows changes, and the reports in between are one entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from pyoxigraph import Quad, Triple

from livefacts.engine.contract import Ids
from livefacts.errors import LimitError, QueryError
from livefacts.model.durations import Duration
from livefacts.model.namespaces import DECLARED
from livefacts.rules.program import Program
from livefacts.service.continuous.found import Found, found_rows, triples_of
from livefacts.service.queries.results import Row
from livefacts.service.registered.backgrounds import Background
from livefacts.service.registered.limiting import not_registered, not_reported
from livefacts.service.registered.preparing import Preparer
from livefacts.service.registered.registration import Registration
from livefacts.service.registered.sharing import SharedWorlds
from livefacts.service.registered.windowing import grid_point
from livefacts.service.streams.streamlog import Facts, StreamLog
from livefacts.service.streams.streamorder import ordered
from livefacts.store.dictionary import Dictionary
from livefacts.store.rows import TRIPLES
from livefacts.syntax.csparql import parse_registration


class Registrations:
    """All registered queries of a reasoner, and what they share."""

    def __init__(
        self,
        dictionary: Dictionary,
        background: Background,
        program: Program,
        logs: dict[str, StreamLog] | None = None,
    ) -> None:
        self._dictionary = dictionary
        self._background = background
        self._worlds = SharedWorlds(dictionary, background, program, {} if logs is None else logs)
        self._preparer = Preparer(dictionary, background, self._worlds)
        self._queries: list[Registration] = []
        self._numbers = count(1)
        self._lateness: dict[str, int] = {}
        self._postponed: list[tuple[str, int]] = []
        """Streams and times for which corrections have derived too much."""
        self.first: int | None = None
        self.now: int | None = None

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
        known = {**DECLARED, **(prefixes or {})}
        number = next(self._numbers)
        query = parse_registration(text, known, f"query{number}")
        if query.name in [other.name for other in self._queries]:
            raise QueryError(
                f"{query.name} is registered already",
                place=query.place,
                hint="close it first, or choose another name",
            )
        names = ordered([*(other.query for other in self._queries), query])
        asked = self._preparer.asked(number, query, known, full)
        try:
            made = Registration(self._preparer.prepare(asked), self._end)
            self._queries.append(made)
            self._queries.sort(key=lambda each: names.index(each.name))
            self._start(made)
        except LimitError:
            self._end_number(number)
            raise not_registered(query.name, self.limit) from None
        return made

    def _end_number(self, number: int) -> None:
        for query in [query for query in self._queries if query.number == number]:
            self._end(query)

    def _start(self, made: Registration) -> None:
        if self._lateness:
            made.remembered = {}
        if self.first is not None:
            made.start(self.first, self.first if self.now is None else self.now)
        if self.now is not None:
            self._run(self.now)

    def _end(self, registration: Registration) -> None:
        if registration in self._queries:
            self._queries.remove(registration)
            registration.leave()
            self._worlds.release(registration.number)

    # what happens

    def pushed(self, facts: Facts, time: int, stream: str) -> None:
        """Facts have arrived on a stream, for a time point."""
        if self.first is not None and time < self.first:
            return
        new = self._worlds.log(stream).add(time, facts)
        self._worlds.arrived(stream, time, new)
        self._touch(time, stream, new)

    def retracted(self, facts: Facts, time: int, stream: str) -> None:
        """Arrivals have been taken back."""
        gone = self._worlds.log(stream).remove(time, facts)
        self._worlds.retracted(stream, time, gone)
        self._touch(time, stream, gone)

    def background(
        self, touched: Facts, came: Iterable[Quad] = (), gone: Iterable[Quad] = ()
    ) -> None:
        """The background may have changed for these facts, and named graphs by these quads."""
        came, gone = list(came), list(gone)
        self._worlds.background_changed(touched)
        for query in self._queries:
            if query.store is not None and query.query.named_graphs:
                wanted = query.query.named_graphs
                query.store.graphs_changed(_of(wanted, came), _of(wanted, gone))
        self._wake(self.now)

    def rules(self, program: Program) -> None:
        """The rules have changed."""
        if program.rules == self._worlds.program.rules:
            self._worlds.program = program
            return
        before = self._worlds.program
        numbers = self._worlds.unlasting(program)
        moving = [query for query in self._queries if query.number in numbers]
        try:
            for query in moving:
                self._preparer.check_windows(query.asked, query.needs)
        except QueryError:
            self._worlds.program = before
            raise
        for query in moving:
            query.leave()
        self._worlds.release(*numbers)
        self._worlds.change_rules()
        for query in moving:
            query.resettle(self._preparer.prepare(query.asked))
        self._wake(self.now)

    def begin(self, first: int) -> None:
        """The first time point is known."""
        self.first = self._worlds.first = first
        for log in self._worlds.logs.values():
            log.forget(first - 1)
        for query in self._queries:
            query.start(first, first)

    def advance(self, now: int) -> None:
        """Every time point up to `now` is complete."""
        if self.first is None:
            times = [log.times[0] for log in self._worlds.logs.values() if log.times]
            self.begin(min([now, *times]))
        while self._postponed:
            self._correct(*self._postponed[0])
            del self._postponed[0]
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
                    found = self._reported(query, due)
                    if query.query.makes_stream and not found.is_empty:
                        self._emit(query, triples_of(found), due)

    def _reported(self, query: Registration, due: int) -> Found:
        try:
            self._worlds.catch_up()
            return query.report(due)
        except LimitError:
            raise not_reported(query.name, due, self.limit) from None

    def _emit(self, query: Registration, triples: Iterable[Triple], now: int) -> None:
        """What a query has constructed arrives on its stream."""
        log = self._worlds.log(query.name)
        log.is_made = True
        new = log.add(now, self._encoded(triples))
        self._worlds.arrived(query.name, now, new)
        for reader in self._readers(query.name):
            reader.wake(now)

    def _encoded(self, triples: Iterable[Triple]) -> Facts:
        with self._dictionary.passing():
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
        oldest = now - max(self._lateness.values(), default=0)
        if self._lateness:
            oldest -= max((query.every for query in self._queries), default=0)
        self._worlds.forget(now, oldest)
        for query in self._queries:
            if query.remembered:
                kept = query.remembered.items()
                query.remembered = {time: found for time, found in kept if time >= oldest}

    # corrections

    def correct(self, stream: str, lateness: int) -> None:
        """Send reports again that a fact of this stream touches, as late as this."""
        self._lateness[stream] = lateness
        for query in self._queries:
            query.remembered = query.remembered or {}

    def _touch(self, time: int, stream: str, facts: Facts) -> None:
        """Facts have come or gone: reports ahead change, and past ones if they are corrected."""
        self._wake(time, stream)
        lateness = self._lateness.get(stream)
        if lateness is None or self.now is None or not facts:
            return
        if self.now - lateness <= time <= self.now:
            try:
                self._correct(stream, time)
            except LimitError:
                self._postponed.append((stream, time))

    def _correct(self, stream: str, time: int) -> None:
        assert self.now is not None, "only what has been reported is corrected"
        for query in self._readers(stream):
            again = self._again(query, time)
            right = again.remembered or {}
            query.compare_with(again)
            for at in range(grid_point(time, query.every), self.now + 1, query.every):
                if query.has_reported(at):
                    self._send_again(query, at, right.get(at))

    def _send_again(self, query: Registration, at: int, found: Found | None) -> None:
        remembered = query.remembered or {}
        before = remembered.get(at)
        old, new = ([] if f is None else sorted(f.rows(), key=str) for f in (before, found))
        if old == new:
            return
        known = found or before
        assert known is not None, "one of two different reports has rows"
        query.correct(at, found_rows(known.names, new))
        if query.query.makes_stream:
            self._emit_again(query, at, old, new)

    def _emit_again(self, query: Registration, at: int, old: list[Row], new: list[Row]) -> None:
        """Corrections travel as retractions and late facts of the stream that was made."""
        gone = [Triple(*row) for row in old if row not in new]
        came = [Triple(*row) for row in new if row not in old]
        if gone:
            self.retracted(self._encoded(gone), at, query.name)
        if came:
            self.pushed(self._encoded(came), at, query.name)
        if query.name not in self._lateness:
            self._correct(query.name, at)

    def _again(self, query: Registration, time: int) -> Registration:
        """A query that has made its reports from a time on anew, from what is known now."""
        assert self.first is not None, "there have been reports"
        assert self.now is not None, "there have been reports"
        apart = Registrations(
            self._dictionary, self._background, self._worlds.program, self._worlds.logs
        )
        apart.tick = self.tick
        apart.first = apart._worlds.first = self.first
        if self.limit is not None:
            apart.limit = self.limit + sum(world.sizes()["facts"] for world in self._worlds)
        again = Registration(apart._preparer.prepare(query.asked), apart._end)
        again.start(self.first, grid_point(time, query.every) - query.every)
        again.remembered = {}
        while again.due is not None and again.due <= self.now:
            apart._reported(again, again.due)
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
            "kept_arrivals": {name: len(log) for name, log in self._worlds.logs.items()},
        }


def _of(graphs: Iterable[str], quads: Iterable[Quad]) -> list[Quad]:
    return [quad for quad in quads if quad.graph_name.value in graphs]  # type: ignore[union-attr]
