"""Support counts: how a buffer of derived rows gives facts support, or takes it away.

A fact holds while it has support: it is asserted, or instances of rules derive it.  A row
that gains its first support becomes a fact; one that loses support is overdeleted (*doomed*)
when what is left may depend on itself, and rederived if some of that survives.

Rows are handled in blocks, with their slots and cells prefetched.  A row from before the
change is copied to the log when it is first touched, so that the change can be undone.

Papers: delete-and-rederive (Volz et al., section 3; DynamiTE, section 5), with counters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.foundation import is_founded
from livefacts.engine.embedded.kernel.registers import machine_on, rows_on
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_kernels import (
    BLOCK,
    LOW,
    find_tagged,
    link_gained,
    link_made,
    make_row,
    row_address,
    tag_of_key,
    unlink_lost,
)
from livefacts.store.machine_code import (
    inlined,
    kernel,
    load_int32,
    load_int64,
    prefetch,
    store_int32,
)


@inlined
def remember(machine: Any, relation: Any, row: Any, cells: Any) -> Any:
    """Keep a copy of a row from before the change, once, so that it can be undone."""
    flags = load_int32(cells, layout.FLAGS)
    if flags & (bits.FRESH | bits.TOUCHED):
        return
    at = machine.state[code.LOG_COUNT]
    machine.log[at, code.LOG_RELATION] = relation
    machine.log[at, code.LOG_ROW] = row
    machine.log[at, code.LOG_FLAGS] = flags
    machine.log[at, code.LOG_PLAIN] = load_int32(cells, layout.PLAIN)
    machine.log[at, code.LOG_RECURSIVE] = load_int32(cells, layout.RECURSIVE)
    machine.log[at, code.LOG_SINGLE] = load_int32(cells, layout.SINGLE)
    machine.state[code.LOG_COUNT] = at + 1
    store_int32(cells, layout.FLAGS, np.int32(flags | bits.TOUCHED))


@inlined
def enqueue_gain(machine: Any, relation: Any, row: Any) -> Any:
    end = machine.state[code.GAINS_END]
    machine.gains[end] = (relation << 32) | row
    machine.state[code.GAINS_END] = end + 1


@inlined
def enqueue_loss(machine: Any, relation: Any, row: Any) -> Any:
    end = machine.state[code.LOSSES_END]
    machine.losses[end] = (relation << 32) | row
    machine.state[code.LOSSES_END] = end + 1


@inlined
def count_reason(cells: Any, support: Any, by: Any) -> Any:
    """Raise or lower the counter that a reason belongs to."""
    if support & code.COUNT_PLAIN:
        store_int32(cells, layout.PLAIN, np.int32(load_int32(cells, layout.PLAIN) + by))
    elif support & code.COUNT_RECURSIVE:
        store_int32(cells, layout.RECURSIVE, np.int32(load_int32(cells, layout.RECURSIVE) + by))
    elif support & code.COUNT_SINGLE:
        store_int32(cells, layout.SINGLE, np.int32(load_int32(cells, layout.SINGLE) + by))


@inlined
def standing(cells: Any, flags: Any) -> Any:
    """EDGE and ROOT as the present reasons of a row make it."""
    derived = load_int32(cells, layout.PLAIN) > 0 or load_int32(cells, layout.RECURSIVE) > 0
    is_now = np.int64(0)
    if flags & bits.ASSERTED or derived or load_int32(cells, layout.SINGLE) > 0:
        is_now |= bits.EDGE
    if flags & bits.ASSERTED or derived or flags & bits.CLOSED:
        is_now |= bits.ROOT
    return is_now


@inlined
def with_movement(flags: Any, was: Any, is_now: Any) -> Any:
    """The flags with a note of what a row has ceased or begun to be, net of the pass so far."""
    fell, rose = was & ~is_now, is_now & ~was
    for bit, fall, rise in (
        (bits.EDGE, bits.FELL_EDGE, bits.ROSE_EDGE),
        (bits.ROOT, bits.FELL_ROOT, bits.ROSE_ROOT),
    ):
        if fell & bit:
            flags = flags & ~rise if flags & rise else flags | fall
        elif rose & bit:
            flags = flags & ~fall if flags & fall else flags | rise
    return flags


@kernel
def set_standing(rows: Any, relation: Any, row: Any) -> Any:
    """Make EDGE and ROOT agree with the reasons of a row, and its place among the edges."""
    cells = row_address(rows, relation, row)
    flags = np.int64(load_int32(cells, layout.FLAGS))
    is_now = standing(cells, flags)
    if flags & bits.EDGE and not is_now & bits.EDGE:
        unlink_lost(rows, relation, row, bits.EDGE)
    moved = with_movement(flags, flags & (bits.EDGE | bits.ROOT), is_now)
    store_int32(cells, layout.FLAGS, np.int32((moved & ~(bits.EDGE | bits.ROOT)) | is_now))
    if is_now & bits.EDGE and not flags & bits.EDGE:
        link_gained(rows, relation, row, bits.EDGE)


@inlined
def support_row(rows: Any, machine: Any, relation: Any, row: Any, cells: Any, support: Any) -> Any:
    """Give a stored row one more reason to hold."""
    remember(machine, relation, row, cells)
    old = np.int64(load_int32(cells, layout.FLAGS))
    flags = old | (support & code.FLAG_BITS)
    gained = flags & ~old
    if gained & (bits.EDGE | bits.ROOT) and not old & bits.UNLINKED:
        flags = with_movement(flags, old & (bits.EDGE | bits.ROOT), flags & (bits.EDGE | bits.ROOT))
        if gained & bits.EDGE:
            store_int32(cells, layout.FLAGS, np.int32(flags))
            link_gained(rows, relation, row, bits.EDGE)
    count_reason(cells, support, 1)
    if old & bits.ENDED:
        flags &= ~(bits.ENDED | bits.UNSEEN)
        if old & bits.DEAD:
            flags |= bits.CAME
        store_int32(cells, layout.FLAGS, np.int32(flags))
        set_standing(rows, relation, row)
        enqueue_gain(machine, relation, row)
        return
    if old & bits.VISIBLE:
        waiting = np.int64(0)
        if gained & bits.EDGE:
            waiting |= bits.NEW_EDGE
        if gained & bits.ROOT:
            waiting |= bits.NEW_ROOT
        if waiting:
            if not old & (bits.NEW_EDGE | bits.NEW_ROOT):
                enqueue_gain(machine, relation, row)
            flags |= waiting
    store_int32(cells, layout.FLAGS, np.int32(flags))


@inlined
def is_held(state: Any, cells: Any, flags: Any) -> Any:
    """Whether a row holds by reasons that cannot depend on itself."""
    if flags & (bits.ASSERTED | bits.CLOSED):
        return True
    if state[code.DOOMS_ALL]:
        return False
    if load_int32(cells, layout.PLAIN) > 0:
        return True
    return load_int32(cells, layout.SINGLE) > 0 and not state[code.DOOMS_SINGLE]


@inlined
def has_asserted(flags: Any, support: Any) -> Any:
    """Whether what is to be retracted was asserted: in the default graph, or only elsewhere."""
    if support & bits.IN_DEFAULT:
        return flags & bits.IN_DEFAULT != 0
    if support & bits.ASSERTED:
        return flags & (bits.ASSERTED | bits.IN_DEFAULT) == bits.ASSERTED
    return True


@inlined
def withdraw_row(rows: Any, machine: Any, relation: Any, row: Any, cells: Any, support: Any) -> Any:
    """Take one reason from a stored row; it is doomed if what is left may depend on itself."""
    if not has_asserted(load_int32(cells, layout.FLAGS), support):
        return
    remember(machine, relation, row, cells)
    flags = np.int64(load_int32(cells, layout.FLAGS)) & ~(support & code.REASON_BITS)
    count_reason(cells, support, -1)
    store_int32(cells, layout.FLAGS, np.int32(flags))
    if flags & bits.ENDED or support & code.QUIET:
        return
    if not is_held(machine.state, cells, flags) and not (
        load_int32(cells, layout.SINGLE) > 0
        and not machine.state[code.DOOMS_ALL]
        and is_founded(rows, machine, relation, cells)
    ):
        store_int32(cells, layout.FLAGS, np.int32(flags | bits.DOOMED))
        enqueue_loss(machine, relation, row)
        return
    lost = flags & (bits.EDGE | bits.ROOT) & ~standing(cells, flags)
    waiting = np.int64(0)
    if lost & bits.EDGE:
        waiting |= bits.LOST_EDGE
    if lost & bits.ROOT:
        waiting |= bits.LOST_ROOT
    if waiting:
        if not flags & (bits.LOST_EDGE | bits.LOST_ROOT):
            enqueue_loss(machine, relation, row)
        store_int32(cells, layout.FLAGS, np.int32(flags | waiting))


@inlined
def rows_have_room(rows: Any, more: Any) -> Any:
    """Whether every relation, and every index, has room for so many more rows."""
    for relation in range(rows.relations.shape[0]):
        if (
            rows.relations[relation, layout.HIGH] + more
            >= rows.relations[relation, layout.CAPACITY]
        ):
            return False
        for j in range(rows.relations[relation, layout.INDEX_COUNT]):
            index = rows.relations[relation, layout.INDEX + j]
            if (rows.indices[index, layout.USED] + more) * 10 > (
                rows.indices[index, layout.MASK] + 1
            ) * 7:
                return False
    return True


@kernel
def has_room(rows: Any, machine: Any) -> Any:
    """Whether a full buffer can be stored whatever its rows are."""
    state = machine.state
    if state[code.GAINS_END] + layout.OUT_ROWS > machine.gains.shape[0]:
        return False
    if state[code.LOSSES_END] + layout.OUT_ROWS > machine.losses.shape[0]:
        return False
    if state[code.LOG_COUNT] + layout.OUT_ROWS > machine.log.shape[0]:
        return False
    return rows_have_room(rows, layout.OUT_ROWS)


@inlined
def prefetch_out(rows: Any, machine: Any, width: Any, skipped: Any, first: Any, end: Any) -> Any:
    """Tags of waiting rows first … end, and their slots and rows on the way to cache.

    Values begin behind so many `skipped` cells of a waiting row.
    """
    for i in range(first, end):
        index = rows.relations[machine.out[i * width], layout.INDEX]
        tag = tag_of_key(machine.out, i * width + skipped, rows.indices[index, layout.KEYS])
        machine.tags[i - first] = tag
        prefetch(rows.indices[index, layout.SLOTS] + 8 * (tag & rows.indices[index, layout.MASK]))
    for i in range(first, end):
        relation = np.int64(machine.out[i * width])
        index = rows.relations[relation, layout.INDEX]
        tag = machine.tags[i - first]
        entry = load_int64(
            rows.indices[index, layout.SLOTS], tag & rows.indices[index, layout.MASK]
        )
        if entry and (entry >> 32) & LOW == tag:
            prefetch(row_address(rows, relation, entry & LOW))


@kernel
def link_new(rows: Any, machine: Any, count: Any) -> Any:
    """Link the rows just made under the secondary indices, relation by relation."""
    for relation in range(rows.relations.shape[0]):
        found = 0
        for i in range(count):
            if machine.made_relation[i] == relation:
                machine.of_relation[found] = machine.made[i]
                found += 1
        if found:
            link_made(rows, relation, machine.of_relation, found, machine.tags)


@inlined
def make_fresh(rows: Any, machine: Any, relation: Any, at: Any, tag: Any) -> Any:
    """A new row for a waiting one, in the queue of gains."""
    row = make_row(rows, relation, machine.out, at, tag)
    cells = row_address(rows, relation, row)
    store_int32(
        cells,
        layout.FLAGS,
        np.int32(load_int32(cells, layout.FLAGS) | bits.FRESH | bits.CAME | bits.UNLINKED),
    )
    enqueue_gain(machine, relation, row)
    return row


@kernel
def store_out(rows: Any, machine: Any, width: Any, mode: Any) -> Any:
    """Give or take the reasons that wait in the buffer; False if there is no room."""
    if not has_room(rows, machine):
        return False
    count = machine.state[code.OUT_COUNT]
    new = 0
    for first in range(0, count, BLOCK):
        end = min(first + BLOCK, count)
        prefetch_out(rows, machine, width, 2, first, end)
        for i in range(first, end):
            relation = np.int64(machine.out[i * width])
            support = np.int64(machine.out[i * width + 1])
            index = rows.relations[relation, layout.INDEX]
            tag = machine.tags[i - first]
            row = find_tagged(rows, relation, index, tag, machine.out, i * width + 2)
            if mode == code.LOSE:
                if row:
                    cells = row_address(rows, relation, row)
                    withdraw_row(rows, machine, relation, row, cells, support)
                continue
            if row == 0:
                row = make_fresh(rows, machine, relation, i * width + 2, tag)
                machine.tally[machine.rule_of[i], code.NEW] += 1
                machine.made[new] = row
                machine.made_relation[new] = relation
                new += 1
            support_row(rows, machine, relation, row, row_address(rows, relation, row), support)
    link_new(rows, machine, new)
    machine.state[code.MADE] += new
    machine.state[code.OUT_COUNT] = 0
    return True


@kernel
def store_waiting(desk: Any) -> Any:
    """Store the rows that wait in the buffer; False if there is no room."""
    machine = machine_on(desk)
    width = machine.out.shape[0] // layout.OUT_ROWS
    return store_out(rows_on(desk), machine, width, machine.state[code.MODE])


@kernel
def change_facts(desk: Any, mode: Any, relation: Any, facts: Any, support: Any, first: Any) -> Any:
    """Give or take a reason for facts from number `first` on; returns how far there was room.

    What waits in the buffer comes first.
    """
    rows, machine = rows_on(desk), machine_on(desk)
    state = machine.state
    width = machine.out.shape[0] // layout.OUT_ROWS
    if state[code.OUT_COUNT] and not store_out(rows, machine, width, state[code.MODE]):
        return first
    state[code.MODE] = mode
    made = state[code.MADE]
    line = code.SINGLE_RULES if support & code.COUNT_SINGLE else code.NO_RULE
    count = facts.shape[0]
    columns = facts.shape[1]
    while first < count:
        end = min(first + layout.OUT_ROWS, count)
        for i in range(first, end):
            at = (i - first) * width
            machine.out[at] = relation
            machine.out[at + 1] = support
            machine.rule_of[i - first] = line
            for j in range(columns):
                machine.out[at + 2 + j] = facts[i, j]
        state[code.OUT_COUNT] = end - first
        if not store_out(rows, machine, width, mode):
            state[code.OUT_COUNT] = 0
            break
        first = end
    if support & bits.ASSERTED:
        state[code.ASSERTED_COUNT] += state[code.MADE] - made
    return first
