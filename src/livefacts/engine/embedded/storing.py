"""Storing what was derived: a buffer of rows becomes facts with reasons.

Rows are stored in blocks, with their slots and cells prefetched.  A row from before the
change is copied to the log when it is first touched, so that the change can be undone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from livefacts.engine.embedded.machine import (
    COUNT_PLAIN,
    COUNT_RECURSIVE,
    LOG_COUNT,
    MADE,
    OUT_COUNT,
    QUEUE_END,
)
from livefacts.store.compiled import (
    inlined,
    kernel,
    load_int32,
    load_int64,
    prefetch,
    store_int32,
)
from livefacts.store.layout import (
    CAPACITY,
    EDGE,
    FLAGS,
    FRESH,
    HIGH,
    INDEX,
    INDEX_COUNT,
    KEYS,
    MASK,
    NEW_EDGE,
    NEW_ROOT,
    OUT_ROWS,
    PLAIN,
    RECURSIVE,
    ROOT,
    SLOTS,
    TOUCHED,
    UNLINKED,
    USED,
    VISIBLE,
)
from livefacts.store.rowkernels import (
    BLOCK,
    LOW,
    find_tagged,
    link_gained,
    link_made,
    make_row,
    remove_row,
    row_address,
    tag_of_key,
    unlink_lost,
)


@inlined
def remember(machine: Any, relation: Any, row: Any, cells: Any) -> Any:
    """Keep a copy of a row from before the change, once, so that it can be undone."""
    flags = load_int32(cells, FLAGS)
    if flags & (FRESH | TOUCHED):
        return
    at = machine.state[LOG_COUNT]
    machine.log[at, 0] = relation
    machine.log[at, 1] = row
    machine.log[at, 2] = flags
    machine.log[at, 3] = load_int32(cells, PLAIN)
    machine.log[at, 4] = load_int32(cells, RECURSIVE)
    machine.state[LOG_COUNT] = at + 1
    store_int32(cells, FLAGS, np.int32(flags | TOUCHED))


@inlined
def enqueue(machine: Any, relation: Any, row: Any) -> Any:
    end = machine.state[QUEUE_END]
    machine.queue[end] = (relation << 32) | row
    machine.state[QUEUE_END] = end + 1


@inlined
def support_row(rows: Any, machine: Any, relation: Any, row: Any, cells: Any, support: Any) -> Any:
    """Give a stored row one more reason to hold."""
    remember(machine, relation, row, cells)
    old = np.int64(load_int32(cells, FLAGS))
    flags = old | (support & 0xFFFF)
    gained = flags & ~old
    if gained & EDGE and not old & UNLINKED:
        store_int32(cells, FLAGS, np.int32(flags))
        link_gained(rows, relation, row, EDGE)
    if old & VISIBLE:
        waiting = np.int64(0)
        if gained & EDGE:
            waiting |= NEW_EDGE
        if gained & ROOT:
            waiting |= NEW_ROOT
        if waiting:
            if not old & (NEW_EDGE | NEW_ROOT):
                enqueue(machine, relation, row)
            flags |= waiting
    store_int32(cells, FLAGS, np.int32(flags))
    if support & COUNT_PLAIN:
        store_int32(cells, PLAIN, np.int32(load_int32(cells, PLAIN) + 1))
    elif support & COUNT_RECURSIVE:
        store_int32(cells, RECURSIVE, np.int32(load_int32(cells, RECURSIVE) + 1))


@kernel
def has_room(rows: Any, machine: Any) -> Any:
    """Whether a full buffer can be stored whatever its rows are."""
    if machine.state[QUEUE_END] + OUT_ROWS > machine.queue.shape[0]:
        return False
    if machine.state[LOG_COUNT] + OUT_ROWS > machine.log.shape[0]:
        return False
    for relation in range(rows.relations.shape[0]):
        if rows.relations[relation, HIGH] + OUT_ROWS >= rows.relations[relation, CAPACITY]:
            return False
        for j in range(rows.relations[relation, INDEX_COUNT]):
            index = rows.relations[relation, INDEX + j]
            if (rows.indices[index, USED] + OUT_ROWS) * 10 > (rows.indices[index, MASK] + 1) * 7:
                return False
    return True


@inlined
def prefetch_out(rows: Any, machine: Any, width: Any, first: Any, end: Any) -> Any:
    """Tags of waiting rows first … end, and their slots and rows on the way to cache."""
    for i in range(first, end):
        index = rows.relations[machine.out[i * width], INDEX]
        tag = tag_of_key(machine.out, i * width + 2, rows.indices[index, KEYS])
        machine.tags[i - first] = tag
        prefetch(rows.indices[index, SLOTS] + 8 * (tag & rows.indices[index, MASK]))
    for i in range(first, end):
        relation = np.int64(machine.out[i * width])
        index = rows.relations[relation, INDEX]
        tag = machine.tags[i - first]
        entry = load_int64(rows.indices[index, SLOTS], tag & rows.indices[index, MASK])
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


@kernel
def store_out(rows: Any, machine: Any, width: Any) -> Any:
    """Store the waiting rows; False if there is no room, with nothing done."""
    if not has_room(rows, machine):
        return False
    count = machine.state[OUT_COUNT]
    new = 0
    for first in range(0, count, BLOCK):
        end = min(first + BLOCK, count)
        prefetch_out(rows, machine, width, first, end)
        for i in range(first, end):
            relation = np.int64(machine.out[i * width])
            support = np.int64(machine.out[i * width + 1])
            index = rows.relations[relation, INDEX]
            tag = machine.tags[i - first]
            row = find_tagged(rows, relation, index, tag, machine.out, i * width + 2)
            if row == 0:
                row = make_row(rows, relation, machine.out, i * width + 2, tag)
                cells = row_address(rows, relation, row)
                store_int32(cells, FLAGS, np.int32(load_int32(cells, FLAGS) | FRESH | UNLINKED))
                machine.made[new] = row
                machine.made_relation[new] = relation
                new += 1
                enqueue(machine, relation, row)
            support_row(rows, machine, relation, row, row_address(rows, relation, row), support)
    link_new(rows, machine, new)
    machine.state[MADE] += new
    machine.state[OUT_COUNT] = 0
    return True


@kernel
def support_facts(
    rows: Any, machine: Any, relation: Any, facts: Any, support: Any, first: Any
) -> Any:
    """Give facts a reason from number `first` on; returns how far there was room.

    The buffer must be empty.
    """
    width = machine.out.shape[0] // OUT_ROWS
    count = facts.shape[0]
    columns = facts.shape[1]
    while first < count:
        end = min(first + OUT_ROWS, count)
        for i in range(first, end):
            at = (i - first) * width
            machine.out[at] = relation
            machine.out[at + 1] = support
            for j in range(columns):
                machine.out[at + 2 + j] = facts[i, j]
        machine.state[OUT_COUNT] = end - first
        if not store_out(rows, machine, width):
            machine.state[OUT_COUNT] = 0
            return first
        first = end
    return first


@kernel
def settle(rows: Any, machine: Any, relation: Any, made: Any) -> Any:
    """End a change: collect the rows it made in a relation, and forget that they are new."""
    count = 0
    for i in range(machine.state[QUEUE_END]):
        entry = machine.queue[i]
        if entry >> 32 == relation:
            cells = row_address(rows, relation, entry & LOW)
            flags = load_int32(cells, FLAGS)
            if flags & FRESH:
                store_int32(cells, FLAGS, np.int32(flags & ~FRESH))
                made[count] = entry & LOW
                count += 1
    return count


@kernel
def hide_queue(rows: Any, machine: Any) -> Any:
    """Make every fact of the change a pivot again."""
    for i in range(machine.state[QUEUE_END]):
        cells = row_address(rows, machine.queue[i] >> 32, machine.queue[i] & LOW)
        store_int32(cells, FLAGS, np.int32(load_int32(cells, FLAGS) & ~VISIBLE))


@kernel
def undo(rows: Any, machine: Any) -> Any:
    """Remove every row that the change has made, and restore those it has touched."""
    for i in range(machine.state[QUEUE_END]):
        relation, row = machine.queue[i] >> 32, machine.queue[i] & LOW
        if load_int32(row_address(rows, relation, row), FLAGS) & FRESH:
            remove_row(rows, relation, row)
    for i in range(machine.state[LOG_COUNT]):
        relation, row = machine.log[i, 0], machine.log[i, 1]
        cells = row_address(rows, relation, row)
        if not machine.log[i, 2] & EDGE:
            unlink_lost(rows, relation, row, EDGE)
        store_int32(cells, FLAGS, np.int32(machine.log[i, 2]))
        store_int32(cells, PLAIN, np.int32(machine.log[i, 3]))
        store_int32(cells, RECURSIVE, np.int32(machine.log[i, 4]))
