"""Random bags of rows are joined, left-joined and taken away as nested loops do it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from tests.properties.generate.seeds import chunks
from tests.properties.generate.solutions import draw_solutions

from livefacts.engine.queries import solution_joins
from livefacts.engine.queries.solution_joins import distinct, joined, left_joined, minus
from livefacts.engine.queries.solutions import UNBOUND, Flags, Solutions

CHUNK = 400
Row = frozenset
"""The variables of a row that are bound, with their values."""


@pytest.mark.parametrize("chunk", chunks(20, 2))
def test_bags_are_joined_as_nested_loops_join_them(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        pick = Random(seed)
        monkeypatch.setattr(solution_joins, "PIECE", pick.choice([1, 7, 1 << 18]))
        left, right = draw_solutions(pick, "abcd"), draw_solutions(pick, "bcde")
        mine, theirs = bag(left), bag(right)
        assert bag(joined(left, right)) == join_of(mine, theirs), f"seed {seed}"
        assert bag(left_joined(left, right)) == left_join_of(mine, theirs, 3), f"seed {seed}"
        found = left_joined(left, right, a_is_less_than_two)
        assert bag(found) == left_join_of(mine, theirs, 2), f"seed {seed}"
        assert bag(minus(left, right)) == minus_of(mine, theirs), f"seed {seed}"
        assert bag(distinct(left)) == Counter(set(mine)), f"seed {seed}"


def a_is_less_than_two(rows: Solutions) -> Flags:
    return rows.column("a") < 2


def bag(rows: Solutions) -> Counter:
    found: Counter = Counter()
    counts = [1] * rows.count if rows.counts is None else rows.counts.tolist()
    for number, count in enumerate(counts):
        values = ((name, int(column[number])) for name, column in rows.columns.items())
        found[frozenset(pair for pair in values if pair[1] != UNBOUND)] += count
    return found


def pairs(left: Counter, right: Counter) -> Iterator[tuple[Row, Row, int]]:
    for one, count in left.items():
        for other, times in right.items():
            if all(dict(other).get(name, value) == value for name, value in one):
                yield one, one | other, count * times


def join_of(left: Counter, right: Counter) -> Counter:
    found: Counter = Counter()
    for _, both, count in pairs(left, right):
        found[both] += count
    return found


def left_join_of(left: Counter, right: Counter, most: int) -> Counter:
    found, alone = Counter(), Counter(left)
    for one, both, count in pairs(left, right):
        if dict(both).get("a", UNBOUND) < most or most == 3:
            found[both] += count
            alone.pop(one, None)
    return found + alone


def minus_of(left: Counter, right: Counter) -> Counter:
    found = Counter(left)
    for one in left:
        for other in right:
            shared = dict(one).keys() & dict(other).keys()
            if shared and all(dict(one)[name] == dict(other)[name] for name in shared):
                found.pop(one, None)
    return found
