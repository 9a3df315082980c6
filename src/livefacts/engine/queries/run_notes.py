"""Notes of a run: how many rows each part of a query has given, and how long that took.

They are taken while the query runs, always: a part costs a look at the clock before and after
each of its pieces.  Parts are known by their identity; whoever reads the notes has the query.
Nothing that was found is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, TypeAlias

from livefacts.engine.queries.joins.step_tables import JoinProgram, Tallies
from livefacts.engine.queries.solutions import Solutions
from livefacts.language.algebra import Pattern

Part: TypeAlias = int | tuple[int, int]
"""The identity of a pattern, or with it the number of a stage of it."""
ROWS, SECONDS = range(2)
"""The fields of a note."""


class QueryNotes:
    """The notes of one evaluation."""

    __slots__ = ("groups", "joins", "parts", "pause")

    def __init__(self, pause: Callable[[], None]) -> None:
        self.pause = pause
        """Looks at the clock; it is called after every piece of every part."""
        self.parts: dict[Part, list[Any]] = {}
        """What each part has given so far, and the time of it and of its own parts."""
        self.joins: dict[int, dict[JoinProgram, Tallies]] = {}
        """How the triple patterns of a pattern were joined, and the rows of each step."""
        self.groups: dict[int, list[Pattern]] = {}
        """The parts of groups as they are evaluated."""

    def follow(self, part: Part, pieces: Iterator[Solutions]) -> Iterator[Solutions]:
        """The pieces that a part gives, noted."""
        note = self.parts.get(part)
        if note is None:
            note = self.parts[part] = [0, 0.0]
        started = perf_counter()
        for piece in pieces:
            note[SECONDS] += perf_counter() - started
            note[ROWS] += piece.total
            self.pause()
            yield piece
            started = perf_counter()
        note[SECONDS] += perf_counter() - started
