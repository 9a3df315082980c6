"""Moving windows on streams: which arrivals are inside at a time, and what moving changes.

A window by time moves at the points of its grid: at the last grid point `g` it holds the
arrivals with `g - range < time <= g`.  A window by count holds the last arrivals, and moves
with every so many of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Protocol

from livefacts.errors import InputError, Place, QueryError
from livefacts.language.registration import CountWindow, StreamWindow
from livefacts.model.durations import Duration
from livefacts.service.streams.stream_log import Key, StreamLog

KEPT_FOR_RETRACTION = 10_000
"""So many arrivals behind a window by count are kept, to come back when later ones are taken back."""


@dataclass(frozen=True, slots=True, order=True)
class Extent:
    """A stream and the part of it that is seen.

    `range` and `step` are time points, or arrivals if `by_count`.
    """

    stream: str
    range: int
    step: int = 1
    closed: bool = False
    by_count: bool = False

    def __str__(self) -> str:
        kind = "triples " if self.by_count else "range "
        bounds = " bounds closed" if self.closed else ""
        return f"<{self.stream}> [{kind}{self.range} step {self.step}{bounds}]"

    @property
    def fewest(self) -> int:
        """How many arrivals must be kept, however old."""
        return self.range + self.step + KEPT_FOR_RETRACTION if self.by_count else 0


def extent_of(declared: StreamWindow, tick: Duration | None) -> Extent:
    """A window of a query, in time points."""
    window = declared.window
    if isinstance(window, CountWindow):
        count, step = (
            points(Duration(n), tick, declared.place) for n in (window.count, window.step)
        )
        return Extent(declared.stream, count, step, by_count=True)
    range = points(window.range, tick, declared.place)
    return Extent(declared.stream, range, points(window.step, tick, declared.place), window.closed)


def points(length: Duration, tick: Duration | None, place: Place) -> int:
    """A length of time in time points; a `QueryError` if it is not a whole number of them."""
    try:
        return length.points(tick)
    except InputError as error:
        raise QueryError(error.message, place=place, hint=error.hint) from None


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """The time points of a window, from the first to the last; none if it ends before it begins."""

    since: int
    until: int

    def __str__(self) -> str:
        return f"{self.since}..{self.until}"


class MovingWindow(Protocol):
    """A window on a stream, at the time to which it was last moved."""

    extent: Extent

    def moved(self, now: int) -> Counter[Key]:
        """What moving to a time brings in and takes out; `settle` commits it."""
        ...

    def settle(self, now: int) -> None:
        """The window has moved."""
        ...

    def sees(self, time: int) -> bool:
        """Whether an arrival at this time would be inside already, with nothing moved."""
        ...

    def next_change(self, now: int) -> int | None:
        """The next time at which moving would change something, if nothing arrives."""
        ...

    def span(self, now: int, first: int) -> TimeSpan:
        """The time points of the window at a time; none is before the first of all."""
        ...

    def forgettable(self, now: int) -> int | None:
        """The time until which arrivals can no longer matter; None if only their number counts."""
        ...


class MovingTimeWindow:
    """A window by time."""

    def __init__(self, extent: Extent, log: StreamLog) -> None:
        self.extent = extent
        self._log = log
        self._after = self._until = -(1 << 62)

    def _bounds(self, now: int) -> tuple[int, int]:
        point = now // self.extent.step * self.extent.step
        return point - self.extent.range - self.extent.closed, point

    def moved(self, now: int) -> Counter[Key]:
        after, until = self._bounds(now)
        change: Counter[Key] = Counter()
        for fact in self._log.facts_between(max(self._until, after), until):
            change[fact] += 1
        for fact in self._log.facts_between(self._after, min(self._until, after)):
            change[fact] -= 1
        return change

    def settle(self, now: int) -> None:
        self._after, self._until = self._bounds(now)

    def sees(self, time: int) -> bool:
        return self._after < time <= self._until

    def next_change(self, now: int) -> int | None:
        after, until = self._bounds(now)
        step, points = self.extent.step, []
        coming, leaving = self._log.next_after(until), self._log.next_after(after)
        if coming is not None:
            points.append(grid_point(coming, step))
        if leaving is not None and leaving <= until:
            points.append(grid_point(leaving + self.extent.range + self.extent.closed, step))
        return min(points, default=None)

    def span(self, now: int, first: int) -> TimeSpan:
        after, until = self._bounds(now)
        return TimeSpan(max(first, after + 1), until)

    def forgettable(self, now: int) -> int:
        oldest = self._log.next_after(self._after)
        after = self._bounds(now)[0]
        is_inside = oldest is not None and oldest <= self._until
        return min(self._after, after) if is_inside else after


class LatestWindow:
    """A window by count."""

    def __init__(self, extent: Extent, log: StreamLog) -> None:
        self.extent = extent
        self._log = log
        self._inside: Counter[Key] = Counter()
        self._wanted: Counter[Key] = Counter()

    def moved(self, now: int) -> Counter[Key]:
        skipped = self._log.count_until(now) % self.extent.step
        latest = self._log.latest(self.extent.range, skipped, now)
        self._wanted = Counter(arrival.fact for arrival in latest)
        change = self._wanted.copy()
        change.subtract(self._inside)
        return change

    def settle(self, now: int) -> None:
        self._inside = self._wanted

    def sees(self, time: int) -> bool:
        return False

    def next_change(self, now: int) -> int | None:
        return self._log.next_after(now)

    def span(self, now: int, first: int) -> TimeSpan:
        skipped = self._log.count_until(now) % self.extent.step
        latest = self._log.latest(self.extent.range, skipped, now)
        return TimeSpan(latest[-1].time if len(latest) == self.extent.range else first, now)

    def forgettable(self, now: int) -> int | None:
        return None


def window_on(extent: Extent, log: StreamLog) -> MovingWindow:
    """A window that has not been moved yet."""
    return LatestWindow(extent, log) if extent.by_count else MovingTimeWindow(extent, log)


def grid_point(time: int, step: int) -> int:
    """The first point of the grid that is not before a time."""
    return -(-time // step) * step
