"""Work bounds: how long the change under way may take, and how much memory it may need.

Whatever may take long calls `look` between pieces of work of some milliseconds; there the clock
and the memory are looked at, and Ctrl-C is heard.  Passing a bound raises a `LimitError`, and
what was begun is undone like any change that fails.

The bounds belong to the thread that works: readers and parsers need not hand them on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from livefacts.errors import LimitError, OptionError


class WorkBounds:
    """What one change may use; None is no bound."""

    def __init__(self, timeout: float | None, memory: int | None, kept: Callable[[], int]) -> None:
        """`timeout` is in seconds, `memory` in bytes; `kept` says how many are in use."""
        check_bounds(timeout=timeout, memory=memory)
        self._timeout, self._memory, self._kept = timeout, memory, kept
        self._until = None if timeout is None else time.monotonic() + timeout
        self._most = None if memory is None else kept() + memory
        self._read = 0

    def look(self, more: int) -> None:
        """Raise an error if a bound has been passed; so many bytes more have been read."""
        self._read += more
        if self._until is not None and time.monotonic() > self._until:
            raise LimitError(
                f"the change took longer than {self._timeout:g} s; it was undone",
                hint="raise timeout=, make the change smaller, or look for a rule that joins too "
                "much: profile() says what each rule costs",
            )
        if self._most is not None and self._kept() + self._read > self._most:
            raise LimitError(
                f"the change needs more than {self._memory:,} bytes; it was undone",
                hint="raise memory=, or make the change smaller",
            )


under_way: ContextVar[WorkBounds | None] = ContextVar("bounds of the work under way", default=None)
"""None while nothing bounds the work."""


def check_bounds(
    *, timeout: float | None = None, memory: int | None = None, limit: int | None = None
) -> None:
    """Refuse bounds under which nothing can be done, and what is no bound."""
    if timeout is not None and not (isinstance(timeout, int | float) and timeout > 0):
        raise OptionError(f"timeout={timeout!r} is no time", hint="give seconds, such as 2.5")
    if memory is not None and not (isinstance(memory, int) and memory > 0):
        raise OptionError(f"memory={memory!r} is no room", hint="give bytes, such as 500_000_000")
    if limit is not None and not (isinstance(limit, int) and limit >= 0):
        raise OptionError(f"limit={limit!r} is no number of facts", hint="such as 1_000_000")


def look(more: int = 0) -> None:
    """Raise an error if the change under way has passed a bound.

    `more` is how many bytes have been read and are kept until the change is made.
    """
    bounds = under_way.get()
    if bounds is not None:
        bounds.look(more)


@contextmanager
def within(bounds: WorkBounds | None) -> Iterator[None]:
    """Inside the `with` these bounds hold, unless others do already; None: no bounds at all.

    Without bounds is what undoes a change: it must come to its end.
    """
    outer = under_way.get()
    under_way.set(bounds if outer is None or bounds is None else outer)
    try:
        yield
    finally:
        under_way.set(outer)
