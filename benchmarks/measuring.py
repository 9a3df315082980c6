"""Measuring: workers in processes of their own, on one core, best of several runs.

Every worker runs on the same single core, so that processor time is not blurred by threads
that wait for each other.  Where several systems are compared their runs take turns, so
that a change in the machine's speed meets all of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import earlier
from benchmarks.peers import ROOT, Peers

WORKERS = Path(__file__).parent / "workers"
SCRATCH = ROOT / "out" / "benchmarks"
_LABEL = re.compile(rb"_:[^\s<>\"]+")
TIME_LIMIT = 1800


@dataclass(frozen=True)
class Contestant:
    """A system at a job: which worker runs it, in which environment."""

    name: str
    worker: str
    package: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_ours(self) -> bool:
        return not self.package


@dataclass
class Found:
    """What one contestant did: its best times, its last report, or why there is none."""

    contestant: Contestant
    stages: dict[str, float] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)
    fingerprint: tuple[int, str] | None = None
    failure: str = ""

    def seconds(self, *stages: str) -> float | None:
        """The sum of some stages, or None where one was not measured."""
        times = [self.stages.get(stage) for stage in stages]
        known = [time for time in times if time is not None]
        return sum(known) if known and len(known) == len(times) else None


def compare(
    contestants: Sequence[Contestant],
    job: Mapping[str, Any],
    peers: Peers,
    *,
    runs: int = 3,
    with_output: bool = True,
) -> list[Found]:
    """Run all contestants at one job, taking turns; the first turn also writes results."""
    found = [Found(contestant) for contestant in contestants]
    for turn in range(runs):
        for one in found:
            if not one.failure:
                _take_turn(one, job, peers, write=with_output and turn == 0)
    for one in found:
        _split_what_is_one_call(one.stages)
    return found


def _split_what_is_one_call(stages: dict[str, float]) -> None:
    """Where a system loads and closes in one call, closing is what is beyond loading alone."""
    if "load and close" in stages and "load" in stages:
        stages["close"] = stages["load and close"] - stages["load"]


def _take_turn(one: Found, job: Mapping[str, Any], peers: Peers, *, write: bool) -> None:
    contestant = one.contestant
    missing = peers.missing.get(contestant.package)
    if missing:
        one.failure = f"could not be installed: {missing}"
        return
    SCRATCH.mkdir(parents=True, exist_ok=True)
    output = SCRATCH / f"{contestant.worker}.nt"
    full = {**job, **contestant.options, "output": str(output) if write else None}
    python = sys.executable if contestant.is_ours else str(peers.python)
    print(f"  {contestant.name}", file=sys.stderr)
    report = run_worker(contestant.worker, full, python)
    one.failure = report.get("failure", "")
    if one.failure:
        return
    one.report = report
    for stage, seconds in report["stages"].items():
        one.stages[stage] = min(seconds, one.stages.get(stage, seconds))
    if write and output.exists():
        one.fingerprint = fingerprint(output)


def run_worker(
    worker: str,
    job: Mapping[str, Any],
    python: str = sys.executable,
    *,
    pinned: bool = True,
) -> dict[str, Any]:
    """The report of one worker; `failure` says why there is none.

    Where an earlier checkout is to be measured, too, its worker takes turns with ours.
    """
    report = _report_of(ROOT, worker, job, python, pinned)
    if earlier.CHECKOUT is not None and python == sys.executable and "failure" not in report:
        now = report
        for turn in range(earlier.TURNS):
            before = _report_of(earlier.CHECKOUT, worker, job, python, pinned)
            earlier.note(worker, job, now, before)
            if "failure" in before or turn == earlier.TURNS - 1:
                break
            now = _report_of(ROOT, worker, job, python, pinned)
    return report


def _report_of(
    root: Path, worker: str, job: Mapping[str, Any], python: str, pinned: bool
) -> dict[str, Any]:
    script = root / "benchmarks" / "workers" / f"{worker}.py"
    if not script.exists():
        script = WORKERS / script.name
    command = [python, str(script), json.dumps(job)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            preexec_fn=on_one_core if pinned else None,
            env=_environment(root),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"failure": f"not done after {TIME_LIMIT // 60} minutes"}
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return {"failure": lines[-1][:200]}
    report: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return report


def on_one_core() -> None:
    """Keep this process and its threads on one core, where the system allows it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _environment(root: Path) -> dict[str, str]:
    single = dict.fromkeys(("POLARS_MAX_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    return {**os.environ, **single, "PYTHONPATH": str(root / "src")}


def fingerprint(path: Path) -> tuple[int, str]:
    """The number of distinct lines and a sum over them that does not depend on their order.

    Blank nodes count as equal: every system has its own labels for them.
    """
    lines = set()
    with path.open("rb") as stream:
        for line in stream:
            lines.add(hashlib.blake2b(line.rstrip(), digest_size=8).digest())
    return len(lines), f"{_sum_without_labels(path):016x}"


def _sum_without_labels(path: Path) -> int:
    total = 0
    with path.open("rb") as stream:
        for line in stream:
            text = _LABEL.sub(b"_:", line.rstrip()) if b"_:" in line else line.rstrip()
            total += int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
    return total % 2**64


def missing_from(larger: Path, smaller: Path) -> int:
    """How many lines of the smaller file the larger has not, blank nodes apart."""
    return len(_plain_lines(smaller) - _plain_lines(larger))


def _plain_lines(path: Path) -> set[bytes]:
    with path.open("rb") as stream:
        return {line.rstrip() for line in stream if b"_:" not in line}
