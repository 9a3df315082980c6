"""Changes of answers: what a continuous query tells when the graph has changed."""

from __future__ import annotations

from dataclasses import dataclass

from livefacts.service.queries.results import Row

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
