"""Change marks: the flags of rows that came and went, turned at each stage of a change.

The stages are: before and after each level, between passes, the commit, the roll back.
Each walks over the facts that have come and gone so far, and turns their flags.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from livefacts.engine.embedded.kernel.registers import (
    COLLECTED,
    EPOCH,
    GAINS_AT,
    GAINS_END,
    LASTING_FIELDS,
    LEVELS,
    LOG_COUNT,
    LOSSES_AT,
    LOSSES_END,
    MADE,
    STATE_FIELDS,
    machine_on,
    rows_on,
)
from livefacts.engine.embedded.kernel.support_counts import (
    enqueue_gain,
    is_held,
    set_standing,
    standing,
)
from livefacts.store.compiled import (
    inlined,
    kernel,
    load_int32,
    store_int32,
)
from livefacts.store.facts.layout import (
    ASSERTED,
    CAME,
    COLUMN,
    COUNTED,
    DEAD,
    DOOMED,
    EDGE,
    ENDED,
    FELL_EDGE,
    FELL_ROOT,
    FLAGS,
    FRESH,
    GONE,
    LOST_EDGE,
    LOST_ROOT,
    NEW_EDGE,
    NEW_ROOT,
    PLAIN,
    RECURSIVE,
    ROSE_EDGE,
    ROSE_ROOT,
    SINGLE,
    SUSPECT,
    TOUCHED,
    TRANSIENT,
    UNSEEN,
    VISIBLE,
)
from livefacts.store.facts.row_kernels import (
    LOW,
    link_gained,
    remove_row,
    row_address,
    unlink_lost,
)

PASSING = TRANSIENT & ~(FRESH | TOUCHED)


@kernel
def rederive(desk: Any) -> Any:
    """Raise the doomed rows that still have a reason; False if there is no room."""
    rows, machine = rows_on(desk), machine_on(desk)
    state = machine.state
    if state[GAINS_END] + state[LOSSES_END] > machine.gains.shape[0]:
        return False
    for i in range(state[LOSSES_END]):
        relation, row = machine.losses[i] >> 32, machine.losses[i] & LOW
        cells = row_address(rows, relation, row)
        flags = np.int64(load_int32(cells, FLAGS))
        if flags & DOOMED and not flags & GONE and standing(cells, flags):
            store_int32(cells, FLAGS, np.int32((flags & ~(DOOMED | UNSEEN)) | SUSPECT))
            set_standing(rows, relation, row)
            enqueue_gain(machine, relation, row)
    return True


@kernel
def open_level(desk: Any) -> Any:
    """Before a level: its rules see the facts as they were before the change."""
    rows, machine = rows_on(desk), machine_on(desk)
    is_first = machine.state[LEVELS] == 0
    machine.state[LEVELS] += 1
    for i in range(machine.state[GAINS_END]):
        cells = row_address(rows, machine.gains[i] >> 32, machine.gains[i] & LOW)
        flags = np.int64(load_int32(cells, FLAGS))
        if flags & CAME and not flags & (GONE | DOOMED):
            store_int32(cells, FLAGS, np.int32((flags & ~VISIBLE) | UNSEEN))
        elif not is_first and not flags & ENDED:
            if flags & ROSE_EDGE:
                flags |= NEW_EDGE
            if flags & ROSE_ROOT:
                flags |= NEW_ROOT
            store_int32(cells, FLAGS, np.int32(flags))
    for i in range(machine.state[LOSSES_END]):
        cells = row_address(rows, machine.losses[i] >> 32, machine.losses[i] & LOW)
        flags = np.int64(load_int32(cells, FLAGS))
        if not is_first and not flags & CAME:
            if flags & FELL_EDGE:
                flags |= LOST_EDGE
            if flags & FELL_ROOT:
                flags |= LOST_ROOT
        if flags & SUSPECT and not flags & ENDED and not is_held(machine.state, cells, flags):
            # What holds it up may be an instance of this level's rules that needs itself.
            flags |= DOOMED | VISIBLE
        elif flags & (GONE | DOOMED) and not flags & CAME:
            flags |= VISIBLE | UNSEEN
        store_int32(cells, FLAGS, np.int32(flags))
    if not is_first:
        machine.state[GAINS_AT] = 0
        machine.state[LOSSES_AT] = 0


@kernel
def see_all(desk: Any) -> Any:
    """From now on negations see the facts as they are."""
    rows, machine = rows_on(desk), machine_on(desk)
    for i in range(machine.state[GAINS_END]):
        cells = row_address(rows, machine.gains[i] >> 32, machine.gains[i] & LOW)
        store_int32(cells, FLAGS, np.int32(load_int32(cells, FLAGS) & ~UNSEEN))
    for i in range(machine.state[LOSSES_END]):
        cells = row_address(rows, machine.losses[i] >> 32, machine.losses[i] & LOW)
        store_int32(cells, FLAGS, np.int32(load_int32(cells, FLAGS) & ~UNSEEN))


@kernel
def close_level(desk: Any) -> Any:
    """After a level: what is doomed is gone."""
    rows, machine = rows_on(desk), machine_on(desk)
    for i in range(machine.state[GAINS_END]):
        cells = row_address(rows, machine.gains[i] >> 32, machine.gains[i] & LOW)
        store_int32(cells, FLAGS, np.int32(load_int32(cells, FLAGS) & ~UNSEEN))
    for i in range(machine.state[LOSSES_END]):
        cells = row_address(rows, machine.losses[i] >> 32, machine.losses[i] & LOW)
        flags = np.int64(load_int32(cells, FLAGS)) & ~UNSEEN
        if flags & DOOMED:
            flags = (flags | GONE) & ~(DOOMED | VISIBLE | SUSPECT)
        store_int32(cells, FLAGS, np.int32(flags))


@kernel
def close_pass(desk: Any) -> Any:
    """Between two passes: what came is there, what is gone is dead."""
    rows, machine = rows_on(desk), machine_on(desk)
    for i in range(machine.state[GAINS_END]):
        cells = row_address(rows, machine.gains[i] >> 32, machine.gains[i] & LOW)
        store_int32(cells, FLAGS, np.int32(load_int32(cells, FLAGS) & ~PASSING))
    for i in range(machine.state[LOSSES_END]):
        cells = row_address(rows, machine.losses[i] >> 32, machine.losses[i] & LOW)
        flags = np.int64(load_int32(cells, FLAGS)) & ~PASSING
        if flags & GONE:
            flags = (flags | DEAD) & ~GONE
        store_int32(cells, FLAGS, np.int32(flags))
    machine.state[LEVELS] = 0


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
    if state[MADE] > made.shape[0] or state[LOSSES_END] > ended.shape[0]:
        return False
    count = 0
    for i in range(state[GAINS_END]):
        entry = machine.gains[i]
        cells = row_address(rows, entry >> 32, entry & LOW)
        flags = load_int32(cells, FLAGS)
        if flags & FRESH and not flags & (GONE | DEAD | COUNTED):
            store_int32(cells, FLAGS, np.int32(flags | COUNTED))
            made[count] = entry
            count += 1
    note_collected(state, COLLECTED, count, made)
    count = 0
    for i in range(state[LOSSES_END]):
        entry = machine.losses[i]
        cells = row_address(rows, entry >> 32, entry & LOW)
        flags = load_int32(cells, FLAGS)
        if flags & (GONE | DEAD) and not flags & (FRESH | COUNTED):
            store_int32(cells, FLAGS, np.int32(flags | COUNTED))
            ended[count] = entry
            count += 1
    note_collected(state, COLLECTED + 2, count, ended)
    return True


@kernel
def read_facts(desk: Any, relation: Any, entries: Any, columns: Any, derived: Any) -> Any:
    """The columns of rows, and whether each is a conclusion."""
    rows = rows_on(desk)
    for i in range(entries.shape[0]):
        cells = row_address(rows, relation, entries[i] & LOW)
        derived[i] = not load_int32(cells, FLAGS) & ASSERTED
        for j in range(columns.shape[1]):
            columns[i, j] = load_int32(cells, COLUMN + j)


@kernel
def settle(desk: Any) -> Any:
    """End a change: remove the rows that are gone, and forget that anything is new."""
    rows, machine = rows_on(desk), machine_on(desk)
    state = machine.state
    for i in range(state[GAINS_END]):
        cells = row_address(rows, machine.gains[i] >> 32, machine.gains[i] & LOW)
        flags = load_int32(cells, FLAGS)
        if not flags & (GONE | DEAD):
            store_int32(cells, FLAGS, np.int32(flags & ~TRANSIENT))
    for i in range(state[LOG_COUNT]):
        cells = row_address(rows, machine.log[i, 0], machine.log[i, 1])
        store_int32(cells, FLAGS, np.int32(load_int32(cells, FLAGS) & ~TRANSIENT))
    for i in range(state[LOSSES_END]):
        relation, row = machine.losses[i] >> 32, machine.losses[i] & LOW
        cells = row_address(rows, relation, row)
        flags = load_int32(cells, FLAGS)
        if flags & (GONE | DEAD):
            remove_row(rows, relation, row)
        else:
            store_int32(cells, FLAGS, np.int32(flags & ~TRANSIENT))
    forget_change(state)


@inlined
def forget_change(state: Any) -> Any:
    """The next change begins."""
    for field in range(STATE_FIELDS):
        if field not in LASTING_FIELDS:
            state[field] = 0
    state[EPOCH] += 1


@kernel
def undo(desk: Any) -> Any:
    """Remove every row that the change has made, and restore those it has touched."""
    rows, machine = rows_on(desk), machine_on(desk)
    for i in range(machine.state[GAINS_END]):
        relation, row = machine.gains[i] >> 32, machine.gains[i] & LOW
        if load_int32(row_address(rows, relation, row), FLAGS) & FRESH:
            remove_row(rows, relation, row)
    for i in range(machine.state[LOG_COUNT]):
        relation, row = machine.log[i, 0], machine.log[i, 1]
        cells = row_address(rows, relation, row)
        had = machine.log[i, 2] & EDGE
        has = load_int32(cells, FLAGS) & EDGE
        if has and not had:
            unlink_lost(rows, relation, row, EDGE)
        store_int32(cells, FLAGS, np.int32(machine.log[i, 2]))
        store_int32(cells, PLAIN, np.int32(machine.log[i, 3]))
        store_int32(cells, RECURSIVE, np.int32(machine.log[i, 4]))
        store_int32(cells, SINGLE, np.int32(machine.log[i, 5]))
        if had and not has:
            link_gained(rows, relation, row, EDGE)
    forget_change(machine.state)
