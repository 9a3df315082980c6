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

from livefacts.engine.embedded.kernel.join import (
    bind_pivot,
    join,
)
from livefacts.engine.embedded.kernel.registers import (
    ANY_FACT,
    ASK_KEY,
    ASK_SCHEMA,
    ASK_UNSCHEMA,
    BUCKET,
    BUCKET_AT,
    COUNT_SINGLE,
    DEPTH,
    DERIVED,
    DONE,
    EDGES_COUNT,
    EMPTIED,
    EPOCH,
    FOUND,
    GAIN,
    GAINS_AT,
    GAINS_END,
    GIVEN,
    GIVEN_END,
    HEAD_SUPPORT,
    IS_NEGATIVE,
    JOINING,
    KEY_BEFORE,
    KEY_BY_OBJECT,
    KEY_COUNT,
    KEY_EPOCH,
    KEY_FIRST,
    KEY_MODE,
    KEY_REMOVED,
    KEY_SCHEMA,
    KEY_TRIPLES,
    LOOKED,
    LOSE,
    LOSSES_AT,
    LOSSES_END,
    MEAN_TURNS,
    MODE,
    MOST_EDGE_PLANS,
    NEED_ROOM,
    NEGATIVES_AT,
    NEXT_PIVOT,
    NEXT_PLAN,
    OUT_COUNT,
    PAUSED,
    PHASE,
    PIVOT_NEEDS,
    PIVOT_PATTERN,
    PLAN,
    ROOTED,
    RULE,
    SINGLE_RULES,
    TICKS,
    TURNS,
    UPGRADE,
    consequences_on,
    lookup_entry,
    machine_on,
    memo_on,
    plans_in,
    rows_on,
)
from livefacts.engine.embedded.kernel.support_counts import (
    set_standing,
    standing,
    store_out,
)
from livefacts.engine.embedded.kernel.value_kernels import (
    ask,
)
from livefacts.store.compiled import (
    inlined,
    kernel,
    load_int32,
    read_ticks,
    store_int32,
)
from livefacts.store.facts.layout import (
    ADDRESS,
    CLOSED,
    COLUMN,
    COLUMNS,
    EDGE,
    ENDED,
    FLAGS,
    KNOWN_SCHEMA,
    LOST_EDGE,
    LOST_ROOT,
    NEW_EDGE,
    NEW_ROOT,
    OUT_ROWS,
    ROOT,
    STRIDE,
    SUSPECT,
    UNSEEN,
    VISIBLE,
)
from livefacts.store.facts.row_kernels import (
    BLOCK,
    LOW,
    row_address,
)


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
def count_triple(keys: Any, at: Any, state: Any, by: Any) -> Any:
    """One triple more or less of a kind; how many there were is kept for an undo."""
    if keys[at, KEY_EPOCH] != state[EPOCH]:
        keys[at, KEY_EPOCH] = state[EPOCH]
        keys[at, KEY_BEFORE] = keys[at, KEY_TRIPLES]
    keys[at, KEY_TRIPLES] += by
    if keys[at, KEY_TRIPLES] == 0:
        state[EMPTIED] += 1


@inlined
def take_consequences(
    consequences: Any, machine: Any, width: Any, mode: Any, flags: Any, s: Any, p: Any, o: Any
) -> Any:
    """Emit what follows from one triple under the schema; DONE or a question."""
    state = machine.state
    at = lookup_entry(consequences.keys, np.int64(p) + 1, np.int64(0))
    if at >= 0 and consequences.keys[at, KEY_MODE] == KEY_BY_OBJECT:
        at = lookup_entry(consequences.keys, np.int64(p) + 1, np.int64(o) + 1)
    if at < 0 or consequences.keys[at, KEY_MODE] == KEY_REMOVED:
        ask(state, 0, p, o)
        return ASK_KEY
    if consequences.keys[at, KEY_MODE] == KEY_SCHEMA:
        if (flags & KNOWN_SCHEMA != 0) == (mode == GAIN):
            return DONE
        ask(state, s, p, o)
        return ASK_SCHEMA if mode == GAIN else ASK_UNSCHEMA
    count_triple(consequences.keys, at, state, 1 if mode == GAIN else -1)
    first = consequences.keys[at, KEY_FIRST]
    count = consequences.keys[at, KEY_COUNT]
    machine.tally[SINGLE_RULES, LOOKED] += 1
    machine.tally[SINGLE_RULES, FOUND] += count
    for i in range(first, first + count):
        out = state[OUT_COUNT] * width
        machine.rule_of[state[OUT_COUNT]] = SINGLE_RULES
        machine.out[out] = 0
        machine.out[out + 1] = EDGE | COUNT_SINGLE if mode == GAIN else COUNT_SINGLE
        for j in range(3):
            code = consequences.heads[i, j]
            machine.out[out + 2 + j] = code if code >= 0 else (s if code == -1 else o)
        state[OUT_COUNT] += 1
    state[DERIVED] += count
    return DONE


@inlined
def start_plans(state: Any, relation: Any) -> Any:
    """From the first plan that a fact of this relation may fit."""
    state[UPGRADE] = 0
    state[BUCKET] = 0 if relation == 0 else 1
    state[BUCKET_AT] = 0


@inlined
def start_pivot(
    consequences: Any, machine: Any, mode: Any, relation: Any, cells: Any, width: Any
) -> Any:
    """Before the plans: which part of the pivot has changed, and what follows from it alone.

    A gained fact that is visible has only risen to an edge or a root; a lost one that is
    neither doomed nor gone has only ceased to be one.
    """
    state = machine.state
    flags = load_int32(cells, FLAGS)
    is_ended = flags & ENDED != 0
    is_visible = flags & VISIBLE != 0
    is_whole = is_visible == (mode == LOSE) and is_ended == (mode == LOSE)
    is_part = is_visible and not is_ended
    risen = flags & (NEW_EDGE | NEW_ROOT)
    if mode == LOSE:
        is_now = standing(cells, flags)
        risen = NEW_EDGE if flags & LOST_EDGE and not is_now & EDGE else 0
        risen |= NEW_ROOT if flags & LOST_ROOT and not is_now & ROOT else 0
    is_root = (is_whole and flags & (ROOT | LOST_ROOT)) or (is_part and risen & NEW_ROOT)
    if is_root and consequences.keys.shape[0] and relation == 0 and state[ROOTED] == 0:
        s, p = load_int32(cells, COLUMN), load_int32(cells, COLUMN + 1)
        o = load_int32(cells, COLUMN + 2)
        status = take_consequences(consequences, machine, width, mode, flags, s, p, o)
        if status != DONE:
            return status
    start_plans(state, relation)
    state[ROOTED] = 1
    state[UPGRADE] = 1 if is_part else 0
    if not is_whole and not (is_part and risen & NEW_EDGE):
        state[BUCKET] = 3
    return DONE


@inlined
def start_negative(state: Any, relation: Any, cells: Any, source: Any) -> Any:
    """Before the plans of a negated atom: whether this fact has come or gone."""
    flags = load_int32(cells, FLAGS)
    is_ended = flags & ENDED != 0
    start_plans(state, relation)
    if not flags & UNSEEN or is_ended != (source == LOSE) or flags & SUSPECT:
        state[BUCKET] = 3


@inlined
def finish_pivot(rows: Any, relation: Any, row: Any, mode: Any, is_negative: Any) -> Any:
    """After the plans: from now on the fact counts as what it has become."""
    cells = row_address(rows, relation, row)
    flags = np.int64(load_int32(cells, FLAGS))
    if is_negative:
        if (flags & ENDED != 0) == (mode == GAIN):
            store_int32(cells, FLAGS, np.int32(flags & ~UNSEEN))
        return
    if mode == GAIN:
        flags &= ~(NEW_EDGE | NEW_ROOT)
        if not flags & ENDED:
            flags |= VISIBLE
        store_int32(cells, FLAGS, np.int32(flags))
        return
    flags &= ~(LOST_EDGE | LOST_ROOT)
    if flags & ENDED:
        store_int32(cells, FLAGS, np.int32(flags & ~VISIBLE))
        return
    store_int32(cells, FLAGS, np.int32(flags))
    set_standing(rows, relation, row)


@inlined
def is_for_pivot(plans: Any, machine: Any, plan: Any, flags: Any, entry: Any, mode: Any) -> Any:
    """Whether a plan is to be run for the pivot; lost edges are put aside instead."""
    needs = plans.plans[plan, PIVOT_NEEDS]
    if machine.state[UPGRADE] and not needs & EDGE:
        return False
    if flags & needs != needs and not flags & LOST_EDGE:
        return False
    if mode == GAIN or not plans.plans[plan, HEAD_SUPPORT] & CLOSED:
        return True
    if needs & EDGE:
        at = machine.state[EDGES_COUNT]
        machine.edges[at, 0] = entry
        machine.edges[at, 1] = plan
        machine.state[EDGES_COUNT] = at + 1
    return False


@inlined
def start_join(plans: Any, machine: Any, plan: Any) -> Any:
    machine.tally[plans.plans[plan, RULE], LOOKED] += 1
    machine.state[PLAN] = plan
    machine.state[DEPTH] = 1
    machine.cursor[1] = -1
    machine.state[PHASE] = JOINING


@inlined
def timed_join(
    rows: Any,
    plans: Any,
    memo: Any,
    machine: Any,
    entry: Any,
    width: Any,
    mode: Any,
    budget: Any,
) -> Any:
    """Go on with the instances of a plan; one plan in some dozens is timed."""
    state = machine.state
    state[TURNS] -= 1
    is_timed = state[TURNS] < 0
    begun = read_ticks() if is_timed else 0
    status = join(rows, plans, memo, machine, entry, width, mode, budget)
    if is_timed:
        line = plans.plans[state[PLAN], RULE]
        machine.tally[line, TICKS] += (read_ticks() - begun) * MEAN_TURNS
        state[TURNS] = MEAN_TURNS // 2 + begun % MEAN_TURNS
    return status


@kernel
def run(desk: Any, plan_vector: Any, mode: Any, source: Any, given: Any, budget: Any) -> Any:
    """Take facts from a queue until it is empty; returns why it stopped.

    Gains are taken from the gains and losses from the losses.  The other way round, the
    facts are pivots of negated atoms: what has come takes instances away, what has gone
    gives them.  Facts that are given have not changed: every instance of rules whose first
    atoms they fit is given or taken.
    """
    rows, consequences, memo = rows_on(desk), consequences_on(desk), memo_on(desk)
    machine, plans = machine_on(desk), plans_in(plan_vector)
    state = machine.state
    width = machine.out.shape[0] // OUT_ROWS
    is_given = source == GIVEN
    is_negative = not is_given and mode != source
    state[IS_NEGATIVE] = is_negative
    state[MODE] = mode
    at_field, end_field, queue = GAINS_AT, GAINS_END, machine.gains
    if is_given:
        at_field, end_field, queue = NEGATIVES_AT, GIVEN_END, given
    elif source == LOSE:
        at_field, end_field, queue = LOSSES_AT, LOSSES_END, machine.losses
    if is_negative:
        at_field = NEGATIVES_AT
    work = 0
    while True:
        if state[PHASE] == NEXT_PIVOT:
            is_empty = state[at_field] == state[end_field]
            if (is_empty and state[OUT_COUNT] > 0) or state[OUT_COUNT] > OUT_ROWS // 2:
                if not store_out(rows, machine, width, mode):
                    return NEED_ROOM
                is_empty = state[at_field] == state[end_field]
            if is_empty:
                return DONE
            if state[EDGES_COUNT] + MOST_EDGE_PLANS > machine.edges.shape[0]:
                return NEED_ROOM
        work += 1
        if work > budget:
            return PAUSED
        entry = queue[state[at_field]]
        relation = entry >> 32
        cells = row_address(rows, relation, entry & LOW)
        if state[PHASE] == NEXT_PIVOT:
            if is_given:
                start_plans(state, relation)
            elif is_negative:
                start_negative(state, relation, cells, source)
            else:
                status = start_pivot(consequences, machine, mode, relation, cells, width)
                if status != DONE:
                    return status
            if plans.listed.shape[0] == 0:
                state[BUCKET] = 3
            state[PHASE] = NEXT_PLAN
        if state[PHASE] == NEXT_PLAN:
            predicate = np.int64(load_int32(cells, COLUMN + (1 if relation == 0 else 0)))
            obj = np.int64(load_int32(cells, COLUMN + 2)) if relation == 0 else np.int64(-1)
            plan = next_plan(plans, state, relation, predicate, obj)
            if plan < 0:
                if not is_given:
                    finish_pivot(rows, relation, entry & LOW, mode, is_negative)
                state[at_field] += 1
                state[ROOTED] = 0
                state[PHASE] = NEXT_PIVOT
                continue
            flags = load_int32(cells, FLAGS)
            columns = rows.relations[relation, COLUMNS]
            pattern = plans.plans[plan, PIVOT_PATTERN]
            if not bind_pivot(plans.patterns, pattern, columns, cells, machine.env):
                continue
            if not is_given and not is_for_pivot(plans, machine, plan, flags, entry, mode):
                continue
            start_join(plans, machine, plan)
        status = timed_join(rows, plans, memo, machine, entry, width, mode, budget)
        if status != DONE:
            return status
        state[PHASE] = NEXT_PLAN


@inlined
def run_roots(desk: Any, machine: Any, budget: Any) -> Any:
    """Take gains to their end in a level where only single triples are followed."""
    begun = read_ticks()
    machine.state[MODE] = GAIN
    status = follow_roots(rows_on(desk), consequences_on(desk), machine, budget)
    machine.tally[SINGLE_RULES, TICKS] += read_ticks() - begun
    return status


@inlined
def follow_roots(rows: Any, consequences: Any, machine: Any, budget: Any) -> Any:
    """The same as `run` without plans, in a tight loop."""
    state = machine.state
    width = machine.out.shape[0] // OUT_ROWS
    data = rows.relations[0, ADDRESS]
    row_bytes = 4 * rows.relations[0, STRIDE]
    work = 0
    while True:
        is_empty = state[GAINS_AT] == state[GAINS_END]
        if state[OUT_COUNT] > OUT_ROWS // 2 or (is_empty and state[OUT_COUNT] > 0):
            if not store_out(rows, machine, width, GAIN):
                return NEED_ROOM
            is_empty = state[GAINS_AT] == state[GAINS_END]
        if is_empty:
            return DONE
        end = min(state[GAINS_END], state[GAINS_AT] + BLOCK)
        for at in range(state[GAINS_AT], end):
            entry = machine.gains[at]
            if entry >> 32:
                finish_pivot(rows, entry >> 32, entry & LOW, GAIN, False)
                continue
            cells = data + row_bytes * entry
            flags = np.int64(load_int32(cells, FLAGS))
            if flags & ENDED:
                continue
            if flags & (NEW_ROOT if flags & VISIBLE else ROOT):
                s, p = load_int32(cells, COLUMN), load_int32(cells, COLUMN + 1)
                o = load_int32(cells, COLUMN + 2)
                status = take_consequences(consequences, machine, width, GAIN, flags, s, p, o)
                if status != DONE:
                    state[GAINS_AT] = at
                    return status
            store_int32(cells, FLAGS, np.int32((flags | VISIBLE) & ~(NEW_EDGE | NEW_ROOT)))
            if state[OUT_COUNT] > OUT_ROWS // 2:
                end = at + 1
                break
        work += end - state[GAINS_AT]
        state[GAINS_AT] = end
        if work > budget:
            return PAUSED


@kernel
def ticks() -> Any:
    """The processor's clock, for who wants to know how long a tick is."""
    return read_ticks()
