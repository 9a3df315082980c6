"""Terms that are given back all the time change no report, no delta and no answer."""

from __future__ import annotations

from collections import Counter

import pytest
from pyoxigraph import Literal, NamedNode, Triple
from tests.properties.bodies import Bodies
from tests.properties.journeys import draw_journey
from tests.properties.registered import History, Places, Theme
from tests.properties.travelling import differences

from livefacts.service.reasoner import Reasoner
from livefacts.service.streams import reclaiming

EX = "http://example.org/"
STREAM = EX + "s"
RULES = f"""@prefix : <{EX}> .
[?x, :near, ?z] :- [?x, :in, ?y], [?y, :in, ?z] .
[?x, :alone, ?v] :- [?x, :reads, ?v], not [?x, :in, ?x] ."""


@pytest.mark.parametrize("theme", [Places(), Bodies()])
@pytest.mark.parametrize("chunk", range(4))
def test_reports_are_right_though_terms_are_given_back_at_every_push(
    chunk: int, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reclaiming.Reclaimer, "is_due", lambda self: True)
    reclaimed = 0
    for seed in range(chunk, 80, 4):
        history = History(seed, theme)
        found = history.run()
        reclaimed += history.reasoner.stats()["terms_reclaimed"]
        if found:
            pytest.fail("\n".join([f"seed {seed}", *history.lines, *found]), pytrace=False)
    assert reclaimed > 3


def test_rules_over_time_conclude_what_they_must_though_terms_are_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reclaiming.Reclaimer, "is_due", lambda self: True)
    for seed in range(60):
        found = next(differences(draw_journey(seed)), None)
        assert found is None, f"seed {seed}: {found}"


def passing(time: int, many: int) -> list[Triple]:
    """Places and readings with names that come once."""
    one, other, verb = (NamedNode(f"{EX}{time}_{n}") for n in (1, 2, 3))
    facts = [Triple(one, NamedNode(EX + "in"), other), Triple(other, NamedNode(EX + "in"), verb)]
    reads = NamedNode(EX + "reads")
    return facts + [Triple(one, reads, Literal(f"{time} {n}")) for n in range(many)]


BODIES = (
    "{ ?x ex:near ?y }",
    "{ ?x ex:alone ?y }",
    "{ ?x ex:reads ?y OPTIONAL { ?y ex:none ?z } }",
    "{ ?x ex:near ?y OPTIONAL { ?x ex:alone ?z } }",
    "{ { SELECT ?x (COUNT(?v) AS ?n) (MAX(?v) AS ?m) { ?x ex:reads ?v } GROUP BY ?x } "
    "BIND(CONCAT(?m, STR(?n)) AS ?y) }",
    "{ ?x ex:in+ ?y FILTER(STRLEN(STR(?y)) > 4) MINUS { ?y ex:in ?x } }",
)


def registered(reasoner: Reasoner) -> list[object]:
    return [
        reasoner.register(
            f"REGISTER {kind} q{n}{kind} AS PREFIX ex: <{EX}> SELECT ?x ?y "
            f"FROM STREAM <{STREAM}> [RANGE {3 + n} STEP 1] WHERE {body}"
        )
        for n, body in enumerate(BODIES)
        for kind in ("QUERY", "DSTREAM")
    ]


WATCHED = (
    "SELECT ?x ?v { ?x ex:reads ?v }",
    "SELECT ?x (COUNT(?v) AS ?n) { ?x ex:reads ?v } GROUP BY ?x",
    "SELECT ?x ?z { ?x ex:in+ ?z OPTIONAL { ?x ex:reads ?v } }",
    "SELECT ?x ?w { ?x ex:reads ?v BIND(CONCAT(STR(?v), '!') AS ?w) }",
)


def test_watched_queries_are_right_though_terms_are_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Answers at every time point, and changes that are read only now and then."""
    monkeypatch.setattr(reclaiming.Reclaimer, "is_due", lambda self: True)
    reasoner = Reasoner(rules=RULES)
    queries = [f"PREFIX ex: <{EX}> {text}" for text in WATCHED]
    watches = [reasoner.watch(text) for text in queries]
    sums: list[Counter[tuple[object, ...]]] = [Counter() for _ in watches]
    for time in range(30):
        reasoner.push(passing(time, 3), at=time, stream=STREAM)
        reasoner.advance(time)
        for text, watch, total in zip(queries, watches, sums, strict=True):
            now = Counter(map(tuple, reasoner.query(text)))
            assert Counter(map(tuple, watch.answers())) == now
            if time % 7 == 6:
                for change in watch.changes():
                    total[tuple(change.row)] += change.count if change.op == "+" else -change.count
                assert +total == now
                assert not -total
    assert reasoner.stats()["terms_reclaimed"] > 100


def test_terms_stay_few_though_queries_are_watched_and_rules_compute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reclaiming, "FEWEST_BORN", 200)
    reasoner = Reasoner(
        rules=f"@prefix : <{EX}> . [?x, :twice, ?w] :- [?x, :reads, ?v], ?w = ?v * 2.5 ."
    )
    watch = reasoner.watch(f"SELECT ?w {{ ?x <{EX}twice> ?w }}")
    reads, most = NamedNode(EX + "reads"), 0
    for time in range(400):
        facts = [
            Triple(NamedNode(f"{EX}{time}_{n}"), reads, Literal(time + n / 8)) for n in range(9)
        ]
        reasoner.push(facts, at=time, stream=STREAM)
        reasoner.advance(time)
        watch.changes()
        most = max(most, reasoner.stats()["terms"])
    assert len(watch.answers()) == 9
    assert most < 1_000


def test_what_is_read_later_is_what_was_reported_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports and deltas are read only at the end, when most of their terms have passed by."""
    lazy = []
    for is_due in (False, True):
        monkeypatch.setattr(reclaiming.Reclaimer, "is_due", lambda self, due=is_due: due)
        reasoner = Reasoner(rules=RULES)
        queries, deltas = registered(reasoner), []
        for time in range(20):
            deltas.append(reasoner.push(passing(time, 3), at=time, stream=STREAM))
            deltas.append(reasoner.advance(time))
        reports = [[r.rows for r in query.results()] for query in queries]  # type: ignore[attr-defined]
        changes = [(set(delta.added), set(delta.removed)) for delta in deltas]
        lazy.append(([[sorted(rows, key=str) for rows in each] for each in reports], changes))
    assert lazy[0] == lazy[1]


def test_terms_and_their_bytes_stay_the_same_over_many_windows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reclaiming, "FEWEST_BORN", 500)
    reasoner = Reasoner(rules=RULES)
    queries, figures = registered(reasoner), []
    for time in range(150):
        reasoner.push(passing(time, 40), at=time, stream=STREAM)
        reasoner.advance(time)
        for query in queries:
            assert all(report.rows is not None for report in query.results())  # type: ignore[attr-defined]
        if time % 10 == 0:
            stats = reasoner.stats()
            figures.append((stats["terms"], stats["term_bytes"], stats["fact_bytes"]))
    early, late = figures[5:8], figures[-3:]
    assert max(late) <= tuple(1.2 * each for each in max(early))
    assert reasoner.stats()["terms_reclaimed"] > 4000
