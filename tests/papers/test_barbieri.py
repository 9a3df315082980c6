"""Barbieri et al.: Incremental Reasoning on Streams and Rich Background Knowledge, its tables.

Fig. 4 is followed by its text; a fact holds up to and including the time point it is tagged with.
"""

from __future__ import annotations

import re

import pytest
from pyoxigraph import Literal
from tests.oracle import Row
from tests.properties.compare.expiry_programs import Arrival, Window

import livefacts as lf
from livefacts.language.checks.safety import check
from livefacts.model.facts import Fact, Symbol
from livefacts.syntax.rulelang.rule_parser import parse

IS_IN = "@id R  isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z) ."
TABLE_3 = """
    isIn_new(?x, ?y) :- isIn(?x, ?y), not isIn_del(?x, ?y) .
    isIn_new(?x, ?y) :- isIn_red(?x, ?y) .
    isIn_new(?x, ?y) :- isIn_ins(?x, ?y) .
    isIn_plus(?x, ?y) :- isIn_ins(?x, ?y), not isIn(?x, ?y) .
    isIn_minus(?x, ?y) :- isIn_del(?x, ?y), not isIn_ins(?x, ?y), not isIn_red(?x, ?y) .
    isIn_red(?x, ?z) :- isIn_del(?x, ?z), isIn_new(?x, ?y), isIn_new(?y, ?z) .
    isIn_del(?x, ?z) :- isIn_del(?x, ?y), isIn(?y, ?z) .
    isIn_del(?x, ?z) :- isIn(?x, ?y), isIn_del(?y, ?z) .
    isIn_ins(?x, ?z) :- isIn_ins(?x, ?y), isIn_new(?y, ?z) .
    isIn_ins(?x, ?z) :- isIn_new(?x, ?y), isIn_ins(?y, ?z) .
"""
TABLE_6 = """
    isIn_new(?x, ?y)[T] :- isIn(?x, ?y)[T], not isIn(?x, ?y)[T1], T1 = (now - 1)
    isIn_new(?x, ?y)[T] :- isIn_ins(?x, ?y)[T], not isIn_old(?x, ?y)[T]
    isIn_old(?x, ?y)[T] :- isIn_ins(?x, ?y)[T1], isIn(?x, ?y)[T], T1 > T
    isIn_old(?x, ?y)[T] :- isIn_ins(?x, ?y)[T1], isIn_ins(?x, ?y)[T], T1 > T
    isIn_minus(?x, ?y)[T] :- isIn(?x, ?y)[T1], T1 = (now - 1), not isIn_ins(?x, ?y)[T1]
    isIn_minus(?x, ?y)[T] :- isIn_old(?x, ?y)[T]
    isIn_plus_plus(?x, ?y)[T] :- isIn_new(?x, ?y)[T], not isIn(?x, ?y)[T1]
    isIn_plus(?x, ?y)[T] :- isIn_plus_plus(?x, ?y)[T], not isIn_old(?x, ?y)[T1]
    isIn_ins(?x, ?z)[T] :- isIn_ins(?x, ?y)[T1], isIn_new(?y, ?z)[T2], T = min(T1, T2)
    isIn_ins(?x, ?z)[T] :- isIn_new(?x, ?y)[T1], isIn_ins(?y, ?z)[T2], T = min(T1, T2)
"""


def test_the_rules_of_table_3_are_made_with_one_deleted_premise_in_each() -> None:
    """The table's first deletion rule has two; three rules more see to what is told of isIn."""
    made = lf.maintenance_program(IS_IN).program
    expected = {rule.key() for rule in parse(TABLE_3)}
    asserted = [rule for rule in made if "isIn_ext" in str(rule)]
    assert {rule.key() for rule in made if rule not in asserted} == expected
    assert {rule.id for rule in asserted} == {
        "isIn.ext.D1",
        "isIn.ext.R",
        "isIn.ext.I1",
        "isIn_ext.N1",
        "isIn_ext.N3",
    }


def test_the_rules_of_table_6_are_printed_as_they_were_published() -> None:
    text = str(lf.maintenance_program(IS_IN, "stream"))
    published = re.findall(r"^# published: (.*)$", text, re.MULTILINE)
    assert {line for line in published if ":-" in line} == {
        line.strip() for line in TABLE_6.strip().splitlines()
    }


def test_the_published_rules_depend_on_their_own_negation() -> None:
    published = parse("""
        isIn_new(?x, ?y, ?t) :- isIn_ins(?x, ?y, ?t), not isIn_old(?x, ?y, ?t) .
        isIn_old(?x, ?y, ?t) :- isIn_ins(?x, ?y, ?t1), isIn_ins(?x, ?y, ?t), ?t1 > ?t .
        isIn_ins(?x, ?z, ?t1) :- isIn_ins(?x, ?y, ?t1), isIn_new(?y, ?z, ?t2), ?t1 <= ?t2 .
    """)
    with pytest.raises(lf.UnstratifiedError):
        check(published)


def arrivals(text: str, until: int) -> list[Arrival]:
    """`AB BC` as facts that hold until this time point."""
    return [(Fact("isIn", (Symbol(a), Symbol(b))), until) for a, b in text.split()]


def written(rows: set[Row]) -> dict[str, int]:
    """`{"AB": 11}`: each pair with the time until which it holds."""
    pairs = {f"{x}{y}": int(until.value) for _, (x, y, until) in rows}
    assert len(pairs) == len(rows), "a pair has one time"
    return pairs


ENTERING = {1: "AB", 2: "BC", 3: "CD", 4: "AE ED"}
EXPECTED = {
    1: {"AB": 11},
    2: {"AB": 11, "BC": 12, "AC": 11},
    3: {"AB": 11, "BC": 12, "AC": 11, "CD": 13, "BD": 12, "AD": 11},
    4: {"AB": 11, "BC": 12, "AC": 11, "CD": 13, "BD": 12, "AD": 14, "AE": 14, "ED": 14},
    12: {"BC": 12, "CD": 13, "BD": 12, "AD": 14, "AE": 14, "ED": 14},
    13: {"CD": 13, "AD": 14, "AE": 14, "ED": 14},
    14: {"AD": 14, "AE": 14, "ED": 14},
    15: {},
}


class TestFigure4:
    """Section 3: a window of ten seconds over isIn, second by second."""

    def test_everything_is_there_and_goes_as_the_text_says(self) -> None:
        window = Window(parse(IS_IN))
        for now in range(1, 16):
            window.tick(now, arrivals(ENTERING.get(now, ""), now + 10))
            if now in EXPECTED:
                assert written(window.rows) == EXPECTED[now], f"at {now}"

    def test_a_renewed_fact_is_taken_out_and_put_in_with_its_new_time(self) -> None:
        """A isIn D, until 11 and then until 14: by the published rules it would be gone."""
        window = Window(parse(IS_IN))
        for now in range(1, 4):
            window.tick(now, arrivals(ENTERING[now], now + 10))
        plus, minus = window.tick(4, arrivals("AE ED", 14))
        assert written(plus) == {"AE": 14, "ED": 14, "AD": 14}
        assert written(minus) == {"AD": 11}

    def test_what_enters_with_less_time_than_it_has_changes_nothing(self) -> None:
        window = Window(parse(IS_IN))
        window.tick(1, arrivals("AB", 11))
        assert window.tick(2, arrivals("AB", 5)) == (set(), set())


def test_background_facts_never_expire() -> None:
    """Section 4: what is no part of a stream holds for ever."""
    forever = Literal("INF", datatype=parse('p("1"^^xsd:double) .').facts[0].arguments[0].datatype)
    window = Window(parse(IS_IN))
    window.rows = {("isIn", (Symbol("B"), Symbol("C"), forever))}
    window.tick(1, arrivals("AB", 11))
    assert written_ends(window.rows) == {"BC": "INF", "AB": "11", "AC": "11"}
    window.tick(100, [])
    assert written_ends(window.rows) == {"BC": "INF"}


def written_ends(rows: set[Row]) -> dict[str, str]:
    return {f"{x}{y}": until.value for _, (x, y, until) in rows}


@pytest.mark.parametrize(
    "rule", ["p(?x) :- q(?x), not r(?x) .", "p(?n) :- ?n = count { ?x : q(?x) } ."]
)
def test_rules_with_negation_or_aggregates_are_refused_where_they_stand(rule: str) -> None:
    with pytest.raises(lf.RuleError) as caught:
        lf.maintenance_program(rule, "stream")
    assert caught.value.place is not None
    assert "dred" in caught.value.hint


FIG_2 = """REGISTER QUERY TotalAmountPerBroker COMPUTE EVERY 1sec AS
PREFIX ex: <http://example/>
SELECT DISTINCT ?user ?type ?x
FROM <http://mobileservice.org/meansOfTransportation.rdf>
FROM STREAM <http://mobileservice.org/positions.trdf>
[RANGE 10sec STEP 1sec]
WHERE {
  ?user ex:isIn ?x .
  ?user a ex:Commuter .
  ?x a ?type .
  ?user ex:remainingTravelTime ?t .
  FILTER (?t >= "PT30M"^^xsd:duration )
}"""
POSITIONS = "http://mobileservice.org/positions.trdf"


def test_the_query_of_figure_2_runs() -> None:
    r = lf.Reasoner()
    ex = "PREFIX ex: <http://example/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
    r.add(f"{ex} ex:tram7 a ex:Tram . ex:ann a ex:Commuter . ex:bob a ex:Commuter .")
    query = r.register(FIG_2)
    for who, left in (("ann", "PT45M"), ("bob", "PT20M")):
        fact = f'{ex} ex:{who} ex:isIn ex:tram7 ; ex:remainingTravelTime "{left}"^^xsd:duration .'
        r.push(fact, at=1, stream=POSITIONS)
    r.advance(11)
    *full, empty = query.results()
    assert [report.time for report in full] == list(range(1, 11))
    assert {tuple(map(str, row)) for report in full for row in report.rows} == {
        ("<http://example/ann>", "<http://example/Tram>", "<http://example/tram7>")
    }
    assert (empty.time, empty.rows) == (11, ())


def test_figure_2_as_printed_is_refused_at_its_filter() -> None:
    with pytest.raises(lf.QueryError) as caught:
        lf.Reasoner().register(FIG_2.replace("^^", ""))
    assert caught.value.place is not None
    assert caught.value.place.line == 12


def test_figure_4_as_a_registered_query_with_closed_bounds() -> None:
    """The tags of the figure are the last second at which a triple holds."""
    r = lf.Reasoner(
        rules="@prefix : <http://e/> . [?x, :isIn, ?z] :- [?x, :isIn, ?y], [?y, :isIn, ?z] ."
    )
    query = r.register(
        "REGISTER QUERY q AS SELECT ?x ?y FROM STREAM <http://e/s> "
        "[RANGE 10 STEP 1 BOUNDS CLOSED] WHERE { ?x <http://e/isIn> ?y }"
    )
    for time, pairs in ((1, "AB"), (2, "BC"), (3, "CD"), (4, "AE ED")):
        for one, other in pairs.split():
            r.push(f"<http://e/{one}> <http://e/isIn> <http://e/{other}> .", time, "http://e/s")
    r.advance(15)
    found = {
        report.time: {"".join(str(term)[-2] for term in row) for row in report.rows}
        for report in query.results()
    }
    everything = {"AB", "BC", "CD", "AE", "ED", "AC", "BD", "AD"}
    assert found[4] == found[11] == everything
    assert found[12] == everything - {"AB", "AC"}
    assert found[13] == {"CD", "AE", "ED", "AD"}
    assert found[14] == {"AE", "ED", "AD"}
    assert found[15] == set()
