"""The layout of timed rows: where their times stand, what their flags mean, the working memory.

A timed row is a stored row (`store.facts.layout`) with other contents: a time stands in place of
counts, two more behind the columns, and of the flags only `bits.LIVE` means what it means there.
The plans are those of the fixpoint kernel, so the state begins with the fields of its state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from livefacts.engine.embedded.kernel import registers as code
from livefacts.store.facts import bits, layout
from livefacts.store.machine_code import Desk
from livefacts.store.table_types import Ids, IntRows, Ints, Numbering

NEVER = np.int64(-(1 << 63))
"""The time of what does not hold."""
FOREVER = np.int64((1 << 63) - 1)

# cells of a row: a time takes two
UNTIL = layout.PLAIN
spare = Numbering()
ASSERTED_BEHIND = spare(2)
LISTED_BEHIND = spare(2)
"""Counted from the end of the columns."""
SPARE_CELLS = spare.count

# flags of a row, besides `bits.LIVE`
PENDING = 1 << 1
"""Its time was raised, and it waits to be followed."""
LOGGED = 1 << 2
"""In the log of the change under way."""
WAS_ASSERTED = bits.EDGE
"""Was asserted at some time: what plans ask for that match only edges, and their indices."""
FALLEN = 1 << 4
"""Overdeleted: what it held for may be gone."""

# fields of the state, behind those of the fixpoint kernel
field = Numbering(code.STATE_FIELDS)
HEAPED = field()
"""How many entries wait to be followed."""
LISTED = field()
"""How many endings are listed."""
FALLEN_AT = field()
FALLEN_END = field()
GIVEN_AT = field()
PIVOT = field()
"""The row at hand: relation << 32 | row."""
NOW = field()
"""Nothing is raised to a time that is not after this one."""
STATE_FIELDS = field.count
LASTING_FIELDS = (code.DERIVED, LISTED, NOW)
"""What outlives a change."""

# fields of the log: which row, and its times as they were
LOG_FIELDS = 3
LOG_ENTRY, LOG_UNTIL, LOG_ASSERTED = range(LOG_FIELDS)


class Times(NamedTuple):
    """The working memory of the kernels on timed rows."""

    state: Ints
    waiting: IntRows
    """A heap: rows to be followed, those that last longest first; negated time, entry."""
    endings: IntRows
    """A heap: rows that end, the first to end first; time, entry."""
    log: IntRows
    """Rows that were touched: entry, `until` and `asserted` as they were."""
    fallen: Ints
    """Rows whose derivation may be gone."""
    out: Ids
    """Derived rows that are to be stored: relation, columns."""
    out_until: Ints
    env: Ids
    cursor: Ints
    least: Ints
    """At each depth of a join: the time of the premise, so far, that ends first."""
    key: Ids
    made: Ints
    made_relation: Ints
    of_relation: Ints
    tags: Ints
    answer: Ints


DESK = Desk(layout.StoredRows, code.Memo, Times)
rows_on, memo_on, times_on = DESK.readers()
