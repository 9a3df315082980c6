"""The OWASP API Security Top 10 of 2023 against a running server: each entry is tried."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tests.system.running import livefacts
from tests.system.serving import Serving, serving

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]
INSERT = "INSERT DATA { <x:a> <x:b> <x:c> }"
FOR_LONG = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . ?g ?s ?h FILTER(?b = ?h || ?d != ?f) }"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("threats") / "kb"


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Serving]:
    limits = ["--timeout", "20", "--body", "20000", "--rows", "1000", "--memory", "100000000"]
    with serving(folder, *limits) as found:
        many = " ".join(f"<x:s{n}> <x:p> {n} ." for n in range(300))
        found.update(f"INSERT DATA {{ {many} }}")
        yield found


def bearer(folder: Path, scope: str) -> dict[str, str]:
    made = livefacts("token", str(folder), "--scope", scope)
    return {"Authorization": f"Bearer {made.out.strip().removeprefix('token: ')}"}


def asked(server: Serving, text: str, **options: str) -> httpx.Response:
    return server.get("/sparql", params={"query": text, **options})


def test_1_object_level_nobody_ends_the_query_of_another(server: Serving, folder: Path) -> None:
    mine, other = bearer(folder, "read"), bearer(folder, "rules")
    ended: list[httpx.Response] = []

    def ask() -> None:
        headers = {**mine, "X-Request-Id": "mine"}
        ended.append(server.get("/sparql", params={"query": FOR_LONG}, headers=headers))

    thread = threading.Thread(target=ask)
    thread.start()
    with server.client() as client:
        while client.delete("/queries/mine", headers=mine).status_code == 404 and not ended:
            assert client.delete("/queries/mine", headers=other).status_code == 404
            assert client.delete("/queries/mine").status_code == 404
    thread.join()
    assert ended[0].status_code == 503


SECRETS = (
    "",
    "Bearer",
    "Bearer x",
    "Basic eDp5",
    "Bearer null",
    "Bearer é",
    "bearer\tlf_",
)


def test_2_authentication_only_a_whole_secret_is_one(server: Serving, folder: Path) -> None:
    kept = json.loads((folder / "tokens.json").read_text())["tokens"][0]
    near = [
        server.token[:-1],
        server.token + "x",
        server.token.swapcase(),
        kept["digest"],
        kept["id"],
    ]
    with server.client() as client:
        for given in (*SECRETS, *(f"Bearer {each}" for each in near)):
            headers = {"Authorization": given.encode("latin-1")}  # type: ignore[dict-item]
            refused = client.post("/sparql", data={"update": INSERT}, headers=headers)
            assert refused.status_code == 401, given
        for name in ("token", "access_token", "authorization"):
            given = {name: server.token}
            assert client.post("/undo?seq=1", params=given).status_code == 401
        client.cookies.set("token", server.token)
        assert client.post("/sparql", data={"update": INSERT}).status_code == 401


def test_3_properties_what_is_not_offered_is_neither_taken_nor_shown(
    server: Serving, folder: Path
) -> None:
    for path in ("/apply", "/preview", "/ontology"):
        for name in ("scope", "token", "seq", "author", "__class__"):
            assert server.post(path, json={name: "admin"}).status_code == 400
    kept = (folder / "tokens.json").read_text()
    secrets = [server.token, *(each["digest"] for each in json.loads(kept)["tokens"])]
    for path in ("/stats", "/log", "/metrics", "/openapi.json", "/health", "/rules"):
        shown = server.get(path).text
        assert not [each for each in secrets if each in shown], path
        assert str(folder) not in shown, path


def test_4_resources_every_limit_holds(server: Serving) -> None:
    assert asked(server, FOR_LONG, timeout="1").status_code == 503
    rows = asked(server, "SELECT * { ?a ?p ?b . ?c ?q ?d }")
    assert rows.headers["livefacts-complete"] == "false"
    assert len(rows.json()["results"]["bindings"]) == 1000
    long = "x" * 30_000
    assert (
        server.post(
            "/sparql", data={"update": f"INSERT DATA {{ <x:a> <x:b> '{long}' }}"}
        ).status_code
        == 413
    )
    in_pieces = (b"x" * 5_000 for _ in range(9))
    assert server.post("/patch", content=in_pieces).status_code == 413
    for deep in ("{" * 4_000, "(" * 9_000, "ASK { FILTER(" + "!" * 9_000 + "true) }"):
        refused = server.post("/sparql", data={"query": deep})
        assert refused.status_code in (400, 413), deep[:10]
    for depth in ("[" * 9_000, '{"a":' * 3_000):
        assert server.post("/apply", content=depth).status_code == 400
        kind = {"Content-Type": "application/ld+json"}
        put = server.post("/graphs?default", content=depth, headers=kind)
        assert put.status_code == 400
    packed = {"Content-Type": "application/sparql-update", "Content-Encoding": "gzip"}
    assert (
        server.post("/sparql", content=b"\x1f\x8b" + b"\0" * 99, headers=packed).status_code == 400
    )
    assert server.get("/health").status_code == 200


FUNCTIONS = {
    "read": [
        ("POST", "/verify"),
        ("POST", "/undo?seq=1"),
        ("POST", "/advance?to=1"),
        ("DELETE", "/rules?id=r"),
    ],
    "update": [
        ("POST", "/verify"),
        ("POST", "/rules"),
        ("DELETE", "/rules?id=r"),
        ("POST", "/ontology"),
    ],
    "rules": [("POST", "/verify")],
}


@pytest.mark.parametrize("scope", FUNCTIONS)
def test_5_function_level_a_scope_opens_no_more_than_it_says(
    server: Serving, folder: Path, scope: str
) -> None:
    before = server.get("/health").headers["livefacts-seq"]
    with server.client(headers=bearer(folder, scope)) as client:
        for method, path in FUNCTIONS[scope]:
            assert client.request(method, path).status_code == 403, (method, path)
            override = {"X-HTTP-Method-Override": "GET"}
            assert client.request(method, path, headers=override).status_code == 403
    assert server.get("/health").headers["livefacts-seq"] == before


def test_6_business_flows_one_client_does_not_take_all_turns(server: Serving, folder: Path) -> None:
    greedy, modest = bearer(folder, "read"), bearer(folder, "read")
    answers: list[int] = []

    def ask() -> None:
        given = {"query": FOR_LONG, "timeout": "2"}
        answers.append(server.get("/sparql", params=given, headers=greedy).status_code)

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for each in threads:
        each.start()
    while server.get("/stats", headers=modest).json()["waiting"]["read"] == 0 and not answers:
        pass
    assert server.get("/sparql", params={"query": "ASK {}"}, headers=modest).json()["boolean"]
    assert len(answers) < len(threads)
    for each in threads:
        each.join()
    assert set(answers) == {503}


def test_7_forged_requests_nothing_is_fetched_from_elsewhere(server: Serving) -> None:
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        there = f"http://127.0.0.1:{elsewhere.getsockname()[1]}/x"
        for text in (
            f"SELECT * {{ SERVICE <{there}> {{ ?s ?p ?o }} }}",
            f"SELECT * {{ SERVICE SILENT <{there}> {{ ?s ?p ?o }} }}",
            f"SELECT * FROM <{there}> {{ ?s ?p ?o }}",
        ):
            assert asked(server, text).status_code == 400
        assert (
            server.get(
                "/sparql", params={"query": "ASK {}", "default-graph-uri": there}
            ).status_code
            == 400
        )
        for text in (f"LOAD <{there}>", "LOAD <file:///etc/passwd>", f"LOAD SILENT <{there}>"):
            assert server.post("/sparql", data={"update": text}).status_code == 400
        entity = f'<!DOCTYPE r [<!ENTITY e SYSTEM "{there}">]>'
        bodies = {
            "application/ld+json": f'{{"@context": "{there}", "a": "b"}}',
            "application/rdf+xml": f'<?xml version="1.0"?>{entity}<r xmlns="{there}">&e;</r>',
        }
        for kind, body in bodies.items():
            put = server.post("/graphs?default", content=body, headers={"Content-Type": kind})
            assert put.status_code == 400, kind
        imported = f"<x:o> a <http://www.w3.org/2002/07/owl#Ontology> ; <http://www.w3.org/2002/07/owl#imports> <{there}> ."
        server.post("/ontology", json={"add": imported})
        for text in (there, "file:///etc/passwd", "/etc/passwd", "../tokens.json"):
            assert server.post("/rules", content=text).status_code == 400
            assert server.post("/apply", json={"add": text}).status_code == 400
        elsewhere.setblocking(False)
        with pytest.raises(BlockingIOError):
            elsewhere.accept()


def test_8_configuration_answers_say_no_more_than_they_should(
    server: Serving, folder: Path
) -> None:
    answer = server.get("/nothing")
    headers = answer.headers
    assert "server" not in headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    policy = headers["content-security-policy"].split("; ")
    assert [each for each in policy if "unsafe" in each] == ["style-src 'self' 'unsafe-inline'"]
    assert "Traceback" not in answer.text
    with server.client() as client:
        for method in ("TRACE", "CONNECT", "PATCH", "PROPFIND"):
            assert client.request(method, "/sparql").status_code in (400, 404, 405)
        shared = client.get("/health", headers={"Origin": "http://evil"}).headers
        assert "access-control-allow-credentials" not in shared
        for path in ("/assets/../tokens.json", "/assets/%2e%2e/%2e%2e/tokens.json", "//etc/passwd"):
            assert client.get(path).status_code == 404
    assert (folder / "tokens.json").stat().st_mode & 0o077 == 0
    log = folder.with_suffix(".audit").read_text()
    assert server.token not in log


LINES = (
    "OPTIONS * HTTP/1.1",
    "CONNECT elsewhere:80 HTTP/1.1",
    "PRI * HTTP/2.0",
    "GET //etc/passwd HTTP/1.1",
    "GET /health HTTP/1.1\r\nContent-Length: -1",
)


@pytest.mark.parametrize("line", LINES)
def test_8_no_first_line_of_a_request_is_a_mistake_of_the_server(
    server: Serving, line: str
) -> None:
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname or "", address.port or 80), 30) as connection:
        connection.sendall(f"{line}\r\nHost: x\r\nConnection: close\r\n\r\n0\r\n\r\n".encode())
        status = connection.makefile("rb").readline().split()[1]
    assert status in (b"400", b"404", b"405")


def test_8_methods_that_somebody_makes_up_are_counted_as_one(server: Serving) -> None:
    with server.client() as client:
        for number in range(20):
            client.request(f"MADE{number}", "/sparql")
            client.get(f"/made{number}")
    counted = server.get("/metrics").text
    assert "MADE" not in counted
    assert "/made" not in counted
    assert 'method="other"' in counted


def test_8_a_line_of_the_log_cannot_be_forged(server: Serving, folder: Path) -> None:
    named = {"X-Request-Id": 'x"}\taudit {"forged": 1'}
    server.post("/streams/a%0aaudit%20forged", content="", headers=named)
    lines = folder.with_suffix(".audit").read_text().splitlines()
    assert all(json.loads(line.removeprefix("audit "))["action"] for line in lines)


def test_9_inventory_there_is_no_path_that_is_not_described(server: Serving) -> None:
    told = {path.split("/")[1] for path in server.get("/openapi.json").json()["paths"]}
    listed = server.get("/", headers={"Accept": "application/json"}).json()["paths"]
    assert {path.split("/")[1] for path in listed} == told
    for path in (
        "/docs",
        "/redoc",
        "/admin",
        "/debug",
        "/.git/config",
        "/tokens.json",
        "/v1/sparql",
    ):
        assert server.get(path).status_code == 404, path


HOSTILE = {
    "application/x-ndjson": [
        "[" * 9_000,
        '{"at": NaN, "facts": "p(a) ."}',
        '{"at": 1e999, "facts": "p(a) ."}',
        '{"at": 99999999999999999999999, "facts": "p(a) ."}',
        '{"at": 1}',
        "null",
        '"x"',
        '{"at": 1, "facts": "\\ud800(a) ."}',
        '{"at": 1, "facts": "p(?x) :- q(?x) ."}',
        "\0",
    ],
    "application/n-quads": ["<x:a> <x:b> <x:c> .", "<x:a> <x:b", '<x:a> <x:b> <x:c> "x" .'],
    "application/rdf-patch": ["A", "X <x:a> <x:b> <x:c> .", "A <x:a> <x:b> <x:c>", "TX\nTX"],
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_10_what_comes_from_others_is_read_with_suspicion(server: Serving, kind: str) -> None:
    before = server.get("/health").headers["livefacts-seq"]
    for body in HOSTILE[kind]:
        answer = server.post("/streams/s", content=body, headers={"Content-Type": kind})
        assert answer.status_code == 400, (body[:50], answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
    assert server.get("/health").headers["livefacts-seq"] == before


def test_4_resources_watches_that_nobody_hears_take_no_place(server: Serving) -> None:
    refused = [{"since": "-1"}, {"format": "png"}, {"format": "json"}]
    with server.client() as client:
        for number in range(105):
            given = {"query": f"SELECT ?o {{ <x:w{number}> <x:p> ?o }}", **refused[number % 3]}
            assert client.get("/watch", params=given).status_code != 503
        for number in range(3):
            there = {"query": f"SELECT ?o {{ <x:s{number}> <x:p> ?o }}", "format": "json"}
            assert client.get("/watch", params=there).json()["events"][0]["answers"]


def test_6_business_flows_one_client_does_not_watch_everything(
    server: Serving, folder: Path
) -> None:
    greedy, modest = bearer(folder, "read"), bearer(folder, "read")
    with ExitStack() as stack, server.client() as client:
        opened = [
            stack.enter_context(
                client.stream(
                    "GET", "/watch", params={"query": f"ASK {{ <x:g{n}> ?p ?o }}"}, headers=greedy
                )
            )
            for n in range(61)
        ]
        assert [each.status_code for each in opened[-2:]] == [200, 429]
        other = {"query": "ASK { <x:m> ?p ?o }", "format": "json"}
        assert client.get("/watch", params=other, headers=modest).status_code == 200
