"""A clocked program: rules followed through time, with what changes at every time point.

It stands between a source of events and a reasoner, and looks at each change: whether what
came and went are conclusions, or facts of the streams themselves.  The changes that it hands on
add up to what is derived, from the first time point on: that one begins with everything that
holds there, also what follows from the background alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pyoxigraph import Triple

from livefacts.model.facts import Fact
from livefacts.service.change.delta import Delta
from livefacts.service.reasoner.facade import Reasoner

Statement = Triple | Fact


@dataclass(frozen=True, slots=True)
class TickChange:
    """What changed at a time point: conclusions, or with `everything` all facts."""

    time: int
    added: tuple[Statement, ...]
    removed: tuple[Statement, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


class Follower:
    """A reasoner's clock; `seen` is called with every moment that time has reached."""

    def __init__(
        self, reasoner: Reasoner, seen: Callable[[TickChange], None], *, everything: bool = False
    ) -> None:
        self._reasoner = reasoner
        self._seen = seen
        self._everything = everything
        self._derived = set(reasoner.facts(derived=True))
        self._is_before = reasoner.now is None
        """Whether what is derived holds before all time."""

    @property
    def now(self) -> int | None:
        """The time point that was evaluated last."""
        return self._reasoner.now

    def push(self, facts: Any, at: Any, stream: Any = None) -> None:
        """Facts arrive; late ones change what holds now."""
        self._look(self._reasoner.push(facts, at=at, stream=stream))

    def retract(self, facts: Any, at: Any, stream: Any = None) -> None:
        """Facts are taken back."""
        self._look(self._reasoner.retract(facts, at=at, stream=stream))

    def advance(self, to: Any) -> None:
        """Move time on, and look at every time point at which something changes."""
        for now, delta in self._reasoner.ticks(to):
            if self._is_before:
                self._begin(now, delta)
            else:
                self._seen(self._moment(now, delta))
        if self._is_before:
            self._begin_with_nothing_new()

    def correct(self, stream: str, lateness: int) -> None:
        """Late facts count from now on: what was seen is not taken back."""

    def _look(self, delta: Delta) -> None:
        now = self._reasoner.now
        if delta and now is not None:
            self._seen(self._moment(now, delta))

    def _begin(self, now: int, delta: Delta) -> None:
        """The first change of all; conclusions begin with it, or at an earlier first time point."""
        if self._first < now:
            self._begin_with_nothing_new()
            self._seen(self._moment(now, delta))
            return
        self._is_before = False
        self._derived = set(self._reasoner.facts(derived=True))
        arrived = set(delta.added) - set(delta.derived) if self._everything else set()
        self._seen(TickChange(now, tuple(self._derived | arrived), ()))

    def _begin_with_nothing_new(self) -> None:
        """The first time point has what held before it."""
        self._is_before = False
        if self._derived:
            self._seen(TickChange(self._first, tuple(self._derived), ()))

    @property
    def _first(self) -> int:
        first = self._reasoner.first_time_point
        assert first is not None, "time has begun"
        return first

    def _moment(self, now: int, delta: Delta) -> TickChange:
        if self._everything:
            return TickChange(now, tuple(delta.added), tuple(delta.removed))
        return TickChange(now, tuple(self._begun(delta)), tuple(self._ended(delta)))

    def _begun(self, delta: Delta) -> Iterator[Statement]:
        for fact in delta.derived:
            if fact not in self._derived:
                self._derived.add(fact)
                yield fact

    def _ended(self, delta: Delta) -> Iterator[Statement]:
        for fact in delta.removed:
            if fact in self._derived:
                self._derived.remove(fact)
                yield fact
