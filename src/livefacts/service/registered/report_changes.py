"""Changes from report to report: what came and what went, instead of all answers again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from livefacts.language.registration import Relation
from livefacts.service.continuous.answer_change import CAME, WENT, Change
from livefacts.service.queries.results import Row
from livefacts.service.registered.reports import Report


class ReportChanges:
    """Compares each report of a query with the one before it."""

    def __init__(self, relation: Relation) -> None:
        self._relation = relation
        self._before: Counter[Row] = Counter()
        self._last: int | None = None
        self._seq = 0

    def of(self, report: Report) -> Iterator[Change]:
        """What a report changes: what goes comes first."""
        if report.correction and report.time != self._last:
            # What was wrong at an earlier time has been changed again since.
            return
        if report.error is not None:
            return
        self._last = report.last
        self._seq += 1
        rows = Counter(report.rows)
        if self._relation is Relation.ALL:
            gone, came = self._before - rows, rows - self._before
            self._before = rows
        else:
            is_new = self._relation is Relation.NEW
            gone, came = (Counter[Row](), rows) if is_new else (rows, Counter[Row]())
        for op, bag in ((WENT, gone), (CAME, came)):
            for row, count in bag.items():
                yield Change(op, row, count, self._seq, report.time)
