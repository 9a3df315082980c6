"""Graph patterns as queries: one group of triple patterns with comparisons, and its projection.

These are the queries that can be followed change by change: a pattern is a rule body, so
the engine that keeps conclusions true keeps their answers true, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import Literal, Triple

from livefacts.language.algebra import (
    BLANK,
    Basic,
    Chosen,
    DistinctRows,
    Pattern,
    Query,
    TripleTerm,
    Where,
)
from livefacts.language.expressions import Call, Constant, QueryExpression, conjuncts
from livefacts.language.formula import (
    Comparison,
    Slot,
    TripleAtom,
    Variable,
    variables_of,
)

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class BasicQuery:
    """Triple patterns and comparisons that must all hold.

    `form` is SELECT, ASK or CONSTRUCT; `selected` are the variables of a SELECT in their
    order, `template` the triples of a CONSTRUCT.  Blank nodes of the patterns are variables
    whose names no text can write.
    """

    form: str
    patterns: tuple[TripleAtom, ...]
    comparisons: tuple[Comparison, ...] = ()
    selected: tuple[Variable, ...] = ()
    distinct: bool = False
    template: tuple[TripleAtom, ...] = ()
    name: str = ""
    """A number for queries of the same text, where they must differ."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the patterns, each once, in the order of the text."""
        found = (v for pattern in self.patterns for v in variables_of(pattern))
        return tuple(dict.fromkeys(found))


def basic_query_of(query: Query) -> BasicQuery | None:
    """The query, if it is nothing but triple patterns and comparisons; None for all others."""
    try:
        found = _read(query)
    except _NotPlainError:
        return None
    asked = [v for part in found.comparisons for v in variables_of(part)]
    asked += [*found.selected, *(v for atom in found.template for v in variables_of(atom))]
    return found if found.patterns and set(found.variables).issuperset(asked) else None


class _NotPlainError(Exception):
    """Something in a query is neither a triple pattern nor a comparison."""


def _read(query: Query) -> BasicQuery:
    pattern, distinct = query.pattern, isinstance(query.pattern, DistinctRows)
    pattern = pattern.of if isinstance(pattern, DistinctRows) else pattern
    selected: tuple[Variable, ...] = ()
    if isinstance(pattern, Chosen):
        selected = pattern.variables
        pattern = pattern.of
    comparisons = []
    if isinstance(pattern, Where):
        comparisons = [_comparison(part) for part in conjuncts(pattern.condition)]
        pattern = pattern.of
    has_new_nodes = any(v.name.startswith(BLANK) for a in query.template for v in variables_of(a))
    if query.form == "DESCRIBE" or query.dataset is not None or has_new_nodes:
        raise _NotPlainError
    patterns, template = tuple(_patterns(pattern)), query.template
    return BasicQuery(query.form, patterns, tuple(comparisons), selected, distinct, template)


def _patterns(pattern: Pattern) -> Iterator[TripleAtom]:
    if not isinstance(pattern, Basic):
        raise _NotPlainError
    for atom in pattern.atoms:
        is_odd = any(isinstance(slot, Triple | TripleTerm) for slot in atom.slots)
        if not isinstance(atom, TripleAtom) or is_odd or isinstance(atom.subject, Literal):
            raise _NotPlainError
        yield atom


def _comparison(expression: QueryExpression) -> Comparison:
    if not isinstance(expression, Call) or expression.name not in OPERATORS:
        raise _NotPlainError
    left, right = map(_operand, expression.arguments)
    return Comparison(left, expression.name, right)


def _operand(expression: QueryExpression) -> Slot:
    if isinstance(expression, Variable):
        return expression
    if isinstance(expression, Constant) and not isinstance(expression.term, Triple):
        return expression.term
    raise _NotPlainError
