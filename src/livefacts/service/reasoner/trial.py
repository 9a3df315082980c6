"""The trial change: a state as it would be, for a while, and then as it was.

The parts of a SPARQL Update see what the parts before them did, and yet all of it is one
change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from livefacts.service.change.delta import Delta
from livefacts.service.reasoner.draft import Draft
from livefacts.service.reasoner.state import State

NO_LIMIT = 1 << 62


def draft_of(state: State, net: Mapping[Any, bool]) -> Draft:
    """The change that asserts some statements and retracts others."""
    draft = Draft(state)
    draft.add([statement for statement, is_asserted in net.items() if is_asserted])
    draft.remove([statement for statement, is_asserted in net.items() if not is_asserted])
    return draft


@contextmanager
def trial(state: State, net: Mapping[Any, bool]) -> Iterator[None]:
    """The state after a change, for a while; then everything is as before."""
    seq, limit, watches = state.seq, state.limit, state.watches
    try:
        with (
            state.accepting_violations(),
            nullcontext() if watches is None else watches.quietly(),
        ):
            delta = draft_of(state, net).apply()
            try:
                yield
            finally:
                state.limit = NO_LIMIT
                _take_back(state, delta)
    finally:
        state.seq, state.limit = seq, limit


def _take_back(state: State, delta: Delta) -> None:
    """Undo a change, to the end even if interrupted: doing it twice does no harm."""
    draft, net = Draft(state), delta.assertions
    draft.intake.take_rows(net.retracted, net.went)
    draft.retraction.take_rows(net.asserted, net.came)
    try:
        draft.apply()
    except KeyboardInterrupt:
        draft.apply()
        raise
