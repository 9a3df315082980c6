"""Totals of groups: written as the query engine writes them, at the cost of what changes."""

from __future__ import annotations

import sys
from collections import Counter
from decimal import Decimal
from random import Random

import pytest
from pyoxigraph import Literal, NamedNode, Store

from livefacts.engine.flow.group_totals import Grouper
from livefacts.engine.patterns.signed_rows import no_rows
from livefacts.model.facts import Term
from livefacts.model.namespaces import XSD
from livefacts.model.ordered_bags import MOST, OrderedBag
from livefacts.plan.continuous.flow import Group, Total
from livefacts.store.terms.dictionary import Dictionary

FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE")
DECIMAL = NamedNode(XSD + "decimal")


def decimal(text: str) -> Literal:
    return Literal(text, datatype=DECIMAL)


def filled(function: str, values: list[Literal]) -> tuple[Grouper, list[int]]:
    dictionary = Dictionary()
    grouper = Grouper(Group((), (Total(function, (0,)),)), dictionary)
    ids = [dictionary.encode_one(value) for value in values]
    grouper.fill(no_rows(1))
    grouper.apply({(each,): 1 for each in ids})
    return grouper, ids


def calls_of_a_change(function: str, size: int) -> int:
    """Functions that are called, also built in, when a value goes and comes back."""
    grouper, ids = filled(function, [decimal(f"{(n * 7919) % size}.25") for n in range(size)])
    calls = 0

    def note(_frame: object, event: str, _what: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    row = (ids[size // 2],)
    grouper.apply({row: -1})
    grouper.apply({row: 1})
    sys.setprofile(note)
    try:
        grouper.apply({row: -1})
        grouper.apply({row: 1})
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_change_of_a_large_group_takes_as_many_calls_as_one_of_a_small_group(
    function: str,
) -> None:
    assert calls_of_a_change(function, 20_000) <= calls_of_a_change(function, 20) + 4


def test_least_and_greatest_take_few_more_calls_than_a_count() -> None:
    count = calls_of_a_change("COUNT", 2_000)
    assert max(calls_of_a_change(each, 2_000) for each in ("MIN", "MAX", "AVG")) < 2 * count + 60


class Compared(int):
    """A number that notes how often it was compared."""

    times = 0

    def __lt__(self, other: int) -> bool:
        Compared.times += 1
        return int(self) < int(other)


def test_keys_that_come_and_go_are_in_order_after_few_comparisons() -> None:
    pick, known = Random(7), Counter[int]()
    bag: OrderedBag[int] = OrderedBag(lambda key: (Compared(key),))
    for turn in range(20_000):
        number, Compared.times = pick.randrange(8_000), 0
        change = -1 if known[number] and pick.random() < 0.6 else pick.randrange(1, 3)
        bag.change([(number, change)])
        known[number] += change
        known += Counter()
        assert Compared.times <= 40
        if turn % 1_000 == 0:
            assert (bag.first, bag.last) == (min(known), max(known))
            whole = sorted(known.elements())
            assert [key for (_, key), _ in bag.ranked()] == sorted(known)
            for place in (0, len(whole) // 3, len(whole) - 1):
                assert bag.at(place) == whole[place]
            assert len(bag) == len(whole)
    assert len(known) > 4 * MOST
    for number, count in known.items():
        bag.change([(number, -count)])
    assert not bag


def test_keys_that_come_all_at_once_stand_as_if_they_came_one_by_one() -> None:
    pick = Random(11)
    changes = [(pick.randrange(3_000), pick.choice([1, 1, 2, -1])) for _ in range(4_000)]
    at_once: OrderedBag[int] = OrderedBag(lambda key: (key,))
    at_once.change(changes)
    counts = Counter[int]()
    for key, count in changes:
        counts[key] += count
    assert list(at_once.ranked()) == [((k, k), n) for k, n in sorted(counts.items()) if n]


@pytest.mark.parametrize("function", ["SUM", "AVG"])
def test_totals_of_exact_numbers_are_those_of_the_query_engine(function: str) -> None:
    pick = Random(3)
    for _ in range(300):
        numbers = [drawn(pick) for _ in range(pick.randrange(1, 9))]
        if pick.random() < 0.3:
            numbers = [Literal(int(Decimal(number.value))) for number in numbers]
        values = " ".join(map(str, numbers))
        text = f"SELECT ({function}(?v) AS ?m) {{ VALUES ?v {{ {values} }} }}"
        ((expected,),) = Store().query(text)  # type: ignore[misc]
        assert total(function, numbers) == expected, numbers


def total(function: str, numbers: list[Literal]) -> Term | None:
    dictionary = Dictionary()
    grouper = Grouper(Group((), (Total(function, (0,)),)), dictionary)
    grouper.fill(no_rows(1))
    made = grouper.apply(Counter((dictionary.encode_one(number),) for number in numbers))
    (row,) = (row for row, count in made.items() if count > 0)
    return dictionary.decode_one(row[0])


def drawn(pick: Random) -> Literal:
    digits = pick.randrange(10 ** pick.randrange(1, 15))
    sign = pick.choice(["", "-"])
    return decimal(f"{sign}{digits}.{pick.randrange(10 ** pick.randrange(1, 4))}")
