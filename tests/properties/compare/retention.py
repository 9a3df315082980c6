"""For how many time points an arrival can matter to a program, by the definition.

What a later rule would have seen beyond that is gone: rules that come look at what is left.
"""

from __future__ import annotations

from tests.properties.generate.timed_rules import timed_parts

from livefacts.language.program import Program
from livefacts.language.windows import (
    FactWindow,
    PastWindow,
    SessionWindow,
    SteppedWindow,
    TimeWindow,
    Window,
)

FOR_EVER = 10**6


def retention(program: Program) -> int:
    lengths = [_length(window) for _, window in program.streams]
    retained = dict(program.retained)
    for rule in program:
        for part in timed_parts(rule.body):
            name = getattr(part.atom, "name", None)
            window = part.window or TimeWindow(retained[name])  # type: ignore[index]
            lengths.append(_length(window))
    return max(lengths, default=0)


def _length(window: Window) -> int:
    match window:
        case TimeWindow(length):
            return length.amount
        case SteppedWindow(width, step, _, closed):
            return width.amount + step.amount - (1 if closed else 2)
        case PastWindow(length):
            return length.amount
        case FactWindow() | SessionWindow():
            return FOR_EVER
