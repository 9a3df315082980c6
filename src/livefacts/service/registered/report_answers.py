"""Report answers: asked anew at each report, of a store that holds the world.

These are the few queries that neither rules (`timed_matches`) nor a flow (`flow_answers`) can follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from livefacts.language.registration import StreamOperator
from livefacts.service.continuous.findings import Found, found_answer, found_rows
from livefacts.service.queries.results import Answer, QueryResult, Row


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
