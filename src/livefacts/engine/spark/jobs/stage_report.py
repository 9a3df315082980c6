"""The report of stages: what a change did, stage by stage, with times, rows and bytes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Stage:
    """One stage: how long it took, and how many rows and bytes came out of it."""

    name: str
    seconds: float = 0.0
    rows: int = 0
    bytes: int = 0
    is_kept: bool = False
    """Whether it was finished before, by a change that was cut off."""
    tasks: int = 0
    tasks_done: int = 0

    def as_line(self) -> str:
        """The stage as a line of a table."""
        size = f"{self.bytes / 1e6:>9.1f} MB" if self.bytes else ""
        line = f"{self.name:<24} {self.seconds:>8.2f} s {self.rows:>13,} rows {size}".rstrip()
        return f"{line} (kept from before)" if self.is_kept else line


OLD_NAMES = {"asserted": "told", "retracted": "untold"}
"""Figures that can be asked for by their old names, for one more release."""


@dataclass(frozen=True, slots=True)
class JobReport:
    """What a change did: its number, what it was, its stages, and figures by name."""

    seq: int
    kind: str
    figures: dict[str, int] = field(default_factory=dict)
    stages: tuple[Stage, ...] = ()
    hints: tuple[str, ...] = ()
    is_replay: bool = False

    def __post_init__(self) -> None:
        old = {OLD_NAMES[name]: self.figures[name] for name in OLD_NAMES if name in self.figures}
        object.__setattr__(self, "figures", {**self.figures, **old})

    def __str__(self) -> str:
        shown = {n: value for n, value in self.figures.items() if n not in OLD_NAMES.values()}
        figures = ", ".join(f"{value:,} {name}" for name, value in shown.items())
        head = f"version {self.seq}: {self.kind}{' again' if self.is_replay else ''}; {figures}"
        lines = [head, *(f"  {stage.as_line()}" for stage in self.stages)]
        return "\n".join([*lines, *(f"  note: {hint}" for hint in self.hints)])


class Stages:
    """Takes the time of stages; `on_stage` hears of each when it begins and when it is done.

    In between it hears of stages whose tasks have gone on: see `tasks_done`.
    """

    def __init__(self, on_stage: Callable[[Stage, bool], None] | None = None) -> None:
        self.done: list[Stage] = []
        self._tell = on_stage or (lambda stage, is_done: None)

    @contextmanager
    def stage(self, name: str) -> Iterator[Stage]:
        """Take the time of what happens inside."""
        stage = Stage(name)
        self._tell(stage, False)
        started = time.perf_counter()
        yield stage
        stage.seconds = time.perf_counter() - started
        self.done.append(stage)
        self._tell(stage, True)

    def progress(self, stage: Stage) -> Callable[[int, int], None]:
        """What to call when tasks of a stage are done."""

        def advance(done: int, tasks: int) -> None:
            stage.tasks, stage.tasks_done = tasks, done
            self._tell(stage, False)

        return advance
