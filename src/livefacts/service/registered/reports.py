"""Reports: what a registered query found at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from pyoxigraph import Triple

from livefacts.errors import LimitError, QueryError
from livefacts.service.continuous.found import Found
from livefacts.service.continuous.row_projection import TRIPLE_NAMES
from livefacts.service.queries.results import Row
from livefacts.service.registered.moving_window import Span


@dataclass(frozen=True)
class Report:
    """The answers of a registered query at one time point.

    `window` has the time points that the first window of the query covers, `windows` those
    of all.  A run of reports without answers is one of these: `time` and `first` are the
    first of them, `last` the last, and `count` says how many there were.  So is a run of
    times for which there is no report: `error` says why.
    """

    time: int
    windows: tuple[Span, ...]
    found: Found = field(repr=False)
    last: int = 0
    count: int = 1
    correction: bool = False
    """Whether this takes the place of an earlier report for the same time."""
    error: LimitError | None = None
    """Why there is no report for this time; reading its rows raises it."""

    @property
    def first(self) -> int:
        """The time of the first report of a run."""
        return self.time

    @property
    def window(self) -> Span | None:
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
        self._waiting: deque[Report] = deque()

    def put(self, report: Report) -> None:
        """One more report."""
        last = self._waiting[-1] if self._waiting else None
        if last is not None and _are_joined(last, report):
            report = replace(last, last=report.last, count=last.count + report.count)
            self._waiting.pop()
        self._waiting.append(report)

    def take(self) -> Iterator[Report]:
        """Every report that has not been read, the oldest first."""
        while self._waiting:
            yield self._waiting.popleft()

    def __len__(self) -> int:
        return len(self._waiting)


def _are_joined(last: Report, report: Report) -> bool:
    if last or report or last.correction or report.correction:
        return False
    return (last.error is None) == (report.error is None)
