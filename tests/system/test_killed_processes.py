"""kill -9 at random, under load: nothing that was acknowledged is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def cycles(folder: Path, *options: str, module: str = "kill_cycles") -> str:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", f"tests.system.{module}", str(folder), *options]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", [["--timed"], pytest.param([], marks=pytest.mark.thorough)])
def test_what_was_acknowledged_survives_kills_at_random(tmp_path: Path, kind: list[str]) -> None:
    told = cycles(tmp_path / "kb", "--cycles", "5", *kind)
    assert told.count("found") == 5


def test_what_many_threads_were_told_survives_a_kill(tmp_path: Path) -> None:
    told = cycles(tmp_path / "kb", "--cycles", "1", module="thread_kills")
    assert told.count("found") == 1


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [[], ["--timed"]])
def test_what_was_acknowledged_survives_many_kills(tmp_path: Path, kind: list[str]) -> None:
    told = cycles(tmp_path / "kb", "--cycles", "30", "--seed", "5000", *kind)
    assert told.count("found") == 30
