"""Times of arrivals in queries: which triples count, and what is refused where it stands."""

from __future__ import annotations

import pytest
from tests.unit.service.registered.stage import EX, Stage, by_time

from livefacts.errors import QueryError
from livefacts.service.reasoner.facade import Reasoner

ENGINE = "<http://larkc.eu/csparql/sparql/jena/ext#timestamp>"


def times(select: str, where: str, tail: str = "", window: str = "[RANGE 3]") -> dict[int, str]:
    """What a query reports of a few arrivals, by time."""
    stage = Stage("[?x, :near, ?y] :- [?x, :in, ?z], [?y, :in, ?z] .")
    stage.add("in A H")
    text = (
        f"REGISTER QUERY q AS SELECT {select} FROM STREAM <s> {window} WHERE {{ {where} }} {tail}"
    )
    query = stage.register(text)
    stage.push("in A K, in B K", 1)
    stage.push("in A K", 2)
    stage.push("in C L", 3)
    stage.advance(4)
    return by_time(query)


def test_the_newest_of_several_arrivals_counts() -> None:
    assert times("?x (timestamp(?x) AS ?t)", "?x :in :K") == {
        1: "A1 B1",
        2: "A2 B1",
        3: "A2 B1",
        4: "A2",
    }


def test_a_window_by_count_has_times_as_well() -> None:
    found = times("?x (timestamp(?x) AS ?t)", "?x :in ?y . FILTER(?y != :H)", window="[TRIPLES 2]")
    assert found[3] == "A2 C3"


def test_background_and_conclusions_have_no_time() -> None:
    assert times("?x (timestamp(?x) AS ?t)", "?x :in :H")[3] == "A"
    assert times("?x (timestamp(?x) AS ?t)", ":C :near ?x")[3] == "C"
    assert times("?x", "?x :in ?y FILTER(timestamp(?x) > 0)")[4] == "A C"


def test_of_several_patterns_the_newest_counts() -> None:
    found = times("?x ?y (timestamp(?z) AS ?t)", "?x :in ?z . ?y :in ?z FILTER(?x != ?y)")
    assert found[2] == "AB2 BA2"


def test_what_is_optional_counts_where_it_has_matched() -> None:
    found = times("?y (timestamp(?y) AS ?t)", "?x :in ?y OPTIONAL { :B :in ?y }")
    assert found[2] == "H K1 K2"


def test_aggregates_and_orders_may_look_at_times() -> None:
    assert times("?y (MAX(timestamp(?x)) AS ?t)", "?x :in ?y", "GROUP BY ?y")[3] == "H K2 L3"
    stage = Stage()
    query = stage.register(
        "REGISTER QUERY q AS SELECT ?x FROM STREAM <s> [RANGE 9] WHERE { ?x :in ?y } "
        "ORDER BY DESC(timestamp(?x))"
    )
    for time, name in ((1, "B"), (2, "C"), (3, "A")):
        stage.push(f"in {name} K", time)
    stage.advance(3)
    last = list(query.results())[-1]
    assert [row["x"].value.removeprefix(EX) for row in last.rows] == ["A", "C", "B"]


def test_exists_and_inner_queries_have_times_of_their_own() -> None:
    newer = "EXISTS { ?x :in ?z FILTER(timestamp(?z) >= 2) }"
    assert times("?x", f"?x :in ?y FILTER {newer}")[3] == "A A C"
    assert times("?x", f"?x :in ?y FILTER NOT {newer}")[3] == "B"
    inner = "{ SELECT ?x (timestamp(?x) AS ?t) { ?x :in :K } }"
    assert times("?x ?t", f"{inner} ?x :in :K")[2] == "A2 B1"
    with_totals = "AGGREGATE { (?t, MAX(timestamp(?x)), {?y}) }"
    assert times("?x ?t", "?x :in ?y", with_totals)[2] == "A A2 B2"


@pytest.mark.parametrize("name", ["timestamp", ENGINE])
def test_a_triple_has_a_time(name: str) -> None:
    found = times("?x ?t", f"?x :in ?y BIND({name}(?x, :in, ?y) AS ?t) FILTER(?y != :H)")
    assert found[2] == "A2 B1"


@pytest.mark.parametrize(
    ("body", "message", "shown"),
    [
        ("?x :in ?y FILTER(timestamp(?z) > 1)", "timestamp(?z) where no", "timestamp(?z)"),
        ("?x :in ?y FILTER(timestamp(1) > 1)", "no variable", "timestamp(1)"),
        ("?x :in ?y FILTER(timestamp(?x, :in) > 1)", "no variable", "timestamp(?x"),
        ("?x :in ?y GRAPH ?g { ?x :in ?z } FILTER(timestamp(?x) > 1)", "GRAPH ?g", "timestamp"),
        ("?x :in ?y FILTER(timestamp(?x) > NOW())", "NOW gives another", "NOW"),
        ("?x :in+ ?y FILTER(timestamp(?x) > 1)", "timestamp(?x) where no", "timestamp"),
        (
            f"?x :in ?y OPTIONAL {{ ?y :in ?z }} FILTER({ENGINE}(?x, :in, ?z) > 1)",
            "?z may have no value",
            "timestamp>",
        ),
    ],
)
def test_what_has_no_time_is_refused_where_it_stands(body: str, message: str, shown: str) -> None:
    with pytest.raises(QueryError) as caught:
        times("?x", body)
    error = caught.value
    assert message in error.message
    assert error.place is not None
    assert error.place.text[error.place.column - 1 :].startswith(shown)


def test_what_is_no_stream_has_no_times() -> None:
    for ask in (Reasoner().query, Reasoner().watch):
        with pytest.raises(QueryError, match="arrived on a stream"):
            ask("SELECT ?x { ?x ?p ?y FILTER(timestamp(?x) > 1) }")
