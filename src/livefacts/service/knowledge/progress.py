"""The progress bar on standard error, for loads that take longer than a second."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 1.0
"""Seconds before a bar is shown."""


class ProgressBar:
    """Bytes read of the present file, then facts made; silent unless someone watches."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted and sys.stderr.isatty()
        self._started = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._title = ""

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def start_file(self, path: str | os.PathLike[str]) -> None:
        self._start(f"reading {os.fspath(path)}")

    def start_reasoning(self) -> None:
        self._start("reasoning")

    def read(self, done: int, size: int | None) -> None:
        """So many bytes of the file have been read."""
        self._show(done, size)

    def made(self, facts: int) -> None:
        """So many facts have been made."""
        self._show(facts, None)

    def _start(self, title: str) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.remove_task(self._task)
        self._title, self._task = title, None

    def _show(self, done: int, total: int | None) -> None:
        if not self._wanted or time.monotonic() - self._started < PATIENCE:
            return
        if self._bar is None:
            self._bar = _new_bar()
            self._bar.start()
        if self._task is None:
            self._task = self._bar.add_task(self._title, total=total)
        self._bar.update(self._task, completed=done, total=total)


def _new_bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
