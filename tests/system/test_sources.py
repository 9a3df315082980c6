"""Sources of messages, with real brokers: nothing is lost and nothing doubled, whoever is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.system.brokers import free_port, kafka, mosquitto
from tests.system.running import livefacts

from livefacts import Reasoner
from livefacts.errors import InputError
from livefacts.journal import fact_texts
from livefacts.journal.journal import FOLDER
from livefacts.sources import Message, follow, open_address
from livefacts.syntax.input.rejects import Rejects

pytestmark = pytest.mark.slow
READER = Path(__file__).with_name("source_reader.py")
COUNT = 120


def reading(number: int) -> bytes:
    return json.dumps({"id": f"sensor-{number % 7}", "v": number, "t": number // 3}).encode()


END = b'{"id": "end", "v": 0, "t": 1000}'


def reader(folder: Path, address: str) -> subprocess.Popen[str]:
    """A process that reads a source, when it has begun."""
    command = [sys.executable, str(READER), str(folder), address]
    made = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert made.stdout is not None
    assert made.stdout.readline() == "ready\n"
    return made


def kill_after(process: subprocess.Popen[str], lines: int) -> None:
    assert process.stdout is not None
    for _ in range(lines):
        assert process.stdout.readline(), "it goes on until it is killed"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


def end_of(process: subprocess.Popen[str]) -> None:
    process.communicate(timeout=60)
    assert process.returncode == 0


def check_once(folder: Path, count: int) -> None:
    """Each of the messages has made its two facts, once."""
    with Reasoner.open(folder, read_only=True) as reasoner:
        seen = {
            int(str(fact).split(", ")[1][:-1]) for fact in reasoner.facts() if "seen(" in str(fact)
        }
        assert seen == set(range(count))
        arrived = 0
        for row in reasoner.log():
            if row.kind == "push":
                counts = fact_texts.counts_of(row.content, folder / FOLDER)
                arrived += sum(n for name, n in counts.items() if name.startswith("run"))
        assert arrived == 2 * (count + 1)


def killed_and_read(folder: Path, address: str, send: Callable[[list[bytes]], None]) -> None:
    """Messages come before, while and after the reader lives; it is killed twice."""
    messages = [reading(number) for number in range(COUNT)]
    first = reader(folder, address)
    send(messages[:60])
    kill_after(first, 25)
    send(messages[60:100])
    second = reader(folder, address)
    kill_after(second, 31)
    send([*messages[100:], END])
    end_of(reader(folder, address))
    check_once(folder, COUNT)


# files


def test_a_file_is_read_once_whoever_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "readings.jsonl"
    path.touch()

    def send(messages: list[bytes]) -> None:
        with path.open("ab") as file:
            file.writelines(message + b"\n" for message in messages)

    killed_and_read(tmp_path / "kb", path.as_uri(), send)


def test_a_file_is_followed_over_rotation_and_truncation(tmp_path: Path) -> None:
    path, said = tmp_path / "log", []
    path.write_bytes(b"1\n2\nhalf")
    source = open_address(path.as_uri(), said.append)
    come = source.messages(None)
    assert texts(come, 2) == [b"1\n", b"2\n"]
    assert next(come) is None
    with path.open("ab") as file:
        file.write(b" and whole\n3\n")
    assert texts(come, 2) == [b"half and whole\n", b"3\n"]
    with path.open("ab") as file:
        file.write(b"4\n")
    path.rename(tmp_path / "log.1")
    path.write_bytes(b"5\n")
    assert texts(come, 2) == [b"4\n", b"5\n"]
    path.write_bytes(b"")
    assert next(come) is None
    path.write_bytes(b"6\n")
    assert texts(come, 1) == [b"6\n"]
    assert [text.removeprefix(str(path)) for text in said] == [
        " is a new file: it is read from its start",
        " was cut: it is read from its start",
    ]
    source.stop()
    assert next(come, "ended") == "ended"


def test_a_file_is_read_on_behind_its_position_unless_it_is_another(tmp_path: Path) -> None:
    path, said = tmp_path / "log", []
    path.write_bytes(b"1\n2\n3\n")
    first, second, _ = taken(open_address(path.as_uri()).messages(None), 3)
    assert texts(open_address(path.as_uri()).messages(first.position), 2) == [b"2\n", b"3\n"]
    path.write_bytes(b"4\n")
    assert texts(open_address(path.as_uri(), said.append).messages(second.position), 1) == [b"4\n"]
    assert said == [f"{path} is another file than before: it is read from its start"]


def taken(come: Iterator[Message | None], count: int) -> list[Message]:
    found: list[Message] = []
    while len(found) < count:
        message = next(come)
        found += [] if message is None else [message]
    return found


def texts(come: Iterator[Message | None], count: int) -> list[bytes]:
    return [message.text for message in taken(come, count)]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("ftp://x", "ftp://x is no source"),
        ("mqtt://host", "needs a host and a topic"),
        ("mqtt://host/t?qos=3", "qos is 0, 1 or 2"),
        ("mqtt://host/t?q=3", "mqtt:// has no setting q"),
        ("kafka:///t", "needs a host and a topic"),
        ("kafka://host/t?from=then", "from is beginning or now"),
    ],
)
def test_an_address_that_is_none_is_refused(address: str, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("?", r"\?")):
        open_address(address)


# brokers


@pytest.fixture(scope="session")
def mqtt_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    port = free_port()
    with mosquitto(tmp_path_factory.mktemp("mosquitto"), port):
        yield port


@pytest.fixture(scope="session")
def kafka_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    port = free_port()
    with kafka(tmp_path_factory.mktemp("kafka"), port):
        yield port


def test_a_topic_of_mqtt_is_read_once_whoever_is_killed(tmp_path: Path, mqtt_port: int) -> None:
    paho = pytest.importorskip("paho.mqtt.client")

    def send(messages: list[bytes]) -> None:
        from paho.mqtt.enums import CallbackAPIVersion

        client = paho.Client(CallbackAPIVersion.VERSION2)
        client.connect("127.0.0.1", mqtt_port)
        client.loop_start()
        for message in messages:
            client.publish("home/sensors", message, qos=1).wait_for_publish()
        client.disconnect()
        client.loop_stop()

    address = f"mqtt://127.0.0.1:{mqtt_port}/home/sensors"
    # A first reader subscribes; the broker keeps what comes from now on.
    come = open_address(address).messages(None)
    assert next(come) is None
    come.close()  # type: ignore[attr-defined]
    killed_and_read(tmp_path / "kb", address, send)


def test_a_topic_of_kafka_is_read_once_whoever_is_killed(tmp_path: Path, kafka_port: int) -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    from confluent_kafka.admin import AdminClient, NewTopic

    broker = {"bootstrap.servers": f"127.0.0.1:{kafka_port}"}
    admin = AdminClient(broker)
    [made] = admin.create_topics([NewTopic("sensors", 2, 1)]).values()
    made.result()
    producer = confluent_kafka.Producer(broker)

    def send(messages: list[bytes]) -> None:
        for message in messages:
            # One partition for times that follow each other; a second one that stays behind.
            producer.produce("sensors", message, partition=0)
        producer.flush()

    killed_and_read(tmp_path / "kb", f"kafka://127.0.0.1:{kafka_port}/sensors", send)


def test_a_broker_that_is_not_there_is_said() -> None:
    port = free_port()
    with pytest.raises(InputError, match="cannot reach"):
        next(open_address(f"mqtt://127.0.0.1:{port}/t").messages(None))


# the command

MESSAGES = '{"id": "kitchen", "v": 95, "t": 1}\n{"id": "sensor-1", "v": 91.5, "t": 2}\n{"id": 5}\n'
HOT = "hot(?s) :- sometime reading(?s, ?v) in [5], ?v > 90 ."
CHANGES = '1 + hot(kitchen)\n2 + hot("sensor-1")\n'


@pytest.mark.parametrize("option", ["--facts", "--source"])
def test_rules_run_over_plain_json(option: str, tmp_path: Path) -> None:
    rules, dead = tmp_path / "hot.rules", tmp_path / "dead.jsonl"
    rules.write_text(HOT)
    options = ("--map", "reading(s=$.id, v=$.v) at $.t", "--rejects", str(dead))
    ran = livefacts("run", str(rules), option, "-", *options, stdin=MESSAGES)
    assert (ran.code, ran.out) == (3, CHANGES)
    [letter] = map(json.loads, dead.read_text().splitlines())
    assert letter["reason"].startswith("there is no $.v in this message")
    assert letter["text"] == '{"id": 5}'


def test_a_query_is_registered_over_plain_json(tmp_path: Path) -> None:
    (tmp_path / "readings.map").write_text("[<x:{$.id}>, <x:v>, $.v] at $.t stream <x:readings>")
    query = (
        "REGISTER QUERY q AS SELECT ?s ?v FROM STREAM <x:readings> [RANGE 2 STEP 1] { ?s <x:v> ?v }"
    )
    options = ("--stream", "-", "--map", str(tmp_path / "readings.map"), "--format", "csv")
    ran = livefacts("register", query, *options, stdin=MESSAGES)
    assert "x:sensor-1,91.5" in ran.out
    assert ran.code == 3


def test_answers_are_watched_over_plain_json() -> None:
    options = (
        "--updates",
        "-",
        "--map",
        "retract [<x:{$.id}>, <x:v>, $.old?]\n[<x:{$.id}>, <x:v>, $.v]",
    )
    lines = '{"id": "a", "v": 1}\n{"id": "a", "old": 1, "v": 2}\n{}\n'
    ran = livefacts("watch", "SELECT ?v { ?s <x:v> ?v }", *options, "--format", "csv", stdin=lines)
    rows = [line.split(",") for line in ran.out.splitlines()[1:]]
    assert [(row[0], row[-1]) for row in rows] == [("+", "1"), ("-", "1"), ("+", "2")]
    assert "<stdin>:3: there is no $.id in this message" in ran.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "give --facts or --source"),
        (("--source", "-"), "--source needs a map"),
        (("--facts", "-", "--map", "reading($.id, $.v)"), "a line of the map has no time"),
        (("--facts", "-", "--map", "reading($.id $.v)"), "a comma or a closing )"),
        (("--source", "x", "--map", "r() at $.t"), "x is no source"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    rules = tmp_path / "hot.rules"
    rules.write_text(HOT)
    ran = livefacts("run", str(rules), *options)
    assert (ran.code, said in ran.err) == (1, True)


def test_positions_are_in_checkpoints(tmp_path: Path) -> None:
    path, text = tmp_path / "readings.jsonl", "reading($.id, $.v) at $.t"
    path.write_bytes(b"".join(reading(number) + b"\n" for number in range(9)))
    for left in 6, 3:
        with Reasoner.open(tmp_path / "kb", rules=HOT) as reasoner:
            come = follow(reasoner, path.as_uri(), text)
            facts = 0
            while facts < left:
                facts += len(next(come).facts)  # type: ignore[union-attr]
            come.close()  # type: ignore[attr-defined]
            reasoner.checkpoint()
            [before] = reasoner.offsets.values()
    with Reasoner.open(tmp_path / "kb") as reasoner:
        assert list(reasoner.offsets.values()) == [before]
        assert before.position is not None
        assert before.position.endswith(f":{path.stat().st_size}")


# dead letters


def test_dead_letters_are_kept_with_the_reason(tmp_path: Path) -> None:
    from livefacts.sources import Feed, read_map

    path = tmp_path / "readings.jsonl"
    path.write_bytes(b'{"v": 1, "t": 1}\n{"t": 2}\nno\n{"v": 3, "t": 3}\n')
    source, rejects = open_address(path.as_uri()), Rejects()
    come = Feed(source, read_map("r($.v) at $.t"), rejects).events()
    assert [str(next(come).facts) for _ in range(2)] == ["(r(1),)", "(r(3),)"]  # type: ignore[union-attr]
    come.close()  # type: ignore[attr-defined]
    assert [(reject.file.partition(", ")[2], reject.reason[:14]) for reject in rejects.kept] == [
        ("byte 26", "there is no $."),
        ("byte 29", "this is no JSO"),
    ]
