"""Reachability: the kernel that follows one or more predicates from a node, as far as they lead.

A breadth-first search over sorted columns for each start, one after the other.  A node is
stamped with the number of the start that has met it, so nothing is cleared in between.  The
stamps of inline integers lie behind those of the other terms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.queries.joins.leapfrog import lower, sign_of
from livefacts.store.machine_code import inlined, kernel, load_int32, tables_reader
from livefacts.store.table_types import IdRows, Ids, IntRows, Ints
from livefacts.store.terms.byte_text import address_of
from livefacts.store.terms.text_table import INLINE_FIRST
from livefacts.store.versions import snapshots as table

# fields of the state
START, HEAD, TAIL, LINK, RUN, ROW, FOUND, WORK = range(8)
STATE_FIELDS = 8
DONE, FULL = range(2)
PIECE_OF_WORK = 1 << 20


class ReachSearch(NamedTuple):
    """What is searched, and working memory."""

    orders: IntRows
    links: IdRows
    """The orders and predicates that lead from one node to the next."""
    starts: Ids
    inline: Ids
    """The inline integers that can be met, in order."""
    stamps: Ids
    queue: Ids
    state: Ints
    out: IdRows
    """The number of the start, and the node."""


search_on = tables_reader(ReachSearch)


@inlined
def rows_from(line: Any, predicate: Any, node: Any) -> Any:
    """Where the rows of a predicate and a node begin and end in a run."""
    keys = line[table.KEY_COUNT]
    key = lower(line[table.KEYS], np.int64(0), keys, predicate)
    if key >= keys or load_int32(line[table.KEYS], key) != predicate:
        return np.int64(0), np.int64(0)
    first = np.int64(load_int32(line[table.STARTS], key))
    last = np.int64(load_int32(line[table.STARTS], key + 1))
    first = lower(line[table.SECOND], first, last, node)
    return first, lower(line[table.SECOND], first, last, node + 1)


@inlined
def is_there(search: Any, link: Any, node: Any, value: Any) -> Any:
    """Whether the row that leads from a node to a value was not taken back."""
    runs = search.orders.shape[0] >> 2
    if runs == 1:
        return True
    total = np.int64(0)
    for run in range(runs):
        line = search.orders[search.links[link, 0] * runs + run]
        first, last = rows_from(line, search.links[link, 1], node)
        first = lower(line[table.THIRD], first, last, value)
        if first < last and load_int32(line[table.THIRD], first) == value:
            total += sign_of(line, first)
    return total > 0


@inlined
def meet(search: Any, node: Any) -> Any:
    """Note a node that was reached, unless it was before."""
    state, place = search.state, np.int64(node)
    if node >= INLINE_FIRST:
        inline = search.inline
        place = lower(address_of(inline), np.int64(0), np.int64(inline.shape[0]), node)
        place += search.stamps.shape[0] - inline.shape[0]
    stamp = np.int32(state[START] + 1)
    if search.stamps[place] == stamp:
        return
    search.stamps[place] = stamp
    search.queue[state[TAIL]] = node
    state[TAIL] += 1
    search.out[0, state[FOUND]] = state[START]
    search.out[1, state[FOUND]] = node
    state[FOUND] += 1


@inlined
def follow(search: Any, node: Any) -> Any:
    """Meet what a node leads to; whether there was room for all of it."""
    state, runs = search.state, search.orders.shape[0] >> 2
    while state[LINK] < search.links.shape[0]:
        link = state[LINK]
        while state[RUN] < runs:
            line = search.orders[search.links[link, 0] * runs + state[RUN]]
            first, last = rows_from(line, search.links[link, 1], node)
            first += state[ROW]
            while first < last:
                if state[FOUND] == search.out.shape[1]:
                    return False
                value = load_int32(line[table.THIRD], first)
                state[WORK] += 1
                if is_there(search, link, node, value):
                    meet(search, value)
                first += 1
                state[ROW] += 1
            state[RUN] += 1
            state[ROW] = 0
        state[LINK] += 1
        state[RUN] = 0
    state[LINK] = 0
    return True


@kernel
def reach(desk: NDArray[np.int64]) -> int:
    """Go on until every start is done, or the output is full, or it has worked for a while.

    The queue holds the start itself first, which is met only if something leads back to it.
    """
    search = search_on(desk)
    state = search.state
    state[WORK] = 0
    while state[START] < search.starts.shape[0]:
        if state[TAIL] == 0:
            search.queue[0] = search.starts[state[START]]
            state[TAIL] = 1
        while state[HEAD] < state[TAIL]:
            if not follow(search, search.queue[state[HEAD]]):
                return FULL
            state[HEAD] += 1
            if state[WORK] >= PIECE_OF_WORK:
                return FULL
        state[START] += 1
        state[HEAD] = 0
        state[TAIL] = 0
    return DONE
