"""The order of variables: which variable comes first, and which columns it is found in.

Variables get their values one after the other, each time the one with the fewest expected;
expectations come from the sorted columns themselves.  A variable that nobody asks for, and that
only one pattern has, gets none: its rows are counted, or only asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from livefacts.engine.queries.joins import leapfrog
from livefacts.engine.queries.joins.leapfrog import BIND, COUNT, GIVEN, NO_PARENT
from livefacts.engine.queries.joins.step_tables import JoinProgram, Planned, Slot
from livefacts.store.versions.snapshots import Snapshot
from livefacts.store.versions.sorted_orders import PLACES, PSO

IdPattern: TypeAlias = tuple[Slot, Slot, Slot]

SUBJECT, PREDICATE, OBJECT = range(3)


class Access(NamedTuple):
    """How a pattern offers values: an order of columns, and how many places come before."""

    order: int
    depth: int


def access_to(place: int, known: Collection[int], preferred: int) -> Access | None:
    """The way to the values of a place where other places are known, if there is one.

    >>> access_to(SUBJECT, {PREDICATE}, PSO)
    Access(order=0, depth=1)
    """
    found = None
    for order, places in enumerate(PLACES):
        depth = len(known)
        if places[depth] == place and set(places[:depth]) == set(known):
            if order == preferred:
                return Access(order, depth)
            found = found or Access(order, depth)
    return found


def access_to_rest(known: Collection[int]) -> Access:
    """The way to all rows that have the known places."""
    return next(
        Access(order, len(known))
        for order, places in enumerate(PLACES)
        if set(places[: len(known)]) == set(known)
    )


class _Builder:
    """Builds the program of patterns for an order of their variables."""

    def __init__(
        self,
        patterns: Sequence[IdPattern],
        given: tuple[str, ...],
        shown: tuple[str, ...],
        free: Collection[str],
        rest: int,
    ) -> None:
        self._patterns = patterns
        self._free = free
        self._rest = rest
        """What is done with free variables: COUNT or EXIST."""
        constants = dict.fromkeys(s for each in patterns for s in each if isinstance(s, int))
        self._known: set[Slot] = {*constants, *given}
        slots: list[Slot] = [*constants, *given]
        registers = {slot: number + 1 for number, slot in enumerate(slots)}
        self._program = JoinProgram(registers, shown, given)
        self._part_of: dict[int, int] = {}
        """The last part of each pattern."""
        self._open = set(range(len(patterns)))

    def build(self, variables: Sequence[str]) -> JoinProgram:
        self._step(GIVEN, 0, (), self._complete(None))
        self._ask_for_the_rest()
        for variable in variables:
            self._bind(variable)
            self._ask_for_the_rest()
        assert not self._open, "every pattern is asked"
        return self._program

    def _bind(self, variable: str) -> None:
        register = self._program.registers.setdefault(variable, len(self._program.registers) + 1)
        parts, whole = [], set()
        for number in sorted(self._open):
            slots = self._patterns[number]
            if variable in slots:
                known = self._known_places(slots)
                access = access_to(slots.index(variable), known, self._order_of(number))
                if access is not None:
                    parts.append((number, access))
                    whole |= {number} if access.depth == 2 else set()
        assert parts, "the variable has a pattern that offers its values"
        self._known.add(variable)
        self._open -= whole
        self._step(BIND, register, parts, self._complete(variable))

    def _ask_for_the_rest(self) -> None:
        """Count or ask for patterns of which only free variables are unknown."""
        for number in sorted(self._open):
            slots = self._patterns[number]
            if all(slot in self._known or slot in self._free for slot in slots):
                self._open.discard(number)
                access = access_to_rest(self._known_places(slots))
                self._step(self._rest, 0, [(number, access)], ())
                self._program.is_counted |= self._rest == COUNT

    def _complete(self, variable: str | None) -> list[int]:
        """The patterns that are known whole by now and not asked yet: each is looked up."""
        found = [
            number
            for number in sorted(self._open)
            if all(slot in self._known for slot in self._patterns[number])
        ]
        self._open.difference_update(found)
        return found

    def _step(
        self,
        kind: int,
        register: int,
        parts: Sequence[tuple[int, Access]],
        checks: Sequence[int],
    ) -> None:
        program = self._program
        firsts = len(program.parts), len(program.checks)
        program.steps.append([kind, register, firsts[0], len(parts), firsts[1], len(checks)])
        for number, access in parts:
            program.parts.append(self._part(number, access))
            program.part_patterns.append(number)
            program.orders |= 1 << access.order
            self._part_of[number] = len(program.parts) - 1
        program.check_patterns += checks
        for number in checks:
            program.checks.append([program.registers[slot] for slot in self._patterns[number]])

    def _part(self, number: int, access: Access) -> list[int]:
        slots, registers = self._patterns[number], self._program.registers
        before = PLACES[access.order][: access.depth]
        prefix = [registers[slots[place]] for place in before]
        parent = NO_PARENT
        if self._order_of(number) == access.order:
            parent = self._part_of[number]
        return [*access, *prefix, *[0] * (2 - len(prefix)), parent]

    def _order_of(self, number: int) -> int:
        """The order that a pattern was last looked up in."""
        part = self._part_of.get(number)
        return NO_PARENT if part is None else self._program.parts[part][0]

    def _known_places(self, slots: IdPattern) -> set[int]:
        return {place for place, slot in enumerate(slots) if slot in self._known}


class Expectations:
    """How many values variables may have, judged by the columns of a snapshot."""

    def __init__(
        self, snapshot: Snapshot, patterns: Sequence[IdPattern], rows: Sequence[int]
    ) -> None:
        self._patterns = patterns
        self._rows = rows
        self._distinct = [
            [min(rows, snapshot.distinct(place, slots[PREDICATE])) for place in range(3)]
            for slots, rows in zip(patterns, rows, strict=True)
        ]
        self._with: dict[Slot, list[int]] = {}
        """The patterns that have a variable."""
        for number, slots in enumerate(patterns):
            for slot in dict.fromkeys(slots):
                self._with.setdefault(slot, []).append(number)

    def neighbours(self, variable: str) -> set[Slot]:
        """What stands in one pattern with a variable, and the variable."""
        return {slot for number in self._with[variable] for slot in self._patterns[number]}

    def values(self, variable: str, known: Collection[Slot]) -> float | None:
        """How many values a variable has for each row so far; None if no pattern offers them."""
        offers, most = [], 1.0
        for number in self._with[variable]:
            slots = self._patterns[number]
            place = slots.index(variable)
            most = max(most, self._distinct[number][place])
            places = {at for at, s in enumerate(slots) if isinstance(s, int) or s in known}
            if access_to(place, places, PSO) is not None:
                offers.append(self._offered(number, place, known))
        if not offers:
            return None
        least, *others = sorted(offers)
        for other in others:
            least *= min(1.0, other / most)
        return least

    def _offered(self, number: int, place: int, known: Collection[Slot]) -> float:
        slots, distinct = self._patterns[number], self._distinct[number]
        before = [at for at, slot in enumerate(slots) if isinstance(slot, str) and slot in known]
        if not before:
            return float(distinct[place])
        rows = float(self._rows[number])
        for at in before:
            rows /= max(1, distinct[at])
        return rows


class VariableOrder(NamedTuple):
    """Variables in an order, what it costs, and the rows that each is expected to leave."""

    cost: float
    variables: list[str]
    rows: list[float]


def variable_order(
    expectations: Expectations, variables: Sequence[str], given: Collection[str]
) -> VariableOrder | None:
    """The variables in the order that seems to need the fewest steps; None if none works.

    Those with the fewest values are tried as the first one.
    """
    known: set[Slot] = set(given)
    offers = {v: n for v in variables if (n := expectations.values(v, known)) is not None}
    firsts = sorted(offers, key=lambda v: (offers[v], v))[:MOST_FIRSTS]
    tried = (_greedy(expectations, first, offers, variables, given) for first in firsts)
    return min((each for each in tried if each is not None), default=None)


def _greedy(
    expectations: Expectations,
    first: str,
    offers: Mapping[str, float],
    variables: Sequence[str],
    given: Collection[str],
) -> VariableOrder | None:
    """An order that begins with a variable and goes on with the fewest values."""
    known: set[Slot] = set(given)
    size, cost, order, sizes = 1.0, 0.0, [], []
    waiting, open_offers, chosen = set(variables), dict(offers), first
    while True:
        number = open_offers.pop(chosen)
        size *= number
        cost += size + 1e-3 * number
        known.add(chosen)
        order.append(chosen)
        sizes.append(size)
        waiting.remove(chosen)
        if not waiting:
            return VariableOrder(cost, order, sizes)
        for variable in waiting & expectations.neighbours(chosen):
            values = expectations.values(variable, known)
            if values is None:
                open_offers.pop(variable, None)
            else:
                open_offers[variable] = values
        if not open_offers:
            return None
        chosen = min(open_offers, key=lambda v: (open_offers[v], v))


class JoinShape:
    """Patterns without their constants, which are numbers below 0, and what is wanted of them.

    There is a program for each way in which the numbers of rows that the patterns may have
    compare, roughly: patterns that differ in their constants alone share it.
    """

    def __init__(
        self,
        patterns: Sequence[IdPattern],
        given: tuple[str, ...],
        wanted: Collection[str],
        rest: int = COUNT,
    ) -> None:
        self._patterns = patterns
        self._given = given
        self._wanted = wanted
        self._rest = rest
        self._programs: dict[tuple[int, ...], JoinProgram] = {}
        variables = {s for slots in patterns for s in slots if isinstance(s, str)}
        has_choice = len(variables.difference(given)) > 1
        self._measuring = _measuring(patterns) if has_choice else None

    def planned(self, snapshot: Snapshot, constants: Sequence[int]) -> Planned:
        """How to match the patterns with these constants."""
        measuring = self._measuring
        rows = [] if measuring is None else _measured(measuring, snapshot, constants)
        sizes = tuple([size.bit_length() for size in rows])
        program = self._programs.get(sizes)
        if program is None:
            if len(self._programs) >= MOST_PROGRAMS:
                self._programs.clear()
            program = self._programs[sizes] = self._program(snapshot, constants, rows)
        return Planned(program, constants)

    def expected(self, snapshot: Snapshot, plan: Planned) -> list[float]:
        """How many rows each variable of a plan should leave, for each row that is given."""
        program, constants = plan
        rows = _measured(self._measuring or _measuring(self._patterns), snapshot, constants)
        filled = [_filled(slots, constants) for slots in self._patterns]
        expectations = Expectations(snapshot, filled, rows)
        names = {register: slot for slot, register in program.registers.items()}
        known: set[Slot] = set(program.given)
        sizes = [1.0]
        for kind, register, *_ in program.steps:
            if kind == BIND:
                variable = str(names[register])
                sizes.append(sizes[-1] * (expectations.values(variable, known) or 0.0))
                known.add(variable)
        return sizes[1:]

    def _program(
        self, snapshot: Snapshot, constants: Sequence[int], rows: Sequence[int]
    ) -> JoinProgram:
        patterns, given = self._patterns, self._given
        occurs = list(chain.from_iterable(patterns))
        variables = [s for s in dict.fromkeys(occurs) if isinstance(s, str) and s not in given]
        free = {v for v in variables if v not in self._wanted and occurs.count(v) == 1}
        bound = [v for v in variables if v not in free]
        expected: Sequence[float] = ()
        if bound and rows:
            filled = [_filled(slots, constants) for slots in patterns]
            expectations = Expectations(snapshot, filled, rows)
            order = variable_order(expectations, bound, given)
            if order is None:
                # A subject leads to an object by way of a predicate only: that gets its values.
                free = set()
                order = variable_order(expectations, variables, given)
            assert order is not None, "some order gets at every variable"
            bound, expected = order.variables, order.rows
        shown = tuple(v for v in bound if v in self._wanted)
        program = _Builder(patterns, given, shown, free, self._rest).build(bound)
        program.expected = tuple(expected)
        return program


def lifted(patterns: Sequence[IdPattern]) -> tuple[tuple[IdPattern, ...], tuple[int, ...]]:
    """Patterns with numbers below 0 in the places of their constants, and the constants.

    >>> lifted([("x", 7, "y"), ("y", 7, 8)])
    ((('x', -1, 'y'), ('y', -1, -2)), (7, 8))
    """
    numbers: dict[int, int] = {}
    found: list[Any] = [
        tuple(s if isinstance(s, str) else numbers.setdefault(s, ~len(numbers)) for s in slots)
        for slots in patterns
    ]
    return tuple(found), tuple(numbers)


def join_shape(
    patterns: Sequence[IdPattern], given: tuple[str, ...], wanted: frozenset[str], rest: int
) -> JoinShape:
    """The shape of lifted patterns, the same each time as long as it is kept."""
    key = patterns, given, wanted, rest
    shape = _SHAPES.get(key)
    if shape is None:
        if len(_SHAPES) >= MOST_SHAPES:
            _SHAPES.clear()
        shape = _SHAPES[key] = JoinShape(*key)
    return shape


MOST_SHAPES, MOST_PROGRAMS, MOST_FIRSTS = 1024, 64, 8
_SHAPES: dict[Any, JoinShape] = {}


def _filled(slots: IdPattern, constants: Sequence[int]) -> IdPattern:
    first, second, third = (slot if isinstance(slot, str) else constants[~slot] for slot in slots)
    return first, second, third


def _measuring(patterns: Sequence[IdPattern]) -> JoinProgram:
    """A program that has a part for each pattern: the rows that have its constants."""
    constants = dict.fromkeys(s for slots in patterns for s in slots if isinstance(s, int))
    registers: dict[Slot, int] = {slot: number + 1 for number, slot in enumerate(constants)}
    program = JoinProgram(registers, (), (), is_counted=True)
    for slots in patterns:
        # Of a triple that is known whole, two places are enough.
        known = [place for place, slot in enumerate(slots) if isinstance(slot, int)][:2]
        order, depth = access_to_rest(known)
        prefix = [registers[slots[place]] for place in PLACES[order][:depth]]
        program.parts.append([order, depth, *prefix, *[0] * (2 - depth), NO_PARENT])
        program.orders |= 1 << order
    return program


def _measured(measuring: JoinProgram, snapshot: Snapshot, constants: Sequence[int]) -> list[int]:
    """About how many rows each pattern has."""
    if not snapshot.runs:
        return [0] * len(measuring.parts)
    memory = measuring.memory(len(snapshot.runs))
    memory.begin(snapshot, constants)
    leapfrog.measure(memory.desk)
    rows: list[int] = memory.counts[: len(measuring.parts)].tolist()
    measuring.idle.append(memory)
    return rows
