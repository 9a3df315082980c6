"""Expiry and reports by brute force: when windows let go of facts, and what a query says when.

Expiry is found by letting the clock run while nothing arrives.  A report is computed from
nothing at its time; a stream of reports compares each with the one before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode, Triple
from tests.oracle.naive import Row, row_of
from tests.oracle.streams import Arrival, Model, model_at

from livefacts.language.program import Program
from livefacts.language.windows import SteppedWindow
from livefacts.model.durations import Duration
from livefacts.model.facts import Fact

Answers = Counter[object]
RSTREAM, ISTREAM, DSTREAM = "rstream", "istream", "dstream"


@dataclass(frozen=True, slots=True)
class Grid:
    """A window that moves in steps from `origin`."""

    range: int
    step: int = 1
    origin: int = 0
    closed: bool = False

    def up(self, time: int) -> int:
        """The first point of the grid at or after a time point."""
        return self.origin + -(-(time - self.origin) // self.step) * self.step

    def comes(self, time: int) -> int:
        """When a fact of that time point is seen first, if ever."""
        return self.up(time)

    def ends(self, time: int) -> int:
        """The first time at which a fact of that time point is seen no more."""
        return self.up(time + self.range + (1 if self.closed else 0))


def expiry(
    model: Callable[[int], Model], fact: Triple | Fact, now: int, horizon: int
) -> int | None:
    """The first time from now on at which the fact does not hold; None if there is none.

    `model` tells what holds at a time if nothing more arrives.
    """
    row = row_of(fact)
    return next((time for time in range(now, horizon) if row not in model(time).rows), None)


def last_support(
    program: Program,
    arrivals: Iterable[Arrival],
    background: Iterable[Triple | Fact] = (),
) -> dict[Row, int]:
    """For each row, the latest time such that arrivals from then on derive it.

    That is the best of its derivations, each as old as its oldest premise.  Rows that the
    background derives alone are left out: they have no such time.
    """
    arrivals, background = list(arrivals), list(background)
    last: dict[Row, int] = {}
    for time in sorted({each.time for each in arrivals}):
        young = [replace(each, time=0) for each in arrivals if each.time >= time]
        found = model_at(program, 0, first=0, arrivals=young, background=background)
        last |= dict.fromkeys(found.rows, time)
    always = model_at(program, 0, first=0, background=background).rows
    return {row: time for row, time in last.items() if row not in always}


@dataclass(frozen=True, slots=True)
class Query:
    """A registered query: its rules, its windows, how often it reports, and its answers."""

    program: Program
    windows: Mapping[NamedNode, SteppedWindow]
    every: int
    answers: Callable[[frozenset[Row]], Answers]
    origin: int = 0

    def report(
        self,
        time: int,
        *,
        first: int,
        arrivals: Iterable[Arrival],
        background: Iterable[Triple | Fact] = (),
    ) -> Answers:
        """All answers at a time of reporting; facts of other streams are not seen."""
        program = replace(self.program, streams=tuple(self.windows.items()))
        read = [each for each in arrivals if each.stream in self.windows]
        model = model_at(program, time, first=first, arrivals=read, background=background)
        return self.answers(model.rows)

    def times(self, first: int, registered: int, until: int) -> Iterator[int]:
        """The times of reporting: from the first point of the grid that can have one."""
        grid = Grid(self.every, self.every, self.origin)
        begin = grid.up(max(first, registered))
        if begin == first == self.origin:
            begin += self.every
        yield from range(begin, until + 1, self.every)


def streamed(reports: Iterable[tuple[int, Answers]], kind: str) -> Iterator[tuple[int, Answers]]:
    """All answers of each report, those that are new since the one before, or those gone."""
    before: Answers = Counter()
    for time, answers in reports:
        new, gone = answers - before, before - answers
        yield time, {RSTREAM: answers, ISTREAM: new, DSTREAM: gone}[kind]
        before = answers


def stepped(range: int, step: int, *, closed: bool = False) -> SteppedWindow:
    """A window in time points."""
    return SteppedWindow(Duration(range), Duration(step), closed=closed)
