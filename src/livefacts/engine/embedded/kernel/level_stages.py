"""Level stages: a level (stratum) is taken through its stages, in as few calls as possible.

A level is opened, loses what has gone, rederives what still has support, gains what has
come, and is closed.  Between two stages Python may have something to do (negations,
aggregates, rules that come); where it has not, a change of one triple is followed through
a level by one call.
"""

from __future__ import annotations

from typing import Any

from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.change_marks import close_level, open_level, rederive
from livefacts.engine.embedded.kernel.fixpoint import run, run_roots
from livefacts.engine.embedded.kernel.registers import consequences_on, machine_on, plans_in
from livefacts.store.machine_code import inlined, kernel


@inlined
def lose(desk: Any, state: Any, plans: Any, budget: Any) -> Any:
    """Follow losses to their end, or until some are to be followed in Python."""
    has_singles = consequences_on(desk).keys.shape[0] > 0
    # Where there was no room, what the last loss takes away still waits in the buffer.
    while state[code.LOSSES_AT] < state[code.LOSSES_END] or (
        state[code.OUT_COUNT] and state[code.MODE] == code.LOSE
    ):
        status = run(desk, plans, code.LOSE, code.LOSE, state, budget)
        if status != code.DONE:
            return status
        if state[code.EDGES_COUNT] or (has_singles and state[code.EMPTIED]):
            return code.LOST_ASIDE
    return code.DONE


@inlined
def gain(desk: Any, machine: Any, plans: Any, budget: Any) -> Any:
    """Follow gains to their end."""
    if plans_in(plans).listed.shape[0] == 0 and consequences_on(desk).keys.shape[0]:
        return run_roots(desk, machine, budget)
    return run(desk, plans, code.GAIN, code.GAIN, machine.state, budget)


@kernel
def follow(desk: Any, losing: Any, plans: Any, first: Any, last: Any, budget: Any) -> Any:
    """Take a level from its stage `first` through `last`; returns why it stopped.

    `losing` are the plans whose instances can be lost, `plans` those that gain.  Where it has
    stopped before the end, the state names the stage to go on with.
    """
    machine = machine_on(desk)
    state = machine.state
    for stage in range(first, last + 1):
        state[code.STAGE] = stage
        if stage == code.OPEN:
            open_level(desk)
        elif stage == code.LOSING:
            status = lose(desk, state, losing, budget)
            if status != code.DONE:
                return status
        elif stage == code.REDERIVE:
            if not rederive(desk):
                return code.NEED_ROOM
        elif stage == code.GAINING:
            status = gain(desk, machine, plans, budget)
            if status != code.DONE:
                return status
        elif stage == code.CLOSE:
            close_level(desk)
    return code.DONE
