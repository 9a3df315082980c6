"""The files that people run the server with: read by the tools that check them, where they are."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.system.brokers import PARTS

from livefacts.cli import app

ROOT = Path(__file__).resolve().parent.parent.parent


def _tool(name: str) -> str:
    fetched = PARTS / name / "bin" / name
    found = str(fetched) if fetched.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def test_the_dockerfile_has_no_lint() -> None:
    done = subprocess.run(
        [_tool("hadolint"), str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_unit_is_one_for_systemd(tmp_path: Path) -> None:
    unit = (ROOT / "deploy" / "livefacts.service").read_text()
    program = re.search(r"ExecStart=(\S+)", unit)
    assert program is not None
    path = tmp_path / "livefacts.service"
    path.write_text(unit.replace(program[1], shutil.which("true") or "/bin/true"))
    done = subprocess.run(
        [_tool("systemd-analyze"), "verify", str(path)], capture_output=True, text=True, check=False
    )
    assert "livefacts.service" not in done.stderr, done.stderr


def test_what_is_started_is_a_command_with_these_options() -> None:
    from typer.main import get_command

    serve = get_command(app).commands["serve"]  # type: ignore[attr-defined]
    known = {name for parameter in serve.params for name in parameter.opts}
    for file in ("Dockerfile", "deploy/livefacts.service"):
        text = (ROOT / file).read_text().replace('", "', " ")
        started = [line for line in text.splitlines() if "livefacts serve /" in line]
        used = {option for line in started for option in re.findall(r"--[a-z-]+", line)}
        assert used, file
        assert used <= known, file
