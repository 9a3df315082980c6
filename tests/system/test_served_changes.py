"""Changes and questions over HTTP: graphs, patches, streams, rules, previews, proofs, the way back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyoxigraph import RdfFormat, parse
from tests.system.running import livefacts
from tests.system.serving import Serving, serving

import livefacts as lf

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]
RULES = """
    [?x, <x:in>, ?z] :- [?x, <x:in>, ?y], [?y, <x:in>, ?z] .
    hot(?s) :- reading(?s, ?v), ?v > 90 .
    warm(?s) :- sometime felt(?s) in [5 s] .
"""
TURTLE = {"Content-Type": "text/turtle"}
FORM = "application/x-www-form-urlencoded"
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
    put = send(server, "PUT", path, content="<x:a> <x:p> 1, [] .", headers=TURTLE)
    assert (put.status_code, put.headers["location"]) == (201, "x:g")
    assert len(read_graph(server, path)) == 2
    send(server, "POST", path, content="<x:a> <x:p> 2 .", headers=TURTLE)
    assert len(read_graph(server, path)) == 3
    before = send(server, "PUT", path, content="<x:b> <x:p> <x:c> .", headers=TURTLE).json()
    assert read_graph(server, path) == {"<x:b> <x:p> <x:c>"}
    assert before["counts"]["retracted"] == 3
    assert send(server, "HEAD", path).status_code == 200
    assert send(server, "DELETE", path).status_code == 200
    assert server.get(path).status_code == 404


def test_a_graph_may_have_any_name_that_an_iri_allows(server: Serving) -> None:
    put = send(server, "PUT", "/graphs?graph=x:Ⱥ", content="<x:a> <x:p> 1 .", headers=TURTLE)
    assert (put.status_code, put.headers["location"]) == (201, "x:%C8%BA")
    assert len(read_graph(server, "/graphs?graph=x:Ⱥ")) == 1


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


def test_a_text_without_rules_is_no_change(server: Serving) -> None:
    before = server.get("/health").headers["livefacts-seq"]
    for text in ("", " \n"):
        answer = send(server, "POST", "/rules", content=text)
        assert (answer.status_code, answer.json()["what"]) == (400, "no rules were sent")
        assert "--data-raw" in answer.json()["hint"]
    assert server.get("/health").headers["livefacts-seq"] == before


def test_problems_say_how_to_go_on_and_not_where_the_folder_is(
    server: Serving, tmp_path_factory: pytest.TempPathFactory
) -> None:
    answers = [
        server.get("/log?since=99999"),
        server.get("/patch?since=99999"),
        server.get("/changes?since=99999"),
        server.get("/sparql", params={"query": "ASK {}", "at": "99999"}),
        send(server, "POST", "/undo?seq=99999"),
    ]
    for answer in answers:
        assert answer.status_code in (400, 410), answer.text
        assert str(tmp_path_factory.getbasetemp()) not in answer.text
    nowhere = server.get("/nowhere")
    assert (nowhere.status_code, nowhere.json()["hint"]) == (404, "/ lists the paths")
    paths = server.get("/").json()["paths"]
    assert {"/graphs/...", "/streams/{name}"} < set(paths)
    wrong = server.get("/log", headers={"Authorization": "Bearer lf_wrong"})
    assert (wrong.status_code, "livefacts token" in wrong.json()["hint"]) == (401, True)


REPORTED = """REGISTER QUERY felt AS SELECT ?s
FROM STREAM <x:s> [RANGE 5s STEP 1s] WHERE { ?s <x:p> ?o }"""


@pytest.mark.parametrize("kind", ["application/sparql-query", "text/plain", FORM])
def test_a_query_is_registered_by_its_text_alone(server: Serving, kind: str) -> None:
    path, headers = "/register?format=json", {"Content-Type": kind}
    done = send(server, "POST", path, content=REPORTED, headers=headers)
    assert done.status_code == 200, done.text
    [known] = server.get("/register").json()["queries"]
    assert (known["name"], known["query"]) == ("felt", REPORTED)
    assert send(server, "DELETE", "/register?name=felt").status_code == 204
    empty = send(server, "POST", path, content="", headers={"Content-Type": FORM})
    assert (empty.status_code, empty.json()["hint"]) == (400, "/register?query=SELECT …")


def test_the_page_on_serving_prints_what_is_answered(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
    [(rule, name)] = re.findall(r"^\$ echo '(.*)' > (.*)$", text, re.M)
    assert f"--rules {name}\n" in text
    (tmp_path / name).write_text(rule)
    printed = re.findall(
        r"^\$ curl [^\n]*--data-urlencode '(\w+)=([^\n]*)' [^\n]*/sparql\n(\{.*?)```",
        text,
        re.M | re.S,
    )
    said = {kind: (asked, json.loads(answer)) for kind, asked, answer in printed}
    with serving(tmp_path / "kb", "--rules", str(tmp_path / name)) as server:
        for kind in ("update", "query"):
            asked, answer = said[kind]
            assert server.post("/sparql", data={kind: asked}).json() == answer


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


NDJSON = {"Content-Type": "application/x-ndjson"}


def test_late_events_count_and_leave_time_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine.rules").write_text(RULES)
    late = '{"at": 70, "facts": "felt(later) ."}\n{"at": 73, "facts": "felt(late) ."}'
    with serving(tmp_path / "kb", "--rules", str(tmp_path / "mine.rules")) as server:
        begin = '{"at": 3, "facts": "felt(s1) ."}'
        send(server, "POST", "/streams/s", content=begin, headers=NDJSON)
        send(server, "POST", "/advance?to=76")
        done = send(server, "POST", "/streams/s", content=late, headers=NDJSON)
        assert done.status_code == 200, done.text
        assert done.json()["now"] == 76
        assert done.json()["counts"]["derived"] == 1  # what the last of them did
        assert server.get("/explain", params={"fact": "warm(late)"}).json()["holds"]
        assert not server.get("/explain", params={"fact": "warm(later)"}).json()["holds"]
        keyed = {"content": late, "headers": {**NDJSON, "Idempotency-Key": "late"}}
        first, again = (send(server, "POST", "/streams/s", **keyed) for _ in range(2))
        assert (first.status_code, again.status_code) == (200, 200)
        assert first.json()["seq"] == again.json()["seq"]
        both = late + '\n{"at": 77, "facts": "felt(new) ."}'
        more = send(server, "POST", "/streams/s", content=both, headers=NDJSON).json()
        assert (more["now"], more["counts"]["derived"]) == (77, 1)
        names = {name for line in server.get("/log").json()["changes"] for name in line["counts"]}
        assert "arrived" in names
        assert not [name for name in names if name[-1].isdigit()]
    assert "refused" not in (tmp_path / "kb.audit").read_text()


KEYED = {
    "an update": ("/sparql", {"data": {"update": "INSERT DATA { <x:k> <x:k> <x:1> }"}}),
    "a patch": ("/patch", {"content": "A <x:k> <x:k> <x:2> .\n", "headers": PATCH}),
    "facts": ("/apply", {"json": {"add": "<x:k> <x:k> <x:3> ."}}),
    "a graph": ("/graphs?graph=x:k", {"content": "<x:k> <x:k> <x:4> .", "headers": TURTLE}),
    "events": (
        "/streams/keyed",
        {
            "content": '{"at": 70, "facts": "felt(k1) ."}\n{"at": 71, "facts": "felt(k2) ."}',
            "headers": NDJSON,
        },
    ),
    "nothing new": ("/apply", {"json": {"remove": "<x:never> <x:was> <x:there> ."}}),
}


def keyed(server: Serving, what: str) -> dict[str, Any]:
    path, options = KEYED[what]
    headers = {**options.get("headers", {}), "Idempotency-Key": f"key of {what}"}
    answer = send(server, "POST", path, **{**options, "headers": headers})
    assert answer.status_code in (200, 201), answer.text
    return dict(answer.json())


def test_a_request_with_the_same_key_counts_once_also_after_a_crash(tmp_path: Path) -> None:
    (tmp_path / "mine.rules").write_text(RULES)
    with serving(tmp_path / "kb", "--rules", str(tmp_path / "mine.rules")) as server:
        first = {what: keyed(server, what) for what in KEYED}
        again = {what: keyed(server, what) for what in KEYED}
        token, seq = server.token, server.get("/health").headers["livefacts-seq"]
        server.kill()
    with serving(tmp_path / "kb", token=token) as server:
        later = {what: keyed(server, what) for what in KEYED}
        assert server.get("/health").headers["livefacts-seq"] == seq
        assert len(server.select("SELECT ?o { <x:k> <x:k> ?o }")) == 4
        authors = {each.get("author") for each in server.get("/log").json()["changes"]}
        other = send(
            server,
            "POST",
            "/patch",
            content="A <x:n> <x:n> <x:n> .\n",
            headers={**PATCH, "Idempotency-Key": "key of an update"},
        )
        assert other.json()["counts"]["asserted"] == 1  # a key is one of its path
        long = {**PATCH, "Idempotency-Key": "k" * 256}
        assert send(server, "POST", "/patch", content="", headers=long).status_code == 400
        once = {"headers": {"Idempotency-Key": "key of an end"}}
        gone, gone_again = (send(server, "DELETE", "/graphs?graph=x:k", **once) for _ in range(2))
        assert gone.json()["seq"] == gone_again.json()["seq"] == int(seq) + 2
        assert send(server, "DELETE", "/graphs?graph=x:k").status_code == 404
    for what in KEYED:
        assert again[what]["seq"] == later[what]["seq"] == first[what]["seq"], what
        for name in ("added", "removed", "derived"):
            assert later[what]["counts"][name] == again[what]["counts"][name], (what, name)
    assert first["events"]["counts"]["derived"] == 2
    assert len(authors) == 1
    assert None not in authors


# facts with rules, and ontologies


def test_facts_and_rules_are_one_change(server: Serving) -> None:
    given = {
        "add": "reading(a1, 500) .",
        "add_rules": "@id scalding scalding(?s) :- reading(?s, ?v), ?v > 400 .",
    }
    done = send(server, "POST", "/apply", json=given).json()
    assert (done["counts"]["asserted"], done["counts"]["derived"]) == (1, 2)
    gone = {"remove": "reading(a1, 500) .", "remove_rules": "scalding"}
    back = send(server, "POST", "/apply", json=gone).json()
    assert back["counts"]["removed"] == 3
    assert back["seq"] == done["seq"] + 1


WRONG = {
    "no JSON": "{",
    "no object": "[]",
    "no texts": '{"add": 1}',
    "another name": '{"load": "/etc/passwd"}',
    "a mistake in facts": '{"add": "<x:a>"}',
    "a rule among facts": '{"add": "p(?x) :- q(?x) ."}',
    "a path for rules": '{"add_rules": "/etc/passwd"}',
    "deep JSON": "[" * 100_000,
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_change_is_refused(server: Serving, what: str) -> None:
    before = server.get("/health").headers["livefacts-seq"]
    answer = send(server, "POST", "/apply", content=WRONG[what])
    assert answer.status_code == 400, answer.text
    assert answer.json()["what"]
    assert answer.headers["livefacts-seq"] == before


def test_rules_of_a_change_need_their_scope(tmp_path: Path) -> None:
    with serving(tmp_path / "kb") as server:
        made = livefacts("token", str(tmp_path / "kb"), "--scope", "update")
        headers = {"Authorization": f"Bearer {made.out.strip().removeprefix('token: ')}"}
        with server.client(headers=headers) as client:
            assert client.post("/apply", json={"add": "p(a) ."}).status_code == 200
            assert client.post("/apply", json={"add_rules": "q(?x) :- p(?x) ."}).status_code == 403
            assert client.post("/ontology", json={"add": ""}).status_code == 403


OWL = "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."


def test_axioms_come_and_go_and_no_file_is_read(server: Serving) -> None:
    axiom = f"{OWL} <x:Dog> a owl:Class ; rdfs:subClassOf <x:Pet> . <x:Pet> a owl:Class ."
    done = send(server, "POST", "/ontology", json={"add": axiom})
    assert done.status_code == 200, done.text
    server.update("INSERT DATA { <x:rex> a <x:Dog> }")
    assert server.select("SELECT ?c { <x:rex> a ?c FILTER(?c = <x:Pet>) }") == [{"c": "x:Pet"}]
    told = server.get("/ontology").json()
    assert told["axioms"] == ["<x:Dog> SubClassOf <x:Pet>"]
    send(server, "POST", "/ontology", json={"remove": axiom})
    assert server.select("SELECT ?c { <x:rex> a ?c FILTER(?c = <x:Pet>) }") == []
    assert server.get("/ontology").json()["axioms"] == []
    for text in ("/etc/passwd", "-", "/etc/*.conf"):
        assert send(server, "POST", "/ontology", json={"add": text}).status_code == 400
    assert send(server, "POST", "/ontology", json={"add": "", "to": axiom}).status_code == 400


# rules, previews, proofs, the way back


def test_rules_are_listed_added_and_removed(server: Serving) -> None:
    added = send(server, "POST", "/rules", content="@id mine cold(?s) :- reading(?s, ?v), ?v < 0 .")
    assert added.status_code == 200, added.text
    listed = {each["id"]: each["text"] for each in server.get("/rules").json()["rules"]}
    assert "cold" in listed["mine"]
    assert all(each["instances"] >= 0 for each in server.get("/rules").json()["rules"])
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
