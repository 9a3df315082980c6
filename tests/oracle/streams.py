"""Streams by brute force: what holds at one time point, straight from the definition.

Nothing is kept from one time point to the next.  The model of a time point is computed from
what is known of the stream and from the background, stratum by stratum, all rules again and
again until nothing is new.  A conclusion is a row with the time point that it is meant for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import Literal, NamedNode, Triple
from tests.oracle.mirrors import listed_once
from tests.oracle.naive import (
    TRIPLE,
    Binding,
    Known,
    Row,
    agree,
    ground,
    groups_of,
    levels,
    matches,
    outside_braces,
    passes,
    pattern,
    row_of,
    shown,
)

from livefacts.language.formula import (
    ALWAYS,
    AT,
    SOMETIME,
    Aggregate,
    Atom,
    Comparison,
    Formula,
    Negation,
    PredicateAtom,
    Timed,
    TripleAtom,
    Variable,
)
from livefacts.language.program import Program, Rule
from livefacts.language.windows import (
    FactWindow,
    PastWindow,
    SessionWindow,
    SteppedWindow,
    TimeWindow,
    Window,
)
from livefacts.model.durations import Duration
from livefacts.model.facts import Fact, Term

INTEGER = Literal(0).datatype
SECOND = 1_000_000_000
DUAL = {SOMETIME: ALWAYS, ALWAYS: SOMETIME, AT: AT}
Times = dict[Row, set[int]]


@dataclass(frozen=True, slots=True)
class Arrival:
    """A fact at a time point of a stream; `number` is its place in the order of pushing."""

    row: Row
    time: int
    stream: NamedNode | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class Model:
    """What holds at `now`: what was told, and conclusions with the time they are meant for."""

    now: int
    asserted: frozenset[Row]
    derived: frozenset[tuple[Row, int]]
    violations: frozenset[tuple[str, frozenset[tuple[str, Term]]]] = frozenset()

    @property
    def output(self) -> frozenset[Row]:
        """The conclusions that hold now."""
        return frozenset(row for row, time in self.derived if time == self.now)

    @property
    def rows(self) -> frozenset[Row]:
        """Everything that holds now, told or concluded."""
        return self.asserted | self.output

    @property
    def facts(self) -> set[Triple | Fact]:
        """Everything that holds now, as users see it."""
        return visible(self.rows)


def visible(rows: Iterable[Row]) -> set[Triple | Fact]:
    """The rows as users see them, without those that are hidden from them."""
    return {fact for row in rows if (fact := shown(row)) is not None}


def model_at(
    program: Program,
    now: int,
    *,
    first: int,
    arrivals: Iterable[Arrival] = (),
    background: Iterable[Triple | Fact] = (),
) -> Model:
    """The model at `now` of the stream that begins at `first`."""
    moment = Moment(program, now, first, arrivals, background)
    for level in levels([rule for rule in program if not rule.is_constraint]):
        while moment.conclude([one for rule in level for one in _conclusions(rule, moment)]):
            pass
    violations = {
        (rule.id, frozenset((v.name, term) for v, term in binding.items()))
        for rule in program
        if rule.is_constraint
        for binding in _solutions(rule.body, moment, outside_braces(rule))
    }
    listed = frozenset(listed_once(violations, program))
    return Model(now, frozenset(moment.asserted), frozenset(moment.conclusions()), listed)


class Moment:
    """One time point: what windows show there, and what has been concluded so far."""

    def __init__(
        self,
        program: Program,
        now: int,
        first: int,
        arrivals: Iterable[Arrival],
        background: Iterable[Triple | Fact],
    ) -> None:
        self._program, self.now, self.first = program, now, first
        self._arrivals = [each for each in arrivals if first <= each.time <= now]
        self._background = {row_of(fact) for fact in (*background, *program.facts)}
        self._derived: dict[str, Times] = defaultdict(lambda: defaultdict(set))
        self._changes: Counter[str] = Counter()
        self._views: dict[tuple[object, ...], tuple[int, Known]] = {}
        declared = dict(program.streams)
        self.asserted = self._background | {
            each.row
            for each in self._arrivals
            if each.time in self._holding(declared.get(each.stream))  # type: ignore[arg-type]
        }
        self.plain = Known(self.asserted)

    def _holding(self, declared: SteppedWindow | None) -> range:
        """The time points whose arrivals hold as plain atoms now."""
        return self.points(declared) if declared else range(self.now, self.now + 1)

    # conclusions

    def conclude(self, found: Iterable[tuple[Row, int]]) -> bool:
        """Whether any of the conclusions is new."""
        new = {(row, time) for row, time in found if time not in self._derived[row[0]][row]}
        for row, time in new:
            self._derived[row[0]][row].add(time)
            self._changes[row[0]] += 1
        self.plain.add(row for row, time in new if time == self.now)
        return bool(new)

    def conclusions(self) -> Iterator[tuple[Row, int]]:
        for times_of in self._derived.values():
            for row, times in times_of.items():
                yield from ((row, time) for time in times)

    # windows

    def points(self, window: Window) -> range:
        """The time points of a window; a window of facts reaches back to its oldest."""
        match window:
            case TimeWindow(length):
                return self._clipped(self.now - self._length(length), self.now, window.full)
            case SteppedWindow(width, step, _, closed):
                last = self.now // self._length(step) * self._length(step)
                oldest = last - self._length(width) + (0 if closed else 1)
                return self._clipped(oldest, last, window.full)
            case PastWindow(length, until):
                since, until = self.now - self._length(length), self.now - self._length(until)
                return self._clipped(since, until, window.full)
            case SessionWindow():
                run = self._run(window)
                return range(run[0].time, self.now + 1) if run else range(0)
            case FactWindow(count):
                chosen = self._last(window)
                return range(chosen[0][0] if len(chosen) == count else self.first, self.now + 1)

    def _clipped(self, since: int, until: int, full: bool) -> range:
        """Time points, none before the first; if all must have been seen, none before they have."""
        if full and since < self.first:
            return range(0)
        return range(max(self.first, since), until + 1)

    def _run(self, window: SessionWindow) -> list[Arrival]:
        """The last arrivals, each less than the gap before the next, and the last before now."""
        gap, run, end = self._length(window.gap), [], self.now
        for each in sorted(self._arrivals, key=lambda each: -each.time):
            if _is_on(each, window.stream) and _is_of(each.row, window.of):
                if end - each.time >= gap:
                    break
                run.append(each)
                end = each.time
        return run[::-1]

    def _length(self, duration: Duration) -> int:
        if not duration.is_by_clock:
            return duration.amount
        tick = self._program.tick.amount if self._program.tick else SECOND
        assert duration.amount % tick == 0, f"{duration} is not a whole number of ticks"
        return duration.amount // tick

    def _last(self, window: FactWindow) -> list[tuple[int, int, Row]]:
        """The newest facts that a window counts, oldest first; told twice at once is one."""
        numbers: dict[tuple[int, Row], int] = {}
        for each in self._arrivals:
            if _is_on(each, window.stream) and _is_of(each.row, window.of):
                key = each.time, each.row
                numbers[key] = min(each.number, numbers.get(key, each.number))
        return sorted((time, number, row) for (time, row), number in numbers.items())[
            -window.count :
        ]

    def view(self, timed: Timed) -> Known:
        """The rows for which the formula holds, for `at` with the time point behind them."""
        name, window = pattern(timed.atom)[0], self.window_of(timed)
        key = timed.operator, name, window
        changes, known = self._views.get(key, (-1, None))
        if known is None or changes != self._changes[name]:
            known = Known(_seen(timed.operator, self._times(name, window), self.points(window)))
            self._views[key] = self._changes[name], known
        return known

    def window_of(self, timed: Timed) -> Window:
        """The window of a formula, or how long its atom is retained."""
        if timed.window is not None:
            return timed.window
        atom = timed.atom
        name = atom.predicate if isinstance(atom, TripleAtom) else atom.name
        return TimeWindow(dict(self._program.retained)[name])  # type: ignore[index]

    def _times(self, name: str, window: Window) -> Times:
        """For each row of a predicate, the time points of the window at which it holds."""
        points = self.points(window)
        times: Times = defaultdict(set)
        if isinstance(window, FactWindow):
            for time, _, row in self._last(window):
                times[row].add(time)
        elif isinstance(window, SessionWindow):
            for each in self._run(window):
                times[each.row].add(each.time)
        else:
            for each in self._arrivals:
                if _is_on(each, window.stream):
                    times[each.row].add(each.time)
        if window.stream is None and not isinstance(window, FactWindow):
            for row, meant in self._derived[name].items():
                times[row] |= meant
        for row in self._background:
            times[row].update(points)
        return {row: held & set(points) for row, held in times.items() if row[0] == name}


def _is_on(arrival: Arrival, stream: NamedNode | None) -> bool:
    return stream is None or arrival.stream == stream


def _is_of(row: Row, of: str | NamedNode | None) -> bool:
    """Whether a row is of the predicate, or a triple with the property, that is counted."""
    name, terms = row
    return of is None or (terms[1] if name == TRIPLE else name) == of


def _seen(operator: str, times: Times, points: range) -> Iterator[Row]:
    for (name, terms), held in times.items():
        if operator == AT:
            yield from ((name, (*terms, Literal(time))) for time in held)
        elif held and (operator == SOMETIME or len(held) == len(points)):
            yield name, terms


# rules


def _conclusions(rule: Rule, moment: Moment) -> Iterator[tuple[Row, int]]:
    assert rule.head is not None
    for binding in _solutions(rule.body, moment, outside_braces(rule)):
        time = _time_of(rule, binding, moment.now)
        if time is not None and time >= moment.first:
            yield ground(rule.head, binding), time


def _time_of(rule: Rule, binding: Binding, now: int) -> int | None:
    """The time point of the head; None if it is not an integer."""
    if rule.at is None:
        return now
    term = binding[rule.at] if isinstance(rule.at, Variable) else rule.at
    is_integer = isinstance(term, Literal) and term.datatype == INTEGER
    return int(term.value) if is_integer else None  # type: ignore[union-attr]


def _solutions(
    body: Sequence[Formula], moment: Moment, outside: dict[int, set[Variable]]
) -> Iterator[Binding]:
    """Each way to make the body true at this moment."""
    bindings: list[Binding] = [{}]
    for formula in body:
        if isinstance(formula, TripleAtom | PredicateAtom | Timed):
            bindings = [more for one in bindings for more in _bound(formula, moment, one)]
    for i, formula in enumerate(body):
        if isinstance(formula, Aggregate):
            inner = _solutions(formula.body, moment, {})
            groups = list(groups_of(formula, inner, outside[i]))
            bindings = [{**g, **one} for one in bindings for g in groups if agree(one, g, formula)]
    comparisons = [formula for formula in body if isinstance(formula, Comparison)]
    for one in bindings:
        if passes(comparisons, one) and all(_is_allowed(f, moment, one) for f in body):
            yield one


def _bound(
    formula: TripleAtom | PredicateAtom | Timed, moment: Moment, binding: Binding
) -> Iterator[Binding]:
    """The binding with what the formula gives; a formula that only tests gives nothing."""
    if not isinstance(formula, Timed):
        return matches(formula, moment.plain, binding)
    if not formula.negated and not formula.denied:
        return matches(_extended(formula), moment.view(formula), binding)
    if formula.operator == AT and not formula.denied:
        assert formula.time is not None
        points = moment.points(moment.window_of(formula))
        clock = Known(("clock", (Literal(time),)) for time in points)
        return matches(PredicateAtom("clock", (formula.time,)), clock, binding)
    return iter([binding])


def _extended(formula: Timed) -> Atom:
    """The atom as it stands in the view of the formula."""
    if formula.operator != AT:
        return formula.atom
    assert formula.time is not None
    name, slots = pattern(formula.atom)
    return PredicateAtom(name, (*slots, formula.time))


def _is_allowed(formula: Formula, moment: Moment, binding: Binding) -> bool:
    """Whether a formula that tests says yes; one that has given its values has passed.

    `sometime not a` is `not always a`, `always not a` is `not sometime a`, and `at ?t not a`
    is `not at ?t a` for the time points of the window.
    """
    match formula:
        case Negation(atom):
            return next(matches(atom, moment.plain, binding), None) is None
        case Timed(denied=denied, negated=negated) if denied or negated:
            asked = replace(formula, operator=DUAL[formula.operator]) if negated else formula
            found = next(matches(_extended(asked), moment.view(asked), binding), None) is not None
            return (found != negated and _is_inside(formula, moment, binding)) != denied
    return True


def _is_inside(formula: Timed, moment: Moment, binding: Binding) -> bool:
    """Whether the time point that is spoken of, if any, is in the window."""
    if formula.time is None:
        return True
    time = binding[formula.time] if isinstance(formula.time, Variable) else formula.time
    return time in map(Literal, moment.points(moment.window_of(formula)))
