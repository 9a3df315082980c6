"""Critical sections: what Ctrl-C must not break in two, however short it is.

Kernels find arrays by their addresses.  Between the moment at which an array is replaced and the
one at which its new address is noted, an interrupt would leave an address of memory that is no
longer ours, and what undoes the change would end the process.  A function that does such things
is `uninterrupted`: Ctrl-C waits for its end.
"""

from __future__ import annotations

import signal

# The functions below `signal`, which make enums of numbers: that takes longer than a small change.
from _signal import getsignal, raise_signal  # type: ignore[import-not-found]
from _signal import signal as set_signal
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

INTERRUPT = int(signal.SIGINT)
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Held:
    """Ctrl-C held back, from `hold` until `release`; in the main thread, which alone hears it."""

    _handler: Any = None
    _came = False

    def hold(self) -> None:
        """From here on, an interrupt waits."""
        if self._handler is None and callable(getsignal(INTERRUPT)):
            try:
                self._handler = set_signal(INTERRUPT, self._note)
            except ValueError:
                """Only the main thread hears of interrupts."""

    def release(self) -> None:
        """Interrupts are as before; one that was held back is raised now."""
        handler, self._handler = self._handler, None
        if handler is None:
            return
        set_signal(INTERRUPT, handler)
        if self._came:
            self._came = False
            raise_signal(INTERRUPT)

    def _note(self, number: int, frame: object) -> None:
        self._came = True


def uninterrupted(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """The function, which Ctrl-C does not end half-way."""

    @wraps(function)
    def run(*arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        if isinstance(getattr(getsignal(INTERRUPT), "__self__", None), Held):
            # Somebody around this one holds it back already.
            return function(*arguments, **named)
        held = Held()
        held.hold()
        try:
            return function(*arguments, **named)
        finally:
            held.release()

    return run
