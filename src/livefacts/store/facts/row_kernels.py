"""Row kernels: find, make, link and remove the rows of stored facts.

See `layout` for the meaning of cells and fields.  No kernel here allocates: whoever
calls one that makes rows has made sure that there is room.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from livefacts.store.facts import bits, layout
from livefacts.store.machine_code import (
    inlined,
    kernel,
    load_int32,
    load_int64,
    prefetch,
    store_int32,
    store_int64,
)

Array = Any

BLOCK = 64
"""Rows that are prefetched together."""
SEED = np.uint64(0x2545F4914F6CDD1D)
FACTOR = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)
HALF = np.uint64(32)
LOW = np.int64(0xFFFFFFFF)


@inlined
def mix(state: Any, value: Any) -> Any:
    state = (state ^ np.uint64(np.uint32(value))) * FACTOR
    return state ^ (state >> SHIFT)


@inlined
def row_address(rows: Any, relation: Any, row: Any) -> Any:
    """Where the cells of a row are."""
    return (
        rows.relations[relation, layout.ADDRESS] + 4 * rows.relations[relation, layout.STRIDE] * row
    )


@inlined
def tag_of_row(rows: Any, index: Any, cells: Any) -> Any:
    """The 32-bit tag of a stored row under an index."""
    state = SEED
    for j in range(rows.indices[index, layout.KEYS]):
        state = mix(state, load_int32(cells, layout.COLUMN + rows.indices[index, layout.KEY + j]))
    return np.int64(state >> HALF)


@inlined
def tag_of_key(key: Any, offset: Any, count: Any) -> Any:
    """The 32-bit tag of the key values key[offset : offset + count]."""
    state = SEED
    for j in range(count):
        state = mix(state, key[offset + j])
    return np.int64(state >> HALF)


@inlined
def find_tagged(rows: Any, relation: Any, index: Any, tag: Any, key: Any, offset: Any) -> Any:
    """The first row whose key columns under an index have these values, or 0."""
    slots = rows.indices[index, layout.SLOTS]
    mask = rows.indices[index, layout.MASK]
    keys = rows.indices[index, layout.KEYS]
    data = rows.relations[relation, layout.ADDRESS]
    width = 4 * rows.relations[relation, layout.STRIDE]
    slot = tag & mask
    while True:
        entry = load_int64(slots, slot)
        if entry == 0:
            return np.int64(0)
        if (entry >> 32) & LOW == tag:
            row = entry & LOW
            cells = data + width * row
            same = True
            for j in range(keys):
                if (
                    load_int32(cells, layout.COLUMN + rows.indices[index, layout.KEY + j])
                    != key[offset + j]
                ):
                    same = False
                    break
            if same:
                return row
        slot = (slot + 1) & mask


@inlined
def find(rows: Any, relation: Any, index: Any, key: Any, offset: Any) -> Any:
    tag = tag_of_key(key, offset, rows.indices[index, layout.KEYS])
    return find_tagged(rows, relation, index, tag, key, offset)


@kernel
def find_fact(rows: Any, relation: Any, values: Any, offset: Any) -> Any:
    """The row with these column values, or 0."""
    return find(rows, relation, rows.relations[relation, layout.INDEX], values, offset)


@inlined
def same_key(rows: Any, index: Any, cells: Any, others: Any) -> Any:
    for j in range(rows.indices[index, layout.KEYS]):
        column = layout.COLUMN + rows.indices[index, layout.KEY + j]
        if load_int32(cells, column) != load_int32(others, column):
            return False
    return True


@inlined
def is_wanted(rows: Any, index: Any, cells: Any) -> Any:
    """Whether a row belongs into an index."""
    wanted = rows.indices[index, layout.WANTED]
    return load_int32(cells, layout.FLAGS) & wanted == wanted


@inlined
def link_tagged(rows: Any, relation: Any, index: Any, row: Any, tag: Any) -> Any:
    """Put a row at the head of its chain under an index."""
    slots = rows.indices[index, layout.SLOTS]
    mask = rows.indices[index, layout.MASK]
    link = rows.indices[index, layout.LINK]
    cells = row_address(rows, relation, row)
    slot = tag & mask
    while True:
        entry = load_int64(slots, slot)
        if entry == 0:
            store_int64(slots, slot, (tag << 32) | row)
            rows.indices[index, layout.USED] += 1
            if link:
                store_int32(cells, link, np.int32(0))
                store_int32(cells, link + 1, np.int32(0))
            return
        if link and (entry >> 32) & LOW == tag:
            head = entry & LOW
            others = row_address(rows, relation, head)
            if same_key(rows, index, cells, others):
                store_int32(cells, link, np.int32(head))
                store_int32(cells, link + 1, np.int32(0))
                store_int32(others, link + 1, np.int32(row))
                store_int64(slots, slot, (tag << 32) | row)
                return
        slot = (slot + 1) & mask


@kernel
def clear_slot(rows: Any, index: Any, slot: Any) -> Any:
    """Empty a slot and move later entries back so that all stay reachable."""
    slots = rows.indices[index, layout.SLOTS]
    mask = rows.indices[index, layout.MASK]
    hole = slot
    at = slot
    while True:
        at = (at + 1) & mask
        entry = load_int64(slots, at)
        if entry == 0:
            break
        home = ((entry >> 32) & LOW) & mask
        if ((at - home) & mask) >= ((at - hole) & mask):
            store_int64(slots, hole, entry)
            hole = at
    store_int64(slots, hole, np.int64(0))
    rows.indices[index, layout.USED] -= 1


@kernel
def unlink(rows: Any, relation: Any, index: Any, row: Any) -> Any:
    """Take a row out of its chain under an index."""
    link = rows.indices[index, layout.LINK]
    cells = row_address(rows, relation, row)
    following = np.int64(0)
    if link:
        following = np.int64(load_int32(cells, link))
        previous = np.int64(load_int32(cells, link + 1))
        if following:
            store_int32(row_address(rows, relation, following), link + 1, np.int32(previous))
        if previous:
            store_int32(row_address(rows, relation, previous), link, np.int32(following))
            return
    slots = rows.indices[index, layout.SLOTS]
    mask = rows.indices[index, layout.MASK]
    tag = tag_of_row(rows, index, cells)
    slot = tag & mask
    while load_int64(slots, slot) & LOW != row:
        slot = (slot + 1) & mask
    if following:
        store_int64(slots, slot, (tag << 32) | following)
    else:
        clear_slot(rows, index, slot)


@inlined
def make_row(rows: Any, relation: Any, values: Any, offset: Any, tag: Any) -> Any:
    """A new live row with these values, linked under the primary index only."""
    row = rows.relations[relation, layout.FREE]
    if row:
        cells = row_address(rows, relation, row)
        rows.relations[relation, layout.FREE] = np.int64(load_int32(cells, layout.COLUMN))
    else:
        row = rows.relations[relation, layout.HIGH]
        rows.relations[relation, layout.HIGH] = row + 1
        cells = row_address(rows, relation, row)
    store_int32(cells, layout.FLAGS, np.int32(bits.LIVE))
    store_int32(cells, layout.PLAIN, np.int32(0))
    store_int32(cells, layout.RECURSIVE, np.int32(0))
    store_int32(cells, layout.SINGLE, np.int32(0))
    for j in range(rows.relations[relation, layout.COLUMNS]):
        store_int32(cells, layout.COLUMN + j, values[offset + j])
    link_tagged(rows, relation, rows.relations[relation, layout.INDEX], row, tag)
    rows.relations[relation, layout.LIVE_ROWS] += 1
    return row


@kernel
def remove_row(rows: Any, relation: Any, row: Any) -> Any:
    """Unlink a row everywhere and put it on the free list."""
    cells = row_address(rows, relation, row)
    for j in range(rows.relations[relation, layout.INDEX_COUNT]):
        index = rows.relations[relation, layout.INDEX + j]
        if is_wanted(rows, index, cells):
            unlink(rows, relation, index, row)
    store_int32(cells, layout.FLAGS, np.int32(0))
    store_int32(cells, layout.COLUMN, np.int32(rows.relations[relation, layout.FREE]))
    rows.relations[relation, layout.FREE] = row
    rows.relations[relation, layout.LIVE_ROWS] -= 1


@kernel
def empty_relation(rows: Any, relation: Any) -> Any:
    """Remove all rows at once; the indices stay, and have nothing in them."""
    for j in range(rows.relations[relation, layout.INDEX_COUNT]):
        index = rows.relations[relation, layout.INDEX + j]
        slots = rows.indices[index, layout.SLOTS]
        for slot in range(rows.indices[index, layout.MASK] + 1):
            store_int64(slots, slot, np.int64(0))
        rows.indices[index, layout.USED] = 0
    rows.relations[relation, layout.HIGH] = 1
    rows.relations[relation, layout.FREE] = 0
    rows.relations[relation, layout.LIVE_ROWS] = 0


@kernel
def prefetch_facts(
    rows: Any, relation: Any, values: Any, offset: Any, width: Any, count: Any, tags: Any
) -> Any:
    """Tags of `count` facts, `width` values apart, and their slots and rows on the way to cache."""
    index = rows.relations[relation, layout.INDEX]
    slots = rows.indices[index, layout.SLOTS]
    mask = rows.indices[index, layout.MASK]
    keys = rows.indices[index, layout.KEYS]
    for i in range(count):
        tag = tag_of_key(values, offset + i * width, keys)
        tags[i] = tag
        prefetch(slots + 8 * (tag & mask))
    for i in range(count):
        entry = load_int64(slots, tags[i] & mask)
        if entry and (entry >> 32) & LOW == tags[i]:
            prefetch(row_address(rows, relation, entry & LOW))


@kernel
def link_block(
    rows: Any, relation: Any, index: Any, made: Any, first: Any, end: Any, tags: Any
) -> Any:
    """Link at most BLOCK new rows under a secondary index."""
    slots = rows.indices[index, layout.SLOTS]
    mask = rows.indices[index, layout.MASK]
    for i in range(first, end):
        tag = tag_of_row(rows, index, row_address(rows, relation, made[i]))
        tags[i - first] = tag
        prefetch(slots + 8 * (tag & mask))
    for i in range(first, end):
        tag = tags[i - first]
        entry = load_int64(slots, tag & mask)
        if entry and (entry >> 32) & LOW == tag:
            prefetch(row_address(rows, relation, entry & LOW))
    for i in range(first, end):
        if is_wanted(rows, index, row_address(rows, relation, made[i])):
            link_tagged(rows, relation, index, np.int64(made[i]), tags[i - first])


@kernel
def link_made(rows: Any, relation: Any, made: Any, count: Any, tags: Any) -> Any:
    """Link new rows of one relation under all its secondary indices."""
    for j in range(1, rows.relations[relation, layout.INDEX_COUNT]):
        index = rows.relations[relation, layout.INDEX + j]
        for first in range(0, count, BLOCK):
            link_block(rows, relation, index, made, first, min(first + BLOCK, count), tags)
    for i in range(count):
        cells = row_address(rows, relation, made[i])
        store_int32(cells, layout.FLAGS, np.int32(load_int32(cells, layout.FLAGS) & ~bits.UNLINKED))


@kernel
def link_gained(rows: Any, relation: Any, row: Any, gained: Any) -> Any:
    """Link a row under the indices that its new flags let it into."""
    cells = row_address(rows, relation, row)
    for j in range(1, rows.relations[relation, layout.INDEX_COUNT]):
        index = rows.relations[relation, layout.INDEX + j]
        if rows.indices[index, layout.WANTED] & gained and is_wanted(rows, index, cells):
            link_tagged(rows, relation, index, row, tag_of_row(rows, index, cells))


@kernel
def unlink_lost(rows: Any, relation: Any, row: Any, lost: Any) -> Any:
    """Unlink a row from the indices that need flags it is about to lose."""
    cells = row_address(rows, relation, row)
    for j in range(1, rows.relations[relation, layout.INDEX_COUNT]):
        index = rows.relations[relation, layout.INDEX + j]
        if rows.indices[index, layout.WANTED] & lost and is_wanted(rows, index, cells):
            unlink(rows, relation, index, row)


@kernel
def rehash(old: Any, new: Any) -> Any:
    """Carry the entries of one slot table over into a larger, empty one."""
    mask = new.shape[0] - 1
    for entry in old:
        if entry:
            slot = ((entry >> 32) & LOW) & mask
            while new[slot]:
                slot = (slot + 1) & mask
            new[slot] = entry


@kernel
def link_all(rows: Any, relation: Any, index: Any, tags: Any, block: Any) -> Any:
    """Link every live row under a new index."""
    count = 0
    for row in range(1, rows.relations[relation, layout.HIGH]):
        if load_int32(row_address(rows, relation, row), layout.FLAGS) & bits.LIVE:
            block[count] = row
            count += 1
            if count == BLOCK:
                link_block(rows, relation, index, block, 0, count, tags)
                count = 0
    link_block(rows, relation, index, block, 0, count, tags)


@kernel
def relay(old: Any, old_stride: Any, new: Any, new_stride: Any, count: Any) -> Any:
    """Copy rows into wider ones; the added cells are 0."""
    for row in range(count):
        for j in range(old_stride):
            new[row * new_stride + j] = old[row * old_stride + j]
        for j in range(old_stride, new_stride):
            new[row * new_stride + j] = 0


@kernel
def find_facts(rows: Any, relation: Any, values: Any, count: Any, found: Any, tags: Any) -> Any:
    """The rows of `count` facts, 0 where there is none."""
    width = rows.relations[relation, layout.COLUMNS]
    index = rows.relations[relation, layout.INDEX]
    for first in range(0, count, BLOCK):
        size = min(BLOCK, count - first)
        prefetch_facts(rows, relation, values, first * width, width, size, tags)
        for i in range(first, first + size):
            found[i] = find_tagged(rows, relation, index, tags[i - first], values, i * width)


@kernel
def find_flags(rows: Any, relation: Any, values: Any, count: Any, found: Any, tags: Any) -> Any:
    """The flags of `count` facts, 0 where there is none."""
    width = rows.relations[relation, layout.COLUMNS]
    index = rows.relations[relation, layout.INDEX]
    for first in range(0, count, BLOCK):
        size = min(BLOCK, count - first)
        prefetch_facts(rows, relation, values, first * width, width, size, tags)
        for i in range(first, first + size):
            row = find_tagged(rows, relation, index, tags[i - first], values, i * width)
            found[i] = load_int32(row_address(rows, relation, row), layout.FLAGS) if row else 0


@kernel
def insert_facts(rows: Any, relation: Any, values: Any, count: Any, tags: Any) -> Any:
    """Make a row for each of `count` facts, none of which is there."""
    width = rows.relations[relation, layout.COLUMNS]
    index = rows.relations[relation, layout.INDEX]
    made = np.int64(0)
    for i in range(count):
        tag = tag_of_key(values, i * width, rows.indices[index, layout.KEYS])
        made = make_row(rows, relation, values, i * width, tag)
        for j in range(1, rows.relations[relation, layout.INDEX_COUNT]):
            secondary = rows.relations[relation, layout.INDEX + j]
            tag = tag_of_row(rows, secondary, row_address(rows, relation, made))
            if is_wanted(rows, secondary, row_address(rows, relation, made)):
                link_tagged(rows, relation, secondary, made, tag)


@kernel
def chain_rows(rows: Any, relation: Any, index: Any, key: Any, found: Any) -> Any:
    """Collect the rows of a chain, as many as fit; returns how many there are."""
    link = rows.indices[index, layout.LINK]
    row = find(rows, relation, index, key, 0)
    count = 0
    while row:
        if count < found.shape[0]:
            found[count] = row
        count += 1
        row = np.int64(load_int32(row_address(rows, relation, row), link)) if link else np.int64(0)
    return count


@kernel
def read_columns(rows: Any, relation: Any, numbers: Any, found: Any) -> Any:
    """Copy the columns of rows."""
    for i in range(numbers.shape[0]):
        cells = row_address(rows, relation, numbers[i])
        for j in range(found.shape[1]):
            found[i, j] = load_int32(cells, layout.COLUMN + j)
