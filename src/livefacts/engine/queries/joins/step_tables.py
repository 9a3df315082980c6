"""Step tables: a join of triple patterns as tables for the kernel, and its run.

A program is made once for patterns that differ in their constants alone.  The memory of a run is
kept for the next one, and counts how many rows each step lets through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import add
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.queries.joins import leapfrog
from livefacts.engine.queries.joins.leapfrog import BIND
from livefacts.store.machine_code import described, place_described
from livefacts.store.versions.snapshots import FIELDS, ORDERS, Snapshot
from livefacts.store.versions.sorted_orders import PLACES, PSO, Ids

Slot: TypeAlias = int | str
"""An id, or the name of a variable."""
Tallies: TypeAlias = list[int]
"""How many rows each step of a join has let through."""

FIRST_ROOM, MOST_ROOM = 1 << 8, 1 << 20
"""How many rows one call of the kernel may find, at first and at most."""
MOST_IDLE = 4
NO_GIVEN = np.zeros((0, 1), np.int32)
ORDERS_AT, GIVEN_AT, OUT_AT = (
    place_described(leapfrog.JoinPlan, name) for name in ("orders", "given", "out")
)


@dataclass(eq=False)
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
    part_patterns: list[int] = field(default_factory=list)
    """The number of the pattern that each part is of."""
    check_patterns: list[int] = field(default_factory=list)
    expected: tuple[float, ...] = ()
    """How many rows each variable was expected to leave, in their order, where that was asked."""

    @cached_property
    def tables(self) -> FixedTables:
        """What is the same in every run."""
        return FixedTables(self)

    @cached_property
    def idle(self) -> list[_Memory]:
        """Working memory that no run uses now."""
        return []

    def memory(self, runs: int) -> _Memory:
        """Working memory for a run over so many runs of columns."""
        try:
            found = self.idle.pop()
        except IndexError:
            return _Memory(self, runs)
        return found if found.runs == runs else _Memory(self, runs)

    def outline(self, expected: Sequence[float]) -> list[JoinStep]:
        """The steps for people to read, with the rows that each variable should leave."""
        rows = iter(expected)
        return [self._outlined(step, rows) for step in self.steps]

    def _outlined(self, step: list[int], expected: Iterator[float]) -> JoinStep:
        kind, _, first_part, parts, first_check, checks = step
        uses = []
        for number in range(first_part, first_part + parts):
            order, depth, *_ = self.parts[number]
            uses.append(PatternUse(self.part_patterns[number], order, PLACES[order][depth]))
        checked = self.check_patterns[first_check : first_check + checks]
        return JoinStep(kind, uses, checked, next(expected, None) if kind == BIND else None)


class PatternUse(NamedTuple):
    """A pattern in a step of a join: the order it is read in, and the place that is looked for."""

    pattern: int
    order: int
    place: int


class JoinStep(NamedTuple):
    """A step of a join: the patterns it reads, those it looks up, and the rows it should leave."""

    kind: int
    uses: list[PatternUse]
    checked: list[int]
    expected: float | None


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
            (n, ~slot) for slot, n in program.registers.items() if isinstance(slot, int)
        ]
        """The registers of constants, and the number of each."""


class Planned(NamedTuple):
    """A program, and the ids of the constants that it leaves open."""

    program: JoinProgram
    constants: Sequence[int]


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
    noted: dict[JoinProgram, Tallies] | None = None,
) -> Iterator[JoinPiece]:
    """What patterns match, in pieces, for so many given rows; `pause` is called now and then.

    How many rows came through each step is `noted`, also if the rest is not wanted.
    """
    program, constants = plan
    if not snapshot.runs or not count:
        return
    memory = program.memory(len(snapshot.runs))
    memory.begin(snapshot, constants, given, count, first_only)
    try:
        while True:
            ended = leapfrog.join(memory.desk)
            while ended == leapfrog.PAUSED:
                pause()
                ended = leapfrog.join(memory.desk)
            yield from memory.found()
            if ended == leapfrog.DONE:
                break
            pause()
            memory.enlarge()
    finally:
        if noted is not None:
            rows, before = memory.tallies.tolist(), noted.get(program)
            noted[program] = rows if before is None else list(map(add, rows, before))
    memory.end()


class _Memory:
    """The working memory of a run, and the desk that says where everything is.

    It is kept for the next run of its program: to make it takes longer than a small join.
    """

    def __init__(self, program: JoinProgram, runs: int) -> None:
        self.runs = runs
        self._program = program
        steps, parts = len(program.steps), len(program.parts)
        sizes = 2 * parts * runs + 2, steps + 1, steps + 2, leapfrog.STATE_FIELDS + steps
        self._cursors, self._leaders, self._products, self._state = (
            np.ones(size, np.int64) for size in sizes
        )
        self._first_state = np.zeros(sizes[-1], np.int64)
        self._first_state[leapfrog.IS_ENTERING] = 1
        self.tallies = self._state[leapfrog.STATE_FIELDS :]
        self._registers = np.zeros(len(program.registers) + 1, np.int32)
        self._given: Ids = NO_GIVEN
        self._own = self._made_room(max(FIRST_ROOM, parts))
        self.out, self.counts = self._own
        tables = program.tables
        self.desk = np.array(
            [
                *(0, ORDERS * runs, FIELDS),
                *tables.rows,
                *described([NO_GIVEN]),
                *tables.given,
                *described([self._registers]),
                *tables.shown,
                *described([self._cursors, self._leaders, self._products, self._state]),
                *described(self._own),
            ],
            np.int64,
        )

    def begin(
        self,
        snapshot: Snapshot,
        constants: Sequence[int],
        given: Sequence[Ids] = (),
        count: int = 1,
        first_only: bool = False,
    ) -> None:
        """Get ready for a run over a snapshot, with these constants and so many given rows."""
        program, desk = self._program, self.desk
        snapshot.make(program.orders)
        desk[ORDERS_AT] = snapshot.place[0]
        for register, number in program.tables.constants:
            self._registers[register] = constants[number]
        if given:
            self._given = np.array(given, np.int32).reshape(len(given), count)
            desk[GIVEN_AT : GIVEN_AT + 3] = described([self._given])
        self._state[:] = self._first_state
        self._state[leapfrog.GIVEN_END] = count
        self._state[leapfrog.FIRST_ONLY] = first_only

    def found(self) -> Iterator[JoinPiece]:
        """What the output holds, if there is something; it is not written to any more."""
        found = int(self._state[leapfrog.FOUND])
        if not found:
            return
        out, counts = self.out[:, :found], self.counts[:found]
        if self.out is self._own[0]:
            out, counts = out.copy(), counts.copy()
        yield JoinPiece(out[0], list(out[1:]), counts if self._program.is_counted else None)
        self._state[leapfrog.FOUND] = 0

    def enlarge(self) -> None:
        """Have a new output, and a larger one unless it is large."""
        self._have_output(*self._made_room(min(4 * self.out.shape[1], MOST_ROOM)))

    def end(self) -> None:
        """Leave the memory to other runs."""
        if self.out is not self._own[0]:
            self._have_output(*self._own)
        self._given = NO_GIVEN
        if len(self._program.idle) < MOST_IDLE:
            self._program.idle.append(self)

    def _have_output(self, out: Ids, counts: NDArray[np.int64]) -> None:
        self.out, self.counts = out, counts
        self.desk[OUT_AT:] = described([out, counts])

    def _made_room(self, room: int) -> tuple[Ids, NDArray[np.int64]]:
        program = self._program
        out = np.empty((1 + len(program.shown), room), np.int32)
        return out, np.empty(room if program.is_counted else 0, np.int64)
