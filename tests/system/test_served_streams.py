"""Streams over HTTP: messages by a map, lists of them, and requests that go on."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.system.serving import PATIENCE, Serving, serving

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]
RULES = "hot(?s) :- sometime reading(?s, ?v) in [5], ?v > 90 ."
MAP = "reading(s=$.id, v=$.value) at $.ts"
JSON, LINES = "application/json", "application/x-ndjson"


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("streams") / "hot.rules"
    path.write_text(RULES)
    return path


@pytest.fixture
def server(rules: Path, tmp_path: Path) -> Iterator[Serving]:
    with serving(tmp_path / "kb", "--rules", str(rules), "--client-timeout", "5") as found:
        yield found


def push(server: Serving, body: str, kind: str = JSON, **given: str) -> Any:
    headers = {"Content-Type": kind}
    return server.post("/streams/sensors", content=body, params=given, headers=headers)


def pushed(server: Serving) -> list[str]:
    """What was pushed so far: the facts that were true at one time at least."""
    events = server.get("/changes", params={"since": 0, "format": "json"}).json()["events"]
    return [fact for event in events for fact in event["added"] if fact.startswith("reading")]


def test_messages_are_read_by_a_map_one_by_one_in_a_list_and_in_lines(server: Serving) -> None:
    one = '{"id": "kitchen",\n "value": 95.50,\n "ts": 1}'
    more = (
        '[{"id": "sensor-1", "value": 20, "ts": 2},\n\n {"id": "a[1],\\"}", "value": 2e1, "ts": 3}]'
    )
    lines = '{"id": "hall", "value": 91, "ts": 4}\n{"id": "hall", "value": 92, "ts": 5}\n'
    for body, kind in (
        (one, JSON),
        (more, JSON),
        (lines, LINES),
        (lines.replace("hall", "attic"), JSON),
    ):
        answer = push(server, body, kind, map=MAP)
        assert answer.status_code == 200, answer.text
    assert pushed(server) == [
        "reading(kitchen, 95.50) .",
        'reading("sensor-1", 20) .',
        'reading("a[1],\\"}", 2e1) .',
        "reading(hall, 91) .",
        "reading(hall, 92) .",
        "reading(attic, 92) .",  # the other one came too late to be true now
    ]
    assert answer.json()["now"] == 5
    figures = server.get("/stats").json()["streams"]["stream:sensors"]
    assert figures == {"arrivals": 7, "latest": 5, "watermark": 5, "lag": 0, "late": 2}


WRONG = {
    "a path that is missing": ('{"id": "hall", "ts": 1}', {"map": MAP}, "there is no $.value"),
    "one of several": ('[{"id": "x", "value": 1, "ts": 1}, 7]', {"map": MAP}, "$.id"),
    "no map at all": ('{"id": "hall"}', {}, "id"),
    "a map that is none": ("{}", {"map": "reading("}, "reading("),
    "a map that is a file": ("{}", {"map": "/etc/passwd"}, "passwd"),
    "a map without a time": ('{"id": "x"}', {"map": "seen($.id)"}, "time"),
    "deep": ("[" * 9_000, {"map": MAP}, ""),
    "no UTF-8": ('{"id": "\udcff"}', {"map": MAP}, ""),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_stands_for_nothing_is_refused_as_a_whole(server: Serving, what: str) -> None:
    body, given, said = WRONG[what]
    content: Any = body.encode(errors="surrogateescape")
    refused = push(server, content, JSON, **given)
    assert refused.status_code == 400, refused.text
    assert said in refused.text
    assert "root" not in refused.text
    assert server.get("/ready").json()["seq"] == 0


def test_what_has_no_time_happens_when_it_arrives(server: Serving) -> None:
    given = {"map": "reading($.id, $.value)", "arrival-time": ""}
    first = push(server, '{"id": "hall", "value": 95}', **given)
    assert first.json()["now"] > 1_700_000_000
    assert pushed(server) == ["reading(hall, 95) ."]


class LiveRequest:
    """A request that goes on, and the lines that answer it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._answers = connection.makefile("rb")

    def send(self, text: str) -> None:
        data = text.encode()
        self._connection.sendall(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self) -> None:
        self._connection.sendall(b"0\r\n\r\n")

    def answer(self) -> dict[str, Any] | None:
        """The next line; None at the end."""
        for line in self._answers:
            if line.startswith(b"{"):
                return dict(json.loads(line))
            if line == b"0\r\n":
                return None
        return None


@contextmanager
def live(server: Serving, kind: str = LINES, key: str = "", **given: str) -> Iterator[LiveRequest]:
    address = urlsplit(server.url)
    assert address.hostname is not None
    query = "&".join(["live", *(f"{name}={value}" for name, value in given.items())])
    headers = {**server.bearer, "Host": "x", "Content-Type": kind, "Transfer-Encoding": "chunked"}
    headers |= {"Idempotency-Key": key} if key else {}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with socket.create_connection((address.hostname, address.port or 80), PATIENCE) as connection:
        connection.sendall(f"POST /streams/sensors?{query} HTTP/1.1\r\n{head}\r\n".encode())
        yield LiveRequest(connection)


def line(second: int, value: int = 95) -> str:
    return json.dumps({"at": second, "facts": f"reading(s{second}, {value}) ."}) + "\n"


def test_lines_count_as_they_come_and_the_answer_says_how_many(server: Serving) -> None:
    with live(server) as request:
        request.send(line(1))
        assert (request.answer() or {})["lines"] == 1
        assert server.get("/explain", params={"fact": "hot(s1)"}).json()["holds"]
        request.send("\n" + line(2)[:12])
        assert (request.answer() or {})["lines"] == 2  # the half line counts when it is whole
        request.send(line(2)[12:] + "nonsense\n" + line(3))
        said = request.answer() or {}
        assert (said["lines"], said["now"]) == (5, 3)
        assert [each["line"] for each in said["rejected"]] == [4]
        request.send(line(4).rstrip("\n"))
        request.end()
        assert (request.answer() or {})["lines"] == 6
        assert request.answer() is None
    assert len(pushed(server)) == 4


def test_lines_of_quads_go_on_as_well(server: Serving) -> None:
    with live(server, "application/n-quads") as request:
        request.send("<x:a> <x:b> <x:c> 1 .\n<x:a> <x:b> <x:d> 1 .\n")
        assert (request.answer() or {})["now"] == 1
        request.end()
        assert request.answer() is None
    assert len(server.select("SELECT ?o { <x:a> <x:b> ?o }")) == 2


def test_lines_that_are_sent_again_with_their_key_count_once(rules: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "kb", "--rules", str(rules)) as server:
        with live(server, key="night") as request:
            request.send(line(1) + "nonsense\n" + line(2))
            assert (request.answer() or {})["lines"] == 3
            server.kill()
        token = server.token
    with serving(tmp_path / "kb", token=token) as server:
        with live(server, key="night") as request:
            for text in (line(1), "nonsense\n", line(2), line(3)):
                request.send(text)
            request.end()
            while request.answer() is not None:
                pass
        assert len(pushed(server)) == 3
        arrivals = server.get("/stats").json()["streams"]["stream:sensors"]["arrivals"]
        assert arrivals == 3


def test_who_says_nothing_is_closed_and_who_lives_is_not(rules: Path, tmp_path: Path) -> None:
    options = ["--rules", str(rules), "--client-timeout", "0.5"]
    with serving(tmp_path / "kb", *options) as server, live(server) as request:
        request.send(line(1))
        request.answer()
        assert "sign of life" in (request.answer() or {})["error"]
        assert request.answer() is None


def test_the_end_of_the_server_ends_what_goes_on(rules: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "kb", "--rules", str(rules)) as server, live(server) as request:
        request.send(line(1))
        request.answer()
        server.process.terminate()
        assert "about to end" in (request.answer() or {})["error"]


def test_a_patch_does_not_go_on_and_a_map_reads_json_alone(server: Serving) -> None:
    patch = {"Content-Type": "application/rdf-patch"}
    assert server.post("/streams/s?live", content="TX", headers=patch).status_code == 400
    quads = push(server, "<x:a> <x:b> <x:c> 1 .", "application/n-quads", map=MAP)
    assert quads.status_code == 400
    assert server.get("/ready").json()["seq"] == 0


def test_an_event_far_ahead_is_set_aside_and_time_stays(server: Serving) -> None:
    assert push(server, line(17), LINES).json()["now"] == 17
    answer = push(server, line(10_000) + line(18) + line(10_000_000), LINES)
    said = answer.json()
    assert (answer.status_code, said["now"]) == (200, 18)
    assert said["set_aside"]["events"] == 2
    assert said["set_aside"]["first"][0] == {"at": 10_000, "facts": 1, "reason": "too far ahead"}
    alone = push(server, line(10_000_000), LINES).json()
    assert (alone["now"], alone["seq"], alone["set_aside"]["events"]) == (18, said["seq"], 1)
    with live(server) as request:
        request.send(line(10_000_000))
        assert (request.answer() or {})["set_aside"]["events"] == 1
        request.send(line(19))
        assert "set_aside" not in (request.answer() or {"set_aside": "there is no answer"})
        request.end()
    assert len(pushed(server)) == 3
    assert server.get("/stats").json()["set_aside"]["too far ahead"] == 4
    assert "livefacts_set_aside 4.0" in server.get("/metrics").text


def test_time_moves_far_only_for_who_says_so_twice(server: Serving) -> None:
    assert server.post("/advance", params={"to": "17"}).json()["now"] == 17
    refused = server.post("/advance", params={"to": "10000"})
    assert refused.status_code == 409
    assert "&far" in refused.text
    assert server.get("/stats").json()["now"] == 17
    assert server.post("/advance", params={"to": "10000", "far": ""}).json()["now"] == 10_000
    assert push(server, line(10_001), LINES).json()["now"] == 10_001


def test_a_server_without_a_bound_takes_any_time(rules: Path, tmp_path: Path) -> None:
    options = ("--rules", str(rules), "--max-ahead", "none")
    with serving(tmp_path / "kb", *options) as server:
        push(server, line(17), LINES)
        assert push(server, line(10_000_000), LINES).json()["now"] == 10_000_000
