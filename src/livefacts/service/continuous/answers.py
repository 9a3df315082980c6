"""Answers of continuous queries: multiplied out and turned into terms when they are read.

What is handed out is a snapshot: later messages do not touch it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

from livefacts.engine.contract import Ids
from livefacts.engine.patterns.signed_rows import Factored
from livefacts.service.queries.results import RdfTerm, Row, Rows
from livefacts.store.terms.dictionary import Dictionary

UNBOUND = -1
"""Where a row has no term."""


CAME, WENT = "+", "-"


@dataclass(frozen=True, slots=True)
class Change:
    """An answer that comes or goes.

    >>> change = Change("+", Row.of(("x",), (None,)))
    >>> change.op, change.count, change.seq
    ('+', 1, 0)
    """

    op: str
    """"+" for an answer that comes, "-" for one that goes."""
    row: Row
    count: int = 1
    """How often: answers are bags, unless the query says DISTINCT."""
    seq: int = 0
    """The number of the message, or of the batch of messages, that made the difference."""
    time: int | None = None
    """The time of the last message of the batch, or of the report, if it has one."""

    def __str__(self) -> str:
        terms = ", ".join(
            f"?{name}={term}" for name, term in zip(self.row.variables, self.row, strict=True)
        )
        times = f" x{self.count}" if self.count > 1 else ""
        return f"{self.op} {terms}{times}".rstrip()


class _Read:
    """Signed rows of ids, and what is needed to read them."""

    def __init__(
        self,
        found: Factored,
        variables: tuple[str, ...],
        dictionary: Dictionary,
        seq: int = 0,
        time: int | None = None,
    ) -> None:
        self._found = found
        self._dictionary = dictionary
        self.seq = seq
        self.time = time
        self.variables = variables

    def _counted(self) -> list[tuple[Row, int]]:
        """Rows and their counts; those that go come first."""
        if not self._found:
            return []
        rows, counts = self._found.expanded()
        terms = self._terms(rows.reshape(-1))
        width = len(self.variables)
        counted = [
            (Row.of(self.variables, terms[at * width : (at + 1) * width]), count)
            for at, count in enumerate(counts.tolist())
        ]
        return sorted(counted, key=lambda pair: pair[1] > 0)

    def _terms(self, ids: Ids) -> list[RdfTerm | None]:
        bound = ids != UNBOUND
        terms: Any = self._dictionary.decode(ids[bound])
        if bound.all():
            return terms  # type: ignore[no-any-return]
        waiting = iter(terms)
        return [next(waiting) if is_bound else None for is_bound in bound.tolist()]


class Changes(_Read, Sequence[Change]):
    """The answers that one message, or one batch of messages, has brought and taken."""

    @cached_property
    def _changes(self) -> list[Change]:
        return [
            Change(CAME if count > 0 else WENT, row, abs(count), self.seq, self.time)
            for row, count in self._counted()
        ]

    def __bool__(self) -> bool:
        # One term alone is a product of rows that are there: nothing can cancel out.
        return bool(self._found) and (len(self._found.terms) == 1 or bool(self._changes))

    def __len__(self) -> int:
        return len(self._changes)

    @overload
    def __getitem__(self, index: int) -> Change: ...
    @overload
    def __getitem__(self, index: slice) -> list[Change]: ...
    def __getitem__(self, index: int | slice) -> Change | list[Change]:
        return self._changes[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Changes):
            return self._changes == other._changes
        return isinstance(other, list) and self._changes == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._changes)


class Answers(_Read, Sequence[Row]):
    """The answers at one moment, each as often as it is found.

    `len` and truth are known without multiplying out.
    """

    @cached_property
    def _rows(self) -> tuple[Row, ...]:
        return tuple(row for row, count in self._counted() for _ in range(count))

    def __len__(self) -> int:
        return self._found.total()

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        return self._rows[index]

    def __repr__(self) -> str:
        return f"<{len(self):,} answers of {' '.join('?' + name for name in self.variables)}>"

    def as_rows(self) -> Rows:
        """The same as the result of a query, which writes tables, CSV, TSV and JSON."""
        return Rows(self.variables, self._rows)
