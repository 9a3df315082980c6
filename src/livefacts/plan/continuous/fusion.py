"""Fusion: triple patterns that are matched in one step, columns that are chosen once.

Two patterns that share a variable become one step, which compiled code follows and which
keeps triples instead of rows.  So does one pattern of several variables with any number of
patterns that say something about one of them (`?x a ex:Person`).  Other joins stay steps of
their own: what they find is kept, so that a change never walks through rows that lead to no
answer again and again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from livefacts.model.facts import Term
from livefacts.plan.continuous.flow import (
    Choose,
    Combine,
    FlowBuilder,
    FlowPlan,
    FlowStep,
    Joined,
    Match,
)

Slots: TypeAlias = tuple[Term | int, Term | int, Term | int]


def shortened(plan: FlowPlan) -> FlowPlan:
    """A plan with the same answers and fewer steps."""
    builder = FlowBuilder()
    numbers: list[int] = []
    for step in plan.steps:
        inputs = tuple(numbers[each] for each in step.inputs)
        numbers.append(_step(builder, replace(step, inputs=inputs)))
    return replace(plan, steps=needed(builder.steps, numbers[-1]))


def _step(builder: FlowBuilder, step: FlowStep) -> int:
    """The number of a step, or of one that does the same."""
    operator, inputs = step.operator, step.inputs
    if isinstance(operator, Choose):
        below = builder.steps[inputs[0]]
        if isinstance(below.operator, Choose):
            operator, inputs = _composed(operator, below.operator), below.inputs
            below = builder.steps[inputs[0]]
        if operator.sources == tuple(range(below.width)):
            return inputs[0]
    elif isinstance(operator, Combine):
        together = _together(operator, *(builder.steps[each] for each in inputs))
        if together is not None:
            operator, inputs = together, ()
    return builder.step(operator, inputs, step.width)


def _composed(later: Choose, first: Choose) -> Choose:
    """Columns of chosen columns."""
    return Choose(
        tuple(first.sources[each] if isinstance(each, int) else each for each in later.sources)
    )


def _together(operator: Combine, left: FlowStep, right: FlowStep) -> Joined | None:
    """Patterns of both sides as one step, where nothing is lost by that."""
    pairs = {there: here for here, there in (*operator.agreeing, *operator.equal)}
    if not pairs:
        return None
    known = {**pairs, **{there: left.width + at for at, there in enumerate(operator.right_only)}}
    moved = [_moved(slots, known) for slots in _patterns(right)]
    patterns = tuple(dict.fromkeys([*_patterns(left), *moved]))
    is_both = bool(moved) and len(patterns) > len(moved)
    return Joined(patterns) if is_both and _is_direct(patterns) else None


def _patterns(step: FlowStep) -> tuple[Slots, ...]:
    if isinstance(step.operator, Match):
        return (step.operator.slots,)
    return step.operator.patterns if isinstance(step.operator, Joined) else ()


def _moved(slots: Slots, known: dict[int, int]) -> Slots:
    subject, predicate, value = (known[s] if isinstance(s, int) else s for s in slots)
    return subject, predicate, value


def _is_direct(patterns: Sequence[Slots]) -> bool:
    """Whether a triple leads to the answers that it is part of, and to little else."""
    wide = [slots for slots in patterns if len({s for s in slots if isinstance(s, int)}) > 1]
    return len(patterns) == 2 or len(wide) < 2


def needed(steps: Sequence[FlowStep], last: int) -> tuple[FlowStep, ...]:
    """The steps that one rests on, numbered anew, and itself at the end."""
    wanted = {last}
    for number in range(last, -1, -1):
        if number in wanted:
            wanted.update(steps[number].inputs)
    numbers = {old: new for new, old in enumerate(sorted(wanted))}
    return tuple(
        replace(steps[old], inputs=tuple(numbers[each] for each in steps[old].inputs))
        for old in numbers
    )
