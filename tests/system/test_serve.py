"""`livefacts serve`: the SPARQL protocol, tokens, limits, figures and an orderly end."""

from __future__ import annotations

import hashlib
import json
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest
from pyoxigraph import QueryResultsFormat, RdfFormat, parse, parse_query_results
from tests.system.running import livefacts
from tests.system.serving import Serving, serving

from livefacts.server.page import is_built

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
SELECT = "SELECT ?c { <x:cup> a ?c } ORDER BY ?c"
CONSTRUCT = "CONSTRUCT { ?s <x:kind> ?c } WHERE { ?s a ?c FILTER(?s = <x:cup>) }"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("serve") / "kb"


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Serving]:
    with serving(folder, "--rules", "rho-df", "--timeout", "5", "--body", "100000") as found:
        found.update(
            f"INSERT DATA {{ <x:cup> a <x:Cup> . <x:Cup> <{RDFS}subClassOf> <x:Thing> ."
            ' GRAPH <x:g> { <x:pan> a <x:Pan> . <x:pan> <x:says> "a\\r\\n<b>"@en } }'
        )
        yield found


# queries

ASKED = {
    "by GET": lambda c: c.get("/sparql", params={"query": SELECT}),
    "by POST of a form": lambda c: c.post("/sparql", data={"query": SELECT}),
    "by POST of the query": lambda c: c.post(
        "/sparql", content=SELECT, headers={"Content-Type": "application/sparql-query"}
    ),
}


@pytest.mark.parametrize("way", ASKED)
def test_a_query_is_answered(server: Serving, way: str) -> None:
    with server.client() as client:
        answer = ASKED[way](client)
    rows = parse_query_results(answer.content, QueryResultsFormat.JSON)
    assert [str(row["c"]) for row in rows] == ["<x:Cup>", "<x:Thing>"]
    assert answer.headers["content-type"] == "application/sparql-results+json"
    assert int(answer.headers["livefacts-seq"]) >= 1
    assert answer.headers["x-request-id"]


RESULTS = {
    "application/sparql-results+json": QueryResultsFormat.JSON,
    "application/sparql-results+xml": QueryResultsFormat.XML,
    "text/tab-separated-values": QueryResultsFormat.TSV,
}
EVERYTHING = "SELECT * { ?s ?p ?o } ORDER BY ?s ?p ?o"


@pytest.mark.parametrize("kind", RESULTS)
def test_rows_come_in_every_format_that_can_be_read_back(server: Serving, kind: str) -> None:
    answer = server.get("/sparql", params={"query": EVERYTHING}, headers={"Accept": kind})
    assert answer.headers["content-type"].partition(";")[0] == kind
    read = parse_query_results(answer.content, RESULTS[kind])
    plain = server.get("/sparql", params={"query": EVERYTHING, "format": "json"})
    expected = parse_query_results(plain.content, QueryResultsFormat.JSON)
    assert [tuple(row) for row in read] == [tuple(row) for row in expected]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("application/sparql-results+json", '{"head": {}, "boolean": true}\n'),
        ("text/csv", "true\r\n"),
        ("text/tab-separated-values", "true\n"),
    ],
)
def test_yes_and_no_come_in_every_format(server: Serving, kind: str, text: str) -> None:
    asked = {"query": "ASK { <x:cup> a <x:Thing> }"}
    assert server.get("/sparql", params=asked, headers={"Accept": kind}).text == text


def test_yes_and_no_come_as_xml(server: Serving) -> None:
    asked = {"query": "ASK { <x:cup> a <x:Nothing> }", "format": "xml"}
    tree = ElementTree.fromstring(server.get("/sparql", params=asked).text)
    assert [node.text for node in tree.iter() if node.tag.endswith("boolean")] == ["false"]


GRAPHS = {
    "text/turtle": RdfFormat.TURTLE,
    "application/n-triples": RdfFormat.N_TRIPLES,
    "application/rdf+xml": RdfFormat.RDF_XML,
    "application/ld+json": RdfFormat.JSON_LD,
    "application/n-quads": RdfFormat.N_QUADS,
    "application/trig": RdfFormat.TRIG,
    "text/n3": RdfFormat.N3,
}


@pytest.mark.parametrize("kind", GRAPHS)
def test_triples_come_in_every_format(server: Serving, kind: str) -> None:
    answer = server.get("/sparql", params={"query": CONSTRUCT}, headers={"Accept": kind})
    assert answer.headers["content-type"].partition(";")[0] == kind
    read = {str(quad.triple) for quad in parse(answer.content, GRAPHS[kind])}
    assert read == {"<x:cup> <x:kind> <x:Cup>", "<x:cup> <x:kind> <x:Thing>"}


def test_the_best_quality_wins(server: Serving) -> None:
    wish = "text/csv;q=0.5, application/sparql-results+xml;q=0.9, */*;q=0.1"
    answer = server.get("/sparql", params={"query": SELECT}, headers={"Accept": wish})
    assert answer.headers["content-type"] == "application/sparql-results+xml"


def test_graphs_of_the_request_are_those_that_are_asked(server: Serving) -> None:
    kinds = "SELECT ?s { ?s a ?c }"
    assert server.select(kinds, **{"default-graph-uri": "x:g"}) == [{"s": "x:pan"}]
    named = "SELECT ?g { GRAPH ?g { ?s a ?c } }"
    assert server.select(named, **{"named-graph-uri": "x:g"}) == [{"g": "x:g"}]
    from_elsewhere = "SELECT ?s FROM <x:other> { ?s a ?c }"
    assert server.select(from_elsewhere, **{"default-graph-uri": "x:g"}) == [{"s": "x:pan"}]


REFUSED = {
    "no query": (400, {"params": {"query": ""}}),
    "two queries": (400, {"params": [("query", SELECT), ("query", SELECT)]}),
    "a mistake in a query": (400, {"params": {"query": "SELECT ?x WHERE { ?x"}}),
    "an update by GET": (400, {"params": {"update": "CLEAR ALL"}}),
    "a graph that is no IRI": (400, {"params": {"query": SELECT, "default-graph-uri": "a b"}}),
    "a number that is none": (400, {"params": {"query": SELECT, "at": "-1"}}),
    "a format that there is not": (
        406,
        {"params": {"query": SELECT}, "headers": {"Accept": "image/png"}},
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_request_is_refused_with_what_and_where(server: Serving, what: str) -> None:
    status, request = REFUSED[what]
    answer = server.get("/sparql", **request)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    said = answer.json()
    assert said["status"] == status
    assert said["what"] in said["detail"]
    assert said["request"] == answer.headers["x-request-id"]


def test_a_mistake_is_shown_where_it_stands(server: Serving) -> None:
    said = server.get("/sparql", params={"query": "SELECT ?x\nWHERE { ?x a }"}).json()
    assert said["where"]["line"] == 2
    assert said["where"]["text"] == "WHERE { ?x a }"
    assert server.get("/sparql", params={"query": "SELEC"}).json()["hint"]


def test_other_bodies_and_methods_are_refused(server: Serving) -> None:
    answer = server.post("/sparql", content="x", headers={"Content-Type": "text/html"})
    assert answer.status_code == 415
    with server.client() as client:
        assert client.put("/sparql").status_code == 405
        assert client.get("/nothing").status_code == 404
        latin = client.post(
            "/sparql", content=b"\xff", headers={"Content-Type": "application/sparql-query"}
        )
        assert latin.status_code == 400


# updates


def test_an_update_needs_a_token(server: Serving) -> None:
    with server.client() as client:
        refused = client.post("/sparql", data={"update": "INSERT DATA { <x:a> <x:b> <x:c> }"})
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Bearer")
        wrong = client.post(
            "/sparql",
            data={"update": "INSERT DATA { <x:a> <x:b> <x:c> }"},
            headers={"Authorization": "Bearer lf_" + "x" * 43},
        )
        assert wrong.status_code == 401
    assert server.select("SELECT ?o { <x:a> <x:b> ?o }") == []


def test_an_update_tells_what_it_did_and_is_seen_at_once(server: Serving) -> None:
    headers = {"Content-Type": "application/sparql-update"}
    text = "INSERT DATA { <x:mug> a <x:Cup> }"
    done = server.post("/sparql", content=text, headers=headers)
    assert done.json()["counts"]["added"] == 2
    assert int(done.headers["livefacts-seq"]) == done.json()["seq"]
    assert len(server.select("SELECT ?c { <x:mug> a ?c }")) == 2
    server.update("DELETE DATA { <x:mug> a <x:Cup> }")
    assert server.select("SELECT ?c { <x:mug> a ?c }") == []
    before = done.json()["seq"]
    assert len(server.select("SELECT ?c { <x:mug> a ?c }", at=before)) == 2
    assert server.select("SELECT ?c { <x:mug> a ?c }", at=before - 1) == []


def test_scopes_include_those_below_them(server: Serving, folder: Path) -> None:
    made = livefacts("token", str(folder), "--scope", "read")
    reader = made.out.strip().removeprefix("token: ")
    assert len(reader) >= 32
    with server.client(headers={"Authorization": f"Bearer {reader}"}) as client:
        assert client.get("/sparql", params={"query": SELECT}).status_code == 200
        refused = client.post("/sparql", data={"update": "CLEAR ALL"})
    assert refused.status_code == 403
    assert reader not in refused.text


def test_a_folder_keeps_digests_of_tokens_alone(server: Serving, folder: Path) -> None:
    kept = (folder / "tokens.json").read_text()
    assert server.token not in kept
    assert hashlib.sha256(server.token.encode()).hexdigest() in kept
    assert (folder / "tokens.json").stat().st_mode & 0o077 == 0


def test_every_write_has_an_audit_line_and_no_secret_is_in_it(
    server: Serving, folder: Path
) -> None:
    named = {"X-Request-Id": "audit-1"}
    server.post("/sparql", data={"update": "INSERT DATA { <x:b> <x:b> <x:b> }"}, headers=named)
    lines = folder.with_suffix(".audit").read_text().splitlines()
    assert not any(server.token in line for line in lines)
    said = [json.loads(line.removeprefix("audit ")) for line in lines]
    mine = [each for each in said if each["request"] == "audit-1"]
    assert [(each["action"], each["asserted"]) for each in mine] == [("update", 1)]


# what every answer has


def test_an_answer_that_is_known_is_not_sent_again(server: Serving) -> None:
    asked = {"query": SELECT}
    first = server.get("/sparql", params=asked)
    again = {"If-None-Match": first.headers["etag"]}
    assert server.get("/sparql", params=asked, headers=again).status_code == 304
    for tags in (f'"x", {first.headers["etag"]}', first.headers["etag"].removeprefix("W/"), "*"):
        known = {"If-None-Match": tags}
        assert server.get("/sparql", params=asked, headers=known).status_code == 304
    assert server.post("/sparql", data=asked, headers=again).status_code == 200
    other = {**again, "Accept": "text/csv"}
    assert server.get("/sparql", params=asked, headers=other).status_code == 200
    server.update("INSERT DATA { <x:c> <x:c> <x:c> }")
    assert server.get("/sparql", params=asked, headers=again).status_code == 200
    changing = {"query": "SELECT (NOW() AS ?n) {}"}
    assert "etag" not in server.get("/sparql", params=changing).headers


def test_pages_of_others_may_ask(server: Serving) -> None:
    answer = server.get("/sparql", params={"query": SELECT}, headers={"Origin": "http://page"})
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "Livefacts-Seq" in answer.headers["access-control-expose-headers"]
    with server.client() as client:
        wish = {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization",
        }
        asked = client.options("/sparql", headers={"Origin": "http://page", **wish})
    assert asked.status_code == 200
    assert "authorization" in asked.headers["access-control-allow-headers"].lower()


def test_large_answers_are_streamed_and_packed(server: Serving) -> None:
    numbers = " ".join(str(number) for number in range(200))
    text = f"SELECT * {{ VALUES ?a {{ {numbers} }} VALUES ?b {{ {numbers} }} }}"
    with server.client() as client:
        plain = client.post(
            "/sparql", data={"query": text}, headers={"Accept-Encoding": "identity"}
        )
        packed = client.post("/sparql", data={"query": text}, headers={"Accept-Encoding": "gzip"})
    assert plain.headers["transfer-encoding"] == "chunked"
    assert len(plain.json()["results"]["bindings"]) == 40_000
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content


# limits


def test_limits_are_applied(server: Serving) -> None:
    product = (
        "SELECT (COUNT(*) AS ?n) { "
        + " ".join(f"VALUES ?v{n} {{ {' '.join(map(str, range(300)))} }}" for n in range(4))
        + " FILTER(?v0 + ?v1 + ?v2 + ?v3 = 0) }"
    )
    with server.client() as client:
        slow = client.post("/sparql", data={"query": product, "timeout": "1"})
        assert slow.status_code == 503, slow.text
        assert slow.json()["title"] == "LimitError"
        large = client.post("/sparql", data={"query": SELECT + "#" * 100_000})
        assert large.status_code == 413
        # Without a length in front, what comes is counted.
        parts = (b"query=" + b"x" * 60_000 for _ in range(2))
        streamed = client.post("/sparql", content=parts, headers={"Content-Type": FORM})
        assert streamed.status_code == 413


def test_a_query_under_way_is_given_up(server: Serving) -> None:
    hard = " ".join(f"VALUES ?v{n} {{ {' '.join(map(str, range(300)))} }}" for n in range(4))
    text = f"SELECT (COUNT(*) AS ?n) {{ {hard} FILTER(?v0 + ?v1 + ?v2 + ?v3 = 0) }}"
    answers: list[httpx.Response] = []

    def ask() -> None:
        named = {"X-Request-Id": "hard-1"}
        with server.client(headers=named) as client:
            answers.append(client.post("/sparql", data={"query": text}))

    thread = threading.Thread(target=ask)
    thread.start()
    with server.client() as client:
        while thread.is_alive() and client.delete("/queries/hard-1").status_code == 404:
            pass
        assert client.delete("/queries/nothing").status_code == 404
    thread.join()
    assert answers[0].status_code == 503
    assert answers[0].json()["what"] == "the query was cancelled"


def test_nothing_is_fetched_from_elsewhere(server: Serving) -> None:
    answer = server.get(
        "/sparql", params={"query": "SELECT * { SERVICE <http://x/> { ?s ?p ?o } }"}
    )
    assert answer.status_code == 400
    loaded = server.post("/sparql", data={"update": "LOAD <file:///etc/passwd>"})
    assert loaded.status_code == 400


# figures


def test_figures_are_for_people_and_for_prometheus(server: Serving) -> None:
    assert server.get("/health").json() == {"status": "alive"}
    assert server.get("/ready").json()["status"] == "ready"
    stats = server.get("/stats").json()
    assert stats["facts"] == stats["asserted"] + stats["derived"]
    metrics = server.get("/metrics").text
    assert f"livefacts_facts {float(stats['facts'])}" in metrics
    assert 'livefacts_requests_total{method="GET",path="/stats",status="200"}' in metrics
    assert "/sparql" in server.get("/").json()["paths"]


# others talk to it


def test_the_store_of_rdflib_works_unchanged(server: Serving) -> None:
    from rdflib import RDF, Graph, URIRef
    from rdflib.plugins.stores.sparqlstore import SPARQLStore, SPARQLUpdateStore

    with_token = {"headers": server.bearer}
    graph = Graph(SPARQLStore(f"{server.url}/sparql"))
    assert {str(row[0]) for row in graph.query(SELECT)} == {"x:Cup", "x:Thing"}
    assert (URIRef("x:cup"), None, URIRef("x:Thing")) in graph
    assert len(graph.query(CONSTRUCT).graph) == 2
    store = SPARQLUpdateStore(f"{server.url}/sparql", f"{server.url}/sparql", **with_token)
    store.update("INSERT DATA { <x:bowl> a <x:Cup> }")
    assert len(server.select("SELECT ?c { <x:bowl> a ?c }")) == 2
    Graph(store, URIRef("x:kitchen")).add((URIRef("x:jug"), RDF.type, URIRef("x:Cup")))
    assert len(server.select("SELECT ?c { <x:jug> a ?c }")) == 2


# the beginning and the end


def test_readers_and_writers_get_on_with_each_other(server: Serving) -> None:
    failures: list[object] = []

    def read() -> None:
        with server.client() as client:
            for _ in range(30):
                answer = client.get("/sparql", params={"query": "SELECT * { ?s <x:n> ?o }"})
                rows = answer.json()["results"]["bindings"]
                if answer.status_code != 200 or len(rows) % 2:
                    failures.append(answer.text)

    def write(name: str) -> None:
        with server.client(headers=server.bearer) as client:
            for number in range(15):
                pair = f"<x:{name}> <x:n> {number}, {number + 100}"
                answer = client.post("/sparql", data={"update": f"INSERT DATA {{ {pair} }}"})
                if answer.status_code != 200:
                    failures.append(answer.text)

    threads = [threading.Thread(target=read) for _ in range(4)]
    threads += [threading.Thread(target=write, args=(name,)) for name in ("p", "q")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(server.select("SELECT * { ?s <x:n> ?o }")) == 60


def test_a_kill_loses_nothing_and_a_token_is_shown_once(tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    with serving(folder, "--private") as first:
        page = ["page"] if is_built() else []
        assert first.said == ["endpoint", *page, "token", "ready"]
        assert len(first.token) >= 32
        assert first.get("/sparql", params={"query": SELECT}).status_code == 401
        assert first.get("/health").status_code == 200
        done = first.update("INSERT DATA { <x:a> <x:b> <x:c> }")
        first.kill()
    with serving(folder, token=first.token) as again:
        assert again.said == ["endpoint", *page, "ready"]
        assert again.select("SELECT ?o { <x:a> <x:b> ?o }") == [{"o": "x:c"}]
        assert again.get("/health").headers["livefacts-seq"] == str(done["seq"])
        assert again.update("INSERT DATA { <x:a> <x:b> <x:d> }")["seq"] == done["seq"] + 1
        again.process.send_signal(signal.SIGINT)
        assert again.process.wait(60) == 0


def test_a_port_that_is_taken_is_an_error(server: Serving, tmp_path: Path) -> None:
    port = server.url.rpartition(":")[2]
    ended = livefacts("serve", str(tmp_path / "other"), "--port", port)
    assert ended.code == 1
    assert "--port" in ended.err
