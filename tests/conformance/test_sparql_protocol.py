"""W3C SPARQL 1.1 Protocol and Service Description: the requests of the suites, under their names.

The suites describe requests and responses in words and in RDF; here each is sent to a running
server.  What changes something is sent with a token, without which nobody may write.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from xml.etree import ElementTree

import httpx
import pytest
from pyoxigraph import NamedNode, QueryResultsFormat, RdfFormat, parse, parse_query_results
from tests.system.serving import Serving, serving

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]
DATA = "http://kasei.us/2009/09/sparql/data/data"
DOCUMENT = "http://xmlns.com/foaf/0.1/Document"
FORM = "application/x-www-form-urlencoded"
QUERY, UPDATE = "application/sparql-query", "application/sparql-update"
SD = "http://www.w3.org/ns/sparql-service-description#"
BOOLEAN = {"application/sparql-results+json", "application/sparql-results+xml"}
TABLE = {*BOOLEAN, "text/csv", "text/tab-separated-values"}
GRAPH = {"text/turtle", "application/rdf+xml", "application/n-triples"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("protocol") / "kb") as found:
        yield found


def data(number: int) -> str:
    return f"{DATA}{number}.rdf"


def fill(server: Serving) -> None:
    """The graphs that the suite wants to be there."""
    graphs = "".join(
        f"GRAPH <{data(each)}> {{ <{data(each)}> a <{DOCUMENT}> }} " for each in range(4)
    )
    server.update(f"INSERT DATA {{ {graphs} }}")


class Sent(NamedTuple):
    """A request of the suite: what is in the address, and what in the body."""

    method: str
    parameters: tuple[tuple[str, str], ...] = ()
    kind: str = ""
    body: bytes = b""

    def to(self, server: Serving) -> httpx.Response:
        headers = {**server.bearer, **({"Content-Type": self.kind} if self.kind else {})}
        given = {"params": self.parameters, "content": self.body, "headers": headers}
        with server.client() as client:
            return client.request(self.method, "/sparql/", **given)


def graphs(name: str, *numbers: int) -> tuple[tuple[str, str], ...]:
    return tuple((name, data(number)) for number in numbers)


def asked(text: str, *parameters: tuple[str, str]) -> Sent:
    return Sent("POST", parameters, QUERY, text.encode())


IN_DEFAULT = f"ASK {{ <{data(1)}> a ?type . <{data(2)}> a ?type . }}"
IN_NAMED = f"ASK {{ GRAPH ?g1 {{ <{data(1)}> a ?type }} GRAPH ?g2 {{ <{data(2)}> a ?type }} }}"
DEFAULT, NAMED = "default-graph-uri", "named-graph-uri"
NOWHERE = graphs(DEFAULT, 0)

TRUE = {
    "query_post_form": Sent("POST", NOWHERE, FORM, b"query=ASK%20%7B%7D"),
    "query_dataset_default_graphs_get": Sent(
        "GET", (("query", IN_DEFAULT), *graphs(DEFAULT, 1, 2))
    ),
    "query_dataset_default_graphs_post": asked(IN_DEFAULT, *graphs(DEFAULT, 1, 2)),
    "query_dataset_named_graphs_post": asked(IN_NAMED, *graphs(NAMED, 1, 2)),
    "query_dataset_named_graphs_get": Sent("GET", (("query", IN_NAMED), *graphs(NAMED, 1, 2))),
    "query_dataset_full": asked(
        IN_NAMED.replace("{", f"{{ <{data(3)}> a ?type", 1),
        *graphs(DEFAULT, 3),
        *graphs(NAMED, 1, 2),
    ),
    "query_multiple_dataset": asked(
        IN_NAMED.replace("ASK", f"ASK FROM <{data(3)}>"), *graphs(NAMED, 1, 2)
    ),
    "query_get": Sent("GET", (("query", "ASK {}"), *NOWHERE)),
    "query_post_direct": asked("ASK {}"),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_is_asked_is_true(server: Serving, name: str) -> None:
    fill(server)
    answer = TRUE[name].to(server)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] in BOOLEAN
    assert answer.json()["boolean"] is True


CONTENT = {
    "query_content_type_select": ("SELECT (1 AS ?value) {}", TABLE),
    "query_content_type_ask": ("ASK {}", BOOLEAN),
    "query_content_type_describe": ("DESCRIBE <http://example.org/>", GRAPH),
    "query_content_type_construct": ("CONSTRUCT { <s> <p> 1 } WHERE {}", GRAPH),
}


@pytest.mark.parametrize("name", CONTENT)
def test_the_type_of_the_answer_is_that_of_its_content(server: Serving, name: str) -> None:
    fill(server)
    text, kinds = CONTENT[name]
    for accept in ("", *sorted(kinds)):
        with server.client() as client:
            headers = {"Content-Type": QUERY, **({"Accept": accept} if accept else {})}
            answer = client.post("/sparql/", params=NOWHERE, content=text, headers=headers)
        assert answer.status_code == 200, answer.text
        told = answer.headers["content-type"].partition(";")[0]
        assert told == accept or (not accept and told in kinds)
        if kinds == GRAPH:
            list(parse(answer.content, RdfFormat.from_media_type(told)))
        elif told.endswith("xml"):
            ElementTree.fromstring(answer.text)
        elif told != "text/csv":
            parse_query_results(answer.content, QueryResultsFormat.from_media_type(told))


BAD = {
    "bad_query_method": Sent("PUT", (("query", "ASK {}"), *NOWHERE), FORM),
    "bad_multiple_queries": Sent("GET", (("query", "ASK {}"), ("query", "SELECT * {}"))),
    "bad_query_wrong_media_type": Sent("POST", (), "text/plain", b"ASK {}"),
    "bad_query_missing_form_type": Sent("POST", (), "", b"query=ASK%20%7B%7D"),
    "bad_query_missing_direct_type": Sent("POST", (), "", b"ASK {}"),
    "bad_query_non_utf8": Sent("POST", (), f"{QUERY}; charset=UTF-16", "ASK {}".encode("utf-16")),
    "bad_query_syntax": Sent("GET", (("query", "ASK {"),)),
    "bad_update_get": Sent("GET", (("update", "CLEAR ALL"),)),
    "bad_multiple_updates": Sent("POST", (), FORM, b"update=CLEAR%20NAMED&update=CLEAR%20DEFAULT"),
    "bad_update_wrong_media_type": Sent("POST", (), "text/plain", b"CLEAR NAMED"),
    "bad_update_missing_form_type": Sent("POST", (), "", b"update=CLEAR%20NAMED"),
    "bad_update_missing_direct_type": Sent("POST", (), "", b"CLEAR NAMED"),
    "bad_update_non_utf8": Sent(
        "POST", (), f"{UPDATE}; charset=UTF-16", "CLEAR NAMED".encode("utf-16")
    ),
    "bad_update_syntax": Sent("POST", (), FORM, b"update=CLEAR%20XYZ"),
    "bad_update_dataset_conflict": Sent(
        "POST",
        (("using-named-graph-uri", "http://example/people"),),
        UPDATE,
        b"WITH <http://example/addresses> DELETE { ?person <x:name> 'Bill' }"
        b" INSERT { ?person <x:name> 'William' } WHERE { ?person <x:name> 'Bill' }",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_request_is_refused_and_changes_nothing(server: Serving, name: str) -> None:
    fill(server)
    before = server.get("/health").headers["livefacts-seq"]
    answer = BAD[name].to(server)
    assert 400 <= answer.status_code < 500
    assert answer.headers["livefacts-seq"] == before


# the service description


@pytest.mark.parametrize("kind", sorted(GRAPH))
def test_returns_rdf_and_has_endpoint_triple(server: Serving, kind: str) -> None:
    answer = server.get("/sparql", headers={"Accept": kind})
    assert answer.headers["content-type"].partition(";")[0] == kind
    told = {
        (q.predicate.value, q.object)
        for q in parse(answer.content, RdfFormat.from_media_type(kind))
    }
    assert (f"{SD}endpoint", NamedNode(f"{server.url}/sparql")) in told


def test_conforms_to_schema(server: Serving) -> None:
    """One service; each property has a subject and an object of the class that the vocabulary says."""
    fill(server)
    answer = server.get("/sparql", headers={"Accept": "application/n-triples"})
    told = [quad.triple for quad in parse(answer.content, RdfFormat.N_TRIPLES)]
    kinds: dict[Any, str] = {
        t.subject: t.object.value.removeprefix(SD)  # type: ignore[union-attr]
        for t in told
        if t.predicate.value.endswith("#type")
    }
    assert [*kinds.values()].count("Service") == 1
    schema = {
        "endpoint": ("Service", None),
        "supportedLanguage": ("Service", None),
        "feature": ("Service", None),
        "resultFormat": ("Service", None),
        "inputFormat": ("Service", None),
        "defaultDataset": ("Service", "Dataset"),
        "defaultGraph": ("Dataset", "Graph"),
        "namedGraph": ("Dataset", "NamedGraph"),
        "name": ("NamedGraph", None),
        "graph": ("NamedGraph", "Graph"),
    }
    for triple in told:
        name = triple.predicate.value.removeprefix(SD)
        if name in schema:
            assert (kinds[triple.subject], kinds.get(triple.object)) == schema[name]
        else:
            assert triple.predicate.value.endswith("#type")
    named = {t.object.value for t in told if t.predicate.value == f"{SD}name"}  # type: ignore[union-attr]
    assert {data(each) for each in range(4)} <= named
