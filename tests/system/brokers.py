"""Real brokers on loopback for tests, started once a session; skipped with the reason where there are none.

`make parts` fetches them into `out/parts`; LIVEFACTS_TEST_PARTS names another folder.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "LIVEFACTS_TEST_PARTS"
PARTS = Path(os.environ.get(VARIABLE, ROOT / "out" / "parts"))
FETCH = f"`make parts` fetches it, or {VARIABLE} says where it is"
KAFKA = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
num.partitions=2
"""


def free_port() -> int:
    """A port of loopback that nobody uses."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def mosquitto(folder: Path, port: int) -> Iterator[None]:
    """A broker of MQTT that keeps its sessions in a folder."""
    program, environment = _mosquitto()
    settings = folder / "mosquitto.conf"
    settings.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\nuser root\n"
        f"persistence true\npersistence_location {folder}/\nmax_queued_messages 0\n"
    )
    with running([program, "-c", str(settings)], port, environment, folder):
        yield


def _mosquitto() -> tuple[str, dict[str, str]]:
    unpacked = PARTS / "mosquitto"
    program = unpacked / "usr" / "sbin" / "mosquitto"
    if program.exists():
        libraries = ":".join(map(str, (unpacked / "usr" / "lib").glob("*-linux-gnu")))
        return str(program), {**os.environ, "LD_LIBRARY_PATH": libraries}
    found = shutil.which("mosquitto", path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        pytest.skip(f"there is no mosquitto: {FETCH}")
    return found, dict(os.environ)


@contextmanager
def kafka(folder: Path, port: int) -> Iterator[None]:
    """A broker of Kafka, one node."""
    jars, java = PARTS / "kafka", shutil.which("java")
    if java is None or not any(jars.glob("kafka_*.jar")):
        pytest.skip(f"there is no {'Java' if java is None else 'Kafka'}: {FETCH}")
    settings = folder / "server.properties"
    settings.write_text(KAFKA.format(port=port, controller=free_port(), folder=folder))
    call = [java, "-Xmx400m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{jars}/*"]
    cluster = "MkU3OEVBNTcwNTJENDM2Qg"
    made = [*call, "kafka.tools.StorageTool", "format", "-g", "-t", cluster, "-c", str(settings)]
    subprocess.run(made, check=True, capture_output=True, cwd=folder)
    with running([*call, "kafka.Kafka", str(settings)], port, dict(os.environ), folder):
        yield


@contextmanager
def running(
    command: list[str], port: int, environment: dict[str, str], folder: Path
) -> Iterator[None]:
    """A process that listens at a port."""
    with (folder / "output.txt").open("ab") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env=environment, cwd=folder
        )
    try:
        while not _answers(port):
            if process.poll() is not None:
                pytest.skip(f"{command[0]} ended: {(folder / 'output.txt').read_text()[-500:]}")
        yield
    finally:
        process.kill()
        process.wait()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=0.2).close()
    except OSError:
        return False
    return True
