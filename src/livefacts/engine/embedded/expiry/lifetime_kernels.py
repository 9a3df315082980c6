"""The lifetime kernels: expiration times are raised along rules until nothing lasts longer.

A conclusion lasts as long as its premise that expires first, and of several derivations the
longest counts.  Rows whose time was raised are followed in the order of how long they
last, so each is followed once: an instance of a rule is found at the last of its premises,
the one that decides.

When a time is lowered, what is overdeleted with it is found along instances that are *tight*:
those whose conclusion lasts exactly as long as they say.  What was overdeleted keeps the time
it was asserted with, is rederived backward from what still stands, and is raised as anything
else.

Paper: Barbieri et al., section 3; lowering is not in the paper.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from livefacts.engine.embedded.expiry import timed_layout as timed
from livefacts.engine.embedded.expiry.timed_layout import memo_on, rows_on, times_on
from livefacts.engine.embedded.expiry.timed_rows import (
    asserted_cell,
    listed_cell,
    load_time,
    pop,
    push,
    store_time,
)
from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.fixpoint import next_plan, start_plans
from livefacts.engine.embedded.kernel.join import (
    bind_pivot,
    first_row,
    fits,
    put_head,
    row_behind,
    run_check,
)
from livefacts.engine.embedded.kernel.registers import plans_in
from livefacts.engine.embedded.kernel.support_counts import link_new, prefetch_out, rows_have_room
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_kernels import (
    BLOCK,
    LOW,
    find,
    find_tagged,
    link_gained,
    make_row,
    row_address,
    tag_of_key,
)
from livefacts.store.machine_code import inlined, kernel, load_int32, store_int32

MOST_OUT = 1024
"""How many derived rows wait, at most, before they are stored."""

# what a run does
RAISE = 0
"""Follow the rows that wait, and raise what they derive."""
RAISE_GIVEN = 1
"""Raise what given rows derive."""
FELL = 2
"""Follow the rows that have fallen, to what may fall with them."""
FELL_GIVEN = 3
"""Let fall what given rows derive by rules that are gone."""
REDERIVE = 4
"""Raise the rows that have fallen to what they are derived for, backward."""


@inlined
def touch(times: Any, entry: Any, cells: Any, until: Any, asserted: Any) -> Any:
    """Keep the times of a row from before the change, once."""
    flags = load_int32(cells, layout.FLAGS)
    if flags & timed.LOGGED == 0:
        at = times.state[code.LOG_COUNT]
        times.log[at, timed.LOG_ENTRY] = entry
        times.log[at, timed.LOG_UNTIL] = until
        times.log[at, timed.LOG_ASSERTED] = asserted
        times.state[code.LOG_COUNT] = at + 1
        store_int32(cells, layout.FLAGS, np.int32(flags | timed.LOGGED))


@inlined
def raise_row(rows: Any, times: Any, relation: Any, row: Any, until: Any) -> Any:
    """Let a row last until this time, if it did not last that long."""
    cells = row_address(rows, relation, row)
    before = load_time(cells, timed.UNTIL)
    if before >= until:
        return
    entry = (relation << 32) | row
    touch(times, entry, cells, before, load_time(cells, asserted_cell(rows, relation)))
    store_time(cells, timed.UNTIL, until)
    store_int32(cells, layout.FLAGS, np.int32(load_int32(cells, layout.FLAGS) | timed.PENDING))
    push(times.waiting, times.state, timed.HEAPED, -until, entry)


@inlined
def make_lasting(rows: Any, times: Any, relation: Any, values: Any, at: Any, tag: Any) -> Any:
    """A new row, which does not hold yet."""
    row = make_row(rows, relation, values, at, tag)
    cells = row_address(rows, relation, row)
    store_time(cells, timed.UNTIL, timed.NEVER)
    store_time(cells, asserted_cell(rows, relation), timed.NEVER)
    store_time(cells, listed_cell(rows, relation), timed.NEVER)
    touch(times, (relation << 32) | row, cells, timed.NEVER, timed.NEVER)
    times.state[code.MADE] += 1
    return row


@inlined
def let_fall(rows: Any, times: Any, relation: Any, row: Any, until: Any) -> Any:
    """Overdelete a row if it lasts exactly this long, and was not asserted to."""
    cells = row_address(rows, relation, row)
    asserted = load_time(cells, asserted_cell(rows, relation))
    flags = load_int32(cells, layout.FLAGS)
    if load_time(cells, timed.UNTIL) != until or asserted >= until or flags & timed.FALLEN:
        return
    entry = (relation << 32) | row
    touch(times, entry, cells, until, asserted)
    store_int32(cells, layout.FLAGS, np.int32(load_int32(cells, layout.FLAGS) | timed.FALLEN))
    times.fallen[times.state[timed.FALLEN_END]] = entry
    times.state[timed.FALLEN_END] += 1


@inlined
def has_room(rows: Any, times: Any) -> Any:
    """Whether a full buffer can be stored without asking for memory."""
    state = times.state
    if state[code.LOG_COUNT] + MOST_OUT > times.log.shape[0]:
        return False
    if state[timed.HEAPED] + MOST_OUT > times.waiting.shape[0]:
        return False
    if state[timed.FALLEN_END] + MOST_OUT > times.fallen.shape[0]:
        return False
    return rows_have_room(rows, MOST_OUT)


@kernel
def store_out(rows: Any, times: Any, width: Any, is_raising: Any) -> Any:
    """Raise, or let fall, the rows in the buffer; False if there is no room."""
    if not has_room(rows, times):
        return False
    new = 0
    for first in range(0, times.state[code.OUT_COUNT], BLOCK):
        end = min(first + BLOCK, times.state[code.OUT_COUNT])
        prefetch_out(rows, times, width, 1, first, end)
        for i in range(first, end):
            relation = np.int64(times.out[i * width])
            index = rows.relations[relation, layout.INDEX]
            tag = times.tags[i - first]
            row = find_tagged(rows, relation, index, tag, times.out, i * width + 1)
            if not is_raising:
                if row:
                    let_fall(rows, times, relation, row, times.out_until[i])
                continue
            if row == 0:
                row = make_lasting(rows, times, relation, times.out, i * width + 1, tag)
                times.made[new] = row
                times.made_relation[new] = relation
                new += 1
            raise_row(rows, times, relation, row, times.out_until[i])
    if new:
        link_new(rows, times, new)
    times.state[code.OUT_COUNT] = 0
    return True


@inlined
def next_match(
    rows: Any, plans: Any, times: Any, step: Any, row: Any, depth: Any, may_be: Any
) -> Any:
    """The first row from `row` on (-1: from the start) that matches an atom, or 0.

    A row that waits to be followed is left out, unless it `may_be` matched: it finds the
    instance itself when its turn comes.  Where only asserted rows match, the
    time of their assertion counts.  Negative: the row to go on behind, after many.
    """
    relation = plans.steps[step, code.RELATION]
    index = plans.steps[step, code.LOOKUP]
    needs = plans.steps[step, code.NEEDS]
    columns = rows.relations[relation, layout.COLUMNS]
    data = rows.relations[relation, layout.ADDRESS]
    width = 4 * rows.relations[relation, layout.STRIDE]
    if row < 0:
        row = first_row(rows, plans, step, times.env, times.key)
    else:
        row = row_behind(rows, index, data + width * row, row)
    high = rows.relations[relation, layout.HIGH]
    looked = 0
    while row and row < high:
        cells = data + width * row
        flags = load_int32(cells, layout.FLAGS)
        is_met = flags & timed.PENDING == 0 or (relation << 32) | row == may_be
        is_met = is_met and flags & bits.LIVE != 0 and flags & needs == needs
        if is_met and fits(plans, step, columns, cells, times.env):
            until = load_time(cells, asserted_cell(rows, relation) if needs else timed.UNTIL)
            if until != timed.NEVER:
                times.least[depth + 1] = min(times.least[depth], until)
                break
        looked += 1
        if looked == code.MOST_LOOKED:
            row = -row
            break
        row = row_behind(rows, index, cells, row)
    times.state[code.WORK] += looked
    return row if row < high else np.int64(0)


@inlined
def emit(rows: Any, plans: Any, times: Any, plan: Any, width: Any, until: Any) -> Any:
    """Put the head of a found instance into the buffer."""
    count = times.state[code.OUT_COUNT]
    at = count * width
    relation = plans.plans[plan, code.HEAD_RELATION]
    times.out[at] = relation
    put_head(rows, plans, plan, times.out, at + 1, times.env)
    times.out_until[count] = until
    times.state[code.OUT_COUNT] = count + 1
    times.state[code.DERIVED] += 1


@inlined
def join(
    rows: Any,
    plans: Any,
    memo: Any,
    times: Any,
    mode: Any,
    beyond: Any,
    width: Any,
    budget: Any,
) -> Any:
    """Go on with the instances of the present plan and pivot; DONE when all are found.

    Only instances that last longer than `beyond` count.
    """
    state = times.state
    plan, depth = state[code.PLAN], state[code.DEPTH]
    count = plans.plans[plan, code.STEP_COUNT]
    first = plans.plans[plan, code.FIRST_STEP] - 1
    is_raising = mode != FELL and mode != FELL_GIVEN
    may_be = np.int64(-1) if mode == REDERIVE else state[timed.PIVOT]
    while depth > 0:
        if depth > count:
            if times.least[depth] > beyond:
                if state[code.OUT_COUNT] == MOST_OUT and not store_out(
                    rows, times, width, is_raising
                ):
                    state[code.DEPTH] = depth
                    return code.NEED_ROOM
                emit(rows, plans, times, plan, width, times.least[depth])
            depth -= 1
            continue
        if state[code.WORK] >= budget:
            state[code.DEPTH] = depth
            return code.PAUSED
        state[code.WORK] += 1
        step = first + depth
        if plans.steps[step, code.KIND] == code.MATCH:
            row = next_match(rows, plans, times, step, times.cursor[depth], depth, may_be)
        elif times.cursor[depth] < 0:
            status = run_check(rows, plans, memo, times, step, np.int64(-1))
            if status != code.DONE:
                state[code.DEPTH] = depth
                return status
            row = times.answer[1]
            times.least[depth + 1] = times.least[depth]
        else:
            row = np.int64(0)
        if row == 0:
            depth -= 1
            continue
        if row < 0:
            times.cursor[depth] = -row
            continue
        times.cursor[depth] = row
        depth += 1
        if depth <= count:
            times.cursor[depth] = -1
    state[code.DEPTH] = 0
    return code.DONE


@inlined
def is_at_end(times: Any, mode: Any, given: Any) -> Any:
    """Whether no row is left to be taken."""
    state = times.state
    if mode == RAISE:
        return state[timed.HEAPED] == 0
    if mode in (FELL, REDERIVE):
        return state[timed.FALLEN_AT] == state[timed.FALLEN_END]
    return state[timed.GIVEN_AT] == given.shape[0]


@inlined
def next_pivot(rows: Any, times: Any, mode: Any, given: Any) -> Any:
    """Take the next row; -1 if it was followed already."""
    state = times.state
    if mode == RAISE:
        entry = pop(times.waiting, state, timed.HEAPED)
        cells = row_address(rows, entry >> 32, entry & LOW)
        flags = load_int32(cells, layout.FLAGS)
        store_int32(cells, layout.FLAGS, np.int32(flags & ~timed.PENDING))
        return entry if flags & timed.PENDING else np.int64(-1)
    if mode in (FELL, REDERIVE):
        state[timed.FALLEN_AT] += 1
        return times.fallen[state[timed.FALLEN_AT] - 1]
    state[timed.GIVEN_AT] += 1
    return given[state[timed.GIVEN_AT] - 1]


@kernel
def run(desk: Any, plan_vector: Any, mode: Any, given: Any, budget: Any) -> Any:
    """Take rows until none is left; returns why it stopped."""
    rows, memo, times = rows_on(desk), memo_on(desk), times_on(desk)
    plans = plans_in(plan_vector)
    state = times.state
    width = times.out.shape[0] // MOST_OUT
    is_raising = mode != FELL and mode != FELL_GIVEN
    while True:
        if state[code.PHASE] == code.NEXT_PIVOT:
            at_end = is_at_end(times, mode, given)
            if state[code.OUT_COUNT] >= BLOCK or (at_end and state[code.OUT_COUNT]):
                if not store_out(rows, times, width, is_raising):
                    return code.NEED_ROOM
                at_end = is_at_end(times, mode, given)
            if at_end:
                return code.DONE
            if state[code.WORK] >= budget:
                return code.PAUSED
            state[code.WORK] += 1
            entry = next_pivot(rows, times, mode, given)
            if entry < 0:
                continue
            state[timed.PIVOT] = entry
            start_plans(state, entry >> 32)
            state[code.PHASE] = code.NEXT_PLAN
        entry = state[timed.PIVOT]
        relation = entry >> 32
        cells = row_address(rows, relation, entry & LOW)
        beyond = state[timed.NOW]
        if mode == FELL:
            beyond = load_time(cells, asserted_cell(rows, relation))
        if state[code.PHASE] == code.NEXT_PLAN:
            predicate = np.int64(load_int32(cells, layout.COLUMN + (1 if relation == 0 else 0)))
            obj = np.int64(load_int32(cells, layout.COLUMN + 2)) if relation == 0 else np.int64(-1)
            plan = next_plan(plans, state, relation, predicate, obj)
            if plan < 0:
                state[code.PHASE] = code.NEXT_PIVOT
                continue
            columns = rows.relations[relation, layout.COLUMNS]
            pattern = plans.plans[plan, code.PIVOT_PATTERN]
            if not bind_pivot(plans.patterns, pattern, columns, cells, times.env):
                continue
            if plans.plans[plan, code.PIVOT_NEEDS]:
                times.least[1] = load_time(cells, asserted_cell(rows, relation))
            else:
                times.least[1] = (
                    timed.FOREVER if mode == REDERIVE else load_time(cells, timed.UNTIL)
                )
            if times.least[1] <= beyond:
                continue
            state[code.PLAN] = plan
            state[code.DEPTH] = 1
            times.cursor[1] = -1
            state[code.PHASE] = code.JOINING
        status = join(rows, plans, memo, times, mode, beyond, width, budget)
        if status != code.DONE:
            return status
        state[code.PHASE] = code.NEXT_PLAN


@kernel
def tell(desk: Any, relation: Any, values: Any, until: Any, first: Any) -> Any:
    """Assert facts, from number `first` on, until a time; returns how far there was room."""
    rows, times = rows_on(desk), times_on(desk)
    index = rows.relations[relation, layout.INDEX]
    columns = rows.relations[relation, layout.COLUMNS]
    asserted_at = asserted_cell(rows, relation)
    while first < until.shape[0]:
        if not has_room(rows, times):
            return first
        end = min(first + MOST_OUT, until.shape[0])
        new = 0
        for i in range(first, end):
            tag = tag_of_key(values, i * columns, columns)
            row = find_tagged(rows, relation, index, tag, values, i * columns)
            if row == 0:
                row = make_lasting(rows, times, relation, values, i * columns, tag)
                times.made[new] = row
                times.made_relation[new] = relation
                new += 1
                cells = row_address(rows, relation, row)
                store_int32(
                    cells,
                    layout.FLAGS,
                    np.int32(load_int32(cells, layout.FLAGS) | timed.WAS_ASSERTED),
                )
            cells = row_address(rows, relation, row)
            flags = load_int32(cells, layout.FLAGS)
            if not flags & timed.WAS_ASSERTED:
                store_int32(cells, layout.FLAGS, np.int32(flags | timed.WAS_ASSERTED))
                link_gained(rows, relation, row, timed.WAS_ASSERTED)
            asserted = load_time(cells, asserted_at)
            if asserted < until[i]:
                touch(times, (relation << 32) | row, cells, load_time(cells, timed.UNTIL), asserted)
                store_time(cells, asserted_at, until[i])
            raise_row(rows, times, relation, row, until[i])
        if new:
            link_new(rows, times, new)
        first = end
    return first


@kernel
def retract(desk: Any, relation: Any, values: Any, until: Any, first: Any) -> Any:
    """Lower the time until which facts are asserted; what lasted longer by it is overdeleted."""
    rows, times = rows_on(desk), times_on(desk)
    index = rows.relations[relation, layout.INDEX]
    columns = rows.relations[relation, layout.COLUMNS]
    asserted_at = asserted_cell(rows, relation)
    for i in range(first, until.shape[0]):
        if (i - first) % MOST_OUT == 0 and not has_room(rows, times):
            return i
        row = find(rows, relation, index, values, i * columns)
        if row == 0:
            continue
        cells = row_address(rows, relation, row)
        asserted = load_time(cells, asserted_at)
        if asserted > until[i]:
            lasts = load_time(cells, timed.UNTIL)
            touch(times, (relation << 32) | row, cells, lasts, asserted)
            store_time(cells, asserted_at, until[i])
            if lasts == asserted:
                let_fall(rows, times, relation, row, asserted)
    return until.shape[0]


@kernel
def fall(desk: Any) -> Any:
    """What was overdeleted lasts as long as it was asserted to, if that is after now.

    False if there is no room.  A fact that outlives its assertion still has that time.
    """
    rows, times = rows_on(desk), times_on(desk)
    state = times.state
    if state[timed.HEAPED] + state[timed.FALLEN_END] > times.waiting.shape[0]:
        return False
    for i in range(state[timed.FALLEN_END]):
        entry = times.fallen[i]
        cells = row_address(rows, entry >> 32, entry & LOW)
        asserted = load_time(cells, asserted_cell(rows, entry >> 32))
        if asserted <= state[timed.NOW]:
            asserted = timed.NEVER
        store_time(cells, timed.UNTIL, asserted)
        flags = load_int32(cells, layout.FLAGS) & ~timed.FALLEN
        if asserted != timed.NEVER:
            flags |= timed.PENDING
            push(times.waiting, state, timed.HEAPED, -asserted, entry)
        store_int32(cells, layout.FLAGS, np.int32(flags))
    state[timed.FALLEN_AT] = 0
    return True
