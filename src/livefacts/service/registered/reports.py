"""Reports: what a registered query found at a time."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from pyoxigraph import Triple

from livefacts.errors import LimitError, QueryError
from livefacts.language.registration import StreamOperator
from livefacts.language.windows import Extent
from livefacts.service.continuous.answers import CAME, WENT, Change
from livefacts.service.continuous.findings import Found, found_rows
from livefacts.service.continuous.row_projection import TRIPLE_NAMES
from livefacts.service.queries.results import Row
from livefacts.service.streams.window_contents import Contents, TimeContents

NOTHING = found_rows((), ())


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """The time points of a window, from the first to the last; none if it ends before it begins."""

    since: int
    until: int

    def __str__(self) -> str:
        return f"{self.since}..{self.until}"


def spans_of(windows: Iterable[Contents], now: int, first: int) -> dict[Extent, TimeSpan]:
    """The time points of windows; none is before the first of all."""
    found = {}
    for each in windows:
        since, until = each.interval(now, first)
        if isinstance(each, TimeContents):
            since, until = each.extent.bounds(now)
        found[each.extent] = TimeSpan(max(since, first), until)
    return found


@dataclass(frozen=True)
class Report:
    """The answers of a registered query at one time point.

    `window` has the time points that the first window of the query covers, `windows` those
    of all.  A run of reports without answers is one of these: `time` and `first` are the
    first of them, `last` the last, and `count` says how many there were.  So is a run of
    times for which there is no report: `error` says why.
    """

    time: int
    windows: tuple[TimeSpan, ...]
    outcome: Found | LimitError = field(repr=False)
    """What was found, or why there is no report for this time."""
    last: int = 0
    count: int = 1
    correction: bool = False
    """Whether this takes the place of an earlier report for the same time."""

    @property
    def error(self) -> LimitError | None:
        """Why there is no report for this time; reading its rows raises it."""
        return self.outcome if isinstance(self.outcome, LimitError) else None

    @property
    def found(self) -> Found:
        """What was found; nothing, if there is no report."""
        return NOTHING if isinstance(self.outcome, LimitError) else self.outcome

    @property
    def first(self) -> int:
        """The time of the first report of a run."""
        return self.time

    @property
    def window(self) -> TimeSpan | None:
        """The time points of the first window."""
        return self.windows[0] if self.windows else None

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.found.names

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The answers, as terms in SELECT order; of CONSTRUCT the triples, of ASK one row if yes."""
        self._check()
        return self.found.rows()

    def _check(self) -> None:
        if self.error is not None:
            raise self.error

    @property
    def triples(self) -> tuple[Triple, ...]:
        """The triples that a CONSTRUCT made."""
        if self.variables != TRIPLE_NAMES:
            raise QueryError("only CONSTRUCT makes triples", hint="read .rows")
        return tuple(Triple(*row) for row in self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        self._check()
        return self.found.count

    def __bool__(self) -> bool:
        return not self.found.is_empty

    def __repr__(self) -> str:
        if self.error is not None:
            return f"<Report {self.first}..{self.last}: {self.error.message}>"
        if self.count > 1:
            return f"<Report {self.first}..{self.last}: {self.count:,} times nothing>"
        mark = " correction" if self.correction else ""
        return f"<Report {self.time}: {self.found.count:,} answers{mark}>"


class ReportQueue:
    """Reports that have not been read; those without answers are joined."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[int, Report]] = deque()
        """Reports, each with its number."""
        self.made = 0
        self.read = 0
        """The number of the last one that was read."""

    def put(self, report: Report) -> None:
        """One more report."""
        self.made += 1
        last = self.waiting[-1][1] if self.waiting else None
        if last is not None and _are_joined(last, report):
            report = replace(last, last=report.last, count=last.count + report.count)
            self.waiting.pop()
        self.waiting.append((self.made, report))

    def take(self) -> Iterator[Report]:
        """Every report that has not been read, the oldest first."""
        while self.waiting:
            self.read, report = self.waiting.popleft()
            yield report

    def pass_over(self, read: int) -> None:
        """The reports up to this number were read elsewhere."""
        while self.waiting and self.waiting[0][0] <= read:
            self.waiting.popleft()
        self.read = max(self.read, read)

    def __len__(self) -> int:
        return len(self.waiting)


def _are_joined(last: Report, report: Report) -> bool:
    if last or report or last.correction or report.correction:
        return False
    return (last.error is None) == (report.error is None)


class ReportChanges:
    """Compares each report of a query with the one before it."""

    def __init__(self, relation: StreamOperator) -> None:
        self._relation = relation
        self._before: Counter[Row] = Counter()
        self._last: int | None = None
        self._seq = 0

    def of(self, report: Report) -> Iterator[Change]:
        """What a report changes: what goes comes first."""
        if report.correction and report.time != self._last:
            # What was wrong at an earlier time has been changed again since.
            return
        if report.error is not None:
            return
        self._last = report.last
        self._seq += 1
        rows = Counter(report.rows)
        if self._relation is StreamOperator.ALL:
            gone, came = self._before - rows, rows - self._before
            self._before = rows
        else:
            is_new = self._relation is StreamOperator.NEW
            gone, came = (Counter[Row](), rows) if is_new else (rows, Counter[Row]())
        for op, bag in ((WENT, gone), (CAME, came)):
            for row, count in bag.items():
                yield Change(op, row, count, self._seq, report.time)
