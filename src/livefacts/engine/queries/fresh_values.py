"""Fresh values: the functions of SPARQL that give another value for each row.

RAND, UUID, STRUUID and BNODE without an argument are drawn for each row.  BNODE with a string
gives one blank node for each row and string, also in several expressions over the same rows:
rows are the same as long as one of their columns is.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterable

from pyoxigraph import BlankNode, Literal, NamedNode

from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.engine.queries.solutions import Ids, Solutions
from livefacts.language.expressions import Call, QueryExpression
from livefacts.model.facts import Term

DRAWN: dict[str, Callable[[], Term]] = {
    "RAND": lambda: Literal(random.random()),
    "UUID": lambda: NamedNode(f"urn:uuid:{uuid.uuid4()}"),
    "STRUUID": lambda: Literal(str(uuid.uuid4())),
    "BNODE": BlankNode,
}


def is_fresh(expression: QueryExpression) -> bool:
    """Whether equal rows have different values of an expression: they must stand by themselves."""
    return isinstance(expression, Call) and (
        expression.name in DRAWN or any(map(is_fresh, expression.arguments))
    )


def rows_for(rows: Solutions, expressions: Iterable[QueryExpression]) -> Solutions:
    """The rows as expressions need them: equal ones by themselves where their values differ."""
    return rows.expanded() if any(map(is_fresh, expressions)) else rows


class FreshValues:
    """The fresh values of one query."""

    def __init__(self, terms: QueryTerms) -> None:
        self._terms = terms
        self._nodes: dict[tuple[int, int, str], BlankNode] = {}
        self._rows: dict[int, tuple[int, Ids]] = {}
        """Which rows a column belongs to; the column is kept, so that its address is its own."""

    def drawn(self, function: str, rows: Solutions) -> Ids:
        """A value for each row."""
        draw = DRAWN[function]
        return self._terms.encode(draw() for _ in range(rows.count))

    def nodes(self, names: Ids, rows: Solutions) -> Ids:
        """The blank node of each row for a string; none where that is no simple string."""
        columns = rows.columns.values()
        known = (self._rows[id(column)][0] for column in columns if id(column) in self._rows)
        number = next(known, len(self._rows))
        found = self._terms.encode(
            self._node(number, row, name) for row, name in enumerate(self._terms.decode(names))
        )
        for column in (*columns, found):
            self._rows[id(column)] = (number, column)
        return found

    def _node(self, number: int, row: int, name: Term | None) -> BlankNode | None:
        if not isinstance(name, Literal) or Literal(name.value) != name:
            return None
        return self._nodes.setdefault((number, row, name.value), BlankNode())
