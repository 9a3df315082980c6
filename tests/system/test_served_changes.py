"""Changes and questions over HTTP: graphs, patches, streams, rules, previews, proofs, the way back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from pyoxigraph import RdfFormat, parse
from tests.system.serving import Serving, serving

import livefacts as lf

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]
RULES = """
    [?x, <x:in>, ?z] :- [?x, <x:in>, ?y], [?y, <x:in>, ?z] .
    hot(?s) :- reading(?s, ?v), ?v > 90 .
    warm(?s) :- sometime felt(?s) in [5 s] .
"""
TURTLE = {"Content-Type": "text/turtle"}
PATCH = {"Content-Type": "application/rdf-patch"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("changes")
    (folder / "mine.rules").write_text(RULES)
    with serving(folder / "kb", "--rules", str(folder / "mine.rules")) as found:
        yield found


def send(server: Serving, method: str, path: str, **options: Any) -> httpx.Response:
    headers = {**server.bearer, **options.pop("headers", {})}
    with server.client() as client:
        return client.request(method, path, headers=headers, **options)


def read_graph(server: Serving, path: str) -> set[str]:
    answer = server.get(path, headers={"Accept": "application/n-triples"})
    assert answer.status_code == 200, answer.text
    return {str(quad.triple) for quad in parse(answer.content, RdfFormat.N_TRIPLES)}


# graphs


def test_a_graph_is_put_read_extended_and_deleted(server: Serving) -> None:
    path = "/graphs?graph=x:g"
    assert server.get(path).status_code == 404
    assert (
        send(server, "PUT", path, content="<x:a> <x:p> 1, [] .", headers=TURTLE).status_code == 200
    )
    assert len(read_graph(server, path)) == 2
    send(server, "POST", path, content="<x:a> <x:p> 2 .", headers=TURTLE)
    assert len(read_graph(server, path)) == 3
    before = send(server, "PUT", path, content="<x:b> <x:p> <x:c> .", headers=TURTLE).json()
    assert read_graph(server, path) == {"<x:b> <x:p> <x:c>"}
    assert before["counts"]["retracted"] == 3
    assert send(server, "HEAD", path).status_code == 200
    assert send(server, "DELETE", path).status_code == 200
    assert server.get(path).status_code == 404


def test_the_default_graph_has_what_is_true(server: Serving) -> None:
    text = "<x:cup> <x:in> <x:kitchen> . <x:kitchen> <x:in> <x:house> ."
    send(server, "POST", "/graphs?default", content=text, headers=TURTLE)
    assert "<x:cup> <x:in> <x:house>" in read_graph(server, "/graphs?default")


def test_one_graph_is_named_in_a_format_that_is_known(server: Serving) -> None:
    assert server.get("/graphs").status_code == 400
    assert server.get("/graphs?default&graph=x:g").status_code == 400
    unread = send(server, "PUT", "/graphs?graph=x:g", content="x", headers=TURTLE)
    assert unread.status_code == 400
    assert unread.json()["where"]["line"] == 1
    other = send(
        server, "PUT", "/graphs?graph=x:g", content="x", headers={"Content-Type": "image/png"}
    )
    assert other.status_code == 415
    with server.client() as client:
        assert client.put("/graphs?graph=x:g", content="").status_code == 401


# patches


def test_patches_that_come_out_make_the_same_facts_elsewhere(server: Serving) -> None:
    rows = "A <x:pan> <x:in> <x:kitchen> .\nA reading(s1, 95) .\nA <x:q> <x:q> <x:q> <x:g2> .\n"
    done = send(server, "POST", "/patch", content=rows, headers=PATCH).json()
    assert done["counts"]["asserted"] == 3
    answer = server.get(f"/patch?since={done['seq'] - 1}&asserted")
    assert answer.headers["content-type"].startswith("application/rdf-patch")
    other = lf.Reasoner(rules=RULES)
    other.apply(patch=answer.text)
    assert "hot(s1)" in other
    assert "<x:q> <x:q> <x:q>" in other
    true = server.get(f"/patch?since={done['seq'] - 1}").text
    assert "A hot(s1) .\n" in true
    assert "<x:g2>" not in true


def test_a_mistake_in_a_patch_is_shown_where_it_stands(server: Serving) -> None:
    answer = send(server, "POST", "/patch", content="A <x:a> <x:b>\n", headers=PATCH)
    assert answer.status_code == 400
    assert answer.json()["where"]["line"] == 1


# streams and time


def test_events_are_pushed_and_time_moves_on(server: Serving) -> None:
    lines = [{"at": 3, "facts": "felt(s1) ."}, {"at": 4, "facts": "felt(s2) ."}]
    done = send(
        server,
        "POST",
        "/streams/sensors",
        content="\n".join(map(json.dumps, lines)),
        headers={"Content-Type": "application/x-ndjson"},
    )
    assert done.status_code == 200, done.text
    assert done.json()["now"] == 4
    quads = '<x:s> <x:p> <x:o> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    more = send(
        server,
        "POST",
        "/streams/x:s",
        content=quads,
        headers={"Content-Type": "application/n-quads"},
    )
    assert more.json()["now"] == 5
    assert send(server, "POST", "/advance?to=6").json()["now"] == 6
    bad = send(
        server, "POST", "/streams/s", content="{}", headers={"Content-Type": "application/json"}
    )
    assert bad.status_code == 400


def test_a_request_with_the_same_key_counts_once(server: Serving) -> None:
    key = {**PATCH, "Idempotency-Key": "k1"}
    first = send(server, "POST", "/patch", content="A <x:k> <x:k> <x:k> .\n", headers=key)
    again = send(server, "POST", "/patch", content="A <x:k> <x:k> <x:k> .\n", headers=key)
    assert first.json() == again.json()


# rules, previews, proofs, the way back


def test_rules_are_listed_added_and_removed(server: Serving) -> None:
    added = send(server, "POST", "/rules", content="@id mine cold(?s) :- reading(?s, ?v), ?v < 0 .")
    assert added.status_code == 200, added.text
    listed = {each["id"]: each["text"] for each in server.get("/rules").json()["rules"]}
    assert "cold" in listed["mine"]
    assert send(server, "DELETE", "/rules?id=mine").status_code == 200
    assert "mine" not in {each["id"] for each in server.get("/rules").json()["rules"]}
    mistake = send(server, "POST", "/rules", content="hot(?z) :- reading(?s, ?v) .")
    assert mistake.status_code == 400
    assert mistake.json()["where"]["column"] == 5
    # A name is no rule: no file of the server is read.
    assert send(server, "POST", "/rules", content="/etc/passwd").status_code == 400


def test_a_preview_shows_what_would_be_and_changes_nothing(server: Serving) -> None:
    before = server.get("/health").headers["livefacts-seq"]
    shown = send(server, "POST", "/preview", json={"add": "reading(s9, 99) ."}).json()
    assert shown["added"] == ["reading(s9, 99)", "hot(s9)"]
    assert server.get("/health").headers["livefacts-seq"] == before
    assert send(server, "POST", "/preview", json={"load": "x"}).status_code == 400


def test_proofs_and_what_is_missing(server: Serving) -> None:
    text = "<x:cup> <x:in> <x:kitchen> . <x:kitchen> <x:in> <x:house> ."
    send(server, "POST", "/graphs?default", content=text, headers=TURTLE)
    holds = server.get("/explain", params={"fact": "<x:cup> <x:in> <x:house>"}).json()
    assert holds["holds"] is True
    missing = server.get("/explain", params={"fact": "hot(nobody)"}).json()
    assert missing["holds"] is False
    shown = server.get("/explain", params={"fact": "<x:cup> <x:in> <x:house>", "format": "text"})
    assert "<x:kitchen>" in shown.text
    assert server.get("/explain").status_code == 400


def test_a_change_is_undone_and_logged(server: Serving) -> None:
    done = server.update("INSERT DATA { <x:u> <x:u> <x:u> }")
    shown = send(server, "POST", f"/undo?seq={done['seq']}&preview").json()
    assert shown["removed"] == ["<x:u> <x:u> <x:u>"]
    send(server, "POST", f"/undo?seq={done['seq']}")
    assert server.select("SELECT ?o { <x:u> <x:u> ?o }") == []
    last = server.get("/log").json()["changes"][-2:]
    assert [each["seq"] for each in last] == [done["seq"], done["seq"] + 1]
    assert [each["counts"].get("asserted", 0) for each in last] == [1, 0]
    assert server.get(f"/log?since={done['seq']}").json()["changes"] == last[1:]


def test_everything_is_verified(server: Serving) -> None:
    report = send(server, "POST", "/verify")
    assert report.json()["ok"] is True
    with server.client() as client:
        assert client.post("/verify").status_code == 401
