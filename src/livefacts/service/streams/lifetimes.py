"""Lifetimes: since when a fact has held, and until when it will if nothing more happens.

Since when is looked up in what changed at the time points that went by.  Until when is found by
letting time go on, with no arrivals, for a copy of what is asserted now: so it is exact, whatever
rules do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import HOLDS, IN_DEFAULT, Change, Engine, IdDelta, Ids
from livefacts.service.streams.clocked_engine import ClockedEngine

if TYPE_CHECKING:
    from livefacts.service.streams.time_movement import Streams

Longs = NDArray[np.int64]
MOST_ROWS = 1 << 18
"""Rows of past changes that are remembered."""
MOST_STEPS = 2_000
"""Time points that are looked at ahead."""


@dataclass(frozen=True, slots=True)
class Lasting:
    """The first time point of a fact, and the last one if nothing more happens.

    `since` is None for a fact that has held for longer than is remembered, `until` for one
    that does not end by itself; with `is_longer` it may hold beyond `until`.
    """

    since: int | None = None
    until: int | None = None
    is_longer: bool = False

    def __str__(self) -> str:
        return self.in_words(str)

    def in_words(self, written: Callable[[int], object]) -> str:
        """In words, with time points as they are to be written."""
        since = "" if self.since is None else f"since {written(self.since)}, "
        if self.until is None:
            return f"{since}until something changes it"
        more = "at least" if self.is_longer else "unless renewed"
        return f"{since}until {written(self.until)} {more}"


class Beginnings:
    """What became true at the time points that went by, as far as it is remembered."""

    def __init__(self) -> None:
        self._began: deque[tuple[int, Mapping[int, Ids]]] = deque()
        self._rows = 0

    def note(self, time: int, delta: IdDelta) -> None:
        if delta.added:
            self._began.append((time, delta.added))
            self._rows += sum(map(len, delta.added.values()))
        while self._rows > MOST_ROWS:
            self._rows -= _count(self._began.popleft()[1])

    def since(self, shape: int, row: Ids) -> int | None:
        """When a fact that holds began to; None if that was too long ago."""
        for time, added in reversed(self._began):
            ids = added.get(shape)
            if ids is not None and (ids == row).all(axis=1).any():
                return time
        return None

    def state(self, engine: Engine) -> dict[int, tuple[Longs, Ids]]:
        """By shape, since when the facts have held that hold now, as far as it is remembered."""
        found = {}
        for shape in {shape for _, added in self._began for shape in added}:
            mine = [(time, added[shape]) for time, added in self._began if shape in added]
            times = np.repeat([time for time, _ in mine], [len(ids) for _, ids in mine])
            ids = np.concatenate([ids for _, ids in mine])
            holds = engine.standing(shape, ids) & HOLDS != 0
            found[shape] = times[holds].astype(np.int64), ids[holds]
        return found

    def resume(self, state: Mapping[int, tuple[Longs, Ids]]) -> None:
        """Go on from what was remembered."""
        began: dict[int, dict[int, Ids]] = {}
        for shape, (times, ids) in state.items():
            for time in np.unique(times).tolist():
                began.setdefault(time, {})[shape] = ids[times == time]
        self._began = deque(sorted(began.items()))
        self._rows = sum(_count(added) for _, added in self._began)


def _count(facts: Mapping[int, Ids]) -> int:
    return sum(map(len, facts.values()))


def lasting(streams: Streams, shape: int, row: Ids) -> Lasting:
    """How long a fact that holds now lasts."""
    since = streams.beginnings.since(shape, row)
    timeline = streams.timeline.copied()
    engine = _copied(streams.engine)
    silent = ClockedEngine(engine, streams.graphs, timeline)
    assert timeline.now is not None
    last = timeline.now + timeline.reach
    for _ in range(MOST_STEPS):
        if timeline.now >= last:
            return Lasting(since)
        before = timeline.now
        point = min(last, timeline.next_point(last))
        engine.apply(silent.change(timeline.move(point)))
        if not engine.holds(shape, row):
            return Lasting(since, max(before, point - 1))
    return Lasting(since, timeline.now, is_longer=True)


def _copied(engine: Engine) -> Engine:
    """The same asserted in another engine, under the same rules."""
    copy = engine.beside()
    default: dict[int, Ids] = {}
    others: dict[int, Ids] = {}
    for shape, ids in engine.asserted().items():
        is_default = engine.standing(shape, ids) & IN_DEFAULT != 0
        default[shape], others[shape] = ids[is_default], ids[~is_default]
    copy.apply(Change(default, others))
    return copy
