"""Bounds of changes: what passes them is undone, also where nothing is derived."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import livefacts as lf
from livefacts.model import work_bounds

PRODUCT = "pair(?x, ?y) :- left(?x), right(?y) ."
FRUITLESS = "none(?x) :- left(?x), right(?y), left(?z), ?w = ?x + ?y + ?z, ?w < 0 ."
MANY = [(name, number) for name in ("left", "right") for number in range(2_000)]


def ticking(step: float) -> Callable[[], float]:
    """A clock that moves on whenever it is looked at."""
    now = 0.0

    def look() -> float:
        nonlocal now
        now += step
        return now

    return look


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_bounds.time, "monotonic", ticking(1.0))


@pytest.mark.parametrize("limit", [1, 1_000, 100_000])
def test_a_limit_counts_while_facts_are_derived(limit: int) -> None:
    r = lf.Reasoner(PRODUCT, limit=limit)
    with pytest.raises(lf.LimitError, match=f"more than {limit:,} facts"):
        r.add(MANY)
    assert r.stats()["rule_instances"] < 2 * limit + 2_000
    assert len(r) == 0


def test_a_limit_that_is_just_met_is_not_passed() -> None:
    r = lf.Reasoner(PRODUCT, limit=10_000)
    r.add([(name, number) for name in ("left", "right") for number in range(100)])
    assert len(r) == 10_200


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("rules", [PRODUCT, FRUITLESS])
@pytest.mark.parametrize("same_as", ["rules", "merge"])
def test_a_change_that_takes_too_long_is_undone(rules: str, same_as: str) -> None:
    r = lf.Reasoner(rules, timeout=10, same_as=same_as)
    with pytest.raises(lf.LimitError, match="longer than 10 s; it was undone"):
        r.add(MANY)
    assert len(r) == 0
    assert r.verify()
    assert r.add("left(1) .")


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.apply(add=MANY, timeout=10),
        lambda r: r.apply(add=MANY, memory=1_000_000),
        lambda r: r.apply(
            add=MANY[:10],
            add_rules="n(0). n(?y) :- n(?x), ?y = ?x + 1, ?y < 900000000 .",
            timeout=10,
        ),
    ],
)
def test_bounds_may_be_given_for_one_change(change: Callable[[lf.Reasoner], Any]) -> None:
    r = lf.Reasoner(PRODUCT)
    with pytest.raises(lf.LimitError, match="it was undone"):
        change(r)
    assert len(r) == 0
    assert r.verify()


@pytest.mark.usefixtures("hasty")
def test_time_stands_where_it_got_to_when_the_bound_is_passed() -> None:
    r = lf.Reasoner("seen(?x) :- sometime p(?x) in [2] .", timeout=30)
    for second in range(100):
        r.push(f"p({second}) .", at=second)
    with pytest.raises(lf.LimitError, match="longer than 30 s"):
        r.advance(100)
    assert r.now is not None
    assert 0 < r.now < 100
    assert r.verify()


@pytest.mark.slow
def test_a_bound_on_memory_is_one_on_what_is_added() -> None:
    r = lf.Reasoner(PRODUCT, memory=20_000_000)
    for first in range(0, 300, 100):
        r.add([("left", number) for number in range(first, first + 100)])
    with pytest.raises(lf.LimitError, match="more than 20,000,000 bytes"):
        r.add([("right", number) for number in range(100_000)])
    assert len(r) == 300
    assert r.verify()


@pytest.mark.parametrize("bound", [{"timeout": 0}, {"timeout": -1}, {"memory": 0}])
def test_a_bound_under_which_nothing_can_be_done_is_refused(bound: dict[str, Any]) -> None:
    with pytest.raises(lf.InputError, match="is no"):
        lf.Reasoner(**bound)


def test_what_is_undone_is_not_bounded() -> None:
    looked = work_bounds.WorkBounds(1.0, None, lambda: 0)
    with work_bounds.within(looked), work_bounds.within(None):
        looked._until = 0.0
        work_bounds.look()


SEEN = "seen(?x) :- sometime p(?x) in [5] .\nearly(?x) :- p(?x), not seen(?x) ."
PAIRS = "@id pairs pair(?x, ?y) :- seen(?x), sometime p(?y) in [5], known(?z) ."
QUERY = "REGISTER QUERY q AS SELECT ?s FROM STREAM <x:s> [RANGE 5 STEP 1] { ?s <x:in> ?o }"


def streamed(limit: int | None) -> tuple[lf.Reasoner, Any]:
    """A reasoner with 60 facts in its windows, 60 that are still to come, and a query."""
    r = lf.Reasoner(SEEN, limit=limit)
    q = r.register(QUERY)
    for number in range(60):
        r.push(f"p({number}) .", at=1)
        r.push(f"<x:c{number}> <x:in> <x:room> .", at=1, stream="x:s")
    r.advance(3)
    r.push([("p", number) for number in range(60, 120)], at=4)
    return r, q


def outcome(r: lf.Reasoner, q: Any) -> list[object]:
    """What is true now and at the next time points, and what was reported."""
    found: list[object] = [r.now, sorted(map(str, r.facts())), [rule.id for rule in r.rules]]
    for point in (4, 7):
        r.advance(point)
        found.append(sorted(map(str, r.facts())))
    return [*found, [sorted(map(str, report)) for report in q.results()]]


KNOWN = [("known", number) for number in range(200)]
TIMED_CHANGES: dict[str, Callable[..., Any]] = {
    "rules with facts": lambda r, **bound: r.apply(add=KNOWN, add_rules=PAIRS, **bound),
    "rules over windows": lambda r, **bound: r.apply(
        add="known(1) .", add_rules=PAIRS, remove_rules=[r.rules[1]], **bound
    ),
    "no result": lambda r, **bound: r.apply(
        add=KNOWN,
        add_rules="none(?x) :- seen(?x), sometime p(?y) in [5], known(?z), ?x + ?y + ?z < 0 .",
        **bound,
    ),
}


@pytest.mark.parametrize("change", TIMED_CHANGES)
@pytest.mark.parametrize("bound", ["timeout", "limit", "memory"])
def test_a_change_of_rules_and_facts_beside_streams_is_all_or_nothing(
    change: str, bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    r, q = streamed(1_500 if bound == "limit" else None)
    twin, its_query = streamed(None)
    given = {"timeout": 0.5} if bound == "timeout" else {}
    if bound == "memory":
        given = {"memory": 1}
    if bound == "timeout":
        monkeypatch.setattr(work_bounds.time, "monotonic", ticking(1.0))
    if bound == "limit" and change == "no result":
        TIMED_CHANGES[change](r)  # nothing is derived, and so nothing is passed
        TIMED_CHANGES[change](twin)
    else:
        with pytest.raises(lf.LimitError):
            TIMED_CHANGES[change](r, **given)
    assert r.verify()
    assert outcome(r, q) == outcome(twin, its_query)
    assert r.verify()
