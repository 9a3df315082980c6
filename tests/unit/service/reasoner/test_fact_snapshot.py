"""Snapshots: one committed version each, whatever changes, read by whichever thread."""

from __future__ import annotations

import io
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from typing import Any, NamedTuple

import pytest
from pyoxigraph import NamedNode, Quad, Triple

import livefacts as lf
from livefacts.service.change import fact_reader
from livefacts.service.continuous.answers import Change
from livefacts.service.reasoner.fact_snapshot import FactSnapshot

A, B, C, P, G = (NamedNode(f"x:{name}") for name in "abcpg")
RULES = """
    @id closed [?x, <x:p>, ?z] :- [?x, <x:p>, ?y], [?y, <x:p>, ?z] .
    near(?x, ?y) :- [?x, <x:p>, ?y] .
    _hidden(?x) :- near(?x, ?y) .
    lately(?s) :- sometime reading(?s) in [3] .
    @id circle  false :- [?x, <x:p>, ?x] .
"""
EXTRA = "@id extra [?y, <x:q>, ?x] :- [?x, <x:p>, ?y] ."
ALWAYS, NEVER = Triple(A, NamedNode("x:stays"), B), Triple(A, NamedNode("x:never"), B)
ANSWERS = "SELECT ?x ?y ?g { ?x ?p ?y OPTIONAL { GRAPH ?g { ?x ?p ?y } } }"
PASSING = """INSERT DATA { <x:a> <x:never> <x:b> } ;
    DELETE { ?x <x:never> ?y } INSERT { ?x <x:seen> ?y } WHERE { ?x <x:never> ?y }"""


def test_a_snapshot_stays_as_it_was() -> None:
    r = lf.Reasoner(rules=RULES)
    r.add([Triple(A, P, B), Triple(B, P, A), Quad(B, P, C, G), ("word", "one", 2)])
    with r.snapshot() as s:
        before = everything(s)
        facts = set(s)
        r.remove([Triple(A, P, B), ("word", "one", 2)])
        r.add([Triple(B, P, C)])
        r.remove_rules("closed")
        r.push("reading(boiler) .", at=1)
        r.advance(1)
        assert everything(s) == before
        assert (s.seq, s.now, len(s)) == (1, None, len(facts))
        assert lf.Fact("word", ("one", 2)) in s
        assert "near(<x:a>, <x:b>)" in s
        assert Triple(B, P, C) in s.facts(derived=False)
        assert {v.constraint for v in s.violations()} == {"circle"}
    with r.snapshot() as now:
        assert (now.seq, now.now) == (6, 1)
        assert everything(now) != before
        assert not now.violations()


def test_what_is_asserted_anew_is_no_conclusion() -> None:
    r = lf.Reasoner(rules="[?y, <x:p>, ?x] :- [?x, <x:p>, ?y] . twin(?x) :- [?x, <x:p>, ?y] .")
    r.add([Triple(A, P, B)])
    snapshots = [r.snapshot()]
    for change in (r.add, r.remove):
        change([Triple(B, P, A), ("twin", A)])
        snapshots.append(r.snapshot())
    told = [set(s.facts(derived=False)) for s in snapshots]
    both = {Triple(A, P, B), Triple(B, P, A), lf.Fact("twin", (A,))}
    assert told == [{Triple(A, P, B)}, both, {Triple(A, P, B)}]
    assert [len(s) for s in snapshots] == [4, 4, 4]


def test_a_closed_snapshot_says_so() -> None:
    s = lf.Reasoner().snapshot()
    assert len(s) == 0
    s.close()
    s.close()
    for use in (
        len,
        list,
        FactSnapshot.facts,
        FactSnapshot.violations,
        lambda s: s.query("ASK {}"),
        lambda s: s.query("ASK {}", explain_only=True),
        lambda s: "<x:a> <x:p> <x:b>" in s,
        lambda s: s.dump("nowhere.nt"),
        lambda s: (s.seq, s.now),
    ):
        with pytest.raises(lf.LivefactsError, match="the snapshot is closed"):
            use(s)


def test_what_was_begun_before_a_snapshot_is_closed_goes_on_with_its_version() -> None:
    r = lf.Reasoner()
    r.add("<x:a> <x:p> <x:b> . <x:a> <x:p> <x:c> .")
    s = r.snapshot()
    going, view, found = iter(s), s.facts(), s.query("SELECT * { ?x ?p ?y }")
    first = next(going)
    s.close()
    r.remove("<x:a> <x:p> <x:b> . <x:a> <x:p> <x:c> .")
    assert {first, *going} == set(view) == {Triple(*row) for row in found}  # type: ignore[union-attr, arg-type, misc]
    assert len(view) == 2
    with pytest.raises(lf.LivefactsError, match="the snapshot is closed"), s:
        iter(s)


def test_a_query_has_the_last_version_while_a_change_is_under_way() -> None:
    r = lf.Reasoner()
    r.add([Triple(A, P, B)])
    assert len(list(r.query(ANSWERS))) == 1
    # Who changes something holds `changing` from beginning to end.
    with ThreadPoolExecutor(1) as reader, r._state.changing:
        assert len(reader.submit(lambda: list(r.query(ANSWERS))).result(timeout=60)) == 1


def test_a_snapshot_takes_the_options_of_a_query() -> None:
    r = lf.Reasoner()
    r.add([Triple(A, P, B), Triple(A, P, C)])
    s = r.snapshot()
    assert len(s.query("SELECT * { ?x ?p ?y }", bindings={"y": B})) == 1  # type: ignore[arg-type]
    assert not s.query("SELECT * { ?x ?p ?y }", limit_rows=1).complete  # type: ignore[union-attr]
    assert s.query("SELECT * { ?x ?p ?y }", explain_only=True).operator


def test_facts_are_decoded_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    r = lf.Reasoner()
    r.add([("number", n) for n in range(20)])
    monkeypatch.setattr(fact_reader, "PIECE", 4)
    pieces: list[int] = []
    make = fact_reader._piece
    monkeypatch.setattr(fact_reader, "_piece", lambda *given: pieces.append(1) or make(*given))
    found = iter(r.snapshot())
    assert [next(found) for _ in range(5)]
    assert len(pieces) == 2


# threads


class Read(NamedTuple):
    """What readers of each kind see of one version."""

    facts: frozenset[str]
    asserted: frozenset[str]
    derived: frozenset[str]
    violations: frozenset[str]
    answers: frozenset[str]
    dump: frozenset[bytes]
    size: int


def texts(found: Any) -> frozenset[str]:
    return frozenset(map(str, found))


def dumped(source: lf.Reasoner | FactSnapshot) -> frozenset[bytes]:
    out = io.BytesIO()
    source.dump(out, format="rules")
    return frozenset(out.getvalue().splitlines())


def answered(source: lf.Reasoner | FactSnapshot) -> frozenset[str]:
    rows: Any = source.query(ANSWERS)
    return frozenset(map(_row, rows))


def _row(row: Any) -> str:
    return " ".join(map(str, row))


KINDS: dict[str, Callable[[Any], Any]] = {
    "facts": lambda r: texts(r.facts()),
    "asserted": lambda r: texts(r.facts(derived=False)),
    "derived": lambda r: texts(r.facts(derived=True)),
    "violations": lambda r: texts(r.violations()),
    "answers": answered,
    "dump": dumped,
    "size": len,
}


def everything(source: lf.Reasoner | FactSnapshot) -> Read:
    return Read(**{name: read(source) for name, read in KINDS.items()})


def changes(r: lf.Reasoner, seed: int, count: int) -> Iterator[object]:
    """One change after the other, of every kind; the same ones for every reasoner."""
    pick, now, has_extra = random.Random(seed), 0, False
    names = [NamedNode(f"x:{name}") for name in "abcdefg"]
    for number in range(count):
        s, o = pick.choice(names), pick.choice(names)
        match number % 7:
            case 0 | 1:
                yield r.add([Triple(s, P, o), ("word", number % 5)])
            case 2:
                yield r.apply(add=[Quad(s, P, o, G)], remove=[Triple(o, P, s)])
            case 3:
                yield r.remove([Triple(s, P, o), Quad(o, P, s, G), ("word", number % 5)])
            case 4:
                yield r.remove_rules("extra") if has_extra else r.add_rules(EXTRA)
                has_extra = not has_extra
            case 5:
                yield r.push(f"reading(s{number % 3}) .", at=now + 1)
                now += 2
                yield from r.ticks(now)
            case _:
                yield r.update(PASSING)


@contextmanager
def restless() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def read_beside_a_writer(r: lf.Reasoner, seed: int, count: int) -> int:
    """Readers of every kind, each in a thread, while another one writes: how often they read."""
    log: dict[int, Read] = {}
    alone = lf.Reasoner(rules=RULES)
    for each in (alone, r):
        each.add([ALWAYS])
    for _ in chain([None], changes(alone, seed, count)):
        log[alone.snapshot().seq] = everything(alone)
    writing = [True]
    why = str(r.explain(ALWAYS))

    def write() -> None:
        try:
            for _ in changes(r, seed, count):
                pass
        finally:
            writing[0] = False

    def read(name: str) -> int:
        committed, count = {getattr(state, name) for state in log.values()}, 0
        while writing[0] or not count:
            assert KINDS[name](r) in committed, name
            assert ALWAYS in r
            assert NEVER not in r
            count += 1
        return count

    def hold() -> int:
        seen = [0]
        while writing[0] or len(seen) < 2:
            with r.snapshot() as s:
                assert everything(s) == log[s.seq]
                assert ALWAYS in s
                assert s.seq >= seen[-1]
                seen.append(s.seq)
        return len(seen)

    def follow() -> int:
        committed, count = {state.answers for state in log.values()}, 0
        while writing[0] or not count:
            net, wrong = Counter[str](), list[frozenset[str]]()

            def hear(changes: list[Change], net: Any = net, wrong: Any = wrong) -> None:
                for change in changes:
                    net[_row(change.row)] += change.count if change.op == "+" else -change.count
                if frozenset(+net) not in committed or -net:
                    wrong.append(frozenset(net))

            with r.watch(ANSWERS, on_change=hear) as watch:
                for _ in range(5):
                    assert frozenset(map(_row, watch.answers())) in committed
                    assert str(r.explain(ALWAYS)) == why
            assert not wrong
            count += 1
        return count

    with ThreadPoolExecutor(10) as pool:
        done = [pool.submit(write), pool.submit(hold), pool.submit(follow)]
        done += [pool.submit(read, kind) for kind in KINDS]
        found = [work.result() for work in done]
    assert everything(r) == log[r.snapshot().seq] == log[max(log)]
    assert r.verify()
    return sum(each or 0 for each in found)


@pytest.mark.slow
def test_every_read_beside_a_writer_is_one_committed_version() -> None:
    with restless():
        assert read_beside_a_writer(lf.Reasoner(rules=RULES), 7, 70) > 9
