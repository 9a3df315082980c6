"""Report answers: kept true change by change, or asked anew at each report.

A query of triple patterns and comparisons is a rule: its head has every variable of the
patterns, so each match is one fact, and what comes and goes of them are the changes of the
answers.  Others are followed by a flow (`flow_answers`).  The few that are left are put to a
store that holds the world.

All give bags of rows; the rows of those that are followed are ids, and become terms when
they are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

import numpy as np

from livefacts.engine.contract import IdDelta, Ids
from livefacts.language.program import Rule
from livefacts.language.registration import StreamOperator
from livefacts.service.continuous.findings import Found, found_answer, found_rows
from livefacts.service.continuous.row_projection import Projection
from livefacts.service.queries.results import Answer, QueryResult, Row

Bag: TypeAlias = Counter[tuple[int, ...]]


class FollowedAnswers:
    """The answers of a query of patterns and comparisons."""

    def __init__(self, projection: Projection, relation: StreamOperator) -> None:
        self.projection = projection
        self.rules: tuple[Rule, ...] = (projection.rule,)
        self._relation = relation
        self._now: Bag = Counter()
        self._changed: Bag = Counter()

    def resume(self, reported: Iterable[tuple[int, ...]]) -> None:
        """Compare the next report with rows that were reported elsewhere."""
        changed = Counter(self.now())
        changed.subtract(reported)
        self._changed = Counter({row: n for row, n in changed.items() if n})

    def now(self) -> Iterable[tuple[int, ...]]:
        """The rows of a report of everything."""
        return list(self._now if self.projection.is_distinct else self._now.elements())

    def reported(self) -> Iterable[tuple[int, ...]]:
        """The rows of the last report, before it was compared with another."""
        bag = Counter(set(self._now)) if self.projection.is_distinct else self._now.copy()
        bag.subtract(self._changed)
        return bag.elements()

    def follow(self, delta: IdDelta) -> None:
        """The world has changed."""
        self._take(delta.added, 1)
        self._take(delta.removed, -1)

    def _take(self, facts: Mapping[int, Ids], sign: int) -> None:
        rows = facts.get(self.projection.shape)
        if rows is None or not len(rows):
            return
        matches = rows[self.projection.matches(rows)]
        answers = list(map(tuple, self.projection.answers(matches).tolist()))
        if self._relation is not StreamOperator.ALL:
            self._note(answers, sign)
        elif sign > 0:
            self._now.update(answers)
        else:
            self._remove(answers)

    def _remove(self, answers: list[tuple[int, ...]]) -> None:
        now = self._now
        for answer in answers:
            left = now[answer] - 1
            if left:
                now[answer] = left
            else:
                now.pop(answer)

    def _note(self, answers: list[tuple[int, ...]], sign: int) -> None:
        """Take answers in, and what that changes since the last report."""
        for answer in answers:
            was = self._now[answer]
            self._now[answer] = was + sign
            if not was + sign:
                self._now.pop(answer)
            if self.projection.is_distinct and was and was + sign:
                continue
            self._changed[answer] += sign
            if not self._changed[answer]:
                self._changed.pop(answer)

    def report(self) -> Found:
        """The answers to report now; the next report is compared with this one."""
        if self.projection.query.form == "ASK":
            return found_answer(bool(self._now))
        bag = self._reported()
        self._changed = Counter()
        return self.projection.found(list(bag if self.projection.is_distinct else bag.elements()))

    def held_ids(self) -> Iterator[Ids]:
        """The ids of answers that have come or gone since the last report."""
        if self._changed:
            yield np.array(list(self._changed), np.int32)

    def _reported(self) -> Bag:
        if self._relation is StreamOperator.ALL:
            return self._now
        sign = 1 if self._relation is StreamOperator.NEW else -1
        return Counter({row: n * sign for row, n in self._changed.items() if n * sign > 0})


class AskedAnswers:
    """The answers of any query, asked anew at each report."""

    def __init__(
        self, ask: Callable[[], QueryResult], relation: StreamOperator, reason: str = ""
    ) -> None:
        self._ask = ask
        self.reason = reason
        """Why they are not followed change by change."""
        self._relation = relation
        self._before: list[Row] = []

    def resume(self, reported: Iterable[Row]) -> None:
        """Compare the next report with rows that were reported elsewhere."""
        self._before = list(reported)

    def reported(self) -> Iterable[Row]:
        """The rows of the last report, before it was compared with another."""
        return self._before

    def report(self) -> Found:
        """The answers to report now; the next report is compared with this one."""
        result = self._ask()
        if isinstance(result, Answer):
            return found_answer(bool(result))
        names = tuple(result.variables)
        rows = [Row.of(names, tuple(row)) for row in result]
        before, self._before = self._before, rows
        if self._relation is StreamOperator.NEW:
            rows = _minus(rows, before)
        elif self._relation is StreamOperator.GONE:
            rows = _minus(before, rows)
        return found_rows(names, rows)


def _minus(rows: Iterable[Row], others: Iterable[Row]) -> list[Row]:
    """The rows of one bag without those of another, in their order."""
    left = Counter(others)
    found = []
    for row in rows:
        if left[row]:
            left[row] -= 1
        else:
            found.append(row)
    return found
