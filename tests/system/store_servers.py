"""Real stores on loopback for tests: S3 by moto, or by versitygw, which looks at keys, and HDFS.

moto comes with the other packages of tests; `make parts` makes the other two, and tests that need them
are skipped with the reason where they are not there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import urllib.request
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest
from tests.system.brokers import FETCH, PARTS, free_port, running

from livefacts.errors import StoreError
from livefacts.kb.stores.file_path import store_path

KEY, SECRET = "testkey", "a-test-secret"
GUEST = "guest"
"""Somebody whom versitygw knows, and who may do nothing."""


@dataclass(frozen=True)
class StoreServer:
    """A store that runs: the address of a place in it, and the options to be let in."""

    root: str
    options: Mapping[str, str]

    def place(self) -> str:
        """A place that nobody else uses."""
        return f"{self.root}/{uuid.uuid4().hex[:8]}"


@contextmanager
def s3_of_moto(folder: Path) -> Iterator[StoreServer]:
    """S3 by moto, with a bucket."""
    port = free_port()
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "moto.server",
        "-H",
        "127.0.0.1",
        "-p",
        str(port),
    ]
    with running(command, port, dict(os.environ), folder):
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/lake", method="PUT")
        urllib.request.urlopen(asked).close()
        yield _s3(port)


@contextmanager
def s3_of_versitygw(folder: Path) -> Iterator[StoreServer]:
    """S3 by versitygw, with a bucket."""
    program = PARTS / "go" / "bin" / "versitygw"
    if not program.exists():
        pytest.skip(f"there is no versitygw: {FETCH}")
    port = free_port()
    for name in ("data/lake", "users"):
        (folder / name).mkdir(parents=True)
    users = ["--iam-dir", str(folder / "users")]
    command = [str(program), "--port", f"127.0.0.1:{port}", *users, "posix", str(folder / "data")]
    keys = {"ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET}
    with running(command, port, {**os.environ, **keys}, folder):
        server = _s3(port)
        asked = ["--access", KEY, "--secret", SECRET, "--endpoint-url", f"http://127.0.0.1:{port}"]
        made = ["create-user", "--access", GUEST, "--secret", SECRET, "--role", "user"]
        subprocess.run([program, "admin", *asked, *made], check=True, capture_output=True)
        yield server


def _s3(port: int) -> StoreServer:
    options = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }
    return StoreServer("s3://lake", MappingProxyType(options))


@contextmanager
def hdfs(folder: Path) -> Iterator[StoreServer]:
    """A file system of Hadoop, one node."""
    jars, java = PARTS / "hadoop", shutil.which("java")
    if java is None or not any(jars.glob("hadoop-minicluster*.jar")):
        pytest.skip(f"there is no {'Java' if java is None else 'HDFS'}: {FETCH}")
    port = free_port()
    cluster = "org.apache.hadoop.mapreduce.MiniHadoopClusterManager"
    command = [java, "-Xmx400m", "-cp", f"{jars}/*", f"-Dtest.build.data={folder}/data", cluster]
    command += ["-nomr", "-format", "-nnport", str(port), "-nnhttpport", str(free_port())]
    with running([*command, "-datanodes", "1"], port, dict(os.environ), folder):
        server = StoreServer(f"hdfs://127.0.0.1:{port}", MappingProxyType({}))
        while not _takes_files(server):
            # The node of names answers before a node of data has come to it.
            continue
        yield server


def _takes_files(server: StoreServer) -> bool:
    try:
        store_path(f"{server.root}/here").write(b"")
        store_path(f"{server.root}/here").write(b"here")
    except StoreError:
        return False
    return True
