"""Clients of others work as they are: rdflib's stores, SPARQLWrapper, and what YASGUI sends."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from tests.system.serving import Serving, serving

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]
SELECT = "SELECT ?s ?n WHERE { ?s <http://x/name> ?n } ORDER BY ?n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("clients") / "kb") as found:
        found.update(
            'INSERT DATA { <http://x/a> <http://x/name> "Ann"@en, 7 . _:b <http://x/p> 1 }'
        )
        yield found


# rdflib


@pytest.mark.parametrize("method", ["GET", "POST", "POST_FORM"])
@pytest.mark.parametrize("kind", ["json", "xml", "csv", "tsv"])
def test_rdflib_asks(server: Serving, method: str, kind: str) -> None:
    rdflib = pytest.importorskip("rdflib")
    from rdflib.plugins.stores.sparqlstore import SPARQLStore

    store = SPARQLStore(f"{server.url}/sparql", method=method, returnFormat=kind)
    graph = rdflib.Graph(store)
    rows = list(graph.query(SELECT))
    assert [row.s for row in rows] == [rdflib.URIRef("http://x/a")] * 2
    names = {row.n.toPython() for row in rows}
    assert names in ({7, "Ann"}, {"7", "Ann"})  # CSV has no types
    if kind in ("json", "xml"):
        assert bool(graph.query("ASK { <http://x/a> ?p ?o }"))
        assert len(graph) == 3
        assert (rdflib.URIRef("http://x/a"), None, rdflib.Literal("Ann", lang="en")) in graph
    if kind == "xml":
        made = graph.query("CONSTRUCT { ?s <http://x/n> ?n } WHERE { ?s <http://x/name> ?n }")
        assert len(made.graph) == 2


def test_rdflib_changes(server: Serving) -> None:
    rdflib = pytest.importorskip("rdflib")
    from rdflib.plugins.stores.sparqlstore import SPARQLUpdateStore

    address = f"{server.url}/sparql"
    store = SPARQLUpdateStore(address, address, headers=server.bearer, autocommit=False)
    graph = rdflib.Graph(store, identifier=rdflib.URIRef("http://x/g"))
    triple = rdflib.URIRef("http://x/s"), rdflib.URIRef("http://x/p"), rdflib.Literal('é\n"')
    graph.add(triple)
    graph.update("INSERT DATA { <http://x/s> <http://x/p> 2 }")
    graph.commit()
    assert set(graph.objects(triple[0], triple[1])) == {triple[2], rdflib.Literal(2)}
    assert len(server.select("SELECT ?o { GRAPH <http://x/g> { ?s ?p ?o } }")) == 2
    graph.remove(triple)
    graph.commit()
    assert [row["o"] for row in server.select("SELECT ?o { GRAPH <http://x/g> { ?s ?p ?o } }")] == [
        "2"
    ]
    names = rdflib.Dataset(store).graphs()
    assert "http://x/g" in {str(each.identifier) for each in names}


# SPARQLWrapper


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated")
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_sparqlwrapper_asks_in_every_format_that_it_knows(server: Serving, method: str) -> None:
    wrapped = pytest.importorskip("SPARQLWrapper")
    asking = wrapped.SPARQLWrapper(f"{server.url}/sparql")
    asking.setMethod(method)
    asking.setQuery(SELECT)
    for kind in (wrapped.JSON, wrapped.XML, wrapped.CSV, wrapped.TSV):
        asking.setReturnFormat(kind)
        assert asking.query().convert()
    asking.setReturnFormat(wrapped.JSON)
    rows = asking.queryAndConvert()["results"]["bindings"]
    assert {row["n"]["value"] for row in rows} == {"Ann", "7"}
    asking.setQuery("CONSTRUCT { ?s <http://x/n> ?n } WHERE { ?s <http://x/name> ?n }")
    for kind in (wrapped.RDFXML, wrapped.TURTLE, wrapped.N3, wrapped.JSONLD):
        asking.setReturnFormat(kind)
        found = asking.query().convert()
        assert found if isinstance(found, bytes) else len(found) == 2
    asking.setReturnFormat(wrapped.JSON)
    asking.setQuery("SELECT ?x WHERE {")
    with pytest.raises(wrapped.SPARQLExceptions.QueryBadFormed):
        asking.query()


@pytest.mark.parametrize("way", ["URLENCODED", "POSTDIRECTLY"])
def test_sparqlwrapper_changes(server: Serving, way: str) -> None:
    wrapped = pytest.importorskip("SPARQLWrapper")
    changing = wrapped.SPARQLWrapper(f"{server.url}/sparql")
    changing.setMethod("POST")
    changing.setRequestMethod(getattr(wrapped, way))
    changing.addCustomHttpHeader("Authorization", server.bearer["Authorization"])
    changing.setQuery(f"INSERT DATA {{ <http://x/{way}> <http://x/p> 1 }}")
    assert changing.query().response.status == 200
    assert server.select(f"SELECT ?o {{ <http://x/{way}> <http://x/p> ?o }}") == [{"o": "1"}]


# YASGUI

YASQE = {
    "Accept": "application/sparql-results+json,*/*;q=0.9",
    "Content-Type": "application/x-www-form-urlencoded",
    "Origin": "https://yasgui.triply.cc",
}
CONSTRUCTING = {**YASQE, "Accept": "application/n-triples,*/*;q=0.9"}


def test_what_yasgui_sends_from_the_page_of_another_host_is_answered(server: Serving) -> None:
    """Its preflight, its form, its headers: as @zazuko/yasqe builds them, which the page here uses."""
    with server.client() as client:
        asked = {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type,authorization,x-requested-with",
        }
        before = client.options("/sparql", headers={"Origin": YASQE["Origin"], **asked})
        assert before.status_code == 200
        for text, headers in ((SELECT, YASQE), ("DESCRIBE <http://x/a>", CONSTRUCTING)):
            answer = client.post("/sparql", content=urlencode({"query": text}), headers=headers)
            assert answer.status_code == 200
            assert answer.headers["access-control-allow-origin"] == "*"
            assert (
                answer.headers["content-type"].partition(";")[0] == headers["Accept"].split(",")[0]
            )
        update = urlencode({"update": "INSERT DATA { <http://x/y> <http://x/p> 1 }"})
        done = client.post("/sparql", content=update, headers={**YASQE, **server.bearer})
        assert done.status_code == 200
        refused = client.post("/sparql", content=urlencode({"query": "SELEC"}), headers=YASQE)
        assert refused.headers["access-control-allow-origin"] == "*"
        assert refused.json()["where"]["line"] == 1
