"""Turns: the calls of a reasoner, one after the other, whichever thread they come from.

Where there is a journal, what a call did is on the disk before it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from livefacts.errors import LivefactsError

if TYPE_CHECKING:
    from livefacts.service.reasoner.facade import Reasoner

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def one_at_a_time(
    method: Callable[Concatenate[Reasoner, Parameters], Result], *, changes: bool = False
) -> Callable[Concatenate[Reasoner, Parameters], Result]:
    """A method that waits until no other thread changes the reasoner, or looks at its tables."""

    def bounded(
        self: Reasoner, /, *arguments: Parameters.args, **options: Parameters.kwargs
    ) -> Result:
        with self._state.bounded():
            return method(self, *arguments, **options)

    @wraps(method)
    def wait(
        self: Reasoner, /, *arguments: Parameters.args, **options: Parameters.kwargs
    ) -> Result:
        state = self._state
        call = bounded if changes and state.is_bounded else method
        if state.recorder is not None:
            return state.recorder.in_turn(
                state.changing, partial(call, self, *arguments, **options)
            )
        with state.changing:
            return call(self, *arguments, **options)

    return wait


def bounded_change(
    method: Callable[Concatenate[Reasoner, Parameters], Result],
) -> Callable[Concatenate[Reasoner, Parameters], Result]:
    """The same for a method that changes something, within the bounds of the reasoner."""
    return one_at_a_time(method, changes=True)


def not_in_a_folder(call: str) -> LivefactsError:
    """The error for a call that looks at a journal, where there is none."""
    return LivefactsError(
        f"{call} needs the journal of a folder, and this reasoner has none",
        hint="Reasoner.open(folder) gives one that keeps its changes",
    )
