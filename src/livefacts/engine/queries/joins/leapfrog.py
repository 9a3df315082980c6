"""Leapfrog: the kernel that matches all triple patterns of a query at once, variable by variable.

A worst-case optimal join (Ngo et al.; leapfrog triejoin, Veldhuizen).  Each step gives one
variable its values: those on which all patterns agree that have it, found by intersecting
sorted columns, from the pattern with the fewest candidates.  Cyclic patterns therefore never
make a list of pairs that a third pattern would throw away.

A pattern takes part in a step through one of four orders: the places before the variable are
known, and the candidates lie side by side.  Where a step continues what an earlier step of the
same pattern has found, its range is taken from there.  Rows stand in several runs with signs;
a row is there if the signs sum to one, which is asked at the third place.

The state of the search is in arrays: a call that has filled its output, or has worked for a
while, returns, and the next one goes on from there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.store.machine_code import inlined, kernel, load_int32, tables_reader
from livefacts.store.table_types import IdRows, Ids, IntRows, Ints
from livefacts.store.terms.byte_text import load_byte
from livefacts.store.versions import snapshots as table

# what a step does
GIVEN, BIND, COUNT, EXIST = range(4)
"""Takes a row that is given; gives a variable its values; multiplies by how many there are;
asks whether there are any."""

# fields of a step
KIND, TARGET, FIRST_PART, PARTS, FIRST_CHECK, CHECKS = range(6)

# fields of a part: a pattern in a step
ORDER, DEPTH, PREFIX, PREFIX_2, PARENT = range(5)
NO_PARENT = -1

# fields of a cursor, for each part and run
AT, END = range(2)

# fields of the state
LEVEL, IS_ENTERING, FOUND, GIVEN_ROW, GIVEN_END, WORK, FIRST_ONLY = range(7)
STATE_FIELDS = 7

# what a call returns
DONE, FULL, PAUSED = range(3)
PIECE_OF_WORK = 1 << 20


class JoinPlan(NamedTuple):
    """The steps of a join, and its working memory."""

    orders: IntRows
    """Where the columns of each order and run are."""
    steps: IdRows
    parts: IdRows
    checks: IdRows
    """Registers of subject, predicate and object of patterns that are known whole."""
    given: IdRows
    """The columns of the given rows."""
    given_registers: Ids
    registers: Ids
    shown: Ids
    """The registers that go into the output."""
    cursors: Ints
    leaders: Ints
    products: Ints
    """By how much each row so far counts."""
    state: Ints
    """Its fields, and behind them how many rows each step has let through."""
    out: IdRows
    counts: Ints


plan_on = tables_reader(JoinPlan)


@inlined
def lower(address: Any, first: Any, last: Any, value: Any) -> Any:
    """The first place from `first` on, before `last`, whose value is not less; near ones fast."""
    if first >= last or load_int32(address, first) >= value:
        return first
    step = np.int64(1)
    while first + step < last and load_int32(address, first + step) < value:
        first += step
        step *= 2
    last = min(last, first + step)
    while last - first > 1:
        middle = (first + last) >> 1
        if load_int32(address, middle) < value:
            first = middle
        else:
            last = middle
    return last


@inlined
def level_of(line: Any, depth: Any) -> Any:
    """Where the values of a depth are."""
    if depth == 0:
        return line[table.KEYS]
    return line[table.SECOND] if depth == 1 else line[table.THIRD]


@inlined
def open_range(plan: Any, part: Any, run: Any) -> Any:
    """Where the candidates of a part begin and end in a run."""
    parts, registers = plan.parts, plan.registers
    runs = plan.orders.shape[0] >> 2
    line = plan.orders[parts[part, ORDER] * runs + run]
    depth, parent = parts[part, DEPTH], parts[part, PARENT]
    if depth == 0:
        return np.int64(0), line[table.KEY_COUNT]
    if parent >= 0 and parts[parent, DEPTH] == 1:
        first = plan.cursors[2 * (parent * runs + run)]
        last = plan.cursors[2 * (parent * runs + run) + 1]
    else:
        value, keys = registers[parts[part, PREFIX]], line[table.KEY_COUNT]
        if parent >= 0:
            key = plan.cursors[2 * (parent * runs + run)]
        else:
            key = lower(line[table.KEYS], np.int64(0), keys, value)
        if key >= keys or load_int32(line[table.KEYS], key) != value:
            return np.int64(0), np.int64(0)
        first = np.int64(load_int32(line[table.STARTS], key))
        last = np.int64(load_int32(line[table.STARTS], key + 1))
    if depth == 1:
        return first, last
    second = registers[parts[part, PREFIX_2]]
    first = lower(line[table.SECOND], first, last, second)
    if first >= last or load_int32(line[table.SECOND], first) != second:
        return np.int64(0), np.int64(0)
    return first, lower(line[table.SECOND], first, last, second + 1)


@inlined
def sign_of(line: Any, row: Any) -> Any:
    """Whether a row of a run came (1) or went (-1)."""
    if line[table.SIGNS] == 0:
        return np.int64(1)
    return np.int64(np.int8(load_byte(line[table.SIGNS] + row)))


@inlined
def open_part(plan: Any, part: Any) -> Any:
    """Set the cursors of a part to its candidates; how many rows that are."""
    runs = plan.orders.shape[0] >> 2
    total = np.int64(0)
    for run in range(runs):
        first, last = open_range(plan, part, run)
        plan.cursors[2 * (part * runs + run)] = first
        plan.cursors[2 * (part * runs + run) + 1] = last
        total += last - first
    return total


@inlined
def count_rows(plan: Any, part: Any) -> Any:
    """How many rows there are among the candidates of a part: the sum of their signs."""
    runs = plan.orders.shape[0] >> 2
    total = np.int64(0)
    for run in range(runs):
        first, last = open_range(plan, part, run)
        line = plan.orders[plan.parts[part, ORDER] * runs + run]
        if plan.parts[part, DEPTH] == 0 and last:
            last = line[table.ROWS]
        if line[table.SIGNS] == 0:
            total += last - first
        else:
            for row in range(first, last):
                total += sign_of(line, row)
    return total


@inlined
def seek(plan: Any, part: Any, value: Any) -> Any:
    """The least candidate of a part that is not less than a value; -1 if there is none."""
    runs = plan.orders.shape[0] >> 2
    depth = plan.parts[part, DEPTH]
    least = np.int64(-1)
    for run in range(runs):
        at = 2 * (part * runs + run)
        first, last = plan.cursors[at], plan.cursors[at + 1]
        if first < last:
            address = level_of(plan.orders[plan.parts[part, ORDER] * runs + run], depth)
            first = lower(address, first, last, value)
            plan.cursors[at] = first
            if first < last:
                found = np.int64(load_int32(address, first))
                if least < 0 or found < least:
                    least = found
    return least


@inlined
def is_there(plan: Any, part: Any, value: Any) -> Any:
    """Whether a candidate at a third place stands for a row that was not taken back."""
    runs = plan.orders.shape[0] >> 2
    if runs == 1 or plan.parts[part, DEPTH] < 2:
        return True
    total = np.int64(0)
    for run in range(runs):
        at = 2 * (part * runs + run)
        first, last = plan.cursors[at], plan.cursors[at + 1]
        line = plan.orders[plan.parts[part, ORDER] * runs + run]
        if first < last and load_int32(line[table.THIRD], first) == value:
            total += sign_of(line, first)
    return total > 0


@inlined
def agree(plan: Any, step: Any, value: Any) -> Any:
    """The least value, not less than this one, on which all parts of a step agree; or -1."""
    first = plan.steps[step, FIRST_PART]
    last = first + plan.steps[step, PARTS]
    leader = plan.leaders[step]
    value = seek(plan, leader, value)
    part = first
    while value >= 0 and part < last:
        plan.state[WORK] += 1
        found = value if part == leader else seek(plan, part, value)
        if found == value and is_there(plan, part, value):
            part += 1
        else:
            if found == value:
                found += 1
            value = seek(plan, leader, found) if found >= 0 else np.int64(-1)
            part = first
    return value


@inlined
def open_step(plan: Any, step: Any) -> Any:
    """Set the parts of a step to their candidates; whether each of them has some."""
    first = plan.steps[step, FIRST_PART]
    fewest = np.int64(-1)
    for part in range(first, first + plan.steps[step, PARTS]):
        total = open_part(plan, part)
        if total == 0:
            return False
        if fewest < 0 or total < fewest:
            fewest = total
            plan.leaders[step] = part
    return True


@inlined
def passes(plan: Any, step: Any) -> Any:
    """Whether the patterns that are known whole at a step have their triples."""
    first = plan.steps[step, FIRST_CHECK]
    for check in range(first, first + plan.steps[step, CHECKS]):  # noqa: SIM110
        if not holds(plan, check):
            return False
    return True


@inlined
def holds(plan: Any, check: Any) -> Any:
    """Whether a triple is there: predicate and subject are looked up, then the object."""
    runs = plan.orders.shape[0] >> 2
    subject = plan.registers[plan.checks[check, 0]]
    predicate = plan.registers[plan.checks[check, 1]]
    value = plan.registers[plan.checks[check, 2]]
    total = np.int64(0)
    for run in range(runs):
        line = plan.orders[run]
        key = lower(line[table.KEYS], np.int64(0), line[table.KEY_COUNT], predicate)
        if key < line[table.KEY_COUNT] and load_int32(line[table.KEYS], key) == predicate:
            first = np.int64(load_int32(line[table.STARTS], key))
            last = np.int64(load_int32(line[table.STARTS], key + 1))
            first = lower(line[table.SECOND], first, last, subject)
            last = lower(line[table.SECOND], first, last, subject + 1)
            first = lower(line[table.THIRD], first, last, value)
            if first < last and load_int32(line[table.THIRD], first) == value:
                total += sign_of(line, first)
    return total > 0


@inlined
def put_out(plan: Any, level: Any) -> Any:
    """Write a row into the output."""
    row = plan.state[FOUND]
    for column in range(plan.shown.shape[0]):
        plan.out[column, row] = plan.registers[plan.shown[column]]
    if plan.counts.shape[0]:
        plan.counts[row] = plan.products[level]
    plan.state[FOUND] = row + 1


@inlined
def next_given(plan: Any) -> Any:
    """Take the next given row; whether there is one."""
    row = plan.state[GIVEN_ROW]
    if row >= plan.state[GIVEN_END]:
        return False
    plan.registers[0] = row
    for column in range(plan.given_registers.shape[0]):
        plan.registers[plan.given_registers[column]] = plan.given[column, row]
    plan.state[GIVEN_ROW] = row + 1
    return True


@kernel
def measure(desk: NDArray[np.int64]) -> None:
    """Write down how many rows each part may have, those that were taken back included."""
    plan = plan_on(desk)
    runs = plan.orders.shape[0] >> 2
    for part in range(plan.parts.shape[0]):
        total = np.int64(0)
        for run in range(runs):
            first, last = open_range(plan, part, run)
            if plan.parts[part, DEPTH] == 0:
                last = plan.orders[plan.parts[part, ORDER] * runs + run][table.ROWS]
            total += last - first
        plan.counts[part] = total


@kernel
def join(desk: NDArray[np.int64]) -> int:
    """Go on with a join until its output is full, or it is done, or it has worked for a while."""
    plan = plan_on(desk)
    state, levels = plan.state, plan.steps.shape[0]
    level, entering = state[LEVEL], state[IS_ENTERING] != 0
    capacity = plan.out.shape[1]
    state[WORK] = 0
    while level >= 0:
        if level == levels:
            if state[FOUND] == capacity:
                state[LEVEL], state[IS_ENTERING] = level, 1
                return FULL
            put_out(plan, level)
            level, entering = (0 if state[FIRST_ONLY] else level - 1), False
            continue
        kind = plan.steps[level, KIND]
        state[WORK] += 1
        if kind == GIVEN:
            goes_on = next_given(plan)
            while goes_on and not passes(plan, level):
                goes_on = next_given(plan)
            plan.products[1] = 1
        elif kind == BIND:
            goes_on = True
            value = np.int64(0)
            if entering:
                goes_on = open_step(plan, level)
            else:
                value = np.int64(plan.registers[plan.steps[level, TARGET]]) + 1
            if goes_on:
                value = agree(plan, level, value)
                plan.registers[plan.steps[level, TARGET]] = value
                goes_on = value >= 0
                while goes_on and not passes(plan, level):
                    value = agree(plan, level, value + 1)
                    plan.registers[plan.steps[level, TARGET]] = value
                    goes_on = value >= 0
            plan.products[level + 1] = plan.products[level]
        else:
            goes_on = entering
            if entering:
                rows = count_rows(plan, np.int64(plan.steps[level, FIRST_PART]))
                goes_on = rows > 0
                factor = rows if kind == COUNT else np.int64(1)
                plan.products[level + 1] = plan.products[level] * factor
        if goes_on:
            state[STATE_FIELDS + level] += plan.products[level + 1]
            level, entering = level + 1, True
        else:
            level, entering = level - 1, False
        if state[WORK] >= PIECE_OF_WORK:
            state[LEVEL], state[IS_ENTERING] = level, entering
            return PAUSED
    state[LEVEL] = -1
    return DONE
