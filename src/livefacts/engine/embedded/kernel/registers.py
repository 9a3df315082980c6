"""The registers of the fixpoint kernel: the arrays it works on, and the meaning of their fields.

Plans are tables of numbers; the position of the kernel, its queue and its buffers are
arrays, so that it can stop anywhere and go on later.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from livefacts.store.facts import bits, layout
from livefacts.store.machine_code import Desk, described, inlined, kernel, tables_reader
from livefacts.store.table_types import Floats, IdRows, Ids, IntRows, Ints, Numbering

# what a call returns
status = Numbering()
DONE = status()
PAUSED = status()
NEED_ROOM = status()
ASK_NUMBER = status()
ASK_PAIR = status()
ASK_KEY = status()
ASK_SCHEMA = status()
ASK_UNSCHEMA = status()
LOST_ASIDE = status()
"""Losses that are followed in Python wait: edges of transitive rules, kinds without triples."""

# fields of a plan
field = Numbering()
FIRST_STEP = field()
STEP_COUNT = field()
PIVOT_PATTERN = field()
PIVOT_NEEDS = field()
HEAD_RELATION = field()
HEAD_PATTERN = field()
HEAD_SUPPORT = field()
RULE = field()
"""The line of the tally that the rule's instances are counted in."""
PLAN_FIELDS = field.count

# fields of a step, and of those that match no row; a step that looks in no index scans
STEP_FIELDS = 8
KIND, RELATION, LOOKUP, PATTERN, BINDS, CHECKS, NEEDS, BEFORE = range(STEP_FIELDS)
OPERATOR, LEFT, RIGHT, TARGET = range(KIND + 1, KIND + 5)
MATCH, ABSENT, COMPARE, COMPUTE = range(4)
SCAN = -1

# operators, for COMPARE and COMPUTE
EQUAL, UNEQUAL, LESS, AT_MOST, MORE, AT_LEAST, SAME, DIFFERENT = range(8)
ADD, SUBTRACT, MULTIPLY, DIVIDE, COPY = range(DIFFERENT + 1, DIFFERENT + 6)
DATATYPE, VALUE, NARROWEST = range(COPY + 1, COPY + 4)

# which counter a reason raises; its low bits are flags
COUNT_SHIFT = 16
FLAG_BITS = (1 << COUNT_SHIFT) - 1
REASON_BITS = bits.ASSERTED | bits.IN_DEFAULT | bits.CLOSED
"""The flags that are reasons themselves; the others follow from the reasons."""
bit = Numbering(COUNT_SHIFT)
COUNT_PLAIN = 1 << bit()
COUNT_RECURSIVE = 1 << bit()
COUNT_SINGLE = 1 << bit()
QUIET = 1 << bit()
"""Only count: the same reason is given in another way."""

# what a run does; as the source of a run, GIVEN are facts that have not changed
GAIN, LOSE, GIVEN = range(3)

# stages of a level, in their order
OPEN, LOSING, REDERIVE, GAINING, CLOSE = range(5)

# phases of a run
NEXT_PIVOT, NEXT_PLAN, JOINING = range(3)

# fields of the state
field = Numbering()
PHASE = field()
GAINS_AT = field()
GAINS_END = field()
LOSSES_AT = field()
LOSSES_END = field()
OUT_COUNT = field()
LOG_COUNT = field()
EDGES_COUNT = field()
BUCKET = field()
BUCKET_AT = field()
PLAN = field()
DEPTH = field()
UPGRADE = field()
ROOTED = field()
ASKED = field(3)
"""What Python is asked about: an operator or a subject, and two terms."""
DERIVED = field()
"""Rule instances found since the machine was made."""
MADE = field()
"""Rows made by the change under way."""
DOOMS_SINGLE = field()
"""Whether consequences of single triples take part in recursion with other rules."""
DOOMS_ALL = field()
"""Whether every loss dooms, whatever counters say, as delete-and-rederive without them does."""
NEGATIVES_AT = field()
IS_NEGATIVE = field()
EMPTIED = field()
"""Kinds of triples of which the last one was lost."""
STAGE = field()
"""Where in a level the kernel has stopped."""
LEVELS = field()
"""How many levels have been opened in the pass under way."""
EPOCH = field()
"""The number of the change."""
TURNS = field()
"""Plans to run until the next is timed."""
GIVEN_END = field()
ASSERTED_COUNT = field()
"""Rows made by an assertion."""
CAME_LISTED = field(2)
WENT_LISTED = field(2)
"""How many facts the change has made, or ended, net, and their relation if it is one."""
MODE = field()
"""What is done with the rows that wait in `out`."""
WORK = field()
"""Steps since the kernel paused: rows looked at, plans begun."""
STATE_FIELDS = field.count
LASTING_FIELDS = (DERIVED, DOOMS_SINGLE, DOOMS_ALL, EPOCH, TURNS)
"""What outlives a change."""

# fields of the tally
field = Numbering()
LOOKED = field()
"""Facts taken as the pivot of a plan of the rule."""
FOUND = field()
"""Instances of the rule."""
NEW = field()
"""Facts that an instance of the rule was the first to derive."""
TICKS = field()
"""Time, in ticks of the processor's counter, estimated from a sample."""
TALLY_FIELDS = field.count
MOST_LOOKED = 1 << 12
"""Rows that do not match an atom, one after the other, before the kernel looks at its budget."""
MEAN_TURNS = 64
"""One plan in so many is timed, at random."""

# lines of the tally: rules that are followed by single triples are counted together
SINGLE_RULES, NO_RULE, FIRST_RULE = range(3)

# fields of a key of consequences
field = Numbering()
KEY_PREDICATE = field()
"""One more than the predicate."""
KEY_OBJECT = field()
"""One more than the object, or 0 for any."""
KEY_FIRST = field()
KEY_COUNT = field()
"""Its heads: the first, and how many."""
KEY_MODE = field()
KEY_TRIPLES = field()
"""How many triples of this kind are followed."""
KEY_EPOCH = field()
"""The last change that followed any."""
KEY_BEFORE = field()
"""How many there were before that change."""
KEY_FIELDS = field.count

# modes of a key
KEY_BY_OBJECT, KEY_SCHEMA, KEY_REMOVED = range(1, 4)

# what a head of consequences takes from the triple, where it has no id
SUBJECT = -1
OBJECT = -2

MOST_EDGE_PLANS = 64
"""Transitive rules whose edge one fact can be."""

ANY_FACT = 40
"""Shift of the bucket key for plans whose pivot has a variable as predicate."""

# kinds of numbers, as model.values.number_of gives them
EXACT, ROUNDED, DOUBLE = range(1, 4)
NAME = 9
"""What is no literal: it is equal to itself alone."""

SPREAD = np.uint64(0x9E3779B97F4A7C15)
OTHER_SPREAD = np.uint64(0xC2B2AE3D27D4EB4F)

INLINE = np.int64(1 << 30)
INLINE_HALF = np.int64(1 << 29)

# fields of the log: which row, and its flags and counts as they were
LOG_FIELDS = 6
LOG_RELATION, LOG_ROW, LOG_FLAGS, LOG_PLAIN, LOG_RECURSIVE, LOG_SINGLE = range(LOG_FIELDS)


class Plans(NamedTuple):
    """Compiled rules of one level."""

    plans: IntRows
    steps: IntRows
    patterns: Ids
    buckets: IntRows
    """Open addressing: relation and predicate, object or 0, first, count in `listed`."""
    listed: Ints


class Consequences(NamedTuple):
    """What follows from a single triple under the closed schema, by kind of triple."""

    keys: IntRows
    """Open addressing: the fields of a key below; empty where no path is followed."""
    heads: IdRows
    """Rows of three: an id, or -1 for the subject, -2 for the object."""


class Memo(NamedTuple):
    """What Python has answered: numbers of terms, and results of operators on pairs."""

    number_ids: Ints
    number_kinds: Ints
    number_values: Floats
    pairs: IntRows
    """Open addressing: operator and left + 1, right, result."""


class Machine(NamedTuple):
    """The working memory of the kernel, kept between calls."""

    state: Ints
    gains: Ints
    """Facts that have come or risen: relation << 32 | row, in the order they were found."""
    losses: Ints
    """Facts that have gone or fallen."""
    edges: IntRows
    """Edges of transitive rules that were lost: entry, plan."""
    out: Ids
    log: IntRows
    """Relation, row, flags and counts of rows from before the change, as they were."""
    env: Ids
    cursor: Ints
    key: Ids
    made: Ints
    made_relation: Ints
    of_relation: Ints
    tags: Ints
    answer: Ints
    tally: IntRows
    """By rule, since the machine was made: its instances, and what they cost."""
    rule_of: Ints
    """The line of the tally that each row in `out` belongs to."""
    came: Ints
    went: Ints
    """The facts that the change has made, and those that it has ended, net, each once."""
    places: IntRows
    ways: IntRows
    objects: IntRows
    """The ways back from consequences to asserted triples (`foundation.Ways`); empty if unknown."""
    probe: Ids


DESK = Desk(layout.StoredRows, Consequences, Memo, Machine)
"""On which everything of a store lies when Python calls the kernel."""
rows_on, consequences_on, memo_on, machine_on = DESK.readers()
plans_in = tables_reader(Plans)


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
