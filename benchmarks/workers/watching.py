"""Watching the processes of a Spark run: their processor time and their memory, by role.

The driver is this process, Java the one below it, and workers are the Python processes
below Java.  Read from /proc, so this works on Linux only.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from pathlib import Path

DRIVER, JAVA, WORKERS = "driver", "java", "workers"
TICKS = os.sysconf("SC_CLK_TCK")
EVERY = 0.25
PARENT, USER, SYSTEM, CHILDREN_USER, CHILDREN_SYSTEM = 1, 11, 12, 13, 14
"""Places in /proc/N/stat, counted from the state of the process."""


def processes() -> dict[int, tuple[str, list[str]]]:
    """This process and all below it: what each is, and its line of figures."""
    lines = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                name, _, rest = (folder / "stat").read_text().rpartition(") ")
            except OSError:
                continue
            lines[int(folder.name)] = name.partition("(")[2], rest.split()
    found = {os.getpid(): (DRIVER, lines[os.getpid()][1])}
    waiting = [os.getpid()]
    while waiting:
        parent = waiting.pop()
        for number, (name, figures) in lines.items():
            if int(figures[PARENT]) == parent and number not in found:
                found[number] = (JAVA if name == "java" else WORKERS, figures)
                waiting.append(number)
    return found


def processor_seconds() -> Counter[str]:
    """The processor time so far, by role; that of workers that have ended is included."""
    found: Counter[str] = Counter()
    for role, figures in processes().values():
        places = [USER, SYSTEM]
        places += [CHILDREN_USER, CHILDREN_SYSTEM] if role == WORKERS else []
        found[role] += sum(int(figures[place]) for place in places) / TICKS  # type: ignore[assignment]
    return found


def memory_of(number: int) -> int:
    """The memory of a process that is its own: pages of files are left out."""
    try:
        status = Path(f"/proc/{number}/status").read_text()
    except OSError:
        return 0
    lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return int(lines.get("RssAnon", "0 kB").split()[0]) * 1024


class Peaks(threading.Thread):
    """Looks at the memory of all processes now and then; the most of each role is kept.

    Of workers, the most that a single one had: there is one for each core.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most: dict[str, int] = dict.fromkeys((DRIVER, JAVA, WORKERS), 0)
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(EVERY):
            for number, (role, _) in processes().items():
                self.most[role] = max(self.most[role], memory_of(number))

    def end(self) -> dict[str, int]:
        self._over.set()
        self.join()
        return self.most
