"""The machine: what the fixpoint kernel works on, and the meaning of its fields.

Plans are tables of numbers; the position of the kernel, its queue and its buffers are
arrays, so that it can stop anywhere and go on later.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.store.compiled import (
    inlined,
    kernel,
)
from livefacts.store.layout import ASSERTED, CLOSED, IN_DEFAULT

# what a call returns
DONE = 0
PAUSED = 1
NEED_ROOM = 2
ASK_NUMBER = 3
ASK_PAIR = 4
ASK_KEY = 5
ASK_SCHEMA = 6
ASK_UNSCHEMA = 7

# fields of a plan
FIRST_STEP = 0
STEP_COUNT = 1
PIVOT_PATTERN = 2
PIVOT_NEEDS = 3
HEAD_RELATION = 4
HEAD_PATTERN = 5
HEAD_SUPPORT = 6
PLAN_FIELDS = 7

# fields of a step, by its kind
KIND = 0
MATCH = 0
ABSENT = 1
COMPARE = 2
COMPUTE = 3
RELATION = 1
LOOKUP = 2
PATTERN = 3
BINDS = 4
CHECKS = 5
NEEDS = 6
BEFORE = 7
OPERATOR = 1
LEFT = 2
RIGHT = 3
TARGET = 4
STEP_FIELDS = 8
SCAN = -1

# operators, for COMPARE and COMPUTE
EQUAL, UNEQUAL, LESS, AT_MOST, MORE, AT_LEAST, SAME = 0, 1, 2, 3, 4, 5, 6
ADD, SUBTRACT, MULTIPLY, DIVIDE, COPY, DATATYPE = 8, 9, 10, 11, 12, 13

# which counter a reason raises; its low bits are flags
FLAG_BITS = 0xFFFF
REASON_BITS = ASSERTED | IN_DEFAULT | CLOSED
"""The flags that are reasons themselves; the others follow from the reasons."""
COUNT_SHIFT = 16
COUNT_PLAIN = 1 << COUNT_SHIFT
COUNT_RECURSIVE = 2 << COUNT_SHIFT
COUNT_SINGLE = 4 << COUNT_SHIFT
QUIET = 8 << COUNT_SHIFT
"""Only count: the same reason is given in another way."""

# what a run does
GAIN = 0
LOSE = 1

# fields of the state
PHASE = 0
NEXT_PIVOT = 0
NEXT_PLAN = 1
JOINING = 2
GAINS_AT = 1
GAINS_END = 2
LOSSES_AT = 3
LOSSES_END = 4
OUT_COUNT = 5
LOG_COUNT = 6
EDGES_COUNT = 7
BUCKET = 8
BUCKET_AT = 9
PLAN = 10
DEPTH = 11
UPGRADE = 12
ROOTED = 13
ASKED = 14
DERIVED = 17
"""Rule instances found since the machine was made."""
MADE = 18
"""Rows made by the change under way."""
DOOMS_SINGLE = 19
"""Whether consequences of single triples take part in recursion with other rules."""
DOOMS_ALL = 20
"""Whether every loss dooms, whatever counters say, as delete-and-rederive without them does."""
EMPTIED = 23
"""Kinds of triples of which the last one was lost."""
NEGATIVES_AT = 21
IS_NEGATIVE = 22
STATE_FIELDS = 24

# consequences by key
KEY_BY_OBJECT = 1
KEY_SCHEMA = 2

MOST_EDGE_PLANS = 64
"""Transitive rules whose edge one fact can be."""

ANY_FACT = 40
"""Shift of the bucket key for plans whose pivot has a variable as predicate."""

# kinds of numbers, as model.values.number_of gives them
EXACT = 1
ROUNDED = 2
DOUBLE = 3

SPREAD = np.uint64(0x9E3779B97F4A7C15)
OTHER_SPREAD = np.uint64(0xC2B2AE3D27D4EB4F)

INLINE = np.int64(1 << 30)
INLINE_HALF = np.int64(1 << 29)
LOG_FIELDS = 6


class Plans(NamedTuple):
    """Compiled rules of one level."""

    plans: NDArray[np.int64]
    steps: NDArray[np.int64]
    patterns: NDArray[np.int32]
    buckets: NDArray[np.int64]
    """Open addressing: relation and predicate, object or 0, first, count in `listed`."""
    listed: NDArray[np.int64]


class Consequences(NamedTuple):
    """What follows from a single triple under the closed schema, by kind of triple."""

    keys: NDArray[np.int64]
    """Open addressing: predicate + 1, object + 1 or 0, first head, count, mode, triples."""
    heads: NDArray[np.int32]
    """Rows of three: an id, or -1 for the subject, -2 for the object."""
    active: bool


class Memo(NamedTuple):
    """What Python has answered: numbers of terms, and results of operators on pairs."""

    number_ids: NDArray[np.int64]
    number_kinds: NDArray[np.int64]
    number_values: NDArray[np.float64]
    pairs: NDArray[np.int64]
    """Open addressing: operator and left + 1, right, result."""


class Machine(NamedTuple):
    """The working memory of the kernel, kept between calls."""

    state: NDArray[np.int64]
    gains: NDArray[np.int64]
    """Facts that have come or risen: relation << 32 | row, in the order they were found."""
    losses: NDArray[np.int64]
    """Facts that have gone or fallen."""
    edges: NDArray[np.int64]
    """Edges of transitive rules that were lost: entry, plan."""
    out: NDArray[np.int32]
    log: NDArray[np.int64]
    """Relation, row, flags and counts of rows from before the change, as they were."""
    env: NDArray[np.int32]
    cursor: NDArray[np.int64]
    key: NDArray[np.int32]
    made: NDArray[np.int64]
    made_relation: NDArray[np.int64]
    of_relation: NDArray[np.int64]
    tags: NDArray[np.int64]
    answer: NDArray[np.int64]


@inlined
def slot_of(first: Any, second: Any, mask: Any) -> Any:
    state = np.uint64(first) * SPREAD ^ np.uint64(second) * OTHER_SPREAD
    return np.int64((state ^ (state >> np.uint64(29))) >> np.uint64(20)) & mask


@inlined
def lookup_entry(table: Any, first: Any, second: Any) -> Any:
    """The line of an open-addressing table with this two-part key, or -1."""
    mask = table.shape[0] - 1
    at = slot_of(first, second, mask)
    while table[at, 0]:
        if table[at, 0] == first and table[at, 1] == second:
            return at
        at = (at + 1) & mask
    return np.int64(-1)


@kernel
def place_entry(table: Any, first: Any, second: Any) -> Any:
    """The line where this key is or should be put; the caller keeps the table half empty."""
    mask = table.shape[0] - 1
    at = slot_of(first, second, mask)
    while table[at, 0] and not (table[at, 0] == first and table[at, 1] == second):
        at = (at + 1) & mask
    return at


@kernel
def number_place(memo: Any, term: Any) -> Any:
    mask = memo.number_ids.shape[0] - 1
    at = slot_of(term + 1, 0, mask)
    while memo.number_ids[at] and memo.number_ids[at] != term + 1:
        at = (at + 1) & mask
    return at
