"""Star kernels: which patterns hold of a centre, as bits.

A table with open addressing holds the centres of which at least one pattern holds, and a bit
for each pattern beside each of them; deleting shifts later entries back and leaves no
tombstones.  A pattern with one variable and a centre are one triple, so the bits say which
triples are there, and nothing else has to be kept.  A part without a variable is a star
whose only centre is number 0.

Paper: Gergatsoulis and Damigos, Algorithms 1 and 2.  A triple sets the bits of all patterns
that it fits, and a bit is cleared before the answer that it ends is reported.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from livefacts.store.machine_code import inlined, kernel, tables_reader
from livefacts.store.table_types import ByteRows, IdRows, Ids, Ints, Numbering

EMPTY = -1
"""Where a slot of the table has no centre."""
VARIABLE = -1
"""The centre, in a pattern."""
UNFIT = np.int64(-2)
NO_ROOM = -1
CENTRES_OF_A_TRIPLE = 3
"""A triple fits patterns under at most so many centres."""
SPREAD = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(32)

# fields of the state
field = Numbering()
USED = field()
WHOLE = field()
"""Centres of which all patterns hold."""
DONE = field()
FOUND = field()
"""Triples taken and answers found before room was short."""
STATE_FIELDS = field.count


class Star(NamedTuple):
    """The tables of one star."""

    patterns: IdRows
    full: ByteRows
    """The bits of a centre of which all patterns hold, in one row."""
    centres: Ids
    bits: ByteRows
    state: Ints


star_on = tables_reader(Star)


@inlined
def centre_of(patterns: Any, j: Any, triples: Any, i: Any) -> Any:
    """The centre under which triple i fits pattern j; 0 if it has none, UNFIT if it does not."""
    centre = np.int64(VARIABLE)
    for column in (1, 2, 0):
        slot = patterns[j, column]
        value = triples[i, column]
        if slot >= 0:
            if slot != value:
                return UNFIT
        elif centre < 0:
            centre = np.int64(value)
        elif centre != value:
            return UNFIT
    return centre if centre >= 0 else np.int64(0)


@inlined
def home_of(centre: Any, mask: Any) -> Any:
    """The slot where the search for a centre begins."""
    return np.int64((np.uint64(centre) * SPREAD) >> SHIFT) & mask


@inlined
def place_of(star: Any, centre: Any) -> Any:
    """The slot where a centre is or belongs."""
    mask = star.centres.shape[0] - 1
    at = home_of(centre, mask)
    while star.centres[at] != EMPTY and star.centres[at] != centre:
        at = (at + 1) & mask
    return at


@inlined
def is_whole(star: Any, at: Any) -> Any:
    """Whether all patterns hold of the centre in a slot."""
    word = star.full.shape[1] - 1
    while word >= 0 and star.bits[at, word] == star.full[0, word]:
        word -= 1
    return word < 0


@inlined
def is_bare(star: Any, at: Any) -> Any:
    """Whether no pattern holds of the centre in a slot."""
    word = star.full.shape[1] - 1
    while word >= 0 and star.bits[at, word] == 0:
        word -= 1
    return word < 0


@inlined
def drop(star: Any, slot: Any) -> Any:
    """Empty a slot and move later entries back so that all stay reachable."""
    mask = star.centres.shape[0] - 1
    hole = slot
    at = slot
    while True:
        at = (at + 1) & mask
        if star.centres[at] == EMPTY:
            break
        home = home_of(star.centres[at], mask)
        if ((at - home) & mask) >= ((at - hole) & mask):
            star.centres[hole] = star.centres[at]
            for word in range(star.full.shape[1]):
                star.bits[hole, word] = star.bits[at, word]
            hole = at
    star.centres[hole] = EMPTY
    for word in range(star.full.shape[1]):
        star.bits[hole, word] = 0
    star.state[USED] -= 1


@kernel
def follow_star(desk: Any, triples: Any, signs: Any, rows: Any, counts: Any) -> Any:
    """Take triples that come (1) and go (-1); how many answers change, or NO_ROOM.

    Where room was short, the next call goes on.  `rows` and `counts` take three answers a
    triple.
    """
    star = star_on(desk)
    state = star.state
    found = state[FOUND]
    for i in range(state[DONE], triples.shape[0]):
        if (state[USED] + CENTRES_OF_A_TRIPLE) * 10 > star.centres.shape[0] * 7:
            state[DONE] = i
            state[FOUND] = found
            return NO_ROOM
        for j in range(star.patterns.shape[0]):
            centre = centre_of(star.patterns, j, triples, i)
            if centre == UNFIT:
                continue
            at = place_of(star, centre)
            word = j >> 3
            bit = np.uint8(1 << (j & 7))
            if signs[i] > 0:
                if star.bits[at, word] & bit:
                    continue
                if star.centres[at] == EMPTY:
                    star.centres[at] = centre
                    state[USED] += 1
                star.bits[at, word] |= bit
                if not is_whole(star, at):
                    continue
                state[WHOLE] += 1
            else:
                if not star.bits[at, word] & bit:
                    continue
                was_whole = is_whole(star, at)
                star.bits[at, word] ^= bit
                if is_bare(star, at):
                    drop(star, at)
                if not was_whole:
                    continue
                state[WHOLE] -= 1
            rows[found] = centre
            counts[found] = signs[i]
            found += 1
    state[DONE] = 0
    state[FOUND] = 0
    return found


@kernel
def move_star(old: Any, new: Any) -> Any:
    """Put the entries of a star into larger or smaller tables."""
    source = star_on(old)
    target = star_on(new)
    for at in range(source.centres.shape[0]):
        if source.centres[at] != EMPTY:
            to = place_of(target, np.int64(source.centres[at]))
            target.centres[to] = source.centres[at]
            for word in range(source.full.shape[1]):
                target.bits[to, word] = source.bits[at, word]


@kernel
def whole_centres(desk: Any, found: Any) -> Any:
    """Collect the centres of which all patterns hold."""
    star = star_on(desk)
    count = 0
    for at in range(star.centres.shape[0]):
        if star.centres[at] != EMPTY and is_whole(star, at):
            found[count] = star.centres[at]
            count += 1
