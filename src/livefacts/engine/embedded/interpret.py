"""The fixpoint kernel: runs plans over rows until nothing new follows.

Facts wait in a queue.  Each is taken once as the *pivot* of every plan it fits; the
other atoms of the plan are matched depth first through indices.  A fact becomes visible
when it has been taken: atoms before the pivot match visible rows other than the pivot,
atoms after it visible rows or the pivot, so every instance of a rule is found exactly
once.  Derived facts wait in a buffer and are stored in blocks.

The kernel never allocates and never calls back.  It returns a status when it is done,
when its work budget is used up, when it needs room, or when it needs an answer that only
Python can give (the value of a literal, the consequences of a new kind of triple); its
position is kept in `Machine.state`, and the next call goes on from there.

Papers: semi-naive evaluation (DynamiTE, section 2), one fact at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.store.compiled import inlined, kernel, load_int32, load_int64, prefetch, store_int32
from livefacts.store.layout import (
    ADDRESS,
    CAPACITY,
    COLUMN,
    COLUMNS,
    EDGE,
    FLAGS,
    FRESH,
    HIGH,
    INDEX,
    INDEX_COUNT,
    KEY,
    KEYS,
    KNOWN_SCHEMA,
    LINK,
    MASK,
    NEW_EDGE,
    NEW_ROOT,
    OUT_ROWS,
    PLAIN,
    RECURSIVE,
    ROOT,
    SLOTS,
    STRIDE,
    TOUCHED,
    UNLINKED,
    USED,
    VISIBLE,
)
from livefacts.store.rowkernels import (
    BLOCK,
    LOW,
    find,
    find_tagged,
    link_gained,
    link_made,
    make_row,
    mix,
    remove_row,
    row_address,
    tag_of_key,
    unlink_lost,
)

# what a call returns
DONE = 0
PAUSED = 1
NEED_ROOM = 2
ASK_NUMBER = 3
ASK_PAIR = 4
ASK_KEY = 5
ASK_SCHEMA = 6

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
EQUAL, UNEQUAL, LESS, AT_MOST, MORE, AT_LEAST = 0, 1, 2, 3, 4, 5
ADD, SUBTRACT, MULTIPLY, DIVIDE, COPY, DATATYPE = 8, 9, 10, 11, 12, 13

# which counter a head raises
COUNT_SHIFT = 16
COUNT_PLAIN = 1 << COUNT_SHIFT
COUNT_RECURSIVE = 2 << COUNT_SHIFT

# fields of the state
PHASE = 0
NEXT_PIVOT = 0
NEXT_PLAN = 1
JOINING = 2
QUEUE_AT = 1
QUEUE_END = 2
OUT_COUNT = 3
LOG_COUNT = 4
BUCKET = 5
BUCKET_AT = 6
PLAN = 7
DEPTH = 8
UPGRADE = 9
ASKED = 10
DERIVED = 13
"""Rule instances found since the machine was made."""
MADE = 14
"""Rows made by the change under way."""
ROOTED = 15
STATE_FIELDS = 16

# consequences by key
KEY_BY_OBJECT = 1
KEY_SCHEMA = 2

ANY_FACT = 40
"""Shift of the bucket key for plans whose pivot has a variable as predicate."""

# kinds of numbers, as model.values.number_of gives them
EXACT = 1
ROUNDED = 2
DOUBLE = 3

INLINE = np.int64(1 << 30)
INLINE_HALF = np.int64(1 << 29)
LOG_FIELDS = 5


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
    """Open addressing: predicate + 1, object + 1 or 0, first head, count, mode."""
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
    queue: NDArray[np.int64]
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
    state = mix(mix(mix(np.uint64(7), first), first >> 32), second)
    return np.int64(state >> np.uint64(33)) & mask


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


# ---- values


@inlined
def ordered(operator: Any, order: Any) -> Any:
    """Whether a comparison holds when left is below (-1), equal to (0) or above (1) right."""
    if operator == EQUAL:
        return order == 0
    if operator == UNEQUAL:
        return order != 0
    if operator == LESS:
        return order < 0
    if operator == AT_MOST:
        return order <= 0
    if operator == MORE:
        return order > 0
    return order >= 0


@inlined
def ask(state: Any, operator: Any, left: Any, right: Any) -> Any:
    state[ASKED] = operator
    state[ASKED + 1] = left
    state[ASKED + 2] = right


@kernel
def recall_pair(memo: Any, state: Any, operator: Any, left: Any, right: Any, answer: Any) -> Any:
    """Put the remembered result into answer[0]; ask for it if there is none."""
    at = lookup_entry(memo.pairs, ((operator + 1) << 32) | left, right)
    if at < 0:
        ask(state, operator, left, right)
        return ASK_PAIR
    answer[0] = memo.pairs[at, 2]
    return DONE


@kernel
def recall_number(memo: Any, state: Any, term: Any) -> Any:
    """The place of a term in the table of numbers, or -1 with the question asked."""
    at = number_place(memo, term)
    if memo.number_ids[at] == 0:
        ask(state, 0, term, 0)
        return np.int64(-1)
    return at


@kernel
def compare(memo: Any, state: Any, operator: Any, left: Any, right: Any, answer: Any) -> Any:
    """answer[0] = whether the comparison holds; returns DONE or a question."""
    if left >= INLINE and right >= INLINE:
        order = np.int64(0)
        if left < right:
            order = np.int64(-1)
        elif left > right:
            order = np.int64(1)
        answer[0] = ordered(operator, order)
        return DONE
    left_kind, right_kind = np.int64(EXACT), np.int64(EXACT)
    left_value = np.float64(left - INLINE - INLINE_HALF)
    right_value = np.float64(right - INLINE - INLINE_HALF)
    if left < INLINE:
        at = recall_number(memo, state, left)
        if at < 0:
            return ASK_NUMBER
        left_kind, left_value = memo.number_kinds[at], memo.number_values[at]
    if right < INLINE:
        at = recall_number(memo, state, right)
        if at < 0:
            return ASK_NUMBER
        right_kind, right_value = memo.number_kinds[at], memo.number_values[at]
    # Rounding to the nearest double keeps order: only a tie of rounded values is open.
    doubles = (left_kind == DOUBLE and right_kind <= DOUBLE) or (
        right_kind == DOUBLE and left_kind <= DOUBLE
    )
    if doubles and (np.isnan(left_value) or np.isnan(right_value)):
        answer[0] = operator == UNEQUAL
        return DONE
    if doubles or (left_kind <= ROUNDED and right_kind <= ROUNDED and left_value != right_value):
        order = np.int64(left_value > right_value) - np.int64(left_value < right_value)
        answer[0] = ordered(operator, order)
        return DONE
    if left_kind == EXACT and right_kind == EXACT:
        answer[0] = ordered(operator, np.int64(0))
        return DONE
    return recall_pair(memo, state, operator, left, right, answer)


@kernel
def compute(memo: Any, state: Any, operator: Any, left: Any, right: Any, answer: Any) -> Any:
    """answer[0] = the id of the result, or -1 for none; returns DONE or a question."""
    if operator == COPY:
        answer[0] = left
        return DONE
    if left >= INLINE and right >= INLINE and operator <= MULTIPLY:
        a = left - INLINE - INLINE_HALF
        b = right - INLINE - INLINE_HALF
        if operator == ADD:
            result = a + b
        elif operator == SUBTRACT:
            result = a - b
        else:
            result = a * b
        if -INLINE_HALF <= result < INLINE_HALF:
            answer[0] = result + INLINE + INLINE_HALF
            return DONE
    return recall_pair(memo, state, operator, left, right, answer)


# ---- storing what was derived


@inlined
def remember(machine: Any, relation: Any, row: Any, cells: Any) -> Any:
    """Keep a copy of a row from before the change, once, so that it can be undone."""
    flags = load_int32(cells, FLAGS)
    if flags & (FRESH | TOUCHED):
        return
    at = machine.state[LOG_COUNT]
    machine.log[at, 0] = relation
    machine.log[at, 1] = row
    machine.log[at, 2] = flags
    machine.log[at, 3] = load_int32(cells, PLAIN)
    machine.log[at, 4] = load_int32(cells, RECURSIVE)
    machine.state[LOG_COUNT] = at + 1
    store_int32(cells, FLAGS, np.int32(flags | TOUCHED))


@inlined
def enqueue(machine: Any, relation: Any, row: Any) -> Any:
    end = machine.state[QUEUE_END]
    machine.queue[end] = (relation << 32) | row
    machine.state[QUEUE_END] = end + 1


@inlined
def support_row(rows: Any, machine: Any, relation: Any, row: Any, cells: Any, support: Any) -> Any:
    """Give a stored row one more reason to hold."""
    remember(machine, relation, row, cells)
    old = np.int64(load_int32(cells, FLAGS))
    flags = old | (support & 0xFFFF)
    gained = flags & ~old
    if gained & EDGE and not old & UNLINKED:
        store_int32(cells, FLAGS, np.int32(flags))
        link_gained(rows, relation, row, EDGE)
    if old & VISIBLE:
        waiting = np.int64(0)
        if gained & EDGE:
            waiting |= NEW_EDGE
        if gained & ROOT:
            waiting |= NEW_ROOT
        if waiting:
            if not old & (NEW_EDGE | NEW_ROOT):
                enqueue(machine, relation, row)
            flags |= waiting
    store_int32(cells, FLAGS, np.int32(flags))
    if support & COUNT_PLAIN:
        store_int32(cells, PLAIN, np.int32(load_int32(cells, PLAIN) + 1))
    elif support & COUNT_RECURSIVE:
        store_int32(cells, RECURSIVE, np.int32(load_int32(cells, RECURSIVE) + 1))


@kernel
def has_room(rows: Any, machine: Any) -> Any:
    """Whether a full buffer can be stored whatever its rows are."""
    if machine.state[QUEUE_END] + OUT_ROWS > machine.queue.shape[0]:
        return False
    if machine.state[LOG_COUNT] + OUT_ROWS > machine.log.shape[0]:
        return False
    for relation in range(rows.relations.shape[0]):
        if rows.relations[relation, HIGH] + OUT_ROWS >= rows.relations[relation, CAPACITY]:
            return False
        for j in range(rows.relations[relation, INDEX_COUNT]):
            index = rows.relations[relation, INDEX + j]
            if (rows.indices[index, USED] + OUT_ROWS) * 10 > (rows.indices[index, MASK] + 1) * 7:
                return False
    return True


@inlined
def prefetch_out(rows: Any, machine: Any, width: Any, first: Any, end: Any) -> Any:
    """Tags of waiting rows first … end, and their slots and rows on the way to cache."""
    for i in range(first, end):
        index = rows.relations[machine.out[i * width], INDEX]
        tag = tag_of_key(machine.out, i * width + 2, rows.indices[index, KEYS])
        machine.tags[i - first] = tag
        prefetch(rows.indices[index, SLOTS] + 8 * (tag & rows.indices[index, MASK]))
    for i in range(first, end):
        relation = np.int64(machine.out[i * width])
        index = rows.relations[relation, INDEX]
        tag = machine.tags[i - first]
        entry = load_int64(rows.indices[index, SLOTS], tag & rows.indices[index, MASK])
        if entry and (entry >> 32) & LOW == tag:
            prefetch(row_address(rows, relation, entry & LOW))


@kernel
def link_new(rows: Any, machine: Any, count: Any) -> Any:
    """Link the rows just made under the secondary indices, relation by relation."""
    for relation in range(rows.relations.shape[0]):
        found = 0
        for i in range(count):
            if machine.made_relation[i] == relation:
                machine.of_relation[found] = machine.made[i]
                found += 1
        if found:
            link_made(rows, relation, machine.of_relation, found, machine.tags)


@kernel
def store_out(rows: Any, machine: Any, width: Any) -> Any:
    """Store the waiting rows; False if there is no room, with nothing done."""
    if not has_room(rows, machine):
        return False
    count = machine.state[OUT_COUNT]
    new = 0
    for first in range(0, count, BLOCK):
        end = min(first + BLOCK, count)
        prefetch_out(rows, machine, width, first, end)
        for i in range(first, end):
            relation = np.int64(machine.out[i * width])
            support = np.int64(machine.out[i * width + 1])
            index = rows.relations[relation, INDEX]
            tag = machine.tags[i - first]
            row = find_tagged(rows, relation, index, tag, machine.out, i * width + 2)
            if row == 0:
                row = make_row(rows, relation, machine.out, i * width + 2, tag)
                cells = row_address(rows, relation, row)
                store_int32(cells, FLAGS, np.int32(load_int32(cells, FLAGS) | FRESH | UNLINKED))
                machine.made[new] = row
                machine.made_relation[new] = relation
                new += 1
                enqueue(machine, relation, row)
            support_row(rows, machine, relation, row, row_address(rows, relation, row), support)
    link_new(rows, machine, new)
    machine.state[MADE] += new
    machine.state[OUT_COUNT] = 0
    return True


# ---- matching


@inlined
def bind_pivot(patterns: Any, pattern: Any, columns: Any, cells: Any, env: Any) -> Any:
    """Match the pivot row with its pattern, binding variables; False if it does not fit."""
    bound = np.int64(0)
    for j in range(columns):
        wanted = patterns[pattern + j]
        value = load_int32(cells, COLUMN + j)
        if wanted >= 0:
            if wanted != value:
                return False
        else:
            slot = -wanted - 1
            if (bound >> slot) & 1:
                if env[slot] != value:
                    return False
            else:
                env[slot] = value
                bound |= np.int64(1) << slot
    return True


@inlined
def fill_key(rows: Any, index: Any, patterns: Any, pattern: Any, env: Any, key: Any) -> Any:
    for j in range(rows.indices[index, KEYS]):
        wanted = patterns[pattern + rows.indices[index, KEY + j]]
        key[j] = wanted if wanted >= 0 else env[-wanted - 1]


@inlined
def fits(plans: Any, step: Any, columns: Any, cells: Any, env: Any) -> Any:
    """Bind the new variables of an atom to a row and check what the index did not."""
    binds = plans.steps[step, BINDS]
    checks = plans.steps[step, CHECKS]
    if binds | checks == 0:
        return True
    pattern = plans.steps[step, PATTERN]
    for j in range(columns):
        if (binds >> j) & 1:
            env[-plans.patterns[pattern + j] - 1] = load_int32(cells, COLUMN + j)
        elif (checks >> j) & 1:
            wanted = plans.patterns[pattern + j]
            if wanted < 0:
                wanted = env[-wanted - 1]
            if load_int32(cells, COLUMN + j) != wanted:
                return False
    return True


@inlined
def next_match(rows: Any, plans: Any, machine: Any, step: Any, row: Any, pivot: Any) -> Any:
    """The first row from `row` on (-1: from the start) that matches an atom, or 0.

    `pivot` is the queue entry of the pivot row, which counts as visible or not
    according to the side of the pivot on which the atom stands.
    """
    relation = plans.steps[step, RELATION]
    index = plans.steps[step, LOOKUP]
    needs = plans.steps[step, NEEDS]
    columns = rows.relations[relation, COLUMNS]
    data = rows.relations[relation, ADDRESS]
    width = 4 * rows.relations[relation, STRIDE]
    if index == SCAN:
        row = np.int64(1) if row < 0 else row + 1
    elif row < 0:
        fill_key(rows, index, plans.patterns, plans.steps[step, PATTERN], machine.env, machine.key)
        row = find(rows, relation, index, machine.key, 0)
    else:
        link = rows.indices[index, LINK]
        row = np.int64(load_int32(data + width * row, link)) if link else np.int64(0)
    high = rows.relations[relation, HIGH]
    while row and row < high:
        cells = data + width * row
        flags = load_int32(cells, FLAGS)
        seen = flags & VISIBLE != 0
        if (relation << 32) | row == pivot:
            seen = plans.steps[step, BEFORE] == 0 or machine.state[UPGRADE] != 0
        if seen and flags & needs == needs and fits(plans, step, columns, cells, machine.env):
            return row
        if index == SCAN:
            row += 1
        else:
            link = rows.indices[index, LINK]
            row = np.int64(load_int32(cells, link)) if link else np.int64(0)
    return np.int64(0)


@inlined
def operand(code: Any, env: Any) -> Any:
    return code if code >= 0 else np.int64(env[-code - 1])


@kernel
def run_check(rows: Any, plans: Any, memo: Any, machine: Any, step: Any) -> Any:
    """A step that matches no row: answer[1] says whether the instance goes on."""
    kind = plans.steps[step, KIND]
    if kind == ABSENT:
        index = plans.steps[step, LOOKUP]
        fill_key(rows, index, plans.patterns, plans.steps[step, PATTERN], machine.env, machine.key)
        machine.answer[1] = find(rows, plans.steps[step, RELATION], index, machine.key, 0) == 0
        return DONE
    operator = plans.steps[step, OPERATOR]
    left = operand(plans.steps[step, LEFT], machine.env)
    right = operand(plans.steps[step, RIGHT], machine.env)
    if kind == COMPARE:
        status = compare(memo, machine.state, operator, left, right, machine.answer)
        machine.answer[1] = machine.answer[0]
        return status
    status = compute(memo, machine.state, operator, left, right, machine.answer)
    if status == DONE:
        machine.answer[1] = machine.answer[0] >= 0
        if machine.answer[0] >= 0:
            machine.env[-plans.steps[step, TARGET] - 1] = np.int32(machine.answer[0])
    return status


@inlined
def emit(rows: Any, plans: Any, machine: Any, plan: Any, width: Any) -> Any:
    """Put the head of a found instance into the buffer."""
    at = machine.state[OUT_COUNT] * width
    relation = plans.plans[plan, HEAD_RELATION]
    pattern = plans.plans[plan, HEAD_PATTERN]
    machine.out[at] = relation
    machine.out[at + 1] = plans.plans[plan, HEAD_SUPPORT]
    for j in range(rows.relations[relation, COLUMNS]):
        wanted = plans.patterns[pattern + j]
        machine.out[at + 2 + j] = wanted if wanted >= 0 else machine.env[-wanted - 1]
    machine.state[OUT_COUNT] += 1
    machine.state[DERIVED] += 1


@inlined
def join(
    rows: Any, plans: Any, memo: Any, machine: Any, pivot: Any, width: Any, budget: Any
) -> Any:
    """Go on with the instances of the present plan and pivot; DONE when all are found."""
    state = machine.state
    plan = state[PLAN]
    count = plans.plans[plan, STEP_COUNT]
    first = plans.plans[plan, FIRST_STEP] - 1
    depth = state[DEPTH]
    work = 0
    while depth > 0:
        if depth > count:
            if state[OUT_COUNT] == OUT_ROWS and not store_out(rows, machine, width):
                state[DEPTH] = depth
                return NEED_ROOM
            emit(rows, plans, machine, plan, width)
            depth -= 1
            continue
        work += 1
        if work > budget:
            state[DEPTH] = depth
            return PAUSED
        step = first + depth
        if plans.steps[step, KIND] == MATCH:
            row = next_match(rows, plans, machine, step, machine.cursor[depth], pivot)
        elif machine.cursor[depth] < 0:
            status = run_check(rows, plans, memo, machine, step)
            if status != DONE:
                state[DEPTH] = depth
                return status
            row = machine.answer[1]
        else:
            row = np.int64(0)
        if row == 0:
            depth -= 1
            continue
        machine.cursor[depth] = row
        depth += 1
        if depth <= count:
            machine.cursor[depth] = -1
    state[DEPTH] = 0
    return DONE


@inlined
def next_plan(plans: Any, state: Any, relation: Any, predicate: Any, obj: Any) -> Any:
    """The next plan that the pivot may fit, or -1.

    Plans wait in buckets: by predicate and object, by predicate, and for any fact.
    """
    while state[BUCKET] < 3:
        if state[BUCKET] == 0:
            first, second = (relation << 32) | (predicate + 1), obj + 1
        elif state[BUCKET] == 1:
            first, second = (relation << 32) | (predicate + 1), np.int64(0)
        else:
            first, second = (relation + 1) << ANY_FACT, np.int64(0)
        at = lookup_entry(plans.buckets, first, second)
        if at >= 0 and state[BUCKET_AT] < plans.buckets[at, 3]:
            plan = plans.listed[plans.buckets[at, 2] + state[BUCKET_AT]]
            state[BUCKET_AT] += 1
            return plan
        state[BUCKET] += 1
        state[BUCKET_AT] = 0
    return np.int64(-1)


@inlined
def take_consequences(
    consequences: Any, machine: Any, width: Any, flags: Any, s: Any, p: Any, o: Any
) -> Any:
    """Emit what follows from one triple under the schema; DONE or a question."""
    state = machine.state
    at = lookup_entry(consequences.keys, np.int64(p) + 1, np.int64(0))
    if at >= 0 and consequences.keys[at, 4] == KEY_BY_OBJECT:
        at = lookup_entry(consequences.keys, np.int64(p) + 1, np.int64(o) + 1)
    if at < 0:
        ask(state, 0, p, o)
        return ASK_KEY
    if consequences.keys[at, 4] == KEY_SCHEMA:
        if flags & KNOWN_SCHEMA:
            return DONE
        ask(state, s, p, o)
        return ASK_SCHEMA
    first = consequences.keys[at, 2]
    count = consequences.keys[at, 3]
    for i in range(first, first + count):
        out = state[OUT_COUNT] * width
        machine.out[out] = 0
        machine.out[out + 1] = EDGE | COUNT_PLAIN
        for j in range(3):
            code = consequences.heads[i, j]
            machine.out[out + 2 + j] = code if code >= 0 else (s if code == -1 else o)
        state[OUT_COUNT] += 1
    state[DERIVED] += count
    return DONE


@inlined
def start_pivot(
    rows: Any, consequences: Any, machine: Any, relation: Any, row: Any, cells: Any, width: Any
) -> Any:
    """Before the plans: consequences of a single triple, and whether it is an upgrade."""
    state = machine.state
    flags = load_int32(cells, FLAGS)
    if consequences.active and relation == 0 and state[ROOTED] == 0:
        wanted = NEW_ROOT if flags & VISIBLE else ROOT
        if flags & wanted:
            s, p = load_int32(cells, COLUMN), load_int32(cells, COLUMN + 1)
            o = load_int32(cells, COLUMN + 2)
            status = take_consequences(consequences, machine, width, flags, s, p, o)
            if status != DONE:
                return status
    state[ROOTED] = 1
    state[UPGRADE] = flags & NEW_EDGE if flags & VISIBLE else 0
    state[BUCKET] = 3
    if not flags & VISIBLE or flags & NEW_EDGE:
        state[BUCKET] = 0 if relation == 0 else 1
    state[BUCKET_AT] = 0
    return DONE


@kernel
def run(rows: Any, plans: Any, consequences: Any, memo: Any, machine: Any, budget: Any) -> Any:
    """Take facts from the queue until it is empty; returns why it stopped."""
    state = machine.state
    width = machine.out.shape[0] // OUT_ROWS
    work = 0
    while True:
        if state[PHASE] == NEXT_PIVOT:
            waiting = state[QUEUE_AT] == state[QUEUE_END]
            if (waiting and state[OUT_COUNT] > 0) or state[OUT_COUNT] > OUT_ROWS // 2:
                if not store_out(rows, machine, width):
                    return NEED_ROOM
                waiting = state[QUEUE_AT] == state[QUEUE_END]
            if waiting:
                return DONE
            work += 1
            if work > budget:
                return PAUSED
        entry = machine.queue[state[QUEUE_AT]]
        relation = entry >> 32
        cells = row_address(rows, relation, entry & LOW)
        if state[PHASE] == NEXT_PIVOT:
            status = start_pivot(rows, consequences, machine, relation, entry & LOW, cells, width)
            if status != DONE:
                return status
            state[PHASE] = NEXT_PLAN
        if state[PHASE] == JOINING:
            status = join(rows, plans, memo, machine, entry, width, budget)
            if status != DONE:
                return status
            state[PHASE] = NEXT_PLAN
        if plans.listed.shape[0] == 0:
            state[BUCKET] = 3
        columns = rows.relations[relation, COLUMNS]
        predicate = np.int64(load_int32(cells, COLUMN + (1 if relation == 0 else 0)))
        obj = np.int64(load_int32(cells, COLUMN + 2)) if relation == 0 else np.int64(-1)
        while True:
            plan = next_plan(plans, state, relation, predicate, obj)
            if plan < 0:
                break
            needs = plans.plans[plan, PIVOT_NEEDS]
            if load_int32(cells, FLAGS) & needs != needs or (state[UPGRADE] and not needs & EDGE):
                continue
            pattern = plans.plans[plan, PIVOT_PATTERN]
            if bind_pivot(plans.patterns, pattern, columns, cells, machine.env):
                state[PLAN] = plan
                state[DEPTH] = 1
                machine.cursor[1] = -1
                work += 1
                state[PHASE] = JOINING
                status = join(rows, plans, memo, machine, entry, width, budget)
                if status != DONE:
                    return status
                state[PHASE] = NEXT_PLAN
        cells = row_address(rows, relation, entry & LOW)
        flags = np.int64(load_int32(cells, FLAGS))
        store_int32(cells, FLAGS, np.int32((flags | VISIBLE) & ~(NEW_EDGE | NEW_ROOT)))
        state[QUEUE_AT] += 1
        state[ROOTED] = 0
        state[PHASE] = NEXT_PIVOT


@kernel
def support_facts(
    rows: Any, machine: Any, relation: Any, facts: Any, support: Any, first: Any
) -> Any:
    """Give facts a reason from number `first` on; returns how far there was room.

    The buffer must be empty.
    """
    width = machine.out.shape[0] // OUT_ROWS
    count = facts.shape[0]
    columns = facts.shape[1]
    while first < count:
        end = min(first + OUT_ROWS, count)
        for i in range(first, end):
            at = (i - first) * width
            machine.out[at] = relation
            machine.out[at + 1] = support
            for j in range(columns):
                machine.out[at + 2 + j] = facts[i, j]
        machine.state[OUT_COUNT] = end - first
        if not store_out(rows, machine, width):
            machine.state[OUT_COUNT] = 0
            return first
        first = end
    return first


@kernel
def settle(rows: Any, machine: Any, relation: Any, made: Any) -> Any:
    """End a change: collect the rows it made in a relation, and forget that they are new."""
    count = 0
    for i in range(machine.state[QUEUE_END]):
        entry = machine.queue[i]
        if entry >> 32 == relation:
            cells = row_address(rows, relation, entry & LOW)
            flags = load_int32(cells, FLAGS)
            if flags & FRESH:
                store_int32(cells, FLAGS, np.int32(flags & ~FRESH))
                made[count] = entry & LOW
                count += 1
    return count


@kernel
def hide_queue(rows: Any, machine: Any) -> Any:
    """Make every fact of the change a pivot again."""
    for i in range(machine.state[QUEUE_END]):
        cells = row_address(rows, machine.queue[i] >> 32, machine.queue[i] & LOW)
        store_int32(cells, FLAGS, np.int32(load_int32(cells, FLAGS) & ~VISIBLE))


@kernel
def undo(rows: Any, machine: Any) -> Any:
    """Remove every row that the change has made, and restore those it has touched."""
    for i in range(machine.state[QUEUE_END]):
        relation, row = machine.queue[i] >> 32, machine.queue[i] & LOW
        if load_int32(row_address(rows, relation, row), FLAGS) & FRESH:
            remove_row(rows, relation, row)
    for i in range(machine.state[LOG_COUNT]):
        relation, row = machine.log[i, 0], machine.log[i, 1]
        cells = row_address(rows, relation, row)
        if not machine.log[i, 2] & EDGE:
            unlink_lost(rows, relation, row, EDGE)
        store_int32(cells, FLAGS, np.int32(machine.log[i, 2]))
        store_int32(cells, PLAIN, np.int32(machine.log[i, 3]))
        store_int32(cells, RECURSIVE, np.int32(machine.log[i, 4]))
