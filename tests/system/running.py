"""Running the command as a user does: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src"


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, its data and its messages."""

    code: int
    out: str
    err: str


def environment(**more: str) -> dict[str, str]:
    """What the command finds around it: this checkout, no terminal, no colours."""
    path = os.pathsep.join(filter(None, [str(SOURCES), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1", "COLUMNS": "100", **more}


def command(*arguments: str) -> list[str]:
    """The words that start the command."""
    return [sys.executable, "-m", "livefacts.cli", *arguments]


def livefacts(*arguments: str, stdin: str | bytes = b"", **variables: str) -> Ended:
    """Run the command to its end."""
    done = subprocess.run(
        command(*arguments),
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        env=environment(**variables),
        timeout=300,
        check=False,
    )
    ended = Ended(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in ended.err, ended.err
    return ended
