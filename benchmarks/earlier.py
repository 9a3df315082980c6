"""An earlier checkout: its workers do the same jobs, in turns with ours, and both are compared.

`LIVEFACTS_BEFORE` names the root of that checkout.  Every measured time of a job is compared,
the best of all turns on both sides; other systems are left out.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.tables import NOTHING, latency, table

VARIABLE = "LIVEFACTS_BEFORE"
TURNS = 3
"""So often each of the two does a job."""
NOT_COMPARED = {"rate", "share", "ratio", "most", "p99"}
"""Figures that are no seconds, or of which one bad moment of the machine decides."""
WIDTH = 60
"""So much of a job is shown."""

Job: TypeAlias = tuple[str, str]
"""A worker and what it was asked to do."""
Times: TypeAlias = dict[str, tuple[float, float]]
"""Seconds of this checkout and of the earlier one, by the name of the figure."""


def _checkout() -> Path | None:
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    root = Path(named).resolve()
    if not (root / "src" / "livefacts").is_dir():
        raise SystemExit(f"{VARIABLE} is the root of a checkout, and {root} has no src/livefacts")
    return root


CHECKOUT = _checkout()

_found: dict[Job, Times] = {}
_failures: dict[Job, str] = {}


def note(
    worker: str, job: Mapping[str, Any], now: Mapping[str, Any], before: Mapping[str, Any]
) -> None:
    """Keep the times of a job."""
    key = worker, json.dumps({**job, "output": None})
    if "failure" in before:
        _failures[key] = before["failure"]
        return
    times, theirs = _found.setdefault(key, {}), dict(_times(before))
    for figure, seconds in _times(now):
        if figure in theirs:
            known = times.get(figure, (math.inf, math.inf))
            times[figure] = min(seconds, known[0]), min(theirs[figure], known[1])


def _times(report: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """The seconds in a report, with the way to each."""
    if isinstance(report, Mapping):
        parts: Iterator[tuple[Any, Any]] = iter(report.items())
    elif isinstance(report, list):
        parts = enumerate(report)
    else:
        if isinstance(report, float) and report > 0 and NOT_COMPARED.isdisjoint(name.split(".")):
            yield name, report
        return
    for key, value in parts:
        yield from _times(value, f"{name}.{key}" if name else str(key))


def report() -> str:
    """A table of all jobs: ratios of all their times, and the time that has grown most."""
    rows = [[*_shown(job), *_compared(times)] for job, times in _found.items() if times]
    rows += [[*_shown(job), NOTHING, f"failed there: {why}", ""] for job, why in _failures.items()]
    _found.clear()
    _failures.clear()
    heads = ["worker", "job", "now / before, mean", "the worst", "now / before"]
    return "\n## Beside an earlier checkout\n\n" + table(heads, rows) if rows else ""


def _shown(job: Job) -> list[str]:
    values = (str(value) for name, value in json.loads(job[1]).items() if name != "input")
    return [job[0], " ".join(" ".join(values).split())[-WIDTH:].replace("|", " ")]


def _compared(times: Times) -> list[str]:
    ratios = {figure: now / before for figure, (now, before) in times.items()}
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    worst = max(ratios, key=lambda figure: ratios[figure])
    now, before = times[worst]
    growth = f"{ratios[worst]:.2f} ({latency(now)} / {latency(before)})"
    return [f"{mean:.2f}", worst, growth]
