"""Programs with time as clingo reads them, at one time point.

Every predicate gets a last argument, the time point at which it holds; windows are written out
point by point.  Windows that count facts, streams that are told apart and aggregates have no
simple equal, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import clingo
from tests.conformance.answer_sets import Translation, UntranslatableError
from tests.oracle import Row, row_of
from tests.oracle.naive import TRIPLE
from tests.oracle.timeline import Timeline

from livefacts.language.formula import (
    ALWAYS,
    AT,
    SOMETIME,
    Aggregate,
    Atom,
    Comparison,
    Expression,
    Formula,
    Negation,
    PredicateAtom,
    Timed,
    TripleAtom,
)
from livefacts.language.program import Program, Rule
from livefacts.language.windows import (
    FactWindow,
    PastWindow,
    SessionWindow,
    SteppedWindow,
    TimeWindow,
)
from livefacts.model.durations import Duration

Held = set[tuple[Row, int]]


def clingo_moment(program: Program, timeline: Timeline, now: int) -> Held:
    """All that holds at some time point, for an evaluation at `now`."""
    if program.streams:
        raise UntranslatableError("streams whose facts hold in windows")
    writer = Writer(program, timeline.begin(now), now)
    lines = list(writer.asserted(timeline))
    for rule in program:
        if not rule.is_constraint:
            lines.append(writer.rule(rule))
    control = clingo.Control(["--warn=none"])
    control.add("base", [], "\n".join([*lines, *writer.helpers]))
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        symbols = [symbol for answer in handle for symbol in answer.symbols(atoms=True)]
    return {writer.held(symbol) for symbol in symbols if not symbol.name.startswith("helper")}


def asserted_and_derived(program: Program, timeline: Timeline, now: int) -> Held:
    """The same by the oracle."""
    points = range(timeline.begin(now), now + 1)
    arrived = {(each.row, each.time) for each in timeline.known() if each.time in points}
    background = {(row_of(fact), time) for fact, _ in timeline.background for time in points}
    return arrived | background | timeline.model(program, now).derived


@dataclass(slots=True)
class Writer:
    """Writes facts and rules for one evaluation time."""

    program: Program
    first: int
    now: int
    terms: Translation = field(default_factory=Translation)
    helpers: list[str] = field(default_factory=list)

    def asserted(self, timeline: Timeline) -> Iterator[str]:
        points = range(self.first, self.now + 1)
        for each in timeline.known():
            if each.time in points:
                yield f"{self._fact(each.row, each.time)}."
        for fact in {fact for fact, _ in timeline.background}:
            yield from (f"{self._fact(row_of(fact), time)}." for time in points)

    def _fact(self, row: Row, time: int) -> str:
        name, terms = row
        return self._call(name, [*map(self.terms.term, terms), str(time)])

    def held(self, symbol: clingo.Symbol) -> tuple[Row, int]:
        name, terms = self.terms.row(symbol)
        return (name, terms[:-1]), int(terms[-1].value)  # type: ignore[union-attr]

    def rule(self, rule: Rule) -> str:
        assert rule.head is not None
        time = str(self.now) if rule.at is None else self.terms.value(rule.at)
        body = [*(self.formula(part) for part in rule.body), f"{time} >= {self.first}"]
        return f"{self.atom(rule.head, time)} :- {', '.join(body)}."

    def formula(self, part: Formula) -> str:
        match part:
            case TripleAtom() | PredicateAtom():
                return self.atom(part, str(self.now))
            case Negation(atom):
                return f"not {self.atom(atom, str(self.now))}"
            case Comparison(left, operator, right):
                return f"{self.terms.value(left)} {operator} {self.terms.value(right)}"
            case Timed():
                return self.timed(part)
            case Aggregate():
                raise UntranslatableError("an aggregate")

    def timed(self, part: Timed) -> str:
        """The formula by its helper; `sometime not` is `not always`, and the other way round."""
        points = self.points(part)
        if part.operator == AT:
            assert part.time is not None
            return self._at(part, points, self.terms.value(part.time))
        operator = part.operator
        if part.negated:
            operator = ALWAYS if operator == SOMETIME else SOMETIME
        text = self._helper(operator, part.atom, points)
        return text if part.negated == part.denied else f"not {text}"

    def _at(self, part: Timed, points: range, time: str) -> str:
        inside = self._inside(points, time)
        if not part.negated and not part.denied:
            return f"{self.atom(part.atom, time)}, {inside}"
        if part.negated and not part.denied:
            return f"{inside}, not {self.atom(part.atom, time)}"
        if part.denied and not part.negated:
            name = f"helper{len(self.helpers)}"
            slots = [*map(self.terms.value, _arguments(part.atom)), "Time"]
            held = f"{self.atom(part.atom, 'Time')}, {self._inside(points, 'Time')}"
            self.helpers.append(f"{name}({', '.join(slots)}) :- {held}.")
            return f"not {name}({', '.join([*slots[:-1], time])})"
        raise UntranslatableError("not at a time not")

    def _inside(self, points: range, time: str) -> str:
        return f"{time} = {points.start}..{points.stop - 1}" if points else "1 = 0"

    def _helper(self, operator: str, atom: Atom, points: range) -> str:
        """An atom that holds if the other does at some, or at all, of the points."""
        name = f"helper{len(self.helpers)}"
        held = [self.atom(atom, str(point)) for point in points]
        variables = ", ".join(self.terms.value(slot) for slot in _arguments(atom))
        head = f"{name}({variables})"
        bodies = [", ".join(held)] if operator == ALWAYS and held else held
        self.helpers.append("\n".join(f"{head} :- {body}." for body in bodies))
        return head

    def points(self, part: Timed) -> range:
        """The time points of a window, from the definition."""
        match part.window:
            case None:
                name = part.atom.name if isinstance(part.atom, PredicateAtom) else None
                length = dict(self.program.retained)[name]  # type: ignore[index]
                return range(max(self.first, self.now - _points(length)), self.now + 1)
            case FactWindow() | SessionWindow():
                raise UntranslatableError("a window that depends on what arrives")
            case window if window.stream is not None:
                raise UntranslatableError("a window on one stream")
            case TimeWindow(length):
                oldest, last = self.now - _points(length), self.now
            case PastWindow(length, until):
                oldest, last = self.now - _points(length), self.now - _points(until)
            case SteppedWindow(width, step, _, closed):
                last = self.now - self.now % _points(step)
                oldest = last - _points(width) + (not closed)
        is_seen = oldest >= self.first or not part.window.full
        return range(max(self.first, oldest), last + 1) if is_seen else range(0)

    def atom(self, atom: Atom, time: str) -> str:
        name = TRIPLE if isinstance(atom, TripleAtom) else atom.name
        return self._call(name, [*map(self.terms.value, _arguments(atom)), time])

    def _call(self, name: str, arguments: list[str]) -> str:
        called = "triple" if name == TRIPLE else f"p{name}"
        return f"{called}({', '.join(arguments)})"


def _arguments(atom: Atom) -> tuple[Expression, ...]:
    return atom.slots if isinstance(atom, TripleAtom) else atom.arguments


def _points(duration: Duration) -> int:
    assert not duration.is_by_clock
    return duration.amount
