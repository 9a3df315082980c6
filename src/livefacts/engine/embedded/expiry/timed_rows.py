"""Timed rows: each carries the time until which its fact holds, and a heap knows who expires next.

A row has three times: `until`, that of its best derivation; `asserted`, that of the fact as it
was given; and `listed`, under which it waits in the heap of expiration times.  That heap is put
right lazily: a row whose time was raised stays where it is, and is listed again when its
old time has come.  So a moving window looks at what expires, and at nothing else.

The times stand in cells that other engines use for counts, and in spare ones behind the
columns.  `log` keeps the times of every row that the change under way has touched: an
undo puts them back, and what they have become is the delta.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from livefacts.engine.embedded.expiry import timed_layout as timed
from livefacts.engine.embedded.expiry.timed_layout import rows_on, times_on
from livefacts.engine.embedded.kernel import registers as code
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_kernels import LOW, find, remove_row, row_address
from livefacts.store.machine_code import inlined, kernel, load_int32, store_int32


@inlined
def load_time(cells: Any, at: Any) -> Any:
    return (np.int64(load_int32(cells, at + 1)) << 32) | (np.int64(load_int32(cells, at)) & LOW)


@inlined
def store_time(cells: Any, at: Any, time: Any) -> Any:
    store_int32(cells, at, np.int32(time & LOW))
    store_int32(cells, at + 1, np.int32(time >> 32))


@inlined
def asserted_cell(rows: Any, relation: Any) -> Any:
    """The cell in which `asserted` begins."""
    return layout.COLUMN + rows.relations[relation, layout.COLUMNS] + timed.ASSERTED_BEHIND


@inlined
def listed_cell(rows: Any, relation: Any) -> Any:
    return layout.COLUMN + rows.relations[relation, layout.COLUMNS] + timed.LISTED_BEHIND


@inlined
def push(heap: Any, state: Any, field: Any, key: Any, entry: Any) -> Any:
    """Put an entry into a heap; the field of the state says how many it has."""
    at = state[field]
    state[field] = at + 1
    while at:
        above = (at - 1) >> 1
        if heap[above, 0] <= key:
            break
        heap[at, 0] = heap[above, 0]
        heap[at, 1] = heap[above, 1]
        at = above
    heap[at, 0] = key
    heap[at, 1] = entry


@inlined
def pop(heap: Any, state: Any, field: Any) -> Any:
    """Take the entry with the least key from a heap that is not empty."""
    first = heap[0, 1]
    count = state[field] - 1
    state[field] = count
    key, entry = heap[count, 0], heap[count, 1]
    at, below = np.int64(0), np.int64(1)
    while below < count:
        if below + 1 < count and heap[below + 1, 0] < heap[below, 0]:
            below += 1
        if heap[below, 0] >= key:
            break
        heap[at, 0] = heap[below, 0]
        heap[at, 1] = heap[below, 1]
        at, below = below, 2 * below + 1
    heap[at, 0] = key
    heap[at, 1] = entry
    return first


@kernel
def read_times(desk: Any, relation: Any, numbers: Any, until: Any, asserted: Any) -> Any:
    """Both times of rows of a relation."""
    rows = rows_on(desk)
    asserted_at = asserted_cell(rows, relation)
    for i in range(numbers.shape[0]):
        cells = row_address(rows, relation, numbers[i] & LOW)
        until[i] = load_time(cells, timed.UNTIL)
        asserted[i] = load_time(cells, asserted_at)


@kernel
def read_rows(
    desk: Any, relation: Any, index: Any, pattern: Any, span: Any, facts: Any, until: Any
) -> Any:
    """Copy the facts that fit a pattern and end within a span; returns how many there are.

    A negative number in the pattern fits anything.  The span excludes its first time and
    includes its last.  Rows come from an index, or are all looked through if that is SCAN.
    """
    rows = rows_on(desk)
    data, width = (
        rows.relations[relation, layout.ADDRESS],
        4 * rows.relations[relation, layout.STRIDE],
    )
    high, columns = rows.relations[relation, layout.HIGH], facts.shape[1]
    row, link = np.int64(1), np.int64(0)
    if index != code.SCAN:
        link = rows.indices[index, layout.LINK]
        row = find(rows, relation, index, pattern, columns)
    count = 0
    while row and row < high:
        cells = data + width * row
        time = load_time(cells, timed.UNTIL)
        fits = (
            load_int32(cells, layout.FLAGS) & bits.LIVE != 0 and time > span[0] and time <= span[1]
        )
        for j in range(columns):
            if fits and pattern[j] >= 0 and pattern[j] != load_int32(cells, layout.COLUMN + j):
                fits = False
        if fits:
            for j in range(columns):
                facts[count, j] = load_int32(cells, layout.COLUMN + j)
            until[count] = time
            count += 1
        if index == code.SCAN:
            row += 1
        else:
            row = np.int64(load_int32(cells, link)) if link else np.int64(0)
    return count


@kernel
def settle(desk: Any) -> Any:
    """End a change: what does not hold is removed, and what ends is listed.

    The heap of endings has room for as many entries as the log has.
    """
    rows, times = rows_on(desk), times_on(desk)
    for i in range(times.state[code.LOG_COUNT]):
        relation, row = times.log[i, timed.LOG_ENTRY] >> 32, times.log[i, timed.LOG_ENTRY] & LOW
        cells = row_address(rows, relation, row)
        until = load_time(cells, timed.UNTIL)
        if until == timed.NEVER:
            remove_row(rows, relation, row)
            continue
        store_int32(cells, layout.FLAGS, np.int32(load_int32(cells, layout.FLAGS) & ~timed.LOGGED))
        list_ending(rows, times, times.log[i, timed.LOG_ENTRY], cells, until)
    forget_change(times.state)


@inlined
def list_ending(rows: Any, times: Any, entry: Any, cells: Any, until: Any) -> Any:
    """List a row that ends, unless it is listed under a time that is early enough."""
    at = listed_cell(rows, entry >> 32)
    listed = load_time(cells, at)
    if until != timed.FOREVER and (listed == timed.NEVER or until < listed):
        store_time(cells, at, until)
        push(times.endings, times.state, timed.LISTED, until, entry)


@kernel
def undo(desk: Any) -> Any:
    """Put back the times of every row that was touched; a row that was made is removed."""
    rows, times = rows_on(desk), times_on(desk)
    for i in range(times.state[code.LOG_COUNT]):
        relation, row = times.log[i, timed.LOG_ENTRY] >> 32, times.log[i, timed.LOG_ENTRY] & LOW
        cells = row_address(rows, relation, row)
        if times.log[i, timed.LOG_UNTIL] == timed.NEVER:
            remove_row(rows, relation, row)
            continue
        store_time(cells, timed.UNTIL, times.log[i, timed.LOG_UNTIL])
        store_time(cells, asserted_cell(rows, relation), times.log[i, timed.LOG_ASSERTED])
        flags = load_int32(cells, layout.FLAGS)
        store_int32(
            cells, layout.FLAGS, np.int32(flags & ~(timed.LOGGED | timed.PENDING | timed.FALLEN))
        )
    forget_change(times.state)


@inlined
def forget_change(state: Any) -> Any:
    """The next change begins; here, so that no change can be ended or undone twice."""
    for field in range(timed.STATE_FIELDS):
        if field not in timed.LASTING_FIELDS:
            state[field] = 0


@kernel
def take_ended(desk: Any, now: Any, ended: Any, first: Any) -> Any:
    """Collect rows that do not last beyond `now`, from place `first` on; how many there are.

    Stops when the place is full.  A row that lasts longer than it is listed for is listed
    again.
    """
    rows, times = rows_on(desk), times_on(desk)
    count = first
    while times.state[timed.LISTED] and times.endings[0, 0] <= now and count < ended.shape[0]:
        time = times.endings[0, 0]
        entry = pop(times.endings, times.state, timed.LISTED)
        cells = row_address(rows, entry >> 32, entry & LOW)
        at = listed_cell(rows, entry >> 32)
        if load_int32(cells, layout.FLAGS) == 0 or load_time(cells, at) != time:
            continue
        until = load_time(cells, timed.UNTIL)
        store_time(cells, at, timed.NEVER)
        if until > now:
            list_ending(rows, times, entry, cells, until)
        else:
            ended[count] = entry
            count += 1
    return count


@kernel
def remove_rows(desk: Any, relation: Any, numbers: Any) -> Any:
    rows = rows_on(desk)
    for i in range(numbers.shape[0]):
        remove_row(rows, relation, numbers[i])
