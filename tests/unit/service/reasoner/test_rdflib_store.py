"""A reasoner behind rdflib's graphs and datasets."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import rdflib
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from rdflib import RDF, RDFS, XSD, BNode, Dataset, Graph, Namespace, URIRef
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.plugins.sparql import prepareQuery
from rdflib.store import TripleAddedEvent, TripleRemovedEvent

import livefacts as lf
from livefacts.service.change.rdflib_terms import for_rdflib
from livefacts.service.reasoner.rdflib_store import LivefactsStore

# rdflib 7.6 warns of its own Dataset, whatever one asks of it.
pytestmark = pytest.mark.filterwarnings("ignore:Dataset:DeprecationWarning")

EX = Namespace("http://example.org/")
NEAR = "[?x, <http://example.org/near>, ?z] :- [?x, <http://example.org/in>, ?z] ."


def store(rules: str = "") -> LivefactsStore:
    return LivefactsStore(rules=rules)


def test_rdflib_finds_the_store_by_its_name() -> None:
    graph = Graph(store="livefacts")
    assert isinstance(graph.store, LivefactsStore)
    graph.add((EX.cup, EX["in"], EX.kitchen))
    assert (EX.cup, EX["in"], EX.kitchen) in graph
    assert len(graph.store.reasoner) == 1


def test_a_graph_reads_conclusions_and_loses_them_with_their_premise() -> None:
    graph = Graph(store=store("rdfs"))
    graph.add((EX.Cat, RDFS.subClassOf, EX.Animal))
    graph.add((EX.tom, RDF.type, EX.Cat))
    assert (EX.tom, RDF.type, EX.Animal) in graph
    graph.remove((EX.tom, RDF.type, EX.Cat))
    assert (EX.tom, RDF.type, EX.Animal) not in graph


def test_what_follows_from_rules_cannot_be_removed() -> None:
    graph = Graph(store=store(NEAR))
    graph.add((EX.cup, EX["in"], EX.kitchen))
    graph.remove((EX.cup, EX.near, None))
    assert (EX.cup, EX.near, EX.kitchen) in graph


def test_a_graph_of_a_reasoner_reads_and_writes_it() -> None:
    r = lf.Reasoner(rules=NEAR)
    graph = r.to_rdflib()
    graph.add((EX.cup, EX["in"], EX.kitchen))
    assert (
        "[<http://example.org/cup>, <http://example.org/near>, <http://example.org/kitchen>]" in r
    )
    r.add("<http://example.org/pan> <http://example.org/in> <http://example.org/kitchen> .")
    assert set(graph.subjects(EX.near, EX.kitchen)) == {EX.cup, EX.pan}


def test_events_tell_of_conclusions_and_of_changes_that_others_make() -> None:
    found = store(NEAR)
    heard: list[tuple[str, object]] = []
    found.dispatcher.subscribe(TripleAddedEvent, lambda e: heard.append(("+", e.triple)))
    found.dispatcher.subscribe(TripleRemovedEvent, lambda e: heard.append(("-", e.triple)))
    Graph(store=found).add((EX.cup, EX["in"], EX.kitchen))
    inside, near = (EX.cup, EX["in"], EX.kitchen), (EX.cup, EX.near, EX.kitchen)
    assert sorted(heard) == [("+", inside), ("+", near)]
    heard.clear()
    found.reasoner.remove_rules(NEAR)
    assert heard == [("-", near)]
    heard.clear()
    Graph(store=found).add((EX.cup, EX["in"], EX.kitchen))
    assert heard == []


def test_who_hears_of_what_comes_alone_is_not_told_of_what_goes() -> None:
    found = store()
    heard: list[object] = []
    found.dispatcher.subscribe(TripleAddedEvent, lambda event: heard.append(event.triple))
    graph = Graph(store=found)
    graph.add((EX.a, EX.p, EX.b))
    graph.remove((EX.a, EX.p, EX.b))
    assert heard == [(EX.a, EX.p, EX.b)]


def test_a_named_graph_has_what_it_asserts_and_a_plain_one_everything() -> None:
    found = store(NEAR)
    plain, named = Graph(store=found), Graph(store=found, identifier=EX.g)
    named.add((EX.cup, EX["in"], EX.kitchen))
    assert set(named) == {(EX.cup, EX["in"], EX.kitchen)}
    assert (len(named), len(plain)) == (1, 2)


def test_the_default_graph_of_a_dataset_has_no_triples_of_named_graphs() -> None:
    ds = Dataset(store=store(NEAR))
    ds.graph(EX.g).add((EX.cup, EX["in"], EX.kitchen))
    ds.add((EX.pan, EX["in"], EX.kitchen))
    assert set(ds.triples((None, EX["in"], None))) == {(EX.pan, EX["in"], EX.kitchen)}
    assert set(ds.subjects(EX.near, None)) == {EX.cup, EX.pan}
    assert len(ds) == 4
    union = Dataset(store=ds.store, default_union=True)
    assert set(union.subjects(EX["in"], None)) == {EX.cup, EX.pan}


def test_a_graph_that_was_made_is_there_until_it_is_removed() -> None:
    ds = Dataset(store=store())
    names = {DATASET_DEFAULT_GRAPH_ID}
    graph = ds.graph(EX.g)
    assert {each.identifier for each in ds.graphs()} == names | {EX.g}
    graph.add((EX.a, EX.p, EX.b))
    graph.remove((EX.a, EX.p, EX.b))
    assert {each.identifier for each in ds.graphs()} == names | {EX.g}
    graph.add((EX.a, EX.p, EX.b))
    ds.remove_graph(EX.g)
    assert {each.identifier for each in ds.graphs()} == names
    assert len(graph) == 0


def test_removing_the_default_graph_empties_it() -> None:
    ds = Dataset(store=store())
    ds.add((EX.a, EX.p, EX.b))
    ds.remove_graph(DATASET_DEFAULT_GRAPH_ID)
    assert len(ds) == 0
    assert {each.identifier for each in ds.graphs()} == {DATASET_DEFAULT_GRAPH_ID}


def test_a_triple_knows_the_graphs_that_assert_it() -> None:
    ds = Dataset(store=store())
    triple = (EX.a, EX.p, EX.b)
    ds.add(triple)
    ds.graph(EX.g).add(triple)
    names = {each.identifier for each in ds.graphs(triple)}
    assert names == {DATASET_DEFAULT_GRAPH_ID, EX.g}
    assert {c for _, _, _, c in ds.quads((None, None, None, None))} >= {EX.g}


def test_queries_are_answered_by_livefacts_over_conclusions() -> None:
    graph = Graph(store=store(NEAR))
    graph.bind("home", EX)
    graph.add((EX.cup, EX["in"], EX.kitchen))
    rows = graph.query("SELECT ?x { ?x home:near ?y }", initBindings={"y": EX.kitchen})
    assert [row.x for row in rows] == [EX.cup]
    assert not graph.query("ASK { ?x home:near ?y }", initBindings={"y": EX.attic})
    assert graph.query("ASK { ?x e:near ?y }", initNs={"e": EX}).askAnswer
    made = graph.query("CONSTRUCT { ?y home:has ?x } WHERE { ?x home:near ?y }").graph
    assert made is not None
    assert set(made) == {(EX.kitchen, EX.has, EX.cup)}
    assert b"cup" in (graph.query("SELECT ?x { ?x home:near ?y }").serialize(format="json") or b"")


def test_a_query_of_one_graph_sees_that_graph() -> None:
    found = store(NEAR)
    Graph(store=found, identifier=EX.g).add((EX.cup, EX["in"], EX.kitchen))
    Graph(store=found, identifier=EX.h).add((EX.pan, EX["in"], EX.kitchen))
    one = Graph(store=found, identifier=EX.g)
    assert [row[0] for row in one.query("SELECT ?x { ?x ?p ?o }")] == [EX.cup]
    named = one.query("SELECT ?x { GRAPH <http://example.org/h> { ?x ?p ?o } }")
    assert [row[0] for row in named] == [EX.pan]


def test_a_query_that_rdflib_has_prepared_sees_conclusions_too() -> None:
    graph = Graph(store=store(NEAR))
    graph.add((EX.cup, EX["in"], EX.kitchen))
    prepared = prepareQuery("SELECT ?x { ?x ex:near ?y }", initNs={"ex": EX})
    assert [row.x for row in graph.query(prepared)] == [EX.cup]


def test_updates_are_one_change() -> None:
    graph = Graph(store=store(NEAR))
    graph.bind("ex", EX)
    before = graph.store.reasoner.add(()).seq
    graph.update("INSERT DATA { ex:cup ex:in ex:kitchen . ex:pan ex:in ex:kitchen }")
    assert set(graph.subjects(EX.near, EX.kitchen)) == {EX.cup, EX.pan}
    assert graph.store.reasoner.add(()).seq - before <= 2
    with pytest.raises(lf.QueryError, match=r"WITH <http://example\.org/g>"):
        Graph(store=graph.store, identifier=EX.g).update("INSERT DATA { ex:a ex:b ex:c }")
    with pytest.raises(lf.QueryError, match="VALUES"):
        graph.update("DELETE { ?x ?p ?o } WHERE { ?x ?p ?o }", initBindings={"x": EX.cup})


def test_a_file_that_rdflib_parses_is_reasoned_over() -> None:
    graph = Graph(store=store("rdfs"))
    graph.parse(data=f"@prefix : <{EX}> . :A a :B . :B <{RDFS.subClassOf}> :C .")
    assert (EX.A, RDF.type, EX.C) in graph
    assert "Turtle" not in graph.serialize(format="nt")
    assert str(EX.C) in graph.serialize(format="nt")


@pytest.mark.parametrize(
    "literal",
    [
        rdflib.Literal("x"),
        rdflib.Literal("x", lang="de"),
        rdflib.Literal("01", datatype=XSD.integer, normalize=False),
        rdflib.Literal("", datatype=EX.odd),
        rdflib.Literal("2026-01-31", datatype=XSD.date),
    ],
    ids=str,
)
def test_a_literal_comes_back_as_it_was_written(literal: rdflib.Literal) -> None:
    graph = Graph(store=store())
    graph.add((BNode("b1"), EX.p, literal))
    assert list(graph) == [(BNode("b1"), EX.p, literal)]


def test_terms_of_rdf_1_2_are_refused_with_a_way_out() -> None:
    a = NamedNode("x:a")
    with pytest.raises(lf.LivefactsError, match=r"r\.query and r\.facts have them"):
        for_rdflib(Triple(a, a, a))
    assert for_rdflib(BlankNode("z")) == BNode("z")
    assert for_rdflib(Literal("1")) == rdflib.Literal("1")


def test_what_is_no_triple_is_refused() -> None:
    graph = Graph(store=store())
    with pytest.raises(lf.LivefactsError, match="a predicate is an IRI"):
        graph.add((EX.a, rdflib.Literal("p"), EX.b))
    with pytest.raises(lf.LivefactsError, match="quoted graphs"):
        graph.store.add((EX.a, EX.p, EX.b), graph, quoted=True)


def test_a_folder_is_opened_and_read_again_and_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    graph = Graph(store=store(NEAR))
    graph.open(str(folder))
    graph.add((EX.cup, EX["in"], EX.kitchen))
    graph.close()
    again = Graph(store="livefacts")
    again.open(str(folder))
    assert (EX.cup, EX.near, EX.kitchen) in again
    again.close()
    with pytest.raises(lf.LivefactsError, match="there already"):
        Graph(store="livefacts").open(str(folder), create=True)
    with pytest.raises(lf.LivefactsError, match="no folder of livefacts"):
        again.destroy(str(tmp_path))
    again.destroy(str(folder))
    assert not folder.exists()


def test_a_store_that_holds_triples_cannot_be_opened(tmp_path: Path) -> None:
    graph = Graph(store="livefacts")
    graph.add((EX.a, EX.p, EX.b))
    with pytest.raises(lf.LivefactsError, match="holds triples already"):
        graph.open(str(tmp_path / "kb"))


def test_prefixes_are_those_of_the_reasoner_and_of_rdflib() -> None:
    r = lf.Reasoner()
    r.prefixes = {"home": "http://example.org/"}
    graph = r.to_rdflib()
    assert graph.namespace_manager.store.prefix(URIRef(str(EX))) == "home"
    graph.bind("other", EX, override=True, replace=True)
    assert graph.store.namespace("other") == URIRef(str(EX))
    assert graph.store.namespace("home") is None


TERMS = [
    EX.a,
    EX.b,
    EX.c,
    BNode("n"),
    rdflib.Literal("x"),
    rdflib.Literal("1", datatype=XSD.integer),
]
PREDICATES = [EX.p, EX.q]
GRAPHS = [None, EX.g, EX.h]


def random_steps(rng: random.Random) -> Iterator[tuple[str, tuple[object, ...], object]]:
    """Triples that are added to a graph, and patterns that are removed from one."""
    for _ in range(rng.randint(5, 40)):
        triple = rng.choice(TERMS[:4]), rng.choice(PREDICATES), rng.choice(TERMS)
        if rng.random() < 0.7:
            yield "add", triple, rng.choice(GRAPHS)
        else:
            yield (
                "remove",
                tuple(t if rng.random() < 0.6 else None for t in triple),
                rng.choice(GRAPHS),
            )


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("union", [False, True])
def test_without_rules_a_dataset_is_as_one_of_rdflib(seed: int, union: bool) -> None:
    rng = random.Random(seed)
    ours, theirs = Dataset(store=store(), default_union=union), Dataset(default_union=union)
    for number, (step, triple, name) in enumerate(random_steps(rng)):
        for ds in (ours, theirs):
            graph = ds.default_graph if name is None else ds.graph(name)
            getattr(graph, step)(triple)
        if number % 4:
            continue
        for pattern in [
            (None, None, None),
            triple,
            (triple[0], None, None),
            (None, None, triple[2]),
        ]:
            for name in GRAPHS[1:]:
                assert set(ours.graph(name).triples(pattern)) == set(
                    theirs.graph(name).triples(pattern)
                )
                assert len(ours.graph(name)) == len(theirs.graph(name))
            assert set(ours.triples(pattern)) == set(theirs.triples(pattern))
            assert set(ours.quads((*pattern, None))) == set(theirs.quads((*pattern, None)))
        assert len(ours) == len(theirs)
        assert {g.identifier for g in ours.graphs()} == {g.identifier for g in theirs.graphs()}


@pytest.mark.parametrize("seed", range(8))
def test_events_add_up_to_what_is_true(seed: int) -> None:
    rng = random.Random(seed)
    found = store(NEAR.replace("/in>", "/p>"))
    true: set[object] = set()
    found.dispatcher.subscribe(TripleAddedEvent, lambda event: true.add(event.triple))
    found.dispatcher.subscribe(TripleRemovedEvent, lambda event: true.remove(event.triple))
    for step, triple, name in random_steps(rng):
        getattr(Graph(store=found, identifier=name or BNode()), step)(triple)
        assert true == set(Graph(store=found))


@pytest.mark.parametrize("term", [URIRef("no scheme"), URIRef("a"), rdflib.Literal("\ud800")])
def test_a_term_that_is_none_of_rdf_is_named(term: rdflib.term.Node) -> None:
    graph = Graph(store=store())
    for ask in (graph.add, graph.remove, graph.__contains__):
        with pytest.raises(lf.InputError, match="is no term of RDF"):
            ask((EX.a, EX.b, term))
    with pytest.raises(lf.InputError, match="is no term of RDF"):
        graph.query("SELECT ?x { ?x ?p ?o }", initBindings={"o": term})
