"""Joins of solutions: rows of two bags that agree, by sorting one side and looking up the other.

Two rows agree if they have the same value wherever both have one.  The rows of a side are split
by which of the shared variables they bind: most often that is one part, and so one join.

Every function asks for `room` before it makes rows, with how many the answer would have then,
and calls `pause` between pieces; either may raise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from livefacts.engine.queries.row_keys import Keys, row_keys
from livefacts.engine.queries.solutions import UNBOUND, Flags, Ids, Rows, Solutions, together

PIECE = 1 << 18
"""How many pairs of rows are made at once; a row that agrees with more makes a larger piece."""

Pause = Callable[[], None]
Room = Callable[[int], None]
Pair = tuple[Rows, Rows]


def no_pause() -> None:
    """Go on at once."""


def any_room(rows: int) -> None:
    """Any number of rows is allowed."""


def joined(
    left: Solutions, right: Solutions, *, pause: Pause = no_pause, room: Room = any_room
) -> Solutions:
    """Rows of the left and of the right side that agree, together."""
    made, pieces = 0, []
    for lefts, rights in _pairs(left, right, pause):
        made += len(lefts)
        room(made)
        pieces.append(_paired(left, right, lefts, rights))
    return together(pieces)


def left_joined(
    left: Solutions,
    right: Solutions,
    condition: Callable[[Solutions], Flags] | None = None,
    *,
    pause: Pause = no_pause,
    room: Room = any_room,
) -> Solutions:
    """The same for pairs that fit a condition, and the rows of the left side that are in none."""
    made, pieces = 0, []
    alone = np.ones(left.count, np.bool_)
    for lefts, rights in _pairs(left, right, pause):
        room(made + len(lefts))
        piece = _paired(left, right, lefts, rights)
        if condition is not None:
            fits = condition(piece)
            piece, lefts = piece.at(fits), lefts[fits]
        alone[lefts] = False
        made += piece.count
        pieces.append(piece)
    room(made + int(alone.sum()))
    return together([*pieces, left.at(alone)])


def minus(left: Solutions, right: Solutions, *, pause: Pause = no_pause) -> Solutions:
    """Rows of the left side that agree with none of the right that shares a value with them."""
    kept = np.ones(left.count, np.bool_)
    for lefts, rights, names in _parts_of_both(left, right):
        pause()
        if names:
            keys, others = _keys(left, right, lefts, rights, names)
            kept[lefts[np.isin(keys, others)]] = False
    return left if kept.all() else left.at(kept)


def distinct(rows: Solutions) -> Solutions:
    """Each row once, in the order in which they come first."""
    keys = row_keys(list(rows.columns.values()), rows.count)
    first = np.sort(np.unique(keys, return_index=True)[1])
    single = Solutions(rows.count, rows.columns)
    return single if len(first) == rows.count else single.at(first)


def _pairs(left: Solutions, right: Solutions, pause: Pause) -> Iterator[Pair]:
    """The numbers of rows that agree, in pieces."""
    for lefts, rights, names in _parts_of_both(left, right):
        keys, others = _keys(left, right, lefts, rights, names)
        if len(others) <= len(keys):
            found = _equal_pairs(keys, others)
        else:
            found = ((one, other) for other, one in _equal_pairs(others, keys))
        for one, other in found:
            yield lefts[one], rights[other]
            pause()


def _equal_pairs(keys: Keys, others: Keys) -> Iterator[Pair]:
    """Where keys of one side are among those of the other, which are fewer."""
    order = np.argsort(others, kind="stable")
    in_order = others[order]
    first = np.searchsorted(in_order, keys, "left")
    counts = np.searchsorted(in_order, keys, "right") - first
    ends = np.cumsum(counts)
    start, total = 0, int(ends[-1]) if len(ends) else 0
    while start < len(ends) and total:
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + PIECE, "right")))
        here = counts[start:stop]
        rows = np.repeat(np.arange(start, stop), here)
        if len(rows):
            # The first place of each row, and how far its pairs have come.
            shifts = first[start:stop] - (ends[start:stop] - here - before)
            yield rows, order[np.repeat(shifts, here) + np.arange(len(rows))]
        start = stop


def _paired(left: Solutions, right: Solutions, lefts: Rows, rights: Rows) -> Solutions:
    """Rows of both sides side by side."""
    columns: dict[str, Ids] = {name: column[lefts] for name, column in left.columns.items()}
    for name, column in right.columns.items():
        if name not in columns:
            columns[name] = column[rights]
        elif not left.is_certain(name):
            mine = columns[name]
            columns[name] = np.where(mine == UNBOUND, column[rights], mine)
    counts = None if left.counts is None else left.counts[lefts]
    others = None if right.counts is None else right.counts[rights]
    return Solutions(len(lefts), columns, counts).times(others)


def _parts_of_both(left: Solutions, right: Solutions) -> Iterator[tuple[Rows, Rows, Sequence[str]]]:
    """Rows of both sides that bind the same variables each, and those that both of them bind."""
    shared = [name for name in left.columns if name in right.columns]
    if not (left.count and right.count):
        return
    others = bound_parts(right, shared)
    for lefts, mine in bound_parts(left, shared):
        for rights, theirs in others:
            yield lefts, rights, [name for name in shared if name in mine and name in theirs]


def bound_parts(rows: Solutions, names: Sequence[str]) -> list[tuple[Rows, set[str]]]:
    """The rows by which of the variables they bind."""
    uncertain = [name for name in names if not rows.is_certain(name)]
    if not uncertain:
        return [(np.arange(rows.count), set(names))]
    bound = [(rows.columns[name] != UNBOUND).astype(np.int32) for name in uncertain]
    keys = row_keys(bound, rows.count)
    parts = []
    for key in np.unique(keys):
        here = np.flatnonzero(keys == key)
        unbound = {n for n, flags in zip(uncertain, bound, strict=True) if not flags[here[0]]}
        parts.append((here, set(names) - unbound))
    return parts


def _keys(
    left: Solutions, right: Solutions, lefts: Rows, rights: Rows, names: Sequence[str]
) -> tuple[Keys, Keys]:
    """Keys of some variables, for rows of both sides."""
    columns = [
        np.concatenate([left.columns[name][lefts], right.columns[name][rights]]) for name in names
    ]
    keys = row_keys(columns, len(lefts) + len(rights))
    return keys[: len(lefts)], keys[len(lefts) :]
