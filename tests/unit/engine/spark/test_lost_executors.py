"""What is lost in the middle of a stage, Spark makes good, and the result is the same."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
import pytest
from tests.system.running import environment
from tests.unit.engine.spark.losses import OPERATIONS, TOLD, described, marks, operate

ROOT = Path(__file__).parents[4]
LOCAL = "local-cluster[2,1,1024]"
MACHINES = 12
"""Each kill takes one with it, and what comes after needs some, too."""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc"),
]


def expected(spark: Any, folder: Path, names: list[str]) -> list[Any]:
    """The states if nothing is lost."""
    folder.mkdir()
    (folder / "told.nt").write_text(TOLD, encoding="utf-8")
    states = []
    for name in names:
        operate(spark, folder, name)
        states.append(json.loads(json.dumps(described(folder / "kb"))))
    return states


def check(spark: Any, folder: Path, master: str, victim: str, names: list[str]) -> None:
    wanted = expected(spark, folder / "quiet", names)
    (folder / "loud").mkdir()
    arguments = ["tests.unit.engine.spark.losses", master, str(folder / "loud"), victim, *names]
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=environment(PYTHONPATH=f"{ROOT}:{ROOT / 'src'}", PYSPARK_PYTHON=sys.executable),
        timeout=1500,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("states ")]
    assert lines, done.stderr[done.stderr.rfind("Traceback (most recent call last)") :][:5000]
    killed = {path.name for path in (folder / "loud").glob("killed-*")}
    assert killed == {mark for name in names for mark in marks(name).values()}
    assert json.loads(lines[0].removeprefix("states ")) == wanted


def test_an_executor_that_is_lost_in_both_stages_of_a_job_changes_nothing(
    spark: Any, tmp_path: Path
) -> None:
    check(spark, tmp_path, LOCAL, "executor", ["ingest"])


@pytest.mark.thorough
@pytest.mark.parametrize("victim", ["worker", "executor"])
def test_what_is_killed_in_any_stage_is_made_good(spark: Any, tmp_path: Path, victim: str) -> None:
    check(spark, tmp_path, LOCAL, victim, list(OPERATIONS))


@pytest.mark.thorough
def test_a_machine_that_is_lost_in_any_stage_is_made_good(spark: Any, tmp_path: Path) -> None:
    with standalone(MACHINES) as master:
        check(spark, tmp_path, master, "machine", list(OPERATIONS))


@contextmanager
def standalone(machines: int) -> Iterator[str]:
    """A cluster on this machine, of processes that stand for machines: its address."""
    started: list[subprocess.Popen[str]] = []
    try:
        started.append(java("master.Master", "--host", "127.0.0.1", "--port", "0"))
        master = awaited(started[0], r"Starting Spark master at (\S+)")
        for _ in range(machines):
            started.append(
                java("worker.Worker", "--host", "127.0.0.1", "-c", "1", "-m", "1g", master)
            )
        for process in started[1:]:
            awaited(process, r"Successfully registered (with) master")
        yield master
    finally:
        for process in started:
            process.kill()
            process.wait()


def java(name: str, *arguments: str) -> subprocess.Popen[str]:
    from livefacts.engine.spark.java import find_java

    home = Path(pyspark.__file__).parent
    return subprocess.Popen(
        [
            str(Path(find_java().home) / "bin" / "java"),
            *("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
            *("-cp", f"{home}/jars/*", f"org.apache.spark.deploy.{name}"),
            *("--webui-port", "0", *arguments),
        ],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_SCALA_VERSION": "2.13",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": os.environ.get("TMPDIR", "/tmp"),
        },
    )


def awaited(process: subprocess.Popen[str], pattern: str) -> str:
    """The part of the line for which a process was started to say it."""
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(pattern, line):
            # Whoever goes on writing into a pipe that nobody reads stops some day.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return found[1]
    raise AssertionError(f"{process.args} ended without saying {pattern}")
