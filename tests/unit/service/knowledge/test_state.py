"""One reasoner: rules over time, registered queries, watched queries and SPARQL, in one state."""

from __future__ import annotations

import livefacts as lf

EX = "http://example.org/"
RULES = f"""@prefix : <{EX}> . @tick 1 s .
[?s, a, :Hot] :- sometime [?s, :temp, ?v] in [3 s], ?v > 90 .
"""
HOT = f"PREFIX : <{EX}> SELECT ?s {{ ?s a :Hot }}"
IN_A_ROOM = f"""PREFIX : <{EX}> REGISTER QUERY q AS SELECT ?s ?room
FROM STREAM <{EX}readings> [RANGE 2s STEP 1s] WHERE {{ ?s a :Hot ; :room ?room }}"""


def test_all_ways_of_asking_agree_while_time_moves() -> None:
    r = lf.Reasoner(rules=RULES, start=1)
    r.add(f"<{EX}a> <{EX}room> <{EX}kitchen> .")
    registered, watched = r.register(IN_A_ROOM), r.watch(HOT)
    for second, degrees in [(1, 95), (2, 50), (3, 99)]:
        r.push(f"<{EX}a> <{EX}temp> {degrees} .", at=second, stream=EX + "readings")
    changes = {}
    for now in range(1, 9):
        delta = r.advance(now)
        is_hot = now <= 6
        assert len(watched.answers()) == len(r.query(HOT)) == is_hot
        assert [len(report) for report in registered.results()] == [is_hot]
        changes[now] = [change.op for change in watched.changes()]
        assert bool(delta.derived) == (now == 1)
    assert {now: found for now, found in changes.items() if found} == {1: ["+"], 7: ["-"]}
