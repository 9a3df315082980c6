"""Graph patterns as queries: one group of triple patterns with comparisons, and its projection.

These are the queries that can be followed change by change: a pattern is a rule body, so
the engine that keeps conclusions true keeps their answers true, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

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
    Without,
)
from livefacts.language.expressions import Call, Constant, Exists, QueryExpression, conjuncts
from livefacts.language.formula import (
    Comparison,
    Formula,
    Slot,
    TripleAtom,
    Variable,
    variables_of,
)

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class AbsentGroup:
    """Triple patterns and comparisons that must not all hold: NOT EXISTS, or MINUS."""

    patterns: tuple[TripleAtom, ...]
    comparisons: tuple[Comparison, ...] = ()

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the patterns, each once, in the order of the text."""
        return _variables(self.patterns)

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """All of it."""
        return (*self.patterns, *self.comparisons)


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
    absent: tuple[AbsentGroup, ...] = ()

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the patterns, each once, in the order of the text."""
        return _variables(self.patterns)


def _variables(patterns: tuple[TripleAtom, ...]) -> tuple[Variable, ...]:
    return tuple(dict.fromkeys([v for pattern in patterns for v in variables_of(pattern)]))


def basic_query_of(query: Query) -> BasicQuery | None:
    """The query, if it is nothing but triple patterns and comparisons; None for all others."""
    found = guarded_query_of(query)
    return None if found is None or found.absent else found


def guarded_query_of(query: Query) -> BasicQuery | None:
    """The query, if it has nothing else but groups of patterns and comparisons that are absent."""
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
    conditions: list[QueryExpression] = []
    if isinstance(pattern, Where):
        conditions = list(conjuncts(pattern.condition))
        pattern = pattern.of
    comparisons = [_comparison(part) for part in conditions if not isinstance(part, Exists)]
    without = []
    while isinstance(pattern, Without):
        without.append(pattern.right)
        pattern = pattern.left
    has_new_nodes = any(v.name.startswith(BLANK) for a in query.template for v in variables_of(a))
    if query.form == "DESCRIBE" or query.dataset is not None or has_new_nodes:
        raise _NotPlainError
    patterns, template = tuple(_patterns(pattern)), query.template
    made = BasicQuery(query.form, patterns, tuple(comparisons), selected, distinct, template)
    exists = [part for part in conditions if isinstance(part, Exists)]
    groups = [_not_existing(part, made.variables) for part in exists]
    groups += [group for right in without for group in _taken_away(right, made.variables)]
    return replace(made, absent=tuple(groups)) if groups else made


def _not_existing(condition: Exists, known: tuple[Variable, ...]) -> AbsentGroup:
    group = _group(condition.pattern)
    if not condition.negated or not {*known, *group.variables}.issuperset(_compared(group)):
        raise _NotPlainError
    return group


def _taken_away(pattern: Pattern, known: tuple[Variable, ...]) -> Iterator[AbsentGroup]:
    """What MINUS takes away; nothing, where it shares no variable."""
    group = _group(pattern)
    if not set(group.variables).issuperset(_compared(group)):
        raise _NotPlainError
    if not set(known).isdisjoint(group.variables):
        yield group


def _group(pattern: Pattern) -> AbsentGroup:
    comparisons: tuple[Comparison, ...] = ()
    if isinstance(pattern, Where):
        comparisons = tuple(map(_comparison, conjuncts(pattern.condition)))
        pattern = pattern.of
    patterns = tuple(_patterns(pattern))
    if not patterns:
        raise _NotPlainError
    return AbsentGroup(patterns, comparisons)


def _compared(group: AbsentGroup) -> set[Variable]:
    return {v for part in group.comparisons for v in variables_of(part)}


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
