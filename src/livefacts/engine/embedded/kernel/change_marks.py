"""Change marks: the flags of rows that came and went, turned at each stage of a change.

The stages are: before and after each level, between passes, the commit, the roll back.
Each walks over the facts that have come and gone so far, and turns their flags.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.registers import machine_on, rows_on
from livefacts.engine.embedded.kernel.support_counts import (
    enqueue_gain,
    is_held,
    set_standing,
    standing,
)
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_kernels import (
    LOW,
    empty_relation,
    link_gained,
    remove_row,
    row_address,
    unlink_lost,
)
from livefacts.store.machine_code import inlined, kernel, load_int32, store_int32

PASSING = bits.TRANSIENT & ~(bits.FRESH | bits.TOUCHED)


@kernel
def rederive(desk: Any) -> Any:
    """Raise the doomed rows that still have a reason; False if there is no room."""
    rows, machine = rows_on(desk), machine_on(desk)
    state = machine.state
    if state[code.GAINS_END] + state[code.LOSSES_END] > machine.gains.shape[0]:
        return False
    for i in range(state[code.LOSSES_END]):
        relation, row = machine.losses[i] >> 32, machine.losses[i] & LOW
        cells = row_address(rows, relation, row)
        flags = np.int64(load_int32(cells, layout.FLAGS))
        if flags & bits.DOOMED and not flags & bits.GONE and standing(cells, flags):
            store_int32(
                cells, layout.FLAGS, np.int32((flags & ~(bits.DOOMED | bits.UNSEEN)) | bits.SUSPECT)
            )
            set_standing(rows, relation, row)
            enqueue_gain(machine, relation, row)
    return True


@kernel
def open_level(desk: Any) -> Any:
    """Before a level: its rules see the facts as they were before the change."""
    rows, machine = rows_on(desk), machine_on(desk)
    is_first = machine.state[code.LEVELS] == 0
    machine.state[code.LEVELS] += 1
    for i in range(machine.state[code.GAINS_END]):
        cells = row_address(rows, machine.gains[i] >> 32, machine.gains[i] & LOW)
        flags = np.int64(load_int32(cells, layout.FLAGS))
        if flags & bits.CAME and not flags & (bits.GONE | bits.DOOMED):
            store_int32(cells, layout.FLAGS, np.int32((flags & ~bits.VISIBLE) | bits.UNSEEN))
        elif not is_first and not flags & bits.ENDED:
            if flags & bits.ROSE_EDGE:
                flags |= bits.NEW_EDGE
            if flags & bits.ROSE_ROOT:
                flags |= bits.NEW_ROOT
            store_int32(cells, layout.FLAGS, np.int32(flags))
    for i in range(machine.state[code.LOSSES_END]):
        cells = row_address(rows, machine.losses[i] >> 32, machine.losses[i] & LOW)
        flags = np.int64(load_int32(cells, layout.FLAGS))
        if not is_first and not flags & bits.CAME:
            if flags & bits.FELL_EDGE:
                flags |= bits.LOST_EDGE
            if flags & bits.FELL_ROOT:
                flags |= bits.LOST_ROOT
        if (
            flags & bits.SUSPECT
            and not flags & bits.ENDED
            and not is_held(machine.state, cells, flags)
        ):
            # What holds it up may be an instance of this level's rules that needs itself.
            flags |= bits.DOOMED | bits.VISIBLE
        elif flags & (bits.GONE | bits.DOOMED) and not flags & bits.CAME:
            flags |= bits.VISIBLE | bits.UNSEEN
        store_int32(cells, layout.FLAGS, np.int32(flags))
    if not is_first:
        machine.state[code.GAINS_AT] = 0
        machine.state[code.LOSSES_AT] = 0


@kernel
def see_all(desk: Any) -> Any:
    """From now on negations see the facts as they are."""
    rows, machine = rows_on(desk), machine_on(desk)
    for i in range(machine.state[code.GAINS_END]):
        cells = row_address(rows, machine.gains[i] >> 32, machine.gains[i] & LOW)
        store_int32(cells, layout.FLAGS, np.int32(load_int32(cells, layout.FLAGS) & ~bits.UNSEEN))
    for i in range(machine.state[code.LOSSES_END]):
        cells = row_address(rows, machine.losses[i] >> 32, machine.losses[i] & LOW)
        store_int32(cells, layout.FLAGS, np.int32(load_int32(cells, layout.FLAGS) & ~bits.UNSEEN))


@kernel
def close_level(desk: Any) -> Any:
    """After a level: what is doomed is gone."""
    rows, machine = rows_on(desk), machine_on(desk)
    for i in range(machine.state[code.GAINS_END]):
        cells = row_address(rows, machine.gains[i] >> 32, machine.gains[i] & LOW)
        store_int32(cells, layout.FLAGS, np.int32(load_int32(cells, layout.FLAGS) & ~bits.UNSEEN))
    for i in range(machine.state[code.LOSSES_END]):
        cells = row_address(rows, machine.losses[i] >> 32, machine.losses[i] & LOW)
        flags = np.int64(load_int32(cells, layout.FLAGS)) & ~bits.UNSEEN
        if flags & bits.DOOMED:
            flags = (flags | bits.GONE) & ~(bits.DOOMED | bits.VISIBLE | bits.SUSPECT)
        store_int32(cells, layout.FLAGS, np.int32(flags))


@kernel
def close_pass(desk: Any) -> Any:
    """Between two passes: what came is there, what is gone is dead."""
    rows, machine = rows_on(desk), machine_on(desk)
    for i in range(machine.state[code.GAINS_END]):
        cells = row_address(rows, machine.gains[i] >> 32, machine.gains[i] & LOW)
        store_int32(cells, layout.FLAGS, np.int32(load_int32(cells, layout.FLAGS) & ~PASSING))
    for i in range(machine.state[code.LOSSES_END]):
        cells = row_address(rows, machine.losses[i] >> 32, machine.losses[i] & LOW)
        flags = np.int64(load_int32(cells, layout.FLAGS)) & ~PASSING
        if flags & bits.GONE:
            flags = (flags | bits.DEAD) & ~bits.GONE
        store_int32(cells, layout.FLAGS, np.int32(flags))
    machine.state[code.LEVELS] = 0


@inlined
def note_collected(state: Any, field: Any, count: Any, entries: Any) -> Any:
    """How many facts were listed, and their relation if they have only one."""
    state[field] = count
    only = np.int64(-1)
    if count:
        only = entries[0] >> 32
    for i in range(count):
        if entries[i] >> 32 != only:
            only = np.int64(-1)
            break
    state[field + 1] = only


@kernel
def collect(desk: Any) -> Any:
    """List, each once, the facts that the change has made and ended, net; False without room."""
    rows, machine = rows_on(desk), machine_on(desk)
    state, made, ended = machine.state, machine.came, machine.went
    if state[code.MADE] > made.shape[0] or state[code.LOSSES_END] > ended.shape[0]:
        return False
    count = 0
    for i in range(state[code.GAINS_END]):
        entry = machine.gains[i]
        cells = row_address(rows, entry >> 32, entry & LOW)
        flags = load_int32(cells, layout.FLAGS)
        if flags & bits.FRESH and not flags & (bits.GONE | bits.DEAD | bits.COUNTED):
            store_int32(cells, layout.FLAGS, np.int32(flags | bits.COUNTED))
            made[count] = entry
            count += 1
    note_collected(state, code.CAME_LISTED, count, made)
    count = 0
    for i in range(state[code.LOSSES_END]):
        entry = machine.losses[i]
        cells = row_address(rows, entry >> 32, entry & LOW)
        flags = load_int32(cells, layout.FLAGS)
        if flags & (bits.GONE | bits.DEAD) and not flags & (bits.FRESH | bits.COUNTED):
            store_int32(cells, layout.FLAGS, np.int32(flags | bits.COUNTED))
            ended[count] = entry
            count += 1
    note_collected(state, code.WENT_LISTED, count, ended)
    return True


@kernel
def read_facts(desk: Any, relation: Any, entries: Any, columns: Any, derived: Any) -> Any:
    """The columns of rows, and whether each is a conclusion."""
    rows = rows_on(desk)
    for i in range(entries.shape[0]):
        cells = row_address(rows, relation, entries[i] & LOW)
        derived[i] = not load_int32(cells, layout.FLAGS) & bits.ASSERTED
        for j in range(columns.shape[1]):
            columns[i, j] = load_int32(cells, layout.COLUMN + j)


@kernel
def settle(desk: Any) -> Any:
    """End a change: remove the rows that are gone, and forget that anything is new."""
    rows, machine = rows_on(desk), machine_on(desk)
    state = machine.state
    for i in range(state[code.GAINS_END]):
        cells = row_address(rows, machine.gains[i] >> 32, machine.gains[i] & LOW)
        flags = load_int32(cells, layout.FLAGS)
        if not flags & (bits.GONE | bits.DEAD):
            store_int32(cells, layout.FLAGS, np.int32(flags & ~bits.TRANSIENT))
    for i in range(state[code.LOG_COUNT]):
        cells = row_address(rows, machine.log[i, code.LOG_RELATION], machine.log[i, code.LOG_ROW])
        store_int32(
            cells, layout.FLAGS, np.int32(load_int32(cells, layout.FLAGS) & ~bits.TRANSIENT)
        )
    for i in range(state[code.LOSSES_END]):
        relation, row = machine.losses[i] >> 32, machine.losses[i] & LOW
        cells = row_address(rows, relation, row)
        flags = load_int32(cells, layout.FLAGS)
        if flags & (bits.GONE | bits.DEAD):
            remove_row(rows, relation, row)
        else:
            store_int32(cells, layout.FLAGS, np.int32(flags & ~bits.TRANSIENT))
    forget_change(state)


@inlined
def forget_change(state: Any) -> Any:
    """The next change begins."""
    for field in range(code.STATE_FIELDS):
        if field not in code.LASTING_FIELDS:
            state[field] = 0
    state[code.EPOCH] += 1


@inlined
def is_new(rows: Any, relation: Any, most: Any) -> Any:
    """Whether all rows of a relation are of the change under way; False if there are too many."""
    high = rows.relations[relation, layout.HIGH]
    if rows.relations[relation, layout.LIVE_ROWS] == 0 or high > most:
        return False
    row = 1
    while row < high:
        flags = load_int32(row_address(rows, relation, row), layout.FLAGS)
        if flags and not flags & bits.FRESH:
            return False
        row += 1
    return True


@kernel
def undo(desk: Any) -> Any:
    """Remove every row that the change has made, and restore those it has touched."""
    rows, machine = rows_on(desk), machine_on(desk)
    # What is new as a whole, as a first load is, goes at once: Ctrl-C waits for this kernel.
    for relation in range(rows.relations.shape[0]):
        if is_new(rows, relation, 2 * machine.state[code.GAINS_END]):
            empty_relation(rows, relation)
    for i in range(machine.state[code.GAINS_END]):
        relation, row = machine.gains[i] >> 32, machine.gains[i] & LOW
        if row >= rows.relations[relation, layout.HIGH]:
            continue
        if load_int32(row_address(rows, relation, row), layout.FLAGS) & bits.FRESH:
            remove_row(rows, relation, row)
    for i in range(machine.state[code.LOG_COUNT]):
        relation, row = machine.log[i, code.LOG_RELATION], machine.log[i, code.LOG_ROW]
        cells = row_address(rows, relation, row)
        had = machine.log[i, code.LOG_FLAGS] & bits.EDGE
        has = load_int32(cells, layout.FLAGS) & bits.EDGE
        if has and not had:
            unlink_lost(rows, relation, row, bits.EDGE)
        store_int32(cells, layout.FLAGS, np.int32(machine.log[i, code.LOG_FLAGS]))
        store_int32(cells, layout.PLAIN, np.int32(machine.log[i, code.LOG_PLAIN]))
        store_int32(cells, layout.RECURSIVE, np.int32(machine.log[i, code.LOG_RECURSIVE]))
        store_int32(cells, layout.SINGLE, np.int32(machine.log[i, code.LOG_SINGLE]))
        if had and not has:
            link_gained(rows, relation, row, bits.EDGE)
    forget_change(machine.state)
