"""The bounds of a query: how long it may take, and how much memory and how many rows it may use.

Operators call `pause` between pieces of work, and `room` before they make large columns.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from livefacts.errors import LimitError

BYTES_OF_A_VALUE = 4


@dataclass(slots=True)
class Bounds:
    """What one query may use; None is no bound."""

    timeout: float | None = None
    """In seconds."""
    memory: int | None = None
    """In bytes of columns that are made at once, and in bytes of computed terms."""
    stop: threading.Event | None = None
    """Set by another thread when the query is to be given up."""
    _started: float = field(default_factory=time.monotonic)

    def seconds(self) -> float:
        """How long the query has taken by now."""
        return time.monotonic() - self._started

    def pause(self) -> None:
        """Look at the clock; Ctrl-C is heard here, too."""
        if self.stop is not None and self.stop.is_set():
            raise LimitError("the query was cancelled")
        if self.timeout is not None and self.seconds() > self.timeout:
            raise LimitError(
                f"the query took longer than {self.timeout:g} s",
                hint="raise timeout= (--timeout), or make the query smaller",
            )

    def room(self, values: int) -> None:
        """Ask for the room of so many values, or rows, before they are made."""
        if self.memory is not None and values * BYTES_OF_A_VALUE > self.memory:
            raise LimitError(
                f"the query needs more than {self.memory:,} bytes: {values:,} values at once",
                hint="raise memory= (--memory), or make the query smaller",
            )

    def hold(self, size: int) -> None:
        """The terms that the query has computed are so many bytes by now."""
        if self.memory is not None and size > self.memory:
            raise LimitError(
                f"the query needs more than {self.memory:,} bytes: it has computed {size:,} of text",
                hint="raise memory= (--memory), or make the query smaller",
            )


UNBOUNDED = Bounds()
