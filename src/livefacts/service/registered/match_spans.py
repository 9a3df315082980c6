"""Match spans: matches of a query that windows of some lengths see, and others do not.

What a match needs has a time in a state of windows of every length, and so has what denies it:
a window sees the match if it begins before the first time, and not before the second one.  A match
that can be found in several ways is seen by the windows that one of them lets through.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

import numpy as np

from livefacts.engine.contract import Flags, Ids
from livefacts.engine.embedded.expiry.timed_engine import FOREVER, NEVER, ExpiryDelta
from livefacts.language.formula import Formula, PredicateAtom, TripleAtom, Variable, variables_of
from livefacts.language.program import Rule
from livefacts.plan.rules.unfolding import MatchWay
from livefacts.service.continuous.row_projection import Projection
from livefacts.service.registered.timed_matches import Chunks, MatchChunks

Span: TypeAlias = tuple[int, int]
"""Windows see it that begin at the first time or later, and before the second."""
Row: TypeAlias = tuple[int, ...]
Changed: TypeAlias = Iterator[tuple[Row, int]]
"""Rows of ids, and until when they hold now."""


@dataclass(slots=True)
class TimedWay:
    """One way to a match: until when it holds, and until when what denies it does."""

    until: int = NEVER
    denied: dict[tuple[int, Row], int] = field(default_factory=dict)

    @property
    def span(self) -> Span:
        return max(self.denied.values(), default=NEVER), self.until


class WayRules:
    """The rules that find matches by one way, and those that find what denies them."""

    def __init__(self, way: MatchWay, name: str) -> None:
        body, denying = _variables(way.body), _variables(p for group in way.absent for p in group)
        own = [v for v in denying if v in body and v not in way.shown]
        head = PredicateAtom(name, (*way.shown, *own))
        self.found = Rule(head, way.body, id=name)
        self.width = len(head.arguments)
        self.denials = []
        for number, group in enumerate(way.absent):
            inner = [v for v in _variables(group) if v not in body]
            made = PredicateAtom(f"{name}.{number}", (*head.arguments, *inner))
            self.denials.append(Rule(made, (head, *group), id=made.name))

    @property
    def rules(self) -> list[Rule]:
        return [self.found, *self.denials]


def _variables(parts: Iterable[Formula]) -> dict[Variable, None]:
    return dict.fromkeys(v for part in parts for v in variables_of(part))


class SpannedMatches:
    """All matches of a query in a state, by ways that something may deny."""

    def __init__(self, projection: Projection, ways: Sequence[MatchWay]) -> None:
        self.projection = projection
        name = projection.rule.id
        self._ways = [WayRules(way, f"{name}.{number}") for number, way in enumerate(ways)]
        self.rules = tuple(rule for way in self._ways for rule in way.rules)
        self._ids = {rule.id: projection.id_of(rule.id) for rule in self.rules}
        self._timed: dict[Row, dict[tuple[int, Row], TimedWay]] = {}
        self._kept: dict[Row, tuple[int, tuple[Span, ...]]] = {}
        """The number of each match, and the spans under which it is kept."""
        self._numbers = count()
        self._chunks = MatchChunks[Span]()
        self._ends: defaultdict[int, set[Row]] = defaultdict(set)
        """The matches about which something ends at a time."""

    # changes

    def follow(self, delta: ExpiryDelta) -> None:
        """The state has changed."""
        width = len(self.projection.query.variables)
        touched: dict[Row, None] = {}
        for number, way in enumerate(self._ways):
            for row, until in self._changed(delta, way.found):
                touched[row[:width]] = None
                self._way(row[:width], (number, row[width:]), until).until = until
            for denial, rule in enumerate(way.denials):
                for row, until in self._changed(delta, rule, denial):
                    touched[row[:width]] = None
                    timed = self._way(row[:width], (number, row[width : way.width]), until)
                    timed.denied[denial, row[way.width :]] = until
        self._sort(touched)

    def _changed(self, delta: ExpiryDelta, rule: Rule, denial: int | None = None) -> Changed:
        assert isinstance(rule.head, PredicateAtom), "answers are facts of a predicate"
        changed = delta.shapes.get(1 + len(rule.head.arguments))
        if changed is None:
            return
        mine = changed.facts[:, 0] == self._ids[rule.id]
        if not mine.any():
            return
        mine[mine] = self._can_be_read(changed.facts[mine], rule.head, denial)
        yield from zip(
            map(tuple, changed.facts[mine, 1:].tolist()), changed.until[mine].tolist(), strict=True
        )

    def _can_be_read(self, facts: Ids, head: PredicateAtom, denial: int | None) -> Flags:
        """Which facts are about triples that RDF can write; what rules deny may be any."""
        query = self.projection.query
        columns = {v: 1 + at for at, v in enumerate(head.arguments) if isinstance(v, Variable)}
        columns |= {v: 1 + at for at, v in enumerate(query.variables)}
        patterns: Sequence[TripleAtom] = query.patterns
        if denial is not None:
            patterns = query.absent[denial].patterns if denial < len(query.absent) else ()
        return self.projection.can_be_read(facts, patterns, columns)

    def _way(self, row: Row, which: tuple[int, Row], until: int) -> TimedWay:
        if until != FOREVER:
            self._ends[until].add(row)
        return self._timed.setdefault(row, {}).setdefault(which, TimedWay())

    def _sort(self, rows: Iterable[Row]) -> None:
        """Keep matches under the spans that they have now."""
        taken, put = defaultdict(list), defaultdict(list)
        for row in rows:
            spans = _union([timed.span for timed in self._timed[row].values()])
            number, before = self._kept.get(row) or (next(self._numbers), ())
            self._kept[row] = number, spans
            for span in before:
                if span not in spans:
                    taken[span].append(number)
            for span in spans:
                if span not in before:
                    put[span].append((number, row))
        for span, numbers in taken.items():
            self._chunks.take(span, np.array(numbers))
        for span, found in put.items():
            self._put(span, found)

    def _put(self, span: Span, found: list[tuple[int, Row]]) -> None:
        numbers = np.array([number for number, _ in found], np.int64)
        name = self._ids[self._ways[0].found.id]
        rows = np.array([(name, *row) for _, row in found], np.int32)
        self._chunks.put(span, self.projection, numbers, rows)

    def forget(self, after: int) -> None:
        """No window looks at what has this time or an earlier one."""
        for time in [time for time in self._ends if time <= after]:
            for row in self._ends.pop(time):
                self._forget_row(row, after)
        for span in [span for span in self._chunks if span[1] <= after]:
            del self._chunks[span]

    def _forget_row(self, row: Row, after: int) -> None:
        left = {}
        for which, timed in self._timed.pop(row, {}).items():
            if timed.until > after:
                left[which] = timed
                timed.denied = {what: t for what, t in timed.denied.items() if t > after}
        if left:
            self._timed[row] = left
        else:
            self._kept.pop(row, None)

    # reading

    def seen(self, after: int) -> Chunks:
        """What a window sees that begins behind a time, the oldest first."""
        spans = [span for span in self._chunks if span[0] <= after < span[1]]
        return tuple(self._chunks[span] for span in sorted(spans, key=lambda span: span[1]))


def _union(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The same, without those that are empty, and with those in one that meet.

    >>> _union([(3, 5), (1, 2), (2, 4), (7, 7)])
    ((1, 5),)
    """
    found: list[Span] = []
    for since, until in sorted(spans) if len(spans) > 1 else spans:
        if found and since <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], until)
        elif since < until:
            found.append((since, until))
    return tuple(found)
