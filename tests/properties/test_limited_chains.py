"""Queries that read what others make, under limits: each report is right, or says that it is none."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from pyoxigraph import NamedNode, Triple

from livefacts.service.reasoner.facade import Reasoner
from livefacts.service.registered.registry import Registrations
from livefacts.service.registered.scheduled_query import Registration

EX = "http://example.org/"
RULES = (
    "[?x, :same, ?y] :- [?x, :in, ?z], [?y, :in, ?z] .",
    "[?x, :none, ?x] :- [?x, :in, ?y], not [?y, :in, ?x] .",
    "[?x, :in, ?z] :- [?x, :in, ?y], [?y, :in, ?z] .",
)
CHAIN = (
    "STREAM :pairs AS CONSTRUCT {{ ?x :pair ?y }} FROM STREAM :s {w} {{ ?x :same ?y }}",
    "QUERY :reader AS SELECT * FROM STREAM :pairs {w} {{ ?x :pair ?y }}",
    "STREAM :more AS CONSTRUCT {{ ?x :in ?y }} FROM STREAM :pairs {w} "
    "{{ ?x :pair ?y OPTIONAL {{ ?x :none ?y }} }}",
    "QUERY :last AS SELECT * FROM STREAM :more {w} FROM STREAM :s [RANGE 3] {{ ?x :in ?y }}",
    "QUERY :plain AS SELECT * FROM STREAM :s {w} {{ ?x :in ?y }}",
)
WINDOWS = ("[RANGE 2]", "[RANGE 3]", "[RANGE 4 STEP 2]", "[RANGE 1]", "[RANGE 3 STEP 3]")
LENGTH, LATENESS = 12, 4


@dataclass
class Asserted:
    """What the queries of one history have reported in the end, and for which times they have not."""

    rows: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    unmade: set[tuple[str, int]] = field(default_factory=set)

    def read(self, query: Registration) -> None:
        for report in query.results():
            for time in range(report.first, report.last + 1, query.every):
                key = query.name, time
                self.rows.pop(key, None)
                self.unmade.discard(key)
                if report.error is None:
                    self.rows[key] = sorted(map(str, report.rows))
                else:
                    self.unmade.add(key)


def history(seed: int, corrects: bool) -> Asserted:
    pick, asserted = random.Random(seed), Asserted()
    rules = " ".join(pick.sample(RULES, pick.randint(1, 3)))
    reasoner = Reasoner(rules=f"@prefix : <{EX}> . {rules}", start=0)
    if corrects:
        reasoner.correct(EX + "s", LATENESS)
    texts = [text.format(w=pick.choice(WINDOWS)) for text in CHAIN]
    queries = [reasoner.register(f"PREFIX : <{EX}> REGISTER {text}") for text in texts]
    arrived: list[tuple[Triple, int]] = []
    for now in range(1, LENGTH):
        for _ in range(pick.randint(0, 2)):
            one, other = (NamedNode(EX + pick.choice("abcd")) for _ in range(2))
            fact, at = (
                Triple(one, NamedNode(EX + "in"), other),
                max(0, now - pick.choice((0, 0, 1))),
            )
            reasoner.push([fact], at=at, stream=EX + "s")
            arrived.append((fact, at))
        if arrived and pick.random() < 0.2:
            fact, at = arrived.pop()
            reasoner.retract([fact], at=at, stream=EX + "s")
        reasoner.advance(now)
        for query in queries:
            asserted.read(query)
    return asserted


@pytest.mark.parametrize("corrects", [False, True])
@pytest.mark.parametrize(
    "seeds", [range(5), pytest.param(range(5, 60), marks=pytest.mark.thorough)]
)
def test_what_is_reported_under_a_limit_is_what_is_reported_without(
    seeds: range, corrects: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    unmade = made = 0
    for seed in seeds:
        free = history(seed, corrects)
        assert not free.unmade
        for most in (1, 4):
            with monkeypatch.context() as patched:
                limit = property(
                    lambda queries: queries._worlds.limit,
                    lambda queries, _, most=most: setattr(queries._worlds, "limit", most),
                )
                patched.setattr(Registrations, "limit", limit)
                limited = history(seed, corrects)
            assert limited.rows.keys() | limited.unmade == free.rows.keys()
            for key, rows in limited.rows.items():
                assert rows == free.rows[key], f"seed {seed}, limit {most}: {key}"
            unmade, made = unmade + len(limited.unmade), made + len(limited.rows)
    assert unmade > 10
    assert made > 10
