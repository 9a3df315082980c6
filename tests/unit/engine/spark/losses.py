"""Losses: a pipeline on executors that are processes of their own, some of which are killed.

A task that is chosen kills, once it has sent or written everything: itself, the executor that
it is in, or the machine that the executor is on, which is a process as well.

Run as `python -m tests.unit.engine.spark.losses MASTER FOLDER VICTIM OPERATION...`; what was
killed is in files `killed-...` of the folder, and states after each operation are printed.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.system.running import SMALL_JAVA
from tests.unit.engine.spark.test_kills import state, unnamed_after_optimizing

from livefacts.engine.spark.joins import rounds
from livefacts.spark import Pipeline, session

EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
MACHINE = "org.apache.spark.deploy.worker.Worker"
DOMAIN = "<urn:wrote> <http://www.w3.org/2000/01/rdf-schema#domain> <urn:Writer> .\n"
RANGE = "<urn:wrote> <http://www.w3.org/2000/01/rdf-schema#range> <urn:Work> .\n"
CLASS = "<urn:Work> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:Thing> .\n"
TOLD = DOMAIN + RANGE + "".join(f"<urn:a{n}> <urn:wrote> <urn:b{n % 17}> .\n" for n in range(60))
NEW = "".join(f"<urn:c{n}> <urn:wrote> <urn:b{n}> .\n" for n in range(30)) + CLASS
GONE = "".join(f"<urn:a{n}> <urn:wrote> <urn:b{n % 17}> .\n" for n in range(0, 60, 7))
CHAIN = "".join(f"[<urn:a{n}>, <urn:near>, <urn:a{n + 1}>] .\n" for n in range(4))
NEAR = "[?x, <urn:near>, ?z] :- [?x, <urn:near>, ?y], [?y, <urn:near>, ?z] ."
SECOND = "<urn:a1> <urn:near> <urn:a2> ."
BY_JOINS = "by joins"
Operation = Callable[[Pipeline, Path], object]

OPERATIONS: dict[str, tuple[Operation, tuple[str, ...]]] = {
    "ingest": (
        lambda p, folder: p.ingest(folder / "told.nt"),
        ("read.ingestion:read_split", "read.ingestion:settle_bucket"),
    ),
    "materialize": (
        lambda p, folder: p.materialize("rho-df"),
        (
            "single.closure:survey_bucket",
            "single.closure:follow_bucket",
            "single.closure:publish_bucket",
        ),
    ),
    "update": (
        lambda p, folder: p.update(add=NEW, remove=GONE),
        (
            "single.task_change:told_in_bucket",
            "single.task_change:follow_change",
            "single.task_change:sign_change",
        ),
    ),
    "optimize": (
        lambda p, folder: p.optimize(),
        ("optimizer:compact_bucket", "optimizer:compact_terms"),
    ),
    "add rules": (
        lambda p, folder: p.change_rules(f"{CHAIN}\n{NEAR}"),
        ("joins.kept_rows:write_rows",),
    ),
    "materialize by joins": (
        lambda p, folder: p.materialize(),
        ("joins.kept_rows:write_rows", "joins.stored_closure:collect_bucket"),
    ),
    "update by joins": (
        lambda p, folder: p.update(add="<urn:a4> <urn:near> <urn:a5> .", remove=SECOND),
        ("joins.kept_rows:write_rows", "joins.stored_closure:_write_rows"),
    ),
}
"""What is done, in this order, and the functions in whose middle something is killed."""


@dataclass(frozen=True, slots=True)
class Killing:
    """A function after whose first call something is killed."""

    task: Any
    mark: Path
    victim: str

    def __call__(self, *given: Any, **named: Any) -> Any:
        if inspect.isgeneratorfunction(self.task):
            return self._sending(given)
        result = self.task(*given, **named)
        self._kill()
        return result

    def _sending(self, given: tuple[Any, ...]) -> Iterator[Any]:
        report = yield from self.task(*given)
        self._kill()
        return report

    def _kill(self) -> None:
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        for number in self._victims():
            os.kill(number, signal.SIGKILL)

    def _victims(self) -> list[int]:
        here = os.getpid()
        outer = [*parents(here)]
        inside = [number for number in outer if EXECUTOR in command_of(number)]
        machines = [number for number in outer if MACHINE in command_of(number)]
        assert self.victim != "machine" or machines
        return {"worker": [here], "executor": inside, "machine": [*machines, *inside]}[self.victim]


def parents(number: int) -> Iterator[int]:
    """The process that has started a process, the one that has started that, and so on."""
    while number > 1:
        line = Path(f"/proc/{number}/stat").read_text("utf-8")
        number = int(line.rpartition(")")[2].split()[1])
        yield number


def command_of(number: int) -> str:
    try:
        return Path(f"/proc/{number}/cmdline").read_text("utf-8").replace("\0", " ")
    except OSError:
        return ""


def marks(name: str) -> dict[str, str]:
    """What is left behind where something was killed in an operation, by function."""
    return {target: f"killed-{name}-{target}" for target in OPERATIONS[name][1]}


def planted(target: str, mark: Path, victim: str) -> None:
    """Have something killed in the middle of a function."""
    module, name = target.split(":")
    home = importlib.import_module(f"livefacts.engine.spark.{module}")
    setattr(home, name, Killing(getattr(home, name), mark, victim))


def operate(running: Any, folder: Path, name: str) -> Pipeline:
    """Do one operation; those by joins close nothing in one task."""
    in_task, operation = rounds.IN_TASK, OPERATIONS[name][0]
    try:
        rounds.IN_TASK = 0 if name.endswith(BY_JOINS) else in_task
        pipeline = made(running, folder, name)
        operation(pipeline, folder)
        return pipeline
    finally:
        rounds.IN_TASK = in_task


def main(master: str, place: str, victim: str, *names: str) -> None:
    folder = Path(place)
    (folder / "told.nt").write_text(TOLD, encoding="utf-8")
    settings = {
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": SMALL_JAVA,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.cores.max": "2",
        "spark.sql.shuffle.partitions": "2",
        # One executor after the other is lost, which is not the fault of a machine.
        "spark.deploy.maxExecutorRetries": "-1",
    }
    running = session(master, settings=settings)
    states = []
    for name in names:
        for target, mark in marks(name).items():
            planted(target, folder / mark, victim)
        pipeline = operate(running, folder, name)
        states.append(described(folder / "kb"))
    assert unnamed_after_optimizing(pipeline) == set()
    print("states", json.dumps(states))
    running.stop()


def made(running: Any, folder: Path, name: str) -> Pipeline:
    """A pipeline for an operation; its splits are small, so that there are several tasks to lose."""
    road = "tasks" if name == "update" else None
    return Pipeline(running, folder / "kb", buckets=3, bytes_per_split=900, road=road, memory=None)


def described(kb: Path) -> list[Any]:
    """The last version, in a form that can be printed and compared."""
    seq, facts = state(kb)
    return [seq, sorted(map(list, facts))]


if __name__ == "__main__":
    main(*sys.argv[1:])
