"""The scheduled query: when a registered query is due, and what it has reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from livefacts.engine.contract import Ids
from livefacts.errors import LimitError
from livefacts.language.algebra import Query
from livefacts.language.registration import RegisteredQuery
from livefacts.language.windows import Extent, grid_point
from livefacts.service.continuous.answers import Change
from livefacts.service.continuous.findings import Found, found_rows
from livefacts.service.registered.flow_answers import FlowedAnswers
from livefacts.service.registered.match_spans import SpannedMatches
from livefacts.service.registered.query_input import QueryInput
from livefacts.service.registered.report_answers import AskedAnswers
from livefacts.service.registered.reports import Report, ReportChanges, ReportQueue
from livefacts.service.registered.shared_worlds import AnyShared, Needs
from livefacts.service.registered.stream_state import WindowView
from livefacts.service.registered.timed_matches import SeenAnswers
from livefacts.service.registered.world import World

AnyAnswers: TypeAlias = SeenAnswers | FlowedAnswers | AskedAnswers


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A query as it was registered."""

    number: int
    query: RegisteredQuery
    windows: tuple[Extent, ...]
    every: int
    """So many time points lie between two reports."""
    prefixes: Mapping[str, str]
    full: bool
    graphs: tuple[str, ...]
    """The named graphs that are its background; none if all that is asserted is."""
    meant: Query
    """What its body says, with patterns for the times that it asks for."""
    text: str
    """What was registered."""

    @property
    def asks_for_times(self) -> bool:
        """Whether it asks when triples have arrived."""
        return self.meant is not self.query.asked


@dataclass(frozen=True, slots=True)
class Prepared:
    """A query that can be asked: in which world, and how its answers are found."""

    asked: QueryRequest
    shared: AnyShared
    world: World | WindowView
    answers: AnyAnswers
    source: QueryInput | None = None
    """What it sees of its world, where it is not followed by rules."""


class Registration:
    """A registered query: `results()` are its reports, `close()` ends it."""

    def __init__(self, prepared: Prepared, close: Callable[[Registration], None]) -> None:
        self._prepared = prepared
        self.asked = prepared.asked
        self.number = prepared.asked.number
        self.query = prepared.asked.query
        self.windows = prepared.asked.windows
        self.every = prepared.asked.every
        self.due: int | None = None
        """When it must be looked at again; None while nothing can change."""
        self._close = close
        self._reports = ReportQueue()
        self.when_read: Callable[[str, int], None] = lambda name, read: None
        """Called with the name and how many reports were read."""
        self._listener: Callable[[Report], object] | None = None
        self._changes = ReportChanges(self.query.relation)
        self._start = self._next = self._first = 0
        self._nothing: Found | None = None
        self.is_started = False
        self.is_settled = True
        """Whether it has a world."""
        self.error: LimitError | None = None
        """Why its last report was not made; None if it was."""
        self.unmade = 0
        """How many reports were not made."""
        self.reason = ""
        """Why the last of them was not made."""
        self.remembered: dict[int, Found | LimitError] | None = None
        """What was reported and may have to be corrected, by time; None if nothing ever is."""

    @property
    def source(self) -> QueryInput | None:
        """What the query sees of its world, where it is not followed by rules."""
        return self._prepared.source

    @property
    def needs(self) -> Needs:
        """What it asks of its world."""
        return self._prepared.shared.needs[self.number]

    @property
    def last(self) -> int:
        """The time of the last report that was due."""
        return self._next - self.every

    @property
    def begins(self) -> int:
        """The time of its first report."""
        return self._start

    def leave(self) -> None:
        """Follow the world no longer."""
        if self.source is not None and self.is_settled:
            self.source.close()
        self.is_settled = False

    def resettle(self, prepared: Prepared) -> None:
        """Be asked in another world from now on."""
        prepared.answers.resume(self._prepared.answers.reported())
        self._prepared = prepared
        self.is_settled = True

    # for users

    @property
    def name(self) -> str:
        """What the query is called."""
        return self.query.name

    @property
    def plan(self) -> str:
        """How the answers are found, in words."""
        shared, place = self._prepared.shared, self._prepared.shared.place
        inside = [name for way in self.needs.ways for name in way.rules]
        rules = ", ".join(dict.fromkeys([*(rule.id for rule in place.rules), *inside]))
        made = " (made for the schema that is asserted)" if place.is_narrowed else ""
        kind = "world" if isinstance(place, World) else "state of windows of every length"
        return "\n".join(
            [
                f"reports: every {self.every}, {self.query.relation}",
                *(f"window: <{each.stream}> [{each.window}]" for each in self.query.windows),
                *self._way(),
                f"rules: {rules + made if rules else 'none can matter'}",
                f"{kind}: shared by {len(shared.needs)} queries"
                if len(shared.needs) > 1
                else f"{kind}: its own",
            ]
        )

    def _way(self) -> Iterator[str]:
        """How the answers are found, line by line."""
        answers = self._prepared.answers
        if isinstance(answers, AskedAnswers):
            yield f"answers: asked anew of a store at each report: {answers.reason}"
            return
        denied = isinstance(answers, SeenAnswers) and isinstance(answers.matches, SpannedMatches)
        yield f"answers: followed change by change{', and what denies them' if denied else ''}"
        if isinstance(answers, FlowedAnswers):
            yield from (f"  {line}" for line in answers.plan.splitlines())

    def results(self) -> Iterator[Report]:
        """The reports that have not been read, the oldest first."""
        try:
            yield from self._reports.take()
        finally:
            self.when_read(self.name, self._reports.read)

    def changes(self) -> list[Change]:
        """What came and went from report to report, with the time of each; reads the reports.

        A report is read by `results` or by this, whoever comes first: use one of them.
        """
        return [change for report in self.results() for change in self._changes.of(report)]

    def on_report(self, listener: Callable[[Report], object]) -> None:
        """Call with each report when it is made, those that were not read yet first.

        That is before the change that brought it is on the disk: its number is not acknowledged yet.
        How far reports were read is noted by the next `results()`, which has none left to give.
        """
        for report in self.results():
            listener(report)
        self._listener = listener

    def close(self) -> None:
        """Report no more; what has been reported can still be read."""
        self._close(self)

    def __repr__(self) -> str:
        mark = "" if self.error is None else "; the last could not be made"
        reports = "1 report" if len(self._reports) == 1 else f"{len(self._reports):,} reports"
        return f"<Registration {self.name}: {reports} to read{mark}>"

    # written down

    @property
    def answers(self) -> AnyAnswers:
        """What finds its answers."""
        return self._prepared.answers

    def position(self) -> dict[str, Any]:
        """When its reports began, and which comes next, as plain data."""
        return {
            "start": self._start,
            "next": self._next,
            "first": self._first,
            "due": self.due,
            "started": self.is_started,
            "names": None if self._nothing is None else list(self._nothing.names),
            "unmade": self.unmade,
            "reason": self.reason,
            "error": None if self.error is None else self.error.message,
        }

    def go_on(self, position: Mapping[str, Any]) -> None:
        """Go on with the reports from a position."""
        self._start, self._next, self._first = (position[n] for n in ("start", "next", "first"))
        self.due, self.is_started = position["due"], position["started"]
        names, error = position["names"], position["error"]
        self._nothing = None if names is None else found_rows(tuple(names), ())
        self.unmade, self.reason = position["unmade"], position["reason"]
        self.error = None if error is None else LimitError(error)

    def is_of(self, text: str, full: bool) -> bool:
        """Whether it was registered like this."""
        return self.asked.text == text and self.asked.full == full

    @property
    def reports(self) -> ReportQueue:
        """The reports that have not been read."""
        return self._reports

    def forget_reports(self) -> None:
        """Reports that were made elsewhere are not to be read here."""
        self._reports = ReportQueue()

    # for the clock

    def reads(self, stream: str) -> bool:
        """Whether what arrives on a stream can matter to it."""
        return self._prepared.world.is_timed or any(self._on(stream))

    def _on(self, stream: str) -> Iterator[Extent]:
        """Its windows on a stream."""
        for extent in self.windows:
            if extent.stream is not None and extent.stream.value == stream:
                yield extent

    def start(self, first: int, now: int) -> None:
        """Report from the first grid point at or after `now`; `first` is the first time point.

        Where time begins at 0, the first report comes one step later.
        """
        self._first = first
        point = grid_point(max(first, now), self.every)
        if point == first == 0:
            point = self.every
        self._start = self._next = self.due = point
        self.is_started = True

    def wake(self, time: int) -> None:
        """Something may have changed for this time and after."""
        if self.is_started:
            point = grid_point(max(time, self._next), self.every)
            self.due = point if self.due is None else min(self.due, point)

    def move(self, now: int) -> None:
        """The time is `now` in its world."""
        self._prepared.world.move(now)
        if self.source is not None:
            self.source.move(now)

    def looks_back_to(self, stream: str, now: int) -> int:
        """The first time point of a stream that it sees when it has moved."""
        world = self._prepared.world
        spans = world.spans(now, self._first)
        return min([world.looks_back_to(now), *(spans[each].since for each in self._on(stream))])

    def report(self, now: int) -> Found:
        """The report that is due now; it is also kept to be read."""
        world, found = self._prepared.world, self._prepared.answers.report()
        self.error = None
        self._note(now, found)
        change = world.next_change(now) if found.is_empty else self._next
        self.due = None if change is None else grid_point(change, self.every)
        return found

    def _note(self, now: int, found: Found) -> None:
        self.pass_until(now - 1)
        self._nothing = found_rows(found.names, ())
        self._put(now, now, found)
        if self.remembered is not None and not found.is_empty:
            self.remembered[now] = found
        self._next = now + self.every

    def fail(self, now: int, error: LimitError) -> None:
        """There is no report for now, for this reason; the query is asked again at the next."""
        self.error = error
        self.reason = error.message
        self.unmade += 1
        self.pass_until(now - 1)
        self._put(now, now, error)
        if self.remembered is not None:
            self.remembered[now] = error
        self.due = self._next = now + self.every

    def pass_until(self, time: int) -> None:
        """Nothing has changed until this time: the reports in between are empty."""
        last = time // self.every * self.every
        if not self.is_started or self._next > last or self._nothing is None:
            return
        self._put(self._next, last, self._nothing)
        self._next = last + self.every

    def skip_until(self, time: int) -> None:
        """There are no more reports until this time; the next one comes behind it."""
        if self.is_started:
            self._next = max(self._next, grid_point(time + 1, self.every))
            self.due = None if self.due is None else max(self.due, self._next)

    def correct(self, time: int, found: Found | LimitError) -> None:
        """A report was wrong: here is the right one, or why there is none."""
        self._put(time, time, found, correction=True)
        if self.remembered is not None:
            self.remembered[time] = found

    def has_reported(self, time: int) -> bool:
        """Whether there has been a report for this time."""
        return self.is_started and self._start <= time < self._next

    def compare_with(self, other: Registration) -> None:
        """The next report is compared with the last one of the same query elsewhere."""
        self._prepared.answers.resume(other._prepared.answers.reported())

    def held_ids(self) -> Iterator[Ids]:
        """The ids that its answers and its store keep."""
        yield from self._prepared.answers.held_ids()
        if self.source is not None:
            yield from self.source.held_ids()

    def _put(
        self, first: int, last: int, outcome: Found | LimitError, *, correction: bool = False
    ) -> None:
        spans = self._prepared.world.spans(first, self._first)
        windows = tuple(spans[extent] for extent in self.windows)
        count = (last - first) // self.every + 1
        self._reports.put(Report(first, windows, outcome, last, count, correction))
        if self._listener is not None:
            for report in self._reports.take():
                self._listener(report)
