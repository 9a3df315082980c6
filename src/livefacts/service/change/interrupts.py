"""Interrupts at the end of a change: Ctrl-C waits until everything says the same.

Until a change is decided, an interrupt undoes it.  From then on the engine, the graphs, the
numbers and the query store still have to follow; an interrupt that comes meanwhile is raised
when they have.
"""

from __future__ import annotations

import signal
from threading import current_thread, main_thread
from types import TracebackType
from typing import Any


class Interrupts:
    """Ctrl-C, held back between `hold` and the end of the `with` block."""

    def __init__(self) -> None:
        self._handler: Any = None
        self._came = False

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def hold(self) -> None:
        """From here on, an interrupt waits."""
        if self._handler is not None or current_thread() is not main_thread():
            return
        if callable(signal.getsignal(signal.SIGINT)):
            self._handler = signal.signal(signal.SIGINT, self._note)

    def release(self) -> None:
        """Interrupts are as before; one that came meanwhile is raised now."""
        handler, self._handler = self._handler, None
        if handler is None:
            return
        signal.signal(signal.SIGINT, handler)
        if self._came:
            self._came = False
            signal.raise_signal(signal.SIGINT)

    def _note(self, number: int, frame: object) -> None:
        self._came = True
