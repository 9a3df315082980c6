"""W3C SPARQL 1.1 Graph Store HTTP Protocol: the requests of the suite, under their names.

`$GRAPHSTORE$` of the suite is `/graphs`.  Its statuses for what is changed and not made (200 or
204) are one: the answer always says what was done.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from pyoxigraph import CanonicalizationAlgorithm, Dataset, RdfFormat, parse
from tests.system.serving import Serving, serving

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]
PREFIXES = """
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix v: <http://www.w3.org/2006/vcard/ns#> .
"""
TURTLE = "text/turtle; charset=utf-8"
PERSON = (
    "<http://$HOST$/graphs/person/1> a foaf:Person ; foaf:businessCard [ a v:VCard ; v:fn {} ] ."
)
JOHN, JANE = (PREFIXES + PERSON.format(name) for name in ('"John Doe"', '"Jane Doe"'))
ALICE = PREFIXES + '[] a foaf:Person ; foaf:businessCard [ a v:VCard ; v:given-name "Alice" ] .'
NAME = PREFIXES + '<http://$HOST$/graphs/person/1> foaf:name "Jane Doe" .'
PARTS = {"lastName": 'foaf:familyName "Doe"', "firstName": 'foaf:givenName "Jane"'}


@pytest.fixture
def server(tmp_path: Any) -> Iterator[Serving]:
    with serving(tmp_path / "kb") as found:
        yield found


class GraphStore:
    """The requests of the suite to one server."""

    def __init__(self, server: Serving) -> None:
        self._server = server
        self.host = server.url.removeprefix("http://")

    def send(self, method: str, path: str, content: str = "", kind: str = TURTLE) -> httpx.Response:
        headers = {**self._server.bearer, **({"Content-Type": kind} if content else {})}
        text = content.replace("$HOST$", self.host)
        with self._server.client() as client:
            return client.request(method, path, content=text, headers=headers)

    def holds(self, path: str, *contents: str) -> None:
        """What GET gives is what these documents say, whatever blank nodes are called."""
        answer = self.send("GET", path)
        assert answer.status_code == 200
        assert answer.headers["content-type"].partition(";")[0] == "text/turtle"
        texts = [text.replace("$HOST$", self.host) for text in contents]
        expected = [quad for text in texts for quad in parse(text, RdfFormat.TURTLE)]
        assert canonical(parse(answer.content, RdfFormat.TURTLE)) == canonical(expected)


def canonical(quads: Any) -> Dataset:
    found = Dataset(quads)
    found.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return found


def test_the_tests_of_the_suite_in_their_order(server: Serving) -> None:
    store = GraphStore(server)
    one = f"http://{store.host}/graphs/person/1"

    assert store.send("PUT", f"/graphs?graph={one}.ttl", JOHN).status_code == 201
    store.holds(f"/graphs?graph={one}.ttl", JOHN)  # get_of_put__initial_state
    store.holds("/graphs/person/1.ttl", JOHN)  # the same graph by its own address

    store.send("PUT", "/graphs/person/1", JOHN)
    put = store.send("PUT", "/graphs/person/1", JANE)  # put__graph_already_in_store
    assert put.status_code in (200, 204)
    store.holds("/graphs/person/1", JANE)

    assert store.send("DELETE", "/graphs?default").status_code == 200
    put = store.send("PUT", "/graphs?default", ALICE)  # put__default_graph
    assert put.status_code in (200, 201)

    mismatched = '<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://x"/>'
    assert store.send("PUT", "/graphs?default", mismatched).status_code == 400

    store.send("PUT", "/graphs/person/2.ttl", ALICE)
    assert store.send("DELETE", "/graphs/person/2.ttl").status_code == 200
    assert store.send("GET", "/graphs/person/2.ttl").status_code == 404
    assert store.send("DELETE", "/graphs/person/2.ttl").status_code == 404  # delete__nonexistent

    assert store.send("POST", "/graphs/person/1.ttl", NAME).status_code == 200
    store.holds("/graphs/person/1.ttl", JOHN, NAME)  # get_of_post__existing_graph

    boundary = "a6fe4cd636164618814be9f8d3d1a0de"
    parts = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}.ttl"; filename="{name}.ttl"\r\n'
        f"Content-Type: {TURTLE}\r\n\r\n{PREFIXES}<http://$HOST$/graphs/person/1> {said} .\r\n"
        for name, said in PARTS.items()
    )
    kind = f"multipart/form-data; boundary={boundary}"
    posted = store.send("POST", "/graphs/person/1.ttl", f"{parts}--{boundary}--\r\n", kind)
    assert posted.status_code == 200, posted.text
    told = "".join(f"<http://$HOST$/graphs/person/1> {said} ." for said in PARTS.values())
    store.holds("/graphs/person/1.ttl", JOHN, NAME, PREFIXES + told)

    made = store.send("POST", "/graphs", ALICE)  # post__create__new_graph
    assert made.status_code == 201
    path = made.headers["location"].removeprefix(server.url)
    store.holds(path, ALICE)
    assert store.send("POST", path, "\n").status_code in (200, 204)
    store.holds(path, ALICE)  # get_of_post__after_noop

    head = store.send("HEAD", "/graphs/person/1.ttl")  # head_on_an_existing_graph
    assert (head.status_code, head.content) == (200, b"")
    assert store.send("HEAD", "/graphs/person/4.ttl").status_code == 404


def test_what_is_put_into_the_default_graph_is_read_there(server: Serving) -> None:
    store = GraphStore(server)
    store.send("PUT", "/graphs?default", JOHN)
    assert store.send("PUT", "/graphs?default", ALICE).json()["counts"]["retracted"] == 4
    store.holds("/graphs?default", ALICE)  # get_of_put__default_graph
