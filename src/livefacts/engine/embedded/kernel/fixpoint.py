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

from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.id_arithmetic import ask
from livefacts.engine.embedded.kernel.join import bind_pivot, join
from livefacts.engine.embedded.kernel.registers import (
    consequences_on,
    lookup_entry,
    machine_on,
    memo_on,
    plans_in,
    rows_on,
)
from livefacts.engine.embedded.kernel.support_counts import set_standing, standing, store_out
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_kernels import BLOCK, LOW, row_address
from livefacts.store.machine_code import inlined, kernel, load_int32, read_ticks, store_int32


@inlined
def next_plan(plans: Any, state: Any, relation: Any, predicate: Any, obj: Any) -> Any:
    """The next plan that the pivot may fit, or -1.

    Plans wait in buckets: by predicate and object, by predicate, and for any fact.
    """
    while state[code.BUCKET] < 3:
        if state[code.BUCKET] == 0:
            first, second = (relation << 32) | (predicate + 1), obj + 1
        elif state[code.BUCKET] == 1:
            first, second = (relation << 32) | (predicate + 1), np.int64(0)
        else:
            first, second = (relation + 1) << code.ANY_FACT, np.int64(0)
        at = lookup_entry(plans.buckets, first, second)
        if at >= 0 and state[code.BUCKET_AT] < plans.buckets[at, 3]:
            plan = plans.listed[plans.buckets[at, 2] + state[code.BUCKET_AT]]
            state[code.BUCKET_AT] += 1
            return plan
        state[code.BUCKET] += 1
        state[code.BUCKET_AT] = 0
    return np.int64(-1)


@inlined
def count_triple(keys: Any, at: Any, state: Any, by: Any) -> Any:
    """One triple more or less of a kind; how many there were is kept for an undo."""
    if keys[at, code.KEY_EPOCH] != state[code.EPOCH]:
        keys[at, code.KEY_EPOCH] = state[code.EPOCH]
        keys[at, code.KEY_BEFORE] = keys[at, code.KEY_TRIPLES]
    keys[at, code.KEY_TRIPLES] += by
    if keys[at, code.KEY_TRIPLES] == 0:
        state[code.EMPTIED] += 1


@inlined
def take_consequences(
    consequences: Any, machine: Any, width: Any, mode: Any, flags: Any, s: Any, p: Any, o: Any
) -> Any:
    """Emit what follows from one triple under the schema; DONE or a question."""
    state = machine.state
    at = lookup_entry(consequences.keys, np.int64(p) + 1, np.int64(0))
    if at >= 0 and consequences.keys[at, code.KEY_MODE] == code.KEY_BY_OBJECT:
        at = lookup_entry(consequences.keys, np.int64(p) + 1, np.int64(o) + 1)
    if at < 0 or consequences.keys[at, code.KEY_MODE] == code.KEY_REMOVED:
        ask(state, 0, p, o)
        return code.ASK_KEY
    if consequences.keys[at, code.KEY_MODE] == code.KEY_SCHEMA:
        if (flags & bits.KNOWN_SCHEMA != 0) == (mode == code.GAIN):
            return code.DONE
        ask(state, s, p, o)
        return code.ASK_SCHEMA if mode == code.GAIN else code.ASK_UNSCHEMA
    count_triple(consequences.keys, at, state, 1 if mode == code.GAIN else -1)
    first = consequences.keys[at, code.KEY_FIRST]
    count = consequences.keys[at, code.KEY_COUNT]
    machine.tally[code.SINGLE_RULES, code.LOOKED] += 1
    machine.tally[code.SINGLE_RULES, code.FOUND] += count
    for i in range(first, first + count):
        out = state[code.OUT_COUNT] * width
        machine.rule_of[state[code.OUT_COUNT]] = code.SINGLE_RULES
        machine.out[out] = 0
        machine.out[out + 1] = (
            bits.EDGE | code.COUNT_SINGLE if mode == code.GAIN else code.COUNT_SINGLE
        )
        for j in range(3):
            slot = consequences.heads[i, j]
            machine.out[out + 2 + j] = slot if slot >= 0 else (s if slot == code.SUBJECT else o)
        state[code.OUT_COUNT] += 1
    state[code.DERIVED] += count
    return code.DONE


@inlined
def start_plans(state: Any, relation: Any) -> Any:
    """From the first plan that a fact of this relation may fit."""
    state[code.UPGRADE] = 0
    state[code.BUCKET] = 0 if relation == 0 else 1
    state[code.BUCKET_AT] = 0


@inlined
def start_pivot(
    consequences: Any, machine: Any, mode: Any, relation: Any, cells: Any, width: Any
) -> Any:
    """Before the plans: which part of the pivot has changed, and what follows from it alone.

    A gained fact that is visible has only risen to an edge or a root; a lost one that is
    neither doomed nor gone has only ceased to be one.
    """
    state = machine.state
    flags = np.int64(load_int32(cells, layout.FLAGS))
    is_ended = flags & bits.ENDED != 0
    is_visible = flags & bits.VISIBLE != 0
    is_whole = is_visible == (mode == code.LOSE) and is_ended == (mode == code.LOSE)
    is_part = is_visible and not is_ended
    risen: Any = flags & (bits.NEW_EDGE | bits.NEW_ROOT)
    if mode == code.LOSE:
        is_now = standing(cells, flags)
        risen = bits.NEW_EDGE if flags & bits.LOST_EDGE and not is_now & bits.EDGE else 0
        risen |= bits.NEW_ROOT if flags & bits.LOST_ROOT and not is_now & bits.ROOT else 0
    is_root = (is_whole and flags & (bits.ROOT | bits.LOST_ROOT)) or (
        is_part and risen & bits.NEW_ROOT
    )
    if is_root and consequences.keys.shape[0] and relation == 0 and state[code.ROOTED] == 0:
        s, p = load_int32(cells, layout.COLUMN), load_int32(cells, layout.COLUMN + 1)
        o = load_int32(cells, layout.COLUMN + 2)
        status = take_consequences(consequences, machine, width, mode, flags, s, p, o)
        if status != code.DONE:
            return status
    start_plans(state, relation)
    state[code.ROOTED] = 1
    state[code.UPGRADE] = 1 if is_part else 0
    if not is_whole and not (is_part and risen & bits.NEW_EDGE):
        state[code.BUCKET] = 3
    return code.DONE


@inlined
def start_negative(state: Any, relation: Any, cells: Any, source: Any) -> Any:
    """Before the plans of a negated atom: whether this fact has come or gone."""
    flags = load_int32(cells, layout.FLAGS)
    is_ended = flags & bits.ENDED != 0
    start_plans(state, relation)
    if not flags & bits.UNSEEN or is_ended != (source == code.LOSE) or flags & bits.SUSPECT:
        state[code.BUCKET] = 3


@inlined
def finish_pivot(rows: Any, relation: Any, row: Any, mode: Any, is_negative: Any) -> Any:
    """After the plans: from now on the fact counts as what it has become."""
    cells = row_address(rows, relation, row)
    flags = np.int64(load_int32(cells, layout.FLAGS))
    if is_negative:
        if (flags & bits.ENDED != 0) == (mode == code.GAIN):
            store_int32(cells, layout.FLAGS, np.int32(flags & ~bits.UNSEEN))
        return
    if mode == code.GAIN:
        flags &= ~(bits.NEW_EDGE | bits.NEW_ROOT)
        if not flags & bits.ENDED:
            flags |= bits.VISIBLE
        store_int32(cells, layout.FLAGS, np.int32(flags))
        return
    flags &= ~(bits.LOST_EDGE | bits.LOST_ROOT)
    if flags & bits.ENDED:
        store_int32(cells, layout.FLAGS, np.int32(flags & ~bits.VISIBLE))
        return
    store_int32(cells, layout.FLAGS, np.int32(flags))
    set_standing(rows, relation, row)


@inlined
def is_for_pivot(plans: Any, machine: Any, plan: Any, flags: Any, entry: Any, mode: Any) -> Any:
    """Whether a plan is to be run for the pivot; lost edges are put aside instead."""
    needs = plans.plans[plan, code.PIVOT_NEEDS]
    if machine.state[code.UPGRADE] and not needs & bits.EDGE:
        return False
    if flags & needs != needs and not flags & bits.LOST_EDGE:
        return False
    if mode == code.GAIN or not plans.plans[plan, code.HEAD_SUPPORT] & bits.CLOSED:
        return True
    if needs & bits.EDGE:
        at = machine.state[code.EDGES_COUNT]
        machine.edges[at, 0] = entry
        machine.edges[at, 1] = plan
        machine.state[code.EDGES_COUNT] = at + 1
    return False


@inlined
def start_join(plans: Any, machine: Any, plan: Any) -> Any:
    machine.tally[plans.plans[plan, code.RULE], code.LOOKED] += 1
    machine.state[code.PLAN] = plan
    machine.state[code.DEPTH] = 1
    machine.cursor[1] = -1
    machine.state[code.PHASE] = code.JOINING


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
    state[code.TURNS] -= 1
    is_timed = state[code.TURNS] < 0
    begun = read_ticks() if is_timed else 0
    status = join(rows, plans, memo, machine, entry, width, mode, budget)
    if is_timed:
        line = plans.plans[state[code.PLAN], code.RULE]
        machine.tally[line, code.TICKS] += (read_ticks() - begun) * code.MEAN_TURNS
        state[code.TURNS] = code.MEAN_TURNS // 2 + begun % code.MEAN_TURNS
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
    width = machine.out.shape[0] // layout.OUT_ROWS
    is_given = source == code.GIVEN
    is_negative = not is_given and mode != source
    state[code.IS_NEGATIVE] = is_negative
    state[code.MODE] = mode
    at_field, end_field, queue = code.GAINS_AT, code.GAINS_END, machine.gains
    if is_given:
        at_field, end_field, queue = code.NEGATIVES_AT, code.GIVEN_END, given
    elif source == code.LOSE:
        at_field, end_field, queue = code.LOSSES_AT, code.LOSSES_END, machine.losses
    if is_negative:
        at_field = code.NEGATIVES_AT
    while True:
        if state[code.PHASE] == code.NEXT_PIVOT:
            is_empty = state[at_field] == state[end_field]
            if (is_empty and state[code.OUT_COUNT] > 0) or state[
                code.OUT_COUNT
            ] > layout.OUT_ROWS // 2:
                if not store_out(rows, machine, width, mode):
                    return code.NEED_ROOM
                is_empty = state[at_field] == state[end_field]
            if is_empty:
                return code.DONE
            if state[code.EDGES_COUNT] + code.MOST_EDGE_PLANS > machine.edges.shape[0]:
                return code.NEED_ROOM
        if state[code.PHASE] != code.JOINING:
            if state[code.WORK] >= budget:
                return code.PAUSED
            state[code.WORK] += 1
        entry = queue[state[at_field]]
        relation = entry >> 32
        cells = row_address(rows, relation, entry & LOW)
        if state[code.PHASE] == code.NEXT_PIVOT:
            if is_given:
                start_plans(state, relation)
            elif is_negative:
                start_negative(state, relation, cells, source)
            else:
                status = start_pivot(consequences, machine, mode, relation, cells, width)
                if status != code.DONE:
                    return status
            if plans.listed.shape[0] == 0:
                state[code.BUCKET] = 3
            state[code.PHASE] = code.NEXT_PLAN
        if state[code.PHASE] == code.NEXT_PLAN:
            predicate = np.int64(load_int32(cells, layout.COLUMN + (1 if relation == 0 else 0)))
            obj = np.int64(load_int32(cells, layout.COLUMN + 2)) if relation == 0 else np.int64(-1)
            plan = next_plan(plans, state, relation, predicate, obj)
            if plan < 0:
                if not is_given:
                    finish_pivot(rows, relation, entry & LOW, mode, is_negative)
                state[at_field] += 1
                state[code.ROOTED] = 0
                state[code.PHASE] = code.NEXT_PIVOT
                continue
            flags = load_int32(cells, layout.FLAGS)
            columns = rows.relations[relation, layout.COLUMNS]
            pattern = plans.plans[plan, code.PIVOT_PATTERN]
            if not bind_pivot(plans.patterns, pattern, columns, cells, machine.env):
                continue
            if not is_given and not is_for_pivot(plans, machine, plan, flags, entry, mode):
                continue
            start_join(plans, machine, plan)
        status = timed_join(rows, plans, memo, machine, entry, width, mode, budget)
        if status != code.DONE:
            return status
        state[code.PHASE] = code.NEXT_PLAN


@inlined
def run_roots(desk: Any, machine: Any, budget: Any) -> Any:
    """Take gains to their end in a level where only single triples are followed."""
    begun = read_ticks()
    machine.state[code.MODE] = code.GAIN
    status = follow_roots(rows_on(desk), consequences_on(desk), machine, budget)
    machine.tally[code.SINGLE_RULES, code.TICKS] += read_ticks() - begun
    return status


@inlined
def follow_roots(rows: Any, consequences: Any, machine: Any, budget: Any) -> Any:
    """The same as `run` without plans, in a tight loop."""
    state = machine.state
    width = machine.out.shape[0] // layout.OUT_ROWS
    data = rows.relations[0, layout.ADDRESS]
    row_bytes = 4 * rows.relations[0, layout.STRIDE]
    work = 0
    while True:
        is_empty = state[code.GAINS_AT] == state[code.GAINS_END]
        if state[code.OUT_COUNT] > layout.OUT_ROWS // 2 or (is_empty and state[code.OUT_COUNT] > 0):
            if not store_out(rows, machine, width, code.GAIN):
                return code.NEED_ROOM
            is_empty = state[code.GAINS_AT] == state[code.GAINS_END]
        if is_empty:
            return code.DONE
        end = min(state[code.GAINS_END], state[code.GAINS_AT] + BLOCK)
        for at in range(state[code.GAINS_AT], end):
            entry = machine.gains[at]
            if entry >> 32:
                finish_pivot(rows, entry >> 32, entry & LOW, code.GAIN, False)
                continue
            cells = data + row_bytes * entry
            flags = np.int64(load_int32(cells, layout.FLAGS))
            if flags & bits.ENDED:
                continue
            if flags & (bits.NEW_ROOT if flags & bits.VISIBLE else bits.ROOT):
                s, p = load_int32(cells, layout.COLUMN), load_int32(cells, layout.COLUMN + 1)
                o = load_int32(cells, layout.COLUMN + 2)
                status = take_consequences(consequences, machine, width, code.GAIN, flags, s, p, o)
                if status != code.DONE:
                    state[code.GAINS_AT] = at
                    return status
            store_int32(
                cells,
                layout.FLAGS,
                np.int32((flags | bits.VISIBLE) & ~(bits.NEW_EDGE | bits.NEW_ROOT)),
            )
            if state[code.OUT_COUNT] > layout.OUT_ROWS // 2:
                end = at + 1
                break
        work += end - state[code.GAINS_AT]
        state[code.GAINS_AT] = end
        if work > budget:
            return code.PAUSED


@kernel
def ticks() -> Any:
    """The processor's clock, for who wants to know how long a tick is."""
    return read_ticks()
