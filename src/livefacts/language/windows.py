"""Windows: which part of a stream is looked at, as it is written and in time points.

A window is by time (`[10 s]`: now and the ten seconds before; `[1 h until 10 min ago]`), by step
(`[range 10 s step 5 s]`: moved at the points of a grid only), by count (`[3 facts]`: the last
arrivals) or by session (`[session 30 s]`: the last arrivals with no longer gap between them).
`on` narrows it to one stream.

An *extent* is a window in time points.  All windows by time are one extent: the time points from
so many before the last point of a grid to so many before it.  All others are the last of the facts
that arrived, and their extents say how many.  Whoever moves windows knows no other kinds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

from pyoxigraph import NamedNode

from livefacts.model.durations import Duration

ONE_POINT = Duration(1)
FOREVER = 1 << 40
Interval: TypeAlias = tuple[int, int]
"""The first and the last of some time points."""
NOWHERE: Interval = (0, -1)
"""The window that has no time points."""


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """`[n]`: the time points from `n` before now to now."""

    length: Duration
    stream: NamedNode | None = None
    full: bool = False
    """Whether it has no time points before it has seen its whole length."""

    def __str__(self) -> str:
        return str(self.length)


@dataclass(frozen=True, slots=True)
class SteppedWindow:
    """`[range r step s]`: the `r` time points up to the last point of a grid.

    A closed one has one time point more, at its older end.
    """

    range: Duration
    step: Duration
    stream: NamedNode | None = None
    closed: bool = False
    full: bool = False

    def __str__(self) -> str:
        return f"range {self.range} step {self.step}{' closed' if self.closed else ''}"


@dataclass(frozen=True, slots=True)
class PastWindow:
    """`[n until m ago]`: the time points from `n` before now to `m` before now.

    Without its older end, and moved in steps, where a query says so.
    """

    length: Duration
    until: Duration
    stream: NamedNode | None = None
    full: bool = False
    step: Duration = ONE_POINT
    closed: bool = True

    def __str__(self) -> str:
        return f"{self.length} until {self.until} ago"


@dataclass(frozen=True, slots=True)
class FactWindow:
    """`[n facts]`: the last `n` facts that arrived; `of` counts those of one predicate only.

    With a step, it moves with every so many of them.
    """

    count: int
    of: str | NamedNode | None = None
    stream: NamedNode | None = None
    step: int = 1

    def __str__(self) -> str:
        return f"{self.count} facts"


@dataclass(frozen=True, slots=True)
class SessionWindow:
    """`[session g]`: the latest run of arrivals, each less than `g` after the one before.

    It ends when nothing has come for `g`; `of` looks at the arrivals of one predicate only.
    """

    gap: Duration
    of: str | NamedNode | None = None
    stream: NamedNode | None = None

    def __str__(self) -> str:
        return f"session {self.gap}"


Window: TypeAlias = TimeWindow | SteppedWindow | PastWindow | FactWindow | SessionWindow


def is_by_time(window: Window) -> bool:
    """Whether what is inside depends on times alone, and not on what else arrives."""
    return not isinstance(window, FactWindow | SessionWindow)


@dataclass(frozen=True, slots=True)
class TimeExtent:
    """The time points from `older` to `newer` before the last point of a grid."""

    older: int
    newer: int = 0
    step: int = 1
    full: bool = False
    stream: NamedNode | None = None

    @property
    def key(self) -> str:
        """What it is called in the names of facts about it."""
        step = "" if self.step == 1 else f"/{self.step}"
        until = f" until {self.newer}" if self.newer else ""
        return f"{self.older}{until}{step}{' full' if self.full else ''}{_on(self.stream)}"

    @property
    def points_key(self) -> str:
        """The key of its time points, which do not depend on the stream."""
        return self.key if self.stream is None else replace(self, stream=None).key

    @property
    def retention(self) -> int:
        """For how many time points an arrival can matter."""
        return self.older + self.step - 1

    @property
    def silence(self) -> int:
        """After so many time points without arrivals it changes no more."""
        return self.retention

    def bounds(self, now: int) -> Interval:
        """The first and last time point at which facts arrived that are inside."""
        point = now // self.step * self.step
        return point - self.older, point - self.newer

    def interval(self, now: int, first: int) -> Interval:
        """The time points of the window; none is before the first of all."""
        since, until = self.bounds(now)
        is_whole = since >= first or not self.full
        return (max(since, first), until) if is_whole and until >= first else NOWHERE

    def opens(self, first: int) -> int:
        """When the window has its first time points."""
        return grid_point(first + (self.older if self.full else self.newer), self.step)


@dataclass(frozen=True, slots=True)
class CountExtent:
    """The last facts that arrived, moved with every `step`-th."""

    count: int
    step: int = 1
    of: str | NamedNode | None = None
    stream: NamedNode | None = None
    silence: ClassVar[int] = 0

    @property
    def key(self) -> str:
        """What it is called in the names of facts about it."""
        step = "" if self.step == 1 else f"/{self.step}"
        return f"{self.count}{step} facts{_of(self.of)}{_on(self.stream)}"

    points_key = key

    def inside(self, newest: Iterable[tuple[int, int]], now: int) -> int:
        """How many of the last facts are inside, or more if there are fewer.

        `newest` are the time points that have some, and how many: the last one first.
        """
        return self.count

    def interval(self, oldest: int | None, number: int, now: int, first: int) -> Interval:
        """The time points of the window, of the oldest of so many facts that are inside."""
        return (oldest if oldest is not None and number == self.count else first), now

    def over(self, last: int) -> int | None:
        """When it has nothing inside any more, if nothing has come since a time."""
        return None

    def wanted(self, number: int) -> int:
        """How many facts it may need to have, if it has so many now."""
        return self.count + self.step - 1


@dataclass(frozen=True, slots=True)
class SessionExtent:
    """The latest run of arrivals with gaps that are shorter than this."""

    gap: int
    of: str | NamedNode | None = None
    stream: NamedNode | None = None
    step: ClassVar[int] = 1

    @property
    def key(self) -> str:
        """What it is called in the names of facts about it."""
        return f"session {self.gap}{_of(self.of)}{_on(self.stream)}"

    points_key = key

    @property
    def silence(self) -> int:
        """After so many time points without arrivals it changes no more."""
        return self.gap

    def inside(self, newest: Iterable[tuple[int, int]], now: int) -> int:
        """How many of the last facts are inside."""
        found, begin = 0, now
        for time, number in newest:
            if begin - time >= self.gap:
                break
            found, begin = found + number, time
        return found

    def interval(self, oldest: int | None, number: int, now: int, first: int) -> Interval:
        """The time points of the window, of the oldest fact that is inside."""
        return NOWHERE if oldest is None else (oldest, now)

    def over(self, last: int) -> int | None:
        """When it has nothing inside any more, if nothing has come since a time."""
        return last + self.gap

    def wanted(self, number: int) -> int:
        """How many facts it may need to have, if it has so many now."""
        return number


LatestExtent: TypeAlias = CountExtent | SessionExtent
"""The last of the facts that arrived."""
Extent: TypeAlias = TimeExtent | LatestExtent


def extent_of(window: Window, tick: Duration | None) -> Extent:
    """A window in time points; an `InputError` if it is not a whole number of them."""
    match window:
        case TimeWindow(length, stream, full):
            return TimeExtent(length.points(tick), full=full, stream=stream)
        case SteppedWindow(range, step, stream, closed, full):
            older = range.points(tick) - (not closed)
            return TimeExtent(older, 0, step.points(tick), full, stream)
        case PastWindow(length, until, stream, full, step, closed):
            older, newer = length.points(tick) - (not closed), until.points(tick)
            return TimeExtent(older, newer, step.points(tick), full, stream)
        case FactWindow(count, of, stream, step):
            count, step = (Duration(number).points(tick) for number in (count, step))
            return CountExtent(count, step, of, stream)
        case SessionWindow(gap, of, stream):
            return SessionExtent(gap.points(tick), of, stream)


def grid_point(time: int, step: int) -> int:
    """The first point of the grid that is not before a time."""
    return -(-time // step) * step


def _of(name: str | NamedNode | None) -> str:
    return "" if name is None else f" of {name.value if isinstance(name, NamedNode) else name}"


def _on(stream: NamedNode | None) -> str:
    return "" if stream is None else f" on {stream.value}"
