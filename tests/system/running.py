"""Running the command: in this process where that is enough, else as a user does."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from livefacts import cli

SOURCES = Path(__file__).parents[2] / "src"
SMALL_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Tests run short jobs: neither a better compiler nor threads for collecting pay."""


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, its data and its messages."""

    code: int
    out: str
    err: str


def livefacts(*arguments: str, stdin: str | bytes = b"") -> Ended:
    """Run the command in this process, with streams of its own."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    out, err = io.BytesIO(), io.BytesIO()
    with (
        patch("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(given)), "utf-8")),  # type: ignore[arg-type]
        patch("sys.stdout", _text(out)),
        patch("sys.stderr", _text(err)),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("always")
        code = cli.run(arguments)
        return Ended(code, out.getvalue().decode(), err.getvalue().decode())


def _text(stream: io.BytesIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(stream, "utf-8", newline="", write_through=True)


def livefacts_process(*arguments: str, **variables: str) -> Ended:
    """Run the command in a process of its own, with these environment variables."""
    with started(*arguments, **variables) as process:
        out, err = process.communicate(timeout=300)
    return Ended(process.returncode, out.decode(), err.decode())


@contextmanager
def started(*arguments: str, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command, started in a process of its own."""
    with subprocess.Popen(
        [sys.executable, "-m", "livefacts", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(**variables),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def environment(**more: str) -> dict[str, str]:
    """What a process of its own finds around it: this checkout, no colours, a Java for short jobs."""
    path = os.pathsep.join(filter(None, [str(SOURCES), os.environ.get("PYTHONPATH", "")]))
    always = {"PYTHONPATH": path, "NO_COLOR": "1", "SPARK_SUBMIT_OPTS": SMALL_JAVA}
    return {**os.environ, **always, **more}
