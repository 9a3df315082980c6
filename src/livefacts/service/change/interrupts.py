"""Interrupts at the end of a change: Ctrl-C waits until all parts of the state agree.

Until a change is decided, an interrupt rolls it back.  From then on the engine, the graphs, the
counts and the query store still have to follow; an interrupt that comes before they have is
raised when they have.
"""

from __future__ import annotations

import signal
import threading

# The functions below `signal`, which make enums of numbers: that takes longer than a small change.
from _signal import getsignal, raise_signal  # type: ignore[import-not-found]
from _signal import signal as set_signal
from typing import Any

INTERRUPT = int(signal.SIGINT)


class Interrupts:
    """Ctrl-C, held back between `hold` and the end of the `with` block."""

    def __init__(self) -> None:
        self._handler: Any = None
        self._came = False

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self.release()

    def hold(self) -> None:
        """From here on, an interrupt waits."""
        if self._handler is not None or threading.get_ident() != threading.main_thread().ident:
            return
        if callable(getsignal(INTERRUPT)):
            self._handler = set_signal(INTERRUPT, self._note)

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
