"""What every worker does: read its job, time its stages, and print what it found.

A worker is a script that runs in a process of its own: one job as JSON in the first
argument, one report as JSON on the last line of the output.  Times are processor time of
the whole process, all threads together.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import Any


class Stages:
    """Processor seconds by stage, in the order they ran."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - started


def run(work: Callable[[dict[str, Any], Stages], dict[str, Any]], package: str) -> None:
    """Do the job of the command line and print the report."""
    stages = Stages()
    found = work(json.loads(sys.argv[1]), stages)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = {
        **found,
        "stages": stages.seconds,
        "version": _version(package),
        "peak": peak if sys.platform == "darwin" else peak * 1024,
    }
    print(json.dumps(report))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(this checkout)"


def first_lines(path: str, count: int = 2000) -> bytes:
    """The beginning of a file, schema included, to do everything once before it counts."""
    with open(path, "rb") as stream:
        return b"".join(islice(stream, count))


def write_lines(path: str | None, lines: Iterable[str]) -> None:
    """Write N-Triples, if somebody wants to compare them."""
    if path:
        with open(path, "w", encoding="utf-8", newline="\n") as out:
            out.writelines(f"{line}\n" for line in lines)
