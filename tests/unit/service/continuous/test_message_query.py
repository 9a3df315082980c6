"""Continuous queries over update messages."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple
from tests.properties.generate.graph_patterns import random_case

import livefacts as lf
from livefacts.engine.messages.standing_query import StandingPattern
from livefacts.service.continuous.answers import Answers

EX = "http://example.org/"
STAR = f"SELECT ?x {{ ?x <{EX}in> <{EX}Rome> . ?x <{EX}likes> <{EX}cats> }}"
PATH = f"SELECT ?x ?z {{ ?x <{EX}knows> ?y . ?y <{EX}knows> ?z }}"
LIKES = f"<{EX}likes> <{EX}cats> ."

ANN_IN_ROME = (NamedNode("x:ann"), NamedNode("x:in"), NamedNode("x:Rome"))


def node(name: str) -> NamedNode:
    return NamedNode(EX + name)


def triple(s: str, p: str, o: str) -> Triple:
    return Triple(node(s), node(p), node(o))


def standing_of(query: lf.ContinuousQuery) -> StandingPattern:
    (standing,) = query._group.queries
    assert isinstance(standing, StandingPattern)
    return standing


def shown(changes: list[lf.Change]) -> list[str]:
    return [f"{change.op}{change.row[0].value[len(EX) :]}" for change in changes]  # type: ignore[union-attr]


def test_changes_carry_operation_row_count_and_the_number_of_the_batch() -> None:
    query = lf.ContinuousQuery(STAR)
    assert query.feed(add=[triple("ann", "in", "Rome")]) == []
    (change,) = query.feed(add=(node("ann"), node("likes"), node("cats")))
    assert (change.op, change.row["x"], change.count, change.seq) == ("+", node("ann"), 1, 2)
    assert query.seq == 2
    assert str(change) == f"+ ?x=<{EX}ann>"


def test_a_bag_counts_and_distinct_does_not() -> None:
    bag = lf.ContinuousQuery(f"SELECT ?x {{ ?x <{EX}knows> ?y }}")
    once = lf.ContinuousQuery(f"SELECT DISTINCT ?x {{ ?x <{EX}knows> ?y }}")
    both = [triple("ann", "knows", "bob"), triple("ann", "knows", "cal")]
    assert [change.count for change in bag.feed(add=both)] == [2]
    assert [change.count for change in once.feed(add=both)] == [1]
    assert [change.count for change in bag.feed(remove=both[:1])] == [1]
    assert once.feed(remove=both[:1]) == []
    assert shown(once.feed(remove=both[1:])) == ["-ann"]


def test_ask_answers_yes_while_there_is_an_answer() -> None:
    query = lf.ContinuousQuery(f"ASK {{ ?x <{EX}knows> ?y }}")
    assert not query.answers()
    assert [c.op for c in query.feed(add=[triple("a", "knows", "b")])] == ["+"]
    assert query.feed(add=[triple("a", "knows", "c")]) == []
    assert query.answers()
    assert [c.op for c in query.feed(remove=f"<{EX}a> <{EX}knows> <{EX}b>, <{EX}c> .")] == ["-"]


@pytest.mark.parametrize(
    "messages",
    [
        [(1, "ins", triple("ann", "in", "Rome")), (2, "ins", triple("ann", "likes", "cats"))],
        [("+", triple("ann", "in", "Rome")), ("A", triple("ann", "likes", "cats"))],
        f"A <{EX}ann> <{EX}in> <{EX}Rome> .\nA <{EX}ann> {LIKES}\n",
        f"PA e: <{EX}> .\nTX .\nA e:ann e:in e:Rome .\nA e:ann e:likes e:cats .\nTC .\n",
        f'{{"at": 1, "facts": "<{EX}ann> <{EX}in> <{EX}Rome> ."}}\n{{"facts": ["<{EX}ann> {LIKES}"]}}',
        f"A <{EX}ann> <{EX}in> <{EX}Rome> .\r\nA <{EX}ann> {LIKES}\r\n".encode(),
    ],
    ids=["tuples", "signs", "plain patch", "patch", "json lines", "bytes"],
)
def test_messages_are_tuples_rdf_patch_or_json_lines(messages: object) -> None:
    assert shown(lf.ContinuousQuery(STAR).feed(messages=messages)) == ["+ann"]


def test_messages_may_come_from_files(tmp_path: Path) -> None:
    patch, lines, facts = (tmp_path / name for name in ("a.rdfp", "b.jsonl", "c.nt"))
    patch.write_text(f"A <{EX}ann> <{EX}in> <{EX}Rome> .\nD <{EX}ann> {LIKES}\n")
    lines.write_text(f'{{"retract": "<{EX}ann> <{EX}in> <{EX}Rome> ."}}\n')
    facts.write_text(f"<{EX}ann> {LIKES}\n")
    query = lf.ContinuousQuery(STAR)
    assert query.feed(messages=patch) == []
    assert shown(query.feed(add=facts)) == ["+ann"]
    assert shown(query.feed(messages=lines)) == ["-ann"]


def test_follow_tells_after_each_message_and_reads_no_further() -> None:
    read = []

    def stream() -> object:
        for name in ("likes cats", "in Rome", "in Oslo"):
            read.append(name)
            yield "ins", triple("ann", *name.split())

    changes = lf.ContinuousQuery(STAR).follow(stream())
    assert shown(next(changes)) == []
    assert shown(next(changes)) == ["+ann"]
    assert read == ["likes cats", "in Rome"]


def test_follow_takes_a_batch_at_a_time() -> None:
    text = f"A <{EX}ann> <{EX}in> <{EX}Rome> .\nA <{EX}ann> {LIKES}\nD <{EX}ann> {LIKES}\n"
    assert [shown(c) for c in lf.ContinuousQuery(STAR).follow(text, batch=2)] == [
        ["+ann"],
        ["-ann"],
    ]
    assert [shown(c) for c in lf.ContinuousQuery(STAR).follow(text, batch=3)] == [[]]


def test_terms_of_every_kind_pass_through_unchanged() -> None:
    values = [
        Literal('say "hi"\n\ttwice \\ é \u2028'),
        Literal("hej", language="sv"),
        Literal("01", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#integer")),
        Literal(-5),
        BlankNode("b7"),
        Triple(node("a"), node("b"), Literal("c d")),
    ]
    query = lf.ContinuousQuery(f"SELECT ?v {{ <{EX}a> <{EX}has> ?v }}")
    changes = query.feed(add=[Triple(node("a"), node("has"), value) for value in values])
    assert {change.row["v"] for change in changes} == set(values)
    text = "".join(f"D {Triple(node('a'), node('has'), value)} .\n" for value in values)
    assert {change.row["v"] for change in query.feed(messages=text)} == set(values)


def test_what_fits_nothing_leaves_no_trace() -> None:
    query = lf.ContinuousQuery(STAR)
    before = query.cached
    query.feed(add=[triple(f"n{i}", "eats", f"m{i}") for i in range(500)])
    query.feed(add=[triple(f"n{i}", "in", "Oslo") for i in range(500)])
    query.feed(remove=[triple(f"n{i}", "in", "Rome") for i in range(500)])
    assert query.cached == before


def test_what_has_gone_is_forgotten_with_its_terms() -> None:
    query = lf.ContinuousQuery(PATH)
    query.feed(add=[triple("ann", "knows", "bob"), triple("bob", "knows", "cal")])
    for first in range(0, 20_000, 1000):
        asserted = [triple(f"n{i}", "knows", f"m{i}") for i in range(first, first + 1000)]
        query.feed(add=asserted)
        query.feed(remove=asserted)
    assert query.cached.entries == 2
    assert query.cached.terms < 5000
    assert shown(query.feed(add=[triple("cal", "knows", "ann")])) == ["+bob", "+cal"]


def test_changes_are_readable_after_terms_were_forgotten() -> None:
    query = lf.ContinuousQuery(f"SELECT ?x {{ ?x <{EX}in> <{EX}Rome> }}")
    kept = query.feed(add=[triple("ann", "in", "Rome")])
    for first in range(0, 10_000, 1000):
        asserted = [triple(f"n{i}", "in", "Rome") for i in range(first, first + 1000)]
        query.feed(add=asserted)
        query.feed(remove=asserted)
    assert shown(kept) == ["+ann"]
    answers = query.answers()
    assert isinstance(answers, Answers)
    assert [row["x"] for row in answers] == [node("ann")]


def test_answers_are_counted_without_being_multiplied_out() -> None:
    query = lf.ContinuousQuery(f"SELECT * {{ ?x <{EX}in> <{EX}Rome> . ?y <{EX}in> <{EX}Oslo> }}")
    query.feed(add=[triple(f"n{i}", "in", city) for i in range(3000) for city in ("Rome", "Oslo")])
    answers = query.answers()
    assert isinstance(answers, Answers)
    assert len(answers) == 9_000_000
    assert repr(answers) == "<9,000,000 answers of ?x ?y>"


def test_answers_write_tables() -> None:
    query = lf.ContinuousQuery(f"SELECT ?x {{ ?x <{EX}in> <{EX}Rome> }}")
    query.feed(add=[triple("ann", "in", "Rome")])
    answers = query.answers()
    assert isinstance(answers, Answers)
    assert answers.as_rows().to_csv() == f"x\r\n{EX}ann\r\n"


def test_one_message_looks_at_as_many_triples_in_a_large_graph_as_in_a_small_one() -> None:
    from livefacts.engine.patterns.connected_parts import JoinMatcher

    def looked(size: int) -> int:
        query = lf.ContinuousQuery(f"SELECT ?x ?y ?z {{ ?x <{EX}knows> ?y . ?y <{EX}knows> ?z }}")
        rng = random.Random(1)
        pairs = [(f"n{rng.randrange(size)}", f"n{rng.randrange(size)}") for _ in range(size)]
        query.feed(add=[triple(a, "knows", b) for a, b in pairs])
        query.feed(add=[triple("ann", "knows", "bob"), triple("bob", "knows", "cal")])
        (matcher,) = standing_of(query)._matcher.matchers
        assert isinstance(matcher, JoinMatcher)
        before = matcher.looked
        query.feed(remove=[triple("ann", "knows", "bob")])
        return matcher.looked - before

    assert looked(100) == looked(20_000) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT ?x { ?x <e:p> }", "the query cannot be read"),
        ("SELECT ?x { ?x foaf:name ?n }", "the prefix foaf: is not declared"),
    ],
)
def test_a_query_that_cannot_be_followed_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(lf.QueryError, match=reason):
        lf.ContinuousQuery(text)


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([("put", triple("a", "b", "c"))], "is not a message"),
        ([5], "is not a message"),
        ("A <e:a> <e:b> .", "a row has three terms"),
        ("A <e:a> <e:b> <e:c>", "the dot at the end is missing"),
        ('{"at": 3}', "a line is an object"),
        ('{"facts": 3}', "facts are text"),
        ("{nonsense", "this is no JSON"),
        (
            [("ins", Quad(node("a"), node("b"), node("c"), node("g")))],
            "of which the query does not speak",
        ),
        ("A <e:a> <e:b> <e:c> <e:g> .", "of which the query does not speak"),
        ([("ins", ("isIn", "a", "b"))], "is not a triple"),
    ],
)
def test_messages_that_cannot_be_read_are_refused_and_nothing_is_taken(
    messages: object, reason: str
) -> None:
    query = lf.ContinuousQuery(f"SELECT ?x {{ ?x <{EX}in> <{EX}Rome> }}")
    with pytest.raises(lf.InputError, match=reason):
        query.feed(messages=messages)
    with pytest.raises(lf.InputError, match="messages beside add"):
        query.feed(add=[], messages=[])
    assert query.cached.entries == 0


IN_GRAPHS = "SELECT ?x ?g { GRAPH ?g { ?x <x:in> <x:Rome> } }"
ANN_IN_GRAPH = (*ANN_IN_ROME, NamedNode("x:g"))


@pytest.mark.parametrize(
    "asserted",
    [
        {"add": ANN_IN_GRAPH},
        {"add": [Quad(*ANN_IN_GRAPH)]},
        {"add": "<x:ann> <x:in> <x:Rome> <x:g> ."},
        {"add": "GRAPH <x:g> { <x:ann> <x:in> <x:Rome> }"},
        {"messages": [(17, "ins", ANN_IN_GRAPH)]},
        {"messages": "A <x:ann> <x:in> <x:Rome> <x:g> .\nA <x:ann> <x:in> <x:Rome> ."},
        {"messages": '{"at": 17, "facts": "<x:ann> <x:in> <x:Rome> <x:g> ."}'},
    ],
    ids=["tuple", "quads", "N-Quads", "TriG", "messages", "patch", "json lines"],
)
def test_a_query_that_speaks_of_graphs_takes_quads(asserted: dict[str, object]) -> None:
    query = lf.ContinuousQuery(IN_GRAPHS)
    (change,) = query.feed(**asserted)
    assert (change.op, list(change.row)) == ("+", [ANN_IN_ROME[0], ANN_IN_GRAPH[3]])
    assert query.feed(remove=[ANN_IN_ROME]) == []
    assert [change.op for change in query.feed(remove=ANN_IN_GRAPH)] == ["-"]
    assert query.cached.entries == 0


def test_quads_may_come_from_files_and_batches_of_messages(tmp_path: Path) -> None:
    path = tmp_path / "facts.nq"
    path.write_text("<x:ann> <x:in> <x:Rome> <x:g> .\n<x:ben> <x:in> <x:Rome> .\n")
    query = lf.ContinuousQuery(IN_GRAPHS)
    assert len(query.feed(add=path, remove="<x:cleo> <x:in> <x:Rome> <x:g> .")) == 1
    patch = "D <x:ann> <x:in> <x:Rome> <x:g> .\nA <x:ann> <x:in> <x:Rome> <x:h> .\n"
    assert [len(changes) for changes in query.follow(patch)] == [1, 1]


def test_a_triple_goes_with_the_last_graph_that_tells_it() -> None:
    many = lf.ContinuousQueries(
        {
            "any": "SELECT ?x { ?x <x:in> <x:Rome> }",
            "from": "SELECT ?x FROM <x:g> FROM <x:h> { ?x <x:in> <x:Rome> }",
            "named": "SELECT ?g FROM NAMED <x:h> { GRAPH ?g { ?x <x:in> <x:Rome> } }",
        }
    )
    in_h = (*ANN_IN_ROME, NamedNode("x:h"))
    assert set(many.feed(add=[ANN_IN_GRAPH, in_h])) == {"any", "from", "named"}
    assert many.feed(add=[ANN_IN_ROME]) == {}
    assert set(many.feed(remove=in_h)) == {"named"}
    assert set(many.feed(remove=ANN_IN_GRAPH)) == {"from"}
    assert set(many.feed(remove=ANN_IN_ROME)) == {"any"}


def test_quads_that_have_gone_are_forgotten_with_their_terms() -> None:
    query = lf.ContinuousQuery(IN_GRAPHS)
    query.feed(add=[ANN_IN_GRAPH, ANN_IN_ROME])
    for turn in range(6):
        asserted = "".join(f"<x:{turn}_{n}> <x:in> <x:Rome> <x:g{turn}> .\n" for n in range(1500))
        assert len(query.feed(add=asserted)) == len(query.feed(remove=asserted)) == 1500
    assert query.cached.terms < 5000
    assert query.feed(add=ANN_IN_GRAPH) == []
    assert [list(row) for row in query.answers()] == [[ANN_IN_ROME[0], ANN_IN_GRAPH[3]]]


def test_answers_come_in_the_order_of_the_query() -> None:
    query = lf.ContinuousQuery("SELECT ?x { ?x <x:age> ?n } ORDER BY DESC(?n)")
    query.feed(add="<x:ann> <x:age> 7 . <x:ben> <x:age> 31 . <x:cleo> <x:age> 11 .")
    assert [row["x"].value for row in query.answers()] == ["x:ben", "x:cleo", "x:ann"]


def test_several_queries_hear_of_what_concerns_them() -> None:
    many = lf.ContinuousQueries(
        {"star": STAR, "path": PATH, "any": f"SELECT ?p {{ <{EX}ann> ?p <{EX}Rome> }}"}
    )
    assert list(many.feed(add=[triple("ann", "in", "Rome")])) == ["any"]
    assert list(many.feed(add=[triple("ann", "likes", "cats")])) == ["star"]
    changes = many.feed(add=[triple("ann", "knows", "ann")])
    assert {name: shown(c) for name, c in changes.items()} == {"path": ["+ann"]}
    assert len(many.answers("star")) == 1  # type: ignore[arg-type]
    assert "tied together" in str(many.plan("path"))
    assert [part.entries for part in many.cached.parts] == [1, 1, 1]
    (last,) = many.follow([("del", triple("ann", "in", "Rome"))])
    assert list(last) == ["star", "any"]


def test_several_queries_answer_as_each_would_alone() -> None:
    cases = [random_case(seed) for seed in range(40)]
    many = lf.ContinuousQueries({str(i): case.text for i, case in enumerate(cases)})
    alone = {str(i): lf.ContinuousQuery(case.text) for i, case in enumerate(cases)}
    for message in (message for case in cases[:12] for message in case.messages):
        changes = many.feed(messages=[message])
        for name, query in alone.items():
            assert set(query.feed(messages=[message])) == set(changes.get(name, []))


def test_an_unknown_name_is_refused_with_those_that_are_known() -> None:
    many = lf.ContinuousQueries({"star": STAR})
    with pytest.raises(lf.QueryError, match="known are star"):
        many.answers("moon")
    with pytest.raises(lf.QueryError, match="no query"):
        lf.ContinuousQueries({})


@pytest.mark.slow
def test_the_blank_nodes_that_a_query_makes_outlive_the_reuse_of_terms() -> None:
    query = lf.ContinuousQuery("CONSTRUCT { ?x <x:n> [] } WHERE { ?x <x:p> ?y }")
    query.feed(add="<x:keep> <x:p> <x:h> .")
    before = list(map(str, query.answers()))
    for turn in range(4):
        passing = "".join(f"<x:c{turn}_{n}> <x:p> <x:d{turn}_{n}> ." for n in range(2000))
        came = {str(change.row) for change in query.feed(add=passing)}
        assert {str(change.row) for change in query.feed(remove=passing)} == came
    assert list(map(str, query.answers())) == before


@pytest.mark.parametrize(
    "messages",
    [
        [(17, "ins", ANN_IN_ROME), (18, "del", ANN_IN_ROME)],
        'H time 17 .\nA <x:ann> <x:in> <x:Rome> .\nH time "18"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
        "D <x:ann> <x:in> <x:Rome> .\n",
        '{"at": 17, "facts": "<x:ann> <x:in> <x:Rome> ."}\n'
        '{"at": 18, "retract": "<x:ann> <x:in> <x:Rome> ."}',
    ],
)
def test_changes_have_the_times_of_their_messages(messages: object) -> None:
    q = lf.ContinuousQuery("SELECT ?x { ?x <x:in> <x:Rome> }")
    changes = [change for each in q.follow(messages) for change in each]
    assert [(change.op, change.time) for change in changes] == [("+", 17), ("-", 18)]


def test_messages_that_repeat_what_is_known_change_nothing() -> None:
    for body in ("{ ?x <x:in> <x:Rome> }", "{ ?x <x:in> <x:Rome> OPTIONAL { ?x <x:in> ?y } }"):
        q = lf.ContinuousQuery(f"SELECT ?x {body}")
        asserted = [("del", ANN_IN_ROME), ("ins", ANN_IN_ROME), ("ins", ANN_IN_ROME)]
        asserted += [("del", ANN_IN_ROME), ("del", ANN_IN_ROME)]
        found = [[change.op for change in changes] for changes in q.follow(asserted)]
        assert found == [[], ["+"], [], ["-"], []]


def test_groups_may_be_told_apart_by_what_has_no_name() -> None:
    query = lf.ContinuousQuery("SELECT (COUNT(*) AS ?n) { ?x <x:r> ?v } GROUP BY (?v > 1) ?x")
    query.feed(add="<x:a> <x:r> 1, 2, 3 . <x:b> <x:r> 5 .")
    assert sorted(int(row["n"].value) for row in query.answers()) == [1, 1, 2]


def test_columns_of_select_everything_are_in_the_order_in_which_they_are_bound() -> None:
    for end in ("", "FILTER(?w != ?x)"):
        text = f"SELECT * {{ ?x <x:p> ?y . ?z <x:q> ?w {end} }}"
        assert lf.ContinuousQuery(text).variables == ("x", "y", "z", "w")
        assert tuple(lf.Reasoner().query(text).variables) == ("x", "y", "z", "w")


def test_what_is_no_message_or_function_is_refused_with_a_reason() -> None:
    with pytest.raises(lf.InputError, match="5 is no messages"):
        lf.ContinuousQuery("SELECT * { ?s ?p ?o }").feed(messages=5)
    with pytest.raises(lf.QueryError, match="function <http://f/unknown> is not supported"):
        lf.ContinuousQuery("SELECT * { ?x ?p ?y BIND(<http://f/unknown>(?y) AS ?n) }")
