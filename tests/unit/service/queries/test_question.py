"""SPARQL over the facts of a reasoner: what is refused, what is answered, and how."""

import json
import random
import subprocess
import sys
from typing import Any

import pytest
from pyoxigraph import (
    BlankNode,
    Literal,
    NamedNode,
    Quad,
    QueryResultsFormat,
    RdfFormat,
    Triple,
    parse,
    parse_query_results,
)

from livefacts.errors import InputError, LimitError, QueryError
from livefacts.service.queries.results import Answer, Row, Rows, Triples
from livefacts.service.reasoner.facade import Reasoner
from livefacts.syntax.sparql.query_shapes import shape_of
from livefacts.syntax.sparql.query_text import QueryLimits

EX = "http://example.org/"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = {"ex": EX}


def ex(name: str) -> NamedNode:
    return NamedNode(EX + name)


def typed(text: str, name: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + name))


ANNA_READS = Triple(ex("anna"), ex("reads"), ex("emma"))
ANNA_IS = Triple(ex("anna"), ex("age"), typed("41", "integer"))
BERT_IS = Triple(ex("bert"), ex("age"), typed("7", "integer"))


class Asked:
    """A reasoner without rules that is asked."""

    def __init__(self) -> None:
        self.reasoner = Reasoner()

    def apply(self, added, removed) -> None:
        self.reasoner.apply(add=list(added), remove=list(removed))

    def query(self, text, prefixes=()):
        self.reasoner.prefixes = dict(prefixes)
        return self.reasoner.query(text)


@pytest.fixture
def store() -> Asked:
    made = Asked()
    made.apply([ANNA_READS, ANNA_IS, BERT_IS], [])
    return made


def refused(text: str, **limits: int) -> str:
    with pytest.raises(QueryError) as caught:
        shape_of(text, PREFIXES, limits=QueryLimits(**limits))
    return str(caught.value)


def test_rows_come_in_select_order_and_have_names(store):
    result = store.query("SELECT ?n ?x { ?x ex:age ?n } ORDER BY ?n", PREFIXES)
    assert result.variables == ("n", "x")
    assert [tuple(row) for row in result] == [
        (typed("7", "integer"), ex("bert")),
        (typed("41", "integer"), ex("anna")),
    ]
    assert len(result) == 2
    assert result[1]["x"] == result[1]["?x"] == result[1][1] == ex("anna")
    assert result[0].as_dict() == {"n": typed("7", "integer"), "x": ex("bert")}


def test_an_unbound_variable_is_none(store):
    result = store.query("SELECT * { ?x ex:age ?n OPTIONAL { ?x ex:reads ?b } }", PREFIXES)
    assert {(row["x"], row["b"]) for row in result} == {
        (ex("anna"), ex("emma")),
        (ex("bert"), None),
    }


def test_a_variable_that_was_not_selected_is_named_in_the_error(store):
    row = store.query("SELECT ?x { ?x ex:reads ?y }", PREFIXES)[0]
    with pytest.raises(QueryError, match=r"no variable \?y"):
        row["y"]


def test_ask_answers_yes_or_no(store):
    assert store.query("ASK { ex:anna ex:reads ?x }", PREFIXES)
    assert not store.query("ASK { ex:bert ex:reads ?x }", PREFIXES)


def test_construct_and_describe_give_triples(store):
    made = store.query("CONSTRUCT { ?y ex:readBy ?x } WHERE { ?x ex:reads ?y }", PREFIXES)
    assert list(made) == [Triple(ex("emma"), ex("readBy"), ex("anna"))]
    assert set(store.query("DESCRIBE ex:anna", PREFIXES)) == {ANNA_READS, ANNA_IS}


def test_the_store_follows_changes(store):
    store.apply([Triple(ex("bert"), ex("reads"), ex("emma"))], [ANNA_READS])
    assert [row["x"] for row in store.query("SELECT ?x { ?x ex:reads ?y }", PREFIXES)] == [
        ex("bert")
    ]


def test_well_known_prefixes_need_no_declaration(store):
    store.apply([Triple(ex("anna"), NamedNode(RDF_TYPE), ex("P"))], [])
    assert store.query("ASK { ?x rdf:type ?y }")


def test_an_unknown_prefix_is_shown_where_it_stands():
    message = refused("ASK {\n  ?x foo:bar ?y }")
    assert "the prefix foo: is not declared" in message
    assert "query:2:6\n      ?x foo:bar ?y }\n         ^" in message
    assert "ex:" in message


def test_a_syntax_error_has_a_place(store):
    with pytest.raises(QueryError) as caught:
        store.query("SELECT ?x\nWHERE { ?x ?y }")
    assert caught.value.place is not None
    assert caught.value.place.line == 2
    assert caught.value.place.text == "WHERE { ?x ?y }"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { SERVICE <http://a/> { ?s ?p ?o } }",
        "SELECT * { service ?x { } }",
        "SELECT * { SERVICE SILENT ex:x { } }",
        "SELECT * { SERV\\u0049CE <http://a/> { } }",
        "SELECT * { {} UNION{SERVICE<http://a/>{}} }",
        'SELECT * { ?s ?p "\\"" . SERVICE <http://a/> {} }',
        "SELECT * { ?s ?p ex:a\\'b . SERVICE <http://a/> {} # ' \n }",
        "SELECT * { ?s ?p <http://a#b> . SERVICE <http://a/> {} }",
        "SELECT * { FILTER(?a<?b)SERVICE?x#>\n{} }",
        "SELECT * { FILTER(?a <?b && ?c> ?d) SERVICE ?x {} }",
        "SELECT * { ?s ?p (?x<http://a#b>) . SERVICE ?x {} }",
        "SELECT * { FILTER(ex:f(?a)<?b)SERVICE?x#>\n{} }",
        "SELECT * { { SELECT (1 AS ?z) (?a<?b AS ?c) { SERVICE?x#>\n{} } } }",
        "SELECT * { { SELECT ?a { } HAVING (?a<?b) } SERVICE?x#>\n{} }",
        "SELECT * { FILTER ex:f(?a<?b)SERVICE?x#>\n{} }",
        "SELECT * { ?s ?p true SERVICE ?x {} }",
        "SELECT * { ?s ?p '''''SERVICE''' . SERVICE <http://a/> {} }",
        "SELECT * { FILTER NOT EXISTS { SERVICE <http://a/> {} } }",
        "SELECT * { GRAPH ?g { SERVICE <http://a/> {} } }",
    ],
)
def test_service_is_refused_wherever_it_hides(text):
    assert "SERVICE is refused" in refused(text)


@pytest.mark.parametrize("word", ["trueSERVICE ?x", "SERVICEex:x", "SERVICESILENT ?x"])
def test_words_that_run_together_are_others(word):
    message = refused(f"SELECT * {{ {word} {{}} }}")
    assert "has no meaning" in message or "is not declared" in message


@pytest.mark.parametrize(
    "text",
    [
        "ASK { ?s ?p 'SERVICE <http://a/> {}' }",
        "ASK { ?s ?p '''SERVICE\n' {}''' }",
        'ASK { ?s ?p """a "quoted" SERVICE""" }',
        "ASK { ?s ?p ?o } # SERVICE <http://a/> {}",
        "ASK { ?service ?p <http://example.org/SERVICE> }",
        "ASK { ?s ex:SERVICE ex:service }",
        "PREFIX service: <http://a/> ASK { ?s service:x service:y }",
        "ASK { ?s ?p ?o FILTER(?o<5 && ?o>3) }",
        "SELECT ?x { ?x ?p ?o } ORDER BY ?o LIMIT 3",
    ],
)
def test_the_word_service_may_stand_in_strings_comments_and_names(store, text):
    store.query(text, PREFIXES)


@pytest.mark.parametrize(
    "text",
    [
        "LOAD <http://a/>",
        "INSERT DATA { }",
        "PREFIX a: <b:> delete where { ?s ?p ?o }",
        "CLEAR ALL",
    ],
)
def test_updates_are_refused_with_a_hint(text):
    assert "a query only reads" in refused(text)


def test_what_is_no_query_is_said_to_be_none():
    assert "the query is empty" in refused("  # nothing\n")
    assert "frobnicate does not begin a query" in refused("frobnicate { }")
    assert "a string that does not end" in refused("ASK { ?s ?p 'x }")


def test_an_escape_that_makes_an_escape_is_refused():
    assert "escaped character" in refused("ASK { ?s ?p '\\u005Cu0041' }")
    assert "not a character" in refused("ASK { ?s ?p '\\uD800' }")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ASK " + "{" * 5000 + "}" * 5000, "open brackets"),
        ("ASK { FILTER(" + "(" * 200 + "1" + ")" * 200 + ") }", "open brackets"),
        (
            "ASK { " + " . ".join(f"?x{i} ex:p ?x{i + 1}" for i in range(200)) + " }",
            "triple patterns",
        ),
        ("ASK { ?s ex:p " + ",".join("1" * 200) + " }", "triple patterns"),
        ("ASK { ?s ex:p (" + " ".join("1" * 200) + ") }", "triple patterns"),
        ("ASK { ?s " + "/".join(["ex:p"] * 200) + " ?o }", "triple patterns"),
        ("ASK { ?s ?p ?o " + "OPTIONAL { ?s ?p ?o } " * 200 + "}", "triple patterns"),
        ("SELECT ((" + "+".join("1" * 5000) + ") AS ?x) {}", "operators"),
        ("ASK { FILTER(" + "!" * 5000 + "true) }", "operators"),
        ("ASK { } #" + "x" * 1_100_000, "characters"),
    ],
)
def test_a_query_that_could_hang_or_crash_is_refused(text, said):
    assert said in refused(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "ASK { VALUES ?x { " + "1 " * 5000 + "} }",
        "ASK { VALUES (?x ?y) { " + "(1 <http://a#b>) " * 2000 + "} }",
        "ASK { ?s ?p ?o FILTER(?o IN (" + ",".join("1" * 5000) + ")) }",
        "SELECT " + " ".join(f"(1 AS ?x{i})" for i in range(100)) + " {}",
    ],
)
def test_long_lists_of_values_are_allowed(store, text):
    store.query(text)


def test_half_of_a_character_is_refused(store):
    with pytest.raises(QueryError, match="half of a character"):
        store.query("SELECT * { ?s ?p '\ud800' }")


def test_limits_can_be_chosen():
    assert "more than 3 open brackets" in refused("ASK { FILTER(((1))) }", nesting=3)


def test_named_graphs_hold_what_was_asserted_in_them(store):
    graph = ex("library")
    store.apply([Quad(ex("anna"), ex("reads"), ex("emma"), graph)], [])
    count = "SELECT (COUNT(*) AS ?n) %s { ?s ?p ?o }"
    assert store.query(count % "").rows[0][0] == typed("3", "integer")
    assert store.query(count % "FROM ex:library", PREFIXES).rows[0][0] == typed("1", "integer")
    assert list(store.query("SELECT ?g { GRAPH ?g { ?s ?p ?o } }")) == [(graph,)]
    assert store.query("ASK FROM NAMED <http://example.org/library> { GRAPH ?g { ?s ?p ?o } }")


def test_from_a_graph_that_is_not_loaded_is_an_error_that_names_a_near_one(store):
    store.apply([Quad(ex("anna"), ex("reads"), ex("emma"), ex("library"))], [])
    with pytest.raises(
        QueryError, match=r"no graph <http://example\.org/libary> is loaded"
    ) as caught:
        store.query("ASK FROM ex:libary { ?s ?p ?o }", PREFIXES)
    assert "<http://example.org/library>" in caught.value.hint
    with pytest.raises(QueryError, match="no graph"):
        store.query("BASE <http://example.org/> ASK FROM NAMED <attic> { ?s ?p ?o }")


VARIANTS = {
    "integer": ["1", "01", "+1", "2", "002"],
    "int": ["1", "7"],
    "decimal": ["1", "1.0", "1.50", "1.5"],
    "double": ["1", "1e0", "1.0E0"],
    "boolean": ["true", "1", "false"],
    "dateTime": ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00.0Z"],
    "duration": ["P1Y", "P12M"],
    "string": ["1", "a"],
    "byte": ["x", "300"],
}


def variant_terms() -> list:
    terms = [typed(text, name) for name, texts in VARIANTS.items() for text in texts]
    terms += [Literal("a", language=tag) for tag in ("en", "EN", "en-GB")]
    return [*terms, Triple(ex("s"), ex("p"), typed("01", "integer"))]


def test_a_value_written_in_two_ways_leaves_with_the_second_fact():
    one, padded = (Triple(ex("s"), ex("p"), typed(text, "integer")) for text in ("1", "01"))
    for first, second in ((one, padded), (padded, one)):
        store = Asked()
        store.apply([one, padded], [])
        store.apply([], [first])
        assert list(store.query("CONSTRUCT WHERE { ?s ?p ?o }")) == [second]
        store.apply([], [second])
        assert not store.query("ASK { ?s ?p ?o }")


def test_answers_are_written_as_the_facts_are():
    store = Asked()
    store.apply([Triple(ex("s"), ex("p"), typed("007", "int"))], [])
    assert store.query("SELECT ?o { ?s ?p ?o }")[0]["o"] == typed("007", "int")


def test_values_that_facts_write_in_several_ways_are_several_terms():
    store = Asked()
    written = [typed(text, "integer") for text in ("7", "007")]
    store.apply([Triple(ex("s"), ex("p"), each) for each in written], [])
    assert {row["o"] for row in store.query("SELECT ?o { ?s ?p ?o }")} == set(written)
    assert [row["o"] for row in store.query("SELECT DISTINCT ?o { ?s ?p ?o FILTER(?o = 7) }")] != []
    assert len(store.query("SELECT ?o { ?s ?p ?o FILTER(?o = 7) }")) == 2
    assert len(store.query("SELECT ?s { ?s ?p 7 }")) == 1


def test_a_computed_value_is_not_rewritten():
    store = Asked()
    store.apply([Triple(ex("s"), ex("p"), typed("01", "integer"))], [])
    assert store.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")[0]["n"] == typed("1", "integer")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT (UUID() AS ?u) { ?s ?p ?o }",
        "SELECT ?u { ?s ?p ?o BIND(BNODE() AS ?u) }",
        "SELECT (GROUP_CONCAT(STRUUID()) AS ?us) { ?s ?p ?o }",
        "SELECT ?u { ?s ?p ?o BIND(RAND() AS ?u) } ORDER BY RAND()",
    ],
)
def test_rows_that_are_equal_otherwise_have_fresh_values_of_their_own(store, text):
    values = [value.value for row in store.query(text) for value in row]
    assert len({part for value in values for part in value.split()}) == 3


def test_computed_text_counts_against_the_memory_of_a_query(store):
    text = "SELECT (CONCAT(STR(?s), STR(?o), 'a rather long text') AS ?t) { ?s ?p ?o }"
    assert len(store.reasoner.query(text, memory=1000)) == 3
    with pytest.raises(LimitError, match="more than 100 bytes: it has computed"):
        store.reasoner.query(text, memory=100)


def test_the_first_rows_of_an_order_are_those_that_all_of_them_begin_with(store):
    values = [Triple(ex(f"s{n}"), ex("n"), typed(str(n % 3), "integer")) for n in range(9)]
    store.apply(values, [])
    text = "SELECT ?n { ?s ex:n ?n } ORDER BY DESC(?n)"
    every = [row[0].value for row in store.query(text, PREFIXES)]
    assert every == list("222111000")
    for start, length in [(0, 2), (2, 5), (0, 0), (7, 5), (20, 1)]:
        found = store.query(f"{text} LIMIT {length} OFFSET {start}", PREFIXES)
        assert [row[0].value for row in found] == every[start : start + length]


@pytest.mark.parametrize("seed", range(6))
def test_after_any_changes_the_store_holds_exactly_the_facts(seed):
    random.seed(seed)
    graphs = [None, None, ex("g")]
    world = [
        Triple(ex(s), ex("p"), o) if g is None else Quad(ex(s), ex("p"), o, g)
        for s in "st"
        for o in [*variant_terms(), BlankNode("b"), ex("o")]
        for g in dict.fromkeys(graphs)
    ]
    store, true = Asked(), set(random.sample(world, 40))
    store.apply(true, [])
    for _ in range(30):
        removed = set(random.sample(sorted(true, key=str), min(len(true), random.randint(0, 12))))
        added = set(random.sample(world, random.randint(0, 12))) - true
        store.apply(added, removed)
        true = (true - removed) | added
        triples = {fact if isinstance(fact, Triple) else fact.triple for fact in true}
        assert set(store.query("CONSTRUCT WHERE { ?s ?p ?o }")) == triples
        named = {(f.subject, f.object) for f in true if isinstance(f, Quad)}
        rows = store.query("SELECT ?s ?o { GRAPH ?g { ?s ?p ?o } }")
        assert {(row["s"], row["o"]) for row in rows} == named


ODD_TERMS = [
    ex("a"),
    BlankNode("b"),
    Literal('tab\tline\nquote " comma, \\ back'),
    Literal("é", language="fr-be"),
    typed("7", "integer"),
    typed("x", "byte"),
    Literal("x", datatype=ex("type")),
    Triple(ex("s"), ex("p"), typed("1", "integer")),
    None,
]


def odd_rows() -> Rows:
    rows = [Row.of(("x", "y"), (ex("row"), term)) for term in ODD_TERMS]
    return Rows(("x", "y"), tuple(rows), {"ex": EX, "xsd": XSD})


@pytest.mark.parametrize("name", ["json", "tsv", "xml"])
def test_json_tsv_and_xml_can_be_read_back(name):
    text = getattr(odd_rows(), f"to_{name}")()
    read = parse_query_results(text, QueryResultsFormat.from_extension(name))
    assert [tuple(solution) for solution in read] == [tuple(row) for row in odd_rows()]


def test_csv_holds_bare_values():
    lines = odd_rows().to_csv().split("\r\n")
    assert lines[0] == "x,y"
    assert lines[1] == "http://example.org/row,http://example.org/a"
    assert lines[3] == 'http://example.org/row,"tab\tline\nquote "" comma, \\ back"'
    assert lines[5] == "http://example.org/row,7"
    assert lines[9] == "http://example.org/row,"


def test_a_table_shortens_iris_and_says_how_many_rows():
    assert odd_rows().to_table(width=48).splitlines() == [
        "?x      ?y",
        "──────  ────────────────────────────────────",
        "ex:row  ex:a",
        "ex:row  _:b",
        'ex:row  "tab\\tline\\nquote \\" comma, \\\\ back"',
        'ex:row  "é"@fr-be',
        "ex:row  7",
        'ex:row  "x"^^xsd:byte',
        'ex:row  "x"^^ex:type',
        "ex:row  <<( ex:s ex:p 1 )>>",
        "ex:row",
        "(9 rows)",
    ]


def test_a_table_is_cut_to_its_width():
    lines = odd_rows().to_table(width=30).splitlines()
    assert max(map(len, lines)) <= 30
    assert lines[4].endswith("…")


def test_a_query_without_variables_still_has_rows(store):
    assert store.query("SELECT * { ex:anna ex:reads ex:emma }", PREFIXES).to_table() == "(1 row)\n"


def test_yes_and_no_can_be_written_too():
    assert Answer(True).to_table() == "yes\n"
    assert json.loads(Answer(False).to_json()) == {"head": {}, "boolean": False}
    assert (Answer(True).to_csv(), Answer(False).to_tsv()) == ("true\r\n", "false\n")


def test_triples_are_written_as_ntriples_and_turtle():
    made = Triples((ANNA_READS, ANNA_IS), {**PREFIXES, "unused": "urn:u"})
    for text, form in (
        (made.to_ntriples(), RdfFormat.N_TRIPLES),
        (made.to_turtle(), RdfFormat.TURTLE),
    ):
        assert {quad.triple for quad in parse(text, form)} == {ANNA_READS, ANNA_IS}
    assert "@prefix ex:" in made.to_turtle()
    assert "@prefix unused:" not in made.to_turtle()
    assert made.to_csv().startswith("subject,predicate,object\r\n")


ZOO = """
@prefix ex: <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Cat rdfs:subClassOf ex:Animal .
ex:felix a ex:Cat ; ex:lives 09 .
"""


def test_a_reasoner_answers_from_what_was_told_and_what_follows():
    r = Reasoner(rules="rdfs")
    r.add(ZOO)
    animals = "SELECT ?x { ?x a ex:Animal }"
    assert [row["x"] for row in r.query(animals)] == [ex("felix")]
    r.add([Triple(ex("tom"), NamedNode(RDF_TYPE), ex("Cat"))])
    assert {row["x"] for row in r.query(animals)} == {ex("felix"), ex("tom")}
    assert r.query("SELECT ?n { ?x ex:lives ?n }")[0]["n"] == typed("09", "integer")


def test_a_reasoner_shows_conclusions_in_no_named_graph(tmp_path):
    (tmp_path / "zoo.ttl").write_text(ZOO)
    r = Reasoner(rules="rdfs")
    r.load(tmp_path / "zoo.ttl", graph=EX + "zoo")
    r.add([Triple(ex("tom"), NamedNode(RDF_TYPE), ex("Cat"))])
    assert r.query("ASK { ex:tom a ex:Animal . ex:felix a ex:Animal }")
    assert r.query("ASK FROM ex:zoo { ex:felix a ex:Cat }")
    assert not r.query("ASK FROM ex:zoo { ex:felix a ex:Animal }")
    assert not r.query("ASK { GRAPH ?g { ex:tom a ex:Cat } }")


@pytest.mark.parametrize("seed", range(3))
def test_queries_and_facts_of_a_reasoner_agree_after_every_change(seed):
    random.seed(seed)
    r = Reasoner(
        rules="""
        @prefix ex: <http://example.org/> .
        [?y, ex:p, ?o] :- [?x, ex:q, ?y], [?x, ex:p, ?o] .
        """
    )
    world = [Triple(ex(s), ex("p"), o) for s in "stu" for o in variant_terms()]
    world += [Triple(ex(s), ex("q"), ex(o)) for s in "stu" for o in "stu"]
    for _ in range(8):
        r.add(random.sample(world, 6))
        shown = {fact for fact in r.facts() if isinstance(fact, Triple)}
        assert set(r.query("CONSTRUCT WHERE { ?s ?p ?o }")) == shown


@pytest.mark.slow
def test_a_point_lookup_imports_neither_duckdb_nor_pyarrow():
    program = (
        "import sys, livefacts as lf; r = lf.Reasoner(); r.add('<x:a> <x:b> <x:c> .'); "
        "assert len(r.query('SELECT ?o { <x:a> <x:b> ?o }')) == 1; "
        "print([name for name in ('duckdb', 'pyarrow', 'rdflib') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_known_term_is_found_in_the_graphs_that_have_it():
    reasoner = Reasoner()
    quads = [Quad(ex(f"s{n % 7}"), ex("p"), ex(f"o{n % 5}"), ex(f"g{n}")) for n in range(60)]
    reasoner.add(quads)
    asked = f"SELECT ?g ?o {{ GRAPH ?g {{ <{EX}s3> <{EX}p> ?o OPTIONAL {{ <{EX}o9> ?q ?r }} }} }}"
    expected = {(quad.graph_name, quad.object) for quad in quads if quad.subject == ex("s3")}
    assert {tuple(row) for row in reasoner.query(asked)} == expected
    reasoner.remove(quads[3])
    reasoner.add(Quad(ex("s3"), ex("p"), ex("o9"), ex("g1")))
    expected = (expected - {(ex("g3"), ex("o3"))}) | {(ex("g1"), ex("o9"))}
    assert {tuple(row) for row in reasoner.query(asked)} == expected
    assert not reasoner.query(f"ASK {{ GRAPH ?g {{ <{EX}nobody> ?p ?o }} }}")
    assert reasoner.query(f"ASK {{ GRAPH ?g {{ <{EX}nobody> <{EX}p>* ?o }} }}")


# bindings


GIVEN = [
    "SELECT ?a { %s ?a <x:p> ?d FILTER(?d = ?v) }",
    "SELECT ?a ?d { %s ?a <x:p> ?d FILTER(?d > ?v) }",
    "SELECT ?d ?v { %s ?a <x:p> ?d FILTER(?d IN (?v)) }",
    "SELECT (COUNT(*) AS ?n) { %s ?a <x:p> ?d FILTER(?d < ?v) }",
    "SELECT ?d ?w { %s ?a <x:p> ?d BIND(?v + 1 AS ?w) }",
    "SELECT ?v (STR(?v) AS ?t) { %s }",
    "SELECT ?a { %s ?a <x:p> ?d FILTER(!BOUND(?v)) }",
    "SELECT ?a ?e { %s ?a <x:p> ?d OPTIONAL { ?a <x:p> ?e FILTER(?e > ?v) } FILTER(BOUND(?e)) }",
    "SELECT ?a { %s ?a <x:p> ?d FILTER EXISTS { ?a <x:p> ?e FILTER(?e > ?v) } }",
    "SELECT ?a { %s ?a <x:p> ?d MINUS { ?a <x:p> ?v } }",
    "SELECT * { %s { SELECT ?a { ?a <x:p> ?v } } }",
    "SELECT * { %s { SELECT DISTINCT ?a { ?a <x:p> ?v } ORDER BY ?a LIMIT 1 } FILTER(?v = 3) }",
    "SELECT ?n { %s ?a <x:p> ?v { SELECT (COUNT(*) AS ?n) { ?b <x:p> ?v } } }",
    "SELECT ?v (COUNT(*) AS ?n) { %s ?a <x:p> ?d FILTER(?d < ?v) } GROUP BY ?v HAVING(?v = 3)",
    "SELECT ?v (COUNT(?d) AS ?n) { %s { ?a <x:p> ?d } UNION { ?d <x:p> ?v } } GROUP BY ?v",
    "ASK { %s FILTER(?v = 3) }",
    "ASK { %s { SELECT ?a { ?a <x:p> ?v } LIMIT 1 } }",
    "CONSTRUCT { ?a <x:q> ?v } { %s ?a <x:p> ?d FILTER(?d = ?v) }",
    "DESCRIBE ?a { %s ?a <x:p> ?d FILTER(?d = ?v) }",
]


@pytest.mark.parametrize("text", GIVEN)
def test_given_values_are_values_at_the_beginning_of_where(text: str) -> None:
    r = Reasoner()
    r.add("<x:a> <x:p> 1, 2, 3, 4 . <x:b> <x:p> 3 .")
    given = r.query(text % "", bindings={"v": 3})
    written = r.query(text % "VALUES ?v {3}")
    if isinstance(given, Answer):
        assert bool(given) == bool(written)
        return
    names = [name for name in getattr(written, "variables", ()) if name in given.variables]
    assert not isinstance(given, Rows) or set(names) == set(given.variables)
    as_bag = [
        sorted(
            str([row[name] for name in names]) if isinstance(found, Rows) else str(row)
            for row in found
        )
        for found in (given, written)
    ]
    assert as_bag[0] == as_bag[1]


def test_what_is_described_or_made_may_be_given() -> None:
    r = Reasoner()
    r.add("<x:a> <x:p> 1 .")
    assert len(r.query("DESCRIBE ?x", bindings={"x": NamedNode("x:a")})) == 1
    made = r.query("CONSTRUCT { ?a <x:q> ?v } { ?a <x:p> ?d }", bindings={"v": 3})
    assert [str(triple.object.value) for triple in made] == ["3"]


def test_a_computed_variable_cannot_be_given() -> None:
    with pytest.raises(QueryError, match=r"\?n is computed"):
        Reasoner().query("SELECT (COUNT(*) AS ?n) { ?a ?b ?c }", bindings={"n": 3})


@pytest.mark.parametrize("text", ["CONSTRUCT WHERE { ?a ?b ?c }", "DESCRIBE <x:a>"])
def test_of_triples_the_first_are_given(text: str) -> None:
    r = Reasoner()
    r.add("<x:a> <x:p> 1, 2, 3 .")
    few, all_of_them = r.query(text, limit_rows=2), r.query(text, limit_rows=3)
    assert (len(few), few.complete, len(all_of_them), all_of_them.complete) == (2, False, 3, True)


@pytest.mark.parametrize("options", [{"limit_rows": 1.5}, {"limit_rows": True}, {"memory": 0.5}])
def test_limits_are_whole_numbers(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="whole number"):
        Reasoner().query("ASK {}", **options)


@pytest.mark.parametrize("text", [b"ASK {}", None, 5])
def test_a_query_is_a_text(text: Any) -> None:
    with pytest.raises(InputError, match="is no text"):
        Reasoner().query(text)


def test_now_is_written_canonically():
    ((now,),) = Reasoner().query("SELECT (NOW() AS ?now) {}")
    assert now.value.endswith("Z")


@pytest.mark.parametrize(
    ("pattern", "rows"),
    [
        ("?i <x:tag> ?t . { ?o <x:qty> ?n FILTER(CONTAINS(STR(?t), '')) }", 0),
        ("?i <x:tag> ?t . GRAPH ?g { ?o <x:qty> ?n FILTER(CONTAINS(STR(?t), '')) }", 0),
        ("?i <x:tag> ?t . OPTIONAL { ?o <x:qty> ?n { FILTER(BOUND(?t)) } } FILTER(BOUND(?o))", 0),
        ("?i <x:tag> ?t . { ?o <x:qty> ?n BIND(STR(?t) AS ?s) } FILTER(BOUND(?s))", 0),
        ("?i <x:tag> ?t . { ?o <x:qty> ?m FILTER(?m = ?n) }", 1),
        ("?i <x:tag> ?t . { ?o <x:qty> ?m BIND(?n AS ?k) } FILTER(?k = 3)", 1),
    ],
)
def test_a_group_inside_exists_knows_the_row_and_not_its_neighbours(pattern, rows):
    r = Reasoner()
    r.add("<x:i> <x:tag> 'red' . <x:a> <x:age> 3 . <x:b> <x:age> 4 .")
    r.update("INSERT DATA { GRAPH <x:g> { <x:o> <x:qty> 3 } }")
    assert len(list(r.query(f"SELECT * {{ ?p <x:age> ?n FILTER EXISTS {{ {pattern} }} }}"))) == rows


TAKEN_INSIDE = {
    "a value is not shared": ("?y <x:p> ?z MINUS { ?y <x:q> ?w }", 4),
    "other variables are": ("?y <x:p> ?z MINUS { ?y <x:q> ?z }", 2),
    "what the row leaves unbound is": ("?n <x:p> ?z MINUS { ?n <x:q> ?w }", 0),
    "some rows bind it": (
        "?y <x:p> ?z OPTIONAL { ?z <x:q> ?w } MINUS { ?y <x:q> ?v OPTIONAL { ?v <x:q> ?w } }",
        2,
    ),
    "MINUS in MINUS": ("?y <x:p> ?z MINUS { ?v <x:p> ?z MINUS { ?v <x:q> ?y } }", 0),
    "a key": ("?y <x:p> ?z MINUS { SELECT ?y { ?y <x:q> ?w } GROUP BY ?y }", 4),
}
"""What stands inside of EXISTS, and how many of four rows have it."""


@pytest.mark.parametrize("name", TAKEN_INSIDE)
def test_minus_inside_exists_shares_no_value_of_the_row(name: str) -> None:
    r = Reasoner()
    r.add("<x:a> <x:p> <x:b>, <x:c> . <x:b> <x:p> <x:c> . <x:c> <x:p> <x:b> .")
    r.add("<x:b> <x:q> <x:c> . <x:a> <x:q> <x:a> . <x:c> <x:q> <x:a> .")
    inside, rows = TAKEN_INSIDE[name]
    text = f"SELECT * {{ ?x <x:p> ?y OPTIONAL {{ ?x <x:r> ?n }} FILTER EXISTS {{ {inside} }} }}"
    answers = sorted(map(str, r.query(text)))
    assert len(answers) == rows
    assert sorted(map(str, r.watch(text).answers())) == answers
