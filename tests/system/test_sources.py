"""Sources of messages, with real brokers: nothing is lost and nothing doubled, whoever is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.system.brokers import free_port, kafka, mosquitto
from tests.system.running import livefacts, livefacts_process
from tests.system.serving import Serving, serving
from tests.system.source_reader import MAP, RULES

from livefacts import Reasoner
from livefacts.errors import InputError
from livefacts.journal import fact_texts
from livefacts.journal.change_log import FOLDER
from livefacts.sources import Message, follow, open_address
from livefacts.syntax.input.rejects import Rejects

pytestmark = pytest.mark.slow
Read = Callable[[Path, str, Callable[[list[bytes]], None]], None]
READER = Path(__file__).with_name("source_reader.py")
COUNT = 120
XSD_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


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


def served_and_killed(folder: Path, address: str, send: Callable[[list[bytes]], None]) -> None:
    """The same by a server, which is killed while messages come."""
    rules = folder.with_suffix(".rules")
    rules.write_text(RULES)
    options = ("--rules", str(rules), "--source", address, "--map", MAP)
    messages = [reading(number) for number in range(COUNT)]
    with serving(folder, *options) as first:
        send(messages[:60])
        until(lambda: source_of(first)["messages"] > 20)
        first.kill()
    send(messages[60:])
    with serving(folder, *options) as second:
        send([b'{"id": "nobody"}', END])
        until(lambda: ("x:last", 1000) in pushed_to(second))
        assert source_of(second)["dead_letters"] == 1
    check_once(folder, COUNT)


def source_of(server: Serving) -> dict[str, Any]:
    """How the one source of a server goes."""
    [found] = server.get("/stats").json()["sources"]
    return dict(found)


def pushed_to(server: Serving) -> list[tuple[str | None, int]]:
    """The streams and times of what has come."""
    changes = server.get("/log").json()["changes"]
    return [(each.get("stream"), each["at"]) for each in changes if each["kind"] == "push"]


def until(holds: Callable[[], bool]) -> None:
    """Ask again and again, but not for ever."""
    for _ in range(20_000):
        if holds():
            return
    raise AssertionError("it never came to that")


# files


def test_a_server_reads_a_file_once_however_often_it_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "readings.jsonl"
    path.touch()
    served_and_killed(tmp_path / "kb", path.as_uri(), appending(path))


def appending(path: Path) -> Callable[[list[bytes]], None]:
    """Writes messages to the end of a file."""

    def send(messages: list[bytes]) -> None:
        with path.open("ab") as file:
            file.writelines(message + b"\n" for message in messages)

    return send


def test_a_file_is_read_once_whoever_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "readings.jsonl"
    path.touch()
    killed_and_read(tmp_path / "kb", path.as_uri(), appending(path))


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


@pytest.mark.parametrize("read", [killed_and_read, served_and_killed])
def test_a_topic_of_mqtt_is_read_once_whoever_is_killed(
    tmp_path: Path, mqtt_port: int, read: Read
) -> None:
    address, send = mqtt_topic(mqtt_port, f"home/{read.__name__}")
    # A first reader subscribes; the broker keeps what comes from now on.
    come = open_address(address).messages(None)
    assert next(come) is None
    come.close()  # type: ignore[attr-defined]
    read(tmp_path / "kb", address, send)


def test_what_a_broker_may_send_again_is_known_however_much_that_is(mqtt_port: int) -> None:
    """Some brokers have more on the way than they were told to, once the first is acknowledged."""
    address, send = mqtt_topic(mqtt_port, "home/flood")
    source = open_address(address)
    come = source.messages(None)
    assert next(come) is None
    messages = [reading(number) for number in range(COUNT)]
    send(messages)
    got: list[Message] = []
    for message in come:
        if message is not None:
            got.append(message)
        if message is not None and len(got) == 10:
            source.done(message)
        if len(got) == COUNT or (message is None and len(got) >= 20):
            break
    come.close()  # type: ignore[attr-defined]
    assert [each.text for each in got] == messages[: len(got)]
    again = open_address(address).messages(got[-1].position)
    send([END])
    following = next(message for message in again if message is not None)
    assert following.text == [*messages, END][len(got)]
    again.close()  # type: ignore[attr-defined]


def mqtt_topic(port: int, topic: str) -> tuple[str, Callable[[list[bytes]], None]]:
    """The address of a topic, and how messages are sent there."""
    paho = pytest.importorskip("paho.mqtt.client")

    def send(messages: list[bytes]) -> None:
        from paho.mqtt.enums import CallbackAPIVersion

        client = paho.Client(CallbackAPIVersion.VERSION2)
        client.connect("127.0.0.1", port)
        client.loop_start()
        for message in messages:
            client.publish(topic, message, qos=1).wait_for_publish()
        client.disconnect()
        client.loop_stop()

    return f"mqtt://127.0.0.1:{port}/{topic}", send


def test_a_server_waits_for_a_broker_that_comes_late_and_goes_in_between(tmp_path: Path) -> None:
    port, state = free_port(), tmp_path / "mosquitto"
    state.mkdir()
    address, send = mqtt_topic(port, "home/late")
    options = ("--source", address, "--map", "reading(s=$.id, v=$.v) at $.t")
    with serving(tmp_path / "kb", *options) as server:
        until(lambda: "cannot reach" in source_of(server)["trouble"])
        assert f'livefacts_source_troubled{{source="{address}"}} 1.0' in server.get("/metrics").text
        with mosquitto(state, port):
            until(lambda: source_of(server)["trouble"] == "")
            send([b'{"id": "kitchen", "v": 1, "t": 1}'])
            until(lambda: source_of(server)["messages"] == 1)
        until(lambda: "is gone" in source_of(server)["trouble"])
        assert source_of(server)["state"] == "waiting"
        with mosquitto(state, port):
            until(lambda: source_of(server)["trouble"] == "")
            send([b'{"id": "kitchen", "v": 2, "t": 2}'])
            until(lambda: source_of(server)["messages"] == 2)
            until(lambda: server.get("/stats").json()["arrivals"] == 2)


@pytest.mark.parametrize("read", [killed_and_read, served_and_killed])
def test_a_topic_of_kafka_is_read_once_whoever_is_killed(
    tmp_path: Path, kafka_port: int, read: Read
) -> None:
    topic = read.__name__
    confluent_kafka = pytest.importorskip("confluent_kafka")
    from confluent_kafka.admin import AdminClient, NewTopic

    broker = {"bootstrap.servers": f"127.0.0.1:{kafka_port}"}
    admin = AdminClient(broker)
    [made] = admin.create_topics([NewTopic(topic, 2, 1)]).values()
    made.result()
    producer = confluent_kafka.Producer(broker)

    def send(messages: list[bytes]) -> None:
        for message in messages:
            # One partition for times that follow each other; a second one that stays behind.
            producer.produce(topic, message, partition=0)
        producer.flush()

    read(tmp_path / "kb", f"kafka://127.0.0.1:{kafka_port}/{topic}", send)


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "rdfs"), "give --facts or --source"),
        (("run", "rdfs", "--source", "-"), "--source needs a map"),
        (("serve", "kb", "--source", "-"), "--source needs a map"),
        (("serve", "kb", "--map", "r($.v) at $.t"), "there are 0 sources and 1 map"),
        (("serve", "kb", "--key", "key.pem"), "TLS needs two files"),
        (("token", ".", "--scope", "god"), "god is no scope: it is one of read, "),
    ],
)
def test_an_option_that_is_missing_is_wrong_usage(words: tuple[str, ...], said: str) -> None:
    ran = livefacts(*words)
    assert (ran.code, said in ran.err, "Traceback" in ran.err) == (2, True, False)


def test_lines_of_others_are_told_of_maps(tmp_path: Path) -> None:
    (tmp_path / "hot.rules").write_text(HOT)
    (tmp_path / "r.jsonl").write_bytes(b"".join(reading(n) + b"\n" for n in range(9)))
    ran = livefacts("run", str(tmp_path / "hot.rules"), "--facts", str(tmp_path / "r.jsonl"))
    assert ran.code == 3
    assert "  and 4 more\nhint: --map reads JSON that others write" in ran.err


def test_events_that_an_earlier_run_set_aside_are_not_told_again(tmp_path: Path) -> None:
    (tmp_path / "hot.rules").write_text(HOT)
    facts, kept = tmp_path / "r.jsonl", ("--folder", str(tmp_path / "kb"), "--max-ahead", "10")
    words = ("run", str(tmp_path / "hot.rules"), "--facts", str(facts), *kept)
    for times, said in (((1, 900, 901), "2 events were"), ((2, 902), "1 event was")):
        facts.write_text("".join(f'{{"at": {t}, "facts": "reading(a, 1) ."}}\n' for t in times))
        ran = livefacts_process(*words)
        assert (ran.code, f"{said} set aside" in ran.err) == (3, True)
    facts.write_text('{"at": 3, "facts": "reading(a, 1) ."}\n')
    assert livefacts_process(*words).code == 0


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


def test_a_server_says_what_a_source_has_brought_and_what_stood_for_nothing(
    tmp_path: Path,
) -> None:
    path, letters = tmp_path / "readings.jsonl", tmp_path / "dead.jsonl"
    letters.write_text("before\n")
    path.write_bytes(b'{"id": "hall", "v": 95, "t": 1}\n{"t": 2}\n{"id": "hall", "v": 9, "t": 3}\n')
    options = ("--source", path.as_uri(), "--map", "[<x:{$.id}>, <x:v>, $.v] at $.t")
    with serving(tmp_path / "kb", *options, "--rejects", str(letters)) as server:
        with server.client() as client, client.stream("GET", "/changes?since=0") as changes:
            lines = (line for line in changes.iter_lines() if line.startswith("data: "))
            first = json.loads(next(line for line in lines if "hall" in line)[6:])
        assert first["added"] == [f'<x:hall> <x:v> "95"^^<{XSD_INTEGER}> .']
        until(lambda: source_of(server)["messages"] == 3)
        found = source_of(server)
        metrics = server.get("/metrics").text
    assert (found["source"], found["state"], found["trouble"]) == (path.as_uri(), "following", "")
    [letter] = found["last_dead_letters"]
    assert (letter["place"], letter["reason"][:14]) == (f"{path}, byte 41", "there is no $.")
    assert f'livefacts_source_dead_letters{{source="{path.as_uri()}"}} 1.0' in metrics
    before, written = letters.read_text().splitlines()
    assert (before, json.loads(written)["text"]) == ("before", '{"t": 2}')


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--source", "-", "--map", "r($.v)"), "a line of the map has no time"),
        (("--source", "x", "--map", "r($.v) at $.t"), "x is no source"),
        (("--source", "-", "--source", "-", "--map", "r($.v) at $.t"), "- is given 2 times"),
        (
            ("--source", "-", "--map", "r($.v) at $.t", "--lateness", "long"),
            "long is not a duration",
        ),
    ],
)
def test_sources_of_a_server_that_do_not_go_together_are_refused(
    options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    ran = livefacts("serve", str(tmp_path / "kb"), "--port", "0", *options)
    assert (ran.code, said in ran.err, "Traceback" in ran.err) == (1, True, False)
