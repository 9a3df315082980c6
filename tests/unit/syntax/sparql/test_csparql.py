"""C-SPARQL and RSP-QL: what is read, and what is refused where."""

from __future__ import annotations

import pytest

from livefacts.errors import QueryError
from livefacts.language.registration import StreamOperator, StreamWindow
from livefacts.language.windows import FactWindow, PastWindow, SessionWindow, SteppedWindow, Window
from livefacts.model.durations import Duration, read_duration
from livefacts.syntax.sparql.csparql import WINDOW_BASE, parse_registration
from livefacts.syntax.sparql.query_reader import parse_query

SELECT = "SELECT ?s WHERE { ?s ?p ?o }"


def with_window(extent: str) -> str:
    return f"REGISTER QUERY q AS SELECT ?s FROM STREAM <http://e/s> [{extent}] WHERE {{ ?s ?p ?o }}"


def test_a_stream_may_be_made_of_rows() -> None:
    text = with_window("RANGE 1").replace("QUERY q", "STREAM <http://e/q>")
    assert parse_registration(text).makes_stream
    assert not parse_registration(text.replace("STREAM <http://e/q>", "RSTREAM q")).makes_stream


SECONDS = read_duration("1 s")
TEN = read_duration("10 s")


@pytest.mark.parametrize(
    ("extent", "window"),
    [
        ("RANGE 10s STEP 1s", SteppedWindow(TEN, SECONDS)),
        ("range 10 sec step 1sec", SteppedWindow(TEN, SECONDS)),
        ("RANGE PT10S STEP PT1S", SteppedWindow(TEN, SECONDS)),
        ("RANGE 10s SLIDE 1 second", SteppedWindow(TEN, SECONDS)),
        ("RANGE 1 min TUMBLING", SteppedWindow(read_duration("60s"), read_duration("60s"))),
        ("RANGE 10s", SteppedWindow(TEN, Duration(1))),
        ("RANGE 5 STEP 2 BOUNDS CLOSED", SteppedWindow(Duration(5), Duration(2), closed=True)),
        ("SESSION 10s", SessionWindow(TEN)),
        ("FROM NOW-PT10S TO NOW-PT1S", PastWindow(TEN, SECONDS, closed=False)),
        (
            "from now-10 to now-1 step 5",
            PastWindow(Duration(10), Duration(1), step=Duration(5), closed=False),
        ),
        ("FROM NOW - 10s TO NOW", PastWindow(TEN, Duration(0, True), closed=False)),
        ("TRIPLES 10", FactWindow(10)),
        ("RANGE TRIPLES 10", FactWindow(10)),
        ("ELEMENTS 100 STEP 10", FactWindow(100, step=10)),
    ],
)
def test_windows_are_written_in_many_ways(extent: str, window: Window) -> None:
    query = parse_registration(with_window(extent))
    assert query.windows == (StreamWindow("http://e/s", window),)


@pytest.mark.parametrize(
    ("head", "relation", "every"),
    [
        ("REGISTER QUERY q AS", StreamOperator.ALL, None),
        ("REGISTER RSTREAM q AS", StreamOperator.ALL, None),
        ("register istream q compute every 1m as", StreamOperator.NEW, "60 s"),
        ("REGISTER DSTREAM q COMPUTED EVERY PT2S AS", StreamOperator.GONE, "2 s"),
        ("", StreamOperator.ALL, None),
    ],
)
def test_the_header_says_what_is_reported_and_how_often(
    head: str, relation: StreamOperator, every: str | None
) -> None:
    query = parse_registration(with_window("RANGE 10s").replace("REGISTER QUERY q AS", head))
    assert query.relation is relation
    assert query.every == (None if every is None else read_duration(every))


def test_a_text_without_a_name_gets_the_given_one() -> None:
    text = with_window("RANGE 1").replace("REGISTER QUERY q AS", "")
    assert parse_registration(text, name="query7").name == "query7"


def test_several_streams_and_graphs_stand_side_by_side() -> None:
    query = parse_registration(
        "PREFIX e: <http://e/> REGISTER QUERY e:q COMPUTE EVERY 5 AS PREFIX f: <http://f/> "
        "SELECT * FROM <http://g> FROM NAMED f:h FROM STREAM e:a [RANGE 3] "
        "FROM NAMED STREAM f:b [TRIPLES 2] FROM NAMED WINDOW e:w ON STREAM f:c [RANGE 4 STEP 2] "
        "WHERE { ?s ?p ?o WINDOW e:w { ?s ?q ?o } }"
    )
    assert query.name == "http://e/q"
    assert (query.graphs, query.named_graphs) == (("http://g",), ("http://f/h",))
    streams = [(window.stream, window.name) for window in query.windows]
    assert streams == [
        ("http://e/a", None),
        ("http://f/b", "http://f/b"),
        ("http://f/c", "http://e/w"),
    ]


def test_the_body_keeps_every_line_and_column() -> None:
    text = with_window("RANGE 10s\n STEP 1s").replace("?s ?p", "?s\n?p")
    body = parse_registration(text).body
    assert len(body) == len(text)
    assert body.split() == SELECT.split()
    assert [len(line) for line in body.split("\n")] == [len(line) for line in text.split("\n")]


BODIES = (
    "PREFIX e: <http://e/> SELECT DISTINCT ?s (COUNT(?o) AS ?n) {0} "
    "WHERE {{ ?s e:p ?o, [ e:q 3 ] FILTER(?o > 2) }} GROUP BY ?s HAVING(COUNT(?o) > 1) LIMIT 5",
    "BASE <http://b/> CONSTRUCT {{ ?s <p> _:b }} {0} FROM <http://e/g> FROM NAMED <http://e/h> "
    "WHERE {{ ?s <q>/<r>* ?o OPTIONAL {{ ?o ?p 'a'@en }} GRAPH <http://e/h> {{ ?s ?p ?o }} }}",
    "SELECT ?s {0} WHERE {{ ?s ?p ?o }} AGGREGATE {{ (?n, COUNT, {{?s}}) FILTER(?n > 1) }}",
    "ASK FROM NAMED WINDOW <w> ON <http://e/s> [RANGE 9] {{ WINDOW <w> {{ ?s ?p ?o }} }}",
)


@pytest.mark.parametrize("text", BODIES)
def test_what_is_asked_is_what_the_body_says(text: str) -> None:
    query = parse_registration(text.format("FROM STREAM <http://e/s> [RANGE 9]"))
    assert query.asked == parse_query(query.body, {}, WINDOW_BASE)


def test_window_becomes_graph_and_relative_names_of_windows_are_known() -> None:
    query = parse_registration(
        "REGISTER RSTREAM <out> AS SELECT ?s FROM NAMED WINDOW <w> ON <http://e/s> [RANGE 1] "
        "WHERE { WINDOW <w> { ?s ?p ?o } }"
    )
    assert "GRAPH  <w> {" in query.body
    assert query.windows[0].name is not None
    assert query.windows[0].name.endswith("/w")


def test_what_stands_in_strings_comments_and_iris_is_no_part_of_the_envelope() -> None:
    text = with_window("RANGE 1").replace(
        "?s ?p ?o",
        """?s <http://e/FROM#RANGE> "} FROM STREAM <x> [RANGE" ; # FROM STREAM { [
        ?p '''it's [RANGE 3]''' . FILTER(?s <?p && ?p> 3)""",
    )
    query = parse_registration(text)
    assert len(query.windows) == 1
    assert "FROM STREAM <x> [RANGE" in query.body


def test_construct_makes_a_stream() -> None:
    text = "REGISTER STREAM <http://e/o> AS CONSTRUCT { ?s ?p ?o } FROM STREAM <http://e/s> "
    query = parse_registration(text + "[RANGE 1] WHERE { ?s ?p ?o }")
    assert query.makes_stream
    assert query.form == "CONSTRUCT"


@pytest.mark.parametrize(
    ("text", "message", "shown"),
    [
        (with_window("RANGE 10q"), "q is not a unit of time", "10q"),
        (with_window("RANGE P1M"), "no fixed length", "P1M"),
        (with_window("RANGE 0s"), "RANGE needs a length", "0s"),
        (with_window("FROM 1s TO 2s"), "1 is not expected", "1s TO"),
        (with_window("FROM NOW-1s TO NOW-2s"), "has passed", "-1s TO"),
        (with_window("FROM RAND-2s TO NOW-1s"), "RAND is not expected", "RAND"),
        (with_window("SESSION 0s"), "SESSION needs a length", "0s"),
        (with_window("SESSION 1s BOUNDS CLOSED"), "has no bounds", "SESSION 1s"),
        (with_window("TRIPLES 0"), "no number of triples", "0]"),
        (with_window("TRIPLES 1 BOUNDS CLOSED"), "has no bounds", "TRIPLES 1"),
        (with_window("RANGE 1").replace("[RANGE 1]", ""), "WHERE is not expected", "WHERE"),
        (with_window("RANGE 1").replace("<http://e/s>", "e:s"), "prefix e: is not", "e:s"),
        (f"REGISTER QUERY q AS {SELECT}", "reads no stream", "REGISTER"),
        (
            with_window("RANGE 1").replace("QUERY", "STREAM").replace("SELECT ?s", "ASK"),
            "a stream is made of triples",
            "REGISTER",
        ),
        (
            with_window("RANGE 1").replace("QUERY", "STREAM"),
            "q is no IRI, and the properties of rows are named after one",
            "REGISTER",
        ),
        (
            with_window("RANGE 1").replace("SELECT ?s", "DESCRIBE ?s"),
            "DESCRIBE does not",
            "DESCRIBE",
        ),
        ("REGISTER q AS", "q is not expected", "q AS"),
        ("REGISTER QUERY q AS", "ends where it should begin", ""),
        ("REGISTER QUERY q COMPUTE EVERY AS " + SELECT, "AS is not expected", "AS SELECT"),
        (with_window("RANGE 1").replace("?o }", "'a }"), "a string that does not end", "'a"),
        (
            with_window("RANGE 1").replace("{ ?s ?p ?o }", "{ WINDOW <w> { ?s ?p ?o } }"),
            "there is no window <w>",
            "<w> {",
        ),
        (
            with_window("RANGE 1").replace("{ ?s", "{ FROM <http://g> ?s"),
            "FROM inside of braces",
            "FROM <http://g>",
        ),
    ],
)
def test_a_mistake_is_shown_where_it_stands(text: str, message: str, shown: str) -> None:
    with pytest.raises(QueryError, match=message) as caught:
        parse_registration(text)
    found = caught.value.place
    assert found is not None
    assert found.line == 1
    assert text[found.column - 1 :].startswith(shown)
    assert shown or found.column == len(text) + 1
    assert caught.value.hint or "string" in message


def test_ask_has_nothing_new_or_gone() -> None:
    text = with_window("RANGE 1").replace("SELECT ?s", "ASK").replace("QUERY", "ISTREAM")
    with pytest.raises(QueryError, match="ASK has one answer"):
        parse_registration(text)


def test_two_windows_of_one_name_are_refused() -> None:
    declared = "FROM NAMED WINDOW <w> ON <http://e/s> [RANGE 1] "
    with pytest.raises(QueryError, match="two windows are called"):
        parse_registration(f"REGISTER QUERY q AS SELECT * {declared}{declared}WHERE {{ }}")
