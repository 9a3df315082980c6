"""The pattern join: which variable comes first, which columns it is found in, and the kernel's run.

Variables get their values one after the other, each time the one with the fewest expected;
expectations come from the sorted columns themselves.  A variable that nobody asks for, and that
only one pattern has, gets none: its rows are counted, or only asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.queries import join_steps
from livefacts.engine.queries.join_steps import BIND, COUNT, GIVEN, NO_PARENT
from livefacts.store.compiled import described
from livefacts.store.versions.snapshots import Snapshot
from livefacts.store.versions.sorted_orders import PLACES, PSO, Ids

Slot: TypeAlias = int | str
"""An id, or the name of a variable."""
IdPattern: TypeAlias = tuple[Slot, Slot, Slot]

SUBJECT, PREDICATE, OBJECT = range(3)
FIRST_ROOM, MOST_ROOM = 1 << 10, 1 << 20
"""How many rows one call of the kernel may find, at first and at most."""


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


@dataclass
class JoinProgram:
    """A join as tables for the kernel; constants are numbers below 0, filled in when it runs."""

    registers: dict[Slot, int]
    shown: tuple[str, ...]
    given: tuple[str, ...]
    orders: int = 1 << PSO
    """The orders that it reads, as bits."""
    is_counted: bool = False
    steps: list[list[int]] = field(default_factory=list)
    parts: list[list[int]] = field(default_factory=list)
    checks: list[list[int]] = field(default_factory=list)

    @cached_property
    def tables(self) -> FixedTables:
        """What is the same in every run."""
        return FixedTables(self)


class FixedTables:
    """The tables of a program that no run changes, and where they are."""

    def __init__(self, program: JoinProgram) -> None:
        rows = (program.steps, 6), (program.parts, 5), (program.checks, 3)
        self._rows = [np.array(lines, np.int32).reshape(-1, width) for lines, width in rows]
        given = [program.registers[name] for name in program.given]
        shown = [0, *(program.registers[name] for name in program.shown)]
        self._given, self._shown = np.array(given, np.int32), np.array(shown, np.int32)
        self.rows = described(self._rows)
        self.given, self.shown = described([self._given]), described([self._shown])
        self.constants = [
            (n, slot) for slot, n in program.registers.items() if isinstance(slot, int)
        ]


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
            program.orders |= 1 << access.order
            self._part_of[number] = len(program.parts) - 1
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

    def values(self, variable: str, known: Collection[Slot]) -> float | None:
        """How many values a variable has for each row so far; None if no pattern offers them."""
        offers, most = [], 1.0
        for number, slots in enumerate(self._patterns):
            if variable in slots:
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


def variable_order(
    expectations: Expectations, variables: Sequence[str], given: Collection[str]
) -> list[str] | None:
    """The variables in the order that seems to need the fewest steps; None if none works."""
    tried = (_greedy(expectations, first, variables, given) for first in variables)
    found = [each for each in tried if each is not None]
    return min(found)[1] if found else None


def _greedy(
    expectations: Expectations, first: str, variables: Sequence[str], given: Collection[str]
) -> tuple[float, list[str]] | None:
    """The cost of an order that begins with a variable and goes on with the fewest values."""
    known: set[Slot] = set(given)
    size, cost, order = 1.0, 0.0, []
    waiting, candidates = list(variables), [first]
    while waiting:
        offers = [(n, v) for v in candidates if (n := expectations.values(v, known)) is not None]
        if not offers:
            return None
        number, chosen = min(offers)
        size *= number
        cost += size + 1e-3 * number
        known.add(chosen)
        order.append(chosen)
        waiting.remove(chosen)
        candidates = waiting
    return cost, order


class Planned(NamedTuple):
    """A program, and the ids of the constants that it leaves open."""

    program: JoinProgram
    constants: Mapping[int, int]


def planned(
    snapshot: Snapshot,
    patterns: Sequence[IdPattern],
    given: tuple[str, ...],
    wanted: Collection[str],
    rest: int = COUNT,
) -> Planned:
    """How to match patterns: all of them, for rows that are given, with the wanted variables.

    Programs are kept for patterns that differ in their constants alone, as long as about as
    many rows are expected of each.
    """
    numbers: dict[int, int] = {}
    variables: set[str] = set()
    for slots in patterns:
        for slot in slots:
            if isinstance(slot, str):
                variables.add(slot)
            else:
                numbers.setdefault(slot, ~len(numbers))
    shape = tuple(
        tuple([numbers[slot] if isinstance(slot, int) else slot for slot in slots])
        for slots in patterns
    )
    rows = []
    if len(variables.difference(given)) > 1:
        rows = [snapshot.expected_rows(_constants(slots)) for slots in patterns]
    sizes = tuple([size.bit_length() for size in rows])
    key = shape, given, frozenset(wanted), rest, sizes
    program = _PROGRAMS.get(key)
    if program is None:
        if len(_PROGRAMS) >= MOST_PROGRAMS:
            _PROGRAMS.clear()
        program = _PROGRAMS[key] = _program(snapshot, patterns, numbers, rows, given, wanted, rest)
    return Planned(program, {number: slot for slot, number in numbers.items()})


MOST_PROGRAMS = 4096
_PROGRAMS: dict[Any, JoinProgram] = {}


def _program(
    snapshot: Snapshot,
    patterns: Sequence[IdPattern],
    numbers: Mapping[int, int],
    rows: Sequence[int],
    given: tuple[str, ...],
    wanted: Collection[str],
    rest: int,
) -> JoinProgram:
    occurs = list(chain.from_iterable(patterns))
    variables = [s for s in dict.fromkeys(occurs) if isinstance(s, str) and s not in given]
    free = {v for v in variables if v not in wanted and occurs.count(v) == 1}
    bound = [v for v in variables if v not in free]
    if bound and len(variables) > 1:
        expectations = Expectations(snapshot, patterns, rows)
        order = variable_order(expectations, bound, given)
        if order is None:
            # A subject leads to an object by way of a predicate only, which must have its values.
            free = set()
            order = variable_order(expectations, variables, given)
        assert order is not None, "some order gets at every variable"
        bound = order
    shown = tuple(v for v in bound if v in wanted)
    opened: list[Any] = [
        tuple(numbers[slot] if isinstance(slot, int) else slot for slot in slots)
        for slots in patterns
    ]
    return _Builder(opened, given, shown, free, rest).build(bound)


class JoinPiece(NamedTuple):
    """A piece of what a join has found: the given row of each, its values, how often it counts."""

    rows: Ids
    columns: Sequence[Ids]
    counts: NDArray[np.int64] | None


def run(
    plan: Planned,
    snapshot: Snapshot,
    given: Sequence[Ids] = (),
    count: int = 1,
    *,
    first_only: bool = False,
    pause: Callable[[], None] = lambda: None,
) -> Iterator[JoinPiece]:
    """What patterns match, in pieces, for so many given rows; `pause` is called now and then."""
    program, constants = plan
    if not snapshot.runs or not count:
        return
    snapshot.make(program.orders)
    memory = _Memory(program, len(snapshot.runs))
    for register, slot in program.tables.constants:
        memory.registers[register] = constants[slot]
    state = memory.state
    state[join_steps.GIVEN_END] = count
    state[join_steps.FIRST_ONLY] = first_only
    state[join_steps.IS_ENTERING] = 1
    rows = np.array(given, np.int32).reshape(len(given), count)
    room, width = FIRST_ROOM, 1 + len(program.shown)
    while True:
        out = np.empty((width, room), np.int32)
        counts = np.empty(room if program.is_counted else 0, np.int64)
        desk = np.array(memory.desk(program, snapshot, described([rows]), out, counts), np.int64)
        ended = join_steps.join(desk)
        while ended == join_steps.PAUSED:
            pause()
            ended = join_steps.join(desk)
        found = int(state[join_steps.FOUND])
        if found:
            rows_found, *columns = (column[:found] for column in out)
            yield JoinPiece(rows_found, columns, counts[:found] if program.is_counted else None)
        if ended == join_steps.DONE:
            return
        pause()
        state[join_steps.FOUND] = 0
        room = min(4 * room, MOST_ROOM)


class _Memory:
    """The working memory of one run, in one piece."""

    def __init__(self, program: JoinProgram, runs: int) -> None:
        steps, parts = len(program.steps), len(program.parts)
        sizes = (2 * parts * runs + 2, steps + 1, steps + 2, join_steps.STATE_FIELDS)
        self._whole = np.zeros(sum(sizes) + len(program.registers) // 2 + 1, np.int64)
        self._sizes = sizes
        _, leaders, products, state = accumulate(sizes)
        self._whole[leaders:products] = 1
        self.state = self._whole[products:state]
        self.registers = self._whole[state:].view(np.int32)

    def desk(
        self,
        program: JoinProgram,
        snapshot: Snapshot,
        given: list[int],
        out: Ids,
        counts: NDArray[np.int64],
    ) -> list[int]:
        """Where everything is, in the order of `JoinPlan`."""
        tables, address = program.tables, self._whole.ctypes.data
        starts = [0, *accumulate(self._sizes)]
        own = [
            (address + 8 * start, size) for start, size in zip(starts, self._sizes, strict=False)
        ]
        registers = (address + 8 * starts[-1], len(self.registers))
        return [
            *snapshot.place,
            *tables.rows,
            *given,
            *tables.given,
            *registers,
            *tables.shown,
            *chain.from_iterable(own),
            *described([out, counts]),
        ]


def _constants(slots: IdPattern) -> tuple[int | None, int | None, int | None]:
    first, second, third = (slot if isinstance(slot, int) else None for slot in slots)
    return first, second, third
