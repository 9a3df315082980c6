"""The plan of a query as a tree: its operators, and the steps in which its patterns are joined.

Each node says how many rows were expected of it, how many it gave, and how long that took,
what is below it included; as text, as plain data and as a graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import count
from typing import Any, NamedTuple

from livefacts.service.explanations.graphviz import digraph, labelled
from livefacts.service.explanations.tree_text import Branch, tree_lines

HEADS = ("expected", "rows", "time")


class PatternLookup(NamedTuple):
    """A triple pattern, and the sorted order that it is looked up in; none if it was not."""

    pattern: str
    order: str = ""

    def __str__(self) -> str:
        return f"{self.pattern}  [{self.order}]" if self.order else self.pattern


@dataclass(frozen=True, slots=True)
class PlanTree:
    """How a query is answered, or a part of it: `str` shows a tree, `to_dict()` gives data.

    Of a query that ran, `rows` and `seconds` are what they were; None where a part was never
    asked.  `expected` rows are there where the planner has chosen between orders.
    """

    operator: str
    lookups: tuple[PatternLookup, ...] = ()
    """The patterns that are intersected in this step."""
    below: tuple[PlanTree, ...] = ()
    expected: float | None = None
    rows: int | None = None
    seconds: float | None = None

    def __str__(self) -> str:
        nodes = [node for each in self._nodes() for node in (each, *each.lookups[1:])]
        cells = [node.measures() if isinstance(node, PlanTree) else ("",) * 3 for node in nodes]
        used = [number for number in range(3) if any(line[number] for line in cells)]
        lines = ["", *tree_lines(self._branch())]
        if not used:
            return "\n".join(lines[1:])
        columns = [lines, *([HEADS[n], *(line[n] for line in cells)] for n in used)]
        widths = [max(map(len, column)) for column in columns]
        return "\n".join(
            "  ".join([line.ljust(widths[0]), *map(str.rjust, rest, widths[1:])]).rstrip()
            for line, *rest in zip(*columns, strict=True)
        )

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data, ready for JSON."""
        data: dict[str, Any] = {"operator": self.operator}
        if self.lookups:
            data["patterns"] = [each._asdict() for each in self.lookups]
        measured = {"expected": self.expected, "rows": self.rows, "seconds": self.seconds}
        data |= {name: value for name, value in measured.items() if value is not None}
        if self.below:
            data["below"] = [each.to_dict() for each in self.below]
        return data

    def to_dot(self) -> str:
        """The plan as a graph for Graphviz; rows go along the arrows."""
        return digraph("plan", self._drawn(count(1)))

    def measures(self) -> tuple[str, str, str]:
        """Expected rows, rows and time, as people read them."""
        expected = "" if self.expected is None else _about(self.expected)
        rows = "" if self.rows is None else f"{self.rows:,}"
        return expected, rows, "" if self.seconds is None else f"{1e3 * self.seconds:,.2f} ms"

    def _nodes(self) -> Iterator[PlanTree]:
        yield self
        for each in self.below:
            yield from each._nodes()

    def _branch(self) -> Branch:
        first, *more = self.lookups or ("",)
        title = f"{self.operator}  {first}".rstrip()
        # Such lines stand three characters to the right of the title.
        margin = " " * (len(self.operator) - 1)
        below = tuple(each._branch() for each in self.below)
        return Branch(title, "", tuple(f"{margin}{each}" for each in more), below)

    def _drawn(self, numbers: Iterator[int]) -> Iterator[str]:
        number = next(numbers)
        measured = zip(HEADS, self.measures(), strict=True)
        words = ", ".join(f"{head} {value}" for head, value in measured if value)
        label = "\n".join(filter(None, [self.operator, *map(str, self.lookups), words]))
        yield f"n{number} [{labelled(label)}]"
        for each in self.below:
            lines = list(each._drawn(numbers))
            yield from lines
            yield f"{lines[0].split()[0]} -> n{number}"


def _about(rows: float) -> str:
    """A number that nobody has counted."""
    return "<1" if 0 < rows < 0.5 else f"{rows:,.0f}"
