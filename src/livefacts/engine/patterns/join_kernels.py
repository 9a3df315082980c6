"""Join kernels of connected parts: triples joined over the variables that patterns share.

One triple at a time.  A triple that comes is stored first; the answers that use it are found
by taking it as each pattern that it fits (the pivot) and matching the other patterns depth
first through indices.  An answer that uses the triple in several places is found once: from
the last of them, because patterns behind the pivot may not match the triple itself.  A
triple that goes takes the answers with it that are found in the same way.

Where there is no room, the triple under way is undone, and the next call begins with it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_kernels import (
    find,
    link_tagged,
    make_row,
    remove_row,
    row_address,
    tag_of_key,
    tag_of_row,
)
from livefacts.store.machine_code import Desk, inlined, kernel, load_int32
from livefacts.store.table_types import IdRows, Ids, IntRows, Ints, Numbering

TRIPLES = 0
"""The relation of the triples."""

# fields of a step
field = Numbering()
PATTERN = field()
LOOKUP = field()
"""The index that has the columns which are known at this step."""
ACTION = field(3)
"""What is done with each of the three columns."""
STEP_FIELDS = field.count

# actions: the column is part of the key of the index; it binds a variable; it must be the same
# as a column of the same triple that was bound before it
KNOWN, BIND, SAME = range(3)

# what a call returns
DONE, NEED_ROWS, NEED_OUT = range(3)

# fields of the state
field = Numbering()
AT = field()
"""The triple to go on with."""
FOUND = field()
LOOKED = field()
"""Triples looked at since the part was made."""
STATE_FIELDS = field.count


class Joins(NamedTuple):
    """The patterns of a part, how to match the others from each of them, and working memory."""

    patterns: IdRows
    """An id, or ~v for the variable number v."""
    steps: IntRows
    """For each pattern, the steps to all others."""
    terms: Ids
    cursor: Ints
    key: Ids
    state: Ints


rows_on, joins_on = Desk(layout.StoredRows, Joins).readers()


@inlined
def fits(patterns: Any, j: Any, values: Any, offset: Any) -> Any:
    """Whether a triple has the constants of a pattern, and is equal where its variables are."""
    for column in (1, 2, 0):
        slot = patterns[j, column]
        if slot >= 0:
            if slot != values[offset + column]:
                return False
        else:
            for other in range(column):
                if patterns[j, other] == slot and values[offset + other] != values[offset + column]:
                    return False
    return True


@inlined
def first_row(rows: Any, joins: Any, step: Any) -> Any:
    """The first triple that has what is known at a step, or 0."""
    pattern = joins.steps[step, PATTERN]
    count = 0
    for column in range(3):
        if joins.steps[step, ACTION + column] == KNOWN:
            slot = joins.patterns[pattern, column]
            joins.key[count] = slot if slot >= 0 else joins.terms[~slot]
            count += 1
    return find(rows, TRIPLES, joins.steps[step, LOOKUP], joins.key, 0)


@inlined
def next_row(rows: Any, joins: Any, step: Any, row: Any) -> Any:
    """The triple after this one in its chain, or 0."""
    link = rows.indices[joins.steps[step, LOOKUP], layout.LINK]
    if link == 0:
        return np.int64(0)
    return np.int64(load_int32(row_address(rows, TRIPLES, row), link))


@inlined
def bind_row(rows: Any, joins: Any, step: Any, row: Any) -> Any:
    """Give the variables of a step the terms of a triple; whether that is possible."""
    cells = row_address(rows, TRIPLES, row)
    pattern = joins.steps[step, PATTERN]
    for column in range(3):
        action = joins.steps[step, ACTION + column]
        if action == BIND:
            joins.terms[~joins.patterns[pattern, column]] = load_int32(
                cells, layout.COLUMN + column
            )
        elif action == SAME:
            known = joins.terms[~joins.patterns[pattern, column]]
            if known != load_int32(cells, layout.COLUMN + column):
                return False
    return True


@inlined
def join_from(
    rows: Any, joins: Any, pivot: Any, barred: Any, sign: Any, out: Any, counts: Any
) -> Any:
    """Find the answers of a pivot that is bound; whether there was room for all of them.

    Patterns behind the pivot do not match the row `barred`.
    """
    state = joins.state
    many = joins.patterns.shape[0] - 1
    width = joins.terms.shape[0]
    first = pivot * many
    depth = 0
    if many:
        joins.cursor[0] = first_row(rows, joins, first)
    while True:
        if depth == many:
            at = state[FOUND]
            if at == counts.shape[0]:
                return False
            for column in range(width):
                out[at, column] = joins.terms[column]
            counts[at] = sign
            state[FOUND] = at + 1
            depth -= 1
            if depth < 0:
                return True
            joins.cursor[depth] = next_row(rows, joins, first + depth, joins.cursor[depth])
            continue
        step = first + depth
        row = joins.cursor[depth]
        if row == 0:
            depth -= 1
            if depth < 0:
                return True
            joins.cursor[depth] = next_row(rows, joins, first + depth, joins.cursor[depth])
            continue
        state[LOOKED] += 1
        is_barred = row == barred and joins.steps[step, PATTERN] > pivot
        if is_barred or not bind_row(rows, joins, step, row):
            joins.cursor[depth] = next_row(rows, joins, step, row)
            continue
        depth += 1
        if depth < many:
            joins.cursor[depth] = first_row(rows, joins, first + depth)


@inlined
def bind_pivot(joins: Any, pivot: Any, values: Any, offset: Any) -> Any:
    """Give the variables of a pattern the terms of a triple that fits it."""
    for column in range(3):
        slot = joins.patterns[pivot, column]
        if slot < 0:
            joins.terms[~slot] = values[offset + column]


@inlined
def has_room(rows: Any) -> Any:
    """Whether one more triple can be stored and linked."""
    line = rows.relations[TRIPLES]
    if line[layout.FREE] == 0 and line[layout.HIGH] + 1 >= line[layout.CAPACITY]:
        return False
    for j in range(line[layout.INDEX_COUNT]):
        index = line[layout.INDEX + j]
        if (rows.indices[index, layout.USED] + 1) * 10 > (rows.indices[index, layout.MASK] + 1) * 7:
            return False
    return True


@inlined
def store_triple(rows: Any, values: Any, offset: Any) -> Any:
    """A new row for a triple, linked under every index."""
    row = make_row(rows, TRIPLES, values, offset, tag_of_key(values, offset, 3))
    cells = row_address(rows, TRIPLES, row)
    for j in range(1, rows.relations[TRIPLES, layout.INDEX_COUNT]):
        index = rows.relations[TRIPLES, layout.INDEX + j]
        link_tagged(rows, TRIPLES, index, row, tag_of_row(rows, index, cells))
    return row


@kernel
def follow_joins(desk: Any, values: Any, signs: Any, out: Any, counts: Any) -> Any:
    """Take triples that come (1) and go (-1), and find the answers that change.

    Returns DONE, or what is short; the next call goes on.  `values` has three ids a triple.
    """
    rows = rows_on(desk)
    joins = joins_on(desk)
    state = joins.state
    patterns = joins.patterns
    primary = rows.relations[TRIPLES, layout.INDEX]
    for i in range(state[AT], signs.shape[0]):
        offset = 3 * i
        first = 0
        while first < patterns.shape[0] and not fits(patterns, first, values, offset):
            first += 1
        if first == patterns.shape[0]:
            continue
        row = find(rows, TRIPLES, primary, values, offset)
        if (row != 0) == (signs[i] > 0):
            continue
        state[AT] = i
        if signs[i] > 0:
            if not has_room(rows):
                return NEED_ROWS
            row = store_triple(rows, values, offset)
        found = state[FOUND]
        for pivot in range(first, patterns.shape[0]):
            if fits(patterns, pivot, values, offset):
                bind_pivot(joins, pivot, values, offset)
                if not join_from(rows, joins, pivot, row, signs[i], out, counts):
                    state[FOUND] = found
                    if signs[i] > 0:
                        remove_row(rows, TRIPLES, row)
                    return NEED_OUT
        if signs[i] < 0:
            remove_row(rows, TRIPLES, row)
    state[AT] = 0
    return DONE


@kernel
def all_joins(desk: Any, pivot: Any, row: Any, triple: Any, out: Any, counts: Any) -> Any:
    """Find all answers from the triples that fit one pattern, from a row on.

    Returns the row to go on with when `out` is full, 0 at the end.
    """
    rows = rows_on(desk)
    joins = joins_on(desk)
    state = joins.state
    while row < rows.relations[TRIPLES, layout.HIGH]:
        cells = row_address(rows, TRIPLES, row)
        if load_int32(cells, layout.FLAGS) & bits.LIVE:
            for column in range(3):
                triple[column] = load_int32(cells, layout.COLUMN + column)
            found = state[FOUND]
            if fits(joins.patterns, pivot, triple, 0):
                bind_pivot(joins, pivot, triple, 0)
                if not join_from(rows, joins, pivot, np.int64(0), np.int64(1), out, counts):
                    state[FOUND] = found
                    return row
        row += 1
    return np.int64(0)
