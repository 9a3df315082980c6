"""Live answers of a server: changes, watches, reports and violations, in every form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.system.serving import Serving, serving
from websockets.sync.client import connect

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]
RULES = """
    [?x, <x:q>, ?y] :- [?x, <x:p>, ?y] .
    hot(?s) :- reading(?s, ?v), ?v > 90 .
    @id twice false :- [?x, <x:one>, ?y], [?x, <x:one>, ?z], ?y != ?z .
"""
WATCHED = "SELECT ?o { <x:s> <x:q> ?o }"
Event = dict[str, Any]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("live")
    (folder / "mine.rules").write_text(RULES)
    with serving(folder / "kb", "--rules", str(folder / "mine.rules")) as found:
        yield found


@contextmanager
def events_of(server: Serving, path: str, **options: Any) -> Iterator[Iterator[Event]]:
    """Server-Sent Events as they come: the data of each, its name, and its id."""
    data = options.pop("data", None)
    method = "GET" if data is None else "POST"
    with (
        httpx.Client(base_url=server.url, timeout=30) as client,
        client.stream(method, path, data=data, **options) as answer,
    ):
        if answer.status_code != 200:
            answer.read()
        assert answer.status_code == 200, answer.text
        yield _parsed(answer.iter_lines())


def _parsed(lines: Iterator[str]) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
        elif "data" in fields:
            yield {**json.loads(fields["data"]), "id": fields.get("id")}
            fields = {}
        else:
            fields = {}


def insert(server: Serving, *objects: str, predicate: str = "p") -> int:
    """Add triples, a change each; the number of the last."""
    seq = 0
    for each in objects:
        seq = server.update(f"INSERT DATA {{ <x:s> <x:{predicate}> <x:{each}> }}")["seq"]
    return seq


# changes


def test_changes_after_a_number_come_first_and_then_those_that_happen(server: Serving) -> None:
    last = insert(server, "a", "b")
    with events_of(server, f"/changes?since={last - 2}") as events:
        old = [next(events), next(events)]
        insert(server, "c")
        new = next(events)
    assert [each["seq"] for each in (*old, new)] == [last - 1, last, last + 1]
    assert old[0]["added"] == ["<x:s> <x:p> <x:a> .", "<x:s> <x:q> <x:a> ."]
    assert old[0]["removed"] == []
    assert [each["id"] for each in (*old, new)] == [str(last - 1), str(last), str(last + 1)]


def test_without_a_number_only_what_happens_from_now_on_comes(server: Serving) -> None:
    with events_of(server, "/changes") as events:
        last = insert(server, "d")
        assert next(events)["seq"] == last


def test_last_event_id_counts_before_the_number_in_the_address(server: Serving) -> None:
    last = insert(server, "e", "f")
    with events_of(server, "/changes?since=0", headers={"Last-Event-ID": str(last - 1)}) as events:
        assert next(events)["seq"] == last


def test_predicate_facts_are_in_the_rule_language(server: Serving) -> None:
    patch = {
        "content": "A reading(s1, 95) .\n",
        "headers": {"Content-Type": "application/rdf-patch"},
    }
    answer = server.post("/patch", **patch)
    with events_of(server, f"/changes?since={answer.json()['seq'] - 1}") as events:
        assert set(next(events)["added"]) == {"reading(s1, 95) .", "hot(s1) ."}


def test_lines_of_json_are_the_same_events(server: Serving) -> None:
    last = insert(server, "g")
    path = f"/changes?since={last - 1}"
    with events_of(server, path) as events:
        expected = next(events)
    for asked in (
        {"params": {"since": last - 1, "format": "ndjson"}},
        {"headers": {"Accept": "application/x-ndjson"}},
    ):
        with (
            server.client() as client,
            client.stream("GET", "/changes" if "params" in asked else path, **asked) as answer,
        ):
            assert answer.headers["content-type"] == "application/x-ndjson"
            line = json.loads(next(answer.iter_lines()))
        assert line == {name: value for name, value in expected.items() if name != "id"}


def test_who_polls_waits_no_longer_than_they_said(server: Serving) -> None:
    last = insert(server, "h")
    at_once = server.get(f"/changes?since={last - 1}&format=json").json()
    assert (at_once["seq"], len(at_once["events"])) == (last, 1)
    waited = server.get(f"/changes?since={last}", headers={"Prefer": "wait=1"})
    assert waited.headers["preference-applied"] == "wait=1"
    assert waited.json() == {"seq": last, "events": []}


def test_messages_of_a_socket_are_the_same_events(server: Serving) -> None:
    last = insert(server, "i")
    address = server.url.replace("http", "ws", 1)
    with connect(f"{address}/changes?since={last - 1}") as socket:
        assert json.loads(socket.recv(10))["seq"] == last
        insert(server, "j")
        assert json.loads(socket.recv(10))["seq"] == last + 1


def test_numbers_that_are_none_are_refused(server: Serving) -> None:
    assert server.get("/changes?since=x").status_code == 400
    ahead = server.get("/changes?since=99999")
    assert ahead.status_code == 400
    assert "99999" in ahead.json()["what"]


def test_nothing_is_lost_or_doubled_over_reconnects(server: Serving) -> None:
    first = insert(server, "r0")
    seen: list[int] = []
    for number in range(1, 41):
        insert(server, f"r{number}")
        since = seen[-1] if seen else first
        with events_of(server, "/changes", headers={"Last-Event-ID": str(since)}) as events:
            seen.append(next(events)["seq"])
    assert seen == list(range(first + 1, first + 41))


# queries


def test_a_watch_gives_answers_and_then_what_comes_and_goes(server: Serving) -> None:
    server.update("DELETE WHERE { <x:s> <x:p> ?o }")
    insert(server, "a")
    with (
        events_of(server, "/watch", data={"query": WATCHED}) as events,
        events_of(server, "/watch", params={"query": WATCHED}) as others,
    ):
        begun = next(events)
        assert begun["event"] == "answers"
        assert begun["variables"] == ["o"]
        assert begun["answers"] == [{"o": {"type": "uri", "value": "x:a"}}]
        assert next(others)["answers"] == begun["answers"]
        came = insert(server, "b")
        assert next(events) == {
            "seq": came,
            "now": None,
            "added": [{"o": {"type": "uri", "value": "x:b"}}],
            "removed": [],
            "id": str(came),
        }
        assert next(others)["seq"] == came
        server.update("DELETE DATA { <x:s> <x:p> <x:a> }")
        assert next(events)["removed"] == [{"o": {"type": "uri", "value": "x:a"}}]
        with events_of(server, "/watch", params={"query": WATCHED}) as later:
            assert next(later)["answers"] == [{"o": {"type": "uri", "value": "x:b"}}]
        with events_of(
            server, "/watch", params={"query": WATCHED}, headers={"Last-Event-ID": str(came)}
        ) as resumed:
            assert next(resumed)["removed"] == [{"o": {"type": "uri", "value": "x:a"}}]


def test_a_mistake_in_a_watch_is_a_problem(server: Serving) -> None:
    answer = server.get("/watch", params={"query": "SELECT"})
    assert answer.status_code == 400
    assert answer.json()["title"] == "QueryError"


def test_violations_come_and_go(server: Serving) -> None:
    with events_of(server, "/violations") as events:
        assert next(events)["violations"] == []
        insert(server, "a", "b", predicate="one")
        came = next(events)
        assert {each["constraint"] for each in came["added"]} == {"twice"}
        server.update("DELETE DATA { <x:s> <x:one> <x:b> }")
        assert next(events)["removed"]


# the end


def test_those_who_follow_go_on_after_a_kill_and_are_told_of_the_end(tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    with serving(folder) as first:
        insert(first, "a", "b")
        with events_of(first, "/changes?since=0") as events:
            assert [each["seq"] for each in islice(events, 2)] == [1, 2]
        insert(first, "c")
        first.kill()
    with serving(folder, token=first.token) as again:
        insert(again, "d")
        with events_of(again, "/changes", headers={"Last-Event-ID": "2"}) as events:
            assert [each["seq"] for each in islice(events, 2)] == [3, 4]
            again.process.terminate()
            assert next(events)["event"] == "end"
            assert list(events) == []
