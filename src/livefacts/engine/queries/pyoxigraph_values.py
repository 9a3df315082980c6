"""Values that pyoxigraph computes: each different row of arguments once, in batches.

Strings are measured before they are built.  How long the value of an expression can get is
bounded by its arguments; where that passes the limit, it is computed step by step, and each
step is measured by what the one before it has really made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode

from livefacts.engine.flow.evaluator import BATCH, Evaluator
from livefacts.engine.flow.string_bounds import (
    BUILDING,
    MOST_STRING_BYTES,
    OVERHEAD,
    STRETCHING,
    builds_strings,
)
from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.engine.queries.row_keys import row_keys
from livefacts.engine.queries.solutions import Ids
from livefacts.errors import LimitError
from livefacts.language.expressions import (
    Call,
    Constant,
    QueryExpression,
    rewritten,
    variables_in_expression,
)
from livefacts.language.formula import Variable
from livefacts.model.facts import Term
from livefacts.plan.continuous.flow import column

BATCH_BYTES = 64 << 20

Columns = Mapping[Variable, Ids]
Sizes = NDArray[np.float64]


class PyoxigraphValues:
    """What pyoxigraph says to expressions over columns of one query."""

    def __init__(
        self,
        terms: QueryTerms,
        base: str,
        pause: Callable[[], None],
        most_string_bytes: int = MOST_STRING_BYTES,
    ) -> None:
        self._terms = terms
        self._base = base
        self._pause = pause
        self._most = most_string_bytes
        self._evaluators: dict[QueryExpression, Evaluator] = {}

    def of(self, expression: QueryExpression, columns: Columns, count: int) -> Ids:
        """The ids of values for so many rows; unbound ones where there is none."""
        used = set(variables_in_expression(expression))
        keys = row_keys([columns[name] for name in used], count)
        _, first, places = np.unique(keys, return_index=True, return_inverse=True)
        different = {name: columns[name][first] for name in used}
        found: Ids = self._of_different(expression, different, len(first))[places]
        return found

    def _of_different(self, expression: QueryExpression, columns: Columns, count: int) -> Ids:
        sizes = self._sizes(expression, columns, count)
        if builds_strings(expression) and (sizes > self._most).any():
            assert isinstance(expression, Call), "only a call builds a string"
            expression, columns = self._steps(expression, columns, count)
            sizes = self._measured(expression, columns, count)
        return self._answers(expression, columns, sizes)

    def _answers(self, expression: QueryExpression, columns: Columns, sizes: Sizes) -> Ids:
        """What pyoxigraph answers, for rows whose values are as large as this."""
        used = set(variables_in_expression(expression))
        names = sorted(used, key=lambda each: each.name)
        evaluator = self._evaluator(expression, names)
        rows = (
            np.array([columns[name] for name in names], np.int32).reshape(len(names), len(sizes)).T
        )
        found: list[int] = []
        for first, last in _batches(sizes):
            found += evaluator.values(list(map(tuple, rows[first:last].tolist())))
            self._pause()
        return np.array(found, np.int32)

    def _evaluator(self, expression: QueryExpression, names: Sequence[Variable]) -> Evaluator:
        known = self._evaluators.get(expression)
        if known is None:
            places = {name: column(at) for at, name in enumerate(names)}
            renamed = rewritten(
                expression, lambda part: places[part] if isinstance(part, Variable) else None
            )
            known = self._evaluators[expression] = Evaluator(
                renamed, self._terms, self._base, self._pause
            )
        return known

    def _steps(
        self, expression: Call, columns: Columns, count: int
    ) -> tuple[Call, dict[Variable, Ids]]:
        """The outermost call, and columns for its arguments."""
        made: dict[Variable, Ids] = {}
        arguments: list[QueryExpression] = []
        for number, argument in enumerate(expression.arguments):
            if isinstance(argument, Call):
                name = Variable(f".step{number}")
                made[name] = self.of(argument, columns, count)
                argument = name
            elif isinstance(argument, Variable):
                made[argument] = columns[argument]
            arguments.append(argument)
        return Call(expression.name, tuple(arguments)), made

    def _measured(self, call: Call, columns: Columns, count: int) -> Sizes:
        """How long the values of one call get; refused if one is too long."""
        sizes = self._sizes(call, columns, count)
        if call.name == "REPLACE":
            sizes = self._replaced_sizes(call, columns, count)
        if call.name in BUILDING and (sizes > self._most).any():
            raise too_long(int(sizes.max()), self._most)
        return sizes

    def _replaced_sizes(self, call: Call, columns: Columns, count: int) -> Sizes:
        text, pattern, replacement, *flags = call.arguments
        size, insert = (self._sizes(each, columns, count) for each in (text, replacement))

        def length(mark: str) -> Sizes:
            marked = Call("REPLACE", (text, pattern, Constant(Literal(mark)), *flags))
            found = self._answers(Call("STRLEN", (marked,)), columns, 2 * size + OVERHEAD)
            return np.array([int(_text(each) or 0) for each in self._terms.decode(found)], float)

        matches = length("x") - length("")
        groups = self._lengths(replacement, columns, count, lambda text: text.count("$"))
        return size + matches * insert + groups * size

    def _sizes(self, expression: QueryExpression, columns: Columns, count: int) -> Sizes:
        """How many bytes values can have, and whatever they are made of."""
        if not isinstance(expression, Call):
            return self._lengths(expression, columns, count, lambda text: len(text.encode()))
        parts = [self._sizes(argument, columns, count) for argument in expression.arguments]
        if expression.name == "REPLACE":
            return (2 * parts[0] + 1) * (parts[2] + 1) + parts[1]
        total = np.sum(parts, axis=0) if parts else np.zeros(count)
        if expression.name == "CONCAT":
            return total
        return STRETCHING.get(expression.name, 1) * total + OVERHEAD

    def _lengths(
        self,
        leaf: QueryExpression,
        columns: Columns,
        count: int,
        measure: Callable[[str], int],
    ) -> Sizes:
        if isinstance(leaf, Constant):
            return np.full(count, measure(_text(leaf.term)), float)
        assert isinstance(leaf, Variable), "calls and EXISTS have been computed"
        different, places = np.unique(columns[leaf], return_inverse=True)
        lengths = [measure(_text(term)) for term in self._terms.decode(different)]
        return np.array(lengths, float)[places]


def too_long(size: int, most: int) -> LimitError:
    """A string passes the limit."""
    return LimitError(
        f"a string of the query would have {size:,} bytes; the limit for one string is {most:,}",
        hint="this limit is fixed: return the parts and join them outside of the query, or look for a "
        "string that is made longer again and again",
    )


def _batches(sizes: Sizes) -> Iterator[tuple[int, int]]:
    """Rows that are few enough, and small enough, to be asked about at once."""
    ends = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        before = ends[first - 1] if first else 0.0
        last = int(np.searchsorted(ends, before + BATCH_BYTES, "right"))
        last = max(first + 1, min(last, first + BATCH, len(sizes)))
        yield first, last
        first = last


def _text(term: Term | None) -> str:
    if isinstance(term, Literal | NamedNode):
        return term.value
    return "" if term is None else str(term)
