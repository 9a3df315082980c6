"""Terms that are given back all the time change no report, no delta and no answer."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from pyoxigraph import Literal, NamedNode, Triple
from tests.oracle import closure
from tests.properties.compare.registered_bodies import Bodies
from tests.properties.compare.registered_queries import Places, RegisteredHistory, Theme
from tests.properties.compare.stream_histories import differences
from tests.properties.generate.seeds import chunks
from tests.properties.generate.stream_histories import draw_stream_history

from livefacts.errors import ViolationError
from livefacts.model.facts import Fact
from livefacts.service.reasoner.facade import Reasoner
from livefacts.service.streams import reclamation
from livefacts.syntax.rule_sets import open_rules

EX = "http://example.org/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
SCHEMA = ("subClassOf", "subPropertyOf", "domain", "range")
STREAM = EX + "s"
RULES = f"""@prefix : <{EX}> .
[?x, :near, ?z] :- [?x, :in, ?y], [?y, :in, ?z] .
[?x, :alone, ?v] :- [?x, :reads, ?v], not [?x, :in, ?x] ."""


@pytest.mark.parametrize("theme", [Places(), Bodies()])
@pytest.mark.parametrize("chunk", chunks(4, 1))
def test_reports_are_right_though_terms_are_given_back_at_every_push(
    chunk: int, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reclamation.Reclaimer, "is_due", lambda self: True)
    reclaimed = 0
    for seed in range(chunk, 80, 4):
        history = RegisteredHistory(seed, theme)
        found = history.run()
        reclaimed += history.reasoner.stats()["terms_reclaimed"]
        if found:
            pytest.fail("\n".join([f"seed {seed}", *history.lines, *found]), pytrace=False)
    assert reclaimed > 1


def test_rules_over_time_conclude_what_they_must_though_terms_are_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reclamation.Reclaimer, "is_due", lambda self: True)
    for seed in range(60):
        found = next(differences(draw_stream_history(seed)), None)
        assert found is None, f"seed {seed}: {found}"


@pytest.mark.parametrize("rules", ["rho-df", "rdfs"])
def test_conclusions_are_right_though_kinds_of_triples_are_unlearned_at_every_push(
    rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Classes and properties come with streams and go with them, in background and out of it."""
    monkeypatch.setattr(reclamation.Reclaimer, "is_due", lambda self: True)
    program, reclaimed = open_rules(rules), 0
    for seed in range(6):
        pick = random.Random(seed)
        reasoner = Reasoner(rules=program)
        background: set[Triple | Fact] = set()
        for time in range(12):
            arrived = [fresh_triple(pick, time) for _ in range(4)]
            reasoner.push(arrived, at=time, stream=STREAM)
            reasoner.advance(time)
            if pick.random() < 0.5:
                asserted = fresh_triple(pick, time)
                reasoner.add([asserted])
                background.add(asserted)
            elif background:
                gone = pick.choice(sorted(background, key=str))
                reasoner.remove([gone])
                background.remove(gone)
            expected = closure(program, {*background, *arrived})
            assert set(reasoner.facts()) == expected, f"seed {seed} at {time}"
        reclaimed += reasoner.stats()["terms_reclaimed"]
    assert reclaimed > 50


def fresh_triple(pick: random.Random, time: int) -> Triple:
    """Something about classes, properties and things of now and of the last time point."""
    names = [NamedNode(f"{EX}{kind}{pick.choice((time - 1, time))}") for kind in "abcd"]
    one, other = pick.sample(names, 2)
    verbs = [TYPE, *(NamedNode(RDFS + verb) for verb in SCHEMA), pick.choice(names)]
    return Triple(one, pick.choice(verbs), other)


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
    monkeypatch.setattr(reclamation.Reclaimer, "is_due", lambda self: True)
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
    monkeypatch.setattr(reclamation, "FEWEST_LOOSE", 200)
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


FRESH = (
    "all(?x, ?n) :- ?n = sum { ?v : [?x, :reads, ?v] } . "
    "mean(?x, ?n) :- ?n = avg { ?v : [?x, :reads, ?v] } .",
    "odd(?x, ?c) :- [?x, a, ?c], not [?x, :in, ?x] .",
    "was(?x, ?v) :- sometime [?x, :reads, ?v] in [3] .",
)


@pytest.mark.filterwarnings("ignore:.*looks back at")
@pytest.mark.parametrize("rules", FRESH)
@pytest.mark.parametrize("ready", [[], ["rho-df"]])
def test_terms_stay_few_though_all_that_streams_bring_is_new(
    ready: list[str], rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Things, classes, properties, values, and what rules compute of them."""
    monkeypatch.setattr(reclamation, "FEWEST_LOOSE", 200)
    reasoner = Reasoner(rules=[f"@prefix : <{EX}> . {rules}", *ready])
    queries = [
        reasoner.register(
            f"REGISTER QUERY q{n} AS SELECT * FROM STREAM <{STREAM}> [RANGE {2 + n}] WHERE {where}",
            full=True,
        )
        for n, where in enumerate(("{ ?x ?p ?y }", "{ ?x ?p ?y OPTIONAL { ?y a ?z } }"))
    ]
    most = []
    for time in range(60):
        reasoner.push(list(all_new(time)), at=time, stream=STREAM)
        reasoner.advance(time)
        assert all(report.rows is not None for query in queries for report in query.results())
        most.append(reasoner.stats()["terms"])
    assert max(most[30:]) <= max(most[:30])
    assert max(most) < 900


def all_new(time: int) -> Iterator[Triple]:
    for n in range(3):
        thing, kind, verb, other = (NamedNode(f"{EX}{word}{time}_{n}") for word in "tkvo")
        yield Triple(thing, TYPE, kind)
        yield Triple(thing, verb, other)
        yield Triple(kind, NamedNode(RDFS + "subClassOf"), other)
        for part in (3, 7):
            yield Triple(thing, NamedNode(EX + "reads"), Literal(time + n / 8 + part / 64))


COMING = (
    "<x:{n}> <x:p> <x:o{n}> .",
    'word("w{n}", {n}.5) .',
    '<x:{n}> <x:p> _:b . _:b <x:p> "{n}" .',
    "GRAPH <x:g> {{ <x:{n}> <x:p> <x:o{n}> }}",
)


@pytest.mark.parametrize("same_as", ["rules", "merge"])
def test_terms_end_where_they_began_whatever_came_and_went(
    same_as: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a snapshot and a watch; previews, refusals and updates come and go as well."""
    monkeypatch.setattr(reclamation, "FEWEST_LOOSE", 20)
    reasoner = Reasoner(
        rules="[?x, <x:q>, ?y] :- [?x, <x:p>, ?y] . false :- [?x, <x:bad>, ?y] . "
        "twice(?y) :- word(?x, ?v), ?y = ?v * 2 .",
        same_as=same_as,
        on_violation="refuse",
    )
    reasoner.add("<x:kept> <x:p> <x:o> .")
    watch = reasoner.watch("SELECT ?x (STR(?y) AS ?s) { ?x <x:q> ?y }")
    snapshot, figures = reasoner.snapshot(), []
    kept = set(snapshot.facts())
    for round in range(12):
        for n in range(100 * round, 100 * round + 20):
            for text in COMING:
                change(reasoner, text.format(n=n))
            reasoner.preview(add=f"<x:previewed{n}> <x:p> <x:o> .")
            with pytest.raises(ViolationError):
                reasoner.add(f"<x:refused{n}> <x:bad> <x:o> .")
        assert set(snapshot.facts()) == kept == set(reasoner.facts())
        assert {str(row[0]) for row in snapshot.query("SELECT ?x { ?x <x:q> ?y }")} == {"<x:kept>"}
        assert sum(c.count if c.op == "+" else -c.count for c in watch.changes()) == 0
        assert len(watch.answers()) == 1
        assert " asserted" in str(reasoner.explain("<x:kept> <x:q> <x:o>"))
        figures.append(reasoner.stats()["terms"])
    assert max(figures) < 150


def change(reasoner: Reasoner, text: str) -> None:
    """Facts come, and go again."""
    if text.startswith("GRAPH"):
        reasoner.update(f"INSERT DATA {{ {text} }}")
        reasoner.update(f"DELETE DATA {{ {text} }}")
    else:
        delta = reasoner.add(text)
        reasoner.remove([fact for fact in delta.added if fact not in delta.derived])


def test_what_is_read_later_is_what_was_reported_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports and deltas are read only at the end, when most of their terms have passed by."""
    lazy = []
    for is_due in (False, True):
        monkeypatch.setattr(reclamation.Reclaimer, "is_due", lambda self, due=is_due: due)
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
    monkeypatch.setattr(reclamation, "FEWEST_LOOSE", 500)
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
