"""Windows: which part of a stream a literal looks at.

A window is by time (`in [10 s]`: now and the ten seconds before), by step (`in [range 10 s
step 5 s]`: moved at the points of a grid only) or by count (`in [3 facts]`: the last
arrivals).  `on` narrows it to one stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pyoxigraph import NamedNode

from livefacts.model.durations import Duration


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """`[n]`: the time points from `n` before now to now."""

    length: Duration
    stream: NamedNode | None = None


@dataclass(frozen=True, slots=True)
class SteppedWindow:
    """`[range r step s]`: the `r` time points up to the last point of a grid.

    A closed one has one time point more, at its older end.
    """

    range: Duration
    step: Duration
    stream: NamedNode | None = None
    closed: bool = False


@dataclass(frozen=True, slots=True)
class FactWindow:
    """`[n facts]`: the last `n` facts that arrived; `of` counts those of one predicate only."""

    count: int
    of: str | NamedNode | None = None
    stream: NamedNode | None = None


Window: TypeAlias = TimeWindow | SteppedWindow | FactWindow
