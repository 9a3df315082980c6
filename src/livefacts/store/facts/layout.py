"""The layout of stored facts: what the cells of a row, a relation and an index mean.

A relation holds the facts of one shape (triples; predicate facts of one arity) as rows
of int32 cells:

    flags (`bits`) | three counts | columns … | next and previous, per index …

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

from livefacts.store.table_types import IntRows, Numbering

# cells of a row
FLAGS, PLAIN, RECURSIVE, SINGLE, COLUMN = range(5)

# fields of a relation
MOST_INDICES = 32
MOST_PLANNED = 20
"""The indices that plans may ask for; the rest is for aggregates and the transitive rules."""
field = Numbering()
ADDRESS = field()
STRIDE = field()
COLUMNS = field()
HIGH = field()
"""One more than the largest row number ever used."""
CAPACITY = field()
FREE = field()
"""The first row of the list of free rows, linked through their first column."""
LIVE_ROWS = field()
INDEX_COUNT = field()
INDEX = field(MOST_INDICES)
RELATION_FIELDS = field.count

# fields of an index
field = Numbering()
SLOTS = field()
MASK = field()
USED = field()
LINK = field()
"""The cell of a row with the next row of the chain; the previous one is in the cell after it."""
WANTED = field()
"""The flags that a row must have to be in this index; 0 for all rows."""
KEYS = field()
KEY = field()
"""The columns of the key, as many as there are."""

OUT_ROWS = 4096
"""How many derived rows wait, at most, before they are stored."""


class StoredRows(NamedTuple):
    """What kernels need to know to reach every stored fact."""

    relations: IntRows
    indices: IntRows
