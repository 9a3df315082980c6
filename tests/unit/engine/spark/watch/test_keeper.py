"""Keepers follow a query from micro-batch to micro-batch, whatever happens to their processes."""

from __future__ import annotations

import random
from collections import Counter, OrderedDict
from typing import Any

import pytest
from tests.properties.generate.queries import MessageMaker, QueryMaker

from livefacts import ContinuousQuery
from livefacts.engine.messages.standing_group import StandingGroup
from livefacts.engine.spark.watch import keeper as keeping
from livefacts.engine.spark.watch.keeper import Keeper, KeeperLog, KeptQuery, put_back
from livefacts.service.continuous.query_plans import build_of

pandas = pytest.importorskip("pandas")
QUERIES, BATCHES = 24, 10


class Kept:
    """A map and a value as Spark keeps them; counts what is read and written."""

    def __init__(self, pieces: dict[Any, Any] | None = None, head: Any = None) -> None:
        self.pieces = dict(pieces or {})
        self.head = head
        self.read = self.written = 0

    def copy(self) -> Kept:
        return Kept(self.pieces, self.head)

    def getValue(self, key: Any) -> Any:  # noqa: N802
        self.read += 1
        return self.pieces[key]

    def updateValue(self, key: Any, value: Any) -> None:  # noqa: N802
        self.written += 1
        self.pieces[key] = value

    def removeKey(self, key: Any) -> None:  # noqa: N802
        del self.pieces[key]

    def exists(self) -> bool:
        return self.head is not None

    def get(self) -> Any:
        return self.head

    def update(self, head: Any) -> None:
        self.head = head


def asked(text: str) -> KeptQuery:
    build = build_of(text, {})
    (standing,) = StandingGroup([build]).queries
    return KeptQuery(text, standing.variables, build)


def table(added: list[Any], removed: list[Any]) -> Any:
    rows = [(sign, triple) for sign, told in ((-1, removed), (1, added)) for triple in told]
    lines = [f"{t.subject} {t.predicate} {t.object}" for _, t in rows]
    return pandas.DataFrame(
        {"t": range(len(rows)), "sign": [sign for sign, _ in rows], "line": lines}
    )


def attempt(state: Kept, query: KeptQuery, told: Any) -> Counter[Any]:
    """What one attempt at a micro-batch changes."""
    log = KeeperLog(state, state)
    keeper = log.keeper(query)
    change = keeper.take([told])
    log.append(keeper)
    put_back(query, keeper)
    return Counter(change.itertuples(index=False, name=None))


def wanted(standing: ContinuousQuery, added: list[Any], removed: list[Any]) -> Counter[Any]:
    changes = standing.feed(add=added, remove=removed)
    return Counter(
        (c.op, *(None if t is None else str(t) for t in c.row), c.count) for c in changes
    )


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Lets another process take over: an old one, with the keepers that it had, or a new one."""
    known: list[Any] = [OrderedDict(), OrderedDict()]

    def take_over(number: int, anew: bool) -> None:
        if anew:
            known[number] = OrderedDict()
        monkeypatch.setattr(keeping, "_KEEPERS", known[number])

    take_over(0, anew=True)
    return take_over


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(QUERIES))
def test_lost_processes_and_attempts_that_are_not_committed_change_nothing(
    seed: int, processes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "PIECE", 3)
    monkeypatch.setattr(keeping, "FEWEST_LOGGED", 12)
    query = asked(QueryMaker(f"kept {seed}").query())
    standing, telling, chance = ContinuousQuery(query.text), MessageMaker(seed), random.Random(seed)
    state = Kept()
    for _ in range(BATCHES):
        added, removed = telling.message()
        told, right = table(added, removed), wanted(standing, added, removed)
        while chance.random() < 0.3:
            processes(chance.randrange(2), anew=chance.random() < 0.2)
            assert attempt(state.copy(), query, told) == right
        processes(chance.randrange(2), anew=chance.random() < 0.2)
        assert attempt(state, query, told) == right


def test_a_micro_batch_reads_nothing_and_writes_what_it_changes(processes: Any) -> None:
    query = asked("SELECT ?x (COUNT(?y) AS ?n) { ?x <x:p> ?y } GROUP BY ?x")
    telling, state = MessageMaker(1), Kept()
    for _ in range(5):
        attempt(state, query, table(*telling.message()))
    assert state.read == 0
    assert state.written == len(state.pieces) <= 5
    before = len(state.pieces)
    processes(1, anew=True)
    attempt(state, query, table(*telling.message()))
    assert state.read == before > 0


def test_what_does_not_concern_the_query_is_not_logged(processes: Any) -> None:
    state = Kept()
    told = pandas.DataFrame({"t": [1, 2], "sign": [1, -1], "line": ["<x:a> <x:q> <x:b>"] * 2})
    attempt(state, asked("SELECT ?x { ?x <x:p> ?y FILTER(?y > 3) }"), told)
    assert state.pieces == {}


def test_a_log_that_has_grown_becomes_the_triples_that_are_there(
    processes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "FEWEST_LOGGED", 4)
    query, state = asked("SELECT DISTINCT ?x { ?x <x:p> ?y }"), Kept()
    for number in range(40):
        line = f"<x:a> <x:p> <x:{number % 2}>"
        told = pandas.DataFrame({"t": [1], "sign": [1 - number // 2 % 2 * 2], "line": [line]})
        attempt(state, query, told)
    lines = [line for _, text in state.pieces.values() for line in text.split("\n")]
    assert len(lines) <= 6
    keeper = Keeper(query)
    for _, text in state.pieces.values():
        keeper.replay(text)
    assert keeper.snapshot() == []
