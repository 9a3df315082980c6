"""The registers of the fixpoint kernel: the arrays it works on, and the meaning of their fields.

Plans are tables of numbers; the position of the kernel, its queue and its buffers are
arrays, so that it can stop anywhere and go on later.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.store.compiled import (
    FLOATS,
    ID_ROWS,
    IDS,
    INT_ROWS,
    INTS,
    described,
    inlined,
    kernel,
    length_described,
    tables_reader,
)
from livefacts.store.facts.layout import ASSERTED, CLOSED, IN_DEFAULT, StoredRows

# what a call returns
DONE = 0
PAUSED = 1
NEED_ROOM = 2
ASK_NUMBER = 3
ASK_PAIR = 4
ASK_KEY = 5
ASK_SCHEMA = 6
ASK_UNSCHEMA = 7
LOST_ASIDE = 8
"""Losses that are followed in Python wait: edges of transitive rules, kinds without triples."""

# fields of a plan
FIRST_STEP = 0
STEP_COUNT = 1
PIVOT_PATTERN = 2
PIVOT_NEEDS = 3
HEAD_RELATION = 4
HEAD_PATTERN = 5
HEAD_SUPPORT = 6
RULE = 7
"""The line of the tally that the rule's instances are counted in."""
PLAN_FIELDS = 8

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
EQUAL, UNEQUAL, LESS, AT_MOST, MORE, AT_LEAST, SAME, DIFFERENT = 0, 1, 2, 3, 4, 5, 6, 7
ADD, SUBTRACT, MULTIPLY, DIVIDE, COPY = 8, 9, 10, 11, 12
DATATYPE, VALUE, NARROWEST = 13, 14, 15

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
GIVEN = 2
"""As the source of a run: facts that have not changed."""

# stages of a level, in their order
OPEN = 0
LOSING = 1
REDERIVE = 2
GAINING = 3
CLOSE = 4

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
STAGE = 24
"""Where in a level the kernel has stopped."""
LEVELS = 25
"""How many levels have been opened in the pass under way."""
ASSERTED_COUNT = 29
"""Rows made by an assertion."""
NEGATIVES_AT = 21
IS_NEGATIVE = 22
COLLECTED = 30
"""How many facts the change has made, net, and their relation if it is one; then how many
it has ended, and theirs."""
EPOCH = 26
"""The number of the change."""
TURNS = 27
"""Plans to run until the next is timed."""
GIVEN_END = 28
MODE = 34
"""What is done with the rows that wait in `out`."""
STATE_FIELDS = 35
LASTING_FIELDS = (DERIVED, DOOMS_SINGLE, DOOMS_ALL, EPOCH, TURNS)
"""What outlives a change."""

# fields of the tally
LOOKED = 0
"""Facts taken as the pivot of a plan of the rule."""
FOUND = 1
"""Instances of the rule."""
NEW = 2
"""Facts that an instance of the rule was the first to derive."""
TICKS = 3
"""Time, in ticks of the processor's counter, estimated from a sample."""
TALLY_FIELDS = 4
SINGLE_RULES = 0
"""The line of all rules that are followed by single triples, which are counted together."""
NO_RULE = 1
FIRST_RULE = 2
MEAN_TURNS = 64
"""One plan in so many is timed, at random."""

# fields of a key of consequences
KEY_PREDICATE = 0
"""One more than the predicate."""
KEY_OBJECT = 1
"""One more than the object, or 0 for any."""
KEY_FIRST = 2
KEY_COUNT = 3
"""Its heads: the first, and how many."""
KEY_MODE = 4
KEY_TRIPLES = 5
"""How many triples of this kind are followed."""
KEY_EPOCH = 6
"""The last change that followed any."""
KEY_BEFORE = 7
"""How many there were before that change."""
KEY_FIELDS = 8

# modes of a key
KEY_BY_OBJECT = 1
KEY_SCHEMA = 2
KEY_REMOVED = 3

MOST_EDGE_PLANS = 64
"""Transitive rules whose edge one fact can be."""

ANY_FACT = 40
"""Shift of the bucket key for plans whose pivot has a variable as predicate."""

# kinds of numbers, as model.values.number_of gives them
EXACT = 1
ROUNDED = 2
DOUBLE = 3
NAME = 9
"""What is no literal: it is equal to itself alone."""

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
    """Open addressing: the fields of a key below; empty where no path is followed."""
    heads: NDArray[np.int32]
    """Rows of three: an id, or -1 for the subject, -2 for the object."""


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
    tally: NDArray[np.int64]
    """By rule, since the machine was made: its instances, and what they cost."""
    rule_of: NDArray[np.int64]
    """The line of the tally that each row in `out` belongs to."""
    came: NDArray[np.int64]
    went: NDArray[np.int64]
    """The facts that the change has made, and those that it has ended, net, each once."""
    places: NDArray[np.int64]
    ways: NDArray[np.int64]
    objects: NDArray[np.int64]
    """The ways back from consequences to asserted triples (`grounded.Ways`); empty if unknown."""
    probe: NDArray[np.int32]


# Python calls the kernel with two vectors of addresses: the desk, on which everything of a
# store lies, and the plans to run.
ROWS_TABLES = (INT_ROWS, INT_ROWS)
CONSEQUENCES_TABLES = (INT_ROWS, ID_ROWS)
MEMO_TABLES = (INTS, INTS, FLOATS, INT_ROWS)
MACHINE_TABLES = (
    *(INTS, INTS, INTS, INT_ROWS, IDS, INT_ROWS, IDS, INTS, IDS),
    *(INTS, INTS, INTS, INTS, INTS, INT_ROWS, INTS, INTS, INTS),
    *(INT_ROWS, INT_ROWS, INT_ROWS, IDS),
)
ROWS_ON_DESK = 0
CONSEQUENCES_ON_DESK = ROWS_ON_DESK + length_described(ROWS_TABLES)
MEMO_ON_DESK = CONSEQUENCES_ON_DESK + length_described(CONSEQUENCES_TABLES)
MACHINE_ON_DESK = MEMO_ON_DESK + length_described(MEMO_TABLES)
DESK_LENGTH = MACHINE_ON_DESK + length_described(MACHINE_TABLES)
rows_on = tables_reader(StoredRows, ROWS_TABLES, ROWS_ON_DESK)
consequences_on = tables_reader(Consequences, CONSEQUENCES_TABLES, CONSEQUENCES_ON_DESK)
memo_on = tables_reader(Memo, MEMO_TABLES, MEMO_ON_DESK)
machine_on = tables_reader(Machine, MACHINE_TABLES, MACHINE_ON_DESK)
plans_in = tables_reader(Plans, (INT_ROWS, INT_ROWS, IDS, INT_ROWS, INTS))


class BoundPlans:
    """Plans and the vector that describes them to the kernel."""

    __slots__ = ("tables", "vector")

    def __init__(self, tables: Plans) -> None:
        self.tables = tables
        self.vector = np.array(described(tables), np.int64)

    def __len__(self) -> int:
        return len(self.tables.listed)

    def apart(self) -> BoundPlans:
        """The same plans, in a table of their own that may be changed."""
        return BoundPlans(self.tables._replace(plans=self.tables.plans.copy()))


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
def find_entry(table: Any, first: Any, second: Any) -> Any:
    """The same, to call from Python."""
    return lookup_entry(table, first, second)


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


SUBJECT = -1


OBJECT = -2
