"""The join kernel: the instances of one plan that use one pivot, depth first through indices.

The position is kept in the machine's cursor, one row per depth, so that the search can
stop at any step and go on later.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.id_arithmetic import compare, compute
from livefacts.engine.embedded.kernel.support_counts import store_out
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_kernels import find, row_address
from livefacts.store.machine_code import inlined, load_int32


@inlined
def bind_pivot(patterns: Any, pattern: Any, columns: Any, cells: Any, env: Any) -> Any:
    """Match the pivot row with its pattern, binding variables; False if it does not fit."""
    bound = np.int64(0)
    for j in range(columns):
        wanted = patterns[pattern + j]
        value = load_int32(cells, layout.COLUMN + j)
        if wanted >= 0:
            if wanted != value:
                return False
        else:
            slot = -wanted - 1
            if (bound >> slot) & 1:
                if env[slot] != value:
                    return False
            else:
                env[slot] = value
                bound |= np.int64(1) << slot
    return True


@inlined
def fill_key(rows: Any, index: Any, patterns: Any, pattern: Any, env: Any, key: Any) -> Any:
    for j in range(rows.indices[index, layout.KEYS]):
        wanted = patterns[pattern + rows.indices[index, layout.KEY + j]]
        key[j] = wanted if wanted >= 0 else env[-wanted - 1]


@inlined
def fits(plans: Any, step: Any, columns: Any, cells: Any, env: Any) -> Any:
    """Bind the new variables of an atom to a row and check what the index did not."""
    binds = plans.steps[step, code.BINDS]
    checks = plans.steps[step, code.CHECKS]
    if binds | checks == 0:
        return True
    pattern = plans.steps[step, code.PATTERN]
    for j in range(columns):
        if (binds >> j) & 1:
            env[-plans.patterns[pattern + j] - 1] = load_int32(cells, layout.COLUMN + j)
        elif (checks >> j) & 1:
            wanted = plans.patterns[pattern + j]
            if wanted < 0:
                wanted = env[-wanted - 1]
            if load_int32(cells, layout.COLUMN + j) != wanted:
                return False
    return True


@inlined
def first_row(rows: Any, plans: Any, step: Any, env: Any, key: Any) -> Any:
    """Where the rows begin among which an atom may find matches; 0 if there are none."""
    index = plans.steps[step, code.LOOKUP]
    if index == code.SCAN:
        return np.int64(1)
    fill_key(rows, index, plans.patterns, plans.steps[step, code.PATTERN], env, key)
    return find(rows, plans.steps[step, code.RELATION], index, key, 0)


@inlined
def row_behind(rows: Any, index: Any, cells: Any, row: Any) -> Any:
    """The next row of the same key, or of all if there is no index; 0 behind the last."""
    if index == code.SCAN:
        return row + 1
    link = rows.indices[index, layout.LINK]
    return np.int64(load_int32(cells, link)) if link else np.int64(0)


@inlined
def next_match(rows: Any, plans: Any, machine: Any, step: Any, row: Any, pivot: Any) -> Any:
    """The first row from `row` on (-1: from the start) that matches an atom, or 0.

    `pivot` is the queue entry of the pivot row, which counts as visible or not
    according to the side of the pivot on which the atom stands.  Negative: the row to go on
    behind, after many that do not match.
    """
    relation = plans.steps[step, code.RELATION]
    index = plans.steps[step, code.LOOKUP]
    needs = plans.steps[step, code.NEEDS]
    columns = rows.relations[relation, layout.COLUMNS]
    data = rows.relations[relation, layout.ADDRESS]
    width = 4 * rows.relations[relation, layout.STRIDE]
    if row < 0:
        row = first_row(rows, plans, step, machine.env, machine.key)
    else:
        row = row_behind(rows, index, data + width * row, row)
    high = rows.relations[relation, layout.HIGH]
    looked = 0
    while row and row < high:
        cells = data + width * row
        flags = load_int32(cells, layout.FLAGS)
        seen = flags & bits.VISIBLE != 0
        if (relation << 32) | row == pivot and not machine.state[code.IS_NEGATIVE]:
            seen = plans.steps[step, code.BEFORE] == 0 or machine.state[code.UPGRADE] != 0
        if seen and flags & needs == needs and fits(plans, step, columns, cells, machine.env):
            break
        looked += 1
        if looked == code.MOST_LOOKED:
            row = -row
            break
        row = row_behind(rows, index, cells, row)
    machine.state[code.WORK] += looked
    return row if row < high else np.int64(0)


@inlined
def operand(slot: Any, env: Any) -> Any:
    return slot if slot >= 0 else np.int64(env[-slot - 1])


@inlined
def is_absent(rows: Any, plans: Any, machine: Any, step: Any, pivot: Any) -> Any:
    """Whether no fact is the atom, for the negations of this level at this moment.

    Where the pivot itself is a fact that came or went, each instance counts at the first
    of its negated atoms that it fits.
    """
    relation = plans.steps[step, code.RELATION]
    index = plans.steps[step, code.LOOKUP]
    fill_key(rows, index, plans.patterns, plans.steps[step, code.PATTERN], machine.env, machine.key)
    row = find(rows, relation, index, machine.key, 0)
    if row == 0:
        return True
    if (relation << 32) | row == pivot and machine.state[code.IS_NEGATIVE]:
        return plans.steps[step, code.BEFORE] == 0
    flags = load_int32(row_address(rows, relation, row), layout.FLAGS)
    if flags & bits.DEAD:
        return True
    if flags & bits.SUSPECT:
        return False
    return (flags & (bits.GONE | bits.DOOMED) != 0) != (flags & bits.UNSEEN != 0)


@inlined
def run_check(rows: Any, plans: Any, memo: Any, machine: Any, step: Any, pivot: Any) -> Any:
    """A step that matches no row: answer[1] says whether the instance goes on."""
    kind = plans.steps[step, code.KIND]
    if kind == code.ABSENT:
        machine.answer[1] = is_absent(rows, plans, machine, step, pivot)
        return code.DONE
    operator = plans.steps[step, code.OPERATOR]
    left = operand(plans.steps[step, code.LEFT], machine.env)
    right = operand(plans.steps[step, code.RIGHT], machine.env)
    if kind == code.COMPARE:
        status = compare(memo, machine.state, operator, left, right, machine.answer)
        machine.answer[1] = machine.answer[0]
        return status
    status = compute(memo, machine.state, operator, left, right, machine.answer)
    if status == code.DONE:
        machine.answer[1] = machine.answer[0] >= 0
        if machine.answer[0] >= 0:
            machine.env[-plans.steps[step, code.TARGET] - 1] = np.int32(machine.answer[0])
    return status


@inlined
def put_head(rows: Any, plans: Any, plan: Any, out: Any, at: Any, env: Any) -> Any:
    """Write the values of a plan's head."""
    pattern = plans.plans[plan, code.HEAD_PATTERN]
    for j in range(rows.relations[plans.plans[plan, code.HEAD_RELATION], layout.COLUMNS]):
        wanted = plans.patterns[pattern + j]
        out[at + j] = wanted if wanted >= 0 else env[-wanted - 1]


@inlined
def emit(rows: Any, plans: Any, machine: Any, plan: Any, width: Any) -> Any:
    """Put the head of a found instance into the buffer."""
    at = machine.state[code.OUT_COUNT] * width
    relation = plans.plans[plan, code.HEAD_RELATION]
    machine.out[at] = relation
    machine.out[at + 1] = plans.plans[plan, code.HEAD_SUPPORT]
    machine.rule_of[machine.state[code.OUT_COUNT]] = plans.plans[plan, code.RULE]
    machine.tally[plans.plans[plan, code.RULE], code.FOUND] += 1
    put_head(rows, plans, plan, machine.out, at + 2, machine.env)
    machine.state[code.OUT_COUNT] += 1
    machine.state[code.DERIVED] += 1


@inlined
def join(
    rows: Any,
    plans: Any,
    memo: Any,
    machine: Any,
    pivot: Any,
    width: Any,
    mode: Any,
    budget: Any,
) -> Any:
    """Go on with the instances of the present plan and pivot; DONE when all are found."""
    state = machine.state
    plan = state[code.PLAN]
    count = plans.plans[plan, code.STEP_COUNT]
    first = plans.plans[plan, code.FIRST_STEP] - 1
    depth = state[code.DEPTH]
    while depth > 0:
        if depth > count:
            if state[code.OUT_COUNT] == layout.OUT_ROWS and not store_out(
                rows, machine, width, mode
            ):
                state[code.DEPTH] = depth
                return code.NEED_ROOM
            emit(rows, plans, machine, plan, width)
            depth -= 1
            continue
        if state[code.WORK] >= budget:
            state[code.DEPTH] = depth
            return code.PAUSED
        state[code.WORK] += 1
        step = first + depth
        if plans.steps[step, code.KIND] == code.MATCH:
            row = next_match(rows, plans, machine, step, machine.cursor[depth], pivot)
        elif machine.cursor[depth] < 0:
            status = run_check(rows, plans, memo, machine, step, pivot)
            if status != code.DONE:
                state[code.DEPTH] = depth
                return status
            row = machine.answer[1]
        else:
            row = np.int64(0)
        if row == 0:
            depth -= 1
            continue
        if row < 0:
            machine.cursor[depth] = -row
            continue
        machine.cursor[depth] = row
        depth += 1
        if depth <= count:
            machine.cursor[depth] = -1
    state[code.DEPTH] = 0
    return code.DONE
