"""Answer rows: what a query or a program has found, as rows of a table.

What a program concludes is read from the journal: every change of a fact that one of its rules
concludes, with the time point at which it came or went.  So it can be read again as long as it
is not written down, whatever ended the process.  What a registered query reports waits in the
folder until it is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyoxigraph import Triple

from livefacts.language.formula import Family, family_of
from livefacts.language.program import Program
from livefacts.model.facts import Fact
from livefacts.service.reasoner.durable import DurableReasoner
from livefacts.service.registered.reports import Report
from livefacts.service.registered.scheduled_query import Registration

CAME, WENT = "+", "-"
BATCH, TIME, OP, FACT = "batch", "time", "op", "fact"
CHANGE_SCHEMA = pa.schema(
    [(BATCH, pa.int64()), (TIME, pa.int64()), (OP, pa.string()), (FACT, pa.string())]
)
RESERVED = (BATCH, TIME, "since", "until", "correction", "error")
_ANY_TRIPLE = None


@dataclass(frozen=True, slots=True)
class Conclusions:
    """Which facts are answers of a program: those that its rules conclude."""

    families: frozenset[Family]

    @classmethod
    def of(cls, program: Program) -> Conclusions:
        """The predicates in the heads of its rules."""
        heads = [rule.head for rule in program.rules if rule.head is not None]
        return cls(frozenset(map(family_of, heads)))

    def has(self, fact: Triple | Fact) -> bool:
        """Whether rules may conclude it."""
        if isinstance(fact, Fact):
            return fact.name in self.families
        return fact.predicate in self.families or _ANY_TRIPLE in self.families


@dataclass(frozen=True, slots=True)
class TimedChange:
    """A fact came or went at a time point."""

    time: int
    op: str
    fact: Triple | Fact

    def row(self, batch: int) -> dict[str, Any]:
        """The same as a row of a table."""
        return {BATCH: batch, TIME: self.time, OP: self.op, FACT: str(self.fact)}


@dataclass(slots=True)
class ChangeReader:
    """Reads from the journal what came and went after a change."""

    reasoner: DurableReasoner
    conclusions: Conclusions
    upto: int
    """The last change whose answers are written down."""

    def read(self) -> tuple[list[TimedChange], int]:
        """The changes since, oldest first, and the number of the last one.

        What holds before time begins comes with the first time point.
        """
        found: list[TimedChange] = []
        before: set[Triple | Fact] = set()
        has_begun, seq = False, self.upto
        for time, added, removed in self._changes():
            if time is None:
                before = (before - removed) | added
                continue
            if not has_begun and self.upto == 0:
                first = self.reasoner.first_time_point
                start = time if first is None else first
                if start == time:
                    added, removed = (before - removed) | (added - before), removed - before
                else:
                    found += _sorted(start, before, set())
            has_begun = True
            found += _sorted(time, added, removed)
        is_known = has_begun or self.upto > 0
        return found, self.reasoner.seq if is_known else seq

    def _changes(self) -> Iterator[tuple[int | None, set[Any], set[Any]]]:
        has = self.conclusions.has
        for time, delta in self.reasoner.timed_changes_since(self.upto):
            added = {fact for fact in delta.added if has(fact)}
            yield time, added, {fact for fact in delta.removed if has(fact)}


def _sorted(time: int, added: Iterable[Any], removed: Iterable[Any]) -> Iterator[TimedChange]:
    for op, facts in ((WENT, removed), (CAME, added)):
        for fact in sorted(facts, key=str):
            yield TimedChange(time, op, fact)


# registered queries


@dataclass(slots=True)
class ReportReader:
    """Reads the reports of a query that are not written down yet."""

    query: Registration
    upto: int
    """The number of the last report that is written down."""

    def read(self) -> tuple[list[Report], int]:
        """The reports that have answers, oldest first, and the number of the last one of all."""
        waiting = [each for each in self.query.reports.waiting if each[0] > self.upto]
        found = [report for _, report in waiting if report or report.error is not None]
        return [*found], max([self.upto, *(number for number, _ in waiting)])

    def forget(self) -> None:
        """What is written down need not be kept here."""
        for _ in self.query.results():
            pass


def report_schema(variables: Collection[str]) -> pa.Schema:
    """The columns of a query's answers: its variables are columns of N-Triples text."""
    known = {
        BATCH: pa.int64(),
        TIME: pa.int64(),
        "since": pa.int64(),
        "until": pa.int64(),
        "correction": pa.bool_(),
        "error": pa.string(),
    }
    texts = [(column_of(name), pa.string()) for name in variables]
    return pa.schema([*known.items(), *texts])


def column_of(variable: str) -> str:
    """The column of a variable; one that is called like a column of every answer gets a mark."""
    return f"{variable}_" if variable.lower() in RESERVED else variable


def report_rows(report: Report, batch: int) -> Iterator[dict[str, Any]]:
    """The answers of a report, as rows; a report that could not be made is one row."""
    window = report.window
    head = {
        BATCH: batch,
        TIME: report.time,
        "since": None if window is None else window.since,
        "until": None if window is None else window.until,
        "correction": report.correction,
        "error": None if report.error is None else report.error.message,
    }
    if report.error is not None or (report.correction and not report):
        yield head
        return
    for row in report.rows:
        texts = {column_of(n): None if t is None else str(t) for n, t in row.as_dict().items()}
        yield head | texts
