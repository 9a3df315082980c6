"""The layout of stored facts: what the cells of a row, a relation and an index mean.

A relation holds the facts of one shape (triples; predicate facts of one arity) as rows
of int32 cells:

    flags | three counts | columns … | next and previous, per index …

The counts are the instances of rules that derive the fact: of rules that do not depend on
it, of rules that do (recursive), and consequences of single triples under the schema.

Row numbers start at 1.  Rows with equal key columns form a chain through an index; the
primary index (number 0 of its relation) is on all columns, so its chains have length 1
and need no links.  An index is a table of int64 slots, a 32-bit tag and a row number,
with open addressing; deleting shifts later slots back and leaves no tombstones.

Kernels see all relations through two int64 tables, `Rows.relations` and `Rows.indices`,
whose fields are named here.  They hold addresses: the arrays behind them belong to
`RowStore`, which keeps them alive and moves them only between kernel calls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# cells of a row
FLAGS = 0
PLAIN = 1
RECURSIVE = 2
SINGLE = 3
COLUMN = 4

# flags of a row
LIVE = 1
ASSERTED = 2
VISIBLE = 4
"""Taken part as a pivot: seen by other pivots."""
EDGE = 8
"""Holds for a reason other than the transitive rule of its predicate."""
ROOT = 16
"""Holds for a reason other than being a consequence of one triple under the schema."""
CLOSED = 32
"""Derived by the transitive rule of its predicate."""
FRESH = 64
"""Made by the change under way."""
TOUCHED = 128
"""There before the change under way, which has kept a copy of it."""
NEW_EDGE = 256
NEW_ROOT = 512
"""Became an edge or a root when it was visible already, and waits to be taken as one."""

KNOWN_SCHEMA = 1024
"""The closed schema has taken this triple in."""
DOOMED = 8192
"""Lost what held it up, in the level under way; it may still be rederived."""
GONE = 16384
"""Ended by the change under way, in a level that is complete."""
UNSEEN = 32768
"""Made or ended by the change, and not yet so for the negations of the level under way."""
UNLINKED = 4096
"""Just made, and not yet under the secondary indices."""
LOST_EDGE = 1 << 16
LOST_ROOT = 1 << 17
"""Ceased to be an edge or a root while it still holds, and waits to be followed."""
CAME = 1 << 20
"""Became true in the pass under way; a change of rules takes two passes over the levels."""
DEAD = 1 << 21
"""Ended in an earlier pass of the change under way."""
ENDED = DOOMED | GONE | DEAD
FELL_EDGE = 1 << 22
FELL_ROOT = 1 << 23
ROSE_EDGE = 1 << 24
ROSE_ROOT = 1 << 25
"""Ceased or began to be an edge or a root in the pass under way, for the levels to come."""
SUSPECT = 1 << 26
"""Rederived by recursive reasons alone, which may come from rules of a level to come."""
COUNTED = 1 << 27
"""Listed among the facts that the change has made or ended."""
MOVED = FELL_EDGE | FELL_ROOT | ROSE_EDGE | ROSE_ROOT
TRANSIENT = FRESH | TOUCHED | CAME | MOVED | SUSPECT | COUNTED
IN_DOUBT = 1 << 18
LOST_PAIR = 1 << 19
VISITED = 1 << 28
"""Marks of transitive losses: a pair that may be lost, one that is, and one that a search met."""
IN_DEFAULT = 2048
"""Asserted in the default graph; `ASSERTED` alone can come from named graphs."""

# fields of a relation
ADDRESS = 0
STRIDE = 1
COLUMNS = 2
HIGH = 3
"""One more than the largest row number ever used."""
CAPACITY = 4
FREE = 5
"""The first row of the list of free rows, linked through their first column."""
LIVE_ROWS = 6
INDEX_COUNT = 7
INDEX = 8
MOST_INDICES = 32
MOST_PLANNED = 20
"""The indices that plans may ask for; the rest is for aggregates and the transitive rules."""

# fields of an index
SLOTS = 0
MASK = 1
USED = 2
LINK = 3
"""The cell of a row with the next row of the chain; the previous one is in the cell after it."""
WANTED = 4
"""The flags that a row must have to be in this index; 0 for all rows."""
KEYS = 5
KEY = 6

OUT_ROWS = 4096
"""How many derived rows wait, at most, before they are stored."""


class StoredRows(NamedTuple):
    """What kernels need to know to reach every stored fact."""

    relations: NDArray[np.int64]
    indices: NDArray[np.int64]
