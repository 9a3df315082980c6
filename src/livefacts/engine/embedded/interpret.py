"""The fixpoint kernel: runs plans over rows until nothing new follows.

Facts wait in a queue.  Each is taken once as the *pivot* of every plan it fits; the
other atoms of the plan are matched depth first through indices.  A fact becomes visible
when it has been taken: atoms before the pivot match visible rows other than the pivot,
atoms after it visible rows or the pivot, so every instance of a rule is found exactly
once.  Derived facts wait in a buffer and are stored in blocks.

The kernel never allocates and never calls back.  It returns a status when it is done,
when its work budget is used up, when it needs room, or when it needs an answer that only
Python can give (the value of a literal, the consequences of a new kind of triple); its
position is kept in `Machine.state`, and the next call goes on from there.

Papers: semi-naive evaluation (DynamiTE, section 2), one fact at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from livefacts.engine.embedded.kernelvalues import (
    ask,
    compare,
    compute,
)
from livefacts.engine.embedded.machine import (
    ABSENT,
    ANY_FACT,
    ASK_KEY,
    ASK_SCHEMA,
    BEFORE,
    BINDS,
    BUCKET,
    BUCKET_AT,
    CHECKS,
    COMPARE,
    COUNT_PLAIN,
    DEPTH,
    DERIVED,
    DONE,
    FIRST_STEP,
    HEAD_PATTERN,
    HEAD_RELATION,
    HEAD_SUPPORT,
    JOINING,
    KEY_BY_OBJECT,
    KEY_SCHEMA,
    KIND,
    LEFT,
    LOOKUP,
    MATCH,
    NEED_ROOM,
    NEEDS,
    NEXT_PIVOT,
    NEXT_PLAN,
    OPERATOR,
    OUT_COUNT,
    PATTERN,
    PAUSED,
    PHASE,
    PIVOT_NEEDS,
    PIVOT_PATTERN,
    PLAN,
    QUEUE_AT,
    QUEUE_END,
    RELATION,
    RIGHT,
    ROOTED,
    SCAN,
    STEP_COUNT,
    TARGET,
    UPGRADE,
    lookup_entry,
)
from livefacts.engine.embedded.storing import (
    store_out,
)
from livefacts.store.compiled import (
    inlined,
    kernel,
    load_int32,
    store_int32,
)
from livefacts.store.layout import (
    ADDRESS,
    COLUMN,
    COLUMNS,
    EDGE,
    FLAGS,
    HIGH,
    KEY,
    KEYS,
    KNOWN_SCHEMA,
    LINK,
    NEW_EDGE,
    NEW_ROOT,
    OUT_ROWS,
    ROOT,
    STRIDE,
    VISIBLE,
)
from livefacts.store.rowkernels import (
    LOW,
    find,
    row_address,
)


@inlined
def bind_pivot(patterns: Any, pattern: Any, columns: Any, cells: Any, env: Any) -> Any:
    """Match the pivot row with its pattern, binding variables; False if it does not fit."""
    bound = np.int64(0)
    for j in range(columns):
        wanted = patterns[pattern + j]
        value = load_int32(cells, COLUMN + j)
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
    for j in range(rows.indices[index, KEYS]):
        wanted = patterns[pattern + rows.indices[index, KEY + j]]
        key[j] = wanted if wanted >= 0 else env[-wanted - 1]


@inlined
def fits(plans: Any, step: Any, columns: Any, cells: Any, env: Any) -> Any:
    """Bind the new variables of an atom to a row and check what the index did not."""
    binds = plans.steps[step, BINDS]
    checks = plans.steps[step, CHECKS]
    if binds | checks == 0:
        return True
    pattern = plans.steps[step, PATTERN]
    for j in range(columns):
        if (binds >> j) & 1:
            env[-plans.patterns[pattern + j] - 1] = load_int32(cells, COLUMN + j)
        elif (checks >> j) & 1:
            wanted = plans.patterns[pattern + j]
            if wanted < 0:
                wanted = env[-wanted - 1]
            if load_int32(cells, COLUMN + j) != wanted:
                return False
    return True


@inlined
def next_match(rows: Any, plans: Any, machine: Any, step: Any, row: Any, pivot: Any) -> Any:
    """The first row from `row` on (-1: from the start) that matches an atom, or 0.

    `pivot` is the queue entry of the pivot row, which counts as visible or not
    according to the side of the pivot on which the atom stands.
    """
    relation = plans.steps[step, RELATION]
    index = plans.steps[step, LOOKUP]
    needs = plans.steps[step, NEEDS]
    columns = rows.relations[relation, COLUMNS]
    data = rows.relations[relation, ADDRESS]
    width = 4 * rows.relations[relation, STRIDE]
    if index == SCAN:
        row = np.int64(1) if row < 0 else row + 1
    elif row < 0:
        fill_key(rows, index, plans.patterns, plans.steps[step, PATTERN], machine.env, machine.key)
        row = find(rows, relation, index, machine.key, 0)
    else:
        link = rows.indices[index, LINK]
        row = np.int64(load_int32(data + width * row, link)) if link else np.int64(0)
    high = rows.relations[relation, HIGH]
    while row and row < high:
        cells = data + width * row
        flags = load_int32(cells, FLAGS)
        seen = flags & VISIBLE != 0
        if (relation << 32) | row == pivot:
            seen = plans.steps[step, BEFORE] == 0 or machine.state[UPGRADE] != 0
        if seen and flags & needs == needs and fits(plans, step, columns, cells, machine.env):
            return row
        if index == SCAN:
            row += 1
        else:
            link = rows.indices[index, LINK]
            row = np.int64(load_int32(cells, link)) if link else np.int64(0)
    return np.int64(0)


@inlined
def operand(code: Any, env: Any) -> Any:
    return code if code >= 0 else np.int64(env[-code - 1])


@kernel
def run_check(rows: Any, plans: Any, memo: Any, machine: Any, step: Any) -> Any:
    """A step that matches no row: answer[1] says whether the instance goes on."""
    kind = plans.steps[step, KIND]
    if kind == ABSENT:
        index = plans.steps[step, LOOKUP]
        fill_key(rows, index, plans.patterns, plans.steps[step, PATTERN], machine.env, machine.key)
        machine.answer[1] = find(rows, plans.steps[step, RELATION], index, machine.key, 0) == 0
        return DONE
    operator = plans.steps[step, OPERATOR]
    left = operand(plans.steps[step, LEFT], machine.env)
    right = operand(plans.steps[step, RIGHT], machine.env)
    if kind == COMPARE:
        status = compare(memo, machine.state, operator, left, right, machine.answer)
        machine.answer[1] = machine.answer[0]
        return status
    status = compute(memo, machine.state, operator, left, right, machine.answer)
    if status == DONE:
        machine.answer[1] = machine.answer[0] >= 0
        if machine.answer[0] >= 0:
            machine.env[-plans.steps[step, TARGET] - 1] = np.int32(machine.answer[0])
    return status


@inlined
def emit(rows: Any, plans: Any, machine: Any, plan: Any, width: Any) -> Any:
    """Put the head of a found instance into the buffer."""
    at = machine.state[OUT_COUNT] * width
    relation = plans.plans[plan, HEAD_RELATION]
    pattern = plans.plans[plan, HEAD_PATTERN]
    machine.out[at] = relation
    machine.out[at + 1] = plans.plans[plan, HEAD_SUPPORT]
    for j in range(rows.relations[relation, COLUMNS]):
        wanted = plans.patterns[pattern + j]
        machine.out[at + 2 + j] = wanted if wanted >= 0 else machine.env[-wanted - 1]
    machine.state[OUT_COUNT] += 1
    machine.state[DERIVED] += 1


@inlined
def join(
    rows: Any, plans: Any, memo: Any, machine: Any, pivot: Any, width: Any, budget: Any
) -> Any:
    """Go on with the instances of the present plan and pivot; DONE when all are found."""
    state = machine.state
    plan = state[PLAN]
    count = plans.plans[plan, STEP_COUNT]
    first = plans.plans[plan, FIRST_STEP] - 1
    depth = state[DEPTH]
    work = 0
    while depth > 0:
        if depth > count:
            if state[OUT_COUNT] == OUT_ROWS and not store_out(rows, machine, width):
                state[DEPTH] = depth
                return NEED_ROOM
            emit(rows, plans, machine, plan, width)
            depth -= 1
            continue
        work += 1
        if work > budget:
            state[DEPTH] = depth
            return PAUSED
        step = first + depth
        if plans.steps[step, KIND] == MATCH:
            row = next_match(rows, plans, machine, step, machine.cursor[depth], pivot)
        elif machine.cursor[depth] < 0:
            status = run_check(rows, plans, memo, machine, step)
            if status != DONE:
                state[DEPTH] = depth
                return status
            row = machine.answer[1]
        else:
            row = np.int64(0)
        if row == 0:
            depth -= 1
            continue
        machine.cursor[depth] = row
        depth += 1
        if depth <= count:
            machine.cursor[depth] = -1
    state[DEPTH] = 0
    return DONE


@inlined
def next_plan(plans: Any, state: Any, relation: Any, predicate: Any, obj: Any) -> Any:
    """The next plan that the pivot may fit, or -1.

    Plans wait in buckets: by predicate and object, by predicate, and for any fact.
    """
    while state[BUCKET] < 3:
        if state[BUCKET] == 0:
            first, second = (relation << 32) | (predicate + 1), obj + 1
        elif state[BUCKET] == 1:
            first, second = (relation << 32) | (predicate + 1), np.int64(0)
        else:
            first, second = (relation + 1) << ANY_FACT, np.int64(0)
        at = lookup_entry(plans.buckets, first, second)
        if at >= 0 and state[BUCKET_AT] < plans.buckets[at, 3]:
            plan = plans.listed[plans.buckets[at, 2] + state[BUCKET_AT]]
            state[BUCKET_AT] += 1
            return plan
        state[BUCKET] += 1
        state[BUCKET_AT] = 0
    return np.int64(-1)


@inlined
def take_consequences(
    consequences: Any, machine: Any, width: Any, flags: Any, s: Any, p: Any, o: Any
) -> Any:
    """Emit what follows from one triple under the schema; DONE or a question."""
    state = machine.state
    at = lookup_entry(consequences.keys, np.int64(p) + 1, np.int64(0))
    if at >= 0 and consequences.keys[at, 4] == KEY_BY_OBJECT:
        at = lookup_entry(consequences.keys, np.int64(p) + 1, np.int64(o) + 1)
    if at < 0:
        ask(state, 0, p, o)
        return ASK_KEY
    if consequences.keys[at, 4] == KEY_SCHEMA:
        if flags & KNOWN_SCHEMA:
            return DONE
        ask(state, s, p, o)
        return ASK_SCHEMA
    first = consequences.keys[at, 2]
    count = consequences.keys[at, 3]
    for i in range(first, first + count):
        out = state[OUT_COUNT] * width
        machine.out[out] = 0
        machine.out[out + 1] = EDGE | COUNT_PLAIN
        for j in range(3):
            code = consequences.heads[i, j]
            machine.out[out + 2 + j] = code if code >= 0 else (s if code == -1 else o)
        state[OUT_COUNT] += 1
    state[DERIVED] += count
    return DONE


@inlined
def start_pivot(
    rows: Any, consequences: Any, machine: Any, relation: Any, row: Any, cells: Any, width: Any
) -> Any:
    """Before the plans: consequences of a single triple, and whether it is an upgrade."""
    state = machine.state
    flags = load_int32(cells, FLAGS)
    if consequences.active and relation == 0 and state[ROOTED] == 0:
        wanted = NEW_ROOT if flags & VISIBLE else ROOT
        if flags & wanted:
            s, p = load_int32(cells, COLUMN), load_int32(cells, COLUMN + 1)
            o = load_int32(cells, COLUMN + 2)
            status = take_consequences(consequences, machine, width, flags, s, p, o)
            if status != DONE:
                return status
    state[ROOTED] = 1
    state[UPGRADE] = flags & NEW_EDGE if flags & VISIBLE else 0
    state[BUCKET] = 3
    if not flags & VISIBLE or flags & NEW_EDGE:
        state[BUCKET] = 0 if relation == 0 else 1
    state[BUCKET_AT] = 0
    return DONE


@kernel
def run(rows: Any, plans: Any, consequences: Any, memo: Any, machine: Any, budget: Any) -> Any:
    """Take facts from the queue until it is empty; returns why it stopped."""
    state = machine.state
    width = machine.out.shape[0] // OUT_ROWS
    work = 0
    while True:
        if state[PHASE] == NEXT_PIVOT:
            waiting = state[QUEUE_AT] == state[QUEUE_END]
            if (waiting and state[OUT_COUNT] > 0) or state[OUT_COUNT] > OUT_ROWS // 2:
                if not store_out(rows, machine, width):
                    return NEED_ROOM
                waiting = state[QUEUE_AT] == state[QUEUE_END]
            if waiting:
                return DONE
            work += 1
            if work > budget:
                return PAUSED
        entry = machine.queue[state[QUEUE_AT]]
        relation = entry >> 32
        cells = row_address(rows, relation, entry & LOW)
        if state[PHASE] == NEXT_PIVOT:
            status = start_pivot(rows, consequences, machine, relation, entry & LOW, cells, width)
            if status != DONE:
                return status
            state[PHASE] = NEXT_PLAN
        if state[PHASE] == JOINING:
            status = join(rows, plans, memo, machine, entry, width, budget)
            if status != DONE:
                return status
            state[PHASE] = NEXT_PLAN
        if plans.listed.shape[0] == 0:
            state[BUCKET] = 3
        columns = rows.relations[relation, COLUMNS]
        predicate = np.int64(load_int32(cells, COLUMN + (1 if relation == 0 else 0)))
        obj = np.int64(load_int32(cells, COLUMN + 2)) if relation == 0 else np.int64(-1)
        while True:
            plan = next_plan(plans, state, relation, predicate, obj)
            if plan < 0:
                break
            needs = plans.plans[plan, PIVOT_NEEDS]
            if load_int32(cells, FLAGS) & needs != needs or (state[UPGRADE] and not needs & EDGE):
                continue
            pattern = plans.plans[plan, PIVOT_PATTERN]
            if bind_pivot(plans.patterns, pattern, columns, cells, machine.env):
                state[PLAN] = plan
                state[DEPTH] = 1
                machine.cursor[1] = -1
                work += 1
                state[PHASE] = JOINING
                status = join(rows, plans, memo, machine, entry, width, budget)
                if status != DONE:
                    return status
                state[PHASE] = NEXT_PLAN
        cells = row_address(rows, relation, entry & LOW)
        flags = np.int64(load_int32(cells, FLAGS))
        store_int32(cells, FLAGS, np.int32((flags | VISIBLE) & ~(NEW_EDGE | NEW_ROOT)))
        state[QUEUE_AT] += 1
        state[ROOTED] = 0
        state[PHASE] = NEXT_PIVOT
