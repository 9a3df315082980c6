"""A stream from a real broker: the driver is killed, the broker restarted, and nothing is lost or doubled."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from deltalake import DeltaTable
from tests.system.brokers import FETCH, PARTS, free_port, kafka
from tests.system.running import livefacts_process, started

import livefacts as lf

pytestmark = [pytest.mark.slow, pytest.mark.thorough]
EXAMPLE = Path(__file__).parents[2] / "examples" / "traffic-on-kafka"
ROAD = re.compile(r"^([AD]) (<\S+> <\S+> <\S+>) \.$", re.MULTILINE)


def connector() -> str:
    """The jars by which Spark reads Kafka."""
    jars = sorted((PARTS / "spark-kafka").glob("*.jar"))
    if len(jars) < 4:
        pytest.skip(f"there is no connector of Spark for Kafka: {FETCH}")
    return ",".join(map(str, jars))


def send(port: int, *messages: str) -> None:
    """Put messages on the topic."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": f"127.0.0.1:{port}"})
    for message in messages:
        producer.produce("traffic", message.encode(), key="one")
    assert producer.flush(60) == 0


def draw(pick: random.Random, count: int) -> list[str]:
    """Rows of cars that come and go."""
    return [
        f"{pick.choice('AAD')} <http://example.org/car{pick.randrange(20)}> "
        f"<http://example.org/stands_on> <http://example.org/road{pick.randrange(4)}> ."
        for _ in range(count)
    ]


def test_a_killed_driver_and_a_restarted_broker_lose_and_double_nothing(tmp_path: Path) -> None:
    pytest.importorskip("confluent_kafka")
    jars, port, kb = connector(), free_port(), str(tmp_path / "kb")
    broker = tmp_path / "broker"
    broker.mkdir()
    pick = random.Random(5)
    messages = [*draw(pick, 150), "no operation", *draw(pick, 150)]
    for command in (
        ("ingest", str(EXAMPLE / "roads.nt"), "--kb", kb),
        ("materialize", "--kb", kb, "--rules", "rho-df"),
    ):
        ended = livefacts_process("spark", *command, "--master", "local[1]")
        assert ended.code == 0, ended.err
    follow = ["spark", "stream", "--kb", kb, "--from", f"kafka://127.0.0.1:{port}/traffic?max=40"]
    follow += ["--deltas", str(tmp_path / "out"), "--jars", jars, "--master", "local[1]"]
    with kafka(broker, port):
        send(port, *messages[:200])
        with started(*follow) as process:
            assert process.stderr is not None
            lines = iter(process.stderr.readline, b"")
            assert any(b": batch 1," in line for line in lines), "it goes on until it is killed"
            process.send_signal(signal.SIGKILL)
    with kafka(broker, port):
        send(port, *messages[200:])
        ended = livefacts_process(*follow, "--trigger", "now")
        assert ended.code == 0, ended.err
    twin = lf.Reasoner(rules="rho-df")
    twin.add(EXAMPLE / "roads.nt")
    begun = {str(fact) for fact in twin}
    last = {fact: op for op, fact in ROAD.findall("\n".join(messages))}
    twin.add("\n".join(f"{fact} ." for fact, op in last.items() if op == "A"))
    expected = {str(fact) for fact in twin}
    with lf.Reasoner.open(kb, read_only=True) as found:
        assert {str(fact) for fact in found} == expected
    total = Counter[str]()
    for row in DeltaTable(tmp_path / "out").to_pyarrow_table().to_pylist():
        total[row["fact"]] += 1 if row["op"] == "A" else -1
    assert set(total.values()) <= {0, 1}, "a delta is lost, or there twice"
    assert begun | {fact for fact, count in total.items() if count} == expected
    rejects = DeltaTable(Path(kb) / "rejected_messages").to_pyarrow_table().to_pylist()
    assert [(row["topic"], row["key"], row["text"]) for row in rejects] == [
        ("traffic", "one", "no operation")
    ]


def test_the_example_sends_what_a_stream_can_read(tmp_path: Path) -> None:
    pytest.importorskip("confluent_kafka")
    port = free_port()
    with kafka(tmp_path, port):
        command = [sys.executable, str(EXAMPLE / "send.py"), f"127.0.0.1:{port}", "traffic", "50"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.startswith("50 messages sent")
