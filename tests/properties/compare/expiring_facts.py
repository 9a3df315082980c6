"""Expiring facts beside what they mean: arrivals, renewals, late ones, retractions, endings, rule changes.

What the engine keeps is compared with what it means: a fact holds until the latest time such
that the facts told to hold until then, or longer, derive it.  No time is ever computed here.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Triple
from tests.oracle import Row, model
from tests.oracle.naive import TRIPLE, row_of
from tests.properties.generate.programs import draw_case
from tests.properties.generate.vocabulary import IRIS

from livefacts.engine.embedded.expiry.timed_engine import (
    FOREVER,
    NEVER,
    ExpiringEngine,
    ExpiryDelta,
)
from livefacts.errors import LimitError
from livefacts.language.formula import Aggregate, Negation
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact, Symbol
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.rulelang.rule_parser import parse

Untils = dict[Row, int]
Dated = list[tuple[Row, int]]
LENGTHS = (0, 1, 2, 3, 4, 6, 8, None)
"""How long an arrival lasts from now on, None for ever; what has ended already comes too late."""

WAYS = (
    "near(?x, ?z) :- near(?x, ?y), near(?y, ?z) .",
    "linked(?x, ?y) :- near(?x, ?y) . linked(?x, ?z) :- linked(?x, ?y), near(?y, ?z) .",
    "linked(?x, ?y) :- near(?y, ?x) . near(?x, ?y) :- linked(?x, ?y) .",
    "route(?x, ?y, ?z) :- near(?x, ?y), near(?y, ?z), ?x != ?z . near(?x, ?z) :- route(?x, ?y, ?z) .",
    "",
)


class Book:
    """An expiring engine under terms: rows of the oracle in, rows out."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._dictionary = Dictionary()
        self.engine = ExpiringEngine(self._dictionary, rules)

    def asserted(
        self, dated: Dated
    ) -> tuple[dict[int, NDArray[np.int32]], dict[int, NDArray[np.int64]]]:
        """Facts by shape, and their times."""
        facts: dict[int, list[list[int]]] = {}
        times: dict[int, list[int]] = {}
        for (name, terms), until in dated:
            ids = [self._dictionary.encode_one(term) for term in terms]
            shape = TRIPLES
            if name != TRIPLE:
                shape, ids = 1 + len(terms), [self._dictionary.encode_one(Symbol(name)), *ids]
            facts.setdefault(shape, []).append(ids)
            times.setdefault(shape, []).append(until)
        return (
            {shape: np.array(ids, np.int32) for shape, ids in facts.items()},
            {shape: np.array(each, np.int64) for shape, each in times.items()},
        )

    def untils(self, after: int = NEVER) -> Untils:
        """Everything that lasts beyond a time but the engine's own, and until when."""
        found: Untils = {}
        for shape in self.engine.store.relations:
            facts, times = self.engine.rows(shape, after)
            found |= dict(zip(self.rows(shape, facts), times.tolist(), strict=True))
        return {row: until for row, until in found.items() if not _is_inner(row)}

    def rows(self, shape: int, facts: NDArray[np.int32]) -> list[Row]:
        decoded = [tuple(map(self._dictionary.decode_one, ids)) for ids in facts.tolist()]
        if shape == TRIPLES:
            return [(TRIPLE, terms) for terms in decoded]
        return [(str(terms[0]), terms[1:]) for terms in decoded]

    def apply(self, delta: ExpiryDelta, before: Untils) -> Untils:
        """The times after a change, from those before it and what it says it did."""
        after = dict(before)
        for shape, changed in delta.shapes.items():
            times = zip(changed.before.tolist(), changed.until.tolist(), strict=True)
            for row, (old, new) in zip(self.rows(shape, changed.facts), times, strict=True):
                if _is_inner(row):
                    continue
                assert after.pop(row, NEVER) == old != new, f"{row}: {old}, {new}"
                if new != NEVER:
                    after[row] = new
        return after


def meant(program: Program, asserted: Untils, now: int) -> Untils:
    """Until when everything holds: the latest time whose facts derive it."""
    found: Untils = {}
    for time in sorted({until for until in asserted.values() if until > now}):
        holding = [_fact(row) for row, until in asserted.items() if until >= time]
        found |= dict.fromkeys(model(program, holding), time)
    return found


def _is_inner(row: Row) -> bool:
    """Whether a fact is the engine's own."""
    return ":" in row[0]


def _fact(row: Row) -> Triple | Fact:
    name, terms = row
    return Triple(*terms) if name == TRIPLE else Fact(name, terms)  # type: ignore[arg-type]


def is_positive(rule: Rule) -> bool:
    return rule.head is not None and not any(isinstance(f, Negation | Aggregate) for f in rule.body)


@dataclass(slots=True)
class Life:
    """One engine with its facts and rules, as they should be."""

    seed: int
    seen: Counter[str]
    pick: random.Random = field(init=False)
    stock: list[Row] = field(init=False)
    spare: list[Rule] = field(init=False)
    rules: list[Rule] = field(init=False)
    asserted: Untils = field(default_factory=dict)
    shown: Untils = field(default_factory=dict)
    now: int = 0
    book: Book = field(init=False)

    def __post_init__(self) -> None:
        self.pick = random.Random(f"expiring {self.seed}")
        case = draw_case(self.seed, plain=self.seed % 2 == 0)
        ways, edges = self._ways()
        rules = [rule for rule in Program().plus((*ways, *case.rules)) if is_positive(rule)]
        stock = sorted(set(map(row_of, case.facts)), key=str)
        self.stock = edges + self.pick.sample(stock, min(len(stock), 16))
        self.spare = [rule for rule in rules if self.pick.random() < 0.2]
        self.rules = [rule for rule in rules if rule not in self.spare]
        self.book = Book(self.rules)

    def _ways(self) -> tuple[tuple[Rule, ...], list[Row]]:
        """Paths along edges, in one of several ways: facts with many derivations."""
        rules = parse(self.pick.choice(WAYS)).rules
        nodes = IRIS[: self.pick.choice((3, 4, 5))]
        edges = [("near", tuple(self.pick.choices(nodes, k=2))) for _ in range(8)]
        return rules, sorted(set(edges), key=str)

    def steps(self, count: int) -> Iterator[str]:
        """Where the engine is not what it should be, step by step."""
        for number in range(count):
            self.now += self.pick.choice((0, 1, 1, 2))
            self._note(self.book.engine.expire(self.now), "endings")
            self.asserted = {row: until for row, until in self.asserted.items() if until > self.now}
            yield from self._wrong(f"step {number}, after the endings at {self.now}")
            what = self._change()
            yield from self._wrong(f"step {number} at {self.now}, {what}")

    def _note(self, delta: ExpiryDelta, what: str) -> None:
        moved = [changed for changed in delta.shapes.values() if changed.moved().any()]
        self.seen[f"{what} that change something"] += bool(delta.shapes)
        self.seen[f"{what} that move a time"] += bool(moved)
        self.seen[what] += 1
        self.shown = self.book.apply(delta, self.shown)

    def _wrong(self, where: str) -> Iterator[str]:
        expected = meant(Program(tuple(self.rules)), self.asserted, self.now)
        if expected.keys() - self.asserted.keys():
            self.seen["states with conclusions"] += 1
        self.seen["states"] += 1
        for name, found in (("is", self.book.untils()), ("says", self.shown)):
            if found != expected:
                yield f"{where}: it {name} {_difference(found, expected)}"

    def _change(self) -> str:
        chosen = self.pick.choices(
            ("give", "lower", "both", "rules", "refused"), (35, 25, 20, 15, 5)
        )[0]
        give = self._arrivals() if chosen in ("give", "both", "refused") else []
        lower = self._retractions() if chosen in ("lower", "both") else []
        added, removed = self._rule_change() if chosen == "rules" else ([], [])
        engine = self.book.engine
        engine.limit = 0 if chosen == "refused" else None
        try:
            delta = engine.change(
                give=self.book.asserted(give),
                lower=self.book.asserted(lower),
                add_rules=added,
                remove_rules=removed,
            )
        except LimitError:
            self.seen["refused"] += 1
            return "refused"
        self._note(delta, chosen)
        for row, until in lower:
            self._assert(row, min(until, self.asserted.get(row, NEVER)))
        for row, until in give:
            self._assert(row, max(until, self.asserted.get(row, NEVER)))
        self.rules = [rule for rule in self.rules if rule not in removed] + added
        return f"{chosen}: gave {give}, lowered {lower}, rules +{added} -{removed}"

    def _assert(self, row: Row, until: int) -> None:
        self.asserted.pop(row, None)
        if until > self.now:
            self.asserted[row] = until

    def _arrivals(self) -> Dated:
        chosen = (
            self.pick.choices(self.stock, k=self.pick.choice((2, 4, 6, 9))) if self.stock else []
        )
        return [(row, self._time()) for row in chosen]

    def _time(self) -> int:
        length = self.pick.choice(LENGTHS)
        return FOREVER if length is None else self.now + length

    def _retractions(self) -> Dated:
        """Facts of which most are told, and each once: two times for one would be no order."""
        known = sorted(self.asserted, key=str)
        chosen = self.pick.sample(known, min(len(known), self.pick.choice((1, 1, 2, 3))))
        chosen += self.pick.sample(self.stock, min(1, len(self.stock)))
        times = (NEVER if self.pick.random() < 0.7 else self._time() for _ in iter(int, 1))
        return list(dict(zip(chosen, times, strict=False)).items())

    def _rule_change(self) -> tuple[list[Rule], list[Rule]]:
        removed = [rule for rule in self.rules if self.pick.random() < 0.3]
        added = [rule for rule in self.spare if self.pick.random() < 0.5]
        self.spare = [rule for rule in self.spare if rule not in added] + removed
        return added, removed


def window_differences(seed: int, ticks: int) -> Iterator[str]:
    """Where windows of several lengths, read from one state of arrival times, are wrong."""
    life = Life(seed, Counter())
    pick, lengths = life.pick, (1, 2, 4, 7)
    for now in range(100, 100 + ticks):
        life.book.engine.expire(now - max(lengths))
        late = (FOREVER, now, now, now, now - 1, now - 3)
        arrivals = [(row, pick.choice(late)) for row in pick.choices(life.stock, k=4)]
        life.book.engine.give(*life.book.asserted(arrivals))
        for row, time in arrivals:
            life.asserted[row] = max(time, life.asserted.get(row, NEVER))
        for length in lengths:
            holding = [_fact(row) for row, time in life.asserted.items() if time > now - length]
            found = life.book.untils(after=now - length).keys()
            wrong = found ^ model(Program(tuple(life.rules)), holding)
            if wrong:
                yield f"at {now}, window of {length}: wrong about {wrong}"


def _difference(found: Untils, expected: Untils) -> str:
    rows = sorted(found.keys() | expected.keys(), key=str)
    wrong = [row for row in rows if found.get(row) != expected.get(row)]
    return ", ".join(f"{row} {found.get(row)} instead of {expected.get(row)}" for row in wrong[:5])
