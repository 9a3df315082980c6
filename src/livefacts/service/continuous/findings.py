"""Findings: the rows of a report, counted or turned into terms only when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pyoxigraph import Literal

from livefacts.service.queries.results import Row
from livefacts.store.terms.dictionary import Loan

ASKED = ("answer",)


@dataclass(frozen=True)
class Found:
    """The names of the columns, and ways to the number of the rows and to the rows."""

    names: tuple[str, ...]
    is_empty: bool
    counted: Callable[[], int] = field(repr=False)
    read: Callable[[], Iterable[Row]] = field(repr=False)
    loan: Loan | None = field(default=None, repr=False)
    """Keeps the terms until the rows are read."""

    @cached_property
    def count(self) -> int:
        """How many rows there are."""
        return self.counted()

    def rows(self) -> tuple[Row, ...]:
        """The rows, as terms."""
        return tuple(self.read())


def found_rows(names: tuple[str, ...], rows: Sequence[Row]) -> Found:
    """Rows that are known."""
    return Found(names, not rows, lambda: len(rows), lambda: rows)


def found_answer(answer: bool) -> Found:
    """The answer of ASK: one row if it is yes."""
    return found_rows(ASKED, [Row.of(ASKED, (Literal(True),))] if answer else [])
