"""Random queries with timestamp(): every report has the times that the definition gives.

A row of the oracle carries the triples that its patterns have matched.  `timestamp(?x)` is the
greatest time, among arrivals in the windows, of those whose pattern has `?x`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any

import pytest
from tests.properties.generate.seeds import chunks
from tests.unit.service.registered.stage import TRANSITIVE, Stage, short

SEEDS, LAST = 120, 9
Fact = tuple[str, str, str]
"""Subject, predicate and object, in short."""
NODES, EDGES, VARIABLES = "ABC", ("in", "at"), "xyz"


@dataclass(frozen=True)
class Row:
    """Values of variables, and what the patterns have matched."""

    values: dict[str, str] = field(default_factory=dict)
    matches: tuple[tuple[Fact, Fact], ...] = ()

    def joined(self, other: Row) -> Row | None:
        if any(other.values.get(name, value) != value for name, value in self.values.items()):
            return None
        return Row({**self.values, **other.values}, self.matches + other.matches)

    def time(self, name: str, newest: dict[Fact, int]) -> int | None:
        """timestamp(?name)."""
        mine = (fact for pattern, fact in self.matches if f"?{name}" in pattern)
        return max((newest[fact] for fact in mine if fact in newest), default=None)


def matches(patterns: list[Fact], facts: set[Fact]) -> list[Row]:
    """All ways in which triple patterns are true together."""
    rows = [Row()]
    for pattern in patterns:
        found = [row for fact in facts if (row := matched(pattern, fact)) is not None]
        rows = [row for left in rows for right in found if (row := left.joined(right)) is not None]
    return rows


def matched(pattern: Fact, fact: Fact) -> Row | None:
    values: dict[str, str] = {}
    for slot, term in zip(pattern, fact, strict=True):
        if not slot.startswith("?"):
            if slot != term:
                return None
        elif values.setdefault(slot[1:], term) != term:
            return None
    return Row(values, ((pattern, fact),))


def optionally(left: list[Row], right: list[Row]) -> list[Row]:
    rows = []
    for row in left:
        found = [both for other in right if (both := row.joined(other)) is not None]
        rows += found or [row]
    return rows


@dataclass(frozen=True)
class Asked:
    """A query: two groups of patterns, how they go together, and what is asked of times."""

    first: list[Fact]
    second: list[Fact]
    way: str
    test: tuple[str, str, str] | None
    name: str
    ending: str

    @property
    def body(self) -> str:
        one, two = (" . ".join(map(written, group)) for group in (self.first, self.second))
        ways = {"": one, "OPTIONAL": f"{one} OPTIONAL {{ {two} }}"}
        group = ways.get(self.way, f"{{ {one} }} UNION {{ {two} }}")
        if self.test is None:
            return group
        left, operator, right = self.test
        other = right if right.isdecimal() else f"timestamp(?{right})"
        return f"{group} FILTER(timestamp(?{left}) {operator} {other})"

    def text(self, windows: str) -> str:
        times = f"timestamp(?{self.name})"
        if self.ending == "GROUP":
            return (
                f"REGISTER QUERY q AS SELECT ?x (MAX({times}) AS ?t) (COUNT(*) AS ?n) {windows} "
                f"WHERE {{ {self.body} }} GROUP BY ?x"
            )
        bind = f"BIND({times} AS ?t)" if self.ending == "BIND" else ""
        value = "?t" if bind else f"({times} AS ?t)"
        return (
            f"REGISTER QUERY q AS SELECT ?x ?y ?z {value} {windows} WHERE {{ {self.body} {bind} }}"
        )

    def answers(self, facts: set[Fact], newest: dict[Fact, int]) -> Counter[Any]:
        first, second = matches(self.first, facts), matches(self.second, facts)
        rows = {"": first, "OPTIONAL": optionally(first, second)}.get(self.way, first + second)
        rows = [row for row in rows if self._passes(row, newest)]
        if self.ending == "GROUP":
            return Counter(grouped(rows, self.name, newest))
        return Counter(
            (*(row.values.get(name) for name in VARIABLES), row.time(self.name, newest))
            for row in rows
        )

    def _passes(self, row: Row, newest: dict[Fact, int]) -> bool:
        if self.test is None:
            return True
        left, operator, right = self.test
        one = row.time(left, newest)
        other = int(right) if right.isdecimal() else row.time(right, newest)
        if one is None or other is None:
            return False
        return one > other if operator == ">" else one <= other


def grouped(rows: list[Row], name: str, newest: dict[Fact, int]) -> Iterator[Any]:
    """MAX of the times of each ?x, which is an error where a row has none."""
    groups: dict[str | None, list[int | None]] = {}
    for row in rows:
        groups.setdefault(row.values.get("x"), []).append(row.time(name, newest))
    for key, times in groups.items():
        known = [time for time in times if time is not None]
        yield key, max(known) if len(known) == len(times) else None, len(times)


def written(pattern: Fact) -> str:
    return " ".join(slot if slot.startswith("?") else f":{slot}" for slot in pattern)


def drawn(pick: Random) -> Asked:
    def patterns() -> list[Fact]:
        slots = [f"?{name}" for name in VARIABLES] * 2 + list(NODES[:1])
        made = [
            (pick.choice(slots), pick.choice(EDGES), pick.choice(slots))
            for _ in range(pick.choice((1, 1, 2)))
        ]
        return [("?x", pick.choice(EDGES), pick.choice(("?y", "A"))), *made][
            : pick.choice((1, 2, 2))
        ]

    first, second = patterns(), patterns()
    way = pick.choice(("", "", "OPTIONAL", "UNION"))
    known = first if way == "" else [*first, *second]
    names = sorted({slot[1:] for pattern in known for slot in pattern if slot[0] == "?"})
    right = pick.choice([*names, "3", "5"])
    test = (pick.choice(names), pick.choice((">", "<=")), right) if pick.random() < 0.4 else None
    return Asked(first, second, way, test, pick.choice(names), pick.choice(("BIND", "", "GROUP")))


@dataclass
class Window:
    """A window on the stream `s` or `t`."""

    stream: str
    range: int
    step: int = 1
    by_count: bool = False

    def __str__(self) -> str:
        extent = (
            f"TRIPLES {self.range}" if self.by_count else f"RANGE {self.range} STEP {self.step}"
        )
        return f"FROM STREAM <{self.stream}> [{extent}]"

    def inside(self, arrivals: list[tuple[int, str, Fact]], now: int) -> list[tuple[int, Fact]]:
        mine = [(time, fact) for time, stream, fact in arrivals if stream == self.stream]
        if self.by_count:
            known = sorted((each for each in mine if each[0] <= now), key=lambda each: each[0])
            return known[-self.range :]
        point = now // self.step * self.step
        return [(time, fact) for time, fact in mine if point - self.range < time <= point]


def closed(facts: set[Fact]) -> set[Fact]:
    """With what follows: `in` is transitive."""
    while True:
        pairs = [(s, o) for s, p, o in facts if p == "in"]
        new = {(a, "in", d) for (a, b), (c, d) in product(pairs, pairs) if b == c} - facts
        if not new:
            return facts
        facts = facts | new


def differences(seed: int) -> str | None:
    pick = Random(seed)
    has_rules = pick.random() < 0.4
    stage = Stage(TRANSITIVE if has_rules else "", start=1)
    asked = drawn(pick)
    windows = [Window("s", pick.randint(1, 4), pick.choice((1, 1, 2)), pick.random() < 0.2)]
    if pick.random() < 0.4:
        windows.append(Window("t", pick.randint(1, 4)))
    pool = list(product(NODES, EDGES, NODES))
    background = set(pick.sample(pool, pick.choice((0, 2))))
    for fact in background:
        stage.add(in_words(fact))
    text = asked.text(" ".join(map(str, windows)))
    query = stage.register(text)
    every = 1 if windows[0].by_count else windows[0].step
    arrivals: list[tuple[int, str, Fact]] = []
    for now in range(1, LAST):
        for _ in range(pick.randint(0, 3)):
            change(pick, stage, arrivals, pool, now)
        stage.advance(now)
        if now % every:
            continue
        inside = [each for window in windows for each in window.inside(arrivals, now)]
        newest: dict[Fact, int] = {}
        for time, fact in sorted(inside):
            newest[fact] = time
        facts = background | newest.keys()
        expected = asked.answers(closed(facts) if has_rules else facts, newest)
        found = reported(list(query.results())[-1])
        if found != expected:
            return f"seed {seed} at {now}\n{text}\n{arrivals}\n{background}\n{found}\n{expected}"
    return None


def change(
    pick: Random, stage: Stage, arrivals: list[tuple[int, str, Fact]], pool: list[Fact], now: int
) -> None:
    """A fact arrives, perhaps late, or one is taken back."""
    if arrivals and pick.random() < 0.15:
        time, stream, fact = arrivals.pop(pick.randrange(len(arrivals)))
        stage.retract(in_words(fact), time, stream)
        return
    time = max(1, now - pick.choice((0, 0, 0, 1, 2)))
    arrival = time, pick.choice("sst"), pick.choice(pool[: pick.choice((3, 18))])
    stage.push(in_words(arrival[2]), time, arrival[1])
    if arrival not in arrivals:
        arrivals.append(arrival)


def in_words(fact: Fact) -> str:
    subject, predicate, value = fact
    return f"{predicate} {subject} {value}"


def reported(report: Any) -> Counter[Any]:
    def cell(term: Any) -> Any:
        if term is None:
            return None
        return int(term.value) if term.value.isdecimal() else short(term)

    return Counter(tuple(map(cell, row)) for row in report.rows)


@pytest.mark.parametrize("chunk", chunks(6, 2))
def test_timestamps_are_those_of_the_newest_arrivals_that_match(chunk: int) -> None:
    for seed in range(chunk, SEEDS, 6):
        found = differences(seed)
        assert found is None, found
