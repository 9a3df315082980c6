"""A server in a process of its own, as users start it, and requests to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from tests.system.running import environment

PATIENCE = 60


@dataclass
class Serving:
    """A running server: where it is, its process, and its first token."""

    url: str
    process: subprocess.Popen[str]
    token: str = ""
    said: list[str] = field(default_factory=list)

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=PATIENCE, **options)

    def get(self, path: str, **options: Any) -> httpx.Response:
        with self.client() as client:
            return client.get(path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        """A request with the token."""
        headers = {**self.bearer, **options.pop("headers", {})}
        with self.client() as client:
            return client.post(path, headers=headers, **options)

    def update(self, text: str) -> dict[str, Any]:
        answer = self.post("/sparql", data={"update": text})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def select(self, text: str, **parameters: Any) -> list[dict[str, str]]:
        """The rows of a query, as plain values."""
        answer = self.get("/sparql", params={"query": text, **parameters})
        assert answer.status_code == 200, answer.text
        rows = answer.json()["results"]["bindings"]
        return [{name: term["value"] for name, term in row.items()} for row in rows]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextmanager
def serving(
    folder: Path, *options: str, token: str = "", audit: Path | None = None
) -> Iterator[Serving]:
    """Serve a folder at any free port; the end is that of an orderly stop."""
    log = audit or folder.with_suffix(".audit")
    command = ["serve", str(folder), "--port", "0", "--audit", str(log), *options]
    with subprocess.Popen(
        [sys.executable, "-m", "livefacts", *command],
        stdout=subprocess.PIPE,
        env=environment(),
        text=True,
    ) as process:
        try:
            yield _started(process, token)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                assert process.wait(PATIENCE) == os.EX_OK


def _started(process: subprocess.Popen[str], token: str) -> Serving:
    """Read what the server says until it has said all: where it is, and its token if it is new."""
    assert process.stdout is not None
    found = Serving("", process, token)
    for line in process.stdout:
        name, _, value = line.rstrip("\n").partition(": ")
        found.said.append(name)
        if name == "endpoint":
            found.url = value.removesuffix("/sparql")
        elif name == "token":
            found.token = value
        elif name == "ready":
            return found
    raise AssertionError("the server ended before it was ready")
