"""A stream as it is known: arrivals and background that come and are taken back.

What is known now counts as if it had been known always: a late fact as if it had come in
time, a retracted one as if it had never come.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyoxigraph import NamedNode, Triple
from tests.oracle.naive import row_of
from tests.oracle.streams import Arrival, Model, model_at

from livefacts.language.program import Program
from livefacts.model.facts import Fact

Statement = Triple | Fact


@dataclass(slots=True)
class Timeline:
    """Who was told what, and when; `first` is known from the start or from the first advance."""

    first: int | None = None
    arrivals: dict[tuple[Statement, int, NamedNode | None], int] = field(default_factory=dict)
    background: set[tuple[Statement, NamedNode | None]] = field(default_factory=set)
    _pushes: int = 0

    def push(self, fact: Statement, at: int, stream: NamedNode | None = None) -> None:
        """An arrival; one that is known already keeps its place in the order."""
        self._pushes += 1
        self.arrivals.setdefault((fact, at, stream), self._pushes)

    def retract(self, fact: Statement, at: int, stream: NamedNode | None = None) -> None:
        self.arrivals.pop((fact, at, stream), None)

    def add(self, fact: Statement, graph: NamedNode | None = None) -> None:
        """Background, which a fact is while any graph tells it."""
        self.background.add((fact, graph))

    def remove(self, fact: Statement, graph: NamedNode | None = None) -> None:
        self.background.discard((fact, graph))

    def forget(self, before: int) -> None:
        """Nobody remembers what arrived before a time point."""
        self.arrivals = {key: n for key, n in self.arrivals.items() if key[1] >= before}

    def begin(self, time: int) -> int:
        """The first time point, settled by the first advance if nobody gave it before."""
        if self.first is None:
            self.first = min([time, *(at for _, at, _ in self.arrivals)])
        return self.first

    def known(self) -> list[Arrival]:
        return [
            Arrival(row_of(fact), at, stream, number)
            for (fact, at, stream), number in self.arrivals.items()
        ]

    def model(self, program: Program, now: int) -> Model:
        """What holds now, as far as anyone knows now."""
        return model_at(
            program,
            now,
            first=self.begin(now),
            arrivals=self.known(),
            background={fact for fact, _ in self.background},
        )
